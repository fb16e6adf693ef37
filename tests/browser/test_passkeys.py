"""Passkeys in a real Chromium with a virtual authenticator: made, used instead of the token,
copied, removed.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Request, expect

from bot.console.administration.passkeys import MAX_PASSKEYS
from tests.browser.opening import BROWSER, opened
from tests.browser.real import Real, real_bot
from tests.channels.attacked import Authority
from tests.channels.web.server import TOKEN
from tests.emulators.tls_proxy import Proxy, tls_proxy

pytestmark = BROWSER
pytest.importorskip("webauthn", reason="make extras NAME=passkeys")
DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


async def plug_in(page: Page) -> tuple[Any, str]:
    """Give the browser a device that confirms everything; return how to talk to it."""
    session = await page.context.new_cdp_session(page)
    await session.send("WebAuthn.enable")
    made = await session.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})
    return session, made["authenticatorId"]


async def add(page: Page, name: str) -> None:
    await page.get_by_role("textbox", name="Name of the device").fill(name)
    await page.get_by_role("button", name="Add a passkey").click()


def site_of(real: Real) -> Any:
    return replace(real.site, base=f"http://localhost:{real.site.port}")


async def test_a_passkey_signs_in_makes_a_login_fresh_and_ends_its_logins_when_it_is_removed(
    chromium: Browser, tmp_path: Path
) -> None:
    now, answers = [0.0], list[Any]()

    def hear(request: Request) -> None:
        if request.url.endswith("/login/passkey") and request.method == "POST":
            answers.append(request.post_data_json)

    async with (
        real_bot(tmp_path, lambda asked: "yes", login_clock=lambda: now[0]) as real,
        opened(
            chromium, site_of(real), "/settings/passkeys", ready="main .dim", fresh=True
        ) as page,
    ):
        page.on("request", hear)
        device, id = await plug_in(page)
        await add(page, "<b>my telephone</b>")
        await expect(page.locator(".rows li")).to_contain_text("<b>my telephone</b> localhost")
        await add(page, "again")
        await expect(page.get_by_role("alert")).to_contain_text("this device already has one")
        assert (
            len(
                (await device.send("WebAuthn.getCredentials", {"authenticatorId": id}))[
                    "credentials"
                ]
            )
            == 1
        )
        held = (tmp_path / "data/passkeys.json").read_text()
        assert (tmp_path / "data/passkeys.json").stat().st_mode & 0o777 == 0o600
        assert TOKEN not in held

        await page.click("#logout")
        await page.get_by_role("button", name="Use a passkey").click()
        await page.wait_for_selector("#text:not([disabled])")
        async with real.site.nobody(
            headers={"origin": f"http://localhost:{real.site.port}"}
        ) as client:
            client.headers["host"] = f"localhost:{real.site.port}"
            for body in (answers[0], {"credential": {}}, {"credential": {"id": "AAAA"}}, {}):
                again = await client.post("/login/passkey", json=body)  # an answer is good once
                assert again.status_code == 401
            assert (await client.get("/login/passkey")).json()["options"]["rpId"] == "localhost"
            client.headers["host"] = f"127.0.0.1:{real.site.port}"
            assert (await client.get("/login/passkey")).json() == {"options": None}
            client.headers["origin"] = "https://evil.example"
            assert (await client.post("/login/passkey", json=answers[0])).status_code == 403

        now[0] = 3_600.0
        await page.goto(f"{site_of(real).base}/settings/passkeys")
        await page.get_by_role("button", name="Remove").click()
        await page.get_by_role("dialog").get_by_role("button", name="Use a passkey").click()
        await page.wait_for_selector("#token")  # the login was one of the passkey that is gone
        await expect(page.get_by_role("button", name="Use a passkey")).to_have_count(0)
        assert json.loads((tmp_path / "data/passkeys.json").read_text()) == {}
        acts = [subject for _, subject in await real.audited("passkey")]
        assert acts == ["<b>my telephone</b>"] * 2


async def test_where_the_address_is_a_number_the_page_says_what_to_open(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "yes") as real,
        opened(chromium, real.site, "/settings/passkeys", ready="main .dim") as page,
    ):
        await expect(page.locator("main")).to_contain_text("open this page at http://localhost")
        await expect(page.get_by_role("button", name="Add a passkey")).to_have_count(0)
        async with real.site.client() as client:
            refused = await client.post("/api/v1/passkeys/options", json={})
            assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_site")


async def test_behind_a_proxy_with_tls_a_passkey_is_of_its_name(
    chromium: Browser, tmp_path: Path
) -> None:
    Authority(tmp_path).context("good")
    async with tls_proxy(Proxy(certificate=str(tmp_path / "good.pem"))) as proxy:
        url = proxy.url.replace("127.0.0.1", "localhost")
        async with real_bot(tmp_path / "home", lambda asked: "yes", public_url=url) as real:
            proxy.lead_to(real.site.port)
            context = await chromium.new_context(ignore_https_errors=True, locale="en-GB")
            page = await context.new_page()
            page.set_default_timeout(30_000)
            await page.goto(url)
            await page.fill("#token", TOKEN)
            await page.press("#token", "Enter")
            await page.wait_for_selector("#text:not([disabled])")
            await plug_in(page)
            await page.goto(f"{url}/settings/passkeys")
            await add(page, "laptop")
            await expect(page.locator(".rows li")).to_contain_text("laptop localhost")
            await page.click("#logout")
            await page.get_by_role("button", name="Use a passkey").click()
            await page.wait_for_selector("#text:not([disabled])")
            [cookie] = await context.cookies()
            assert cookie["name"].startswith("__Host-")
            await context.close()


async def test_only_so_many_passkeys_are_stored(tmp_path: Path) -> None:
    async with real_bot(tmp_path, lambda asked: "yes") as real, real.site.client() as client:
        client.headers["host"] = f"localhost:{real.site.port}"
        row = {
            "name": "a",
            "site": "localhost",
            "public_key": "AA",
            "count": 0,
            "added": "2026-11-20T12:00:00+00:00",
        }
        for count, status in ((MAX_PASSKEYS - 1, 200), (MAX_PASSKEYS, 409)):
            rows = {f"id{number:02}": row for number in range(count)}
            (tmp_path / "data/passkeys.json").write_text(json.dumps(rows))
            assert (await client.post("/api/v1/passkeys/options", json={})).status_code == status
        assert len((await client.get("/api/v1/passkeys")).json()["items"]) == MAX_PASSKEYS
        assert "public_key" not in (await client.get("/api/v1/passkeys")).text
