"""The contract of every channel, tested from outside.

A suite is a subclass with a fixture `stage` (see channel_stage.Stage) and, in `not_here`, what its platform lacks.
"""

from tests.contracts.channel_cases import Cases, contradictions
from tests.contracts.channel_faults import Failing, Healing
from tests.contracts.channel_hearing import Acts, Confirming, Files
from tests.contracts.channel_house import AtHome
from tests.contracts.channel_leaving import Leaving
from tests.contracts.channel_sending import HARD, SendingFiles, Speaking, Writing
from tests.contracts.channel_stage import Inbox, Pages, Stage, hearing_on, listening, part

__all__ = ["HARD", "Cases", "ChannelSuite", "Inbox", "Pages", "Stage", "hearing_on", "listening", "part"]


class ChannelSuite(Confirming, Acts, Files, Speaking, SendingFiles, Writing, Failing, Healing, AtHome, Leaving):
    """Subclasses give a fixture `stage`."""

    async def test_only_what_the_platform_has_not_is_left_out(self, stage: Stage) -> None:
        assert contradictions(type(self), stage.channel.capabilities, stage.channel) == []
