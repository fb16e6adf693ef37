"""Builds the parts of the system prompt, each cut to its token budget."""

import hashlib
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import groupby

from memory.context.markdown_excerpts import (
    BlockCandidate,
    Excerpt,
    block_tokens,
    fit_excerpt,
    fits_budget,
    note_left_out,
    select_blocks,
    short_title,
)
from memory.context.tokens import TokenCounter
from memory.conversation import SystemPart
from memory.text.bullets import category_of
from memory.text.markdown import (
    MarkdownBlock,
    count_of,
    normalize_line_ends,
    parse_blocks,
    parse_part,
    split_folds,
    split_lines,
)

SOUL, RULES, AWARENESS, MEMORY, LOG = "SOUL.md", "rules", "awareness", "MEMORY.md", "log"
# of a small request budget, MEMORY.md and the log get at most a fifth and a tenth
MEMORY_SHARE, LOG_SHARE = 5, 10
MAX_KNOWN_PARTS = 4_096  # of logs, some 1 KB each
# parts whose entries are cached, and characters of such a part
MAX_READ_PARTS, MAX_READ_CHARS = 64, 8_192
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


class _Kind(IntEnum):
    """Of a log's paragraph. Those of folds are in the order in which they are wanted."""

    BY_PERSON, STORY, REPORT, CALL = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LogEntry:
    """A block of a part of the log."""

    #: A fold's heading is without its comment.
    block: MarkdownBlock
    #: None for a heading.
    kind: _Kind | None
    #: The headings above it, including itself if it is one.
    headings: tuple[MarkdownBlock, ...]
    #: Id of the fold whose section it is in, "" outside.
    fold: str
    #: The fold is stale or was undone.
    has_mark: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _LogSection:
    """What is known of a heading and the paragraphs up to the next heading, without their texts."""

    #: "" for none.
    title: str
    fold: str
    has_mark: bool
    #: There is a blank line before one of its blocks.
    gap: bool
    #: Paragraphs of each kind.
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LogPart:
    """What is known of a log's text from a fold's heading to the next one's."""

    sections: tuple[_LogSection, ...]
    ends_in_gap: bool


class KnownLogParts:
    """What is known of the parts of logs: at a fold, the log has one new part.

    Used by any thread: each step on the dicts is atomic, and a part that two threads parse is the
    same.
    """

    def __init__(self, max_parts: int = MAX_KNOWN_PARTS, max_read: int = MAX_READ_PARTS) -> None:
        #: Characters that were parsed.
        self.parsed = 0
        self._max_parts, self._max_read = max_parts, max_read
        self._parts: OrderedDict[bytes, _LogPart] = OrderedDict()  # by hash
        # by text, of those shown last
        self._entries: OrderedDict[str, list[_LogEntry]] = OrderedDict()

    def describe(self, texts: Iterable[str]) -> list[_LogPart]:
        """Return what is known of the parts with these texts; those that are not known are
        parsed.
        """
        return [self._describe_part(text) for text in texts]

    def read(self, text: str) -> list[_LogEntry]:
        """Return the entries of a part."""
        entries = self._entries.pop(text, None) or self._parse(text)[0]
        if len(text) <= MAX_READ_CHARS:
            self._entries[text] = entries
            if len(self._entries) > self._max_read:
                self._entries.popitem(last=False)
        return entries

    def _describe_part(self, text: str) -> _LogPart:
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        part = self._parts.pop(key, None) or _describe_entries(*self._parse(text))
        self._parts[key] = part
        if len(self._parts) > self._max_parts:
            self._parts.popitem(last=False)
        return part

    def _parse(self, text: str) -> tuple[list[_LogEntry], bool]:
        blocks, ends_in_gap = parse_part(text)
        self.parsed += len(text)
        return list(_iter_entries(blocks)), ends_in_gap


