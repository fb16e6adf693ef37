"""Wrong tokens: answered later and later, each client by itself."""

import asyncio
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from channels.web.errors import Refused
from channels.web.rules import FREE_TRIES, delay

log = structlog.get_logger(__name__)
QUIET = 60.0  # seconds without a wrong token after which a client begins anew
MOST_WAITING = 16  # of one client
MOST_WAITING_IN_ALL = 128
MOST_CLIENTS = 1024  # more than can wait, so that one who does not is there to be forgotten


@dataclass(slots=True)
class _Client:
    count: int = 0
    last: float = field(default=float("-inf"))
    waiting: int = 0


class WrongTokens:
    """Wrong tokens in a row of each client, and how many of their senders are being kept waiting."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._clients: OrderedDict[str, _Client] = OrderedDict()
        self._waiting = 0

    def __len__(self) -> int:
        return len(self._clients)

    def forgive(self, client: str) -> None:
        """This client has sent a right token."""
        if (known := self._clients.get(_group(client))) is not None:
            known.count = 0

    async def refuse(self, client: str) -> None:
        """Wait as long as this client has to, then refuse.

        Raises:
            Refused: always; 401, or at once 429 when too many wait already.
        """
        guesses = self._known(_group(client))
        now = self._clock()
        guesses.count = 1 if now - guesses.last > QUIET else guesses.count + 1
        guesses.last = now
        if guesses.count in (1, FREE_TRIES + 1):
            log.warning("wrong token", client=client, in_a_row=guesses.count)
        if guesses.waiting >= MOST_WAITING or self._waiting >= MOST_WAITING_IN_ALL:
            raise Refused(429, "too_many", "too many wrong tokens", {"retry-after": "2"})
        guesses.waiting += 1
        self._waiting += 1
        try:
            await asyncio.sleep(delay(guesses.count))
        finally:
            guesses.waiting -= 1
            self._waiting -= 1
        raise Refused(401, "unauthorized", "the token is wrong")

    def _known(self, group: str) -> _Client:
        guesses = self._clients.setdefault(group, _Client())
        self._clients.move_to_end(group)
        while len(self._clients) > MOST_CLIENTS:
            idle = next(name for name, known in self._clients.items() if not known.waiting and name != group)
            del self._clients[idle]
        return guesses


def _group(client: str) -> str:
    """One IPv4 address, or the /64 of an IPv6 address: whoever has one of it has all."""
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else client
