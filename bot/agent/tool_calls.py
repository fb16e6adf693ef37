"""Runs the tool calls of one step: each is started in the record before its effect, and ended in it after."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import structlog

from bot.access.budget_guard import BudgetGuard
from bot.access.permissions import authorize
from bot.access.roles import RoleResolver
from bot.access.storage_quota import QuotaExceededError
from bot.agent.approvals import TAINTED_CALL_TEXT, ApprovalRequest, ApprovalService, action_for_call
from bot.agent.turn_context import MessageCounter, TurnContext
from bot.errors import ToolFailed
from bot.telemetry.recorder import Telemetry
from bot.tools.base import MessageContext, Tool, ToolContext, Toolset
from memory.context.taint import is_view_tainted, judge_results
from memory.conversation import Message, Session, ToolResult
from memory.failpoints import hit_async
from memory.store.errors import IndexUnusable
from memory.store.rows import CallRow, CallState
from memory.store.store import Store
from memory.workspace.files import Workspace

# What a tool may have to know of the message that its turn answers: who said what, and what else the model sees.


def is_tainted(job: TurnContext, session: Session) -> bool:
    """Whether words from outside, or what rests on them, are in the conversation that the model sees. Pure.

    What a request recalls is not looked at: the answer to that request bears its label.
    """
    return job.where.kind == "group" or is_view_tainted(session)


async def load_message_context(store: Store, job: TurnContext) -> MessageContext:
    """Of the turn that runs, as the record stands."""
    session = await store.sessions.load(job.conversation.id)
    message = session.turns[-1].messages[0]
    return MessageContext(
        message_id=message.id,
        channel=job.conversation.place.channel,
        words=job.words,
        said=message.at,
        tainted=is_tainted(job, session),
    )


log = structlog.get_logger(__name__)
TOOL_SECONDS = 60.0
INVALID_CALL_PREFIX = "[invalid call]"
FETCH_TOOLS = ("web_fetch",)  # tools that fetch pages: they count against a limit of their own besides
CALLS_USED_UP_TEXT = "[not done: this person's tool calls of today are used up; answer with what you have]"
OUTCOME_UNKNOWN_TEXT = (
    "[outcome unknown: the program was interrupted while this ran; it may or may not have happened."
    " It is not repeated by itself: look first, then decide.]"
)
TOOL_RUN_ERRORS = (OSError, ValueError, TypeError, LookupError, RuntimeError, ArithmeticError)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ToolOutcome:
    call: CallRow
    state: CallState
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDependencies:
    """What calls are run with."""

    store: Store
    #: What is offered now.
    toolset: Callable[[], Toolset]
    workspace: Workspace
    #: Where the owner is.
    now: Callable[[], datetime]
    message_counter: MessageCounter
    approvals: ApprovalService
    roles: RoleResolver
    budget_guard: BudgetGuard
    telemetry: Telemetry = field(default_factory=Telemetry)


class ToolRunner:
    """The hands of the agent."""

    def __init__(self, bench: ToolDependencies) -> None:
        self._store, self._sessions = bench.store, bench.store.sessions
        self._toolset = bench.toolset
        self._workspace = bench.workspace
        self._now = bench.now
        self._drafting = bench.message_counter
        self._approvals = bench.approvals
        self._roles = bench.roles
        self.budget_guard = bench.budget_guard
        self._telemetry = bench.telemetry

    async def run(self, job: TurnContext, calls: Sequence[CallRow], asked: Message) -> None:
        """Bring every call to its end and store all results as one message. Pure ones run beside each other.

        Args:
            asked: the message that the calls stand in; what it rests on, the results rest on too.
        """
        ended = {
            call.id: _ToolOutcome(call=call, state="denied", text=CALLS_USED_UP_TEXT)
            for call in await self._over(job, calls)
        }
        left = [call for call in calls if call.id not in ended]
        pure = [call for call in left if call.effect == "pure" and call.state in ("planned", "started")]
        ended |= {done.call.id: done for done in await self._together(job, pure)}
        for call in calls:
            if call.id not in ended:
                ended[call.id] = await self._one(job, call)
        ordered = [ended[call.id] for call in calls]
        results = [
            ToolResult(call_id=done.call.call_id, text=done.text, is_error=done.state != "done") for done in ordered
        ]
        tainted = judge_results(asked, results)
        told = await self._drafting.draft("user", results, "tool", tainted=tainted)
        await self._sessions.end_calls(job.turn, [(done.call, done.state) for done in ordered], told)

    async def _over(self, job: TurnContext, calls: Sequence[CallRow]) -> list[CallRow]:
        """Those of the calls that have not begun for which nothing is left of the person's day."""
        fresh = [call for call in calls if call.state == "planned"]
        made = fresh[: await self.budget_guard.calls_left(job, len(fresh))]
        fetches = [call for call in made if call.name in FETCH_TOOLS]
        left = await self.budget_guard.calls_left(job, len(fetches), FETCH_TOOLS)
        kept = {call.id for call in made} - {call.id for call in fetches[left:]}
        return [call for call in fresh if call.id not in kept]

    async def _together(self, job: TurnContext, calls: Sequence[CallRow]) -> list[_ToolOutcome]:
        fresh = [call for call in calls if call.state == "planned"]
        if fresh:
            await self._sessions.start_calls(fresh)
        return list(await asyncio.gather(*(self._effect(job, call) for call in calls)))

    async def _one(self, job: TurnContext, call: CallRow) -> _ToolOutcome:
        if call.state == "unknown" or (call.state == "started" and call.effect == "unsafe"):
            return _ToolOutcome(call=call, state="unknown", text=OUTCOME_UNKNOWN_TEXT)
        if call.state == "planned":
            await self._sessions.start_calls([call])
        return await self._effect(job, call)

    async def _effect(self, job: TurnContext, call: CallRow) -> _ToolOutcome:
        job.event_sink.tell("tool_started", tool=call.name, step=job.turn.step)
        began = time.perf_counter()
        state: CallState = "cancelled"
        try:
            state, text = await self._outcome(job, call)
        finally:
            self._telemetry.ran(call, self._known(call.name), state, began, job.turn.trace_id)
        job.event_sink.tell("tool_ended", tool=call.name, ok=state == "done")
        return _ToolOutcome(call=call, state=state, text=text)

    def _known(self, name: str) -> str:
        """A tool's name; the model may ask for any, and what it makes up becomes no label."""
        return name if self._toolset().get(name) else "none"

    async def _outcome(self, job: TurnContext, call: CallRow) -> tuple[CallState, str]:
        tool = self._toolset().get(call.name)
        if tool is None:
            return (
                "failed",
                f"{INVALID_CALL_PREFIX} There is no tool {call.name!r}. "
                f"There are: {', '.join(self._toolset().names())}.",
            )
        place = job.conversation.place
        space = place.space
        id, proven = job.actor.id, job.actor.bound is None
        person = await self._roles.actor(place.channel, place.account, id, place.chat_id, place.kind, proven=proven)
        actor = replace(person, by_model=True)  # asked anew: rights may have been taken since the turn began
        if not authorize(actor, tool.spec.action, space, job.where).allowed:
            return self._denied(f"{call.name} is not allowed here.")
        await hit_async("tool.approved")
        try:
            arguments = self._arguments(tool, call.input)
        except ToolFailed as err:
            return "failed", f"{INVALID_CALL_PREFIX} {err}"
        decision = authorize(actor, action := action_for_call(tool.spec, arguments, space), space, job.where)
        if decision.allowed:
            return await self._run(tool, arguments, job, call)
        if not decision.ask:
            return self._denied(f"{call.name} is not allowed here with these arguments.")
        return "denied", await self._ask(job, call, action, arguments)

    def _denied(self, why: str) -> tuple[CallState, str]:
        self._telemetry.denied()
        return "denied", why

    async def _ask(self, job: TurnContext, call: CallRow, action: str, arguments: dict[str, Any]) -> str:
        """Put the act before the person; words from outside ask for nothing."""
        if (await load_message_context(self._store, job)).tainted:
            return TAINTED_CALL_TEXT
        wanted = ApprovalRequest(
            actor=job.actor,
            conversation=job.conversation,
            call=call.idem_key,
            action=action,
            tool=call.name,
            arguments=arguments,
            lang=job.lang,
        )
        try:
            return await self._approvals.ask(wanted)
        except ToolFailed as err:
            return str(err)

    async def _room(self, space: str, size: int) -> None:
        try:
            await self.budget_guard.storage.take(space, size)
        except QuotaExceededError as err:
            raise ToolFailed(err.full.sentence("It", "en")) from err

    def _arguments(self, tool: Tool, text: str) -> dict[str, Any]:
        try:
            arguments = json.loads(text or "{}")
        except ValueError as err:
            raise ToolFailed(f"The arguments are not JSON: {err}.") from err
        self._toolset().check(tool, arguments)
        checked: dict[str, Any] = arguments
        return checked

    async def _run(
        self, tool: Tool, arguments: dict[str, Any], job: TurnContext, call: CallRow
    ) -> tuple[CallState, str]:
        space = job.conversation.place.space
        context = ToolContext(
            conversation=job.conversation.id,
            space=space,
            root=self._workspace.space(space).root,
            now=self._now,
            idem_key=call.idem_key,
            occasion=lambda: load_message_context(self._store, job),
            room=lambda size: self._room(space, size),
            labelled=lambda: self._store.file_labels.marked(space),
            label=lambda paths: self._store.file_labels.mark(space, paths),
        )
        try:
            async with asyncio.timeout(TOOL_SECONDS):
                await hit_async("tool.mid_effect")
                text = await tool.run(arguments, context)
                await hit_async("tool.after_effect")
        except ToolFailed as err:
            return "failed", str(err)
        except TimeoutError:
            state: CallState = "failed" if tool.spec.effect == "pure" else "unknown"
            return state, f"{tool.spec.name} took longer than {TOOL_SECONDS:.0f} s and was given up."
        except IndexUnusable as err:
            return "failed", f"{tool.spec.name} failed: {err}."
        except TOOL_RUN_ERRORS as err:
            log.error("tool broke", tool=tool.spec.name, error=type(err).__name__, exc_info=True)
            return "failed", f"{tool.spec.name} broke: {type(err).__name__}."
        return "done", text or "(nothing)"
