"""S20: responses that no platform sends, with good and bad status, end in a defined error."""

import asyncio
from contextlib import suppress

import pytest

from channels.errors import ChannelError
from tests.channels.test_attacks_tls import MADE, message

ODD = {
    "null": b"null",
    "list": b"[]",
    "word": b'"x"',
    "number": b"1",
    "deep": b"[" * 100_000,
    "long number": b'{"code": ' + b"9" * 10_000 + b"}",
    "not a number": b'{"ok": NaN, "code": NaN, "errcode": NaN, "ret": NaN}',
    "no text": b"\xff\xfe",
    "nothing": b"",
}
REST = [name for name in MADE if name != "wecom"]


@pytest.mark.parametrize("status", [b"200 OK", b"400 Bad Request", b"502 Bad Gateway"])
@pytest.mark.parametrize("kind", [*ODD])
@pytest.mark.parametrize("name", REST)
async def test_S20_an_odd_answer_is_an_error_of_the_channels_own(
    name: str, kind: str, status: bytes
) -> None:
    body = ODD[kind]
    said = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        status,
        len(body),
        body,
    )

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(said)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1")
    channel = MADE[name](f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        with pytest.raises(ChannelError):
            await channel.send(message(channel))
        with suppress(ChannelError):
            await channel.probe()
    finally:
        await channel.close()
        server.close()
