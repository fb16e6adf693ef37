"""Renders messages as Feishu's cards and texts. Pure."""

import hashlib
import json
import re
from typing import Any

from channels.message import Button, OutboundMessage

# UTF-8 bytes of one message; encoded twice as JSON, usual text of that size fits MAX_CARD_BYTES
LIMIT = 16_000
MAX_CARD_BYTES = 30_000  # request bytes of a message with a card
# Cards with more are refused (observed maximum: 3 to 5); further tables are shown as fixed-width
# text.
MAX_TABLES = 3
ELEMENT_ID = "answer"
SUMMARY_CHARS = 60
_AT_TAG = re.compile(r"<(?=\s{0,9}/?\s{0,9}at\b)", re.IGNORECASE)
_LINK_PIECE = re.compile(r"[^\]\n]*+(?:\]\(?|\n|\Z)")
_IMAGE_MARKS = re.compile(r"(?<!!)!++(?=\[)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")

Json = dict[str, Any]


def idempotency_key(key: str) -> str:
    """Return the idempotency key of a send: the same for every attempt; Feishu accepts 50
    characters.
    """
    return hashlib.sha256(key.encode()).hexdigest()[:40]


def message_body(message: OutboundMessage) -> Json:
    """Return msg_type and content: a card if it fits and was not refused before, else text."""
    if not message.plain:
        card = markdown_card(message.text, message.buttons, message.address.thread_id)
        body = {"msg_type": "interactive", "content": _dump(card)}
        # The rest of the request, ids and key, is below 300 bytes.
        if len(_dump(body).encode()) + 300 <= MAX_CARD_BYTES:
            return body
    return text_body(message.text)


def text_body(text: str) -> Json:
    """Return msg_type and content of plain text."""
    return {
        "msg_type": "text",
        "content": _dump({"text": neutralize_mentions(text) if text.strip() else "…"}),
    }


def card_entity_body(card_id: str) -> Json:
    """Return msg_type and content of a card that already exists."""
    return {
        "msg_type": "interactive",
        "content": _dump({"type": "card", "data": {"card_id": card_id}}),
    }


def markdown_card(text: str, buttons: tuple[Button, ...] = (), thread: str = "") -> Json:
    """Return a complete card of JSON 2.0."""
    elements: list[Json] = [
        {"tag": "markdown", "element_id": ELEMENT_ID, "content": sanitize_markdown(text)}
    ]
    elements += [_button(button, thread) for button in buttons]
    return _card({"update_multi": True, "summary": {"content": preview_text(text)}}, elements)


def plain_card(text: str) -> Json:
    """Return a complete card that shows a text without formatting."""
    element = {
        "tag": "div",
        "element_id": ELEMENT_ID,
        "text": {"tag": "plain_text", "content": text.strip() or "…"},
    }
    return _card({"update_multi": True, "summary": {"content": preview_text(text)}}, [element])


def streaming_card() -> Json:
    """Return an empty card for streaming."""
    streaming = {
        "print_frequency_ms": {"default": 70},
        "print_step": {"default": 4},
        "print_strategy": "fast",
    }
    config = {"update_multi": True, "streaming_mode": True, "streaming_config": streaming}
    return _card(config, [{"tag": "markdown", "element_id": ELEMENT_ID, "content": ""}])


def end_streaming_settings(text: str) -> str:
    """Return the settings that end a card's streaming, as JSON text."""
    return _dump({"config": {"streaming_mode": False, "summary": {"content": preview_text(text)}}})


def dump_card(card: Json) -> Json:
    """Return a card as the card API takes it."""
    return {"type": "card_json", "data": _dump(card)}


def sanitize_markdown(text: str) -> str:
    """Make Markdown safe for a card: no mentions, no pictures (Feishu takes keys, not URLs), few
    tables.
    """
    return _limit_tables(_LINK_PIECE.sub(_images_to_links, neutralize_mentions(text))) or "…"


def _images_to_links(piece: re.Match[str]) -> str:
    """Turn the pictures of a piece that ends in `](` into links; each `[` of the piece closes
    there.
    """
    return _IMAGE_MARKS.sub("", piece[0]) if piece[0].endswith("](") else piece[0]


def neutralize_mentions(text: str) -> str:
    """Break tags that would mention people by a zero-width space."""
    return _AT_TAG.sub("<\u200b", text)


def preview_text(text: str) -> str:
    """Return the first words of a card, for the list of chats."""
    return " ".join(neutralize_mentions(text).split())[:SUMMARY_CHARS] or "…"


def _card(config: Json, elements: list[Json]) -> Json:
    return {"schema": "2.0", "config": config, "body": {"elements": elements}}


def _button(button: Button, thread: str) -> Json:
    value = {"data": button.data, "thread": thread}
    return {
        "tag": "button",
        "text": {"tag": "plain_text", "content": button.text},
        "behaviors": [{"type": "callback", "value": value}],
    }


def _limit_tables(text: str) -> str:
    """Put the tables after the first three into code fences."""
    lines, shown, fence, tables = text.split("\n"), list[str](), "", 0
    start = 0
    while start < len(lines):
        mark = _FENCE.match(lines[start])
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        end = start + 1 if fence or mark else _find_table_end(lines, start)
        tables += end > start + 1
        is_extra_table = end > start + 1 and tables > MAX_TABLES
        shown += ["```", *lines[start:end], "```"] if is_extra_table else lines[start:end]
        start = end
    return "\n".join(shown)


def _find_table_end(lines: list[str], start: int) -> int:
    """Return the index after the table that begins at `start`, or after this line if none does."""
    end = start + 1
    if (
        "|" in lines[start]
        and end < len(lines)
        and "-" in lines[end]
        and set(lines[end]) <= set("|:- \t")
    ):
        end += 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
    return end


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
