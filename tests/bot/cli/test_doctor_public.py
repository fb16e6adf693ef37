"""The doctor's check of the public address, through a real TLS proxy, correct or not."""

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.cli.doctor.channels import check_public
from bot.cli.doctor.texts import ShownCheck, show_checks
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.schema import Config
from tests.channels.attacked import Authority, Kind
from tests.channels.web.server import TOKEN, ScriptedBot, running
from tests.emulators.tls_proxy import Proxy, tls_proxy


@asynccontextmanager
async def looked(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    kind: Kind = "good",
    trusted: Sequence[str] = ("127.0.0.1",),
    begun: bool = True,
    **mistakes: Any,
) -> AsyncIterator[list[ShownCheck]]:
    """Run the checks of a page behind such a proxy. begun: whether a bot runs."""
    authority = Authority(folder)
    authority.context(kind)
    (folder / "authority.pem").write_text(authority.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "authority.pem"))
    home = HomeFolder(root=folder / "home")
    home.ensure()
    home.web_token.write_text(TOKEN)
    async with (
        tls_proxy(Proxy(certificate=str(folder / f"{kind}.pem"), **mistakes)) as proxy,
        running(ScriptedBot(), public_url=proxy.url, proxies=trusted) as site,
    ):
        proxy.lead_to(site.port)
        config = _config(home, proxy.url, trusted)
        if begun:
            with home.lock() as lock:
                lock.tell(site.base)
                yield show_checks(await check_public(home, config), "en")
        else:
            yield show_checks(await check_public(home, config), "en")


def _config(home: HomeFolder, url: str, trusted: Sequence[str] = ()) -> Config:
    listed = ", ".join(f'"{one}"' for one in trusted)
    home.config.write_text(
        f'{{"channels": {{"web": {{"public_url": "{url}", "trusted_proxies": [{listed}]}}}}}}'
    )
    return ConfigFile(home.config).load()


async def test_a_proxy_that_does_its_work_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with looked(tmp_path, monkeypatch) as [check]:
        assert (check.name, check.ok, check.hint) == ("public address", True, "")
        assert check.message.endswith(
            "certificate, Host, Origin, body size and event stream are fine."
        )


@pytest.mark.parametrize(
    ("mistakes", "message", "hint"),
    [
        (
            {"host": "inner:1"},
            "The proxy changes Host to inner:1.",
            "proxy_set_header Host $http_host",
        ),
        ({"strips": ["origin"]}, "The proxy removes Origin.", "Have the proxy pass Origin on"),
        (
            {"limit": 1 << 20},
            "The proxy does not accept uploads of 36 MB.",
            "client_max_body_size 40m;",
        ),
        (
            {"redirect": "https://a.example/x"},
            "redirects to https://a.example/x.",
            "that does not redirect",
        ),
        (
            {"status": 502},
            "answers 502: it cannot reach mnema.",
            "Have the proxy forward to http://127.0.0.1:",
        ),
        ({"status": 200}, "Something else answers at ", "or pages of its own"),
        ({"status": 401}, "with status 401.", "a login"),
        (
            {"kind": "expired"},
            "is not accepted: certificate has expired.",
            "Renew the certificate for 127.0.0.1",
        ),
        (
            {"kind": "self-signed"},
            "is not accepted: self-signed certificate.",
            "with its full chain",
        ),
        (
            {"kind": "another's"},
            "is not accepted: IP address mismatch",
            "Renew the certificate for 127.0.0.1",
        ),
    ],
)
async def test_each_mistake_is_named_with_what_to_do(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mistakes: dict[str, Any],
    message: str,
    hint: str,
) -> None:
    async with looked(tmp_path, monkeypatch, **mistakes) as [check]:
        assert not check.ok
        assert message in str(check.message)
        assert hint in check.hint


async def test_several_mistakes_are_all_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with looked(
        tmp_path, monkeypatch, host="inner", strips=["origin"], buffers=True, limit=99
    ) as found:
        assert [(check.ok, check.message) for check in found] == [
            (False, "The proxy changes Host to inner."),
            (False, "The proxy removes Origin."),
            (False, "The proxy does not accept uploads of 36 MB."),
            (
                False,
                "The proxy buffers the event stream: answers do not appear as they are written.",
            ),
        ]
        assert "proxy_buffering off" in found[3].hint


async def test_a_proxy_that_is_not_listed_is_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with looked(tmp_path, monkeypatch, trusted=()) as [check]:
        assert check.ok
        assert "list 127.0.0.1 in channels.web.trusted_proxies" in check.hint


async def test_without_a_running_bot_the_certificate_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with looked(tmp_path, monkeypatch, begun=False, status=502) as [check]:
        assert check.ok
        assert "mnema run is not running" in str(check.message)


async def test_an_address_where_nobody_answers_cannot_be_reached(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        [check] = await check_public(
            home, _config(home, f"https://127.0.0.1:{taken.getsockname()[1]}")
        )
    assert not check.ok
    assert "cannot be reached: [Errno 111] Connection refused." in str(check.message)


async def test_what_speaks_no_tls_is_told(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    async with running(ScriptedBot()) as site:
        [check] = await check_public(home, _config(home, f"https://127.0.0.1:{site.port}"))
    assert not check.ok
    assert "does not support TLS" in str(check.message)


async def test_no_public_address_is_no_check(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    assert await check_public(home, _config(home, "")) == []
