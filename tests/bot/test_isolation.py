"""After two deaths of the process a message runs alone, so that only the message that kills it is
given up.
"""

import asyncio
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.dispatch import CrashIsolation
from tests.by_night import examples

LONG = 60.0  # seconds that no test lasts


@dataclass(slots=True)
class Message:
    """What the record knows of one message. ticks: of work until its answer; poison: the process
    dies there instead.
    """

    name: str
    ticks: int
    poison: bool = False
    deaths: int = 0
    alone: int = 0
    ended: str = ""


@dataclass(slots=True)
class Life:
    """One process: a lane for each open message, and what it has at work. lasts: ticks until it is
    killed, 0: never.
    """

    messages: list[Message]
    lasts: int = 0
    at_work: dict[str, Message] = field(default_factory=dict)
    together: list[frozenset[str]] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    died: bool = False
    isolation: CrashIsolation = field(init=False)

    async def run(self) -> None:
        self.isolation = CrashIsolation(self.wake, LONG)
        for message in self.messages:
            if not message.ended:
                self.wake(message.name)
        ticks = 0
        while not self.died and any(not message.ended for message in self.messages):
            await asyncio.sleep(0)
            ticks += bool(self.at_work)
            self.died = self.died or 0 < self.lasts <= ticks
        for task in self.tasks:
            task.cancel()
        if self.died:
            for message in self.at_work.values():
                message.deaths += 1
                message.alone += len(self.at_work) == 1
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def wake(self, name: str) -> None:
        self.tasks.add(
            asyncio.create_task(self.lane(next(one for one in self.messages if one.name == name)))
        )

    async def lane(self, message: Message) -> None:
        if message.ended or not await self.isolation.enter(message.name, message.deaths):
            return
        if message.alone >= 3:
            message.ended = "given up"
        else:
            self.at_work[message.name] = message
            self.together.append(frozenset(self.at_work))
            for _ in range(message.ticks):
                await asyncio.sleep(0)
            if message.poison:
                self.died = True
                await asyncio.Event().wait()
            del self.at_work[message.name]
            message.ended = "answered"
        self.isolation.leave(message.name)


async def lives_of(messages: list[Message], kills: list[int]) -> int:
    """So many lives until every message is at its end. kills: ticks after which each life is
    killed; 0 for never.
    """
    suspects: set[str] = set()
    for number in range(1, 200):
        life = Life(messages, kills[number - 1] if number <= len(kills) else 0)
        suspects = {message.name for message in messages if message.deaths >= 2}
        async with asyncio.timeout(LONG):
            await life.run()
        for group in life.together:
            assert len(group) == 1 or not group & suspects, f"a suspect had company: {group}"
        if all(message.ended for message in messages):
            return number
    raise AssertionError(f"no end: {messages}")


some = st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=7)


@settings(max_examples=examples(150), deadline=None)
@given(some)
def test_only_what_the_process_dies_of_is_given_up_and_everybody_else_is_answered(
    made: list[tuple[int, bool]],
) -> None:
    messages = [Message(f"m{at}", ticks, poison) for at, (ticks, poison) in enumerate(made)]
    poisons = sum(message.poison for message in messages)
    lives = asyncio.run(lives_of(messages, []))
    for message in messages:
        assert message.ended == ("given up" if message.poison else "answered")
        assert message.alone == (3 if message.poison else 0)
    assert lives <= 1 + 5 * poisons


@settings(max_examples=examples(150), deadline=None)
@given(some, st.lists(st.integers(1, 12), max_size=60))
def test_whatever_kills_the_process_each_message_comes_to_its_end(
    made: list[tuple[int, bool]], kills: list[int]
) -> None:
    messages = [Message(f"m{at}", ticks, poison) for at, (ticks, poison) in enumerate(made)]
    lives = asyncio.run(lives_of(messages, kills))
    assert lives <= 1 + 5 * len(messages)
    for message in messages:
        assert message.ended == "answered" or message.alone == 3
        assert message.ended == "given up" or not message.poison


def test_lives_that_are_longer_than_a_turn_cost_nobody_an_answer() -> None:
    messages = [Message(f"m{at}", 5) for at in range(40)]
    asyncio.run(lives_of(messages, [12] * 100))
    assert {message.ended for message in messages} == {"answered"}


class _Hall:
    """An Isolation whose comings and goings are watched."""

    def __init__(self, alone_seconds: float = LONG) -> None:
        self.woken: asyncio.Queue[str] = asyncio.Queue()
        self.isolation = CrashIsolation(self.woken.put_nowait, alone_seconds)

    def coming(self, name: str, deaths: int) -> asyncio.Task[bool]:
        return asyncio.create_task(self.isolation.enter(name, deaths))


