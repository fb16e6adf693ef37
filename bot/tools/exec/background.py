"""Commands that run in the background: started once, looked at, stopped, and told of when they
end.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bot.errors import ToolFailed
from bot.tools.exec.output import OutputBuffer
from memory.context.reductions import snip_text
from memory.store.automation.background_tasks import (
    ComposeBody,
    NewTask,
    TaskEnding,
    TaskRecords,
    TaskRow,
    TaskState,
)
from memory.tasks import cancel_and_wait

MAX_AT_ONCE = 3  # in a space
MAX_BACKGROUND_SECONDS = 3_600
MAX_OUTCOME_CHARS = 8_000
PAGE_CHARS = 8_000
MAX_REMEMBERED = 10  # ended commands whose whole output can still be read
LOST_TEXT = (
    "The program ended while it ran; nobody knows how far it got. It is not run again: look first, "
    "then decide."
)
# Runs a command to its end into a buffer; returns how it ended, or raises ToolFailed.
RunCommand = Callable[[OutputBuffer], Awaitable[str]]


@dataclass(slots=True)
class _Running:
    row: TaskRow
    output: OutputBuffer = field(default_factory=OutputBuffer)
    task: asyncio.Task[None] | None = None


class BackgroundCommands:
    """The commands of this process that run beside conversations.

    Args:
        compose: makes the body of the message that tells how one ended.
    """

    def __init__(self, tasks: TaskRecords, compose: ComposeBody) -> None:
        self._tasks = tasks
        self._compose = compose
        self._known: OrderedDict[str, _Running] = OrderedDict()

    async def start(self, new: NewTask, run: RunCommand) -> TaskRow:
        """Store a command and start it.

        Raises:
            ToolFailed: too many run already.
        """
        rows, _ = await self._tasks.start([new], [""], MAX_AT_ONCE)
        if not rows:
            raise ToolFailed(
                f"{MAX_AT_ONCE} commands run in the background already; stop one first (exec_stop)."
            )
        [row] = rows
        if row.id not in self._known and row.state == "running":
            running = self._known[row.id] = _Running(row)
            running.task = asyncio.create_task(self._run(running, run), name=f"command {row.name}")
        return row

    async def _run(self, running: _Running, run: RunCommand) -> None:
        state: TaskState = "done"
        try:
            outcome = await run(running.output)
        except ToolFailed as err:
            state, outcome = "failed", str(err)
        if len(outcome) > MAX_OUTCOME_CHARS:
            where = f'exec_status(id="{running.row.name}")'
            outcome = snip_text(outcome, MAX_OUTCOME_CHARS // 3, MAX_OUTCOME_CHARS * 2 // 3, where)
        await self._tasks.end(
            running.row.id, TaskEnding(state=state, outcome=outcome), self._compose
        )
        ended = [id for id, one in self._known.items() if one.task is None or one.task.done()]
        for id in ended[: max(0, len(ended) - MAX_REMEMBERED)]:
            del self._known[id]

    async def status(self, number: int, after: int) -> str:
        """Return what a command of the owner's space has printed after so many characters, and how
        it is.

        Raises:
            ToolFailed: there is no such command.
        """
        row = await self._tasks.find("", number)
        if row is None or row.kind != "exec":
            raise ToolFailed(f"There is no command w{number}.")
        known = self._known.get(row.id)
        text = known.output.text() if known else row.outcome
        page = text[after : after + PAGE_CHARS]
        more = (
            f"; {len(text) - after - len(page):,} characters more"
            if len(text) > after + len(page)
            else ""
        )
        return f"[{row.name} {row.state}; next: after={after + len(page)}{more}]\n{page}".rstrip()

    def last_line(self, id: str) -> str:
        """Return the last line that a command of this process has printed; "" for none."""
        known = self._known.get(id)
        return (
            next((line for line in reversed(known.output.text().splitlines()) if line.strip()), "")
            if known
            else ""
        )

    async def stop(self, number: int) -> bool:
        """End a command of the owner's space with all that it started; False if it does not run
        here.
        """
        found = [one for one in self._known.values() if one.row.number == number]
        return bool(await self._end(found))

    async def stop_of(self, conversation: str) -> int:
        """End the commands of a conversation, "" for all; return how many."""
        return await self._end(
            [one for one in self._known.values() if conversation in ("", one.row.conversation)]
        )

    async def _end(self, found: list[_Running]) -> int:
        running = {
            one.row.id: one.task for one in found if one.task is not None and not one.task.done()
        }
        await cancel_and_wait(running.values())
        for id in running:
            await self._tasks.cancel(id, self._compose, silent=True)
        return len(running)

    async def report_lost(self) -> None:
        """At a start: end what ran when the last process ended; it is told once, and never run
        again.
        """
        for row in await self._tasks.open_commands():
            if row.id not in self._known:
                await self._tasks.end(
                    row.id, TaskEnding(state="lost", outcome=LOST_TEXT), self._compose
                )

    async def close(self) -> None:
        """End everything; what ran counts as lost at the next start."""
        await cancel_and_wait({one.task for one in self._known.values() if one.task is not None})
