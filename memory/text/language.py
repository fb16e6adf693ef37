"""Chinese and English: which of the two a text is written in, its sentences, and the fixed headings. Pure."""

import re
from collections.abc import Mapping

from memory.text.segments import iter_sentences

# Kana, Chinese characters with extension A and the compatibility forms, Hangul: the inside of a character class.
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
CJK_CHARACTER = re.compile(f"[{CJK}]")
MIN_CJK_SHARE = 0.2  # of a text's letters; Chinese about software is full of Latin words
_MARKER = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+•]|\d{1,3}[.)、])\s+)?(?:\[[ xX]\]\s+)?")
_TITLE_DOT = "|".join(rf"(?<=\b{word})\." for word in ("Dr", "Mr", "Ms", "Mrs", "Prof", "vs", "e.g", "i.e"))
_SENTENCE = re.compile(
    r"(?:`[^`]*`|「[^」]{0,300}」|『[^』]{0,300}』|《[^》]{0,300}》|“[^”]{0,300}”|\"[^\"]*\"|[^.!?。！？]|[.!?](?!\s|$)"
    rf"|{_TITLE_DOT})++[.!?。！？]*[”」』\"]?\s*|.+"
)


def is_mostly_cjk(text: str) -> bool:
    """Whether at least a fifth of the letters are Chinese, Japanese or Korean."""
    letters = sum(map(str.isalpha, text))
    return bool(letters) and len(CJK_CHARACTER.findall(text)) >= MIN_CJK_SHARE * letters


def split_line(line: str) -> tuple[str, list[str]]:
    """Split a line into its list mark and its sentences, each with the space behind it."""
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
