"""Rendering of messages as parameters of the Bot API."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.errors import Rejected
from channels.message import Address, Button, OutboundFile, OutboundMessage
from channels.phrases import ShownPhrase
from channels.telegram.html import visible_text
from channels.telegram.messages import (
    draft_parameters,
    menu_parameters,
    preview_text,
    reaction_parameters,
    render,
    render_edit,
    render_file,
)
from channels.toolkit.text import text_length

# Literals, so that the product is not compared with itself.
CAPTION = 1024


def out(text: str = "hi", **fields: Any) -> OutboundMessage:
    chat, thread = str(fields.pop("chat", 5005)), fields.pop("thread", "")
    address = Address(channel="telegram", account="100", chat_id=chat, thread_id=thread)
    return OutboundMessage(
        **({"id": "o", "address": address, "client_key": "k", "text": text} | fields)
    )


def test_an_answer_in_a_group_replies_to_the_question_once() -> None:
    asked = {"chat": -100, "reply_to_key": "m:-100:41:0"}
    assert render(out(**asked))["reply_parameters"] == {
        "message_id": 41,
        "allow_sending_without_reply": True,
    }
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
    if text_length(text, "utf16") > 4096:
        return
    parameters = render(out(text))
    assert (
        text_length(
            visible_text(parameters["text"]) if "parse_mode" in parameters else parameters["text"],
            "utf16",
        )
        <= 4096
    )


def test_links_are_never_previewed() -> None:
    for parameters in (
        render(out("https://evil.example/?d=secret")),
        render_edit(out("https://evil.example"), 7),
    ):
        assert parameters["link_preview_options"] == {"is_disabled": True}


def test_buttons_stand_in_rows_of_one() -> None:
    buttons = (Button(text="Yes", data="y:1"), Button(text="No", data="n:1"))
    rows = [[{"text": "Yes", "callback_data": "y:1"}], [{"text": "No", "callback_data": "n:1"}]]
    assert render(out(buttons=buttons))["reply_markup"] == {"inline_keyboard": rows}
    assert render_edit(out(buttons=buttons), 7)["reply_markup"] == {"inline_keyboard": rows}
    render(out(buttons=(Button(text="x", data="d" * 64),)))


@pytest.mark.parametrize("data", ["", "d" * 65, "中" * 22])
def test_a_button_that_carries_too_much_is_refused_with_a_reason(data: str) -> None:
    with pytest.raises(Rejected, match="1 to 64 bytes"):
        render(out(buttons=(Button(text="x", data=data),)))


def test_a_file_goes_with_its_caption_or_none() -> None:
    file = OutboundFile(name="a.txt", media_type="text/plain", data=b"x")
    assert render_file(out("**see**", file=file)) == {
        "caption": "<b>see</b>",
        "parse_mode": "HTML",
        "chat_id": 5005,
    }
    assert render_file(out("", file=file)) == {"chat_id": 5005}
    assert render_file(out("🙂" * 512, file=file, plain=True))["caption"] == "🙂" * 512
    with pytest.raises(Rejected, match=f"more than {CAPTION}"):
        render_file(out("🙂" * 513, file=file))


@given(st.text(max_size=6000))
def test_what_is_shown_of_an_answer_in_the_making_always_fits(text: str) -> None:
    for chat in ("5005", "-100"):
        shown = preview_text(text, Address(channel="telegram", account="1", chat_id=chat))
        assert text_length(shown, "utf16") <= 4096


def test_a_group_sees_the_beginning_and_a_person_the_end_of_what_grows() -> None:
    text = "first " + "word " * 2000 + "last"
    group, person = (
        preview_text(text, Address(channel="telegram", account="1", chat_id=chat))
        for chat in ("-1", "1")
    )
    assert group.startswith("first")
    assert group.endswith("…")
    assert person.endswith("last")


def test_a_draft_has_a_number_of_its_answers_own() -> None:
    address = Address(channel="telegram", account="1", chat_id="1")
    numbers = {draft_parameters(address, "x", answer)["draft_id"] for answer in ("", "a", "b", "c")}
    assert len(numbers) == 4
    assert all(0 < number < 2**31 for number in numbers)


def test_the_menu_is_english_for_all_and_chinese_for_chinese_clients() -> None:
    english, chinese = menu_parameters(
        [
            ("help", ShownPhrase("Help", "帮助")),
            ("Bad-Name", ShownPhrase("bad", "坏")),
            ("a", ShownPhrase("l" * 300, "长" * 300)),
        ]
    )
    assert english == {
        "commands": [
            {"command": "help", "description": "Help"},
            {"command": "a", "description": "l" * 256},
        ]
    }
    assert chinese["language_code"] == "zh"
    assert chinese["commands"][0] == {"command": "help", "description": "帮助"}
    assert len(chinese["commands"][1]["description"]) == 256
    assert (
        len(menu_parameters([(f"c{n}", ShownPhrase("e", "中")) for n in range(150)])[0]["commands"])
        == 100
    )
    assert menu_parameters([]) == []


def test_a_reaction_is_for_a_message_only() -> None:
    assert reaction_parameters("m:-7:41:0", "👀") == {
        "chat_id": -7,
        "message_id": 41,
        "reaction": [{"type": "emoji", "emoji": "👀"}],
    }
    assert reaction_parameters("m:-7:41:0", "") == {"chat_id": -7, "message_id": 41, "reaction": []}
    assert reaction_parameters("c:1", "👀") is None
