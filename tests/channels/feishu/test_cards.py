"""Rendering of messages as Feishu's cards and texts."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.errors import AttachmentTooBig, Rejected
from channels.feishu.cards import (
    idempotency_key,
    markdown_card,
    message_body,
    neutralize_mentions,
    plain_card,
    sanitize_markdown,
)
from channels.feishu.client import plan_upload
from channels.message import Address, Button, OutboundFile, OutboundMessage
from tests.cases import every_case
from tests.emulators.feishu_cards import check_card
from tests.emulators.feishu_world import World, card_text
from tests.growth import growth

# Literals, so that the product is not compared with itself.
LIMIT = 16_000
MOST_TABLES = 3
MOST_FILE = 30_000_000
MOST_PICTURE = 10_000_000

TABLE = "| a | b |\n|---|:-:|\n| 1 | 2 |"


def part(text: str, **fields: Any) -> OutboundMessage:
    address = Address(
        channel="feishu", account="cli_a", chat_id="oc_1", thread_id=fields.pop("thread", "")
    )
    return OutboundMessage(id="o1", address=address, client_key="k1", text=text, **fields)


def content(message: OutboundMessage) -> Any:
    return json.loads(message_body(message)["content"])


def test_markdown_is_a_card_and_plain_text_is_text() -> None:
    assert message_body(part("**so**"))["msg_type"] == "interactive"
    assert card_text(content(part("**so**"))) == "**so**"
    assert message_body(part("**so**", plain=True)) == {
        "msg_type": "text",
        "content": '{"text": "**so**"}',
    }
    assert content(part(" \n", plain=True)) == {"text": "…"}


def test_what_is_too_long_as_a_card_is_text() -> None:
    quotes = '"' * LIMIT
    assert message_body(part(quotes))["msg_type"] == "text"
    assert message_body(part("字" * (LIMIT // 3)))["msg_type"] == "interactive"


@given(st.text(max_size=400), st.booleans())
def test_every_card_is_one_that_the_platform_takes(text: str, plain: bool) -> None:
    clean = text.encode("utf-8", "replace").decode()
    card = plain_card(clean) if plain else markdown_card(clean, (Button(text="Yes", data="y"),))
    check_card(json.dumps(card, ensure_ascii=False), World(app_id="a", secret="s"))


@every_case(
    "text",
    ['<at user_id="all">x</at>', "<AT id=all></AT>", "< at id=all>", "<\tat id=ou_1 >", "</at>"],
)
def test_nobody_is_called_by_a_models_words(text: str) -> None:
    for carried in (content(part(text, plain=True))["text"], card_text(content(part(text)))):
        assert "<\u200b" in carried
        assert "<at" not in carried.lower().replace(" ", "").replace("\t", "")
    assert neutralize_mentions("a <attribute> b < c") == "a <attribute> b < c"


def test_a_picture_of_another_host_is_a_link() -> None:
    assert (
        sanitize_markdown("see ![x](http://127.0.0.1:1/a.png)!")
        == "see [x](http://127.0.0.1:1/a.png)!"
    )


def test_tables_beyond_the_most_are_shown_as_text() -> None:
    text = "\n\n".join([TABLE] * (MOST_TABLES + 2))
    lines = sanitize_markdown(text).split("\n")
    assert lines.count("```") == 4
    assert [line for line in lines if line != "```"] == text.split("\n")
    fenced = f"```\n{TABLE}\n```\n" * 5
    assert sanitize_markdown(fenced) == fenced, "what stands in code is no table"


def test_buttons_carry_their_data_and_topic() -> None:
    buttons = (Button(text="Yes", data="allow:1"), Button(text="No", data="deny:1"))
    elements = content(part("May I?", buttons=buttons, thread="omt_1"))["body"]["elements"]
    values = [element["behaviors"][0]["value"] for element in elements[1:]]
    assert values == [{"data": "allow:1", "thread": "omt_1"}, {"data": "deny:1", "thread": "omt_1"}]


def test_keys_are_short_and_the_same_for_every_attempt() -> None:
    assert idempotency_key("k" * 500) == idempotency_key("k" * 500)
    assert idempotency_key("a") != idempotency_key("b")
    assert len(idempotency_key("x")) <= 50


UNITS = [
    "< ",
    "|",
    "|a|\n",
    "|a|\n|-|\n\n",
    "![",
    "![x",
    "![]",
    "@_user_",
    "</at",
    "```\n",
    "~~~a\n",
    "-",
    "]",
    "](",
    "x",
]


@pytest.mark.parametrize("unit", [*UNITS, "!"])
@pytest.mark.parametrize("end", ["", "](x)"])
def test_four_times_the_text_takes_about_four_times_as_long(unit: str, end: str) -> None:
    # Above 3,000 cells a table is shown as written: both texts are on the same side of that.
    size = 16_000 if unit == "|a|\n" else 4_000
    assert growth(markdown_card, unit, size, end, bound=8) < 8


@every_case(
    ("name", "media_type", "picture", "path", "fields", "msg_type"),
    [
        ("a.png", "image/png", True, "/im/v1/images", {"image_type": "message"}, "image"),
        (
            "a.png",
            "image/png",
            False,
            "/im/v1/files",
            {"file_type": "stream", "file_name": "a.png"},
            "file",
        ),
        (
            "b/../c.PDF",
            "",
            False,
            "/im/v1/files",
            {"file_type": "pdf", "file_name": "c.PDF"},
            "file",
        ),
        ("s.xlsx", "", False, "/im/v1/files", {"file_type": "xls", "file_name": "s.xlsx"}, "file"),
        (
            "v.mp4",
            "video/mp4",
            False,
            "/im/v1/files",
            {"file_type": "mp4", "file_name": "v.mp4"},
            "media",
        ),
        (
            "v.opus",
            "audio/ogg",
            False,
            "/im/v1/files",
            {"file_type": "opus", "file_name": "v.opus"},
            "audio",
        ),
    ],
)
def test_files_go_up_as_what_they_are(
    name: str, media_type: str, picture: bool, path: str, fields: dict[str, str], msg_type: str
) -> None:
    upload = plan_upload(OutboundFile(name=name, media_type=media_type, data=b"x", picture=picture))
    assert (upload.path, upload.fields, upload.msg_type) == (path, fields, msg_type)


def test_a_picture_too_large_for_one_goes_as_a_file() -> None:
    large = OutboundFile(
        name="a.png", media_type="image/png", data=bytes(MOST_PICTURE + 1), picture=True
    )
    assert plan_upload(large).msg_type == "file"
    with pytest.raises(AttachmentTooBig, match="30000000"):
        plan_upload(OutboundFile(name="a", media_type="", data=bytes(MOST_FILE + 1)))
    with pytest.raises(Rejected, match="empty"):
        plan_upload(OutboundFile(name="a", media_type="", data=b""))
