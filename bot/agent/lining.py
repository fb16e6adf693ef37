"""Has the fast model write, while nobody waits, the one line that old tool results will be shown as."""

import asyncio
from collections.abc import Sequence

import structlog

from memory.context import one_line
from memory.context.one_line import Place
from memory.context.situation import NO_LINES, Lines
from memory.fold import Complete

log = structlog.get_logger(__name__)
MOST_CONVERSATIONS = 1_000
DEADLINE = 60.0


class Lining:
    """Keeps what was written until it is used; without it, or after a restart, a rule writes the lines."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete
        self._written: dict[str, dict[tuple[str, int], str]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def lines(self, conversation: str) -> Lines:
        """What has been written for this conversation's results so far."""
        return self._written.get(conversation, NO_LINES)

    def begin(self, conversation: str, places: Sequence[Place]) -> None:
        """Ask for the lines that are not written yet, in one call beside everything else; one call at a time."""
        known = self._written.get(conversation, {})
        missing = [place for place in places if (place.message.id, place.part) not in known]
        if not missing or conversation in self._tasks:
            return
        task = asyncio.create_task(self._write(conversation, missing[: one_line.MOST_ASKED]))
        self._tasks[conversation] = task
        task.add_done_callback(lambda done: self._ended(conversation, done))

    def forget(self, conversation: str) -> None:
        """The turns have left the view, and with them the need for their lines."""
        self._written.pop(conversation, None)

    async def settled(self) -> None:
        """Wait until no line is being written."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self) -> None:
        """Stop; lines that are not written yet are a rule's."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self, conversation: str, places: Sequence[Place]) -> None:
        prompt = await asyncio.to_thread(one_line.ask, places)
        async with asyncio.timeout(DEADLINE):
            answer = await self._complete(one_line.SYSTEM, prompt, one_line.MOST_ANSWER, conversation)
        written = await asyncio.to_thread(one_line.read, answer, places)
        if len(self._written) >= MOST_CONVERSATIONS:
            self._written.clear()
        self._written.setdefault(conversation, {}).update(written)

    def _ended(self, conversation: str, task: asyncio.Task[None]) -> None:
        del self._tasks[conversation]
        if not task.cancelled() and (err := task.exception()) is not None:
            log.warning("lines were not written", error=type(err).__name__)
