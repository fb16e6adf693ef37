"""Searches a space's memory files and conversations."""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC
from functools import partial
from weakref import WeakKeyDictionary

from memory.recall.as_of import MAX_LINES, end_of_day, join_results, rank_facts
from memory.recall.documents import Passage, SearchRequest, mark_outside
from memory.recall.fact_history import history_keys, with_histories
from memory.recall.hits import HiddenRows, SearchHit, find_rows
from memory.recall.index import RecallDependencies, SpaceIndex, SpaceIndexKeeper
from memory.recall.keepers.keeper import CONVERSATION_PREFIX, FILE_PREFIX, has_memory_files
from memory.recall.vectors import VectorSearch
from memory.store.engine.database import ChangedConversations
from memory.store.longterm.recall import MAX_FOLDS_ASKED, RecallScope
from memory.workspace.files import SPACES_FOLDER

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
        """The best passages of a space, best first, among what is written and said at this moment,
        or was at the end of a day.

        An automatic search may lack what was written within the last second, while others search
        the same space.

        Raises:
            StoreError: the store or the index cannot be read.
        """
        if not request.as_of:
            return await self._search_index(request)
        # lines of MEMORY.md have no day, so the index finds none of them
        until = min(request.until or request.as_of, request.as_of)
        passages = await self._search_index(replace(request, until=until))
        facts = [] if request.speaker else await self._facts_as_of(request)
        return join_results(facts, passages, request.limit)

    async def _facts_as_of(self, request: SearchRequest) -> list[Passage]:
        zone = request.now.tzinfo or UTC
        before = end_of_day(request.as_of, zone)
        rows = [
            row
            for space in await self._store.links.members(request.space)
            for row in await self._store.memories.as_of(space, before, MAX_LINES)
        ]
        return await asyncio.to_thread(rank_facts, rows, request.query, zone, request.limit)

    async def _search_index(self, request: SearchRequest) -> list[Passage]:
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
            await self._vectors.embed_question(request.query, automatic=automatic)
            if self._vectors
            else b""
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
        marked = mark_outside(found, await self._store.folds.labels(folds) if folds else {})
        return marked if request.as_of else await self._with_histories(marked, scope.spaces)

    async def _with_histories(
        self, passages: list[Passage], spaces: Sequence[str]
    ) -> list[Passage]:
        keys = history_keys(passages)
        if not (keys.messages or keys.folds or keys.norms):
            return passages
        histories = await self._store.memories.histories(
            spaces, keys.messages, keys.folds, keys.norms
        )
        return with_histories(passages, histories, self._dependencies.zone)

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
        """Make the index again from the files and the store, with the vectors of the words that are
        still there; returns its number of rows.
        """
        if self._vectors is None:
            await self.forget(space)
            return await self.refresh(space)
        rows = 0
        with self._keepers(await self._store.links.members(space)) as keepers:
            for keeper in keepers:
                rows += await self._rebuild_with_vectors(keeper, self._vectors)
        return rows

    async def _rebuild_with_vectors(self, keeper: SpaceIndexKeeper, vectors: VectorSearch) -> int:
        kept = await vectors.keep(keeper)
        try:
            await self._remove_index(keeper)
            rows = await keeper.use(lambda index: index.count())
            if kept is not None:
                await vectors.restore(keeper, kept)
        finally:
            if kept is not None:
                kept.close()
        vectors.keep_up(keeper)
        return rows

    async def forget_words(self, space: str) -> None:
        """Delete the index after words were erased from what it is made of. It is made again at the
        next search, or at once where vectors would be lost with it: they cost hours.
        """
        if self._vectors is None:
            await self.forget(space)
        else:
            await self.rebuild(space)

    async def forget(self, space: str) -> None:
        """Delete the index with all its vectors; the next search makes it again."""
        with self._keepers(await self._store.links.members(space)) as keepers:
            for keeper in keepers:
                await self._remove_index(keeper)

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

    async def embedded(self) -> None:
        """Wait until no rows are being embedded."""
        if self._vectors:
            await self._vectors.settled()

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
            _, keeper = self._open.popitem()
            self._release_vectors(keeper)
            await keeper.close()
        await self.settled()

    async def _remove_index(self, keeper: SpaceIndexKeeper) -> None:
        self._sound_until.pop(keeper, None)
        await keeper.remove()
        self._release_vectors(keeper)

    def _has_files(self, space: str) -> bool:
        return has_memory_files(self._dependencies.workspace, space)

    def _release_vectors(self, keeper: SpaceIndexKeeper) -> None:
        if self._vectors:
            self._vectors.release(keeper)

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
                keeper = self._open.pop(name)
                self._release_vectors(keeper)
                closing = asyncio.create_task(keeper.close())
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
