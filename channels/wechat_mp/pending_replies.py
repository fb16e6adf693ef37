"""The platform's open requests: each waits a few seconds for an answer, and takes one at most.

The platform sends a message, cuts the connection after five seconds without an answer, and sends it again, three times
in all. Whichever try is open when the answer comes takes it. An answer to any try is the end of them: an empty one
says that none will come, so a try that may have a successor is answered with nothing at all.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from channels.toolkit.sending import mark_leaving

MAX_TRIES = 3
EXCHANGE_SECONDS = 60.0  # how long an exchange is remembered after its last try


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTiming:
    """hold: seconds a try waits for its answer. cut: after how many the platform hangs up. slack: how much later the
    next try may come."""

    hold: float = 4.5
    cut: float = 5.0
    slack: float = 2.0


class ReplyOffer:
    """What a request is to be answered with. content: XML of a passive reply's inside, "" for an empty answer."""

    def __init__(self, content: str) -> None:
        self.content = content
        self.left: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def settle(self, whole: bool) -> None:
        """It left us, or not."""
        if not self.left.done():
            self.left.set_result(whole)


@dataclass(slots=True, kw_only=True)
class PendingReply:
    """One message of a person and its tries."""

    key: str
    person: str
    tries: int = 0
    #: Loop time of the newest.
    began: float = 0.0
    #: The newest try is not in the store yet.
    storing: bool = False
    #: It waits for an offer.
    open: bool = False
    #: It may have a successor.
    more: bool = True
    offer: ReplyOffer | None = None


class PendingReplies:
    """All of them. Belongs to one event loop."""

    def __init__(self, pace: ReplyTiming) -> None:
        self.pace = pace
        self._all: dict[str, PendingReply] = {}
        self._stirred = asyncio.Event()
        self._closed = False

    def arrive(self, key: str, person: str) -> PendingReply:
        """A try has come; it cannot be answered before `wait`."""
        now = _loop_time()
        for old in [one.key for one in self._all.values() if now - one.began > EXCHANGE_SECONDS]:
            del self._all[old]
        exchange = self._all.setdefault(key, PendingReply(key=key, person=person))
        exchange.tries += 1
        exchange.began = now
        exchange.storing, exchange.open, exchange.more = True, False, exchange.tries < MAX_TRIES
        self._notify_waiters()
        return exchange

    async def wait(self, exchange: PendingReply) -> ReplyOffer | None:
        """What the newest try, now stored, is to be answered with; None if nothing came in time."""
        number = exchange.tries
        exchange.storing, exchange.open = False, True
        self._notify_waiters()
        try:
            await self._until(lambda: bool(exchange.offer) or exchange.tries != number, exchange.began + self.pace.hold)
        except asyncio.CancelledError:
            self.written(exchange, number, False)
            raise
        finally:
            if exchange.tries == number:
                exchange.open = False
        return exchange.offer if exchange.tries == number else None

    async def hang(self, exchange: PendingReply, number: int) -> None:
        """Leave try `number` without an answer until the platform has surely hung up."""
        if exchange.tries == number:
            exchange.storing = exchange.open = False
            self._notify_waiters()
        await self._until(lambda: exchange.tries != number, exchange.began + self.pace.cut + self.pace.slack)

    def end(self, exchange: PendingReply, content: str) -> ReplyOffer:
        """Answer the newest try so, and with it the exchange."""
        exchange.offer = ReplyOffer(content)
        exchange.more = False
        self._notify_waiters()
        return exchange.offer

    def written(self, exchange: PendingReply, number: int, whole: bool) -> None:
        """The answer to try `number` left us, or the platform had hung up."""
        offer = exchange.offer
        if offer is None:
            return
        if whole:
            offer.settle(True)
        elif exchange.tries == number and not (offer.left.done() and offer.left.result()):
            exchange.offer = None
            offer.settle(False)
        self._notify_waiters()

    async def answer_request(self, key: str, person: str, content: str) -> bool:
        """Answer a request with this: the one of the message `key`, else any of that person. False: there is none.

        Waits for the platform's next try while one is to be expected.
        """
        left = False
        while True:
            place = self._place(key, person)
            if place is not None and not left:
                await mark_leaving()
                left = True  # and the request may be gone by now
            elif place is not None:
                place.offer = ReplyOffer(content)
                offer = place.offer
                self._notify_waiters()
                if await self._taken(place, offer):
                    return True
            elif (until := self._expected(key, person)) > _loop_time() and not self._closed:
                stirred = self._stirred
                await _wait_until(stirred, until)
            else:
                return False

    def opened(self) -> None:
        """Requests are answered from now on."""
        self._closed = False

    def close(self) -> None:
        """Let go of every request, without an answer."""
        self._closed = True
        self._notify_waiters()

    async def _taken(self, place: PendingReply, offer: ReplyOffer) -> bool:
        try:
            return await asyncio.shield(offer.left)
        except asyncio.CancelledError:
            if place.offer is offer and place.open:
                place.offer = None
            raise

    def _place(self, key: str, person: str) -> PendingReply | None:
        free = [one for one in self._all.values() if one.person == person and one.open and one.offer is None]
        own = [one for one in free if one.key == key]
        if not own and key in self._all and self._expected_of(self._all[key]) > _loop_time():
            return None
        return next(iter(own or free), None)

    def _expected(self, key: str, person: str) -> float:
        """Until when (loop time) a request that could take an answer may still come."""
        mine = [self._expected_of(one) for one in self._all.values() if one.person == person and one.storing]
        return max([*mine, self._expected_of(self._all[key]) if key in self._all else 0.0])

    def _expected_of(self, one: PendingReply) -> float:
        if one.offer is not None or not (one.more or one.storing):
            return 0.0
        return one.began + self.pace.cut + self.pace.slack

    async def _until(self, holds: Callable[[], bool], deadline: float) -> None:
        while not holds() and not self._closed and _loop_time() < deadline:
            await _wait_until(self._stirred, deadline)

    def _notify_waiters(self) -> None:
        self._stirred.set()
        self._stirred = asyncio.Event()


def _loop_time() -> float:
    return asyncio.get_running_loop().time()


async def _wait_until(event: asyncio.Event, deadline: float) -> None:
    try:
        async with asyncio.timeout_at(deadline):
            await event.wait()
    except TimeoutError:
        return
