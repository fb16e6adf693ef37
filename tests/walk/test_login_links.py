"""`mnema login` beside a real `mnema run`, the link of the first start, and `mnema run --open`."""

import asyncio
import re
from pathlib import Path

import httpx
import pytest

from tests.walk.harness import Bot, ColdBot, mnema, settings, until

OFFLINE = settings("http://127.0.0.1:9", provider="offline")
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


class SpeakingBot(ColdBot):
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


@pytest.mark.parametrize("has_browser", [True, False])
async def test_run_with_open_opens_the_page_or_prints_its_link(
    tmp_path: Path, has_browser: bool
) -> None:
    bot = SpeakingBot(tmp_path / "home", OFFLINE, "run", "--open")
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\nprintf %s "$1" >"{opened}.part" && mv "{opened}.part" "{opened}"\n'
    )
    browser.chmod(0o700)
    if has_browser:
        bot.extra = {"BROWSER": f"{browser} %s"}
    await bot.start()
    link = bot.said
    if has_browser:
        link = await until(
            lambda: opened.is_file() and opened.read_text(), "the browser was called"
        )
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await enter(link, client)).status_code == 200
    await bot.term()
    assert opened.exists() == has_browser
