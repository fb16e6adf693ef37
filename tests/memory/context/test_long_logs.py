"""A log that is longer than any budget is cut as if all of it had been looked at, and takes less
memory than itself.
"""

import re
from collections.abc import Set

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.context.markdown_excerpts import MAX_TOKEN_CHARS, BlockCandidate, select_blocks
from memory.context.system_prompt import KnownLogParts, PromptSources, cut_log, log_part
from memory.context.tokens import STRUCTURAL, WEIGHTED, TokenCounter, load_o200k_counter
from memory.text.markdown import MarkdownBlock, parse_blocks
from tests.weighing import peak

COUNTERS = [WEIGHTED, STRUCTURAL, load_o200k_counter()]
BUDGET = 60
NEW = "a line of a fold, long enough to be worth its place"
TOO_LONG = f"### {'long ' * 80}"
FOLD = "## 09:10 · web · turns 1–4 <!-- fold f1 -->"
LINES = st.sampled_from(
    [
        *(
            NEW,
            "- short",
            "- 一句关于天气的话",
            "- 09:08 User: the plan is ready, and the price is 385 euros",
            "- 09:09 Bot: 好的",
            '- wrote plan.md → 200 bytes recall(handle="web:c1~7x9k2mqd#41.0")',
            "-" * 90,
            "word " * 30,
            "界" * 200,
            "x" * (MAX_TOKEN_CHARS * BUDGET + 1),
        ),
        *("### a heading below", TOO_LONG, "", "## By hand", "words of a person's own"),
        *(
            FOLD,
            FOLD.replace("9:10", "9:11").replace("f1", "f2"),
            FOLD.replace("f1 -->", "f3 stale -->"),
        ),
        *(f"  {FOLD}", f"{FOLD} and more", "<!-- fold f1 -->", "```", "~~~~"),
    ]
)
_FOLD = re.compile(r"\s*<!-- fold (\S+)( stale)? -->\s*$")
NONE: frozenset[str] = frozenset()


def all_looked_at(
    text: str, budget: int, counter: TokenCounter, own_folds: Set[str]
) -> tuple[str, tuple[str, ...]]:
    """The same cut, made from everything at once."""
    shown: list[MarkdownBlock] = []
    groups: tuple[list[BlockCandidate], list[BlockCandidate]] = ([], [])
    wanted: dict[int, tuple[int, int, int]] = {}
    folded, hidden, headings = False, False, list[MarkdownBlock]()
    for one in parse_blocks(text):
        told = _FOLD.sub("", one.text) if 0 < one.level <= 2 else one.text
        block = MarkdownBlock(
            at=one.at, section=one.section, level=one.level, text=told, gap=one.gap
        )
        if 0 < one.level <= 2:
            found = _FOLD.search(one.text)
            folded, headings = found is not None, [block]
            hidden = found is not None and (found[1] in own_folds or found[2] is not None)
        elif one.level:
            headings = [*headings[:1], block]
        elif not hidden:
            groups[folded].insert(0, BlockCandidate(blocks=(*headings, block), group=int(folded)))
            kind = 1 if told.startswith("- 09:") else 2 if told.startswith("- wrote") else 0
            wanted[block.at] = (kind, -(headings[0].at if headings else -1), -block.at)
        if not hidden:
            shown.append(block)
    groups[1].sort(key=lambda one: wanted[one.blocks[-1].at])
    piece = select_blocks(shown, [*groups[0], *groups[1]], budget, counter)
    return piece.text, piece.left_out


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.name)
@given(
    parts=st.lists(st.tuples(LINES, st.integers(1, 200)), max_size=25),
    budget=st.integers(0, BUDGET),
    own=st.sets(st.sampled_from(["f1", "f2"])),
)
@example(parts=[(FOLD, 1), (NEW, 200)], budget=BUDGET, own=set())
@example(
    parts=[(FOLD, 1), ("- short", 9), ("- 09:09 Bot: 好的", 200), ("- short", 3)],
    budget=BUDGET,
    own=set(),
)
@example(parts=[(FOLD, 1), (NEW, 50), (TOO_LONG, 1), (NEW, 200)], budget=BUDGET, own=set())
@example(parts=[(FOLD, 1), (NEW, 50), ("界" * 200, 50)], budget=BUDGET, own=set())
@example(parts=[(FOLD, 1), (NEW, 1), (FOLD, 1), ("- 09:09 Bot: 好的", 1)], budget=38, own={"f2"})
def test_a_log_is_cut_as_if_all_of_it_had_been_looked_at(
    counter: TokenCounter, parts: list[tuple[str, int]], budget: int, own: set[str]
) -> None:
    text = "\n".join(line if "#" in line else "\n\n".join([line] * times) for line, times in parts)
    known = KnownLogParts(max_parts=3, max_read=2)
    expected = all_looked_at(text, budget, counter, own)
    assert cut_log(text, budget, counter, frozenset(own), known) == expected
    assert cut_log(text, budget, counter, frozenset(own), known) == expected


def a_day(folds: int) -> str:
    """A day's log of so many folds."""
    return "# 2026-11-20\n\n- of a person\n\n" + "\n".join(
        f"{FOLD.replace('f1', f'f{at}')}\n\n- They spoke of order {at}.\n- 09:08 User: Where is "
        f"order {at}?\n"
        for at in range(folds)
    )


def test_a_fold_parses_as_much_of_a_log_a_hundred_times_as_long() -> None:
    def parsed(folds: int) -> int:
        known = KnownLogParts()
        cut_log(a_day(folds), 200, WEIGHTED, NONE, known)
        before = known.parsed
        cut_log(a_day(folds + 1), 200, WEIGHTED, NONE, known)
        return known.parsed - before

    few, many = parsed(20), parsed(2_000)
    assert few < 500
    assert many < few + 50  # the numbers have more digits


@pytest.mark.parametrize(("folds", "again"), [(3, False), (4, True)])
def test_only_so_many_parts_of_logs_are_known(folds: int, again: bool) -> None:
    known = KnownLogParts(max_parts=4)  # one is before the first fold
    cut_log(a_day(folds), 0, WEIGHTED, NONE, known)
    before = known.parsed
    cut_log(a_day(folds), 0, WEIGHTED, NONE, known)
    assert (known.parsed > before) is again


@pytest.mark.parametrize(("folds", "again"), [(2, False), (3, True)])
def test_only_so_many_parts_of_logs_are_read_once(folds: int, again: bool) -> None:
    known = KnownLogParts(max_read=3)
    cut_log(a_day(folds), 1_000, WEIGHTED, NONE, known)
    before = known.parsed
    cut_log(a_day(folds), 1_000, WEIGHTED, NONE, known)
    assert (known.parsed > before) is again


def test_a_long_log_is_cut_in_less_memory_than_its_text_takes() -> None:
    section = f"\n\n{FOLD}\n\n" + f"- {'long ' * 60}\n" * 10
    sources = PromptSources(soul="", rules="", log="# 2026-11-20" + section * 1_000)
    assert peak(lambda: log_part(sources, 2_000, WEIGHTED)) < len(sources.log) * 3 / 4
