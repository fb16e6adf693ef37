"""The terminal's way to a bot that runs already: what is typed goes to its HTTP API, its events come back."""

import asyncio
import base64
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import quote

from channels.base import NOTHING
from channels.errors import LoggedOut
from channels.message import Accepted, Address, InboundMessage, LiveEvent, OutboundKind, OutboundMessage, Receipt
from channels.remote_wire import ServerEvent, ask, call, endpoint, events

PAUSES = (0.1, 0.3, 1.0, 2.0, 5.0)
"""Seconds between attempts to connect again; the last one holds."""
PATIENCE = 30.0
GAP = 60.0
"""Seconds without a byte after which a stream is given up; the server says something every 15."""
LINES: dict[str, OutboundKind] = {"reply": "final", "notice": "notice"}
LIVE = frozenset({"started", "delta", "tool_started", "tool_ended", "fold", "failed"})


class Hearer(Protocol):
    """What hears the events: the terminal."""

    async def send(self, message: OutboundMessage) -> Receipt: ...

    def show(self, event: LiveEvent) -> None: ...

    def hint(self, key: str, **fields: object) -> None: ...


class Remote:
    """One conversation of a running bot. conversation: its name in the API. pauses: see PAUSES.

    `deliver` and `stop` fit a terminal; `listen` has to run beside it.
    """

    def __init__(self, url: str, token: str, conversation: str, pauses: Sequence[float] = PAUSES) -> None:
        """Raises ValueError for an address that is not plain http."""
        self._where = endpoint(url, token)
        self._conversation = conversation
        self._place = Address(channel="web", account="console", chat_id=conversation)
        self._path = f"/api/conversations/{quote(conversation, safe='')}"
        self._pauses = pauses
        self._began = datetime.now(UTC)
        self._last_id = ""
        self._tried = asyncio.Event()
        self._exists = asyncio.Event()

    async def deliver(self, messages: Sequence[InboundMessage], keep: Mapping[str, str] = NOTHING) -> list[Accepted]:
        """Post them one by one, once somebody listens for the answers.

        Raises:
            OSError: the bot could not be reached, or could not store it.
            RuntimeError: the bot refused it; the text says why.
        """
        await self._tried.wait()
        return [await self._post(message) for message in messages]

    async def stop(self) -> None:
        """Ask for the end of the running turn. Raises as `deliver`."""
        await self._ask("POST", f"{self._path}/stop")

    async def context(self) -> Mapping[str, Any]:
        """How full the conversation's context is, as the API tells it. Raises as `deliver`."""
        return (await self._ask("GET", f"{self._path}/context"))[1]

    async def listen(self, hearer: Hearer) -> None:
        """Pass on what happens from now on, connecting again as often as needed, until cancelled.

        Raises:
            LoggedOut: the token is wrong (by now).
        """
        failures = 0
        while True:
            before = self._last_id
            with suppress(OSError, TimeoutError):
                await self._follow(hearer)
            self._tried.set()
            failures = 0 if self._last_id != before else failures + 1
            if failures == len(self._pauses):
                hearer.hint("away")
            await asyncio.sleep(self._pauses[min(failures, len(self._pauses) - 1)])

    async def _post(self, message: InboundMessage) -> Accepted:
        files = [
            {"name": file.name, "media_type": file.media_type, "data": base64.b64encode(file.data).decode()}
            for file in message.attachments
        ]
        told = {"conversation": self._conversation, "text": message.text, "key": message.key}
        status, answer = await self._ask("POST", "/api/messages", {**told, "attachments": files} if files else told)
        self._exists.set()
        return Accepted(id=str(answer.get("id", "")), new=status == 202)

    async def _ask(self, method: str, path: str, told: Mapping[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        return await ask(self._where, method, path, told, patience=PATIENCE)

    async def _follow(self, hearer: Hearer) -> None:
        """One connection's events."""
        self._exists.clear()
        async with call(self._where, "GET", f"{self._path}/events", last_id=self._last_id) as reply:
            if reply.status == 200:
                self._tried.set()
                async for event in events(reply, GAP):
                    await self._pass_on(hearer, event)
                    self._last_id = event.id
                return
        if reply.status in (401, 403):
            raise LoggedOut("the running bot does not take this token")
        if reply.status == 404:
            self._tried.set()
            await self._exists.wait()

    async def _pass_on(self, hearer: Hearer, event: ServerEvent) -> None:
        told = _object(event.data)
        text, about = str(told.get("text", "")), str(told.get("message_id", ""))
        if event.name in LIVE:
            facts = {key: value for key, value in told.items() if isinstance(value, str | int | float | bool)}
            hearer.show(
                LiveEvent(
                    address=self._place,
                    name=event.name,  # type: ignore[arg-type]
                    message_id=about,
                    text=text,
                    facts=facts,
                )
            )
        elif event.name in LINES and self._fresh(told):
            id = str(told.get("id") or f"line {event.id}")
            await hearer.send(
                OutboundMessage(
                    id=id, address=self._place, client_key=id, text=text, kind=LINES[event.name], reply_to=about
                )
            )

    def _fresh(self, told: Mapping[str, Any]) -> bool:
        """Whether a stored line is of this sitting: a new reader is told the last ones before it too."""
        try:
            return datetime.fromisoformat(str(told["at"])) >= self._began
        except (KeyError, ValueError, TypeError):
            return True


def _object(data: str) -> dict[str, Any]:
    try:
        told = json.loads(data)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
