"""Commands that open the store themselves work with PostgreSQL as with SQLite, while other
processes use it.
"""

import asyncio
import json
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.cli.main import main
from bot.config.home import HomeFolder
from bot.memory.search import open_removal
from bot.runtime.store_access import open_store_for_command
from memory.store.conversations.lifecycle import delete_conversation
from memory.store.engine.database import Tx
from memory.store.errors import StoreBusy
from memory.store.people.rows import Person
from memory.store.postgres.connection import SCHEMA_LOCK_KEY
from memory.store.postgres.move import replace_store
from memory.store.postgres.open import open_postgres
from memory.store.store import Store
from tests.memory.store.whole import whole
from tests.postgres import fresh, made  # noqa: F401  fixtures
from tests.walk.harness import until
from tests.walk.record import query

pytestmark = pytest.mark.postgres
AT_WORK = "INSERT INTO process VALUES (7000, 'host:1:worker', extract(epoch from now()) + 3600, '')"

WAITING = (
    "SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database "
    "WHERE NOT granted AND locktype = 'advisory' AND datname = ?"
)
_OF_ALONE = (
    "FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database "
    "WHERE granted AND locktype = 'advisory' AND datname = ? AND objid = ?"
)
LOCKED, END_OF_THE_LOCK = f"SELECT 1 {_OF_ALONE}", f"SELECT pg_terminate_backend(pid) {_OF_ALONE}"
HELD_UP = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = ?"


def home_of(root: Path, url: str = "") -> Path:
    home = HomeFolder(root=root)
    home.ensure()
    (home.workspace / "MEMORY.md").write_text("# Memory\n\n- The gate code is 4711\n")
    told: dict[str, Any] = {"timezone": "UTC", "channels": {"telegram": {"owners": ["5005"]}}}
    if url:
        told["database_url"] = url.replace("postgresql", "postgresql+psycopg", 1)
    home.config.write_text(json.dumps(told))
    home.config.chmod(0o600)
    return root


@pytest.fixture
def single(tmp_path: Path) -> Path:
    home = home_of(tmp_path / "single")
    whole(home / "data" / "mnema.db")
    return home


@pytest.fixture
def shared(tmp_path: Path, fresh: str) -> Path:  # noqa: F811
    asyncio.run(replace_store(whole(tmp_path / "whole.db"), fresh, "a mark"))
    with psycopg.connect(fresh, autocommit=True) as held:
        held.execute("DELETE FROM process")
    return home_of(tmp_path / "shared", fresh)


def said(capsys: pytest.CaptureFixture[str], home: Path, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["--home", str(home), *words])
    out, err = capsys.readouterr()
    return code, out, err


READING = (
    ("sessions", "list", "--json"),
    ("sessions", "show", "garden"),
    ("sessions", "trace", "garden", "--json"),
    ("sessions", "export", "garden"),
    ("audit", "list", "--json"),
    ("audit", "verify"),
    ("people", "list", "--json"),
    ("pair", "list", "--json"),
    ("owner", "list"),
    ("memory", "files"),
    ("memory", "search", "gate code"),
    ("memory", "search", "gate code", "--json"),
)


