"""The measured tables of docs/context.md: each block is found, filled, and lists every
recording.
"""

import re
from itertools import takewhile

import pytest

from benchmarks import context
from benchmarks.cases import CASES, FITTED
from benchmarks.context import Headline, Measured
from benchmarks.context_page import NAMES_ZH, PAGES, fill_page, format_blocks
from memory.context.policies.policies import POLICIES
from tests.by_night import by_night

FIGURES = {
    name: {
        policy: {
            "visible_percent": 50.0,
            "tokens_mean": 1_000,
            "cost": 1.0,
            "either_percent": 75.0 + number,
            "over_budget": 0,
        }
        for number, policy in enumerate(POLICIES)
    }
    for name in CASES
}
MEASURED = Measured(
    texts=(),
    own=FIGURES,
    equal=FIGURES,
    headlines=tuple(
        Headline(name=f"  {name}", seed="51 or 111", ours="111, a change of topic")
        for name in NAMES_ZH
    ),
)


@pytest.mark.parametrize("lang", PAGES)
def test_every_block_of_a_page_is_filled_and_nothing_else_changes(lang: str) -> None:
    page, blocks = PAGES[lang].read_text("utf-8"), format_blocks(MEASURED, lang)
    assert re.findall(r"<!-- measured: (\w+) -->", page) == ["owned", "equal", "found", "plans"]
    filled = fill_page(page, blocks)
    assert all(text in filled for text in blocks.values())
    assert fill_page(filled, blocks) == filled
    outside = re.compile(r"(?<=-->\n).*?(?=<!-- end of measured -->)", re.DOTALL)
    assert outside.sub("", filled) == outside.sub("", page)
    assert "75 " in blocks["found"]
    assert "80 %" in blocks["found"]


@pytest.mark.parametrize("lang", PAGES)
def test_the_tables_of_a_page_list_every_recording(lang: str) -> None:
    page = PAGES[lang].read_text("utf-8")
    for block in ("owned", "equal"):
        lines = page.partition(f"<!-- measured: {block} -->")[2].strip().splitlines()[2:]
        assert [line.split(" | ")[0].removeprefix("| ") for line in takewhile(bool, lines)] == list(
            CASES
        )


def test_a_page_with_an_unknown_block_is_refused() -> None:
    with pytest.raises(KeyError):
        fill_page("<!-- measured: speed -->\n<!-- end of measured -->", {})


@by_night
def test_every_published_figure_has_a_chinese_name() -> None:
    names = {
        row.name.strip()
        for headline in (context.topics, context.weights)
        for row in headline()
        if row.seed
    }
    assert names <= NAMES_ZH.keys()
    assert [made.__name__ for made in FITTED] == list(CASES)[: len(FITTED)]
