"""Server-sent events: stored transcript lines, with live events between them.

A stored line has the id "<line>", any other event "<line>.<step>", line being the newest stored
line sent so far. Stored lines are always read from the transcript, in order, so a reader that was
disconnected, slow, or returns after a restart misses none. Live events exist in memory only; a
reader that missed some gets their condensed state.
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
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from channels.message import LiveEvent
from channels.phrases import Phrase
from channels.web.auth import Visitor
from channels.web.backend import (
    UNFINISHED_STATES,
    ConversationChanges,
    ConversationEntry,
    TranscriptLine,
)
from channels.web.requests import conversation_json, error_response, request_language

MAX_RECENT_EVENTS = 512
MAX_RECENT_CHARACTERS = 1_000_000
# Conversations whose recent events stay in memory although they are not in use. A full one takes
# some 200 KiB; readers of one that was dropped still get the stored lines, and all that it has
# while no turn is running.
MAX_CONVERSATIONS = 8
# without an event, after which a turn no longer keeps its conversation in memory
RUNNING_SECONDS = 3 * 3_600.0
FIRST_LINES = 50
BATCH_LINES = 200
# of stored lines that one reader holds while its client does not take them
BATCH_CHARACTERS = 200_000
MAX_DRAFT_CHARACTERS = 400_000
KEEP_ALIVE_SECONDS = 15.0
RETRY_FRAME = b"retry: 1000\n\n"
KEEP_ALIVE_FRAME = b": keep-alive\n\n"
STORED_EVENTS = {"user": "accepted", "assistant": "reply", "notice": "notice"}
FINAL_EVENTS = frozenset({"reply", "notice", "failed"})
# line ends for some clients
LINE_END_ESCAPES = {char: f"\\u{char:04x}" for char in (0x85, 0x2028, 0x2029)}
_ID = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,18}))?", re.ASCII)


class ReadLines(Protocol):
    """Backend.lines for one reader."""

    def __call__(
        self, conversation: str, *, after: int | None = None, limit: int = 50
    ) -> Awaitable[list[TranscriptLine]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPosition:
    """The newest event that a reader has received."""

    #: Number of the newest stored line.
    line: int
    #: Newest step of the live events, 0 for unknown.
    step: int = 0


def parse_position(text: str) -> StreamPosition | None:
    """Parse a Last-Event-ID; None if it is missing or malformed, which makes the reader a new
    one.
    """
    found = _ID.fullmatch(text.strip())
    return StreamPosition(line=int(found[1]), step=int(found[2] or 0)) if found else None


def condense_events(condensed: tuple[LiveEvent, ...], event: LiveEvent) -> tuple[LiveEvent, ...]:
    """Add one event to the condensed state of a running turn: its start, running tool and text so
    far.
    """
    state = {earlier.name: earlier for earlier in condensed}
    state.pop("waiting", None)
    match event.name:
        case "started":
            return (event,)
        case "delta":
            before = state.pop("delta", None)
            text = (
                event.text
                if before is None or event.facts.get("whole")
                else before.text + event.text
            )
            state["delta"] = replace(
                event, text=text[-MAX_DRAFT_CHARACTERS:], facts={**event.facts, "whole": True}
            )
        case "tool_started":
            state["tool_started"] = event
        case "waiting":
            state["waiting"] = event
        case "tool_ended":
            state.pop("tool_started", None)
        case _:
            pass
    return tuple(state.values())


@dataclass(frozen=True, slots=True)
class _StreamStep:
    """One step of a conversation's events."""

    step: int
    #: None: the transcript has new lines.
    event: LiveEvent | None


