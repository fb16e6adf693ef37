"""An event loop whose clock runs only while nothing else can: minutes of waiting take no time."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any


class _EagerSelector(selectors.DefaultSelector):
    """Waits for nothing; tells how long it was to wait."""

    def __init__(self, waited: Callable[[float], None]) -> None:
        super().__init__()
        self._waited = waited

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout:
            self._waited(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Time passes by the timers alone."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_EagerSelector(self._pass))

    def _pass(self, seconds: float) -> None:
        self.now += seconds

    def time(self) -> float:
        return self.now


def run_in_virtual_time(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(work)
