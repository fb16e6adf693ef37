"""An HTTP client for URLs that came from a chat: it dials judged public addresses only, within hard
limits.

No proxy or .netrc of the environment, no cookies, no pooled connections, no other protocol than
HTTP/1.1.
"""

import asyncio
import ipaddress
import socket
import ssl
import threading
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urljoin

from bot.tools.web.addresses import DEFAULT_PORTS, Address, WebError, WebUrl, is_denied, parse_url
from channels.toolkit.http import create_tls_context

MAX_REDIRECTS = 5
MAX_RAW_BYTES = 5 * 2**20
MAX_BODY_BYTES = 20 * 2**20
MAX_RATIO = 100
RATIO_FROM_BYTES = 2**20  # below this much text any ratio is harmless
MAX_HEADER_BYTES = 32 * 2**10
TOTAL_SECONDS = 20.0
LOOKUP_SECONDS = 3.0
CONNECT_SECONDS = 8.0  # to one of a host's addresses
# names that are looked up at once; those that hang do so for minutes, each in a thread that sleeps
MAX_LOOKUPS = 64
USER_AGENT = "mnema (a person's chat assistant)"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_Addresses: TypeAlias = "asyncio.Future[list[str]]"
Resolve = Callable[[str, int], Awaitable[list[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebResponse:
    """A complete answer."""

    #: The URL that answered, after redirects.
    url: WebUrl
    status: int
    #: Names in lower case; of equal names the first.
    headers: Mapping[str, str]
    #: Decoded.
    body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Lookups:
    """Looks names up, each in a thread of its own, `MAX_LOOKUPS` at a time.

    A lookup cannot be cancelled and may hang for minutes: in the loop's own threads a few of them
    would stop all file tools. Who asks for a name that is being looked up waits for the same
    lookup, so that a name that hangs takes one thread however often it is asked for. The threads
    are daemons: none of them delays the end of the program.
    """

    def __init__(self) -> None:
        self._running: dict[tuple[str, int], _Addresses] = {}

    async def __call__(self, host: str, port: int) -> list[str]:
        """Return all addresses of a name.

        Raises:
            WebError: "dns".
        """
        lookup = self._running.get((host, port)) or self._start(host, port)
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                return await asyncio.shield(lookup)
        except TimeoutError as err:
            raise WebError("dns", f"{host} was not found within {LOOKUP_SECONDS:.0f} s") from err
        except OSError as err:
            raise WebError("dns", f"there is no host {host}") from err

    def _start(self, host: str, port: int) -> "_Addresses":
        if len(self._running) >= MAX_LOOKUPS:
            raise WebError(
                "dns",
                "the name lookups are all busy with names that do not answer; try again later",
            )
        loop = asyncio.get_running_loop()
        lookup: _Addresses = loop.create_future()
        self._running[host, port] = lookup
        lookup.add_done_callback(lambda _: self._running.pop((host, port)))
        threading.Thread(target=_look_up, args=(host, port, loop, lookup), daemon=True).start()
        return lookup


def _look_up(host: str, port: int, loop: asyncio.AbstractEventLoop, lookup: "_Addresses") -> None:
    addresses: list[str] = []
    error: OSError | None = None
    try:
        addresses = [
            str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        ]
    except (OSError, UnicodeError) as err:
        error = OSError(str(err))
    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(_settle, lookup, addresses, error)


def _settle(found: _Addresses, addresses: list[str], error: OSError | None) -> None:
    if found.done():
        return
    if error is not None:
        found.set_exception(error)
        found.exception()  # whoever asked may wait no more
    else:
        found.set_result(addresses)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedClient:
    """Fetches URLs that a model or a page named."""

    resolve: Resolve = field(default_factory=Lookups)
    #: Pairs of host and port that the owner allows besides public hosts on the usual ports.
    allowed: Callable[[], Collection[str]] = lambda: ()
    #: Trusted certificates, if not the usual ones.
    tls: ssl.SSLContext | None = None
    total_seconds: float = TOTAL_SECONDS

    async def get(self, text: str, headers: Mapping[str, str] | None = None) -> WebResponse:
        """GET a URL, following up to `MAX_REDIRECTS` redirects that are each judged like the first
        URL.

        Args:
            headers: further headers; they are not sent to another origin after a redirect.

        Raises:
            WebError: see WebErrorCode.
        """
        return await self.request("GET", text, headers)

    async def request(
        self, method: str, text: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> WebResponse:
        """Send a request as `get` does; only the redirects of a GET are followed.

        Raises:
            WebError: see WebErrorCode.
        """
        url = parse_url(text)
        try:
            async with asyncio.timeout(self.total_seconds):
                for _ in range(MAX_REDIRECTS + 1):
                    answer = await self._send(method, url, headers or {}, body)
                    target = answer.headers.get("location", "")
                    if answer.status not in REDIRECTS or not target or method != "GET":
                        return answer
                    new = parse_url(urljoin(str(url), target))
                    if url.scheme == "https" and new.scheme == "http":
                        raise WebError(
                            "denied", "the page leads from https to http, which is not followed"
                        )
                    if (new.scheme, new.host, new.port) != (url.scheme, url.host, url.port):
                        headers = {}
                    url = new
        except TimeoutError as err:
            raise WebError(
                "too_slow", f"{url.host} took longer than {self.total_seconds:.0f} s"
            ) from err
        raise WebError("status", f"the page leads on more than {MAX_REDIRECTS} times")

    async def judge(self, url: WebUrl) -> list[Address]:
        """Return the addresses to dial for a URL, after one lookup.

        Raises:
            WebError: "denied" if the port or any of the addresses is, or "dns".
        """
        excepted = url.pair in self.allowed()
        if url.port != DEFAULT_PORTS[url.scheme] and not excepted:
            raise WebError("denied", f"port {url.port} is not opened; only 80 and 443 are")
        try:
            addresses = [ipaddress.ip_address(url.host)]
        except ValueError:
            found = await self.resolve(url.host, url.port)
            addresses = [ipaddress.ip_address(one) for one in dict.fromkeys(found)]
        if not addresses:
            raise WebError("dns", f"there is no host {url.host}")
        if not excepted and any(is_denied(one) or is_own_address(one) for one in addresses):
            raise WebError("denied", f"{url.host} is not a public address")
        return addresses

    async def _send(
        self, method: str, url: WebUrl, headers: Mapping[str, str], body: bytes
    ) -> WebResponse:
        import httpcore2 as core

        addresses = await self.judge(url)
        connection = core.AsyncHTTPConnection(
            origin=core.Origin(url.scheme.encode(), url.host.encode(), url.port),
            ssl_context=self.tls or create_tls_context(),
            network_backend=pinned_backend(addresses),
        )
        sent = {
            "Host": url.authority,
            "User-Agent": USER_AGENT,
            "Accept": "*/*",
            "Accept-Encoding": "gzip, deflate",
        }
        sent |= {"Connection": "close", **headers}
        if body:
            # which the library leaves to whoever names the headers
            sent["Content-Length"] = str(len(body))
        request = core.Request(
            method,
            core.URL(
                scheme=url.scheme.encode(),
                host=url.host.encode(),
                port=url.port,
                target=url.target.encode(),
            ),
            headers=[(name.encode(), value.encode()) for name, value in sent.items()],
            content=body or None,
        )
        try:
            response = await connection.handle_async_request(request)
            return await _read_response(url, response)
        except ssl.SSLError as err:
            raise WebError("tls", f"{url.host} has no valid certificate") from err
        except core.ConnectError as err:
            if isinstance(err.__cause__, ssl.SSLError) or isinstance(err.__context__, ssl.SSLError):
                raise WebError("tls", f"{url.host} has no valid certificate") from err
            raise WebError("network", f"{url.host} cannot be reached") from err
        except (core.NetworkError, core.ProtocolError, core.TimeoutException, OSError) as err:
            raise WebError("network", f"{url.host} did not answer properly") from err
        finally:
            with suppress(core.NetworkError, OSError):
                await connection.aclose()


async def _read_response(url: WebUrl, response: Any) -> WebResponse:
    size = sum(len(name) + len(value) + 4 for name, value in response.headers)
    if size > MAX_HEADER_BYTES:
        raise WebError(
            "too_large", f"{url.host} sent headers of more than {MAX_HEADER_BYTES // 1024} KB"
        )
    headers: dict[str, str] = {}
    for name, value in response.headers:
        headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    parts: list[bytes] = []
    async for part in _decode(
        response.aiter_stream(), headers.get("content-encoding", "").strip().lower()
    ):
        parts.append(part)
    return WebResponse(url=url, status=response.status, headers=headers, body=b"".join(parts))


async def _decode(stream: AsyncIterator[bytes], encoding: str) -> AsyncIterator[bytes]:
    """Yield the decoded body; stop at the limits of raw bytes, decoded bytes and their ratio."""
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise WebError("type", f"the page is encoded as {encoding[:20]}, which is not read")
    decoder = zlib.decompressobj(wbits=47) if encoding not in ("", "identity") else None
    raw = total = 0
    async for data in stream:
        raw += len(data)
        if raw > MAX_RAW_BYTES:
            raise WebError("too_large", f"the page is larger than {MAX_RAW_BYTES // 2**20} MB")
        try:
            part = decoder.decompress(data, MAX_BODY_BYTES + 1 - total) if decoder else data
        except zlib.error as err:
            raise WebError("network", "the page is damaged") from err
        total += len(part)
        if total > MAX_BODY_BYTES or (total > RATIO_FROM_BYTES and total > raw * MAX_RATIO):
            raise WebError("too_large", "the page unpacks to far more than it should")
        if part:
            yield part


def is_own_address(address: Address) -> bool:
    """Tell whether an address belongs to this machine, public ones included: only such an address
    can be bound.
    """
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


def pinned_backend(addresses: Iterable[Address]) -> Any:
    """Return a network backend that dials these addresses whatever name it is given, and checks the
    peer.
    """
    import httpcore2 as core

    class PinnedBackend(core.AsyncNetworkBackend):
        async def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Any = None,
        ) -> Any:
            error: Exception | None = None
            for address in addresses:
                try:
                    stream = await core.AnyIOBackend().connect_tcp(
                        str(address), port, CONNECT_SECONDS, local_address, socket_options
                    )
                except (core.ConnectError, core.ConnectTimeout) as err:
                    error = err
                    continue
                peer = stream.get_extra_info("server_addr")
                if peer is None or ipaddress.ip_address(peer[0].partition("%")[0]) != address:
                    await stream.aclose()
                    raise WebError(
                        "denied",
                        f"{host} was reached at another address than the one that was judged",
                    )
                return stream
            raise error or core.ConnectError(host)

        async def sleep(self, seconds: float) -> None:
            await asyncio.sleep(seconds)

    return PinnedBackend()
