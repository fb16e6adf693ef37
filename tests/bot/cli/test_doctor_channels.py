"""The doctor's checks of channels: through a running bot, else by calling each platform; each
problem has a hint.
"""

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.cli.doctor.channels import check_channels
from bot.cli.doctor.texts import ShownCheck, show_checks
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.errors import ConfigError
from bot.gateway.channel_status import ChannelStatus, channel_status_to_json
from channels.base import Notebook
from channels.errors import LoggedOut, ReceiverConflict, Retryable
from channels.web.requests import Route, json_response
from memory.store.open import open_store
from tests.bot.moody import QR
from tests.channels.web.server import TOKEN, ScriptedBot, running


def set_up(folder: Path, **channels: Any) -> HomeFolder:
    home = HomeFolder(root=folder)
    home.ensure()
    home.config.write_text(json.dumps({"channels": channels}))
    home.config.chmod(0o600)
    return home


async def found(home: HomeFolder, **options: Any) -> dict[str, ShownCheck]:
    file = ConfigFile(home.config)
    file.load()
    checks = show_checks(await check_channels(home, file, **options), "en")
    return {check.name: check for check in checks}


@dataclass
class Probed:
    """A channel under test: it identifies itself, or raises; None: it never answers."""

    ends: str | Exception | None
    closed: bool = False
    kept: dict[str, str] = field(default_factory=dict)
    notebook: Notebook | None = None

    def bind(self, notebook: Notebook) -> None:
        self.notebook = notebook

    async def probe(self) -> str:
        assert self.notebook
        await self.notebook.write({"cursor": "9", "token": ""})
        self.kept = await self.notebook.read()
        if isinstance(self.ends, Exception):
            raise self.ends
        if self.ends is None:
            await asyncio.Event().wait()
        return str(self.ends)

    async def close(self) -> None:
        self.closed = True


@contextmanager
def held(home: HomeFolder, url: str) -> Iterator[None]:
    """The home of a running bot."""
    home.web_token.write_text(TOKEN)
    with home.lock() as lock:
        lock.tell(url)
        yield


async def test_a_running_bot_is_asked(tmp_path: Path) -> None:
    states = {
        "web": ChannelStatus(name="web", phase="up", since=1.0),
        "telegram": ChannelStatus(
            name="telegram", phase="contended", since=1.0, why="another program polls"
        ),
        "wechat": ChannelStatus(
            name="wechat", phase="asking", since=1.0, has_login=True, prompt=QR
        ),
    }

    async def status(_: object) -> Any:
        return json_response(
            {"channels": {name: channel_status_to_json(state) for name, state in states.items()}}
        )

    home = set_up(
        tmp_path,
        telegram={"token": "100:x"},
        wechat={"enabled": True},
        wecom={"bot_id": "b", "secret": "s3"},
    )
    call = Route(
        method="GET", path="/api/v1/status", action="console.read", handler=status, is_promised=True
    )
    async with running(ScriptedBot(), [call]) as site:
        with held(home, site.base):
            checks = await found(home)
    assert checks["channel web"].ok
    telegram = checks["channel telegram"]
    assert not telegram.ok
    assert telegram.message.startswith("On standby for ")
    assert telegram.message.endswith("(another program polls).")
    assert "Stop the other program" in telegram.hint
    assert "mnema channels login wechat" in checks["channel wechat"].hint
    assert "has not started it" in checks["channel wecom"].message
    assert "s3cret" not in str(checks)


async def test_a_running_bot_that_does_not_answer_is_a_fault_of_its_own(tmp_path: Path) -> None:
    with closing(socket.socket()) as silent:
        silent.bind(("127.0.0.1", 0))
        home = set_up(tmp_path, telegram={"token": "100:x"})
        with held(home, f"http://127.0.0.1:{silent.getsockname()[1]}"):
            checks = await found(home)
    assert not checks["channels"].ok
    assert "could not do it" in checks["channels"].message


async def test_without_a_bot_only_what_is_on_is_looked_at(tmp_path: Path) -> None:
    checks = await found(set_up(tmp_path, wecom={"bot_id": "b"}))
    assert (checks["channel web"].ok, checks["channel web"].message) == (True, "It is enabled.")
    assert (
        checks["channel wecom"].message == "It is configured but does not start: secret is empty."
    )
    assert "channel telegram" not in checks


