"""Open requests of the platform, each of which waits a few seconds for a reply and takes at most
one.

The platform sends a message, hangs up after five seconds without an answer, and repeats it, three
times in all. A reply goes into whichever attempt is open. Any answer ends the attempts, an empty
one without a reply, so an attempt that may be followed by another one gets no answer at all.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

MAX_ATTEMPTS = 3
REMEMBER_SECONDS = 60.0  # after the newest attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTiming:
    """Timing of requests, in seconds."""

    #: How long an attempt waits for its reply.
    hold: float = 4.5
    #: After which the platform hangs up.
    cut: float = 5.0
    #: How late the next attempt may come after that.
    slack: float = 2.0


class ReplyOffer:
    """A reply that a request shall be answered with."""

    def __init__(self, content: str) -> None:
        #: Inner XML of a passive reply, "" for an empty answer.
        self.content = content
        #: Whether it was sent completely.
        self.sent: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def settle(self, sent: bool) -> None:
        """Record whether it was sent; only the first call counts."""
        if not self.sent.done():
            self.sent.set_result(sent)


@dataclass(slots=True, kw_only=True)
class PendingReply:
    """One message and the platform's attempts to deliver it."""

    key: str
    person: str
    attempts: int = 0
    #: Loop time of the newest attempt.
    began: float = 0.0
    #: The newest attempt is not stored yet.
    storing: bool = False
    #: The newest attempt waits for an offer.
    open: bool = False
    #: Another attempt may follow.
    more: bool = True
    offer: ReplyOffer | None = None


class PendingReplies:
    """The pending replies of one account. Not thread-safe."""

    def __init__(self, timing: ReplyTiming) -> None:
        self.timing = timing
        self._all: dict[str, PendingReply] = {}
        #: Set, and replaced, at every change.
        self._changed = asyncio.Event()
        self._closed = False

    def arrive(self, key: str, person: str) -> PendingReply:
        """Record an attempt; it takes no reply before `wait`."""
        now = _loop_time()
        for old in [
            pending.key for pending in self._all.values() if now - pending.began > REMEMBER_SECONDS
        ]:
            del self._all[old]
        pending = self._all.setdefault(key, PendingReply(key=key, person=person))
        pending.attempts += 1
        pending.began = now
        pending.storing, pending.open, pending.more = True, False, pending.attempts < MAX_ATTEMPTS
        self._notify()
        return pending

    async def wait(self, pending: PendingReply) -> ReplyOffer | None:
        """Wait for a reply to the newest attempt, which is stored now; None if there was none in
        time.
        """
        number = pending.attempts
        pending.storing, pending.open = False, True
        self._notify()
        deadline = pending.began + self.timing.hold
        try:
            await self._wait_until(
                lambda: bool(pending.offer) or pending.attempts != number, deadline
            )
        except asyncio.CancelledError:
            self.written(pending, number, False)
            raise
        finally:
            if pending.attempts == number:
                pending.open = False
        return pending.offer if pending.attempts == number else None

    async def wait_for_hang_up(self, pending: PendingReply, number: int) -> None:
        """Leave attempt `number` unanswered until the platform must have hung up."""
        if pending.attempts == number:
            pending.storing = pending.open = False
            self._notify()
        await self._wait_until(lambda: pending.attempts != number, self._next_attempt_by(pending))

    def end(self, pending: PendingReply, content: str) -> ReplyOffer:
        """Answer the newest attempt with this, and expect no further one."""
        pending.offer = ReplyOffer(content)
        pending.more = False
        self._notify()
        return pending.offer

    def written(self, pending: PendingReply, number: int, complete: bool) -> None:
        """Record that the answer to attempt `number` was sent, or that the platform had hung up."""
        offer = pending.offer
        if offer is None:
            return
        if complete:
            offer.settle(True)
        elif pending.attempts == number and not (offer.sent.done() and offer.sent.result()):
            pending.offer = None
            offer.settle(False)
        self._notify()

    async def answer_request(self, key: str, person: str, content: str) -> bool:
        """Answer the request of message `key`, else any open one of that person; False if there is
        none.

        Waits while the platform may repeat a message.
        """
        while True:
            pending = self._open_request(key, person)
            if pending is not None:
                pending.offer = offer = ReplyOffer(content)
                self._notify()
                if await self._wait_sent(pending, offer):
                    return True
            elif (until := self._expected_until(key, person)) > _loop_time() and not self._closed:
                await _wait_for(self._changed, until)
            else:
                return False

    async def wait_for_request(self, key: str, person: str) -> None:
        """Wait for a request that `answer_request` can answer, as long as one may still come."""
        while self._open_request(key, person) is None:
            until = self._expected_until(key, person)
            if until <= _loop_time() or self._closed:
                return
            await _wait_for(self._changed, until)

    def open(self) -> None:
        """Accept requests from now on."""
        self._closed = False

    def close(self) -> None:
        """Release every request, without a reply."""
        self._closed = True
        self._notify()

    async def _wait_sent(self, pending: PendingReply, offer: ReplyOffer) -> bool:
        try:
            return await asyncio.shield(offer.sent)
        except asyncio.CancelledError:
            if pending.offer is offer and pending.open:
                pending.offer = None
            raise

    def _open_request(self, key: str, person: str) -> PendingReply | None:
        free = [
            one
            for one in self._all.values()
            if one.person == person and one.open and one.offer is None
        ]
        own = [one for one in free if one.key == key]
        if not own and key in self._all and self._expected(self._all[key]) > _loop_time():
            return None
        return next(iter(own or free), None)

    def _expected_until(self, key: str, person: str) -> float:
        """Return the loop time until which a request that could take a reply may still come."""
        times = [
            self._expected(one)
            for one in self._all.values()
            if one.person == person and one.storing
        ]
        return max([*times, self._expected(self._all[key]) if key in self._all else 0.0])

    def _expected(self, pending: PendingReply) -> float:
        if pending.offer is not None or not (pending.more or pending.storing):
            return 0.0
        return self._next_attempt_by(pending)

    def _next_attempt_by(self, pending: PendingReply) -> float:
        return pending.began + self.timing.cut + self.timing.slack

    async def _wait_until(self, condition: Callable[[], bool], deadline: float) -> None:
        while not condition() and not self._closed and _loop_time() < deadline:
            await _wait_for(self._changed, deadline)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _loop_time() -> float:
    return asyncio.get_running_loop().time()


async def _wait_for(event: asyncio.Event, deadline: float) -> None:
    try:
        async with asyncio.timeout_at(deadline):
            await event.wait()
    except TimeoutError:
        return
