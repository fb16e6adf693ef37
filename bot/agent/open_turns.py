"""The open turns of this process: which spaces they work in, how one is stopped, and pauses."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from bot.agent.turn_context import TurnResult
from memory.store.rows import ConversationRow


@dataclass(slots=True)
class RunningAgent:
    """The agent loop of one turn."""

    task: asyncio.Task[TurnResult]
    inbox_id: str
    #: Stopped by a person, a deletion, a command such as /new, revoked access, or a pause.
    stopped: bool = False
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class _OpenTurn:
    """A turn between its set-up and its stored end."""

    space: str
    finished: asyncio.Event = field(default_factory=asyncio.Event)


class OpenTurns:
    """Knows the turns that are set up or run.

    Args:
        space_idle: called when the last open turn of a space has ended.
    """

    def __init__(self, space_idle: Callable[[str], None]) -> None:
        self._space_idle = space_idle
        # By conversation.
        self._turns: dict[str, _OpenTurn] = {}
        self._agents: dict[str, RunningAgent] = {}
        # By space; each event ends one pause.
        self._pauses: dict[str, list[asyncio.Event]] = {}

    @asynccontextmanager
    async def opened(self, conversation: ConversationRow) -> AsyncIterator[bool]:
        """Wait while the space is paused, then register the turn so that a later pause can wait for
        it.

        Yields:
            Whether it had to wait.
        """
        space, has_waited = conversation.place.space, False
        while pauses := self._pauses.get(space):
            has_waited = True
            await pauses[0].wait()
        turn = self._turns[conversation.id] = _OpenTurn(space)
        try:
            yield has_waited
        finally:
            del self._turns[conversation.id]
            turn.finished.set()
            if not self.is_space_open(space):
                self._space_idle(space)

    @contextmanager
    def running(self, conversation: ConversationRow, agent: RunningAgent) -> Iterator[None]:
        """Let `stop` reach the agent of a conversation until the context is left."""
        self._agents[conversation.id] = agent
        if self._pauses.get(conversation.place.space):
            self.stop(conversation.id)  # the space was paused while the turn was set up
        try:
            yield
        finally:
            del self._agents[conversation.id]

    def is_space_open(self, space: str) -> bool:
        """Tell whether a turn of a space is open."""
        return any(turn.space == space for turn in self._turns.values())

    def stop(self, conversation: str, inbox_id: str = "") -> bool:
        """Cancel the running turn of a conversation; return False when there is none.

        Args:
            inbox_id: cancel it only if it answers this row; "" for any.
        """
        running = self._agents.get(conversation)
        if running is None or inbox_id not in ("", running.inbox_id):
            return False
        running.stopped = True
        running.task.cancel()
        return True

    @asynccontextmanager
    async def quiet(self, space: str) -> AsyncIterator[None]:
        """Stop the turns of a space and wait for their end; new ones wait until the context is
        left.
        """
        resumed = asyncio.Event()
        self._pauses.setdefault(space, []).append(resumed)
        try:
            for conversation, turn in list(self._turns.items()):
                if turn.space == space:
                    self.stop(conversation)
                    await turn.finished.wait()
            yield
        finally:
            self._pauses[space].remove(resumed)
            resumed.set()
