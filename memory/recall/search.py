"""Searches a space's memory files and conversations."""

import asyncio
import heapq
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from math import log
from weakref import WeakKeyDictionary

from memory.conversation import BOT_SPEAKER
from memory.recall.dates.calendar import DateSpan, day_pairs
from memory.recall.dates.parse import find_dates, is_in_spans, remove_dates
from memory.recall.documents import NO_SPLIT, Passage, ScoreSplit, SearchRequest, mark_outside
from memory.recall.index import (
    IndexedRow,
    RecallDependencies,
    SearchableIndex,
    SearchFilter,
    SpaceIndex,
    SpaceIndexKeeper,
)
from memory.recall.keepers.keeper import CONVERSATION_PREFIX, FILE_PREFIX, has_memory_files
from memory.recall.ranking import (
    DAY_BONUS,
    PERIOD_BONUS,
    CandidateRow,
    RankedRow,
    is_calculation,
    is_evidence,
    neighbouring_places,
    rank_rows,
    says_same,
    specific_numbers,
)
from memory.recall.vectors import VectorSearch
from memory.store.engine.database import ChangedConversations
from memory.store.longterm.recall import MAX_FOLDS_ASKED, RecallScope
from memory.text.tokenizer import cjk_characters, fold_text, is_small_talk, names_in_question
from memory.text.word_forms import search_terms
from memory.workspace.files import SPACES_FOLDER

# Least share of a question's idf weight that a row, or the neighbour that ranked it, must match in
# an automatic search.
MIN_SHARE = 0.2
MIN_CHARACTER_SHARE = 0.5  # the same if only single characters were found
# rows to rank: the best by words (more for a large limit), and of named days
MAX_BEST, MAX_OF_DAYS = 100, 150
# Rows are not looked up by a term that more than this share of them has, in an index that is not
# small.
COMMON_SHARE, FEW_ROWS = 0.1, 200
# the days of a longer span are not looked up, only rows with matching words
MAX_DATED_SPAN = timedelta(days=45)
ROWS_PER_LENDER = 10  # the neighbours of one in so many rows are looked up
MAX_QUESTION = 2_000  # characters of a question that are read
# Not treated as dates: results would depend on the day of the search.
VAGUE_DATES = frozenset(
    fold_text(word) for word in ("最近", "近来", "近期", "recently", "lately", "these days")
)
VECTOR_WEIGHT = 0.4  # of the similarity of vectors; the rest is the score by words
# Results of tools: rows that are ranked, what their score counts, and in an automatic search the
# least share, how much less a row of people may match to answer as well, and how many of them are
# shown.
MAX_BEST_OF_TOOLS, TOOL_FACTOR = 60, 0.6
MIN_TOOL_SHARE, AS_GOOD, MAX_RECALLED_OF_TOOLS = 0.3, 0.9, 2
MAX_COMPARED = 40  # best results among which those that say the same are merged
SPARE_ROWS = 8  # that are read beside those that are wanted, as some say nothing or the same
# The number of rows with each term, and the number of all rows.
Frequencies = tuple[Mapping[str, int], int]
# occur in every conversation, so they are not names in a question
GENERIC_SPEAKERS = frozenset(("User", "Bot"))


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
        near: similarity of vectors by row, 0 to 1.
    """
    if request.on_behalf_of and is_calculation(request.query):
        return []
    asked = _Question.of(request, index)
    of_all = index.frequencies(asked.terms), index.frequencies(asked.terms, tools=True)
    of_tools = _find_results(index, asked, hidden, request.limit, of_all[1])
    frequencies, question = of_all[0], asked
    if not frequencies[0] and (letters := cjk_characters(question.terms)):
        question = replace(
            question,
            terms=tuple(letters),
            letters=True,
            min_share=question.min_share and MIN_CHARACTER_SHARE,
        )
    else:
        question = replace(question, rare=_rare_terms(question.terms, *frequencies))
    ranked, dated = _rank_candidates(index, question, hidden, near or {}, request.limit * 2 + 20)
    weights = {} if question.letters else _idf_weights(question.terms, *frequencies)
    # a person who asks is shown every source
    merges = bool(request.on_behalf_of or request.hide_live_of)
    enough = len(ranked) if merges else request.limit
    hits = _select_hits(index, question, ranked, dated, weights, enough, near)
    if request.on_behalf_of and of_tools:
        of_tools = _select_unanswered(
            asked, of_tools, hits[: request.limit], _common_weights(asked.terms, *of_all)
        )
    hits = sorted((*hits, *of_tools), key=lambda hit: -hit.score)
    return _merge_repeats(hits, request.limit) if merges else hits[: request.limit]


def _find_results(
    index: SearchableIndex,
    question: "_Question",
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
        rare=_rare_terms(question.terms, *frequencies),
        search_filter=replace(question.search_filter, tools=True),
    )
    ranked, dated = _rank_candidates(index, question, hidden, {}, limit * 2 + 20)
    weights = _idf_weights(question.terms, *frequencies)
    hits = _select_hits(index, question, ranked, dated, weights, len(ranked))
    return [replace(hit, score=hit.score * TOOL_FACTOR) for hit in hits]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A parsed question."""

    terms: tuple[str, ...]
    named: frozenset[str]
    dates: tuple[DateSpan, ...]
    search_filter: SearchFilter
    #: MIN_SHARE in an automatic search, else 0.
    min_share: float
    #: Rows to look up by their words.
    most: int
    #: The terms to look them up by; empty for all. See `_rare_terms`.
    rare: tuple[str, ...] = ()
    #: Its numbers that are evidence by themselves.
    numbers: tuple[re.Pattern[str], ...] = ()
    #: Its terms are single characters.
    letters: bool = False

    @classmethod
    def of(cls, request: SearchRequest, index: SearchableIndex) -> "_Question":
        query, speakers = request.query[:MAX_QUESTION], index.speakers() - GENERIC_SPEAKERS
        named = names_in_question(query, speakers)
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
            numbers=specific_numbers(query),
            min_share=MIN_SHARE if request.on_behalf_of else 0.0,
        )


