"""What goes to a person: within what the platform lets them get, and called sent only when it
was.
"""

import asyncio
import json
import time
from dataclasses import replace

import pytest

from channels.errors import (
    Ambiguous,
    AttachmentTooBig,
    AwaitsUser,
    ChannelError,
    Rejected,
    Retryable,
)
from channels.message import LiveEvent, OutboundFile
from channels.wechat.sender import client_id
from channels.wechat.state import AccountState
from tests.cases import every_case
from tests.channels.wechat.stage import QUICK, open_channel, part, staged
from tests.contracts.channel_stage import Inbox, Pages, eventually, listening
from tests.emulators.ilink_world import PERSON

# Literals, so that the product is not compared with itself.
ALLOWANCE = 10
WINDOW = 86_400.0
LARGEST = 26_214_400
FIRST_BLOCK = 15.0
LONGEST_BLOCK = 3600.0
LIMIT = 1800
MORE = {"zh": "（还没说完：随便回我一句，我就接着发）", "en": "(more follows: send me anything)"}

DATA = bytes(range(256)) * 5
FILE = OutboundFile(name="notes.bin", media_type="application/octet-stream", data=DATA)
PICTURE = OutboundFile(name="cat.png", media_type="image/png", data=DATA, picture=True)


async def test_the_newest_token_and_the_parts_key_go_with_it() -> None:
    async with staged() as stage:
        inbox = Inbox(notebook=stage.notebook)
        async with listening(stage.channel, inbox):
            stage.say("once more")
            await inbox.until(1)
            receipt = await stage.channel.send(part("yes", client_key="42.0"))
        sent = stage.emulator.wire_log("sendmessage")[0].body["msg"]
        assert sent["context_token"] == stage.world.person().token
        assert (sent["client_id"], receipt.platform_id) == ("mnema-42.0", "mnema-42.0")
        assert (
            client_id("a key with\nblanks")
            == client_id("a key with\nblanks")
            != client_id("another key")
        )


async def test_a_repeat_of_an_old_message_does_not_restore_its_token() -> None:
    async with staged() as stage:
        inbox = Inbox(notebook=stage.notebook)
        async with listening(stage.channel, inbox):
            old = stage.world.say("old")
            stage.say("new")
            await inbox.until(2)
            for number in range(3):
                await stage.channel.send(part(f"part {number}", number))
            left = stage.channel.allowance(stage.address)
            stage.world.repeat(old)
            await stage.until(lambda: stage.confirmed() == 3)
            assert stage.channel.allowance(stage.address) == left
            await stage.channel.send(part("still taken", 3))
        assert len(stage.seen()) == 4


async def test_after_the_allowance_a_part_waits_until_the_person_writes_even_over_a_restart() -> (
    None
):
    async with staged(ALLOWANCE) as stage:
        for number in range(ALLOWANCE):
            await stage.channel.send(part(f"part {number}", number, parts=12))
            assert stage.channel.allowance(stage.address) == ALLOWANCE - 1 - number
        calls = len(stage.emulator.wire_log("sendmessage"))
        with pytest.raises(AwaitsUser):
            await stage.channel.send(part("too much", 10, parts=12))
        await stage.restart()
        stage.channel.bind(stage.notebook)
        with pytest.raises(AwaitsUser):
            await stage.channel.send(part("too much", 10, parts=12))
        assert len(stage.emulator.wire_log("sendmessage")) == calls
        assert f"{PERSON} 0/{ALLOWANCE}" in stage.channel.connection_status().quota
        inbox = Inbox(notebook=stage.notebook)
        async with listening(stage.channel, inbox):
            stage.say("go on")
            await inbox.until(1)
        await stage.channel.send(part("the rest", 10, parts=12))
        assert stage.channel.allowance(stage.address) == ALLOWANCE - 1
        assert stage.seen()[-1] == "the rest"


@pytest.mark.parametrize(("text", "language"), [("the tenth", "en"), ("第十条", "zh")])
async def test_the_last_part_that_is_allowed_says_that_more_follows(
    text: str, language: str
) -> None:
    async with staged(2) as stage:
        await stage.channel.send(part("the ninth", 0, parts=3))
        await stage.channel.send(part(text, 1, parts=3))
        assert stage.seen() == ["the ninth", f"{text}\n\n{MORE[language]}"]


