"""Finds the rows of one index that answer a question, and says how well; blocks."""

import heapq
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import log

from memory.recall.calendar import Span
from memory.recall.dates import matches, spans, without_dates
from memory.recall.doors import Index, Narrow, Whole
from memory.recall.passages import Wanted
from memory.recall.ranking import Fact, Ranked, places_around, rank
from memory.recall.terms import characters, fold, names_said, question_terms

FLOOR = 0.2
"""Least share of a question's idf mass that a row, or the one that lent to it, matches to be recalled unasked."""
FLOOR_OF_CHARACTERS = 0.5
"""The same where only single characters were found."""
BEST, OF_DAYS = 300, 300
"""Rows that are put in order: the best by their words, more where many are wanted, and of the days that are named."""
FEW_DAYS = timedelta(days=45)
"""Of longer times only what matches by its words is looked at."""
LENDERS = 5
"""One in so many of them has its neighbours looked up."""
LONGEST = 2_000
"""Characters of a question that are looked at."""
VAGUE = frozenset(fold(word) for word in ("最近", "近来", "近期", "recently", "lately", "these days"))
"""Dates that are no dates: they would make what is found depend on the day it is looked for."""
NEARNESS = 0.4
"""Weight of nearness in meaning beside words."""
US = frozenset(("User", "Bot"))
"""Speakers whose names say nothing: every conversation has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """What a search leaves out. Of the source (its number): seqs before `cleared_before` and from `live_from` on.

    folds: whose sections of the log.
    """

    source: int = 0
    cleared_before: int = 0
    live_from: int = 1 << 60
    folds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A row that answers. score: 0 to 1; share: of the question's idf mass that it matches itself."""

    whole: Whole
    score: float
    share: float


