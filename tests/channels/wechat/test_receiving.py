"""How WeChat's stream is heard: cursors, holds, and files that come with messages."""

import asyncio
import json
from dataclasses import replace

import pytest

from channels.errors import AttachmentTooBig, ChannelError, Rejected, Retryable
from tests.cases import every_case
from tests.channels.wechat.stage import OTHER, QUICK, WechatStage, open_channel, open_state, staged
from tests.contracts.channel_stage import Inbox, eventually, listening, receive_with_restarts
from tests.emulators.ilink_world import PERSON, decrypt

DATA = bytes(range(256)) * 3 + b"end"


async def heard(stage: WechatStage) -> Inbox:
    """An inbox with the one message that was just sent."""
    inbox = Inbox(notebook=stage.notebook)
    async with listening(stage.channel, inbox):
        await inbox.until(1)
    return inbox


async def test_cursor_and_tokens_are_kept_with_the_messages() -> None:
    async with staged() as stage:
        stage.say("one")
        stage.another_says("two")
        inbox = Inbox(notebook=stage.notebook)
        async with listening(stage.channel, inbox):
            await inbox.until(2)
            assert inbox.tried == 1
            await stage.until(lambda: stage.confirmed() == 2)
        state = await open_state(stage.notebook)
        assert state.cursor == stage.emulator.wire_log("getupdates")[-1].body["get_updates_buf"]
        for person in (PERSON, OTHER):
            known = state.peers.get(person)
            assert known is not None
            assert (known.token, known.used) == (stage.world.person(person).token, 0)


async def test_what_was_not_stored_leaves_no_cursor_behind() -> None:
    async with staged() as stage:
        before = dict(stage.notebook.values)
        inbox = Inbox(notebook=stage.notebook)
        inbox.gate.clear()
        async with listening(stage.channel, inbox):
            stage.say("not yet")
            await inbox.came.wait()
            assert stage.notebook.values == before
        inbox.gate.set()
        async with listening(stage.channel, inbox):
            await inbox.until(1)
        state = await open_state(stage.notebook)
        known = state.peers.get(PERSON)
        assert known is not None
        assert known.token == stage.world.person().token


async def test_an_empty_new_cursor_keeps_the_old_one() -> None:
    async with staged() as stage:
        state = await open_state(stage.notebook)
        stage.emulator.knobs.empty_cursor = True
        stage.say("once")
        inbox = Inbox(notebook=stage.notebook)
        async with listening(stage.channel, inbox):
            await inbox.until(1)
            await stage.until(lambda: len(stage.emulator.wire_log("getupdates")) >= 2)
        cursors = {call.body["get_updates_buf"] for call in stage.emulator.wire_log("getupdates")}
        assert cursors == {state.cursor}
        assert inbox.texts == ["once"]


async def test_success_may_come_without_a_code() -> None:
    async with staged() as stage:
        stage.emulator.knobs.absent_ret = True
        stage.say("no code")
        assert (await heard(stage)).texts == ["no code"]


async def test_the_platform_says_how_long_it_holds_a_call() -> None:
    async with staged() as stage:
        channel = open_channel(stage.emulator, stage.notebook, replace(QUICK, poll=1.0))
        stage.emulator.knobs.longpoll_ms = 20_000
        # longer than three polls of the second that is believed before
        stage.emulator.knobs.hold = 4.0
        stage.say("first")
        inbox = Inbox(notebook=stage.notebook)
        async with listening(channel, inbox) as hearing:
            await inbox.until(1)
            await stage.until(lambda: len(stage.emulator.wire_log("getupdates")) == 3)
            assert channel.connection_status().trouble == ""
            assert not hearing.done()


async def test_a_platform_that_does_not_hold_is_not_asked_without_end() -> None:
    async with staged() as stage:
        stage.emulator.knobs.hasty = True
        inbox = Inbox(notebook=stage.notebook)
        async with listening(stage.channel, inbox):
            await stage.until(lambda: len(stage.emulator.wire_log("getupdates")) > 2)
            stage.say("quick")
            await inbox.until(1)
        assert len(stage.emulator.wire_log("getupdates")) < 100


@every_case(
    "answer", [{"msgs": 5}, {"msgs": {"a": 1}}, ["no object"], {"ret": -5, "errmsg": "odd"}]
)
async def test_an_answer_of_a_wrong_form_is_waited_out(answer: object) -> None:
    async with staged() as stage:
        stage.emulator.fault("status", method="getupdates", answers=answer, times=2)
        stage.say("after that")
        assert (await heard(stage)).texts == ["after that"]


async def test_nothing_heard_for_three_polls_ends_the_run_with_a_sentence() -> None:
    async with staged() as stage:
        stage.emulator.fault("half_open", method="getupdates")
        async with receive_with_restarts(stage.channel, Inbox(notebook=stage.notebook)) as errors:
            await eventually(lambda: errors)
            assert stage.channel.connection_status().trouble
        assert "nothing heard from WeChat for 6 s" in str(errors[0])


