"""The page behind a proxy with TLS: its Host and Origin are accepted, no others."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from channels.web.settings import parse_networks, parse_public_host
from channels.web.throttle import LoginThrottle, client_address
from tests.cases import every_case
from tests.channels.attacked import Authority
from tests.channels.web.server import TOKEN, Running, ScriptedBot, running
from tests.channels.web.streams import events
from tests.emulators.tls_proxy import Proxy, RunningProxy, tls_proxy

JSON = {"content-type": "application/json"}


@asynccontextmanager
async def behind(
    folder: Path, **mistakes: Any
) -> AsyncIterator[tuple[Running, RunningProxy, Authority]]:
    """A site and its proxy. The proxy's address is listed as a trusted one."""
    authority = Authority(folder)
    authority.context("good")
    async with (
        tls_proxy(Proxy(certificate=str(folder / "good.pem"), **mistakes)) as proxy,
        running(ScriptedBot(), public_url=proxy.url, proxies=["127.0.0.1"]) as site,
    ):
        proxy.lead_to(site.port)
        yield site, proxy, authority


def client(proxy: RunningProxy, authority: Authority, **headers: str) -> httpx.AsyncClient:
    context = ssl.create_default_context(cadata=authority.pem)
    return httpx.AsyncClient(
        base_url=proxy.url, verify=context, headers=headers, timeout=10, trust_env=False
    )


async def test_a_login_through_the_proxy_has_a_cookie_for_tls_alone_and_may_write(
    tmp_path: Path,
) -> None:
    async with (
        behind(tmp_path) as (site, proxy, authority),
        client(proxy, authority, origin=proxy.url) as browser,
    ):
        answer = await browser.post("/login", json={"token": TOKEN})
        assert answer.status_code == 200
        name, _, rest = answer.headers["set-cookie"].partition("=")
        assert name == f"__Host-mnema_{site.port}"
        assert (
            rest.partition(";")[2] == " HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000; Secure"
        )
        changes = {**JSON, "x-csrf-token": answer.json()["csrf"]}
        sent = await browser.post(
            "/api/messages", json={"conversation": "c1", "text": "x"}, headers=changes
        )
        assert sent.status_code == 202
        for origin in (
            f"http://127.0.0.1:{site.port}",
            proxy.url.replace("https", "http"),
            "https://evil.example",
        ):
            bad = {**changes, "origin": origin}
            refused = await browser.post(
                "/api/messages", json={"conversation": "c1", "text": "y"}, headers=bad
            )
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "origin")
        async for event in events(browser, "c1"):
            assert event.name == "accepted"
            break
        upgrade = {"connection": "upgrade", "upgrade": "websocket"}
        assert (
            await browser.get("/api/conversations/c1/events", headers=upgrade)
        ).status_code == 403
        out = await browser.post("/logout", json={}, headers=changes)
        assert "Max-Age=0; Secure" in out.headers["set-cookie"]
        assert (await browser.get("/api/v1/session")).status_code == 401
    assert [message.text for message in site.bot.taken] == ["x"]


async def test_what_another_site_sends_through_the_proxy_is_refused_and_no_page_may_frame_this_one(
    tmp_path: Path,
) -> None:
    async with (
        behind(tmp_path) as (site, proxy, authority),
        client(proxy, authority, origin=proxy.url) as browser,
    ):
        for where in ("cross-site", "same-site", "none"):
            refused = await browser.post(
                "/login", json={"token": TOKEN}, headers={"sec-fetch-site": where}
            )
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "origin")
        answer = await browser.post(
            "/login", json={"token": TOKEN}, headers={"sec-fetch-site": "same-origin"}
        )
        changes = {**JSON, "x-csrf-token": answer.json()["csrf"]}
        message = {"conversation": "c1", "text": "x"}
        for where, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 202)):
            sent = await browser.post(
                "/api/v1/messages", json=message, headers={**changes, "sec-fetch-site": where}
            )
            assert sent.status_code == status
        elsewhere = await browser.get("/", headers={"host": "evil.example"})
        assert (elsewhere.status_code, elsewhere.json()["error"]["code"]) == (400, "host")
        page = await browser.get("/", headers={"accept": "text/html"})
        assert page.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert [taken.text for taken in site.bot.taken] == ["x"]


async def test_loopback_goes_on_with_its_own_cookie_and_origin(tmp_path: Path) -> None:
    async with behind(tmp_path) as (site, proxy, _), site.nobody() as browser:
        answer = await browser.post("/login", json={"token": TOKEN}, headers={"origin": site.base})
        assert answer.headers["set-cookie"].startswith(f"mnema_{site.port}=")
        assert "Secure" not in answer.headers["set-cookie"]
        refused = await browser.post("/login", json={"token": TOKEN}, headers={"origin": proxy.url})
        assert refused.status_code == 403
        session_cookie = {
            "cookie": f"__Host-mnema_{site.port}={browser.cookies[f'mnema_{site.port}']}"
        }
        async with site.nobody() as other:
            assert (await other.get("/api/v1/session", headers=session_cookie)).status_code == 401


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil",
        "x@127.0.0.1:{port}",
        "127.0.0.1:{port},",
    ],
)
async def test_any_other_host_is_refused(tmp_path: Path, host: str) -> None:
    async with behind(tmp_path) as (_, proxy, authority), client(proxy, authority) as browser:
        answer = await browser.get("/login", headers={"host": host.format(port=proxy.port)})
        assert answer.status_code == 400


