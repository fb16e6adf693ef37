"""Searches of one space run beside one another and beside its update, and see what they must
see.
"""

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.recall.documents import SearchRequest
from memory.recall.index import RecallDependencies, SpaceIndex, SpaceIndexKeeper
from memory.recall.keepers.files import (
    MAX_LISTED,
    MAX_ROWS_ON_LOOP,
    MAX_SECONDS_ON_LOOP,
    NEWEST_WEIGHT,
    FileIndexes,
    FileIndexKeeper,
)
from memory.recall.keepers.keeper import MAX_READERS
from memory.recall.search import Recall
from memory.store.errors import IndexUnusable, StoreFull
from memory.store.open import open_store
from memory.store.postgres.index_keeper import PostgresSharedIndexes
from memory.store.store import Store
from memory.workspace.files import Workspace
from tests.memory.talking import PLACE, talk

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "m.db")
    yield opened
    await opened.close()


@pytest.fixture
def dependencies(
    tmp_path: Path, store: Store, shared: PostgresSharedIndexes | None
) -> RecallDependencies:
    workspace = Workspace(tmp_path / "ws")
    workspace.space("").write("MEMORY.md", "- likes hiking\n", None)
    # a file that has just been written is indexed once more, in one of the searches
    long_ago = time.time() - 60
    os.utime(tmp_path / "ws" / "MEMORY.md", (long_ago, long_ago))
    indexes = shared or FileIndexes(tmp_path / "index")
    return RecallDependencies(
        store=store, workspace=workspace, indexes=indexes, zone=UTC, max_lag=60.0
    )


@pytest.fixture
async def keeper(dependencies: RecallDependencies) -> AsyncIterator[SpaceIndexKeeper]:
    opened = dependencies.indexes.keeper("", dependencies)
    unsubscribe = dependencies.store.database.changes.subscribe(
        lambda changed: [opened.note_change(id) for space, id in changed if space == ""]
    )
    yield opened
    unsubscribe()
    await opened.close()


@pytest.fixture
async def recall(dependencies: RecallDependencies) -> AsyncIterator[Recall]:
    opened = Recall(dependencies)
    yield opened
    await opened.close()


def rows(index: SpaceIndex) -> int:
    return index.count()


def heavy(index: SpaceIndex) -> int:
    """Compute for so long that the next works on a file have threads."""
    return computing(2 * MAX_SECONDS_ON_LOOP / NEWEST_WEIGHT)(index)


def computing(seconds: float) -> Callable[[SpaceIndex], int]:
    def work(index: SpaceIndex) -> int:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        return index.count()

    return work


def is_on_loop(index: SpaceIndex) -> bool:
    return threading.current_thread() is threading.main_thread()


class Held:
    """Work on an index that goes on until it is released."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._go_on = threading.Event()
        self.begun = asyncio.Event()

    def __call__(self, index: SpaceIndex) -> int:
        self._loop.call_soon_threadsafe(self.begun.set)
        assert self._go_on.wait(60)
        return index.count()

    def release(self) -> None:
        self._go_on.set()


async def begun(*held: Held) -> None:
    async with asyncio.timeout(30):
        for one in held:
            await one.begun.wait()


async def begun_in_order(keeper: SpaceIndexKeeper, held: list[Held]) -> list[asyncio.Task[int]]:
    """Start one search after the other; of those that are started together, the second may come
    first.
    """
    searches = []
    for one in held:
        searches.append(asyncio.create_task(keeper.use(one)))
        await begun(one)
    return searches


async def turns_of_the_loop(count: int = 50) -> None:
    """Let everything run that can run without a thread."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_so_many_searches_run_at_once_and_one_more_waits_for_the_first_that_ends(
    keeper: SpaceIndexKeeper,
) -> None:
    held = [Held() for _ in range(MAX_READERS + 1)]
    await keeper.use(heavy)
    searches = await begun_in_order(keeper, held[:MAX_READERS])
    searches.append(asyncio.create_task(keeper.use(held[-1])))
    await turns_of_the_loop()
    assert not held[-1].begun.is_set()
    held[1].release()
    await begun(held[-1])
    for one in held:
        one.release()
    assert await asyncio.gather(*searches) == [1] * len(held)


