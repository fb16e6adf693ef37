"""SIGKILL at random moments, on platforms that repeat, reorder and lose: whoever writes there is
answered.

The record is SQLite's file, or PostgreSQL's, where what a killed process held is void once its
lease is over.
"""

import asyncio
import contextlib
import os
import random
import sys
import time
from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.walk.channel_people import Person, talker
from tests.walk.channel_worlds import WORLDS, World, configured, remember
from tests.walk.chats import given_up, told_interrupted
from tests.walk.harness import Bot, until
from tests.walk.oracle import unfounded_notices
from tests.walk.record import ledger_faults, query, unended
from tests.walk.test_kill_random import LEASE_SECONDS, OUTLIVE

pytestmark = pytest.mark.kill
KILLS = int(os.environ.get("MNEMA_KILLS", "1"))
SEED = int(os.environ.get("MNEMA_SEED", "0")) or time.time_ns() % 1_000_000
EARLIEST, LATEST = 0.010, 0.800
# Share of kills that come while the program starts; of those that wait for the first call of the
# model.
STARTING, WARM = 0.15, 0.5
LONGEST_START = 0.2
# Seconds that are waited at most for the start, and for the model to be asked: the kill comes all
# the same.
READY, WARMING = 15.0, 3.0
LAST_START = 180.0
# Seconds between two reminders of people who wait for an answer, and how many of them may come to
# nothing at most.
REST, REMINDERS = 20.0, 10
LONGEST_ANSWER = 0.12


@dataclass(slots=True)
class Tally:
    """What the kills hit. asking: lives in which the model was asked; in_flight: kills that left
    something undone.
    """

    kills: int = 0
    while_starting: int = 0
    asking: int = 0
    in_flight: int = 0


async def kill_once(
    bot: Bot, model: ModelEmulator, people: Sequence[Person], chance: random.Random, tally: Tally
) -> None:
    """Start, and end the process at some moment.

    Of those that are not killed while they start, a share waits until the model is asked: on
    PostgreSQL that may be only when the life before is given up.
    """
    asked, kind = len(model.requests), chance.random()
    await bot.spawn()
    tally.kills += 1
    if kind < STARTING:
        tally.while_starting += 1
        await asyncio.sleep(chance.uniform(0, LONGEST_START))
    else:
        await within(READY, bot.until_ready())
        share, longest = (OUTLIVE, LEASE_SECONDS + WARMING) if bot.record else (WARM, WARMING)
        if kind > 1 - share:
            await within(longest, until(lambda: len(model.requests) > asked, "the model is asked"))
        await asyncio.sleep(chance.uniform(EARLIEST, LATEST))
    await bot.kill()
    tally.asking += len(model.requests) > asked
    note_losses(people)
    tally.in_flight += bool(unended(bot.db))


def note_losses(people: Sequence[Person]) -> None:
    """Let each person note what died with the process; call it while none is alive."""
    for person in people:
        person.note_losses()


async def started(bot: Bot) -> None:
    """Wait for the last life to be ready, however busy the machine is."""
    async with asyncio.timeout(LAST_START):
        while True:
            with contextlib.suppress(TimeoutError):
                return await bot.until_ready()


async def within(seconds: float, wait: Awaitable[Any]) -> None:
    """Wait, but not for longer: nobody may be asking anything at the moment."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(wait, seconds)


async def at_rest(bot: Bot, world: World, people: Sequence[Person]) -> None:
    """Everything that was said is confirmed, answered and sent; waited for as long as it becomes
    less.
    """

    def still_open() -> list[Any]:
        missing = [part for person in people for part in sorted(person.unanswered())]
        return [*world.unconfirmed(), *missing, *unended(bot.db)]

    async def quiet() -> bool:
        await bot.revive()
        return not still_open()

    in_vain, fewest = 0, sys.maxsize
    while in_vain < REMINDERS:
        with contextlib.suppress(AssertionError):
            return await until(quiet, "every message has its answer", REST)
        in_vain, fewest = (
            (0, left) if (left := len(still_open())) < fewest else (in_vain + 1, fewest)
        )
        for person in people if world.rationed else ():
            if person.unanswered():
                person.say()
    raise AssertionError(f"not at rest: {still_open()}; {bot.complaints()}")


def worlds(names: Collection[str]) -> list[Any]:
    """All worlds as parameters of a test, those of these names for the night only."""
    return [pytest.param(name, marks=by_night) if name in names else name for name in WORLDS]


@pytest.mark.parametrize("name", worlds({name for name in WORLDS if name.endswith("-webhook")}))
async def test_whoever_writes_there_is_answered_however_often_the_process_is_killed(
    tmp_path: Path, name: str
) -> None:
    await walk(tmp_path, WORLDS[name](), KILLS)


@pytest.mark.postgres
@pytest.mark.parametrize("name", worlds({*WORLDS} - {"feishu"}))
async def test_the_same_on_postgresql_where_the_next_life_outlives_the_lease_of_the_last(
    tmp_path: Path, db: str, name: str
) -> None:
    await walk(tmp_path, WORLDS[name](), KILLS, db.replace("postgresql", "postgresql+psycopg", 1))


async def walk(home: Path, world: World, kills: int, database_url: str = "") -> None:
    """So many lives, and the verdict at the end of the last. database_url: "" for SQLite's file."""
    print(f"{world.name}: seed {SEED}, {kills} kills (MNEMA_SEED, MNEMA_KILLS)")
    chance, tally = random.Random(SEED), Tally()
    model = ModelEmulator(responder=talker(random.Random(SEED), LONGEST_ANSWER, world.limit))
    async with world, model:
        bot = Bot(home, {**configured(world, model), "database_url": database_url})
        await remember(bot, world)
        people = [Person(world, id, bot.db, random.Random(f"{SEED} {id}")) for id in world.people]
        writing = asyncio.gather(*(person.run() for person in people))
        try:
            while tally.kills < kills:
                await kill_once(bot, model, people, chance, tally)
            world.calm()
            for person in people:
                person.enough.set()
            await writing
            note_losses(people)
            await bot.spawn()
            await started(bot)
            await at_rest(bot, world, people)
            faults = [fault for person in people for fault in person.faults()]
            faults += [*await ledger_faults(bot.db), *unfounded_notices(bot.db, model)]
            print(f"{tally}; {figures(people, bot)}")
            assert not faults, f"seed {SEED}: {faults}"
            assert await bot.term() == 0
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            if bot.alive:
                await bot.kill()


def figures(people: Sequence[Person], bot: Bot) -> str:
    """How much was said, and what the kills cost."""
    said = sum(len(person.said) for person in people)
    seen = [part for person in people for part in person.seen]
    marked = sum(mark for _, mark in seen)
    (rows,) = query(bot.db, "SELECT COUNT(*) FROM outbox WHERE state = 'sent'")
    never = sum(len(person.never_stored()) for person in people)
    return (
        f"{said} messages, {len(seen)} parts seen, {marked} of them marked, {rows[0]} rows sent, "
        f"{never} died with a process, {len(given_up(bot.db))} given up by us, "
        f"{len(told_interrupted(bot.db))} told as interrupted"
    )
