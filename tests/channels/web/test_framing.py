"""A body whose length is given twice is refused, and nothing behind it is taken for a request."""

import pytest

from tests.channels.web.server import TOKEN, Running, ScriptedBot, running
from tests.channels.web.test_security import raw

BODY = '{"conversation": "c1", "text": "x"}'
CHUNKED = f"{len(BODY):x}\n{BODY}\n0\n\n"
SECOND = "GET /healthz HTTP/1.1\nHost: 127.0.0.1:{port}\n\n"
TWICE = {
    "length and coding": (
        "1.1",
        f"Content-Length: {len(BODY)}\nTransfer-Encoding: chunked\n",
        CHUNKED,
    ),
    "coding and length": (
        "1.1",
        f"Transfer-Encoding: chunked\nContent-Length: {len(CHUNKED)}\n",
        CHUNKED,
    ),
    "length of nothing and coding": (
        "1.1",
        "Content-Length: 0\nTransfer-Encoding: chunked\n",
        CHUNKED,
    ),
    "two lengths": ("1.1", f"Content-Length: {len(BODY)}\nContent-Length: 3\n", BODY),
    "two lengths in one": ("1.1", f"Content-Length: {len(BODY)}, 3\n", BODY),
    "two codings": ("1.1", "Transfer-Encoding: chunked\nTransfer-Encoding: chunked\n", CHUNKED),
    "a coding within a coding": ("1.1", "Transfer-Encoding: gzip, chunked\n", CHUNKED),
    "a coding that 1.0 does not know": ("1.0", "Transfer-Encoding: chunked\n", CHUNKED),
}


@pytest.mark.parametrize("path", ["/api/messages", "/hooks/telegram"])
@pytest.mark.parametrize("how", TWICE)
async def test_S21_a_length_given_twice_is_400_and_the_end_of_the_connection(
    how: str, path: str
) -> None:
    version, headers, body = TWICE[how]
    bot = ScriptedBot()
    async with running(bot) as site:
        status, answer = await sent(site, f"POST {path} HTTP/{version}", headers, body)
        assert status == 400
        assert answer.count(b"HTTP/1.") == 1, "what came behind it is not answered"
        assert bot.taken == []


async def test_one_length_or_one_coding_is_taken() -> None:
    bot = ScriptedBot()
    async with running(bot) as site:
        for headers, body in (
            (f"Content-Length: {len(BODY)}\n", BODY),
            ("Transfer-Encoding: chunked\n", CHUNKED),
        ):
            status, _ = await sent(
                site,
                "POST /api/messages HTTP/1.1",
                f"Connection: close\n{headers}",
                body,
                second="",
            )
            assert status == 202
        assert len(bot.taken) == 2


async def sent(
    site: Running, line: str, headers: str, body: str, second: str = SECOND
) -> tuple[int, bytes]:
    """A request with a token, and another one straight behind it."""
    known = (
        f"Host: 127.0.0.1:{site.port}\nAuthorization: Bearer {TOKEN}\nContent-Type: "
        "application/json\n"
    )
    return await raw(site, f"{line}\n{known}{headers}\n{body}{second.format(port=site.port)}")
