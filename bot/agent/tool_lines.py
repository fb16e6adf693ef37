"""Writes, with the fast model and in the background, the lines that old tool results are shortened to."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from memory.context.policies import tool_lines
from memory.context.policies.state import NO_LINES, ToolLines
from memory.context.policies.tool_lines import ToolResultRef
from memory.folding import Complete
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
MAX_CONVERSATIONS = 1_000
LINE_SECONDS = 60.0  # one model call
ToolResultKey = tuple[str, int]


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
        """Request the missing lines with one model call in the background; one call per conversation at a time.

        Lines of other results are dropped, also those still being written: their results have left the view, or are
        shown as lines already.
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
        """Keep only the wanted lines of this conversation; evict the oldest conversation that is idle."""
        before = self._cache.pop(conversation, None)
        known = before.lines if before else {}
        cached = _ConversationLines(wanted=wanted, lines={key: line for key, line in known.items() if key in wanted})
        if wanted:
            self._cache[conversation] = cached
        if len(self._cache) > MAX_CONVERSATIONS:
            idle = (name for name in self._cache if name not in self._tasks and name != conversation)
            if (oldest := next(idle, None)) is not None:
                del self._cache[oldest]
        return cached

    async def _write(self, conversation: str, results: Sequence[ToolResultRef]) -> None:
        prompt = await asyncio.to_thread(tool_lines.build_prompt, results)
        async with asyncio.timeout(self._deadline):
            answer = await self._complete(tool_lines.SYSTEM, prompt, tool_lines.MAX_ANSWER, conversation)
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
