"""The Forgettings door: what people asked to have forgotten, from the question to the receipt."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Select,
    Table,
    Update,
    bindparam,
    delete,
    insert,
    or_,
    select,
    update,
)

from memory.context.summary.extractive import extractive_summary
from memory.context.taint import is_tainted
from memory.context.tokens import WEIGHTED
from memory.conversation import Document, Message, Part, Text, dump_parts, load_parts
from memory.failpoints import hit_async
from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.conversations.folds import OPEN, mark_open_stale
from memory.store.conversations.prompt_state import delete_snapshot as forget_snapshot
from memory.store.conversations.prompt_state import load_snapshot, raise_generation
from memory.store.conversations.sessions import load_messages
from memory.store.engine.database import Row, Tx
from memory.store.engine.repository import Repository, read, write
from memory.store.errors import WrongState
from memory.store.longterm.rows import (
    EraseReport,
    ForgetTargets,
    ForgettingRow,
    ForgettingState,
    LocatedMessage,
    MessageMention,
)
from memory.store.rows import belongs_to_space, columns_of, from_unix, load_member_spaces, to_message
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.memory_tables import approval, dream, extraction, forgetting, link_code, memory, memory_change
from memory.store.schema.tables import conversation, fold, inbox, message, outbox, reduction, removal, tool_call, turn
from memory.text.mentions import MentionMatcher, may_contain
from memory.text.redaction import (
    has_only_marks,
    mark_for_language,
    redact_json,
    redact_list,
    redact_memory,
    redact_parts,
    redact_text,
)
from memory.workspace.files import SPACES_FOLDER

# T14's work on columns that repeat what was said: every one that holds a person's words, redacted cell by cell.

_SCOPE: BindParameter[str] = bindparam("scope")
# Commands whose rows, and whose answers, repeat lines of memory as they stand.
_MEMORY_COMMAND = re.compile(r"\s*[/／](?P<name>forget|remember|memory)\b", re.IGNORECASE)
_MEMORY_COMMAND_KEY = "memory"  # how the source of a notice begins that tells what was noted
Redact = Callable[[str, MentionMatcher], str]


@dataclass(frozen=True, slots=True)
class _TextColumn:
    """One column of words: how it is read within a scope, redacted, and written."""

    read: Select[tuple[str, ...]]
    write: Update
    how: Redact


def _text_column(column: Column[str], scope: ColumnElement[bool], how: Redact, *more: Column[str]) -> _TextColumn:
    table = column.table
    if not isinstance(table, Table):
        raise TypeError(f"{column} is in no table")
    keys = list(table.primary_key.columns)
    named = [key.label(f"key_{place}") for place, key in enumerate(keys)]
    mine = [key == bindparam(f"key_{place}") for place, key in enumerate(keys)]
    return _TextColumn(
        read=select(*named, column.label("held"), *more).where(scope, column != literal_text("")),
        write=update(table).where(*mine).values({column.name: bindparam("fresh")}),
        how=how,
    )


_OF_CONVERSATION = (
    _text_column(conversation.c.title, conversation.c.id == _SCOPE, redact_text),
    _text_column(reduction.c.text, reduction.c.conversation == _SCOPE, redact_text),
    _text_column(outbox.c.error, outbox.c.conversation == _SCOPE, redact_text),
    _text_column(approval.c.arguments, approval.c.conversation == _SCOPE, redact_json),
)
_OF_SPACE = (
    _text_column(memory_change.c.added, memory_change.c.space == _SCOPE, redact_list),
    _text_column(memory_change.c.removed, memory_change.c.space == _SCOPE, redact_list),
    _text_column(memory_change.c.before, memory_change.c.space == _SCOPE, redact_memory),
    _text_column(dream.c.reason, dream.c.space == _SCOPE, redact_text),
    _text_column(link_code.c.typed_name, link_code.c.typed_space == _SCOPE, redact_text),
)
_INBOX_BODY = _text_column(
    inbox.c.body, (inbox.c.conversation == _SCOPE) & (inbox.c.state != literal_text("new")), redact_json, inbox.c.kind
)
_OUTBOX_TEXT = _text_column(outbox.c.text, outbox.c.conversation == _SCOPE, redact_text, outbox.c.source)
_CALL_INPUT = _text_column(
    tool_call.c.input,
    tool_call.c.turn_id.in_(select(turn.c.id).where(turn.c.conversation == _SCOPE)),
    redact_json,
    tool_call.c.turn_id,
)
_SELECT_PLANS = select(dream.c.id, dream.c.state, dream.c.plan).where(
    dream.c.space == _SCOPE, or_(dream.c.plan != literal_text(""), dream.c.state == literal_text("planned"))
)
_SET_PLAN = (
    update(dream).where(dream.c.id == bindparam("row")).values(plan=bindparam("fresh"), state=bindparam("became"))
)
_SELECT_FOUND = select(extraction.c.turn_id, extraction.c.state, extraction.c.found).where(
    extraction.c.conversation == _SCOPE
)
_CLEAR_FOUND = (
    update(extraction)
    .where(extraction.c.turn_id == bindparam("row"))
    .values(found=literal_text(""), state=bindparam("became"), reason=literal_text("forgotten"))
)
_SELECT_LINES = select(memory.c.id, memory.c.text, memory.c.quote).where(memory.c.space == _SCOPE)
_FORGET_LINE = (
    update(memory)
    .where(memory.c.id == bindparam("row"))
    .values(state=literal_text("forgotten"), text=bindparam("mark"), norm=bindparam("name"), quote=literal_text(""))
)
_SET_QUOTE = update(memory).where(memory.c.id == bindparam("row")).values(quote=bindparam("fresh"))
_SELECT_WAITING = select(forgetting.c.id, forgetting.c.targets).where(
    forgetting.c.space == _SCOPE, forgetting.c.state == literal_text("asked")
)
DROP_REQUESTED = (
    update(forgetting)
    .where(forgetting.c.id == bindparam("row"), forgetting.c.state == literal_text("asked"))
    .values(state=literal_text("dropped"), targets=literal_text(""))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedRows:
    """Whose rows repeat what was said: turns and inbox rows of redacted messages."""

    turns: frozenset[str]
    inbox: frozenset[str]
    #: The request's own row.
    asked: str


async def redact_conversation(tx: Tx, id: str, needle: MentionMatcher, told: RedactedRows) -> None:
    """Every cell of one conversation but its messages and folds; what nobody has begun to answer yet is left alone."""
    for cell in _OF_CONVERSATION:
        await _redact_column(tx, cell, id, needle)
    requests, of_memory = await _redact_inbox(tx, id, needle, told)
    repeats = told.inbox | of_memory | {_MEMORY_COMMAND_KEY}
    for row in await tx.all(_OUTBOX_TEXT.read, scope=id):
        answers = row["source"].partition(":")[0]
        fresh = redact_text(row["held"], needle, near=answers in repeats)
        await _write_cell(tx, _OUTBOX_TEXT, row, mark_for_language(row["held"]) if answers in requests else fresh)
    for row in await tx.all(_CALL_INPUT.read, scope=id):
        await _write_cell(tx, _CALL_INPUT, row, redact_json(row["held"], needle))


async def drop_found(tx: Tx, id: str, needle: MentionMatcher, told: RedactedRows) -> None:
    """What was or would be extracted from redacted turns of a conversation; nothing of it is noted any more."""
    for row in await tx.all(_SELECT_FOUND, scope=id):
        gone = row["turn_id"] in told.turns or redact_json(row["found"], needle) != row["found"]
        waits = row["state"] in ("queued", "found")
        if gone and (waits or row["found"]):
            await tx.run(_CLEAR_FOUND, row=row["turn_id"], became="skipped" if waits else row["state"])


async def redact_space(tx: Tx, space: str, needle: MentionMatcher, lines: MentionMatcher) -> int:
    """What is known of a space's memory. lines: for those of its MEMORY.md; returns how many had their row emptied."""
    for cell in _OF_SPACE:
        await _redact_column(tx, cell, space, needle)
    for row in await tx.all(_SELECT_PLANS, scope=space):
        fresh = redact_json(row["plan"], needle)
        planned = row["state"] == "planned"  # it may have read what is forgotten, and be about to write it
        if planned or fresh != row["plan"]:
            became = "refused" if planned else row["state"]
            await tx.run(_SET_PLAN, row=row["id"], fresh=fresh, became=became)
    for row in await tx.all(_SELECT_WAITING, scope=space):
        if redact_json(row["targets"], needle) != row["targets"]:
            await tx.run(DROP_REQUESTED, row=row["id"])
    return sum([await _forget_line(tx, row, lines) for row in await tx.all(_SELECT_LINES, scope=space)])


