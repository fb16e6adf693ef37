"""Finds the rows of one index that answer a question: looks them up, ranks and selects them."""

import heapq
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from math import log

from memory.conversation import BOT_SPEAKER
from memory.recall.dates.calendar import day_pairs
from memory.recall.documents import NO_SPLIT, ScoreSplit, SearchRequest
from memory.recall.index import IndexedRow, SearchableIndex
from memory.recall.question import Question, date_bonus, neighbouring_terms, rare_terms
from memory.recall.ranking import (
    PHRASE_BONUS,
    CandidateRow,
    RankedRow,
    asks_for_nothing,
    is_calculation,
    is_evidence,
    neighbouring_places,
    phrase_share,
    rank_rows,
    says_same,
)
from memory.text.tokenizer import cjk_characters, fold_text, is_small_talk

MIN_CHARACTER_SHARE = 0.5  # like MIN_SHARE, if only single characters were found
MAX_OF_DAYS = 150  # rows of named days to rank
# the days of a longer span are not looked up, only rows with matching words
MAX_DATED_SPAN = timedelta(days=45)
ROWS_PER_LENDER = 10  # the neighbours of one in so many rows are looked up
MAX_READ_FOR_PHRASES = 30  # best rows by words that are read for the terms near each other
VECTOR_WEIGHT = 0.5  # of the similarity of vectors; the rest is the score by words
# Of that similarity, for a row without enough of the question's words in an automatic search. Small
# talk is as near to some row as a question is, so words decide whether anything is recalled.
MIN_NEAR = 0.5
# Results of tools: rows that are ranked, what their score counts, and in an automatic search the
# least share, how much less a row of people may match to answer as well, and how many of them are
# shown.
MAX_BEST_OF_TOOLS, TOOL_FACTOR = 60, 0.6
MIN_TOOL_SHARE, AS_GOOD, MAX_RECALLED_OF_TOOLS = 0.3, 0.9, 2
MAX_COMPARED = 40  # best results among which those that say the same are merged
SPARE_ROWS = 8  # that are read beside those that are wanted, as some say nothing or the same
# The number of rows with each term, and the number of all rows.
Frequencies = tuple[Mapping[str, int], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenRows:
    """What a search leaves out: messages of one source, and log sections of some folds."""

    #: Number of the source, 0 for none.
    source: int = 0
    #: Its messages with a seq below `cleared_before`, and from `live_from` on.
    cleared_before: int = 0
    live_from: int = 1 << 60
    folds: frozenset[str] = frozenset()
    #: Filled by a search with the folds of all rows that it ranks, hidden ones too.
    met: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A found row."""

    found: IndexedRow
    #: Of the row; split once, as hits are compared with one another.
    terms: frozenset[str]
    #: 0 to 1.
    score: float
    #: Of the question's idf weight that the row itself matches.
    share: float
    split: ScoreSplit = NO_SPLIT


class _RowReader:
    """Reads rows of an index, each of them once in a search."""

    def __init__(self, index: SearchableIndex) -> None:
        self._index = index
        self._known: dict[int, IndexedRow] = {}

    def read(self, numbers: Collection[int]) -> dict[int, IndexedRow]:
        """Return the rows of these numbers that are there."""
        if missing := [number for number in numbers if number not in self._known]:
            self._known |= self._index.indexed_rows(missing)
        return {number: self._known[number] for number in numbers if number in self._known}


def find_rows(
    index: SearchableIndex,
    request: SearchRequest,
    hidden: HiddenRows,
    near: Mapping[int, float] | None = None,
) -> list[SearchHit]:
    """Find the rows that answer a question, best first; of a text in several pieces only the best
    piece.

    Blocks.

    Args:
        near: cosines of the nearest vectors by row.
    """
    is_unasked = bool(request.on_behalf_of)
    if is_unasked and (is_calculation(request.query) or asks_for_nothing(request.query)):
        return []
    asked = Question.of(request, index.speakers())
    of_all = index.frequencies(asked.terms), index.frequencies(asked.terms, tools=True)
    reader = _RowReader(index)
    of_tools = _find_results(index, reader, asked, hidden, request.limit, of_all[1])
    question = _with_statistics(asked, of_all[0])
    weights = {} if question.letters else _idf_weights(question.terms, *of_all[0])
    most = request.limit * 2 + 20
    near = scale_cosines(near or {})
    ranked, dated = _rank_candidates(index, reader, question, hidden, near, most)
    # a person who asks is shown every source
    merges = bool(request.on_behalf_of or request.hide_live_of)
    enough = len(ranked) if merges else request.limit
    hits = _select_hits(reader, question, ranked, dated, weights, enough, near)
    if request.on_behalf_of and of_tools:
        of_tools = _select_unanswered(
            asked, of_tools, hits[: request.limit], _common_weights(asked.terms, *of_all)
        )
    hits = sorted((*hits, *of_tools), key=lambda hit: -hit.score)
    return _merge_repeats(hits, request.limit) if merges else hits[: request.limit]


def _with_statistics(question: Question, frequencies: Frequencies) -> Question:
    """Choose what rows are looked up by: the terms that tell them apart, or single characters where
    no row has any of the terms.
    """
    letters = () if frequencies[0] else tuple(cjk_characters(question.terms))
    if letters:
        share = question.min_share and MIN_CHARACTER_SHARE
        return replace(question, terms=letters, letters=True, min_share=share)
    weights = _idf_weights(question.terms, *frequencies)
    return replace(
        question,
        rare=rare_terms(question.terms, *frequencies),
        pairs=neighbouring_terms(question.terms, weights),
    )


def _find_results(
    index: SearchableIndex,
    reader: _RowReader,
    question: "Question",
    hidden: HiddenRows,
    limit: int,
    frequencies: Frequencies,
) -> list[SearchHit]:
    """Find results of tools by their words; dates do not matter, as a day has too many."""
    if not frequencies[0]:
        return []
    question = replace(
        question,
        named=frozenset(),
        dates=(),
        most=MAX_BEST_OF_TOOLS,
        rare=rare_terms(question.terms, *frequencies),
        search_filter=replace(question.search_filter, tools=True),
    )
    ranked, dated = _rank_candidates(index, reader, question, hidden, {}, limit * 2 + 20)
    weights = _idf_weights(question.terms, *frequencies)
    hits = _select_hits(reader, question, ranked, dated, weights, len(ranked))
    return [replace(hit, score=hit.score * TOOL_FACTOR) for hit in hits]


def scale_cosines(near: Mapping[int, float]) -> dict[int, float]:
    """Scale cosines from 0 for the last row, which is left out, to 1 for the first.

    Cosines of different models, and of short and long texts, are not comparable.
    """
    best = max(near.values(), default=0.0)
    least = max(min(near.values()), 0.0) if len(near) > 1 else 0.0
    if best <= least:
        return {}
    return {
        row: (cosine - least) / (best - least) for row, cosine in near.items() if cosine > least
    }


def fuse_scores(words: Mapping[int, float], near: Mapping[int, float]) -> dict[int, float]:
    """Combine the scores by words and by vectors, over the rows of both."""
    rows = words.keys() | near.keys()
    return {
        row: (1 - VECTOR_WEIGHT) * words.get(row, 0.0) + VECTOR_WEIGHT * near.get(row, 0.0)
        for row in rows
    }


def _rank_candidates(
    index: SearchableIndex,
    reader: _RowReader,
    question: Question,
    hidden: HiddenRows,
    near: Mapping[int, float],
    most: int,
) -> tuple[list[RankedRow], dict[int, float]]:
    """Rank the rows that may answer, and return the first `most`, with the bonus of those of a time
    that is named.
    """
    rows, scores = _look_up(index, reader, question, near)
    rows = _rows_of_named_days(index, question) | rows
    rows |= _rows_around(index, question, rows, scores)
    hidden.met.update(row.fold for row in rows.values())
    shown = [row for row in rows.values() if not _is_hidden(row, hidden)]
    dated = _bonuses_of_dates(question, shown)
    ranked = rank_rows(shown, scores, dated, question.named, most, question.asks_bot)
    return ranked, dated


def _look_up(
    index: SearchableIndex, reader: _RowReader, question: Question, near: Mapping[int, float]
) -> tuple[dict[int, CandidateRow], dict[int, float]]:
    """The rows that match by their words or their vectors, and how well, from 0 to 1 for the best
    one.
    """
    look_up = index.with_characters if question.letters else index.best
    best = look_up(question.rare or question.terms, question.most, question.search_filter)
    raised = _raise_phrases(reader, question, best)
    top = max(raised.values(), default=0.0) or 1.0
    rows = {row.row: row for row in best}
    scores = {number: max(0.0, score / top) for number, score in raised.items()}
    if not near:
        return rows, scores
    missing = index.candidates([row for row in near if row not in rows], question.search_filter)
    return rows | {row.row: row for row in missing}, fuse_scores(scores, near)


def _raise_phrases(
    reader: _RowReader, question: Question, best: Sequence[CandidateRow]
) -> dict[int, float]:
    """The word scores of rows; higher for the best ones that have the question's neighbouring terms
    near each other.
    """
    scores = {row.row: row.word_score for row in best}
    if not question.pairs:
        return scores
    read = reader.read([row.row for row in best[:MAX_READ_FOR_PHRASES]])
    for number, found in read.items():
        share = phrase_share(question.pairs, found.spaced_terms.split())
        scores[number] *= 1 + PHRASE_BONUS * share
    return scores


def _rows_of_named_days(index: SearchableIndex, question: Question) -> dict[int, CandidateRow]:
    """Rows of the days that the question names, not of longer spans."""
    spans = [span for span in question.dates if span.last - span.first <= MAX_DATED_SPAN]
    days = [pair for span in spans for pair in day_pairs(span)]
    return {row.row: row for row in index.on_days(days, MAX_OF_DAYS, question.search_filter)}


def _rows_around(
    index: SearchableIndex,
    question: Question,
    rows: Mapping[int, CandidateRow],
    scores: Mapping[int, float],
) -> dict[int, CandidateRow]:
    """The neighbours of the best rows."""
    lenders = heapq.nlargest(
        question.most // ROWS_PER_LENDER, rows.values(), key=lambda row: scores.get(row.row, 0.0)
    )
    known = {(row.session, row.place) for row in rows.values()}
    found = index.around(neighbouring_places(lenders) - known, question.search_filter)
    return {row.row: row for row in found}


def _bonuses_of_dates(question: Question, rows: Iterable[CandidateRow]) -> dict[int, float]:
    """The bonus of each row of a time that the question names."""
    if not question.dates:
        return {}
    rows = list(rows)
    bonuses = {day: date_bonus(day, question.dates) for day in {row.day for row in rows}}
    return {row.row: bonuses[row.day] for row in rows if bonuses[row.day]}


def _is_hidden(row: CandidateRow, hidden: HiddenRows) -> bool:
    if not row.said:
        return row.fold in hidden.folds
    return row.source == hidden.source and not hidden.cleared_before <= row.said < hidden.live_from


def _select_hits(
    reader: _RowReader,
    question: Question,
    ranked: Sequence[RankedRow],
    dated: Container[int],
    weights: Mapping[str, float],
    enough: int,
    near: Mapping[int, float] | None = None,
) -> list[SearchHit]:
    """The first `enough` ranked rows that match well enough, by their words or their vectors; in an
    automatic search none if only vectors match.
    """
    hits: dict[object, SearchHit] = {}
    said: set[str] = set()
    has_words = not question.min_share
    matching = _matching_rows(reader, question, ranked, dated, weights, enough, near or {})
    for rank, found, share, best, by_words in matching:
        has_words = has_words or by_words
        words = " ".join(fold_text(found.row.words).split())
        origin = (found.source, found.row.line or -found.row.seq, found.row.part)
        if origin in hits or words in said:
            continue
        said.add(words)
        hits[origin] = SearchHit(
            found=found,
            terms=found.terms,
            score=best * rank.score / ranked[0].score,
            share=share,
            split=_split_score(rank, (near or {}).get(rank.row, 0.0)),
        )
        if len(hits) == enough:
            break
    return list(hits.values()) if has_words else []


def _matching_rows(
    reader: _RowReader,
    question: Question,
    ranked: Sequence[RankedRow],
    dated: Container[int],
    weights: Mapping[str, float],
    enough: int,
    near: Mapping[int, float],
) -> Iterator[tuple[RankedRow, IndexedRow, float, float, bool]]:
    """Yield the rows that match well enough, in their order, each with the share of the question
    that it matches, the best such share, and whether it matches by words.
    """
    best = 0.0
    for page in _pages(ranked, enough + SPARE_ROWS):
        rows, shares = _read_page(reader, question, page, weights)
        first = [shares[rank.row] for rank in page[:5] if rank.row in shares]
        best = best or max(first, default=0.0) or 1.0
        for rank in page:
            by_words = _matches(question, rank, rows, shares, dated)
            if by_words or _is_near(rank, rows, near):
                yield rank, rows[rank.row], shares[rank.row], best, by_words


def _is_near(rank: RankedRow, rows: Mapping[int, IndexedRow], near: Mapping[int, float]) -> bool:
    """Whether a row's vector is near enough to be shown without a matching word."""
    found = rows.get(rank.row)
    is_near = near.get(rank.row, 0.0) >= MIN_NEAR
    return found is not None and is_near and not is_small_talk(found.row.words)


def _pages(ranked: Sequence[RankedRow], size: int) -> Iterator[Sequence[RankedRow]]:
    for at in range(0, len(ranked), size):
        yield ranked[at : at + size]


def _read_page(
    reader: _RowReader,
    question: Question,
    page: Sequence[RankedRow],
    weights: Mapping[str, float],
) -> tuple[dict[int, IndexedRow], dict[int, float]]:
    """Read the rows of a page; returns them, and the share of the question that each matches, also
    of the neighbours that lent to those that match too little.
    """
    rows = reader.read([rank.row for rank in page])
    shares = _matched_shares(question, rows, weights)
    weak = [rank for rank in page if shares.get(rank.row, 0.0) < question.min_share]
    if lenders := {rank.lender for rank in weak} - rows.keys():
        shares |= _matched_shares(question, reader.read(lenders), weights)
    return rows, shares


def _matches(
    question: Question,
    rank: RankedRow,
    rows: Mapping[int, IndexedRow],
    shares: Mapping[int, float],
    dated: Container[int],
) -> bool:
    """Whether a row is there still, and it or the neighbour that ranked it matches enough of the
    question; not for an "ok" beside a found row.
    """
    found = rows.get(rank.row)
    if found is None:
        return False
    share = shares[rank.row]
    enough = max(share, shares.get(rank.lender, 0.0)) >= question.min_share
    if not enough and rank.row not in dated:
        return False
    return share > 0 or not is_small_talk(found.row.words)


def _split_score(rank: RankedRow, near: float) -> ScoreSplit:
    """Split a score by what it is made of. near: similarity of the row's vector, 0 to 1."""
    if rank.score <= 0.0:
        return NO_SPLIT
    vector = min(rank.own, rank.factor * VECTOR_WEIGHT * near)
    return ScoreSplit(
        words=(rank.own - vector) / rank.score,
        dates=rank.dated / rank.score,
        vector=vector / rank.score,
    )


def _select_unanswered(
    question: Question,
    of_tools: Sequence[SearchHit],
    others: Sequence[SearchHit],
    weights: Mapping[str, float],
) -> list[SearchHit]:
    """Those results of tools in an automatic search that nobody's words answer as well."""
    found = []
    for hit in of_tools:
        share = _share(hit, weights)
        if share >= MIN_TOOL_SHARE and not any(
            _answers_as_well(question, other, hit, share, weights)
            for other in _without_request(hit, others)
        ):
            found.append(hit)
    return found[:MAX_RECALLED_OF_TOOLS]


def _without_request(result: SearchHit, others: Sequence[SearchHit]) -> list[SearchHit]:
    """Leave out questions, and what the person said to have that tool called, also as a line of the
    log.
    """
    requests = [
        other
        for other in others
        if (other.found.source, other.found.row.turn)
        == (result.found.source, result.found.row.turn)
        and other.found.row.speaker != BOT_SPEAKER
    ]
    return [
        other
        for other in others
        if not other.found.row.asks and not any(_says_same(other, request) for request in requests)
    ]


def _answers_as_well(
    question: Question,
    other: SearchHit,
    result: SearchHit,
    share: float,
    weights: Mapping[str, float],
) -> bool:
    """Whether a row matches the question about as well as a tool's result, or repeats a figure of
    it.
    """
    if _share(other, weights) >= AS_GOOD * share:
        return True
    figures = {term for term in other.terms & result.terms if term.isdigit() and len(term) > 1}
    return bool(other.share and figures.difference(question.terms))


def _share(hit: SearchHit, weights: Mapping[str, float]) -> float:
    total = sum(weights.values()) or 1.0
    return sum(weight for term, weight in weights.items() if term in hit.terms) / total


def _common_weights(
    terms: Sequence[str], said_by_people: Frequencies, by_tools: Frequencies
) -> Mapping[str, float]:
    """The idf of terms among all rows, so that rows of both kinds can be compared."""
    (said, rows), (of_tools, others) = said_by_people, by_tools
    return _idf_weights(terms, Counter(said) + Counter(of_tools), rows + others)


def _merge_repeats(hits: Sequence[SearchHit], limit: int) -> list[SearchHit]:
    """The best `limit` hits; of rows that say nearly the same only one: of MEMORY.md, else the one
    that says more.
    """
    kept: list[SearchHit] = []
    for hit in hits:
        at = next(
            (at for at, other in enumerate(kept[:MAX_COMPARED]) if _says_same(hit, other)), None
        )
        if at is None:
            if len(kept) < limit:
                kept.append(hit)
        elif _preference(hit) > _preference(kept[at]):
            kept[at] = replace(hit, score=kept[at].score)
    return kept


def _says_same(one: SearchHit, other: SearchHit) -> bool:
    left, right = one.found.row, other.found.row
    return left.asks == right.asks and says_same(left.words, one.terms, right.words, other.terms)


def _preference(hit: SearchHit) -> tuple[bool, bool, int]:
    row = hit.found.row
    return row.kind == "memory", row.kind != "tool", len(hit.terms)


def _matched_shares(
    question: Question, rows: Mapping[int, IndexedRow], weights: Mapping[str, float]
) -> dict[int, float]:
    """The share of the question's idf weight that each row matches, or of its characters if it has
    only these.

    In an automatic search 0 for rows that share only numbers with it, such as tables.
    """
    if question.letters:
        return {
            number: sum(letter in found.row.words for letter in question.terms)
            / len(question.terms)
            for number, found in rows.items()
        }
    total = sum(weights.values()) or 1.0
    shares, spaced = {}, [(f" {term} ", term) for term in weights]
    for number, found in rows.items():
        matched = [term for within, term in spaced if within in found.spaced_terms]
        counts = not question.min_share or is_evidence(matched, found.row.words, question.numbers)
        shares[number] = sum(weights[term] for term in matched) / total if counts else 0.0
    return shares


def _idf_weights(
    terms: Iterable[str], frequencies: Mapping[str, int], rows: int
) -> dict[str, float]:
    """Each term's idf; a term that no row has weighs most."""
    return {
        term: log(1 + (rows - having + 0.5) / (having + 0.5))
        for term in terms
        for having in (min(frequencies.get(term, 0), rows),)
    }