def find(index: Index, wanted: Wanted, hidden: Hidden, near: Mapping[int, float] | None = None) -> list[Found]:
    """The rows that answer, best first, a row's other pieces left out.

    Args:
        near: how near rows are in meaning, by row, 0 to 1.
    """
    question = _Question.of(wanted, index)
    frequencies = index.frequencies(question.terms)
    if not frequencies[0] and (letters := characters(question.terms)):
        question = replace(question, terms=tuple(letters), letters=True, floor=question.floor and FLOOR_OF_CHARACTERS)
    order, dated = _order(index, question, hidden, near or {})
    weights = {} if question.letters else _weights(question.terms, *frequencies)
    return _answers(index, question, order[: wanted.limit * 2 + 20], dated, weights)[: wanted.limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question made ready. floor: see FLOOR, 0 where somebody asked for the search; most: rows by their words.

    letters: its terms are single characters.
    """

    terms: tuple[str, ...]
    named: frozenset[str]
    dates: tuple[Span, ...]
    narrow: Narrow
    floor: float
    most: int
    letters: bool = False

    @classmethod
    def of(cls, wanted: Wanted, index: Index) -> "_Question":
        query, speakers = wanted.query[:LONGEST], index.speakers() - US
        named = names_said(query, speakers)
        dates = [span for span in spans(query, wanted.now) if fold(span.text.strip()) not in VAGUE]
        terms = question_terms(without_dates(query, tuple(dates)), named)
        return cls(
            terms=tuple(terms),
            named=frozenset(named),
            dates=tuple(dates),
            most=max(BEST, wanted.limit * 5),
            narrow=Narrow(since=wanted.since, until=wanted.until, speaker=wanted.speaker),
            floor=FLOOR if wanted.behalf else 0.0,
        )


def fused(words: Mapping[int, float], near: Mapping[int, float]) -> dict[int, float]:
    """Scores of rows by words and by meaning as one, over the union of both."""
    rows = words.keys() | near.keys()
    return {row: (1 - NEARNESS) * words.get(row, 0.0) + NEARNESS * near.get(row, 0.0) for row in rows}


def _order(
    index: Index, question: _Question, hidden: Hidden, near: Mapping[int, float]
) -> tuple[list[Ranked], frozenset[int]]:
    """The rows in their order, and those of a day that the question names."""
    narrow = question.narrow
    look = index.holding if question.letters else index.best
    facts = {fact.row: fact for fact in look(question.terms, question.most, narrow)}
    top = max((fact.bare for fact in facts.values()), default=0.0) or 1.0
    bare = {row: max(0.0, fact.bare / top) for row, fact in facts.items()}
    if near:
        bare = fused(bare, near)
        facts |= {fact.row: fact for fact in index.facts([row for row in near if row not in facts], narrow)}
    days = [pair for span in question.dates if span.last - span.first <= FEW_DAYS for pair in _pairs(span)]
    facts = {fact.row: fact for fact in index.of_days(days, OF_DAYS, narrow)} | facts
    lenders = heapq.nlargest(question.most // LENDERS, facts.values(), key=lambda fact: bare.get(fact.row, 0.0))
    seen = {(fact.session, fact.place) for fact in facts.values()}
    facts |= {fact.row: fact for fact in index.around(places_around(lenders) - seen, narrow)}
    shown = [fact for fact in facts.values() if not _is_hidden(fact, hidden)]
    dated = frozenset(fact.row for fact in shown if question.dates and _is_of(fact.day, question.dates))
    return rank(shown, bare, dated, question.named), dated


def _is_of(day: str, dates: tuple[Span, ...]) -> bool:
    return bool(day) and matches(dates, date.fromisoformat(day))


def _is_hidden(fact: Fact, hidden: Hidden) -> bool:
    if not fact.said:
        return fact.fold in hidden.folds
    return fact.source == hidden.source and not hidden.cleared_before <= fact.said < hidden.live_from


def _answers(
    index: Index, question: _Question, order: Sequence[Ranked], dated: Container[int], weights: Mapping[str, float]
) -> list[Found]:
    whole = index.whole({row for one in order for row in (one.row, one.lender)})
    shares = _shares(question, whole, weights)
    best = max((shares[one.row] for one in order[:5] if one.row in shares), default=0.0) or 1.0
    top = order[0].score if order else 1.0
    answers: dict[object, Found] = {}
    said: set[str] = set()
    for one in order:
        held = whole.get(one.row)
        if held is None or (
            max(shares[one.row], shares.get(one.lender, 0.0)) < question.floor and one.row not in dated
        ):
            continue
        if not shares[one.row] and not question_terms(held.row.words):
            continue  # an "ok" beside what was found
        words = " ".join(fold(held.row.words).split())
        place = (held.source, held.row.line or -held.row.seq)
        if place not in answers and words not in said:
            said.add(words)
            answers[place] = Found(whole=held, score=best * one.score / top, share=shares[one.row])
    return list(answers.values())


def _shares(question: _Question, whole: Mapping[int, Whole], weights: Mapping[str, float]) -> dict[int, float]:
    """How much of the question's idf mass each row matches, 0 to 1; of its characters where it has nothing else."""
    if question.letters:
        return {
            row: sum(one in held.row.words for one in question.terms) / len(question.terms)
            for row, held in whole.items()
        }
    mass = sum(weights.values()) or 1.0
    return {
        row: sum(weight for term, weight in weights.items() if term in held.terms) / mass for row, held in whole.items()
    }


def _weights(terms: Iterable[str], frequencies: Mapping[str, int], rows: int) -> dict[str, float]:
    """Each term's idf; one that no row has weighs most."""
    return {
        term: log(1 + (rows - having + 0.5) / (having + 0.5))
        for term in terms
        for having in (min(frequencies.get(term, 0), rows),)
    }


def _pairs(span: Span) -> tuple[tuple[str, str], ...]:
    """A span as days between two, month and day alone where no year was said."""
    if not span.yearless:
        return ((span.first.isoformat(), span.last.isoformat()),)
    first, last = f"{span.first:%m-%d}", f"{span.last:%m-%d}"
    return ((first, last),) if first <= last else ((first, "12-31"), ("01-01", last))
