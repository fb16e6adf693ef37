"""The parts of the system prompt, each within its own budget: what stays, what is left out, and what that is called."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memory.context.markdown import (
    MAX_TOKEN_CHARS,
    BlockCandidate,
    Excerpt,
    MarkdownBlock,
    block_tokens,
    count_of,
    fits_budget,
    iter_blocks,
    parse_blocks,
    select_blocks,
    split_lines,
)
from memory.context.tokens import TokenCounter
from memory.conversation import SystemPart

SOUL, RULES, AWARENESS, MEMORY, LOG = "SOUL.md", "rules", "awareness", "MEMORY.md", "log"
MEMORY_SHARE, LOG_SHARE = 5, 10  # of a small request budget, MEMORY.md and the log get at most a fifth and a tenth
_FOLD = re.compile(r"(?<!\s)\s*+<!-- fold (?P<fold>[^\s>]+)(?: (?P<mark>[a-z]+))? -->\s*+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBudgets:
    """Tokens that each part may have, and all of them together. Source: the budget seed.

    SOUL.md is never cut; its budget is what it is advised to keep within.
    """

    soul: int = 3_000
    awareness: int = 2_000
    memory: int = 4_000
    log: int = 2_000
    total: int = 15_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSources:
    """What the parts are made of."""

    soul: str
    rules: str
    awareness: str = ""
    #: The files' texts, "" for none.
    memory: str = ""
    #: The files' texts, "" for none.
    log: str = ""
    #: Of the log, as its file names it.
    day: str = ""
    #: Ids of the conversation's own folds, whose sections its summary holds already, or a clear has hidden.
    own_folds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class _LogEntry:
    """A block of the log."""

    block: MarkdownBlock
    #: A person wrote it.
    noted: bool
    #: Those it stands under, itself where it is one.
    headings: tuple[MarkdownBlock, ...]


def budgets_for(room: int) -> PromptBudgets:
    """The budgets inside a request budget of `room` tokens: a long file never makes a small budget impossible."""
    usual = PromptBudgets()
    return replace(usual, memory=min(usual.memory, room // MEMORY_SHARE), log=min(usual.log, room // LOG_SHARE))


def system_parts(sources: PromptSources, budgets: PromptBudgets, counter: TokenCounter) -> tuple[SystemPart, ...]:
    """The parts in their order: SOUL.md, rules, awareness, MEMORY.md, log; what has nothing to say has no part.

    SOUL.md and the rules are whole. Where all together are over the total, the log yields first, then MEMORY.md,
    then awareness.
    """
    soul, rules = SystemPart(name=SOUL, text=sources.soul), SystemPart(name=RULES, text=sources.rules)
    rest = budgets.total - counter.text(soul.text) - counter.text(rules.text)
    piece = cut_awareness(sources.awareness, min(budgets.awareness, rest), counter)
    awareness = SystemPart(name=AWARENESS, text=piece[0], left_out=piece[1])
    rest -= counter.text(awareness.text)
    memory = memory_part(sources.memory, min(budgets.memory, rest), counter)
    rest -= counter.text(memory.text)
    log = log_part(sources, min(budgets.log, rest), counter)
    return tuple(part for part in (soul, rules, awareness, memory, log) if part.text or part.left_out)


def part_texts(parts: Sequence[SystemPart]) -> tuple[str, ...]:
    """What a request sends of them."""
    return tuple(part.text for part in parts if part.text)


def memory_part(text: str, budget: int, counter: TokenCounter) -> SystemPart:
    """MEMORY.md in its frame, both within the budget."""
    frame = ("[MEMORY.md: long-term memory, for reference; the newest message wins]", "[End of MEMORY.md]")
    return _frame_part(MEMORY, frame, budget, counter, lambda room: cut_memory(text, room, counter))


def log_part(sources: PromptSources, budget: int, counter: TokenCounter) -> SystemPart:
    """The day's log in its frame, both within the budget."""
    frame = (f"[Daily log of {sources.day}, for reference]", "[End of the daily log]")
    return _frame_part(LOG, frame, budget, counter, lambda room: cut_log(sources.log, room, counter, sources.own_folds))


def cut_memory(text: str, budget: int, counter: TokenCounter) -> tuple[str, tuple[str, ...]]:
    """The file, or as much as the budget holds: all headings, and of each section the newest paragraphs.

    Paragraphs nearer to the end of their section are newer. Sections share alike: the newest paragraph of each comes
    before the second newest of any. Where not even the headings fit, the upper levels stay, in the file's order.

    Returns:
        (the text within the budget, its note about the rest included; what was left out, by section).
    """
    plain = "\n".join(split_lines(text)).strip()
    if fits_budget(plain, budget, counter):
        return plain, ()
    blocks = parse_blocks(text)
    headings = sorted((block for block in blocks if block.level), key=lambda block: block.level)
    candidates = [BlockCandidate(blocks=(block,), group=-2) for block in headings]
    candidates += [BlockCandidate(blocks=(block,), group=block.section) for block in _newest_first(blocks)]
    return _note_left_out(select_blocks(blocks, candidates, max(budget, 0), counter))


