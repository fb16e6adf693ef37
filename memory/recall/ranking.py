"""Ranks found rows, and tells what counts as evidence and which rows say the same. Pure.

Rows are ranked by their words, how near these are, their neighbours, days, speakers and dates; age
does not count.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from memory.conversation import BOT_SPEAKER
from memory.longterm.similarity import is_similar
from memory.text.language import CJK
from memory.text.tokenizer import fold_text, is_small_talk, question_terms

# The numbers below were fitted on one half of each development set; what each brings on both halves
# is in docs/decisions/0114-one-model-of-ranking.md.
# Shares of its score that a row adds to the next row of its session, the previous one, and the one
# after the next. Nothing is added to the bot's rows unless the question asks for them: a long
# answer repeats the words of what it answers, and the person's own sentence is the fact.
NEXT_SHARE, PREVIOUS_SHARE, AFTER_NEXT_SHARE = 0.4, 0.5, 0.3
# instead of NEXT_SHARE for a row that is a question: what follows is likely its answer
ANSWER_SHARE = 0.7
DAY_SHARE = 0.3  # of a day's best score, added to each of its rows
# For a row of a day, and of a longer period, that the question names. The best row by words has 1
# and gets at most 1 more from its neighbours and its day, so rows of a named day come first. Of a
# month one may also speak later.
DAY_BONUS, PERIOD_BONUS = 2.0, 1.0
SPEAKER_FACTOR = 1.5  # for a row of a speaker named in the question
# For a row of the bot: people know what they did and like. The second one where the question asks
# for what the bot said.
BOT_FACTOR, ASKED_BOT_FACTOR = 0.5, 0.85
# Share of its score by words that a row gets more if all neighbouring terms of the question are
# near each other in it, and the terms that "near" is.
PHRASE_BONUS, PHRASE_DISTANCE = 0.5, 4
_NEIGHBOURS = ((1, NEXT_SHARE), (-1, PREVIOUS_SHARE), (2, AFTER_NEXT_SHARE))
_NEIGHBOURS_OF_QUESTION = ((1, ANSWER_SHARE), *_NEIGHBOURS[1:])
NO_DATES: Mapping[int, float] = MappingProxyType({})


class CandidateRow(NamedTuple):
    """What ranking needs of a row. A tuple, because a search makes a thousand of them."""

    row: int
    #: Unique in the index.
    session: int
    #: See IndexRow.
    place: int
    day: str
    speaker: str
    asks: int
    source: int
    #: Seq of the message, 0 for a row of a file.
    said: int
    fold: str
    #: −bm25, 0 for a row that was not looked up by its words.
    word_score: float


class RankedRow(NamedTuple):
    """A row of the ranking. A tuple, because a search makes hundreds of them."""

    row: int
    score: float
    #: The neighbour that added more to the score than the row's own words; the row itself if none
    #: did.
    lender: int
    #: What the row's own words and vector, and a date in the question, are of the score; the rest
    #: is its neighbours'.
    own: float = 0.0
    dated: float = 0.0
    #: What the score was multiplied by, for a speaker that is named and for a row of the bot.
    factor: float = 1.0


def rank_rows(
    candidates: Collection[CandidateRow],
    word_scores: Mapping[int, float],
    dated: Mapping[int, float] = NO_DATES,
    named: Collection[str] = (),
    most: int | None = None,
    asks_bot: bool = False,
) -> list[RankedRow]:
    """Rank rows, best first; those that have nothing but the day of another one are left out.

    A neighbour without a matching word must be among `candidates` to be ranked.

    Args:
        word_scores: how well each row's words match, from 0 to 1 for the best one; rows without an
            entry have 0.
        dated: DAY_BONUS or PERIOD_BONUS of the rows of a time that the question names.
        named: speakers that the question names.
        most: rows to return, None for all.
        asks_bot: the question asks for what the bot said.
    """
    scored = [(row, own) for row in candidates if (own := word_scores.get(row.row))]
    borrowers = [row for row in candidates if asks_bot or row.speaker != BOT_SPEAKER]
    lent = _lent_scores(borrowers, scored)
    bot_factor = ASKED_BOT_FACTOR if asks_bot else BOT_FACTOR
    best_of_day = _best_of_days(scored)
    ranked = []
    for row, _, place, day, speaker, *_ in candidates:
        own, (share, lender) = word_scores.get(row, 0.0), lent.get(row, (0.0, row))
        bonus = dated.get(row, 0.0)
        if not own + share + bonus:
            continue
        factor = bot_factor if speaker == BOT_SPEAKER else 1.0
        if speaker in named:
            factor *= SPEAKER_FACTOR
        score = own + share + bonus + DAY_SHARE * best_of_day.get(day, 0.0)
        lends = lender if share > own else row
        ranked.append(
            (score * factor, day, -place, -row, lends, own * factor, bonus * factor, factor)
        )
    # equal scores: the newer day first, as row numbers do not follow time
    ranked.sort(reverse=True)
    return [
        RankedRow(-row, score, lender, own, bonus, factor)
        for score, _, _, row, lender, own, bonus, factor in ranked[:most]
    ]


def _best_of_days(scored: Iterable[tuple[CandidateRow, float]]) -> dict[str, float]:
    """The score of the row of each day that matches best."""
    best: dict[str, float] = {}
    for candidate, own in scored:
        if candidate.day and own > best.get(candidate.day, 0.0):
            best[candidate.day] = own
    return best


def neighbouring_places(candidates: Iterable[CandidateRow]) -> set[tuple[int, int]]:
    """(session, place) of the neighbours of these rows."""
    return {
        (candidate.session, candidate.place + step)
        for candidate in candidates
        for step, _ in _NEIGHBOURS
    }


def _lent_scores(
    borrowers: Iterable[CandidateRow], scored: Iterable[tuple[CandidateRow, float]]
) -> dict[int, tuple[float, int]]:
    """The most that one neighbour adds to the score of each of `borrowers`, and that neighbour, by
    row.

    Args:
        scored: candidates whose words match, and how well.
    """
    row_at = {(session, place): row for row, session, place, *_ in borrowers}
    lent: dict[int, tuple[float, int]] = {}
    for candidate, own in scored:
        for step, share in _NEIGHBOURS_OF_QUESTION if candidate.asks else _NEIGHBOURS:
            other = row_at.get((candidate.session, candidate.place + step))
            if other is not None and (other not in lent or share * own > lent[other][0]):
                lent[other] = (share * own, candidate.row)
    return lent


def phrase_share(pairs: Sequence[tuple[str, str, float]], terms: Sequence[str]) -> float:
    """The share of a question's neighbouring terms that are near each other in a row, by weight.

    Args:
        pairs: (term, next term, weight) of the question.
        terms: of the row, in order.
    """
    pairs_with: dict[str, list[int]] = {}
    for number, (one, other, _) in enumerate(pairs):
        pairs_with.setdefault(one, []).append(number)
        pairs_with.setdefault(other, []).append(number)
    # The nearest place of another term is the last one so far: one pass, however often they occur.
    last_places = dict.fromkeys(pairs_with, -PHRASE_DISTANCE - 1)
    near: set[int] = set()
    for place, term in enumerate(terms):
        if term not in pairs_with:
            continue
        last_places[term] = place
        for number in pairs_with[term]:
            one, other, _ = pairs[number]
            if place - min(last_places[one], last_places[other]) <= PHRASE_DISTANCE:
                near.add(number)
    weights = [weight for *_, weight in pairs]
    return sum(weights[number] for number in sorted(near)) / (sum(weights) or 1.0)


# What counts as evidence that a row answers a question, and which rows say the same.

# a number of fewer digits is in many rows by chance: an age, a price, a cell of a table
SPECIFIC_DIGITS = 4
MAX_COMPARED_CHARACTERS = 600  # of a row; longer ones say the same only if they are equal
MIN_SHARED_TERMS = 0.5  # of the longer row's terms, for the two to be compared at all
_CURRENCY = "usd|eur|gbp|rmb|cny|yuan|dollars?|euros?|pounds?|bucks|美元|欧元|英镑|人民币|元|块"
_NUMBER = re.compile(
    rf"(?P<sign>[$€£¥]\s?)?(?P<number>\d+(?:[.:/-]\d+)*)(?P<after>\s?(?:{_CURRENCY})(?![a-z])|\s?[{CJK}])?"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_OPERATION = re.compile(
    r"[+*×÷^=√]|(?<=[\d\s])[-−/](?=\s)|(?<=\d)\s*x\s*(?=\d)|%"
    r"|乘|除|加|减|等于|平方|立方|次方|开方|根号|百分之|求和|之和|余数"
    r"|\b(?:times|plus|minus|divided|multipl\w+|divide|add(?:ed)?|subtract\w*|sum|product|squared?|cubed?|roots?|"
    r"power|percent(?:age)?|equals?|mod(?:ulo)?|remainder)\b"
)
_CALCULATION_WORDS = re.compile(
    r"以|上|去|帮|请|算|计|结果|答案|得数|得|几|和|差|积|商|余|求|多少"
    r"|\b(?:calculate|compute|evaluate|solve|work|result|answer|total|raised|quick(?:ly)?|by|to|in|much|many|equal)\b"
)


# In a question these words may be what it is about: they count only where nothing else is said.
_TALK = re.compile(
    r"\b(?:another|awesome|back|bad|believe|bit|bored|clever|crossed|detail|enough|evening|fingers"
    r"|forget|funny|hear|helpful|helps|interesting|joke|lot|lovely|luck|made|matter|maybe|mean|mind"
    r"|mistake|moment|morning|much|never|now|perfect|problem|seriously|short|shorter|something|sorry"
    r"|surprise|think|thing|tired|today|wait|welcome|wish|words?|worked|wrong)\b"
    "|什么意思|早上好|下午好|晚上好|等一下|没关系|听起来|听得到|这么办|不管用|有意思|说得对|怎么看|晚安|再见|拜拜"
    "|真的|太好|不会|让我|想想|稍等|等等|没事|不用|说到|意思|再说|一遍|说法|先不|以后|考虑|弄错|不对|不行|做到"
    "|不信|无聊|厉害|完美|今天|现在|刚才|刚刚|最近|回来|有点|这样|那样"
)


def asks_for_nothing(text: str) -> bool:
    """Whether a message is small talk alone, so that no memory can answer it."""
    return is_small_talk(_TALK.sub(" ", fold_text(text)))


def is_calculation(question: str) -> bool:
    """Whether a question has only numbers and what to compute with them, so that no memory can
    answer it.
    """
    folded = fold_text(question)
    if not re.search(r"\d", folded) or not _OPERATION.search(folded):
        return False
    rest = _CALCULATION_WORDS.sub(
        " ", _OPERATION.sub(" ", re.sub(r"\d[\d.,]*(?:st|nd|rd|th)?", " ", folded))
    )
    return not question_terms(rest)


def fold_numbers(text: str) -> str:
    """Fold width and case, and remove the separators of thousands."""
    return _THOUSANDS.sub("", fold_text(text))


def specific_numbers(question: str) -> tuple[re.Pattern[str], ...]:
    """Patterns of the numbers that are in a row for a reason: identifiers, versions, dates, prices,
    Chinese amounts.
    """
    found = []
    for match in _NUMBER.finditer(fold_numbers(question)):
        number, after = re.escape(match["number"]), match["after"] or ""
        if not match["number"].isdigit() or len(match["number"]) >= SPECIFIC_DIGITS:
            found.append(rf"(?<![\d.]){number}(?!\d)")
        elif match["sign"] or re.fullmatch(rf"\s?(?:{_CURRENCY})", after):
            found.append(rf"[$€£¥]\s?{number}(?!\d)|(?<![\d.]){number}\s?(?:{_CURRENCY})")
        elif after:
            found.append(rf"(?<![\d.]){number}\s?{after.strip()}")
    return tuple(map(re.compile, found))


def is_evidence(matched: Collection[str], words: str, numbers: Sequence[re.Pattern[str]]) -> bool:
    """Whether a row's matching terms are reason to recall it: one is a word, or it has a specific
    number.
    """
    if any(not term.isdigit() for term in matched):
        return True
    if not matched or not numbers:
        return False
    folded = fold_numbers(words)
    return any(number.search(folded) for number in numbers)


def says_same(
    one: str, one_terms: Collection[str], other: str, other_terms: Collection[str]
) -> bool:
    """Whether two texts say nearly the same, in a few other words.

    Args:
        one_terms: the distinct terms of `one`, as a set.
    """
    most = max(len(one_terms), len(other_terms))
    if len(frozenset(one_terms) & frozenset(other_terms)) < MIN_SHARED_TERMS * most:
        return False
    left, right = " ".join(one.split()), " ".join(other.split())
    if max(len(left), len(right)) > MAX_COMPARED_CHARACTERS:
        return fold_text(left) == fold_text(right)
    return is_similar(left, right)
