"""Live replies: drafts in private chats, one growing message in groups, and the reply exactly
once.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from channels.errors import Retryable
from channels.message import (
    Address,
    Button,
    InboundMessage,
    LiveEvent,
    OutboundFile,
    OutboundMessage,
)
from channels.telegram.channel import Telegram
from channels.telegram.settings import TelegramSettings
from tests.contracts.channel_stage import Inbox, Pages, listening
from tests.emulators.telegram import TelegramEmulator

# Literals, so that the product is not compared with itself.
WORKING = "👀"
KEPT_SECONDS = 86_400

PERSON, GROUP = 5005, -1002000000123


@pytest.fixture
async def emulator() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as served:
        served.chat(PERSON)
        served.chat(GROUP, is_forum=True, topics=[17])
        yield served


class Talk:
    """One bot and the emulator."""

    def __init__(self, emulator: TelegramEmulator, pages: Pages, **settings: Any) -> None:
        self.emulator = emulator
        self.pages = pages
        self.inbox = Inbox()
        self.settings = TelegramSettings(token=emulator.token, base_url=emulator.url, **settings)
        self.channel = self._made()

    def _made(self) -> Telegram:
        channel = Telegram(self.settings, poll_seconds=1, pauses=(0.01, 0.05))
        channel.bind(self.pages)
        return channel

    async def restart(self) -> None:
        await self.channel.close()
        self.channel = self._made()

    async def asked(
        self, text: str = "@lab_bot hi", chat: int = GROUP, **where: Any
    ) -> InboundMessage:
        async with listening(self.channel, self.inbox):
            self.emulator.inject(text, chat=chat, **where)
            await self.inbox.until(len(self.inbox.stored) + 1)
        return self.inbox.stored[-1]

    def show(self, asked: InboundMessage, name: Any, text: str = "", **facts: Any) -> None:
        self.channel.show(
            LiveEvent(
                address=asked.address, name=name, message_id=asked.key, text=text, facts=facts
            )
        )

    async def send(self, asked: InboundMessage, text: str, number: int = 0, **others: Any) -> None:
        fields: dict[str, Any] = {
            "id": f"o{number}",
            "address": asked.address,
            "client_key": f"k-{asked.key}-{number}",
            "text": text,
            "reply_to": asked.key,
            "reply_to_key": asked.key,
            "part_no": number,
        }
        await self.channel.send(OutboundMessage(**(fields | others)))

    def seen(self, chat: int = GROUP) -> list[str]:
        return [message.text for message in self.emulator.sent(chat)]

    async def until_seen(self, *texts: str, chat: int = GROUP) -> None:
        await self.emulator.until(lambda: self.seen(chat) == list(texts))


@pytest.fixture
async def talk(emulator: TelegramEmulator) -> AsyncIterator[Talk]:
    made = Talk(emulator, Pages())
    yield made
    await made.channel.close()


async def test_in_a_group_one_message_grows_and_becomes_the_answer(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    asked = await talk.asked(thread=17)
    for piece in ("Hel", "lo"):
        talk.show(asked, "delta", piece)
    await talk.until_seen("Hello …")
    talk.show(asked, "delta", " **wor")
    await talk.until_seen("Hello **wor …")
    await talk.send(asked, "Hello **world**")
    (seen,) = emulator.sent(GROUP)
    assert (seen.text, seen.edits, seen.thread, str(seen.reply_to)) == (
        "Hello world",
        2,
        17,
        asked.key.split(":")[2],
    )
    assert [entity["type"] for entity in seen.entities] == ["bold"]


async def test_further_parts_follow_the_message_that_grew(talk: Talk) -> None:
    asked = await talk.asked()
    talk.show(asked, "delta", "one")
    await talk.until_seen("one …")
    for number, text in enumerate(("one", "two", "three")):
        await talk.send(asked, text, number, parts=3)
    assert talk.seen() == ["one", "two", "three"]


async def test_a_short_answer_in_a_group_comes_whole_at_once(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    asked = await talk.asked()
    talk.show(asked, "delta", "yes")
    await talk.send(asked, "yes")
    assert [(seen.text, seen.edits) for seen in emulator.sent(GROUP)] == [("yes", 0)]


async def test_a_part_that_is_tried_again_becomes_the_same_message(talk: Talk) -> None:
    asked = await talk.asked()
    talk.show(asked, "delta", "an")
    await talk.until_seen("an …")
    for _ in range(2):
        await talk.send(asked, "answer")
    await talk.restart()
    await talk.send(asked, "(possibly repeated)\nanswer", repeated=True)
    assert talk.seen() == ["(possibly repeated)\nanswer"]


async def test_a_second_answer_to_the_same_question_is_a_message_of_its_own(talk: Talk) -> None:
    asked = await talk.asked()
    talk.show(asked, "delta", "an")
    await talk.until_seen("an …")
    await talk.send(asked, "answer")
    await talk.send(asked, "and a notice", client_key="other", kind="notice")
    assert talk.seen() == ["answer", "and a notice"]


async def test_after_a_restart_in_the_middle_the_half_message_becomes_the_answer(
    talk: Talk,
) -> None:
    asked = await talk.asked()
    talk.show(asked, "delta", "half")
    await talk.until_seen("half …")
    await talk.restart()
    talk.show(asked, "delta", "half a")
    await talk.until_seen("half a …")
    await talk.send(asked, "half a loaf")
    assert talk.seen() == ["half a loaf"]


async def test_where_the_question_is_not_known_any_more_nothing_half_is_shown(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    asked = await talk.asked()
    await talk.restart()
    talk.show(asked, "delta", "half")
    await asyncio.sleep(0.2)
    await talk.send(asked, "whole")
    assert talk.seen() == ["whole"]
    assert emulator.sent(GROUP)[0].reply_to


async def test_a_question_with_buttons_or_a_file_leaves_the_growing_message_alone(
    talk: Talk,
) -> None:
    asked = await talk.asked()
    talk.show(asked, "delta", "I will")
    await talk.until_seen("I will …")
    await talk.send(
        asked, "May I?", client_key="a", kind="notice", buttons=(Button(text="Yes", data="y"),)
    )
    file = OutboundFile(name="a.txt", media_type="text/plain", data=b"x")
    await talk.send(asked, "here", client_key="b", kind="media", file=file)
    talk.show(asked, "delta", " do")
    await talk.until_seen("I will do …", "May I?", "here")
    await talk.send(asked, "I did")
    assert talk.seen() == ["I did", "May I?", "here"]


async def test_a_growing_message_that_was_deleted_is_sent_anew(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    asked = await talk.asked()
    talk.show(asked, "delta", "half")
    await talk.until_seen("half …")
    emulator.world.visible.clear()
    await talk.send(asked, "whole")
    assert talk.seen() == ["whole"]


@pytest.mark.parametrize("action", ["html_502", "accept_then_drop", "retry_after"])
async def test_an_edit_of_unknown_fate_is_repeated_and_seen_once(
    talk: Talk, emulator: TelegramEmulator, action: Any
) -> None:
    asked = await talk.asked()
    talk.show(asked, "delta", "half")
    await talk.until_seen("half …")
    emulator.fault(action, method="editMessageText", times=1, seconds=3)
    with pytest.raises(Retryable):
        await talk.send(asked, "whole")
    await talk.send(asked, "whole")
    assert talk.seen() == ["whole"]


async def test_a_sent_message_gets_another_text_and_one_that_is_gone_a_successor(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    asked = await talk.asked()
    notice: dict[str, Any] = {"kind": "notice", "reply_to": "", "reply_to_key": ""}
    await talk.send(asked, "2 min", **notice)
    (first,) = emulator.sent(GROUP)
    for text in ("4 **min**", "4 **min**"):  # repeated, as after a kill
        await talk.send(asked, text, 1, replaces=str(first.message_id), **notice)
    assert (talk.seen(), first.edits) == (["4 min"], 1)
    emulator.fault("accept_then_drop", method="editMessageText", times=1, seconds=3)
    with pytest.raises(Retryable):
        await talk.send(asked, "8 min", 2, replaces=str(first.message_id), **notice)
    await talk.send(asked, "8 min", 2, replaces=str(first.message_id), **notice)
    assert talk.seen() == ["8 min"]
    emulator.world.visible.clear()
    await talk.send(asked, "16 min", 3, replaces=str(first.message_id), **notice)
    assert talk.seen() == ["16 min"]


async def test_an_answer_that_reads_as_it_did_is_there(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    asked = await talk.asked()
    talk.show(asked, "delta", "half")
    await talk.until_seen("half …")
    await talk.send(asked, "half …")
    assert talk.seen() == ["half …"]


async def test_a_look_that_comes_too_often_is_left_out(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    asked = await talk.asked()
    talk.show(asked, "delta", "one")
    await talk.until_seen("one …")
    emulator.fault("retry_after", method="editMessageText", times=1, seconds=1)
    talk.show(asked, "delta", " two")
    await emulator.until(lambda: len(emulator.wire_log("editMessageText")) == 1)
    talk.show(asked, "delta", " three")
    await talk.until_seen("one two three …")
    assert [call.status for call in emulator.wire_log("editMessageText")] == [429, 200]


async def test_looks_keep_their_distance_and_the_newest_wins(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    asked = await talk.asked()
    for number in range(300):
        talk.show(asked, "delta", f"{number} ")
        await asyncio.sleep(0)
    await emulator.until(lambda: bool(talk.seen()) and talk.seen()[0].endswith("299 …"))
    assert len(emulator.wire_log("editMessageText")) < 10


async def test_a_restarted_answer_begins_anew_and_a_step_is_a_paragraph(talk: Talk) -> None:
    asked = await talk.asked()
    talk.show(asked, "delta", "wrong")
    talk.show(asked, "delta", "", whole=True)
    talk.show(asked, "delta", "let me look")
    talk.show(asked, "tool_ended", tool="clock", ok=True)
    talk.show(asked, "delta", "it is noon")
    await talk.until_seen("let me look\n\nit is noon …")


async def test_a_first_look_of_unknown_fate_is_not_repeated(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    asked = await talk.asked()
    emulator.fault("accept_then_drop", method="sendMessage", times=1)
    talk.show(asked, "delta", "half")
    await talk.until_seen("half …")
    talk.show(asked, "delta", " more")
    await asyncio.sleep(0.2)
    await talk.send(asked, "whole")
    assert talk.seen() == ["half …", "whole"]
    assert emulator.wire_log("editMessageText") == []


class Broken(Pages):
    """A notebook that cannot be written."""

    async def write(self, values: Mapping[str, str]) -> None:
        raise OSError("disk full")


async def test_a_malformed_note_stops_no_answer(talk: Talk) -> None:
    talk.pages.values |= {"live:a": "", "live:b": "-100 x 1 ", "live:c": "-100 1"}
    asked = await talk.asked()
    await talk.send(asked, "hello")
    assert talk.seen() == ["hello"]


async def test_a_notebook_that_takes_nothing_delays_the_answer_and_loses_none(
    emulator: TelegramEmulator,
) -> None:
    pages = Broken()
    talk = Talk(emulator, pages)
    asked = await talk.asked()
    talk.show(asked, "delta", "half")
    await talk.until_seen("half …")
    with pytest.raises(Retryable, match="notebook"):
        await talk.send(asked, "whole")
    talk.channel.bind(Pages())
    await talk.send(asked, "whole")
    assert talk.seen() == ["whole"]
    await talk.channel.close()


async def test_what_was_noted_of_old_answers_goes(talk: Talk) -> None:
    talk.pages.keep({"live:old": "-7 1 1000 k", "live:new": f"-7 1 {KEPT_SECONDS * 10**6} k"})
    asked = await talk.asked()
    talk.show(asked, "delta", "half")
    await talk.until_seen("half …")
    await talk.send(asked, "whole")
    assert sorted(talk.pages.values) == sorted(["live:new", f"live:{asked.key}"])


async def test_in_private_a_draft_grows_and_ends_with_the_answer(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    asked = await talk.asked("hi", chat=PERSON)
    talk.show(asked, "delta", "**Hel")
    await emulator.until(lambda: emulator.world.draft(PERSON) == "**Hel")
    talk.show(asked, "delta", "lo**")
    await emulator.until(lambda: emulator.world.draft(PERSON) == "Hello")
    assert talk.seen(PERSON) == []
    await talk.send(asked, "**Hello**")
    assert (talk.seen(PERSON), emulator.world.draft(PERSON)) == (["Hello"], "")
    assert len({draft["draft_id"] for draft in emulator.world.drafts}) == 1
    assert not talk.pages.values


async def test_a_server_without_drafts_shows_typing_and_is_asked_once(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    emulator.methods.absent.add("sendmessagedraft")
    for text in ("one", "two"):
        asked = await talk.asked("hi", chat=PERSON)
        talk.show(asked, "started")
        talk.show(asked, "delta", text)
        await emulator.until(lambda: bool(emulator.wire_log("sendMessageDraft")))
        await talk.send(asked, text)
    assert talk.seen(PERSON) == ["one", "two"]
    assert len(emulator.wire_log("sendMessageDraft")) == 1
    assert emulator.world.shown_actions


async def test_a_late_piece_does_not_write_over_the_answer(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    asked = await talk.asked()
    emulator.fault("delay", method="editMessageText", nth=1, seconds=0.3)
    talk.show(asked, "delta", "a")
    await talk.until_seen("a …")
    talk.show(asked, "delta", "b")
    await emulator.until(lambda: len(emulator.wire_log("editMessageText")) == 1)
    await talk.send(asked, "the end")
    talk.show(asked, "delta", "c")
    await asyncio.sleep(0.2)
    assert talk.seen() == ["the end"]


async def test_what_is_worked_on_is_marked_until_it_is_answered(emulator: TelegramEmulator) -> None:
    talk = Talk(emulator, Pages(), reactions=True)
    asked = await talk.asked("hi", chat=PERSON)
    place = (PERSON, int(asked.key.split(":")[2]))
    assert emulator.world.reactions == {}
    talk.show(asked, "started")
    await emulator.until(lambda: emulator.world.reactions.get(place) == WORKING)
    await talk.send(asked, "done")
    await emulator.until(lambda: emulator.world.reactions.get(place) == "")
    await talk.channel.close()


async def test_marks_are_off_unless_asked_for_and_their_failure_troubles_nobody(
    talk: Talk, emulator: TelegramEmulator
) -> None:
    talk.show(await talk.asked("hi", chat=PERSON), "started")
    loud = Talk(emulator, Pages(), reactions=True)
    asked = await loud.asked("hi", chat=PERSON)
    emulator.fault(
        "status",
        method="setMessageReaction",
        code=400,
        body='{"ok":false,"description":"REACTION_INVALID"}',
    )
    loud.show(asked, "started")
    await loud.send(asked, "done")
    await emulator.until(lambda: len(emulator.wire_log("setMessageReaction")) == 2)
    assert loud.seen(PERSON) == ["done"]
    await loud.channel.close()


async def test_nothing_is_shown_where_nobody_asked(talk: Talk) -> None:
    address = Address(channel="telegram", account="100", chat_id=str(GROUP))
    talk.channel.show(LiveEvent(address=address, name="fold", facts={"turns": 3}))
    talk.channel.show(LiveEvent(address=address, name="delta", text="x"))
    assert talk.seen() == []