class _ExcerptWriter:
    """Joins the shown blocks of a log, with a blank line wherever it had one."""

    def __init__(self) -> None:
        #: Titles of sections, each with the number of entries that are not shown.
        self.left_out: list[tuple[str, int]] = []
        self._pieces: list[str] = []
        self._has_gap = False

    def note_gap(self, has_gap: bool) -> None:
        """Note whether a blank line stands here; it is written before the next block."""
        self._has_gap = self._has_gap or has_gap

    def add(self, text: str) -> None:
        self._pieces += ["\n\n" if self._has_gap else "\n", text]
        self._has_gap = False

    def excerpt(self) -> Excerpt:
        return note_left_out("".join(self._pieces[1:]), self.left_out)


class _Log:
    """A day's log, of which only those parts are parsed that are new or may be shown.

    Args:
        own_folds: whose sections are hidden.
    """

    def __init__(
        self,
        text: str,
        budget: int,
        counter: TokenCounter,
        own_folds: frozenset[str],
        known: KnownLogParts,
    ) -> None:
        self._text, self._budget, self._counter = normalize_line_ends(text), budget, counter
        self._own_folds, self._known = own_folds, known
        self._slices = list(split_folds(self._text))
        self._parts = known.describe(self._text[one] for one in self._slices)
        self._sections = [
            [one for one in part.sections if self._is_visible(one)] for part in self._parts
        ]
        self._entries: dict[int, list[_LogEntry]] = {}
        self._costs: dict[tuple[int, int], int] = {}

    def select(self, left: int) -> tuple[Excerpt, bool]:
        """Return the excerpt of the most wanted entries of so many tokens, and whether it has
        any.
        """
        chosen: dict[int, set[int]] = {}  # positions of blocks by part
        for kinds in ((_Kind.BY_PERSON,), (_Kind.STORY, _Kind.REPORT, _Kind.CALL)):
            for part, entry in (found for kind in kinds for found in self._newest_first(kind)):
                shown = chosen.get(part, set())
                new = [block for block in (*entry.headings, entry.block) if block.at not in shown]
                cost = sum(self._cost_of(part, block) for block in new)
                if cost <= left:
                    left -= cost
                    chosen.setdefault(part, set()).update(block.at for block in new)
                elif cost <= self._budget:  # else it is not shown in any case
                    break
        return self._excerpt(chosen), bool(chosen)

    def _is_visible(self, one: _LogSection | _LogEntry) -> bool:
        return not one.fold or not (one.has_mark or one.fold in self._own_folds)

    def _newest_first(self, kind: _Kind) -> Iterator[tuple[int, _LogEntry]]:
        for part in reversed(range(len(self._parts))):
            if any(section.counts[kind] for section in self._sections[part]):
                yield from (
                    (part, entry) for entry in reversed(self._read_part(part)) if entry.kind == kind
                )

    def _read_part(self, part: int) -> list[_LogEntry]:
        """The visible entries of a part."""
        if part not in self._entries:
            entries = self._known.read(self._text[self._slices[part]])
            self._entries[part] = [entry for entry in entries if self._is_visible(entry)]
        return self._entries[part]

    def _has_gap_before(self, part: int) -> bool:
        return part > 0 and self._parts[part - 1].ends_in_gap

    def _cost_of(self, part: int, block: MarkdownBlock) -> int:
        if (part, block.at) not in self._costs:
            block = replace(block, gap=block.gap or (block.at == 0 and self._has_gap_before(part)))
            self._costs[part, block.at] = block_tokens(block, self._budget, self._counter)
        return self._costs[part, block.at]

    def _excerpt(self, chosen: Mapping[int, Set[int]]) -> Excerpt:
        writer = _ExcerptWriter()
        for part, sections in enumerate(self._sections):
            writer.note_gap(self._begins_with_gap(part))
            if part in chosen:
                self._write_part(writer, part, chosen[part])
                continue
            writer.note_gap(any(section.gap for section in sections))
            writer.left_out += [(one.title, sum(one.counts)) for one in sections if any(one.counts)]
        return writer.excerpt()

    def _begins_with_gap(self, part: int) -> bool:
        """Tell whether a gap stands before the first section of a part, which must be shown."""
        if not self._sections[part] or not self._has_gap_before(part):
            return False
        return self._is_visible(self._parts[part].sections[0])

    def _write_part(self, writer: _ExcerptWriter, part: int, chosen: Set[int]) -> None:
        """Write the chosen blocks of a part, and count the entries of each section beside them."""
        left_out: dict[int, int] = {}
        titles = {-1: ""}
        for entry in self._read_part(part):
            block = entry.block
            writer.note_gap(block.gap)
            if block.level:
                titles[block.at] = block.text
            if block.at in chosen:
                writer.add(block.text)
            elif entry.kind is not None:
                left_out[block.section] = left_out.get(block.section, 0) + 1
        writer.left_out += [(titles[section], count) for section, count in left_out.items()]


