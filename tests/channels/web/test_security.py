"""What the site must refuse: other hosts, other origins, no or wrong tokens, paths that climb; over
real sockets.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from channels.web.auth import RequestGuard, hash_secret, require_fresh_login
from channels.web.requests import HttpRefusal
from channels.web.throttle import login_delay
from tests.channels.web.server import TOKEN, Running, ScriptedBot, running
from tests.channels.web.streams import events

# Literals, so that the product is not compared with itself.
IDLE = 30 * 86_400.0  # seconds

MESSAGE = {"conversation": "c1", "text": "x"}
SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; "
        "trusted-types dompurify svelte-trusted-html"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


@pytest.fixture
async def site() -> AsyncIterator[Running]:
    bot = ScriptedBot()
    async with running(bot) as up:
        bot.add("c1", "user", "hello")
        yield up


@asynccontextmanager
async def browser(site: Running) -> AsyncIterator[tuple[httpx.AsyncClient, dict[str, str]]]:
    """A client with a login's cookie, and the headers its page sends with a change."""
    async with site.nobody() as client:
        answer = await client.post("/login", json={"token": TOKEN}, headers={"origin": site.base})
        assert answer.status_code == 200
        yield (
            client,
            {
                "origin": site.base,
                "x-csrf-token": answer.json()["csrf"],
                "content-type": "application/json",
            },
        )


