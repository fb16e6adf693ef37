"""Server-sent events: the stored transcript read line by line, with what is happening right now between the lines.

A stored line travels under the id "<line>", anything else under "<line>.<step>", line being the newest stored line sent
so far. Stored lines are always read from the transcript, in order, so a reader that was away, was too slow, or comes
back after a restart misses none; what only lived in memory is told again in short (`condense`).
"""

import asyncio
import json
import re
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol

import structlog
from starlette.types import Receive, Scope, Send

from channels.message import LiveEvent
from channels.web.auth import Visitor
from channels.web.backend import ConversationChanges, ConversationEntry, TranscriptLine
from channels.web.requests import conversation_json, error_response

MAX_RECENT_EVENTS = 512
MAX_RECENT_CHARACTERS = 1_000_000
# Steps that a room remembers, with their text, and rooms that are remembered though nobody reads them and nothing runs
# in them: a full one takes some 200 KiB, and who comes back to a forgotten one is told the stored lines all the same.
MAX_TOPICS = 32
RUNNING_SECONDS = 3 * 3_600.0  # without a word from its turn, after which a room does not count as in use any more
FIRST_LINES = 50
BATCH_LINES = 200
BATCH_CHARACTERS = 200_000  # that one reader holds at a time while its client does not take them
DRAFT_LIMIT = 400_000
KEEP_ALIVE_SECONDS = 15.0
RETRY_FRAME = b"retry: 1000\n\n"
KEEP_ALIVE_FRAME = b": keep-alive\n\n"
STORED_EVENTS = {"user": "accepted", "assistant": "reply", "notice": "notice"}
FINAL_EVENTS = frozenset({"reply", "notice", "failed"})
LINE_END_ESCAPES = {sign: f"\\u{sign:04x}" for sign in (0x85, 0x2028, 0x2029)}  # some readers take these for line ends
_ID = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,18}))?", re.ASCII)


