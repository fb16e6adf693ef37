"""Recall: what a space has written down and what was said in it, found as things stand at that moment."""

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
from memory.recall.sqlite_index import RecallDependencies, create_keeper
from memory.recall.sync import CONVERSATION_PREFIX, FILE_PREFIX, has_memory_files
from memory.recall.vectors import VectorSearch
from memory.text.tokenizer import cjk_characters, fold_text, names_in_question, question_terms
from memory.workspace.files import SPACES_FOLDER

# Finds the rows of one index that answer a question, and says how well; blocks.

# Least share of a question's idf mass that a row, or the one that lent to it, matches to be recalled unasked.
MIN_SHARE = 0.2
MIN_CHARACTER_SHARE = 0.5  # the same where only single characters were found
# Rows that are put in order: the best by their words, more where many are wanted, and of the days that are named.
MAX_BEST, MAX_OF_DAYS = 300, 300
MAX_DATED_SPAN = timedelta(days=45)  # of longer times only what matches by its words is looked at
ROWS_PER_LENDER = 5  # one in so many of them has its neighbours looked up
MAX_QUESTION = 2_000  # characters of a question that are looked at
# Dates that are no dates: they would make what is found depend on the day it is looked for.
VAGUE_DATES = frozenset(fold_text(word) for word in ("最近", "近来", "近期", "recently", "lately", "these days"))
NEARNESS_WEIGHT = 0.4  # weight of nearness in meaning beside words
GENERIC_SPEAKERS = frozenset(("User", "Bot"))  # speakers whose names say nothing: every conversation has them


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenRows:
    """What a search leaves out. Of the source (its number): seqs before `cleared_before` and from `live_from` on."""

    source: int = 0
    cleared_before: int = 0
    live_from: int = 1 << 60
    #: Whose sections of the log.
    folds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A row that answers."""

    whole: IndexedRow
    #: 0 to 1.
    score: float
    #: Of the question's idf mass that it matches itself.
    share: float


def find_rows(
    index: SearchableIndex, wanted: SearchRequest, hidden: HiddenRows, near: Mapping[int, float] | None = None
) -> list[SearchHit]:
    """The rows that answer, best first, a row's other pieces left out.

    Args:
        near: how near rows are in meaning, by row, 0 to 1.
    """
    question = _Question.of(wanted, index)
    frequencies = index.frequencies(question.terms)
    if not frequencies[0] and (letters := cjk_characters(question.terms)):
        question = replace(question, terms=tuple(letters), letters=True, floor=question.floor and MIN_CHARACTER_SHARE)
    order, dated = _order_rows(index, question, hidden, near or {})
    weights = {} if question.letters else _idf_weights(question.terms, *frequencies)
    return _select_hits(index, question, order[: wanted.limit * 2 + 20], dated, weights)[: wanted.limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question made ready."""

    terms: tuple[str, ...]
    named: frozenset[str]
    dates: tuple[DateSpan, ...]
    search_filter: SearchFilter
    #: See FLOOR, 0 where somebody asked for the search.
    floor: float
    #: Rows by their words.
    most: int
    #: Its terms are single characters.
    letters: bool = False

    @classmethod
    def of(cls, wanted: SearchRequest, index: SearchableIndex) -> "_Question":
        query, speakers = wanted.query[:MAX_QUESTION], index.speakers() - GENERIC_SPEAKERS
        named = names_in_question(query, speakers)
        dates = [span for span in find_dates(query, wanted.now) if fold_text(span.text.strip()) not in VAGUE_DATES]
        terms = question_terms(remove_dates(query, tuple(dates)), named)
        return cls(
            terms=tuple(terms),
            named=frozenset(named),
            dates=tuple(dates),
            most=max(MAX_BEST, wanted.limit * 5),
            search_filter=SearchFilter(since=wanted.since, until=wanted.until, speaker=wanted.speaker),
            floor=MIN_SHARE if wanted.on_behalf_of else 0.0,
        )


def fuse_scores(words: Mapping[int, float], near: Mapping[int, float]) -> dict[int, float]:
    """Scores of rows by words and by meaning as one, over the union of both."""
    rows = words.keys() | near.keys()
    return {row: (1 - NEARNESS_WEIGHT) * words.get(row, 0.0) + NEARNESS_WEIGHT * near.get(row, 0.0) for row in rows}