async def _redact_inbox(tx: Tx, id: str, needle: MentionMatcher, told: RedactedRows) -> tuple[set[str], set[str]]:
    """What people wrote; the rows that asked to forget it, whose answers showed it, and all commands on memory."""
    requests, of_memory = set(), set()
    for row in await tx.all(_INBOX_BODY.read, scope=id):
        found = (
            _MEMORY_COMMAND.match(str(json.loads(row["held"]).get("text", ""))) if row["kind"] == "command" else None
        )
        request = found is not None and found["name"].lower() == "forget"
        of_memory |= {row["key_0"]} if found else set()
        fresh = redact_json(row["held"], needle, near=found is not None or row["key_0"] in told.inbox)
        if request and (row["key_0"] == told.asked or fresh != row["held"]):
            requests.add(row["key_0"])
        await _write_cell(tx, _INBOX_BODY, row, fresh)
    return requests, of_memory


async def _forget_line(tx: Tx, row: Row, needle: MentionMatcher) -> bool:
    if needle.within(row["text"]):
        name, mark = f"forgotten {row['id']}", mark_for_language(row["text"])
        await tx.run(_FORGET_LINE, row=row["id"], mark=mark, name=name)
        return True
    quote = redact_text(row["quote"], needle)
    if quote != row["quote"]:
        await tx.run(_SET_QUOTE, row=row["id"], fresh=quote)
    return False


