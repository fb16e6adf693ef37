"""How alike two memories are by their words alone: what is the same memory, and what only looks like it. Pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import log

from memory.longterm.synonyms import DENY
from memory.longterm.wording import HAN, Wording, wording
from memory.recall.terms import fold, question_terms, terms

SAME = 0.85
"""From here on two lines are the same memory, unless it is configured otherwise."""
LONGEST = 2_000
"""Characters that two lines may have when they are joined; the seed's number."""
OTHERWISE, SWAPPED, DENIED = 0.8, 0.5, 0.3
"""The most that two lines are alike when each says a word that the other lacks; when the same words stand in another
order and it matters; when one denies what the other says, or has other figures."""
ADDED = 1.5
"""How much more a word weighs that one line has alone."""
_LIGHT = frozenset("喝吃用做去上个到把被和与及时里") | {"to", "get"}
MOST_WEIGHED = 80
_SIGNS = re.compile(r"[\W_]+")
_INSIDE = frozenset(".:/@_'-")
_SOFT, _STOP = "\x1f", "\x1e"
"""A space and a punctuation mark, until it is known what stands beside them."""
_BESIDE_HAN = re.compile(f"(?<=[{HAN}])[{_SOFT}{_STOP}]++|(?<![{_SOFT}{_STOP}])[{_SOFT}{_STOP}]++(?=[{HAN}])")
_LEFT = str.maketrans({_SOFT: " ", _STOP: " "})


def normal(text: str) -> str:
    """A line's key: its words, figures and symbols, whatever their width, case, spaces and punctuation.

    The key of a key is itself. Only between Chinese characters a punctuation mark counts, as a comma.
    """
    folded = fold(fold(text)).replace("’", "'")
    marked = _SIGNS.sub(_signs, folded)
    key = _BESIDE_HAN.sub(lambda found: "," if _STOP in found.group() else "", marked)
    return " ".join(key.translate(_LEFT).split()).strip(",") or " ".join(folded.split())


def overlap(one: str, other: str) -> float:
    """How many of their content words two lines share, 0 to 1, whether they affirm or deny them."""
    left, right = Counter(wording(one).bare), Counter(wording(other).bare)
    return 2 * _weight(left & right) / max(1.0, _weight(left) + _weight(right))


def content(text: str) -> frozenset[str]:
    """The content words of a text, each once."""
    return frozenset(word for line in text.split("\n") for word in wording(line).bare)


def similarity(one: str, other: str) -> float:
    """0 to 1; from `SAME` on they are one memory. Of lines of several lines, the two most alike ones count."""
    if normal(one) == normal(other):
        return 1.0
    return max(_alike(wording(left), wording(right)) for left in one.split("\n") for right in other.split("\n"))


def relevances(question: str, lines: Sequence[str]) -> list[float]:
    """For each line the share of what a question asks for that is in it, 0 to 1.

    A word weighs the more the fewer of the lines have it, so that what all of them say does not count; one that none
    has weighs half, for a question is told in words of its own. A question without content has 0 everywhere.
    """
    held = [(fold(line), frozenset(terms(line))) for line in lines]
    having = {
        term: frozenset(
            at for at, (text, words) in enumerate(held) if term in words or (_is_sign(term) and term in text)
        )
        for term in question_terms(question)
    }
    weight = {
        term: log(1 + (len(held) - len(found) + 0.5) / (len(found) + 0.5)) * (1.0 if found else 0.5)
        for term, found in having.items()
    }
    mass = sum(weight.values()) or 1.0
    return [sum(weight[term] for term, found in having.items() if at in found) / mass for at in range(len(held))]


def merged(existing: str, incoming: str) -> str:
    """Two lines that are the same memory as one: the fuller, or both, or the newer where both would be too long."""
    first, second = existing.strip(), incoming.strip()
    if not first or not second or first == second:
        return first or second
    if second in first:
        return first
    if first in second:
        return second
    both = f"{first}\n{second}"
    return second if len(both) > LONGEST else both


def _alike(one: Wording, other: Wording) -> float:
    left, right = one.counted, other.counted
    both, first, second = _weight(left & right), _weight(left - right), _weight(right - left)
    share = 2 * both / max(1.0, 2 * both + ADDED * (first + second))
    if share <= DENIED:
        return share
    most = min(_by_denial(one, other), _by_figures(one, other), _by_order(one, other))
    if one.moods != other.moods or (first and second):
        most = min(most, OTHERWISE)
    return min(most, share)


def _by_denial(one: Wording, other: Wording) -> float:
    """One line says what the other denies, and does not deny it elsewhere."""
    left, right = frozenset(one.said), frozenset(other.said)
    return DENIED if _against(left, right) or _against(right, left) else 1.0


def _against(left: frozenset[str], right: frozenset[str]) -> bool:
    return any(word[0] == DENY and word[1:] in right and word not in right and word[1:] not in left for word in left)


def _by_figures(one: Wording, other: Wording) -> float:
    left, right = Counter(one.figures), Counter(other.figures)
    if left - right and right - left:
        return DENIED
    return SWAPPED if left.total() > 1 and left == right and _counted(one) != _counted(other) else 1.0


def _counted(line: Wording) -> Counter[str]:
    """Each figure with the two words behind it."""
    words = line.bare
    return Counter("".join(words[at : at + 3]) for at, word in enumerate(words) if word[0].isdigit())


def _by_order(one: Wording, other: Wording) -> float:
    """Whether the shared words stand in another order that says something else: A taller than B, 蜂蜜 and 蜜蜂."""
    if one.directed and other.directed:
        shared = frozenset(one.bare) & frozenset(other.bare)
        if [word for word in one.bare if word in shared] != [word for word in other.bare if word in shared]:
            return SWAPPED
    if _changed_places(one.bare, other.bare):
        return SWAPPED
    left, right = _neighbours(one.bare), _neighbours(other.bare)
    turned = [pair for pair in left - right if pair[::-1] in right and pair[::-1] not in left]
    return SWAPPED if turned else 1.0


def _changed_places(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two pieces took each other's place around a third: the boss is Wang and the friend Li, or vice versa."""
    if len(one) != len(other) or len(one) > MOST_WEIGHED or Counter(one) != Counter(other):
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
    """Single characters beside each other."""
    return frozenset((a, b) for a, b in pairwise(words) if a != b and _is_sign(a) and _is_sign(b))


def _is_sign(word: str) -> bool:
    return len(word) == 1 and not word.isascii()


def _weight(words: Counter[str]) -> float:
    return sum(_heft(word.removeprefix(DENY)) * count for word, count in words.items())


def _heft(word: str) -> float:
    if word in _LIGHT:
        return 0.5
    return 1.0 if _is_sign(word) else 2.0


def _signs(found: re.Match[str]) -> str:
    """What a run of signs counts for: itself inside a word or figure, else its symbols and the gap it makes."""
    run, text = found.group(), found.string
    before, after = text[max(0, found.start() - 1) : found.start()], text[found.end() : found.end() + 1]
    if run in _INSIDE and before and after and (before + after).isascii():
        return run
    negative = run[-1] == "-" and after.isdigit() and (run[-2:-1].isspace() or (len(run) == 1 and not before))
    return "".join(map(_sign, run[:-1])) + ("-" if negative else _sign(run[-1]))


@lru_cache(maxsize=1_024)
def _sign(sign: str) -> str:
    kind = unicodedata.category(sign)
    if sign.isspace() or kind == "Cc":
        return _SOFT
    if kind == "Cf":
        return ""
    return sign if kind[0] in "SM" or sign in "#%&@" else _STOP