async def test_the_last_part_of_an_answer_promises_nothing() -> None:
    async with staged(2) as stage:
        await stage.channel.send(part("the first", 0, parts=2))
        await stage.channel.send(part("the last", 1, parts=2))
        assert stage.seen() == ["the first", "the last"]


async def test_a_day_after_their_message_a_person_gets_nothing_more() -> None:
    async with staged() as stage:
        name = f"peer.bot9@im.bot.{PERSON}"
        peer = json.loads(stage.notebook.values[name])
        stage.notebook.values[name] = json.dumps(peer | {"got": time.time() - WINDOW})
        with pytest.raises(AwaitsUser):
            await stage.channel.send(part("good morning"))
        assert stage.emulator.wire_log("sendmessage") == []


async def test_who_never_wrote_cannot_be_written_to() -> None:
    async with staged() as stage:
        with pytest.raises(AwaitsUser):
            await stage.channel.send(
                part("hello", address=replace(stage.address, chat_id="nobody@im.wechat"))
            )


async def test_a_conversation_of_another_bot_is_not_answered_by_this_one() -> None:
    async with staged() as stage:
        with pytest.raises(Rejected) as refused:
            await stage.channel.send(
                part("hello", address=replace(stage.address, account="bot1@im.bot"))
            )
        assert refused.value.gone


@pytest.mark.parametrize("words", ["", "prepare failed"])
async def test_a_platform_that_takes_no_more_is_not_asked_again_before_they_write(
    words: str,
) -> None:
    async with staged() as stage:
        stage.emulator.fault(
            "status", method="sendmessage", answers={"ret": -2, "errmsg": words}, times=1
        )
        for _ in range(2):
            with pytest.raises(AwaitsUser):
                await stage.channel.send(part("not now"))
        assert len(stage.emulator.wire_log("sendmessage")) == 1
        assert stage.channel.allowance(stage.address) == 0


async def test_sends_that_came_too_fast_are_tried_again_later_and_later() -> None:
    async with staged() as stage:
        stage.world.person().blocked_until = stage.world.now() + 3600
        waits = []
        for _ in range(3):
            with pytest.raises(Retryable) as refused:
                await stage.channel.send(part("slower"))
            assert not isinstance(refused.value, AwaitsUser)
            waits.append(refused.value.retry_after)
        assert waits == [FIRST_BLOCK, 2 * FIRST_BLOCK, 4 * FIRST_BLOCK]
        stage.world.person().blocked_until = 0
        await stage.channel.send(part("now"))
        stage.world.person().blocked_until = stage.world.now() + 3600
        with pytest.raises(Retryable) as refused:
            await stage.channel.send(part("slower"))
        assert refused.value.retry_after == FIRST_BLOCK < LONGEST_BLOCK


@every_case(
    ("answer", "error"),
    [
        ({"ret": -3, "errmsg": "bad argument"}, Rejected),
        ({"ret": -1}, Retryable),
        ({"errcode": 40001}, Retryable),
        ({"ret": "odd"}, Ambiguous),
        ([1], Ambiguous),
    ],
)
async def test_a_code_behind_a_good_status_is_never_success(
    answer: object, error: type[ChannelError]
) -> None:
    async with staged() as stage:
        stage.emulator.fault("status", method="sendmessage", answers=answer, times=1)
        with pytest.raises(error):
            await stage.channel.send(part("perhaps"))
        assert stage.seen() == []


@pytest.mark.parametrize("success", ["{}", "ret"])
async def test_both_forms_of_success(success: str) -> None:
    async with staged() as stage:
        stage.emulator.knobs.success = success  # type: ignore[assignment]
        await stage.channel.send(part("taken"))
        assert stage.seen() == ["taken"]


async def test_what_may_have_arrived_counts() -> None:
    async with staged(3) as stage:
        stage.lose_next()
        with pytest.raises(Ambiguous):
            await stage.channel.send(part("perhaps"))
        assert stage.channel.allowance(stage.address) == 2


