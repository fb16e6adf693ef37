"""Client of a running bot on this machine: its HTTP API, and one conversation for the terminal."""

import asyncio
import base64
import logging
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit

from channels.base import NO_NOTEBOOK_CHANGES
from channels.errors import LoggedOut
from channels.message import (
    Accepted,
    Address,
    InboundMessage,
    LiveEvent,
    OutboundKind,
    OutboundMessage,
)
from channels.terminal.channel import Terminal
from channels.toolkit.http import read_start
from channels.toolkit.text import mark_unfinished
from channels.toolkit.untrusted import load_object

MAX_REPLY_BYTES = 16 * 2**20  # of a JSON reply, and of one event
# seconds between attempts to connect again; the last one is repeated
RECONNECT_PAUSES = (0.1, 0.3, 1.0, 2.0, 5.0)
REQUEST_SECONDS = 30.0
# without a byte, after which a stream is given up; the server sends one every 15 s
STREAM_GAP_SECONDS = 60.0
STORED_EVENTS: dict[str, OutboundKind] = {"reply": "final", "notice": "notice"}
LIVE_EVENTS = frozenset({"started", "delta", "tool_started", "tool_ended", "fold", "failed"})


class BotClient:
    """HTTP client of a running bot on this machine. Each request has its own connection.

    Raises:
        ValueError: the URL is not plain http.
    """

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname or parts.port == 0:
            raise ValueError(
                f"{url!r} is not the address of a server on this machine; http://127.0.0.1:8642 "
                "would be"
            )
        self._url = url.rstrip("/")
        self._token = token

    async def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, timeout: float
    ) -> tuple[int, dict[str, Any]]:
        """Send one request; return the reply's status and JSON object, {} where it has none.

        Args:
            timeout: seconds until the whole reply has arrived.

        Raises:
            OSError: the bot is unreachable, took too long (TimeoutError), or replied with a status
                from 500 on.
            RuntimeError: the bot refused; the text says why.
        """
        async with asyncio.timeout(timeout), self.stream(method, path, body) as response:
            content = await read_start(response.aiter_raw(), MAX_REPLY_BYTES)
        if len(content) > MAX_REPLY_BYTES:
            raise ConnectionError(f"the reply is larger than {MAX_REPLY_BYTES} bytes")
        reply = load_object(content) or {}
        if response.status_code < 300:
            return response.status_code, reply
        error = reply.get("error")
        why = str(error.get("message", "")) if isinstance(error, dict) else ""
        why = why or f"the bot answered with {response.status_code}"
        raise OSError(why) if response.status_code >= 500 else RuntimeError(why)

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        last_event_id: str = "",
        gap: float | None = None,
    ) -> AsyncIterator[Any]:
        """Send one request; yield the httpx2.Response, whose body is still to be read.

        Args:
            gap: seconds without a byte after which the connection counts as broken, None for no
                limit.

        Raises:
            OSError: there is no connection, or it broke.
        """
        import httpx2

        logging.getLogger("httpx2").setLevel(logging.WARNING)
        headers = {"Authorization": f"Bearer {self._token}", "Accept-Encoding": "identity"}
        if last_event_id:
            headers["Last-Event-ID"] = last_event_id
        client = httpx2.AsyncClient(
            timeout=gap,
            trust_env=False,  # a proxy of the environment must not see the token
            # unused; the default loads all certificates
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        )
        try:
            async with (
                client,
                client.stream(method, self._url + path, json=body, headers=headers) as response,
            ):
                yield response
        except httpx2.RequestError as err:
            raise ConnectionError(str(err) or type(err).__name__) from err


