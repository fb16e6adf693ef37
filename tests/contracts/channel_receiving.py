"""Every channel when it receives: messages are stored before they are acknowledged, repeats are
recognised.
"""

import asyncio
from collections import Counter

import pytest

from bot.gateway.attachments import sanitize_file_name
from channels.errors import AttachmentTooBig, ChatMoved, Rejected
from channels.message import Attachment, Button, InboundMessage
from tests.contracts.channel_cases import Cases, needs
from tests.contracts.channel_stage import Inbox, Stage, eventually, listening, part, restart_program

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738"
    "550000000049454e44ae426082"
)
HOSTILE_NAMES = (
    "../../etc/passwd",
    "..\\..\\boot.ini",
    "/absolute",
    "nul\x00byte.txt",
    "表格 🙂.pdf",
    ".." * 200,
)
BYTES = bytes(range(256)) * 40


async def contents(stage: Stage, file: Attachment, most: int = 1_000_000) -> bytes:
    """Return the bytes of an attachment, downloaded if necessary."""
    if file.data:
        return file.data
    fetched = await stage.channel.fetch(file.ref, most)  # type: ignore[attr-defined]
    data: bytes = fetched.data
    return data


async def the_one(inbox: Inbox) -> InboundMessage:
    """Wait for the only message."""
    (message,) = await inbox.until(1)
    return message


