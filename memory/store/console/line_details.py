"""What the console shows beside the lines of a transcript: files, tool steps, what was recalled,
tokens; and search.
"""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, bindparam, cast, func, literal_column, or_, select

from memory.context.taint import judge_parts
from memory.conversation import Image, Message, ToolCall, ToolResult, inner_call, load_parts
from memory.store.automation.approvals import QUESTION_PREFIX
from memory.store.conversations.lifecycle import BRANCH_PREFIX
from memory.store.conversations.messages import IS_OF_TURN
from memory.store.conversations.transcript import TranscriptRow, to_transcript_row, transcript_lines
from memory.store.engine.database import Repository, Row, Tx, light, read
from memory.store.longterm.views import RecalledPlace, load_recalled
from memory.store.rows import Usage, columns_of, from_unix, to_message
from memory.store.schema.memory_tables import approval
from memory.store.schema.tables import (
    MAX_INTEGER,
    escape_like,
    inbox,
    literal_text,
    message,
    outbox,
    tool_call,
    turn,
    usage,
)
from memory.text.mentions import FORGOTTEN_MARKS

MAX_STEP_TEXT = 1_000  # characters of the arguments and of the result of a step


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFile:
    """A file that came or went with a line."""

    sha256: str
    name: str
    media_type: str
    #: Bytes, 0 where that is not stored.
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LineDetails:
    """What stands beside one line."""

    #: What came or went with it; at the last text of an answer also the pictures of its tools.
    files: tuple[LineFile, ...] = ()
    #: Number of its turn, 0 where it has none.
    turn: int = 0
    #: Tool calls of its turn.
    steps: int = 0
    recalled: tuple[RecalledPlace, ...] = ()
    #: Of its turn, by model.
    usage: tuple[Usage, ...] = ()
    #: Id of the approval that it asks for, "" for none.
    approval: str = ""
    #: Of that approval (ApprovalState).
    approval_state: str = ""
    #: Conversation and turn that this one was branched from, before that turn.
    branched_from: str = ""
    branched_turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStep:
    """One tool call of a turn."""

    tool: str
    state: str
    #: From the answer that asked for it to its stored result; 0.0 while there is none.
    seconds: float
    #: JSON text, up to `MAX_STEP_TEXT` characters.
    arguments: str
    #: Up to `MAX_STEP_TEXT` characters.
    result: str
    #: Characters of the whole result.
    characters: int
    #: It holds words from outside.
    tainted: bool
    #: Pictures that it gave.
    images: tuple[LineFile, ...] = ()