class RemoteConversation:
    """One conversation of a running bot: `deliver` and `stop` for a terminal, while `listen`
    runs.
    """

    def __init__(
        self, url: str, token: str, conversation: str, pauses: Sequence[float] = RECONNECT_PAUSES
    ) -> None:
        """Args: conversation: its name in the API.

        Raises ValueError for a URL that is not plain http.
        """
        self._client = BotClient(url, token)
        self._conversation = conversation
        self._address = Address(channel="web", account="console", chat_id=conversation)
        self._path = f"/api/conversations/{quote(conversation, safe='')}"
        self._pauses = pauses
        self._began = datetime.now(UTC)
        self._last_id = ""
        #: Set once the first attempt to listen has ended or succeeded.
        self._tried = asyncio.Event()
        #: Set once a message was posted: the first one creates the conversation.
        self._exists = asyncio.Event()

    async def deliver(
        self, messages: Sequence[InboundMessage], keep: Mapping[str, str] = NO_NOTEBOOK_CHANGES
    ) -> list[Accepted]:
        """Post messages one by one, after the first attempt to listen for replies.

        Raises:
            OSError: the bot could not be reached, or could not store the message.
            RuntimeError: the bot refused it; the text says why.
        """
        await self._tried.wait()
        return [await self._post(message) for message in messages]

    async def stop(self) -> None:
        """Stop the running turn. Raises as `deliver`."""
        await self._client.request("POST", f"{self._path}/stop", timeout=REQUEST_SECONDS)

    async def context(self) -> Mapping[str, Any]:
        """Fetch how full the conversation's context is, as the API's JSON. Raises as `deliver`."""
        return (
            await self._client.request("GET", f"{self._path}/context", timeout=REQUEST_SECONDS)
        )[1]

    async def listen(self, terminal: Terminal) -> None:
        """Show events from now on, reconnecting as often as needed, until cancelled.

        Raises:
            LoggedOut: the bot does not accept the token, or no longer does.
        """
        failures = 0
        while True:
            before = self._last_id
            with suppress(OSError):
                await self._follow(terminal)
            self._tried.set()
            failures = 0 if self._last_id != before else failures + 1
            if failures == len(self._pauses):
                terminal.hint("away")
            await asyncio.sleep(self._pauses[min(failures, len(self._pauses) - 1)])

    async def _post(self, message: InboundMessage) -> Accepted:
        body: dict[str, Any] = {
            "conversation": self._conversation,
            "text": message.text,
            "key": message.key,
        }
        if message.attachments:
            body["attachments"] = [
                {
                    "name": file.name,
                    "media_type": file.media_type,
                    "data": base64.b64encode(file.data).decode(),
                }
                for file in message.attachments
            ]
        status, reply = await self._client.request(
            "POST", "/api/messages", body, timeout=REQUEST_SECONDS
        )
        self._exists.set()
        return Accepted(id=str(reply.get("id", "")), new=status == 202)

    async def _follow(self, terminal: Terminal) -> None:
        """Show the events of one connection."""
        self._exists.clear()
        stream = self._client.stream(
            "GET", f"{self._path}/events", last_event_id=self._last_id, gap=STREAM_GAP_SECONDS
        )
        async with stream as response:
            if response.status_code == 200:
                self._tried.set()
                await self._show_events(terminal, response)
                return
        if response.status_code in (401, 403):
            raise LoggedOut("the running bot does not accept this token")
        if response.status_code == 404:
            self._tried.set()
            await self._exists.wait()

    async def _show_events(self, terminal: Terminal, response: Any) -> None:
        import httpx2

        async for event in httpx2.EventSource(response, MAX_REPLY_BYTES):
            if event.id:  # one without is only the server's `retry`
                await self._show(terminal, event.id, event.event, load_object(event.data) or {})
                self._last_id = event.id

    async def _show(
        self, terminal: Terminal, event_id: str, name: str, fields: Mapping[str, Any]
    ) -> None:
        text, message_id = str(fields.get("text", "")), str(fields.get("message_id", ""))
        if name in LIVE_EVENTS:
            facts = {
                key: value
                for key, value in fields.items()
                if isinstance(value, str | int | float | bool)
            }
            terminal.show(
                LiveEvent(
                    address=self._address,
                    name=name,  # type: ignore[arg-type]
                    message_id=message_id,
                    text=text,
                    facts=facts,
                )
            )
        elif name in STORED_EVENTS and self._is_new(fields):
            id = str(fields.get("id") or f"line {event_id}")
            text = mark_unfinished(text, str(fields.get("state", "")), terminal.language)
            await terminal.send(
                OutboundMessage(
                    id=id,
                    address=self._address,
                    client_key=id,
                    text=text,
                    kind=STORED_EVENTS[name],
                    reply_to=message_id,
                )
            )

    def _is_new(self, fields: Mapping[str, Any]) -> bool:
        """Whether a stored line was written since this client started: a new reader first gets the
        last ones.
        """
        try:
            return datetime.fromisoformat(str(fields["at"])) >= self._began
        except (KeyError, ValueError, TypeError):
            return True
