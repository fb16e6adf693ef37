"""What the Feishu emulator holds of a card: its form, its tables, and the order of what is done to
it.
"""

import json
import re
from typing import Any

from tests.emulators.feishu_world import Card, World

ELEMENT_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,19}")
TAGS = {"markdown", "div", "button", "hr", "img", "column_set", "column", "form", "table"}
CONFIG = {
    "update_multi",
    "streaming_mode",
    "streaming_config",
    "summary",
    "enable_forward",
    "width_mode",
}
LONGEST_CONTENT = 100_000
MOST_BYTES = 30_000
_IMAGE = re.compile(r"!\[[^\]\n]*\]\((?!img_)[^)]*\)")
_RULE = re.compile(r"\|?[ :|-]*-[ :|-]*")


class Refusal(Exception):
    """The platform says no: code, msg, HTTP status, and headers."""

    def __init__(
        self, code: int, msg: str, status: int = 400, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(msg)
        self.code, self.status, self.headers = code, status, headers or {}


def check_card(text: Any, world: World) -> dict[str, Any]:
    """A card's JSON text as a card of JSON 2.0. Raises Refusal."""
    try:
        card = json.loads(text)
        elements = card["body"]["elements"]
        config = card["config"]
    except (TypeError, ValueError, KeyError) as err:
        raise Refusal(200621, "parse card json err") from err
    if (
        card.get("schema") != "2.0"
        or not isinstance(elements, list)
        or not isinstance(config, dict)
    ):
        raise Refusal(200621, "parse card json err: schema")
    if set(config) - CONFIG or config.get("update_multi") is not True:
        raise Refusal(200621, f"parse card json err: config {sorted(config)}")
    if len(text.encode()) > MOST_BYTES:
        raise Refusal(300305, "card too large")
    _check_elements(elements)
    _check_markdown(
        [element["content"] for element in elements if element["tag"] == "markdown"], world
    )
    parsed: dict[str, Any] = card
    return parsed


def _check_elements(elements: list[Any]) -> None:
    ids: list[str] = []
    for element in elements:
        if not isinstance(element, dict) or element.get("tag") not in TAGS:
            raise Refusal(200621, "parse card json err: unknown tag")
        if element["tag"] == "markdown" and not isinstance(element.get("content"), str):
            raise Refusal(200621, "parse card json err: markdown without content")
        if element["tag"] == "button" and not _is_button(element):
            raise Refusal(200621, "parse card json err: button")
        ids += [element["element_id"]] if "element_id" in element else []
    if any(not ELEMENT_ID.fullmatch(id) for id in ids):
        raise Refusal(200621, "parse card json err: element_id")
    if len(ids) != len(set(ids)):
        raise Refusal(300301, "duplicate element_id")


def _is_button(element: dict[str, Any]) -> bool:
    text, behaviors = element.get("text"), element.get("behaviors")
    return (
        isinstance(text, dict)
        and text.get("tag") == "plain_text"
        and isinstance(behaviors, list)
        and all(one.get("type") in ("callback", "open_url") for one in behaviors)
    )


def _check_markdown(contents: list[str], world: World) -> None:
    text = "\n".join(contents)
    tables = _tables(text)
    if tables > world.table_limit:
        raise _not_created("11310; ErrMsg: card table number over limit; ErrorValue: table; ")
    if _IMAGE.search(
        re.sub(r"^(`{3,}|~{3,}).*?^\1|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    ):
        raise _not_created("11246; ErrMsg: image key is invalid; ErrorValue: img; ")


def _not_created(why: str) -> Refusal:
    return Refusal(230099, f"Failed to create card content, ext=ErrCode: {why}")


def _tables(text: str) -> int:
    found, fence, before = 0, "", ""
    for line in text.split("\n"):
        if opened := re.match(r" {0,3}(`{3,}|~{3,})", line):
            fence = "" if fence and opened[1].startswith(fence) else fence or opened[1]
        elif not fence and "|" in before and _RULE.fullmatch(line.strip()):
            found += 1
        before = "" if fence else line
    return found


def operate(world: World, card: Card, body: dict[str, Any]) -> None:
    """Take one operation's number.

    Raises Refusal: it is not above all before, or the eleventh of a second.
    """
    now = world.now()
    card.operations = [at for at in card.operations if now - at < 1]
    if len(card.operations) >= 10:
        raise Refusal(
            99991400, "request trigger frequency limit", 429, {"x-ogw-ratelimit-reset": "1"}
        )
    if not 1 <= body["sequence"] < 2**31 or body["sequence"] <= card.sequence:
        raise Refusal(300317, "sequence number compare failed")
    card.operations.append(now)
    card.sequence = body["sequence"]


def stream(world: World, card: Card, element_id: str, content: str) -> None:
    """Put the whole text into an element. Raises Refusal."""
    if not world.streams(card):
        raise Refusal(300309, "streaming mode is closed")
    element = next(
        (one for one in card.card["body"]["elements"] if one.get("element_id") == element_id), None
    )
    if element is None:
        raise Refusal(300313, "no such element")
    if len(content) > LONGEST_CONTENT:
        raise Refusal(300305, "content too long")
    _check_markdown([content], world)
    element["content"] = content


def settle(world: World, card: Card, settings: str) -> None:
    """Change a card's config. Raises Refusal."""
    try:
        config = json.loads(settings)["config"]
    except (ValueError, KeyError, TypeError) as err:
        raise Refusal(99992402, "field validation failed: settings") from err
    if config.get("streaming_mode") and not world.streams(card):
        card.streaming_since = world.now()
    card.card["config"] |= config
