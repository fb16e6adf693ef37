"""Which lines of a space's daily logs report the person's own words, and may so become memories."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

from memory import daily_log
from memory.context.render import USER
from memory.context.taint import FoldLabel
from memory.longterm.recurring import LogLine
from memory.longterm.similarity import normal
from memory.store.fold_doors import Folds
from memory.store.memory_doors import Dreams
from memory.store.records import FoldRow
from memory.workspace import SpaceFiles, TooBig

DAYS = 14
"""How far back a night looks."""
LEAST_SHARED = 4
"""Characters that a line must share with what a tool wrote to count as the tool's."""
_LOG = re.compile(rf"{daily_log.FOLDER}/(?P<day>\d{{4}}-\d\d-\d\d)(?:-\d+)?\.md")
Lines = tuple[LogLine, ...]
_OWN = frozenset({"", USER.casefold(), "用户", "我", "me"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A line, and where it stands."""

    row: daily_log.Row
    day: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Reads logs. Raises OSError and StoreError, all of it."""

    folds: Folds
    dreams: Dreams

    async def own_words(self, space: str, files: SpaceFiles, night: date, zone: tzinfo) -> Lines:
        """The lines of the 14 days up to a night that the person said, or that a fold tells of what they said.

        Left out are other speakers, folds that are stale, taken back, unknown or of another space, lines that rest on
        words from outside, whatever a model's file tools wrote, and all that groups say: there a line is not of one
        person.
        """
        found = await asyncio.to_thread(lambda: list(_lines(files, night)))
        if not found or await self.dreams.is_group(space):
            return ()
        folds = {row.id: row for row in await self._folds(found) if row.space == space}
        labels = {id: row.label for id, row in folds.items()}
        kept = [one for one in found if not one.row.fold or _is_clean(one.row, labels)]
        calls = await self.dreams.tool_writes(space) if kept else []
        return await asyncio.to_thread(lambda: _told(kept, folds, calls, zone))

    async def _folds(self, found: list[_Found]) -> list[FoldRow]:
        ids = dict.fromkeys(one.row.fold for one in found if one.row.fold)
        rows = [await self.folds.fold(id) for id in ids]
        return [row for row in rows if row is not None]


def _is_clean(row: daily_log.Row, labels: Mapping[str, FoldLabel]) -> bool:
    return row.fold in labels and not labels[row.fold].covers(row.text)


def _told(kept: Sequence[_Found], folds: Mapping[str, FoldRow], calls: Sequence[str], zone: tzinfo) -> Lines:
    written = _Written(calls)
    return tuple(_line(one, folds.get(one.row.fold), zone) for one in kept if not written.has(one.row.text))


class _Written:
    """What a model's file tools wrote, line by line."""

    def __init__(self, calls: Sequence[str]) -> None:
        lines = (line for call in calls for text in _texts(call) for line in text.splitlines())
        self._lines = {key for line in lines if len(key := normal(line)) >= LEAST_SHARED}

    def has(self, text: str) -> bool:
        key = normal(text)
        return any(line in key or (len(key) >= LEAST_SHARED and key in line) for line in self._lines)


def _texts(call: str) -> Iterator[str]:
    try:
        held = json.loads(call)
    except ValueError:
        return
    if isinstance(held, dict):
        yield from (text for name in ("content", "new") if isinstance(text := held.get(name), str))


def _lines(files: SpaceFiles, night: date) -> Iterator[_Found]:
    first, last = f"{night - timedelta(days=DAYS)}", f"{night}"
    try:
        paths = [entry.path for entry in files.list(daily_log.FOLDER)]
    except FileNotFoundError:
        return
    for path in paths:
        match = _LOG.fullmatch(path)
        if match is None or not first <= match["day"] <= last or not _is_day(match["day"]):
            continue
        try:
            text = files.read(path).text
        except (OSError, TooBig):
            continue  # gone meanwhile, or nothing that a person wrote
        for row in daily_log.rows(text):
            if not row.mark and row.speaker.strip().casefold() in _OWN:
                yield _Found(row=row, day=match["day"], path=path)


def _line(found: _Found, fold: FoldRow | None, zone: tzinfo) -> LogLine:
    row = found.row
    at = time.fromisoformat(row.time) if _is_time(row.time) else time(12)
    said = datetime.combine(date.fromisoformat(found.day), at, zone)
    return LogLine(
        text=row.text.strip(),
        day=found.day,
        path=found.path,
        number=row.number,
        said=fold.at if fold and not row.time else said,
        spoken=bool(row.speaker),
        conversation=fold.conversation if fold else "",
        channel=fold.channel if fold else "",
    )


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_time(text: str) -> bool:
    try:
        time.fromisoformat(text)
    except ValueError:
        return False
    return True