async def test_a_small_file_is_read_on_the_loops_thread_unless_its_reads_are_heavy_on_average(
    dependencies: RecallDependencies, tmp_path: Path
) -> None:
    keeper = FileIndexes(tmp_path / "files").keeper("", dependencies)
    assert await keeper.use(is_on_loop), "from the first read on, as sixty may come at once"
    await keeper.use(computing(3 * MAX_SECONDS_ON_LOOP))
    assert await keeper.use(is_on_loop), "one slow read sends nobody to the threads"
    await keeper.use(heavy)
    assert not await keeper.use(is_on_loop)
    for _ in range(10):
        await keeper.use(rows)
    assert await keeper.use(is_on_loop)
    await keeper.close()


@pytest.mark.parametrize("shared", ["files"], indirect=True)
async def test_a_large_file_is_never_read_on_the_loops_thread(
    dependencies: RecallDependencies, tmp_path: Path
) -> None:
    def write(count: int) -> None:
        text = "".join(f"- x{number}\n" for number in range(count))
        (dependencies.workspace.root / "MEMORY.md").write_text(text)

    for count, is_small in ((MAX_ROWS_ON_LOOP, True), (MAX_ROWS_ON_LOOP + 1, False)):
        write(count)
        for _ in range(2):  # the index is made, and opened
            keeper = FileIndexes(tmp_path / "files").keeper("", dependencies)
            assert await keeper.use(is_on_loop) == is_small
            await keeper.close()


async def test_a_search_that_was_given_up_keeps_its_place_until_its_thread_ends(
    keeper: SpaceIndexKeeper,
) -> None:
    held = [Held() for _ in range(MAX_READERS + 1)]
    await keeper.use(heavy)
    first, *others = await begun_in_order(keeper, held[:MAX_READERS])
    others.append(asyncio.create_task(keeper.use(held[-1])))
    first.cancel()
    await turns_of_the_loop()
    assert not held[-1].begun.is_set()
    held[0].release()
    await begun(held[-1])
    for one in held:
        one.release()
    assert await asyncio.gather(*others) == [1] * MAX_READERS


async def test_a_search_that_was_given_up_before_its_turn_does_not_run(
    keeper: SpaceIndexKeeper,
) -> None:
    held = [Held() for _ in range(MAX_READERS + 2)]
    await keeper.use(heavy)
    first = await begun_in_order(keeper, held[:MAX_READERS])
    given_up = asyncio.create_task(keeper.use(held[-2]))
    await turns_of_the_loop()
    last = asyncio.create_task(keeper.use(held[-1]))
    await turns_of_the_loop()
    given_up.cancel()
    await turns_of_the_loop()
    held[-1].release()
    held[0].release()
    assert await last == 1
    assert not held[-2].begun.is_set()
    for one in held:
        one.release()
    assert await asyncio.gather(*first) == [1] * MAX_READERS


async def test_a_search_beside_others_sees_what_is_indexed_while_a_fresh_one_waits_for_the_update(
    keeper: SpaceIndexKeeper, store: Store
) -> None:
    await keeper.use(heavy)
    change, search = Held(), Held()
    searching = asyncio.create_task(keeper.use(search))
    await begun(search)
    changing = asyncio.create_task(keeper.change(change))
    await begun(change)
    await talk(store, [("my canoe is red", "nice")])
    assert await keeper.use(rows, fresh=False) == 1, "it waits for nobody"
    fresh = asyncio.create_task(keeper.use(rows))
    await turns_of_the_loop()
    assert not fresh.done()
    search.release()
    change.release()
    assert await fresh == 3
    await asyncio.gather(changing, searching)


async def test_a_search_that_is_alone_sees_everything(
    keeper: SpaceIndexKeeper, store: Store
) -> None:
    for number in range(5):
        await talk(store, [(f"canoe {number}", "ok")], replace(PLACE, chat_id=f"c{number}"))
        assert await keeper.use(rows, fresh=False) == 1 + 2 * (number + 1)


async def test_a_search_for_a_turn_waits_for_what_others_said_but_not_for_its_own_conversation(
    dependencies: RecallDependencies, tmp_path: Path, store: Store
) -> None:
    watched: Any = Failing(store)
    files = FileIndexes(tmp_path / "files")
    recall = Recall(replace(dependencies, store=watched, indexes=files))
    own = await talk(store, [("my canoe is red", "nice")])
    request = SearchRequest(
        space="", query="what colour is the kayak", now=NOW, on_behalf_of=own, hide_live_of=own
    )
    await recall.search(request)
    watched.go_on.clear()
    watched.asked.clear()
    await talk(store, [("hello again", "hello")])
    async with asyncio.timeout(30):
        # all it may lack is in view: it does not wait, though nothing can be read now
        await recall.search(request)
        await watched.asked.wait()
        await recall.search(request)  # while that is being indexed neither
    watched.go_on.set()
    await talk(store, [("the kayak is blue", "nice")], replace(PLACE, chat_id="c2"))
    assert [one.words for one in await recall.search(request)] == ["the kayak is blue"]
    await recall.close()


