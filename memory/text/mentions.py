"""Finds sentences that mention what is to be forgotten, literally or in other words. Pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from memory.text.language import CJK, CJK_CHARACTER
from memory.text.tokenizer import fold_text, question_terms, text_terms

MENTION_SHARE = 0.6  # of a query's content terms that make a sentence a mention
MIN_REPEATED = 2  # terms that a sentence must share with a forgotten one to count as a repetition
# Replacements of forgotten text, by its language.
FORGOTTEN_MARKS = {"zh": "［已忘记］", "en": "[forgotten]"}
FORGOTTEN_MARK = re.compile("|".join(map(re.escape, FORGOTTEN_MARKS.values())))

_LETTER = f"[^\\W_{CJK}]"
_LETTER_GROUP = re.compile(
    r".[\u0300-\u036f\u1160-\u11ff\u1ab0-\u1aff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f\uff9e\uff9f]*",
    re.S,
)
_RUN = re.compile(r"[^\W_]+")

Spans = list[tuple[int, int]]


def is_mentioned(text: str, query: str) -> bool:
    """Whether a text mentions a query: literally, or with MENTION_SHARE of its content terms.

    A literal match ignores width, case and spacing, and is no part of a longer word or number.
    Chinese, Japanese and Korean have no such borders.
    """
    return bool(find_spans(text, query)) or _shares_content(FORGOTTEN_MARK.sub(" ", text), query)


def find_spans(text: str, query: str) -> Spans:
    """Literal occurrences of the query as (start, end), outside of the marks for forgotten text."""
    if not query.strip() or not may_contain(text, query):
        return []
    folded, starts, ends = _fold_with_positions(text)
    marks = [mark.span() for mark in FORGOTTEN_MARK.finditer(text)]
    found = (
        (starts[hit.start()], ends[hit.end() - 1]) for hit in _query_pattern(query).finditer(folded)
    )
    return [(begin, end) for begin, end in found if not overlaps(marks, begin, end)]


def may_contain(text: str, query: str) -> bool:
    """Check quickly whether a text or JSON text may have the query: False if its longest word is
    missing.
    """
    return _longest_piece(query) in fold_text(text) or "\\u" in text


def overlaps(spans: Collection[tuple[int, int]], begin: int, end: int) -> bool:
    """Whether any of the spans overlaps this one."""
    return any(first < end and begin < last for first, last in spans)


def clear_caches() -> None:
    """Clear the caches, which may hold forgotten text."""
    for cached in (_index_sentences, _wanted_terms, _all_terms, _longest_piece, _query_pattern):
        cached.cache_clear()


def fold_spelling(text: str) -> str:
    """Fold width, case and spacing, for comparing sentences."""
    return " ".join(fold_text(text).split())


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionMatcher:
    """Decides which sentences are to be forgotten."""

    #: Text to forget, as the person typed it.
    query: str
    #: Sentences to forget, as found.
    said: tuple[str, ...] = ()
    #: Forget only repetitions of `said`.
    only: bool = False
    #: Sentences that stay, after `fold_spelling`.
    kept: frozenset[str] = frozenset()

    def hits(self, sentence: str, *, literally: bool, near: bool) -> bool:
        """Whether to forget a sentence.

        Args:
            literally: the query occurs in it.
            near: also forget sentences that say it in other words or repeat one of `said`.
        """
        words = FORGOTTEN_MARK.sub(" ", sentence)
        if fold_spelling(words) in self.kept:
            return False
        direct = literally or (near and _shares_content(words, self.query))
        if direct and not self.only:
            return True
        return (direct if self.only else near) and _index_sentences(self.said).repeated_by(words)

    def within(self, text: str) -> bool:
        """Whether a whole text is to be forgotten."""
        return self.hits(text, literally=bool(find_spans(text, self.query)), near=True)


def _shares_content(text: str, query: str) -> bool:
    wanted = _wanted_terms(query)
    return bool(wanted) and _held_terms(text, wanted) >= MENTION_SHARE * len(wanted)


class _SentenceIndex:
    """Sentences by their terms, for comparison with many others."""

    def __init__(self, said: tuple[str, ...]) -> None:
        self._plain = frozenset(map(fold_spelling, said))
        self._sizes = [len(_wanted_terms(sentence)) for sentence in said]
        self._by_term: dict[str, list[int]] = {}
        for number, sentence in enumerate(said):
            for term in _wanted_terms(sentence):
                self._by_term.setdefault(term, []).append(number)
        self._letters = [term for term in self._by_term if len(term) == 1]

    def repeated_by(self, text: str) -> bool:
        """Whether the text contains all of one sentence's content; most of it is not enough."""
        if fold_spelling(text) in self._plain:
            return True
        folded, held = fold_text(text), _all_terms(text)
        terms = held | {letter for letter in self._letters if letter in folded}
        common = Counter(number for term in terms for number in self._by_term.get(term, ()))
        return any(
            count >= max(MIN_REPEATED, self._sizes[number]) for number, count in common.items()
        )


_index_sentences = lru_cache(maxsize=8)(_SentenceIndex)


def _held_terms(text: str, wanted: Collection[str]) -> int:
    held, folded = _all_terms(text), fold_text(text)
    return sum(term in held or (len(term) == 1 and term in folded) for term in wanted)


@lru_cache(maxsize=4_096)
def _wanted_terms(text: str) -> tuple[str, ...]:
    return tuple(question_terms(text))


@lru_cache(maxsize=4_096)
def _all_terms(text: str) -> frozenset[str]:
    return frozenset(text_terms(text))


@lru_cache(maxsize=256)
def _longest_piece(query: str) -> str:
    folded = fold_text(query).strip()
    return max(_RUN.findall(folded), key=len, default=folded)


@lru_cache(maxsize=256)
def _query_pattern(query: str) -> re.Pattern[str]:
    pieces = list(_space_pattern(fold_text(query).split()))
    first, last = fold_text(query).strip()[0], fold_text(query).strip()[-1]
    before = f"(?<!{_LETTER})" if re.match(_LETTER, first) else ""
    after = f"(?!{_LETTER})" if re.match(_LETTER, last) else ""
    return re.compile(before + "".join(pieces) + after)


def _space_pattern(words: list[str]) -> Iterator[str]:
    """Patterns of words and of the spaces between them, which are optional beside CJK
    characters.
    """
    for index, word in enumerate(words):
        if index:
            optional = CJK_CHARACTER.match(words[index - 1][-1]) or CJK_CHARACTER.match(word)
            yield r"\s*" if optional else r"\s+"
        yield re.escape(word)


def _fold_with_positions(text: str) -> tuple[str, list[int], list[int]]:
    """The folded text, and the start and end of each of its characters in the original: (folded,
    starts, ends).
    """
    if text.isascii():
        return text.lower(), list(range(len(text))), list(range(1, len(text) + 1))
    pieces, starts, ends = list[str](), list[int](), list[int]()
    for group in _LETTER_GROUP.finditer(text):
        piece = _fold_group(group.group())
        pieces.append(piece)
        starts += [group.start()] * len(piece)
        ends += [group.end()] * len(piece)
    return "".join(pieces), starts, ends


@lru_cache(maxsize=16_384)
def _fold_group(group: str) -> str:
    return unicodedata.normalize("NFKC", group).casefold()
