"""Splits Markdown into blocks, and joins them again."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memory.text.bullets import fence_after, find_lines

_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})(?:[ \t].*)?")
_FOLD_COMMENT = "<!-- fold "
_FOLD = re.compile(r"## .*<!-- fold [^\s>]+(?: [a-z]+)? -->\s*")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownBlock:
    """A heading (level 1 to 6) or a paragraph (level 0): a run of lines, one list item, or one
    fenced block.
    """

    #: Its index among the blocks.
    at: int
    #: Index of the heading above it, -1 for none.
    section: int
    level: int
    text: str
    #: There is a blank line before it.
    gap: bool


def normalize_line_ends(text: str) -> str:
    """A text with "\\n" as line ends, without its byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def split_lines(text: str) -> list[str]:
    """Split a text with any kind of line ends into lines, without its byte order mark."""
    return normalize_line_ends(text).split("\n")


def parse_blocks(text: str) -> list[MarkdownBlock]:
    """All blocks in order.

    A heading inside a fence is none, unless it begins the section of a fold.
    """
    return parse_part(normalize_line_ends(text))[0]


def parse_part(text: str) -> tuple[list[MarkdownBlock], bool]:
    """The blocks of a part of a normalized text, and whether it ends in a blank line, a gap before
    the next part.
    """
    reader = _BlockReader()
    for line in text.split("\n"):
        reader.read_line(line)
    reader.end_block()
    return reader.blocks, reader.gap


def split_folds(text: str) -> Iterator[slice]:
    """Split a normalized text before each heading of a fold, where any block and fence ends.

    Only lines that have a fold's comment are looked at.
    """
    begin = 0
    for line in find_lines(text, _FOLD_COMMENT):
        if line.start > begin and _FOLD.fullmatch(text, line.start, line.stop):
            yield slice(begin, line.start - 1)
            begin = line.start
    yield slice(begin, len(text))


def join_blocks(blocks: Sequence[MarkdownBlock], shown: Callable[[MarkdownBlock], bool]) -> str:
    """The shown blocks as text, with the blank lines between them."""
    pieces: list[str] = []
    gap = False
    for block in blocks:
        gap = gap or block.gap
        if shown(block):
            pieces += ["\n\n" if gap else "\n", block.text]
            gap = False
    return "".join(pieces[1:])


def count_of(count: int, what: str) -> str:
    """ "1 paragraph", "3 paragraphs"."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


class _BlockReader:
    """Parses lines into blocks."""

    def __init__(self) -> None:
        self.blocks: list[MarkdownBlock] = []
        self.gap = False  # before the next block
        self._lines: list[str] = []
        self._fence = ""
        self._section = -1

    def read_line(self, line: str) -> None:
        """Read the next line."""
        if self._fence and not _FOLD.fullmatch(line):
            self._lines.append(line)
            self._fence = fence_after(self._fence, line)
            if not self._fence:
                self.end_block()
        elif not line.strip():
            self.end_block()
            self.gap = True
        elif heading := _HEADING.fullmatch(line):
            self.end_block()
            self._add_block(line.rstrip(), len(heading["level"]))
            self._section = len(self.blocks) - 1
        else:
            fence = fence_after("", line)
            if fence or _BULLET.match(line):
                self.end_block()
            self._lines.append(line)
            self._fence = fence

    def end_block(self) -> None:
        """End the current block; an open fence is closed."""
        if self._fence:
            self._lines.append(self._fence)
            self._fence = ""
        if self._lines:
            self._add_block("\n".join(self._lines), 0)
            self._lines = []

    def _add_block(self, text: str, level: int) -> None:
        at = len(self.blocks)
        self.blocks.append(
            MarkdownBlock(at=at, section=self._section, level=level, text=text, gap=self.gap)
        )
        self.gap = False
