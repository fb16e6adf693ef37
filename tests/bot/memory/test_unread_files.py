"""A file that cannot be read is not an empty one: its part of the prompt stays, and the next
request reads it again.
"""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from bot.config.home import HomeFolder
from memory.context.tokens import WEIGHTED
from memory.store.open import open_store
from tests.bot.agent.test_prompt import NOON, ROOM, Desk
from tests.bot.runtime.descriptors import no_descriptors
from tests.contracts.store_words import folded, talk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    held = Desk(home=home, store=await open_store(home.db))
    yield held
    await held.store.close()


@contextmanager
def replaced_by_a_pipe(path: Path) -> Iterator[None]:
    """While it is entered, something stands there that is no file."""
    aside = path.with_name("aside")
    path.rename(aside)
    os.mkfifo(path)
    try:
        yield
    finally:
        aside.replace(path)


@contextmanager
def at_the_limit(path: Path) -> Iterator[None]:
    with no_descriptors():
        yield


Fails = Callable[[Path], AbstractContextManager[None]]
BOTH = pytest.mark.parametrize("fails", [replaced_by_a_pipe, at_the_limit])


def logged(desk: Desk) -> Path:
    desk.log("f1", "tea was bought")
    return desk.home.workspace / "memory" / f"{NOON:%Y-%m-%d}.md"


@BOTH
async def test_the_first_request_goes_without_it_and_the_next_one_has_it(
    desk: Desk, fails: Fails
) -> None:
    desk.write("MEMORY.md", "- likes tea")
    home = await talk(desk.store, "1")
    with fails(desk.home.workspace / "MEMORY.md"):
        assert "MEMORY.md" not in await desk.parts(home)
    assert "- likes tea" in (await desk.parts(home))["MEMORY.md"]
    before = await desk.parts(home)
    await desk.restart()
    assert await desk.parts(home) == before


@BOTH
@pytest.mark.parametrize("name", ["MEMORY.md", "log"])
async def test_a_restart_in_between_does_not_record_that_there_was_none(
    desk: Desk, fails: Fails, name: str
) -> None:
    desk.write("MEMORY.md", "- likes tea")
    log = logged(desk)
    home = await talk(desk.store, "1")
    with fails(log if name == "log" else desk.home.workspace / "MEMORY.md"):
        assert name not in await desk.parts(home)
    await desk.restart()
    after = await desk.parts(home)
    assert "- likes tea" in after["MEMORY.md"]
    assert "- tea was bought" in after["log"]


@BOTH
@pytest.mark.parametrize("name", ["MEMORY.md", "log"])
async def test_its_recorded_part_stays_over_a_fold_until_it_can_be_read(
    desk: Desk, fails: Fails, name: str
) -> None:
    desk.write("MEMORY.md", "- likes tea")
    log = logged(desk)
    home = await talk(desk.store, "1", "2", "3")
    before = await desk.parts(home)
    generation = await desk.generation(home)
    await folded(desk.store, home, 1)
    path = log if name == "log" else desk.home.workspace / "MEMORY.md"
    with fails(path):
        during = await desk.parts(home)
        assert during[name] == before[name]
        assert await desk.parts(home) == during
    desk.write("MEMORY.md", "- likes coffee")
    desk.log("f2", "cake was eaten")
    after = await desk.parts(home)
    assert "- likes coffee" in after["MEMORY.md"]
    assert "- cake was eaten" in after["log"]
    assert await desk.generation(home) > generation
    await desk.restart()
    assert await desk.parts(home) == after


@BOTH
async def test_nothing_moves_while_it_cannot_be_read_and_nothing_else_happened(
    desk: Desk, fails: Fails
) -> None:
    desk.write("MEMORY.md", "- likes tea")
    home = await talk(desk.store, "1")
    before = await desk.parts(home)
    with fails(desk.home.workspace / "MEMORY.md"):
        assert await desk.parts(home) == before
    assert await desk.parts(home) == before
    assert await desk.generation(home) == 0


async def test_a_restart_while_it_cannot_be_read_shows_what_is_recorded(desk: Desk) -> None:
    desk.write("MEMORY.md", "- likes tea")
    home = await talk(desk.store, "1")
    before = await desk.parts(home)
    with replaced_by_a_pipe(desk.home.workspace / "MEMORY.md"):
        await desk.restart()
        assert await desk.parts(home) == before
    assert await desk.generation(home) == 0


async def test_a_file_that_was_deleted_is_no_memory(desk: Desk) -> None:
    desk.write("MEMORY.md", "- likes tea")
    home = await talk(desk.store, "1")
    assert "MEMORY.md" in await desk.parts(home)
    (desk.home.workspace / "MEMORY.md").unlink()
    assert "MEMORY.md" not in await desk.parts(home)
    await desk.restart()
    assert "MEMORY.md" not in await desk.parts(home)


async def test_what_was_looked_at_and_never_shown_is_not_recorded_with_a_later_look(
    desk: Desk,
) -> None:
    desk.write("MEMORY.md", "- likes tea")
    home = await talk(desk.store, "1")
    await desk.parts(home)
    desk.write("MEMORY.md", "- likes coffee")
    # and no request is sent with it
    await desk.prompt.load(await desk.store.sessions.load(home), ROOM, WEIGHTED)
    with replaced_by_a_pipe(desk.home.workspace / "MEMORY.md"):
        during = await desk.parts(home)
        assert "- likes tea" in during["MEMORY.md"]
        await desk.restart()
        assert await desk.parts(home) == during