async def test_a_record_that_cannot_be_written_does_not_make_a_sent_part_unsent() -> None:
    async with staged(3) as stage:

        class Full(Pages):
            async def write(self, values: object) -> None:
                raise OSError("no space is left")

        stage.channel.bind(Full(**stage.notebook.values))
        await stage.channel.send(part("sent all the same"))
        assert stage.channel.allowance(stage.address) == 2


async def test_sends_to_one_person_keep_their_distance() -> None:
    async with staged() as stage:
        channel = open_channel(stage.emulator, stage.notebook, replace(QUICK, spacing=0.2))
        assert channel.capabilities.per_chat_rate == 5
        began = time.monotonic()
        await asyncio.gather(*(channel.send(part(f"part {number}", number)) for number in range(3)))
        assert time.monotonic() - began >= 0.4
        await channel.close()


async def test_nothing_is_remembered_of_a_send_that_is_over() -> None:
    async with staged() as stage:
        sender = stage.channel._sender
        await stage.channel.send(part("hello"))
        for number in range(50):
            await sender._wait_spacing(f"person {number}")
        assert (len(sender._locks), len(sender._last_sends)) == (0, 1)


# -- files
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("file", "kind"), [(FILE, "file"), (PICTURE, "image")])
async def test_a_file_comes_after_its_words(file: OutboundFile, kind: str, whole: bool) -> None:
    async with staged(3) as stage:
        stage.emulator.knobs.full_urls = whole
        await stage.channel.send(part("as you asked", file=file))
        words, shown = stage.world.sent()
        assert (words.kind, words.text) == ("text", "as you asked")
        assert (shown.kind, shown.data) == (kind, DATA)
        assert shown.name == (FILE.name if kind == "file" else "")
        assert words.client_id != shown.client_id
        assert stage.channel.allowance(stage.address) == 1
        assert not [name for name in stage.notebook.values if name.startswith("caption.")]


async def test_a_file_and_its_words_wait_together() -> None:
    async with staged(1) as stage:
        with pytest.raises(AwaitsUser):
            await stage.channel.send(part("as you asked", file=FILE))
        assert stage.emulator.wire_log("getuploadurl") == []
        await stage.channel.send(part("", file=FILE))
        assert stage.files_seen() == [("notes.bin", DATA)]


async def test_a_caption_sent_before_its_file_failed_is_not_repeated_even_after_a_restart() -> None:
    async with staged() as stage:
        stage.emulator.fault("status", method="sendmessage", answers={"ret": -1}, nth=2)
        with pytest.raises(Retryable):
            await stage.channel.send(part("as you asked", file=FILE))
        await stage.restart()
        stage.channel.bind(stage.notebook)
        await stage.channel.send(part("as you asked", file=FILE))
        assert stage.seen() == ["as you asked"]
        assert stage.files_seen() == [("notes.bin", DATA)]


async def test_of_a_file_that_is_refused_for_good_nothing_is_kept() -> None:
    async with staged() as stage:
        stage.emulator.fault("status", method="sendmessage", answers={"ret": -3}, nth=2)
        with pytest.raises(Rejected):
            await stage.channel.send(part("as you asked", file=FILE))
        assert not [name for name in stage.notebook.values if name.startswith("caption.")]


async def test_a_file_that_may_have_arrived_is_marked_when_it_is_sent_again() -> None:
    async with staged() as stage:
        stage.emulator.fault("accept_then_drop", method="sendmessage", nth=2)
        with pytest.raises(Ambiguous):
            await stage.channel.send(part("as you asked", file=FILE))
        await stage.channel.send(
            part("(possibly repeated)\nas you asked", file=FILE, repeated=True)
        )
        assert stage.seen() == ["as you asked", "(possibly repeated)\nas you asked"]


async def test_a_files_server_that_stumbles_is_asked_three_times() -> None:
    async with staged() as stage:
        stage.emulator.fault("status", method="upload", code=500, nth=1)
        stage.emulator.fault("status", method="upload", code=200, nth=2)
        await stage.channel.send(part("", file=FILE))
        assert stage.files_seen() == [("notes.bin", DATA)]
        assert len(stage.emulator.wire_log("upload")) == 3