class ReadLines(Protocol):
    """Reads the transcript, as Backend.lines."""

    def __call__(
        self, conversation: str, *, after: int | None = None, limit: int = 50
    ) -> Awaitable[list[TranscriptLine]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPosition:
    """How far a reader has come: the newest stored line it saw, and the newest step (0: unknown)."""

    line: int
    step: int = 0


def since(text: str) -> StreamPosition | None:
    """What a Last-Event-ID says; None for no or a strange one: the reader is new."""
    found = _ID.fullmatch(text.strip())
    return StreamPosition(line=int(found[1]), step=int(found[2] or 0)) if found else None


def condense_events(shown: tuple[LiveEvent, ...], event: LiveEvent) -> tuple[LiveEvent, ...]:
    """What a late reader must be told of a running answer, after one more event: its start, tool and text so far."""
    kept = {earlier.name: earlier for earlier in shown}
    match event.name:
        case "started":
            return (event,)
        case "delta":
            before = kept.pop("delta", None)
            whole = event.facts.get("whole") or before is None
            text = event.text if whole or before is None else before.text + event.text
            kept["delta"] = replace(event, text=text[-DRAFT_LIMIT:], facts={**event.facts, "whole": True})
        case "tool_started":
            kept["tool_started"] = event
        case "tool_ended":
            kept.pop("tool_started", None)
        case _:
            pass
    return tuple(kept.values())


@dataclass(frozen=True, slots=True)
class _StreamStep:
    """One step of a room: an event, or None for "look, the transcript has grown"."""

    step: int
    event: LiveEvent | None


class _ConversationStream:
    """One conversation's recent steps, what is running in it, and the bell its readers wait for."""

    def __init__(self, first_step: int) -> None:
        self.ring: deque[_StreamStep] = deque()
        self.characters = 0
        self.last = first_step
        self.running: dict[str, tuple[LiveEvent, ...]] = {}
        self.moved = 0.0
        self.bell = asyncio.Event()
        self.readers = 0

    def add(self, event: LiveEvent | None) -> None:
        self.last += 1
        self.ring.append(_StreamStep(self.last, event))
        self.characters += len(event.text) if event else 0
        while len(self.ring) > MAX_RECENT_EVENTS or self.characters > MAX_RECENT_CHARACTERS:
            oldest = self.ring.popleft().event
            self.characters -= len(oldest.text) if oldest else 0
        self.notify_readers()

    def is_in_use(self, now: float) -> bool:
        """Whether somebody reads it, or a turn shows itself in it. now: seconds of the hub's clock."""
        return bool(self.readers) or bool(self.running and now - self.moved < RUNNING_SECONDS)

    def notify_readers(self) -> None:
        self.bell.set()
        self.bell = asyncio.Event()

    def holds(self, step: int) -> bool:
        """Whether every step after this one is still here."""
        return self.last - len(self.ring) <= step <= self.last

    def next(self, step: int) -> _StreamStep | None:
        return None if step == self.last else self.ring[step - self.last]


class EventHub:
    """All rooms. Every method must be called on the event loop's thread."""

    def __init__(self, *, pause: float = KEEP_ALIVE_SECONDS, clock: Callable[[], int] = time.time_ns) -> None:
        self._rooms: OrderedDict[str, _ConversationStream] = OrderedDict()
        self._pause = pause
        self._clock = clock
        self._closed = False

    def publish(self, event: LiveEvent) -> None:
        """Show one event; one with a stored line behind it makes readers look into the transcript instead."""
        room = self._room(event.address.chat_id)
        if event.name in FINAL_EVENTS:
            room.running.pop(event.message_id, None)
        elif event.message_id and event.name not in ("accepted", "fold"):
            room.running[event.message_id] = condense_events(room.running.get(event.message_id, ()), event)
            room.moved = self._clock() / 1e9
        room.add(None if event.line else event)

    def look(self, conversation: str) -> None:
        """Something was stored in this conversation."""
        self._room(conversation).add(None)

    def wake(self) -> None:
        """Let every reader look up at once, so that one whose session has ended is closed."""
        for room in self._rooms.values():
            room.notify_readers()

    @property
    def closed(self) -> bool:
        """Whether all streams are to end."""
        return self._closed

    def close(self) -> None:
        """End all streams; clients come back with their Last-Event-ID."""
        self._closed = True
        self.wake()

    async def follow(self, conversation: str, start: StreamPosition | None, lines: ReadLines) -> AsyncGenerator[bytes]:
        """Frames for one reader until the hub closes: an empty one (b"") when it merely looked up.

        A new reader (`start` None) is given the newest lines first.
        """
        room = self._room(conversation)
        room.readers += 1
        reader = _StreamReader(conversation, room, lines, start)
        try:
            yield RETRY_FRAME
            while not self._closed:
                bell = room.bell
                async for frame in reader.catch_up():
                    yield frame
                if await _wait_for_event(bell, self._pause):
                    yield b""
                    continue
                yield KEEP_ALIVE_FRAME
                # Another process may have stored a line and could not ring our bell.
                async for frame in reader.stored():
                    yield frame
        finally:
            room.readers -= 1

    def _room(self, conversation: str) -> _ConversationStream:
        room = self._rooms.get(conversation)
        if room is None:
            self._prune()  # before there is a new one: nobody reads it yet, so it would be the first to go
            # Steps begin at the clock, so one from before a restart is never taken for one of now.
            room = self._rooms[conversation] = _ConversationStream(self._clock() // 1000)
        self._rooms.move_to_end(conversation)
        return room

    def _prune(self) -> None:
        """Make place for one more. Rooms in use stay, however many: streams and turns have bounds of their own."""
        if (over := len(self._rooms) + 1 - MAX_TOPICS) > 0:
            now = self._clock() / 1e9
            unused = (name for name, room in self._rooms.items() if not room.is_in_use(now))
            for name in list(islice(unused, over)):
                del self._rooms[name]


class _StreamReader:
    """One stream's place in a room and in its transcript."""

    def __init__(
        self, conversation: str, room: _ConversationStream, lines: ReadLines, start: StreamPosition | None
    ) -> None:
        self.conversation = conversation
        self.room = room
        self.lines = lines
        self.line = start.line if start else None
        self.step = start.step if start else 0

    async def catch_up(self) -> AsyncIterator[bytes]:
        while True:
            if not self.room.holds(self.step):
                async for frame in self._rejoin():
                    yield frame
            entry = self.room.next(self.step)
            if entry is None:
                return
            self.step = entry.step
            if entry.event is not None:
                yield self._live(entry.event)
                continue
            async for frame in self.stored():
                yield frame

    async def stored(self) -> AsyncIterator[bytes]:
        async for line in self._new_lines():
            yield _event_frame(str(line.number), STORED_EVENTS[line.role], _line_json(line))

    async def _rejoin(self) -> AsyncIterator[bytes]:
        self.step = self.room.last
        running = dict(self.room.running)
        async for line in self._new_lines():
            running.pop(line.reply_to, None)
            yield _event_frame(str(line.number), STORED_EVENTS[line.role], _line_json(line))
        for events in running.values():
            for event in events:
                yield self._live(event)

    async def _new_lines(self) -> AsyncIterator[TranscriptLine]:
        more = True
        while more:
            is_new = self.line is None
            found = await self.lines(self.conversation, after=self.line, limit=FIRST_LINES if is_new else BATCH_LINES)
            batch = _first_lines(found)
            more = is_new or len(batch) < len(found) or len(found) == BATCH_LINES
            del found
            self.line = self.line or 0
            for line in batch:
                self.line = line.number
                yield line

    def _live(self, event: LiveEvent) -> bytes:
        told: dict[str, Any] = dict(event.facts)
        if event.message_id:
            told["message_id"] = event.message_id
        if event.text or event.name in ("delta", "reply", "notice", "failed"):
            told["text"] = event.text
        return _event_frame(f"{self.line or 0}.{self.step}", event.name, told)


def _first_lines(lines: list[TranscriptLine]) -> list[TranscriptLine]:
    """As many of the lines as one reader may hold, at least the first; the others are read again after them."""
    characters = 0
    for count, line in enumerate(lines):
        characters += len(line.text)
        if characters > BATCH_CHARACTERS:
            return lines[: max(1, count)]
    return lines


def _line_json(line: TranscriptLine) -> dict[str, Any]:
    told = {"id": line.id, "line": line.number, "text": line.text, "at": line.at.isoformat()}
    about = line.id if line.role == "user" else line.reply_to
    return {"message_id": about, **told} if about else told


def _event_frame(id: str, name: str, told: dict[str, Any]) -> bytes:
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":")).translate(LINE_END_ESCAPES)
    return f"id: {id}\nevent: {name}\ndata: {text}\n\n".encode(errors="replace")


