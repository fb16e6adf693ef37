"""A MEMORY.md of thousands of hand-written lines: which get rows, in which transactions, at what
cost.
"""

from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from time import process_time, thread_time
from typing import Any, Concatenate

import pytest

from memory.longterm.memories import Memories, find_differences, memory_lines
from memory.longterm.memory_file import MemoryEdit, MemoryFileUnreadable, MemoryRevision
from memory.store.engine.database import Database, Driver, P, Result, T, Tx
from memory.store.errors import StoreBusy
from memory.store.longterm.memories import MemoryRecords
from memory.store.longterm.rows import MemoryRow, MemorySource
from tests.by_night import by_night
from tests.memory.longterm.remembering import Place, wanted

MOST_SECONDS = 0.05  # per transaction


class Counting:
    """A database that counts the lines of each write transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.sizes: list[int] = []
        self.most = 1_000
        """Number of transactions after which the disk is full."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(
        self,
        work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        if len(self.sizes) == self.most:
            raise StoreBusy("the disk is full")
        self.sizes.append(sum(len(lines) for lines in args if isinstance(lines, list | tuple)))
        return await self._database.write(work, *args, **kwargs)


class Written:
    """A driver that counts the rows that one transaction changes."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.rows = 0

    async def run(self, sql: str, parameters: list[Any]) -> Result:
        result = await self._driver.run(sql, parameters)
        self.rows += max(0, result.rowcount)
        return result


class Measured:
    """A database that measures each write transaction.

    took: CPU seconds of the database's thread; rows: how many were changed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.took: list[float] = []
        self.rows: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(
        self,
        work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        async def measured(tx: Tx) -> T:
            written = Written(tx.driver)
            begun = thread_time()
            result = await work(replace(tx, driver=written), *args, **kwargs)
            self.took.append(thread_time() - begun)
            self.rows.append(written.rows)
            return result

        return await self._database.write(measured)


def lines(count: int, words: str = "wants the delivery on a Monday") -> str:
    return "## Facts\n\n" + "".join(f"- Customer {number} {words}\n" for number in range(count))


def counted(place: Place) -> tuple[Memories, Counting]:
    database = Counting(place.store.memories._database)
    records = MemoryRecords(database)
    return Memories(
        "", records=records, workspace=place.workspace, similarity=lambda: 0.85
    ), database


async def test_no_transaction_is_about_more_than_a_hundred_lines(place: Place) -> None:
    memories, database = counted(place)
    place.write(lines(250))
    await memories.reconcile()
    place.write(lines(250, "wants the shipment on a Monday"))
    await memories.reconcile()
    place.write("## Facts\n\n- nothing else\n")
    await memories.reconcile()
    assert max(database.sizes) == 100
    assert await place.known() == ["nothing else"]


async def test_no_transaction_holds_the_database_longer_for_a_larger_file(place: Place) -> None:
    database = Measured(place.store.memories._database)
    records = MemoryRecords(database)
    spaces = (f"space{number}" for number in range(100))

    async def longest(count: int) -> float:
        database.took.clear()
        space = next(spaces)
        memories = Memories(
            space, records=records, workspace=place.workspace, similarity=lambda: 0.85
        )
        for text in (
            lines(count),
            "- nothing else\n",
            lines(count, "came back"),
            lines(count, "came back twice"),
        ):
            place.write(text, space)
            await memories.reconcile()
        return max(database.took)

    await longest(1)  # excludes one-time costs
    tries: list[tuple[float, float]] = []
    while len(tries) < 3 and not any(
        large < 2 * small and large < MOST_SECONDS for small, large in tries
    ):
        tries.append((await longest(300), await longest(1_200)))
    assert max(database.rows) == 100
    assert min(large / small for small, large in tries) < 2, tries
    assert min(large for _, large in tries) < MOST_SECONDS, tries


async def test_an_edit_of_the_whole_file_is_noted_in_parts(place: Place) -> None:
    memories, database = counted(place)
    place.write(lines(250))
    await memories.reconcile()
    rows = await memories.remove([row.norm for row in await memories.list(limit=0)], "api")
    assert len(rows) == 250
    assert max(database.sizes) == 100
    assert await place.known() == []


def reworded(count: int) -> tuple[str, MemoryEdit]:
    """Make a file, and a dream's edit that replaces each of its lines."""
    before = lines(count)
    after = before.replace("wants the delivery", "gets a shipment")
    old, new = memory_lines(before), memory_lines(after)
    live = tuple(
        replace(line, origin="dream", source=MemorySource(quote=line.text), importance=7)
        for line in new.values()
    )
    pairs = tuple(zip(old, new, strict=True))
    revision = MemoryRevision(text=after, live=live, superseded=pairs)
    return before, MemoryEdit(
        kind="dream", revise=lambda text: revision, about="d1", by_person=True
    )


async def test_each_of_more_than_a_hundred_replaced_lines_is_superseded_by_its_own(
    place: Place,
) -> None:
    memories, database = counted(place)
    before, edit = reworded(150)
    place.write(before)
    await memories.reconcile()
    change = await memories.apply(edit)
    assert change is not None
    assert (change.about, len(change.added), len(change.removed)) == ("d1", 150, 150)
    assert max(database.sizes) == 100
    rows = {row.text: row for row in await place.store.memories.rows("", state="")}
    heirs = {text: row.superseded_by for text, row in rows.items() if row.state == "superseded"}
    assert heirs == {
        f"Customer {n} wants the delivery on a Monday": rows[
            f"Customer {n} gets a shipment on a Monday"
        ].id
        for n in range(150)
    }
    assert [row.text for row in rows.values() if row.state == "gone"] == []


async def test_an_edit_of_many_lines_is_noted_once_all_of_its_lines_are(place: Place) -> None:
    memories, database = counted(place)
    before, edit = reworded(150)
    place.write(before)
    await memories.reconcile()
    database.most = len(database.sizes) + 2
    with pytest.raises(StoreBusy):
        await memories.apply(edit)
    assert await place.store.memories.changes("") == []


async def test_a_word_added_everywhere_leaves_every_line_its_record(place: Place) -> None:
    memories, _ = counted(place)
    place.write(lines(400))
    await memories.reconcile()
    before = {row.id for row in await place.store.memories.rows("")}
    place.write(lines(400, "wants the delivery on a Monday morning"))
    await memories.reconcile()
    after = await place.store.memories.rows("", state="")
    assert {row.id for row in after} == before
    assert {row.text for row in after} == {
        f"Customer {n} wants the delivery on a Monday morning" for n in range(400)
    }


def test_five_thousand_lines_get_a_record_and_the_others_are_counted() -> None:
    found = find_differences(lines(5_003), [])
    assert (len(found.new), found.left) == (5_000, 3)
    assert found.new[-1].text == "Customer 4999 wants the delivery on a Monday"
    rows = [
        known(number, f"customer {number} wants the delivery on a monday")
        for number in range(4_999)
    ]
    again = find_differences(lines(5_003), rows)
    assert ([line.text for line in again.new], again.left) == (
        ["Customer 4999 wants the delivery on a Monday"],
        3,
    )


@by_night
async def test_the_first_five_thousand_lines_have_a_record_and_all_stay_in_the_file(
    place: Place,
) -> None:
    memories, _ = counted(place)
    text = lines(5_001)
    place.write(text)
    await memories.reconcile()
    known = await place.known()
    assert len(known) == 5_000
    assert "Customer 4999 wants the delivery on a Monday" in known
    await memories.upsert(wanted("The gate code is 4711", origin="person"))
    assert "The gate code is 4711" in await place.known()
    assert place.text() == f"{text}- The gate code is 4711\n"


async def test_a_file_of_more_than_a_million_bytes_is_left_alone(place: Place) -> None:
    memories, _ = counted(place)
    place.write("- one\n")
    await memories.reconcile()
    text = "- one\n\n" + "x" * 999_993
    place.write(text)
    await memories.reconcile()
    place.write(f"{text}x")
    await memories.reconcile()
    with pytest.raises(MemoryFileUnreadable, match=r"1,000,001 bytes.*1,000,000"):
        await memories.upsert(wanted("two", origin="person"))
    assert place.text() == f"{text}x"
    assert await place.known() == ["one"]


async def test_the_records_follow_in_time_in_proportion_to_the_lines(place: Place) -> None:
    memories, _ = counted(place)

    async def took(count: int) -> float:
        place.write("")
        await memories.reconcile()
        place.write(lines(count, f"came {count} times"))
        begun = process_time()
        await memories.reconcile()
        return process_time() - begun

    assert await took(1_200) < 8 * await took(300) or await took(1_600) < 8 * await took(400)


def test_what_became_of_changed_lines_is_found_in_proportion_to_them() -> None:
    def took(count: int) -> float:
        rows = [known(number, f"Customer {number} likes tea") for number in range(count)]
        text = "## Facts\n\n" + "".join(f"- Customer {n} loves tea\n" for n in range(count))
        begun = thread_time()
        found = find_differences(text, rows)
        assert len(found.renamed) + len(found.new) == count
        return thread_time() - begun

    assert in_proportion(took)


def known(number: int, text: str) -> MemoryRow:
    at = datetime(2026, 11, 1, tzinfo=UTC)
    return MemoryRow(
        id=f"row{number}",
        space="",
        norm=text.casefold(),
        category="fact",
        text=text,
        importance=5,
        state="live",
        origin="file",
        source=MemorySource(),
        created=at,
        updated=at,
        used=None,
        uses=0,
    )


def in_proportion(took: Callable[[int], float]) -> bool:
    return any(took(1_200) < 8 * took(300) for _ in range(4))
