"""Opens a record in PostgreSQL for one command: read as it stands, or as one more process with a lease of its own."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import cast

from bot.record import Opened
from bot.scale.alive import Alive
from bot.scale.jobs import Jobs, channel_of
from bot.scale.opening import make_engine
from memory.recall.postgres import PostgresShared
from memory.store.audit import note_all
from memory.store.audit_records import Act
from memory.store.leases import Leases
from memory.store.open_postgres import LEASE_SECONDS, Wanted, open_postgres, plain_url
from memory.store.postgres import PostgresDatabase
from memory.store.postgres_alone import alone as alone_on
from memory.store.postgres_moving import connected
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
            await held.enter_async_context(alone_on(cast(PostgresDatabase, store.database), url))
        yield Opened(store=store, indexes=indexes, stop=jobs.stop)


async def note_beside(url: str, acts: Sequence[Act]) -> None:
    """Add these acts to the audit's chain in one transaction, as one more process with a lease of its own.

    Raises:
        StoreError: they could not be stored.
    """
    name = f"{socket.gethostname()}:{os.getpid()}:{ROLE}"
    store = await open_postgres(Wanted(url=url, name=name, connections=1))
    try:
        await store.database.write(note_all, acts)
    finally:
        await store.close()


async def _joined(store: SqlStore, url: str, held: AsyncExitStack) -> Jobs:
    """What this command puts into lanes is worked on by whoever runs; its lease is renewed for as long as it takes."""
    database = cast(PostgresDatabase, store.database)
    await make_engine(database)
    jobs = Jobs(plain_url(url), store.now)
    await jobs.open()
    held.push_async_callback(jobs.disconnect)
    jobs.place_of = channel_of(store.sessions)
    database.enqueue = jobs.enqueue
    alive = Alive(Leases(database.apart(database.pool)), lambda: {"role": ROLE}, LEASE_SECONDS)
    alive.open()
    held.push_async_callback(alive.close)
    return jobs
