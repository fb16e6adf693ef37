"""Turns memory files and messages into index rows: one for each bullet, log line or message.
Pure.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from itertools import chain
from typing import Any, Literal, NamedTuple

from memory.context.policies.tool_lines import call_subject
from memory.context.taint import (
    MEANWHILE_LABEL,
    OUTCOME_LABEL,
    OUTSIDE_LABEL,
    FoldLabel,
    is_own_words,
    judge_parts,
    speaker_of,
)
from memory.conversation import (
    UNFINISHED_MARKS,
    Document,
    Message,
    Part,
    Text,
    ToolCall,
    ToolResult,
    inner_call,
)
from memory.workspace import daily_log

# A line of MEMORY.md, a line of a daily log, what was said or came as a file, a piece of a tool's
# result.
Kind = Literal["memory", "log", "said", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search."""

    #: Whose memory to search, "" for the owner's. No default, so that it cannot be forgotten.
    space: str
    query: str
    #: Timezone-aware, in the person's zone; only relative dates in the query depend on it.
    now: datetime
    limit: int = 5
    #: YYYY-MM-DD, inclusive, "" for no limit.
    since: str = ""
    #: YYYY-MM-DD, inclusive, "" for no limit.
    until: str = ""
    #: YYYY-MM-DD: what was known at the end of that day, "" for now.
    as_of: str = ""
    #: Only what this person said, or this tool told as an outcome; "" for anyone.
    speaker: str = ""
    #: For an automatic search: the conversation it runs for. Its cleared messages, and weak
    #: matches, are left out. "" for a search that a person or the model asked for.
    on_behalf_of: str = ""
    #: Conversation whose live turns are left out because they are in view, "" for none.
    hide_live_of: str = ""


class ScoreSplit(NamedTuple):
    """Shares of a score, 0 to 1 each; what is missing to 1 was lent by neighbours and the day."""

    words: float = 0.0
    dates: float = 0.0
    vector: float = 0.0


NO_SPLIT = ScoreSplit()


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """Whether what a result says still holds, by stored links and dates."""

    #: Day (YYYY-MM-DD) since which a line of memory holds, "" for other results.
    since: str = ""
    #: The line that it replaced, "" for none.
    former: str = ""
    #: The fact that replaced what the result says, "" for none, and the day since which it holds.
    later: str = ""
    later_on: str = ""

    def note(self) -> str:
        """Return it as a clause for the model, "" for nothing."""
        if self.later:
            return f"later: {self.later}, {self.later_on}"
        if self.former:
            return f"since {self.since}; until then: {self.former}"
        return f"since {self.since}" if self.since else ""


