"""SIGKILL at random moments, under load: whatever was confirmed comes to a visible end, once and in order."""

import asyncio
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.emulators.model import ModelEmulator
from tests.walk.harness import Scene, scene, until
from tests.walk.oracle import Oracle, Writer
from tests.walk.record import ledger_faults, unended
from tests.walk.speech import hesitant

pytestmark = pytest.mark.kill
KILLS = int(os.environ.get("MNEMA_KILLS", "12"))
SEED = int(os.environ.get("MNEMA_SEED", "0")) or time.time_ns() % 1_000_000
CONVERSATIONS = ("home", "work", "garden")
EARLIEST, LATEST = 0.010, 0.500
STARTING = 0.15
"""Share of kills that come while the program starts and recovers."""


@dataclass(slots=True)
class Tally:
    """What the kills hit."""

    kills: int = 0
    while_starting: int = 0
    in_flight: int = 0


async def kill_once(talk: Scene, random_: random.Random, tally: Tally) -> None:
    """Start, and end the process at some moment."""
    bot = talk.bot
    await bot.spawn()
    tally.kills += 1
    if random_.random() < STARTING:
        tally.while_starting += 1
        await asyncio.sleep(random_.uniform(0.2, 1.5))
    else:
        await bot.until_ready()
        await asyncio.sleep(random_.uniform(EARLIEST, LATEST))
    await bot.kill()
    if bot.db.exists():
        tally.in_flight += bool(unended(bot.db))


async def at_rest(talk: Scene, oracle: Oracle, writing: asyncio.Future[list[None]]) -> None:
    """The last life: everything that was begun is confirmed, answered and sent."""
    await talk.bot.start()
    await writing

    async def quiet() -> bool:
        return not await oracle.open_ones(talk.web) and not unended(talk.bot.db)

    await until(quiet, "every message has its answer", 120)


async def test_nothing_is_lost_doubled_or_out_of_order_however_often_the_process_is_killed(tmp_path: Path) -> None:
    print(f"seed {SEED}, {KILLS} kills (MNEMA_SEED, MNEMA_KILLS)")
    random_ = random.Random(SEED)
    model = ModelEmulator(responder=hesitant(random.Random(SEED), 0.12))
    tally, oracle = Tally(), Oracle()
    async with scene(tmp_path, model, agent_max_context_turns=6) as talk:
        writers = [Writer(oracle, talk.web, name, random.Random(SEED + at)) for at, name in enumerate(CONVERSATIONS)]
        writing = asyncio.gather(*(writer.run() for writer in writers))
        while tally.kills < KILLS:
            await kill_once(talk, random_, tally)
        for writer in writers:
            writer.enough.set()
        await at_rest(talk, oracle, writing)
        await until(lambda: _all_shown(oracle, writers), "every open page shows every answer")
        faults = [*await oracle.faults(talk.web), *await ledger_faults(talk.bot.db)]
        print(f"{tally}, {len(oracle.confirmed)} messages in {oracle.tries} tries")
        for writer in writers:
            if writer.page:
                faults += _page_faults(writer)
                await writer.page.close()
        assert not faults, f"seed {SEED}: {faults}"
        assert await talk.bot.term() == 0


def _all_shown(oracle: Oracle, writers: Sequence[Writer]) -> bool:
    shown = {id for writer in writers if writer.page for id in writer.page.replies}
    return set(oracle.confirmed) <= shown


def _page_faults(writer: Writer) -> list[str]:
    """What a person saw on the open page: each answer once, in order."""
    assert writer.page
    replies = writer.page.replies
    asked = [line["id"] for line in writer.page.shown.values() if line["name"] == "accepted"]
    doubled = [f"shown twice: {id}" for id in set(replies) if replies.count(id) > 1]
    wrong = [] if replies == sorted(replies, key=asked.index) else [f"shown out of order: {replies}"]
    return [*doubled, *wrong]
