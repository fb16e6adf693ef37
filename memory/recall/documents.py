"""What an index holds of a file and of what was said: a row for each bullet, log line or message. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from itertools import chain
from typing import Any, Literal

from memory.conversation import BOT_SPEAKER, USER_SPEAKER, Document, Message, Part, Text
from memory.workspace import daily_log

# What is asked of recall, and what it gives.

Kind = Literal["memory", "log", "said"]  # a line of MEMORY.md, a line of a daily log, something said in a conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search."""

    #: Whose memory, "" the owner's; there is no default.
    space: str
    query: str
    #: Timezone-aware, in the person's zone; relative dates in the query are reckoned from it and nothing else is.
    now: datetime
    limit: int = 5
    #: YYYY-MM-DD, both inclusive, "" for open.
    since: str = ""
    #: YYYY-MM-DD, both inclusive, "" for open.
    until: str = ""
    #: Only what that person said, "" for anyone. behalf: the conversation that asks without its person's word; what was
    #: cleared there is left out, and so is what does not match enough of the query. "" for a search that somebody asked
    #: for. shown_in: the conversation whose live turns are left out, since they are in view anyway; "" for none.
    speaker: str = ""
    on_behalf_of: str = ""
    hide_live_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Something found."""

    #: All that may be given of it, with date and speaker where they are known.
    text: str
    #: The bare words, as they stand in the file or message.
    words: str
    kind: Kind
    #: YYYY-MM-DD or "".
    date: str
    #: 0 to 1, the best hit of a search being near 1.
    score: float
    space: str = ""
    #: Relative to the workspace's root, line and last (its last line): of a file; "" and 0 for something said.
    path: str = ""
    line: int = 0
    last: int = 0
    #: Of something said, else 0 and "".
    turn: int = 0
    #: Of something said, else 0 and "".
    conversation: str = ""
    #: Of something said, else 0 and "".
    message_id: str = ""
    #: Of something said, else 0 and "".
    seq: int = 0
    #: "" where none is known.
    speaker: str = ""
    #: Whose section a log's line stands in.
    fold: str = ""


LONG_TERM = "MEMORY.md"
# Characters of one row, how much two pieces of a longer text share, and how many pieces a text may have.
PIECE_CHARACTERS, OVERLAP_CHARACTERS, MAX_PIECES = 1_000, 100, 400
MEMORY_PLACE_STEP = 10  # between the places of rows that stand beside each other without having to do with each other
SESSION_PAUSE = timedelta(hours=4)  # after so much silence what is said is another talk
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ENDS_AS_QUESTION = re.compile(r"[?？][\"'”’」』)）\s]*$")
_CONTINUATION = re.compile(r"(?: {2,}+|\t)(?!(?:[-*+]|\d{1,3}[.)])\s)\S")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """One row."""

    kind: Kind
    #: Its bare words.
    words: str
    #: See memory.recall.ranking.Hit, session counted in its source.
    session: int
    #: See memory.recall.ranking.Hit, session counted in its source.
    place: int
    #: YYYY-MM-DD or "".
    day: str = ""
    #: HH:MM or "".
    time: str = ""
    speaker: str = ""
    #: Of a file, 1-based.
    line: int = 0
    #: Of a file, 1-based.
    last: int = 0
    #: Of something said.
    turn: int = 0
    #: Of something said.
    seq: int = 0
    #: Of something said.
    message_id: str = ""
    fold: str = ""

    @property
    def asks(self) -> bool:
        """Whether it is a question itself."""
        return _ENDS_AS_QUESTION.search(self.words) is not None

    def shown(self) -> str:
        """All that may be given of it: date, time and speaker where they are known, then its words."""
        when = " ".join(filter(None, (self.day, self.time)))
        return (f"[{when}] " if when else "") + (f"{self.speaker}: " if self.speaker else "") + self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPosition:
    """How far a conversation is indexed: the next seq, the last row's session and place, and when it was said."""

    seq: int = 1
    session: int = 0
    place: int = 0
    at: float = 0.0


def rows_of_file(path: str, text: str) -> Iterator[IndexRow]:
    """The rows of a memory file, one at a time; sections of folds that are stale or were taken back have none."""
    day, kind = _day(path), _kind(path)
    count = session = 0
    section = ("", "")
    for line in _file_lines(text):
        if line.mark:
            continue
        if (line.fold, line.heading) != section:
            session, section = session + 1, (line.fold, line.heading)
        for piece in split_pieces(line.text):
            yield IndexRow(
                kind=kind,
                words=piece,
                session=session,
                place=count * (MEMORY_PLACE_STEP if kind == "memory" else 1),
                day=day,
                time=line.time,
                speaker=line.speaker,
                line=line.number,
                last=line.last,
                fold=line.fold,
            )
            count += 1


