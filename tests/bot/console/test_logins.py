"""Logins of browsers over HTTP: listed without what lets somebody in, and ended at once."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from channels.web.auth import RequestGuard
from channels.web.sessions import describe_browser
from tests.browser.real import Real, real_bot
from tests.channels.web.server import TOKEN
from tests.channels.web.streams import sent_events

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Version/19.1 Mobile/15E148 Safari/604.1"
)
EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/147.0.0.0 Safari/537.36 Edg/147.0.0.0"
)
END_SECONDS = 1.0


@pytest_asyncio.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    async with real_bot(tmp_path, lambda asked: "yes") as up:
        yield up


@asynccontextmanager
async def browser(real: Real, agent: str) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that has signed in with the token."""
    async with real.site.nobody() as client:
        client.headers.update({"origin": real.site.base, "user-agent": agent})
        entered = await client.post("/login", json={"token": TOKEN})
        client.headers["x-csrf-token"] = entered.json()["csrf"]
        yield client


async def end(client: httpx.AsyncClient, id: str) -> int:
    headers = {"content-type": "application/json"}
    return (await client.delete(f"/api/v1/sessions/{id}", headers=headers)).status_code


async def test_logins_are_listed_with_browser_and_times_and_one_is_ended_with_its_streams(
    real: Real,
) -> None:
    async with browser(real, FIREFOX) as owner, browser(real, IPHONE) as stranger:
        message = {"conversation": "c1", "text": "hello", "key": "1"}
        assert (await owner.post("/api/messages", json=message)).status_code == 202
        await real.bot.settled()
        opened, path = asyncio.Event(), "/api/conversations/c1/events"
        stream = asyncio.create_task(_read_to_end(stranger, path, opened))
        await opened.wait()
        answer = await owner.get("/api/v1/sessions")
        rows = answer.json()["items"]
        assert {(row["browser"], row["current"]) for row in rows} == {
            ("Firefox · Linux", True),
            ("Safari · iPhone", False),
        }
        assert all(row["began"] and row["seen"] for row in rows)
        for client in (owner, stranger):
            for cookie in client.cookies.values():
                assert cookie not in answer.text
        [id] = [row["id"] for row in rows if not row["current"]]
        assert await end(owner, id) == 200
        await asyncio.wait_for(stream, END_SECONDS)
        assert (await stranger.get("/api/v1/session")).status_code == 401
        assert (await owner.get("/api/v1/session")).status_code == 200
        assert await end(owner, id) == 404
    assert await real.audited("login") == [("console", "Safari · iPhone")]


async def _read_to_end(client: httpx.AsyncClient, path: str, opened: asyncio.Event) -> None:
    async with aclosing(sent_events(client, path, opened=opened)) as stream:
        async for _ in stream:
            pass


async def test_a_list_shows_neither_cookies_nor_their_hashes_and_its_ids_let_nobody_in(
    tmp_path: Path, real: Real
) -> None:
    path = tmp_path / "sessions.json"
    gate = RequestGuard(token=TOKEN, port=1, sessions_path=path)
    cookie = await gate.login(TOKEN, [(b"user-agent", EDGE.encode())])
    [hashed] = json.loads(path.read_text())["sessions"]
    [(id, session)] = gate.sessions().items()
    assert session.browser == "Edge · Windows"
    assert id not in hashed
    assert cookie not in path.read_text()
    async with real.site.nobody() as client:
        for stolen in (id, hashed):
            client.cookies.set(real.site.gate.cookie, stolen)
            assert (await client.get("/api/v1/session")).status_code == 401


async def test_a_browser_that_signs_in_again_has_one_login(real: Real) -> None:
    async with browser(real, FIREFOX) as owner:
        again = await owner.post("/login", json={"token": TOKEN})
        assert again.status_code == 200
        [row] = (await owner.get("/api/v1/sessions")).json()["items"]
        assert row["current"]


async def test_the_streams_of_a_login_end_when_another_replaces_it(real: Real) -> None:
    async with browser(real, FIREFOX) as owner:
        message = {"conversation": "c1", "text": "hello", "key": "1"}
        assert (await owner.post("/api/messages", json=message)).status_code == 202
        await real.bot.settled()
        opened, path = asyncio.Event(), "/api/conversations/c1/events"
        stream = asyncio.create_task(_read_to_end(owner, path, opened))
        await opened.wait()
        assert (await owner.post("/login", json={"token": TOKEN})).status_code == 200
        await asyncio.wait_for(stream, END_SECONDS)


async def test_ending_a_login_needs_the_token_against_forged_requests(real: Real) -> None:
    async with browser(real, FIREFOX) as owner, browser(real, IPHONE):
        rows = (await owner.get("/api/v1/sessions")).json()["items"]
        del owner.headers["x-csrf-token"]
        assert [await end(owner, row["id"]) for row in rows] == [403, 403]


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox · Linux"),
        (EDGE, "Edge · Windows"),
        (IPHONE, "Safari · iPhone"),
        ("Mozilla/5.0 (Linux; Android 16) Chrome/147.0 Mobile Safari/537.36", "Chrome · Android"),
        ("python-httpx/0.28", ""),
        ("<script>", ""),
        ("", ""),
    ],
)
def test_a_browser_is_named_in_a_few_words(agent: str, words: str) -> None:
    assert describe_browser(agent) == words
