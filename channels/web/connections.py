"""HTTP connections with time limits and a maximum number, over uvicorn's h11 protocol."""

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import h11
import structlog
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import Server

log = structlog.get_logger(__name__)
# from the connection, or from the first byte of a later request, to the end of its header
HEADER_SECONDS = 5.0
# without the peer taking a byte of a response, after which its connection is aborted
STALL_SECONDS = 30.0
LOG_SECONDS = 10.0  # between two log lines about the limit
CLOSE_LINGER_SECONDS = 2.0  # after a half-close, for bytes of the peer that are on their way
DATE_SECONDS = 1.0  # that HTTP dates have no part of
ACCEPT_BACKLOG = 1024  # connections that the kernel holds until they are accepted
_TOO_SLOW = (408, "Request Timeout", "slow", "the header did not arrive in time")
_TOO_MANY = (
    503,
    "Service Unavailable",
    "busy",
    "too many connections are open; try again in a moment",
)


@dataclass(slots=True, kw_only=True)
class ConnectionLimiter:
    """The open connections of one server, at most `most`.

    At the limit a new connection replaces another one: first one without a complete header, then an
    idle one of an unknown client, then a request of an unknown client, then an idle one of a known
    client; of these always the one longest in that state. If there is none, the new one is refused
    with 503. A client is known by token or session.
    """

    most: int
    header_seconds: float = HEADER_SECONDS
    stall_seconds: float = STALL_SECONDS
    linger_seconds: float = CLOSE_LINGER_SECONDS
    _silent: dict["BoundedProtocol", None] = field(default_factory=dict)
    _idle: dict["BoundedProtocol", None] = field(default_factory=dict)
    _idle_known: dict["BoundedProtocol", None] = field(default_factory=dict)
    _busy: dict["BoundedProtocol", None] = field(default_factory=dict)
    _logged: float = float("-inf")

    def __len__(self) -> int:
        return sum(map(len, self._groups()))

    def admit(self, protocol: "BoundedProtocol", now: float) -> bool:
        """Add a new connection, at the limit in place of another one; False if it must be
        refused.
        """
        if len(self) >= self.most:
            victim = self._most_dispensable()
            if now - self._logged >= LOG_SECONDS:
                self._logged = now
                log.warning(
                    "connection limit reached",
                    most=self.most,
                    closed="another" if victim else "the new one",
                )
            if victim is None:
                return False
            self.remove(victim)
            victim.drop()
        self._silent[protocol] = None
        return True

    def busy(self, protocol: "BoundedProtocol") -> None:
        """Record that it has a request in progress."""
        if protocol not in self._busy:
            self._move(protocol, self._busy)

    def idle(self, protocol: "BoundedProtocol") -> None:
        """Record that its request is answered."""
        self._move(protocol, self._idle_known if protocol.is_known() else self._idle)

    def remove(self, protocol: "BoundedProtocol") -> None:
        """Record that it is closed."""
        for group in self._groups():
            group.pop(protocol, None)

    def _move(self, protocol: "BoundedProtocol", group: dict["BoundedProtocol", None]) -> None:
        if any(protocol in known for known in self._groups()):  # not if it was refused or dropped
            self.remove(protocol)
            group[protocol] = None

    def _most_dispensable(self) -> "BoundedProtocol | None":
        unknown = (protocol for protocol in self._busy if not protocol.is_known())
        return (
            next(iter(self._silent or self._idle), None)
            or next(unknown, None)
            or next(iter(self._idle_known), None)
        )

    def _groups(self) -> tuple[dict["BoundedProtocol", None], ...]:
        return self._silent, self._idle, self._idle_known, self._busy


class QueueingServer(Server):
    """A server that ends as soon as it is asked to.

    Its `backlog` limits the accepts per loop iteration, not the queue in the kernel.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """End the main loop."""
        self.should_exit = True
        self._stopping.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process, whose handler stops more than this server."""
        yield

    async def main_loop(self) -> None:
        """Wait for `stop`, with a new date for responses each second: uvicorn's own loop wakes ten
        times a second.
        """
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), DATE_SECONDS)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for opened in sockets or ():
            opened.listen(ACCEPT_BACKLOG)


