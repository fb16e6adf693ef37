"""`mnema channels`: the list, and a login in the terminal through a running bot."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import main
from bot.config.home import HomeFolder
from bot.console.channels import ChannelRoutes, draw_qr_text
from bot.gateway.channel_status import ChannelHealth, channel_status, channel_status_to_json
from channels.web.requests import Route, json_response
from tests.bot.forked_command import ForkedCommand, forked_command
from tests.bot.moody import DIGITS, QR, WAIT, Moody
from tests.channels.web.server import TOKEN, ScriptedBot, running
from tests.walk.harness import environment

COLOUR = re.compile(r"\x1b\[[\d;]*m")
NOW = 1_790_000_000.0


@pytest.fixture
def home(tmp_path: Path) -> HomeFolder:
    made = HomeFolder(root=tmp_path)
    made.ensure()
    made.config.write_text(
        json.dumps({"channels": {"telegram": {"token": "100:x"}, "web": {"port": 0}}})
    )
    made.config.chmod(0o600)
    return made


@asynccontextmanager
async def bot(home: HomeFolder, wechat: Moody) -> AsyncIterator[None]:
    """Imitates `mnema run` for other processes: the lock file with an address, and the routes."""

    async def status(_: object) -> Any:
        state = channel_status(wechat, ChannelHealth(up=True, since=NOW), wechat.felt.last_contact)
        return json_response({"channels": {"wechat": channel_status_to_json(state)}})

    calls = [
        Route(
            method="GET",
            path="/api/v1/status",
            action="console.read",
            handler=status,
            is_promised=True,
        ),
        *ChannelRoutes({"wechat": wechat}).calls(),
    ]
    async with running(ScriptedBot(), calls) as site:
        home.web_token.write_text(TOKEN)
        with home.lock() as lock:
            lock.tell(site.base)
            yield


def logging_in(home: HomeFolder) -> AbstractAsyncContextManager[ForkedCommand]:
    known = {**environment(home.root), "LANG": "zh_CN.UTF-8"}
    words = ("--home", str(home.root), "channels", "login", "wechat")
    return forked_command(*words, environment=known, has_terminal=True)


async def said(command: ForkedCommand, until: str) -> str:
    """Read its output up to this text, without colours."""
    seen = ""
    async with asyncio.timeout(30):
        while until not in seen:
            piece = await command.read()
            assert piece, f"it ended with {seen!r}, without {until!r}"
            seen += piece.replace("\r\n", "\n")
    return COLOUR.sub("", seen)


def test_without_a_bot_it_lists_what_would_start(
    home: HomeFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--home", str(home.root), "channels"]) == 0
    out = capsys.readouterr().out
    assert "○ telegram — on, but mnema run does not run" in out
    assert "○ wechat — off" in out
    assert main(["--home", str(home.root), "channels", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["channels"]["telegram"] == {
        "up": False,
        "state": "on",
    }


def test_a_login_without_a_bot_says_what_is_missing(
    home: HomeFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--home", str(home.root), "channels", "login", "wechat"]) == 1
    assert "mnema run must be running for a login" in capsys.readouterr().err
    with home.lock():
        assert main(["--home", str(home.root), "channels", "login", "wechat"]) == 1
    assert "has no page" in capsys.readouterr().err


async def test_beside_a_bot_it_tells_what_that_says(
    home: HomeFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    wechat = Moody("wechat")
    wechat.asked = QR
    async with bot(home, wechat):
        assert await asyncio.to_thread(main, ["--home", str(home.root), "channels"]) == 0
        assert "○ wechat — " in (out := capsys.readouterr().out)
        assert await asyncio.to_thread(main, ["--home", str(home.root), "channels", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)["channels"]["wechat"]
        assert (told["up"], told["state"], told["prompt"]["kind"]) == (False, "asking", "qr")
        assert (
            await asyncio.to_thread(main, ["--home", str(home.root), "channels", "login", "nope"])
            == 1
        )
        assert "there is no channel nope here" in capsys.readouterr().err
    assert "s3cret" not in out


async def test_a_login_goes_from_code_to_digits_to_done(home: HomeFolder) -> None:
    wechat = Moody("wechat")
    wechat.asked = QR
    async with bot(home, wechat), logging_in(home) as command:
        shown = await said(command, QR.about.text("zh"))
        assert draw_qr_text(QR.text) in shown
        assert QR.text not in shown
        wechat.asked = DIGITS
        await said(command, "> ")
        command.write("4815x\n")
        await said(command, "> ")
        assert wechat.answers == []
        command.write("4815\n")
        await said(command, "wechat is logged in.")
        assert await command.end() == 0
    assert wechat.answers == ["4815"]


async def test_a_channel_that_rests_is_told_that_somebody_is_here(home: HomeFolder) -> None:
    wechat = Moody("wechat")
    wechat.asked = WAIT
    async with bot(home, wechat), logging_in(home) as command:
        await said(command, "wechat is logged in.")
    assert wechat.answers == [""]
