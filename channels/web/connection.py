"""One HTTP connection: dropped when its client takes nothing, and ended so that the client can tell."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

LINGER = 2.0  # seconds for which what a client may have sent meanwhile is still taken, and dropped


class Connection(H11Protocol):
    """A connection of uvicorn's. stalled: seconds that a full write buffer may stand still.

    Nothing else ends a stalled one: an answer waits until the buffer empties, and so does an orderly close. An idle one
    is half-closed first. Were it closed at once, a request already on its way would be met with a reset, of which no
    client can tell whether the request was carried out; the end of the stream before any answer says that it was not.
    """

    def __init__(self, *args: Any, stalled: float, **options: Any) -> None:
        super().__init__(*args, **options)
        self._stalled = stalled
        self._dropping: asyncio.TimerHandle | None = None
        self._is_over = False

    def pause_writing(self) -> None:
        super().pause_writing()
        self._dropping = self.loop.call_later(self._stalled, self.transport.abort)

    def resume_writing(self) -> None:
        self._keep()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._keep()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_over:
            super().data_received(data)

    def timeout_keep_alive_handler(self) -> None:
        if not self.transport.is_closing():
            self._is_over = True
            self.conn.send(h11.ConnectionClosed())
            self.transport.write_eof()
            self._dropping = self.loop.call_later(LINGER, self.transport.abort)

    def _keep(self) -> None:
        if self._dropping is not None:
            self._dropping.cancel()
            self._dropping = None
