"""Telegram's MarkdownV2 as its server reads it: text and entities out, or the server's own words of
refusal.
"""

import re
from dataclasses import dataclass
from typing import Any

from tests.emulators.telegram_html import ParseError, units

RESERVED = "_*[]()~`>#+-=|{}.!"
KINDS = {
    "__": ("underline", "Underline"),
    "_": ("italic", "Italic"),
    "*": ("bold", "Bold"),
    "~": ("strikethrough", "Strikethrough"),
    "||": ("spoiler", "Spoiler"),
    "[": ("text_link", "TextUrl"),
    "```": ("pre", "Pre"),
    "`": ("code", "Code"),
    ">": ("blockquote", "BlockQuote"),
}
ENDS = {"[": "]", ">": "\n"}
CODE = ("`", "```")


@dataclass(slots=True, kw_only=True)
class _Open:
    mark: str
    offset: int
    begun: int
    language: str = ""


def parse_markdown(text: str) -> tuple[str, list[dict[str, Any]]]:
    """Visible text and entities in order of their ends.

    Raises ParseError; offsets in it count UTF-8 bytes.
    """
    return _Reader(text).read()


class _Reader:
    """One pass over the signs."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.out = ""
        self.open: list[_Open] = []
        self.entities: list[dict[str, Any]] = []

    def read(self) -> tuple[str, list[dict[str, Any]]]:
        while self.at < len(self.text):
            self.step()
        if self.open and self.open[-1].mark == ">":
            self.close(self.open.pop())
        if self.open:
            last = self.open[-1]
            raise ParseError(
                f"Can't find end of {KINDS[last.mark][1]} entity at byte offset {last.begun}"
            )
        return self.out, self.entities

    def step(self) -> None:
        sign, inner = self.text[self.at], self.open[-1].mark if self.open else ""
        if sign == "\\" and "\0" < self.text[self.at + 1 : self.at + 2] <= "~":
            self.out += self.text[self.at + 1]
            self.at += 2
        elif inner and self.ends(inner):
            self.end(inner)
        elif sign in ("`" if inner in CODE else RESERVED):
            self.begin(sign)
        else:
            self.out += sign
            self.at += 1

    def ends(self, mark: str) -> bool:
        closing = ENDS.get(mark, mark)
        if mark == ">":
            return self.text[self.at] == "\n" and self.text[self.at + 1 : self.at + 2] != ">"
        if mark == "_" and self.text.startswith("__", self.at):
            return False
        return self.text.startswith(closing, self.at)

    def begin(self, sign: str) -> None:
        found = next((mark for mark in KINDS if self.text.startswith(mark, self.at)), "")
        fresh = not self.out or self.out.endswith("\n")
        quoted = any(opened.mark == ">" for opened in self.open)
        if found == ">" and fresh and quoted:  # a quote goes on in its next line
            self.at += 1
            return
        if not found or (found == ">" and not fresh) or (self.open and self.open[-1].mark in CODE):
            raise ParseError(
                f"Character '{sign}' is reserved and must be escaped with the preceding '\\'"
            )
        begun = len(self.text[: self.at].encode())
        self.at += len(found)
        language = ""
        if found == "```" and (named := re.compile(r"([^\s`]+)\n").match(self.text, self.at)):
            language, self.at = named[1], named.end()
        elif found == "```" and self.text[self.at : self.at + 1] == "\n":
            self.at += 1
        self.open.append(_Open(mark=found, offset=units(self.out), begun=begun, language=language))

    def end(self, mark: str) -> None:
        opened = self.open.pop()
        if mark != ">":
            self.at += len(ENDS.get(mark, mark))
        address = self.address(opened) if mark == "[" else ""
        self.close(opened, address)
        if mark == ">":
            self.out += "\n"
            self.at += 1

    def address(self, opened: _Open) -> str:
        """What stands in the brackets behind a link's words."""
        if self.text[self.at : self.at + 1] != "(":
            return self.out.encode("utf-16-le")[2 * opened.offset :].decode("utf-16-le")
        self.at, found = self.at + 1, ""
        while self.at < len(self.text) and self.text[self.at] != ")":
            self.at += self.text[self.at] == "\\"
            found += self.text[self.at : self.at + 1]
            self.at += 1
        if self.at >= len(self.text):
            raise ParseError(f"Can't find end of a URL at byte offset {len(self.text.encode())}")
        self.at += 1
        return found

    def close(self, opened: _Open, address: str = "") -> None:
        span = {"offset": opened.offset, "length": units(self.out) - opened.offset}
        if not span["length"]:
            return
        entity: dict[str, Any] = {"type": KINDS[opened.mark][0], **span}
        if opened.mark == "[":
            if not re.match(r"(https?|ftp|ton|tg|tonsite)://\S", address):
                return
            entity["url"] = address
        self.entities.append(entity | ({"language": opened.language} if opened.language else {}))
