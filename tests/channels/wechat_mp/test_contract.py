"""A WeChat official account keeps what every channel keeps; with the customer-service API, behind
the real site.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, ClassVar

import pytest

from channels.message import Address
from channels.wechat_mp.channel import WechatMp
from channels.wechat_mp.pending_replies import ReplyTiming
from channels.wechat_mp.settings import WechatMpSettings
from tests.channels.web.server import Running, ScriptedBot, running
from tests.contracts.channel_stage import Fault, Pages
from tests.contracts.channel_suite import ChannelSuite, InBot
from tests.emulators.mp import AES_KEY, APP_ID, PERSON, SECRET, TOKEN, MpEmulator
from tests.emulators.mp_world import Push

ANOTHER = "oUser2"


class WechatMpStage:
    """Requests are not held: answers go out by the API, as from an account that thinks longer than
    five seconds.
    """

    person = PERSON
    other_person = ANOTHER
    redeliveries = (5.0, 5.0, 60.0)

    def __init__(self, emulator: MpEmulator, site: Running) -> None:
        self.emulator = emulator
        self.site = site
        self.address = Address(channel="wechat_mp", account=APP_ID, chat_id=PERSON)
        self.notebook = Pages(**{f"{APP_ID}.service": "granted"})
        self.channel = self.made()
        self.pushed: Push | None = None
        for openid in (PERSON, ANOTHER):
            emulator.world.person(openid).written = [emulator.world.now() + 1e6, 1000]

    def made(self) -> WechatMp:
        settings = WechatMpSettings(**self.config())
        timing = ReplyTiming(hold=0.0, cut=1.0, slack=0.5)
        channel = WechatMp(settings, timing=timing, timeout=1.5, clock=self.emulator.world.now)
        self.site.bot.hooks["wechat_mp"] = channel
        return channel

    def config(self) -> dict[str, Any]:
        return {
            "app_id": APP_ID,
            "app_secret": SECRET,
            "token": TOKEN,
            "encoding_aes_key": AES_KEY,
            "base_url": self.emulator.url,
        }

    async def restart(self) -> None:
        await self.channel.close()
        self.channel = self.made()

    def say(self, text: str) -> None:
        self.pushed = self.emulator.inject(text)

    def say_again(self) -> None:
        assert self.pushed is not None
        self.emulator.repeat(self.pushed)

    def another_says(self, text: str) -> None:
        self.emulator.inject(text, ANOTHER)

    def say_shuffled(self, texts: Sequence[str]) -> None:
        world = self.emulator.world
        written = [world.written(PERSON, "text", text, {"Content": text}) for text in texts]
        for push in reversed(written):
            self.emulator.brought(push)

    def send_picture(self, data: bytes) -> None:
        self.emulator.inject_file("image", data, "image/png")

    def odd(self) -> int:
        for name in ("LOCATION", "VIEW", "subscribe", "TEMPLATESENDJOBFINISH", "a_new_one"):
            self.emulator.event(name, EventKey="k")
        self.emulator.inject_kind("hologram", Content="?")
        self.emulator.brought(
            self.emulator.world.event(PERSON, "x", MsgType="text", MsgId="not a number")
        )
        return 7

    def seen(self) -> list[str]:
        return self.emulator.sent()

    def another_sees(self) -> list[str]:
        return self.emulator.sent(ANOTHER)

    def files_seen(self) -> list[tuple[str, bytes]]:
        return [("", data) for data in self.emulator.world.pictures(PERSON)]

    def confirmed(self) -> int:
        return len(self.emulator.acks())

    def later(self, seconds: float) -> None:
        self.emulator.world.advance(seconds)

    def refuse_next(self, seconds: float) -> None:
        self.emulator.fault("retry_after", method="message/custom/send", seconds=seconds, times=1)

    def lose_next(self) -> None:
        self.emulator.fault("accept_then_drop", method="message/custom/send", times=1)

    def spoil(self, fault: Fault) -> None:
        world, rule = self.emulator.world, {"method": "message/custom/send", "times": 1}
        match fault:
            case "html_502":
                self.emulator.fault("html_502", **rule)
            case "status_500":
                self.emulator.fault(
                    "status", code=500, body='{"errcode":-1,"errmsg":"system error"}', **rule
                )
            case "error_in_200":
                self.emulator.fault(
                    "status", code=200, body='{"errcode":-1,"errmsg":"system error"}', **rule
                )
            case "empty_body":
                self.emulator.fault("status", code=200, body="", **rule)
            case "cut_body":
                self.emulator.fault("truncate", size=9, **rule)
            case "reset":
                self.emulator.fault("close_before_reply", **rule)
            case "no_answer":
                self.emulator.fault("half_open", **rule)
            case "unreachable":
                self.emulator.refuse_connections()
            case "expired_token":
                self.emulator.api.stable.revoke()
            case "chat_gone":
                del world.people[PERSON]

    async def until(self, holds: Callable[[], bool]) -> None:
        await self.emulator.until(holds)


class TestWechatMp(ChannelSuite):
    by_night: ClassVar = (InBot,)
    not_here: ClassVar = {
        "say_in_group": "official accounts have no groups",
        "take_us_in": "official accounts have no groups",
        "move": "official accounts have no groups",
        "edit": "the platform tells of no edits",
        "withdraw": "the platform tells of no withdrawals",
        "quote": "the platform does not tell what is quoted",
        "press": "messages have no buttons of ours",
        "send_album": "pictures come one by one",
        "send_file": "people cannot send files to an official account",
        "live": "the platform shows that somebody types, and no words",
        "keyed": "the platform takes no key",
        "bad_format": "what is sent is plain text already",
        "flood": "the platform's limits are the account's, or wait for the person",
        "silent": "the platform calls us: that it does not is no sign of anything",
        "refused": "the platform calls us: that it does not is no sign of anything",
        "errors": "the platform calls us: that it does not is no sign of anything",
        "revoke": "passive replies need no secret, so the account goes on without it",
        "rival": "the platform calls one address, and the API has one token for all",
    }

    @pytest.fixture
    async def stage(self) -> AsyncIterator[WechatMpStage]:
        async with (
            running(ScriptedBot()) as site,
            MpEmulator(f"{site.base}/hooks/wechat_mp", allowed=1000) as it,
        ):
            it.pusher.pause = 0.2
            stage = WechatMpStage(it, site)
            yield stage
            await stage.channel.close()
