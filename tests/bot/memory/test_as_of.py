"""Memory as of a day: a year of a life in which many facts change, asked about on any day."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from bot.models.base import Request
from memory.longterm.memories import MemoryCandidate
from memory.longterm.similarity import normalize_key
from memory.recall.documents import Passage, SearchRequest
from tests.bot.inside import Inside, inside
from tests.by_night import IS_NIGHT

FIRST = date(2025, 11, 1)
DAYS = 365
COUNT = 50 if IS_NIGHT else 10  # of the things whose codes change
THINGS = (
    *("locker", "garage", "piano", "bicycle", "boiler", "dentist", "gym", "library", "orchard"),
    *("kennel", "attic", "cellar", "printer", "telescope", "violin", "greenhouse", "fridge"),
    *("tent", "canoe", "safe", "shed", "stove", "camera", "drone", "lamp", "router", "scooter"),
    *("sauna", "turntable", "typewriter", "umbrella", "vault", "wardrobe", "yacht", "zither"),
    *("anvil", "banjo", "cabin", "dinghy", "easel", "ferry", "guitar", "harp", "igloo", "jeep"),
    *("kiln", "ladder", "mill", "nursery", "oven"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """On a day one thing's code becomes another one."""

    day: date
    thing: str
    code: int
    former: int

    @property
    def line(self) -> str:
        return f"The code of the {self.thing} is {self.code}"


def life() -> Iterator[Change]:
    """Each thing gets a code in the first months, and another one later in the year."""
    for at, thing in enumerate(THINGS[:COUNT]):
        first, second = 1_000 + at, 5_000 + at
        yield Change(day=FIRST + timedelta(days=at * 2), thing=thing, code=first, former=0)
        changed = FIRST + timedelta(days=110 + at * 5)
        yield Change(day=changed, thing=thing, code=second, former=first)


CHANGES = sorted(life(), key=lambda change: (change.day, change.thing))


class Clock:
    def __init__(self) -> None:
        self.set(FIRST)

    def set(self, day: date, hour: int = 10) -> None:
        self.now = datetime(day.year, day.month, day.day, hour, tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def answer(_: Request) -> str:
    return "Noted."


async def live(here: Inside, clock: Clock) -> None:
    """A year: each change is said and noted on its day; every fourth one is written to the log."""
    memories = here.bot.memories("")
    for number, change in enumerate(CHANGES):
        clock.set(change.day)
        await here.text(f"{change.line}.", chat=f"c{number % 7}")
        former = normalize_key(f"The code of the {change.thing} is {change.former}")
        await memories.upsert(
            MemoryCandidate(
                category="fact",
                text=change.line,
                origin="person",
                replaces=(former,) if change.former else (),
            )
        )
        clock.set(change.day + timedelta(days=1), 0)
        if not number % 4:
            await here.bot.log_ended_days()
    clock.set(FIRST + timedelta(days=DAYS))


async def ask(here: Inside, day: date, thing: str) -> list[Passage]:
    request = SearchRequest(
        space="",
        query=f"What is the code of the {thing}?",
        now=here.bot.now(),
        limit=10,
        as_of=day.isoformat(),
    )
    return await here.bot.recall.search(request)


def code_on(day: date, thing: str) -> int:
    """The code of a thing at the end of a day, 0 for none."""
    codes = [change.code for change in CHANGES if change.thing == thing and change.day <= day]
    return codes[-1] if codes else 0


SETTINGS = {"timezone": "UTC", "memory": {"extract": False}, "language": "en"}


async def test_a_year_of_changing_facts_is_answered_as_of_any_day_and_forgotten_at_all(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with inside(tmp_path, answer, SETTINGS, clock=clock) as here:
        await live(here, clock)
        for change in CHANGES:
            for day in (
                change.day - timedelta(days=1),
                change.day,
                change.day + timedelta(days=30),
            ):
                found = await ask(here, day, change.thing)
                facts = [passage for passage in found if passage.kind == "memory"]
                wanted = code_on(day, change.thing)
                if wanted:
                    assert facts[0].words == f"The code of the {change.thing} is {wanted}"
                else:
                    assert all(change.thing not in fact.words for fact in facts)
                assert all(passage.date <= day.isoformat() for passage in found), "no later word"
        await here.text("/forget locker")
        await here.text("/forget yes")
        await here.bot.settled()
        for day in (FIRST + timedelta(days=at) for at in range(0, DAYS + 1, 9)):
            told = [passage.text for passage in await ask(here, day, "locker")]
            assert not [text for text in told if "locker" in text]
            assert not [text for text in told if "1000" in text or "5000" in text]
        assert (await ask(here, FIRST + timedelta(days=100), "garage"))[0].words.endswith("1001")


async def test_a_line_that_a_person_rewords_or_removes_is_known_as_it_was(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, answer, SETTINGS, clock=clock) as here:
        memories, file = here.bot.memories(""), tmp_path / "workspace" / "MEMORY.md"
        await here.text("/remember My sister Ines lives in the old part of Porto")
        clock.set(FIRST + timedelta(days=10))
        file.write_text(file.read_text().replace("part of Porto", "part of Porto, Portugal"))
        await memories.reconcile()
        clock.set(FIRST + timedelta(days=20))
        line = next(text for text in file.read_text().splitlines() if "Ines" in text)
        file.write_text(file.read_text().replace(f"{line}\n", ""))
        await memories.reconcile()
        clock.set(FIRST + timedelta(days=30))
        await here.text("/remember My sister Ines lives in the old part of Porto, Portugal")
        clock.set(FIRST + timedelta(days=40))
        for days, wanted in ((5, "Porto"), (15, "Porto, Portugal"), (25, ""), (35, "Portugal")):
            day = FIRST + timedelta(days=days)
            found = [one.words for one in await ask(here, day, "sister Ines who lives")]
            facts = [text for text in found if text.startswith("My sister Ines lives in the old")]
            assert [text.endswith(wanted) for text in facts] == ([True] if wanted else []), days


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("/memory as of 2 Nov garage code", "As of 2025-11-02, nothing in memory matches"),
        ("/memory as of 4 Nov 2025 garage code", "The code of the garage is 1001"),
        ("/记忆 截至 2025年11月4日 garage code", "**截至 2025-11-04 所知**"),
        ("/记忆 截至2025年11月4日 garage code", "[2025-11-03 –] The code of the garage is 1001"),
        ("/memory as of 4 Nov", "1. [2025-11-03 –] The code of the garage is 1001"),
        ("/memory as of 4 November 2031 garage", "2031-11-04 has not come yet"),
        ("/memory as of the garage", "Name a day"),
        ("/memory as of", "Name a day"),
    ],
)
async def test_the_command_reads_the_day_in_words(tmp_path: Path, command: str, told: str) -> None:
    clock = Clock()
    settings = SETTINGS | ({"language": "auto"} if "记忆" in command else {})
    async with inside(tmp_path, answer, settings, clock=clock) as here:
        clock.set(date(2025, 11, 3))
        await here.text("/remember The code of the garage is 1001")
        clock.set(date(2025, 12, 1))
        assert told in await here.text(command)


async def test_why_explains_a_result_of_that_list(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, answer, SETTINGS, clock=clock) as here:
        clock.set(date(2025, 11, 3))
        await here.text("/remember The code of the garage is 1001")
        clock.set(date(2025, 12, 1))
        await here.text("/memory as of 4 Nov garage code")
        assert "2025-11-03" in await here.text("/memory why 1")
