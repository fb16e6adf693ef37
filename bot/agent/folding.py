"""Runs the folds of all conversations in the background; of each conversation's view one at a time."""

import asyncio
from collections.abc import Sequence

import structlog

from memory.folding import FoldRunner
from memory.store.conversations.folds import Folds
from memory.store.rows import FoldPlan, FoldRow
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
FoldTask = asyncio.Task[FoldRow | None]
MAX_PARALLEL_FOLDS = 8  # folds that call a model; a restart may start thousands


class FoldManager:
    """Starts, finishes early and resumes folds.

    A fold that fails in the background stays open in the store; the next fold of its conversation resumes it first.
    Folds into the log only change no view: any number of them may run besides the view's fold.
    """

    def __init__(self, folder: FoldRunner, folds: Folds) -> None:
        self._folder = folder
        self._folds = folds
        self._tasks: dict[str, FoldTask] = {}
        self._finish_events: dict[str, asyncio.Event] = {}
        self._view_folds: dict[str, str] = {}
        self._starting = asyncio.Lock()
        self._starts: set[asyncio.Task[FoldTask | None]] = set()
        self._slots = asyncio.Semaphore(MAX_PARALLEL_FOLDS)

    def busy(self, conversation: str) -> bool:
        """Tell whether a fold of this conversation's view is in progress."""
        return conversation in self._view_folds

    async def begin(self, plan: FoldPlan) -> None:
        """Start a fold in the background, unless one is in progress."""
        await self._start(plan)

    async def run(self, plan: FoldPlan, patience: float | None = None) -> FoldRow | None:
        """Fold and wait, at most `patience` seconds; if a fold is in progress, wait for that one.

        Returns:
            The fold; None if it was dropped or (see `busy`) is still in progress.
        """
        task = await self._start(plan)
        if task is None:
            return None
        await asyncio.wait((task,), timeout=patience)
        return task.result() if task.done() and not task.cancelled() else None

    async def hasten(self, plan: FoldPlan) -> FoldRow | None:
        """Fold now with the digest, as the request does not fit otherwise; finish a fold in progress that way.

        What the model still sends for a fold in progress is dropped.

        Returns:
            The ended fold, in whatever state; None if none could be started.
        """
        return await self._ended_fold(await self._start(plan, finish_now=True))

    async def finish(self, conversation: str) -> bool:
        """Finish this view's fold with the digest, now; return False if none is in progress."""
        return await self._ended_fold(self._request_finish(conversation)) is not None

    async def let_go(self, conversation: str) -> None:
        """Detach the fold in progress from a view that something else than a fold has changed.

        It finishes without a model, and the next fold of the view can start at once.
        """
        async with self._starting:  # a fold that is being started has no task yet
            self._request_finish(conversation)
            self._view_folds.pop(conversation, None)

    def resume(self, rows: Sequence[FoldRow]) -> None:
        """Resume folds that an earlier process started."""
        for row in rows:
            self._start_task(row)

    async def write_logs(self, conversation: str) -> None:
        """Resume the log-only folds that clearing a conversation left."""
        rows = await self._folds.open_folds()
        self.resume([row for row in rows if row.conversation == conversation and row.log_only])

    async def settled(self) -> None:
        """Wait until no fold is in progress."""
        while self._starts or self._tasks:
            await asyncio.wait([*self._starts, *self._tasks.values()])

    async def close(self) -> None:
        """Stop; open folds resume from their rows at the next start."""
        await cancel_and_wait(list(self._starts))
        await cancel_and_wait(list(self._tasks.values()))

    async def _start(self, plan: FoldPlan, *, finish_now: bool = False) -> FoldTask | None:
        """Return the task of this view's fold; start one if there is none.

        Shielded: the caller may be cancelled, and a stored fold without a task would not run.
        """
        start = asyncio.create_task(self._get_or_start(plan, finish_now=finish_now))
        self._starts.add(start)
        start.add_done_callback(self._starts.discard)
        return await asyncio.shield(start)

    async def _get_or_start(self, plan: FoldPlan, *, finish_now: bool) -> FoldTask | None:
        async with self._starting:
            task = self._request_finish(plan.conversation) if finish_now else self._running_task(plan.conversation)
            if task is None and (row := await self._open(plan, finish_now=finish_now)) is not None:
                task = self._start_task(row, finish_now=finish_now)
            return task

    async def _open(self, plan: FoldPlan, *, finish_now: bool) -> FoldRow | None:
        """Store a new fold, or take the one that was left open: only one can be open for a view.

        None if another process runs it; with `finish_now` it is taken from that process.
        """
        row = await self._folder.start(plan)
        if row is not None:
            return row
        open_folds = [each for each in await self._folds.open_folds() if each.conversation == plan.conversation]
        found = next((each for each in open_folds if not each.log_only), None)
        return await self._folds.take(found.id, at_once=finish_now) if found is not None else None

    def _running_task(self, conversation: str) -> FoldTask | None:
        return self._tasks.get(self._view_folds.get(conversation, ""))

    def _request_finish(self, conversation: str) -> FoldTask | None:
        """Let this view's fold finish without waiting for the model; return its task."""
        task = self._running_task(conversation)
        if task is not None:
            self._finish_events[task.get_name()].set()
        return task

    async def _ended_fold(self, task: FoldTask | None) -> FoldRow | None:
        """Wait for the task; return the stored fold."""
        if task is None:
            return None
        await asyncio.shield(task)
        return await self._folds.fold(task.get_name())

    def _start_task(self, row: FoldRow, *, finish_now: bool = False) -> FoldTask:
        if row.id in self._tasks:
            return self._tasks[row.id]
        finish_event = self._finish_events[row.id] = asyncio.Event()
        if finish_now:
            finish_event.set()
        task = asyncio.create_task(self._run_with_slot(row, finish_event), name=row.id)
        self._tasks[row.id] = task
        if not row.log_only:
            self._view_folds[row.conversation] = row.id
        task.add_done_callback(lambda done: self._ended(row, done))
        return task

    async def _run_with_slot(self, row: FoldRow, finish_now: asyncio.Event) -> FoldRow | None:
        """Run a fold once a slot is free, or at once without a model when `finish_now` is set."""
        if finish_now.is_set():
            return await self._folder.run_fold(row, finish_now=finish_now)
        slot, finish = asyncio.create_task(self._slots.acquire()), asyncio.create_task(finish_now.wait())
        try:
            await asyncio.wait((slot, finish), return_when=asyncio.FIRST_COMPLETED)
            return await self._folder.run_fold(row, finish_now=finish_now)
        finally:
            finish.cancel()
            if slot.done() and not slot.cancelled():
                self._slots.release()
            slot.cancel()

    def _ended(self, row: FoldRow, task: FoldTask) -> None:
        del self._tasks[row.id], self._finish_events[row.id]
        if self._view_folds.get(row.conversation) == row.id:
            del self._view_folds[row.conversation]
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("fold failed", fold=row.id, error=type(err).__name__, exc_info=err)
