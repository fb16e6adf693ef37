"""Sentences and fixed headings in Chinese and English. Pure."""

import re
from collections.abc import Mapping

from memory.text.segments import iter_sentences

_MARKER = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+•]|\d{1,3}[.)、])\s+)?(?:\[[ xX]\]\s+)?")


_TITLE_DOT = "|".join(rf"(?<=\b{word})\." for word in ("Dr", "Mr", "Ms", "Mrs", "Prof", "vs", "e.g", "i.e"))


_SENTENCE = re.compile(
    r"(?:`[^`]*`|「[^」]{0,300}」|『[^』]{0,300}』|《[^》]{0,300}》|“[^”]{0,300}”|\"[^\"]*\"|[^.!?。！？]|[.!?](?!\s|$)"
    rf"|{_TITLE_DOT})++[.!?。！？]*[”」』\"]?\s*|.+"
)


def split_line(line: str) -> tuple[str, list[str]]:
    """A line's list mark, and its sentences with the space behind them."""
    marker = _MARKER.match(line)
    start = marker.end() if marker else 0
    return line[:start], [part for part in iter_sentences(line[start:], _SENTENCE) if part.strip()]


HEADINGS: Mapping[str, Mapping[str, str]] = {
    "zh": {
        "state": "目标与现状",
        "decisions": "决定与理由",
        "facts": "事实与偏好",
        "tools": "工具做了什么、发现了什么",
        "errors": "错误与解决办法",
        "open": "未完成的事",
    },
    "en": {
        "state": "Goal and state",
        "decisions": "Decisions and why",
        "facts": "Facts and preferences",
        "tools": "What tools did and found",
        "errors": "Errors and how they were resolved",
        "open": "Open items",
    },
}
