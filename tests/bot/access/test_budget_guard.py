"""What the guard sums up for its warnings: exactly the day's usage, from ever fewer rows."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.access.budget_guard import EXTEND_SECONDS, SETTLE_SECONDS, BudgetGuard
from bot.access.budgets import format_money, start_of_day, total_usage
from bot.access.permissions import Actor
from bot.access.storage_quota import StorageQuota
from bot.config.schema import Config
from channels.phrases import AnyPhrase
from memory.store.open import open_store
from memory.store.people.spending import OWNER, ModelUsage, Spending, SpendingQuery, SpendingTotals
from memory.store.rows import TurnRow, Usage
from memory.store.store import Store
from tests.by_night import examples
from tests.contracts.store_words import arrival, place, words

ADA = "telegram:bot:2"
ACTORS = {
    OWNER: Actor(channel="telegram", account="bot", id="1", role="owner"),
    ADA: Actor(channel="telegram", account="bot", id="2", role="user"),
}
MODEL, DEAR = "claude-sonnet-5-5", 500_000  # tokens that cost a dollar
ZONE = timezone(timedelta(hours=8))
START = datetime(2026, 11, 22, 22, 45, tzinfo=ZONE)
A_CENT = Config.model_validate(
    {"budgets": {"user": {"money_per_day": 0.01}, "total": {"money_per_day": 0.01}}}
)  # every check of a day with usage tells the sum


class Clock:
    """Wall and monotonic seconds; the wall clock can be set back."""

    def __init__(self) -> None:
        self.wall, self.monotonic = START.timestamp(), 0.0

    def passes(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.wall, UTC).astimezone(ZONE)


class CountingSpending(Spending):
    """Counts the rows of usage that are read: each is one call."""

    rows = 0

    async def load_totals(self, query: SpendingQuery) -> SpendingTotals:  # type: ignore[override]
        found = await super().load_totals(query)
        self.rows += _calls([*found.used, *found.whole])
        return found

    async def sum_of_person(self, who: str, since: float, until: float) -> list[ModelUsage]:  # type: ignore[override]
        found = await super().sum_of_person(who, since, until)
        self.rows += _calls(found)
        return found

    async def sum_by_person(self, since: datetime, who: str = "") -> list[ModelUsage]:  # type: ignore[override]
        found = await super().sum_by_person(since, who)
        self.rows += _calls(found)
        return found


def _calls(used: list[ModelUsage]) -> int:
    return sum(one.calls for one in used)


class World:
    """A store with a turn of each person, and processes that check it."""

    def __init__(self, store: Store, clock: Clock, turns: dict[str, TurnRow]) -> None:
        self.store, self.clock, self.turns = store, clock, turns
        self.warnings: list[str] = []

    def guard(self, spending: Spending | None = None) -> BudgetGuard:
        """What one more process checks with."""

        async def notify(channel: str, notice: AnyPhrase, key: str) -> None:
            self.warnings.append(str(notice))

        return BudgetGuard(
            spending or self.store.spending,
            lambda: A_CENT,
            self.clock.now,
            {},
            notify,
            cast(StorageQuota, None),
            lambda: self.clock.monotonic,
        )

    async def spend(self, who: str, dollars: int = 1) -> None:
        turn = self.turns[who]
        await self.store.sessions.spend(
            turn.conversation,
            [Usage(model=MODEL, input=DEAR * dollars, output=0, purpose="turn")],
            turn.id,
        )

    async def told(self, guard: BudgetGuard, who: str) -> str:
        """The sum that a check tells, "" for none."""
        self.warnings.clear()
        await guard.warn(ACTORS[who])
        assert len(self.warnings) <= 1
        found = re.search(r"(?:used |used up \()(US\$ [\d,.]*\d)", "".join(self.warnings))
        return found[1] if found else ""

    async def expected(self, who: str) -> str:
        """The same from all rows of the day."""
        rows = await self.store.spending.sum_by_person(
            start_of_day(self.clock.now()), OWNER if who == OWNER else ""
        )
        used = total_usage([row for row in rows if who == OWNER or row.who != OWNER])
        return format_money(used.money) if used.money else ""


@asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    clock = Clock()
    store = await open_store(folder / "mnema.db", clock=lambda: clock.wall)
    turns = {}
    for who in ACTORS:
        [row] = await store.delivery.accept([arrival(who, at=place(who))])
        turns[who] = await store.delivery.claim(row.id, words(), "u1", who=who)
    try:
        yield World(store, clock, turns)
    finally:
        await store.close()


def in_world(work: Callable[[World], Awaitable[None]]) -> None:
    async def run() -> None:
        with TemporaryDirectory() as folder:
            async with world(Path(folder)) as it:
                await work(it)

    asyncio.run(run())


people = st.sampled_from(sorted(ACTORS))
steps = st.one_of(
    st.tuples(st.just("spends"), people, st.integers(1, 3)),
    st.tuples(st.just("checks"), people, st.integers(0, 1)),  # the number of the process
    st.tuples(st.just("passes"), st.just(""), st.sampled_from([1, 9, 45, 61, 200, 4_000, 40_000])),
    st.tuples(st.just("set back"), st.just(""), st.sampled_from([5, 29, 90, 700, 40_000])),
)


@settings(max_examples=examples(25))
@given(done=st.lists(steps, min_size=5, max_size=40))
def test_every_warning_tells_the_sum_of_all_rows_of_the_day(
    done: list[tuple[str, str, int]],
) -> None:
    """Also after midnight, for what another process wrote, and when the clock is set back."""

    async def walk(it: World) -> None:
        guards = [it.guard(), it.guard()]
        for act, who, number in done:
            if act == "spends":
                await it.spend(who, number)
            elif act == "passes":
                it.clock.passes(number)
            elif act == "set back":
                it.clock.wall -= number
            else:
                assert await it.told(guards[number], who) == await it.expected(who)
        for guard in guards:
            for who in ACTORS:
                assert await it.told(guard, who) == await it.expected(who)

    in_world(walk)


def test_at_midnight_everything_starts_again() -> None:
    async def walk(it: World) -> None:
        guard = it.guard()
        for who in ACTORS:
            await it.spend(who)
            it.clock.passes(600)
            assert await it.told(guard, who) == "US$ 1.00"
        it.clock.passes(3_600)
        assert [await it.told(guard, who) for who in ACTORS] == ["", ""]
        await it.spend(OWNER, 2)
        assert [await it.told(guard, who) for who in ACTORS] == ["US$ 2.00", ""]

    in_world(walk)


def test_a_clock_that_was_set_back_long_before_the_check_leaves_nothing_out() -> None:
    """The wall clock is past the cached part again, so only the monotonic one tells."""

    async def walk(it: World) -> None:
        guard = it.guard()
        await it.spend(OWNER)
        it.clock.passes(600)
        assert await it.told(guard, OWNER) == "US$ 1.00"
        it.clock.wall -= 100
        await it.spend(OWNER)
        it.clock.passes(95)
        assert await it.told(guard, OWNER) == "US$ 2.00"

    in_world(walk)


def test_the_rows_a_check_reads_do_not_grow_with_the_day() -> None:
    """Ten rows or a thousand: after the first check only the newest are read."""

    async def read_after(it: World, rows: int) -> int:
        """The rows that five checks read, each after one more row, on a day with so many before."""
        it.clock.passes(24 * 3_600)
        spending = CountingSpending(it.store.database)
        guard = it.guard(spending)
        for _ in range(rows):
            await it.spend(OWNER)
        it.clock.passes(SETTLE_SECONDS + EXTEND_SECONDS + 1)
        await it.told(guard, OWNER)
        assert spending.rows == rows
        for _ in range(5):
            it.clock.passes(EXTEND_SECONDS / 4)
            await it.spend(OWNER)
            assert await it.told(guard, OWNER) == await it.expected(OWNER)
        return spending.rows - rows

    async def walk(it: World) -> None:
        assert [await read_after(it, rows) for rows in (10, 1_000)] == [1 + 2 + 3 + 4 + 5] * 2

    in_world(walk)
