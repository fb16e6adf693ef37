"""One HTTP connection that is dropped when its client does not take what it asked for."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """A connection of uvicorn's. stalled: seconds that a full write buffer may stand still.

    Nothing else ends such a connection: an answer waits until the buffer empties, and so does an orderly close.
    """

    def __init__(self, *args: Any, stalled: float, **options: Any) -> None:
        super().__init__(*args, **options)
        self._stalled = stalled
        self._dropping: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._dropping = self.loop.call_later(self._stalled, self.transport.abort)

    def resume_writing(self) -> None:
        self._keep()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._keep()
        super().connection_lost(exc)

    def _keep(self) -> None:
        if self._dropping is not None:
            self._dropping.cancel()
            self._dropping = None
