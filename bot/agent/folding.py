"""Folds and lines for old tool results, written in the background; summaries for embedding
programs.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from bot.config.schema import Config
from memory.context.policies import tool_lines
from memory.context.policies.planner import FoldRange
from memory.context.policies.state import NO_LINES, ToolLines
from memory.context.policies.tool_lines import ToolResultRef
from memory.context.reductions import index_reductions, turn_tokens
from memory.context.summary.validation import parse_sections, render_sections, trim_sections
from memory.context.tokens import TokenCounter
from memory.conversation import Complete, Session, Turn
from memory.folding.runner import FoldRunner
from memory.store.conversations.folds.steps import Folds
from memory.store.conversations.sessions import Sessions
from memory.store.errors import StoreError
from memory.store.rows import FoldPlan, FoldRow
from memory.tasks import cancel_and_wait
from memory.text.language import is_mostly_cjk
from memory.text.quoting import shorten

log = structlog.get_logger(__name__)
FoldTask = asyncio.Task[FoldRow | None]
MAX_CONVERSATIONS = 1_000  # with lines
LINE_SECONDS = 60.0  # one model call for lines
ToolResultKey = tuple[str, int]
MAX_PARALLEL_FOLDS = 8  # folds that call a model; a restart may start thousands
MAX_PARALLEL_LOGS = 2  # the same of log-only folds, beside those; a fold may wait for some of them


@dataclass(frozen=True, slots=True, kw_only=True)
class _LateTexts:
    """The texts of a model for a fold that is done."""

    conversation: str
    task: asyncio.Task[None]
    give_up: asyncio.Event


class FoldManager:
    """Starts, finishes early and resumes folds.

    A fold that fails in the background stays open in the store; it is resumed in place of its
    conversation's next one. Log-only folds change no view: any number of them may run beside the
    view's fold. A fold that could not wait for the model is done with the digest; the model's texts
    replace that when they arrive before the next fold.
    """

    def __init__(self, runner: FoldRunner, folds: Folds) -> None:
        self._runner = runner
        self._folds = folds
        self._tasks: dict[str, FoldTask] = {}
        self._finish_events: dict[str, asyncio.Event] = {}
        self._view_folds: dict[str, str] = {}
        self._late: dict[str, _LateTexts] = {}
        self._starting = asyncio.Lock()
        self._starts: set[asyncio.Task[FoldTask | None]] = set()
        self._slots = asyncio.Semaphore(MAX_PARALLEL_FOLDS)
        self._log_slots = asyncio.Semaphore(MAX_PARALLEL_LOGS)

    def is_folding(self, conversation: str) -> bool:
        """Tell whether a fold of this conversation's view is in progress."""
        return conversation in self._view_folds

    def has_open_cost(self, conversation: str) -> bool:
        """Tell whether a model may still write for a fold of this view: what that costs is not
        stored yet.
        """
        return self.is_folding(conversation) or any(
            late.conversation == conversation for late in self._late.values()
        )

    async def start(self, plan: FoldPlan) -> None:
        """Start a fold in the background, unless one is in progress."""
        await self._start(plan)

    async def run(self, plan: FoldPlan, timeout: float | None = None) -> FoldRow | None:
        """Fold and wait, at most `timeout` seconds; if a fold is in progress, wait for that one.

        Returns:
            The fold; None if it was dropped or (see `is_folding`) is still in progress.
        """
        task = await self._start(plan)
        if task is None:
            return None
        await asyncio.wait((task,), timeout=timeout)
        return task.result() if task.done() and not task.cancelled() else None

    async def fold_now(self, plan: FoldPlan) -> FoldRow | None:
        """Fold with the digest, without waiting for a model; finish a fold in progress that way.

        What the model sends later replaces the digest, unless the view has changed by then.

        Returns:
            The ended fold, in whatever state; None if none could be started.
        """
        return await self._ended_fold(await self._start(plan, finish_now=True))

    async def finish(self, conversation: str) -> bool:
        """Finish this view's fold with the digest, now (see `fold_now`); return False if none is in
        progress.
        """
        return await self._ended_fold(self._request_finish(conversation)) is not None

    async def detach(self, conversation: str) -> None:
        """Detach the fold in progress from a view that has changed in the meantime, such as by a
        clear.

        It finishes without a model, and the next fold of the view can start at once.
        """
        async with self._starting:  # a fold that is being started has no task yet
            self._request_finish(conversation)
            self._view_folds.pop(conversation, None)
            self._give_up_late(conversation)

    def resume(self, rows: Sequence[FoldRow]) -> None:
        """Resume folds that an earlier process started, and those that await the texts of a
        model.
        """
        for row in rows:
            if row.state == "folded":
                self._start_late(row)
            else:
                self._start_task(row)

    async def write_logs(self, conversation: str) -> None:
        """Run the log-only folds that are planned for a conversation, such as by its clear."""
        for row in await self._folds.open_logs(conversation):
            await self._start_log(row, at_once=False)

    async def retry_logs(self) -> None:
        """Run the log-only folds that failed, such as on a full disk, or whose process is gone."""
        for row in await self._folds.open_logs():
            await self._start_log(row, at_once=False)

    async def run_logs(self, rows: Sequence[FoldRow]) -> None:
        """Run log-only folds of this process to their end; a failure is logged."""
        tasks = [self._start_task(row) for row in rows]
        if tasks:
            await asyncio.wait(tasks)

    async def settled(self) -> None:
        """Wait until no fold is in progress, and none awaits the texts of a model."""
        while self._starts or self._tasks or self._late:
            late = (each.task for each in self._late.values())
            await asyncio.wait([*self._starts, *self._tasks.values(), *late])

    async def close(self) -> None:
        """Stop; open folds resume from their rows at the next start."""
        await cancel_and_wait(list(self._starts))
        await cancel_and_wait(list(self._tasks.values()))
        await cancel_and_wait([each.task for each in self._late.values()])

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
            task = (
                self._request_finish(plan.conversation)
                if finish_now
                else self._running_task(plan.conversation)
            )
            if task is None and (row := await self._open(plan, finish_now=finish_now)) is not None:
                task = self._start_task(row, finish_now=finish_now)
            return task

    async def _open(self, plan: FoldPlan, *, finish_now: bool) -> FoldRow | None:
        """Store a new fold, or take over the open one: a view has at most one.

        Returns:
            None if another process runs it; with `finish_now` it is taken from that process.
        """
        row = await self._runner.start(plan)
        if row is not None:
            return row
        open_folds = [
            each
            for each in await self._folds.open_folds()
            if each.conversation == plan.conversation
        ]
        found = next((each for each in open_folds if not each.log_only), None)
        return await self._folds.take(found.id, at_once=finish_now) if found is not None else None

    def _running_task(self, conversation: str) -> FoldTask | None:
        return self._tasks.get(self._view_folds.get(conversation, ""))

    def _request_finish(self, conversation: str) -> FoldTask | None:
        """Let this view's fold finish without the model; return its task."""
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
        task = asyncio.create_task(self._run(row, finish_event), name=row.id)
        self._tasks[row.id] = task
        if not row.log_only:
            self._view_folds[row.conversation] = row.id
            self._give_up_late(row.conversation)
        task.add_done_callback(lambda done: self._on_done(row, done))
        return task

    async def _run(self, row: FoldRow, finish_now: asyncio.Event) -> FoldRow | None:
        done = await self._run_with_slot(row, finish_now)
        if done is not None and done.awaiting:
            self._start_late(done)
        return done

    async def _run_with_slot(self, row: FoldRow, finish_now: asyncio.Event) -> FoldRow | None:
        """Run a fold once a slot is free, or at once without a model when `finish_now` is set."""
        run_log = partial(self._run_log, finish_now=finish_now)
        if finish_now.is_set():
            return await self._runner.run_fold(row, finish_now=finish_now, run_log=run_log)
        slots = self._log_slots if row.log_only else self._slots
        slot, finish = (
            asyncio.create_task(slots.acquire()),
            asyncio.create_task(finish_now.wait()),
        )
        try:
            await asyncio.wait((slot, finish), return_when=asyncio.FIRST_COMPLETED)
            return await self._runner.run_fold(row, finish_now=finish_now, run_log=run_log)
        finally:
            finish.cancel()
            if slot.done() and not slot.cancelled():
                slots.release()
            slot.cancel()

    async def _run_log(self, row: FoldRow, finish_now: asyncio.Event) -> None:
        """Run a log-only fold that another fold waits for; without a model once `finish_now` is
        set.
        """
        task = await self._start_log(row, at_once=True)
        if task is None:
            return  # it has ended
        finish = asyncio.create_task(finish_now.wait())
        try:
            await asyncio.wait((task, finish), return_when=asyncio.FIRST_COMPLETED)
            if finish_now.is_set() and row.id in self._finish_events:
                self._finish_events[row.id].set()
            await asyncio.shield(task)
        finally:
            finish.cancel()

    async def _start_log(self, row: FoldRow, *, at_once: bool) -> FoldTask | None:
        """Return the task of a log-only fold, started if need be; None if it has ended or another
        process runs it.
        """
        if row.id not in self._tasks:
            taken = await self._folds.take(row.id, at_once=at_once)
            return self._start_task(taken) if taken is not None else self._tasks.get(row.id)
        return self._tasks[row.id]

    def _start_late(self, row: FoldRow) -> None:
        """Have the model's texts replace the digest of a fold, in the background."""
        if row.id in self._late:
            return
        self._give_up_late(row.conversation)
        give_up = asyncio.Event()
        task = asyncio.create_task(self._write_late(row, give_up), name=row.id)
        self._late[row.id] = _LateTexts(conversation=row.conversation, task=task, give_up=give_up)
        task.add_done_callback(self._on_late_done)

    async def _write_late(self, row: FoldRow, give_up: asyncio.Event) -> None:
        async with self._slots:
            await self._runner.write_late_texts(row, give_up)

    def _give_up_late(self, conversation: str) -> None:
        """Wait no longer for texts whose fold is followed by another one, or is not in the view any
        more.
        """
        for late in self._late.values():
            if late.conversation == conversation:
                late.give_up.set()

    def _on_late_done(self, task: asyncio.Task[None]) -> None:
        del self._late[task.get_name()]
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error(
                "late texts failed", fold=task.get_name(), error=type(err).__name__, exc_info=err
            )

    def _on_done(self, row: FoldRow, task: FoldTask) -> None:
        del self._tasks[row.id], self._finish_events[row.id]
        if self._view_folds.get(row.conversation) == row.id:
            del self._view_folds[row.conversation]
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("fold failed", fold=row.id, error=type(err).__name__, exc_info=err)