async def raw(site: Running, request: str) -> tuple[int, bytes]:
    """One request as written; the status and the whole answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(request.replace("\n", "\r\n").encode("latin-1"))
    answer = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    return int(answer.split(b" ", 2)[1]), answer


@pytest.mark.parametrize(
    "host", ["evil.example", "x/abc?y=", "127.0.0.1", "localhost:1", "127.0.0.1:{port}.evil", ""]
)
@pytest.mark.parametrize(
    "path", ["/", "/api/conversations", "/static/icon.svg", "/healthz", "/login"]
)
async def test_another_host_is_refused_before_anything_else(
    site: Running, host: str, path: str
) -> None:
    name = host.format(port=site.port)
    status, _ = await raw(
        site,
        f"GET {path} HTTP/1.1\nHost: {name}\nAuthorization: Bearer {TOKEN}\nConnection: close\n\n",
    )
    assert status == 400


async def test_loopback_answers_by_each_of_its_names(site: Running) -> None:
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        status, _ = await raw(
            site, f"GET /healthz HTTP/1.1\nHost: {name}:{site.port}\nConnection: close\n\n"
        )
        assert status == 200


async def test_every_route_wants_to_know_who_asks(site: Running) -> None:
    async with site.nobody() as nobody:
        for call in site.site.calls:
            path = call.path.replace("{id}", "c1").replace("{path:path}", "MEMORY.md")
            for headers in (
                {},
                {"authorization": "Basic eDp5"},
                {"cookie": f"{site.gate.cookie}=made-up"},
            ):
                answer = await nobody.request(call.method, path, headers=headers)
                assert answer.status_code == 401, call
        for path in ("/", "/metrics", "/docs", "/openapi.json", "/uploads/1"):
            assert (await nobody.get(path)).status_code == 401
        assert (await nobody.post("/logout")).status_code == 401
        assert len(site.site.calls) >= 6


async def test_a_browser_without_a_login_is_shown_the_login_page_as_401(site: Running) -> None:
    async with site.nobody() as nobody:
        answer = await nobody.get("/", headers={"accept": "text/html"})
    assert answer.status_code == 401
    assert "/static/assets/" in answer.text


async def test_a_token_in_the_address_or_in_other_headers_counts_for_nothing(site: Running) -> None:
    async with site.nobody() as nobody:
        for path in (
            f"/api/conversations?token={TOKEN}",
            f"/api/conversations?access_token={TOKEN}&role=owner",
        ):
            answer = await nobody.get(
                path, headers={"x-role": "owner", "x-forwarded-for": "127.0.0.1", "x-token": TOKEN}
            )
            assert answer.status_code == 401
    async with site.client() as owner:
        assert "location" not in (await owner.get("/?server=http://evil.example")).headers


async def test_the_token_is_exchanged_for_a_cookie_that_scripts_and_other_sites_never_see(
    site: Running,
) -> None:
    async with site.nobody() as client:
        answer = await client.post("/login", json={"token": TOKEN})
        flags = answer.headers["set-cookie"]
        assert all(flag in flags for flag in ("HttpOnly", "SameSite=Strict", "Path=/"))
        assert TOKEN not in flags
        assert (await client.get("/api/v1/session")).json()["csrf"] == answer.json()["csrf"]
        assert "/static/assets/" in (await client.get("/")).text


@pytest.mark.parametrize(
    "change",
    [
        {"origin": None},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "https://127.0.0.1"},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "application/json; charset=utf-8"},
        {"x-csrf-token": None},
        {"x-csrf-token": "wrong"},
    ],
)
async def test_a_cookie_alone_changes_nothing(site: Running, change: dict[str, str | None]) -> None:
    async with browser(site) as (client, headers):
        bad = {name: value for name, value in {**headers, **change}.items() if value is not None}
        for path in ("/api/messages", "/api/conversations/c1/stop", "/logout"):
            answer = await client.post(
                path, content=b'{"conversation":"c1","text":"x"}', headers=bad
            )
            assert answer.status_code == 403, path
        assert (
            await client.post("/api/messages", json=MESSAGE, headers=headers)
        ).status_code == 202
    assert len(site.bot.taken) == 1
    assert site.bot.stopped == []


async def test_a_token_without_a_cookie_needs_neither_origin_nor_csrf(site: Running) -> None:
    async with site.client() as client:
        assert (await client.post("/api/messages", json=MESSAGE)).status_code == 202


async def test_a_login_from_another_site_is_refused(site: Running) -> None:
    async with site.nobody() as client:
        for origin in ("null", "http://evil.example"):
            answer = await client.post("/login", json={"token": TOKEN}, headers={"origin": origin})
            assert answer.status_code == 403
        form = await client.post(
            "/login", content=f'{{"token":"{TOKEN}"}}', headers={"content-type": "text/plain"}
        )
        assert form.status_code == 403


@pytest.mark.parametrize("fetched", ["cross-site", "same-site", "none"])
async def test_a_change_that_a_browser_says_comes_from_elsewhere_is_refused(
    site: Running, fetched: str
) -> None:
    async with browser(site) as (client, headers):
        for said, status in ((fetched, 403), ("same-origin", 200)):
            answer = await client.post(
                "/logout", headers={**headers, "sec-fetch-site": said}, content="{}"
            )
            assert answer.status_code == status


@pytest.mark.parametrize(
    "path", ["/", "/c/c1", "/c/c1/context", "/memory", "/memory/files/a.md", "/settings/llm"]
)
async def test_the_page_is_served_under_each_of_its_addresses(site: Running, path: str) -> None:
    async with site.nobody() as nobody, browser(site) as (client, _):
        assert (await nobody.get(path)).status_code == 401
        login = await nobody.get(path, headers={"accept": "text/html"})
        page = await client.get(path)
        assert (login.status_code, page.status_code) == (401, 200)
        assert login.text == page.text
        assert (await client.get("/cc")).status_code == 404


async def test_the_page_names_what_it_asks_for_first_at_this_address_to_those_who_are_logged_in(
    site: Running,
) -> None:
    async with site.nobody() as nobody, browser(site) as (client, _):
        assert (
            "link" not in (await nobody.get("/settings", headers={"accept": "text/html"})).headers
        )
        named = {}
        for path, language in (
            ("/settings/llm", "en-GB"),
            ("/c/a:b/context", "zh-CN"),
            ("/c/%3E;", "zh"),
            ("/more", ""),
        ):
            answer = await client.get(path, headers={"accept-language": language})
            named[path] = [
                link.partition(">")[0].strip(" <") for link in answer.headers["link"].split(",")
            ]
            for file in named[path]:
                assert file.startswith("/api/") or (await nobody.get(file)).status_code == 200, file
        assert [file for file in named["/settings/llm"] if "Settings" in file]
        assert named["/c/a:b/context"][-2:] == ["/api/v1/session", "/api/v1/conversations/a%3Ab"]
        assert named["/c/%3E;"][-1] == "/api/v1/session"
        words = {
            path: [file[15:17] for file in files if file[15:18] in ("en-", "zh-")]
            for path, files in named.items()
        }
        assert words == {
            "/settings/llm": ["en"],
            "/c/a:b/context": ["zh"],
            "/c/%3E;": ["zh"],
            "/more": ["en"],
        }


async def test_files_are_compressed_and_those_named_by_their_content_are_kept(
    site: Running,
) -> None:
    async with site.nobody() as nobody:
        page = await nobody.get("/login")
        [script] = re.findall(r'<script type="module" crossorigin src="([^"]+)"', page.text)
        assert page.headers["cache-control"] == "no-cache"
        answer = await nobody.get(script, headers={"accept-encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"
        assert "immutable" in answer.headers["cache-control"]
        plain = await nobody.get(script, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == answer.content


async def test_a_websocket_is_refused_even_with_a_cookie(site: Running) -> None:
    async with browser(site) as (client, _):
        handshake = {
            "upgrade": "websocket",
            "connection": "Upgrade",
            "sec-websocket-key": "x",
            "origin": "http://evil",
        }
        assert (
            await client.get("/api/conversations/c1/events", headers=handshake)
        ).status_code == 403


async def test_every_answer_carries_the_security_headers_and_none_allows_other_origins(
    site: Running,
) -> None:
    async with site.client() as client:
        paths = [
            "/",
            "/login",
            "/static/icon.svg",
            "/static/none",
            "/healthz",
            "/api/conversations",
            "/api/nothing",
        ]
        for path in paths:
            answer = await client.get(path, headers={"origin": "http://evil.example"})
            assert {name: answer.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
            assert not [name for name in answer.headers if name.startswith("access-control")]
            assert "server" not in answer.headers
        refused = await client.get("/", headers={"host": "evil"})
        assert {name: refused.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/..%252f..%252fetc/passwd",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/app.js%00.css",
        "/static/assets",
        "/static/BUILT",
    ],
)
async def test_static_paths_that_climb_are_404(site: Running, path: str) -> None:
    status, _ = await raw(
        site, f"GET {path} HTTP/1.1\nHost: 127.0.0.1:{site.port}\nConnection: close\n\n"
    )
    assert status == 404


async def test_wrong_tokens_are_answered_later_and_later_while_the_owner_goes_on(
    site: Running,
) -> None:
    async def guess(nobody: httpx.AsyncClient, number: int) -> int:
        return (await nobody.post("/login", json={"token": f"guess {number}"})).status_code

    async with browser(site) as (client, headers), site.nobody() as nobody:
        began = time.monotonic()
        flood = asyncio.gather(*(guess(nobody, number) for number in range(60)))
        await asyncio.sleep(0)
        for _ in range(5):
            assert (
                await client.post("/api/messages", json=MESSAGE, headers=headers)
            ).status_code == 202
        live = time.monotonic() - began
        codes = await flood
        slowed = time.monotonic() - began
        async with site.client() as owner:
            assert (await owner.get("/api/v1/session")).status_code == 200
    assert set(codes) <= {401, 429}
    assert 429 in codes
    assert slowed > 0.5
    assert live < slowed


def test_the_delay_is_nothing_for_five_tries_and_then_grows_to_its_cap() -> None:
    waits = [login_delay(count) for count in range(1, 1_000)]
    assert waits[:5] == [0.0] * 5
    assert waits == sorted(waits)
    assert waits[5] == 0.1
    assert waits[-1] == 2.0


async def test_another_token_ends_sessions_and_open_streams_within_a_second(site: Running) -> None:
    async with browser(site) as (client, _), site.client() as script:
        for follower in (client, script):
            opened = asyncio.Event()
            async with aclosing(events(follower, "c1", last="1", opened=opened)) as stream:
                following = asyncio.ensure_future(anext(stream))
                site.web.hub.notify_stored("c1")
                await asyncio.wait_for(opened.wait(), 10)
                site.gate.rotate(
                    "another token of many random bits" if follower is client else "a third one"
                )
                with pytest.raises(StopAsyncIteration):
                    await asyncio.wait_for(following, 1)
            if follower is client:
                assert (await client.get("/api/v1/session")).status_code == 401
                script.headers["authorization"] = "Bearer another token of many random bits"
        assert (await script.get("/api/v1/session")).status_code == 401


async def test_signing_out_ends_the_session_on_the_server(site: Running) -> None:
    async with browser(site) as (client, headers):
        cookie = client.cookies[site.gate.cookie]
        assert (await client.post("/logout", json={}, headers=headers)).status_code == 200
    async with site.nobody(cookies={site.gate.cookie: cookie}) as thief:
        assert (await thief.get("/api/v1/session")).status_code == 401


def cookie_of(session_cookie: str) -> list[tuple[bytes, bytes]]:
    return [(b"cookie", f"mnema_1={session_cookie}".encode())]


async def test_a_session_ends_when_idle_for_30_days_and_each_request_begins_them_again() -> None:
    now = [0.0]
    gate = RequestGuard(token=TOKEN, port=1, wall_clock=lambda: now[0])
    session_cookie = await gate.login(TOKEN, [])
    for _ in range(3):
        now[0] += IDLE
        visitor = await gate.visitor("GET", cookie_of(session_cookie))
    assert f"Max-Age={IDLE:.0f}" in visitor.renewed_cookie
    now[0] += IDLE + 1
    assert not visitor.alive()
    with pytest.raises(Exception, match="sign in"):
        await gate.visitor("GET", cookie_of(session_cookie))


async def test_S29_a_restart_ends_no_session_and_another_token_ends_all(tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"
    gate = RequestGuard(token=TOKEN, port=1, sessions_path=path)
    kept, ended = await gate.login(TOKEN, []), await gate.login(TOKEN, [])
    csrf = (await gate.visitor("GET", cookie_of(kept))).csrf
    gate.logout(cookie_of(ended))
    assert path.stat().st_mode & 0o777 == 0o600
    assert kept not in path.read_text()
    assert csrf not in path.read_text()

    restarted = RequestGuard(token=TOKEN, port=1, sessions_path=path)
    visitor = await restarted.visitor("GET", cookie_of(kept))
    assert visitor.csrf == csrf, "an open page goes on"
    with pytest.raises(HttpRefusal, match="fresh login"):
        require_fresh_login(visitor)
    with pytest.raises(HttpRefusal, match="sign in"):
        await restarted.visitor("GET", cookie_of(ended))

    rotated = RequestGuard(token="another token of many random bits", port=1, sessions_path=path)
    with pytest.raises(HttpRefusal, match="sign in"):
        await rotated.visitor("GET", cookie_of(kept))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"token": "x"}', '{"token": "{token}", "sessions": {"zz": {}}}']
)
async def test_a_damaged_file_of_sessions_means_signing_in_again(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sessions.json"
    path.write_text(text.replace("{token}", hash_secret(TOKEN).hex()))
    gate = RequestGuard(token=TOKEN, port=1, sessions_path=path)
    session_cookie = await gate.login(TOKEN, [])
    assert (
        await RequestGuard(token=TOKEN, port=1, sessions_path=path).visitor(
            "GET", cookie_of(session_cookie)
        )
    ).csrf


async def test_a_doubled_cookie_or_authorization_header_is_not_authenticated(site: Running) -> None:
    async with browser(site) as (client, _):
        session_cookie = client.cookies[site.gate.cookie]
    head = f"GET /api/v1/session HTTP/1.1\nHost: 127.0.0.1:{site.port}\nConnection: close\n"
    name = site.gate.cookie
    assert (await raw(site, f"{head}Cookie: {name}={session_cookie}; {name}=x\n\n"))[0] == 401
    assert (
        await raw(site, f"{head}Authorization: Bearer {TOKEN}\nAuthorization: Bearer {TOKEN}\n\n")
    )[0] == 401
    assert (await raw(site, f"{head}Authorization: Bearer \xff\n\n"))[0] == 401


async def test_an_action_that_is_not_allowed_is_403_on_its_route_only(site: Running) -> None:
    site.bot.refused = frozenset({"turn.stop"})
    async with site.client() as client:
        assert (await client.post("/api/conversations/c1/stop")).status_code == 403
        assert (await client.get("/api/conversations")).status_code == 200
    assert site.bot.stopped == []


async def test_reading_changes_nothing(site: Running) -> None:
    async with site.client() as client:
        for path in (
            "/api/messages?conversation=c1&text=x",
            "/api/conversations/c1/stop",
            "/logout",
        ):
            assert (await client.get(path)).status_code in (404, 405)
        assert (await client.head("/api/conversations/c1/events")).status_code == 200
    assert site.bot.taken == []
    assert site.bot.stopped == []
