"""The program's log in the page: pages backwards from the newest line, and what is written from now
on.
"""

import asyncio
import base64
import binascii
import json
import os
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.console.operations import models
from channels.errors import InvalidValue
from channels.web.requests import HttpRefusal, Route, json_response
from channels.web.validation import CURSOR_REFUSED

LEVELS = ("debug", "info", "warning", "error", "critical")
BLOCK_BYTES = 256 * 1024
MAX_SCANNED_BYTES = 4 * 2**20  # of one page, whose cursor then says where the next one goes on
MAX_LINE_BYTES = 64 * 1024  # a longer one is not shown
MAX_TAIL_LINES = 500  # of one look; what a flood has more is not shown live
TAIL_SECONDS = 1.0
OWN_FIELDS = ("timestamp", "level", "logger", "event", "trace", "exception")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """Which lines are wanted."""

    #: Names of levels, the wanted one and worse; () for all.
    levels: frozenset[str] = frozenset()
    #: The logger or one above it, "" for any.
    logger: str = ""
    #: Trace id, "" for any.
    trace: str = ""

    def takes(self, line: Mapping[str, Any]) -> bool:
        """Tell whether a line is wanted."""
        name = str(line.get("logger", ""))
        return (
            (not self.levels or line.get("level") in self.levels)
            and (not self.logger or name == self.logger or name.startswith(f"{self.logger}."))
            and (not self.trace or line.get("trace") == self.trace)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """Lines, newest first."""

    lines: list[dict[str, Any]]
    #: Cursor of what is older; None at the oldest line.
    next: str | None


def read_page(log: Path, wanted: LogFilter, limit: int, cursor: str = "") -> LogPage:
    """Read lines backwards from the cursor, or from the newest one, over the rotated files; blocks.

    A cursor names a file by its inode, so that it holds while files are rotated.

    Raises:
        ValueError: the cursor is none of ours.
    """
    inode, end = _parse_cursor(cursor) if cursor else (0, None)
    found: list[dict[str, Any]] = []
    scanned = 0
    files = _log_files(log, inode)
    for file in files:
        with suppress(FileNotFoundError), file.open("rb") as source:
            status = os.fstat(source.fileno())
            until = status.st_size if end is None else min(end, status.st_size)
            end = None
            for start, raw in _lines_backwards(source.fileno(), until):
                scanned += len(raw) + 1
                line = parse_line(raw)
                if line is not None and wanted.takes(line):
                    found.append({"at": f"{status.st_ino}:{start}", **line})
                if start and (len(found) >= limit or scanned >= MAX_SCANNED_BYTES):
                    return LogPage(lines=found, next=_format_cursor(status.st_ino, start))
            if len(found) >= limit or scanned >= MAX_SCANNED_BYTES:
                rest = files[files.index(file) + 1 :]
                following = (
                    _format_cursor(os.stat(rest[0]).st_ino, os.stat(rest[0]).st_size)
                    if rest
                    else None
                )
                return LogPage(lines=found, next=following)
    return LogPage(lines=found, next=None)


def parse_line(raw: bytes) -> dict[str, Any] | None:
    """Parse a line of the log; None for one that is no line of ours."""
    if len(raw) > MAX_LINE_BYTES:
        return None
    try:
        line = json.loads(raw)
    except ValueError:
        return None
    if not isinstance(line, dict):
        return None
    facts = {name: value for name, value in line.items() if name not in OWN_FIELDS}
    return {**{name: str(line.get(name, "")) for name in OWN_FIELDS}, "facts": facts}


def _log_files(log: Path, inode: int = 0) -> list[Path]:
    """Return the file and its older ones, newest first; with `inode` from that one on, none if it
    is gone.
    """
    rotated = [path for path in log.parent.glob(f"{log.name}.*") if path.suffix[1:].isdigit()]
    rotated.sort(key=lambda path: int(path.suffix[1:]))
    files = [path for path in (log, *rotated) if path.exists()]
    if not inode:
        return files
    numbers = [os.stat(file).st_ino for file in files]
    return files[numbers.index(inode) :] if inode in numbers else []


def _lines_backwards(handle: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the start and the content of each line before `end`, the last one first."""
    rest = b""
    while end > 0:
        start = max(0, end - BLOCK_BYTES)
        block = os.pread(handle, end - start, start) + rest
        first = 0 if start == 0 else block.find(b"\n") + 1
        # a line that is longer than the block
        if start and not first and len(block) < MAX_SCANNED_BYTES:
            rest, end = block, start
            continue
        place = len(block)
        while place > first:
            begin = block.rfind(b"\n", first, place - 1) + 1 or first
            if raw := block[begin:place].strip():
                yield start + begin, raw
            place = begin
        rest, end = block[:first], start


def _format_cursor(inode: int, end: int) -> str:
    return base64.urlsafe_b64encode(f"{inode}:{end}".encode()).decode().rstrip("=")


def _parse_cursor(text: str) -> tuple[int, int]:
    try:
        inode, end = (
            base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii").split(":")
        )
        if not (inode.isdigit() and end.isdigit()):
            raise ValueError
        return int(inode), int(end)
    except (binascii.Error, UnicodeError, ValueError) as err:
        raise InvalidValue(CURSOR_REFUSED) from err


class LogRoutes:
    """Handlers of the log."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        return (
            Route(
                method="GET",
                path="/api/v1/logs",
                action="console.read",
                handler=self.page,
                query=models.LogQueryBody,
                reply=models.LogPageBody,
            ),
        )

    async def page(self, _: Request, query: models.LogQueryBody) -> Response:
        """Return lines of the log, newest first: of a level and worse, of a logger, of one
        trace.
        """
        wanted = LogFilter(
            levels=frozenset(LEVELS[LEVELS.index(query.level) :]) if query.level else frozenset(),
            logger=query.logger,
            trace=query.trace,
        )
        try:
            page = await asyncio.to_thread(read_page, self._log, wanted, query.limit, query.cursor)
        except InvalidValue as err:
            raise HttpRefusal(400, "cursor", err.phrase) from err
        return json_response({"items": page.lines, "next": page.next})

    async def follow(self, closed: Callable[[], bool]) -> AsyncGenerator[bytes]:
        """Yield a frame with the lines that were written since the last look, oldest first; b"" for
        none.
        """
        inode, place = await asyncio.to_thread(self._end)
        while not closed():
            await asyncio.sleep(TAIL_SECONDS)
            lines, inode, place = await asyncio.to_thread(self._read_new, inode, place)
            data = json.dumps({"items": lines}, ensure_ascii=False, separators=(",", ":"))
            yield f"event: log\ndata: {data}\n\n".encode(errors="replace") if lines else b""

    def _end(self) -> tuple[int, int]:
        with suppress(FileNotFoundError):
            status = self._log.stat()
            return status.st_ino, status.st_size
        return 0, 0

    def _read_new(self, inode: int, place: int) -> tuple[list[dict[str, Any]], int, int]:
        """Read whole lines after this place; of a file that is new since, from its start."""
        with suppress(FileNotFoundError), self._log.open("rb") as source:
            status = os.fstat(source.fileno())
            if status.st_ino != inode:
                inode, place = status.st_ino, 0
            if status.st_size - place > MAX_SCANNED_BYTES:
                place = status.st_size - MAX_SCANNED_BYTES
            data = os.pread(source.fileno(), status.st_size - place, place)
            whole = data[: data.rfind(b"\n") + 1]
            lines, at = [], place
            for raw in whole.splitlines(keepends=True):
                if (line := parse_line(raw)) is not None:
                    lines.append({"at": f"{inode}:{at}", **line})
                at += len(raw)
            return lines[-MAX_TAIL_LINES:], inode, place + len(whole)
        return [], inode, place
