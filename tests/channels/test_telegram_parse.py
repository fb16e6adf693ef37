"""Updates to messages, messages to parameters."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.message import Address, InboundMessage, OutboundMessage
from channels.telegram_format import visible
from channels.telegram_words import parse, render
from channels.text import length
from tests.emulators.telegram_html import units

BOT, NAME = 100, "Lab_bot"
GROUP = {"id": -1002000000123, "type": "supergroup", "title": "Lab"}


def update(text: str = "hi", **fields: Any) -> dict[str, Any]:
    message = {
        "message_id": 41,
        "date": 1790000000,
        "from": {"id": 5005, "is_bot": False, "first_name": "Ада", "last_name": "Т"},
        "chat": {"id": 5005, "type": "private", "first_name": "Ада"},
        "text": text,
    }
    return {"update_id": 700100, "message": message | fields}


def entity(text: str, words: str, kind: str = "mention", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "offset": units(text[: text.index(words)]), "length": units(words), **fields}


def heard(raw: dict[str, Any]) -> InboundMessage:
    message = parse(raw, BOT, NAME)
    assert message is not None
    return message


def said(text: str, words: str, kind: str = "mention", **fields: Any) -> tuple[bool, str]:
    message = heard(update(text, chat=GROUP, entities=[entity(text, words, kind, **fields)]))
    return message.addressed, message.text


def test_a_private_message_is_read_whole() -> None:
    raw = update("🙂 hi")
    message = heard(raw)
    assert message.address == Address(channel="telegram", account="100", chat_id="5005")
    assert (message.kind, message.addressed, message.text) == ("dm", True, "🙂 hi")
    assert (message.sender.id, message.sender.name, message.sender.is_bot) == ("5005", "Ада Т", False)
    assert (message.key, message.order_key) == ("m:5005:41:0", "00000000000000700100")
    assert message.sent_at == datetime.fromtimestamp(1790000000, UTC)
    assert json.loads(message.raw) == raw


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("🙂 @lab_BOT look", "@lab_BOT", (True, "🙂 look")),
        ("@lab_bot, what is it?", "@lab_bot", (True, "what is it?")),
        ("tell me @lab_bot", "@lab_bot", (True, "tell me")),
        ("@lab_bot", "@lab_bot", (True, "@lab_bot")),
        ("@other_bot look", "@other_bot", (False, "@other_bot look")),
    ],
)
def test_a_mention_of_us_addresses_us_and_is_taken_out(text: str, words: str, expected: tuple[bool, str]) -> None:
    assert said(text, words) == expected


def test_our_name_without_the_platforms_entity_addresses_nobody() -> None:
    assert not heard(update("@lab_bot hello", chat=GROUP)).addressed


def test_a_mention_without_a_username_counts_by_id() -> None:
    assert said("Lab look", "Lab", "text_mention", user={"id": BOT, "is_bot": True}) == (True, "look")
    assert said("Lab look", "Lab", "text_mention", user={"id": 7, "is_bot": False}) == (False, "Lab look")


def test_a_command_addresses_us_by_name_in_a_group_and_always_in_private() -> None:
    assert said("/status@lab_bot now", "/status@lab_bot", "bot_command") == (True, "/status now")
    assert said("/status@other_bot", "/status@other_bot", "bot_command") == (False, "/status@other_bot")
    assert said("/status", "/status", "bot_command") == (False, "/status")
    private = heard(update("/status@lab_bot", entities=[entity("/status@lab_bot", "/status@lab_bot", "bot_command")]))
    assert (private.addressed, private.text) == (True, "/status")


def test_a_reply_to_us_addresses_us_but_one_to_a_topics_opening_does_not() -> None:
    ours = {"message_id": 40, "date": 1, "chat": GROUP, "from": {"id": BOT, "is_bot": True, "first_name": "L"}}
    assert heard(update(chat=GROUP, reply_to_message=ours)).addressed
    theirs = ours | {"from": {"id": 9, "is_bot": False, "first_name": "X"}}
    assert not heard(update(chat=GROUP, reply_to_message=theirs)).addressed
    topic = {"message_thread_id": 40, "is_topic_message": True}
    assert not heard(update(chat=GROUP, reply_to_message=ours, **topic)).addressed


def test_a_topic_is_a_conversation_of_its_own_and_a_thread_of_replies_is_not() -> None:
    assert heard(update(chat=GROUP, message_thread_id=17, is_topic_message=True)).address.thread_id == "17"
    assert heard(update(chat=GROUP, message_thread_id=17)).address.thread_id == ""


def test_what_a_chat_writes_as_itself_is_no_person() -> None:
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    message = heard(update(chat=GROUP, sender_chat=GROUP, **{"from": anonymous}))
    assert (message.sender.id, message.sender.is_bot) == ("-1002000000123", True)


@pytest.mark.parametrize("kind", ["edited_message", "channel_post", "edited_channel_post", "my_chat_member"])
def test_other_updates_are_no_messages(kind: str) -> None:
    assert parse({"update_id": 1, kind: update()["message"]}, BOT, NAME) is None


def test_notes_of_the_service_are_no_messages() -> None:
    note = update(new_chat_members=[{"id": 1, "is_bot": False, "first_name": "x"}])
    del note["message"]["text"]
    assert parse(note, BOT, NAME) is None


def test_files_come_by_reference_with_their_caption() -> None:
    sizes = [{"file_id": name, "width": width, "height": 9} for name, width in (("small", 9), ("big", 90), ("mid", 50))]
    photo = update("", caption="look", photo=sizes)
    message = heard(photo)
    assert message.text == "look"
    assert [(file.name, file.media_type, file.ref, file.data) for file in message.attachments] == [
        ("photo.jpg", "image/jpeg", "big", b"")
    ]
    document = {"file_id": "d", "file_name": "a\x00b.pdf", "mime_type": "application/pdf"}
    assert heard(update("", document=document)).attachments[0].name == "a\ufffdb.pdf"


@given(text=st.text(max_size=60), offset=st.integers(0, 80), size=st.integers(0, 80))
def test_no_entity_however_wrong_breaks_the_reading(text: str, offset: int, size: int) -> None:
    raw = update(text or "x", chat=GROUP, entities=[{"type": "mention", "offset": offset, "length": size}])
    assert heard(raw).text


def out(text: str = "hi", **fields: Any) -> OutboundMessage:
    chat, thread = str(fields.pop("chat", 5005)), fields.pop("thread", "")
    address = Address(channel="telegram", account="100", chat_id=chat, thread_id=thread)
    return OutboundMessage(**({"id": "o", "address": address, "client_key": "k", "text": text} | fields))


def test_an_answer_in_a_group_replies_to_the_question_once() -> None:
    asked = {"chat": -100, "reply_to_key": "m:-100:41:0"}
    assert render(out(**asked))["reply_parameters"] == {"message_id": 41, "allow_sending_without_reply": True}
    assert "reply_parameters" not in render(out(part_no=1, **asked))
    assert "reply_parameters" not in render(out(chat=5005, reply_to_key="m:5005:41:0"))
    assert "reply_parameters" not in render(out(chat=-100, reply_to_key="m:-200:41:0"))
    assert "reply_parameters" not in render(out(chat=-100, reply_to_key="u:700100"))


def test_a_topic_is_named_except_the_general_one() -> None:
    assert render(out(thread="17"))["message_thread_id"] == 17
    assert "message_thread_id" not in render(out(thread="1"))
    assert "message_thread_id" not in render(out())


def test_plain_text_goes_as_it_is() -> None:
    parameters = render(out("**a** <b>", plain=True))
    assert (parameters["text"], parameters.get("parse_mode")) == ("**a** <b>", None)


def test_markup_that_grows_beyond_the_limit_is_sent_plain() -> None:
    table = "| a | b |\n|---|---|\n" + "| x | " + "y" * 1500 + " |\n" + "| x | y |\n" * 200
    assert len(table) < 4096
    assert "parse_mode" not in render(out(table))


def test_what_shows_nothing_is_still_something() -> None:
    assert render(out("```\n```"))["text"] == "```\n```"
    assert render(out(" \n "))["text"] == "…"


@given(st.text(max_size=4096))
def test_every_text_within_the_limit_stays_within_it(text: str) -> None:
    if length(text, "utf16") > 4096:
        return
    parameters = render(out(text))
    assert length(visible(parameters["text"]) if "parse_mode" in parameters else parameters["text"], "utf16") <= 4096
