"""Ends the runs of tasks: how each turned out, whether it is tried again, and when its job is paused."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from bot.jobs.firing import job_key
from bot.messages import split_reply
from channels.base import Channel
from memory.store.people.job_runs import RunEnd, RunRow
from memory.store.people.jobs import JobRow
from memory.store.people.rows import Notice
from memory.store.store import Store

RETRY_MINUTES = (5, 15, 30)  # after a turn whose model did not answer before it had called a tool
MAX_FAILS = 3  # in a row; then the job is paused
BATCH = 100


def plan_end(run: RunRow, row: JobRow, now: float) -> RunEnd:
    """Decide how a run ended and what follows. Pure.

    Args:
        now: unix seconds.
    """
    if run.turn_state == "done":
        return RunEnd(state="done")
    if not run.inbox_state:
        return RunEnd(state="failed", reason="gone", fails=row.fails)
    if run.turn_state == "cancelled":
        return RunEnd(state="failed", reason="stopped", fails=row.fails)
    fails = row.fails + 1
    pause = fails >= MAX_FAILS
    if run.turn_state == "failed" and not run.told:
        retry = RETRY_MINUTES[row.retries] * 60 if row.retries < len(RETRY_MINUTES) else 0
        return RunEnd(state="failed", reason="model", retry_at=now + retry if retry else 0.0, fails=fails, pause=pause)
    return RunEnd(state="failed", reason="" if run.turn_state else "refused", fails=fails, pause=pause)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettler:
    """Stores the ends of runs."""

    store: Store
    #: The running channels by name.
    channels: Mapping[str, Channel]
    #: The language of a conversation, "zh" or "en".
    language: Callable[[str], Awaitable[str]]
    #: The current time, with a zone.
    now: Callable[[], datetime]

    async def settle(self) -> int:
        """Store the ends of the runs that are over; return how many there were."""
        runs = await self.store.job_runs.ended(BATCH)
        for run in runs:
            row = await self.store.jobs.load(run.job)
            if row is None:
                await self.store.job_runs.end(run, RunEnd(state="failed", reason="gone"))
                continue
            end = plan_end(run, row, self.now().timestamp())
            await self.store.job_runs.end(run, replace(end, notices=await self._notices(run, row, end)))
        return len(runs)

    async def _notices(self, run: RunRow, row: JobRow, end: RunEnd) -> tuple[Notice, ...]:
        """Tell the chat of a task that no further attempt is made at, or that is paused."""
        unheard = end.reason == "model"
        if not (end.pause or unheard):
            return ()
        place = await self.store.sessions.conversation(row.conversation)
        channel = self.channels.get(place.place.channel) if place else None
        if channel is None:
            return ()
        zh = await self.language(row.conversation) == "zh"
        lines = []
        if unheard:
            lines.append(
                f"r{row.number} 没有做成：模型没有回应。" if zh else f"r{row.number} failed: the model did not answer."
            )
        if end.pause:
            lines.append(
                f"r{row.number} 连续 {end.fails} 次没有做成，已暂停；/任务 继续 r{row.number} 可以恢复。"
                if zh
                else f"r{row.number} failed {end.fails} times in a row and is paused; "
                f"/tasks resume r{row.number} resumes it."
            )
        out = tuple(split_reply("⏰ " + "\n".join(lines), "notice", channel.capabilities))
        source = f"{job_key(row.id, run.due)}:end"
        return (Notice(conversation=row.conversation, source=source, out=out),)