def _iter_entries(blocks: Iterable[MarkdownBlock]) -> Iterator[_LogEntry]:
    headings: tuple[MarkdownBlock, ...] = ()
    fold, has_mark = "", False
    for block in blocks:
        if 0 < block.level <= 2:
            found = _FOLD.search(block.text)
            fold, has_mark = (found["fold"], bool(found["mark"])) if found else ("", False)
            block = replace(block, text=_FOLD.sub("", block.text))
        if block.level:
            headings = (block,) if block.level <= 2 else (*headings[:1], block)
        kind = None if block.level else _kind_of(block.text) if fold else _Kind.BY_PERSON
        yield _LogEntry(block=block, kind=kind, headings=headings, fold=fold, has_mark=has_mark)


def _kind_of(text: str) -> _Kind:
    return (
        _Kind.REPORT if _REPORT.match(text) else _Kind.CALL if _CALL.search(text) else _Kind.STORY
    )


def _describe_entries(entries: Sequence[_LogEntry], ends_in_gap: bool) -> _LogPart:
    sections: list[_LogSection] = []
    for _, grouped in groupby(
        entries, key=lambda entry: entry.block.at if entry.block.level else entry.block.section
    ):
        members = list(grouped)
        first = members[0]
        counts = Counter(entry.kind for entry in members)
        sections.append(
            _LogSection(
                title=short_title(first.block.text) if first.block.level else "",
                fold=first.fold,
                has_mark=first.has_mark,
                gap=any(entry.block.gap for entry in members),
                counts=tuple(counts[kind] for kind in _Kind),
            )
        )
    return _LogPart(sections=tuple(sections), ends_in_gap=ends_in_gap)