async def test_one_update_serves_all_who_wait_for_it(
    keeper: SpaceIndexKeeper, store: Store
) -> None:
    for number in range(60):
        await talk(store, [(f"canoe {number}", "ok")], replace(PLACE, chat_id=f"c{number}"))
    assert await asyncio.gather(*(keeper.use(rows) for _ in range(60))) == [121] * 60
    assert await keeper.change(lambda index: index.check()) == ""


async def test_what_changed_is_indexed_behind_without_a_search(
    keeper: SpaceIndexKeeper, store: Store
) -> None:
    if not isinstance(keeper, FileIndexKeeper):
        pytest.skip("other processes write the store too, so its changes are not reported")
    await keeper.use(rows)
    await talk(store, [("my canoe is red", "nice")])
    async with asyncio.timeout(30):
        while await keeper.change(rows) != 3:  # which brings nothing up to date by itself
            pass


async def test_changes_without_a_pause_are_indexed_while_they_go_on(
    keeper: SpaceIndexKeeper, store: Store
) -> None:
    if not isinstance(keeper, FileIndexKeeper):
        pytest.skip("other processes write the store too, so its changes are not reported")
    await keeper.use(rows)
    await talk(store, [("my canoe is red", "nice")])
    async with asyncio.timeout(30):
        while await keeper.change(rows) != 3:
            keeper.note_change("another")  # so that it is never quiet


async def test_I18_a_clear_counts_at_once_for_a_search_that_sees_an_older_index(
    recall: Recall, dependencies: RecallDependencies
) -> None:
    store = dependencies.store
    conversation = await talk(store, [("my canoe is red", "nice")])
    assert await recall.refresh("") == 3
    await store.sessions.clear(conversation)
    request = SearchRequest(
        space="", query="what colour is my canoe", now=NOW, on_behalf_of=conversation
    )
    assert await asyncio.gather(*(recall.search(request) for _ in range(20))) == [[]] * 20


async def test_I44_an_index_is_deleted_only_once_nobody_reads_it_and_is_empty_for_the_next(
    keeper: SpaceIndexKeeper, dependencies: RecallDependencies
) -> None:
    held = [Held() for _ in range(MAX_READERS)]
    await keeper.use(heavy)
    searches = [asyncio.create_task(keeper.use(one)) for one in held]
    await begun(*held)
    held[0].release()
    await searches[0]
    (dependencies.workspace.root / "MEMORY.md").unlink()
    removing = asyncio.create_task(keeper.remove())
    after = asyncio.create_task(keeper.use(rows, fresh=False))
    await turns_of_the_loop()
    for one in held:
        one.release()
    await removing
    assert await after == 0
    await asyncio.gather(*searches)


async def test_I44_what_an_update_has_read_before_a_forget_does_not_come_back(
    recall: Recall, dependencies: RecallDependencies
) -> None:
    store, workspace = dependencies.store, dependencies.workspace
    conversation = await talk(store, [("the canary sings", "it does")])
    searching = [
        asyncio.create_task(recall.search(SearchRequest(space="", query="canary", now=NOW)))
        for _ in range(5)
    ]
    await asyncio.sleep(0)
    await store.sessions.delete(conversation)
    (workspace.root / "MEMORY.md").write_text("- nothing\n")
    await recall.forget("")
    await asyncio.gather(*searching)
    assert await recall.search(SearchRequest(space="", query="canary", now=NOW)) == []


class Failing:
    """A store whose reads of new messages wait for `go_on`, then fail so often."""

    def __init__(self, store: Store) -> None:
        self._store, self.often = store, 0
        self.recall = self
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()

    async def new_messages(self, *args: Any) -> Any:
        self.asked.set()
        await self.go_on.wait()
        if self.often:
            self.often -= 1
            raise StoreFull("for a moment")
        return await self._store.recall.new_messages(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store if hasattr(self._store, name) else self._store.recall, name)


async def test_what_an_update_that_failed_did_not_index_is_indexed_by_the_next(
    dependencies: RecallDependencies,
) -> None:
    failing: Any = Failing(dependencies.store)
    recall = Recall(replace(dependencies, store=failing))
    assert await recall.refresh("") == 1
    await talk(dependencies.store, [("my canoe is red", "nice")])
    (dependencies.workspace.root / "MEMORY.md").write_text("- likes rowing\n- likes tea\n")
    # for as long as this takes: the file's watcher may begin an update before
    failing.often = 1_000
    with pytest.raises(StoreFull):
        await recall.refresh("")
    failing.often = 0
    assert await recall.refresh("") == 4
    await recall.close()