async def rest() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_who_waits_for_a_suspect_gets_in_before_the_next_one() -> None:
    hall = _Hall()
    assert await hall.coming("first", 2)
    assert not await hall.coming("second", 2)
    fresh = [hall.coming(name, 0) for name in ("a", "b")]
    await rest()
    assert not any(task.done() for task in fresh)
    hall.isolation.leave("first")
    assert await hall.woken.get() == "second"
    second = hall.coming("second", 2)
    await rest()
    assert [task.done() for task in (*fresh, second)] == [True, True, False]
    late = hall.coming("late", 1)
    hall.isolation.leave("a")
    await rest()
    assert not second.done()
    hall.isolation.leave("b")
    assert await second
    await rest()
    assert not late.done()
    hall.isolation.leave("second")
    assert await late


async def test_what_another_message_waits_for_gets_in_beside_a_suspect_unless_it_is_one() -> None:
    hall = _Hall()
    assert await hall.coming("suspect", 2)
    fresh = hall.coming("fresh", 1)
    async with asyncio.timeout(LONG):
        assert await hall.isolation.enter("sub-agent", 1, is_awaited=True)
        assert not await hall.isolation.enter("suspicious sub-agent", 2, is_awaited=True)
    assert not fresh.done()
    hall.isolation.leave("suspect")
    hall.isolation.leave("sub-agent")
    assert await fresh


async def test_a_suspect_that_takes_long_keeps_the_others_waiting_only_for_its_time() -> None:
    hall = _Hall(0.02)
    assert await hall.coming("slow", 2)
    async with asyncio.timeout(LONG):
        assert await hall.coming("fresh", 0)
    hall.isolation.leave("slow")
    hall.isolation.leave("fresh")
    assert await hall.coming("next", 5)


async def test_a_suspect_that_cannot_be_alone_in_its_time_is_worked_on_all_the_same() -> None:
    hall = _Hall(0.02)
    assert await hall.coming("slow", 0)
    async with asyncio.timeout(LONG):
        assert await hall.coming("suspect", 2)
        assert await hall.coming("fresh", 0)


async def test_the_wait_until_a_suspect_is_alone_grows_with_no_death() -> None:
    hall = _Hall(0.02)
    assert await hall.coming("slow", 0)
    async with asyncio.timeout(10):  # 2 ** 10 times 0.02 s are more than that
        assert await hall.coming("suspect", 12)
        assert await hall.coming("fresh", 0)


async def test_what_is_known_of_a_suspect_may_be_old_when_it_gets_in_also_where_it_finds_nobody() -> (  # noqa: E501
    None
):
    hall = _Hall()
    assert hall.isolation.holds_up(2)  # others get in while it gives way to them
    assert not hall.isolation.holds_up(1)
    suspect = hall.coming("suspect", 2)
    fresh = hall.coming("fresh", 0)
    await rest()
    assert [suspect.done(), fresh.done()] == [False, True]
    hall.isolation.leave("fresh")
    assert await suspect


async def test_a_suspect_that_is_called_and_does_not_come_keeps_nobody() -> None:
    hall = _Hall()
    assert await hall.coming("first", 2)
    for name in ("gone", "there"):
        assert not await hall.coming(name, 2)
    hall.isolation.leave("first")
    async with asyncio.timeout(LONG):
        assert [await hall.woken.get() for _ in range(2)] == ["gone", "there"]
        assert await hall.coming("there", 2)


async def test_a_suspect_that_is_stopped_while_it_waits_lets_the_others_go_on() -> None:
    hall = _Hall()
    assert await hall.coming("busy", 0)
    suspect = hall.coming("suspect", 2)
    await rest()
    fresh = hall.coming("fresh", 0)
    suspect.cancel()
    async with asyncio.timeout(LONG):
        assert await fresh


def test_a_suspect_that_died_alone_waits_until_the_process_has_lived_for_a_while() -> None:
    isolation = CrashIsolation(lambda _: None, LONG, calm_seconds=100.0)
    assert isolation.seconds_until_allowed("a", deaths=1, alone=1, age=0.0) == 0.0
    assert isolation.seconds_until_allowed("b", deaths=2, alone=0, age=0.0) == 0.0
    assert isolation.seconds_until_allowed("first", deaths=2, alone=1, age=0.0) == 0.0
    assert 90.0 < isolation.seconds_until_allowed("second", deaths=2, alone=1, age=0.0) <= 100.0
    assert 190.0 < isolation.seconds_until_allowed("third", deaths=9, alone=2, age=1_800.0) <= 200.0
    assert isolation.seconds_until_allowed("third", deaths=9, alone=2, age=1_801.0) == 0.0
    assert isolation.seconds_until_allowed("first", deaths=2, alone=2, age=0.0) == 0.0
    none = CrashIsolation(lambda _: None, LONG, calm_seconds=0.0)
    assert [
        none.seconds_until_allowed(name, deaths=2, alone=2, age=0.0) for name in ("first", "second")
    ] == [0.0, 0.0]
