"""SQLite only: durability, group commits, full disks, other processes, moved files, few rows
read.
"""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.ids import derive_key, new_id
from memory.store import audit
from memory.store.conversations import inbox, messages, outbox, sessions, transcript, turns
from memory.store.conversations.folds import day_logs, steps
from memory.store.engine.database import Result, Statement, Tx
from memory.store.engine.sqlite_connection import DatabaseFile, sqlite_compiler
from memory.store.errors import StoreBusy, StoreError, StoreFull, StoreMoved, WrongState
from memory.store.longterm import file_labels, outcomes
from memory.store.longterm.rows import ExtractionRow
from memory.store.people import access
from memory.store.store import Store
from tests.cases import every_case
from tests.contracts.store_snapshot_suite import PARTS, taken
from tests.contracts.store_words import SPENT, arrival, begin, call, folded, parts, reply, talk
from tests.memory.store.conftest import SqliteRecord

NOBODY = 65_534
HOLDER = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read(1)
held.execute("COMMIT")
"""


def raw(record: SqliteRecord) -> sqlite3.Connection:
    """Open a second connection to the file."""
    return sqlite3.connect(record.path, isolation_level=None)


async def pragma(store: Store, name: str) -> object:
    writer = store.database._writer
    assert writer

    async def asked() -> object:
        return writer.value(f"PRAGMA {name}")

    return await writer.run_in_thread(asked())


async def limit_pages(store: Store, more: int) -> None:
    """Limit the growth of the file in pages; -1 removes the limit."""
    pages = await pragma(store, "page_count")
    assert isinstance(pages, int)
    await pragma(store, f"max_page_count={pages + more if more >= 0 else 1 << 30}")


async def test_every_promise_of_durability_is_set_and_read_back(record: SqliteRecord) -> None:
    store = await record.open()
    kept = {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "secure_delete": 1,
        "auto_vacuum": 2,
    }
    assert {name: await pragma(store, name) for name in kept} == kept


async def test_the_files_are_for_their_owner_only(record: SqliteRecord) -> None:
    store = await record.open()
    await talk(store, "1")
    assert {path.stat().st_mode & 0o077 for path in record.path.parent.iterdir()} == {0}


async def test_I01_what_is_accepted_is_on_disk_when_the_call_returns(record: SqliteRecord) -> None:
    store = await record.open()
    [stored] = await store.delivery.accept([arrival("k")])
    with closing(raw(record)) as outside:
        assert outside.execute("SELECT state FROM inbox WHERE id = ?", (stored.id,)).fetchall() == [
            ("new",)
        ]


async def test_a_failing_unit_leaves_the_others_of_its_group_alone(record: SqliteRecord) -> None:
    store = await record.open()
    told = await asyncio.gather(
        *(store.delivery.accept([arrival(str(n) if n % 3 else "")]) for n in range(12)),
        return_exceptions=True,
    )
    failed = [one for one in told if isinstance(one, ValueError)]
    assert len(failed) == 4
    with closing(raw(record)) as outside:
        assert outside.execute("SELECT count(*) FROM inbox").fetchone() == (8,)


async def test_units_that_wait_together_share_a_commit(record: SqliteRecord) -> None:
    store = await record.open()
    before = _commits(record)
    await asyncio.gather(*(store.delivery.accept([arrival(str(n))]) for n in range(60)))
    assert 1 <= _commits(record) - before <= 3


async def test_a_cancelled_callers_unit_is_done_all_the_same(record: SqliteRecord) -> None:
    store = await record.open()
    task = asyncio.create_task(store.delivery.accept([arrival("k")]))
    await asyncio.sleep(0)
    task.cancel()
    [again] = await store.delivery.accept([arrival("k")])
    assert again.new is False


async def test_a_closed_store_takes_nothing(record: SqliteRecord) -> None:
    store = await record.open()
    await store.close()
    with pytest.raises(StoreError):
        await store.delivery.accept([arrival("k")])


async def test_I16_a_stored_message_is_never_changed_and_never_deleted(
    record: SqliteRecord,
) -> None:
    await talk(await record.open(), "1")
    with closing(raw(record)) as outside:
        for attack in ("UPDATE message SET parts = '[]'", "DELETE FROM message"):
            with pytest.raises(sqlite3.IntegrityError, match="messages are never"):
                outside.execute(attack)


async def test_I24_a_full_disk_is_told_and_heals_without_a_restart(record: SqliteRecord) -> None:
    store = await record.open()
    home = await talk(store, "1")
    await limit_pages(store, 2)
    kept = 0
    while await _fits(store, kept):
        kept += 1
    assert await store.ready() is False
    assert len((await store.sessions.load(home)).turns) == 1
    await limit_pages(store, -1)
    assert await store.ready()
    [stored] = await store.delivery.accept([arrival(f"big {kept}", "x" * 2000)])
    assert stored.new
    assert len(await store.sessions.lines(home, limit=2000)) == 2 + kept + 1


async def _fits(store: Store, number: int) -> bool:
    try:
        await store.delivery.accept([arrival(f"big {number}", "x" * 2000)])
    except StoreFull:
        return False
    return True


async def test_I24_a_full_disk_in_a_group_fails_only_what_it_cannot_hold(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    await limit_pages(store, 20)
    told = await asyncio.gather(
        *(store.delivery.accept([arrival(str(n), "x" * 9000)]) for n in range(40)),
        return_exceptions=True,
    )
    assert any(isinstance(one, StoreFull) for one in told)
    stored = [one for one in told if not isinstance(one, BaseException)]
    with closing(raw(record)) as outside:
        assert outside.execute("SELECT count(*) FROM inbox").fetchone() == (len(stored),)


async def test_I25_another_process_that_holds_the_lock_too_long_is_named(
    record: SqliteRecord,
) -> None:
    store = await record.open(busy_timeout=0.1)
    home = await talk(store, "1")
    holder = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HOLDER, str(record.path)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout
    await holder.stdout.readline()
    try:
        with pytest.raises(StoreBusy):
            await store.delivery.accept([arrival("2")])
        assert await store.ready() is False
        assert len(await store.sessions.lines(home)) == 2
    finally:
        await holder.communicate(b"x")
    [stored] = await store.delivery.accept([arrival("2")])
    assert stored.new


async def test_I25_a_lock_that_is_let_go_in_time_is_waited_for(record: SqliteRecord) -> None:
    store = await record.open()
    with closing(raw(record)) as outside:
        outside.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(store.delivery.accept([arrival("k")]))
        await store.delivery.waiting()
        assert not waiting.done()
        outside.execute("COMMIT")
    assert (await waiting)[0].new


async def test_I11_the_row_itself_knows_whose_it_is(record: SqliteRecord) -> None:
    store = await record.open()
    turn = await begin(store)
    [row] = await store.sessions.add_step(turn, reply(), [call("a")], SPENT)
    with closing(raw(record)) as outside:
        outside.execute("UPDATE turn SET lease_epoch = lease_epoch + 1")
    for late in (
        store.sessions.add_step(turn, reply(), [], SPENT),
        store.sessions.end_calls(turn, [(row, "denied")], reply()),
        store.delivery.finish(turn, "done", reply(), parts("a")),
    ):
        with pytest.raises(WrongState):
            await late


async def test_a_reading_store_sees_what_is_committed_and_changes_nothing(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    home = await talk(store, "1")
    reading = await record.open(writable=False)
    assert len((await reading.sessions.load(home)).turns) == 1
    await talk(store, "2")
    assert len((await reading.sessions.load(home)).turns) == 2
    with pytest.raises(StoreError):
        await reading.sessions.clear(home)
    assert await reading.ready() is False
    await reading.close()
    assert (await store.delivery.accept([arrival("3")]))[0].new


async def test_a_reading_store_opens_what_nobody_has_open(record: SqliteRecord) -> None:
    store = await record.open()
    await talk(store, "1")
    await store.close()
    before = record.path.read_bytes()
    reading = await record.open(writable=False)
    assert len(await reading.sessions.conversations()) == 1
    await reading.close()
    assert record.path.read_bytes() == before


async def test_a_reading_store_does_not_make_a_file(tmp_path: Path) -> None:
    record = SqliteRecord(tmp_path / "none.db")
    with pytest.raises(StoreError):
        await record.open(writable=False)
    assert list(tmp_path.iterdir()) == []


async def test_I26_loading_a_long_conversation_touches_only_what_is_shown(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    home = await talk(store, *(str(n) for n in range(6)))
    await folded(store, home, 3)
    short = await _steps(store, lambda: store.sessions.load(home))
    await _grow(record, home, 20_000)
    session = await store.sessions.load(home)
    assert len(session.turns) == 3
    assert await _steps(store, lambda: store.sessions.load(home)) <= short * 2


async def test_I26_the_messages_of_a_turn_are_not_looked_for_in_all_of_a_long_conversation(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    home = await talk(store, *(str(n) for n in range(6)))
    row = ExtractionRow(
        turn_id="",
        space="",
        conversation=home,
        turn=6,
        state="queued",
        attempts=0,
        found="",
        reason="",
        at=datetime.now(UTC),
    )
    short = await _steps(store, lambda: store.extractions.messages(row))
    await _grow(record, home, 20_000)
    assert [message.turn for message in await store.extractions.messages(row)] == [6, 6]
    assert await _steps(store, lambda: store.extractions.messages(row)) <= short * 2


async def test_I26_a_conversation_with_a_hundred_times_the_turns_in_view_costs_no_more(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    home = await talk(store, *(str(n) for n in range(10)))
    short = await _steps(store, lambda: store.sessions.conversation(home))
    with closing(raw(record)) as outside:
        outside.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT "
            "INTO turn SELECT * FROM (SELECT * FROM turn WHERE 0) UNION ALL SELECT "
            + _turn_columns(outside)
            + " FROM n, "
            "(SELECT * FROM turn WHERE conversation = ? ORDER BY number DESC LIMIT 1) AS newest",
            (home,),
        )
        outside.execute(
            "UPDATE conversation SET next_turn = next_turn + 1000, next_seq = next_seq + 1000"
        )
    row = await store.sessions.conversation(home)
    assert row is not None
    assert row.turns == 1010
    assert await _steps(store, lambda: store.sessions.conversation(home)) <= short * 2


def _turn_columns(outside: sqlite3.Connection) -> str:
    """The columns of a copy of a turn, number i behind it."""
    names = [name for _, name, *_ in outside.execute("PRAGMA table_info(turn)")]
    new = {
        "id": "newest.id || i",
        "number": "newest.number + i",
        "inbox_id": "newest.inbox_id || i",
    }
    new["first_seq"] = "newest.first_seq + i"
    return ", ".join(new.get(name, f"newest.{name}") for name in names)


GRANTS_OF_ONE = (
    "sqlite_autoindex_access_grant_1 (channel=? AND subject=? AND subject_id=? AND account=?)"
)


@pytest.mark.parametrize(
    ("statement", "values", "index"),
    [
        (inbox._SELECT_NEXT, {"conversation": "c", "now": 1.0}, "inbox_open"),
        (inbox._SELECT_WAITING, {}, "inbox_open"),
        (inbox._SELECT_CONTEXT_ROWS, {"conversation": "c"}, "inbox_aside"),
        (
            inbox._END_OLDER_CONTEXT_ROWS,
            {"conversation": "c", "before_line": 9, "new_turn_id": "t"},
            "inbox_aside",
        ),
        (outbox._SELECT_NEXT, {"conversation": "c"}, "outbox_open"),
        (outbox._SELECT_UNSENT, {}, "outbox_open"),
        (outbox._RELEASE, {"conversation": "c", "held": 5.0, "now": 1.0}, "outbox_open"),
        (outbox._SELECT_OPEN_PART, {"conversation": "c"}, "outbox_open"),
        (turns._SELECT_RUNNING, {"conversation": "c"}, "turn_open"),
        (
            day_logs._SELECT_UNLOGGED,
            {"before": 9.0, "after_since": 1.0, "after_id": "c", "limit": 5},
            "conversation_unlogged",
        ),
        (day_logs._SELECT_LOGGED, {"conversation": "c", "from_seq": 5}, "fold_end"),
        (day_logs._SELECT_BEING_LOGGED, {"conversation": "c"}, "fold_open "),
        (day_logs._SELECT_OPEN_LOGS, {"conversation": "c"}, "fold_open_log"),
        (day_logs._SELECT_ALL_OPEN_LOGS, {}, "fold_open_log"),
        (
            day_logs._SELECT_NEWEST_LOG_REF,
            {"conversation": "c", "from_seq": 1, "to_seq": 5},
            "fold_end",
        ),
        (
            access._SELECT_GRANTS,
            {"channel": "c", "account": "a", "person": "p", "group": "g"},
            GRANTS_OF_ONE,
        ),
        (access._SELECT_GRANTS_OF_NEXT, {"conversation": "c", "now": 1.0}, GRANTS_OF_ONE),
        (
            transcript._LAST_LINES,
            {"conversation": "c", "after": 0, "before": 9, "limit": 5},
            "outbox_line",
        ),
    ],
)
async def test_I26_what_is_asked_often_is_asked_of_an_index(
    record: SqliteRecord, statement: Statement, values: dict[str, object], index: str
) -> None:
    plan = await explained(await record.open(), statement, values)
    steps = [detail for detail in plan if f"INDEX {index}" in detail]
    assert len(steps) == (2 if index == GRANTS_OF_ONE else 1)


async def explained(store: Store, statement: Statement, values: dict[str, object]) -> list[str]:
    """The steps by which SQLite runs a statement."""

    async def explain(tx: Tx) -> list[str]:
        ready = tx.compiler(statement)
        rows = await tx.driver.run(f"EXPLAIN QUERY PLAN {ready.sql}", ready.parameters(values))
        return [row["detail"] for row in rows.all()]

    return await store.database.read(explain)


@pytest.mark.parametrize(
    ("statement", "values", "indexes"),
    [
        (
            outcomes._SELECT_FOLDS,
            {"first": "0", "most": 20},
            ["sqlite_autoindex_fold_1 (id>?)"],
        ),
        (
            outcomes._SELECT_EXTRACTIONS,
            {"first": "0", "most": 50},
            ["sqlite_autoindex_extraction_1 (turn_id>?)"],
        ),
        (
            outcomes._COUNT_USED,
            {"space": "s", "since": 1.0},
            [
                "conversation_space (space=?)",
                "sqlite_autoindex_turn_2 (conversation=? AND number>?)",
                "sqlite_autoindex_tool_call_2 (turn_id=?)",
            ],
        ),
        (
            file_labels._SELECT_OLD,
            {"space": "s", "first": "files/", "end": "files0", "before": 1.0},
            ["sqlite_autoindex_file_label_1 (space=? AND path>? AND path<?)"],
        ),
    ],
)
async def test_what_a_turn_or_a_command_asks_reads_a_range_and_scans_no_table(
    record: SqliteRecord, statement: Statement, values: dict[str, object], indexes: list[str]
) -> None:
    plan = await explained(await record.open(), statement, values)
    assert [detail for detail in plan if detail.startswith("SCAN")] == []
    for index in indexes:
        assert any(index in detail for detail in plan), plan


async def test_the_chain_of_acts_shows_a_changed_row(record: SqliteRecord) -> None:
    store = await record.open()
    home = await talk(store, "1")
    await store.sessions.clear(home)
    await store.sessions.undo_clear(home)
    await store.sessions.delete(home)
    assert await store.database.read(audit.find_broken_seq) == 0
    with closing(raw(record)) as outside:
        assert outside.execute("SELECT action FROM audit").fetchall() == [
            ("clear",),
            ("undo clear",),
            ("delete",),
        ]
        outside.execute("UPDATE audit SET result = 'x' WHERE seq = 2")
    assert await store.database.read(audit.find_broken_seq) == 2


async def test_a_deleted_conversation_leaves_no_bytes(record: SqliteRecord) -> None:
    store = await record.open()
    home = await talk(store, "canary-4711")
    await store.sessions.delete(home)
    await store.close()
    assert b"canary-4711" not in record.path.read_bytes()


async def test_a_text_that_many_prefixes_show_is_stored_once_and_goes_with_the_last(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    homes = [await talk(store, str(n), chat=str(n)) for n in range(20)]
    for home in homes:
        session = await store.sessions.load(home)
        await store.sessions.set_snapshot(home, taken(session, *PARTS), "first")
    with closing(raw(record)) as outside:
        assert outside.execute("SELECT count(*) FROM prefix_text").fetchone() == (2,)
        for home in homes[1:]:
            await store.sessions.delete(home)
        assert outside.execute("SELECT count(*) FROM prefix_text").fetchone() == (2,)
        session = await store.sessions.load(homes[0])
        await store.sessions.set_snapshot(homes[0], taken(session, *PARTS[:1]), "edit")
        assert outside.execute("SELECT text FROM prefix_text").fetchall() == [(PARTS[0].text,)]
        await store.sessions.delete(homes[0])
        for table in ("prefix_text", "snapshot", "snapshot_part"):
            assert outside.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


async def test_a_value_without_a_parameter_is_a_mistake_that_shows(record: SqliteRecord) -> None:
    store = await record.open()
    with pytest.raises(LookupError):
        await store.database.write(sessions.load_session_rows, "nobody")

    async def stray(tx: Tx) -> None:
        await tx.execute(messages._SELECT_CONVERSATION, id="x", other=2)

    with pytest.raises(TypeError, match="other"):
        await store.database.write(stray)
    with pytest.raises(LookupError):
        await store.database.write(messages.take_numbers, "nobody", touched=True)


def test_ids_sort_by_time_and_never_repeat() -> None:
    made = [new_id(1_795_000_000 + n / 1000) for n in range(1000)]
    assert made == sorted(made)
    assert len({new_id(1.0) for _ in range(1000)}) == 1000
    assert {len(id) for id in made} == {26}
    assert derive_key("a:answer", 0) == derive_key("a:answer", 0) != derive_key("a:answer", 1)


async def test_I25_another_process_that_holds_the_database_is_counted(record: SqliteRecord) -> None:
    store = await record.open(busy_timeout=0.01)
    with closing(raw(record)) as outside:
        outside.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            await store.note("test", "", "", "")
        outside.execute("ROLLBACK")
    assert (await store.figures()).busy == 1
    assert (await store.figures()).wal_bytes > 0


def test_a_data_folder_that_is_a_file_now_is_told_in_the_same_words(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "mnema.db").touch()
    file = DatabaseFile(folder / "mnema.db")
    assert file.trouble() == ""
    folder.rename(tmp_path / "elsewhere")
    folder.touch()
    assert file.trouble() == (
        f"{folder / 'mnema.db'} was removed while mnema uses it: stop mnema, put the file back or "
        "restore a backup, then start again"
    )


@contextmanager
def closed_to_us(folder: Path) -> Iterator[None]:
    """Remove all rights of the folder; root, who ignores them, becomes another user for the
    time.
    """
    root = os.geteuid() == 0
    folder.chmod(0)
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)


@contextmanager
def a_loop_of_links(folder: Path) -> Iterator[None]:
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.symlink_to(folder)
    try:
        yield
    finally:
        folder.unlink()
        aside.rename(folder)


@pytest.mark.parametrize("spoilt", [closed_to_us, a_loop_of_links])
async def test_a_folder_that_cannot_be_looked_into_is_trouble_and_no_error(
    tmp_path: Path, spoilt: Callable[[Path], AbstractContextManager[None]]
) -> None:
    record = SqliteRecord(tmp_path / "data" / "mnema.db")
    store = await record.open()
    with spoilt(tmp_path / "data"):
        trouble = store.file_trouble()
        with pytest.raises(StoreMoved) as refused:
            await store.delivery.accept([arrival("k", "into nothing")])
        ready = await store.ready()
    assert trouble.startswith(
        f"{tmp_path / 'data' / 'mnema.db'} cannot be reached while mnema uses it ("
    )
    assert str(refused.value) == trouble
    assert not ready
    assert store.file_trouble() == ""
    assert await store.ready()
    [stored] = await store.delivery.accept([arrival("k", "again")])
    assert stored.new
    await store.close()


def _commits(record: SqliteRecord) -> int:
    """Count the commits in the write-ahead log: each ends with a frame that has the size of the
    database.
    """
    log = record.path.with_name(record.path.name + "-wal").read_bytes()
    page = int.from_bytes(log[8:12], "big")
    frames = (log[at : at + 24] for at in range(32, len(log) - 24, page + 24))
    return sum(frame[4:8] != b"\0\0\0\0" and frame[8:16] == log[16:24] for frame in frames)


async def _steps(store: Store, read: Callable[[], Awaitable[object]]) -> int:
    """Count the steps of SQLite's virtual machine that a read takes, in tens."""
    reader = store.database._light_reader  # type: ignore[attr-defined]
    counted = 0

    def tick() -> int:
        nonlocal counted
        counted += 1
        return 0

    reader._conn.set_progress_handler(tick, 10)
    await read()
    reader._conn.set_progress_handler(None, 10)
    assert counted
    return counted