NO_VALIDITY = Validity()


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One result of a search."""

    #: The text to show, with date and speaker if they are known; see `outside`.
    text: str
    #: The words alone, as in the file or message.
    words: str
    kind: Kind
    #: YYYY-MM-DD or "".
    date: str
    #: 0 to 1; the best result of a search is near 1.
    score: float
    space: str = ""
    #: File relative to the workspace, "" for a message.
    path: str = ""
    #: First and last line in the file, from 1.
    line: int = 0
    last: int = 0
    #: Where it was said; 0 and "" for a file.
    turn: int = 0
    conversation: str = ""
    message_id: str = ""
    seq: int = 0
    #: "" if unknown.
    speaker: str = ""
    #: Id of the fold in whose section a log's line is.
    fold: str = ""
    #: Position in its message.
    part: int = 0
    #: It may hold words from outside: then `text` begins with OUTSIDE_LABEL.
    outside: bool = False
    split: ScoreSplit = NO_SPLIT
    validity: Validity = NO_VALIDITY


def mark_outside(passages: Iterable[Passage], labels: Mapping[str, FoldLabel]) -> list[Passage]:
    """Mark each passage that may hold words from outside, also one from the middle of a long text.

    What was said or came from a tool was judged when it was indexed.

    Args:
        labels: of the folds of which they are lines.
    """
    return [
        replace(one, text=f"{OUTSIDE_LABEL} {one.text}", outside=True)
        if one.outside or (one.fold and labels[one.fold].covers(one.words))
        else one
        for one in passages
    ]


LONG_TERM = "MEMORY.md"
# Longer texts are split into pieces: characters of one, characters that two share, pieces per text.
PIECE_CHARACTERS, OVERLAP_CHARACTERS, MAX_PIECES = 1_000, 100, 400
# between neighbours in MEMORY.md: they are unrelated, so ranking must not see them as adjacent
MEMORY_PLACE_STEP = 10
# A tool's result: characters of one piece, and of its beginning and end that are indexed.
TOOL_PIECE_CHARACTERS, TOOL_HEAD_CHARACTERS, TOOL_TAIL_CHARACTERS = 400, 20_000, 4_000
# number of the first session of a tool's result; each result is one, apart from what was said
TOOL_SESSIONS = 1 << 30
TOOL_PLACES = 1_000  # between the results of one message
SESSION_PAUSE = timedelta(hours=4)  # a longer pause begins a new session
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ENDS_AS_QUESTION = re.compile(r"[?？][\"'”’」』)）\s]*$")
_CONTINUATION = re.compile(r"(?: {2,}+|\t)(?!(?:[-*+]|\d{1,3}[.)])\s)\S")


class IndexRow(NamedTuple):
    """One row of an index. A tuple, because a search makes a hundred of them."""

    kind: Kind
    #: The words alone.
    words: str
    #: Number of the session (a section of a file, or messages without a long pause) in its source.
    session: int
    #: Position in the session; rows whose places differ by 1 are neighbours.
    place: int
    #: YYYY-MM-DD or "".
    day: str = ""
    #: HH:MM or "".
    time: str = ""
    speaker: str = ""
    #: First and last line in a file, from 1.
    line: int = 0
    last: int = 0
    #: Where it was said.
    turn: int = 0
    seq: int = 0
    message_id: str = ""
    #: Id of the fold in whose section it is.
    fold: str = ""
    #: Its position in the message.
    part: int = 0
    #: What it is of, where that is no speaker: a call such as "read_file notes.txt", a file, a
    #: quotation.
    subject: str = ""
    #: Of a message: it may hold words from outside. The lines of a fold have labels of their own.
    outside: bool = False

    @property
    def searched(self) -> str:
        """The text that is searched."""
        return f"{self.subject} {self.words}" if self.subject else self.words

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return _ENDS_AS_QUESTION.search(self.words) is not None

    def shown(self) -> str:
        """Date, time and speaker, if they are known, and the words."""
        when = " ".join(filter(None, (self.day, self.time)))
        whose = self.speaker or self.subject
        return (f"[{when}] " if when else "") + (f"{whose}: " if whose else "") + self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPosition:
    """How far a conversation is indexed. Stored as JSON in the index."""

    #: Of the next message.
    seq: int = 1
    #: Of the last row.
    session: int = 0
    place: int = 0
    #: When that row was said, in seconds since 1970.
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBeginning:
    """What a part of a file follows."""

    #: Lines before it.
    lines: int = 0
    #: Session and place of the last row before it.
    session: int = 0
    place: int = -1


WHOLE_FILE = FileBeginning()


def rows_of_file(path: str, text: str, after: FileBeginning = WHOLE_FILE) -> Iterator[IndexRow]:
    """The rows of a memory file, without the sections of folds that are stale or were undone.

    Args:
        after: what precedes the text, which begins with a blank line and a section then.
    """
    day = _day(path)
    kind: Kind = "memory" if path == LONG_TERM else "log"
    step = MEMORY_PLACE_STEP if kind == "memory" else 1
    count, session = after.place // step + 1, after.session
    section = ("", "")
    for line in _file_lines(text, after.lines + 1):
        if line.mark:
            continue
        if (line.fold, line.heading) != section:
            session, section = session + 1, (line.fold, line.heading)
        for piece in split_pieces(line.text):
            yield IndexRow(
                kind=kind,
                words=piece,
                session=session,
                place=count * step,
                day=line.day or day,
                time=line.time,
                speaker=line.speaker,
                line=line.number,
                last=line.last,
                fold=line.fold,
            )
            count += 1


def skip_unchanged(
    indexed: Iterable[Sequence[Any]],
    rows: Iterable[IndexRow],
    columns_of: Callable[[IndexRow], Sequence[Any]],
) -> tuple[Iterator[IndexRow], int]:
    """Skip the rows at the beginning that are indexed already.

    A day's log grows at its end, so a fold costs the same however long the log is. One row of each
    side is in memory at a time.

    Args:
        indexed: (number, *columns) in order.

    Returns:
        (the rows from the first changed one on, the number of the last unchanged one or 0).
    """
    new, last = iter(rows), 0
    for number, *columns in indexed:
        row = next(new, None)
        if row is None:
            break
        if tuple(columns) != tuple(columns_of(row)):
            return chain((row,), new), last
        last = number
    return new, last


def rows_of_messages(
    messages: Iterable[Message], until: IndexPosition, zone: tzinfo
) -> tuple[list[IndexRow], IndexPosition]:
    """The rows of a conversation's next messages, and how far it is indexed with them; notices of
    the bot have none.

    Args:
        messages: those before `until` have no rows; they tell which calls the first results belong
            to.
    """
    rows: list[IndexRow] = []
    calls: dict[str, ToolCall] = {}
    messages = list(messages)
    outside = frozenset(
        (message.id, part) for message, part, tainted in judge_parts(messages) if tainted
    )
    for message in messages:
        calls |= {part.id: inner_call(part) for part in message.parts if isinstance(part, ToolCall)}
        if message.seq < until.seq:
            continue
        rows += _rows_of_results(message, calls, outside, zone)
        said, until = _rows_of_words(message, outside, until, zone)
        rows += said
        until = replace(until, seq=max(until.seq, message.seq + 1))
    return rows, until


def split_pieces(words: str) -> Iterator[str]:
    """Split a long text into overlapping pieces."""
    step = PIECE_CHARACTERS - OVERLAP_CHARACTERS
    for at in range(0, max(1, min(len(words), MAX_PIECES * step)), step):
        piece = words[at : at + PIECE_CHARACTERS]
        if at == 0 or len(piece) > OVERLAP_CHARACTERS:
            yield f"{'…' if at else ''}{piece}{'…' if at + PIECE_CHARACTERS < len(words) else ''}"


# Message id and position of the parts that may hold words from outside.
OutsideParts = frozenset[tuple[str, int]]
# Tools that repeat what memory holds anyway.
_MEMORY_TOOLS = frozenset({"recall", "memory_search", "memory_get", "memory_write", "now"})


def _rows_of_results(
    message: Message, calls: Mapping[str, ToolCall], outside: OutsideParts, zone: tzinfo
) -> Iterator[IndexRow]:
    """The rows of results of tools, and of the outcomes of calls, which are told later."""
    for number, part in enumerate(message.parts):
        speaker = subject = ""
        match part:
            case ToolResult(call_id=id):
                call = calls.get(id)
                if call and call.name in _MEMORY_TOOLS:
                    continue
                subject = " ".join(
                    filter(None, (call.name if call else "tool", call_subject(call)))
                )
            case Text(by=tool, aside=label) if label == OUTCOME_LABEL:
                speaker = subject = tool
            case _:
                continue
        row = _row_of_part(message, number, outside, zone)._replace(
            kind="tool", session=TOOL_SESSIONS + message.seq, speaker=speaker, subject=subject
        )
        for place, piece in enumerate(split_result(part.text)):
            yield row._replace(words=piece, place=number * TOOL_PLACES + place)


def _rows_of_words(
    message: Message, outside: OutsideParts, until: IndexPosition, zone: tzinfo
) -> tuple[list[IndexRow], IndexPosition]:
    """The rows of what was said or came as a file, and how far the conversation is indexed with
    them.

    Words of others that a message brings, such as a quotation, are rows of their own, so each piece
    names them.
    """
    rows: list[IndexRow] = []
    # at the end of each piece, whichever is recalled
    mark = UNFINISHED_MARKS.get(message.origin, "")
    for number, part in enumerate(message.parts):
        words = _searchable_text(message, part)
        if words == mark or not words.strip(" …"):
            continue
        whose = speaker_of(message, part)
        is_said = is_own_words(part) or (isinstance(part, Text) and part.aside == MEANWHILE_LABEL)
        row = _row_of_part(message, number, outside, zone)._replace(
            speaker=whose if is_said else "", subject="" if is_said else whose
        )
        if not rows and message.at.timestamp() - until.at > SESSION_PAUSE.total_seconds():
            until = replace(until, session=until.session + 1)
        for piece in split_pieces(words):
            until = replace(until, place=until.place + 1, at=message.at.timestamp())
            marked = f"{piece} {mark}" if mark else piece
            rows.append(row._replace(words=marked, session=until.session, place=until.place))
    return rows, until


def _row_of_part(message: Message, number: int, outside: OutsideParts, zone: tzinfo) -> IndexRow:
    """A row without words."""
    when = message.at.astimezone(zone)
    return IndexRow(
        kind="said",
        words="",
        session=0,
        place=0,
        day=f"{when:%Y-%m-%d}",
        time=f"{when:%H:%M}",
        turn=message.turn,
        seq=message.seq,
        message_id=message.id,
        part=number,
        outside=(message.id, number) in outside,
    )


def split_result(text: str) -> Iterator[str]:
    """Split the beginning and the end of a tool's result into pieces of whole lines; long lines are
    cut.
    """
    cut = len(text) > TOOL_HEAD_CHARACTERS + TOOL_TAIL_CHARACTERS
    for section in (text[:TOOL_HEAD_CHARACTERS], text[-TOOL_TAIL_CHARACTERS:]) if cut else (text,):
        piece = ""
        for raw in section.splitlines():
            line = " ".join(raw.split())
            for at in range(0, len(line), TOOL_PIECE_CHARACTERS):
                wanted = line[at : at + TOOL_PIECE_CHARACTERS]
                if piece and len(piece) + len(wanted) >= TOOL_PIECE_CHARACTERS:
                    yield piece
                    piece = ""
                piece = f"{piece}\n{wanted}" if piece else wanted
        if any(map(str.isalnum, piece)):
            yield piece


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileLine:
    """A line of a file with its continuation lines."""

    number: int
    last: int
    text: str
    time: str
    speaker: str
    fold: str
    mark: str
    heading: str
    day: str


def _file_lines(text: str, first: int) -> Iterator[_FileLine]:
    current: _FileLine | None = None
    for row in daily_log.iter_rows(text, first):
        if current and row.number == current.last + 1 and _CONTINUATION.match(row.raw):
            current = replace(current, last=row.number, text=f"{current.text} {row.text}")
            continue
        if current:
            yield current
        current = _FileLine(
            number=row.number,
            last=row.number,
            text=row.text,
            time=row.time,
            speaker=row.speaker,
            fold=row.fold,
            mark=row.mark,
            heading=row.heading,
            day=row.day,
        )
    if current:
        yield current


def _day(path: str) -> str:
    """The day in a file's name, "" for none."""
    found = _DAY.search(path)
    with suppress(ValueError):
        return date.fromisoformat(found.group()).isoformat() if found else ""
    return ""


def _searchable_text(message: Message, part: Part) -> str:
    """What is searched of a part beside results of tools; nothing of what the bot wrote without a
    model.
    """
    if message.origin == "house" or not isinstance(part, Text | Document):
        return ""
    return "" if isinstance(part, Text) and part.aside == OUTCOME_LABEL else part.text