def build_fold_plan(
    session: Session,
    fold: FoldRange,
    policy: str,
    counter: TokenCounter | None = None,
    *,
    log_only: bool = False,
) -> FoldPlan:
    """Build the plan of a fold. counter: counts the shown text; None uses the stored counts."""
    before, after = (
        _displayed_tokens(session, fold.to_turn, counter)
        if counter
        else (sum(t.tokens for t in session.turns), 0)
    )
    return FoldPlan(
        conversation=session.conversation,
        epoch=session.epoch,
        prev_fold=session.fold_head,
        from_seq=fold.from_seq,
        to_seq=fold.to_seq,
        from_turn=fold.from_turn,
        to_turn=fold.to_turn,
        policy=policy,
        reason=fold.reason,
        tokens_before=before + (session.summary.tokens if session.summary else 0),
        tokens_after=after,
        log_only=log_only,
        why=fold.why,
        seen_seq=session.next_seq,
    )


def _displayed_tokens(session: Session, to_turn: int, counter: TokenCounter) -> tuple[int, int]:
    """Return the displayed tokens of all live turns, and of those after the cut."""
    reductions = index_reductions(session.reductions)
    costs = {
        turn.number: turn_tokens(turn, reductions, counter, running=turn.number == session.running)
        for turn in session.turns
    }
    return sum(costs.values()), sum(cost for number, cost in costs.items() if number > to_turn)


