"""Every channel with a platform that fails: the right error, and recovery."""

import pytest

from channels.errors import (
    Ambiguous,
    BadFormat,
    ChannelError,
    LoggedOut,
    ReceiverConflict,
    Rejected,
    Retryable,
)
from tests.contracts.channel_cases import Cases, needs
from tests.contracts.channel_stage import (
    Cut,
    Inbox,
    Stage,
    eventually,
    listening,
    part,
    receive_with_restarts,
)


class Failing(Cases):
    """A send that fails: the error says whether it was delivered, and only a delivered part counts
    as sent.
    """

    @needs("spoil", "html_502")
    async def test_a_page_of_a_gateway_is_no_refusal_and_no_success(self, stage: Stage) -> None:
        stage.spoil("html_502")
        await self._may_come_later(stage)

    @needs("spoil", "status_500")
    async def test_a_platform_that_is_broken_is_no_refusal_and_no_success(
        self, stage: Stage
    ) -> None:
        stage.spoil("status_500")
        await self._may_come_later(stage)

    @needs("spoil", "error_in_200")
    async def test_an_error_behind_a_good_status_is_an_error(self, stage: Stage) -> None:
        stage.spoil("error_in_200")
        with pytest.raises(ChannelError):
            await stage.channel.send(part(stage, "not yet"))
        assert stage.seen() == []

    @needs("spoil", "empty_body")
    async def test_nothing_behind_a_good_status_is_called_unknown(self, stage: Stage) -> None:
        stage.spoil("empty_body")
        with pytest.raises(Ambiguous):
            await stage.channel.send(part(stage, "perhaps"))

    @needs("spoil", "cut_body")
    async def test_half_an_answer_is_called_unknown(self, stage: Stage) -> None:
        stage.spoil("cut_body")
        with pytest.raises(Ambiguous):
            await stage.channel.send(part(stage, "perhaps"))
        assert stage.seen() == ["perhaps"]

    @needs("spoil", "reset")
    async def test_a_connection_that_breaks_is_called_unknown(self, stage: Stage) -> None:
        stage.spoil("reset")
        with pytest.raises(Ambiguous):
            await stage.channel.send(part(stage, "perhaps"))

    @needs("spoil", "no_answer")
    async def test_no_answer_in_time_is_called_unknown(self, stage: Stage) -> None:
        stage.spoil("no_answer")
        with pytest.raises(Ambiguous):
            await stage.channel.send(part(stage, "perhaps"))

    @needs("spoil", "unreachable")
    async def test_nobody_there_means_surely_not_sent(self, stage: Stage) -> None:
        stage.spoil("unreachable")
        with pytest.raises(Retryable):
            await stage.channel.send(part(stage, "later"))
        assert stage.seen() == []

    @needs("spoil", "expired_token")
    async def test_a_token_that_ran_out_is_fetched_anew_and_nobody_notices(
        self, stage: Stage
    ) -> None:
        await stage.channel.send(part(stage, "before"))
        stage.spoil("expired_token")
        await stage.channel.send(part(stage, "after", 1))
        assert stage.seen() == ["before", "after"]

    @needs("spoil", "bad_format")
    async def test_refused_markup_arrives_as_plain_text(self, stage: Stage) -> None:
        stage.spoil("bad_format")
        with pytest.raises(BadFormat):
            await stage.channel.send(part(stage, "**so** it is"))
        assert stage.seen() == []
        await stage.channel.send(part(stage, "**so** it is", plain=True))
        assert stage.seen() == ["**so** it is"]

    @needs("spoil", "chat_gone")
    async def test_a_chat_that_is_closed_to_us_is_not_tried_again(self, stage: Stage) -> None:
        stage.spoil("chat_gone")
        with pytest.raises(Rejected) as refused:
            await stage.channel.send(part(stage, "anybody?"))
        assert refused.value.gone
        assert stage.seen() == []

    @needs("spoil", "html_502")
    async def test_after_a_failure_the_next_send_is_as_good_as_ever(self, stage: Stage) -> None:
        stage.spoil("html_502")
        await self._may_come_later(stage)
        await stage.channel.send(part(stage, "now", 1))
        assert stage.seen() == ["now"]

    async def _may_come_later(self, stage: Stage) -> None:
        with pytest.raises((Ambiguous, Retryable)):
            await stage.channel.send(part(stage, "perhaps"))
        assert stage.seen() == []


