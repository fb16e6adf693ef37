"""Keeps the folds of all conversations going in the background, one at a time per conversation."""

import asyncio
from collections.abc import Sequence

import structlog

from memory.fold import Folder
from memory.store.doors import Folds
from memory.store.records import FoldPlan, FoldRow

log = structlog.get_logger(__name__)


class Folding:
    """Begins, hastens and resumes folds. A fold that fails in the background is taken up at the next start."""

    def __init__(self, folder: Folder, folds: Folds) -> None:
        self._folder = folder
        self._folds = folds
        self._tasks: dict[str, asyncio.Task[FoldRow | None]] = {}
        self._rows: dict[str, FoldRow] = {}

    def busy(self, conversation: str) -> bool:
        """Whether a fold of this conversation is under way."""
        return conversation in self._tasks

    async def begin(self, plan: FoldPlan) -> None:
        """Start a fold in the background, unless one is under way."""
        if self.busy(plan.conversation):
            return
        row = await self._folder.start(plan)
        if row is not None:
            self._carry(row)

    async def run(self, plan: FoldPlan) -> FoldRow | None:
        """Fold and wait for it; a fold already under way is what is waited for."""
        await self.begin(plan)
        return await self.wait(plan.conversation)

    async def hasten(self, plan: FoldPlan) -> FoldRow | None:
        """The request does not fit without this fold: end what is under way with the digest, else fold so now.

        What the model still sends for a fold under way is dropped.
        """
        task = self._tasks.get(plan.conversation)
        if task is None:
            row = await self._folder.start(plan)
            return await self._folder.carry(row, extract=True) if row else None
        row = self._rows[plan.conversation]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        fresh = await self._folds.fold(row.id)
        if fresh is None or fresh.state in ("folded", "stale", "undone"):
            return fresh
        return await self._folder.carry(fresh, extract=True)

    def resume(self, rows: Sequence[FoldRow]) -> None:
        """Go on with folds that an earlier process began (or a clear left to the log alone)."""
        for row in rows:
            if not self.busy(row.conversation):
                self._carry(row)

    async def wait(self, conversation: str) -> FoldRow | None:
        """The end of the fold under way; None when there is none or it came to nothing."""
        task = self._tasks.get(conversation)
        return await asyncio.shield(task) if task else None

    async def settled(self) -> None:
        """Wait until no fold is under way."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self) -> None:
        """Stop; open folds go on from their rows at the next start."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _carry(self, row: FoldRow) -> None:
        task = asyncio.create_task(self._folder.carry(row), name=f"fold {row.id}")
        self._tasks[row.conversation] = task
        self._rows[row.conversation] = row
        task.add_done_callback(lambda done: self._ended(row, done))

    def _ended(self, row: FoldRow, task: asyncio.Task[FoldRow | None]) -> None:
        self._tasks.pop(row.conversation, None)
        self._rows.pop(row.conversation, None)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("fold failed", fold=row.id, error=type(err).__name__, exc_info=err)
