"""Live replies: one card, in order, and never a second message."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from channels.errors import Ambiguous, Retryable
from channels.feishu.channel import Feishu
from channels.feishu.streaming import CardDraft
from channels.message import Address, Button, LiveEvent, OutboundMessage
from tests.channels.feishu.stage import SEND, FeishuStage
from tests.contracts.channel_stage import Inbox, Pages, eventually, listening
from tests.emulators.feishu import APP_ID, FeishuEmulator
from tests.emulators.feishu_world import Seen

# Literals, so that the product is not compared with itself.
LIMIT = 16_000

DM = Address(channel="feishu", account=APP_ID, chat_id="oc_p2p_ou_u1")


class Talk:
    """A reply to a person's message, while it is written."""

    def __init__(self, emulator: FeishuEmulator, stage: FeishuStage, asked: str, row: str) -> None:
        self.emulator, self.stage, self.asked, self.row = emulator, stage, asked, row
        self.notebook = stage.notebook
        self.address = DM

    @property
    def channel(self) -> Feishu:
        return self.stage.channel

    def show(self, name: str, text: str = "", **facts: Any) -> None:
        event: Any = {"name": name, "text": text, "facts": facts}
        self.channel.show(LiveEvent(address=self.address, message_id=self.row, **event))

    async def seen(self, text: str) -> Seen:
        """Wait until the card holds the text."""
        await eventually(lambda: any(text in one.text for one in self.emulator.sent()))
        return self.emulator.sent()[-1]

    def part(self, text: str, **fields: Any) -> OutboundMessage:
        told = {
            "id": "o1",
            "client_key": "k1",
            "reply_to": self.row,
            "reply_to_key": self.asked,
            **fields,
        }
        return OutboundMessage(address=self.address, text=text, **told)

    async def restart(self) -> None:
        await self.stage.restart()
        self.channel.bind(self.notebook)

    def shown(self) -> list[tuple[str, bool]]:
        return [(one.text, one.streaming) for one in self.emulator.sent()]

    def reactions(self) -> list[str]:
        return list(self.emulator.world.messages[self.asked].reactions.values())


@pytest.fixture
async def talk() -> AsyncIterator[Talk]:
    async with FeishuEmulator() as emulator:
        stage = FeishuStage(emulator)
        stage.channel.bind(stage.notebook)
        inbox = Inbox(notebook=stage.notebook)
        async with listening(stage.channel, inbox):
            stage.say("tell me")
            (asked,) = await inbox.until(1)
            yield Talk(emulator, stage, asked.key, asked.key)
        await stage.channel.close()


async def test_it_types_writes_and_becomes_the_answer(talk: Talk) -> None:
    talk.show("started")
    await eventually(lambda: talk.reactions() == ["Typing"])
    talk.show("delta", "Hel")
    card = await talk.seen("Hel")
    assert card.streaming
    talk.show("delta", "lo")
    await talk.seen("Hello")
    receipt = await talk.channel.send(talk.part("Hello, **world**."))
    assert talk.shown() == [("Hello, **world**.", False)]
    assert receipt.platform_id == card.message_id
    await eventually(lambda: talk.reactions() == [])
    numbers = [call.body["sequence"] for call in talk.emulator.wire_log("/cardkit/v1/cards/")]
    assert numbers == sorted(set(numbers))


async def test_the_same_part_again_is_the_same_message_in_the_next_life_too(talk: Talk) -> None:
    talk.show("delta", "Hel")
    await talk.seen("Hel")
    first = await talk.channel.send(talk.part("Hello"))
    again = await talk.channel.send(talk.part("Hello"))
    await talk.restart()
    assert first == again == await talk.channel.send(talk.part("Hello"))
    await talk.channel.send(talk.part("more", part_no=1, client_key="k2"))
    assert [text for text, _ in talk.shown()] == ["Hello", "more"]


@pytest.mark.parametrize("restarted", [False, True])
async def test_what_is_said_later_does_not_take_the_answers_place(
    talk: Talk, restarted: bool
) -> None:
    talk.show("delta", "Hel")
    await talk.seen("Hel")
    await talk.channel.send(talk.part("Hello"))
    if restarted:
        await talk.restart()
    await talk.channel.send(talk.part("By the way", client_key="k2", kind="notice"))
    assert [text for text, _ in talk.shown()] == ["Hello", "By the way"]
    assert [one.reply_to for one in talk.emulator.sent()] == ["", ""], (
        "between two people nothing is a reply"
    )


