"""The doctor's check of the ledger: fine for a sound database, the first fault of a broken one."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.cli.doctor.report import run_checks
from bot.cli.doctor.texts import ShownCheck
from bot.cli.main import main
from bot.config.home import HomeFolder
from memory.store.open import open_store
from tests.contracts.store_words import folded, talk
from tests.emulators.embedding import EmbeddingEmulator


async def checks(home: HomeFolder) -> dict[str, ShownCheck]:
    return {check.name: check for check in await run_checks(home)}


async def test_I36_the_ledger_has_a_line_of_its_own(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    assert "ledger" not in await checks(home)
    store = await open_store(home.db)
    conversation = await talk(store, "1", "2")
    await folded(store, conversation, 1)
    await store.close()
    sound = await checks(home)
    assert (sound["database"].ok, sound["ledger"].ok) == (True, True)
    with closing(sqlite3.connect(home.db, isolation_level=None)) as outside:
        outside.execute("DELETE FROM coverage")
    broken = await checks(home)
    assert (broken["database"].ok, broken["ledger"].ok) == (True, False)
    assert broken["ledger"].message.startswith(
        "There are 2 faults; the first: a message behind the head"
    )
    assert conversation in broken["ledger"].message
    assert broken["ledger"].hint


async def test_a_record_that_does_not_open_says_so_and_nothing_of_its_ledger(
    tmp_path: Path,
) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    home.db.write_bytes(b"no database at all" * 100)
    found = await checks(home)
    assert not found["database"].ok
    assert "ledger" not in found


async def test_what_an_earlier_version_renamed_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    assert "renamed files" not in await checks(home)
    memory = home.workspace / "spaces.made-by-exec-1a2b3c4d" / "telegram-7" / "MEMORY.md"
    memory.parent.mkdir(parents=True)
    memory.write_text("- the cat is called Mimi\n")
    (home.workspace / "HEARTBEAT.md.made-by-exec-1a2b3c4d").touch()
    check = (await checks(home))["renamed files"]
    assert not check.ok
    assert "HEARTBEAT.md.made-by-exec-1a2b3c4d, spaces.made-by-exec-1a2b3c4d." in check.message
    chinese = next(check for check in await run_checks(home, "zh") if check.name == "renamed files")
    assert "旧版本" in chinese.message
    assert "改回原名" in chinese.hint
    assert memory.read_text() == "- the cat is called Mimi\n"


async def test_the_index_has_a_line_of_its_own_and_the_way_to_mend_it(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    (home.workspace / "MEMORY.md").write_text("- 喜欢乌龙茶\n")
    assert (await checks(home))[
        "index"
    ].message == "There is none yet; the first search creates it."
    assert await asyncio.to_thread(main, ["--home", str(tmp_path), "memory", "index"]) == 0
    sound = (await checks(home))["index"]
    assert (sound.ok, sound.message) == (True, "The index is intact: 1 row for 1 space.")
    (home.index / "owner.db").write_bytes(b"no index at all" * 100)
    broken = (await checks(home))["index"]
    assert not broken.ok
    assert "The index of the owner has a fault" in broken.message
    assert "mnema memory index" in broken.hint


async def test_an_embedding_that_is_wanted_is_tried(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    without = (await checks(home))["embedding"]
    assert (without.ok, without.message) == (True, "Recall works by words only.")
    assert "extras" in without.hint
    home.config.write_text('{"memory": {"embedding": {"provider": "none"}}}')
    home.config.chmod(0o600)
    assert (await checks(home))["embedding"].hint == "", "who has chosen this needs no advice"
    async with EmbeddingEmulator(keys=("k",)) as emulator:
        for url, ok in ((emulator.url, True), ("http://127.0.0.1:9", False)):
            wanted = {"provider": "openai", "base_url": url, "model": "small", "api_key": "k"}
            home.config.write_text(json.dumps({"memory": {"embedding": wanted}}))
            home.config.chmod(0o600)
            found = (await checks(home))["embedding"]
            assert (found.ok, bool(found.hint)) == (ok, not ok), found


@pytest.mark.parametrize(
    ("text", "ok", "message"),
    [
        ("- one\n", True, "It is 6 bytes long."),
        (
            "x" * 1_000_001,
            False,
            "MEMORY.md is left alone: it has 1,000,001 bytes, and 1,000,000 are the most",
        ),
        (
            "- a\n" + "".join(f"- {n}\n" for n in range(5_001)),
            False,
            "It holds more than 5,000 memories; the last 2",
        ),
    ],
    ids=["small", "bytes", "lines"],
)
async def test_a_memory_that_is_too_large_is_said(
    tmp_path: Path, text: str, ok: bool, message: str
) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    (home.workspace / "MEMORY.md").write_text(text)
    found = (await checks(home))["MEMORY.md"]
    assert (found.ok, found.message[: len(message)]) == (ok, message)
