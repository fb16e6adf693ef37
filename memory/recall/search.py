"""Searches what a space has written down and what was said in it, as things stand now."""

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memory import daily_log
from memory.context.render import BOT, USER
from memory.conversation import Document, Part, Text
from memory.recall.lexical import rank
from memory.store.doors import Store
from memory.store.records import Found
from memory.workspace import SpaceFiles, TooBig, Workspace

LONG_TERM = "MEMORY.md"
NEWEST = 5_000
PIECE, OVERLAP, MOST_PIECES = 600, 40, 50
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Something found. text: all that may be given of it, with date and speaker where they are known.

    path, line: of a file of the space, "" and 0 for something said; turn, conversation: of something said, 0 and "" for
    a file. date: YYYY-MM-DD or "". score: 0 to 1.
    """

    text: str
    path: str
    line: int
    turn: int
    date: str
    score: float
    conversation: str = ""


async def search(
    store: Store, workspace: Workspace, space: str, query: str, limit: int, not_cleared_of: str = ""
) -> list[Passage]:
    """The passages of one space that answer best, best first: its memory files' lines and its newest 5,000 messages.

    Args:
        space: whose memory; nothing of another one is looked at.
        not_cleared_of: the conversation on whose behalf this is asked without its person's word: what was cleared
            there is left out, in the record and in the logs.
    """
    hidden = await _cleared_folds(store, not_cleared_of) if not_cleared_of else frozenset()
    said = await store.sessions.search_rows(space, NEWEST, not_cleared_of)
    return await asyncio.to_thread(_find, workspace, space, query, limit, (said, hidden))


async def _cleared_folds(store: Store, conversation: str) -> frozenset[str]:
    row = await store.sessions.conversation(conversation)
    if row is None:
        return frozenset()
    return frozenset(fold.id for fold in await store.folds.folds(conversation) if fold.to_seq < row.view_from)


def _find(
    workspace: Workspace, space: str, query: str, limit: int, rest: tuple[list[Found], frozenset[str]]
) -> list[Passage]:
    said, hidden = rest
    passages = [*_written(workspace.space(space), hidden), *_said(said)]
    best = rank(query, ((number, passage.text) for number, passage in enumerate(passages)), limit * 3)
    found: dict[str, Passage] = {}
    for item in best:
        passage = passages[item.key]
        # the log repeats what was said; the same words once are enough
        words = " ".join(re.sub(r"^\[[^\]]*\] ", "", passage.text).split())
        found.setdefault(words, replace(passage, score=item.score))
    return list(found.values())[:limit]


def _written(files: SpaceFiles, hidden: frozenset[str]) -> Iterator[Passage]:
    for path in _paths(files):
        try:
            text = files.read(path).text
        except (OSError, TooBig):
            continue  # gone meanwhile, or nothing that a person wrote
        day = _DAY.search(path)
        date = day.group() if day else ""
        for row in daily_log.rows(text):
            if not row.mark and row.fold not in hidden:
                words = f"{row.speaker}: {row.text}" if row.speaker else row.text
                when = f"[{' '.join(filter(None, (date, row.time)))}] " if date else ""
                for piece in _pieces(words):
                    yield Passage(text=when + piece, path=path, line=row.number, turn=0, date=date, score=0.0)


def _paths(files: SpaceFiles) -> list[str]:
    try:
        logs = [entry.path for entry in files.list(daily_log.FOLDER) if entry.path.endswith(".md")]
    except FileNotFoundError:
        logs = []
    return [LONG_TERM, *logs]


def _said(found: Iterable[Found]) -> Iterator[Passage]:
    for item in found:
        message, conversation = item.message, item.conversation
        date, speaker = f"{message.at:%Y-%m-%d}", USER if message.role == "user" else BOT
        words = " ".join(filter(None, map(_words, message.parts)))
        for piece in _pieces(words) if words.strip() else ():
            text = f"[{date} {message.at:%H:%M}] {speaker}: {piece}"
            yield Passage(
                text=text, path="", line=0, turn=message.turn, date=date, score=0.0, conversation=conversation
            )


def _words(part: Part) -> str:
    return part.text if isinstance(part, Text | Document) else ""


def _pieces(words: str) -> Iterator[str]:
    """A long text in pieces that each may be found and given alone."""
    step = PIECE - OVERLAP
    for at in range(0, max(1, min(len(words), MOST_PIECES * step)), step):
        piece = words[at : at + PIECE]
        if at == 0 or len(piece) > OVERLAP:
            yield f"{'…' if at else ''}{piece}{'…' if at + PIECE < len(words) else ''}"