def skip_unchanged(
    held: Iterable[Sequence[Any]], rows: Iterable[IndexRow], columns_of: Callable[[IndexRow], Sequence[Any]]
) -> tuple[Iterator[IndexRow], int]:
    """The rows from the first one on that is not held as it is, and the number of the one before it, 0 for none.

    A day's log grows at its end with each fold: were all of it indexed again, a long day's folds would each cost more.
    Both sides are walked together, so that one row of each is in memory at a time, however long the day was.

    Args:
        held: (number, *columns) in order.
    """
    coming, last = iter(rows), 0
    for number, *columns in held:
        row = next(coming, None)
        if row is None:
            break
        if tuple(columns) != tuple(columns_of(row)):
            return chain((row,), coming), last
        last = number
    return coming, last


def rows_of_messages(
    messages: Iterable[Message], until: IndexPosition, zone: tzinfo
) -> tuple[list[IndexRow], IndexPosition]:
    """The rows of what was said next in a conversation, and how far it is indexed then; words of ours have none."""
    rows: list[IndexRow] = []
    for message in messages:
        words = "" if message.origin == "house" else " ".join(filter(None, map(_searchable_text, message.parts)))
        seconds = message.at.timestamp()
        if words.strip():
            if seconds - until.at > SESSION_PAUSE.total_seconds():
                until = replace(until, session=until.session + 1)
            for piece in split_pieces(words):
                until = replace(until, place=until.place + 1)
                rows.append(_message_row(message, piece, until, message.at.astimezone(zone)))
            until = replace(until, at=seconds)
        until = replace(until, seq=max(until.seq, message.seq + 1))
    return rows, until


def split_pieces(words: str) -> Iterator[str]:
    """A long text in pieces that each may be found and given alone."""
    step = PIECE_CHARACTERS - OVERLAP_CHARACTERS
    for at in range(0, max(1, min(len(words), MAX_PIECES * step)), step):
        piece = words[at : at + PIECE_CHARACTERS]
        if at == 0 or len(piece) > OVERLAP_CHARACTERS:
            yield f"{'…' if at else ''}{piece}{'…' if at + PIECE_CHARACTERS < len(words) else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileLine:
    """A line of a file with those that go on with it."""

    number: int
    last: int
    text: str
    time: str
    speaker: str
    fold: str
    mark: str
    heading: str


def _file_lines(text: str) -> Iterator[_FileLine]:
    held: _FileLine | None = None
    for row in daily_log.iter_rows(text):
        if held and row.number == held.last + 1 and _CONTINUATION.match(row.raw):
            held = replace(held, last=row.number, text=f"{held.text} {row.text}")
            continue
        if held:
            yield held
        held = _FileLine(
            number=row.number,
            last=row.number,
            text=row.text,
            time=row.time,
            speaker=row.speaker,
            fold=row.fold,
            mark=row.mark,
            heading=row.heading,
        )
    if held:
        yield held


def _message_row(message: Message, piece: str, at: IndexPosition, when: datetime) -> IndexRow:
    return IndexRow(
        kind="said",
        words=piece,
        session=at.session,
        place=at.place,
        day=f"{when:%Y-%m-%d}",
        time=f"{when:%H:%M}",
        speaker=_speaker(message),
        turn=message.turn,
        seq=message.seq,
        message_id=message.id,
    )


def _day(path: str) -> str:
    """The day that a file's name says, "" for none."""
    found = _DAY.search(path)
    with suppress(ValueError):
        return date.fromisoformat(found.group()).isoformat() if found else ""
    return ""


def _kind(path: str) -> Kind:
    return "memory" if path == LONG_TERM else "log"


def _speaker(message: Message) -> str:
    """Who said it: the one whose words are no aside, by the name they go by in a group."""
    own = [part.by for part in message.parts if isinstance(part, Text) and not part.aside]
    return BOT_SPEAKER if message.role != "user" else next(filter(None, reversed(own)), USER_SPEAKER)


def _searchable_text(part: Part) -> str:
    if isinstance(part, Text):
        return part.shown if part.aside else part.text
    return part.text if isinstance(part, Document) else ""
