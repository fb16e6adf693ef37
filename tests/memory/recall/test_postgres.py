"""The index in PostgreSQL with several processes, spaces and accidents: each finds its own, and
nobody waits long.
"""

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from memory.recall.documents import IndexPosition, Passage, SearchRequest
from memory.recall.index import IndexCheck, RecallDependencies, SearchFilter, SpaceIndex
from memory.recall.keepers.keeper import UNSETTLED_NS, index_messages
from memory.recall.search import Recall
from memory.store.errors import SchemaNewer, StoreBusy, StoreError
from memory.store.open import open_store
from memory.store.postgres import index_connections, index_statements
from memory.store.postgres.index import PostgresIndex, to_storable
from memory.store.postgres.index_connections import IndexConnections, IndexTimeouts
from memory.store.postgres.index_keeper import PostgresSharedIndexes
from memory.store.store import Store
from memory.workspace.files import Workspace
from tests.cases import every_case
from tests.contracts.index_suite import row
from tests.memory.recall.conftest import TABLES
from tests.memory.talking import talk

pytestmark = pytest.mark.postgres
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HERE = "FROM pg_stat_activity WHERE datname = current_database()"
END = f"SELECT pg_terminate_backend(pid) {HERE}"
HASTE = IndexTimeouts(connect=1.0, read=1.0, change=5.0, wait=0.05, removal=5.0)


class Processes:
    """Several processes over one record, one workspace and one PostgreSQL."""

    def __init__(self, folder: Path, store: Store, url: str) -> None:
        self.url, self.store, self.workspace = url, store, Workspace(folder / "ws")
        self._opened = list[tuple[Recall, PostgresSharedIndexes]]()

    def ground(self, shared: PostgresSharedIndexes) -> RecallDependencies:
        return RecallDependencies(
            store=self.store, workspace=self.workspace, indexes=shared, zone=UTC
        )

    def start(self, timeouts: IndexTimeouts | None = None, url: str = "") -> Recall:
        shared = PostgresSharedIndexes(url or self.url, timeouts)
        self._opened.append((Recall(self.ground(shared)), shared))
        return self._opened[-1][0]

    def write(self, text: str, name: str = "MEMORY.md", space: str = "") -> None:
        files = self.workspace.space(space)
        try:
            held = files.read(name).sha256
        except FileNotFoundError:
            held = None
        files.write(name, text, held)

    def ask(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url, autocommit=True) as base:
            found = base.execute(statement)
            return found.fetchall() if found.description else []

    def everything(self) -> str:
        """All that the tables hold, as one text."""
        return repr([self.ask(f"SELECT * FROM mnema_index.{table}") for table in TABLES])

    async def close(self) -> None:
        for recall, shared in self._opened:
            await recall.close()
            shared.close()


@pytest.fixture
async def processes(tmp_path: Path, url: str) -> AsyncIterator[Processes]:
    store = await open_store(tmp_path / "m.db")
    held = Processes(tmp_path, store, url)
    yield held
    await held.close()
    await store.close()


@pytest.fixture
def connections(url: str) -> Iterator[IndexConnections]:
    held = IndexConnections(url, HASTE)
    yield held
    held.close()


async def found(recall: Recall, query: str, space: str = "") -> list[str]:
    passages: list[Passage] = await recall.search(
        SearchRequest(space=space, query=query, now=NOW, limit=50)
    )
    return sorted(passage.words for passage in passages)


def changed(index: PostgresIndex, name: str, *words: str) -> None:
    index.begin_changing(5.0)
    index.put(
        name, "1", [row(said, at, day="2025-01-02", speaker=said) for at, said in enumerate(words)]
    )
    index.end(keep=True)


