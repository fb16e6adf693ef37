"""Ranks found rows by their words, their neighbours, days, speakers and dates. Age does not count. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

# Shares of its score that a row adds to the next row of its session, the previous one, and those two away.
NEXT_SHARE, PREVIOUS_SHARE, TWO_AWAY_SHARE = 0.5, 0.3, 0.3
DAY_SHARE = 0.3  # of a day's best score, added to each of its rows
DATE_BONUS = 1.0  # for a row of a day named in the question; 1 is the score of the best row by words
SPEAKER_FACTOR = 1.5  # for a row of a speaker named in the question
QUESTION_FACTOR = 0.7  # for a row that is a question
_NEIGHBOURS = ((1, NEXT_SHARE), (-1, PREVIOUS_SHARE), (2, TWO_AWAY_SHARE), (-2, TWO_AWAY_SHARE))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRow:
    """A row of the ranking."""

    row: int
    score: float
    #: The neighbour that added more to the score than the row's own words; the row itself if none did.
    lender: int


def rank_rows(
    candidates: Collection[CandidateRow],
    word_scores: Mapping[int, float],
    dated: Collection[int] = (),
    named: Collection[str] = (),
) -> list[RankedRow]:
    """Rank rows, best first. A neighbour without a matching word must be among `candidates` to be ranked.

    Args:
        word_scores: how well each row's words match, from 0 to 1 for the best one; rows without an entry have 0.
        dated: rows of a day that the question names.
        named: speakers that the question names.
    """
    lent = _lent_scores(candidates, word_scores)
    best_of_day: dict[str, float] = defaultdict(float)
    for candidate in candidates:
        if candidate.day:
            best_of_day[candidate.day] = max(best_of_day[candidate.day], word_scores.get(candidate.row, 0.0))
    ranked = []
    for candidate in candidates:
        own = word_scores.get(candidate.row, 0.0)
        share, lender = lent.get(candidate.row, (0.0, candidate.row))
        score = own + share + DATE_BONUS * (candidate.row in dated) + DAY_SHARE * best_of_day.get(candidate.day, 0.0)
        if candidate.speaker in named:
            score *= SPEAKER_FACTOR
        if candidate.asks:
            score *= QUESTION_FACTOR
        ranked.append(
            (score, candidate.day, -candidate.place, -candidate.row, lender if share > own else candidate.row)
        )
    ranked.sort(reverse=True)  # equal scores: the newer day first, as row numbers do not follow time
    return [RankedRow(row=-row, score=score, lender=lender) for score, _, _, row, lender in ranked]


def neighbouring_places(candidates: Iterable[CandidateRow]) -> set[tuple[int, int]]:
    """(session, place) of the neighbours of these rows."""
    return {(candidate.session, candidate.place + step) for candidate in candidates for step, _ in _NEIGHBOURS}


def _lent_scores(
    candidates: Collection[CandidateRow], word_scores: Mapping[int, float]
) -> dict[int, tuple[float, int]]:
    """The most that one neighbour adds to each row's score, and that neighbour, by row."""
    row_at = {(candidate.session, candidate.place): candidate.row for candidate in candidates}
    lent: dict[int, tuple[float, int]] = {}
    for candidate in candidates:
        own = word_scores.get(candidate.row, 0.0)
        if not own:
            continue
        for step, share in _NEIGHBOURS:
            other = row_at.get((candidate.session, candidate.place + step))
            if other is not None and (other not in lent or share * own > lent[other][0]):
                lent[other] = (share * own, candidate.row)
    return lent