_IN_LINES = (
    outbox.c.conversation == bindparam("conversation"),
    outbox.c.line >= bindparam("first"),
    outbox.c.line <= bindparam("last"),
)
_IS_ANSWER = or_(outbox.c.kind == literal_text("final"), outbox.c.kind == literal_text("media"))
_RECEIVED = select(inbox.c.id, inbox.c.body).where(
    inbox.c.conversation == bindparam("conversation"),
    inbox.c.line >= bindparam("first"),
    inbox.c.line <= bindparam("last"),
    inbox.c.body.like(literal_text('%"files": [%')),
)
# the side that is computed is the outbox's, so that the approval is found by its index
_CALL_OF_QUESTION = func.substr(outbox.c.source, literal_column(str(len(QUESTION_PREFIX) + 1)))
_QUESTIONS = (
    select(outbox.c.id, approval.c.id.label("approval"), approval.c.state)
    .select_from(outbox)
    .join(approval, approval.c.call == _CALL_OF_QUESTION)
    .where(
        *_IN_LINES,
        outbox.c.source.like(literal_text(f"{QUESTION_PREFIX}%")),
        outbox.c.part_no == outbox.c.parts - literal_column("1"),
    )
)
_BRANCHES = select(outbox.c.id, outbox.c.source).where(
    *_IN_LINES, outbox.c.source.like(literal_text(f"{BRANCH_PREFIX}%"))
)
_other = outbox.alias("other")
_LAST_TEXT = (
    select(func.max(_other.c.part_no))
    .where(_other.c.source == outbox.c.source, _other.c.kind == literal_text("final"))
    .scalar_subquery()
)
_ANSWERS = (
    select(
        outbox.c.id,
        outbox.c.kind,
        outbox.c.part_no,
        outbox.c.payload,
        _LAST_TEXT.label("last_text"),
        turn.c.id.label("turn_id"),
        turn.c.number,
        turn.c.recalled,
        turn.c.started,
        turn.c.ended,
    )
    .join(inbox, inbox.c.id == outbox.c.reply_to)
    .outerjoin(turn, turn.c.id == inbox.c.turn_id)
    .where(*_IN_LINES, _IS_ANSWER)
)
_TURNS = (
    select(inbox.c.turn_id)
    .select_from(outbox)
    .join(inbox, inbox.c.id == outbox.c.reply_to)
    .where(*_IN_LINES, _IS_ANSWER)
)
_STEPS = (
    select(tool_call.c.turn_id, func.count().label("count"))
    .where(tool_call.c.turn_id.in_(_TURNS))
    .group_by(tool_call.c.turn_id)
)
_COUNTS = ("input", "output", "cache_read", "cache_write", "estimated")
_USAGE = (
    select(
        usage.c.turn_id, usage.c.model, *(func.sum(usage.c[name]).label(name) for name in _COUNTS)
    )
    .where(
        usage.c.conversation == bindparam("conversation"),
        usage.c.at >= bindparam("since"),
        usage.c.at <= bindparam("until"),
        usage.c.turn_id.in_(_TURNS),
    )
    .group_by(usage.c.turn_id, usage.c.model)
    .order_by(usage.c.model)
)
MAX_PICTURES = 12  # shown beside one answer, of those that its tools gave
_PICTURES = (
    select(tool_call.c.turn_id, message.c.parts)
    .join(message, message.c.id == tool_call.c.result_id)
    .where(
        tool_call.c.turn_id.in_(_TURNS),
        message.c.conversation == bindparam("conversation"),
        message.c.origin == literal_text("tool"),
        message.c.parts.like(literal_text('%"kind":"Image"%')),
    )
    .order_by(tool_call.c.place)
)
NEAR_LINES = 20  # the files of an answer follow it within so many lines
_SENT = select(outbox.c.payload).where(
    outbox.c.conversation == bindparam("conversation"),
    outbox.c.line >= bindparam("first") - NEAR_LINES,
    outbox.c.line <= bindparam("last") + NEAR_LINES,
    outbox.c.kind == literal_text("media"),
)
# seconds before a turn's start and after its end in which its usage may be stored
USAGE_SLACK = 60.0


def _usage_by_turn(rows: Sequence[Row]) -> dict[str, list[Usage]]:
    spent: dict[str, list[Usage]] = {}
    for row in rows:
        used = Usage(model=row["model"], **{name: row[name] for name in _COUNTS})
        spent.setdefault(row["turn_id"], []).append(used)
    return spent


async def load_details(
    tx: Tx, conversation: str, first: int, last: int
) -> Mapping[str, LineDetails]:
    """Load what stands beside the lines from `first` to `last`, by the line's id; what has nothing
    is left out.

    Its cost grows with the lines asked for, not with the conversation.
    """
    where = {"conversation": conversation, "first": first, "last": last}
    found = {
        row["id"]: LineDetails(files=_received_files(row))
        for row in (await tx.execute(_RECEIVED, **where)).all()
    }
    found |= await _load_notice_details(tx, where)
    answers = (await tx.execute(_ANSWERS, **where)).all()
    turns = [row for row in answers if row["turn_id"]]
    steps: dict[str, int] = {}
    spent: dict[str, list[Usage]] = {}
    pictures: Mapping[str, Sequence[LineFile]] = {}
    if turns:
        steps = {row["turn_id"]: row["count"] for row in (await tx.execute(_STEPS, **where)).all()}
        since = min(row["started"] for row in turns) - USAGE_SLACK
        until = max(row["ended"] or tx.now for row in turns) + USAGE_SLACK
        used = (await tx.execute(_USAGE, **where, since=since, until=until)).all()
        spent = _usage_by_turn(used)
        pictures = await _load_pictures(tx, where)
    for row in answers:
        found[row["id"]] = _answer_details(row, steps, spent)
    _add_pictures(found, answers, pictures)
    return {id: details for id, details in found.items() if details != LineDetails()}