@pytest.mark.parametrize(
    ("code", "headers", "tries", "error"),
    [
        (400, {"x-error-message": "bad size"}, 1, Rejected),
        (500, {}, 3, Retryable),
        (200, {}, 3, Retryable),
    ],
)
async def test_a_file_that_is_not_taken_shows_nothing(
    code: int, headers: dict[str, str], tries: int, error: type[ChannelError]
) -> None:
    async with staged() as stage:
        stage.emulator.fault("status", method="upload", code=code, headers=headers)
        with pytest.raises(error) as refused:
            await stage.channel.send(part("as you asked", file=FILE))
        assert len(stage.emulator.wire_log("upload")) == tries
        assert headers.get("x-error-message", "") in str(refused.value)
        assert stage.world.sent() == []


async def test_a_lost_answer_about_the_place_of_a_file_is_no_unknown_fate() -> None:
    async with staged() as stage:
        stage.emulator.fault("accept_then_drop", method="getuploadurl", times=1)
        with pytest.raises(Retryable):
            await stage.channel.send(part("", file=FILE))


async def test_an_upload_url_at_a_foreign_host_gets_nothing() -> None:
    async with staged() as stage:
        stage.emulator.fault(
            "status", method="getuploadurl", answers={"upload_full_url": "https://evil.example/up"}
        )
        with pytest.raises(ChannelError, match=r"evil\.example"):
            await stage.channel.send(part("", file=FILE))


async def test_a_file_beyond_the_limit_is_not_carried() -> None:
    async with staged() as stage:
        with pytest.raises(AttachmentTooBig):
            await stage.channel.send(part("", file=replace(FILE, data=bytes(LARGEST + 1))))


# -- the typing sign
# --------------------------------------------------------------------------------


async def test_typing_is_shown_from_the_start_to_the_answer() -> None:
    async with staged() as stage:
        await stage.channel.probe()
        stage.channel.show(LiveEvent(address=stage.address, name="started"))
        stage.channel.show(LiveEvent(address=stage.address, name="delta", text="Hel"))
        await stage.until(lambda: stage.world.typing == [(PERSON, 1)])
        await stage.channel.send(part("first", 0, parts=2))
        assert stage.world.typing == [(PERSON, 1)]
        await stage.channel.send(part("last", 1, parts=2))
        await stage.until(lambda: stage.world.typing == [(PERSON, 1), (PERSON, 2)])
        stage.channel.show(LiveEvent(address=stage.address, name="reply", text="last"))
        stage.channel.show(LiveEvent(address=stage.address, name="started"))
        await stage.until(lambda: len(stage.world.typing) == 3)
        assert stage.world.typing[2] == (PERSON, 1)
        assert len(stage.emulator.wire_log("getconfig")) == 2  # the probe's, and one for both signs


async def test_a_fresh_token_that_comes_with_a_ticket_is_used_and_kept() -> None:
    async with staged() as stage:
        await stage.channel.probe()
        stage.emulator.knobs.fresh_token = True
        stage.channel.show(LiveEvent(address=stage.address, name="started"))
        await stage.until(lambda: bool(stage.world.typing))
        await stage.channel.send(part("with the new one"))
        assert stage.seen() == ["with the new one"]
        state = AccountState()
        state.bind(stage.notebook)
        await state.open()
        known = state.peers.get(PERSON)
        assert known is not None
        assert known.token == stage.world.person().token


@pytest.mark.parametrize("method", ["getconfig", "sendtyping"])
async def test_a_sign_that_fails_disturbs_nothing(method: str) -> None:
    async with staged() as stage:
        await stage.channel.probe()
        stage.emulator.fault("status", method=method, answers={"ret": -1}, times=1)
        stage.channel.show(LiveEvent(address=stage.address, name="started"))
        await eventually(lambda: stage.emulator.faults[0].used)
        await stage.channel.send(part("an answer"))
        stage.channel.show(LiveEvent(address=stage.address, name="started"))
        await stage.until(lambda: (PERSON, 1) in stage.world.typing)
        assert stage.seen() == ["an answer"]


def test_the_limit_leaves_space_for_the_notice_below() -> None:
    assert LIMIT + max(map(len, MORE.values())) + 2 < 2000
