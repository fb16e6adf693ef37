"""Feishu passes the channel contract, by long connection and by webhook."""

from collections.abc import AsyncIterator
from typing import ClassVar

import pytest

from tests.channels.feishu.stage import KEY, FeishuStage
from tests.channels.hook_server import serve_hook
from tests.contracts.channel_faults import Failing
from tests.contracts.channel_in_bot import InBot
from tests.contracts.channel_sending import Connecting, Sending, SendingFiles, Writing
from tests.contracts.channel_suite import ChannelSuite
from tests.emulators.feishu import FeishuEmulator

NOT_AT_FEISHU = {
    "edit": "apps do not learn of edits: the platform has no such event",
    "quote": (
        "an event names the message it answers by its id alone; only recent messages are known"
    ),
    "move": "a chat never changes its id",
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
    # only what arrives differs
    by_night: ClassVar = (Sending, SendingFiles, Writing, Failing, Connecting, InBot)
    not_here: ClassVar = {
        **NOT_AT_FEISHU,
        "cut": "the platform calls: its failure looks like no messages",
        "mend": "as cut",
    }

    @pytest.fixture
    async def stage(self) -> AsyncIterator[FeishuStage]:
        async with FeishuEmulator() as emulator:
            stage = FeishuStage(emulator, "webhook")
            async with serve_hook("feishu", lambda call: stage.channel.hook(call)) as url:
                emulator.call_out(url, KEY)
                yield stage
                await stage.channel.close()