LOOKS: dict[str, Callable[[SpaceIndex], object]] = {
    "best": lambda index: index.best(["canari"], 9, SearchFilter()),
    "narrowed": lambda index: index.best(["canari"], 9, SearchFilter(since="2025-01-01")),
    "with_characters": lambda index: index.with_characters(["c"], 9, SearchFilter()),
    "on_days": lambda index: index.on_days([("2025-01-01", "2025-01-03")], 9, SearchFilter()),
    "around": lambda index: index.around([((1 << 32) + 0, 0)], SearchFilter()),
    "candidates": lambda index: index.candidates([1], SearchFilter()),
    "indexed_rows": lambda index: index.indexed_rows([1]),
    "frequencies": lambda index: index.frequencies(["canari"]),
    "speakers": lambda index: index.speakers(),
    "sources": lambda index: index.sources(),
    "source_number": lambda index: index.source_number("file:a"),
    "lines": lambda index: index.lines("file:a"),
    "count": lambda index: index.count(),
    "check": lambda index: index.check(),
    "unembedded": lambda index: index.unembedded("m", 9),
    "vector_changes": lambda index: index.vector_changes("m", 0, 9),
    "words_and_vectors": lambda index: index.words_and_vectors("m", 0, 9),
}
NOTHING = {
    "frequencies": ({}, 0),
    "count": 0,
    "source_number": 0,
    "check": "",
    "speakers": frozenset(),
    "sources": {},
}


@pytest.mark.parametrize("look", sorted(LOOKS))
@pytest.mark.parametrize("known", [False, True], ids=["a space without an index", "an emptied one"])
def test_I40_no_way_to_look_shows_another_space(
    connections: IndexConnections, look: str, known: bool
) -> None:
    theirs, mine = PostgresIndex("telegram-2", connections), PostgresIndex("", connections)
    changed(theirs, "file:a", "canary")
    theirs.begin_changing(1.0)
    theirs.store_vectors("m", [(1, "canary", b"canary")])
    theirs.end(keep=True)
    if known:
        changed(mine, "file:a")
        mine.begin_changing(1.0)
        mine.drop(["file:a"])
        mine.end(keep=True)
    mine.begin_reading()
    seen = LOOKS[look](mine)
    mine.end(keep=False)
    assert seen == NOTHING.get(look, {} if look == "indexed_rows" else [])


def test_I40_changing_one_space_leaves_the_others_as_they_are(
    connections: IndexConnections,
) -> None:
    theirs, mine = PostgresIndex("telegram-2", connections), PostgresIndex("", connections)
    changed(theirs, "file:a", "canary", "otter")
    theirs.begin_changing(1.0)
    theirs.store_vectors("m", [(1, "canary", b"1"), (2, "otter", b"2")])
    theirs.end(keep=True)

    def all_of_theirs() -> list[object]:
        theirs.begin_reading()
        try:
            return [look(theirs) for look in LOOKS.values()]
        finally:
            theirs.end(keep=False)

    before = all_of_theirs()
    changed(mine, "file:a", "canary", "heron")
    mine.begin_changing(1.0)
    mine.store_vectors("m", [(1, "canary", b"1"), (2, "otter", b"2"), (2, "heron", b"2")])
    mine.put("file:a", "2", [row("canary"), row("something else", 1)])
    mine.store_vectors("another model", ())
    mine.drop(["file:a"])
    mine.remove()
    mine.end(keep=True)
    assert all_of_theirs() == before


def test_I40_every_statement_names_its_space() -> None:
    statements = {
        name: words
        for name, value in vars(index_statements).items()
        for words in (value if isinstance(value, tuple) else (value,))
        if isinstance(words, str) and "mnema_index." in words and not name.startswith("_")
    }
    assert len(statements) > 20
    of_the_space_itself = {"SPACE", "LOCK_SPACE", "MAKE_SPACE", "SPACES"}
    for name in statements.keys() - of_the_space_itself:
        _, *parts = statements[name].split("mnema_index.")
        for part in parts:
            assert re.search(
                r"(?:space|id) = %\(space\)s|^\w+\(space, .*SELECT %\(space\)s", part, re.DOTALL
            ), name


