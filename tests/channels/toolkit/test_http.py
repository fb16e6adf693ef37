"""What clients share: tokens renewed once for all callers, limits of a body, the certificates that
are trusted.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from channels.errors import AttachmentTooBig
from channels.toolkit.http import AccessToken, create_tls_context, parse_retry_after, read_limited
from tests.cases import every_case
from tests.channels.attacked import Authority

SUBJECTS = """from channels.toolkit.http import create_tls_context
print([one["subject"] for one in create_tls_context().get_ca_certs()])
"""


class TokenServer:
    """Returns the tokens of a list, or raises its errors."""

    def __init__(self, *answers: str | Exception, seconds: float = 100.0) -> None:
        self.answers = list(answers)
        self.seconds = seconds
        self.rejected: list[str] = []

    async def fetch(self, rejected: str) -> tuple[str, float]:
        self.rejected.append(rejected)
        await asyncio.sleep(0)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer, self.seconds


async def test_concurrent_callers_share_one_renewal() -> None:
    server = TokenServer("a", "b")
    token = AccessToken(server.fetch)
    assert await asyncio.gather(*(token.get() for _ in range(20))) == ["a"] * 20
    assert await asyncio.gather(*(token.get(rejected="a") for _ in range(20))) == ["b"] * 20
    assert server.rejected == ["", "a"]


async def test_a_token_past_its_time_is_fetched_again() -> None:
    server = TokenServer("a", "b", seconds=0.0)
    token = AccessToken(server.fetch)
    assert [await token.get(), await token.get()] == ["a", "b"]


async def test_a_rejected_token_is_not_used_again_after_a_failed_renewal() -> None:
    server = TokenServer("a", OSError("down"), "b")
    token = AccessToken(server.fetch)
    await token.get()
    with pytest.raises(OSError, match="down"):
        await token.get(rejected="a")
    assert await token.get() == "b"


async def test_reading_stops_at_the_limit() -> None:
    read = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1
            yield b"x" * 10

    with pytest.raises(AttachmentTooBig):
        await read_limited(chunks(), 25)
    assert read == 3


@every_case(
    ("text", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("", None),
        ("0", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("²", None),
    ],
)
def test_only_a_plausible_number_of_seconds_is_waited(text: str, seconds: float | None) -> None:
    assert parse_retry_after(text) == seconds


def test_the_certificates_are_read_once() -> None:
    assert create_tls_context() is create_tls_context()


def test_an_authority_of_ones_own_is_trusted(tmp_path: Path) -> None:
    (tmp_path / "authority.pem").write_text(Authority(tmp_path).pem)
    known = {**os.environ, "SSL_CERT_FILE": str(tmp_path / "authority.pem")}
    said = subprocess.run(
        [sys.executable, "-c", SUBJECTS], env=known, capture_output=True, text=True, check=True
    )
    assert said.stdout == "[((('commonName', 'Authority of the test'),),)]\n"
