"""What /status and /readyz report of channels, and to whom."""

from pathlib import Path

import pytest

from bot.console.services import BotConsole
from bot.console.site import HealthProbes
from channels.base import ConnectionStatus
from channels.errors import ReceiverConflict
from channels.message import Capabilities
from channels.testing import ScriptedChannel
from tests.bot.inside import inside
from tests.bot.moody import QR, Moody, join
from tests.walk.harness import until

SETTINGS = {
    "language": "en",
    "channels": {"telegram": {"owners": ["boss"], "allow": ["ann", "g1"]}},
}


def hi(_: object) -> str:
    return "hi"


def telegram() -> ScriptedChannel:
    return ScriptedChannel(name="telegram", capabilities=Capabilities(groups=True))


async def test_the_owner_sees_every_channel_and_others_do_not(tmp_path: Path) -> None:
    async with inside(tmp_path, hi, SETTINGS, telegram()) as it:
        join(it.bot, Moody("wechat"))
        told = await it.text("/status", sender="boss")
        assert "● telegram — connected for" in told
        assert "● wechat — connected for 0 s; last heard 0 s ago" in told
        for one in (await it.text("/status", sender="ann", chat="c2"),):
            assert "up " in one
            assert "wechat" not in one
        group = await it.text("/status", sender="boss", chat="g1", kind="group")
        assert "wechat" not in group


async def test_one_that_stands_by_says_so(tmp_path: Path) -> None:
    async with inside(tmp_path, hi, SETTINGS, telegram()) as it:
        other = Moody("wecom")
        other.end(ReceiverConflict("another program took the connection over"))
        join(it.bot, other)
        await until(
            lambda: it.bot.gateway.states()["wecom"].phase == "contended", "wecom stands by"
        )
        told = await it.text("/status", sender="boss")
        assert "○ wecom — on standby for" in told
        assert "(another program took the connection over)" in told


async def test_I10_a_deaf_channel_makes_readyz_red_though_its_task_is_alive(tmp_path: Path) -> None:
    async with inside(tmp_path, hi, SETTINGS) as it:
        moody = Moody("wechat")
        join(it.bot, moody)
        assert (await HealthProbes(it.bot).ready()).ok
        it.bot.gateway.health["wechat"].since -= 1_000
        moody.felt = ConnectionStatus(last_contact=moody.felt.last_contact - 110)
        red = await HealthProbes(it.bot).ready()
        assert not red.ok
        assert list(red.reasons["channels_down"]) == ["wechat"]
        moody.felt = ConnectionStatus(last_contact=moody.felt.last_contact + 110)
        assert (await HealthProbes(it.bot).ready()).ok


@pytest.mark.parametrize("asked", [None, QR])
async def test_the_api_tells_the_same_without_what_lets_somebody_in(
    tmp_path: Path, asked: object
) -> None:
    async with inside(tmp_path, hi, SETTINGS) as it:
        moody = Moody("wechat")
        moody.asked = QR if asked else None
        join(it.bot, moody)
        told = (await BotConsole(it.bot).status())["channels"]["wechat"]
        assert told["up"] == (asked is None)
        assert ("prompt" in told) == (asked is not None)
        assert "s3cret" not in str(told)
