"""Strict JSON parser that keeps positions, and edits that leave all other text unchanged. Pure."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 32
MAX_DIGITS = 40
JsonPath = tuple[str | int, ...]

_BLANK = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_WORD = re.compile(r"[^\s,:{}\[\]\"]+")
_DECODER = json.JSONDecoder()
_LITERALS = {"true": True, "false": False, "null": None}


class JsonSyntaxError(Exception):
    """The text is not accepted JSON. `fault` is a key of bot.config.messages; `offset` is in
    characters.
    """

    def __init__(self, fault: str, offset: int, found: str = "") -> None:
        super().__init__(fault)
        self.fault = fault
        self.offset = offset
        self.found = found


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonNode:
    """A value and its position: text[start:end]."""

    value: Any
    start: int
    end: int
    #: By key or index.
    children: "dict[str | int, JsonNode]" = field(default_factory=dict)
    #: Offset of each key.
    keys: dict[str | int, int] = field(default_factory=dict)


def parse_config_json(text: str) -> JsonNode:
    """Parse a text that is one JSON object.

    Refuses duplicate keys, NaN, numbers of more than MAX_DIGITS and more than MAX_DEPTH levels too.

    Raises:
        JsonSyntaxError: the first error and its offset.
    """
    start = _skip_blanks(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        raise JsonSyntaxError("empty", start)
    node = _parse_value(text, start, 1)
    rest = _skip_blanks(text, node.end)
    if rest != len(text):
        raise JsonSyntaxError("trailing_text", rest)
    if not isinstance(node.value, dict):
        raise JsonSyntaxError("not_object", start)
    return node


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Convert an offset to line and column, both from 1; a byte order mark has no column."""
    line_start = text.rfind("\n", 0, offset) + 1
    mark = 1 if line_start == 0 and text.startswith("\ufeff") else 0
    return text.count("\n", 0, offset) + 1, max(offset - line_start - mark, 0) + 1


def find_value(root: JsonNode, path: JsonPath) -> int:
    """Return the offset of the value at `path`, or of the nearest enclosing one."""
    node = root
    for step in path:
        if step not in node.children:
            return node.start
        node = node.children[step]
    return node.start


def parse_literal(text: str) -> Any:
    """Parse one JSON value.

    Raises:
        JsonSyntaxError: the text is not one value.
    """
    start = _skip_blanks(text, 0)
    node = _parse_value(text, start, 1)
    if _skip_blanks(text, node.end) != len(text):
        raise JsonSyntaxError("trailing_text", node.end)
    return node.value


def find_key_offset(root: JsonNode, path: JsonPath) -> int:
    """Return the offset of the key (not the value) at `path`."""
    node = root
    for step in path[:-1]:
        node = node.children[step]
    return node.keys.get(path[-1], node.start)


def replace_value(text: str, path: tuple[str, ...], value: Any) -> str:
    """Replace or add the value at `path`; order, blanks and all other values stay as they are."""
    node = parse_config_json(text)
    for depth, step in enumerate(path):
        if step in node.children:
            node = node.children[step]
            continue
        if not isinstance(node.value, dict):
            return _replace_node(text, node, _nest_value(path[depth:], value))
        return _add_entry(text, node, step, _nest_value(path[depth + 1 :], value))
    return _replace_node(text, node, value)


def _nest_value(path: tuple[str, ...], value: Any) -> Any:
    for step in reversed(path):
        value = {step: value}
    return value


def _replace_node(text: str, node: JsonNode, value: Any) -> str:
    return (
        text[: node.start]
        + _format_value(text, value, _indent_at(text, node.start))
        + text[node.end :]
    )


