"""Opening: new files, older and newer tables, damage, unclean ends, snapshots."""

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory.store.errors import SchemaNewer, StoreError
from memory.store.open import open_store
from memory.store.schema.create import HEAD
from memory.store.schema.migrations.upgrade import upgrade
from tests.contracts.store_words import arrival, talk
from tests.killed import exit_code
from tests.memory.store.conftest import SqliteRecord


def shape(path: Path) -> dict[str, object]:
    """Return the structure of a database's tables."""
    with closing(sqlite3.connect(path)) as held:
        tables = [
            row[0] for row in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        found: dict[str, object] = {
            "partial": sorted(
                held.execute(
                    "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql != ''"
                )
            ),
            "triggers": sorted(
                held.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            ),
            "instance": held.execute("SELECT * FROM instance").fetchall(),
            "version": held.execute("SELECT * FROM alembic_version").fetchall(),
        }
        for table in tables:
            indexes = [row[1:4] for row in held.execute(f"PRAGMA index_list({table})")]
            found[table] = (
                held.execute(f"PRAGMA table_info({table})").fetchall(),
                sorted(row[2:] for row in held.execute(f"PRAGMA foreign_key_list({table})")),
                sorted(
                    (*row[1:], held.execute(f"PRAGMA index_info({row[0]})").fetchall())
                    for row in indexes
                ),
            )
        return found


async def _made(path: Path) -> SqliteRecord:
    record = SqliteRecord(path)
    await (await record.open()).close()
    return record


async def test_I28_new_tables_are_those_that_the_migrations_lead_to(tmp_path: Path) -> None:
    await _made(tmp_path / "new.db")
    upgrade(tmp_path / "led.db")
    with closing(sqlite3.connect(tmp_path / "new.db", isolation_level=None)) as held:
        held.execute("UPDATE instance SET lease_epoch = 0")
    assert shape(tmp_path / "new.db") == shape(tmp_path / "led.db")


async def test_I28_older_tables_are_copied_and_then_brought_up(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(sqlite3.connect(path)) as held:
        held.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    record = SqliteRecord(path)
    with pytest.raises(StoreError, match="older version"):
        await record.open(writable=False)
    store = await record.open()
    assert await talk(store, "1")
    await store.close()
    assert [kept.name for kept in tmp_path.glob("*.before-*")] == [
        f"m.db.before-{HEAD}-from-nothing"
    ]


async def test_I28_newer_tables_are_not_written_to(tmp_path: Path) -> None:
    record = await _made(tmp_path / "m.db")
    with closing(sqlite3.connect(record.path, isolation_level=None)) as held:
        held.execute("UPDATE alembic_version SET version_num = 'r9999'")
    before = record.path.read_bytes()
    for writable in (True, False):
        with pytest.raises(SchemaNewer, match="r9999"):
            await record.open(writable=writable)
    assert record.path.read_bytes() == before


async def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(sqlite3.connect(path)) as held:
        held.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreError, match="another program"):
        await SqliteRecord(path).open()


@pytest.mark.parametrize("damage", ["head", "middle", "all"])
async def test_I27_a_damaged_file_is_kept_and_the_snapshot_takes_its_place(
    record: SqliteRecord, damage: str
) -> None:
    store = await record.open()
    home = await talk(store, *(str(n) for n in range(20)))
    await store.close()
    store = await record.open()
    await talk(store, "later")
    await store.database.close()  # no clean end
    _damage(record.path, damage)
    store = await record.open()
    assert store.repaired is not None
    assert store.repaired.source == "snapshot"
    assert len((await store.sessions.load(home)).turns) == 20
    assert len(list(record.path.parent.glob("mnema.db.corrupt.*"))) == 1
    assert (await store.delivery.accept([arrival("new")]))[0].new


async def test_I27_without_a_snapshot_a_new_record_is_begun(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    path.write_bytes(b"this is no database at all" * 1000)
    store = await SqliteRecord(path).open()
    assert store.repaired is not None
    assert store.repaired.source == "nothing"
    assert (await store.delivery.accept([arrival("new")]))[0].new
    await store.close()
    [kept] = tmp_path.glob("m.db.corrupt.*")
    assert kept.read_bytes().startswith(b"this is no database")


async def test_a_sound_record_needs_no_healing(record: SqliteRecord) -> None:
    store = await record.open()
    assert store.repaired is None
    await store.database.close()
    assert (await record.open()).repaired is None


async def test_a_snapshot_is_taken_at_the_end_of_a_process_when_the_last_is_an_hour_old(
    record: SqliteRecord,
) -> None:
    folder = record.path.parent / "snapshots"
    for minutes in (0, 30, 90):
        record.now = 1_795_000_000.0 + minutes * 60
        store = await record.open()
        await talk(store, str(minutes))
        await store.close()
    assert len(list(folder.glob("mnema-*.db"))) == 2
    assert {taken.stat().st_mode & 0o077 for taken in folder.iterdir()} == {0}


async def test_a_killed_process_leaves_what_it_confirmed(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    told = tmp_path / "told"
    killed = await exit_code(confirm, path, told, failpoint="recv.committed@3:kill9")
    assert killed == -signal.SIGKILL
    assert told.read_text().split() == ["0", "1"]
    store = await SqliteRecord(path).open()
    assert store.repaired is None
    repeats = [(await store.delivery.accept([arrival(str(n))]))[0] for n in range(4)]
    assert [one.new for one in repeats] == [False, False, False, True]
    await store.close()


async def confirm(path: Path, told: Path) -> None:
    store = await open_store(path)
    for number in range(5):
        await store.delivery.accept([arrival(str(number))])
        with told.open("a") as file:
            file.write(f"{number}\n")


def _damage(path: Path, how: str) -> None:
    whole = bytearray(path.read_bytes())
    first, last = {"head": (0, 100), "middle": (4096, len(whole)), "all": (0, len(whole))}[how]
    whole[first:last] = b"\x5a" * (last - first)
    path.write_bytes(bytes(whole))
