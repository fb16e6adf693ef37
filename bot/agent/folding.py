"""Keeps the folds of all conversations going in the background, one view's fold at a time per conversation."""

import asyncio
from collections.abc import Sequence
from typing import Any

import structlog

from memory.folding import FoldRunner
from memory.store.conversations.folds import Folds
from memory.store.rows import FoldPlan, FoldRow
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
FoldTask = asyncio.Task[FoldRow | None]
MAX_PARALLEL_FOLDS = 8  # folds that ask a model beside each other; a lean restart may want thousands


class FoldManager:
    """Begins, hastens and resumes folds.

    A fold that fails in the background stays open in the record; the next one wanted there takes it up first.
    Folds into the log alone change no view: any number of them may go on beside the view's own.
    """

    def __init__(self, folder: FoldRunner, folds: Folds) -> None:
        self._folder = folder
        self._folds = folds
        self._tasks: dict[str, FoldTask] = {}
        self._hurries: dict[str, asyncio.Event] = {}
        self._views: dict[str, str] = {}
        self._starting = asyncio.Lock()
        self._starts: set[asyncio.Task[FoldTask | None]] = set()
        self._slots = asyncio.Semaphore(MAX_PARALLEL_FOLDS)

    def busy(self, conversation: str) -> bool:
        """Whether a fold of this conversation's view is under way."""
        return conversation in self._views

    async def begin(self, plan: FoldPlan) -> None:
        """Start a fold in the background, unless one is under way."""
        await self._start(plan)

    async def run(self, plan: FoldPlan, patience: float | None = None) -> FoldRow | None:
        """Fold and wait for it, for `patience` seconds at most; one already under way is what is waited for.

        Returns:
            The fold; None when it came to nothing or (see `busy`) still goes on.
        """
        task = await self._start(plan)
        if task is None:
            return None
        await asyncio.wait((task,), timeout=patience)
        return task.result() if task.done() and not task.cancelled() else None

    async def hasten(self, plan: FoldPlan) -> FoldRow | None:
        """The request does not fit without this fold: end what is under way with the digest, else fold so now.

        What the model still sends for a fold under way is dropped.

        Returns:
            The fold that has ended, whatever became of it; None when none could be begun.
        """
        return await self._ended_fold(await self._start(plan, finish_now=True))

    async def finish(self, conversation: str) -> bool:
        """End the fold of this view that is under way with the digest, now; False when there was none."""
        return await self._ended_fold(self._request_finish(conversation)) is not None

    async def let_go(self, conversation: str) -> None:
        """The view has moved by other means than a fold: what is under way for the former one waits for no model.

        It is no longer this view's fold, so that the next one can begin at once.
        """
        async with self._starting:  # a fold that is being begun has no task to hurry yet
            self._request_finish(conversation)
            self._views.pop(conversation, None)

    def resume(self, rows: Sequence[FoldRow]) -> None:
        """Go on with folds that an earlier process began."""
        for row in rows:
            self._start_task(row)

    async def write_logs(self, conversation: str) -> None:
        """Go on with what a clear left to the log alone."""
        rows = await self._folds.open_folds()
        self.resume([row for row in rows if row.conversation == conversation and row.log_only])

    async def settled(self) -> None:
        """Wait until no fold is under way."""
        while self._starts or self._tasks:
            await asyncio.wait([*self._starts, *self._tasks.values()])

    async def close(self) -> None:
        """Stop; open folds go on from their rows at the next start."""
        await _wait_cancelled(list(self._starts))
        await _wait_cancelled(list(self._tasks.values()))

    async def _start(self, plan: FoldPlan, *, finish_now: bool = False) -> FoldTask | None:
        """The fold of this view that is under way, else a new one.

        Shielded: who asks may be stopped meanwhile, and a row without a task would be carried out by nobody.
        """
        start = asyncio.create_task(self._started(plan, finish_now=finish_now))
        self._starts.add(start)
        start.add_done_callback(self._starts.discard)
        return await asyncio.shield(start)

    async def _started(self, plan: FoldPlan, *, finish_now: bool) -> FoldTask | None:
        async with self._starting:
            task = self._request_finish(plan.conversation) if finish_now else self._running_task(plan.conversation)
            if task is None and (row := await self._open(plan, finish_now=finish_now)) is not None:
                task = self._start_task(row, finish_now=finish_now)
            return task

    async def _open(self, plan: FoldPlan, *, finish_now: bool) -> FoldRow | None:
        """A fresh fold, or the one that was left open here: while there is one, no other can be begun.

        None where another process carries it out; in a hurry it is taken from that one.
        """
        row = await self._folder.start(plan)
        if row is not None:
            return row
        left = [each for each in await self._folds.open_folds() if each.conversation == plan.conversation]
        found = next((each for each in left if not each.log_only), None)
        return await self._folds.take(found.id, at_once=finish_now) if found is not None else None

    def _running_task(self, conversation: str) -> FoldTask | None:
        return self._tasks.get(self._views.get(conversation, ""))

    def _request_finish(self, conversation: str) -> FoldTask | None:
        """The fold of this view that is under way, told to wait for no model any more."""
        task = self._running_task(conversation)
        if task is not None:
            self._hurries[task.get_name()].set()
        return task

    async def _ended_fold(self, task: FoldTask | None) -> FoldRow | None:
        """The fold as it stands once its task has ended."""
        if task is None:
            return None
        await asyncio.shield(task)
        return await self._folds.fold(task.get_name())

    def _start_task(self, row: FoldRow, *, finish_now: bool = False) -> FoldTask:
        if row.id in self._tasks:
            return self._tasks[row.id]
        hurried = self._hurries[row.id] = asyncio.Event()
        if finish_now:
            hurried.set()
        task = asyncio.create_task(self._run_with_slot(row, hurried), name=row.id)
        self._tasks[row.id] = task
        if not row.log_only:
            self._views[row.conversation] = row.id
        task.add_done_callback(lambda done: self._ended(row, done))
        return task

    async def _run_with_slot(self, row: FoldRow, finish_now: asyncio.Event) -> FoldRow | None:
        """Only so many folds at once ask a model; one that is in a hurry asks none."""
        if finish_now.is_set():
            return await self._folder.run_fold(row, finish_now=finish_now)
        place, hurried = asyncio.create_task(self._slots.acquire()), asyncio.create_task(finish_now.wait())
        try:
            await asyncio.wait((place, hurried), return_when=asyncio.FIRST_COMPLETED)
            return await self._folder.run_fold(row, finish_now=finish_now)
        finally:
            hurried.cancel()
            if place.done() and not place.cancelled():
                self._slots.release()
            place.cancel()

    def _ended(self, row: FoldRow, task: FoldTask) -> None:
        del self._tasks[row.id], self._hurries[row.id]
        if self._views.get(row.conversation) == row.id:
            del self._views[row.conversation]
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("fold failed", fold=row.id, error=type(err).__name__, exc_info=err)


async def _wait_cancelled(tasks: Sequence[asyncio.Task[Any]]) -> None:
    await cancel_and_wait(tasks)