async def test_another_process_finds_what_one_has_indexed_and_what_was_written_since(
    processes: Processes,
) -> None:
    one, other = processes.start(), processes.start()
    processes.write("- likes hiking\n")
    await talk(processes.store, [("my canoe is red", "nice")])
    assert await found(one, "hiking canoe") == ["likes hiking", "my canoe is red"]
    processes.write("- likes rowing\n")
    assert await found(other, "hiking rowing canoe") == ["likes rowing", "my canoe is red"]
    assert await found(one, "hiking rowing canoe") == ["likes rowing", "my canoe is red"]


async def test_processes_that_index_the_same_at_once_put_each_row_in_once(
    processes: Processes,
) -> None:
    several = [processes.start() for _ in range(4)]
    for round in range(4):
        processes.write(
            "".join(f"- heron {number} of {round}\n" for number in range(30)),
            f"memory/2025-01-0{round + 1}.md",
        )
        await talk(processes.store, [(f"otter {round}", "ok")])
        answers = await asyncio.gather(*(found(recall, "heron otter") for recall in several))
        assert all(answer == answers[0] for answer in answers)
        assert await several[0].refresh("") == 30 * (round + 1) + 2 * (round + 1)
    assert await several[0].check("") == ""


async def test_while_another_process_indexes_the_others_search_what_is_there(
    processes: Processes,
) -> None:
    processes.write("- likes hiking\n")
    recall = processes.start(HASTE)
    assert await found(recall, "hiking") == ["likes hiking"]
    busy = PostgresIndex("", IndexConnections(processes.url, HASTE))
    busy.begin_changing(1.0)
    processes.write("- likes rowing\n")
    assert await found(recall, "hiking rowing") == ["likes hiking"]
    shared = PostgresSharedIndexes(processes.url, HASTE)
    with pytest.raises(StoreBusy):
        await shared.keeper("", processes.ground(shared)).change(lambda index: index.count())
    busy.end(keep=False)
    assert await found(recall, "hiking rowing") == ["likes rowing"]


async def waited_for(processes: Processes) -> None:
    """Until somebody waits for a space's index."""
    while not await asyncio.to_thread(
        processes.ask, f"SELECT 1 {HERE} AND wait_event_type = 'Lock'"
    ):
        pass


async def test_what_another_process_has_indexed_meanwhile_is_not_taken_for_gone(
    processes: Processes,
) -> None:
    processes.write("- likes hiking\n")
    recall, other = processes.start(), PostgresIndex("", IndexConnections(processes.url, HASTE))
    other.begin_changing(1.0)
    searching = asyncio.create_task(found(recall, "canoe"))
    await waited_for(processes)
    conversation = await talk(processes.store, [("my canoe is red", "nice")])
    new = await processes.store.recall.new_messages("", {conversation: 1}, 100)
    assert index_messages(other, new, {conversation: IndexPosition()}, UTC) == {}
    other.end(keep=True)
    assert await searching == ["my canoe is red"]


async def test_what_a_process_that_was_killed_was_indexing_is_as_if_it_had_not_begun(
    processes: Processes,
) -> None:
    processes.write("- likes hiking\n")
    recall = processes.start()
    assert await found(recall, "hiking") == ["likes hiking"]
    killed = PostgresIndex("", IndexConnections(processes.url, HASTE))
    killed.begin_changing(1.0)
    killed.put("file:MEMORY.md", "1", [row("canary")])
    processes.ask(f"{END} AND state = 'idle in transaction'")
    with pytest.raises(StoreError):
        killed.put("file:other", "1", [row("canary")])
    killed.end(keep=False)
    assert await found(recall, "hiking canary") == ["likes hiking"]
    assert await recall.check("") == ""


async def test_a_server_that_was_away_is_found_again(processes: Processes) -> None:
    processes.write("- likes hiking\n")
    recall = processes.start()
    for _ in range(3):
        assert await found(recall, "hiking") == ["likes hiking"]
        processes.ask(f"{END} AND application_name = 'mnema index'")