async def _redact_column(tx: Tx, cell: _TextColumn, scope: str, needle: MentionMatcher) -> None:
    for row in await tx.all(cell.read, scope=scope):
        await _write_cell(tx, cell, row, cell.how(row["held"], needle))


async def _write_cell(tx: Tx, cell: _TextColumn, row: Row, fresh: str) -> None:
    if fresh != row["held"]:
        keys = {name: value for name, value in {**row}.items() if name.startswith("key_")}
        await tx.run(cell.write, fresh=fresh, **keys)


# T14: what a person wants forgotten leaves the store in one transaction, and a mark stands where it stood.

LONG_TERM = "MEMORY.md"
# Messages that no search finds, and that repeat memory's lines: they are looked through sentence by sentence.
_TOOL_PART = re.compile(r'"kind": ?"Tool(?:Call|Result)"')
MIN_SUMMARY_TOKENS = 200  # tokens that a digest in a summary's place may have at least
_SELECT_CONVERSATIONS = select(conversation.c.id, conversation.c.channel, conversation.c.space).where(
    belongs_to_space(conversation.c.space)
)
_SELECT_MESSAGES = (
    select(message.c.id, message.c.seq, message.c.turn_id, message.c.parts, message.c.at)
    .where(message.c.conversation == bindparam("row"))
    .order_by(message.c.seq)
)
_ALLOW_DELETES = insert(removal)
_FORBID_DELETES = delete(removal).where(removal.c.conversation == bindparam("row"))
_SET_PARTS = (
    update(message)
    .where(message.c.id == bindparam("row"))
    .values(parts=bindparam("fresh"), has_text=bindparam("words"))
)
_DELETE_REDUCTIONS = delete(reduction).where(reduction.c.message_id == bindparam("row"))
_SELECT_INBOX_ID = select(turn.c.inbox_id).where(turn.c.id == bindparam("row"))
_SELECT_BODY = select(inbox.c.body).where(inbox.c.id == bindparam("row"))
_SELECT_NAMING_BLOB = select(message.c.id).where(message.c.parts.like(bindparam("name")))
_SELECT_WAITING_WITH_BLOB = select(inbox.c.id).where(
    inbox.c.state == literal_text("new"), inbox.c.body.like(bindparam("name"))
)
_SELECT_FOLDS = select(fold).where(fold.c.conversation == bindparam("row")).order_by(fold.c.at, fold.c.from_seq)
_SET_FOLD = (
    update(fold)
    .where(fold.c.id == bindparam("row"))
    .values(
        log_text=bindparam("log"),
        summary=bindparam("gist"),
        summary_tokens=bindparam("gist_tokens"),
        why=bindparam("reasons"),
        summary_tainted=bindparam("outside"),
    )
)
_MARK_STALE = update(fold).where(fold.c.id == bindparam("row")).values(state=literal_text("stale"))
_INSERT_FOLD = insert(fold)
_REPLANNED_FOLD = {
    "state": "planned",
    "log_text": "",
    "summary": "",
    "summary_tokens": 0,
    "source_sha256": "",
    "log_ref": "",
}


