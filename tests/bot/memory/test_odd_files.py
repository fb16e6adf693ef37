"""What the memory commands say to odd words, numbers and files: one clear sentence, and nothing
breaks.
"""

import os
from datetime import date
from pathlib import Path

import pytest

from channels.message import Capabilities
from channels.testing import ScriptedChannel as Channel
from tests.bot.commands.test_forget import TELEGRAM, code_of
from tests.bot.inside import Inside, inside

ZH, EN = (
    {"language": "zh", "memory": {"extract": False}},
    {"language": "en", "memory": {"extract": False}},
)
TWICE = "## Facts\n- has two cats\n- Has two cats!\n- works at night\n- lives in Leeds\n"


def memory_of(here: Inside) -> Path:
    return here.bot.workspace.root / "MEMORY.md"


@pytest.mark.parametrize(
    ("config", "told"),
    [(ZH, "这里没有可以记住的话。"), (EN, "There is nothing in that to remember.")],
)
async def test_signs_alone_are_nothing_to_remember(
    tmp_path: Path, config: dict[str, object], told: str
) -> None:
    async with inside(tmp_path, [], config) as here:
        for signs in ("---", "!!!"):
            assert await here.text(f"/remember {signs}") == told


@pytest.mark.parametrize(
    ("config", "told"),
    [(ZH, "太长了（10,001 字，最多 10,000 字"), (EN, "too long (10,001 characters")],
)
async def test_too_much_to_remember_is_refused(
    tmp_path: Path, config: dict[str, object], told: str
) -> None:
    async with inside(tmp_path, [], config) as here:
        before = memory_of(here).read_bytes()
        assert told in await here.text(f"/remember {'x' * 10_001}")
        assert memory_of(here).read_bytes() == before


async def test_a_fence_that_is_remembered_breaks_no_answer(tmp_path: Path) -> None:
    async with inside(tmp_path, [], EN) as here:
        told = await here.text("/remember the prompt is ```\nls")
        assert told.splitlines()[1] == told.splitlines()[-1] == "````"


@pytest.mark.parametrize("config", [ZH, EN])
async def test_a_huge_number_is_no_number(tmp_path: Path, config: dict[str, object]) -> None:
    async with inside(tmp_path, [], config) as here:
        for act in ("why", "show"):
            told = await here.text(f"/memory {act} {'9' * 5_000}")
            assert told.startswith(("There is no memory", "没有")), told
            assert len(told) < 500


@pytest.mark.parametrize(
    ("config", "told"), [(ZH, "没有记下：MEMORY.md "), (EN, "Not remembered: MEMORY.md ")]
)
async def test_a_file_that_is_no_plain_one_is_left(
    tmp_path: Path, config: dict[str, object], told: str
) -> None:
    async with inside(tmp_path, [], config) as here:
        os.link(memory_of(here), tmp_path / "twin")
        before = memory_of(here).read_bytes()
        assert (await here.text("/remember I sail on Sundays")).startswith(told)
        assert memory_of(here).read_bytes() == before


@pytest.mark.parametrize(("config", "told"), [(ZH, "已忘掉"), (EN, "Forgotten")])
async def test_forgetting_goes_on_beside_a_linked_folder(
    tmp_path: Path, config: dict[str, object], told: str
) -> None:
    async with inside(tmp_path, ["ok"], config) as here:
        folder = here.bot.workspace.root / "memory"
        if folder.exists():
            folder.rename(tmp_path / "former")
        (tmp_path / "else").mkdir()
        folder.symlink_to(tmp_path / "else")
        await here.text("My garden is in Xanadu")
        assert told in await here.text(f"/forget yes {code_of(await here.text('/forget Xanadu'))}")


@pytest.mark.parametrize(("config", "told"), [(ZH, "没有做完："), (EN, "Not finished:")])
async def test_a_space_that_is_a_link_is_told_of(
    tmp_path: Path, config: dict[str, object], told: str
) -> None:
    channel = Channel(name="telegram", account="bot1", capabilities=Capabilities())
    async with inside(tmp_path, ["ok"], {**config, **TELEGRAM}, channel=channel) as here:
        (tmp_path / "moved").mkdir()
        (here.bot.workspace.root / "spaces").rmdir()
        (here.bot.workspace.root / "spaces").symlink_to(tmp_path / "moved")
        assert (await here.text("/forget Xanadu", chat="ann", sender="ann")).startswith(told)
        assert "MEMORY.md" in await here.text(
            "/remember I sail on Sundays", chat="ann", sender="ann"
        )
        assert list((tmp_path / "moved").iterdir()) == []


async def test_undo_names_the_night_that_was_taken_back_and_whether_all_is_as_it_was(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, [], EN) as here:
        memory, dreamer = memory_of(here), here.bot.memory_service.dreamer
        memory.write_text(TWICE)
        await dreamer.night(date(2026, 11, 1))
        memory.write_text(f"{memory.read_text()}- drives a red car\n- Drives a red car!\n")
        await dreamer.night(date(2026, 11, 2))
        assert await here.text("/memory undo") == (
            "The tidying of 2026-11-02 is undone: MEMORY.md is as it was before."
        )
        memory.write_text(f"{memory.read_text()}- new by hand\n")
        told = await here.text("/memory undo")
        assert told.startswith("The tidying of 2026-11-01 is undone: the lines it added are gone")
        assert "no nightly tidying" in await here.text("/memory undo")


async def test_undo_in_chinese(tmp_path: Path) -> None:
    async with inside(tmp_path, [], ZH) as here:
        memory_of(here).write_text(TWICE)
        await here.bot.memory_service.dreamer.night(date(2026, 11, 1))
        assert (
            await here.text("/memory undo")
            == "已撤销 2026-11-01 的整理，MEMORY.md 恢复到之前的样子。"
        )


async def test_watching_goes_on_after_a_folder_that_is_no_space(tmp_path: Path) -> None:
    async with inside(tmp_path, [], EN) as here:
        here.bot.workspace.root.joinpath("spaces", "my notes").mkdir(parents=True)
        await here.bot.memory_service._changed(frozenset({"my notes"}))
        memory_of(here).write_text("- sails on Sundays\n")
        await here.bot.memory_service._changed(frozenset({"my notes", ""}))
        assert [row.text for row in await here.bot.store.memories.rows("")] == ["sails on Sundays"]
