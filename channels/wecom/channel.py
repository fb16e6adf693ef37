"""WeCom smart bot: receives and sends over one WebSocket."""

import asyncio
import importlib.util
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog

from channels.base import ConnectionStatus, Deliver, FetchedFile, Notebook
from channels.errors import ChannelError, Rejected, Retryable
from channels.message import Address, Capabilities, LiveEvent, OutboundMessage, Receipt
from channels.toolkit.delivery import store_with_retry
from channels.wecom import media
from channels.wecom.connection import (
    ReconnectingSocket,
    StreamClosed,
    WecomTiming,
    new_request_id,
    run_until_first,
)
from channels.wecom.messages import (
    LIMIT,
    PLACEHOLDER,
    REPEAT_MARK,
    WecomMessage,
    card_packet,
    first_message,
    markdown_packet,
    parse,
    render,
    stream_id,
    stream_packet,
)
from channels.wecom.settings import WecomSettings
from channels.wecom.state import AnswerableCall, WecomState

log = structlog.get_logger(__name__)
KEY_VALID_SECONDS = 300.0  # a stream's last packet can be repeated for six minutes
MAX_KEYLESS_SENDS = 2
Frames = Sequence[tuple[str, Mapping[str, Any]]]  # callbacks by the time they were received


class Wecom:
    """One bot.

    The platform has no acknowledgement and is not known to repeat a callback. A callback is
    therefore passed to `deliver` at once, until that has stored it, and is written to the notebook
    if `run` ends first. Only a crash in between can lose it.
    """

    name = "wecom"
    settings_type = WecomSettings

    def __init__(self, settings: WecomSettings, *, timing: WecomTiming | None = None) -> None:
        """Raises ImportError: a package that this channel needs is missing."""
        for package in ("websockets", "cryptography"):
            if importlib.util.find_spec(package) is None:
                raise ModuleNotFoundError(f"no package {package}", name=package)
        self.account = settings.bot_id
        self.capabilities = Capabilities(
            limit=LIMIT,
            caption=LIMIT,
            unit="utf8",
            keyed=True,
            key_valid=KEY_VALID_SECONDS,
            live=True,
            per_chat_rate=1 / 3,
            burst=10,
            receives=frozenset(
                {"text", "picture", "file", "voice", "video", "album", "button", "quote"}
            ),
            groups=True,
            live_display="stream",
            file_bytes=media.FILE_BYTES,
            picture_bytes=media.PICTURE_BYTES,
            buttons=True,
        )
        self._settings = settings
        self._timing = timing or WecomTiming()
        self._socket = ReconnectingSocket(settings, self._timing, self._receive)
        self._state = WecomState()
        self._live = LiveStreams(self._send_live, self._timing)
        self._frames: deque[tuple[str, Mapping[str, Any]]] = deque()
        self._received = asyncio.Event()
        #: Of the newest frame: unix ns, always rising.
        self._received_at = 0
        self._running = False
        self._trouble = ""
        self._writing: set[asyncio.Task[None]] = set()

    def bind(self, notebook: Notebook) -> None:
        self._state.bind(notebook)

    async def run(self, deliver: Deliver) -> None:
        """Receive until cancelled. The connection stays open for sends until `close`.

        Raises:
            LoggedOut: bot_id or secret is wrong. ReceiverConflict: another program has subscribed
                as the bot.
            ChannelError: ten connections in a row failed.
        """
        self._running = True
        try:
            await self._state.open()
            await run_until_first(self._socket.maintain(), self._deliver_all(deliver))
        finally:
            self._running = False
            await self._store_undelivered()

    async def wait_until_ready(self, address: Address, reply_to_key: str) -> None:
        """Wait for the connection."""
        await self._socket.connected()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send one part: as a reply to its message while that is possible, else as a new message.

        Raises:
            Retryable, Rejected, AttachmentTooBig, Ambiguous, LoggedOut: see channels.errors.
        """
        try:
            return await self._send(message)
        except OSError as err:
            raise Retryable(f"the store cannot be written: {err}") from err

    def show(self, event: LiveEvent) -> None:
        """Show a reply while it is written; best effort."""
        self._live.handle(event)

    async def fetch(self, ref: str, most: int) -> FetchedFile:
        """Download an attachment; its URL is valid for five minutes after the message was
        received.
        """
        return await media.fetch_attachment(ref, most, self._settings.ws_url, self._settings.proxy)

    def connection_status(self) -> ConnectionStatus:
        return ConnectionStatus(
            last_contact=self._socket.last, trouble=self._trouble or self._socket.trouble
        )

    async def probe(self) -> str:
        """Open and close the socket.

        The secret is not tried: to subscribe would evict a running bot.
        """
        if await self._socket.probe():
            return f"bot {self.account}, connected"
        return (
            f"WeCom's socket can be reached; the secret of bot {self.account} is tried when it runs"
        )

    async def close(self) -> None:
        """Close the connection; a later send opens a new one."""
        await self._live.close()
        await self._socket.close()
        await asyncio.gather(*self._writing, return_exceptions=True)

    # Receiving.

    def _receive(self, frame: Mapping[str, Any]) -> None:
        self._received_at = max(self._received_at + 1, time.time_ns())
        self._frames.append((f"{self._received_at:020d}", frame))
        self._received.set()
        if not self._running:
            task = asyncio.create_task(self._store_undelivered())
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def _store_undelivered(self) -> None:
        """Write the frames that nothing delivers now to the notebook, for the next `run`."""
        frames = list(self._frames)
        if not frames:
            return
        try:
            await self._state.store_undelivered({name: json.dumps(frame) for name, frame in frames})
        except OSError as err:
            log.error("callbacks not kept", count=len(frames), error=str(err))
            return
        self._drop(frames)

    def _drop(self, frames: Frames) -> None:
        for frame in frames:
            if frame in self._frames:
                self._frames.remove(frame)

    async def _deliver_all(self, deliver: Deliver) -> None:
        if stored := self._state.undelivered():
            await self._deliver(
                deliver, [(name, json.loads(frame)) for name, frame in stored.items()]
            )
        while True:
            while batch := list(self._frames):
                await self._deliver(deliver, batch)
                self._drop(batch)
            self._received.clear()
            await self._received.wait()

    async def _deliver(self, deliver: Deliver, frames: Frames) -> None:
        parsed = [
            message for name, frame in frames if (message := self._parse(name, frame)) is not None
        ]
        names = [name for name, _ in frames]
        values = {**self._state.update(parsed), **self._state.removal_of(names)}
        if not parsed and not values:
            return
        messages = [one.message for one in parsed]
        accepted = await store_with_retry(
            lambda: deliver(messages, values), self.name, on_trouble=self._set_trouble
        )
        self._state.delivered(names)
        for delivered, row in zip(messages, accepted, strict=True):
            call = self._state.call(delivered.key)
            if call is not None and not call.by:
                self._live.register(row.id, call)

    def _set_trouble(self, trouble: str) -> None:
        self._trouble = trouble

    def _parse(self, name: str, frame: Mapping[str, Any]) -> WecomMessage | None:
        try:
            return parse(frame, self.account, int(name))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as err:
            log.warning("callback not understood", error=f"{type(err).__name__}: {err}")
            return None

    # Sending.

    async def _send_live(self, call: AnswerableCall, text: str) -> None:
        packet = stream_packet(stream_id(call.key), text, finish=False)
        await self._socket.request("aibot_respond_msg", packet, call.req_id)

    async def _send(self, message: OutboundMessage) -> Receipt:
        await self._state.open()
        call = self._state.call(message.reply_to_key)
        upload = partial(self._socket.request, timeout=self._timing.upload)
        file = await media.upload_media(message.file, upload) if message.file is not None else None
        receipt = Receipt()
        if message.text.strip() or (file is None and not message.buttons):
            receipt = await self._send_text(message, call)
        if file is not None:
            receipt = await self._send_new(message, ":file", file)
        if message.buttons:
            receipt = await self._send_new(
                message, ":buttons", card_packet(message.buttons, message.client_key)
            )
        return receipt

    async def _send_text(self, message: OutboundMessage, call: AnswerableCall | None) -> Receipt:
        if call is not None:
            id = await self._stream_id(message, call)
            packet = stream_packet(id, render(message.text), finish=True)
            with suppress(StreamClosed):
                async with self._state.attempt(message.client_key, id, keyless=False) as before:
                    if not before.done:
                        await self._socket.request("aibot_respond_msg", packet, call.req_id)
                return Receipt(platform_id=before.done or id)
        return await self._send_new(message)

    async def _stream_id(self, message: OutboundMessage, call: AnswerableCall) -> str:
        """Return the stream to send a part in; the first part of a reply continues the live one."""
        if message.part_no == 0 and message.kind in ("final", "notice"):
            await self._live.end(call.key)
            if await self._state.claim(call, message.client_key):
                return stream_id(call.key)
        return stream_id(message.client_key)

    async def _send_new(
        self, message: OutboundMessage, extra: str = "", body: dict[str, Any] | None = None
    ) -> Receipt:
        """Send a new message.

        It has no idempotency key, so an unknown outcome is retried once, with a mark.
        """
        request_id = new_request_id("aibot_send_msg")
        async with self._state.attempt(
            message.client_key + extra, request_id, keyless=True
        ) as before:
            if before.done:
                return Receipt(platform_id=before.done)
            if before.keyless >= MAX_KEYLESS_SENDS:
                raise Rejected(
                    f"the outcome of {before.keyless} attempts is unknown; there is no further one"
                )
            mark = REPEAT_MARK if before.all and not message.repeated else ""
            packet = body or markdown_packet(render(mark + message.text))
            chat = self._state.chat_spelling(message.address.chat_id)
            await self._socket.request("aibot_send_msg", {"chatid": chat, **packet}, request_id)
        return Receipt(platform_id=request_id)


# Replies shown while they are written: one stream per message, each packet with the text so far.

MAX_REGISTERED = 2000  # messages whose replies can be shown
# Sends one packet with the text so far of the reply to a message.
SendPacket = Callable[[AnswerableCall, str], Awaitable[None]]


@dataclass(slots=True)
class _LiveStream:
    call: AnswerableCall
    text: str = ""
    #: Set when the text has changed.
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class LiveStreams:
    """Shows replies, best effort: a packet that fails ends the stream; the reply itself comes by
    `send`.
    """

    def __init__(self, send: SendPacket, timing: WecomTiming) -> None:
        self._send = send
        self._timing = timing
        #: By inbox id.
        self._calls: dict[str, AnswerableCall] = {}
        #: By key of the message.
        self._streams: dict[str, _LiveStream] = {}

    def register(self, message_id: str, call: AnswerableCall) -> None:
        """Show events about this message from now on."""
        self._calls.setdefault(message_id, call)
        if len(self._calls) > MAX_REGISTERED:
            idle = (id for id, known in self._calls.items() if known.key not in self._streams)
            del self._calls[next(idle)]  # there is one: the newest has no stream yet

    def handle(self, event: LiveEvent) -> None:
        """Show one event. Needs a running event loop."""
        call = self._calls.get(event.message_id)
        if call is None:
            return
        if event.name in ("started", "delta"):
            stream = self._stream(call)
            if event.name == "delta":
                stream.text = event.text if event.facts.get("whole") else stream.text + event.text
                stream.changed.set()
        elif event.name == "tool_started" and call.key in self._streams:
            self._streams[call.key].text = ""  # the text after a tool replaces the one before it

    async def end(self, key: str) -> None:
        """End the stream of the message with this key, and wait until its last packet is sent."""
        self._forget(key)
        stream = self._streams.pop(key, None)
        if stream is not None and stream.task is not None:
            stream.ended.set()
            stream.changed.set()
            await stream.task

    async def close(self) -> None:
        """End all streams."""
        for key in list(self._streams):
            await self.end(key)

    def _stream(self, call: AnswerableCall) -> _LiveStream:
        if call.key not in self._streams:
            stream = self._streams[call.key] = _LiveStream(call)
            stream.task = asyncio.create_task(self._run(stream), name="wecom stream")
        return self._streams[call.key]

    async def _run(self, stream: _LiveStream) -> None:
        until = time.monotonic() + self._timing.max_live
        text = ""
        try:
            while time.monotonic() < until and not stream.ended.is_set():
                stream.changed.clear()
                # after a tool the old text stays until there is a new one
                text = stream.text or text
                await self._send(stream.call, first_message(render(text)) or PLACEHOLDER)
                await _wait_within(stream.ended, self._timing.live)
                await _wait_within(stream.changed, self._timing.live_refresh)
        except ChannelError as err:
            log.info("live text ended", error=str(err))
        finally:
            self._forget(stream.call.key)
            if self._streams.get(stream.call.key) is stream:
                del self._streams[stream.call.key]

    def _forget(self, key: str) -> None:
        for message_id in [id for id, call in self._calls.items() if call.key == key]:
            del self._calls[message_id]


async def _wait_within(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