@dataclass(slots=True, kw_only=True)
class _EraseCounts:
    """An `Erased` while it is made."""

    #: Ids of those that were changed.
    messages: set[str] = field(default_factory=set)
    said: list[MessageMention] = field(default_factory=list)
    conversations: list[str] = field(default_factory=list)
    blobs: set[str] = field(default_factory=set)
    summaries: int = 0
    records: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _RedactedSummary:
    """A fold's summary as it is now."""

    text: str = ""
    tokens: int = 0
    #: A line of it may rest on words from outside.
    tainted: bool = False


async def erase(tx: Tx, space: str, targets: ForgetTargets) -> EraseReport:
    """The same redaction once more, for what was written meanwhile."""
    tally = _EraseCounts()
    for talk in await tx.all(_SELECT_CONVERSATIONS, space=space):
        await _ConversationEraser(tx=tx, row=talk, targets=targets, tally=tally).erase()
    for member in await load_member_spaces(tx, space):
        lines = targets.needle(f"{SPACES_FOLDER}/{member}/{LONG_TERM}" if member else LONG_TERM)
        tally.records += await redact_space(tx, member, targets.needle(), lines)
    blobs = [name for name in sorted(tally.blobs) if not await _shown_elsewhere(tx, name, tally.messages)]
    await hit_async("forget.in_txn")
    return EraseReport(
        said=tuple(tally.said),
        conversations=tuple(tally.conversations),
        blobs=tuple(blobs),
        summaries=tally.summaries,
        records=tally.records,
    )


async def _shown_elsewhere(tx: Tx, name: str, changed: set[str]) -> bool:
    """Whether a message that stays as it is, or one that nobody has answered yet, shows the same file."""
    shown = {row["id"] for row in await tx.all(_SELECT_NAMING_BLOB, name=f"%{name}%")}
    return bool(shown - changed) or await tx.one(_SELECT_WAITING_WITH_BLOB, name=f"%{name}%") is not None


