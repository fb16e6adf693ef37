"""The tool by which a model gives tasks to sub-agents."""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import Field

from bot.agent.subagents.service import SubagentService, dump_schema, format_tasks, is_outside
from bot.agent.subagents.values import DELEGATE_TOOL, choose_tools, dump_request
from bot.errors import ToolFailed
from bot.messages import MessageBody, dump_body
from bot.tools.base import LazyToolSpec, ToolArguments, ToolContext, ToolOutput, Toolset
from memory.store.automation.background_tasks import NewTask
from memory.store.rows import ConversationRow

MAX_TASKS = 3
MAX_GOAL_CHARS, MAX_CONTEXT_CHARS = 2_000, 8_000
TASK_HEAD = "[Task]"  # also keeps a goal from being read as a command
SCHEMA_HEAD = "Answer with one JSON object that fits this JSON Schema, and with nothing else:"


class TaskArguments(ToolArguments):
    """One task."""

    goal: str = Field(min_length=1, max_length=MAX_GOAL_CHARS)
    context: str = Field(
        "",
        max_length=MAX_CONTEXT_CHARS,
        description="All that it needs to know: it sees nothing else",
    )
    tools: list[str] = Field(
        [], max_length=50, description="Names of tools for it; none by default"
    )
    answer_schema: dict[str, Any] = Field(
        {}, description="JSON Schema, if the answer is to be a JSON object"
    )


class DelegateArguments(ToolArguments):
    """Arguments of `delegate`."""

    tasks: list[TaskArguments] = Field(min_length=1, max_length=MAX_TASKS)


class DelegateTool:
    """Gives tasks to sub-agents and returns their outcomes, or that they run on."""

    arguments = DelegateArguments
    spec = LazyToolSpec(
        arguments,
        name=DELEGATE_TOOL,
        description="Give tasks to sub-agents that work beside you, at the same time: lookups, "
        "reading many files or pages. You get their outcomes, or later in a message. They cannot "
        "ask, send, remember or delegate.",
        effect="idempotent",
        action="delegate",
        outside=False,
    )

    def __init__(
        self,
        service: SubagentService,
        toolset: Callable[[str], Toolset],
        conversation: Callable[[str], Awaitable[ConversationRow | None]],
    ) -> None:
        """Args:
        toolset: of a space.
        conversation: loads a conversation.
        """
        self._service = service
        self._toolset = toolset
        self._conversation = conversation

    async def run(self, arguments: DelegateArguments, context: ToolContext) -> ToolOutput:
        row, actor = await self._conversation(context.conversation), context.actor
        if row is None or actor is None or row.place.is_hidden:
            raise ToolFailed("Nothing can be delegated here.")
        toolset, message = self._toolset(context.space), await context.load_message()
        new, bodies = [], []
        for position, task in enumerate(arguments.tasks):
            tools = choose_tools(task.tools, toolset)
            new.append(
                NewTask(
                    kind="agent",
                    space=context.space,
                    conversation=context.conversation,
                    call=context.idem_key,
                    position=position,
                    channel=actor.channel,
                    account=actor.account,
                    person=actor.id,
                    goal=task.goal,
                    request=dump_request(tools, dump_schema(task.answer_schema)),
                    epoch=row.epoch,
                )
            )
            bodies.append(
                dump_body(_build_body(task, tainted=message.tainted, proven=actor.bound is None))
            )
        if not await self._service.start(new, bodies):
            raise ToolFailed(
                "Too many tasks run here already; wait for their outcomes, or end some with /stop."
            )
        rows = await self._service.wait(context.idem_key)
        return ToolOutput(text=format_tasks(rows), outside=is_outside(rows))


def _build_body(task: TaskArguments, *, tainted: bool, proven: bool) -> MessageBody:
    """Return the message of a task; words that text from outside may have shaped come as a
    quotation.
    """
    words = "\n\n".join(filter(None, (task.goal, task.context)))
    if task.answer_schema:
        words += f"\n\n{SCHEMA_HEAD}\n{dump_schema(task.answer_schema)}"
    if tainted:
        return MessageBody(text=f"{TASK_HEAD} Do the task above.", task=words, proven=proven)
    return MessageBody(text=f"{TASK_HEAD} {words}", proven=proven)
