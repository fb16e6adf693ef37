"""Splits Markdown into blocks, and selects as many of them as fit a token budget."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory.context.tokens import TokenCounter
from memory.text.bullets import fence_after

MAX_TOKEN_CHARS = 40  # characters per token of real text; a text with more need not be counted to be too long
MAX_NAMED = 20  # sections named in the note about what was left out
MAX_TITLE = 80  # characters of a section's name
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})(?:[ \t].*)?")
_FOLD = re.compile(r"## .*<!-- fold [^\s>]+(?: [a-z]+)? -->\s*")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownBlock:
    """A heading (level 1 to 6) or a paragraph (level 0): a run of lines, one list item, or one fenced block."""

    #: Its index among the blocks.
    at: int
    #: Index of the heading above it, -1 for none.
    section: int
    level: int
    #: "" if it cannot fit, so that it is not held in memory; it counts as left out.
    text: str
    #: There is a blank line before it.
    gap: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCandidate:
    """A block to show if it fits, after the headings that it needs."""

    blocks: tuple[MarkdownBlock, ...]
    #: Once a candidate of a group does not fit, the later ones of that group are left out.
    group: int


class Excerpt(NamedTuple):
    """A text cut to a budget."""

    #: Ends in a note about what was left out.
    text: str
    #: What was left out, one line per section.
    left_out: tuple[str, ...] = ()


def split_lines(text: str) -> list[str]:
    """Split a text with any kind of line ends into lines, without its byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def parse_blocks(text: str) -> list[MarkdownBlock]:
    """All blocks in order. A heading inside a fence is none, unless it begins the section of a fold."""
    return list(iter_blocks(text))


def iter_blocks(text: str) -> Iterator[MarkdownBlock]:
    """Like `parse_blocks`, one at a time: a day's log may have ten thousand, most of which are left out."""
    reader = _BlockReader()
    for line in _iter_lines(text):
        reader.read_line(line)
        yield from reader.take_blocks()
    reader.end_block()
    yield from reader.take_blocks()


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


def select_blocks(
    blocks: Sequence[MarkdownBlock], candidates: Sequence[BlockCandidate], budget: int, counter: TokenCounter
) -> Excerpt:
    """Select as many candidates as fit the budget together with the note about the rest, the first ones first.

    A candidate that does not fit ends its group, unless it is over the budget even alone.
    """
    costs: dict[int, int] = {}

    def cost_of(block: MarkdownBlock) -> int:
        if block.at not in costs:
            costs[block.at] = block_tokens(block, budget, counter)
        return costs[block.at]

    wanted = {candidate.blocks[-1].at for candidate in candidates}
    left = budget
    while True:
        chosen = _choose_blocks(candidates, left, budget, cost_of)
        excerpt = _make_excerpt(blocks, chosen, frozenset(wanted - chosen))
        over = counter.text(excerpt.text) - budget
        if over <= 0:
            return excerpt
        if not chosen:
            return Excerpt("", excerpt.left_out)
        left -= over


def fits_budget(text: str, budget: int, counter: TokenCounter) -> bool:
    """Whether a text fits a budget; one that obviously does not is not counted."""
    return len(text) <= MAX_TOKEN_CHARS * budget and counter.text(text) <= budget


def block_tokens(block: MarkdownBlock, budget: int, counter: TokenCounter) -> int:
    """Tokens of a block with its line ends; `budget` + 1 if it is obviously longer than the budget."""
    text = f"\n{block.text}\n" if block.gap else f"{block.text}\n"
    return counter.text(text) if len(text) <= MAX_TOKEN_CHARS * budget else budget + 1


def _choose_blocks(
    candidates: Sequence[BlockCandidate], left: int, budget: int, cost_of: Callable[[MarkdownBlock], int]
) -> frozenset[int]:
    chosen: set[int] = set()
    ended: set[int] = set()
    for candidate in candidates:
        if candidate.group in ended:
            continue
        new = [block for block in candidate.blocks if block.at not in chosen]
        cost = sum(map(cost_of, new))
        if cost <= left:
            left -= cost
            chosen.update(block.at for block in new)
        elif cost <= budget:
            ended.add(candidate.group)
    return frozenset(chosen)


def _make_excerpt(blocks: Sequence[MarkdownBlock], chosen: frozenset[int], missed: frozenset[int]) -> Excerpt:
    text = join_blocks(blocks, lambda block: block.at in chosen)
    left_out = [block for block in blocks if not block.text or block.at in missed]
    if not left_out:
        return Excerpt(text)
    headings = sum(bool(block.level) for block in left_out)
    counts = ((len(left_out) - headings, "paragraph"), (headings, "heading"))
    counted = " and ".join(count_of(count, what) for count, what in counts if count)
    note = f"[… {counted} left out; read_file shows the whole file]"
    return Excerpt(f"{text}\n\n{note}" if text else note, _name_left_out(blocks, left_out, headings))


def _name_left_out(
    blocks: Sequence[MarkdownBlock], left_out: Sequence[MarkdownBlock], headings: int
) -> tuple[str, ...]:
    titles = {block.at: block.text.strip()[:MAX_TITLE] for block in blocks if block.level}
    counts = Counter(block.section for block in left_out if not block.level)
    lines = [f"{titles.get(at, 'top')}: {count_of(count, 'paragraph')}" for at, count in counts.items()]
    if len(lines) > MAX_NAMED:
        rest = sum(list(counts.values())[MAX_NAMED:])
        more = f"{count_of(len(lines) - MAX_NAMED, 'more section')}: {count_of(rest, 'paragraph')}"
        lines = [*lines[:MAX_NAMED], more]
    return (*lines, *([count_of(headings, "heading")] if headings else []))


def count_of(count: int, what: str) -> str:
    """ "1 paragraph", "3 paragraphs"."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _iter_lines(text: str) -> Iterator[str]:
    """Like `split_lines`, one line at a time."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    at = 0
    while (end := plain.find("\n", at)) >= 0:
        yield plain[at:end]
        at = end + 1
    yield plain[at:]


class _BlockReader:
    """Parses lines into blocks."""

    def __init__(self) -> None:
        self._blocks: list[MarkdownBlock] = []
        self._count = 0
        self._lines: list[str] = []
        self._fence = ""
        self._gap = False
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
            self._gap = True
        elif heading := _HEADING.fullmatch(line):
            self.end_block()
            self._add_block(line.rstrip(), len(heading["level"]))
            self._section = self._count - 1
        else:
            fence = fence_after("", line)
            if fence or _BULLET.match(line):
                self.end_block()
            self._lines.append(line)
            self._fence = fence

    def take_blocks(self) -> list[MarkdownBlock]:
        """The blocks that have ended since the last call."""
        blocks, self._blocks = self._blocks, []
        return blocks

    def end_block(self) -> None:
        """End the current block; an open fence is closed."""
        if self._fence:
            self._lines.append(self._fence)
            self._fence = ""
        if self._lines:
            self._add_block("\n".join(self._lines), 0)
            self._lines = []

    def _add_block(self, text: str, level: int) -> None:
        self._blocks.append(MarkdownBlock(at=self._count, section=self._section, level=level, text=text, gap=self._gap))
        self._count += 1
        self._gap = False
