"""A connection to an MCP server over HTTP: to judged addresses only, with limits on what it may
answer.
"""

import ipaddress
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from bot.tools.mcp.stdio import MAX_LINE_BYTES
from bot.tools.web.addresses import Address, WebError, is_denied, parse_url
from bot.tools.web.client import Lookups, is_own_address, pinned_backend
from channels.toolkit.http import create_tls_context

# of one answer that is no stream of events; an event has the same limit
MAX_ANSWER_BYTES = MAX_LINE_BYTES
CONNECT_SECONDS, READ_SECONDS = 10.0, 300.0
# besides the server's: who issues logins, and where it says to register and renew them
MAX_ISSUER_ORIGINS = 4


@asynccontextmanager
async def open_http(
    url: str, headers: Mapping[str, str], local: bool, auth: Any = None
) -> AsyncIterator[Any]:
    """Connect to a server and yield its streams as the SDK wants them.

    Args:
        local: its address may be of this machine or a private network, and without TLS.
        auth: authenticates the requests; None: nothing but the headers does.

    Raises:
        WebError: the address may not be dialled.
    """
    from mcp.client.streamable_http import streamable_http_client

    async with (
        create_client(url, headers, local, auth) as client,
        streamable_http_client(
            url, http_client=client, max_sse_event_size=MAX_ANSWER_BYTES
        ) as streams,
    ):
        yield streams


@asynccontextmanager
async def create_client(
    url: str, headers: Mapping[str, str], local: bool, auth: Any = None
) -> AsyncIterator[Any]:
    """Yield an HTTP client for a server and, where `auth` talks to them, those who issue its
    logins; see `open_http`.

    The headers go to the server alone.
    """
    import httpx2

    transport = _create_transport(
        url, await judge_server(url, local), headers, local, has_auth=auth is not None
    )
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS)
    # Nothing compressed: its size is known only once it is unpacked.
    sent = {"Accept-Encoding": "identity"}
    async with httpx2.AsyncClient(
        transport=transport, headers=sent, timeout=timeout, trust_env=False, auth=auth
    ) as client:
        yield client


async def judge_server(url: str, local: bool) -> list[Address]:
    """Return the addresses to dial, after one lookup.

    Raises:
        WebError: "denied" or "dns".
    """
    parsed = parse_url(url)
    if parsed.scheme != "https" and not local:
        raise WebError("denied", "its url must begin with https://, unless `local` is true")
    try:
        addresses = [ipaddress.ip_address(parsed.host)]
    except ValueError:
        found = await Lookups()(parsed.host, parsed.port)
        addresses = [ipaddress.ip_address(one) for one in dict.fromkeys(found)]
    if not local and any(is_denied(one) or is_own_address(one) for one in addresses):
        raise WebError("denied", f"{parsed.host} is not a public address; `local` true allows it")
    return addresses


def _create_pool(addresses: list[Address]) -> Any:
    import httpcore2

    return httpcore2.AsyncConnectionPool(
        ssl_context=create_tls_context(), network_backend=pinned_backend(addresses)
    )


def _origin_of(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


async def _find_pool(pools: dict[Any, Any], url: Any, local: bool, *, has_auth: bool) -> Any:
    """Return the connections to an origin: the server, or who issues its logins, whose address is
    judged at first.
    """
    import httpx2

    origin = _origin_of(url)
    if origin not in pools:
        if not has_auth or len(pools) > MAX_ISSUER_ORIGINS:
            raise httpx2.TransportError(f"{url.host} is not the server")
        try:
            pools[origin] = _create_pool(await judge_server(str(url), local))
        except WebError as err:
            raise httpx2.TransportError(str(err)) from err
    return pools[origin]


def _create_transport(
    server: str,
    addresses: list[Address],
    headers: Mapping[str, str],
    local: bool,
    *,
    has_auth: bool,
) -> Any:
    import httpcore2
    import httpx2

    home = _origin_of(httpx2.URL(server))

    class JudgedTransport(httpx2.AsyncBaseTransport):
        """Dials judged addresses only, the server's and those of who issues its logins; no proxy of
        the environment.
        """

        def __init__(self) -> None:
            self._pools = {home: _create_pool(addresses)}

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            url = request.url
            pool = await _find_pool(self._pools, url, local, has_auth=has_auth)
            if _origin_of(url) == home:
                request.headers.update(
                    {name: value for name, value in headers.items() if name not in request.headers}
                )
            core_url = httpcore2.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            )
            core_request = httpcore2.Request(
                request.method,
                core_url,
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
            try:
                answer = await pool.handle_async_request(core_request)
            except (
                httpcore2.NetworkError,
                httpcore2.ProtocolError,
                httpcore2.TimeoutException,
            ) as err:
                raise httpx2.TransportError(f"{url.host} cannot be reached") from err
            if answer.status in (401, 403) and not has_auth:
                await answer.aclose()
                raise httpx2.TransportError(
                    f"{url.host} answered {answer.status}: it wants other credentials"
                )
            response: httpx2.Response = _to_response(answer)
            return response

        async def aclose(self) -> None:
            for pool in tuple(self._pools.values()):
                await pool.aclose()

    return JudgedTransport()


def _to_response(answer: Any) -> Any:
    """Return an answer as httpx2 has it, with the limit of its size."""
    import httpx2

    found = {name.lower(): value for name, value in answer.headers}
    if found.get(b"content-encoding", b"identity") != b"identity":
        raise httpx2.TransportError("it sent a compressed answer")
    is_stream = found.get(b"content-type", b"").startswith(b"text/event-stream")
    stream = _limit(answer.stream, None if is_stream else MAX_ANSWER_BYTES)
    return httpx2.Response(
        answer.status, headers=answer.headers, stream=stream, extensions=answer.extensions
    )


def _limit(stream: Any, most: int | None) -> Any:
    """Return a body as httpx2 has it, which breaks off after that many bytes; None: no limit."""
    import httpx2

    class LimitedStream(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for data in stream:
                size += len(data)
                if most is not None and size > most:
                    raise httpx2.TransportError(f"it sent an answer over {most // 2**20} MiB")
                yield data

        async def aclose(self) -> None:
            await stream.aclose()

    return LimitedStream()
