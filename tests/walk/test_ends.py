"""A process that was told to end does so in its time, whatever becomes of its way to the database
meanwhile.
"""

import asyncio
import signal
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Reply
from tests.walk.harness import Bot, until
from tests.walk.processes import several
from tests.walk.record import query, unended
from tests.walk.speech import answer, asked
from tests.walk.wire import Wire

# Literals, so that the product is not compared with itself.
END_SECONDS = 28.0
GONE = 75

pytestmark = [pytest.mark.kill, pytest.mark.postgres]
STALLED = Reply(text="never heard to its end " * 9, then="stall", after=2)
SLACK = 5.0
MOMENTS = (0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)  # seconds after it was told
NIGHT = [
    (role, how, after)
    for role in ("worker", "gateway")
    for how in ("cut", "deafen")
    for after in MOMENTS
]
_OTHERS = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.mark.parametrize(
    ("role", "how", "after"),
    [("worker", "cut", 0.03), *(pytest.param(*one, marks=by_night) for one in NIGHT)],
)
async def test_whose_way_to_the_database_is_cut_as_it_ends(
    tmp_path: Path, db: str, role: str, how: str, after: float
) -> None:
    async with (
        Wire(_port(db)) as wire,
        several(tmp_path, db, ModelEmulator(responder=answer)) as bots,
    ):
        [bot] = await bots.start(role, through=wire.port)
        bot.send_signal(signal.SIGTERM)
        await asyncio.sleep(after)
        getattr(wire, how)()
        assert await _ended(*bots.made) in (0, GONE)


@by_night
async def test_whose_way_to_the_database_is_cut_in_a_turn(tmp_path: Path, db: str) -> None:
    model = ModelEmulator(responder=answer)
    model.script([STALLED])
    async with Wire(_port(db)) as wire, several(tmp_path, db, model) as bots:
        [gateway] = await bots.start("gateway")
        [worker] = await bots.start("worker", through=wire.port)
        await gateway.web.post("talk", asked("mine"))
        await until(lambda: model.requests, "the model is asked")
        wire.cut()
        worker.send_signal(signal.SIGTERM)
        assert await _ended(worker) == GONE


@by_night
@pytest.mark.parametrize("connections", [1, 2, 4])
async def test_whose_way_to_the_database_is_cut_as_it_starts(
    tmp_path: Path, db: str, connections: int
) -> None:
    async with (
        Wire(_port(db)) as wire,
        several(tmp_path, db, ModelEmulator(responder=answer)) as bots,
    ):
        worker = bots.process("worker", through=wire.port)
        await worker.spawn()
        await until(lambda: wire.connections >= connections, "it connects")
        wire.cut()
        worker.send_signal(signal.SIGTERM)
        assert await _ended(*bots.made) in (1, GONE)


@by_night
@pytest.mark.parametrize("number", range(12))
async def test_that_has_much_to_ask_of_the_database_just_then(
    tmp_path: Path, db: str, number: int
) -> None:
    """What it asks is answered as it is told: a cancellation may be lost, and what works for ever
    has to end.
    """
    async with several(tmp_path, db, ModelEmulator(responder=answer)) as bots:
        gateway, *_ = await bots.start("gateway", "worker", "all")
        for talk in range(8):
            await gateway.web.post(f"talk{talk}", asked("one"))
        await asyncio.sleep(0.1 * number)
        for bot in bots.made:
            bot.send_signal(signal.SIGTERM)
        assert await _ended(*bots.made) == 0
        assert query(db, "SELECT name FROM process") == []
        assert query(db, _OTHERS) == []
        [last] = await bots.start("all")
        await until(lambda: not unended(db), "all is answered")
        assert await last.term() == 0


async def _ended(*bots: Bot) -> int:
    """The worst code with which those of them ended that were told to."""
    begun = time.monotonic()
    codes = [await bot.ended(END_SECONDS + SLACK) for bot in bots]
    print(f"ended with {codes} after {time.monotonic() - begun:.1f} s")
    return max(codes)


def _port(db: str) -> int:
    return urlsplit(db).port or 5432
