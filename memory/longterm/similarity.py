"""Similarity of two memories by their words: the same memory, or one that only looks alike.
Pure.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import log

from memory.text.language import CJK
from memory.text.patterns import lazy_pattern
from memory.text.tokenizer import fold_text, question_terms, text_terms
from memory.text.wording import DENIAL, LineWording, is_symbol, read_wording, word_weight

SAME_MEMORY = 0.85  # default threshold from which on two lines are the same memory
MAX_MERGED = 2_000  # characters of two joined lines; from the seed
# Upper limits of similarity: each line has a word of its own; the same words in another order that
# matters; one line negates the other or has other numbers.
OTHER_FIGURES_FACTOR, SWAPPED_FACTOR, DENIED_FACTOR = 0.8, 0.5, 0.3
MAX_CACHED_CHARS = 2_000  # of a text whose key is cached: no memory is longer
MAX_ADDED = 1.5  # weight factor of a word that only one line has
MAX_WEIGHED = 80
_SYMBOLS = lazy_pattern(r"[\W_]+")
_INNER_SYMBOLS = frozenset(".:/@_'-")
# placeholders of space and punctuation until their neighbours are known
_SOFT_BREAK, _HARD_BREAK = "\x1f", "\x1e"
_BESIDE_HAN = lazy_pattern(
    f"(?<=[{CJK}])[{_SOFT_BREAK}{_HARD_BREAK}]++|(?<![{_SOFT_BREAK}{_HARD_BREAK}])[{_SOFT_BREAK}{_HARD_BREAK}]++(?=[{CJK}])"
)
_BREAKS_TO_SPACES = str.maketrans({_SOFT_BREAK: " ", _HARD_BREAK: " "})


def normalize_key(text: str) -> str:
    """A line's key: its words, digits and symbols without differences of width, case, spaces and
    punctuation.

    Idempotent. Punctuation only counts between Chinese characters, as a comma.
    """
    return _normalize_short(text) if len(text) <= MAX_CACHED_CHARS else _normalize_text(text)


def _normalize_text(text: str) -> str:
    folded = fold_text(fold_text(text)).replace("’", "'")
    marked = _SYMBOLS.sub(_replace_symbols, folded)
    key = _BESIDE_HAN.sub(lambda found: "," if _HARD_BREAK in found.group() else "", marked)
    return " ".join(key.translate(_BREAKS_TO_SPACES).split()).strip(",") or " ".join(folded.split())


_normalize_short = lru_cache(maxsize=2_048)(_normalize_text)


def clear_keys() -> None:
    """Drop the cached keys, which may be those of forgotten text."""
    _normalize_short.cache_clear()


def word_overlap(one: str, other: str) -> float:
    """Share of content words that two lines have in common, 0 to 1, regardless of negation."""
    left, right = Counter(read_wording(one).bare), Counter(read_wording(other).bare)
    return 2 * _words_weight(left & right) / max(1.0, _words_weight(left) + _words_weight(right))


def content_words(text: str) -> frozenset[str]:
    """The distinct content words of a text."""
    return frozenset(word for line in text.split("\n") for word in read_wording(line).bare)


def similarity(one: str, other: str) -> float:
    """Similarity of two memories, 0 to 1; of multi-line texts, the most similar pair of lines
    counts.
    """
    if normalize_key(one) == normalize_key(other):
        return 1.0
    return max(
        _line_similarity(read_wording(left), read_wording(right))
        for left in one.split("\n")
        for right in other.split("\n")
    )


def is_similar(one: str, other: str, threshold: float = SAME_MEMORY) -> bool:
    """Whether the similarity of two memories reaches a threshold; most pairs do not by the weight
    of their words.
    """
    if normalize_key(one) == normalize_key(other):
        return True
    lines = [read_wording(line) for line in other.split("\n")]
    return any(
        _shared_weight(left, right, threshold) >= threshold
        and _line_similarity(left, right) >= threshold
        for left in map(read_wording, one.split("\n"))
        for right in lines
    )


def question_relevances(question: str, lines: Sequence[str]) -> list[float]:
    """For each line, the share of a question's content that it contains, 0 to 1.

    Words are weighted by their rarity among the lines; words in no line count half, as questions
    have words of their own. A question without content scores 0 everywhere.
    """
    texts = [(fold_text(line), frozenset(text_terms(line))) for line in lines]
    lines_with = {
        term: frozenset(
            at
            for at, (text, words) in enumerate(texts)
            if term in words or (is_symbol(term) and term in text)
        )
        for term in question_terms(question)
    }
    weights = {
        term: log(1 + (len(texts) - len(found) + 0.5) / (len(found) + 0.5))
        * (1.0 if found else 0.5)
        for term, found in lines_with.items()
    }
    total = sum(weights.values()) or 1.0
    return [
        sum(weights[term] for term, found in lines_with.items() if at in found) / total
        for at in range(len(texts))
    ]


def merge_lines(existing: str, incoming: str) -> str:
    """Merge two lines of one memory: the one that contains the other, else both, or the newer if
    too long.
    """
    first, second = existing.strip(), incoming.strip()
    if not first or not second or first == second:
        return first or second
    if second in first:
        return first
    if first in second:
        return second
    both = f"{first}\n{second}"
    return second if len(both) > MAX_MERGED else both


def merge_similar_lines(existing: str, incoming: str) -> str:
    """The line that contains the other (the existing one if both do), else both joined."""
    first, second = read_wording(existing).counted, read_wording(incoming).counted
    if not second - first:
        return existing
    return merge_lines(existing, incoming) if first - second else incoming


def _line_similarity(one: LineWording, other: LineWording) -> float:
    share = _shared_weight(one, other)
    if share <= DENIED_FACTOR:
        return share
    limit = min(_denial_limit(one, other), _figures_limit(one, other), _order_limit(one, other))
    if one.moods != other.moods or (one.counted - other.counted and other.counted - one.counted):
        limit = min(limit, OTHER_FIGURES_FACTOR)
    return min(limit, share)


def _shared_weight(one: LineWording, other: LineWording, least: float = 0.0) -> float:
    """Share of the weight of two lines' words that they have in common, 0 to 1; 0 where it cannot
    reach `least`.
    """
    first, second = one.weight, other.weight
    if _share_of(min(first, second), first + second) < least:
        return 0.0
    weights, counts = one.weights, other.counted
    both = sum(
        weights[word] * min(count, counts[word])
        for word, count in one.counted.items()
        if word in counts
    )
    return _share_of(both, first + second)


def _share_of(both: float, all_words: float) -> float:
    return 2 * both / max(1.0, 2 * both + MAX_ADDED * (all_words - 2 * both))


def _denial_limit(one: LineWording, other: LineWording) -> float:
    """Limit the similarity if one line affirms what the other denies."""
    left, right = frozenset(one.words), frozenset(other.words)
    return DENIED_FACTOR if _denies_other(left, right) or _denies_other(right, left) else 1.0


def _denies_other(left: frozenset[str], right: frozenset[str]) -> bool:
    return any(
        word[0] == DENIAL and word[1:] in right and word not in right and word[1:] not in left
        for word in left
    )


def _figures_limit(one: LineWording, other: LineWording) -> float:
    left, right = Counter(one.figures), Counter(other.figures)
    if left - right and right - left:
        return DENIED_FACTOR
    return (
        SWAPPED_FACTOR
        if left.total() > 1
        and left == right
        and _figures_in_context(one) != _figures_in_context(other)
        else 1.0
    )


def _figures_in_context(line: LineWording) -> Counter[str]:
    """Each number with the two words after it."""
    words = line.bare
    return Counter(
        "".join(words[at : at + 3]) for at, word in enumerate(words) if word[0].isdigit()
    )


def _order_limit(one: LineWording, other: LineWording) -> float:
    """Limit the similarity if a different order changes the meaning: A taller than B, 蜂蜜 and
    蜜蜂.
    """
    if one.directed and other.directed:
        shared = frozenset(one.bare) & frozenset(other.bare)
        if [word for word in one.bare if word in shared] != [
            word for word in other.bare if word in shared
        ]:
            return SWAPPED_FACTOR
    if _has_swapped(one.bare, other.bare):
        return SWAPPED_FACTOR
    left, right = _neighbours(one.bare), _neighbours(other.bare)
    turned = [pair for pair in left - right if pair[::-1] in right and pair[::-1] not in left]
    return SWAPPED_FACTOR if turned else 1.0


def _has_swapped(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two pieces are swapped around a third: the boss is Wang and the friend Li, or vice
    versa.
    """
    if len(one) != len(other) or len(one) > MAX_WEIGHED or Counter(one) != Counter(other):
        return False
    differing = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if not differing:
        return False
    left, right = one[differing[0] : differing[-1] + 1], other[differing[0] : differing[-1] + 1]
    for first in range(1, len(left) - 1):
        for last in range(1, len(left) - first):
            middle = left[first:-last]
            if right == (*left[-last:], *middle, *left[:first]):
                return True
    return False