async def _wait_for_event(bell: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await bell.wait()
    except TimeoutError:
        return False
    return True


# What has changed in the list of conversations, as server-sent events, and several sources in one stream.
#
# The list is looked at once a second for as long as somebody follows it: one query over an index that reads only what
# has changed since the last look. So nothing is registered where messages are stored, a slow reader delays nobody, and
# what another process stored is seen as well.

LIST_POLL_SECONDS = 1.0  # seconds between two looks
OVERLAP_SECONDS = 5.0  # seconds that a transaction may take from its time stamp to its commit
MAX_CHANGES = 200  # entries of one look; more since the last one make a `reset`
POLLS_PER_KEEP_ALIVE = 15
RESET_FRAME = b"event: reset\ndata: {}\n\n"


async def list_changes(
    changed: Callable[[float, int], Awaitable[ConversationChanges | None]],
    closed: Callable[[], bool],
    *,
    pause: float = LIST_POLL_SECONDS,
) -> AsyncGenerator[bytes]:
    """Frames until `closed`: `conversation` with an entry of the list, or `reset` when the list has to be read again.

    An empty frame (b"") says that nothing has changed.

    Args:
        changed: see Backend.changed.
    """
    yield RETRY_FRAME
    since, sent, looks = float("inf"), dict[str, ConversationEntry](), 0
    while not closed():
        found = await changed(since - OVERLAP_SECONDS, MAX_CHANGES)
        if found is not None:
            for frame in _list_frames([one for one in found.conversations if sent.get(one.id) != one]):
                yield frame
            sent = {one.id: one for one in found.conversations}
            since = found.at
        looks += 1
        yield b"" if looks % POLLS_PER_KEEP_ALIVE else KEEP_ALIVE_FRAME
        await asyncio.sleep(pause)


async def merge_frames(*sources: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The frames of all sources, each as soon as it is there, until one of them ends."""
    waiting: dict[asyncio.Future[bytes], AsyncGenerator[bytes]] = {
        asyncio.ensure_future(anext(source)): source for source in sources
    }
    try:
        while (frames := await _next_frames(waiting)) is not None:
            for frame in frames:
                yield frame
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for source in sources:
            await source.aclose()


async def _next_frames(waiting: dict[asyncio.Future[bytes], AsyncGenerator[bytes]]) -> list[bytes] | None:
    """What is there first, of one source or several; None when one of them has ended."""
    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    frames = []
    for task in done:
        source = waiting.pop(task)
        if isinstance(task.exception(), StopAsyncIteration):
            return None
        frames.append(task.result())
        waiting[asyncio.ensure_future(anext(source))] = source
    return frames


def _list_frames(new: Sequence[ConversationEntry]) -> list[bytes]:
    """The oldest change first, so that the newest ends on top of the list."""
    return [RESET_FRAME] if len(new) == MAX_CHANGES else [_list_frame(one) for one in reversed(new)]


def _list_frame(one: ConversationEntry) -> bytes:
    text = json.dumps(conversation_json(one), ensure_ascii=True, separators=(",", ":"))
    return f"event: conversation\ndata: {text}\n\n".encode()


# An answer that goes on for as long as its reader is there, may read it, and keeps up.

log = structlog.get_logger(__name__)
STALL_SECONDS = 30.0
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx then passes each event on at once
]


class EventStream:
    """Server-sent events as an ASGI answer.

    alive: asked before each frame; when it says no, or one frame is not taken for `stalled` seconds, the stream ends
    and the client may come back with its Last-Event-ID. A login that has its most streams open already is answered 429.
    """

    def __init__(
        self, frames: AsyncGenerator[bytes], alive: Callable[[], bool], *, stalled: float = STALL_SECONDS
    ) -> None:
        self._frames = frames
        self._alive = alive
        self._stalled = stalled

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        visitor: Visitor = scope["state"]["visitor"]
        streams = visitor.streams
        if streams.count >= streams.most:
            why = f"{streams.most} event streams of this login are open; close one first"
            await error_response(429, "too_many_streams", why, {"retry-after": "5"})(scope, receive, send)
            return
        streams.count += 1
        try:
            await self._stream(scope, receive, send)
        finally:
            streams.count -= 1

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        tasks: list[asyncio.Task[None]] = [asyncio.create_task(_wait_for_disconnect(receive))]
        if scope["method"] != "HEAD":
            tasks.append(asyncio.create_task(self._pump(send)))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception) and not isinstance(result, OSError):
                log.error("stream ended early", error=type(result).__name__, exc_info=result)
        await send({"type": "http.response.body", "body": b""})

    async def _pump(self, send: Send) -> None:
        async with aclosing(self._frames) as frames:  # whatever ends this, the conversation has one reader less at once
            async for frame in frames:
                if not self._alive():
                    return
                if frame:
                    await self._put(send, frame)

    async def _put(self, send: Send, frame: bytes) -> None:
        async with asyncio.timeout(self._stalled):
            await send({"type": "http.response.body", "body": frame, "more_body": True})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