@dataclass(slots=True, kw_only=True)
class _ConversationEraser:
    """One conversation of the space."""

    tx: Tx
    row: Row
    targets: ForgetTargets
    tally: _EraseCounts
    #: Its redacted messages by id, with their seqs.
    changed: dict[str, int] = field(default_factory=dict)
    turns: set[str] = field(default_factory=set)

    async def erase(self) -> None:
        id, needle = self.row["id"], self.targets.needle()
        await self._messages()
        told = RedactedRows(turns=frozenset(self.turns), inbox=await self._heard(), asked=self.targets.row)
        await redact_conversation(self.tx, id, needle, told)
        await drop_found(self.tx, id, needle, told)
        folds = await self._folds(needle)
        shown = await self._snapshot(needle)
        if self.changed or folds or shown:
            await raise_generation(self.tx, id, "forget")
            self.tally.conversations.append(id)

    async def _messages(self) -> None:
        chosen = {item.message_id for item in self.targets.taken}
        left = {item.message_id for item in self.targets.left} - {""}
        needle, literal = self.targets.needle(), MentionMatcher(query=self.targets.query)
        for row in await self.tx.all(_SELECT_MESSAGES, row=self.row["id"]):
            mine = row["id"] in chosen or (not needle.only and _TOOL_PART.search(row["parts"]) is not None)
            if row["id"] in left or not (mine or (not needle.only and may_contain(row["parts"], literal.query))):
                continue
            before = load_parts(row["parts"])
            after = redact_parts(before, replace(needle, only=False) if mine else literal, near=mine)
            if after != before:
                await self._change(row, before, after)
        await self.tx.run(_FORBID_DELETES, row=self.row["id"])

    async def _change(self, row: Row, before: Sequence[Part], after: tuple[Part, ...]) -> None:
        if not self.changed:
            await self.tx.run(_ALLOW_DELETES, conversation=self.row["id"])
        self.changed[row["id"]] = row["seq"]
        self.tally.messages.add(row["id"])
        self.turns.add(row["turn_id"])
        self.tally.said.append(MessageMention(channel=self.row["channel"], at=from_unix(row["at"])))
        words = any(isinstance(part, Text | Document) and not has_only_marks(part.text) for part in after)
        await self.tx.run(_SET_PARTS, row=row["id"], fresh=dump_parts(after), words=words)
        await self.tx.run(_DELETE_REDUCTIONS, row=row["id"])
        changed = {
            old.sha256 for old, new in zip(before, after, strict=True) if old != new and isinstance(old, Document)
        }
        if changed:
            self.tally.blobs |= changed | await self._raw_files(row["id"])

    async def _raw_files(self, id: str) -> set[str]:
        """The attachments as they came, named by the inbox row that the message was made of."""
        row = await self.tx.one(_SELECT_BODY, row=id)
        files = json.loads(row["body"]).get("files", ()) if row and row["body"] else ()
        return {str(file[0]) for file in files if file[0]}

    async def _heard(self) -> frozenset[str]:
        rows = [await self.tx.one(_SELECT_INBOX_ID, row=id) for id in self.turns]
        return frozenset(row["inbox_id"] for row in rows if row) | self.changed.keys()

    async def _folds(self, needle: MentionMatcher) -> bool:
        """Every fold, oldest first, since a later one's summary takes up the earlier's; whether any was changed."""
        touched = False
        summaries: dict[str, _RedactedSummary] = {}
        for row in await self.tx.all(_SELECT_FOLDS, row=self.row["id"]):
            fresh = {name: redact_text(row[name], needle) for name in ("log_text", "summary")}
            fresh["why"] = redact_json(row["why"], needle)
            overlaps = any(row["from_seq"] <= seq <= row["to_seq"] for seq in self.changed.values())
            if row["state"] in OPEN and (overlaps or any(fresh[name] != row[name] for name in fresh)):
                await self._anew(row)
                fresh |= {"log_text": "", "summary": ""}
            gist = await self._gist(row, fresh["summary"], summaries.get(row["prev_fold"], _RedactedSummary()))
            summaries[row["id"]] = gist
            if (gist.text, fresh["log_text"], fresh["why"]) != (row["summary"], row["log_text"], row["why"]):
                written = {"log": fresh["log_text"], "reasons": fresh["why"], "outside": int(gist.tainted)}
                await self.tx.run(_SET_FOLD, row=row["id"], gist=gist.text, gist_tokens=gist.tokens, **written)
                self.tally.summaries += row["state"] not in OPEN
                touched = True
        return touched

    async def _gist(self, row: Row, fresh: str, before: _RedactedSummary) -> _RedactedSummary:
        """The redacted summary; where nothing of it is left, the digest of what is left to digest."""
        if fresh == row["summary"] or not fresh or not has_only_marks(fresh):
            return _RedactedSummary(text=fresh, tokens=row["summary_tokens"], tainted=bool(row["summary_tainted"]))
        held = await load_messages(self.tx, self.row["id"], row["from_seq"], row["to_seq"])
        text = extractive_summary(held, before.text, WEIGHTED, max(MIN_SUMMARY_TOKENS, row["summary_tokens"]))
        return _RedactedSummary(text=text, tokens=WEIGHTED.text(text), tainted=before.tainted or is_tainted(held))

    async def _anew(self, row: Row) -> None:
        """A fold under way has read what is forgotten: it goes stale; a log that a clear left to it is begun again."""
        if not row["log_only"]:
            await mark_open_stale(self.tx, self.row["id"])
            return
        await self.tx.run(_MARK_STALE, row=row["id"])
        await self.tx.run(_INSERT_FOLD, **{**row, **_REPLANNED_FOLD, "id": new_id(self.tx.now), "log_only": True})

    async def _snapshot(self, needle: MentionMatcher) -> bool:
        """What the prefix shows of files is taken again where it mentions it."""
        held = await load_snapshot(self.tx, self.row["id"])
        if held is None or all(redact_text(part.text, needle) == part.text for part in held.parts):
            return False
        await forget_snapshot(self.tx, self.row["id"])
        return True


