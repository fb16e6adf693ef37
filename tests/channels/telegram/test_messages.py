"""Parsing of Telegram's updates."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.message import Address, Attachment, InboundMessage, Quote
from channels.telegram.messages import BotIdentity, parse
from tests.cases import every_case
from tests.emulators.telegram_html import units

# Literals, so that the product is not compared with itself.
HEARD = ("message", "edited_message", "callback_query", "my_chat_member")

BOT = 100
ME = BotIdentity(id=BOT, username="Lab_bot", account="100")
NOW = datetime(2026, 11, 22, tzinfo=UTC)
Json = dict[str, Any]
GROUP: Json = {"id": -1002000000123, "type": "supergroup", "title": "Lab"}


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
    return {
        "type": kind,
        "offset": units(text[: text.index(words)]),
        "length": units(words),
        **fields,
    }


def heard(raw: dict[str, Any]) -> InboundMessage:
    message = parse(raw, ME, NOW)
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
    assert (message.sender.id, message.sender.name, message.sender.is_bot) == (
        "5005",
        "Ада Т",
        False,
    )
    assert (message.key, message.order_key) == ("m:5005:41:0", "00000000000000700100")
    assert message.sent_at == datetime.fromtimestamp(1790000000, UTC)
    assert json.loads(message.raw) == raw


@every_case(
    ("text", "words", "expected"),
    [
        ("🙂 @lab_BOT look", "@lab_BOT", (True, "🙂 look")),
        ("@lab_bot, what is it?", "@lab_bot", (True, "what is it?")),
        ("tell me @lab_bot", "@lab_bot", (True, "tell me")),
        ("@lab_bot", "@lab_bot", (True, "@lab_bot")),
        ("@other_bot look", "@other_bot", (False, "@other_bot look")),
    ],
)
def test_a_mention_of_us_addresses_us_and_is_taken_out(
    text: str, words: str, expected: tuple[bool, str]
) -> None:
    assert said(text, words) == expected


def test_our_name_without_the_platforms_entity_addresses_nobody() -> None:
    assert not heard(update("@lab_bot hello", chat=GROUP)).addressed


def test_a_mention_without_a_username_counts_by_id() -> None:
    assert said("Lab look", "Lab", "text_mention", user={"id": BOT, "is_bot": True}) == (
        True,
        "look",
    )
    assert said("Lab look", "Lab", "text_mention", user={"id": 7, "is_bot": False}) == (
        False,
        "Lab look",
    )


def test_a_command_addresses_us_by_name_in_a_group_and_always_in_private() -> None:
    assert said("/status@lab_bot now", "/status@lab_bot", "bot_command") == (True, "/status now")
    assert said("/status@other_bot", "/status@other_bot", "bot_command") == (
        False,
        "/status@other_bot",
    )
    assert said("/status", "/status", "bot_command") == (False, "/status")
    # Telegram marks neither a command of other letters nor the mention that follows one of them.
    unmarked = [
        heard(update(text, chat=GROUP))
        for text in ("/状态@lab_BOT 现在", "/状态@other_bot", "状态@lab_bot")
    ]
    assert [(one.addressed, one.text) for one in unmarked] == [
        (True, "/状态 现在"),
        (False, "/状态@other_bot"),
        (False, "状态@lab_bot"),
    ]
    private = heard(
        update(
            "/status@lab_bot",
            entities=[entity("/status@lab_bot", "/status@lab_bot", "bot_command")],
        )
    )
    assert (private.addressed, private.text) == (True, "/status")


def test_a_reply_to_us_addresses_us_but_one_to_a_topics_opening_does_not() -> None:
    ours = {
        "message_id": 40,
        "date": 1,
        "chat": GROUP,
        "from": {"id": BOT, "is_bot": True, "first_name": "L"},
    }
    assert heard(update(chat=GROUP, reply_to_message=ours)).addressed
    theirs = ours | {"from": {"id": 9, "is_bot": False, "first_name": "X"}}
    assert not heard(update(chat=GROUP, reply_to_message=theirs)).addressed
    topic = {"message_thread_id": 40, "is_topic_message": True}
    assert not heard(update(chat=GROUP, reply_to_message=ours, **topic)).addressed


def test_a_topic_is_a_conversation_of_its_own_and_a_thread_of_replies_is_not() -> None:
    assert (
        heard(update(chat=GROUP, message_thread_id=17, is_topic_message=True)).address.thread_id
        == "17"
    )
    assert heard(update(chat=GROUP, message_thread_id=17)).address.thread_id == ""


def test_what_a_chat_writes_as_itself_is_no_person() -> None:
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    message = heard(update(chat=GROUP, sender_chat=GROUP, **{"from": anonymous}))
    assert (message.sender.id, message.sender.is_bot) == ("-1002000000123", True)


@every_case("kind", ["channel_post", "edited_channel_post", "message_reaction", "poll"])
def test_other_updates_are_no_messages(kind: str) -> None:
    assert parse({"update_id": 1, kind: update()["message"]}, ME, NOW) is None


def test_notes_of_the_service_are_no_messages() -> None:
    note = update(new_chat_members=[{"id": 1, "is_bot": False, "first_name": "x"}])
    del note["message"]["text"]
    assert parse(note, ME, NOW) is None


def test_files_come_by_reference_with_their_caption() -> None:
    sizes = [
        {"file_id": name, "width": width, "height": 9}
        for name, width in (("small", 9), ("big", 90), ("mid", 50))
    ]
    photo = update("", caption="look", photo=sizes)
    message = heard(photo)
    assert message.text == "look"
    assert [(file.name, file.media_type, file.ref, file.data) for file in message.attachments] == [
        ("photo.jpg", "image/jpeg", "big", b"")
    ]
    document = {"file_id": "d", "file_name": "a\x00b.pdf", "mime_type": "application/pdf"}
    assert heard(update("", document=document)).attachments[0].name == "a\ufffdb.pdf"


@every_case(
    ("name", "label"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\x\\boot.ini", "boot.ini"),
        ("/", "file"),
        ("表格 🙂.pdf", "表格 🙂.pdf"),
        (None, "file"),
    ],
)
def test_S32_a_files_name_is_a_label_without_folders(name: str | None, label: str) -> None:
    assert (
        heard(update("", document={"file_id": "d", "file_name": name})).attachments[0].name == label
    )


@every_case(
    ("fields", "name", "media_type"),
    [
        ({"voice": {"file_id": "f", "mime_type": "audio/ogg"}}, "voice.ogg", "audio/ogg"),
        ({"video_note": {"file_id": "f"}}, "video.mp4", "video/mp4"),
        ({"sticker": {"file_id": "f", "is_animated": False}}, "sticker.webp", "image/webp"),
        (
            {"sticker": {"file_id": "f", "is_animated": True}},
            "sticker.tgs",
            "application/x-tgsticker",
        ),
        ({"sticker": {"file_id": "f", "is_video": True}}, "sticker.webm", "video/webm"),
        (
            {"animation": {"file_id": "f"}, "document": {"file_id": "g"}},
            "animation.mp4",
            "video/mp4",
        ),
    ],
)
def test_every_kind_of_file_comes_once_with_a_name_and_a_type(
    fields: Json, name: str, media_type: str
) -> None:
    assert heard(update("", **fields)).attachments == (
        Attachment(name=name, media_type=media_type, ref="f"),
    )


def test_the_messages_of_an_album_share_its_name() -> None:
    photo = [{"file_id": "p", "width": 9, "height": 9}]
    first, second = (
        heard(update("", message_id=id, photo=photo, media_group_id="77")) for id in (1, 2)
    )
    assert (first.album, second.album, heard(update()).album) == ("77", "77", "")
    assert first.key != second.key


@every_case(
    ("fields", "text"),
    [
        ({"location": {"latitude": 48.2, "longitude": 16.4}}, "📍 48.2, 16.4"),
        (
            {
                "venue": {"title": "Café", "address": "Ring 1"},
                "location": {"latitude": 1, "longitude": 2},
            },
            "📍 Café, Ring 1",
        ),
        ({"contact": {"first_name": "Ada", "phone_number": "+43"}}, "👤 Ada +43"),
        (
            {
                "rich_message": {
                    "blocks": [
                        {"type": "paragraph", "text": ["a ", {"type": "bold", "text": "b"}]},
                        {
                            "type": "list",
                            "items": [
                                {"label": "•", "blocks": [{"type": "paragraph", "text": "c"}]}
                            ],
                        },
                        {
                            "type": "table",
                            "cells": [[{"text": "d"}, {"text": {"type": "code", "text": "e"}}]],
                        },
                    ]
                }
            },
            "a b\n•\nc\nd\ne",
        ),
    ],
)
def test_what_has_no_text_of_its_own_is_put_in_words(fields: Json, text: str) -> None:
    assert heard(update("", **fields)).text == text


def test_an_edit_names_the_message_and_every_version_has_a_key() -> None:
    first = heard(update())
    message = update("changed", edit_date=1790000009)["message"]
    edit = heard({"update_id": 700101, "edited_message": message})
    assert (edit.act, edit.text, edit.target, edit.key) == (
        "edit",
        "changed",
        first.key,
        "m:5005:41:1790000009",
    )
    assert edit.sent_at == first.sent_at


def press(**fields: Any) -> Json:
    person = {"id": 6, "is_bot": False, "first_name": "Bo"}
    query = {
        "id": "99",
        "from": person,
        "chat_instance": "1",
        "data": "yes:1",
        "message": update(chat=GROUP)["message"],
    }
    return {"update_id": 3, "callback_query": query | fields}


def test_a_press_is_its_pressers_wherever_the_message_is_from() -> None:
    pressed = heard(press())
    assert (pressed.act, pressed.target, pressed.key) == ("press", "yes:1", "c:99")
    assert (pressed.sender.id, pressed.address.chat_id, pressed.kind) == (
        "6",
        "-1002000000123",
        "group",
    )
    assert (pressed.text, pressed.sent_at, pressed.addressed) == ("", NOW, True)
    gone = {"chat": GROUP, "message_id": 41, "date": 0}
    assert heard(press(message=gone)).address.chat_id == "-1002000000123"
    assert parse(press(message=None), ME, NOW) is None
    assert parse(press(data=None, game_short_name="x"), ME, NOW) is None


def test_a_groups_messages_have_its_title_and_a_private_one_has_none() -> None:
    assert heard(update("hello", chat=GROUP)).chat_title == "Lab"
    assert heard(update("hello")).chat_title == ""


def test_both_notes_of_a_migration_are_one_move() -> None:
    old = {"id": -7, "type": "group", "title": "Lab"}
    left = heard(update("", message_id=8, chat=old, migrate_to_chat_id=GROUP["id"]))
    came = heard(update("", message_id=1, chat=GROUP, migrate_from_chat_id=-7))
    for told in (left, came):
        assert (told.act, told.address.chat_id, told.target) == ("move", "-7", "-1002000000123")
    assert left.key == came.key == "v:-7:-1002000000123"


def membership(before: str, now: str, chat: Json = GROUP, **fields: Any) -> Json:
    us = {"id": BOT, "is_bot": True, "first_name": "Lab"}
    change = {
        "chat": chat,
        "from": {"id": 6, "is_bot": False, "first_name": "Bo"},
        "date": 1790000000,
        "old_chat_member": {"status": before, "user": us},
        "new_chat_member": {"status": now, "user": us} | fields,
    }
    return {"update_id": 4, "my_chat_member": change}


@pytest.mark.parametrize(
    ("before", "now"), [("left", "member"), ("kicked", "administrator"), ("left", "restricted")]
)
def test_being_taken_into_a_group_names_who_did_it(before: str, now: str) -> None:
    assert heard(membership(before, now)).chat_title == "Lab"
    joined = heard(membership(before, now))
    assert (joined.act, joined.sender.id, joined.address.chat_id) == (
        "joined",
        "6",
        "-1002000000123",
    )


@every_case(
    "change",
    [
        membership("member", "left"),
        membership("member", "kicked"),
        membership("member", "administrator"),
        membership("left", "restricted", is_member=False),
        membership("member", "kicked", {"id": 6, "type": "private", "first_name": "Bo"}),
        membership("left", "administrator", {"id": -9, "type": "channel", "title": "News"}),
    ],
)
def test_other_changes_of_membership_are_nothing(change: Json) -> None:
    assert parse(change, ME, NOW) is None


def test_an_answer_quotes_what_it_answers_or_the_passage_that_was_picked() -> None:
    theirs = {
        "message_id": 4,
        "date": 1,
        "chat": GROUP,
        "from": {"id": 9, "is_bot": False, "first_name": "Bo"},
    }
    answer = update("sure?", chat=GROUP, reply_to_message=theirs | {"text": "the whole of it"})
    assert heard(answer).quote == Quote(text="the whole of it", author="Bo", author_id="9")
    answer["message"]["quote"] = {"text": "whole", "position": 4}
    assert heard(answer).quote == Quote(text="whole", author="Bo", author_id="9")
    ours = theirs | {"text": "mine", "from": {"id": BOT, "is_bot": True, "first_name": "Lab"}}
    assert heard(update(reply_to_message=ours)).quote == Quote(text="mine", author="Lab", ours=True)
    file = theirs | {"document": {"file_id": "d", "file_name": "plan.pdf"}}
    assert heard(update(reply_to_message=file)).quote == Quote(
        text="📎 plan.pdf", author="Bo", author_id="9"
    )
    assert heard(update(reply_to_message=theirs | {"pinned_message": {}})).quote is None


def test_what_opened_a_topic_is_no_quote() -> None:
    opener = {
        "message_id": 17,
        "date": 1,
        "chat": GROUP,
        "from": {"id": BOT, "is_bot": True},
        "text": "x",
    }
    topic = update(chat=GROUP, message_thread_id=17, is_topic_message=True, reply_to_message=opener)
    assert (heard(topic).quote, heard(topic).addressed) == (None, False)


def test_an_answer_to_something_elsewhere_quotes_the_passage() -> None:
    origin = {
        "type": "channel",
        "chat": {"id": -9, "type": "channel", "title": "News"},
        "message_id": 1,
        "date": 1,
    }
    answer = update(
        "really?", external_reply={"origin": origin}, quote={"text": "rain", "position": 0}
    )
    assert heard(answer).quote == Quote(text="rain", author="News")


@every_case(
    ("origin", "author", "id"),
    [
        (
            {"type": "user", "sender_user": {"id": 9, "is_bot": False, "first_name": "Bo"}},
            "Bo",
            "9",
        ),
        (
            {"type": "user", "sender_user": {"id": BOT, "is_bot": True, "first_name": "Lab"}},
            "Lab",
            str(BOT),
        ),
        ({"type": "hidden_user", "sender_user_name": "Cy"}, "Cy", ""),
        ({"type": "chat", "sender_chat": {"id": -9, "type": "group", "title": "Club"}}, "Club", ""),
        (
            {
                "type": "channel",
                "chat": {"id": -9, "type": "channel", "title": "News"},
                "message_id": 1,
            },
            "News",
            "",
        ),
    ],
)
def test_S03_a_forwards_words_are_a_quotation_and_neither_command_nor_call(
    origin: Json, author: str, id: str
) -> None:
    text = "/config@lab_bot set a 1"
    command = [entity(text, "/config@lab_bot", "bot_command")]
    passed = heard(update(text, chat=GROUP, entities=command, forward_origin=origin | {"date": 1}))
    assert (passed.text, passed.addressed, passed.sender.id) == ("", False, "5005")
    assert passed.quote == Quote(text=text, author=author, author_id=id)


@pytest.mark.parametrize(
    "fields",
    [
        {"sender_chat": GROUP},
        {
            "sender_chat": {"id": -9, "type": "channel", "title": "News"},
            "is_automatic_forward": True,
        },
        {"from": {"id": 9, "is_bot": True, "first_name": "Other bot"}},
    ],
)
def test_S04_no_person_speaks_for_a_chat_a_channel_or_another_bot(fields: Json) -> None:
    assert heard(update(chat=GROUP, **fields)).sender.is_bot


def test_the_general_topic_is_the_group_itself() -> None:
    assert (
        heard(update(chat=GROUP, message_thread_id=1, is_topic_message=True)).address.thread_id
        == ""
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from([*update()["message"], *HEARD, "photo", "entities", "data"]),
                inner,
                max_size=5,
            )
        ),
        max_leaves=15,
    ),
    st.sampled_from(HEARD),
)
def test_an_update_of_any_form_is_read_or_refused_by_one_of_five_errors(
    inside: Any, kind: str
) -> None:
    try:
        parse({"update_id": 1, kind: inside}, ME, NOW)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return


@given(text=st.text(max_size=60), offset=st.integers(0, 80), size=st.integers(0, 80))
def test_no_entity_however_wrong_breaks_the_reading(text: str, offset: int, size: int) -> None:
    raw = update(
        text or "x", chat=GROUP, entities=[{"type": "mention", "offset": offset, "length": size}]
    )
    assert heard(raw).text
