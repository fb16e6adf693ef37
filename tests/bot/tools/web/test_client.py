"""The guarded client against real servers: what it dials, follows and reads."""

import asyncio
import gzip
import ipaddress
import socket
import ssl
import threading
from pathlib import Path

import pytest

from bot.tools.web.addresses import WebError, parse_url
from bot.tools.web.client import MAX_LOOKUPS, MAX_REDIRECTS, GuardedClient, Lookups, is_own_address
from tests.cases import every_case
from tests.emulators.pages import (
    PageServer,
    SeenRequest,
    answer,
    make_certificate,
    redirect,
    serving,
)

PUBLIC = "8.8.8.8"  # judged, never dialled


class Names:
    """A name server: each lookup takes the next answer of its name, and is counted."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        rows = self.answers[host.replace(".", "_")]
        return rows.pop(0) if len(rows) > 1 else rows[0]


async def refused(client: GuardedClient, url: str) -> str:
    with pytest.raises(WebError) as err:
        await client.get(url)
    return err.value.code


def open_to(pages: PageServer, *names: str, **answers: list[list[str]]) -> GuardedClient:
    pairs = (pages.pair, *(f"{name}:{pages.port}" for name in names))
    return GuardedClient(resolve=Names(**answers), allowed=lambda: pairs)


@every_case(
    "addresses",
    [
        ["127.0.0.1"],
        ["8.8.8.8", "10.0.0.1"],
        ["2606:4700::1", "::1"],
        ["::ffff:127.0.0.1"],
        ["169.254.169.254"],
    ],
)
async def test_S41_one_denied_answer_refuses_the_name(addresses: list[str]) -> None:
    names = Names(a_example=[addresses])
    assert await refused(GuardedClient(resolve=names), "http://a.example/") == "denied"
    assert names.asked == ["a.example"]


async def test_S41_a_name_is_looked_up_once_and_the_judged_address_is_dialled() -> None:
    async with serving() as pages:
        pages.page("/", "hello")
        client = open_to(pages, "a.example", a_example=[["127.0.0.1"], ["10.9.9.9"]])
        response = await client.get(f"http://a.example:{pages.port}/")
        assert response.body == b"hello"
        assert client.resolve.asked == ["a.example"]  # type: ignore[attr-defined]
        assert pages.seen[0].headers["host"] == f"a.example:{pages.port}"


async def test_S39_I48_nothing_is_sent_to_a_loopback_server() -> None:
    async with serving() as pages:
        for url in (
            pages.url(),
            f"http://localhost:{pages.port}/",
            f"http://[::ffff:127.0.0.1]:{pages.port}/",
        ):
            assert await refused(GuardedClient(), url) == "denied"
        assert pages.connections == 0


class PublicMachine(socket.socket):
    """A socket of a machine that has a public address of its own, so that it can be bound."""

    def bind(self, address: tuple[str, int]) -> None:  # type: ignore[override]
        if address[0] != PUBLIC:
            super().bind(address)


async def test_S39_our_own_public_address_is_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_own_address(ipaddress.ip_address("127.0.0.1"))
    assert not is_own_address(ipaddress.ip_address(PUBLIC))
    client = GuardedClient(resolve=Names(us_example=[["1.1.1.1", PUBLIC]]))
    urls = [f"http://{host}/" for host in (PUBLIC, "us.example")]
    assert [len(await client.judge(parse_url(url))) for url in urls] == [1, 2], (
        "of another machine it is opened"
    )
    monkeypatch.setattr(socket, "socket", PublicMachine)
    for url in urls:
        with pytest.raises(WebError, match="not a public address"):
            await client.judge(parse_url(url))


async def test_I48_who_answers_at_another_address_than_the_judged_one_is_sent_nothing() -> None:
    async with serving() as pages:
        pages.page("/", "elsewhere")
        # which Linux connects to 127.0.0.1
        client = open_to(pages, "a.example", a_example=[["0.0.0.0"]])
        assert await refused(client, f"http://a.example:{pages.port}/") == "denied"
        assert pages.seen == []


@every_case(
    "target",
    [
        "http://169.254.169.254/latest",
        "http://10.0.0.1/",
        "http://b.example/",
        "file:///etc/passwd",
        "gopher://x/",
    ],
)
async def test_S42_a_redirect_is_judged_like_the_first_url(target: str) -> None:
    async with serving() as pages:
        pages.pages["/"] = redirect(target)
        client = open_to(pages, b_example=[["127.0.0.1"]])
        assert await refused(client, pages.url()) in ("denied", "url")


async def test_S42_redirects_end_and_lose_what_was_meant_for_the_first_host() -> None:
    async with serving() as first, serving() as second:
        first.pages["/"] = redirect(second.url("/there"))
        second.page("/there", "there")
        client = GuardedClient(allowed=lambda: (first.pair, second.pair))
        response = await client.get(first.url(), headers={"Authorization": "Bearer x"})
        assert response.body == b"there"
        assert first.seen[0].headers["authorization"] == "Bearer x"
        assert "authorization" not in second.seen[0].headers
        for number in range(MAX_REDIRECTS + 1):
            first.pages[f"/{number}"] = redirect(f"/{number + 1}")
        assert await refused(client, first.url("/0")) == "status"
        first.page(f"/{MAX_REDIRECTS + 1}", "end")
        assert (await client.get(first.url("/1"))).body == b"end", "five are followed"


async def _endless(request: SeenRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


async def _slow(request: SeenRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def test_S43_large_bodies_bombs_and_headers_are_cut() -> None:
    async with serving() as pages:
        client = open_to(pages)
        pages.pages["/endless"] = _endless
        bomb = gzip.compress(b"0" * (30 * 2**20))
        pages.pages["/bomb"] = answer(bomb, "text/plain", Content_Encoding="gzip")
        pages.pages["/headers"] = answer(
            b"x", "text/plain", **{f"X-{n}": "v" * 500 for n in range(80)}
        )
        pages.pages["/odd"] = answer(b"x", "text/plain", Content_Encoding="br")
        pages.pages["/damaged"] = answer(
            bomb[:50] + b"?" * 50, "text/plain", Content_Encoding="gzip"
        )
        assert await refused(client, pages.url("/endless")) == "too_large"
        assert await refused(client, pages.url("/bomb")) == "too_large"
        assert await refused(client, pages.url("/headers")) == "too_large"
        assert await refused(client, pages.url("/odd")) == "type"
        assert await refused(client, pages.url("/damaged")) == "network"
        pages.pages["/fine"] = answer(
            gzip.compress(b"fine" * 1000), "text/plain", Content_Encoding="gzip"
        )
        assert (await client.get(pages.url("/fine"))).body == b"fine" * 1000


async def test_S43_a_page_that_trickles_is_given_up_by_a_total_deadline() -> None:
    async with serving() as pages:
        pages.pages["/"] = _slow
        client = GuardedClient(allowed=lambda: (pages.pair,), total_seconds=0.5)
        assert await refused(client, pages.url()) == "too_slow"


async def test_S44_the_environment_names_no_proxy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with serving() as pages, serving() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url())
        (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b\n")
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
        pages.page("/", "direct")
        assert (await open_to(pages).get(pages.url())).body == b"direct"
        assert proxy.connections == 0
        assert "authorization" not in pages.seen[0].headers


async def test_a_certificate_that_is_not_valid_is_refused(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path, "a.example")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    async with serving(server) as pages:
        pages.page("/", "secret")
        url = f"https://a.example:{pages.port}/"
        client = open_to(
            pages, "a.example", "b.example", a_example=[["127.0.0.1"]], b_example=[["127.0.0.1"]]
        )
        assert await refused(client, url) == "tls"
        trusting = ssl.create_default_context(cafile=str(certificate))
        trusted = GuardedClient(resolve=client.resolve, allowed=client.allowed, tls=trusting)
        assert (await trusted.get(url)).body == b"secret"
        assert await refused(trusted, f"https://b.example:{pages.port}/") == "tls", (
            "a certificate of another name"
        )


async def test_S42_https_leads_to_no_http(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path, "a.example")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    async with serving(server) as safe, serving() as plain:
        safe.pages["/"] = redirect(plain.url("/there"))
        safe.pages["/on"] = redirect("/end")
        safe.page("/end", "end")
        plain.page("/there", "there")
        names, trusting = (
            Names(a_example=[["127.0.0.1"]]),
            ssl.create_default_context(cafile=str(certificate)),
        )
        pairs = (f"a.example:{safe.port}", plain.pair)
        client = GuardedClient(resolve=names, allowed=lambda: pairs, tls=trusting)
        assert (await client.get(f"https://a.example:{safe.port}/on")).body == b"end"
        assert await refused(client, f"https://a.example:{safe.port}/") == "denied"
        assert plain.connections == 0


async def test_names_that_hang_take_no_thread_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    release, begun = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    started = []

    def hang(host: str, *_: object, **__: object) -> list[object]:
        started.append(host)
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    lookups = Lookups()
    asked = [
        asyncio.create_task(lookups(f"h{number}.example", 80)) for number in range(MAX_LOOKUPS + 4)
    ]
    again = [asyncio.create_task(lookups("h0.example", 80)) for _ in range(8)]
    await begun.wait()
    assert (
        await asyncio.to_thread(lambda: "a file tool's thread is free")
        == "a file tool's thread is free"
    )
    release.set()
    ended = await asyncio.gather(*asked, return_exceptions=True)
    busy = [one for one in ended if isinstance(one, WebError)]
    assert len(busy) == 4, "as many lookups at a time, the rest is told so at once"
    assert len(started) == MAX_LOOKUPS
    assert await asyncio.gather(*again) == [[]] * 8, "a name that hangs takes one place"
    assert await lookups("again.example", 80) == [], "a lookup that has ended makes room"


async def test_a_few_names_that_hang_do_not_stop_others(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def look_up(host: str, *_: object, **__: object) -> list[object]:
        if host.startswith("hung"):
            release.wait(30)
        return [(0, 0, 0, "", ("192.0.2.7", 80))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    lookups = Lookups()
    hung = [asyncio.create_task(lookups(f"hung{number}.example", 80)) for number in range(20)]
    await asyncio.sleep(0)
    assert await lookups("fine.example", 80) == ["192.0.2.7"]
    release.set()
    assert await asyncio.gather(*hung) == [["192.0.2.7"]] * 20
