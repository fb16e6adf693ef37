"""Live events between processes: what a failed send may lose, and what it may not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from psycopg_pool import PoolTimeout

from bot.runtime.cluster.events import EventBus
from channels.message import Address, EventName, LiveEvent
from tests.postgres import fresh, made  # noqa: F401  fixtures

pytestmark = pytest.mark.postgres
PATIENCE = 20.0  # seconds


class BrokenAtFirst:
    """A pool whose first connections cannot be had."""

    def __init__(self, url: str, errors: list[Exception]) -> None:
        self._url = url
        self._errors = errors

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        if self._errors:
            raise self._errors.pop(0)
        async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as connection:
            yield connection


def event(name: EventName, id: str) -> LiveEvent:
    address = Address(channel="web", account="console", chat_id="c")
    return LiveEvent(address=address, name=name, message_id=id, text=id)


async def test_the_end_of_a_reply_is_sent_although_sending_failed_before(fresh: str) -> None:  # noqa: F811
    """Text of the failed send is missing; every final text is in the store."""
    received: asyncio.Queue[LiveEvent] = asyncio.Queue()
    receiver = EventBus(SimpleNamespace(), fresh, received.put_nowait)  # type: ignore[arg-type]
    pool = BrokenAtFirst(fresh, [PoolTimeout("none is free"), RuntimeError("a fault of ours")])
    sender = EventBus(SimpleNamespace(pool=pool), fresh, received.put_nowait)  # type: ignore[arg-type]
    receiver.open(listens=True)
    sender.open(listens=False)
    try:
        async with asyncio.timeout(PATIENCE):
            while received.empty():  # until the receiver listens
                sender.publish(event("reply", "first"))
                await asyncio.sleep(0.2)
            pool._errors.append(RuntimeError("a fault of ours"))
            sender.publish(event("delta", "second"))
            sender.publish(event("reply", "second"))
            while (last := await received.get()).message_id != "second":
                pass
    finally:
        await sender.close()
        await receiver.close()
    assert last.name == "reply"
