"""SIGKILL at random moments, under load: whatever was confirmed comes to a visible end, once and in
order.

The record is SQLite's file, or PostgreSQL's, where what a killed process held is void once its
lease is over.
"""

import asyncio
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.walk.chats import Chatter, given_up, told_interrupted
from tests.walk.harness import COUSIN, FRIEND, OWNER, Scene, scene, until
from tests.walk.oracle import Oracle, Writer
from tests.walk.record import ledger_faults, query, unended
from tests.walk.speech import hesitant

# Literals, so that the product is not compared with itself.
LEASE_SECONDS = 5.0

pytestmark = pytest.mark.kill
KILLS = int(os.environ.get("MNEMA_KILLS", "4"))
SEED = int(os.environ.get("MNEMA_SEED", "0")) or time.time_ns() % 1_000_000
CONVERSATIONS = ("home", "work", "garden")
PEOPLE = (OWNER, FRIEND, COUSIN)
EARLIEST, LATEST = 0.010, 0.800
# Share of kills that come while the program starts and recovers; of those that wait until the model
# is asked.
STARTING, WARM = 0.15, 0.5
LONGEST_START = 0.2
APART = 3.0  # seconds between two kills of a machine that is restarted again and again
MOST_GIVEN_UP = 0.05  # share of the messages that may end in a notice under such kills
# On PostgreSQL: how many kills, as each takes longer there; share of lives that go on with the
# turns of the one before.
KILLS_ON_POSTGRES, OUTLIVE = int(os.environ.get("MNEMA_KILLS", "2")), 0.25


@dataclass(slots=True)
class Tally:
    """What the kills hit."""

    kills: int = 0
    while_starting: int = 0
    in_flight: int = 0


async def kill_once(
    talk: Scene, random_: random.Random, tally: Tally, outlive: float = 0.0
) -> None:
    """Start, and end the process at some moment. outlive: share of lives that last until the one
    before is given up.
    """
    bot, asked, kind = talk.bot, len(talk.model.requests), random_.random()
    await bot.spawn()
    tally.kills += 1
    if kind < STARTING:
        tally.while_starting += 1
        await asyncio.sleep(random_.uniform(0, LONGEST_START))
    else:
        await bot.until_ready()
        if kind > 1 - WARM:
            await until(
                lambda: len(talk.model.requests) > asked or not bot.alive, "the model is asked"
            )
        await asyncio.sleep(random_.uniform(EARLIEST, LATEST))
        if random_.random() < outlive:
            await asyncio.sleep(random_.uniform(LEASE_SECONDS - 1.0, LEASE_SECONDS + 1.0))
    await bot.kill()
    tally.in_flight += bool(unended(bot.db))


async def kill_after(talk: Scene, seconds: float, tally: Tally) -> None:
    """Start, and end the process so long after that."""
    await talk.bot.spawn()
    tally.kills += 1
    ready = asyncio.create_task(talk.bot.until_ready())
    await asyncio.sleep(seconds)
    tally.while_starting += not ready.done()
    await talk.bot.kill()
    await asyncio.gather(ready, return_exceptions=True)
    tally.in_flight += bool(unended(talk.bot.db))


async def at_rest(talk: Scene, oracle: Oracle, chatters: Sequence[Chatter]) -> None:
    """Everything that was begun is confirmed, answered and sent."""

    async def still_open() -> list[Any]:
        chats = [token for chatter in chatters for token in chatter.open_ones]
        return [*chats, *await oracle.open_ones(talk.web), *unended(talk.bot.db)]

    async def quiet() -> bool:
        await talk.bot.revive()
        return not await still_open()

    try:
        await until(quiet, "every message has its answer", 180)
    except AssertionError as err:
        raise AssertionError(f"{err}: {await still_open()}; {talk.bot.complaints()}") from None


async def test_nothing_is_lost_doubled_or_out_of_order_however_often_the_process_is_killed(
    tmp_path: Path,
) -> None:
    await walk(tmp_path, KILLS)