def cut_log(text: str, budget: int, counter: TokenCounter, own_folds: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """The day's log without what this conversation knows anyway, or as much of it as the budget holds.

    Sections of own folds, and of folds that are stale or were undone, are left off. What people wrote between the
    sections is first in, then the folds' lines, the newest first; a heading stands where something under it does.

    Returns:
        (the text within the budget, its note about the rest included; what was left out, by section).
    """
    found = _NewestEntries(max(budget, 0), counter)
    for entry in _visible_entries(iter_blocks(text), own_folds):
        found.take(entry)
    candidates = [
        BlockCandidate(blocks=(*entry.headings, entry.block), group=group)
        for group, members in enumerate((found.noted, found.folded))
        for entry in reversed(members)
    ]
    return _note_left_out(select_blocks(found.blocks, candidates, max(budget, 0), counter))


def cut_awareness(text: str, budget: int, counter: TokenCounter) -> tuple[str, tuple[str, ...]]:
    """What the bot knows of itself, line by line as far as the budget reaches."""
    if fits_budget(text, budget, counter):
        return text, ()
    lines = text.split("\n")

    def cut(kept: int) -> tuple[str, tuple[str, ...]]:
        left = count_of(len(lines) - kept, "line")
        return "\n".join([*lines[:kept], f"[… {left} left out]"]), (left,)

    fits, too_many = -1, len(lines)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if fits_budget(cut(middle)[0], budget, counter):
            fits = middle
        else:
            too_many = middle
    return cut(fits) if fits >= 0 else ("", (count_of(len(lines), "line"),))


def _note_left_out(piece: Excerpt) -> tuple[str, tuple[str, ...]]:
    return piece.text, piece.left_out


def _frame_part(
    name: str,
    frame: tuple[str, str],
    budget: int,
    counter: TokenCounter,
    cut: Callable[[int], tuple[str, tuple[str, ...]]],
) -> SystemPart:
    """The cut text between two lines that no text can end by itself."""
    room = budget - counter.text(f"{frame[0]}\n\n{frame[1]}")
    while True:
        text, left_out = cut(room)
        whole = f"{frame[0]}\n{text.replace(frame[1], frame[1].strip('[]'))}\n{frame[1]}" if text else ""
        over = counter.text(whole) - budget
        if over <= 0 or not whole:
            return SystemPart(name=name, text=whole, left_out=left_out)
        room -= over


def _newest_first(blocks: Sequence[MarkdownBlock]) -> list[MarkdownBlock]:
    """Paragraphs, the newest of every section first; of those alike the later one."""
    ages: dict[int, int] = {}
    aged: list[tuple[int, int, MarkdownBlock]] = []
    for block in reversed(blocks):
        if not block.level:
            age = ages[block.section] = ages.get(block.section, 0) + 1
            aged.append((age, -block.at, block))
    return [block for _, _, block in sorted(aged, key=lambda item: item[:2])]


class _NewestEntries:
    """A log's blocks in their order, and which a budget may hold: what people wrote, and the folds' newest lines.

    Folds' lines get their room from the newest on, until one finds none. What stands before that one keeps its place
    and not its words: a long day's log is read with each fold, and its lines were several times the log in memory.
    """

    def __init__(self, budget: int, counter: TokenCounter) -> None:
        self.blocks: list[MarkdownBlock] = []
        self.noted: list[_LogEntry] = []
        self.folded: list[_LogEntry] = []
        self._budget, self._counter = budget, counter
        self._places: list[int] = []
        self._size, self._most = 0, 2 * MAX_TOKEN_CHARS * budget

    def take(self, entry: _LogEntry) -> None:
        """The next entry of the log."""
        self.blocks.append(entry.block)
        if entry.block.level:
            return
        if entry.noted:
            self.noted.append(entry)
            return
        self.folded.append(entry)
        self._places.append(len(self.blocks) - 1)
        self._size += len(entry.block.text)
        if self._size > self._most:
            self._let_go(self._first_with_room())
            self._most = max(self._most, 2 * self._size)

    def _first_with_room(self) -> int:
        """Place of the first entry of a fold that has room where only the newer ones of its kind have any."""
        room = self._budget
        for place, entry in reversed([*enumerate(self.folded)]):
            price, *others = (
                block_tokens(block, self._budget, self._counter) for block in (entry.block, *entry.headings)
            )
            if price + sum(others) > self._budget:
                continue  # it would not take the room of older ones
            room -= price
            if room < 0:
                return place + 1
        return 0

    def _let_go(self, count: int) -> None:
        for place, entry in zip(self._places[:count], self.folded, strict=False):
            self.blocks[place] = replace(entry.block, text="")
        del self._places[:count], self.folded[:count]
        self._size = sum(len(entry.block.text) for entry in self.folded)


def _visible_entries(blocks: Iterable[MarkdownBlock], own_folds: frozenset[str]) -> Iterator[_LogEntry]:
    """The blocks that may be shown; a fold's heading without its comment."""
    hidden = folded = False
    headings: tuple[MarkdownBlock, ...] = ()
    for block in blocks:
        if 0 < block.level <= 2:
            found = _FOLD.search(block.text)
            folded = found is not None
            hidden = found is not None and (found["fold"] in own_folds or bool(found["mark"]))
            block = replace(block, text=_FOLD.sub("", block.text))
        if block.level:
            headings = (block,) if block.level <= 2 else (*headings[:1], block)
        if not hidden:
            yield _LogEntry(block=block, noted=not folded, headings=headings)
