"""Lets the fast model write, in the background, the lines that old tool results will be shown as."""

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
    """Caches lines while they are needed; without one, or after a restart, a rule makes the line."""

    def __init__(self, complete: Complete, deadline: float = LINE_SECONDS) -> None:
        self._complete = complete
        self._deadline = deadline
        self._kept: dict[str, _ConversationLines] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def lines(self, conversation: str) -> ToolLines:
        """Return the lines written so far for a conversation."""
        kept = self._kept.get(conversation)
        return {key: line for key, line in kept.lines.items() if line} if kept else NO_LINES

    def begin(self, conversation: str, places: Sequence[ToolResultRef]) -> None:
        """Request the missing lines with one model call in the background; one call per conversation at a time.

        Lines of other results are dropped, also those still being written: their results have left the view, or are
        shown as lines already.
        """
        kept = self._keep(conversation, frozenset(_result_key(place) for place in places))
        missing = [place for place in places if _result_key(place) not in kept.lines]
        if not missing or conversation in self._tasks:
            return
        task = asyncio.create_task(self._write(conversation, missing[: tool_lines.MAX_RESULTS]))
        self._tasks[conversation] = task
        task.add_done_callback(lambda done: self._ended(conversation, done))

    async def settled(self) -> None:
        """Wait until no line is being written."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self) -> None:
        """Stop; a rule makes the lines that are not written yet."""
        await cancel_and_wait(self._tasks.values())

    def _keep(self, conversation: str, wanted: frozenset[ToolResultKey]) -> _ConversationLines:
        """Keep only the wanted lines of this conversation; evict the oldest conversation that is idle."""
        before = self._kept.pop(conversation, None)
        known = before.lines if before else {}
        kept = _ConversationLines(wanted=wanted, lines={key: line for key, line in known.items() if key in wanted})
        if wanted:
            self._kept[conversation] = kept
        if len(self._kept) > MAX_CONVERSATIONS:
            idle = (name for name in self._kept if name not in self._tasks and name != conversation)
            if (oldest := next(idle, None)) is not None:
                del self._kept[oldest]
        return kept

    async def _write(self, conversation: str, places: Sequence[ToolResultRef]) -> None:
        prompt = await asyncio.to_thread(tool_lines.build_prompt, places)
        async with asyncio.timeout(self._deadline):
            answer = await self._complete(tool_lines.SYSTEM, prompt, tool_lines.MAX_ANSWER, conversation)
        written = await asyncio.to_thread(tool_lines.parse_answer, answer, places)
        kept = self._kept.get(conversation)
        if kept is not None:
            asked = (_result_key(place) for place in places)
            kept.lines.update({key: written.get(key, "") for key in asked if key in kept.wanted})

    def _ended(self, conversation: str, task: asyncio.Task[None]) -> None:
        del self._tasks[conversation]
        if not task.cancelled() and (err := task.exception()) is not None:
            log.info("lines were not written", error=type(err).__name__)


def _result_key(place: ToolResultRef) -> ToolResultKey:
    return place.message.id, place.part
