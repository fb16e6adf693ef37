"""Finds changes of topic: places where the words before and after come from two vocabularies rather
than one.
"""

from collections import Counter as Tally
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import chain, pairwise
from math import fsum, lgamma

from memory.conversation import Message, Text, ToolCall, ToolResult, Turn
from memory.text.language import CJK
from memory.text.patterns import lazy_pattern
from memory.text.tokenizer import lexical_question_terms

WINDOW_TURNS = 5  # turns on each side that are compared
MIN_DISTANCE = 2  # turns; of changes closer than that only the clearest counts
# a word on both sides that a larger share of the turns has says nothing about the topic
MAX_TURN_SHARE = 0.9
PRIOR_COUNT = 0.2  # of each word in the symmetric prior
# Thresholds for the gain of two vocabularies over one, in nats and in nats per word. The first
# ignores a few chance words, the second long texts in which every turn brings new words. Chosen,
# with the numbers above, on labelled chats (the tests hold others back), on days of MemoryBank's
# people in a row, and on pages of documentation.
MIN_GAIN = 8.0
MIN_GAIN_SHARE = 0.15
MAX_TEXT = 1_200  # characters of one text that are read
MAX_TOOL_TEXT = 300  # characters of one tool input or result that are read
MAX_TURN_TEXT = 3_000  # characters of one turn that are read
MAX_WORD = 40  # letters; a longer run is not a word

_FUNCTION_CHARACTERS = frozenset(
    "的了吗呢吧啊呀哦嗯我你您他她它们是很这那哪在和与或把被也都"
    "就还谁给跟不有个要会能可以到说来去上下没么什怎样为因所但如果而且并对从让用请再最太真多少几些里"
)
_CJK_RUN = lazy_pattern(f"[{CJK}]+")
_WORD = lazy_pattern(f"[^\\W\\d_{CJK}]{{2,}}")
_ASCII_WORD = lazy_pattern(r"[A-Za-z]{2,}")
_CAMEL_BOUNDARY = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")


def topic_changes(turns: Sequence[Turn], cuts: Collection[int]) -> frozenset[int]:
    """The cuts at which the topic changes; a cut is the number of turns before it.

    The topic changes if two vocabularies explain the turns around the cut clearly better than one
    (see `split_gain`), and better than at the cuts next to it. Only turns near the cuts are read.
    """
    words = _TurnWords(turns)

    def places_around(cut: int) -> range:
        return range(max(1, cut - MIN_DISTANCE), min(len(turns), cut + MIN_DISTANCE + 1))

    places = {place for cut in cuts for place in places_around(cut)}
    gains = {place: _clear_gain(words.near(place)) for place in places}
    return frozenset(
        cut
        for cut in cuts
        if gains.get(cut, 0.0) > 0 and gains[cut] >= max(gains[at] for at in places_around(cut))
    )


def _repeated_or_shared_counts(side: Tally[str], both: Set[str]) -> list[int]:
    """The counts of those words of a side that come back in it or stand on both sides."""
    repeated = [count for count in side.values() if count > 1]
    return repeated + [1 for word in both if side[word] == 1]


def split_gain(before: Collection[Set[str]], after: Collection[Set[str]]) -> tuple[float, int]:
    """Compare two vocabularies with one for the turns on both sides of a place, given the words of
    each turn.

    Words that only one of the turns has, or nearly all of them, are left out. For the others it
    counts in how many turns of each side they are.

    Returns:
        (log likelihood ratio of two distributions against one, negative if one is likelier; number
        of words counted).

    Source: the Dirichlet compound multinomial of Eisenstein and Barzilay, Bayesian Unsupervised
    Topic Segmentation (2008), with a symmetric prior of PRIOR_COUNT.
    """
    left, right = Tally(chain.from_iterable(before)), Tally(chain.from_iterable(after))
    everywhere = MAX_TURN_SHARE * (len(before) + len(after))
    for word in [
        word for word in left.keys() & right.keys() if left[word] + right[word] > everywhere
    ]:
        del left[word], right[word]
    both = left.keys() & right.keys()
    here, there = _repeated_or_shared_counts(left, both), _repeated_or_shared_counts(right, both)
    lefts, rights = sum(here), sum(there)
    mass = PRIOR_COUNT * (len(here) + len(there) - len(both)) or 1.0
    total = (
        lgamma(mass) + lgamma(mass + lefts + rights) - lgamma(mass + lefts) - lgamma(mass + rights)
    )
    return fsum((total, *(_word_gain(left[word], right[word]) for word in both))), lefts + rights