async def _grow(record: SqliteRecord, home: str, count: int) -> None:
    """Insert many old messages before the view, as a conversation of years has."""
    with closing(raw(record)) as outside:
        outside.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
            "INSERT INTO message "
            "SELECT 'old' || i, ?, 1, -i, 0, '', 'user', '[]', 'person', '', 1, 1, 'x', 0, 0 FROM n",  # noqa: E501
            (count, home),
        )


async def test_a_task_that_polls_by_light_reads_alone_lets_others_run(record: SqliteRecord) -> None:
    store = await record.open()
    others = asyncio.Event()
    asyncio.get_running_loop().call_soon(others.set)
    for _ in range(1_000):
        await store.delivery.next_inbox_row("nobody", 1.0)
        if others.is_set():
            return
    pytest.fail("nothing else has run")


class CountingDriver:
    """Answers every query with no row, and counts them."""

    def __init__(self) -> None:
        self.queries = 0

    async def run(self, sql: str, parameters: list[object]) -> Result:
        self.queries += 1
        return Result(rows=[], rowcount=0)


@every_case(("folds_of_a_day", "queries"), [(1, 1), (64, 1), (65, 2), (640, 10)])
async def test_labels_of_a_days_folds_are_read_many_at_a_time(
    folds_of_a_day: int, queries: int
) -> None:
    driver = CountingDriver()
    tx = Tx(driver=driver, compiler=sqlite_compiler(), lease=1, now=0.0)
    labels = await steps.load_labels(tx, [f"fold {number}" for number in range(folds_of_a_day)])
    assert len(labels) == folds_of_a_day
    assert all(label.tainted for label in labels.values()), (
        "a fold that nobody knows may hold words from outside"
    )
    assert driver.queries == queries
