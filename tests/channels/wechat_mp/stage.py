"""An official account for tests: the channel behind the real site, the emulator before it, five
seconds made one.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from channels.message import Address, LiveEvent, OutboundMessage, Receipt
from channels.wechat_mp.channel import WechatMp
from channels.wechat_mp.pending_replies import ReplyTiming
from channels.wechat_mp.settings import WechatMpSettings
from tests.channels.web.server import Running, ScriptedBot, running
from tests.contracts.channel_stage import Inbox, Pages, eventually, listening
from tests.emulators.mp import AES_KEY, APP_ID, PERSON, SECRET, TOKEN, MpEmulator
from tests.emulators.mp_push import CUT_SECONDS

PACE = ReplyTiming(hold=0.5, cut=1.0, slack=1.0)


class MpStage:
    """One account, one bot, its inbox, and restarts of the bot with the same notebook."""

    def __init__(self, emulator: MpEmulator, site: Running) -> None:
        self.emulator = emulator
        self.site = site
        self.pages = Pages()
        self.inbox = Inbox(notebook=self.pages)
        self.channel = self.born()

    def settings(self, **others: str) -> WechatMpSettings:
        plain = self.emulator.pusher.mode == "plain"
        usual = {
            "app_id": APP_ID,
            "app_secret": SECRET,
            "token": TOKEN,
            "encoding_aes_key": "" if plain else AES_KEY,
            "base_url": self.emulator.url,
        }
        return WechatMpSettings(**(usual | others))

    def born(self, timing: ReplyTiming = PACE) -> WechatMp:
        """Restart the bot; calls of the emulator reach the new one."""
        self.channel = WechatMp(
            self.settings(), timing=timing, timeout=1.5, clock=self.emulator.world.now
        )
        self.channel.bind(self.pages)
        self.site.bot.hooks["wechat_mp"] = self.channel
        return self.channel

    @asynccontextmanager
    async def living(self, timing: ReplyTiming = PACE) -> AsyncIterator[None]:
        """Restart the bot and run it."""
        async with listening(self.born(timing), self.inbox):
            await eventually(lambda: self.channel._deliver is not None)
            yield

    def part(self, text: str, to: str = "", number: int = 0, **others: Any) -> OutboundMessage:
        address = Address(channel="wechat_mp", account=APP_ID, chat_id=PERSON)
        key = f"{to}.{number}"
        return OutboundMessage(
            id=key,
            address=address,
            client_key=key,
            text=text,
            reply_to_key=to,
            part_no=number,
            **others,
        )

    async def send(self, text: str, to: str = "", number: int = 0, **others: Any) -> Receipt:
        return await self.channel.send(self.part(text, to, number, **others))

    def by(self) -> list[str]:
        """How each message of ours came."""
        return [
            line.by for line in self.emulator.world.person(PERSON).lines if line.who == "account"
        ]

    def work(self) -> None:
        """Let the bot work on a message of the person."""
        address = Address(channel="wechat_mp", account=APP_ID, chat_id=PERSON)
        self.channel.show(LiveEvent(address=address, name="accepted", message_id="row"))

    async def sees(self, *texts: str) -> None:
        """Wait until the person sees exactly this of the account."""
        await self.emulator.until(lambda: self.emulator.sent() == [*texts])

    async def heard(self, count: int) -> str:
        """Wait until so many tries were delivered, repeats included; the key of the last
        message.
        """
        async with asyncio.timeout(20):
            while len(self.inbox.heard) < count:
                await self.inbox._moved.wait()
        return self.inbox.heard[-1].key


@asynccontextmanager
async def mp_stage(**world: Any) -> AsyncIterator[MpStage]:
    """A stage whose bot listens."""
    async with (
        running(ScriptedBot()) as site,
        MpEmulator(f"{site.base}/hooks/wechat_mp", **world) as emulator,
    ):
        emulator.pusher.scale = PACE.cut / CUT_SECONDS
        stage = MpStage(emulator, site)
        try:
            async with stage.living():
                yield stage
        finally:
            await stage.channel.close()
