"""Logins by passkey at the page of a running bot: what they open, for how long, and under which
host.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest_asyncio

from channels.web.backend import PasskeySite
from tests.bot.console.test_passkeys import Authenticator
from tests.browser.real import Real, real_bot


@pytest_asyncio.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    async with real_bot(tmp_path, lambda asked: "yes") as up:
        yield up


async def test_a_removed_passkey_ends_the_logins_made_with_it_and_no_other(real: Real) -> None:
    host = f"localhost:{real.site.port}"
    site = PasskeySite(host="localhost", origin=f"http://{host}")
    device = Authenticator(site)
    origin = {"Host": host, "Origin": site.origin}
    async with real.site.client() as owner, real.site.nobody() as browser:
        options = (
            await owner.post("/api/v1/passkeys/options", json={}, headers={"Host": host})
        ).json()["options"]
        added = {"name": "laptop", "credential": device.create(options)}
        assert (
            await owner.post("/api/v1/passkeys", json=added, headers={"Host": host})
        ).status_code == 201
        asked = (await browser.get("/login/passkey", headers=origin)).json()["options"]
        signed: dict[str, Any] = {"credential": device.get(asked)}
        assert (
            await browser.post("/login/passkey", json=signed, headers=origin)
        ).status_code == 200
        assert (await _session(browser, host)) == 200
        [row] = (await owner.get("/api/v1/passkeys", headers={"Host": host})).json()["items"]
        assert (
            await owner.delete(f"/api/v1/passkeys/{row['id']}", headers={"Host": host})
        ).status_code == 200
        assert (await _session(browser, host)) == 401
        assert (await owner.get("/api/v1/session")).status_code == 200


async def _session(browser: httpx.AsyncClient, host: str) -> int:
    return (await browser.get("/api/v1/session", headers={"Host": host})).status_code


async def test_an_address_that_is_a_number_has_no_passkeys(real: Real) -> None:
    async with real.site.client() as owner:
        for host in (f"127.0.0.1:{real.site.port}", f"[::1]:{real.site.port}"):
            assert (await owner.get("/api/v1/passkeys", headers={"Host": host})).json()[
                "site"
            ] == ""
            answer = await owner.post("/api/v1/passkeys/options", json={}, headers={"Host": host})
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_site")
