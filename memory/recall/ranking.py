"""Puts what an index found in order: rows lend to their neighbours, days, speakers and dates count. Pure.

Whatever is weighed here is weighed the same in every year: nothing fades, nothing is dropped for its age.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

# Share of its score that a row lends to the next row of its session, the previous one, and those two away.
NEXT_SHARE, PREVIOUS_SHARE, TWO_AWAY_SHARE = 0.5, 0.3, 0.3
DAY_SHARE = 0.3  # share of a day's best score that each of its rows gets
DATE_BONUS = 1.0  # what a row of a day that the question names gets, where 1 is the best row's words
SPEAKER_FACTOR = 1.5
QUESTION_FACTOR = 0.7
_NEIGHBOURS = ((1, NEXT_SHARE), (-1, PREVIOUS_SHARE), (2, TWO_AWAY_SHARE), (-2, TWO_AWAY_SHARE))


class CandidateRow(NamedTuple):
    """What ranking needs of a row; a tuple, for a search makes a thousand of them."""

    row: int
    #: Unique in the index.
    session: int
    #: See IndexRow.
    place: int
    day: str
    speaker: str
    asks: int
    source: int
    #: Its seq where it was said, 0 in a file.
    said: int
    fold: str
    #: Its −bm25, 0 for a row that was not looked up by its words.
    bare: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRow:
    """A row in its order."""

    row: int
    #: As large as it makes its place.
    score: float
    #: The row that lent it more than it has itself, itself for none.
    lender: int


def rank_rows(
    facts: Collection[CandidateRow], bare: Mapping[int, float], dated: Collection[int] = (), named: Collection[str] = ()
) -> list[RankedRow]:
    """The rows, best first. Neighbours that no word is in must be among `facts` to be lent anything.

    Args:
        bare: how well each row's words match, by row: 0 to 1, the best one 1; rows that are not there have 0.
        dated: rows of a day that the question names.
        named: speakers whom it names.
    """
    lent = _lent_scores(facts, bare)
    best_of_day: dict[str, float] = defaultdict(float)
    for fact in facts:
        if fact.day:
            best_of_day[fact.day] = max(best_of_day[fact.day], bare.get(fact.row, 0.0))
    ranked = []
    for fact in facts:
        own = bare.get(fact.row, 0.0)
        gift, lender = lent.get(fact.row, (0.0, fact.row))
        score = own + gift + DATE_BONUS * (fact.row in dated) + DAY_SHARE * best_of_day.get(fact.day, 0.0)
        if fact.speaker in named:
            score *= SPEAKER_FACTOR
        if fact.asks:
            score *= QUESTION_FACTOR
        ranked.append((score, fact.day, -fact.place, -fact.row, lender if gift > own else fact.row))
    ranked.sort(reverse=True)  # of equal ones the newer day's first: their order is not that of their numbers
    return [RankedRow(row=-row, score=score, lender=lender) for score, _, _, row, lender in ranked]


def neighbouring_places(facts: Iterable[CandidateRow]) -> set[tuple[int, int]]:
    """(session, place) of what stands around these rows."""
    return {(fact.session, fact.place + step) for fact in facts for step, _ in _NEIGHBOURS}


def _lent_scores(facts: Collection[CandidateRow], bare: Mapping[int, float]) -> dict[int, tuple[float, int]]:
    """What each row is lent, and by whom: the most that one neighbour gives it."""
    at = {(fact.session, fact.place): fact.row for fact in facts}
    found: dict[int, tuple[float, int]] = {}
    for fact in facts:
        own = bare.get(fact.row, 0.0)
        if not own:
            continue
        for step, share in _NEIGHBOURS:
            other = at.get((fact.session, fact.place + step))
            if other is not None and (other not in found or share * own > found[other][0]):
                found[other] = (share * own, fact.row)
    return found
