"""The contract of every channel, tested from outside.

A suite is a subclass with a fixture `stage` (see channel_stage.Stage) and, in `not_here`, what its
platform lacks. `InBot` is about the gateway, the outbox and the store, with a channel in front of
them. By day it is played on Telegram, whose sends have no key, and on Feishu, whose sends have one;
by night on every platform (`by_night`).
"""

from tests.contracts.channel_cases import Cases, contradictions
from tests.contracts.channel_faults import Failing, Recovering
from tests.contracts.channel_in_bot import InBot
from tests.contracts.channel_receiving import Acknowledging, Acts, Files
from tests.contracts.channel_sending import HARD, Connecting, Sending, SendingFiles, Writing
from tests.contracts.channel_stage import (
    Inbox,
    Pages,
    Stage,
    listening,
    part,
    receive_with_restarts,
)

__all__ = [
    "HARD",
    "Cases",
    "ChannelSuite",
    "InBot",
    "Inbox",
    "Pages",
    "Stage",
    "receive_with_restarts",
    "listening",
    "part",
]


class ChannelSuite(
    Acknowledging,
    Acts,
    Files,
    Sending,
    SendingFiles,
    Writing,
    Failing,
    Recovering,
    InBot,
    Connecting,
):
    """Subclasses give a fixture `stage`."""

    async def test_only_what_the_platform_has_not_is_left_out(self, stage: Stage) -> None:
        assert contradictions(type(self), stage.channel.capabilities, stage.channel) == []
