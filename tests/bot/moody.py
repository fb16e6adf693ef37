"""A scripted channel that a person logs in, with a status that a test sets."""

import time

from bot.runtime.bot import Bot
from channels.base import ConnectionStatus, LoginPrompt
from channels.errors import ChannelError
from channels.message import Capabilities
from channels.phrases import ShownPhrase
from channels.testing import ScriptedChannel

QR = LoginPrompt(
    kind="qr",
    about=ShownPhrase("Scan this with WeChat.", "请用微信扫码。"),
    text="https://login.example/q?code=s3cret-of-a-login",
)
DIGITS = LoginPrompt(
    kind="digits",
    about=ShownPhrase("Type the digits that the telephone shows.", "请输入手机上显示的数字。"),
)
WAIT = LoginPrompt(kind="wait", about=ShownPhrase("Confirm on the telephone.", "请在手机上确认。"))


class Moody(ScriptedChannel):
    """felt: its status. asked: its prompt. answers: the digits that were typed. fault: what its
    probe ends with.
    """

    def __init__(self, name: str = "moody", capabilities: Capabilities | None = None) -> None:
        super().__init__(name=name, capabilities=capabilities)
        self.felt = ConnectionStatus(last_contact=time.time())
        self.asked: LoginPrompt | None = None
        self.answers: list[str] = []
        self.fault: ChannelError | None = None

    def connection_status(self) -> ConnectionStatus:
        return self.felt

    def prompt(self) -> LoginPrompt | None:
        return self.asked

    def answer(self, text: str) -> None:
        self.answers.append(text)
        self.asked = None


def join(bot: Bot, channel: ScriptedChannel) -> None:
    """One more channel in a bot that is open."""
    bot.gateway.add(channel)
    bot.gateway.listen(channel.name, bot.receiver.deliver_for(channel.name))
