"""Builds the parts of the system prompt, each cut to its token budget."""

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
_REPORT = re.compile(r"[-*+]\s+\d\d:\d\d [^:：\n]{1,60}[:：]")
_CALL = re.compile(r'recall\(handle="[^"\n]{1,90}"\)\s*$')
_FOLD = re.compile(r"(?<!\s)\s*+<!-- fold (?P<fold>[^\s>]+)(?: (?P<mark>[a-z]+))? -->\s*+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBudgets:
    """Token limits of the parts, and of all together. Source: the budget seed."""

    #: Only advised: SOUL.md is never cut.
    soul: int = 3_000
    awareness: int = 2_000
    memory: int = 4_000
    log: int = 2_000
    total: int = 15_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSources:
    """The texts that the parts are made of."""

    soul: str
    rules: str
    #: What the bot knows about itself: tools, channels, skills.
    awareness: str = ""
    #: Text of MEMORY.md, "" for none.
    memory: str = ""
    #: Text of the day's log, "" for none.
    log: str = ""
    #: The log's day, as in its file name.
    day: str = ""
    #: Ids of those folds of the conversation that its view or summary holds, or that were cleared.
    own_folds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class _LogEntry:
    """A block of the log."""

    block: MarkdownBlock
    #: It is not in the section of a fold.
    by_person: bool
    #: The headings above it, including itself if it is one.
    headings: tuple[MarkdownBlock, ...]

    @property
    def place(self) -> tuple[int, int]:
        """Story, report of a message or call, and its section, the newest first."""
        section = self.headings[0].at if self.headings else -1
        return 1 if _REPORT.match(self.block.text) else 2 if _CALL.search(self.block.text) else 0, -section


def budgets_for(room: int) -> PromptBudgets:
    """The budgets for a request of `room` tokens, so that long files leave room in a small request."""
    usual = PromptBudgets()
    return replace(usual, memory=min(usual.memory, room // MEMORY_SHARE), log=min(usual.log, room // LOG_SHARE))


def system_parts(sources: PromptSources, budgets: PromptBudgets, counter: TokenCounter) -> tuple[SystemPart, ...]:
    """Build the parts in order: SOUL.md, rules, awareness, MEMORY.md, log; empty parts are left out.

    SOUL.md and the rules are never cut. If all together exceed the total, the log is cut first, then MEMORY.md, then
    awareness.
    """
    soul, rules = SystemPart(name=SOUL, text=sources.soul), SystemPart(name=RULES, text=sources.rules)
    rest = budgets.total - counter.text(soul.text) - counter.text(rules.text)
    text, left_out = cut_awareness(sources.awareness, min(budgets.awareness, rest), counter)
    awareness = SystemPart(name=AWARENESS, text=text, left_out=left_out)
    rest -= counter.text(awareness.text)
    memory = memory_part(sources.memory, min(budgets.memory, rest), counter)
    rest -= counter.text(memory.text)
    log = log_part(sources, min(budgets.log, rest), counter)
    return tuple(part for part in (soul, rules, awareness, memory, log) if part.text or part.left_out)


def memory_part(text: str, budget: int, counter: TokenCounter) -> SystemPart:
    """MEMORY.md within its frame, both cut to the budget."""
    frame = ("[MEMORY.md: long-term memory, for reference; the newest message wins]", "[End of MEMORY.md]")
    return _frame_part(MEMORY, frame, budget, counter, lambda room: cut_memory(text, room, counter))


def log_part(sources: PromptSources, budget: int, counter: TokenCounter) -> SystemPart:
    """The day's log within its frame, both cut to the budget."""
    frame = (f"[Daily log of {sources.day}, for reference]", "[End of the daily log]")
    return _frame_part(LOG, frame, budget, counter, lambda room: cut_log(sources.log, room, counter, sources.own_folds))


def cut_memory(text: str, budget: int, counter: TokenCounter) -> Excerpt:
    """Cut MEMORY.md to the budget: all headings, and of each section the newest paragraphs.

    Paragraphs nearer to the end of their section are newer. The newest paragraph of each section comes before the
    second newest of any. If not even the headings fit, those of the upper levels stay.
    """
    plain = "\n".join(split_lines(text)).strip()
    if fits_budget(plain, budget, counter):
        return Excerpt(plain)
    blocks = parse_blocks(text)
    headings = sorted((block for block in blocks if block.level), key=lambda block: block.level)
    candidates = [BlockCandidate(blocks=(block,), group=-2) for block in headings]
    candidates += [BlockCandidate(blocks=(block,), group=block.section) for block in _newest_first(blocks)]
    return select_blocks(blocks, candidates, max(budget, 0), counter)


def cut_log(text: str, budget: int, counter: TokenCounter, own_folds: frozenset[str]) -> Excerpt:
    """Cut the day's log to the budget, without what this conversation knows anyway.

    Sections of own folds, and of folds that are stale or were undone, are left out. What people wrote between the
    sections comes first, then the stories of all folds, so that the whole day is told, then the messages that they
    report, then their calls, always the later ones first. A heading is shown if something under it is.
    """
    entries = _NewestEntries(max(budget, 0), counter)
    for entry in _visible_entries(iter_blocks(text), own_folds):
        entries.add(entry)
    candidates = [
        BlockCandidate(blocks=(*entry.headings, entry.block), group=group)
        for group, members in enumerate((entries.by_person[::-1], entries.folded_in_order()))
        for entry in members
    ]
    return select_blocks(entries.blocks, candidates, max(budget, 0), counter)


def cut_awareness(text: str, budget: int, counter: TokenCounter) -> Excerpt:
    """Cut the awareness text to its first lines within the budget."""
    if fits_budget(text, budget, counter):
        return Excerpt(text)
    lines = text.split("\n")

    def cut(shown: int) -> Excerpt:
        left = count_of(len(lines) - shown, "line")
        return Excerpt("\n".join([*lines[:shown], f"[… {left} left out]"]), (left,))

    fits, too_many = -1, len(lines)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if fits_budget(cut(middle).text, budget, counter):
            fits = middle
        else:
            too_many = middle
    return cut(fits) if fits >= 0 else Excerpt("", (count_of(len(lines), "line"),))


def _frame_part(
    name: str, frame: tuple[str, str], budget: int, counter: TokenCounter, cut: Callable[[int], Excerpt]
) -> SystemPart:
    """The cut text between its frame's lines; it cannot contain the closing line."""
    room = budget - counter.text(f"{frame[0]}\n\n{frame[1]}")
    while True:
        text, left_out = cut(room)
        framed = f"{frame[0]}\n{text.replace(frame[1], frame[1].strip('[]'))}\n{frame[1]}" if text else ""
        over = counter.text(framed) - budget
        if over <= 0 or not framed:
            return SystemPart(name=name, text=framed, left_out=left_out)
        room -= over


def _newest_first(blocks: Sequence[MarkdownBlock]) -> list[MarkdownBlock]:
    """Paragraphs, the newest of every section first; of equally new ones the later first."""
    ages: dict[int, int] = {}
    aged: list[tuple[int, int, MarkdownBlock]] = []
    for block in reversed(blocks):
        if not block.level:
            age = ages[block.section] = ages.get(block.section, 0) + 1
            aged.append((age, -block.at, block))
    return [block for _, _, block in sorted(aged, key=lambda item: item[:2])]


class _NewestEntries:
    """The blocks of a log: all that people wrote, and the newest lines of folds that may fit the budget.

    Older lines of folds are kept without their text. A long log is read at each fold, and all its lines would take
    several times its size in memory.
    """

    def __init__(self, budget: int, counter: TokenCounter) -> None:
        self.blocks: list[MarkdownBlock] = []
        self.by_person: list[_LogEntry] = []
        self.folded: list[_LogEntry] = []
        self._budget, self._counter = budget, counter
        self._indexes: list[int] = []  # of `folded` in `blocks`
        self._size, self._most = 0, 2 * MAX_TOKEN_CHARS * budget  # characters of `folded`, and when to drop some

    def add(self, entry: _LogEntry) -> None:
        """Add the next entry of the log."""
        self.blocks.append(entry.block)
        if entry.block.level:
            return
        if entry.by_person:
            self.by_person.append(entry)
            return
        self.folded.append(entry)
        self._indexes.append(len(self.blocks) - 1)
        self._size += len(entry.block.text)
        if self._size > self._most:
            self._drop_texts(self._fitting())
            self._most = max(self._most, 2 * self._size)

    def folded_in_order(self) -> list[_LogEntry]:
        """The lines of folds, the most wanted first."""
        return [self.folded[index] for index in self._order()]

    def _order(self) -> list[int]:
        return sorted(range(len(self.folded)), key=lambda index: (*self.folded[index].place, -index))

    def _fitting(self) -> set[int]:
        """Indexes of the entries of folds that fit the budget together with all that are more wanted.

        What is added later only takes room from them.
        """
        room, fitting = self._budget, set[int]()
        for index in self._order():
            entry = self.folded[index]
            cost, *others = (
                block_tokens(block, self._budget, self._counter) for block in (entry.block, *entry.headings)
            )
            if cost + sum(others) <= self._budget:  # else it is never shown, and takes no room
                room -= cost
            if room < 0:
                break
            fitting.add(index)
        return fitting

    def _drop_texts(self, fitting: set[int]) -> None:
        for number, (index, entry) in enumerate(zip(self._indexes, self.folded, strict=True)):
            if number not in fitting:
                self.blocks[index] = replace(entry.block, text="")
        self._indexes = [index for number, index in enumerate(self._indexes) if number in fitting]
        self.folded = [entry for number, entry in enumerate(self.folded) if number in fitting]
        self._size = sum(len(entry.block.text) for entry in self.folded)


def _visible_entries(blocks: Iterable[MarkdownBlock], own_folds: frozenset[str]) -> Iterator[_LogEntry]:
    """The blocks that may be shown, without the comments of folds' headings."""
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
            yield _LogEntry(block=block, by_person=not folded, headings=headings)
