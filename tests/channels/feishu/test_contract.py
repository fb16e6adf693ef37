"""Feishu passes the channel contract, by long connection and by webhook."""

from collections.abc import AsyncIterator
from typing import ClassVar

import pytest

from tests.channels.feishu.stage import KEY, Door, FeishuStage
from tests.contracts.channel_suite import ChannelSuite
from tests.emulators.feishu import FeishuEmulator

NOT_AT_FEISHU = {
    "edit": "apps are not told of edits: the platform has no such event",
    "quote": "an event names the message it answers by its id alone; only what was said or heard lately is known",
    "move": "a chat keeps its id for ever",
    "rival": "up to 50 connections share the events at random, and none is told of the others",
}


class TestBySocket(ChannelSuite):
    not_here: ClassVar = NOT_AT_FEISHU

    @pytest.fixture
    async def stage(self) -> AsyncIterator[FeishuStage]:
        async with FeishuEmulator() as emulator:
            stage = FeishuStage(emulator)
            yield stage
            await stage.channel.close()
        assert emulator.world.faults_of_client == []


class TestByWebhook(ChannelSuite):
    not_here: ClassVar = {
        **NOT_AT_FEISHU,
        "cut": "calls come by themselves: a platform that is silent cannot be told from people who are",
        "mend": "as cut",
    }

    @pytest.fixture
    async def stage(self) -> AsyncIterator[FeishuStage]:
        async with FeishuEmulator() as emulator:
            stage = FeishuStage(emulator, "webhook")
            door = Door(stage)
            emulator.call_out(await door.open(), KEY)
            yield stage
            await stage.channel.close()
            await door.close()
