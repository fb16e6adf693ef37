"""How late the event loop is: a task that sleeps for a moment and looks how much longer it took."""

import asyncio
from collections import deque

BEAT_SECONDS = 0.5  # seconds between two looks; one costs some 30 microseconds
WINDOW_SECONDS = 30.0  # seconds for which the worst is told: a scrape that comes once in half a minute misses none


class LoopLag:
    """Measures while `watch` runs. Seconds throughout."""

    def __init__(self) -> None:
        self._due = 0.0
        self._newest = 0.0
        self._seen: deque[tuple[float, float]] = deque()

    async def watch(self) -> None:
        """Measure until cancelled."""
        clock = asyncio.get_running_loop().time
        while True:
            self._due = clock() + BEAT_SECONDS
            await asyncio.sleep(BEAT_SECONDS)
            self.note(clock() - self._due, clock())

    def note(self, lag: float, now: float) -> None:
        """One look that came so late."""
        self._newest = max(0.0, lag)
        while self._seen and (self._seen[-1][1] <= self._newest or self._seen[0][0] < now - WINDOW_SECONDS):
            self._seen.pop() if self._seen[-1][1] <= self._newest else self._seen.popleft()
        self._seen.append((now, self._newest))

    def now(self) -> float:
        """The newest look's lag, or how overdue the next one is where that is more."""
        if not self._due:
            return 0.0
        return max(self._newest, asyncio.get_running_loop().time() - self._due)

    def worst(self) -> float:
        """The worst of the last half minute."""
        return max(self.now(), self._seen[0][1] if self._seen else 0.0)