def _rare_terms(terms: Sequence[str], rows_with: Mapping[str, int], rows: int) -> tuple[str, ...]:
    """The terms that tell rows apart, or all if none does.

    A term of many rows would have each of them scored, and adds next to nothing to the score of
    any.
    """
    most = max(FEW_ROWS, rows * COMMON_SHARE)
    return tuple(term for term in terms if 0 < rows_with.get(term, 0) <= most) or tuple(terms)


def fuse_scores(words: Mapping[int, float], near: Mapping[int, float]) -> dict[int, float]:
    """Combine the scores by words and by vectors, over the rows of both."""
    rows = words.keys() | near.keys()
    return {
        row: (1 - VECTOR_WEIGHT) * words.get(row, 0.0) + VECTOR_WEIGHT * near.get(row, 0.0)
        for row in rows
    }


def _rank_candidates(
    index: SearchableIndex,
    question: _Question,
    hidden: HiddenRows,
    near: Mapping[int, float],
    most: int,
) -> tuple[list[RankedRow], dict[int, float]]:
    """Rank the rows that may answer, and return the first `most`, with the bonus of those of a time
    that is named.
    """
    search_filter = question.search_filter
    look_up = index.with_characters if question.letters else index.best
    rows = {
        row.row: row
        for row in look_up(question.rare or question.terms, question.most, search_filter)
    }
    top = max((row.word_score for row in rows.values()), default=0.0) or 1.0
    scores = {number: max(0.0, row.word_score / top) for number, row in rows.items()}
    if near:
        scores = fuse_scores(scores, near)
        missing = [number for number in near if number not in rows]
        rows |= {row.row: row for row in index.candidates(missing, search_filter)}
    days = [
        pair
        for span in question.dates
        if span.last - span.first <= MAX_DATED_SPAN
        for pair in day_pairs(span)
    ]
    rows = {row.row: row for row in index.on_days(days, MAX_OF_DAYS, search_filter)} | rows
    lenders = heapq.nlargest(
        question.most // ROWS_PER_LENDER, rows.values(), key=lambda row: scores.get(row.row, 0.0)
    )
    known = {(row.session, row.place) for row in rows.values()}
    rows |= {
        row.row: row for row in index.around(neighbouring_places(lenders) - known, search_filter)
    }
    shown = list(rows.values())
    hidden.met.update(row.fold for row in shown)
    if hidden.source or hidden.folds:
        shown = [row for row in shown if not _is_hidden(row, hidden)]
    bonuses = (
        {day: _date_bonus(day, question.dates) for day in {row.day for row in shown}}
        if question.dates
        else {}
    )
    dated = {row.row: bonus for row in shown if (bonus := bonuses.get(row.day, 0.0))}
    return rank_rows(shown, scores, dated, question.named, most), dated


