"""Opening: new files, older and newer tables, damage, unclean ends, snapshots."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from memory.store.errors import SchemaNewer, StoreError
from memory.store.schema.create import HEAD
from memory.store.schema.migrations.upgrade import upgrade
from tests.by_night import first_by_day
from tests.contracts.store_context_suite import snip
from tests.contracts.store_snapshot_suite import PARTS, taken
from tests.contracts.store_words import arrival, folded, logged, numbers, oldest, talk
from tests.memory.store.conftest import SqliteRecord
from tests.memory.store.older import go_back


def shape(path: Path) -> dict[str, object]:
    """Return the structure of a database's tables."""
    with closing(sqlite3.connect(path)) as held:
        tables = [row[0] for row in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found: dict[str, object] = {
            "partial": sorted(held.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql != ''")),
            "triggers": sorted(held.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")),
            "instance": held.execute("SELECT * FROM instance").fetchall(),
            "version": held.execute("SELECT * FROM alembic_version").fetchall(),
        }
        for table in tables:
            indexes = [row[1:4] for row in held.execute(f"PRAGMA index_list({table})")]
            found[table] = (
                held.execute(f"PRAGMA table_info({table})").fetchall(),
                sorted(row[2:] for row in held.execute(f"PRAGMA foreign_key_list({table})")),
                sorted((*row[1:], held.execute(f"PRAGMA index_info({row[0]})").fetchall()) for row in indexes),
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
    assert [kept.name for kept in tmp_path.glob("*.before-*")] == [f"m.db.before-{HEAD}-from-nothing"]


async def _held(record: SqliteRecord) -> str:
    """Make a database of the first version with folds, a clear, an open fold, a reduction and replies."""
    store = await record.open()
    home = await talk(store, *"123456")
    await folded(store, home, 2)
    await folded(store, home, 1)
    session = await store.sessions.load(home)
    await store.sessions.reduce(home, [snip(session.turns[0].messages[0].id)], "size")
    assert await store.folds.plan(oldest(session, 1))
    gone = await talk(store, "7", "8", chat="c2")
    await store.sessions.clear(gone)
    await store.close()
    go_back(record.path)
    return home


def _content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of every table, with the columns of the first version."""
    with closing(sqlite3.connect(path)) as held:
        names = [row[0] for row in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {}
        for name in set(names) - LATER:
            columns = [row[1] for row in held.execute(f"PRAGMA table_info({name})") if row[1] not in NEW]
            listed = ", ".join(f'"{column}"' for column in columns)
            found[name] = sorted(held.execute(f"SELECT {listed} FROM {name}"), key=repr)
        return found


NEW = {"why", "seen_seq", "tainted", "album", "payload", "settled", "who", "asked"} | {
    *("deaths_alone", "clean_lines", "summary_tainted", "begun_by", "cleared_before"),
    *("rejected", "sent_from", "awaiting", "body_sha256"),
    *("fails", "retries", "extra", "resumes_at", "inbox_row"),
    *("own_title", "pinned", "archived", "seen_line", "deleting", "touched", "recalled", "content_only"),
}
LATER = {"instance", "alembic_version", "prefix_text", "snapshot", "snapshot_part", "memory", "memory_change"} | {
    *("extraction", "dream", "forgetting", "account_link", "link_code", "channel_note"),
    *("access_grant", "access_request", "approval", "process", "duty", "audit_head", "person_removal"),
    *("limit_told", "file_label", "job", "occurrence", "file_version", "mcp_server", "mcp_tool"),
    *("approval_rule", "job_setting", "heartbeat", "background_task", "view_manifest", "view_text"),
}


async def test_I28_a_record_of_the_first_version_is_brought_up_with_all_it_holds(tmp_path: Path) -> None:
    record = SqliteRecord(tmp_path / "m.db")
    home = await _held(record)
    upgrade(tmp_path / "first.db", "r0001")
    old = shape(record.path)
    assert {**old, "instance": 0} == {**shape(tmp_path / "first.db"), "instance": 0}
    before = _content(record.path)
    store = await record.open()
    assert _content(record.path) == before
    session = await store.sessions.load(home)
    assert session.summary
    assert (numbers(session), session.summary.turns, len(session.reductions)) == ([4, 5, 6], 3, 1)
    assert session.summary.seen == session.turns[0].first_seq
    [open_fold] = (await store.delivery.recover()).folds
    assert (open_fold.why, open_fold.seen_seq) == ("", open_fold.to_seq + 1)
    assert await store.folds.check_ledger() == []
    assert await store.folds.commit(await logged(store, open_fold), 1)
    await store.sessions.set_snapshot(home, taken(await store.sessions.load(home), *PARTS), "first")
    assert await store.sessions.snapshot(home)
    await store.close()
    assert shape(record.path)["version"] == [(HEAD,)]
    assert [kept.name for kept in tmp_path.glob("*.before-*")] == [f"m.db.before-{HEAD}-from-r0001"]


@pytest.mark.parametrize("point", first_by_day(2, ["mig.step@1", "mig.done@1", "mig.backed_up@1"]))
async def test_I28_a_kill_while_the_tables_are_brought_up_leaves_one_version_whole(tmp_path: Path, point: str) -> None:
    record = SqliteRecord(tmp_path / "m.db")
    home = await _held(record)
    before = _content(record.path)
    killed = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OPENED, str(record.path)),
        cwd=Path(__file__).parents[3],
        env={**os.environ, "MNEMA_TEST": "1", "MNEMA_FP": f"{point}:kill9"},
    )
    assert await killed.wait() == -signal.SIGKILL
    whole = shape(record.path)["version"]
    assert whole == [(HEAD if point == "mig.done@1" else "r0001",)]
    store = await record.open()
    assert store.repaired is None
    assert _content(record.path) == before
    assert numbers(await store.sessions.load(home)) == [4, 5, 6]
    await store.close()


OPENED = """
import asyncio, os, sys
from pathlib import Path
from memory.failpoints import arm
from memory.store.open import open_store

arm(dict(os.environ))
asyncio.run(open_store(Path(sys.argv[1])))
"""


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
async def test_I27_a_damaged_file_is_kept_and_the_snapshot_takes_its_place(record: SqliteRecord, damage: str) -> None:
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


async def test_a_snapshot_is_taken_at_the_end_of_a_process_when_the_last_is_an_hour_old(record: SqliteRecord) -> None:
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
    killed = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", KILLED, str(path)),
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "MNEMA_TEST": "1", "MNEMA_FP": "recv.committed@3:kill9"},
    )
    told, _ = await killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert told.split() == [b"0", b"1"]
    store = await SqliteRecord(path).open()
    assert store.repaired is None
    repeats = [(await store.delivery.accept([arrival(str(n))]))[0] for n in range(4)]
    assert [one.new for one in repeats] == [False, False, False, True]
    await store.close()


KILLED = """
import asyncio, os, sys
from pathlib import Path
from memory.failpoints import arm
from memory.store.open import open_store
from tests.contracts.store_words import arrival
from tests.by_night import first_by_day

async def main():
    arm(dict(os.environ))
    store = await open_store(Path(sys.argv[1]))
    for number in range(5):
        await store.delivery.accept([arrival(str(number))])
        print(number, flush=True)

asyncio.run(main())
"""


def _damage(path: Path, how: str) -> None:
    whole = bytearray(path.read_bytes())
    first, last = {"head": (0, 100), "middle": (4096, len(whole)), "all": (0, len(whole))}[how]
    whole[first:last] = b"\x5a" * (last - first)
    path.write_bytes(bytes(whole))