async def test_credentials_of_a_channel_that_is_turned_off_are_named(tmp_path: Path) -> None:
    off = {"token": "100:x", "enabled": False}
    checks = await found(set_up(tmp_path, telegram=off, wecom={"enabled": False, "bot_id": "b"}))
    telegram = checks["channel telegram"]
    assert telegram.ok
    assert telegram.message == "It has credentials but does not start: enabled is false."
    assert telegram.hint == "Set channels.telegram.enabled to true to start it."
    assert "channel wecom" not in checks


async def test_a_channel_of_which_nothing_but_enabled_is_written_is_not_begun(
    tmp_path: Path,
) -> None:
    checks = await found(
        set_up(tmp_path, telegram={"enabled": True, "token": ""}, feishu={"enabled": False})
    )
    assert [name for name in checks if name.startswith("channel ")] == ["channel web"]


TELEGRAM: Any = {"token": "100:x"}


async def tried(home: HomeFolder, probed: object, patience: float = 5.0) -> ShownCheck:
    return (await found(home, create=lambda config, name: probed, timeout=patience))[
        "channel telegram"
    ]


async def test_each_is_asked_who_we_are_and_let_go_of(tmp_path: Path) -> None:
    probed = Probed("@lab_bot")
    check = await tried(set_up(tmp_path, telegram=TELEGRAM), probed)
    assert (check.ok, check.message) == (True, "It is enabled and answers: @lab_bot.")
    assert probed.closed


@pytest.mark.parametrize(
    ("ends", "message", "hint"),
    [
        (
            LoggedOut("Telegram refuses the token"),
            "Telegram refuses the token.",
            "Update the credentials in channels.tele",
        ),
        (
            ReceiverConflict("another program polls"),
            "another program polls.",
            "Stop the other program",
        ),
        (Retryable("no route to the host"), "no route to the host.", "Check the network"),
        (ImportError("no module named telegram"), "ImportError: no module", "Check the network"),
        (None, "no answer within 0.01 seconds", "Check the network"),
    ],
)
async def test_each_trouble_has_its_remedy(
    tmp_path: Path, ends: Any, message: str, hint: str
) -> None:
    probed = Probed(ends)
    home = set_up(tmp_path, telegram=TELEGRAM)
    check = await tried(home, probed, 0.01 if ends is None else 5.0)
    assert not check.ok
    assert message in check.message
    assert hint in check.hint
    assert probed.closed


async def test_a_channel_that_cannot_be_built_says_why(tmp_path: Path) -> None:
    def unbuilt(*_: object) -> Any:
        raise ConfigError("channels.telegram is on, but the package telegram is missing")

    checks = await found(set_up(tmp_path, telegram=TELEGRAM), create=unbuilt)
    assert "the package telegram is missing" in checks["channel telegram"].message


async def test_what_it_kept_is_read_and_what_it_writes_is_not_kept(tmp_path: Path) -> None:
    home = set_up(tmp_path, telegram=TELEGRAM)
    store = await open_store(home.db)
    await store.notes.put("telegram", {"cursor": "7", "token": "t", "name": "lab"})
    await store.close()
    probed = Probed("@lab_bot")
    await tried(home, probed)
    assert probed.kept == {"cursor": "9", "name": "lab"}
    store = await open_store(home.db, writable=False)
    assert await store.notes.load("telegram", "") == {"cursor": "7", "token": "t", "name": "lab"}
    await store.close()


async def test_channels_are_tried_beside_each_other(tmp_path: Path) -> None:
    met = asyncio.Barrier(2)

    class Waiting(Probed):
        async def probe(self) -> str:
            await met.wait()
            return "here"

    home = set_up(tmp_path, telegram=TELEGRAM, wecom={"bot_id": "b", "secret": "s3"})
    checks = await found(home, create=lambda config, name: Waiting("here"))
    assert [checks[f"channel {name}"].ok for name in ("telegram", "wecom")] == [True, True]