def plan_oldest_turns(
    session: Session, reason: str, policy: str, count: int = 0, counter: TokenCounter | None = None
) -> FoldPlan:
    """Plan a fold of the `count` oldest live turns. 0: of all, written to the daily log only."""
    turns = session.turns[:count] if count else session.turns
    fold = FoldRange(
        from_seq=turns[0].first_seq,
        to_seq=turns[-1].last_seq,
        from_turn=turns[0].number,
        to_turn=turns[-1].number,
        reason=reason,
    )
    return build_fold_plan(session, fold, policy, counter, log_only=not count)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConversationLines:
    """Lines of one conversation."""

    #: Results that will soon be shown as lines.
    wanted: frozenset[ToolResultKey]
    #: Lines written so far; "" where the model's line failed validation.
    lines: dict[ToolResultKey, str]


class ToolLineWriter:
    """Caches lines while they are needed; a missing line, as after a restart, is made by a rule."""

    def __init__(self, complete: Complete, deadline: float = LINE_SECONDS) -> None:
        self._complete = complete
        self._deadline = deadline
        self._cache: dict[str, _ConversationLines] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def lines(self, conversation: str) -> ToolLines:
        """Return the lines written so far for a conversation."""
        cached = self._cache.get(conversation)
        return {key: line for key, line in cached.lines.items() if line} if cached else NO_LINES

    def begin(self, conversation: str, results: Sequence[ToolResultRef]) -> None:
        """Request the missing lines in the background, with one model call per conversation at a
        time.

        Lines of other results are dropped, also those still being written: their results have left
        the view, or are shown as lines already.
        """
        cached = self._select(conversation, frozenset(_result_key(result) for result in results))
        missing = [result for result in results if _result_key(result) not in cached.lines]
        if not missing or conversation in self._tasks:
            return
        task = asyncio.create_task(self._write(conversation, missing[: tool_lines.MAX_RESULTS]))
        self._tasks[conversation] = task
        task.add_done_callback(lambda done: self._on_done(conversation, done))

    async def settled(self) -> None:
        """Wait until no line is being written."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self) -> None:
        """Stop writing; a rule makes the missing lines."""
        await cancel_and_wait(self._tasks.values())

    def _select(self, conversation: str, wanted: frozenset[ToolResultKey]) -> _ConversationLines:
        """Keep only the wanted lines of this conversation; evict the oldest conversation that is
        idle.
        """
        before = self._cache.pop(conversation, None)
        known = before.lines if before else {}
        cached = _ConversationLines(
            wanted=wanted, lines={key: line for key, line in known.items() if key in wanted}
        )
        if wanted:
            self._cache[conversation] = cached
        if len(self._cache) > MAX_CONVERSATIONS:
            idle = (
                name for name in self._cache if name not in self._tasks and name != conversation
            )
            if (oldest := next(idle, None)) is not None:
                del self._cache[oldest]
        return cached

    async def _write(self, conversation: str, results: Sequence[ToolResultRef]) -> None:
        prompt = await asyncio.to_thread(tool_lines.build_prompt, results)
        async with asyncio.timeout(self._deadline):
            answer = await self._complete(
                tool_lines.SYSTEM, prompt, tool_lines.MAX_ANSWER, conversation
            )
        written = await asyncio.to_thread(tool_lines.parse_answer, answer, results)
        cached = self._cache.get(conversation)
        if cached is not None:
            keys = (_result_key(result) for result in results)
            cached.lines.update({key: written.get(key, "") for key in keys if key in cached.wanted})

    def _on_done(self, conversation: str, task: asyncio.Task[None]) -> None:
        del self._tasks[conversation]
        if not task.cancelled() and (err := task.exception()) is not None:
            log.info("lines were not written", error=type(err).__name__)


def _result_key(result: ToolResultRef) -> ToolResultKey:
    return result.message.id, result.part


SUMMARY_REASON = "summary"
UNREAD_MARK = "[+{count} messages]"
_CHARACTER_COUNTER = TokenCounter(name="characters", text=len)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryThresholds:
    """When a summary is due, and how long its text may be. Source: seed 004, ThreadSummary."""

    #: New messages since the last summary.
    messages: int = 10
    #: More tokens of new messages than this; 0 to count messages alone.
    tokens: int = 3_000
    #: Of the returned text. The fold behind it has its own limit, `summary_tokens` of the policy.
    characters: int = 500

    def is_due(self, session: Session) -> bool:
        turns = _finished_turns(session)
        tokens = sum(turn.tokens for turn in turns)
        return _count_messages(turns) >= self.messages or 0 < self.tokens < tokens


class ThreadSummaries:
    """Summaries of conversations as a short text, for programs that embed the bot.

    A summary is a fold: its turns leave the view as after /context fold, except the newest one, and
    /context undo brings them back. All methods take a conversation's id.
    """

    def __init__(
        self,
        sessions: Sessions,
        folding: FoldManager,
        config: Callable[[], Config],
        counter: Callable[[], Awaitable[TokenCounter]],
        thresholds: SummaryThresholds | None = None,
    ) -> None:
        self._sessions = sessions
        self._folding = folding
        self._config = config
        self._counter = counter
        self._thresholds = thresholds or SummaryThresholds()

    async def get(self, conversation: str) -> str:
        """Return the current summary; "" for none."""
        return self._text(await self._sessions.load(conversation))

    async def is_tainted(self, conversation: str) -> bool:
        """Tell whether the current summary is partly based on outside words."""
        summary = (await self._sessions.load(conversation)).summary
        return summary is not None and summary.tainted

    async def update_if_needed(self, conversation: str) -> str:
        """Return the summary, updated first if enough is new."""
        session = await self._sessions.load(conversation)
        return (
            await self._update(session) if self._thresholds.is_due(session) else self._text(session)
        )

    async def force_update(self, conversation: str) -> str:
        """Return the summary of all finished turns but the newest; unchanged with fewer than two of
        them.

        If the fold fails (the daily log cannot be written, the view has changed), returns the
        former text with "[+N messages]" for those it does not cover; the next fold resumes the
        failed one.
        """
        return await self._update(await self._sessions.load(conversation))

    async def _update(self, session: Session) -> str:
        turns = _finished_turns(session)[:-1]
        if not turns:
            return self._text(session)
        policy = session.policy or self._config().context_policy
        plan = plan_oldest_turns(session, SUMMARY_REASON, policy, len(turns), await self._counter())
        try:
            fold = await self._folding.run(plan)
        except (OSError, StoreError):
            fold = None
        if fold is not None and fold.state == "folded":
            return self._text(await self._sessions.load(session.conversation))
        return "\n".join(
            filter(None, (self._text(session), UNREAD_MARK.format(count=_count_messages(turns))))
        )

    def _text(self, session: Session) -> str:
        """Cut the summary to the limit: without its least important lines, or a single long line
        cut.
        """
        text, limit = session.summary.text if session.summary else "", self._thresholds.characters
        if len(text) <= limit:
            return text
        lang = "zh" if is_mostly_cjk(text) else "en"
        trimmed = trim_sections(parse_sections(text), lang, _CHARACTER_COUNTER, limit)
        return render_sections(trimmed, lang) or shorten(text, limit)


def _finished_turns(session: Session) -> list[Turn]:
    return [turn for turn in session.turns if turn.number != session.running]


def _count_messages(turns: list[Turn]) -> int:
    return sum(len(turn.messages) for turn in turns)
