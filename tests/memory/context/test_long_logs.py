"""A log that is longer than any budget is cut as if all of it had been looked at, and takes less memory than itself."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.context.markdown import MAX_TOKEN_CHARS, BlockCandidate, MarkdownBlock, parse_blocks, select_blocks
from memory.context.system_prompt import PromptSources, cut_log, log_part
from memory.context.tokens import STRUCTURAL, WEIGHTED, TokenCounter, load_o200k_counter
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
        *(FOLD, FOLD.replace("9:10", "9:11").replace("f1", "f2")),
    ]
)
_FOLD = re.compile(r"\s*<!-- fold \S+ -->$")


def all_looked_at(text: str, budget: int, counter: TokenCounter) -> tuple[str, tuple[str, ...]]:
    """The same cut, made from everything at once."""
    shown: list[MarkdownBlock] = []
    groups: tuple[list[BlockCandidate], list[BlockCandidate]] = ([], [])
    wanted: dict[int, tuple[int, int, int]] = {}
    folded, headings = False, list[MarkdownBlock]()
    for one in parse_blocks(text):
        told = _FOLD.sub("", one.text) if one.level else one.text
        block = MarkdownBlock(at=one.at, section=one.section, level=one.level, text=told, gap=one.gap)
        if 0 < one.level <= 2:
            folded, headings = told != one.text, [block]
        elif one.level:
            headings = [*headings[:1], block]
        else:
            groups[folded].insert(0, BlockCandidate(blocks=(*headings, block), group=int(folded)))
            kind = 1 if told.startswith("- 09:") else 2 if told.startswith("- wrote") else 0
            wanted[block.at] = (kind, -(headings[0].at if headings else -1), -block.at)
        shown.append(block)
    groups[1].sort(key=lambda one: wanted[one.blocks[-1].at])
    piece = select_blocks(shown, [*groups[0], *groups[1]], budget, counter)
    return piece.text, piece.left_out


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.name)
@given(parts=st.lists(st.tuples(LINES, st.integers(1, 200)), max_size=25), budget=st.integers(0, BUDGET))
@example(parts=[(FOLD, 1), (NEW, 200)], budget=BUDGET)
@example(parts=[(FOLD, 1), ("- short", 9), ("- 09:09 Bot: 好的", 200), ("- short", 3)], budget=BUDGET)
@example(parts=[(FOLD, 1), (NEW, 50), (TOO_LONG, 1), (NEW, 200)], budget=BUDGET)
@example(parts=[(FOLD, 1), (NEW, 50), ("界" * 200, 50)], budget=BUDGET)
@example(parts=[(FOLD, 1), (NEW, 1), (FOLD, 1), ("- 09:09 Bot: 好的", 1)], budget=38)
def test_what_is_let_go_of_would_not_have_been_kept(
    counter: TokenCounter, parts: list[tuple[str, int]], budget: int
) -> None:
    text = "\n".join(line if line.startswith("#") else "\n\n".join([line] * times) for line, times in parts)
    assert cut_log(text, budget, counter, frozenset()) == all_looked_at(text, budget, counter)


def test_a_long_log_is_cut_in_less_memory_than_its_text_takes() -> None:
    section = f"\n\n{FOLD}\n\n" + f"- {'long ' * 60}\n" * 10
    sources = PromptSources(soul="", rules="", log="# 2026-11-20" + section * 1_000)
    assert peak(lambda: log_part(sources, 2_000, WEIGHTED)) < len(sources.log) * 3 / 4
