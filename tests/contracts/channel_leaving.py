"""When a part leaves: reported after all waits and before it can be seen."""

import pytest

from channels.errors import ChannelError, Retryable
from channels.toolkit.delivery import PartWithdrawn, report_leaving
from tests.contracts.channel_cases import Cases, needs
from tests.contracts.channel_stage import Stage, eventually, part


class Leaving(Cases):
    """For channels that report it."""

    async def test_a_part_leaves_before_it_can_be_seen(self, stage: Stage) -> None:
        seen_then: list[list[str]] = []

        async def leave() -> None:
            seen_then.append(stage.seen())

        with report_leaving(leave):
            await stage.channel.send(part(stage, "here"))
        await eventually(lambda: stage.seen() == ["here"])
        says = stage.channel.capabilities.reports_leaving
        assert bool(seen_then) == says
        assert all(seen == [] for seen in seen_then)

    async def test_a_part_that_must_not_leave_any_more_is_not_seen(self, stage: Stage) -> None:
        async def leave() -> None:
            raise PartWithdrawn("dropped")

        if not stage.channel.capabilities.reports_leaving:
            return
        with report_leaving(leave), pytest.raises(ChannelError):
            await stage.channel.send(part(stage, "never"))
        await stage.channel.send(part(stage, "after", 1))
        await eventually(lambda: stage.seen() == ["after"])

    @needs("spoil", "unreachable")
    async def test_what_found_no_connection_has_not_left(self, stage: Stage) -> None:
        stage.spoil("unreachable")
        left: list[bool] = []

        async def leave() -> None:
            left.append(True)

        with report_leaving(leave), pytest.raises(Retryable):
            await stage.channel.send(part(stage, "later"))
        assert left == []