class Acknowledging(Cases):
    """Acknowledgement only after storing, and stable keys."""

    async def test_hears_what_a_person_wrote(self, stage: Stage, inbox: Inbox) -> None:
        async with listening(stage.channel, inbox):
            stage.say("hello there")
            await stage.until(lambda: stage.confirmed() == 1)
        (message,) = inbox.stored
        assert (message.text, message.kind, message.addressed) == ("hello there", "dm", True)
        assert (message.act, message.target, message.album, message.quote) == (
            "message",
            "",
            "",
            None,
        )
        assert message.address == stage.address
        assert message.key
        assert not message.sender.is_bot
        assert message.sent_at.tzinfo is not None

    async def test_two_equal_messages_are_two(self, stage: Stage, inbox: Inbox) -> None:
        async with listening(stage.channel, inbox):
            stage.say("again")
            stage.say("again")
            await stage.until(lambda: stage.confirmed() == 2)
        assert inbox.texts == ["again", "again"]
        assert inbox.stored[0].order_key <= inbox.stored[1].order_key

    @needs("say_again")
    async def test_the_same_message_has_the_same_key_every_time(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        async with listening(stage.channel, inbox):
            stage.say("once")
            await stage.until(lambda: stage.confirmed() == 1)
            stage.say_again()
            await stage.until(lambda: stage.confirmed() == 2)
        assert len(inbox.stored) == 1

    async def test_confirms_only_after_deliver_returned(self, stage: Stage, inbox: Inbox) -> None:
        inbox.gate.clear()
        async with listening(stage.channel, inbox):
            stage.say("keep me")
            await asyncio.wait_for(inbox.came.wait(), 10)
            assert stage.confirmed() == 0
            inbox.gate.set()
            await stage.until(lambda: stage.confirmed() == 1)

    @needs("say_again")
    async def test_what_was_not_stored_is_not_confirmed_and_comes_again(self, stage: Stage) -> None:
        inbox = Inbox([OSError("disk full"), RuntimeError("database is closed")], stage.notebook)
        async with listening(stage.channel, inbox):
            stage.say("patience")
            await stage.until(lambda: stage.confirmed() == 1)
        assert inbox.tried == 3
        assert inbox.texts == ["patience"]

    @needs("say_again")
    async def test_what_a_dead_process_had_not_stored_comes_to_the_next(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        lost = Inbox(notebook=stage.notebook)
        lost.gate.clear()
        async with listening(stage.channel, lost):
            stage.say("survive")
            await asyncio.wait_for(lost.came.wait(), 10)
        lost.die()
        async with listening(stage.channel, inbox):
            await stage.until(lambda: stage.confirmed() == 1)
        assert inbox.texts == ["survive"]

    @needs("restart")
    async def test_a_new_process_goes_on_where_the_old_one_was(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        for number, text in enumerate(("one", "two", "three"), 1):
            async with listening(stage.channel, inbox):
                stage.say(text)
                await stage.until(lambda due=number: stage.confirmed() >= due)  # type: ignore[misc]
            await restart_program(stage)
        async with listening(stage.channel, inbox):
            stage.say("four")
            await inbox.until(4)
        assert inbox.texts == ["one", "two", "three", "four"]

    @needs("restart", "redeliveries", "later", "say_again")
    async def test_a_repeat_is_known_over_the_whole_window_and_a_restart(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        async with listening(stage.channel, inbox):
            stage.say("once")
            await stage.until(lambda: stage.confirmed() == 1)
        for number, seconds in enumerate(stage.redeliveries):
            if number % 2:
                await restart_program(stage)
            stage.later(seconds)
            async with listening(stage.channel, inbox):
                stage.say_again()
                await stage.until(lambda due=number + 2: stage.confirmed() == due)  # type: ignore[misc]
        assert inbox.texts == ["once"]

    @needs("say_shuffled")
    async def test_the_order_of_writing_is_known_though_they_come_in_another(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        texts = [f"number {number}" for number in range(6)]
        stage.say_shuffled(texts)
        async with listening(stage.channel, inbox):
            await inbox.until(len(texts))
        assert [
            message.text for message in sorted(inbox.stored, key=lambda message: message.order_key)
        ] == texts

    async def test_nul_and_lone_surrogates_stay_outside(self, stage: Stage, inbox: Inbox) -> None:
        async with listening(stage.channel, inbox):
            stage.say("a\x00b\ud83dc")
            await stage.until(lambda: stage.confirmed() == 1)
        assert inbox.texts[0].replace("\ufffd", "") == "abc"

    @needs("odd")
    async def test_what_nobody_understands_is_confirmed_and_spoils_nothing(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        count = stage.odd()
        stage.say("plain words")
        async with listening(stage.channel, inbox):
            await stage.until(lambda: stage.confirmed() == count + 1)
        assert inbox.texts == ["plain words"]

    @needs("connection_status")
    async def test_vitals_tell_when_something_was_heard(self, stage: Stage, inbox: Inbox) -> None:
        status = stage.channel.connection_status  # type: ignore[attr-defined]
        assert status().last_contact == 0
        async with listening(stage.channel, inbox):
            stage.say("are you there?")
            await stage.until(lambda: stage.confirmed() == 1)
            assert status().last_contact > 0
            assert status().trouble == ""


class Acts(Cases):
    """Edits, deletions, presses, moves."""

    @needs("say_in_group")
    async def test_in_a_group_it_is_told_whether_we_are_meant(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        async with listening(stage.channel, inbox):
            stage.say_in_group("what is the time?", True)
            first = await the_one(inbox)
        assert (first.kind, first.addressed, first.text) == ("group", True, "what is the time?")
        assert first.address == stage.group

    @needs("say_in_group")
    async def test_talk_between_people_is_not_meant_for_us(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        async with listening(stage.channel, inbox):
            stage.say_in_group("among ourselves", False)
            stage.say("to you")
            await eventually(lambda: "to you" in inbox.texts)
        assert all(not message.addressed for message in inbox.stored if message.kind == "group")

    @needs("edit")
    async def test_an_edit_names_the_message_it_changes(self, stage: Stage, inbox: Inbox) -> None:
        async with listening(stage.channel, inbox):
            stage.say("first thought")
            await inbox.until(1)
            stage.edit("second thought")
            original, edit = await inbox.until(2)
        assert (edit.act, edit.text, edit.target) == ("edit", "second thought", original.key)
        assert edit.key != original.key

    @needs("withdraw")
    async def test_what_is_taken_back_is_named(self, stage: Stage, inbox: Inbox) -> None:
        async with listening(stage.channel, inbox):
            stage.say("never mind")
            await inbox.until(1)
            stage.withdraw()
            original, gone = await inbox.until(2)
        assert (gone.act, gone.target) == ("delete", original.key)

    @needs("quote")
    async def test_what_is_quoted_comes_as_a_quotation(self, stage: Stage, inbox: Inbox) -> None:
        async with listening(stage.channel, inbox):
            stage.quote("is that so?", "the moon is round")
            await inbox.until(1)
        answer = inbox.stored[-1]
        assert answer.text == "is that so?"
        assert answer.quote is not None
        assert answer.quote.text == "the moon is round"

    @needs("press")
    async def test_a_press_names_its_button(self, stage: Stage, inbox: Inbox) -> None:
        async with listening(stage.channel, inbox):
            stage.say("may you?")
            (asked,) = await inbox.until(1)
            buttons = (Button(text="Yes", data="allow:17"), Button(text="No", data="deny:17"))
            await stage.channel.send(part(stage, "May I?", buttons=buttons, reply_to_key=asked.key))
            stage.press("deny:17")
            press = (await inbox.until(2))[1]
        assert (press.act, press.target, press.address) == ("press", "deny:17", stage.address)
        assert press.sender == asked.sender or press.sender.id == asked.sender.id

    @needs("move")
    async def test_a_chat_that_moves_says_where_to(self, stage: Stage, inbox: Inbox) -> None:
        async with listening(stage.channel, inbox):
            new = stage.move()
            moved = next(message for message in await inbox.until(1) if message.act == "move")
            assert (moved.address, moved.target) == (stage.group, new)
            with pytest.raises(ChatMoved) as refused:
                await stage.channel.send(part(stage, "where are you?", address=stage.group))
        assert refused.value.chat_id == new

    @needs("take_us_in")
    async def test_being_taken_into_a_group_is_told(self, stage: Stage, inbox: Inbox) -> None:
        async with listening(stage.channel, inbox):
            stage.take_us_in()
            joined = await the_one(inbox)
        assert (joined.act, joined.kind, joined.address) == ("joined", "group", stage.group)


class Files(Cases):
    """Received files."""

    @needs("send_picture")
    async def test_a_picture_comes_whole(self, stage: Stage, inbox: Inbox) -> None:
        async with listening(stage.channel, inbox):
            stage.send_picture(PNG)
            (picture,) = (await the_one(inbox)).attachments
            assert picture.media_type.startswith("image/")
            assert await contents(stage, picture) == PNG

    @needs("send_file")
    @pytest.mark.parametrize("name", HOSTILE_NAMES, ids=range(len(HOSTILE_NAMES)))
    async def test_a_file_comes_whole_and_its_name_leads_nowhere(
        self, stage: Stage, inbox: Inbox, name: str
    ) -> None:
        async with listening(stage.channel, inbox):
            stage.send_file(name, BYTES)
            (file,) = (await the_one(inbox)).attachments
            assert await contents(stage, file) == BYTES
        assert "\x00" not in file.name
        assert not {*sanitize_file_name(file.name)} & {*"/\\\x00"}
        assert sanitize_file_name(file.name) not in ("", ".", "..")

    @needs("send_file", "forget_files")
    async def test_of_a_file_that_is_too_big_no_more_is_read_than_was_asked_for(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        async with listening(stage.channel, inbox):
            stage.send_file("long.bin", BYTES)
            (file,) = (await the_one(inbox)).attachments
            assert await contents(stage, file, len(BYTES)) == BYTES
            with pytest.raises(AttachmentTooBig):
                await contents(stage, file, len(BYTES) - 1)

    @needs("send_file", "forget_files")
    async def test_a_file_that_is_gone_is_called_gone(self, stage: Stage, inbox: Inbox) -> None:
        async with listening(stage.channel, inbox):
            stage.send_file("gone.bin", BYTES)
            (file,) = (await the_one(inbox)).attachments
            stage.forget_files()
            with pytest.raises(Rejected):
                await contents(stage, file)

    @needs("send_album")
    async def test_pictures_sent_as_one_are_known_as_one(self, stage: Stage, inbox: Inbox) -> None:
        pictures = [PNG + bytes([number]) for number in range(3)]
        async with listening(stage.channel, inbox):
            stage.send_album(pictures)
            count = 0
            while sum(len(message.attachments) for message in inbox.stored) < len(pictures):
                count += 1
                await inbox.until(count)
            found = [
                await contents(stage, file)
                for message in inbox.stored
                for file in message.attachments
            ]
        assert Counter(found) == Counter(pictures)
        assert len({message.album for message in inbox.stored}) == 1
        assert len(inbox.stored) == 1 or inbox.stored[0].album