def _date_bonus(day: str, dates: tuple[DateSpan, ...]) -> float:
    matched = [span for span in dates if day and is_in_spans((span,), date.fromisoformat(day))]
    if any(span.first == span.last for span in matched):
        return DAY_BONUS
    return PERIOD_BONUS if matched else 0.0


def _is_hidden(row: CandidateRow, hidden: HiddenRows) -> bool:
    if not row.said:
        return row.fold in hidden.folds
    return row.source == hidden.source and not hidden.cleared_before <= row.said < hidden.live_from


def _select_hits(
    index: SearchableIndex,
    question: _Question,
    ranked: Sequence[RankedRow],
    dated: Container[int],
    weights: Mapping[str, float],
    enough: int,
    near: Mapping[int, float] | None = None,
) -> list[SearchHit]:
    """The first `enough` ranked rows that match well enough."""
    best, top = 0.0, ranked[0].score if ranked else 1.0
    hits: dict[object, SearchHit] = {}
    said: set[str] = set()
    for at in range(0, len(ranked), enough + SPARE_ROWS):
        page = ranked[at : at + enough + SPARE_ROWS]
        rows = index.indexed_rows([rank.row for rank in page])
        shares = _matched_shares(question, rows, weights)
        lenders = {
            rank.lender for rank in page if shares.get(rank.row, 0.0) < question.min_share
        } - rows.keys()
        shares |= _matched_shares(question, index.indexed_rows(lenders) if lenders else {}, weights)
        best = (
            best
            or max((shares[rank.row] for rank in page[:5] if rank.row in shares), default=0.0)
            or 1.0
        )
        for rank in page:
            found = rows.get(rank.row)
            if found is None:
                continue
            share = shares[rank.row]
            if (
                max(share, shares.get(rank.lender, 0.0)) < question.min_share
                and rank.row not in dated
            ):
                continue
            if not share and is_small_talk(found.row.words):
                continue  # an "ok" beside a found row
            words = " ".join(fold_text(found.row.words).split())
            origin = (found.source, found.row.line or -found.row.seq, found.row.part)
            if origin not in hits and words not in said:
                said.add(words)
                split = _split_score(rank, near.get(rank.row, 0.0) if near else 0.0)
                hits[origin] = SearchHit(
                    found=found,
                    terms=found.terms,
                    score=best * rank.score / top,
                    share=share,
                    split=split,
                )
                if len(hits) == enough:
                    return list(hits.values())
    return list(hits.values())


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
    question: _Question,
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
    question: _Question,
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
    question: _Question, rows: Mapping[int, IndexedRow], weights: Mapping[str, float]
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


# Indexes open at a time, each with up to 1.5 MB of cached pages; opening another takes a few
# milliseconds.
MAX_OPEN_INDEXES = 32
# a check reads the whole index, 3 ms for 1,000 rows, and /memory asks for one
CHECK_SECONDS = 600.0


