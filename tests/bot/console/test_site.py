"""The console at the page's site: its routes are loaded by the first request for one of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.browser.real import Real, real_bot


@pytest_asyncio.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    async with real_bot(tmp_path, lambda asked: "yes") as up:
        yield up


def paths(real: Real) -> set[str]:
    return {route.path for route in real.site.site.calls}


async def test_what_talks_and_what_machines_poll_load_no_console(real: Real) -> None:
    before = paths(real)
    assert "/api/status" not in before
    async with real.site.client() as client, real.site.nobody() as nobody:
        assert (await nobody.get("/readyz")).json() == {"ok": True}
        assert (await client.get("/metrics")).status_code == 200
        assert (await client.get("/api/v1/session")).status_code == 200
        assert (
            await client.post("/api/v1/messages", json={"conversation": "c1", "text": "hello"})
        ).status_code == 202
        async with client.stream(
            "GET", "/api/v1/events?topics=conversations,c:c1&after=0"
        ) as stream:
            async for line in stream.aiter_lines():
                if line == "event: reply":
                    break
        assert (await client.get("/api/v1/conversations/c1/messages")).status_code == 200
    assert paths(real) == before


async def test_requests_for_it_at_once_load_it_once(real: Real) -> None:
    async with real.site.client() as client:
        found = await asyncio.gather(
            client.get("/api/v1/status"),
            client.get("/api/v1/waiting"),
            client.get("/api/v1/nothing-of-the-kind"),
            client.patch("/api/v1/conversations/none", json={"pinned": True}),
        )
    assert [answer.status_code for answer in found] == [200, 200, 404, 404]
    calls = [(route.method, route.path) for route in real.site.site.calls]
    assert len(calls) == len(set(calls)) > 100


async def test_a_login_by_passkey_is_offered_only_where_one_is_registered(real: Real) -> None:
    async with real.site.nobody() as nobody:
        answer = await nobody.get("/login/passkey", headers={"host": f"localhost:{real.site.port}"})
    assert (answer.status_code, answer.json()) == (200, {"options": None})