@pytest.mark.postgres
async def test_the_same_on_postgresql_where_the_next_life_outlives_the_lease_of_the_last(
    tmp_path: Path, db: str
) -> None:
    await walk(tmp_path, KILLS_ON_POSTGRES, db.replace("postgresql", "postgresql+psycopg", 1))


@by_night
async def test_kills_three_seconds_apart_leave_hardly_anybody_without_an_answer(
    tmp_path: Path,
) -> None:
    await walk(tmp_path, min(KILLS, 300), apart=APART)


async def walk(home: Path, kills: int, database_url: str = "", apart: float = 0.0) -> None:
    """So many lives, and the verdict at the end of the last. apart: seconds between two kills, 0
    for moments.
    """
    others: dict[str, Any] = {"agent_max_context_turns": 6}
    if database_url:
        others |= {"database_url": database_url, "provider": "openai"}
    print(f"seed {SEED}, {kills} kills (MNEMA_SEED, MNEMA_KILLS)")
    random_, tally, oracle = random.Random(SEED), Tally(), Oracle()
    model = ModelEmulator(responder=hesitant(random.Random(SEED), 2.0 if apart else 0.12))
    async with TelegramEmulator() as telegram, scene(home, model, telegram.url, **others) as talk:
        writers = [
            Writer(oracle, talk.web, name, random.Random(SEED + at))
            for at, name in enumerate(CONVERSATIONS)
        ]
        chatters = [
            Chatter(telegram, int(user), random.Random(SEED + int(user)), talk.bot.db)
            for user in PEOPLE
        ]
        writing = asyncio.gather(*(person.run() for person in (*writers, *chatters)))
        try:
            while tally.kills < kills:
                if apart:
                    await kill_after(talk, random_.uniform(0.5, 1.5) * apart, tally)
                else:
                    await kill_once(talk, random_, tally, OUTLIVE if database_url else 0.0)
            for person in (*writers, *chatters):
                person.enough.set()
            await talk.bot.start()
            await writing
        finally:
            writing.cancel()
        await at_rest(talk, oracle, chatters)
        await until(lambda: _all_shown(oracle, writers), "every open page shows every answer")
        faults = [*await oracle.faults(talk.web), *await ledger_faults(talk.bot.db)]
        faults += [fault for chatter in chatters for fault in chatter.faults()]
        print(
            f"{tally}, web: {len(oracle.confirmed)} messages in {oracle.tries} tries, telegram: "
            f"{_told(chatters)}"
        )
        gone, told = given_up(talk.bot.db), told_interrupted(talk.bot.db)
        print(
            f"two kills on the way of an answer: {len(gone)}; three kills of a turn, told so: "
            f"{len(told)}"
        )
        said = len(oracle.confirmed) + sum(len(chatter.said) for chatter in chatters)
        dead = query(talk.bot.db, "SELECT id FROM inbox WHERE state = 'dead'")
        print(f"given up: {len(dead)} of {said} messages")
        if apart and len(dead) > said * MOST_GIVEN_UP:
            faults.append(f"{len(dead)} of {said} messages were given up")
        for writer in writers:
            if writer.page:
                faults += _page_faults(writer)
                await writer.page.close()
        assert not faults, f"seed {SEED}: {faults}"
        assert await talk.bot.term() == 0


def _told(chatters: Sequence[Chatter]) -> str:
    said, answers = (
        sum(len(one.said) for one in chatters),
        sum(len(one.answered) for one in chatters),
    )
    return f"{said} messages, {answers} answers seen"


def _all_shown(oracle: Oracle, writers: Sequence[Writer]) -> bool:
    shown = {id for writer in writers if writer.page for id in writer.page.replies}
    return set(oracle.confirmed) <= shown


def _page_faults(writer: Writer) -> list[str]:
    """What a person saw on the open page: each answer once, in order."""
    assert writer.page
    replies = writer.page.replies
    asked = [line["id"] for line in writer.page.shown.values() if line["name"] == "accepted"]
    doubled = [f"shown twice: {id}" for id in set(replies) if replies.count(id) > 1]
    wrong = (
        [] if replies == sorted(replies, key=asked.index) else [f"shown out of order: {replies}"]
    )
    return [*doubled, *wrong]
