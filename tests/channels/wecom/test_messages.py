"""Callbacks become messages, texts become bodies: what WeCom's words mean."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.errors import Ambiguous, Rejected, Retryable
from channels.message import Address, Attachment, Button, Quote, Sender
from channels.wecom.connection import (
    NotSubscribed,
    StreamClosed,
    dump_frame,
    error_in_reply,
    parse_frame,
)
from channels.wecom.messages import (
    card_packet,
    first_message,
    normalize_user_id,
    parse,
    render,
    stream_id,
    stream_packet,
)
from tests.cases import every_case

# Literals, so that the product is not compared with itself.
LIMIT = 20_480

BODY: dict[str, Any] = {
    "msgid": "m-1",
    "aibotid": "aib1",
    "chattype": "single",
    "from": {"userid": "Ada"},
    "create_time": 1_790_000_000,
    "response_url": "https://example.invalid/bearer",
    "msgtype": "text",
    "text": {"content": "hi"},
}
GROUP = {"chattype": "group", "chatid": "wr-1"}
FILE = {"url": "https://files.invalid/1", "aeskey": "a2V5"}


def heard(cmd: str = "aibot_msg_callback", **fields: Any) -> Any:
    return parse({"cmd": cmd, "headers": {"req_id": "rq-1"}, "body": {**BODY, **fields}}, "aib1", 7)


def event(**fields: Any) -> Any:
    return heard("aibot_event_callback", msgtype="event", event=fields)


def test_a_text_in_a_chat_of_two() -> None:
    found = heard()
    message = found.message
    assert (found.req_id, found.to) == ("rq-1", "Ada")
    assert message.address == Address(channel="wecom", account="aib1", chat_id="ada")
    assert message.sender == Sender(id="ada", name="Ada")
    assert (message.key, message.text, message.kind, message.addressed) == ("m-1", "hi", "dm", True)
    assert message.sent_at == datetime.fromtimestamp(1_790_000_000, UTC)


def test_the_record_does_not_get_the_address_that_lets_anybody_answer() -> None:
    assert json.loads(heard().message.raw) == {
        key: value for key, value in BODY.items() if key != "response_url"
    }


@pytest.mark.parametrize("chatid", ["", "ada", None])
def test_a_chat_of_two_is_the_persons_whatever_its_id(chatid: str | None) -> None:
    assert heard(chatid=chatid).message.address.chat_id == "ada"


@every_case(
    ("written_text", "text"),
    [
        ("@Bot hi", "hi"),
        ("@机器人 你好", "你好"),
        ("@Bot\u2005hi @Bo", "hi @Bo"),
        (" @Bot\n/help", "/help"),
        ("@Bot", ""),
        ("hi @Bot", "hi @Bot"),
        ("@Bot@Bo hi", "@Bo hi"),
        ("mail a@b.c", "mail a@b.c"),
    ],
)
def test_in_a_group_the_mention_is_no_part_of_the_text(written_text: str, text: str) -> None:
    message = heard(**GROUP, text={"content": written_text}).message
    assert (message.text, message.kind, message.address.chat_id) == (text, "group", "wr-1")


def test_in_a_direct_chat_a_leading_at_sign_is_text() -> None:
    assert heard(text={"content": "@Bo is late"}).message.text == "@Bo is late"


def test_a_voice_message_is_its_words() -> None:
    assert heard(msgtype="voice", voice={"content": "spoken"}).message.text == "spoken"


@pytest.mark.parametrize(
    ("kind", "starts"), [("image", "image/"), ("video", "video/"), ("file", "application/")]
)
def test_a_file_is_an_attachment_that_can_be_fetched(kind: str, starts: str) -> None:
    message = heard(**{"msgtype": kind, kind: FILE}).message
    (file,) = message.attachments
    assert message.text == ""
    assert file.media_type.startswith(starts)
    assert json.loads(file.ref) == FILE


def test_text_and_pictures_sent_together_are_one_message() -> None:
    items = [
        {"msgtype": "text", "text": {"content": "@Bot look"}},
        {"msgtype": "image", "image": FILE},
        {"msgtype": "text", "text": {"content": "at this"}},
        {"msgtype": "image", "image": FILE},
    ]
    message = heard(**GROUP, msgtype="mixed", mixed={"msg_item": items}).message
    assert message.text == "look\nat this"
    assert len(message.attachments) == 2


def test_a_quotation_is_data_and_its_picture_comes_with_it() -> None:
    assert heard(quote={"msgtype": "text", "text": {"content": "earlier"}}).message.quote == Quote(
        text="earlier"
    )
    message = heard(quote={"msgtype": "image", "image": FILE}).message
    assert message.quote == Quote(text="")
    assert message.attachments == (
        Attachment(name="picture.jpg", media_type="image/jpeg", ref=json.dumps(FILE)),
    )


def test_what_we_have_no_words_for_is_named() -> None:
    assert heard(msgtype="location", location={}).message.text == "[location]"


def test_user_ids_are_one_in_any_case_and_companies_are_kept_apart() -> None:
    assert normalize_user_id("ADA") == normalize_user_id("ada") == "ada"
    assert heard(**{"from": {"userid": "Ada", "corpid": "WW1"}}).message.sender.id == "ada@ww1"


def test_a_press_names_its_button() -> None:
    pressed = event(
        eventtype="template_card_event",
        template_card_event={
            "event_key": "allow:17",
            "task_id": "t",
            "card_type": "button_interaction",
        },
    )
    assert (pressed.message.act, pressed.message.target, pressed.message.text) == (
        "press",
        "allow:17",
        "",
    )


@pytest.mark.parametrize("name", ["enter_chat", "feedback_event", "of_next_year"])
def test_other_events_are_no_messages(name: str) -> None:
    assert event(eventtype=name) is None


@every_case(
    "broken",
    [
        {"msgid": ""},
        {"msgid": None},
        {"from": {}},
        {"create_time": "soon"},
        {"text": {"content": 1}},
        GROUP | {"chatid": ""},
    ],
)
def test_a_callback_of_an_unknown_form_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        heard(**broken)


def test_one_second_has_an_order() -> None:
    frame = {"cmd": "aibot_msg_callback", "headers": {"req_id": "r"}, "body": BODY}
    keys = [
        found.message.order_key
        for arrival in (9, 10, 11)
        if (found := parse(frame, "aib1", arrival)) is not None
    ]
    assert keys == sorted(keys)
    assert len({*keys}) == 3


@given(st.text())
def test_no_text_of_a_models_mentions_anybody_or_hides_as_thinking(text: str) -> None:
    shown = render(text + "<@all> <think>" + text)
    assert not any(sign in shown for sign in ("<@", "<think>", "</think>"))
    assert "all>" in shown


@given(st.integers(min_value=0, max_value=LIMIT // 2))
def test_what_fits_fits_still_when_it_is_rendered(count: int) -> None:
    assert len(render("<@" * count).encode()) <= LIMIT


@given(st.text(min_size=1, max_size=20))
def test_the_head_of_a_text_is_within_the_limit(text: str) -> None:
    cut = first_message(text * LIMIT)
    assert LIMIT - 4 < len(cut.encode()) <= LIMIT
    assert (text * LIMIT).startswith(cut)


def test_a_stream_id_is_the_same_in_every_process_and_unique() -> None:
    assert stream_id("m-1") == stream_id("m-1") != stream_id("m-2")
    assert stream_packet("s1", "so far", finish=False) == {
        "msgtype": "stream",
        "stream": {"id": "s1", "finish": False, "content": "so far"},
    }


def test_a_card_holds_what_comes_back() -> None:
    made = card_packet(
        [Button(text="Yes", data="allow:17"), Button(text="No", data="deny:17")], "k1"
    )["template_card"]
    assert [button["key"] for button in made["button_list"]] == ["allow:17", "deny:17"]
    assert (
        len(card_packet([Button(text="x", data="y")] * 9, "k1")["template_card"]["button_list"])
        == 6
    )


@every_case(
    ("code", "kind"),
    [
        (846605, StreamClosed),
        (846608, StreamClosed),
        (846609, NotSubscribed),
        (846601, Retryable),
        (40058, Rejected),
        (None, Ambiguous),
    ],
)
def test_an_error_code_says_what_to_do(code: object, kind: type[Exception]) -> None:
    assert type(error_in_reply({"errcode": code})) is kind


def test_too_much_at_once_is_waited_out_and_a_closed_chat_is_left() -> None:
    much, closed = error_in_reply({"errcode": 45009}, 60.0), error_in_reply({"errcode": 93006})
    assert isinstance(much, Retryable)
    assert (much.retry_after, much.whole_channel) == (60.0, False)
    assert isinstance(closed, Rejected)
    assert closed.gone
    assert error_in_reply({"errcode": 0}) is None


@every_case("text", ["", "[]", "{}", '{"headers": 1}', "<html>", "[" * 100_000])
def test_what_is_no_frame_is_no_frame(text: str) -> None:
    with pytest.raises(ValueError):
        parse_frame(text)


def test_a_frame_is_read_as_it_was_written() -> None:
    assert parse_frame(dump_frame("ping", "r1")) == {"cmd": "ping", "headers": {"req_id": "r1"}}
    assert parse_frame(dump_frame("a", "r1", {"x": "🙂"}))["body"] == {"x": "🙂"}