@pytest.mark.parametrize("path", [SEND, "/content$", "/settings$"])
@pytest.mark.parametrize("action", ["accept_then_drop", "close_before_reply"])
async def test_a_lost_answer_to_any_step_leaves_one_message(
    talk: Talk, path: str, action: Any
) -> None:
    talk.emulator.fault(action, path=path, times=1)
    talk.show("delta", "Hel")
    await talk.seen("Hel")
    try:
        await talk.channel.send(talk.part("Hello"))
    except Ambiguous:
        await talk.restart()
        await talk.channel.send(talk.part("Hello"))
    assert talk.shown() == [("Hello", False)]


async def test_a_card_that_was_made_but_not_sent_becomes_the_answer_after_a_restart(
    talk: Talk,
) -> None:
    talk.emulator.fault("refuse", path=SEND, code=230020)
    talk.show("delta", "Hel")
    await eventually(lambda: bool(talk.emulator.wire_log("/im/v1/messages", "POST")[1:]))
    talk.emulator.clear_faults()
    await talk.restart()
    await talk.channel.send(talk.part("Hello"))
    assert talk.shown() == [("Hello", False)]
    assert len(talk.emulator.world.cards) == 1


async def test_after_a_restart_the_numbers_go_on_above_the_old_ones(talk: Talk) -> None:
    talk.show("delta", "Hel")
    await talk.seen("Hel")
    await talk.restart()
    await talk.channel.send(talk.part("Hello"))
    assert {call.code for call in talk.emulator.wire_log("/cardkit")} == {0}


async def test_a_card_that_closed_itself_is_replaced_by_the_answer(talk: Talk) -> None:
    talk.show("delta", "Hel")
    await talk.seen("Hel")
    talk.emulator.world.advance(601)
    talk.show("delta", "lo")
    await eventually(lambda: talk.emulator.wire_log("/content")[-1].code == 300309)
    calls = len(talk.emulator.wire_log("/cardkit"))
    talk.show("delta", " you")
    await talk.channel.send(talk.part("Hello you"))
    assert talk.shown() == [("Hello you", False)]
    assert [call.verb for call in talk.emulator.wire_log("/cardkit")][calls:] == ["PUT"]


async def test_numbers_rise_over_a_restart_and_leap_over_others(talk: Talk) -> None:
    talk.show("delta", "Hel")
    await talk.seen("Hel")
    await talk.restart()
    (card,) = talk.emulator.world.cards.values()
    card.sequence = 1500
    await talk.channel.send(talk.part("Hello"))
    assert talk.shown() == [("Hello", False)]
    assert card.sequence > 1500


@pytest.mark.parametrize("plain", [False, True])
async def test_a_card_that_cannot_become_the_answer_goes_and_the_answer_comes(
    talk: Talk, plain: bool
) -> None:
    talk.show("delta", "Hel")
    await talk.seen("Hel")
    talk.emulator.fault("refuse", verb="PUT", path="/cardkit/v1/cards/", code=230099, times=1)
    await talk.channel.send(talk.part("Hello", plain=plain))
    assert talk.shown() == [("Hello", False)]
    assert talk.emulator.sent()[0].kind == ("text" if plain else "interactive")


async def test_refused_markup_is_shown_plain_in_the_same_card(talk: Talk) -> None:
    talk.show("delta", "Hel")
    card = await talk.seen("Hel")
    await talk.channel.send(talk.part("**Hello**", plain=True))
    assert talk.shown() == [("**Hello**", False)]
    assert talk.emulator.sent()[0].message_id == card.message_id


async def test_too_early_is_dropped_and_the_newest_text_comes(talk: Talk) -> None:
    talk.show("delta", "a")
    await talk.seen("a")
    talk.emulator.fault("too_many", path="/content$", seconds=0.1, http=429, times=2)
    for letter in "bcdef":
        talk.show("delta", letter)
    await talk.seen("abcdef")
    assert len(talk.emulator.wire_log("/content")) <= 6


