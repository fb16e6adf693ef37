"""Reading server-sent events as a browser does."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class Event:
    """One event as it came over the wire."""

    id: str
    name: str
    data: dict[str, Any]


async def sent_events(
    client: httpx.AsyncClient, path: str, last: str = "", opened: asyncio.Event | None = None
) -> AsyncIterator[dict[str, str]]:
    """The fields of each event of that stream."""
    headers = {"last-event-id": last} if last else {}
    async with client.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200
        if opened:
            opened.set()
        assert answer.headers["content-type"].startswith("text/event-stream")
        fields: dict[str, str] = {}
        async for row in answer.aiter_lines():
            if row and not row.startswith(":"):
                name, _, value = row.partition(": ")
                fields[name] = value
            elif "data" in fields:
                yield fields
                fields = {}


async def events(
    client: httpx.AsyncClient,
    conversation: str,
    last: str = "",
    query: str = "",
    opened: asyncio.Event | None = None,
) -> AsyncIterator[Event]:
    path = f"/api/conversations/{conversation}/events{query}"
    async with aclosing(sent_events(client, path, last, opened)) as stream:
        async for fields in stream:
            yield Event(fields["id"], fields["event"], json.loads(fields["data"]))


async def until(
    client: httpx.AsyncClient,
    conversation: str,
    enough: Callable[[list[Event]], bool],
    last: str = "",
    query: str = "",
) -> list[Event]:
    """Events up to and with the one that makes `enough` true."""
    seen: list[Event] = []
    async with aclosing(events(client, conversation, last, query)) as stream:
        async for event in stream:
            seen.append(event)
            if enough(seen):
                break
    return seen


def names(seen: list[Event]) -> list[str]:
    return [event.name for event in seen]
