"""Rate limits of sends: a token bucket per chat and per channel, and pauses the platform asked for. Pure."""

from dataclasses import dataclass, field

BURST_SECONDS = 3.0  # a chat that was quiet may send this many seconds' worth at once
MAX_CHATS = 10_000


@dataclass(slots=True)
class TokenBucket:
    """Fills at `rate` tokens a second up to `size`; a level below zero is the length of the queue."""

    rate: float
    size: float
    level: float
    at: float

    def is_full(self, now: float) -> bool:
        return self.level + (now - self.at) * self.rate >= self.size

    def book(self, now: float) -> float:
        self.level = min(self.size, self.level + (now - self.at) * self.rate) - 1.0
        self.at = now
        return max(0.0, -self.level / self.rate)


@dataclass(slots=True)
class RateLimiter:
    """The buckets of one channel. Times are monotonic seconds."""

    #: Messages a second to one chat; 0 for no limit.
    per_chat: float
    #: Messages a second in all; 0 for no limit.
    total: float
    #: Messages that a quiet chat may receive at once; 0: three seconds' worth. See Capabilities.
    burst: int = 0
    _chats: dict[str, TokenBucket] = field(default_factory=dict)
    _paused: dict[str, float] = field(default_factory=dict)
    _all: TokenBucket | None = None
    _prune_at: int = MAX_CHATS

    def book(self, chat: str, now: float) -> float:
        """Reserve the next send to this chat; return the seconds until it is due."""
        return max((bucket.book(now) for bucket in self._buckets(chat, now)), default=0.0)

    def paused(self, chat: str, now: float) -> float:
        """Return the seconds that a pause of this chat still lasts; 0.0 if it is not paused."""
        return max(0.0, *(self._paused.get(key, 0.0) - now for key in (chat, "")))

    def pause(self, chat: str, now: float, seconds: float) -> None:
        """Pause a chat as the platform asked; "" pauses the whole channel."""
        if len(self._paused) > MAX_CHATS:
            self._paused = {key: until for key, until in self._paused.items() if until > now}
        self._paused[chat] = max(now + seconds, self._paused.get(chat, 0.0))

    def _buckets(self, chat: str, now: float) -> list[TokenBucket]:
        found = []
        if self.per_chat:
            if chat not in self._chats and len(self._chats) >= self._prune_at:
                self._prune(now)
            found.append(self._chats.setdefault(chat, _full_bucket(self.per_chat, now, self.burst)))
        if self.total:
            self._all = self._all or _full_bucket(self.total, now)
            found.append(self._all)
        return found

    def _prune(self, now: float) -> None:
        """Drop chats whose bucket is full again: a new bucket is the same. One with a queue stays."""
        self._chats = {chat: bucket for chat, bucket in self._chats.items() if not bucket.is_full(now)}
        self._prune_at = max(MAX_CHATS, 2 * len(self._chats))


def _full_bucket(rate: float, now: float, burst: int = 0) -> TokenBucket:
    size = burst or max(1.0, rate * BURST_SECONDS)
    return TokenBucket(rate=rate, size=size, level=size, at=now)