class BoundedProtocol(H11Protocol):
    """One connection with time limits for its headers and for reading its responses."""

    def __init__(self, *args: Any, group: ConnectionLimiter, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._group = group
        self._header_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None
        self._linger_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if not self._group.admit(self, self.loop.time()):
            self._write_refusal(*_TOO_MANY)
            self.transport.close()
            self._watch_writing()
            return
        self._watch_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._group.remove(self)
        self._cancel_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing() or self._linger_timer is not None:
            return
        if not self.transport.get_write_buffer_size():
            self._stop_stall_timer()  # everything written was taken
        super().data_received(data)
        self._update_header_timer()

    def on_response_complete(self) -> None:
        self._group.idle(self)
        super().on_response_complete()
        self._watch_writing()
        self._update_header_timer()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_writing()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._watch_writing()  # the peer took some; the rest has a time limit of its own

    def timeout_keep_alive_handler(self) -> None:
        """Half-close an idle connection; the client then knows that a request on its way was not
        processed.

        It is not idle while its last response is still being sent.
        """
        if self.transport.get_write_buffer_size():
            again = max(self.timeout_keep_alive, self._group.linger_seconds)
            self.timeout_keep_alive_task = self.loop.call_later(
                again, self.timeout_keep_alive_handler
            )
        else:
            self._half_close()

    def is_known(self) -> bool:
        """Whether its last request came from a client with a valid token or session."""
        return self.scope is not None and self.scope.get("state", {}).get("visitor") is not None

    def drop(self) -> None:
        """Abort the connection in favour of a new one."""
        self._cancel_timers()
        self.transport.abort()

    def _update_header_timer(self) -> None:
        """Start or stop the timer, depending on what the parser waits for."""
        if self.transport.is_closing():
            self._stop_header_timer()
        elif self.conn.their_state is h11.IDLE:
            # Between two requests uvicorn's keep-alive timer runs until the first byte.
            if self.timeout_keep_alive_task is None:
                self._watch_header()
            else:
                self._stop_header_timer()
        elif (
            self.cycle is not None
            and self.cycle.response_complete
            and self.conn.their_state is h11.SEND_BODY
        ):
            self._watch_header()  # answered, while it still sends a body that is not read
        else:
            self._stop_header_timer()
            self._group.busy(self)

    def _watch_header(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(self._group.header_seconds, self._refuse_slow)

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _refuse_slow(self) -> None:
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._write_refusal(*_TOO_SLOW)
            self._half_close()
        else:
            self.transport.close()
            self._watch_writing()

    def _half_close(self) -> None:
        """Send nothing more, and drop received bytes for a moment.

        A close at once would answer bytes of the peer already on their way with a reset. The peer
        could then neither read the last response nor know whether its request was processed.
        """
        if not self.transport.is_closing() and self._linger_timer is None:
            self.transport.write_eof()
            self._watch_writing()
            self._linger()

    def _linger(self, was_writing: bool = True) -> None:
        """Close one linger time after the last response was taken. was_writing: some of it was left
        until now.
        """
        if was_writing:
            is_writing = self.transport.get_write_buffer_size() > 0
            self._linger_timer = self.loop.call_later(
                self._group.linger_seconds, self._linger, is_writing
            )
        else:
            self.transport.abort()

    def _write_refusal(self, status: int, phrase: str, code: str, message: str) -> None:
        body = json.dumps({"error": {"code": code, "message": message}}).encode()
        head = (
            f"HTTP/1.1 {status} {phrase}\r\nconnection: close\r\ncontent-type: application/json\r\n"
        )
        self.transport.write(
            f"{head}content-length: {len(body)}\r\nretry-after: 2\r\n\r\n".encode() + body
        )

    def _watch_writing(self) -> None:
        """Abort the connection if the peer takes nothing of what is written from now on, also after
        a close.
        """
        self._stop_stall_timer()  # it compares with the buffer of an earlier response
        left = self.transport.get_write_buffer_size()
        if left:
            check = partial(self._check_writing, left)
            self._stall_timer = self.loop.call_later(self._group.stall_seconds, check)

    def _check_writing(self, before: int) -> None:
        self._stall_timer = None
        if self.transport.get_write_buffer_size() >= before:
            self.transport.abort()
        else:
            self._watch_writing()

    def _cancel_timers(self) -> None:
        self._stop_header_timer()
        self._stop_stall_timer()
        if self._linger_timer is not None:
            self._linger_timer.cancel()

    def _stop_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