async def test_a_fresh_search_waits_for_what_is_being_indexed(
    dependencies: RecallDependencies,
) -> None:
    slow: Any = Failing(dependencies.store)
    recall = Recall(replace(dependencies, store=slow))
    assert await recall.refresh("") == 1
    slow.go_on.clear()
    await talk(dependencies.store, [("my canoe is red", "nice")])
    first = asyncio.create_task(recall.refresh(""))
    async with asyncio.timeout(30):
        await slow.asked.wait()
    second = asyncio.create_task(recall.refresh(""))
    await turns_of_the_loop()
    assert not second.done()
    slow.go_on.set()
    assert await asyncio.gather(first, second) == [3, 3]
    await recall.close()


async def test_more_changes_than_are_listed_are_found_too(
    dependencies: RecallDependencies, keeper: Any
) -> None:
    folder = dependencies.workspace.root / "memory"
    folder.mkdir()
    assert await keeper.use(rows) == 1
    # the other compares all files each time
    count = MAX_LISTED + 5 if isinstance(keeper, FileIndexKeeper) else 5
    for number in range(count):
        (folder / f"note-{number}.md").write_text("- a heron\n")
    assert await keeper.use(rows) == count + 1
    for number in range(count):
        (folder / f"note-{number}.md").unlink()
    assert await keeper.use(rows) == 1


async def test_a_conversation_that_moves_to_another_space_moves_between_their_indexes(
    recall: Recall, dependencies: RecallDependencies
) -> None:
    theirs = replace(PLACE, space="p2")
    await talk(dependencies.store, [("my canoe is red", "nice")], theirs)
    assert (await recall.refresh("p2"), await recall.refresh("")) == (2, 1)
    await talk(dependencies.store, [("now I own this", "ok")])
    assert (await recall.refresh("p2"), await recall.refresh("")) == (0, 5)


@pytest.mark.parametrize("damage", ["another version", "deleted", "replaced"])
async def test_a_file_that_cannot_be_used_as_it_is_is_made_again(
    tmp_path: Path, store: Store, damage: str
) -> None:
    workspace = Workspace(tmp_path / "ws")
    workspace.space("").write("MEMORY.md", "- likes hiking\n", None)
    path = tmp_path / "index" / "owner.db"

    def opened() -> RecallDependencies:
        indexes = FileIndexes(tmp_path / "index")
        return RecallDependencies(
            store=store, workspace=workspace, indexes=indexes, zone=UTC, max_lag=60.0
        )

    first, second = Recall(opened()), Recall(opened())
    assert await first.refresh("") == 1
    if damage == "another version":
        await first.close()
        base = sqlite3.connect(path)
        base.execute("PRAGMA user_version=1")
        base.close()
    else:
        for file in path.parent.iterdir():
            file.unlink()
        if damage == "replaced":
            assert await second.refresh("") == 1
    both: list[Callable[[], Any]] = [lambda: first.refresh(""), lambda: first.refresh("")]
    assert await asyncio.gather(*(one() for one in both)) == [1, 1], (
        "by two connections, of which one was open before"
    )
    assert await first.check("") == ""
    await first.close()
    await second.close()


async def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path, store: Store) -> None:
    (tmp_path / "index").write_text("a file")
    indexes = FileIndexes(tmp_path / "index")
    recall = Recall(
        RecallDependencies(
            store=store, workspace=Workspace(tmp_path / "ws"), indexes=indexes, zone=UTC
        )
    )
    with pytest.raises(IndexUnusable, match=r"make .* a folder that this account may write to"):
        await recall.refresh("")
    await recall.close()


async def test_a_store_that_another_process_writes_is_compared_each_time(
    tmp_path: Path, store: Store
) -> None:
    workspace = Workspace(tmp_path / "ws")
    workspace.space("")
    only_read = await open_store(tmp_path / "m.db", writable=False)
    indexes = FileIndexes(tmp_path / "index")
    recall = Recall(
        RecallDependencies(store=only_read, workspace=workspace, indexes=indexes, zone=UTC)
    )
    for number in range(3):
        await talk(store, [(f"canoe {number}", "ok")], replace(PLACE, chat_id=f"c{number}"))
        assert await recall.refresh("") == 2 * (number + 1)
    await recall.close()
    await only_read.close()
