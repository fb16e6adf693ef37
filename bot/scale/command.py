"""Opens a record in PostgreSQL for one command: read as it stands, or as one more process with a lease of its own."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import cast

from bot.record import Opened
from bot.scale.alive import Alive
from bot.scale.jobs import Jobs, channel_of
from bot.scale.opening import make_engine
from memory.recall.postgres import PostgresShared
from memory.store.errors import StoreBusy
from memory.store.open_postgres import LEASE_SECONDS, Wanted, open_postgres, plain_url
from memory.store.postgres import PostgresDatabase
from memory.store.postgres_moving import connected
from memory.store.postgres_schema import ALONE
from memory.store.store import SqlStore

CONNECTIONS = 3
ROLE = "command"


@asynccontextmanager
async def open_beside(url: str, *, writable: bool, alone: bool) -> AsyncIterator[Opened]:
    """See bot.record.opened.

    Raises:
        StoreBusy: alone, and another process is at work on the record.
        StoreError: it cannot be opened.
    """
    async with connected(url):  # a pool would wait for a server that is not there
        pass
    name = f"{socket.gethostname()}:{os.getpid()}:{ROLE}"
    store = await open_postgres(Wanted(url=url, name=name, connections=CONNECTIONS), writable=writable)
    async with AsyncExitStack() as held:
        held.push_async_callback(store.close)
        indexes = PostgresShared(url)
        held.push_async_callback(asyncio.to_thread, indexes.close)
        if not writable:
            yield Opened(store=store, indexes=indexes)
            return
        jobs = await _joined(store, url, held)
        if alone:
            await held.enter_async_context(_alone(store, url))
        yield Opened(store=store, indexes=indexes, stop=jobs.stop)


@asynccontextmanager
async def _alone(store: SqlStore, url: str) -> AsyncIterator[None]:
    """Nobody else has the record open; whoever starts meanwhile waits."""
    async with connected(url) as bare:
        await bare.execute("SELECT pg_advisory_lock(%s)", [ALONE])
        await _refuse_others(store)
        yield


async def _refuse_others(store: SqlStore) -> None:
    others = [who for who in await store.leases.alive() if who.rpartition("#")[2] != str(store.database.lease)]
    if others:
        names = ", ".join(who.rpartition("#")[0] for who in others)
        raise StoreBusy(f"{len(others)} at work on that database ({names}); stop every mnema run on it first")


async def _joined(store: SqlStore, url: str, held: AsyncExitStack) -> Jobs:
    """What this command puts into lanes is worked on by whoever runs; its lease is renewed for as long as it takes."""
    database = cast(PostgresDatabase, store.database)
    await make_engine(database)
    jobs = Jobs(plain_url(url), store.now)
    await jobs.open()
    held.push_async_callback(jobs.disconnect)
    jobs.place_of = channel_of(store.sessions)
    database.enqueue = jobs.enqueue
    alive = Alive(store.leases, lambda: {"role": ROLE}, LEASE_SECONDS)
    alive.open()
    held.push_async_callback(alive.close)
    return jobs
