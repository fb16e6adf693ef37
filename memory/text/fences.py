"""Fenced code blocks in Markdown. Pure."""

import re
from collections.abc import Iterable

_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)


def is_fence(line: str) -> bool:
    """Whether the line looks like the opening or closing line of a fence."""
    return _FENCE.match(line) is not None


def fence_after(fence: str, line: str) -> str:
    """The fence that is open behind this line, "" for none.

    Args:
        fence: the fence that is open before it.
    """
    found = _FENCE.match(line)
    if found is None:
        return fence
    if fence:
        return "" if found["fence"].startswith(fence) and not found["info"].strip() else fence
    # ```code``` on one line is a code span, not a fence (CommonMark 4.5)
    return "" if found["fence"][0] == "`" and "`" in found["info"] else found["fence"]


def open_fence(lines: Iterable[str]) -> str:
    """The fence that these lines leave open, "" for none."""
    fence = ""
    for line in lines:
        fence = fence_after(fence, line)
    return fence
