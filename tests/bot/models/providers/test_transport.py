"""The client over which models are asked."""

import asyncio

from bot.models.providers.transport import create_http_client

MANY = 130  # more than an HTTP client has open at once where it is not told


async def test_as_many_calls_go_on_at_once_as_are_begun() -> None:
    together = asyncio.Barrier(MANY)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await together.wait()
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with create_http_client("") as client, asyncio.timeout(30):
            answers = await asyncio.gather(*(client.get(url) for _ in range(MANY)))
    assert [one.status_code for one in answers] == [204] * MANY
