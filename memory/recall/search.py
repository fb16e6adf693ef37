"""Searches a space's memory files and conversations."""

import asyncio
import heapq
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Container, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import log
from typing import Any, TypeVar

from memory.recall.dates.calendar import DateSpan
from memory.recall.dates.parse import find_dates, is_in_spans, remove_dates
from memory.recall.documents import Passage, SearchRequest
from memory.recall.index import IndexedRow, SearchableIndex, SearchFilter, SpaceIndex, SpaceIndexKeeper
from memory.recall.ranking import CandidateRow, RankedRow, neighbouring_places, rank_rows
from memory.recall.sqlite_index import RecallDependencies
from memory.recall.sync import CONVERSATION_PREFIX, FILE_PREFIX, has_memory_files
from memory.recall.vectors import VectorSearch
from memory.text.tokenizer import cjk_characters, fold_text, names_in_question, question_terms
from memory.workspace.files import SPACES_FOLDER

# Least share of a question's idf weight that a row, or the neighbour that ranked it, must match in an automatic search.
MIN_SHARE = 0.2
MIN_CHARACTER_SHARE = 0.5  # the same if only single characters were found
MAX_BEST, MAX_OF_DAYS = 300, 300  # rows to rank: the best by words (more for a large limit), and of named days
MAX_DATED_SPAN = timedelta(days=45)  # the days of a longer span are not looked up, only rows with matching words
ROWS_PER_LENDER = 5  # the neighbours of one in so many rows are looked up
MAX_QUESTION = 2_000  # characters of a question that are read
# Not treated as dates: results would depend on the day of the search.
VAGUE_DATES = frozenset(fold_text(word) for word in ("最近", "近来", "近期", "recently", "lately", "these days"))
VECTOR_WEIGHT = 0.4  # of the similarity of vectors; the rest is the score by words
GENERIC_SPEAKERS = frozenset(("User", "Bot"))  # occur in every conversation, so they are not names in a question


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenRows:
    """What a search leaves out: messages of one source, and log sections of some folds."""

    #: Number of the source, 0 for none.
    source: int = 0
    #: Its messages with a seq below `cleared_before`, and from `live_from` on.
    cleared_before: int = 0
    live_from: int = 1 << 60
    folds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A found row."""

    found: IndexedRow
    #: 0 to 1.
    score: float
    #: Of the question's idf weight that the row itself matches.
    share: float


def find_rows(
    index: SearchableIndex, request: SearchRequest, hidden: HiddenRows, near: Mapping[int, float] | None = None
) -> list[SearchHit]:
    """Find the rows that answer a question, best first; of a text in several pieces only the best piece. Blocks.

    Args:
        near: similarity of vectors by row, 0 to 1.
    """
    question = _Question.of(request, index)
    frequencies = index.frequencies(question.terms)
    if not frequencies[0] and (letters := cjk_characters(question.terms)):
        question = replace(
            question, terms=tuple(letters), letters=True, min_share=question.min_share and MIN_CHARACTER_SHARE
        )
    ranked, dated = _rank_candidates(index, question, hidden, near or {})
    weights = {} if question.letters else _idf_weights(question.terms, *frequencies)
    return _select_hits(index, question, ranked[: request.limit * 2 + 20], dated, weights)[: request.limit]


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
    #: Its terms are single characters.
    letters: bool = False

    @classmethod
    def of(cls, request: SearchRequest, index: SearchableIndex) -> "_Question":
        query, speakers = request.query[:MAX_QUESTION], index.speakers() - GENERIC_SPEAKERS
        named = names_in_question(query, speakers)
        dates = [span for span in find_dates(query, request.now) if fold_text(span.text.strip()) not in VAGUE_DATES]
        terms = question_terms(remove_dates(query, tuple(dates)), named)
        return cls(
            terms=tuple(terms),
            named=frozenset(named),
            dates=tuple(dates),
            most=max(MAX_BEST, request.limit * 5),
            search_filter=SearchFilter(since=request.since, until=request.until, speaker=request.speaker),
            min_share=MIN_SHARE if request.on_behalf_of else 0.0,
        )


def fuse_scores(words: Mapping[int, float], near: Mapping[int, float]) -> dict[int, float]:
    """Combine the scores by words and by vectors, over the rows of both."""
    rows = words.keys() | near.keys()
    return {row: (1 - VECTOR_WEIGHT) * words.get(row, 0.0) + VECTOR_WEIGHT * near.get(row, 0.0) for row in rows}


def _rank_candidates(
    index: SearchableIndex, question: _Question, hidden: HiddenRows, near: Mapping[int, float]
) -> tuple[list[RankedRow], frozenset[int]]:
    """Rank the rows that may answer; returns also those of a day that the question names."""
    search_filter = question.search_filter
    look_up = index.with_characters if question.letters else index.best
    rows = {row.row: row for row in look_up(question.terms, question.most, search_filter)}
    top = max((row.word_score for row in rows.values()), default=0.0) or 1.0
    scores = {number: max(0.0, row.word_score / top) for number, row in rows.items()}
    if near:
        scores = fuse_scores(scores, near)
        missing = [number for number in near if number not in rows]
        rows |= {row.row: row for row in index.candidates(missing, search_filter)}
    days = [pair for span in question.dates if span.last - span.first <= MAX_DATED_SPAN for pair in _day_pairs(span)]
    rows = {row.row: row for row in index.on_days(days, MAX_OF_DAYS, search_filter)} | rows
    lenders = heapq.nlargest(question.most // ROWS_PER_LENDER, rows.values(), key=lambda row: scores.get(row.row, 0.0))
    known = {(row.session, row.place) for row in rows.values()}
    rows |= {row.row: row for row in index.around(neighbouring_places(lenders) - known, search_filter)}
    shown = [row for row in rows.values() if not _is_hidden(row, hidden)]
    dated = frozenset(row.row for row in shown if question.dates and _is_in_dates(row.day, question.dates))
    return rank_rows(shown, scores, dated, question.named), dated


def _is_in_dates(day: str, dates: tuple[DateSpan, ...]) -> bool:
    return bool(day) and is_in_spans(dates, date.fromisoformat(day))


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
) -> list[SearchHit]:
    rows = index.indexed_rows({number for rank in ranked for number in (rank.row, rank.lender)})
    shares = _matched_shares(question, rows, weights)
    best = max((shares[rank.row] for rank in ranked[:5] if rank.row in shares), default=0.0) or 1.0
    top = ranked[0].score if ranked else 1.0
    hits: dict[object, SearchHit] = {}
    said: set[str] = set()
    for rank in ranked:
        found = rows.get(rank.row)
        if found is None:
            continue
        share = shares[rank.row]
        if max(share, shares.get(rank.lender, 0.0)) < question.min_share and rank.row not in dated:
            continue
        if not share and not question_terms(found.row.words):
            continue  # an "ok" beside a found row
        words = " ".join(fold_text(found.row.words).split())
        origin = (found.source, found.row.line or -found.row.seq)
        if origin not in hits and words not in said:
            said.add(words)
            hits[origin] = SearchHit(found=found, score=best * rank.score / top, share=share)
    return list(hits.values())


def _matched_shares(
    question: _Question, rows: Mapping[int, IndexedRow], weights: Mapping[str, float]
) -> dict[int, float]:
    """The share of the question's idf weight that each row matches, or of its characters if it has only these."""
    if question.letters:
        return {
            number: sum(letter in found.row.words for letter in question.terms) / len(question.terms)
            for number, found in rows.items()
        }
    total = sum(weights.values()) or 1.0
    return {
        number: sum(weight for term, weight in weights.items() if term in found.terms) / total
        for number, found in rows.items()
    }


