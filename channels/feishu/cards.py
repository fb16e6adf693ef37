"""Our messages as Feishu's cards and texts. Pure."""

import hashlib
import json
import re
from typing import Any

from channels.message import Button, OutboundMessage

LIMIT = 16_000  # UTF-8 bytes of one message; quoted twice as JSON, usual text of that length stays below MAX_CARD_BYTES
MAX_CARD_BYTES = 30_000  # request bytes of a message with a card
# Cards with more were refused (3 to 5 have been seen to be the most); further ones are shown as fixed-width text.
MAX_TABLES = 3
ELEMENT_ID = "answer"
SUMMARY_CHARS = 60
_AT_TAG = re.compile(r"<(?=\s{0,9}/?\s{0,9}at\b)", re.IGNORECASE)
_LINK_PIECE = re.compile(r"[^\]\n]*+(?:\]\(?|\n|\Z)")
_IMAGE_MARKS = re.compile(r"(?<!!)!++(?=\[)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")

Json = dict[str, Any]


def idempotency_key(key: str) -> str:
    """The idempotency key of a send: the same for every attempt, at most 50 signs."""
    return hashlib.sha256(key.encode()).hexdigest()[:40]


def message_body(message: OutboundMessage) -> Json:
    """msg_type and content: a card where it fits and was not refused before, else text."""
    if not message.plain:
        card = _card_if_fits(markdown_card(message.text, message.buttons, message.address.thread_id))
        if card is not None:
            return card
    return text_body(message.text)


def text_body(text: str) -> Json:
    """msg_type and content of plain text."""
    return {"msg_type": "text", "content": _dump({"text": neutralize_mentions(text) if text.strip() else "…"})}


def card_entity_body(card_id: str) -> Json:
    """msg_type and content of a card that was created beforehand."""
    return {"msg_type": "interactive", "content": _dump({"type": "card", "data": {"card_id": card_id}})}


def markdown_card(text: str, buttons: tuple[Button, ...] = (), thread: str = "") -> Json:
    """A finished card of JSON 2.0."""
    elements: list[Json] = [{"tag": "markdown", "element_id": ELEMENT_ID, "content": sanitize_markdown(text)}]
    elements += [_button(button, thread) for button in buttons]
    return _card({"update_multi": True, "summary": {"content": preview_text(text)}}, elements)


def plain_card(text: str) -> Json:
    """A finished card that shows the text as it is written."""
    element = {"tag": "div", "element_id": ELEMENT_ID, "text": {"tag": "plain_text", "content": text.strip() or "…"}}
    return _card({"update_multi": True, "summary": {"content": preview_text(text)}}, [element])


def streaming_card() -> Json:
    """A card to be written into."""
    streaming = {
        "print_frequency_ms": {"default": 70},
        "print_step": {"default": 4},
        "print_strategy": "fast",
    }
    config = {"update_multi": True, "streaming_mode": True, "streaming_config": streaming}
    return _card(config, [{"tag": "markdown", "element_id": ELEMENT_ID, "content": ""}])


def end_streaming_settings(text: str) -> str:
    """The settings that end a card's streaming, as JSON text."""
    return _dump({"config": {"streaming_mode": False, "summary": {"content": preview_text(text)}}})


def dump_card(card: Json) -> Json:
    """A card as the card calls take it."""
    return {"type": "card_json", "data": _dump(card)}


def sanitize_markdown(text: str) -> str:
    """Markdown that a card shows as it was meant: nobody is called, no picture of ours is looked for, few tables."""
    return _limit_tables(_LINK_PIECE.sub(_images_to_links, neutralize_mentions(text))) or "…"


def _images_to_links(piece: re.Match[str]) -> str:
    """A piece that ends a link's words, its pictures as links. Each `[` of a piece has the same `]`: one look at it."""
    return _IMAGE_MARKS.sub("", piece[0]) if piece[0].endswith("](") else piece[0]


def neutralize_mentions(text: str) -> str:
    """The text with tags that would call people broken by a sign of no width."""
    return _AT_TAG.sub("<\u200b", text)


def preview_text(text: str) -> str:
    """What the list of chats shows of a card: its first words."""
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


def _card_if_fits(card: Json) -> Json | None:
    whole = {"msg_type": "interactive", "content": _dump(card)}
    # What the request holds beside these, ids and key, is below 300 bytes.
    return whole if len(_dump(whole).encode()) + 300 <= MAX_CARD_BYTES else None


def _limit_tables(text: str) -> str:
    """The tables after the first three in code fences."""
    lines, kept, fence, tables = text.split("\n"), [], "", 0
    place = 0
    while place < len(lines):
        opened = _FENCE.match(lines[place])
        if opened:
            fence = "" if fence and opened[1].startswith(fence) else fence or opened[1]
        end = place + 1 if fence or opened else _find_table_end(lines, place)
        tables += end > place + 1
        many = end > place + 1 and tables > MAX_TABLES
        kept += ["```", *lines[place:end], "```"] if many else lines[place:end]
        place = end
    return "\n".join(kept)


def _find_table_end(lines: list[str], place: int) -> int:
    """The line after the table that begins here; the next line where none does."""
    head = lines[place]
    if "|" not in head or place + 1 == len(lines) or not _is_table_rule(lines[place + 1]):
        return place + 1
    end = place + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return end


def _is_table_rule(line: str) -> bool:
    """Whether it can be the line under a table's head."""
    return "-" in line and set(line) <= set("|:- \t")


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
