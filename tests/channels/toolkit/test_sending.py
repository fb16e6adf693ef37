"""When a part leaves that is sent with an HTTP client."""

import asyncio
from typing import Any

import httpx
import httpx2
import pytest

from channels.toolkit.sending import HTTP_HOOKS, report_leaving


@pytest.mark.parametrize("library", [httpx, httpx2])
@pytest.mark.parametrize(("scheme", "left"), [("https", 0), ("http", 1)])
async def test_a_part_does_not_leave_before_the_tunnel_through_a_proxy_stands(
    library: Any, scheme: str, left: int
) -> None:
    asked: list[bytes] = []
    leaves: list[int] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).split()[0])
        writer.write(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    async def leave() -> None:
        leaves.append(1)

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    async with server:
        through = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with library.AsyncClient(proxy=through, trust_env=False, event_hooks=HTTP_HOOKS) as client:
            with report_leaving(leave):
                if left:
                    assert (await client.get(f"{scheme}://platform.invalid/send")).status_code == 502
                else:
                    with pytest.raises(library.ProxyError):
                        await client.get(f"{scheme}://platform.invalid/send")
    assert asked == [b"GET" if left else b"CONNECT"]
    assert len(leaves) == left