TRANSITIONS: dict[str, tuple[str, ...]] = {
    "asked": ("confirmed", "dropped"),
    "confirmed": ("removed",),
    "removed": ("done",),
}
STATES_WITHOUT_TARGETS = ("done", "dropped")  # states in which nothing of what was to be forgotten is kept
_SELECT = select(*columns_of(ForgettingRow, forgetting))
_SELECT_ONE = _SELECT.where(forgetting.c.id == bindparam("row"))
_SELECT_REQUESTED = (
    _SELECT.where(
        forgetting.c.conversation == bindparam("here"),
        forgetting.c.state == literal_text("asked"),
        forgetting.c.expires > bindparam("at_most"),
    )
    .order_by(forgetting.c.at.desc())
    .limit(1)
)
_SELECT_OPEN = _SELECT.where(is_one_of(forgetting.c.state, "confirmed", "removed")).order_by(
    forgetting.c.at, forgetting.c.id
)
_SELECT_LAST = (
    _SELECT.where(forgetting.c.space == bindparam("of"), forgetting.c.state == literal_text("done"))
    .order_by(forgetting.c.at.desc(), forgetting.c.id.desc())
    .limit(1)
)
_INSERT = insert(forgetting)
_DROP_OLDER = (
    update(forgetting)
    .where(forgetting.c.conversation == bindparam("here"), forgetting.c.state == literal_text("asked"))
    .values(state=literal_text("dropped"), targets=literal_text(""))
)
_DROP_EXPIRED = (
    update(forgetting)
    .where(forgetting.c.state == literal_text("asked"), forgetting.c.expires <= bindparam("at_most"))
    .values(state=literal_text("dropped"), targets=literal_text(""))
)
_MOVE = (
    update(forgetting)
    .where(forgetting.c.id == bindparam("row"), forgetting.c.state == bindparam("was"))
    .values(state=bindparam("became"), targets=bindparam("words"), receipt=bindparam("told"))
)
_SELECT_MESSAGES_OF_SPACE = (
    select(*columns_of(Message, message), message.c.conversation, conversation.c.channel, conversation.c.space)
    .join(conversation, conversation.c.id == message.c.conversation)
    .where(belongs_to_space(conversation.c.space), message.c.id > bindparam("after"))
    .order_by(message.c.id)
    .limit(bindparam("most"))
)


# Targets and receipt as they are kept once the store has been redacted.
DescribeErase = Callable[[EraseReport], tuple[str, str]]


async def _insert_request(tx: Tx, row: ForgettingRow) -> None:
    """A new one in state asked; an older asked one of the same conversation is dropped."""
    await tx.run(_DROP_OLDER, here=row.conversation)
    await tx.run(_DROP_EXPIRED, at_most=tx.now)
    values = {name: getattr(row, name) for name in ForgettingRow.__dataclass_fields__}
    await tx.run(_INSERT, **{**values, "expires": row.expires.timestamp(), "at": row.at.timestamp()})


