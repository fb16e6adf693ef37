"""Recall: what a space has written down and what was said in it, found as things stand at that moment."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from memory.recall.doors import Index, Kept, SpaceIndex
from memory.recall.finding import Found, Hidden, find
from memory.recall.keeping import Ground, kept_of
from memory.recall.passages import Passage, Wanted
from memory.recall.syncing import FILE, TALK, memory_files
from memory.recall.vectors import Vectors
from memory.workspace import SPACES

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