async def _load_notice_details(tx: Tx, where: Mapping[str, Any]) -> dict[str, LineDetails]:
    """Load what notices ask for or begin: approvals, and branches."""
    found = {
        row["id"]: LineDetails(approval=row["approval"], approval_state=row["state"])
        for row in (await tx.execute(_QUESTIONS, **where)).all()
    }
    for row in (await tx.execute(_BRANCHES, **where)).all():
        _, _, origin, number = row["source"].split(":")
        found[row["id"]] = LineDetails(branched_from=origin, branched_turn=int(number))
    return found


def _received_files(row: Row) -> tuple[LineFile, ...]:
    files = json.loads(row["body"]).get("files", ())
    return tuple(
        LineFile(sha256=file[0], name=file[1], media_type=file[2], size=file[3]) for file in files
    )


async def _load_pictures(tx: Tx, where: Mapping[str, Any]) -> Mapping[str, Sequence[LineFile]]:
    """Load the pictures that the tools of each turn gave, by the turn's id, but those that were
    sent as files.
    """
    pictures: dict[str, list[LineFile]] = {}
    rows = (await tx.execute(_PICTURES, **where)).all()
    payloads = (await tx.execute(_SENT, **where)).all() if rows else []
    known = {("", json.loads(row["payload"] or "{}").get("sha256")) for row in payloads}
    for row in rows:
        for part in load_parts(row["parts"]):
            if not isinstance(part, Image) or ("", part.sha256) in known:
                continue
            if (row["turn_id"], part.sha256) not in known:  # calls of one step share a result
                known.add((row["turn_id"], part.sha256))
                picture = LineFile(sha256=part.sha256, name="", media_type=part.media_type)
                pictures.setdefault(row["turn_id"], []).append(picture)
    return pictures


def _add_pictures(
    found: dict[str, LineDetails],
    answers: Sequence[Row],
    pictures: Mapping[str, Sequence[LineFile]],
) -> None:
    """Put the pictures of a turn beside its last text."""
    for row in answers:
        given = pictures.get(row["turn_id"], ())
        if given and row["part_no"] == row["last_text"]:
            details = found[row["id"]]
            found[row["id"]] = replace(details, files=(*details.files, *given[:MAX_PICTURES]))


def _answer_details(
    row: Row, steps: Mapping[str, int], spent: Mapping[str, Sequence[Usage]]
) -> LineDetails:
    """Return the details of one part of an answer; those of the turn stand at its last text."""
    payload = json.loads(row["payload"]) if row["payload"] else {}
    files: tuple[LineFile, ...] = ()
    if payload.get("sha256"):
        files = (
            LineFile(
                sha256=payload["sha256"], name=payload["name"], media_type=payload["media_type"]
            ),
        )
    turn_id = row["turn_id"]
    if not turn_id or row["part_no"] != row["last_text"]:
        return LineDetails(files=files)
    return LineDetails(
        files=files,
        turn=row["number"],
        steps=steps.get(turn_id, 0),
        recalled=load_recalled(row["recalled"]),
        usage=tuple(spent.get(turn_id, ())),
    )


# The steps of one turn.

_TURN_OF_LINE = (
    select(inbox.c.turn_id, turn.c.number)
    .join(turn, turn.c.id == inbox.c.turn_id)
    .where(
        inbox.c.conversation == bindparam("conversation"),
        or_(
            inbox.c.id == bindparam("of"),
            inbox.c.id.in_(
                select(outbox.c.reply_to).where(
                    outbox.c.conversation == bindparam("conversation"),
                    outbox.c.id == bindparam("of"),
                )
            ),
        ),
    )
)
_MESSAGES = select(*columns_of(Message, message)).where(IS_OF_TURN).order_by(message.c.seq)
_CALLS = (
    select(
        tool_call.c.call_id,
        tool_call.c.name,
        tool_call.c.input,
        tool_call.c.state,
        tool_call.c.result_id,
    )
    .where(tool_call.c.turn_id == bindparam("turn_id"))
    .order_by(tool_call.c.place)
)
_ASKED_AT = (
    select(usage.c.at)
    .where(
        usage.c.conversation == bindparam("conversation"), usage.c.turn_id == bindparam("turn_id")
    )
    .order_by(usage.c.at)
)


