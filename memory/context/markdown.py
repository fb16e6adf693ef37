"""Markdown as blocks, and the most of them that a budget holds."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memory.context.tokens import Counter

LONGEST_TOKEN = 40
"""No text that says something has more characters to the token, so a longer one need not be counted to be too long."""
MOST_NAMED = 20
MOST_TITLE = 80
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})(?:[ \t].*)?")
_FOLD = re.compile(r"## .*<!-- fold [^\s>]+(?: [a-z]+)? -->\s*")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A heading (level 1 to 6) or a paragraph (level 0): a run of lines, one list item, or one fenced block.

    at: its place among the blocks. section: place of the heading it stands under, -1 for none. gap: an empty line
    stands before it. text: "" where there can be no room for it, so that it is no candidate and counts as left out.
    """

    at: int
    section: int
    level: int
    text: str
    gap: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A block that is kept if there is room, with the headings it needs. group: closed once a member has no room."""

    blocks: tuple[Block, ...]
    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What is kept of a text, with a note at its end where that is not all, and what is not, one line a section."""

    text: str
    left_out: tuple[str, ...] = ()


def lines_of(text: str) -> list[str]:
    """The lines of a text with whatever line ends, its byte order mark left off."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def blocks_of(text: str) -> list[Block]:
    """All blocks in order. What looks like a heading inside a fence is none, unless it begins a fold's section."""
    return list(each_block(text))


def each_block(text: str) -> Iterator[Block]:
    """The same, one at a time: a day's log may have ten thousand, most of which nobody keeps."""
    reader = _Reader()
    for line in _each_line(text):
        reader.take(line)
        yield from reader.given()
    reader.end()
    yield from reader.given()


def joined(blocks: Sequence[Block], kept: Callable[[Block], bool]) -> str:
    """The kept ones as text, an empty line where one stood."""
    pieces: list[str] = []
    gap = False
    for block in blocks:
        gap = gap or block.gap
        if kept(block):
            pieces += ["\n\n" if gap else "\n", block.text]
            gap = False
    return "".join(pieces[1:])


def most(blocks: Sequence[Block], candidates: Sequence[Candidate], budget: int, counter: Counter) -> Piece:
    """As many candidates as the budget holds, the earlier ones first; the note about the rest is inside the budget.

    One that has no room closes its group, but for one that could not have had room alone.
    """
    prices: dict[int, int] = {}

    def price(block: Block) -> int:
        if block.at not in prices:
            prices[block.at] = price_of(block, budget, counter)
        return prices[block.at]

    wanted = {candidate.blocks[-1].at for candidate in candidates}
    room = budget
    while True:
        kept = _choose(candidates, room, budget, price)
        piece = _piece(blocks, kept, frozenset(wanted - kept))
        over = counter.text(piece.text) - budget
        if over <= 0:
            return piece
        if not kept:
            return Piece(text="", left_out=piece.left_out)
        room -= over


def within(text: str, budget: int, counter: Counter) -> bool:
    """Whether a text keeps within a budget; what cannot is not counted."""
    return len(text) <= LONGEST_TOKEN * budget and counter.text(text) <= budget


def price_of(block: Block, budget: int, counter: Counter) -> int:
    """Tokens of a block with its line ends; more than the budget where it is so long that it need not be counted."""
    text = f"\n{block.text}\n" if block.gap else f"{block.text}\n"
    return counter.text(text) if len(text) <= LONGEST_TOKEN * budget else budget + 1


def _choose(candidates: Sequence[Candidate], room: int, whole: int, price: Callable[[Block], int]) -> frozenset[int]:
    kept: set[int] = set()
    closed: set[int] = set()
    for candidate in candidates:
        if candidate.group in closed:
            continue
        new = [block for block in candidate.blocks if block.at not in kept]
        cost = sum(map(price, new))
        if cost <= room:
            room -= cost
            kept.update(block.at for block in new)
        elif cost <= whole:
            closed.add(candidate.group)
    return frozenset(kept)


def _piece(blocks: Sequence[Block], kept: frozenset[int], missed: frozenset[int]) -> Piece:
    text = joined(blocks, lambda block: block.at in kept)
    out = [block for block in blocks if not block.text or block.at in missed]
    if not out:
        return Piece(text=text)
    note = f"[… {_counted(out)} left out; read_file shows the whole file]"
    return Piece(text=f"{text}\n\n{note}" if text else note, left_out=_named(blocks, out))


def _counted(out: Sequence[Block]) -> str:
    paragraphs = sum(not block.level for block in out)
    headings = len(out) - paragraphs
    told = [many(paragraphs, "paragraph")] if paragraphs else []
    return " and ".join([*told, *([many(headings, "heading")] if headings else [])])


def _named(blocks: Sequence[Block], out: Sequence[Block]) -> tuple[str, ...]:
    titles = {block.at: block.text.strip()[:MOST_TITLE] for block in blocks if block.level}
    counts: dict[int, int] = {}
    for block in out:
        if not block.level:
            counts[block.section] = counts.get(block.section, 0) + 1
    named = [f"{titles.get(at, 'top')}: {many(count, 'paragraph')}" for at, count in counts.items()]
    if len(named) > MOST_NAMED:
        rest = sum(list(counts.values())[MOST_NAMED:])
        named = [*named[:MOST_NAMED], f"{many(len(named) - MOST_NAMED, 'more section')}: {many(rest, 'paragraph')}"]
    headings = sum(bool(block.level) for block in out)
    return (*named, *([many(headings, "heading")] if headings else []))


def many(count: int, what: str) -> str:
    """ "1 paragraph", "3 paragraphs"."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _each_line(text: str) -> Iterator[str]:
    """What `lines_of` gives, one line at a time."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    at = 0
    while (end := plain.find("\n", at)) >= 0:
        yield plain[at:end]
        at = end + 1
    yield plain[at:]


class _Reader:
    """Takes lines, gives blocks."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._count = 0
        self._lines: list[str] = []
        self._fence = ""
        self._gap = False
        self._section = -1

    def take(self, line: str) -> None:
        """The next line."""
        if self._fence and not _FOLD.fullmatch(line):
            self._inside(line)
        elif not line.strip():
            self.end()
            self._gap = True
        elif heading := _HEADING.fullmatch(line):
            self.end()
            self._add(line.rstrip(), len(heading["level"]))
            self._section = self._count - 1
        else:
            self._paragraph(line)

    def given(self) -> list[Block]:
        """The blocks that have ended since this was asked last."""
        blocks, self._blocks = self._blocks, []
        return blocks

    def end(self) -> None:
        """Nothing more belongs to the block that was begun; a fence left open is closed."""
        if self._fence:
            self._lines.append(self._fence)
            self._fence = ""
        if self._lines:
            self._add("\n".join(self._lines), 0)
            self._lines = []

    def _inside(self, line: str) -> None:
        closing = _FENCE.fullmatch(line)
        if closing and closing["fence"].startswith(self._fence) and not closing["info"].strip():
            self._lines.append(line)
            self._fence = ""
            self.end()
        else:
            self._lines.append(line)

    def _paragraph(self, line: str) -> None:
        fence = _FENCE.fullmatch(line)
        if fence or _BULLET.match(line):
            self.end()
        self._lines.append(line)
        if fence:
            self._fence = fence["fence"]

    def _add(self, text: str, level: int) -> None:
        self._blocks.append(Block(at=self._count, section=self._section, level=level, text=text, gap=self._gap))
        self._count += 1
        self._gap = False
