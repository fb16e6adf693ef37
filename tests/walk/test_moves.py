"""A record that moves to PostgreSQL: the command is killed, and the bot lives on where it was
left.
"""

import hashlib
import json
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from bot.cli.backup.create import create_backup
from bot.config.home import HomeFolder
from bot.config.restore_journal import KEPT_DATABASE
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.memory.store.whole import whole
from tests.postgres import fresh, made  # noqa: F401  fixtures
from tests.walk.first_home_work import NEXT_ID, check_work_is_finished
from tests.walk.harness import OWNER, Bot, mnema, settings
from tests.walk.processes import RECORD, address, several
from tests.walk.record import ledger_faults, message_hashes, query
from tests.walk.speech import answer, asked

pytestmark = [pytest.mark.kill, pytest.mark.postgres]


@pytest.mark.parametrize("place", ["move.copied", "move.committed"])
async def test_I28_a_move_that_is_killed_leaves_the_source_whole_and_is_done_by_the_next(
    place: str, tmp_path: Path, db: str
) -> None:
    file = whole(tmp_path / "data" / "mnema.db")
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    move = ("migrate", "--from", "sqlite", "--to", db)
    code, _, _ = await mnema(tmp_path, *move, fp=f"{place}:kill9")
    assert code == -signal.SIGKILL
    there = query(db, "SELECT 1 FROM information_schema.tables WHERE table_name = 'message'")
    assert bool(there) == (place == "move.committed")
    code, out, err = await mnema(tmp_path, *move)
    assert (code, err) == (0, ""), err
    assert ("moved by an earlier run" in out) == (place == "move.committed")
    assert query(db, "SELECT subject FROM audit WHERE action = 'move'") == [
        ("sqlite to postgresql",)
    ]
    assert len(message_hashes(db)) == len(message_hashes(file)) > 0
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before


async def test_a_bot_that_was_killed_over_sqlite_lives_on_over_postgresql(
    tmp_path: Path, db: str
) -> None:
    """What stood still at the kill comes to its end there, and the next message is answered."""
    whole(tmp_path / "data" / "mnema.db")
    code, _, err = await mnema(tmp_path, "migrate", "--from", "sqlite", "--to", db)
    assert (code, err) == (0, ""), err
    model = ModelEmulator(responder=answer)
    async with (
        TelegramEmulator() as telegram,
        several(tmp_path, db, model, telegram.url, provider="openai") as bots,
    ):
        telegram.chat(int(OWNER), next_id=NEXT_ID)
        [bot] = await bots.start("all")
        await check_work_is_finished(bot, telegram)
        assert await bot.term() == 0


async def test_a_backup_beside_a_bot_at_work_comes_back_into_a_file_and_into_postgresql(
    tmp_path: Path, db: str
) -> None:
    home, file, single = tmp_path / "bot", tmp_path / "file", tmp_path / "single"
    async with several(home, db, ModelEmulator(responder=answer)) as bots:
        [bot] = await bots.start("all")
        where = {RECORD: address(db)}
        code, _, err = await mnema(home, "backup", str(file))
        assert (code, RECORD in err) == (3, True), err
        await _said(bot, "one")
        confirmed = message_hashes(db)
        code, _, err = await mnema(home, "backup", str(file), **where)
        assert (code, err) == (0, ""), err
        await _said(bot, "since")
        code, _, err = await mnema(single, "restore", str(file))
        assert (code, err) == (0, ""), err
        assert message_hashes(single / "data" / "mnema.db").keys() == confirmed.keys()
        assert await ledger_faults(single / "data" / "mnema.db") == []
        await bot.term()
        code, out, err = await mnema(home, "restore", str(file), **where)
        assert (code, err) == (0, ""), err
        assert "its data in the database of database_url" in out
        assert message_hashes(db) == confirmed
        [kept] = home.glob("data.before-restore.*")
        assert len(message_hashes(kept / KEPT_DATABASE)) == len(confirmed) + 2