async def _load_requested(tx: Tx, conversation: str, now: datetime) -> ForgettingRow | None:
    """The one that waits for its confirmation and has not expired."""
    row = await tx.one(_SELECT_REQUESTED, here=conversation, at_most=now.timestamp())
    return _to_row(row) if row else None


async def _move(
    tx: Tx, id: str, state: ForgettingState, *, targets: str | None = None, receipt: str | None = None
) -> None:
    """asked -> confirmed | dropped; confirmed -> removed; removed -> done; anything else raises WrongState."""
    row = await _load_known(tx, id)
    if state not in TRANSITIONS.get(row.state, ()):
        raise WrongState(f"a forgetting does not go from {row.state} to {state}")
    words = "" if state in STATES_WITHOUT_TARGETS else row.targets if targets is None else targets
    told = row.receipt if receipt is None else receipt
    await tx.run(_MOVE, row=id, was=row.state, became=state, words=words, told=told)


async def _confirm(tx: Tx, row: ForgettingRow, targets: ForgetTargets, written: DescribeErase) -> EraseReport:
    """T14: asked -> confirmed, the store redacted, and what `written` makes of it kept as targets and receipt."""
    await _move(tx, row.id, "confirmed")
    erased = await erase(tx, row.space, targets)
    words, told = written(erased)
    await tx.run(_MOVE, row=row.id, was="confirmed", became="confirmed", words=words, told=told)
    await append_act(tx, "forget", row.space, "confirmed", row.asked_by, args={"targets": row.targets})
    return erased


async def _end_request(tx: Tx, id: str, receipt: str) -> None:
    """What was to be forgotten is not kept any more, in its place the receipt; the state stays."""
    row = await _load_known(tx, id)
    await tx.run(_MOVE, row=id, was=row.state, became=row.state, words="", told=receipt)


async def _load_known(tx: Tx, id: str) -> ForgettingRow:
    """Raises WrongState where there is none."""
    row = await tx.one(_SELECT_ONE, row=id)
    if row is None:
        raise WrongState(f"there is no forgetting {id}")
    return _to_row(row)


async def _load_open(tx: Tx) -> list[ForgettingRow]:
    """confirmed or removed: they go on at start."""
    return [_to_row(row) for row in await tx.all(_SELECT_OPEN)]


async def _load_last(tx: Tx, space: str) -> ForgettingRow | None:
    """The newest one that is done."""
    row = await tx.one(_SELECT_LAST, of=space)
    return _to_row(row) if row else None


async def _expire(tx: Tx, now: datetime) -> None:
    """asked -> dropped for those that nobody confirmed in time; what they were to forget is not kept."""
    await tx.run(_DROP_EXPIRED, at_most=now.timestamp())


async def _load_messages(tx: Tx, space: str, after: str, limit: int) -> list[LocatedMessage]:
    """Messages of a space and those linked to it in order of their ids, from behind the id `after`."""
    return [
        _to_located_message(row)
        for row in await tx.all(_SELECT_MESSAGES_OF_SPACE, space=space, after=after, most=limit)
    ]


def _to_located_message(row: Row) -> LocatedMessage:
    own = {name: row[name] for name in Message.__dataclass_fields__}
    return LocatedMessage(message=to_message(own), channel=row["channel"], space=row["space"])


def _to_row(row: Row) -> ForgettingRow:
    return ForgettingRow(**{**row, "expires": from_unix(row["expires"]), "at": from_unix(row["at"])})


class ForgetRequests(Repository):
    """What people asked to have forgotten, and T14."""

    ask = write(_insert_request)
    asked = read(_load_requested)
    move = write(_move)
    row = read(_load_known)
    load_open = read(_load_open)
    last = read(_load_last)
    expire = write(_expire)
    said = read(_load_messages)
    confirm = write(_confirm, committed="forget.committed")
    erase = write(erase)
    empty = write(_end_request)

    async def compact(self) -> bool:
        """No byte of what was deleted is left in the database's files; False when a reader was in the way."""
        return await self._database.compact()