def _add_entry(text: str, node: JsonNode, key: str, value: Any) -> str:
    """Append a member to the object `node`, indented like the others."""
    if node.children:
        last = list(node.children)[-1]
        after, first_key = node.children[last].end, node.keys[next(iter(node.keys))]
        on_lines = "\n" in text[node.start : first_key]
        indent = _indent_at(text, first_key) if on_lines else ""
    else:
        after, on_lines = node.start + 1, True
        indent = _indent_at(text, node.start) + _indent_unit(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    member = f"{json.dumps(key, ensure_ascii=False)}: {_format_value(text, value, indent)}"
    glue = newline + indent if on_lines else " "
    if node.children:
        return f"{text[:after]},{glue}{member}{text[after:]}"
    return (
        f"{text[:after]}{glue}{member}{newline}{_indent_at(text, node.start)}{text[node.end - 1 :]}"
    )


def _format_value(text: str, value: Any, indent: str) -> str:
    shown = json.dumps(value, ensure_ascii=False, indent=_indent_unit(text), allow_nan=False)
    newline = "\r\n" if "\r\n" in text else "\n"
    return shown.replace("\n", newline + indent)


def _indent_unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _indent_at(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip_blanks(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _parse_value(text: str, at: int, depth: int) -> JsonNode:
    if depth > MAX_DEPTH:
        raise JsonSyntaxError("too_deep", at)
    head = text[at : at + 1]
    if head == "{":
        return _parse_object(text, at, depth)
    if head == "[":
        return _parse_array(text, at, depth)
    if head == '"':
        value, end = _parse_string(text, at)
        return JsonNode(value=value, start=at, end=end)
    return _parse_scalar(text, at)


def _parse_object(text: str, start: int, depth: int) -> JsonNode:
    children: dict[str | int, JsonNode] = {}
    keys: dict[str | int, int] = {}
    at = _skip_blanks(text, start + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise JsonSyntaxError(_key_error(text, at), at)
        key, after = _parse_string(text, at)
        if key in keys:
            raise JsonSyntaxError("duplicate", at, key)
        colon = _skip_blanks(text, after)
        if text[colon : colon + 1] != ":":
            raise JsonSyntaxError("no_colon", colon)
        keys[key], children[key] = at, _parse_value(text, _skip_blanks(text, colon + 1), depth + 1)
        at = _after_entry(text, children[key].end, "}")
    value = {key: child.value for key, child in children.items()}
    return JsonNode(value=value, start=start, end=at + 1, children=children, keys=keys)


def _parse_array(text: str, start: int, depth: int) -> JsonNode:
    children: dict[str | int, JsonNode] = {}
    at = _skip_blanks(text, start + 1)
    while text[at : at + 1] != "]":
        child = _parse_value(text, at, depth + 1)
        children[len(children)] = child
        at = _after_entry(text, child.end, "]")
    value = [child.value for child in children.values()]
    return JsonNode(value=value, start=start, end=at + 1, children=children)


def _after_entry(text: str, end: int, closing: str) -> int:
    """Return the offset of the next entry or the closing bracket."""
    at = _skip_blanks(text, end)
    sign = text[at : at + 1]
    if sign == closing:
        return at
    if sign != ",":
        raise JsonSyntaxError("no_comma" if sign else "cut_off", at)
    following = _skip_blanks(text, at + 1)
    if text[following : following + 1] == closing:
        raise JsonSyntaxError("trailing_comma", at)
    return following


def _key_error(text: str, at: int) -> str:
    if at >= len(text):
        return "cut_off"
    return "comment" if text.startswith(("//", "/*", "#"), at) else "bare_key"


def _parse_string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as err:
        fault = "open_string" if err.pos == at else "bad_string"
        raise JsonSyntaxError(fault, err.pos) from err
    return str(value).encode("utf-8", "replace").decode("utf-8"), end


def _parse_scalar(text: str, at: int) -> JsonNode:
    match = _WORD.match(text, at)
    word = match[0] if match else text[at : at + 1]
    if word in _LITERALS:
        return JsonNode(value=_LITERALS[word], start=at, end=at + len(word))
    number = _NUMBER.fullmatch(word)
    if number is None:
        raise JsonSyntaxError(_word_error(word), at, word[:20])
    if len(word) > MAX_DIGITS:
        raise JsonSyntaxError("long_number", at, str(len(word)))
    whole = number[1] is None and number[2] is None
    value = int(word) if whole else float(word)
    if value in (float("inf"), float("-inf")):
        raise JsonSyntaxError("long_number", at, word)
    return JsonNode(value=value, start=at, end=at + len(word))


def _word_error(word: str) -> str:
    if not word:
        return "cut_off"
    if word.startswith(("//", "/*", "#")):
        return "comment"
    return "no_value" if word in ",:}]" else "bare_word"
