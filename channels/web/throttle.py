"""Wrong logins: refused with growing delays, counted per client."""

import asyncio
import ipaddress
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from channels.phrases import Phrase
from channels.web.requests import Headers, HttpRefusal, header_values
from channels.web.settings import IpNetwork

log = structlog.get_logger(__name__)
FREE_ATTEMPTS = 5  # wrong tokens in a row that are refused without delay
MAX_DELAY = 2.0  # seconds


def login_delay(failures: int) -> float:
    """Return the delay in seconds of the nth wrong token in a row: 0 for five, then 0.1 doubling to
    2.
    """
    return (
        0.0
        if failures <= FREE_ATTEMPTS
        else min(0.1 * 2.0 ** min(failures - FREE_ATTEMPTS - 1, 10), MAX_DELAY)
    )


IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


def client_address(peer: str, headers: Headers, proxies: Sequence[IpNetwork]) -> str:
    """Return the address a request came from, for rate limits and logs only.

    X-Forwarded-For, which any client may send, counts only from a listed proxy: its right-most hop
    that is not listed.
    """
    address = parse_address(peer)
    if address is None or not _is_listed(address, proxies):
        return peer
    hops = b",".join(header_values(headers, b"x-forwarded-for")).decode("latin-1").split(",")
    for hop in reversed(hops):
        before = parse_address(hop.strip())
        if before is None:
            break
        address = before
        if not _is_listed(address, proxies):
            break
    return str(address)


def _is_listed(address: IpAddress, proxies: Sequence[IpNetwork]) -> bool:
    return any(address in network for network in proxies)


def parse_address(text: str) -> IpAddress | None:
    """Parse an IP address, with or without a port: some proxies add it."""
    if found := re.fullmatch(r"\[([^\]]*)\](?::\d+)?|([\d.]+):\d+", text):
        text = found[1] or found[2]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


WRONG_TOKEN = Phrase("the token is wrong")
FORGET_AFTER_SECONDS = 60.0  # without a wrong token, after which a client's count restarts
MAX_WAITING = 16  # delayed requests of one client
MAX_WAITING_TOTAL = 128
MAX_CLIENTS = 1024  # more than MAX_WAITING_TOTAL, so that there is always one that can be dropped


@dataclass(slots=True)
class _ClientFailures:
    count: int = 0
    last: float = field(default=float("-inf"))
    waiting: int = 0


class LoginThrottle:
    """Counts wrong tokens in a row per client, and delays and limits their refusals."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._clients: OrderedDict[str, _ClientFailures] = OrderedDict()
        self._waiting = 0

    def __len__(self) -> int:
        return len(self._clients)

    def reset_failures(self, client: str) -> None:
        """Reset the count of a client that sent the right token."""
        if (failures := self._clients.get(_client_group(client))) is not None:
            failures.count = 0

    async def refuse(self, client: str, why: Phrase = WRONG_TOKEN) -> None:
        """Wait for this client's delay, then refuse.

        Raises:
            HttpRefusal: always; 401, or 429 at once if too many are waiting.
        """
        failures = self._failures_of(_client_group(client))
        now = self._clock()
        failures.count = 1 if now - failures.last > FORGET_AFTER_SECONDS else failures.count + 1
        failures.last = now
        if failures.count in (1, FREE_ATTEMPTS + 1):
            log.warning("login refused", why=str(why), client=client, in_a_row=failures.count)
        if failures.waiting >= MAX_WAITING or self._waiting >= MAX_WAITING_TOTAL:
            raise HttpRefusal(
                429, "too_many", Phrase("too many wrong tokens"), {"retry-after": "2"}
            )
        failures.waiting += 1
        self._waiting += 1
        try:
            await asyncio.sleep(login_delay(failures.count))
        finally:
            failures.waiting -= 1
            self._waiting -= 1
        raise HttpRefusal(401, "unauthorized", why)

    def _failures_of(self, group: str) -> _ClientFailures:
        failures = self._clients.setdefault(group, _ClientFailures())
        self._clients.move_to_end(group)
        while len(self._clients) > MAX_CLIENTS:
            idle = next(
                name for name, known in self._clients.items() if not known.waiting and name != group
            )
            del self._clients[idle]
        return failures


def _client_group(client: str) -> str:
    """Return an IPv4 address itself, or the /64 of an IPv6 address: one client usually owns all of
    it.
    """
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    return (
        str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else client
    )