def test_what_reads_says_the_same_over_both_while_somebody_is_at_work(
    single: Path,
    shared: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    execute(fresh, AT_WORK)
    for words in READING:
        here, there = said(capsys, single, *words), said(capsys, shared, *words)
        if "files" not in words:
            assert there == here, words
        assert there[0] == 0, (words, there)
        assert there[1]
    assert len(query(fresh, "SELECT 1 FROM process")) == 1


SOMEBODY_ELSE = (
    "UPDATE conversation SET space = 'telegram-5006', channel = 'telegram' WHERE chat_id = 'garden'"
)
READ = "SELECT actor, result FROM audit WHERE action = 'chat.read.other'"


def test_another_persons_chat_is_read_after_its_row_is_written_beside_whoever_is_at_work(
    shared: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    execute(fresh, AT_WORK)
    execute(fresh, SOMEBODY_ELSE)
    code, out, _ = said(capsys, shared, "sessions", "show", "garden")
    assert code == 0
    assert "roses" in out
    assert query(fresh, READ) == [("command line", "shown")]
    assert len(query(fresh, "SELECT 1 FROM process")) == 1
    assert said(capsys, shared, "audit", "verify")[0] == 0


def test_on_a_server_that_takes_nothing_another_persons_chat_is_not_shown(
    shared: Path,
    tmp_path: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    execute(fresh, SOMEBODY_ELSE)
    home = home_of(tmp_path / "read", f"{fresh}?options=-c%20default_transaction_read_only%3Don")
    code, out, err = said(capsys, home, "sessions", "show", "garden")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "audit log could not be written" in err
    assert said(capsys, home, "sessions", "show", "work")[0] == 0
    assert said(capsys, shared, "sessions", "show", "garden")[0] == 0


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as held:
        held.execute(statement)


def test_people_are_taken_out_and_what_is_imported_is_there(
    shared: Path,
    tmp_path: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    execute(fresh, AT_WORK)
    code, out, err = said(
        capsys, shared, "people", "export", "owner", "--out", str(tmp_path / "me.zip")
    )
    assert code == 0, err
    assert "usage.json" in zipfile.ZipFile(tmp_path / "me.zip").namelist()
    file = tmp_path / "talk.json"
    file.write_text(
        json.dumps([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}])
    )
    code, out, err = said(capsys, shared, "sessions", "import", str(file))
    assert (code, "Imported 1 turns") == (0, out[:16]), err
    assert "assistant: hi" in said(capsys, shared, "sessions", "show", "talk")[1]
    assert said(capsys, shared, "memory", "index")[0] == 0
    assert query(fresh, "SELECT name FROM process") == [("host:1:worker",)]


def test_rights_are_given_beside_whoever_is_at_work_and_the_audit_has_it(
    shared: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    execute(fresh, AT_WORK)
    assert said(capsys, shared, "pair", "group", "telegram:-100123")[0] == 0
    assert "-100123" in said(capsys, shared, "pair", "list")[1]
    assert said(capsys, shared, "pair", "revoke", "telegram:-100123")[0] == 0
    assert "-100123" not in said(capsys, shared, "pair", "list")[1]
    assert len(said(capsys, shared, "owner", "add")[1].strip()) == 9
    acts = json.loads(said(capsys, shared, "audit", "list", "--json")[1])
    assert [act["action"] for act in acts[-3:]][:2] == ["grant group", "revoke"]
    assert said(capsys, shared, "audit", "verify")[0] == 0
    assert query(fresh, "SELECT name FROM process") == [("host:1:worker",)]


def test_what_takes_away_is_refused_while_somebody_is_at_work_and_done_when_nobody_is(
    shared: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    someone = next(
        row["space"]
        for row in json.loads(said(capsys, shared, "people", "list", "--json")[1])
        if row["space"] and row["memory_of"] == row["space"]
    )
    deletions = (("sessions", "delete", "garden", "--yes"), ("people", "delete", someone, "--yes"))
    execute(fresh, AT_WORK)
    for words in deletions:
        code, _, err = said(capsys, shared, *words)
        assert (code, err.count("\n")) == (1, 1)
        assert "1 at work on that database (host:1:worker)" in err
    assert len(query(fresh, "SELECT 1 FROM conversation WHERE chat_id = 'garden'")) == 1
    execute(fresh, "DELETE FROM process")
    for words in deletions:
        code, _, err = said(capsys, shared, *words)
        assert (code, err) == (0, ""), err
    assert query(fresh, "SELECT 1 FROM conversation WHERE chat_id = 'garden'") == []
    assert query(fresh, "SELECT 1 FROM conversation WHERE space = ?", someone) == []
    assert said(capsys, shared, "audit", "verify")[0] == 0


async def test_a_process_that_starts_while_a_command_takes_away_waits_for_its_end(
    shared: Path,
    fresh: str,  # noqa: F811
) -> None:
    async with open_store_for_command(HomeFolder(root=shared), writable=True, alone=True) as record:
        starting = asyncio.create_task(open_postgres(fresh, name="late"))
        await until(lambda: query(fresh, WAITING, fresh.rpartition("/")[2]), "the process waits")
        others = [who for who in await record.store.leases.alive() if who.startswith("late")]
        assert (starting.done(), others) == (False, [])
    store = await starting
    assert [who.partition("#")[0] for who in await store.leases.alive()] == ["late"]
    with pytest.raises(StoreBusy, match="late"):
        async with open_store_for_command(HomeFolder(root=shared), writable=True, alone=True):
            pass
    await store.leases.leave()
    await store.close()


@asynccontextmanager
async def alone_no_more(home: Path, url: str) -> AsyncIterator[Store]:
    """The store of a command that needs it for itself, after the server ended its lock's
    connection.
    """
    async with open_store_for_command(HomeFolder(root=home), writable=True, alone=True) as record:
        [(ended,)] = query(
            url, END_OF_THE_LOCK, url.rpartition("/")[2], SCHEMA_LOCK_KEY & 0xFFFFFFFF
        )
        assert ended
        await until(
            lambda: not query(url, LOCKED, url.rpartition("/")[2], SCHEMA_LOCK_KEY & 0xFFFFFFFF),
            "the lock is free",
        )
        yield record.store


async def left(store: Store) -> None:
    await store.leases.leave()
    await store.close()


GARDEN = "SELECT id FROM conversation WHERE chat_id = 'garden'"
DELETED = "SELECT 1 FROM audit WHERE action = 'delete'"


async def test_a_command_that_is_not_alone_any_more_writes_nothing_beside_who_came(
    shared: Path,
    fresh: str,  # noqa: F811
) -> None:
    [(garden,)] = query(fresh, GARDEN)
    async with alone_no_more(shared, fresh) as store:
        came = await open_postgres(fresh, name="late")
        with pytest.raises(StoreBusy, match="opened the database meanwhile"):
            await store.sessions.delete(garden)
        await left(came)
        with pytest.raises(StoreBusy, match="opened the database meanwhile"):
            await store.sessions.delete(garden)
    assert query(fresh, GARDEN) == [(garden,)]
    assert query(fresh, DELETED) == []
    assert query(fresh, "SELECT name FROM process") == []


async def test_a_lock_that_broke_is_no_matter_where_nobody_came(
    shared: Path,
    fresh: str,  # noqa: F811
) -> None:
    [(garden,)] = query(fresh, GARDEN)
    async with alone_no_more(shared, fresh) as store:
        await store.sessions.delete(garden)
    assert query(fresh, GARDEN) == []
    assert query(fresh, "SELECT name FROM process") == []


async def test_who_comes_when_the_lock_broke_waits_for_the_deletion_that_goes_on(
    shared: Path,
    fresh: str,  # noqa: F811
) -> None:
    [(garden,)] = query(fresh, GARDEN)
    deleted, end = asyncio.Event(), asyncio.Event()

    async def slowly(tx: Tx) -> None:
        await delete_conversation(tx, garden)
        deleted.set()
        await end.wait()

    async with alone_no_more(shared, fresh) as store:
        deleting = asyncio.create_task(store.database.write(slowly))
        await deleted.wait()
        coming = asyncio.create_task(open_postgres(fresh, name="late"))
        await until(lambda: query(fresh, HELD_UP, fresh.rpartition("/")[2]), "the process waits")
        assert query(fresh, "SELECT 1 FROM process WHERE name = 'late'") == []
        end.set()
        await deleting
        came = await coming
        assert await came.sessions.conversation(garden) is None
        await left(came)


async def test_a_removal_that_is_not_alone_any_more_leaves_the_files_to_who_came(
    shared: Path,
    fresh: str,  # noqa: F811
) -> None:
    home, person = HomeFolder(root=shared), Person(spaces=("telegram-1", "telegram-2"), accounts=())
    folders = [home.workspace / "spaces" / space for space in person.spaces]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "MEMORY.md").write_text("- A word")
    came: list[Store] = []

    async def forget_index(space: str) -> None:
        came.append(await open_postgres(fresh, name="late"))

    async with alone_no_more(shared, fresh) as store:
        with pytest.raises(StoreBusy, match="opened the database meanwhile"):
            await open_removal(home, store, home.workspace, forget_index).remove(person, "test")
    assert [folder.exists() for folder in folders] == [False, True]
    [there] = came
    await open_removal(home, there, home.workspace, _no_index).resume()
    assert [folder.exists() for folder in folders] == [False, False]
    assert query(fresh, "SELECT DISTINCT actor FROM audit WHERE action = 'person deleted'") == [
        ("house",)
    ]
    await left(there)


async def _no_index(space: str) -> None:
    """Do nothing."""


def test_the_doctor_looks_at_the_record_its_index_and_what_channels_keep(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, shared, "memory", "search", "gate code")[0] == 0
    checks = {
        one["name"]: one
        for one in json.loads(said(capsys, shared, "doctor", "--json")[1])["checks"]
    }
    assert all(checks[name]["ok"] for name in ("database", "ledger", "audit", "index")), checks
    assert checks["index"]["message"].startswith("The index is intact: ")
    assert not (shared / "data" / "mnema.db").exists()


def test_a_server_that_does_not_answer_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = home_of(tmp_path / "none", "postgresql://u@127.0.0.1:1/x")
    for words in (
        ("sessions", "list"),
        ("pair", "list"),
        ("backup", str(tmp_path / "file")),
        ("migrate",),
    ):
        code, out, err = said(capsys, home, *words)
        assert (code, out, err.count("\n")) == (1, "", 1), err
        assert "cannot be used" in err