class Recall:
    """Searches by space.

    A search that is cancelled leaves an update of its index running, so the next one is ready.
    """

    def __init__(
        self, dependencies: RecallDependencies, vectors: VectorSearch | None = None
    ) -> None:
        self._store = dependencies.store
        self._dependencies = dependencies
        self._vectors = vectors
        self._open: OrderedDict[str, SpaceIndexKeeper] = OrderedDict()
        self._users: Counter[str] = Counter()
        self._sound_until: WeakKeyDictionary[SpaceIndexKeeper, float] = WeakKeyDictionary()
        self._closing: set[asyncio.Task[None]] = set()
        self._unsubscribe: Callable[[], None] | None = None

    async def search(self, request: SearchRequest) -> list[Passage]:
        """The best passages of a space, best first, among what is written and said at this moment.

        An automatic search may lack what was written within the last second, while others search
        the same space.

        Raises:
            StoreError: the store or the index cannot be read.
        """
        conversation, automatic = (
            request.on_behalf_of or request.hide_live_of,
            bool(request.on_behalf_of),
        )
        # A search that is given up does not cut the read off: that would cost its connection to the
        # database.
        reading = asyncio.ensure_future(
            self._store.recall.scope(request.space, conversation, automatic=automatic)
        )
        reading.add_done_callback(_retrieve)
        scope = await asyncio.shield(reading)
        if not scope.has_others and not any(map(self._has_files, scope.spaces)):
            return []  # nothing except what this conversation shows: no index is made
        question_vector = (
            await self._vectors.embed_question(request.query) if self._vectors else b""
        )
        hidden = _hidden_rows(scope)

        def find(
            index: SpaceIndex, keeper: SpaceIndexKeeper, hidden: HiddenRows
        ) -> list[SearchHit]:
            source = index.source_number(CONVERSATION_PREFIX + conversation) if conversation else 0
            near = self._vectors.near(keeper, index, question_vector) if self._vectors else {}
            return find_rows(index, request, replace(hidden, source=source), near)

        found: list[Passage] = []
        with self._keepers(scope.spaces) as keepers:
            for keeper in keepers:
                while True:
                    work = partial(find, keeper=keeper, hidden=hidden)
                    # What its own conversation has said last is in view anyway.
                    hits = await keeper.use(work, fresh=not automatic, besides=request.on_behalf_of)
                    more = await self._hidden_folds(request, scope, hidden)
                    if not more:
                        break
                    hidden = replace(hidden, folds=hidden.folds | more)
                found += [_to_passage(hit, keeper.space) for hit in hits]
                self._embed_rows(keeper)
        found = sorted(found, key=lambda passage: -passage.score)[: request.limit]
        folds = [passage.fold for passage in found if passage.fold]
        return mark_outside(found, await self._store.folds.labels(folds) if folds else {})

    async def _hidden_folds(
        self, request: SearchRequest, scope: RecallScope, hidden: HiddenRows
    ) -> frozenset[str]:
        """Of the folds that a search has met, those that it must leave out and did not.

        A conversation of years has thousands of cleared folds, a search meets a few dozen.
        """
        folds, found = sorted(hidden.met - hidden.folds - {""}), frozenset[str]()
        if not request.on_behalf_of or not scope.live_from:
            return found
        for at in range(0, len(folds), MAX_FOLDS_ASKED):
            found |= await self._store.recall.hidden_among(
                request.on_behalf_of,
                folds[at : at + MAX_FOLDS_ASKED],
                scope.cleared_before,
                scope.live_from,
            )
        return found

    async def refresh(self, space: str) -> int:
        """Bring the index up to date with the files and the store; returns its number of rows."""
        rows = 0
        with self._keepers(await self._store.links.members(space)) as keepers:
            for keeper in keepers:
                rows += await keeper.use(lambda index: index.count())
                self._embed_rows(keeper)
        return rows

    async def rebuild(self, space: str) -> int:
        """Make the index again from the files and the store; returns its number of rows."""
        await self.forget(space)
        return await self.refresh(space)

    async def forget(self, space: str) -> None:
        """Delete the index; the next search makes it again."""
        with self._keepers(await self._store.links.members(space)) as keepers:
            for keeper in keepers:
                self._sound_until.pop(keeper, None)
                await keeper.remove()

    async def check(self, space: str) -> str:
        """What is wrong with the index, "" for nothing; one that was sound is read again after
        CHECK_SECONDS.
        """
        faults = []
        with self._keepers(await self._store.links.members(space)) as keepers:
            for keeper in keepers:
                await keeper.use(lambda index: index.count())  # a damaged one is made again
                if time.monotonic() < self._sound_until.get(keeper, 0.0):
                    continue
                if fault := await keeper.change(lambda index: index.check()):
                    faults.append(fault)
                else:
                    self._sound_until[keeper] = time.monotonic() + CHECK_SECONDS
        return "; ".join(faults)

    async def settled(self) -> None:
        """Wait until no index is being updated or closed."""
        for keeper in list(self._open.values()):
            await keeper.settled()
        while self._closing:
            await asyncio.wait(list(self._closing))

    async def close(self) -> None:
        """Finish what is running, then close every index."""
        if self._vectors:
            await self._vectors.close()
        if self._unsubscribe:
            self._unsubscribe()
            self._unsubscribe = None
        while self._open:
            await self._open.popitem()[1].close()
        await self.settled()

    def _has_files(self, space: str) -> bool:
        return has_memory_files(self._dependencies.workspace, space)

    def _embed_rows(self, keeper: SpaceIndexKeeper) -> None:
        if self._vectors:
            self._vectors.keep_up(keeper)

    @contextmanager
    def _keepers(self, spaces: Sequence[str]) -> Iterator[list[SpaceIndexKeeper]]:
        """The indexes of these spaces; none is closed until the block ends."""
        self._users.update(spaces)
        try:
            yield [self._open_keeper(space) for space in spaces]
        finally:
            self._users.subtract(spaces)
            self._users = +self._users  # drops the zeros
            self._close_idle()

    def _open_keeper(self, space: str) -> SpaceIndexKeeper:
        if self._unsubscribe is None:
            self._unsubscribe = self._store.database.changes.subscribe(self._note_changes)
        if space not in self._open:
            self._open[space] = self._dependencies.indexes.keeper(space, self._dependencies)
            self._close_idle()
        self._open.move_to_end(space)
        return self._open[space]

    def _note_changes(self, changed: ChangedConversations) -> None:
        for space, conversation in changed:
            if keeper := self._open.get(space):
                keeper.note_change(conversation)

    def _close_idle(self) -> None:
        """Close the indexes used longest ago, but none in use: its user would open the file a
        second time.
        """
        if (over := len(self._open) - MAX_OPEN_INDEXES) > 0:
            for name in [name for name in self._open if not self._is_used(name)][:over]:
                closing = asyncio.create_task(self._open.pop(name).close())
                self._closing.add(closing)
                closing.add_done_callback(self._closing.discard)

    def _is_used(self, space: str) -> bool:
        in_background = self._vectors is not None and self._vectors.works_on(space)
        return bool(self._users[space]) or in_background or self._open[space].busy


def _hidden_rows(scope: RecallScope) -> HiddenRows:
    """What to leave out; the number of the conversation's source is still 0, as each index has its
    own.
    """
    if not scope.live_from:
        return HiddenRows()
    return HiddenRows(cleared_before=scope.cleared_before, live_from=scope.live_from)


def _to_passage(hit: SearchHit, space: str) -> Passage:
    row, source = hit.found.row, hit.found.source
    path = source.removeprefix(FILE_PREFIX) if source.startswith(FILE_PREFIX) else ""
    return Passage(
        text=row.shown(),
        words=row.words,
        kind=row.kind,
        date=row.day,
        score=round(hit.score, 4),
        space=space,
        path=f"{SPACES_FOLDER}/{space}/{path}" if path and space else path,
        line=row.line,
        last=row.last,
        turn=row.turn,
        conversation="" if path else source.removeprefix(CONVERSATION_PREFIX),
        message_id=row.message_id,
        seq=row.seq,
        speaker=row.speaker,
        fold=row.fold,
        part=row.part,
        outside=bool(row.outside),
        split=hit.split,
    )


def _retrieve(task: asyncio.Future[RecallScope]) -> None:
    """Retrieve an error that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
