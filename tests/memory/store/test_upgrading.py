"""A home of the first commit that can be opened is upgraded with all rows and its open work is
finished.

Homes of older commits are refused.
"""

import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory.store.errors import SchemaTooOld
from memory.store.maintenance.concurrent_writes import write_beside
from memory.store.open import open_store
from memory.store.schema.create import HEAD
from memory.store.schema.migrations.upgrade import upgrade
from tests.by_night import first_by_day
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.killed import exit_code
from tests.memory.store.conftest import SqliteRecord
from tests.memory.store.first_home import FIRST, restore_home
from tests.memory.store.test_opening import shape
from tests.walk.first_home_work import NEXT_ID, check_work_is_finished
from tests.walk.harness import OWNER, scene
from tests.walk.machine import check_valid
from tests.walk.record import query
from tests.walk.speech import answer

ROOT = Path(__file__).parents[3]
# Tables that say who has the record open and which version it has.
OURS = ("instance", "alembic_version", "process", "duty")
# Turns in the view of each conversation.
TURNS = {"garden": 3, "work": 2, "old": 1, "picture": 3, OWNER: 1, "late": 2, "tool": 1}
# What r0014 adds: files that were written to while words from outside were in view.
LABELLED = {"file_label": [("", "notes/roses.md", 0.0), ("", "notes/x.md", 0.0)]}
Rows = dict[str, list[tuple[Any, ...]]]


def columns(path: Path) -> dict[str, list[str]]:
    """Return the columns of every table that holds data of people."""
    with closing(sqlite3.connect(path)) as held:
        names = [
            row[0] for row in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {
            name: [row[1] for row in held.execute(f"PRAGMA table_info({name})")]
            for name in names
            if name not in OURS
        }


def content(path: Path, wanted: dict[str, list[str]]) -> Rows:
    """Return all rows of these tables with these columns."""
    with closing(sqlite3.connect(path)) as held:
        return {name: _rows(held, name, known) for name, known in wanted.items()}


def _rows(held: sqlite3.Connection, name: str, known: list[str]) -> list[tuple[Any, ...]]:
    listed = ", ".join(f'"{column}"' for column in known)
    return sorted(held.execute(f"SELECT {listed} FROM {name}"), key=repr)


def upgraded(rows: Rows) -> Rows:
    """Return these rows as the upgrade leaves them."""
    return {name: sorted(found + LABELLED.get(name, []), key=repr) for name, found in rows.items()}


def test_I28_the_home_has_something_in_each_table(tmp_path: Path) -> None:
    old = restore_home(tmp_path / "m.db")
    empty = {name for name, rows in content(old, columns(old)).items() if not rows}
    assert empty == {"probe", "removal"}


async def test_I28_a_home_of_the_first_commit_is_upgraded_with_all_it_holds(tmp_path: Path) -> None:
    record = SqliteRecord(restore_home(tmp_path / "m.db"))
    known = columns(record.path)
    before = content(record.path, known)
    store = await record.open()
    assert content(record.path, known) == upgraded(before)
    [copy] = tmp_path.glob("*.before-*")
    assert copy.name == f"m.db.before-{HEAD}-from-{FIRST}"
    assert content(copy, known) == before
    assert await store.folds.check_ledger() == []
    assert await store.audit.fault([]) is None
    turns = {}
    for row in await store.sessions.conversations():
        session = await store.sessions.load(row.id)
        turns[row.place.chat_id] = len(session.turns)
        if not session.running:
            check_valid(session)
    assert turns == TURNS
    await store.close()
    upgrade(tmp_path / "new.db")
    assert {**shape(record.path), "instance": 0} == {**shape(tmp_path / "new.db"), "instance": 0}


@pytest.mark.kill
@pytest.mark.parametrize("point", first_by_day(2, ["mig.step@1", "mig.done@1", "mig.backed_up@1"]))
async def test_I28_a_kill_while_the_tables_are_upgraded_leaves_one_version_whole(
    tmp_path: Path, point: str
) -> None:
    revision = HEAD if point == "mig.done@1" else FIRST
    path = restore_home(tmp_path / "m.db")
    known = columns(path)
    before = content(path, known)
    assert await exit_code(open_store, path, failpoint=f"{point}:kill9") == -signal.SIGKILL
    assert query(path, "SELECT version_num FROM alembic_version") == [(revision,)]
    assert content(path, known) == (upgraded(before) if revision == HEAD else before)
    store = await open_store(path)
    assert store.repaired is None
    assert await store.folds.check_ledger() == []
    await store.close()
    assert content(path, known) == upgraded(before)


@pytest.mark.kill
async def test_I28_a_bot_finishes_the_open_work_of_a_home_of_the_first_commit(
    tmp_path: Path,
) -> None:
    restore_home(tmp_path / "data" / "mnema.db")
    model = ModelEmulator(responder=answer)
    async with (
        TelegramEmulator() as telegram,
        scene(tmp_path, model, telegram.url, provider="openai") as talk,
    ):
        telegram.chat(int(OWNER), next_id=NEXT_ID)
        await talk.bot.start()
        await check_work_is_finished(talk.bot, telegram)
        assert await talk.bot.term() == 0


@pytest.mark.parametrize("revision", ["r0001", "r0012"])
async def test_I28_tables_of_an_older_commit_are_refused_and_left_alone(
    tmp_path: Path, revision: str
) -> None:
    path = restore_home(tmp_path / "m.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as held:
        held.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        held.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.read_bytes()
    record = SqliteRecord(path)
    for opening in (record.open(), record.open(writable=False), write_beside(path, _unreached)):
        with pytest.raises(
            SchemaTooOld, match=f"{revision}.* go through commit ed4b8f97 first: its mnema migrate"
        ):
            await opening
    assert path.read_bytes() == before
    assert list(tmp_path.glob("*.before-*")) == []


async def _unreached(_: object) -> None:
    raise AssertionError("the tables are refused")


async def test_a_damaged_database_is_not_replaced_by_a_snapshot_with_tables_of_an_older_commit(
    tmp_path: Path,
) -> None:
    snapshot = restore_home(tmp_path / "snapshots" / "m-20260101T000000Z.db")
    with closing(sqlite3.connect(snapshot, isolation_level=None)) as held:
        held.execute("UPDATE alembic_version SET version_num = 'r0012'")
    path = tmp_path / "m.db"
    path.write_bytes(b"this is no database at all" * 1000)
    with pytest.raises(SchemaTooOld, match="ed4b8f97"):
        await SqliteRecord(path).open()
    assert path.read_bytes().startswith(b"this is no database")