def _order_rows(
    index: SearchableIndex, question: _Question, hidden: HiddenRows, near: Mapping[int, float]
) -> tuple[list[RankedRow], frozenset[int]]:
    """The rows in their order, and those of a day that the question names."""
    search_filter = question.search_filter
    look = index.with_characters if question.letters else index.best
    facts = {fact.row: fact for fact in look(question.terms, question.most, search_filter)}
    top = max((fact.bare for fact in facts.values()), default=0.0) or 1.0
    bare = {row: max(0.0, fact.bare / top) for row, fact in facts.items()}
    if near:
        bare = fuse_scores(bare, near)
        facts |= {fact.row: fact for fact in index.facts([row for row in near if row not in facts], search_filter)}
    days = [pair for span in question.dates if span.last - span.first <= MAX_DATED_SPAN for pair in _day_pairs(span)]
    facts = {fact.row: fact for fact in index.on_days(days, MAX_OF_DAYS, search_filter)} | facts
    lenders = heapq.nlargest(question.most // ROWS_PER_LENDER, facts.values(), key=lambda fact: bare.get(fact.row, 0.0))
    seen = {(fact.session, fact.place) for fact in facts.values()}
    facts |= {fact.row: fact for fact in index.around(neighbouring_places(lenders) - seen, search_filter)}
    shown = [fact for fact in facts.values() if not _is_hidden(fact, hidden)]
    dated = frozenset(fact.row for fact in shown if question.dates and _is_in_dates(fact.day, question.dates))
    return rank_rows(shown, bare, dated, question.named), dated


def _is_in_dates(day: str, dates: tuple[DateSpan, ...]) -> bool:
    return bool(day) and is_in_spans(dates, date.fromisoformat(day))


def _is_hidden(fact: CandidateRow, hidden: HiddenRows) -> bool:
    if not fact.said:
        return fact.fold in hidden.folds
    return fact.source == hidden.source and not hidden.cleared_before <= fact.said < hidden.live_from


def _select_hits(
    index: SearchableIndex,
    question: _Question,
    order: Sequence[RankedRow],
    dated: Container[int],
    weights: Mapping[str, float],
) -> list[SearchHit]:
    whole = index.whole({row for one in order for row in (one.row, one.lender)})
    shares = _matched_shares(question, whole, weights)
    best = max((shares[one.row] for one in order[:5] if one.row in shares), default=0.0) or 1.0
    top = order[0].score if order else 1.0
    answers: dict[object, SearchHit] = {}
    said: set[str] = set()
    for one in order:
        held = whole.get(one.row)
        if held is None or (
            max(shares[one.row], shares.get(one.lender, 0.0)) < question.floor and one.row not in dated
        ):
            continue
        if not shares[one.row] and not question_terms(held.row.words):
            continue  # an "ok" beside what was found
        words = " ".join(fold_text(held.row.words).split())
        place = (held.source, held.row.line or -held.row.seq)
        if place not in answers and words not in said:
            said.add(words)
            answers[place] = SearchHit(whole=held, score=best * one.score / top, share=shares[one.row])
    return list(answers.values())


def _matched_shares(
    question: _Question, whole: Mapping[int, IndexedRow], weights: Mapping[str, float]
) -> dict[int, float]:
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


def _idf_weights(terms: Iterable[str], frequencies: Mapping[str, int], rows: int) -> dict[str, float]:
    """Each term's idf; one that no row has weighs most."""
    return {
        term: log(1 + (rows - having + 0.5) / (having + 0.5))
        for term in terms
        for having in (min(frequencies.get(term, 0), rows),)
    }


def _day_pairs(span: DateSpan) -> tuple[tuple[str, str], ...]:
    """A span as days between two, month and day alone where no year was said."""
    if not span.yearless:
        return ((span.first.isoformat(), span.last.isoformat()),)
    first, last = f"{span.first:%m-%d}", f"{span.last:%m-%d}"
    return ((first, last),) if first <= last else ((first, "12-31"), ("01-01", last))


T = TypeVar("T")
# Indexes that are open at a time, each with up to 2 MiB of its pages; opening another takes a few milliseconds.
MAX_OPEN_INDEXES = 32


class Recall:
    """Searches by space. A search that is cancelled goes on unseen, so that the next one finds its index ready."""

    def __init__(self, ground: RecallDependencies, vectors: VectorSearch | None = None) -> None:
        self._store = ground.store
        self._ground = ground
        self._vectors = vectors
        self._open: OrderedDict[str, SpaceIndexKeeper] = OrderedDict()
        self._holders: Counter[str] = Counter()
        self._work: set[asyncio.Task[Any]] = set()

    async def search(self, wanted: SearchRequest) -> list[Passage]:
        """The passages of a space that answer, best first; what has just been written or said is among them.

        Raises:
            StoreError: the store or the index cannot be read.
        """
        return await self._run_shielded(self._search(wanted))

    async def refresh(self, space: str) -> int:
        """Bring the index up to date with the files and the store; returns how many rows it has."""
        return await self._run_shielded(self._count_rows(space))

    async def rebuild(self, space: str) -> int:
        """Make the index again from the files and the store; returns how many rows it has."""
        await self.forget(space)
        return await self.refresh(space)

    async def forget(self, space: str) -> None:
        """Throw the index away; the next search makes it again."""
        async with self._keepers(space) as held:
            for keeper in held:
                await keeper.remove()

    async def check(self, space: str) -> str:
        """What is wrong with the index, "" for nothing."""
        async with self._keepers(space) as held:
            found = [await keeper.use(lambda index: index.check()) for keeper in held]
        return "; ".join(filter(None, found))

    async def settled(self) -> None:
        """Wait until no search goes on."""
        while self._work:
            await asyncio.wait(list(self._work))

    async def close(self) -> None:
        """Finish what goes on, then close every index."""
        await self.settled()
        if self._vectors:
            await self._vectors.close()
        for keeper in self._open.values():
            await asyncio.to_thread(keeper.close)
        self._open.clear()

    async def _search(self, wanted: SearchRequest) -> list[Passage]:
        hides = await self._hides(wanted)
        if wanted.on_behalf_of and hides.live_from <= 1 and await self._has_nothing_else(wanted):
            return []
        question_vector = await self._vectors.embed_question(wanted.query) if self._vectors else b""
        found: list[Passage] = []
        async with self._keepers(wanted.space) as held:
            for keeper in held:
                answers = await keeper.use(
                    lambda index: find_rows(index, wanted, hides.within(index), self._near(index, question_vector)),
                )
                found += [_to_passage(answer, keeper.space) for answer in answers]
                self._keep_up(keeper)
        return sorted(found, key=lambda passage: -passage.score)[: wanted.limit]

    async def _has_nothing_else(self, wanted: SearchRequest) -> bool:
        """Whether the space holds nothing but what this conversation shows anyway; then its index need not be made."""
        for member in await self._store.links.members(wanted.space):
            if has_memory_files(self._ground.workspace, member):
                return False
            if (await self._store.sessions.ends(member)).keys() - {wanted.on_behalf_of}:
                return False
        return True

    async def _count_rows(self, space: str) -> int:
        rows = 0
        async with self._keepers(space) as held:
            for keeper in held:
                rows += await keeper.use(lambda index: index.count())
                self._keep_up(keeper)
        return rows

    def _near(self, index: SpaceIndex, question_vector: bytes) -> dict[int, float]:
        return self._vectors.near(index, question_vector) if self._vectors else {}

    def _keep_up(self, keeper: SpaceIndexKeeper) -> None:
        if self._vectors:
            self._vectors.keep_up(keeper)

    @asynccontextmanager
    async def _keepers(self, space: str) -> AsyncIterator[list[SpaceIndexKeeper]]:
        """The indexes of a space and of those linked to it, open and not closed by anybody until the block ends."""
        members = list(await self._store.links.members(space))
        self._holders.update(members)
        try:
            yield [self._open_keeper(member) for member in members]
        finally:
            self._holders.subtract(members)
            self._holders = +self._holders  # those that nobody holds
            self._close_idle()

    async def _hides(self, wanted: SearchRequest) -> "_Hides":
        name = wanted.on_behalf_of or wanted.hide_live_of
        row = await self._store.sessions.conversation(name) if name else None
        if row is None:
            return _Hides()
        head = await self._store.folds.fold(row.fold_head) if row.fold_head else None
        live_from = head.to_seq + 1 if head else row.view_from
        if not wanted.on_behalf_of:
            return _Hides(conversation=name, live_from=live_from)
        before = row.view_from
        folds = await self._store.folds.folds(name, bare=True) if before > 1 else []
        cleared = frozenset(fold.id for fold in folds if fold.to_seq < before)
        return _Hides(conversation=name, cleared_before=before, live_from=live_from, folds=cleared)

    def _open_keeper(self, space: str) -> SpaceIndexKeeper:
        if space not in self._open:
            self._open[space] = create_keeper(space, self._ground)
            self._close_idle()
        self._open.move_to_end(space)
        return self._open[space]

    def _close_idle(self) -> None:
        """Close those used longest ago, but none in use: whoever holds it would open it again beside its successor."""
        if (over := len(self._open) - MAX_OPEN_INDEXES) > 0:
            for name in [name for name in self._open if not self._is_used(name)][:over]:
                self._open.pop(name).close()

    def _is_used(self, space: str) -> bool:
        in_background = self._vectors is not None and self._vectors.works_on(space)
        return bool(self._holders[space]) or in_background or self._open[space].busy

    async def _run_shielded(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for it; a caller that is cancelled meanwhile does not cancel it."""
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._discard_task)
        return await asyncio.shield(task)

    def _discard_task(self, task: asyncio.Task[Any]) -> None:
        self._work.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited has it; where nobody did, the next search meets it too


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hides:
    """What a search leaves out of a conversation, before it is known by which number an index has it."""

    conversation: str = ""
    cleared_before: int = 0
    live_from: int = 1 << 60
    folds: frozenset[str] = frozenset()

    def within(self, index: SearchableIndex) -> HiddenRows:
        return HiddenRows(
            source=index.number(CONVERSATION_PREFIX + self.conversation) if self.conversation else 0,
            cleared_before=self.cleared_before,
            live_from=self.live_from,
            folds=self.folds,
        )


def _to_passage(found: SearchHit, space: str) -> Passage:
    row, source = found.whole.row, found.whole.source
    path = source.removeprefix(FILE_PREFIX) if source.startswith(FILE_PREFIX) else ""
    return Passage(
        text=row.shown(),
        words=row.words,
        kind=row.kind,
        date=row.day,
        score=round(found.score, 4),
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
