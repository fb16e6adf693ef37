"""The work that tables can cause, counted in function calls, and that none of their text is
lost.
"""

import re
import sys
from collections.abc import Callable
from html import unescape
from types import FrameType

import pytest

from channels.telegram.html import to_html
from channels.toolkit.markdown import to_plain
from tests.cases import every_case

LONGEST = 20_000
# a table of 20,000 characters whose rows leave out most cells took 7.5 million
MOST_CALLS = 600_000
HEAD = "| a | b |\n|---|---|\n"
TEXTS = {
    "rows": HEAD + "| x | y |\n" * 2_000,
    "as many rows as are drawn": HEAD + "| *x* | `y` |\n" * 1_480,
    "cells left out": "|" + "a|" * 1_600 + "\n|" + "-|" * 1_600 + "\n" + "x\n" * 6_000,
    "cells left out in quotes": "> |" + "a|" * 100 + "\n> |" + "-|" * 100 + "\n" + "> x\n" * 4_000,
    "cells left out in a list": "- |" + "a|" * 100 + "\n  |" + "-|" * 100 + "\n" + "  x\n" * 4_000,
    "cells left out after carriage returns": "|"
    + "a|" * 100
    + "\r|"
    + "-|" * 100
    + "\r"
    + "x\r" * 9_000,
    "cells left out after a line separator": "|"
    + "a|" * 100
    + "\n|"
    + "-|" * 100
    + "\n"
    + "x\u2028\u2028y\n" * 4_000,
    "many tables": "|a|\n|-|\n\n" * 2_200,
    "tables without an outer bar": "a|b\n-|-\nx\n\n" * 1_500,
}


def calls(work: Callable[[str], str], text: str) -> int:
    """Count the function calls of `work`."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("work", [to_plain, to_html])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_S66_tables_make_no_more_work_than_other_text(
    work: Callable[[str], str], text: str
) -> None:
    work(HEAD)  # what is imported or made once
    assert calls(work, text[:LONGEST]) < MOST_CALLS


@every_case("text", TEXTS.values())
def test_no_letter_is_lost_where_a_table_is_too_large_to_be_drawn(text: str) -> None:
    shown = to_plain(text[:LONGEST]), unescape(re.sub("<[^>]*>", "", to_html(text[:LONGEST])))
    assert [re.sub(r"[^a-z]", "", one) for one in shown] == [
        re.sub(r"[^a-z]", "", text[:LONGEST])
    ] * 2


@pytest.mark.parametrize(
    ("text", "plain", "html"),
    [
        (
            HEAD + "| x | y |\n" * 1_400,
            "a | b" + "\n• x | y" * 1_400,
            "<pre>a | b\n--+--" + "\nx | y" * 1_400 + "</pre>",
        ),
        (
            "```\n" + "|-|-|\n" * 20 + "```",
            "|-|-|\n" * 19 + "|-|-|",
            "<pre>" + "|-|-|\n" * 19 + "|-|-|</pre>",
        ),
    ],
)
def test_a_large_table_that_is_drawn_is_drawn_whole(text: str, plain: str, html: str) -> None:
    assert (to_plain(text), to_html(text)) == (plain, html)