async def test_a_server_that_crashed_has_lost_the_rows_and_gets_them_again(
    processes: Processes,
) -> None:
    processes.write("- likes hiking\n")
    recall = processes.start()
    assert await found(recall, "hiking") == ["likes hiking"]
    # what it does to unlogged tables
    processes.ask(";".join(f"TRUNCATE mnema_index.{table}" for table in TABLES))
    logged = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'mnema_index'::regnamespace AND "
        "relpersistence = 'p'"
    )
    assert processes.ask(logged) == [("version",)]
    assert await found(recall, "hiking") == ["likes hiking"]


async def test_I44_a_space_that_is_forgotten_is_in_no_table(processes: Processes) -> None:
    processes.write("- the canary sings\n")
    processes.write("- heron\n", space="telegram-2")
    await talk(processes.store, [("canary", "canary too")])
    one, other = processes.start(), processes.start()
    for recall in (one, other):
        assert len(await found(recall, "canary")) == 3
        assert await found(recall, "heron", "telegram-2") == ["heron"]
    processes.write("- nothing\n")
    await processes.store.sessions.delete(next(iter(await processes.store.sessions.next_seqs(""))))
    await one.forget("")
    assert "canar" not in processes.everything()
    assert "heron" in processes.everything()
    assert await found(other, "canary") == []
    assert "canar" not in processes.everything()


async def test_I44_what_another_process_was_indexing_meanwhile_is_forgotten_too(
    processes: Processes,
) -> None:
    recall = processes.start()
    await recall.refresh("")
    slow = PostgresIndex("", IndexConnections(processes.url, HASTE))
    slow.begin_changing(1.0)
    slow.put("file:a", "1", [row("canary")])
    forgetting = asyncio.create_task(recall.forget(""))
    await waited_for(processes)
    slow.end(keep=True)
    await forgetting
    assert "canar" not in processes.everything()


async def test_many_spaces_at_once_do_not_wait_for_one_another_for_ever(
    processes: Processes,
) -> None:
    spaces = [f"telegram-{number}" for number in range(24)]
    for space in spaces:
        processes.write("- likes hiking\n", space=space)
    # more spaces than threads, more threads than connections
    recall = processes.start(IndexTimeouts(connect=1.0))
    assert await asyncio.gather(*map(recall.refresh, spaces)) == [1] * len(spaces)


async def test_a_fault_of_an_index_is_seen_from_outside(processes: Processes) -> None:
    processes.write("- heron\n- otter\n")
    processes.write("- eagle\n", space="telegram-2")
    path = processes.workspace.root / "MEMORY.md"
    while (path.parent / "tick").touch() or (path.parent / "tick").stat().st_mtime_ns < (
        path.stat().st_ctime_ns + 2 * UNSETTLED_NS
    ):
        pass
    recall, shared = processes.start(), PostgresSharedIndexes(processes.url)
    for space in ("", "telegram-2"):
        await recall.refresh(space)
    sound = [IndexCheck(space="", rows=2), IndexCheck(space="telegram-2", rows=1)]
    assert shared.check_indexes(processes.workspace) == sound
    faults = []
    for statement in (
        "UPDATE mnema_index.posting SET count = 2 WHERE term = 'heron'",
        "DELETE FROM mnema_index.posting WHERE term = 'otter'",
        "UPDATE mnema_index.entry SET line = 9 WHERE words = 'heron'",
        "DELETE FROM mnema_index.entry WHERE words = 'otter'",
    ):
        processes.ask(statement)
        mine, theirs = shared.check_indexes(processes.workspace)
        faults.append(mine.fault)
        assert theirs == sound[1]
        assert bool(await recall.check("")) == ("line" not in statement)
        await recall.rebuild("")
        assert shared.check_indexes(processes.workspace) == sound
    assert faults == [
        "the postings of row 1 do not match its terms",
        "the postings of row 2 do not match its terms",
        "MEMORY.md is indexed with other text than the file has",
        "it has 1 rows of 1 terms, but its counters say 2 of 2",
    ]
    shared.close()


