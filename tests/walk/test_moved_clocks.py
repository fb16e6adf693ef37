"""Several processes of which some have a wall clock that is hours wrong, or is set while they
run.
"""

import asyncio
import io
import time
from pathlib import Path

import pytest
from PIL import Image

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.walk.harness import FRIEND, until
from tests.walk.moved import HOUR, moved, set_clock
from tests.walk.play import Plan, Story, play
from tests.walk.processes import Several, several
from tests.walk.record import ledger_faults, query, unended
from tests.walk.speech import answer, asked, tokens_in

# Literals, so that the product is not compared with itself.
ALBUM_SECONDS = 2.0

pytestmark = [pytest.mark.kill, pytest.mark.postgres]
SLOW = 8.0  # seconds more than an album has to wait, for a machine that has other work
MOST_JOBS = 60
# A second; two processes at rest make 25, a lane that is put back again and again makes many
# hundreds.
MOST_TRANSACTIONS = 100.0
_JOBS = "SELECT last_value FROM procrastinate_jobs_id_seq"
_TRANSACTIONS = (
    "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
)
_TIMES = (
    "SELECT received, extract(epoch FROM clock_timestamp())::double precision FROM inbox ORDER BY "
    "received DESC"
)


@pytest.mark.parametrize(
    ("gateway", "worker"),
    [
        (3 * HOUR, -3 * HOUR),
        *(pytest.param(one, -one, marks=by_night) for one in (-3 * HOUR, 24 * HOUR)),
    ],
)
async def test_albums_and_repeats_come_in_their_time_whatever_the_clocks_say(
    tmp_path: Path, db: str, gateway: int, worker: int
) -> None:
    model = ModelEmulator(responder=answer)
    async with (
        TelegramEmulator() as telegram,
        several(tmp_path, db, model, telegram.url, provider="openai") as bots,
    ):
        first, second = moved(bots, "gateway", gateway), moved(bots, "worker", worker)
        await asyncio.gather(first.start(), second.start())
        # it imports what it needs
        await first.web.answer("talk", await first.web.post("talk", asked("first")))
        begun, before = time.monotonic(), _counts(db)
        await _album(telegram, "one")
        set_clock(second, worker + HOUR)
        set_clock(first, gateway - HOUR)
        await _album(telegram, "two")
        # the next part is refused, and sent again by not_before
        telegram.world.flood(1.5, int(FRIEND))
        await _answered(telegram, "three")
        status = await first.web.answer("talk", await first.web.post("talk", "/status"))
        assert " h " not in status["text"], "times of channels are told by one clock"
        received, now = query(db, _TIMES)[0]
        assert abs(received - now) < SLOW
        await _end(bots, db, begun, before)


async def _end(bots: Several, db: str, begun: float, before: tuple[int, int]) -> None:
    await until(lambda: not unended(db), "all is at rest")
    jobs, transactions = (after - known for after, known in zip(_counts(db), before, strict=True))
    each = transactions / (time.monotonic() - begun)
    print(f"{jobs} jobs, {each:.0f} transactions a second")
    assert jobs < MOST_JOBS
    assert each < MOST_TRANSACTIONS
    assert await ledger_faults(db) == []
    assert [await bot.term() for bot in bots.made] == [0] * len(bots.made)


@by_night
@pytest.mark.parametrize(
    ("clocks", "blows"),
    [
        ((("worker", -3 * HOUR),), ((1.0, "kill gateway"),)),
        ((("gateway", 3 * HOUR),), ((1.0, "stop worker"),)),
        (
            (("worker", 3 * HOUR), ("worker", 3 * HOUR), ("worker", 3 * HOUR)),
            ((1.0, "kill worker"),),
        ),
        (
            (("worker", 0), ("gateway", 0)),
            ((1.0, f"clock worker {HOUR}"), (2.0, f"clock gateway {-HOUR}")),
        ),
    ],
    ids=["a worker behind", "a gateway ahead", "all workers ahead", "clocks that are set"],
)
async def test_under_load_the_oracle_finds_no_fault(
    tmp_path: Path,
    db: str,
    clocks: tuple[tuple[str, int], ...],
    blows: tuple[tuple[float, str], ...],
) -> None:
    plan = Plan(
        conversations=8, workers=3, pace=1.0, slowest=0.8, blows=blows, clocks=clocks, seconds=4.0
    )
    assert await play(plan, tmp_path, db, Story()) == []


async def _album(telegram: TelegramEmulator, token: str) -> None:
    """Two pictures that are sent as one are answered as one, no sooner and no later than usual."""
    held = io.BytesIO()
    Image.new("RGB", (2, 2)).save(held, "PNG")
    begun = time.monotonic()
    telegram.people.album([held.getvalue()] * 2, asked(token), user=int(FRIEND))
    await until(lambda: _seen(telegram)[-1:] == [token], f"the album {token} is answered")
    took = time.monotonic() - begun
    print(f"an album was answered after {took:.1f} s")
    assert ALBUM_SECONDS < took < ALBUM_SECONDS + SLOW


async def _answered(telegram: TelegramEmulator, token: str) -> None:
    begun = time.monotonic()
    telegram.inject(asked(token), user=int(FRIEND))
    await until(lambda: _seen(telegram)[-1:] == [token], "it is answered")
    assert time.monotonic() - begun < 1.5 + SLOW


def _counts(db: str) -> tuple[int, int]:
    """Jobs that were ever put in, transactions that were ever made."""
    return int(query(db, _JOBS)[0][0]), int(query(db, _TRANSACTIONS)[0][0])


def _seen(telegram: TelegramEmulator) -> list[str]:
    return [token for seen in telegram.sent(int(FRIEND)) for token in tokens_in(seen.text)[:1]]