async def load_steps(tx: Tx, conversation: str, of: str) -> list[ToolStep] | None:
    """Load the tool calls of the turn of a line, in order; None for an unknown line, or one without
    a turn.

    Args:
        of: id of the message or of a part of its answer.
    """
    found = (await tx.execute(_TURN_OF_LINE, conversation=conversation, of=of)).first()
    if found is None:
        return None
    messages = [
        to_message(row)
        for row in (
            await tx.execute(_MESSAGES, conversation=conversation, turn=found["number"])
        ).all()
    ]
    at = {one.id: one.at.timestamp() for one in messages}
    asked = [
        row["at"]
        for row in (
            await tx.execute(_ASKED_AT, conversation=conversation, turn_id=found["turn_id"])
        ).all()
    ]
    results: dict[str, tuple[ToolResult, bool]] = {}
    images: dict[str, list[LineFile]] = {}
    for one, position, tainted in judge_parts(messages):
        part = one.parts[position]
        if isinstance(part, ToolResult):
            results[part.call_id] = (part, tainted)
        elif isinstance(part, Image) and one.origin == "tool":
            images.setdefault(one.id, []).append(
                LineFile(sha256=part.sha256, name="", media_type=part.media_type)
            )
    calls = (await tx.execute(_CALLS, turn_id=found["turn_id"])).all()
    last = {row["result_id"]: row["call_id"] for row in calls}
    return [
        _to_step(row, results.get(row["call_id"]), at.get(row["result_id"], 0.0), asked)
        if last[row["result_id"]] != row["call_id"]
        else _to_step(
            row, results.get(row["call_id"]), at.get(row["result_id"], 0.0), asked, images
        )
        for row in calls
    ]


def _to_step(
    row: Row,
    found: tuple[ToolResult, bool] | None,
    at: float,
    asked: Sequence[float],
    images: Mapping[str, Sequence[LineFile]] | None = None,
) -> ToolStep:
    call = inner_call(ToolCall(id=row["call_id"], name=row["name"], input=row["input"]))
    place = bisect_left(asked, at)
    result, tainted = found or (None, False)
    return ToolStep(
        tool=call.name,
        state=row["state"],
        seconds=max(0.0, at - asked[place - 1]) if at and place else 0.0,
        arguments=call.input[:MAX_STEP_TEXT],
        result=result.text[:MAX_STEP_TEXT] if result else "",
        characters=len(result.text) if result else 0,
        tainted=tainted,
        images=tuple((images or {}).get(row["result_id"], ())),
    )


# Which blob a line refers to, and where a line is.

_BODY = select(inbox.c.body.label("text")).where(
    inbox.c.conversation == bindparam("conversation"), inbox.c.id == bindparam("id")
)
_PAYLOAD = select(outbox.c.payload.label("text")).where(
    outbox.c.conversation == bindparam("conversation"), outbox.c.id == bindparam("id")
)
_HAS_BLOB = (
    select(message.c.parts.label("text"))
    .join(turn, (turn.c.conversation == message.c.conversation) & (turn.c.number == message.c.turn))
    .where(message.c.conversation == bindparam("conversation"), turn.c.id == bindparam("turn_id"))
)


async def find_file(tx: Tx, conversation: str, line: str, sha256: str) -> LineFile | None:
    """Find the file with this hash at a line of a conversation, or in a result of its turn; None
    where it is not there.

    A hash alone opens nothing: the file is shown to those who may read the conversation that holds
    it.
    """
    body = (await tx.execute(_BODY, conversation=conversation, id=line)).first()
    payload = (await tx.execute(_PAYLOAD, conversation=conversation, id=line)).first()
    if body and body["text"]:
        for file in json.loads(body["text"]).get("files", ()):
            if file[0] == sha256:
                return LineFile(sha256=sha256, name=file[1], media_type=file[2], size=file[3])
    if payload and payload["text"]:
        sent = json.loads(payload["text"])
        if sent.get("sha256") == sha256:
            return LineFile(sha256=sha256, name=sent["name"], media_type=sent["media_type"])
    found = (await tx.execute(_TURN_OF_LINE, conversation=conversation, of=line)).first()
    rows = (
        (await tx.execute(_HAS_BLOB, conversation=conversation, turn_id=found["turn_id"])).all()
        if found
        else []
    )
    for row in rows:
        for part in load_parts(row["text"]):
            if isinstance(part, Image) and part.sha256 == sha256:
                return LineFile(sha256=sha256, name="", media_type=part.media_type)
    return None