# -- files
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("image", "hex"),
        ("image", "raw"),
        ("image", "none"),
        ("file", "hextext"),
        ("file", "raw"),
        ("video", "hextext"),
    ],
)
async def test_a_file_comes_by_every_form_of_key_and_address(
    kind: str, key: str, whole: bool
) -> None:
    async with staged() as stage:
        stage.emulator.knobs.full_urls = whole
        stage.world.attach(DATA, kind, key)
        ((file,),) = [message.attachments for message in (await heard(stage)).stored]
        assert (await stage.channel.fetch(file.ref, len(DATA))).data == DATA
        with pytest.raises(AttachmentTooBig):
            await stage.channel.fetch(file.ref, len(DATA) - 1)


async def test_a_voice_is_its_words_where_the_platform_understood_them() -> None:
    async with staged() as stage:
        stage.world.attach(DATA, "voice", text="buy milk", encode_type=6)
        (message,) = (await heard(stage)).stored
        assert (message.text, message.attachments[0].name) == ("buy milk", "voice.silk")
        assert (await stage.channel.fetch(message.attachments[0].ref, 10_000)).data == DATA


@every_case("length", ["0", "999999999999", "many", ""])
async def test_the_length_a_file_claims_is_not_believed(length: str) -> None:
    async with staged() as stage:
        stage.world.attach(DATA, len=length)
        ((file,),) = [message.attachments for message in (await heard(stage)).stored]
        assert (await stage.channel.fetch(file.ref, 10_000)).data == DATA


@every_case(
    ("code", "error"),
    [(404, Rejected), (403, Rejected), (500, Retryable), (429, Retryable), (302, Retryable)],
)
async def test_a_files_server_that_refuses(code: int, error: type[ChannelError]) -> None:
    async with staged() as stage:
        stage.world.attach(DATA)
        ((file,),) = [message.attachments for message in (await heard(stage)).stored]
        headers = {"x-error-message": "no", "Location": "http://evil.example/"}
        stage.emulator.fault("status", method="download", code=code, headers=headers, times=1)
        with pytest.raises(error):
            await stage.channel.fetch(file.ref, 10_000)
        assert (await stage.channel.fetch(file.ref, 10_000)).data == DATA


@pytest.mark.parametrize("damage", [b"", b"short", bytes(32)])
async def test_damaged_bytes_are_called_damaged(damage: bytes) -> None:
    async with staged() as stage:
        stage.world.attach(DATA)
        ((file,),) = [message.attachments for message in (await heard(stage)).stored]
        stage.world.files[json.loads(file.ref)["param"]] = damage
        with pytest.raises(Rejected, match="damaged"):
            await stage.channel.fetch(file.ref, 10_000)


@pytest.mark.parametrize("action", ["truncate", "close_before_reply"])
async def test_half_a_file_is_no_file(action: str) -> None:
    async with staged() as stage:
        stage.world.attach(DATA)
        ((file,),) = [message.attachments for message in (await heard(stage)).stored]
        stage.emulator.fault(action, method="download", size=100, times=1)  # type: ignore[arg-type]
        with pytest.raises(Retryable):
            await stage.channel.fetch(file.ref, 10_000)


async def test_no_more_of_a_file_is_read_than_was_asked_for() -> None:
    async with staged() as stage:
        stage.world.attach(bytes(5000))
        ((file,),) = [message.attachments for message in (await heard(stage)).stored]
        # the whole takes most of a minute
        stage.emulator.fault("drip", method="download", seconds=0.01)
        with pytest.raises(AttachmentTooBig):
            await asyncio.wait_for(stage.channel.fetch(file.ref, 10), 20)


@pytest.mark.parametrize("key", ["!!", "AAAA", "bm90IGhleCBhdCBhbGwsIHRoaXJ0eSB0d28gc2lnbnM="])
async def test_a_key_of_no_known_form_is_reported(key: str) -> None:
    async with staged() as stage:
        media = {"encrypt_query_param": "p", "aes_key": key}
        stage.world.post(PERSON, [{"type": 4, "file_item": {"file_name": "a.txt", "media": media}}])
        ((file,),) = [message.attachments for message in (await heard(stage)).stored]
        with pytest.raises(Rejected, match="cannot be opened"):
            await stage.channel.fetch(file.ref, 10_000)


@pytest.mark.parametrize(
    "media", [{}, {"full_url": "http://169.254.169.254/latest"}, {"full_url": "file:///etc/passwd"}]
)
async def test_an_address_that_is_not_the_platforms_is_not_opened(media: dict[str, str]) -> None:
    async with staged() as stage:
        stage.world.post(PERSON, [{"type": 2, "image_item": {"media": media}}])
        ((file,),) = [message.attachments for message in (await heard(stage)).stored]
        with pytest.raises(Rejected):
            await stage.channel.fetch(file.ref, 10_000)


def test_the_emulators_cipher_is_the_platforms() -> None:
    assert decrypt(bytes.fromhex("5d8749e2af7531b2bf6661e9e5daf012"), bytes(range(16))) == b"hello"
