"""What a search asks for: terms, names, days and numbers of the question, and whose words."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from memory.recall.dates.calendar import DateSpan
from memory.recall.dates.parse import find_dates, is_in_spans, remove_dates
from memory.recall.documents import SearchRequest
from memory.recall.index import SearchFilter
from memory.recall.ranking import DAY_BONUS, PERIOD_BONUS, specific_numbers
from memory.text.patterns import lazy_pattern
from memory.text.tokenizer import fold_text, names_in_question
from memory.text.word_forms import search_terms

# Least share of a question's idf weight that a row, or the neighbour that ranked it, must match in
# an automatic search.
MIN_SHARE = 0.2
# rows to rank: the best by words, more for a large limit
MAX_BEST = 100
# Rows are not looked up by a term that more than this share of them has, if these are not few. With
# few as 1,000 instead of 200, R@5 of beam_dev is .015 higher, and a search of a smaller index costs
# no more than one of 10,000 rows.
COMMON_SHARE, FEW_ROWS = 0.1, 1_000
MAX_QUESTION = 2_000  # characters of a question that are read
# Not treated as dates: results would depend on the day of the search.
VAGUE_DATES = frozenset(
    fold_text(word) for word in ("最近", "近来", "近期", "recently", "lately", "these days")
)
# occur in every conversation, so they are not names in a question
GENERIC_SPEAKERS = frozenset(("User", "Bot"))
# "What did you recommend …", 你推荐过 …; but not "what did I tell you" or 我和你说过
_ASKS_BOT = lazy_pattern(
    r"\b(?:did|have|had|do|would) you (?:\w+ly |ever |already )?"
    r"(?:say|said|tell|told|suggest|recommend|advis|mention|giv|gave|provid|explain|list|describ|propos|think)"
    r"|\byou(?:['’](?:ve|d)| have| had)? "
    r"(?:said|told|suggested|recommended|advised|mentioned|gave|given|provided|explained|listed|described|proposed)"
    r"|(?<![和跟给向对])你(?:曾经?|之前|上次|给我|跟我|对我|向我|还|都){0,3}"
    r"(?:推荐|建议|说|告诉|介绍|提到|提过|给)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A parsed question."""

    terms: tuple[str, ...]
    named: frozenset[str]
    dates: tuple[DateSpan, ...]
    search_filter: SearchFilter
    #: MIN_SHARE in an automatic search, else 0.
    min_share: float
    #: It asks for what the bot said.
    asks_bot: bool
    #: Rows to look up by their words.
    most: int
    #: The terms to look them up by; empty for all. See `rare_terms`.
    rare: tuple[str, ...] = ()
    #: Its neighbouring terms, each with the lesser of their weights; see `phrase_share`.
    pairs: tuple[tuple[str, str, float], ...] = ()
    #: Its numbers that are evidence by themselves.
    numbers: tuple[re.Pattern[str], ...] = ()
    #: Its terms are single characters.
    letters: bool = False

    @classmethod
    def of(cls, request: SearchRequest, speakers: Collection[str]) -> "Question":
        """Parse the question of a request, asked where these people have spoken."""
        query = request.query[:MAX_QUESTION]
        named = names_in_question(query, set(speakers) - GENERIC_SPEAKERS)
        dates = [
            span
            for span in find_dates(query, request.now)
            if fold_text(span.text.strip()) not in VAGUE_DATES
        ]
        terms = search_terms(remove_dates(query, tuple(dates)), named)
        return cls(
            terms=tuple(terms),
            named=frozenset(named),
            dates=tuple(dates),
            most=max(MAX_BEST, request.limit * 5),
            search_filter=SearchFilter(
                since=request.since, until=request.until, speaker=request.speaker
            ),
            asks_bot=_ASKS_BOT.search(query) is not None,
            numbers=specific_numbers(query),
            min_share=MIN_SHARE if request.on_behalf_of else 0.0,
        )


def rare_terms(terms: Sequence[str], rows_with: Mapping[str, int], rows: int) -> tuple[str, ...]:
    """The terms that tell rows apart, or all if none does.

    A term of many rows would have each of them scored, and adds next to nothing to the score of
    any.
    """
    most = max(FEW_ROWS, rows * COMMON_SHARE)
    return tuple(term for term in terms if 0 < rows_with.get(term, 0) <= most) or tuple(terms)


def neighbouring_terms(
    terms: Sequence[str], weights: Mapping[str, float]
) -> tuple[tuple[str, str, float], ...]:
    """Each term with the next one, and the lesser of their weights."""
    return tuple(
        (term, following, min(weights[term], weights[following]))
        for term, following in pairwise(terms)
    )


def date_bonus(day: str, dates: tuple[DateSpan, ...]) -> float:
    """What rows of a day get for the days or periods that a question names."""
    matched = [span for span in dates if day and is_in_spans((span,), date.fromisoformat(day))]
    if any(span.first == span.last for span in matched):
        return DAY_BONUS
    return PERIOD_BONUS if matched else 0.0