def _idf_weights(terms: Iterable[str], frequencies: Mapping[str, int], rows: int) -> dict[str, float]:
    """Each term's idf; a term that no row has weighs most."""
    return {
        term: log(1 + (rows - having + 0.5) / (having + 0.5))
        for term in terms
        for having in (min(frequencies.get(term, 0), rows),)
    }


def _day_pairs(span: DateSpan) -> tuple[tuple[str, str], ...]:
    """A span as (first, last) days, without the year if none was said."""
    if not span.yearless:
        return ((span.first.isoformat(), span.last.isoformat()),)
    first, last = f"{span.first:%m-%d}", f"{span.last:%m-%d}"
    return ((first, last),) if first <= last else ((first, "12-31"), ("01-01", last))


T = TypeVar("T")
# Indexes open at a time, each with up to 2 MiB of cached pages; opening another takes a few milliseconds.
MAX_OPEN_INDEXES = 32


class Recall:
    """Searches by space. A cancelled search continues in the background, so that the next one finds its index ready."""

    def __init__(self, dependencies: RecallDependencies, vectors: VectorSearch | None = None) -> None:
        self._store = dependencies.store
        self._dependencies = dependencies
        self._vectors = vectors
        self._open: OrderedDict[str, SpaceIndexKeeper] = OrderedDict()
        self._users: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def search(self, request: SearchRequest) -> list[Passage]:
        """The best passages of a space, best first, among what is written and said at this moment.

        Raises:
            StoreError: the store or the index cannot be read.
        """
        return await self._run_shielded(self._search(request))

    async def refresh(self, space: str) -> int:
        """Bring the index up to date with the files and the store; returns its number of rows."""
        return await self._run_shielded(self._count_rows(space))

    async def rebuild(self, space: str) -> int:
        """Make the index again from the files and the store; returns its number of rows."""
        await self.forget(space)
        return await self.refresh(space)

    async def forget(self, space: str) -> None:
        """Delete the index; the next search makes it again."""
        async with self._keepers(space) as keepers:
            for keeper in keepers:
                await keeper.remove()

    async def check(self, space: str) -> str:
        """What is wrong with the index, "" for nothing."""
        async with self._keepers(space) as keepers:
            faults = [await keeper.use(lambda index: index.check()) for keeper in keepers]
        return "; ".join(filter(None, faults))

    async def settled(self) -> None:
        """Wait until no search is running."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))

    async def close(self) -> None:
        """Finish running searches, then close every index."""
        await self.settled()
        if self._vectors:
            await self._vectors.close()
        for keeper in self._open.values():
            await asyncio.to_thread(keeper.close)
        self._open.clear()

    async def _search(self, request: SearchRequest) -> list[Passage]:
        conversation = request.on_behalf_of or request.hide_live_of
        hidden = await self._hidden_rows(request, conversation)
        if request.on_behalf_of and hidden.live_from <= 1 and await self._has_nothing_else(request):
            return []
        question_vector = await self._vectors.embed_question(request.query) if self._vectors else b""

        def find(index: SpaceIndex) -> list[SearchHit]:
            source = index.source_number(CONVERSATION_PREFIX + conversation) if conversation else 0
            near = self._vectors.near(index, question_vector) if self._vectors else {}
            return find_rows(index, request, replace(hidden, source=source), near)

        found: list[Passage] = []
        async with self._keepers(request.space) as keepers:
            for keeper in keepers:
                found += [_to_passage(hit, keeper.space) for hit in await keeper.use(find)]
                self._embed_rows(keeper)
        return sorted(found, key=lambda passage: -passage.score)[: request.limit]

    async def _has_nothing_else(self, request: SearchRequest) -> bool:
        """Whether the space has nothing except what this conversation shows; then no index is made."""
        for member in await self._store.links.members(request.space):
            if has_memory_files(self._dependencies.workspace, member):
                return False
            if (await self._store.sessions.next_seqs(member)).keys() - {request.on_behalf_of}:
                return False
        return True

    async def _count_rows(self, space: str) -> int:
        rows = 0
        async with self._keepers(space) as keepers:
            for keeper in keepers:
                rows += await keeper.use(lambda index: index.count())
                self._embed_rows(keeper)
        return rows

    def _embed_rows(self, keeper: SpaceIndexKeeper) -> None:
        if self._vectors:
            self._vectors.keep_up(keeper)

    @asynccontextmanager
    async def _keepers(self, space: str) -> AsyncIterator[list[SpaceIndexKeeper]]:
        """The indexes of a space and of the spaces linked to it; none is closed until the block ends."""
        members = list(await self._store.links.members(space))
        self._users.update(members)
        try:
            yield [self._open_keeper(member) for member in members]
        finally:
            self._users.subtract(members)
            self._users = +self._users  # drops the zeros
            self._close_idle()

    async def _hidden_rows(self, request: SearchRequest, conversation: str) -> HiddenRows:
        """What to leave out of that conversation; its source number is still 0, as each index has its own."""
        row = await self._store.sessions.conversation(conversation) if conversation else None
        if row is None:
            return HiddenRows()
        head = await self._store.folds.fold(row.fold_head) if row.fold_head else None
        live_from = head.to_seq + 1 if head else row.view_from
        if not request.on_behalf_of:
            return HiddenRows(live_from=live_from)
        before = row.view_from
        folds = await self._store.folds.folds(conversation, with_texts=False) if before > 1 else []
        cleared = frozenset(fold.id for fold in folds if fold.to_seq < before)
        return HiddenRows(cleared_before=before, live_from=live_from, folds=cleared)

    def _open_keeper(self, space: str) -> SpaceIndexKeeper:
        if space not in self._open:
            self._open[space] = self._dependencies.indexes.keeper(space, self._dependencies)
            self._close_idle()
        self._open.move_to_end(space)
        return self._open[space]

    def _close_idle(self) -> None:
        """Close the indexes used longest ago, but none in use: its user would open the file a second time."""
        if (over := len(self._open) - MAX_OPEN_INDEXES) > 0:
            for name in [name for name in self._open if not self._is_used(name)][:over]:
                self._open.pop(name).close()

    def _is_used(self, space: str) -> bool:
        in_background = self._vectors is not None and self._vectors.works_on(space)
        return bool(self._users[space]) or in_background or self._open[space].busy

    async def _run_shielded(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` to its end even if the caller is cancelled."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._discard_task)
        return await asyncio.shield(task)

    def _discard_task(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it when the caller was cancelled


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
    )