class _ConversationStream:
    """One conversation's recent steps and running turns."""

    def __init__(self, first_step: int) -> None:
        self.recent: deque[_StreamStep] = deque()
        #: Characters of all texts in `recent`.
        self.characters = 0
        self.last_step = first_step
        #: Condensed events of each running turn, by message id.
        self.running: dict[str, tuple[LiveEvent, ...]] = {}
        #: Unix seconds of the last event of a running turn.
        self.last_event_at = 0.0
        #: Set, and replaced, at each step; readers wait for it.
        self.changed = asyncio.Event()
        self.readers = 0

    def add(self, event: LiveEvent | None) -> None:
        self.last_step += 1
        self.recent.append(_StreamStep(self.last_step, event))
        self.characters += len(event.text) if event else 0
        while len(self.recent) > MAX_RECENT_EVENTS or self.characters > MAX_RECENT_CHARACTERS:
            oldest = self.recent.popleft().event
            self.characters -= len(oldest.text) if oldest else 0
        self.notify_readers()

    def is_in_use(self, now: float) -> bool:
        """Whether it has readers or a running turn. now: unix seconds."""
        return bool(self.readers) or bool(
            self.running and now - self.last_event_at < RUNNING_SECONDS
        )

    def notify_readers(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    def holds(self, step: int) -> bool:
        """Whether every step after this one is still in memory."""
        return self.last_step - len(self.recent) <= step <= self.last_step

    def next(self, step: int) -> _StreamStep | None:
        return None if step == self.last_step else self.recent[step - self.last_step]


class EventHub:
    """Publishes live events to the readers of each conversation. Use it on the event loop only."""

    def __init__(
        self, *, pause: float = KEEP_ALIVE_SECONDS, clock: Callable[[], int] = time.time_ns
    ) -> None:
        """Args: pause: seconds between keep-alive frames. clock: ns of unix time."""
        self._streams: OrderedDict[str, _ConversationStream] = OrderedDict()
        self._keep_alive = pause
        self._clock = clock
        self._closed = False

    def publish(self, event: LiveEvent) -> None:
        """Publish one event; for one that has a stored line, readers read the transcript
        instead.
        """
        stream = self._stream(event.address.chat_id)
        if event.name in FINAL_EVENTS:
            stream.running.pop(event.message_id, None)
        elif event.message_id and event.name not in ("accepted", "fold"):
            stream.running[event.message_id] = condense_events(
                stream.running.get(event.message_id, ()), event
            )
            stream.last_event_at = self._clock() / 1e9
        stream.add(None if event.line else event)

    def notify_stored(self, conversation: str) -> None:
        """Make readers of this conversation read its new stored lines."""
        self._stream(conversation).add(None)

    def wake_readers(self) -> None:
        """Wake every reader at once, so that streams of ended sessions close."""
        for stream in self._streams.values():
            stream.notify_readers()

    def has_readers(self, conversation: str) -> bool:
        """Tell whether somebody looks at a conversation."""
        stream = self._streams.get(conversation)
        return stream is not None and stream.readers > 0

    @property
    def closed(self) -> bool:
        """Whether the streams are ending."""
        return self._closed

    def close(self) -> None:
        """End all streams; clients reconnect with their Last-Event-ID."""
        self._closed = True
        self.wake_readers()

    async def follow(
        self, conversation: str, start: StreamPosition | None, lines: ReadLines
    ) -> AsyncGenerator[bytes]:
        """Yield frames for one reader until the hub closes; b"" when it woke up without news.

        A new reader (`start` None) gets the newest lines first.
        """
        stream = self._stream(conversation)
        stream.readers += 1
        reader = _StreamReader(conversation, stream, lines, start)
        try:
            yield RETRY_FRAME
            while not self._closed:
                changed = stream.changed
                async for frame in reader.catch_up():
                    yield frame
                try:
                    async with asyncio.timeout(self._keep_alive):
                        await changed.wait()
                except TimeoutError:
                    yield KEEP_ALIVE_FRAME
                    # Another process may have stored a line: it cannot notify this hub.
                    async for frame in reader.stored():
                        yield frame
                else:
                    yield b""
        finally:
            stream.readers -= 1

    def _stream(self, conversation: str) -> _ConversationStream:
        stream = self._streams.get(conversation)
        if stream is None:
            # before adding the new one, which has no readers yet and would be dropped
            self._prune()
            # Steps start at the clock's time, so that they are higher than those from before a
            # restart.
            stream = self._streams[conversation] = _ConversationStream(self._clock() // 1000)
        self._streams.move_to_end(conversation)
        return stream

    def _prune(self) -> None:
        """Free a place for one more, except of those in use: readers and turns have limits of their
        own.
        """
        if (over := len(self._streams) + 1 - MAX_CONVERSATIONS) > 0:
            now = self._clock() / 1e9
            unused = (name for name, stream in self._streams.items() if not stream.is_in_use(now))
            for name in list(islice(unused, over)):
                del self._streams[name]


class _StreamReader:
    """One reader's position in a conversation's live events and transcript."""

    def __init__(
        self,
        conversation: str,
        stream: _ConversationStream,
        lines: ReadLines,
        start: StreamPosition | None,
    ) -> None:
        self.conversation = conversation
        self.stream = stream
        self.lines = lines
        self.line = start.line if start else None
        self.step = start.step if start else 0

    async def catch_up(self) -> AsyncIterator[bytes]:
        while True:
            if not self.stream.holds(self.step):
                async for frame in self._rejoin():
                    yield frame
            next_step = self.stream.next(self.step)
            if next_step is None:
                return
            self.step = next_step.step
            if next_step.event is not None:
                yield self._live(next_step.event)
                continue
            async for frame in self.stored():
                yield frame

    async def stored(self) -> AsyncIterator[bytes]:
        async for line in self._new_lines():
            yield _line_frame(line)

    async def _rejoin(self) -> AsyncIterator[bytes]:
        """Continue at the newest step, with the condensed events of the turns still running
        there.
        """
        self.step = self.stream.last_step
        running = dict(self.stream.running)
        async for line in self._new_lines():
            running.pop(line.reply_to, None)
            yield _line_frame(line)
        for events in running.values():
            for event in events:
                yield self._live(event)

    async def _new_lines(self) -> AsyncIterator[TranscriptLine]:
        more = True
        while more:
            is_new = self.line is None
            lines = await self.lines(
                self.conversation, after=self.line, limit=FIRST_LINES if is_new else BATCH_LINES
            )
            batch = _first_lines(lines)
            more = is_new or len(batch) < len(lines) or len(lines) == BATCH_LINES
            del lines  # only the batch stays in memory while the client reads it
            self.line = self.line or 0
            for line in batch:
                self.line = line.number
                yield line

    def _live(self, event: LiveEvent) -> bytes:
        fields: dict[str, Any] = dict(event.facts)
        if event.message_id:
            fields["message_id"] = event.message_id
        if event.text or event.name in ("delta", "reply", "notice", "failed"):
            fields["text"] = event.text
        return _event_frame(f"{self.line or 0}.{self.step}", event.name, fields)


def _first_lines(lines: list[TranscriptLine]) -> list[TranscriptLine]:
    """Return as many lines as one reader may hold, at least one; the rest is read again later."""
    characters = 0
    for count, line in enumerate(lines):
        characters += len(line.text)
        if characters > BATCH_CHARACTERS:
            return lines[: max(1, count)]
    return lines


def _line_frame(line: TranscriptLine) -> bytes:
    fields = {
        "id": line.id,
        "line": line.number,
        "text": line.text,
        "at": line.at.isoformat(),
        **line.details,
    }
    if line.state in UNFINISHED_STATES:
        fields["state"] = line.state
    for name in ("tool", "call_end", "speaker", "written_on"):
        if value := getattr(line, name):
            fields[name] = value
    if message_id := line.id if line.role == "user" else line.reply_to:
        fields = {"message_id": message_id, **fields}
    return _event_frame(str(line.number), STORED_EVENTS[line.role], fields)


def _event_frame(id: str, name: str, fields: dict[str, Any]) -> bytes:
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).translate(LINE_END_ESCAPES)
    return f"id: {id}\nevent: {name}\ndata: {text}\n\n".encode(errors="replace")


# Changes of the list of conversations, and several sources in one stream.
#
# Each reader polls the list once a second: one indexed query for what has changed since the last
# poll. It needs no hook where messages are stored, a slow reader delays no other, and it sees what
# other processes store.

LIST_POLL_SECONDS = 1.0
OVERLAP_SECONDS = 5.0  # that a transaction may take from its time stamp to its commit
MAX_CHANGES = 200  # entries per poll; at this many a `reset` is sent instead
POLLS_PER_KEEP_ALIVE = 15
RESET_FRAME = b"event: reset\ndata: {}\n\n"


async def list_changes(
    changed: Callable[[float, int], Awaitable[ConversationChanges | None]],
    closed: Callable[[], bool],
    *,
    pause: float = LIST_POLL_SECONDS,
    full: bool = False,
) -> AsyncGenerator[bytes]:
    """Yield frames until `closed`: `conversation` with a new entry, or `reset` to read the list
    again.

    Of a conversation that was deleted there is no entry: a `reset` tells of it.

    Args:
        changed: Backend.changed. pause: seconds between two polls. full: entries as the versioned
            API has them.

    Returns:
        Frames; b"" after a poll without changes.
    """
    yield RETRY_FRAME
    since, sent, polls = float("inf"), dict[str, ConversationEntry](), 0
    reported = frozenset[int]()
    while not closed():
        found = await changed(since - OVERLAP_SECONDS, MAX_CHANGES)
        if found is not None:
            for frame in _list_frames(
                [entry for entry in found.conversations if sent.get(entry.id) != entry], full=full
            ):
                yield frame
            if not reported.issuperset(found.deletions):
                yield RESET_FRAME
            sent, reported = (
                {entry.id: entry for entry in found.conversations},
                frozenset(found.deletions),
            )
            since = found.at
        polls += 1
        yield b"" if polls % POLLS_PER_KEEP_ALIVE else KEEP_ALIVE_FRAME
        await asyncio.sleep(pause)


# a change by a command on any channel, or of another process, is seen within a second
CONTEXT_POLL_SECONDS = 0.4
CONTEXT_FRAME = b"event: context\ndata: {}\n\n"


async def context_changes(
    stamp: Callable[[], Awaitable[str]],
    closed: Callable[[], bool],
    *,
    pause: float = CONTEXT_POLL_SECONDS,
) -> AsyncGenerator[bytes]:
    """Yield a frame whenever the stamp of a conversation's context changes, until `closed`.

    Args:
        stamp: Backend.context_stamp of the conversation. pause: seconds between two polls.
    """
    known = await stamp()
    while not closed():
        await asyncio.sleep(pause)
        found = await stamp()
        if found and known and found != known:
            yield CONTEXT_FRAME
        known = found or known


async def merge_frames(*sources: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """Yield the frames of all sources as they come, until one source ends."""
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


async def _next_frames(
    waiting: dict[asyncio.Future[bytes], AsyncGenerator[bytes]],
) -> list[bytes] | None:
    """Wait for the next frame of at least one source; None if one has ended."""
    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    frames = []
    for task in done:
        source = waiting.pop(task)
        if isinstance(task.exception(), StopAsyncIteration):
            return None
        frames.append(task.result())
        waiting[asyncio.ensure_future(anext(source))] = source
    return frames


def _list_frames(new: Sequence[ConversationEntry], *, full: bool) -> list[bytes]:
    """Build the frames, oldest change first: the page moves each entry to the top of its list."""
    if len(new) == MAX_CHANGES:
        return [RESET_FRAME]
    entries = (
        json.dumps(conversation_json(entry, full=full), separators=(",", ":"))
        for entry in reversed(new)
    )
    return [f"event: conversation\ndata: {entry}\n\n".encode() for entry in entries]


# The response that sends the frames.

log = structlog.get_logger(__name__)
STALL_SECONDS = 30.0
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx then passes each event on at once
]


class EventStream:
    """Server-sent events as an ASGI response; replies 429 if the login has too many streams open.

    Args:
        alive: called before each frame; the stream ends when it returns False.
        stalled: seconds in which the client must take a frame; otherwise the stream ends, and it
            may reconnect.
    """

    def __init__(
        self,
        frames: AsyncGenerator[bytes],
        alive: Callable[[], bool],
        *,
        stalled: float = STALL_SECONDS,
    ) -> None:
        self._frames = frames
        self._alive = alive
        self._stalled = stalled

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        visitor: Visitor = scope["state"]["visitor"]
        streams = visitor.streams
        if streams.count >= streams.most:
            why = Phrase(
                "{most} event streams of this login are open; close one first", most=streams.most
            )
            lang = request_language(Request(scope))
            await error_response(429, "too_many_streams", why.text(lang), {"retry-after": "5"})(
                scope, receive, send
            )
            return
        streams.count += 1
        try:
            await self._stream(scope, receive, send)
        finally:
            streams.count -= 1

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        tasks: list[asyncio.Task[None]] = [asyncio.create_task(wait_for_disconnect(receive))]
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
        # so that the conversation loses this reader at once
        async with aclosing(self._frames) as frames:
            async for frame in frames:
                if not self._alive():
                    return
                if frame:
                    async with asyncio.timeout(self._stalled):
                        await send({"type": "http.response.body", "body": frame, "more_body": True})


async def wait_for_disconnect(receive: Receive) -> None:
    """Read and drop messages until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