async def test_tables_of_a_lower_version_are_made_anew_and_those_of_a_higher_one_left_alone(
    processes: Processes,
) -> None:
    processes.write("- likes hiking\n")
    assert await found(processes.start(), "hiking") == ["likes hiking"]
    processes.ask("UPDATE mnema_index.version SET number = 0; DROP TABLE mnema_index.speaker")
    assert await found(processes.start(), "hiking") == ["likes hiking"]
    try:
        processes.ask(f"UPDATE mnema_index.version SET number = {index_connections.VERSION + 1}")
        with pytest.raises(SchemaNewer, match="made by a newer mnema"):
            await found(processes.start(), "hiking")
    finally:
        processes.ask(f"UPDATE mnema_index.version SET number = {index_connections.VERSION}")


def test_processes_that_start_at_once_make_the_tables_once(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as base:
        base.execute("DROP SCHEMA IF EXISTS mnema_index CASCADE")
    faults: list[BaseException] = []

    def start(number: int) -> None:
        connections = IndexConnections(url, IndexTimeouts())
        try:
            changed(PostgresIndex("", connections), f"file:{number}", "heron")
        except StoreError as err:
            faults.append(err)
        finally:
            connections.close()

    threads = [threading.Thread(target=start, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    with psycopg.connect(url) as base:
        assert base.execute("SELECT rows FROM mnema_index.space").fetchall() == [(6,)]


class Swallowing:
    """A proxy before the server that, once it is told so, takes everything and passes nothing
    on.
    """

    def __init__(self, url: str) -> None:
        at = psycopg.conninfo.conninfo_to_dict(url)
        self._server = (str(at["host"]), int(str(at["port"])))
        self._dbname, self._user = at["dbname"], at["user"]
        self._tasks: set[asyncio.Task[None]] = set()
        self.swallows = False

    @property
    def url(self) -> str:
        return f"postgresql://{self._user}@127.0.0.1:{self._port}/{self._dbname}?sslmode=disable"

    async def __aenter__(self) -> "Swallowing":
        self._listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._port = self._listening.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._server)
        for source, target in ((reader, back), (there, writer)):
            self._tasks.add(asyncio.create_task(self._pass_on(source, target)))

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while (got := await source.read(65_536)) and not target.is_closing():
            if not self.swallows:
                target.write(got)
        target.close()


async def test_a_network_that_swallows_everything_holds_nobody_for_ever(
    processes: Processes,
) -> None:
    processes.write("- likes hiking\n")
    async with Swallowing(processes.url) as between:
        recall = processes.start(HASTE, between.url)
        assert await found(recall, "hiking") == ["likes hiking"]
        between.swallows = True
        async with asyncio.timeout(5):
            with pytest.raises(StoreError):
                await found(recall, "hiking")
        between.swallows = False
        async with asyncio.timeout(5):
            assert await found(recall, "hiking") == ["likes hiking"]
        await processes.close()


@every_case(
    ("given", "kept"), [("a\x00b", "a�b"), ("a\ud800b", "a�b"), ("龙🐉é", "龙🐉é"), ("", "")]
)
def test_what_postgres_cannot_hold_stands_as_a_mark(given: str, kept: str) -> None:
    assert to_storable(given) == kept


async def test_nul_bytes_in_a_file_keep_nothing_from_being_found(processes: Processes) -> None:
    (processes.workspace.root / "memory").mkdir(parents=True)
    (processes.workspace.root / "memory" / "2025-01-02.md").write_bytes(b"- heron \x00 weir\n")
    (processes.workspace.root / "MEMORY.md").write_bytes(b"- otter\n")
    recall = processes.start()
    assert await found(recall, "weir") == ["heron � weir"]
    assert await found(recall, "otter") == ["otter"]
