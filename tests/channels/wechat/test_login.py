"""An account comes in by a QR code, whatever the phone and the platform do on the way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from channels.base import LoginPrompt
from channels.errors import AwaitsUser, LoggedOut
from channels.phrases import Phrase
from channels.wechat.channel import Wechat
from channels.wechat.client import PollTiming
from tests.channels.wechat.stage import QUICK, log_in, open_channel, open_state, part, staged
from tests.contracts.channel_stage import Inbox, Pages, eventually, listening
from tests.emulators.ilink import IlinkEmulator
from tests.emulators.ilink_world import PERSON


class Lobby:
    """A channel without a login, and an inbox for its messages."""

    def __init__(self, emulator: IlinkEmulator, timing: PollTiming = QUICK) -> None:
        self.emulator, self.world, self.knobs = emulator, emulator.world, emulator.knobs
        self.notebook = Pages()
        self.inbox = Inbox(notebook=self.notebook)
        self.channel: Wechat = open_channel(emulator, self.notebook, timing)
        self.hearing: asyncio.Task[None] | None = None

    def shows(self, kind: str) -> bool:
        prompt = self.channel.prompt()
        return prompt is not None and prompt.kind == kind

    async def code(self, count: int = 1) -> LoginPrompt:
        """Wait for the nth QR code; what the owner is shown."""
        await eventually(lambda: len(self.world.codes) == count and self.shows("qr"))
        prompt = self.channel.prompt()
        assert prompt is not None
        return prompt

    async def inside(self) -> None:
        await eventually(lambda: self.channel.prompt() is None and self.channel.account)

    async def works(self) -> None:
        """Check that the account receives and sends."""
        await self.inside()
        self.world.say("are you in?")
        await self.inbox.until(1)
        await self.channel.send(part("I am."))
        assert [seen.text for seen in self.world.sent()] == ["I am."]


@asynccontextmanager
async def lobby(timing: PollTiming = QUICK) -> AsyncIterator[Lobby]:
    async with IlinkEmulator() as emulator:
        emulator.knobs.hold = 2.0
        it = Lobby(emulator, timing)
        async with listening(it.channel, it.inbox) as it.hearing:
            yield it
        await it.channel.close()


async def test_scan_and_confirm() -> None:
    async with lobby() as it:
        assert it.channel.account == ""
        shown = await it.code()
        assert shown.text == f"https://weixin.example/x/{it.world.code().id}"
        assert shown.about.text("zh") != shown.about.text("en")
        assert "not logged in" in it.channel.connection_status().trouble
        it.world.scan()
        await eventually(lambda: it.shows("wait"))
        it.world.confirm()
        await it.works()
        assert it.channel.account == "bot9@im.bot"
        assert it.inbox.stored[0].address.account == "bot9@im.bot"
        assert it.channel.connection_status().trouble == ""
        assert it.world.notified == ["notifystart"]
        assert it.emulator.refusals() == []
    assert it.world.notified == ["notifystart", "notifystop"]


async def test_the_login_is_valid_after_a_restart() -> None:
    async with lobby() as it:
        await it.code()
        it.world.confirm()
        await it.inside()
        again = open_channel(it.emulator, it.notebook)
        assert "bot9@im.bot" in await again.probe()
        await again.close()
    login = (await open_state(it.notebook)).login
    assert login is not None
    assert (login.bot, login.base, login.person) == ("bot9@im.bot", it.emulator.url, PERSON)


async def test_digits_are_asked_for_until_they_are_right() -> None:
    async with lobby() as it:
        it.knobs.digits = "4711"
        await it.code()
        it.world.scan()
        await eventually(lambda: it.shows("digits"))
        first = it.channel.prompt()
        it.channel.answer("four, seven")
        await eventually(lambda: it.channel.prompt() != first)
        it.channel.answer(" 1234 ")
        await eventually(lambda: it.world.code().wrong == 1)
        await eventually(lambda: it.shows("digits"))
        it.channel.answer("4711")
        await eventually(lambda: it.world.code().state == "scaned")
        it.world.confirm()
        await it.works()
        typed = [
            call.query.get("verify_code", "") for call in it.emulator.wire_log("get_qrcode_status")
        ]
        assert [digits for digits in typed if digits] == ["1234", "4711"]


async def test_too_many_wrong_digits_lead_to_a_new_code() -> None:
    async with lobby() as it:
        it.knobs.digits, it.knobs.tries = "4711", 2
        await it.code()
        it.world.scan()
        for wrong in range(2):
            await eventually(lambda: it.shows("digits"))
            it.channel.answer("0000")
            await eventually(lambda due=wrong + 1: it.world.codes[0].wrong == due)
        await it.code(2)
        it.knobs.digits = ""
        it.world.confirm()
        await it.works()


async def test_an_account_of_another_region_is_followed_there() -> None:
    async with lobby() as it:
        it.knobs.redirect = True
        await it.code()
        it.world.scan()
        await eventually(lambda: any(call.host == 1 for call in it.emulator.calls))
        it.world.confirm()
        await it.works()
        assert {call.host for call in it.emulator.wire_log("sendmessage")} == {1}


async def test_it_is_not_followed_to_a_foreign_host() -> None:
    async with lobby() as it:
        elsewhere = {"status": "scaned_but_redirect", "redirect_host": "evil.example"}
        it.emulator.fault("status", method="get_qrcode_status", answers=elsewhere)
        assert it.hearing is not None
        await eventually(it.hearing.done)
        assert "evil.example" in str(it.hearing.exception())
        assert it.channel.prompt() == LoginPrompt(
            kind="wait", about=Phrase("Asking WeChat for a QR code.")
        )


async def test_three_unused_codes_are_followed_by_a_pause_that_an_answer_ends() -> None:
    async with lobby() as it:
        for count in range(1, 4):
            await it.code(count)
            it.world.expire()
        await eventually(lambda: it.shows("wait") and len(it.world.codes) == 3)
        assert it.channel.prompt() is not None
        assert len(it.world.codes) == 3
        it.channel.answer("go on")
        await it.code(4)
        it.world.confirm()
        await it.works()


async def test_a_code_that_grew_old_on_the_platforms_clock_is_replaced() -> None:
    async with lobby() as it:
        await it.code()
        it.world.advance(301)
        await it.code(2)


async def test_gateways_pages_and_silence_are_taken_for_waiting() -> None:
    async with lobby() as it:
        it.emulator.fault("html_502", method="get_bot_qrcode", times=1)
        it.emulator.fault("status", method="get_qrcode_status", code=524, times=1)
        it.emulator.fault("close_before_reply", method="get_qrcode_status", nth=1)
        await it.code()
        it.world.confirm()
        await it.works()


async def test_the_list_of_old_tokens_may_be_refused() -> None:
    async with IlinkEmulator() as emulator:
        notebook = Pages()
        await log_in(emulator, notebook)
        emulator.world.expire_session()
        emulator.fault(
            "status", method="get_bot_qrcode", answers={"ret": -3, "errmsg": "bad"}, times=1
        )
        channel = open_channel(emulator, notebook)
        async with listening(channel, Inbox(notebook=notebook)):
            await eventually(lambda: emulator.world.codes)
        lists = [call.body["local_token_list"] for call in emulator.wire_log("get_bot_qrcode")]
        assert [len(tokens) for tokens in lists] == [1, 0]
        await channel.close()


@pytest.mark.parametrize("place", ["ret", "errcode"])
@pytest.mark.parametrize("method", ["getupdates", "sendmessage", "getconfig", "msg/notifystart"])
async def test_a_session_that_is_over_keeps_cursor_and_tokens_and_asks_for_a_login(
    method: str, place: str
) -> None:
    async with staged() as stage:
        inbox = Inbox(notebook=stage.notebook)
        kept = {name: text for name, text in stage.notebook.values.items() if name != "login"}
        async with listening(stage.channel, inbox):
            if method != "msg/notifystart":
                await stage.until(lambda: stage.emulator.wire_log("getupdates"))
            stage.emulator.fault(
                "status", method=method, answers={place: -14, "errmsg": "session timeout"}
            )
            stage.world.expire_session()
            if method == "sendmessage":
                with pytest.raises(LoggedOut):
                    await stage.channel.send(part("lost?"))
            if method == "getconfig":
                with pytest.raises(LoggedOut):
                    await stage.channel.probe()
            await eventually(lambda: stage.channel.prompt() is not None and stage.world.codes)
            assert "not logged in" in stage.channel.connection_status().trouble
            with pytest.raises(LoggedOut):
                await stage.channel.send(part("never sent"))
            assert {
                name: text for name, text in stage.notebook.values.items() if name != "login"
            } == kept
            stage.emulator.clear_faults()
            stage.world.confirm()
            await eventually(lambda: stage.channel.prompt() is None)
            await stage.channel.send(part("back"))
            stage.say("and you hear me")
            await inbox.until(1)
        assert inbox.texts == ["and you hear me"]
        assert stage.seen() == ["back"]


async def test_a_send_that_finds_the_session_over_ends_it_while_a_poll_is_held() -> None:
    async with staged() as stage:
        stage.emulator.knobs.hold = 60.0
        channel = open_channel(stage.emulator, stage.notebook, replace(QUICK, poll=60.0))
        async with listening(channel, Inbox(notebook=stage.notebook)):
            await stage.until(lambda: stage.emulator.wire_log("getupdates"))
            stage.emulator.fault("status", method="sendmessage", answers={"errcode": -14}, times=1)
            with pytest.raises(LoggedOut):
                await channel.send(part("lost?"))
            await eventually(lambda: channel.prompt() is not None)
        await channel.close()


async def test_bound_already_means_that_the_stored_login_holds() -> None:
    async with staged() as stage:
        inbox = Inbox(notebook=stage.notebook)
        login = stage.notebook.values["login"]
        stage.emulator.fault("status", method="getupdates", answers={"ret": -14}, times=1)
        async with listening(stage.channel, inbox):
            await eventually(lambda: stage.world.codes and stage.channel.prompt() is not None)
            stage.world.bound()
            stage.say("still here")
            await inbox.until(1)
        assert stage.notebook.values["login"] == login


async def test_bound_already_is_not_believed_twice() -> None:
    async with staged() as stage:
        stage.world.expire_session()
        async with listening(stage.channel, Inbox(notebook=stage.notebook)):
            await eventually(lambda: len(stage.world.codes) == 1)
            stage.world.bound()
            await eventually(lambda: len(stage.world.codes) == 2)
            stage.world.bound()
            await eventually(lambda: len(stage.world.codes) == 3)
            stage.world.confirm()
            await eventually(lambda: stage.channel.prompt() is None)
        lists = [
            len(call.body["local_token_list"]) for call in stage.emulator.wire_log("get_bot_qrcode")
        ]
        assert lists == [1, 0, 0]


async def test_another_bot_starts_with_an_empty_cursor_and_no_peers() -> None:
    async with staged() as stage:
        inbox = Inbox(notebook=stage.notebook)
        stage.world.expire_session()
        stage.emulator.knobs.bot_id = "bot10@im.bot"
        async with listening(stage.channel, inbox):
            await eventually(lambda: stage.world.codes)
            stage.world.confirm()
            await eventually(lambda: stage.channel.account == "bot10@im.bot")
            other = replace(part("hello?").address, account="bot10@im.bot")
            with pytest.raises(AwaitsUser):
                await stage.channel.send(part("hello?", address=other))
            stage.say("hello, new one")
            (heard,) = await inbox.until(1)
            await stage.channel.send(part("hello!", address=other))
        assert heard.address.account == "bot10@im.bot"
        cursors = [call.body["get_updates_buf"] for call in stage.emulator.wire_log("getupdates")]
        assert "" in cursors


async def test_a_login_elsewhere_is_reported_and_not_fought() -> None:
    async with staged() as stage, listening(stage.channel, Inbox(notebook=stage.notebook)):
        await stage.until(lambda: stage.emulator.wire_log("getupdates"))
        stage.world.grant()
        stage.world.notify()
        await eventually(lambda: stage.channel.prompt() is not None)
        count = len(stage.emulator.wire_log("getupdates"))
        await eventually(lambda: stage.world.codes)
        assert len(stage.emulator.wire_log("getupdates")) == count


async def test_a_probe_without_a_login_says_what_to_do() -> None:
    async with IlinkEmulator() as emulator:
        channel = open_channel(emulator, Pages())
        with pytest.raises(LoggedOut, match="scan the QR code"):
            await channel.probe()
        with pytest.raises(LoggedOut):
            await channel.send(part())
        assert channel.allowance(part().address) is None
        await channel.close()