async def test_behind_a_proxy_that_changes_host_no_one_can_sign_in(tmp_path: Path) -> None:
    async with (
        behind(tmp_path, host="localhost:8642") as (_, proxy, authority),
        client(proxy, authority) as browser,
    ):
        assert (await browser.post("/login", json={"token": TOKEN})).status_code == 400


async def test_wrong_tokens_count_by_client_and_a_forged_address_counts_for_nothing(
    tmp_path: Path,
) -> None:
    async with behind(tmp_path) as (site, proxy, authority), client(proxy, authority) as browser:
        for number in range(4):
            forged = {"x-forwarded-for": f"198.51.100.{number}"}
            assert (
                await browser.post("/login", json={"token": "no"}, headers=forged)
            ).status_code == 401
        # The proxy is listed and says 127.0.0.1, which is listed too: what stands left of it
        # counts.
        assert len(site.gate._throttle) == 4
        async with site.nobody() as direct:
            for number in range(4):
                forged = {"x-forwarded-for": f"203.0.113.{number}, 192.0.2.1"}
                assert (
                    await direct.post("/login", json={"token": "no"}, headers=forged)
                ).status_code == 401
        assert len(site.gate._throttle) == 5


PROXIES = parse_networks(["127.0.0.1", "10.0.0.0/8", "::1"])


@every_case(
    ("peer", "forwarded", "client"),
    [
        ("127.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("127.0.0.1", ["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
        ("127.0.0.1", ["198.51.100.1", "203.0.113.9, 10.1.2.3"], "203.0.113.9"),
        ("127.0.0.1", ["203.0.113.9:4711"], "203.0.113.9"),
        ("127.0.0.1", ["[2001:db8::5]:4711"], "2001:db8::5"),
        ("::ffff:127.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("127.0.0.1", ["203.0.113.9, unknown"], "127.0.0.1"),
        ("127.0.0.1", ["203.0.113.9, unknown, 10.1.2.3"], "10.1.2.3"),
        ("127.0.0.1", ["10.9.9.9, 10.1.2.3"], "10.9.9.9"),
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", [""], "127.0.0.1"),
        ("192.0.2.7", ["203.0.113.9"], "192.0.2.7"),
        ("", ["203.0.113.9"], ""),
    ],
)
def test_the_client_is_the_right_most_hop_that_is_no_listed_proxy(
    peer: str, forwarded: list[str], client: str
) -> None:
    headers = [(b"x-forwarded-for", text.encode()) for text in forwarded]
    assert client_address(peer, headers, PROXIES) == client
    assert client_address(peer, headers, ()) == peer


@every_case(
    ("url", "host"),
    [
        ("https://bot.example.org", "bot.example.org"),
        ("https://Bot.Example.org:443", "bot.example.org"),
        ("https://bot.example.org:8443", "bot.example.org:8443"),
        ("https://[2001:db8::1]:8443", "[2001:db8::1]:8443"),
    ],
)
def test_a_public_address_is_what_browsers_write_into_host(url: str, host: str) -> None:
    assert parse_public_host(url) == host


@every_case(
    "url",
    [
        "http://bot.example.org",
        "https://",
        "https://bot.example.org/",
        "https://bot.example.org/x",
        "https://a:b@c.d",
        "https://bot.example.org:0",
        "https://bot.example.org:70000",
        "https://bot.example.org?x",
        "https://bücher.example",
        "https://bot.example.org\n",
        "https://.example",
        "bot.example.org",
    ],
)
def test_anything_else_is_no_public_address(url: str) -> None:
    with pytest.raises(ValueError, match="not an https address"):
        parse_public_host(url)


async def test_the_number_of_remembered_clients_is_limited() -> None:
    wrong = LoginThrottle(lambda: 0.0)
    for number in range(1025):
        with pytest.raises(Exception, match="the token is wrong"):
            await wrong.refuse(f"10.0.{number // 256}.{number % 256}")
    assert len(wrong) == 1024


async def test_one_client_with_all_its_places_taken_is_sent_away_and_no_other() -> None:
    wrong = LoginThrottle(lambda: 0.0)
    for _ in range(5):
        with pytest.raises(Exception, match="the token is wrong"):
            await wrong.refuse("10.0.0.1")
    waiting = [asyncio.create_task(wrong.refuse("10.0.0.1")) for _ in range(16)]
    await asyncio.sleep(0)
    with pytest.raises(Exception, match="too many wrong tokens"):
        await wrong.refuse("10.0.0.1")
    with pytest.raises(Exception, match="the token is wrong"):
        await wrong.refuse("10.0.0.2")
    await _cancelled(waiting)


async def test_with_all_places_taken_everybody_is_sent_away() -> None:
    wrong = LoginThrottle(lambda: 0.0)
    waiting = [
        asyncio.create_task(wrong.refuse(f"10.0.0.{client}"))
        for client in range(8)
        for _ in range(16)
    ]
    await asyncio.sleep(0)
    with pytest.raises(Exception, match="too many wrong tokens"):
        await wrong.refuse("10.0.0.200")
    await _cancelled(waiting)


async def _cancelled(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_one_ipv6_network_is_one_client() -> None:
    wrong = LoginThrottle(lambda: 0.0)
    for number in range(3):
        with pytest.raises(Exception, match="the token is wrong"):
            await wrong.refuse(f"2001:db8::{number}")
    assert len(wrong) == 1
