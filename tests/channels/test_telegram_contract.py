"""Telegram and the scripted channel keep the same promises."""

from collections.abc import AsyncIterator, Callable

import pytest

from channels.errors import Ambiguous, Retryable
from channels.message import Address, InboundMessage
from channels.scripted import Scripted
from channels.telegram import Telegram
from tests.contracts.channel_suite import ChannelSuite
from tests.emulators.telegram import TelegramEmulator


class TelegramStage:
    def __init__(self, emulator: TelegramEmulator) -> None:
        self.emulator = emulator
        self.channel = Telegram(emulator.token, emulator.url, poll_seconds=2)
        self.address = Address(channel="telegram", account=str(emulator.bot_id), chat_id="5005")
        self.last = 0
        emulator.chat(5005)

    def say(self, text: str) -> None:
        self.last = self.emulator.inject(text)["update_id"]

    def say_again(self) -> None:
        self.emulator.world.repeat(self.last, fresh=True)

    def seen(self) -> list[str]:
        return [message.text for message in self.emulator.sent()]

    def confirmed(self) -> int:
        return len(self.emulator.acks())

    def refuse_next(self, seconds: float) -> None:
        self.emulator.fault("retry_after", method="sendMessage", seconds=seconds, times=1)

    def lose_next(self) -> None:
        self.emulator.fault("accept_then_drop", method="sendMessage", times=1)

    async def until(self, holds: Callable[[], bool]) -> None:
        await self.emulator.until(holds)


class ScriptedStage:
    def __init__(self) -> None:
        self.channel = Scripted()
        self.address = Address(channel="scripted", account="bot", chat_id="c1")
        self.last: InboundMessage | None = None

    def say(self, text: str) -> None:
        self.last = self.channel.hear(text)

    def say_again(self) -> None:
        assert self.last is not None
        self.channel.hear_again(self.last)

    def seen(self) -> list[str]:
        return [message.text for message in self.channel.sent]

    def confirmed(self) -> int:
        return len(self.channel.confirmed)

    def refuse_next(self, seconds: float) -> None:
        self.channel.fail(Retryable("too many", retry_after=seconds))

    def lose_next(self) -> None:
        self.channel.fail(Ambiguous("lost"), arrived=True)

    async def until(self, holds: Callable[[], bool]) -> None:
        await self.channel.until(holds)


class TestTelegram(ChannelSuite):
    @pytest.fixture
    async def stage(self) -> AsyncIterator[TelegramStage]:
        async with TelegramEmulator() as emulator:
            stage = TelegramStage(emulator)
            yield stage
            await stage.channel.close()


class TestScripted(ChannelSuite):
    @pytest.fixture
    async def stage(self) -> ScriptedStage:
        return ScriptedStage()
