"""How long a send must wait: a bucket per chat, a bucket per channel, and what a platform asked for. Pure."""

from dataclasses import dataclass, field

BURST_SECONDS = 3.0
"""A chat that was quiet may send this many seconds' worth at once."""
MOST_CHATS = 10_000


@dataclass(slots=True)
class Bucket:
    """Fills at `rate` a second up to `size`; level may go below zero, which is the wait."""

    rate: float
    size: float
    level: float
    at: float

    def wait(self, now: float) -> float:
        self.level = min(self.size, self.level + (now - self.at) * self.rate)
        self.at = now
        return max(0.0, (1.0 - self.level) / self.rate)

    def take(self) -> None:
        self.level -= 1.0


@dataclass(slots=True)
class Rates:
    """The buckets of one channel. per_chat, total: messages a second, 0 for no limit. Seconds are monotonic."""

    per_chat: float
    total: float
    _chats: dict[str, Bucket] = field(default_factory=dict)
    _paused: dict[str, float] = field(default_factory=dict)
    _all: Bucket | None = None

    def wait(self, chat: str, now: float) -> float:
        """Seconds until this chat may be sent to; 0.0 means now."""
        waits = [self._paused.get(key, 0.0) - now for key in (chat, "")]
        waits += [bucket.wait(now) for bucket in self._buckets(chat, now)]
        return max(0.0, *waits)

    def take(self, chat: str, now: float) -> None:
        """One message goes out now."""
        for bucket in self._buckets(chat, now):
            bucket.take()

    def pause(self, chat: str, until: float) -> None:
        """A platform said to wait; chat "" is the whole channel."""
        self._paused[chat] = max(until, self._paused.get(chat, 0.0))

    def _buckets(self, chat: str, now: float) -> list[Bucket]:
        found = []
        if self.per_chat:
            if len(self._chats) > MOST_CHATS:
                self._chats.clear()
            found.append(self._chats.setdefault(chat, _full(self.per_chat, now)))
        if self.total:
            self._all = self._all or _full(self.total, now)
            found.append(self._all)
        return found


def _full(rate: float, now: float) -> Bucket:
    size = max(1.0, rate * BURST_SECONDS)
    return Bucket(rate=rate, size=size, level=size, at=now)