class Recovering(Cases):
    """Receiving breaks: the channel notices, recovers by itself, and reports what only the owner
    can fix.
    """

    @needs("cut", "mend", "silent")
    async def test_it_hears_again_after_a_platform_that_fell_silent(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        await self._heals(stage, inbox, "silent")

    @needs("cut", "mend", "refused")
    async def test_it_hears_again_after_nobody_answered(self, stage: Stage, inbox: Inbox) -> None:
        await self._heals(stage, inbox, "refused")

    @needs("cut", "mend", "errors")
    async def test_it_hears_again_after_nothing_but_errors(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        await self._heals(stage, inbox, "errors")

    @needs("cut", "mend", "silent")
    async def test_a_connection_on_which_nothing_comes_any_more_is_noticed(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        await self._noticed(stage, inbox, "silent")

    @needs("cut", "mend", "refused")
    async def test_a_platform_that_is_away_is_noticed(self, stage: Stage, inbox: Inbox) -> None:
        await self._noticed(stage, inbox, "refused")

    @needs("revoke")
    async def test_credentials_that_hold_no_longer_are_the_owners_matter(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        stage.revoke()
        with pytest.raises(LoggedOut):
            await stage.channel.send(part(stage, "hello?"))
        async with listening(stage.channel, inbox) as hearing:
            await eventually(lambda: hearing.done() or _asks(stage))
        if not _asks(stage):
            assert isinstance(hearing.exception(), LoggedOut)
        assert stage.seen() == []

    @needs("rival")
    async def test_another_program_in_our_place_is_told_and_not_fought(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        async with listening(stage.channel, inbox) as hearing:
            stage.say("mine")
            await stage.until(lambda: stage.confirmed() == 1)
            await stage.rival()
            await eventually(hearing.done)
        assert isinstance(hearing.exception(), ReceiverConflict)
        assert len(str(hearing.exception()).split()) > 5

    @needs("probe")
    async def test_a_probe_says_who_we_are_and_hears_nothing(self, stage: Stage) -> None:
        stage.say("for later")
        assert await stage.channel.probe()  # type: ignore[attr-defined]
        assert (stage.confirmed(), stage.seen()) == (0, [])

    @needs("probe", "revoke")
    async def test_a_probe_with_bad_credentials_says_so(self, stage: Stage) -> None:
        stage.revoke()
        with pytest.raises(ChannelError):
            await stage.channel.probe()  # type: ignore[attr-defined]

    async def _heals(self, stage: Stage, inbox: Inbox, how: Cut) -> None:
        async with receive_with_restarts(stage.channel, inbox):
            stage.say("before")
            await stage.until(lambda: stage.confirmed() == 1)
            await stage.cut(how)
            stage.say("meanwhile")
            await eventually(lambda: _troubled(stage) or stage.confirmed() == 1)
            await stage.mend()
            await inbox.until(2)
            stage.say("after")
            await inbox.until(3)
        assert inbox.texts == ["before", "meanwhile", "after"]

    async def _noticed(self, stage: Stage, inbox: Inbox, how: Cut) -> None:
        async with receive_with_restarts(stage.channel, inbox) as errors:
            stage.say("before")
            await stage.until(lambda: stage.confirmed() == 1)
            await stage.cut(how)
            await eventually(lambda: errors or _troubled(stage))
            await stage.mend()
            await eventually(lambda: not _troubled(stage))


def _asks(stage: Stage) -> bool:
    """Whether the owner is asked to log in again."""
    prompt = getattr(stage.channel, "prompt", None)
    return prompt is not None and prompt() is not None and _troubled(stage)


def _troubled(stage: Stage) -> bool:
    status = getattr(stage.channel, "connection_status", None)
    return status is not None and bool(status().trouble)