def _neighbours(words: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Pairs of adjacent single characters."""
    return frozenset((a, b) for a, b in pairwise(words) if a != b and is_symbol(a) and is_symbol(b))


def _words_weight(words: Counter[str]) -> float:
    return sum(word_weight(word) * count for word, count in words.items())


def _replace_symbols(found: re.Match[str]) -> str:
    """Replace a run of symbols: kept inside a word or number, else its symbols and the gap it
    makes.
    """
    run, text = found.group(), found.string
    before, after = (
        text[max(0, found.start() - 1) : found.start()],
        text[found.end() : found.end() + 1],
    )
    if run in _INNER_SYMBOLS and before and after and (before + after).isascii():
        return run
    negative = (
        run[-1] == "-"
        and after.isdigit()
        and (run[-2:-1].isspace() or (len(run) == 1 and not before))
    )
    return "".join(map(_symbol_name, run[:-1])) + ("-" if negative else _symbol_name(run[-1]))


@lru_cache(maxsize=1_024)
def _symbol_name(sign: str) -> str:
    kind = unicodedata.category(sign)
    if sign.isspace() or kind == "Cc":
        return _SOFT_BREAK
    if kind == "Cf":
        return ""
    return sign if kind[0] in "SM" or sign in "#%&@" else _HARD_BREAK
