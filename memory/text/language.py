"""The language of a text, its sentences, and segments short enough for regular expressions.
Pure.
"""

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from memory.text.patterns import lazy_pattern

# Kana, Chinese characters with extension A and the compatibility forms, Hangul: the inside of a
# character class.
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
CJK_CHARACTER = lazy_pattern(f"[{CJK}]")
MIN_CJK_SHARE = 0.2  # of a text's letters; Chinese about software is full of Latin words
# A regular expression on a long text blocks all threads of the interpreter, so texts are split
# before.
MAX_SEGMENT = 1_000  # characters; the slowest pattern takes about 2 ms for them
OVERLAP_CHARS = 40  # characters; a date, a time or an amount with its unit is shorter
_MARKER = lazy_pattern(r"\s*(?:>\s*)*(?:(?:[-*+•]|\d{1,3}[.)、])\s+)?(?:\[[ xX]\]\s+)?")
_TITLE_DOT = "|".join(
    rf"(?<=\b{word})\." for word in ("Dr", "Mr", "Ms", "Mrs", "Prof", "vs", "e.g", "i.e")
)
_SENTENCE = lazy_pattern(
    r"(?:`[^`]*`|「[^」]{0,300}」|『[^』]{0,300}』|《[^》]{0,300}》"
    r"|“[^”]{0,300}”|\"[^\"]*\"|[^.!?。！？]|[.!?](?!\s|$)"
    rf"|{_TITLE_DOT})++[.!?。！？]*[”」』\"]?\s*|.+"
)
# Headings of a summary, by language.
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


def is_mostly_cjk(text: str) -> bool:
    """Whether at least a fifth of the letters are Chinese, Japanese or Korean."""
    letters = sum(map(str.isalpha, text))
    return bool(letters) and len(CJK_CHARACTER.findall(text)) >= MIN_CJK_SHARE * letters


def split_line(line: str) -> tuple[str, list[str]]:
    """Split a line into its list mark and its sentences, each with the space after it."""
    marker = _MARKER.match(line)
    start = marker.end() if marker else 0
    return line[:start], [part for part in _split_sentences(line[start:]) if part.strip()]


def _split_sentences(line: str) -> list[str]:
    """Split a line into sentences; longer ones than a segment are cut."""
    if len(line) <= MAX_SEGMENT:
        return _SENTENCE.findall(line)
    found: list[str] = []
    start = 0
    while start < len(line):
        match = _SENTENCE.match(line, start, start + MAX_SEGMENT)
        end = match.end() if match else start + 1
        found.append(line[start:end])
        start = end
    return found


def split_segments(text: str, most: int = MAX_SEGMENT) -> Iterator[str]:
    """Split a text into pieces of at most `most` characters: at a line end, else at a space, else
    anywhere.
    """
    start = 0
    while len(text) - start > most:
        end = start + most
        cut = text.rfind("\n", start, end) + 1 or text.rfind(" ", start, end) + 1 or end
        yield text[start:cut]
        start = cut
    if start < len(text):
        yield text[start:]


def overlapping_segments(text: str, most: int) -> Iterator[str]:
    """Like `split_segments`, with the beginning of the next piece added to each, so that no match
    is cut in two.
    """
    pieces = list(split_segments(text, most))
    for piece, following in zip_longest(pieces, pieces[1:], fillvalue=""):
        yield piece if piece.endswith("\n") else piece + following[:OVERLAP_CHARS]
