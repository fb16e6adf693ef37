"""Selects as many blocks of a Markdown text as fit a token budget."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory.context.tokens import TokenCounter
from memory.text.markdown import MarkdownBlock, count_of, join_blocks

# characters per token of real text; a text with more need not be counted to be too long
MAX_TOKEN_CHARS = 40
MAX_NAMED = 20  # sections named in the note about what was left out
MAX_TITLE = 80  # characters of a section's name


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


def select_blocks(
    blocks: Sequence[MarkdownBlock],
    candidates: Sequence[BlockCandidate],
    budget: int,
    counter: TokenCounter,
) -> Excerpt:
    """Select as many candidates as fit the budget together with the note about the rest, the first
    ones first.

    A candidate that does not fit ends its group, unless it is over the budget even alone.
    """
    costs: dict[int, int] = {}

    def cost_of(block: MarkdownBlock) -> int:
        if block.at not in costs:
            costs[block.at] = block_tokens(block, budget, counter)
        return costs[block.at]

    wanted = {candidate.blocks[-1].at for candidate in candidates}

    def select(left: int) -> tuple[Excerpt, bool]:
        chosen = _choose_blocks(candidates, left, budget, cost_of)
        return _make_excerpt(blocks, chosen, frozenset(wanted - chosen)), bool(chosen)

    return fit_excerpt(select, budget, counter)


def fit_excerpt(
    select: Callable[[int], tuple[Excerpt, bool]], budget: int, counter: TokenCounter
) -> Excerpt:
    """Select with less left until the excerpt fits the budget with its note.

    Args:
        select: the excerpt of blocks of so many tokens, and whether it has any block.
    """
    left = budget
    while True:
        excerpt, has_blocks = select(left)
        over = counter.text(excerpt.text) - budget
        if over <= 0:
            return excerpt
        if not has_blocks:
            return Excerpt("", excerpt.left_out)
        left -= over


def fits_budget(text: str, budget: int, counter: TokenCounter) -> bool:
    """Whether a text fits a budget; one that obviously does not is not counted."""
    return len(text) <= MAX_TOKEN_CHARS * budget and counter.text(text) <= budget


def block_tokens(block: MarkdownBlock, budget: int, counter: TokenCounter) -> int:
    """Tokens of a block with its line ends; `budget` + 1 if it is obviously longer than the
    budget.
    """
    text = f"\n{block.text}\n" if block.gap else f"{block.text}\n"
    return counter.text(text) if len(text) <= MAX_TOKEN_CHARS * budget else budget + 1


def _choose_blocks(
    candidates: Sequence[BlockCandidate],
    left: int,
    budget: int,
    cost_of: Callable[[MarkdownBlock], int],
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


def _make_excerpt(
    blocks: Sequence[MarkdownBlock], chosen: frozenset[int], missed: frozenset[int]
) -> Excerpt:
    titles = {block.at: block.text for block in blocks if block.level}
    left_out = [block for block in blocks if block.at in missed]
    headings = sum(bool(block.level) for block in left_out)
    counts = Counter(block.section for block in left_out if not block.level)
    text = join_blocks(blocks, lambda block: block.at in chosen)
    return note_left_out(
        text, [(titles.get(at, ""), count) for at, count in counts.items()], headings
    )


def note_left_out(text: str, sections: Sequence[tuple[str, int]], headings: int = 0) -> Excerpt:
    """The excerpt of a file with a note about what was left out.

    Args:
        sections: heading, "" for none, and paragraphs that were left out below it.
        headings: that were left out themselves.
    """
    paragraphs = sum(count for _, count in sections)
    if not paragraphs + headings:
        return Excerpt(text)
    counts = ((paragraphs, "paragraph"), (headings, "heading"))
    counted = " and ".join(count_of(count, what) for count, what in counts if count)
    note = f"[… {counted} left out; read_file shows the whole file]"
    lines = [
        f"{short_title(title) or 'top'}: {count_of(count, 'paragraph')}"
        for title, count in sections[:MAX_NAMED]
    ]
    if rest := sections[MAX_NAMED:]:
        unnamed = count_of(sum(count for _, count in rest), "paragraph")
        lines.append(f"{count_of(len(rest), 'more section')}: {unnamed}")
    if headings:
        lines.append(count_of(headings, "heading"))
    return Excerpt(f"{text}\n\n{note}" if text else note, tuple(lines))


def short_title(heading: str) -> str:
    """A heading as a section's name."""
    return heading.strip()[:MAX_TITLE]
