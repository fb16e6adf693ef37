"""Telegram's HTML mode as its server reads it: text and entities out, or the server's own words of
refusal.
"""

import re
from dataclasses import dataclass
from typing import Any

NAMES = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
}
TAGS = frozenset(NAMES) | {"a", "tg-emoji", "tg-time"}
SPACE = b" \t\r\n\x00\x0b"
NAMED = {b"lt": "<", b"gt": ">", b"amp": "&", b"quot": '"'}
_REFERENCE = re.compile(rb"&(?:#x([0-9a-fA-F]{1,8})|#([0-9]{1,8})|([a-z]+));?")
_UNKEPT = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f]")
_REMOVED = re.compile("[\r\u2028-\u202e\u0333\u033f\u030a]")


class ParseError(ValueError):
    """What follows "can't parse entities: " in the server's answer."""


@dataclass(slots=True, kw_only=True)
class _Open:
    tag: str
    argument: str
    offset: int


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse_html(text: str) -> tuple[str, list[dict[str, Any]]]:
    """Visible text and entities in order of their ends. Raises ParseError."""
    return _Reader(text).read()


def tidy(text: str, entities: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """What the server makes of any text: no control characters, no white space around; entities
    moved along.
    """
    if _UNKEPT.search(text) or _REMOVED.search(text):
        text = _REMOVED.sub("", _UNKEPT.sub(" ", text))
        entities = []
    stripped = text.strip()
    shift, whole = units(text[: len(text) - len(text.lstrip())]), units(stripped)
    kept = []
    for entity in entities:
        start = max(0, entity["offset"] - shift)
        end = min(whole, entity["offset"] - shift + entity["length"])
        if start < end:
            kept.append(entity | {"offset": start, "length": end - start})
    return stripped, kept


class _Reader:
    """One pass over the bytes, as offsets in complaints count bytes."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8", "surrogatepass")
        self.at = 0
        self.out = bytearray()
        self.open: list[_Open] = []
        self.entities: list[dict[str, Any]] = []

    def read(self) -> tuple[str, list[dict[str, Any]]]:
        while self.at < len(self.data):
            if self.peek() == b"&":
                self.out += self.reference() or self.take()
            elif self.peek() != b"<":
                self.out += self.take()
            elif self.data[self.at + 1 : self.at + 2] == b"/":
                self.end_tag()
            else:
                self.start_tag()
        if self.open:
            raise ParseError(
                f'Can\'t find end tag corresponding to start tag "{self.open[-1].tag}"'
            )
        return self.visible(), self.entities

    def visible(self) -> str:
        return self.out.decode("utf-8", "surrogatepass")

    def peek(self) -> bytes:
        return self.data[self.at : self.at + 1]

    def take(self) -> bytes:
        self.at += 1
        return self.data[self.at - 1 : self.at]

    def reference(self) -> bytes:
        found = _REFERENCE.match(self.data, self.at)
        if found is None:
            return b""
        hexadecimal, decimal, name = found.groups()
        if name:
            shown = NAMED.get(name, "")
        else:
            code = int(hexadecimal, 16) if hexadecimal else int(decimal)
            shown = chr(code) if 0 < code < 0x10FFFF else ""
        if shown:
            self.at = found.end()
        return shown.encode("utf-8", "surrogatepass")

    def skip_space(self) -> None:
        while self.peek() and self.peek() in SPACE:
            self.at += 1

    def until(self, stops: bytes) -> str:
        begin = self.at
        while self.peek() and self.peek() not in stops:
            self.at += 1
        return self.data[begin : self.at].decode("utf-8", "replace")

    def start_tag(self) -> None:
        begin = self.at
        self.at += 1
        tag = self.until(SPACE + b">").lower()
        if not self.peek():
            raise ParseError(f"Unclosed start tag at byte offset {begin}")
        if tag not in TAGS:
            raise ParseError(f'Unsupported start tag "{tag}" at byte offset {begin}')
        argument = ""
        while self.peek() != b">":
            self.skip_space()
            if self.peek() == b">":
                break
            argument = self.attribute(tag, begin) or argument
        self.at += 1
        if tag == "span" and argument != "tg-spoiler":
            raise ParseError(f'Tag "span" must have class "tg-spoiler" at byte offset {begin}')
        self.open.append(_Open(tag=tag, argument=argument, offset=units(self.visible())))

    def attribute(self, tag: str, begin: int) -> str:
        name = self.until(SPACE + b"=>/\"'")
        if not self.peek():
            raise ParseError(f'Unclosed start tag "{tag}" at byte offset {begin}')
        if not name:
            raise ParseError(f'Empty attribute name in the tag "{tag}" at byte offset {begin}')
        self.skip_space()
        if self.peek() != b"=":
            if tag == "blockquote" and name == "expandable":
                return "expandable"
            raise ParseError(
                f'Expected equal sign in declaration of an attribute of the tag "{tag}" at byte '
                f"offset {begin}"
            )
        self.at += 1
        self.skip_space()
        value = self.quoted() if self.peek() in (b'"', b"'") else self.token()
        if not self.peek():
            raise ParseError(f'Unclosed start tag "{tag}" at byte offset {begin}')
        return value if (tag, name) in (("a", "href"), ("code", "class"), ("span", "class")) else ""

    def quoted(self) -> str:
        end, value = self.take(), bytearray()
        while self.peek() and self.peek() != end:
            value += (self.reference() if self.peek() == b"&" else b"") or self.take()
        self.at += 1
        return value.decode("utf-8", "replace")

    def token(self) -> str:
        begin = self.at
        while re.fullmatch(rb"[A-Za-z0-9.-]", self.peek()):
            self.at += 1
        if self.peek() and self.peek() not in SPACE + b">":
            raise ParseError(f"Unexpected end of name token at byte offset {begin}")
        return self.data[begin : self.at].decode().lower()

    def end_tag(self) -> None:
        begin = self.at
        self.at += 2
        if not self.open:
            raise ParseError(f"Unexpected end tag at byte offset {begin}")
        tag = self.until(SPACE + b">").lower()
        self.skip_space()
        if self.peek() != b">":
            raise ParseError(f"Unclosed end tag at byte offset {begin}")
        self.at += 1
        opened = self.open.pop()
        if tag and tag != opened.tag:
            raise ParseError(
                (
                    f'Unmatched end tag at byte offset {begin}, expected "</{opened.tag}>", found '
                    f'"</{tag}>"'
                ),
            )
        self.close(opened)

    def close(self, opened: _Open) -> None:
        span = {"offset": opened.offset, "length": units(self.visible()) - opened.offset}
        if not span["length"] or any(
            outer.tag in ("code", "pre") and opened.tag != "code" for outer in self.open
        ):
            return
        if opened.tag == "a":
            self.link(opened, span)
        elif opened.tag == "blockquote":
            if all(outer.tag != "blockquote" for outer in self.open):
                self.entities.append(
                    {"type": "expandable_blockquote" if opened.argument else "blockquote", **span}
                )
        elif (
            opened.tag == "pre"
            and self.entities
            and self.entities[-1] == self.entities[-1] | {"type": "code"} | span
        ):
            language = self.entities.pop().get("language")
            self.entities.append(
                {"type": "pre", **span} | ({"language": language} if language else {})
            )
        elif opened.tag in NAMES:
            language = (
                opened.argument.removeprefix("language-")
                if opened.argument.startswith("language-")
                else ""
            )
            self.entities.append(
                {"type": NAMES[opened.tag], **span} | ({"language": language} if language else {})
            )

    def link(self, opened: _Open, span: dict[str, int]) -> None:
        address = opened.argument or self.visible()[-span["length"] :]
        if re.match(r"(https?|ftp|ton|tg|tonsite)://\S", address):
            self.entities.append({"type": "text_link", **span, "url": address})
