"""Markdown as blocks, and the most of them that a budget holds."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memory.context.tokens import TokenCounter
from memory.text.bullets import fence_after

# No text that says something has more characters to the token, so a longer one need not be counted to be too long.
MAX_TOKEN_CHARS = 40
MAX_NAMED = 20
MAX_TITLE = 80
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})(?:[ \t].*)?")
_FOLD = re.compile(r"## .*<!-- fold [^\s>]+(?: [a-z]+)? -->\s*")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownBlock:
    """A heading (level 1 to 6) or a paragraph (level 0): a run of lines, one list item, or one fenced block."""

    #: Its place among the blocks.
    at: int
    #: Place of the heading it stands under, -1 for none.
    section: int
    level: int
    #: "" where there can be no room for it, so that it is no candidate and counts as left out.
    text: str
    #: An empty line stands before it.
    gap: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCandidate:
    """A block that is kept if there is room, with the headings it needs."""

    blocks: tuple[MarkdownBlock, ...]
    #: Closed once a member has no room.
    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """What is kept of a text, with a note at its end where that is not all, and what is not, one line a section."""

    text: str
    left_out: tuple[str, ...] = ()


def split_lines(text: str) -> list[str]:
    """The lines of a text with whatever line ends, its byte order mark left off."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def parse_blocks(text: str) -> list[MarkdownBlock]:
    """All blocks in order. What looks like a heading inside a fence is none, unless it begins a fold's section."""
    return list(iter_blocks(text))


def iter_blocks(text: str) -> Iterator[MarkdownBlock]:
    """The same, one at a time: a day's log may have ten thousand, most of which nobody keeps."""
    reader = _BlockReader()
    for line in _iter_lines(text):
        reader.take(line)
        yield from reader.given()
    reader.end()
    yield from reader.given()


def join_blocks(blocks: Sequence[MarkdownBlock], kept: Callable[[MarkdownBlock], bool]) -> str:
    """The kept ones as text, an empty line where one stood."""
    pieces: list[str] = []
    gap = False
    for block in blocks:
        gap = gap or block.gap
        if kept(block):
            pieces += ["\n\n" if gap else "\n", block.text]
            gap = False
    return "".join(pieces[1:])


def select_blocks(
    blocks: Sequence[MarkdownBlock], candidates: Sequence[BlockCandidate], budget: int, counter: TokenCounter
) -> Excerpt:
    """As many candidates as the budget holds, the earlier ones first; the note about the rest is inside the budget.

    One that has no room closes its group, but for one that could not have had room alone.
    """
    prices: dict[int, int] = {}

    def price(block: MarkdownBlock) -> int:
        if block.at not in prices:
            prices[block.at] = block_tokens(block, budget, counter)
        return prices[block.at]

    wanted = {candidate.blocks[-1].at for candidate in candidates}
    room = budget
    while True:
        kept = _choose_candidates(candidates, room, budget, price)
        piece = _make_excerpt(blocks, kept, frozenset(wanted - kept))
        over = counter.text(piece.text) - budget
        if over <= 0:
            return piece
        if not kept:
            return Excerpt(text="", left_out=piece.left_out)
        room -= over


def fits_budget(text: str, budget: int, counter: TokenCounter) -> bool:
    """Whether a text keeps within a budget; what cannot is not counted."""
    return len(text) <= MAX_TOKEN_CHARS * budget and counter.text(text) <= budget


def block_tokens(block: MarkdownBlock, budget: int, counter: TokenCounter) -> int:
    """Tokens of a block with its line ends; more than the budget where it is so long that it need not be counted."""
    text = f"\n{block.text}\n" if block.gap else f"{block.text}\n"
    return counter.text(text) if len(text) <= MAX_TOKEN_CHARS * budget else budget + 1


def _choose_candidates(
    candidates: Sequence[BlockCandidate], room: int, whole: int, price: Callable[[MarkdownBlock], int]
) -> frozenset[int]:
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


def _make_excerpt(blocks: Sequence[MarkdownBlock], kept: frozenset[int], missed: frozenset[int]) -> Excerpt:
    text = join_blocks(blocks, lambda block: block.at in kept)
    out = [block for block in blocks if not block.text or block.at in missed]
    if not out:
        return Excerpt(text=text)
    note = f"[… {_count_text(out)} left out; read_file shows the whole file]"
    return Excerpt(text=f"{text}\n\n{note}" if text else note, left_out=_name_left_out(blocks, out))


def _count_text(out: Sequence[MarkdownBlock]) -> str:
    paragraphs = sum(not block.level for block in out)
    headings = len(out) - paragraphs
    told = [count_of(paragraphs, "paragraph")] if paragraphs else []
    return " and ".join([*told, *([count_of(headings, "heading")] if headings else [])])


def _name_left_out(blocks: Sequence[MarkdownBlock], out: Sequence[MarkdownBlock]) -> tuple[str, ...]:
    titles = {block.at: block.text.strip()[:MAX_TITLE] for block in blocks if block.level}
    counts: dict[int, int] = {}
    for block in out:
        if not block.level:
            counts[block.section] = counts.get(block.section, 0) + 1
    named = [f"{titles.get(at, 'top')}: {count_of(count, 'paragraph')}" for at, count in counts.items()]
    if len(named) > MAX_NAMED:
        rest = sum(list(counts.values())[MAX_NAMED:])
        named = [
            *named[:MAX_NAMED],
            f"{count_of(len(named) - MAX_NAMED, 'more section')}: {count_of(rest, 'paragraph')}",
        ]
    headings = sum(bool(block.level) for block in out)
    return (*named, *([count_of(headings, "heading")] if headings else []))


def count_of(count: int, what: str) -> str:
    """ "1 paragraph", "3 paragraphs"."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _iter_lines(text: str) -> Iterator[str]:
    """What `split_lines` gives, one line at a time."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    at = 0
    while (end := plain.find("\n", at)) >= 0:
        yield plain[at:end]
        at = end + 1
    yield plain[at:]


class _BlockReader:
    """Takes lines, gives blocks."""

    def __init__(self) -> None:
        self._blocks: list[MarkdownBlock] = []
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

    def given(self) -> list[MarkdownBlock]:
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
        self._lines.append(line)
        self._fence = fence_after(self._fence, line)
        if not self._fence:
            self.end()

    def _paragraph(self, line: str) -> None:
        fence = fence_after("", line)
        if fence or _BULLET.match(line):
            self.end()
        self._lines.append(line)
        self._fence = fence

    def _add(self, text: str, level: int) -> None:
        self._blocks.append(MarkdownBlock(at=self._count, section=self._section, level=level, text=text, gap=self._gap))
        self._count += 1
        self._gap = False