_LINE_OF = (
    select(inbox.c.line)
    .where(inbox.c.conversation == bindparam("conversation"), inbox.c.id == bindparam("of"))
    .union_all(
        select(outbox.c.line).where(
            outbox.c.conversation == bindparam("conversation"), outbox.c.id == bindparam("of")
        )
    )
)
_LINE_OF_TURN = (
    select(inbox.c.line)
    .join(turn, turn.c.inbox_id == inbox.c.id)
    .where(turn.c.conversation == bindparam("conversation"), turn.c.number == bindparam("number"))
)


@light
async def find_line(tx: Tx, conversation: str, of: str) -> int:
    """Return the number of the line with that id, of the first line of `turn-N`, or 0 where there
    is none.
    """
    if of.startswith("turn-") and of[5:].isascii() and of[5:].isdigit() and len(of) < 15:
        row = (
            await tx.execute(_LINE_OF_TURN, conversation=conversation, number=int(of[5:]))
        ).first()
    else:
        row = (await tx.execute(_LINE_OF, conversation=conversation, of=of)).first()
    return int(row["line"]) if row else 0


_found = transcript_lines().subquery()
_SEARCH = (
    select(_found)
    .where(
        or_(
            _found.c.text.icontains(bindparam("words"), escape="/"),
            (_found.c.role == literal_text("user"))
            & _found.c.text.icontains(bindparam("as_json"), escape="/"),
        )
    )
    .order_by(_found.c.number.desc())
    .limit(bindparam("limit"))
)


async def search_lines(
    tx: Tx, conversation: str, words: str, before: int, limit: int
) -> list[TranscriptRow]:
    """Load the newest lines before that number whose text holds these words as they stand, newest
    first.

    It reads the whole conversation: it is for a person who searches, never for a turn.
    """
    # as the body of a received message has it
    as_json = json.dumps(words, ensure_ascii=False)[1:-1]
    values = {"words": escape_like(words), "as_json": escape_like(as_json)}
    found: list[TranscriptRow] = []
    while len(found) < limit:
        where = {"conversation": conversation, "after": 0, "before": before, "limit": limit}
        rows = [
            to_transcript_row(row) for row in (await tx.execute(_SEARCH, **where, **values)).all()
        ]
        # a body holds more than its text
        found += [row for row in rows if words.casefold() in row.text.casefold()]
        if len(rows) < limit:
            break
        before = rows[-1].number
    return found[:limit]


_second_of_day = cast(_found.c.at + bindparam("offset"), BigInteger)
_DAYS = (
    select(func.min(_found.c.number).label("line"), func.min(_found.c.at).label("at"))
    .group_by(_second_of_day // literal_column("86400", BigInteger))
    .order_by(literal_column("line"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptDay:
    """A day of a conversation."""

    #: Number of its first line.
    line: int
    #: When that came, UTC.
    at: datetime


async def load_days(tx: Tx, conversation: str, offset: int) -> list[TranscriptDay]:
    """Load the days on which something was said, oldest first.

    It reads the times of the whole conversation: it is for a person who looks for a day.

    Args:
        offset: seconds east of UTC of the days that are meant.
    """
    values = {"conversation": conversation, "after": 0, "before": MAX_INTEGER, "offset": offset}
    return [
        TranscriptDay(line=row["line"], at=from_unix(row["at"]))
        for row in (await tx.execute(_DAYS, **values)).all()
    ]


_FORGOTTEN = (
    select(message.c.turn)
    .where(
        message.c.conversation == bindparam("conversation"),
        message.c.role == literal_text("user"),
        message.c.origin == literal_text("person"),
        message.c.has_text.is_(False),
        or_(*(message.c.parts.contains(mark) for mark in FORGOTTEN_MARKS.values())),
    )
    .distinct()
    .order_by(message.c.turn)
)


async def load_forgotten_turns(tx: Tx, conversation: str) -> list[int]:
    """Load the numbers of the turns whose message was forgotten, whole.

    It reads the messages of the conversation.
    """
    return [row["turn"] for row in (await tx.execute(_FORGOTTEN, conversation=conversation)).all()]


class LineReads(Repository):
    """What the console shows beside the lines of a transcript."""

    details = read(load_details)
    steps = read(load_steps)
    file = read(find_file)
    number = read(find_line)
    search = read(search_lines)
    days = read(load_days)
    forgotten = read(load_forgotten_turns)
