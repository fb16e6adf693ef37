"""Answers as they are written: one stream for each message that is being answered, always the whole text so far."""

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
MAX_KNOWN = 2000
# Sends one packet: which message is answered, and the text so far.
SendPacket = Callable[[AnswerableCall, str], Awaitable[None]]


@dataclass(slots=True)
class _LiveStream:
    call: AnswerableCall
    text: str = ""
    fresh: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class LiveStreams:
    """Best effort: a packet that fails ends the showing of that answer; the answer itself comes by `send`."""

    def __init__(self, put: SendPacket, timing: WecomTiming) -> None:
        self._put = put
        self._timing = timing
        self._known: dict[str, AnswerableCall] = {}
        self._shown: dict[str, _LiveStream] = {}

    def know(self, message_id: str, call: AnswerableCall) -> None:
        """From now on, what is said about this message can be shown."""
        self._known.setdefault(message_id, call)
        if len(self._known) > MAX_KNOWN:
            waiting = (id for id, known in self._known.items() if known.key not in self._shown)
            del self._known[next(waiting)]  # the newest is not shown yet, so there is one

    def take(self, event: LiveEvent) -> None:
        """One event; see LiveEvent. Needs a running event loop."""
        call = self._known.get(event.message_id)
        if call is None:
            return
        if event.name in ("started", "delta"):
            showing = self._showing(call)
            if event.name == "delta":
                showing.text = event.text if event.facts.get("whole") else showing.text + event.text
                showing.fresh.set()
        elif event.name == "tool_started" and call.key in self._shown:
            self._shown[call.key].text = ""  # what is said after a tool is said again

    async def end(self, key: str) -> None:
        """The answer itself is next: returns when the last packet for the message with this key is through."""
        self._forget(key)
        showing = self._shown.pop(key, None)
        if showing is not None and showing.task is not None:
            showing.over.set()
            showing.fresh.set()
            await showing.task

    async def close(self) -> None:
        """End all of them."""
        for key in list(self._shown):
            await self.end(key)

    def _showing(self, call: AnswerableCall) -> _LiveStream:
        if call.key not in self._shown:
            showing = self._shown[call.key] = _LiveStream(call)
            showing.task = asyncio.create_task(self._go_on(showing), name="wecom stream")
        return self._shown[call.key]

    async def _go_on(self, showing: _LiveStream) -> None:
        until = time.monotonic() + self._timing.longest_live
        said = ""
        try:
            while time.monotonic() < until and not showing.over.is_set():
                showing.fresh.clear()
                said = showing.text or said  # a text begun again takes the place of the old one, not nothing
                await self._put(showing.call, first_message(render(said)) or PLACEHOLDER)
                await _wait_within(showing.over, self._timing.live)
                await _wait_within(showing.fresh, self._timing.alive)
        except ChannelError as err:
            log.info("live text ended", error=str(err))
        finally:
            self._forget(showing.call.key)
            if self._shown.get(showing.call.key) is showing:
                del self._shown[showing.call.key]

    def _forget(self, key: str) -> None:
        for message_id in [name for name, call in self._known.items() if call.key == key]:
            del self._known[message_id]


async def _wait_within(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
