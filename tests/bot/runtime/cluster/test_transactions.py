"""How many transactions a message and idle processes make.

The bounds are wide: they show a slip, not a percentage.

They are counted on the way between a process and the server, and the seconds are those in which
they were counted: what a start or an end takes is not in it, and other work on the machine makes
rates lower, never higher.
"""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.models.base import ModelClient
from bot.models.providers.offline import ScriptedModel
from bot.runtime.cluster.open import build_cluster_bot
from channels.testing import ScriptedChannel
from memory.store.people.rows import GrantRow
from memory.store.rows import Party
from tests.postgres import LEASE_SECONDS, database, needs_postgres
from tests.walk.harness import until
from tests.walk.processes import address
from tests.walk.record import query
from tests.walk.wire import Wire

pytestmark = pytest.mark.postgres
MESSAGES = 20
MOST_OF_A_MESSAGE = 45.0  # 20 on a quiet machine
RENEWALS = 4  # of every lease, one a second: as long idle processes are looked at
MOST_IDLE = 30.0  # a second, of a gateway and a worker: about 20
# a second, of each further one: about 9: a look and a heartbeat of each queue, and its lease
MOST_OF_A_WORKER = 14.0
_LEASES = "SELECT lease, until FROM process"
_JOBS = "SELECT id FROM procrastinate_jobs"


@asynccontextmanager
async def at_work(
    folder: Path,
    gateway: str,
    *workers: str,
    model: ModelClient | None = None,
    concurrency: int = 4,
) -> AsyncIterator[ScriptedChannel]:
    """A gateway and workers, each with the address by which it reaches the one database."""
    model = model or ScriptedModel(lambda _: "It is the second report.")
    home = HomeFolder(root=folder)
    home.ensure()
    bots = []
    for number, (role, url) in enumerate(
        [("gateway", gateway), *(("worker", worker) for worker in workers)]
    ):
        settings = {
            "database_url": f"{url}?sslmode=disable",
            "llm": {"provider": "anthropic", "api_key": "none", "model": "claude-sonnet-5-5"},
            "concurrency": concurrency,
            "memory": {"extract": False},
            "channels": {"web": {"enabled": False}},
            "budgets": {
                "user": {"messages_per_minute": 0},
                "total": {"messages_per_day": 0, "money_per_day": 0},
            },
        }
        # each of its own: a change is noticed by who has read it
        file = ConfigFile(folder / f"config-{number}.json")
        file.path.write_text(json.dumps(settings))
        file.path.chmod(0o600)
        file.load()
        bots.append(await build_cluster_bot(home, file, role, LEASE_SECONDS))
    channel = ScriptedChannel(name="telegram")
    await bots[0].open([channel])
    for worker in bots[1:]:
        await worker.open([ScriptedChannel(name="telegram")], model)
    party = Party(channel="telegram", account="", subject="user", id="u1")
    await bots[0].store.access.grant(
        GrantRow(party=party, role="user", group="", name="", by="test", at=datetime.now(UTC))
    )
    yield channel
    for bot in reversed(bots):
        await bot.close(patience=1.0)


async def idle_rate(wire: Wire, db: str) -> float:
    """Transactions a second over the wire, while every process renews its lease so many times."""
    await _renewed(db, 1)  # what a start does is over
    before, began = wire.transactions, time.monotonic()
    await _renewed(db, RENEWALS)
    return (wire.transactions - before) / (time.monotonic() - began)


async def _renewed(db: str, times: int) -> None:
    """Every lease is renewed so many times."""
    known = dict(query(db, _LEASES))
    counts = dict.fromkeys(known, 0)

    def renewed() -> bool:
        for lease, until_when in query(db, _LEASES):
            counts[lease] += known[lease] != until_when
            known[lease] = until_when
        return min(counts.values()) >= times

    await until(renewed, f"every lease is renewed, {times} times")


async def test_a_message_and_idle_processes_make_few_transactions(tmp_path: Path) -> None:
    needs_postgres()
    with database() as db:
        async with Wire(_port(db)) as wire:
            url = address(db, wire.port)
            async with at_work(tmp_path, url, url) as channel:
                rate = await idle_rate(wire, db)
                before, began = wire.transactions, time.monotonic()
                for number in range(MESSAGES):
                    channel.hear("Which of the two reports?", chat="u1", key=f"key {number}")
                    await channel.until(lambda count=number: len(channel.sent) > count, 60.0)  # type: ignore[misc]
                await until(lambda: not query(db, _JOBS), "all is at rest")
                took, made = time.monotonic() - began, wire.transactions - before
    assert 0 < rate < MOST_IDLE
    assert 1 < (made - took * rate) / MESSAGES < MOST_OF_A_MESSAGE


async def test_a_further_worker_adds_few_transactions_while_nothing_happens(tmp_path: Path) -> None:
    needs_postgres()
    with database() as db:
        async with Wire(_port(db)) as wire:
            direct, wired = address(db), address(db, wire.port)
            async with at_work(tmp_path, direct, direct, wired, wired):
                rate = await idle_rate(wire, db)
    assert 0 < rate / 2 < MOST_OF_A_WORKER


def _port(db: str) -> int:
    return int(db.rpartition(":")[2].partition("/")[0])