async def _said(bot: Bot, *tokens: str) -> None:
    for token in tokens:
        line = await bot.web.answer("talk", await bot.web.post("talk", asked(token)))
        assert line["text"] == f"re «{token}»"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a home over SQLite, with a note in its workspace."""
    home = HomeFolder(root=tmp_path_factory.mktemp("backed up"))
    home.ensure()
    whole(home.db)
    (home.workspace / "notes.md").write_text("of the backup")
    create_backup(home, home.root / "file")
    return home.root / "file"


def shared_home(home: Path, url: str) -> Path:
    """A home whose record is in PostgreSQL; returns a note in its workspace."""
    notes = home / "workspace" / "notes.md"
    notes.parent.mkdir(parents=True)
    notes.write_text("of the home")
    told = settings(
        "http://127.0.0.1:1", database_url=url.replace("postgresql", "postgresql+psycopg", 1)
    )
    (home / "config.json").write_text(json.dumps(told))
    (home / "config.json").chmod(0o600)
    return notes


KILLS = {
    "restore.extracted": 0,
    "restore.verified": 0,
    "restore.loaded": 0,
    "restore.recorded": 1,
    "restore.swapped": 1,
}


async def test_a_restore_that_was_cut_waits_for_the_address_of_its_database(
    tmp_path: Path,
    file: Path,
    fresh: str,  # noqa: F811
) -> None:
    home = tmp_path / "bot"
    notes = shared_home(home, fresh)
    code, _, _ = await mnema(home, "restore", str(file), fp="restore.recorded:kill9")
    assert code == -signal.SIGKILL
    told = (home / "config.json").read_text()
    (home / "config.json").write_text("{}")
    code, _, err = await mnema(home, "config", "get", "language")
    assert (code, "fix database_url first" in err) == (1, True)
    (home / "config.json").write_text(told)
    assert (await mnema(home, "config", "get", "language"))[0] == 0
    assert notes.read_text() == "of the backup"


@pytest.mark.parametrize("place", KILLS)
async def test_I30_a_restore_into_postgresql_that_is_killed_leaves_the_old_state_or_the_new_one_whole(  # noqa: E501
    place: str,
    tmp_path: Path,
    file: Path,
    fresh: str,  # noqa: F811
) -> None:
    home = tmp_path / "bot"
    notes = shared_home(home, fresh)
    settings_before = (home / "config.json").read_text()
    with psycopg.connect(fresh, autocommit=True) as held:
        held.execute("INSERT INTO prefix_text VALUES ('of', 'the home')")
    old, new = ([("the home",)], "of the home"), ([], "of the backup")

    def state() -> tuple[list[tuple[str]], str]:
        return query(fresh, "SELECT text FROM prefix_text WHERE sha256 = 'of'"), notes.read_text()

    code, _, _ = await mnema(home, "restore", str(file), fp=f"{place}:kill9")
    assert code == -signal.SIGKILL
    # the next opening, whichever it is
    assert (await mnema(home, "config", "get", "language"))[0] == 0
    assert state() == (new if KILLS[place] else old)
    if not KILLS[place]:
        code, _, err = await mnema(home, "restore", str(file))
        assert (code, err) == (0, ""), err
    assert state() == new
    assert len(message_hashes(fresh)) == len(message_hashes(whole(tmp_path / "whole.db")))
    assert (home / "config.json").read_text() == settings_before
    assert sorted(path.name for path in home.iterdir() if path.name.startswith(".")) == []
    assert not list(home.glob("data/*.db*"))


async def test_a_restore_that_postgresql_refuses_leaves_everything_as_it_was(
    tmp_path: Path,
    fresh: str,  # noqa: F811
) -> None:  # noqa: F811, RUF100
    home, spoilt = tmp_path / "bot", tmp_path / "spoilt"
    path = whole(home / "data" / "mnema.db")
    with closing(sqlite3.connect(path)) as held:
        held.execute("UPDATE memory SET text = 'a' || char(0)")
        held.commit()
    assert (await mnema(home, "backup", str(spoilt)))[0] == 0
    shutil.rmtree(home / "workspace", ignore_errors=True)
    shared_home(home, fresh)
    with psycopg.connect(fresh, autocommit=True) as held:
        held.execute("INSERT INTO process VALUES (7, 'host:1:worker', 9e9, '')")
        code, _, err = await mnema(home, "restore", str(spoilt))
        held.execute("DELETE FROM process")
    assert (code, err) == (
        1,
        "mnema: 1 at work on that database (host:1:worker); stop every mnema run on it first\n",
    )
    code, _, err = await mnema(home, "restore", str(spoilt))
    assert (code, err.count("\n")) == (1, 1)
    assert "memory.text holds a NUL character" in err
    assert message_hashes(fresh) == {}
    assert sorted(path.name for path in home.iterdir() if path.name.startswith(".")) == []
    assert [found.name for found in path.parent.glob("*.db*") if "before" in found.name] == []
    assert path.exists()
