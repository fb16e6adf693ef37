"""A scripted bot behind the real site: transcripts in lists, replies by rule, on a real port."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from channels.base import NO_NOTEBOOK_CHANGES, HasWebhook
from channels.message import Accepted, InboundMessage, LiveEvent, OutboundMessage
from channels.web.auth import RequestGuard
from channels.web.backend import (
    ANY_CONVERSATION,
    ConversationChanges,
    ConversationEntry,
    ConversationFilter,
    ConversationOwner,
    ConversationPage,
    HealthReport,
    TranscriptLine,
    WebServices,
    web_address,
)
from channels.web.channel import Web
from channels.web.events import EventHub
from channels.web.requests import Route
from channels.web.server import WebServer, WebSite, bound_port, open_sockets
from channels.web.settings import parse_networks, parse_public_host

TOKEN = "t0ken-of-at-least-128-random-bits"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
ONE = NOON + timedelta(hours=1)


@dataclass
class ScriptedBot:
    """Stores what is delivered; `answers` makes the reply's text (None: no reply).

    broken: raised at each delivery; unreadable: raised whenever lines are read.
    channels, whose, touched: of conversations, by name; frozen: the time of each look at what has
    changed. read: (conversation, reader, pressed) where it is another person's.
    """

    answers: Callable[[InboundMessage], str | None] = lambda message: None
    broken: Exception | None = None
    unreadable: Exception | None = None
    refused: frozenset[str] = frozenset()
    channels: dict[str, str] = field(default_factory=dict)
    whose: dict[str, ConversationOwner] = field(default_factory=dict)
    touched: dict[str, datetime] = field(default_factory=dict)
    moves: int = 0
    stamp: str = "1"
    read: list[tuple[str, str, bool]] = field(default_factory=list)
    frozen: float = 0.0
    said: dict[str, list[TranscriptLine]] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    taken: list[InboundMessage] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    web: Web | None = None
    hooks: dict[str, HasWebhook] = field(default_factory=dict)

    async def deliver(
        self, messages: Sequence[InboundMessage], keep: Mapping[str, str] = NO_NOTEBOOK_CHANGES
    ) -> list[Accepted]:
        if self.broken:
            raise self.broken
        return [await self._take(message) for message in messages]

    async def _take(self, message: InboundMessage) -> Accepted:
        if message.key in self.keys:
            return Accepted(id=self.keys[message.key], new=False)
        self.taken.append(message)
        line = self.add(message.address.chat_id, "user", message.text)
        self.keys[message.key] = line.id
        reply = self.answers(message)
        if reply is not None:
            await self.reply(message.address.chat_id, line.id, reply)
        return Accepted(id=line.id, new=True)

    def add(self, name: str, role: str, text: str, reply_to: str = "") -> TranscriptLine:
        lines = self.said.setdefault(name, [])
        number = len(lines) + 1
        line = TranscriptLine(
            id=f"{name}-{number}", number=number, role=role, text=text, at=NOON, reply_to=reply_to
        )
        lines.append(line)
        self.moves += 1
        self.touched[name] = ONE + timedelta(seconds=self.moves)
        return line

    async def reply(self, name: str, to: str, text: str, kind: str = "final") -> TranscriptLine:
        line = self.add(name, "notice" if kind == "notice" else "assistant", text, to)
        assert self.web
        await self.web.send(
            OutboundMessage(
                id=line.id,
                address=web_address(name),
                client_key=line.id,
                text=text,
                kind=kind,
                reply_to=to,
                line=line.number,
            )
        )
        return line

    def show(
        self, conversation: str, name: str, message_id: str = "", text: str = "", **facts: Any
    ) -> None:
        assert self.web
        self.web.show(
            LiveEvent(
                address=web_address(conversation),
                name=name,
                message_id=message_id,
                text=text,
                facts=facts,
            )
        )

    async def context_stamp(self, conversation: str) -> str:
        return self.stamp

    async def exists(self, conversation: str) -> bool:
        return conversation in self.said

    async def conversation(self, conversation: str) -> ConversationEntry | None:
        return next((one for one in self.listed() if one.id == conversation), None)

    async def address(self, message: InboundMessage) -> InboundMessage:
        return message

    async def begin_reading(self, conversation: str, reader: str, *, pressed: bool = False) -> None:
        if self.whose.get(conversation) == "other":
            self.read.append((conversation, reader, pressed))

    async def lines(
        self,
        conversation: str,
        *,
        reader: str = "",
        before: int = 0,
        after: int | None = None,
        limit: int = 50,
        details: bool = False,
    ) -> list[TranscriptLine]:
        if self.unreadable:
            raise self.unreadable
        lines = self.said.get(conversation, [])
        if after is not None:
            return [line for line in lines if line.number > after][:limit]
        return [line for line in lines if not before or line.number < before][-limit:]

    async def number(self, conversation: str, id: str, *, reader: str = "") -> int:
        return next((line.number for line in self.said[conversation] if line.id == id), 0)

    async def search(
        self, conversation: str, words: str, *, reader: str = "", before: int = 0, limit: int = 50
    ) -> list[TranscriptLine]:
        lines = [line for line in self.said.get(conversation, []) if words in line.text]
        return [line for line in lines[::-1] if not before or line.number < before][:limit]

    def listed(self) -> list[ConversationEntry]:
        """Newest first."""
        made = [
            ConversationEntry(
                id=name,
                title=lines[0].text[:40],
                channel=self.channels.get(name, "web"),
                updated=self.touched[name],
                turns=len(lines) // 2,
                whose=self.whose.get(name, "own"),
            )
            for name, lines in self.said.items()
        ]
        return sorted(made, key=lambda one: one.updated, reverse=True)

    async def conversations(
        self, cursor: str = "", limit: int = 200, wanted: ConversationFilter = ANY_CONVERSATION
    ) -> ConversationPage:
        listed = [
            one
            for one in self.listed()
            if (not wanted.own or one.whose == "own") and wanted.words in one.title
        ]
        if cursor and cursor not in self.said:
            raise ValueError("no cursor")
        start = [one.id for one in listed].index(cursor) + 1 if cursor else 0
        page = listed[start : start + limit]
        more = len(listed) > start + limit
        return ConversationPage(conversations=page, next=page[-1].id if more else "")

    async def changed(self, since: float, limit: int) -> ConversationChanges | None:
        listed = [one for one in self.listed() if one.updated.timestamp() >= since]
        at = self.frozen or (ONE + timedelta(seconds=self.moves + 5)).timestamp()
        return ConversationChanges(at=at, conversations=listed[:limit])

    async def stop(self, conversation: str) -> None:
        self.stopped.append(conversation)

    def doors(self) -> WebServices:
        async def well() -> HealthReport:
            return HealthReport(ok=True, reasons={"disk_free": 1})

        return WebServices(
            backend=self,
            allow=lambda action: action not in self.refused,
            healthy=well,
            ready=well,
            find_webhook=self.hooks.get,
        )


@dataclass
class Running:
    """A site that serves: where, and every part of it."""

    base: str
    port: int
    site: WebSite
    server: WebServer
    gate: RequestGuard
    web: Web
    bot: ScriptedBot
    tasks: tuple[asyncio.Task[None], ...]

    async def close(self) -> None:
        """End as the process would; closing twice is closing once."""
        serving, listening = self.tasks
        self.web.hub.close()
        self.server.stop()
        listening.cancel()
        await asyncio.gather(serving, listening, return_exceptions=True)

    def client(self, **options: Any) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {TOKEN}", **options.pop("headers", {})}
        return httpx.AsyncClient(
            base_url=self.base, headers=headers, timeout=60, verify=False, **options
        )

    def nobody(self, **options: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.base, timeout=60, verify=False, **options)


@asynccontextmanager
async def running(
    bot: ScriptedBot,
    calls: Sequence[Route] = (),
    *,
    port: int = 0,
    pause: float = 15.0,
    opened: bool = True,
    hub: EventHub | None = None,
    idle: int = 75,
    public_url: str = "",
    proxies: Sequence[str] = (),
    clock: Callable[[], float] = time.monotonic,
    **bounds: Any,
) -> AsyncIterator[Running]:
    sockets = open_sockets("127.0.0.1", port)
    port = bound_port(sockets)
    web = Web(hub or EventHub(pause=pause))
    bot.web = web
    public = parse_public_host(public_url) if public_url else ""
    gate = RequestGuard(
        token=TOKEN, port=port, public=public, proxies=parse_networks(proxies), clock=clock
    )
    site = WebSite(gate=gate, web=web)
    server = WebServer(site, sockets, grace=2, idle=idle, **bounds)
    serving = asyncio.create_task(server.run())
    listening = asyncio.create_task(web.run(bot.deliver))
    if opened:
        site.open(bot.doors(), calls)
    up = Running(
        f"http://127.0.0.1:{port}", port, site, server, gate, web, bot, (serving, listening)
    )
    try:
        yield up
    finally:
        await up.close()
