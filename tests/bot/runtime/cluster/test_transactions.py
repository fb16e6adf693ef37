"""How many transactions a message and idle processes make. The bounds are wide: they show a slip, not a percentage."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.models.providers.offline import ScriptedModel
from bot.runtime.cluster.open import build_cluster_bot
from channels.testing import ScriptedChannel
from memory.store.people.rows import GrantRow, Party
from tests.postgres import database, needs_postgres
from tests.walk.harness import until

pytestmark = pytest.mark.postgres
MESSAGES = 20
MOST_OF_A_MESSAGE = 28.0  # 12 on a quiet machine, up to 20 on a busy one; it was 36
IDLE_SECONDS = 6.0
MOST_IDLE = 12.0  # a second, of a gateway and a worker: about 4; it was 20
MOST_OF_A_WORKER = 3.0  # a second, of each further one: about 1.3, which is its lease
_SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
_COUNT = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"


@asynccontextmanager
async def at_work(folder: Path, url: str, workers: int = 1) -> AsyncIterator[ScriptedChannel]:
    """A gateway and workers on this database."""
    home = HomeFolder(root=folder)
    home.ensure()
    settings = {
        "database_url": url.replace("postgresql:", "postgresql+psycopg:", 1),
        "llm": {"provider": "anthropic", "api_key": "none", "model": "claude-sonnet-5-5"},
        "memory": {"extract": False},
        "channels": {"web": {"enabled": False}},
        "budgets": {"user": {"messages_per_minute": 0}, "total": {"messages_per_day": 0, "money_per_day": 0}},
    }
    home.config.write_text(json.dumps(settings))
    home.config.chmod(0o600)
    file = ConfigFile(home.config)
    file.load()
    channel = ScriptedChannel(name="telegram")
    gateway = await build_cluster_bot(home, file, "gateway")
    bots = [await build_cluster_bot(home, file, "worker") for _ in range(workers)]
    await gateway.open([channel])
    for worker in bots:
        await worker.open([ScriptedChannel(name="telegram")], ScriptedModel(lambda _: "It is the second report."))
    party = Party(channel="telegram", account="", subject="user", id="u1")
    await gateway.store.access.grant(
        GrantRow(party=party, role="user", group="", name="", by="test", at=datetime.now(UTC))
    )
    yield channel
    for worker in bots:
        await worker.close(patience=1.0)
    await gateway.close(patience=1.0)


async def count_ended(url: str) -> int:
    """Count the transactions so far, once all sessions have ended: the server publishes those of others late."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as held:

        async def number(query: str) -> int:
            row = await (await held.execute(query)).fetchone()
            assert row is not None
            return int(row[0])

        async def all_ended() -> bool:
            return not await number(_SESSIONS)

        await until(all_ended, "all sessions have ended")
        return await number(_COUNT)


async def test_a_message_and_idle_processes_make_few_transactions(tmp_path: Path) -> None:
    needs_postgres()
    with database() as url:
        async with at_work(tmp_path / "first", url):
            pass
        counts = [await count_ended(url)]
        async with at_work(tmp_path / "start", url):
            pass
        counts.append(await count_ended(url))
        async with at_work(tmp_path / "messages", url) as channel:
            began = time.monotonic()
            for number in range(MESSAGES):
                channel.hear("Which of the two reports?", chat="u1", key=f"key {number}")
                await channel.until(lambda count=number: len(channel.sent) > count, 60.0)  # type: ignore[misc]
            took = time.monotonic() - began
        counts.append(await count_ended(url))
        async with at_work(tmp_path / "idle", url):
            await asyncio.sleep(IDLE_SECONDS)
        counts.append(await count_ended(url))
    start, messages, idle = (after - before for before, after in pairwise(counts))
    idle_rate = (idle - start) / IDLE_SECONDS
    assert idle_rate < MOST_IDLE
    assert (messages - start - took * idle_rate) / MESSAGES < MOST_OF_A_MESSAGE


async def test_a_further_worker_adds_few_transactions_while_nothing_happens(tmp_path: Path) -> None:
    needs_postgres()
    rates = []
    for workers in (1, 3):
        with database() as url:
            counts = [await count_ended(url)]
            for seconds in (0.0, IDLE_SECONDS):
                async with at_work(tmp_path / f"{workers} for {seconds}", url, workers):
                    await asyncio.sleep(seconds)
                counts.append(await count_ended(url))
            start, idle = (after - before for before, after in pairwise(counts))
            rates.append((idle - start) / IDLE_SECONDS)
    assert (rates[1] - rates[0]) / 2 < MOST_OF_A_WORKER, rates
