"""Where the topic of a conversation changes: whether the words around a place are of one vocabulary or of two."""

import re
from collections import Counter as Tally
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import chain, pairwise
from math import fsum, lgamma

from memory.conversation import Message, Text, ToolCall, ToolResult, Turn
from memory.text.language import CJK
from memory.text.tokenizer import lexical_question_terms

WINDOW_TURNS = 5  # turns on each side that are compared
MIN_DISTANCE = 2  # turns: of changes closer than that only the clearest is one
MAX_TURN_SHARE = 0.9  # share of the turns compared: a word on both sides that more of them have tells no topic
PRIOR_COUNT = 0.2
MIN_GAIN = 8.0
# What two vocabularies must gain over one, in nats and in nats per word, before a place counts as a change.
#
# Chosen, with the numbers above, on labelled chats (see the tests, which hold others back), on days of MemoryBank's
# people put one after another, and on pages of documentation. The first keeps a few chance words from deciding, the
# second keeps long texts, in which every turn brings words of its own, from looking like one change after another.
MIN_GAIN_SHARE = 0.15
MAX_TEXT = 1_200  # characters of one text that are read
MAX_TOOL_TEXT = 300  # characters of one tool's input or result that are read
MAX_TURN_TEXT = 3_000
MAX_WORD = 40  # letters; a longer run is no word

_FUNCTION_CHARACTERS = frozenset(
    "的了吗呢吧啊呀哦嗯我你您他她它们是很这那哪在和与或把被也都就还谁给跟不有个要会能可以到说来去上下没么什怎样为因所但如果而且并对从让用请"
    "再最太真多少几些里"
)
_CJK_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(f"[^\\W\\d_{CJK}]{{2,}}")
_ASCII_WORD = re.compile(r"[A-Za-z]{2,}")
_CAMEL_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])")


def topic_changes(turns: Sequence[Turn], cuts: Collection[int]) -> frozenset[int]:
    """Those of the cuts at which the topic changes; a cut is how many turns come before it.

    A place counts when two vocabularies tell the turns around it better than one (see `gain`) by enough, and better
    than at the places next to it. Only turns near the cuts are read.
    """
    known = _TurnWords(turns)
    places = {
        place for cut in cuts for place in range(cut - MIN_DISTANCE, cut + MIN_DISTANCE + 1) if 0 < place < len(turns)
    }
    gains = {place: _clear_gain(known.near(place)) for place in places}
    return frozenset(cut for cut in cuts if gains.get(cut, 0.0) > 0 and gains[cut] >= _best_around(cut, gains))


def split_gain(before: Collection[Set[str]], after: Collection[Set[str]]) -> tuple[float, int]:
    """What two vocabularies gain over one for the turns on both sides of a place, given the words of each turn.

    Returns:
        The logarithm of how much likelier the words are when each side draws from a distribution of its own than when
        both draw from the same one (below zero: one is likelier), and how many words were counted. Words that only one
        of the turns has, or all of them, are left out; of the others it counts in how many turns of each side they
        are.

    Source: the Dirichlet compound multinomial of Eisenstein and Barzilay, Bayesian Unsupervised Topic Segmentation
    (2008), with a symmetric prior of PRIOR.
    """
    left, right = Tally(chain.from_iterable(before)), Tally(chain.from_iterable(after))
    everywhere = MAX_TURN_SHARE * (len(before) + len(after))
    for word in [word for word in left.keys() & right.keys() if left[word] + right[word] > everywhere]:
        del left[word], right[word]
    both = left.keys() & right.keys()
    here = [count for count in left.values() if count > 1] + [1 for word in both if left[word] == 1]
    there = [count for count in right.values() if count > 1] + [1 for word in both if right[word] == 1]
    lefts, rights = sum(here), sum(there)
    mass = PRIOR_COUNT * (len(here) + len(there) - len(both)) or 1.0
    whole = lgamma(mass) + lgamma(mass + lefts + rights) - lgamma(mass + lefts) - lgamma(mass + rights)
    return fsum((whole, *(_word_gain(left[word], right[word]) for word in both))), lefts + rights


def topic_words(turn: Turn) -> frozenset[str]:
    """The words of a turn that may tell its topic: stems, parts of identifiers, pairs of CJK characters.

    Stop words and pairs with a function character are left out. Of long texts the beginning is read.
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
    return frozenset(chain(content, chain.from_iterable(_stems(run) for run in runs if len(run) <= MAX_WORD)))


@lru_cache(maxsize=(WINDOW_TURNS + 1) ** 2)
def _word_gain(here: int, there: int) -> float:
    """What a word adds that is in so many turns of either side; a word of one side adds nothing."""
    return (
        lgamma(here + PRIOR_COUNT)
        + lgamma(there + PRIOR_COUNT)
        - lgamma(here + there + PRIOR_COUNT)
        - lgamma(PRIOR_COUNT)
    )


class _TurnWords:
    """The words of turns, each read when it is first asked for."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.known: dict[int, frozenset[str]] = {}

    def near(self, place: int) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
        """The words of the turns before and after a place, those within its window."""
        first, last = max(0, place - WINDOW_TURNS), min(len(self.turns), place + WINDOW_TURNS)
        return [self._of(at) for at in range(first, place)], [self._of(at) for at in range(place, last)]

    def _of(self, at: int) -> frozenset[str]:
        if at not in self.known:
            self.known[at] = topic_words(self.turns[at])
        return self.known[at]


def _clear_gain(sides: tuple[Sequence[Set[str]], Sequence[Set[str]]]) -> float:
    """The gain; 0.0 where it is too little for a change."""
    gained, counted = split_gain(*sides)
    return gained if gained > max(MIN_GAIN, MIN_GAIN_SHARE * counted) else 0.0


def _best_around(cut: int, gains: dict[int, float]) -> float:
    return max(gains.get(place, 0.0) for place in range(cut - MIN_DISTANCE, cut + MIN_DISTANCE + 1))


def _texts(messages: Iterable[Message]) -> Iterator[str]:
    """The start of a turn's messages, then of its tool inputs and results, together up to MAX_TURN_TEXT."""
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
    """What a run of letters is counted as: the parts of an identifier without their endings, no stop words."""
    return tuple(stem for part in _CAMEL_BOUNDARY.split(run) if len(part) > 1 for stem in lexical_question_terms(part))
