"""Live text between processes, by LISTEN and NOTIFY: best effort, what is said for good goes by the store."""

import asyncio
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from channels.message import Address, LiveEvent
from memory.store.engine.postgres import PostgresDatabase
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
NOTIFY_CHANNEL = "mnema_live"
_NOTIFY = f"SELECT pg_notify('{NOTIFY_CHANNEL}', %s)"
MAX_PAYLOAD_BYTES = 7_500  # bytes of one notification; PostgreSQL takes 8,000
GATHER_SECONDS = 0.1
MAX_PENDING_EVENTS = 2_000
RECONNECT_SECONDS = 1.0


class EventBus:
    """Tells other processes what may be shown now, and hears it from them. heard: told what others have told."""

    def __init__(self, database: PostgresDatabase, url: str, heard: Callable[[LiveEvent], None]) -> None:
        self._database = database
        self._url = url
        self._heard = heard
        self._own = uuid.uuid4().hex[:12]
        self._waiting: list[LiveEvent] = []
        self._something = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def open(self, *, listens: bool) -> None:
        """Begin. listens: whether anything can be shown here."""
        self._tasks.append(asyncio.create_task(self._speak(), name="bus speaks"))
        if listens:
            self._tasks.append(asyncio.create_task(self._listen(), name="bus listens"))

    async def close(self) -> None:
        """What still waits is not told."""
        await cancel_and_wait(self._tasks)

    def tell(self, event: LiveEvent) -> None:
        """Tell it soon; pieces of one answer that wait together go as one.

        With too many waiting, pieces of text are left out; what ends or moves an answer is not, for whoever shows one
        would show it forever.
        """
        if len(self._waiting) >= (MAX_PENDING_EVENTS if event.name == "delta" else 2 * MAX_PENDING_EVENTS):
            return
        last = self._waiting[-1] if self._waiting else None
        if last is not None and _is_continuation(last, event):
            self._waiting[-1] = replace(last, text=last.text + event.text)
        else:
            self._waiting.append(event)
        self._something.set()

    async def _speak(self) -> None:
        while True:
            await self._something.wait()
            await asyncio.sleep(GATHER_SECONDS)
            self._something.clear()
            waiting, self._waiting = self._waiting, []
            try:
                async with self._database.pool.connection() as bare:
                    await bare.cursor().executemany(_NOTIFY, [[text] for text in pack_events(self._own, waiting)])
            except (psycopg.Error, PoolTimeout) as err:
                log.info("live text not told", error=type(err).__name__)

    async def _listen(self) -> None:
        while True:
            try:
                await self._hear()
            except psycopg.Error as err:
                log.info("live text not heard", error=type(err).__name__)
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _hear(self) -> None:
        async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as bare:
            await bare.execute(f"LISTEN {NOTIFY_CHANNEL}")
            async for notice in bare.notifies():
                self._take(notice.payload)

    def _take(self, payload: str) -> None:
        for event in unpack_events(payload, self._own):
            self._heard(event)


def pack_events(own: str, events: Sequence[LiveEvent]) -> list[str]:
    """The notifications that carry these events, in order; one that is too long for any is left out. Pure."""
    made: list[list[dict[str, Any]]] = [[]]
    size = 0
    for event in events:
        entry = asdict(event)
        entry["facts"] = dict(event.facts)
        length = len(json.dumps(entry).encode()) + 2
        if length > MAX_PAYLOAD_BYTES - 100:
            continue
        if size + length > MAX_PAYLOAD_BYTES - 100:
            made.append([])
            size = 0
        made[-1].append(entry)
        size += length
    return [json.dumps({"from": own, "events": part}) for part in made if part]


def unpack_events(payload: str, own: str) -> list[LiveEvent]:
    """The events in a notification of another process; none of one that cannot be read: its version may be another."""
    try:
        told = json.loads(payload)
        if told["from"] == own:
            return []
        return [LiveEvent(**{**event, "address": Address(**event["address"])}) for event in told["events"]]
    except (ValueError, TypeError, KeyError) as err:
        log.info("live text not understood", error=type(err).__name__)
        return []


def _is_continuation(last: LiveEvent, event: LiveEvent) -> bool:
    same = (last.name, last.message_id, last.address) == (event.name, event.message_id, event.address)
    return same and event.name == "delta" and not event.facts and len(last.text) < MAX_PAYLOAD_BYTES // 8
