"""Starts, waits for, ends and cancels the tasks of sub-agents."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence

from bot.agent.subagents.outcome import build_outcome
from bot.agent.subagents.values import Subagent, check_answer, compose_outcome_body, load_subagent
from bot.config.schema import Config
from memory.context.taint import is_tainted
from memory.context.tokens import TokenCounter
from memory.conversation import Message
from memory.store.automation.background_tasks import NewTask, TaskEnding, TaskRow, TaskState
from memory.store.longterm.views import NO_VIEWS, ViewBatch
from memory.store.rows import ConversationRow, InboxRow, NewMessage, TurnRow, TurnState, Usage
from memory.store.store import Store
from memory.workspace.files import Workspace

POLL_SECONDS = 0.5  # another process may end one
_TASK_STATES: dict[TurnState, TaskState] = {"done": "done", "cancelled": "cancelled"}


class SubagentService:
    """The tasks of sub-agents in one process.

    Args:
        counter: loads the token counter.
        stop_turn: stops the running turn of a conversation, in whatever process.
    """

    def __init__(
        self,
        *,
        store: Store,
        workspace: Workspace,
        config: Callable[[], Config],
        counter: Callable[[], Awaitable[TokenCounter]],
        stop_turn: Callable[[str], Awaitable[bool]],
    ) -> None:
        self._store = store
        self._workspace = workspace
        self._config = config
        self._counter = counter
        self._stop_turn = stop_turn
        self._ended = asyncio.Event()

    async def start(self, new: Sequence[NewTask], bodies: Sequence[str]) -> Sequence[TaskRow]:
        """Store the tasks of a call, which begin with the commit; () if too many run in the
        space.
        """
        rows, _ = await self._store.tasks.start(new, bodies, self._config().delegate.at_once)
        return rows

    async def wait(self, call: str) -> Sequence[TaskRow]:
        """Wait for the tasks of a call; if one still runs then, their outcomes come as a message
        later.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + self._config().delegate.wait_seconds
        rows = await self._store.tasks.of_call(call)
        while (
            any(row.state == "running" and not row.detached for row in rows) and loop.time() < until
        ):
            self._ended.clear()
            try:
                async with asyncio.timeout(min(POLL_SECONDS, until - loop.time())):
                    await self._ended.wait()
            except TimeoutError:
                pass
            rows = await self._store.tasks.of_call(call)
        return await self._store.tasks.collect(call)

    async def load(self, conversation: ConversationRow) -> Subagent | None:
        """Load what a conversation works on; None if it is not a sub-agent's."""
        if not conversation.place.is_hidden:
            return None
        task = await self._store.tasks.of_child(conversation.id)
        config = self._config()
        return (
            load_subagent(task, config.delegate.tokens, config.delegate.minutes) if task else None
        )

    async def finish(
        self,
        subagent: Subagent,
        turn: TurnRow,
        state: TurnState,
        final: NewMessage,
        answer: str,
        usage: Sequence[Usage],
        views: ViewBatch = NO_VIEWS,
    ) -> bool:
        """Store the end of a sub-agent's turn with its outcome.

        Args:
            answer: its last message; of a turn that was not done, why.
        """
        session = await self._store.sessions.load(turn.conversation)
        messages = session.turns[-1].messages if session.turns else ()
        outcome = (
            await self._build_outcome(subagent, answer, messages) if state == "done" else answer
        )
        tainted = final.tainted or is_tainted(messages)
        ending = TaskEnding(
            state=_TASK_STATES.get(state, "failed"), outcome=outcome, tainted=tainted
        )
        stored = await self._store.tasks.finish_agent_turn(
            turn, state, final, usage, ending, compose_outcome_body, views
        )
        self._ended.set()
        return stored

    async def _build_outcome(
        self, subagent: Subagent, answer: str, messages: Sequence[Message]
    ) -> str:
        counter, space = await self._counter(), subagent.task.space
        if subagent.answer_schema and not check_answer(answer, subagent.answer_schema):
            return answer.strip()
        text = await asyncio.to_thread(
            build_outcome, answer, messages, counter.text, lambda path: self._hash_file(space, path)
        )
        if complaint := subagent.complain(answer):
            text = f"[its answer does not fit the schema: {complaint}]\n{text}"
        return text

    def _hash_file(self, space: str, path: str) -> str:
        try:
            return hashlib.sha256(self._workspace.space(space).read_bytes(path)).hexdigest()
        except (OSError, ValueError):
            return ""

    async def end_unstarted(self, row: InboxRow, state: TaskState, why: str) -> None:
        """End a task whose message starts no turn."""
        ending = TaskEnding(state=state, outcome=why, tainted=False)
        await self._store.tasks.settle_agent_row(
            row.id, row.conversation, ending, compose_outcome_body
        )
        self._ended.set()

    async def cancel_all(self, conversation: str) -> int:
        """Cancel the running tasks of a conversation; return how many."""
        rows = [
            row for row in await self._store.tasks.open_tasks(conversation) if row.kind == "agent"
        ]
        await asyncio.gather(*(self.cancel(row, silent=True) for row in rows))
        return len(rows)

    async def cancel(self, row: TaskRow, *, silent: bool = False) -> bool:
        """Cancel a task; False if it has ended.

        Args:
            silent: the model is not told the outcomes of its call.
        """
        cancelled = await self._store.tasks.cancel(row.id, compose_outcome_body, silent=silent)
        self._ended.set()
        await self._stop_turn(row.child)
        return cancelled

    async def transcript(self, row: TaskRow) -> tuple[Sequence[Message], bool]:
        """Load the messages of a task, and whether they hold words from outside."""
        conversation = await self._store.sessions.conversation(row.child)
        if conversation is None:
            return (), True
        messages = await self._store.sessions.messages(row.child, 1, conversation.next_seq)
        return messages, row.tainted


def format_tasks(rows: Sequence[TaskRow]) -> str:
    """Format what the calling model reads of its tasks."""
    blocks = []
    for row in rows:
        if row.state == "running":
            blocks.append(
                f"[{row.name} runs on; its outcome comes as a message. Goal: {row.goal[:200]}]"
            )
        else:
            blocks.append(
                f'[{row.name} {row.state}. Originals: recall(handle="{row.name}")]\n{row.outcome}'.rstrip()  # noqa: E501
            )
    return "\n\n".join(blocks)


def is_outside(rows: Sequence[TaskRow]) -> bool:
    """Tell whether an outcome holds words from outside."""
    return any(row.tainted for row in rows)


def dump_schema(schema: dict[str, object]) -> str:
    """Serialise the schema of an answer; "" for none."""
    return json.dumps(schema, ensure_ascii=False) if schema else ""