def topic_words(turn: Turn) -> frozenset[str]:
    """The content words of a turn: stems, parts of identifiers, and pairs of CJK characters.

    Stop words and pairs with a function character are left out. Only the beginning of long texts is
    read.
    """
    runs: set[str] = set()
    pairs: set[str] = set()
    for text in _texts(turn.messages):
        if text.isascii():
            runs.update(_ASCII_WORD.findall(text))
            continue
        runs.update(_WORD.findall(text))
        for run in _CJK_RUN.findall(text):
            pairs.update(map("".join, pairwise(run)))
    content = (pair for pair in pairs if _FUNCTION_CHARACTERS.isdisjoint(pair))
    return frozenset(
        chain(content, chain.from_iterable(_stems(run) for run in runs if len(run) <= MAX_WORD))
    )


@lru_cache(maxsize=(WINDOW_TURNS + 1) ** 2)
def _word_gain(here: int, there: int) -> float:
    """What a word adds that is in so many turns of each side; a word on one side only adds
    nothing.
    """
    return (
        lgamma(here + PRIOR_COUNT)
        + lgamma(there + PRIOR_COUNT)
        - lgamma(here + there + PRIOR_COUNT)
        - lgamma(PRIOR_COUNT)
    )


class _TurnWords:
    """The words of turns, read on demand."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._words: dict[int, frozenset[str]] = {}

    def near(self, place: int) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
        """The words of the turns before and after a place, within WINDOW_TURNS."""
        first, last = max(0, place - WINDOW_TURNS), min(len(self._turns), place + WINDOW_TURNS)
        return [self._read(at) for at in range(first, place)], [
            self._read(at) for at in range(place, last)
        ]

    def _read(self, at: int) -> frozenset[str]:
        if at not in self._words:
            self._words[at] = topic_words(self._turns[at])
        return self._words[at]


def _clear_gain(sides: tuple[Sequence[Set[str]], Sequence[Set[str]]]) -> float:
    """The gain, 0.0 if it is too small for a change."""
    gain, counted = split_gain(*sides)
    return gain if gain > max(MIN_GAIN, MIN_GAIN_SHARE * counted) else 0.0


def _texts(messages: Iterable[Message]) -> Iterator[str]:
    """The start of a turn's messages, then of its tool inputs and results, together up to
    MAX_TURN_TEXT.
    """
    parts = [part for message in messages for part in message.parts]
    said = [part.text[:MAX_TEXT] for part in parts if isinstance(part, Text)]
    left = MAX_TURN_TEXT
    for text in chain(said, _tool_texts(parts)):
        if left <= 0:
            return
        yield text[:left]
        left -= len(text)


def _tool_texts(parts: Iterable[object]) -> Iterator[str]:
    for part in parts:
        match part:
            case ToolCall():
                yield part.input[:MAX_TOOL_TEXT]
            case ToolResult():
                yield part.text[:MAX_TOOL_TEXT]


@lru_cache(maxsize=8_192)
def _stems(run: str) -> tuple[str, ...]:
    """The stems of a run of letters, split like an identifier, without stop words."""
    return tuple(
        stem
        for part in _CAMEL_BOUNDARY.split(run)
        if len(part) > 1
        for stem in lexical_question_terms(part)
    )