def budgets_for(tokens: int) -> PromptBudgets:
    """The budgets for a request of `tokens` tokens, so that long files do not fill a small
    request.
    """
    usual = PromptBudgets()
    return replace(
        usual,
        memory=min(usual.memory, tokens // MEMORY_SHARE),
        log=min(usual.log, tokens // LOG_SHARE),
    )


def system_parts(
    sources: PromptSources,
    budgets: PromptBudgets,
    counter: TokenCounter,
    known_parts: KnownLogParts | None = None,
) -> tuple[SystemPart, ...]:
    """Build the parts in order: SOUL.md, rules, awareness, MEMORY.md, log; empty parts are left
    out.

    SOUL.md and the rules are never cut. If all together exceed the total, the log is cut first,
    then MEMORY.md, then awareness.
    """
    soul, rules = (
        SystemPart(name=SOUL, text=sources.soul),
        SystemPart(name=RULES, text=sources.rules),
    )
    rest = budgets.total - counter.text(soul.text) - counter.text(rules.text)
    text, left_out = cut_awareness(sources.awareness, min(budgets.awareness, rest), counter)
    awareness = SystemPart(name=AWARENESS, text=text, left_out=left_out)
    rest -= counter.text(awareness.text)
    memory = memory_part(sources.memory, min(budgets.memory, rest), counter)
    rest -= counter.text(memory.text)
    log = log_part(sources, min(budgets.log, rest), counter, known_parts)
    return tuple(
        part for part in (soul, rules, awareness, memory, log) if part.text or part.left_out
    )


def memory_part(text: str, budget: int, counter: TokenCounter) -> SystemPart:
    """MEMORY.md within its frame, both cut to the budget."""
    titles = [line for line in split_lines(text) if line.startswith("#")]
    has_instructions = any(map(_names_instructions, titles))
    how = "; what stands under Instructions is how to answer" if has_instructions else ""
    frame = (
        f"[MEMORY.md: long-term memory, for reference; the newest message wins{how}]",
        "[End of MEMORY.md]",
    )
    return _frame_part(MEMORY, frame, budget, counter, lambda left: cut_memory(text, left, counter))


def log_part(
    sources: PromptSources,
    budget: int,
    counter: TokenCounter,
    known_parts: KnownLogParts | None = None,
) -> SystemPart:
    """The day's log within its frame, both cut to the budget."""
    known = known_parts or KnownLogParts()
    frame = (f"[Daily log of {sources.day}, for reference]", "[End of the daily log]")
    return _frame_part(
        LOG,
        frame,
        budget,
        counter,
        lambda left: cut_log(sources.log, left, counter, sources.own_folds, known),
    )


def cut_memory(text: str, budget: int, counter: TokenCounter) -> Excerpt:
    """Cut MEMORY.md to the budget: all headings, and of each section the newest paragraphs.

    Standing instructions come before all else, for each of them holds for the next reply.
    Paragraphs nearer to the end of their section are newer. The newest paragraph of each section
    comes before the second newest of any. If not even the headings fit, those of the upper levels
    stay.
    """
    plain = "\n".join(split_lines(text)).strip()
    if fits_budget(plain, budget, counter):
        return Excerpt(plain)
    blocks = parse_blocks(text)
    headings = sorted((block for block in blocks if block.level), key=lambda block: block.level)
    newest = _newest_first(blocks)
    candidates = [
        BlockCandidate(blocks=(blocks[block.section], block), group=-3)
        for block in newest
        if _is_instruction(block, blocks)
    ]
    candidates += [BlockCandidate(blocks=(block,), group=-2) for block in headings]
    candidates += [BlockCandidate(blocks=(block,), group=block.section) for block in newest]
    return select_blocks(blocks, candidates, max(budget, 0), counter)


def cut_log(
    text: str,
    budget: int,
    counter: TokenCounter,
    own_folds: frozenset[str],
    known_parts: KnownLogParts | None = None,
) -> Excerpt:
    """Cut the day's log to the budget, without what this conversation knows anyway.

    Sections of own folds, and of folds that are stale or were undone, are left out. What people
    wrote between the sections comes first, then the stories of all folds, so that the whole day is
    told, then the messages that they report, then their calls, always the later ones first. A
    heading is shown if something under it is.

    Args:
        known_parts: parts of logs that need not be parsed; what is parsed is added.
    """
    log = _Log(text, max(budget, 0), counter, own_folds, known_parts or KnownLogParts())
    return fit_excerpt(log.select, max(budget, 0), counter)


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
    name: str,
    frame: tuple[str, str],
    budget: int,
    counter: TokenCounter,
    cut: Callable[[int], Excerpt],
) -> SystemPart:
    """The cut text between its frame's lines; it cannot contain the closing line."""
    left = budget - counter.text(f"{frame[0]}\n\n{frame[1]}")
    while True:
        text, left_out = cut(left)
        framed = (
            f"{frame[0]}\n{text.replace(frame[1], frame[1].strip('[]'))}\n{frame[1]}"
            if text
            else ""
        )
        over = counter.text(framed) - budget
        if over <= 0 or not framed:
            return SystemPart(name=name, text=framed, left_out=left_out)
        left -= over


def _is_instruction(block: MarkdownBlock, blocks: Sequence[MarkdownBlock]) -> bool:
    """Whether a paragraph stands under the heading of standing instructions."""
    return block.section >= 0 and _names_instructions(blocks[block.section].text)


def _names_instructions(heading: str) -> bool:
    return category_of(heading.lstrip("# ")) == "instruction"


def _newest_first(blocks: Sequence[MarkdownBlock]) -> list[MarkdownBlock]:
    """Paragraphs, the newest of every section first; of equally new ones the later first."""
    ages: dict[int, int] = {}
    aged: list[tuple[int, int, MarkdownBlock]] = []
    for block in reversed(blocks):
        if not block.level:
            age = ages[block.section] = ages.get(block.section, 0) + 1
            aged.append((age, -block.at, block))
    return [block for _, _, block in sorted(aged, key=lambda item: item[:2])]
