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

from memory.recall.dates.calendar import Span
from memory.recall.dates.parse import matches, spans, without_dates
from memory.recall.documents import Passage, Wanted
from memory.recall.index import Index, Kept, Narrow, SpaceIndex, Whole
from memory.recall.ranking import Fact, Ranked, places_around, rank
from memory.recall.sqlite_index import Ground, kept_of
from memory.recall.sync import FILE, TALK, memory_files
from memory.recall.vectors import Vectors
from memory.text.tokenizer import characters, fold, names_said, question_terms
from memory.workspace.files import SPACES

# Finds the rows of one index that answer a question, and says how well; blocks.

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


T = TypeVar("T")
MOST_OPEN = 32
"""Indexes that are open at a time, each with up to 2 MiB of its pages; opening another takes a few milliseconds."""


class Recall:
    """Searches by space. A search that is cancelled goes on unseen, so that the next one finds its index ready."""

    def __init__(self, ground: Ground, vectors: Vectors | None = None) -> None:
        self._store = ground.store
        self._ground = ground
        self._vectors = vectors
        self._open: OrderedDict[str, Kept] = OrderedDict()
        self._holders: Counter[str] = Counter()
        self._work: set[asyncio.Task[Any]] = set()

    async def search(self, wanted: Wanted) -> list[Passage]:
        """The passages of a space that answer, best first; what has just been written or said is among them.

        Raises:
            StoreError: the record or the index cannot be read.
        """
        return await self._to_its_end(self._search(wanted))

    async def refresh(self, space: str) -> int:
        """Bring the index up to date with the files and the record; returns how many rows it has."""
        return await self._to_its_end(self._counted(space))

    async def rebuild(self, space: str) -> int:
        """Make the index anew from the files and the record; returns how many rows it has."""
        await self.forget(space)
        return await self.refresh(space)

    async def forget(self, space: str) -> None:
        """Throw the index away; the next search makes it anew."""
        async with self._held(space) as held:
            for kept in held:
                await kept.remove()

    async def check(self, space: str) -> str:
        """What is wrong with the index, "" for nothing."""
        async with self._held(space) as held:
            found = [await kept.use(lambda index: index.check()) for kept in held]
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
        for kept in self._open.values():
            await asyncio.to_thread(kept.close)
        self._open.clear()

    async def _search(self, wanted: Wanted) -> list[Passage]:
        hides = await self._hides(wanted)
        if wanted.behalf and hides.live_from <= 1 and await self._nothing_else(wanted):
            return []
        asked = await self._vectors.of_question(wanted.query) if self._vectors else b""
        found: list[Passage] = []
        async with self._held(wanted.space) as held:
            for kept in held:
                answers = await kept.use(
                    lambda index: find(index, wanted, hides.within(index), self._near(index, asked)),
                )
                found += [_passage(answer, kept.space) for answer in answers]
                self._keep_up(kept)
        return sorted(found, key=lambda passage: -passage.score)[: wanted.limit]

    async def _nothing_else(self, wanted: Wanted) -> bool:
        """Whether the space holds nothing but what this conversation shows anyway; then its index need not be made."""
        for member in await self._store.links.members(wanted.space):
            if memory_files(self._ground.workspace, member):
                return False
            if (await self._store.sessions.ends(member)).keys() - {wanted.behalf}:
                return False
        return True

    async def _counted(self, space: str) -> int:
        rows = 0
        async with self._held(space) as held:
            for kept in held:
                rows += await kept.use(lambda index: index.count())
                self._keep_up(kept)
        return rows

    def _near(self, index: SpaceIndex, asked: bytes) -> dict[int, float]:
        return self._vectors.near(index, asked) if self._vectors else {}

    def _keep_up(self, kept: Kept) -> None:
        if self._vectors:
            self._vectors.keep_up(kept)

    @asynccontextmanager
    async def _held(self, space: str) -> AsyncIterator[list[Kept]]:
        """The indexes of a space and of those linked to it, open and not closed by anybody until the block ends."""
        members = list(await self._store.links.members(space))
        self._holders.update(members)
        try:
            yield [self._one(member) for member in members]
        finally:
            self._holders.subtract(members)
            self._holders = +self._holders  # those that nobody holds
            self._close_idle()

    async def _hides(self, wanted: Wanted) -> "_Hides":
        name = wanted.behalf or wanted.shown_in
        row = await self._store.sessions.conversation(name) if name else None
        if row is None:
            return _Hides()
        head = await self._store.folds.fold(row.fold_head) if row.fold_head else None
        live_from = head.to_seq + 1 if head else row.view_from
        if not wanted.behalf:
            return _Hides(conversation=name, live_from=live_from)
        before = row.view_from
        folds = await self._store.folds.folds(name, bare=True) if before > 1 else []
        cleared = frozenset(fold.id for fold in folds if fold.to_seq < before)
        return _Hides(conversation=name, cleared_before=before, live_from=live_from, folds=cleared)

    def _one(self, space: str) -> Kept:
        if space not in self._open:
            self._open[space] = kept_of(space, self._ground)
            self._close_idle()
        self._open.move_to_end(space)
        return self._open[space]

    def _close_idle(self) -> None:
        """Close those used longest ago, but none in use: whoever holds it would open it again beside its successor."""
        if (over := len(self._open) - MOST_OPEN) > 0:
            for name in [name for name in self._open if not self._is_used(name)][:over]:
                self._open.pop(name).close()

    def _is_used(self, space: str) -> bool:
        in_background = self._vectors is not None and self._vectors.works_on(space)
        return bool(self._holders[space]) or in_background or self._open[space].busy

    async def _to_its_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for it; a caller that is cancelled meanwhile does not cancel it."""
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
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

    def within(self, index: Index) -> Hidden:
        return Hidden(
            source=index.number(TALK + self.conversation) if self.conversation else 0,
            cleared_before=self.cleared_before,
            live_from=self.live_from,
            folds=self.folds,
        )


def _passage(found: Found, space: str) -> Passage:
    row, source = found.whole.row, found.whole.source
    path = source.removeprefix(FILE) if source.startswith(FILE) else ""
    return Passage(
        text=row.shown(),
        words=row.words,
        kind=row.kind,
        date=row.day,
        score=round(found.score, 4),
        space=space,
        path=f"{SPACES}/{space}/{path}" if path and space else path,
        line=row.line,
        last=row.last,
        turn=row.turn,
        conversation="" if path else source.removeprefix(TALK),
        message_id=row.message_id,
        seq=row.seq,
        speaker=row.speaker,
        fold=row.fold,
    )