async def test_a_finish_that_comes_too_early_is_said_and_works_later(talk: Talk) -> None:
    talk.show("delta", "Hel")
    await talk.seen("Hel")
    talk.emulator.fault("too_many", path="/content$", seconds=5, http=429, times=1)
    with pytest.raises(Retryable) as early:
        await talk.channel.send(talk.part("Hello"))
    assert early.value.retry_after == 5
    await talk.channel.send(talk.part("Hello"))
    assert talk.shown() == [("Hello", False)]


async def test_without_the_permission_there_is_no_card_and_the_owner_is_told(talk: Talk) -> None:
    talk.emulator.world.scopes_missing |= {"cardkit:card:write", "im:reactions"}
    talk.show("started")
    talk.show("delta", "Hel")
    await eventually(lambda: "cardkit:card:write" in talk.channel.connection_status().trouble)
    await talk.channel.send(talk.part("Hello"))
    assert talk.shown() == [("Hello", False)]
    talk.row = "row-2"
    talk.show("delta", "Hel")
    await talk.channel.send(talk.part("Again", client_key="k2"))
    assert len(talk.emulator.wire_log("/cardkit")) == 1


async def test_buttons_and_later_parts_stand_beside_the_card(talk: Talk) -> None:
    talk.show("delta", "Hel")
    await talk.seen("Hel")
    buttons = (Button(text="Yes", data="y"),)
    await talk.channel.send(talk.part("May I?", buttons=buttons, client_key="k2", kind="notice"))
    assert talk.shown() == [("Hel", True), ("May I?", False)]
    await talk.channel.send(talk.part("Hello"))
    assert talk.shown() == [("Hello", False), ("May I?", False)]


async def test_in_a_group_the_card_replies_and_without_a_message_there_is_none(talk: Talk) -> None:
    group = Address(channel="feishu", account=APP_ID, chat_id="oc_group")
    talk.address, talk.row = group, "unknown-row"
    talk.show("delta", "nobody asked")
    asked = talk.emulator.inject("x", chat="oc_group")["message_id"]
    await eventually(lambda: len(talk.emulator.acks()) == 2)
    talk.row = talk.asked = asked
    talk.show("delta", "Hel")
    card = await talk.seen("Hel")
    assert (card.reply_to, card.chat) == (asked, "oc_group")
    assert len(talk.emulator.sent()) == 1


async def test_the_next_life_knows_with_whom_it_is_alone(talk: Talk) -> None:
    await talk.restart()
    await talk.channel.send(talk.part("Hello"))
    assert [one.reply_to for one in talk.emulator.sent()] == [""]
    talk.row = "row-of-the-former-life"
    talk.show("delta", "Well")
    assert (await talk.seen("Well")).streaming


async def test_old_pages_of_the_notebook_go_and_forgotten_cards_are_closed(talk: Talk) -> None:
    talk.show("delta", "Hel")
    await talk.seen("Hel")
    (name,) = [name for name in talk.notebook.values if name.startswith("live:")]
    draft = CardDraft(id=name.removeprefix("live:"), address=DM)
    draft.restore(talk.notebook.values[name])
    draft.at -= 10_000
    await talk.restart()
    talk.notebook.values |= draft.note() | {"live:broken": "{", "live:odd": "[]"}
    async with listening(talk.channel, Inbox(notebook=talk.notebook)):
        await eventually(
            lambda: not [name for name in talk.notebook.values if name.startswith("live:")]
        )
    assert talk.shown() == [("Hel", False)]


def test_what_is_visible_is_the_newest_step_within_the_limit() -> None:
    draft = CardDraft(id="r", address=DM)

    def told(name: Any, text: str = "", **facts: Any) -> str:
        draft.apply(LiveEvent(address=DM, name=name, message_id="r", text=text, facts=facts))
        return draft.visible_text()

    assert told("started") == ""
    assert told("delta", "Let me look") == "Let me look"
    assert told("tool_started", tool="read`file") == "Let me look\n\n⏳ `readfile`"
    assert told("delta", "It says") == "It says"
    assert told("delta", "", whole=True) == ""
    assert len(told("delta", "字" * LIMIT).encode()) <= LIMIT + 3
    assert Pages().values == {}
