"""`mnema login` beside a real `mnema run`, the link of the first start, and `mnema run --open`."""

import asyncio
import html
import re
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx

from tests.walk.harness import Bot, mnema, settings, until

OFFLINE = settings("http://127.0.0.1:9", provider="offline")
REDIRECT = re.compile(r'http-equiv="refresh" content="0; url=([^"]+)"')
LINK = re.compile(r"(http://[^/\s]+)/login#code=(\S+)")


async def enter(link: str, client: httpx.AsyncClient) -> httpx.Response:
    """What the page does with a link."""
    found = LINK.search(link)
    assert found, link
    return await client.post(f"{found[1]}/login", json={"code": found[2]})


async def test_a_link_of_mnema_login_is_not_valid_after_a_restart_and_its_session_is(
    tmp_path: Path,
) -> None:
    bot = Bot(tmp_path / "home", {**OFFLINE, "channels": {"web": {"port": await free_port()}}})
    async with httpx.AsyncClient(trust_env=False) as client:
        await bot.start()
        used, unused = [await mnema(bot.home, "login") for _ in range(2)]
        assert (used[0], unused[0]) == (0, 0)
        assert (await enter(used[1], client)).status_code == 200
        await bot.restart()
        assert (await client.get(f"{bot.web.url}/api/status")).status_code == 200
        async with httpx.AsyncClient(trust_env=False) as other:
            refused = await enter(unused[1], other)
        assert refused.status_code == 401
        assert "mnema login prints a new one" in refused.json()["error"]["message"]
        assert (
            unused[1].partition("#code=")[2].strip()
            not in (bot.home / "data" / "log" / "mnema.log").read_text()
        )
        await bot.term()


async def test_without_a_running_bot_mnema_login_says_what_to_start(tmp_path: Path) -> None:
    code, out, err = await mnema(tmp_path / "home", "login")
    assert (code, out) == (1, "")
    assert "start mnema run" in err


async def test_a_session_that_is_not_fresh_makes_no_link(tmp_path: Path) -> None:
    bot = Bot(tmp_path / "home", {**OFFLINE, "channels": {"web": {"port": await free_port()}}})
    async with httpx.AsyncClient(trust_env=False) as client:
        await bot.start()
        welcome = await enter((await mnema(bot.home, "login"))[1], client)
        await bot.restart()  # a login of an earlier process is never fresh
        page = {
            "origin": bot.web.url,
            "x-csrf-token": welcome.json()["csrf"],
            "content-type": "application/json",
        }
        refused = await client.post(f"{bot.web.url}/api/v1/login-codes", content="{}", headers=page)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "login_again")
        await bot.term()


async def free_port() -> int:
    """A port that was free a moment ago: a cookie is valid at one port."""
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port


class SpeakingBot(Bot):
    """Keeps what it printed."""

    said = ""

    async def _read(self, said: asyncio.StreamReader, ready: asyncio.Future[str]) -> None:
        async for line in said:
            self.said += line.decode()
            if line.startswith(b"ready") and not ready.done():
                ready.set_result(line.decode())


async def test_the_first_start_without_a_terminal_prints_a_link_and_later_ones_do_not(
    tmp_path: Path,
) -> None:
    bot = SpeakingBot(tmp_path / "home", OFFLINE)
    await bot.start()
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await enter(bot.said, client)).status_code == 200
    await bot.term()
    bot.said = ""
    await bot.start()
    assert not LINK.search(bot.said)
    await bot.term()


async def open_in_browser(bot: SpeakingBot, folder: Path) -> Path:
    """Start the bot beside a browser that notes its argument; return the file that it opens."""
    opened, browser = folder / "opened", folder / "browser"
    browser.write_text(
        f'#!/bin/sh\nprintf %s "$1" >"{opened}.part" && mv "{opened}.part" "{opened}"\n'
    )
    browser.chmod(0o700)
    bot.extra = {"BROWSER": f"{browser} %s"}
    await bot.start()
    address = await until(lambda: opened.is_file() and opened.read_text(), "the browser was called")
    assert address.startswith("file:///")
    return Path(unquote(urlsplit(address).path))


async def test_run_with_open_gives_the_browser_a_file_that_only_this_account_reads(
    tmp_path: Path,
) -> None:
    bot = SpeakingBot(tmp_path / "the home", OFFLINE, "run", "--open")
    page = await open_in_browser(bot, tmp_path)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    found = REDIRECT.search(page.read_text())
    assert found
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await enter(html.unescape(found[1]), client)).status_code == 200
    assert not page.exists()  # its link is used up
    await bot.term()


async def test_a_link_that_no_browser_used_is_in_no_file_after_the_end(tmp_path: Path) -> None:
    bot = SpeakingBot(tmp_path / "home", OFFLINE, "run", "--open")
    page = await open_in_browser(bot, tmp_path)
    assert page.exists()
    await bot.term()
    assert not page.exists()


async def test_a_bot_starts_though_the_file_for_the_browser_cannot_be_written(
    tmp_path: Path,
) -> None:
    bot = SpeakingBot(tmp_path / "home", OFFLINE, "run", "--open")
    (bot.home / "data" / "login.html").mkdir(parents=True)
    bot.extra = {"BROWSER": "false %s"}
    await bot.start()
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await enter(bot.said, client)).status_code == 200
    await bot.term()


async def test_run_with_open_prints_the_link_where_there_is_no_browser(tmp_path: Path) -> None:
    bot = SpeakingBot(tmp_path / "home", OFFLINE, "run", "--open")
    await bot.start()
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await enter(bot.said, client)).status_code == 200
    await bot.term()
