"""Live events between processes by LISTEN and NOTIFY: best effort, because every final text is in
the store.
"""

import asyncio
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import psycopg
import structlog

from channels.message import Address, LiveEvent
from memory.store.postgres.connection import KEEPALIVE
from memory.store.postgres.database import PostgresDatabase
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
NOTIFY_CHANNEL = "mnema_live"
_NOTIFY = f"SELECT pg_notify('{NOTIFY_CHANNEL}', %s)"
MAX_PAYLOAD_BYTES = 7_500  # of one notification; PostgreSQL takes 8,000
ENVELOPE_BYTES = 100  # of a payload besides its events
BATCH_SECONDS = 0.1  # for which events are collected before they are sent
MAX_PENDING_EVENTS = 2_000
RECONNECT_SECONDS = 1.0
CONNECT_TIMEOUT = 5  # seconds


class EventBus:
    """Sends live events to other processes, and receives theirs."""

    def __init__(
        self, database: PostgresDatabase, url: str, on_event: Callable[[LiveEvent], None]
    ) -> None:
        """on_event: called with each event of another process."""
        self._database = database
        self._url = url
        self._on_event = on_event
        self._sender = uuid.uuid4().hex[:12]
        self._pending: list[LiveEvent] = []
        self._has_pending = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def open(self, *, listens: bool) -> None:
        """Start sending, and receiving if `listens`: a process without channels can show
        nothing.
        """
        self._tasks.append(asyncio.create_task(self._send(), name="live events out"))
        if listens:
            self._tasks.append(asyncio.create_task(self._listen(), name="live events in"))

    async def close(self) -> None:
        """Stop; pending events are dropped."""
        await cancel_and_wait(self._tasks)

    def publish(self, event: LiveEvent) -> None:
        """Send an event soon; adjacent pieces of one reply are joined.

        If too many are pending, pieces of text are dropped. Events that end or move a reply are
        not: a viewer that misses one would show the reply as unfinished forever.
        """
        if len(self._pending) >= (
            MAX_PENDING_EVENTS if event.name == "delta" else 2 * MAX_PENDING_EVENTS
        ):
            return
        last = self._pending[-1] if self._pending else None
        if last is not None and _is_continuation(last, event):
            self._pending[-1] = replace(last, text=last.text + event.text)
        else:
            self._pending.append(event)
        self._has_pending.set()

    async def _send(self) -> None:
        while True:
            await self._has_pending.wait()
            await asyncio.sleep(BATCH_SECONDS)
            self._has_pending.clear()
            events, self._pending = self._pending, []
            try:
                async with self._database.pool.connection() as connection:
                    payloads = [[payload] for payload in pack_events(self._sender, events)]
                    await connection.cursor().executemany(_NOTIFY, payloads)
            except Exception as err:
                log.warning("live events not sent", error=type(err).__name__, exc_info=err)
                await asyncio.sleep(RECONNECT_SECONDS)
                # Pieces of text may be missing; a reply whose end is missing would show as
                # unfinished.
                self._pending[:0] = [event for event in events if event.name != "delta"]
                if self._pending:
                    self._has_pending.set()

    async def _listen(self) -> None:
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, connect_timeout=CONNECT_TIMEOUT, **KEEPALIVE
                ) as connection:
                    await connection.execute(f"LISTEN {NOTIFY_CHANNEL}")
                    async for notification in connection.notifies():
                        for event in unpack_events(notification.payload, self._sender):
                            self._on_event(event)
            except psycopg.Error as err:
                log.info("live events not received", error=type(err).__name__)
            except Exception as err:
                log.error("live events not received", error=type(err).__name__, exc_info=err)
            await asyncio.sleep(RECONNECT_SECONDS)


def pack_events(sender: str, events: Sequence[LiveEvent]) -> list[str]:
    """Return the payloads that carry these events, in order; an event too long for one is dropped.

    Pure.
    """
    batches: list[list[dict[str, Any]]] = [[]]
    size = 0
    for event in events:
        entry = {**asdict(event), "facts": dict(event.facts)}
        length = len(json.dumps(entry).encode()) + 2
        if length > MAX_PAYLOAD_BYTES - ENVELOPE_BYTES:
            continue
        if size + length > MAX_PAYLOAD_BYTES - ENVELOPE_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(entry)
        size += length
    return [json.dumps({"from": sender, "events": batch}) for batch in batches if batch]


def unpack_events(payload: str, sender: str) -> list[LiveEvent]:
    """Return the events of another process; none if the payload is our own, or of another
    version.
    """
    try:
        record = json.loads(payload)
        if record["from"] == sender:
            return []
        return [
            LiveEvent(**{**event, "address": Address(**event["address"])})
            for event in record["events"]
        ]
    except (ValueError, TypeError, KeyError) as err:
        log.info("live events not understood", error=type(err).__name__)
        return []


def _is_continuation(last: LiveEvent, event: LiveEvent) -> bool:
    same = (last.name, last.message_id, last.address) == (
        event.name,
        event.message_id,
        event.address,
    )
    return (
        same
        and event.name == "delta"
        and not event.facts
        and len(last.text) < MAX_PAYLOAD_BYTES // 8
    )
