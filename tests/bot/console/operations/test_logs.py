"""The log in the page: every line once, over rotated files, with filters, and what is written from
now on.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.console.operations.logs import (
    BLOCK_BYTES,
    MAX_LINE_BYTES,
    MAX_TAIL_LINES,
    LogFilter,
    LogRoutes,
    read_page,
)
from tests.browser.real import real_bot


def line(number: int, level: str = "info", logger: str = "bot.agent.turn", trace: str = "") -> str:
    entry = {
        "n": number,
        "event": f"e{number}",
        "level": level,
        "logger": logger,
        "timestamp": "2026-11-20T12:00:00Z",
    }
    return json.dumps({**entry, **({"trace": trace} if trace else {})}) + "\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Three files with 3,000 lines, the oldest first in the last of them, and one line longer than
    a block.
    """
    path = tmp_path / "mnema.log"
    (tmp_path / "mnema.log.2").write_text("".join(map(line, range(1_000))))
    long = (
        json.dumps({"n": 1_500, "event": "x" * (2 * BLOCK_BYTES), "level": "info", "logger": "l"})
        + "\n"
    )
    middle = [line(n) if n != 1_500 else long for n in range(1_000, 2_000)]
    (tmp_path / "mnema.log.1").write_text("".join(middle) + "no json\n")
    path.write_text("".join(map(line, range(2_000, 3_000))) + '{"half')
    return path


def all_numbers(log: Path, wanted: LogFilter, limit: int) -> Iterator[int]:
    cursor: str | None = ""
    while cursor is not None:
        page = read_page(log, wanted, limit, cursor)
        assert len(page.lines) <= limit
        yield from (found["facts"]["n"] for found in page.lines)
        cursor = page.next


@pytest.mark.parametrize("limit", [7, 500])
def test_pages_have_every_line_once_newest_first(log: Path, limit: int) -> None:
    assert list(all_numbers(log, LogFilter(), limit)) == [
        n for n in range(2_999, -1, -1) if n != 1_500
    ]


def test_a_cursor_holds_while_files_are_rotated(log: Path) -> None:
    first = read_page(log, LogFilter(), 10)
    os.replace(log.with_name("mnema.log.2"), log.with_name("mnema.log.3"))
    os.replace(log.with_name("mnema.log.1"), log.with_name("mnema.log.2"))
    os.replace(log, log.with_name("mnema.log.1"))
    log.write_text(line(9_000))
    assert first.next is not None
    second = read_page(log, LogFilter(), 10, first.next)
    assert [found["facts"]["n"] for found in second.lines] == list(range(2_989, 2_979, -1))
    for cursor in ("x", "MTI", "Li4vOjE"):
        with pytest.raises(ValueError, match="cursor"):
            read_page(log, LogFilter(), 10, cursor)


def test_lines_are_chosen_by_level_logger_and_trace(tmp_path: Path) -> None:
    log = tmp_path / "mnema.log"
    log.write_text(
        line(1, "error", "bot.gateway", "t1")
        + line(2, "info", "bot.gateway.sender", "t1")
        + line(3, "warning", "botany")
    )
    for wanted, numbers in (
        (LogFilter(levels=frozenset({"warning", "error"})), [3, 1]),
        (LogFilter(logger="bot.gateway"), [2, 1]),
        (LogFilter(logger="bot"), [2, 1]),
        (LogFilter(trace="t1", levels=frozenset({"error"})), [1]),
    ):
        assert list(all_numbers(log, wanted, 5)) == numbers


async def test_new_lines_are_streamed_also_after_the_file_was_rotated(tmp_path: Path) -> None:
    log = tmp_path / "mnema.log"
    log.write_text(line(1))
    frames = LogRoutes(log).follow(lambda: False)
    assert await anext(frames) == b""
    with log.open("a") as file:
        file.write(line(2) + '{"n": 3')
    assert b'"n":2' in await anext(frames)
    with log.open("a") as file:
        file.write(line(3)[7:])
    os.replace(log, log.with_name("mnema.log.1"))
    log.write_text(line(4))
    assert b'"n":4' in await anext(frames)
    await frames.aclose()


async def test_of_a_flood_the_newest_lines_are_streamed_and_none_that_is_too_long(
    tmp_path: Path,
) -> None:
    log = tmp_path / "mnema.log"
    log.write_text("")
    frames = LogRoutes(log).follow(lambda: False)
    assert await anext(frames) == b""
    exact = line(0, logger="l" * (MAX_LINE_BYTES - len(line(0, logger=""))))
    with log.open("a") as file:
        file.write(
            "".join(map(line, range(MAX_TAIL_LINES))) + exact.replace("l" * 9, "l" * 10, 1) + exact
        )
    shown = json.loads((await anext(frames)).split(b"data: ")[1])["items"]
    assert len(exact.encode()) == MAX_LINE_BYTES
    assert [found["facts"]["n"] for found in shown] == [*range(1, MAX_TAIL_LINES), 0]
    await frames.aclose()


async def test_what_is_asked_wrongly_is_told(tmp_path: Path) -> None:
    async with real_bot(tmp_path, lambda asked: "yes") as real, real.site.client() as client:
        assert (await client.get("/api/v1/logs", params={"level": "loud"})).status_code == 400
        assert (await client.get("/api/v1/logs", params={"cursor": "x"})).status_code == 400
        assert (await client.get("/api/v1/logs")).json() == {"items": [], "next": None}
