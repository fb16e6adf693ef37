"""Shows replies while they are written: one stream per message, each packet with the text so far."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from channels.errors import ChannelError
from channels.message import LiveEvent
from channels.wecom.connection import WecomTiming
from channels.wecom.messages import PLACEHOLDER, first_message, render
from channels.wecom.state import AnswerableCall

log = structlog.get_logger(__name__)
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
    """Shows replies, best effort: a packet that fails ends the stream; the reply itself comes by `send`."""

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
                text = stream.text or text  # after a tool the old text stays until there is a new one
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
