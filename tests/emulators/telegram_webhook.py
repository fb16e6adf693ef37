"""The Telegram emulator's webhook: it brings updates chat by chat, and again and again until they
are taken.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from tests.emulators.telegram_rules import ApiError
from tests.emulators.telegram_world import World

PORTS = (None, 80, 88, 443, 8443)
HEADER = "X-Telegram-Bot-Api-Secret-Token"
PATIENCE = 60.0
GONE_LIFE = 23 * 3600.0
NO_REPLY = ("get", "setwebhook", "deletewebhook", "close", "logout")

Call = Callable[[str, dict[str, Any]], Awaitable[Any]]


class Hooks:
    """One bot's webhook. url: "" for none; shown: the secret that is sent instead of the right one,
    "" sends none.

    brought: (status, update_id) of each call in order, 0 where nobody answered; flying: chats with
    a call on its way.
    """

    def __init__(self, world: World, call: Call) -> None:
        self.world = world
        self.call = call
        self.url = ""
        self.secret = ""
        self.shown: str | None = None
        self.most = 40
        self.set_at = float("-inf")
        self.error = (0, "")
        self.brought: list[tuple[int, int]] = []
        self.flying: dict[int, asyncio.Task[None]] = {}
        self._failed: dict[int, tuple[int, float]] = {}
        self._gone = 0.0
        self._task: asyncio.Task[None] | None = None

    def set(self, url: str, secret: str, most: int) -> None:
        """A new address; raises ApiError for one that the platform does not take. http is for
        loopback only.
        """
        parts = urlsplit(url)
        home = parts.scheme == "http" and parts.hostname == "127.0.0.1"
        if parts.scheme != "https" and not home:
            raise ApiError(400, "bad webhook: An HTTPS URL must be provided for webhook")
        if not home and parts.port not in PORTS:
            raise ApiError(
                400, "bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443"
            )
        if self.world.now() - self.set_at < 1:
            raise ApiError(429, "Too Many Requests: retry after 1", retry_after=1)
        self.url, self.secret, self.most, self.set_at = url, secret, most, self.world.now()
        self._failed.clear()
        if self._task is None:
            self._task = asyncio.create_task(self._go_on(), name="telegram's webhook")

    async def stop(self) -> None:
        """Bring nothing more until it is set again."""
        tasks = [task for task in (self._task, *self.flying.values()) if task is not None]
        self._task = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.flying.clear()

    async def _go_on(self) -> None:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE)) as session:
            while True:
                self.world.confirm(0)
                for chat, update in list(self._ready()):
                    self.flying[chat] = asyncio.create_task(self._bring(session, chat, update))
                await self.world.change(min(self.world.ripen(), self._soonest()))

    def _ready(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The oldest update of each chat that may be brought now."""
        seen = set(self.flying)
        for update in self.world.pending if self.url else ():
            chat = chat_of(update)
            due = self._failed.get(chat, (0, 0.0))[1]
            if chat not in seen and due <= self.world.now() and len(seen) < self.most:
                yield chat, update
            seen.add(chat)

    def _soonest(self) -> float:
        """Seconds until a chat that failed may be tried again; 60 for none."""
        waiting = {chat_of(update) for update in self.world.pending} - set(self.flying)
        due = [self._failed[chat][1] - self.world.now() for chat in waiting if chat in self._failed]
        return max(0.01, min(due, default=60.0))

    async def _bring(
        self, session: aiohttp.ClientSession, chat: int, update: dict[str, Any]
    ) -> None:
        secret = self.secret if self.shown is None else self.shown
        status, retry, body = 0, "", None
        try:
            async with session.post(
                self.url, json=update, headers={HEADER: secret} if secret else {}
            ) as answer:
                status, retry = answer.status, answer.headers.get("Retry-After", "")
                text = await answer.text()
                body = (
                    await answer.json()
                    if answer.content_type == "application/json" and text
                    else None
                )
        except (aiohttp.ClientError, TimeoutError, ValueError) as err:
            self.error = (int(self.world.now()), f"Connection failed: {type(err).__name__}")
        self.brought.append((status, update["update_id"]))
        del self.flying[chat]
        if 200 <= status < 300:
            self._failed.pop(chat, None)
            self.world.forget([update])
            await self._reply(body)
        else:
            self._fail(chat, status, retry)
        self.world.notify()

    def _fail(self, chat: int, status: int, retry: str) -> None:
        """After one second, then twice as long each time, at most one or two minutes; or as they
        asked.
        """
        times = self._failed.get(chat, (0, 0.0))[0] + 1
        wait = (
            float(retry)
            if retry.isdigit()
            else min(2.0 ** (times - 1), self.world.random.uniform(60, 120))
        )
        self._failed[chat] = (times, self.world.now() + wait)
        if status:
            self.error = (int(self.world.now()), f"Wrong response from the webhook: {status}")
        self._gone = (self._gone or self.world.now()) if status == 410 else 0.0
        if self._gone and self.world.now() - self._gone > GONE_LIFE:
            self.url = ""

    async def _reply(self, body: Any) -> None:
        """One send without a result, in the answer's body."""
        if not isinstance(body, dict) or "method" not in body:
            return
        method = str(body.pop("method")).lower()
        if not method.startswith(NO_REPLY):
            try:
                await self.call(method, body)
            except ApiError:
                return


def chat_of(update: dict[str, Any]) -> int:
    """Whose order an update belongs to."""
    inside = next(
        (value for key, value in update.items() if key != "update_id" and isinstance(value, dict)),
        {},
    )
    message = inside.get("message") if isinstance(inside.get("message"), dict) else inside
    chat = (message or {}).get("chat") or inside.get("from") or {}
    return int(chat.get("id", 0))
