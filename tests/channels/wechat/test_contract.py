"""Personal WeChat keeps the promises of every channel."""

from collections.abc import AsyncIterator
from typing import ClassVar

import pytest

from tests.channels.wechat.stage import WechatStage, staged
from tests.contracts.channel_suite import ChannelSuite, InBot

DIRECT_ONLY = "the platform has direct chats only"
NOT_TOLD = "the platform tells nothing of it"


class TestWechat(ChannelSuite):
    by_night: ClassVar = (InBot,)
    not_here: ClassVar = {
        "say_in_group": DIRECT_ONLY,
        "take_us_in": DIRECT_ONLY,
        "move": DIRECT_ONLY,
        "edit": NOT_TOLD,
        "withdraw": NOT_TOLD,
        "send_album": "several pictures come as several messages, and nothing joins them",
        "press": "there are no buttons",
        "live": "a message cannot be changed, so that only the typing sign is shown meanwhile",
        "keyed": "whether the platform knows a client_id again is not promised",
        "expired_token": (
            "there is no token that could be fetched anew: only a person's login gives one"
        ),
        "bad_format": "no markup is sent",
        "chat_gone": NOT_TOLD,
        "rival": "a login elsewhere looks like a session that is over",
    }

    @pytest.fixture
    async def stage(self) -> AsyncIterator[WechatStage]:
        async with staged() as stage:
            yield stage
