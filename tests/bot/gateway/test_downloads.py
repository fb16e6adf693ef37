"""Files on platforms: downloaded once per space, never dropped while running, cached while they
exist.
"""

import asyncio
from pathlib import Path

import pytest

from bot.gateway.downloads import Downloads
from channels.base import FetchedFile
from channels.errors import Rejected
from memory.workspace.blobs import Blobs


class Platform:
    """Gives each file once `open` is set. asked: references, in order; taken: (space, bytes)
    stored.
    """

    def __init__(self, folder: Path, *, is_open: bool = True) -> None:
        self.open, self.asked, self.taken = asyncio.Event(), list[str](), list[tuple[str, int]]()
        self.missing, self.now = set[str](), 0.0
        self.blobs = Blobs(folder)
        self.fetching = Downloads(self.fetch, self.blobs, self.take, lambda: self.now)
        if is_open:
            self.open.set()

    async def fetch(self, channel: str, ref: str) -> FetchedFile:
        self.asked.append(ref)
        await self.open.wait()
        if ref in self.missing:
            raise Rejected("gone")
        return FetchedFile(data=b"of f1")

    async def take(self, space: str, size: int) -> None:
        self.taken.append((space, size))


async def test_a_thousand_and_one_files_under_way_are_each_fetched_once(tmp_path: Path) -> None:
    platform = Platform(tmp_path, is_open=False)
    for number in range(1_001):
        platform.fetching.begin("telegram", f"f{number}", "")
    waiting = [
        asyncio.create_task(platform.fetching.get("telegram", f"f{number}", ""))
        for number in range(1_001)
    ]
    await asyncio.sleep(0)
    platform.open.set()
    found = await asyncio.gather(*waiting)
    assert len(found) == 1_001
    assert sorted(platform.asked) == sorted(f"f{number}" for number in range(1_001))


async def test_what_is_here_is_forgotten_before_what_is_under_way(tmp_path: Path) -> None:
    platform = Platform(tmp_path)
    await platform.fetching.get("telegram", "first", "")
    platform.open.clear()
    for number in range(1_000):
        platform.fetching.begin("telegram", f"f{number}", "")
    platform.open.set()
    for number in range(1_000):
        await platform.fetching.get("telegram", f"f{number}", "")
    await platform.fetching.get("telegram", "first", "")
    assert platform.asked.count("first") == 2
    assert len(platform.asked) == 1_002


async def test_each_space_fetches_a_file_for_itself_and_pays_for_it(tmp_path: Path) -> None:
    platform = Platform(tmp_path)
    for space in ("", "telegram-7", "telegram-7"):
        await platform.fetching.get("telegram", "f1", space)
    assert platform.taken == [("", 5), ("telegram-7", 5)]


async def test_a_file_that_was_deleted_since_is_fetched_again(tmp_path: Path) -> None:
    platform = Platform(tmp_path)
    here = await platform.fetching.get("telegram", "f1", "")
    platform.blobs.remove(here.sha256)
    again = await platform.fetching.get("telegram", "f1", "")
    assert again == here
    assert platform.blobs.get(again.sha256) == b"of f1"


@pytest.mark.parametrize(("seconds", "times"), [(3_500.0, 1), (3_700.0, 2)])
async def test_a_file_that_came_is_not_remembered_for_ever(
    tmp_path: Path, seconds: float, times: int
) -> None:
    platform = Platform(tmp_path)
    await platform.fetching.get("telegram", "f1", "")
    platform.now = seconds
    await platform.fetching.get("telegram", "f1", "")
    assert len(platform.asked) == times


async def test_a_fetch_that_failed_for_two_is_tried_once_more_by_the_next(tmp_path: Path) -> None:
    platform = Platform(tmp_path)
    platform.missing = {"f1"}
    both = [platform.fetching.get("telegram", "f1", "") for _ in range(2)]
    assert [type(one) for one in await asyncio.gather(*both, return_exceptions=True)] == [
        Rejected,
        Rejected,
    ]
    platform.missing.clear()
    await asyncio.gather(*(platform.fetching.get("telegram", "f1", "") for _ in range(2)))
    assert len(platform.asked) == 2
