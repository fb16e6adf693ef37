"""Runs the tool calls of one step: each is stored as started before its effect, and as ended after
it.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog

from bot.access.budget_guard import BudgetGuard
from bot.access.permissions import AccessDecision, Actor, authorize
from bot.access.roles import RoleResolver
from bot.access.storage_quota import QuotaExceededError
from bot.agent.approvals import ApprovalRequest, ApprovalService
from bot.agent.call_actions import ASKED_WHEN_TAINTED, action_for_call
from bot.agent.turn_context import MessageCounter, TurnContext, is_tainted
from bot.errors import OutcomeUnknown, ToolFailed
from bot.memory.view_segments import outside_sources
from bot.telemetry.recorder import Telemetry
from bot.tools.base import (
    FindRefusal,
    MessageContext,
    Tool,
    ToolArguments,
    ToolContext,
    Toolset,
    VisibleWords,
    to_guarded_call,
)
from bot.tools.exec.rules import can_have_rules, find_covering_rule
from memory.context.taint import judge_results
from memory.conversation import (
    USE_TOOL,
    CallBudget,
    Image,
    Message,
    Session,
    Text,
    ToolCall,
    ToolResult,
    inner_call,
)
from memory.failpoints import hit_async
from memory.store.errors import IndexUnusable, StoreError
from memory.store.rows import CallRow, CallState, PlannedCall
from memory.store.store import Store

log = structlog.get_logger(__name__)
INVALID_CALL_PREFIX = "[invalid call]"
# their results are private text
MEMORY_TOOLS = frozenset({"recall", "memory_search", "memory_get"})
# Loads the texts of memory in view: (conversation, space).
MemoryTexts = Callable[[str, str], Awaitable[Sequence[str]]]
NO_OUTPUT = "(nothing)"
MAX_SHOWN_NAME = 100  # characters of a name that no tool has
# daily limits beside that of all calls
NARROW_BUDGETS: tuple[CallBudget, ...] = ("fetch", "search")
# Nobody watches the turn of a task: it makes no further ones, and changes nothing of what shapes
# later turns.
NOT_IN_JOBS = frozenset({"task.own", "delegate", "memory.write", "persona.write"})
NOT_IN_JOBS_TEXT = (
    "[not allowed in the turn of a task: it sets up no tasks and changes neither memory nor "
    "persona]"
)
CALLS_USED_UP_TEXT = (
    "[not done: this person's tool calls of today are used up; answer with what you have]"
)
NOT_AFTER_REFUSAL_TEXT = (
    "[not done: this needs the person's approval, and they have just refused a call. Answer in "
    "words; they can ask for it.]"
)
TAINTED_CALL_TEXT = (
    "[not done: words from outside (a file, a tool's result, a quotation) are in view, and what "
    "the bot is told to be is not written from those. The person can ask for it in a fresh "
    "conversation.]"
)
OUTCOME_UNKNOWN_TEXT = (
    "[outcome unknown: the program was interrupted while this ran; it may or may not have happened."
    " It is not repeated by itself: look first, then decide.]"
)


async def load_message_context(store: Store, context: TurnContext) -> MessageContext:
    """Load what tools may know of the message that the running turn answers."""
    session = await store.sessions.load(context.conversation.id)
    message = session.turns[-1].messages[0]
    return MessageContext(
        message_id=message.id,
        channel=context.conversation.place.channel,
        words=context.words,
        sent=message.at,
        tainted=is_tainted(context, session),
    )


async def load_visible_words(
    store: Store, context: TurnContext, memory_texts: MemoryTexts, toolset: Toolset
) -> VisibleWords:
    """Load the words in view that decide what may be sent out."""
    session = await store.sessions.load(context.conversation.id)
    messages = [message for turn in session.turns for message in turn.messages]
    calls = {call.id: inner_call(call) for call in _calls_in(messages)}
    opening = toolset.names_of_budget("fetch")
    web = {*opening, *toolset.names_of_budget("search")}
    calls_of_turn = map(inner_call, _calls_in(session.turns[-1].messages))
    fetches = [call for call in calls_of_turn if call.name in opening]
    return VisibleWords(
        tainted=is_tainted(context, session),
        typed=tuple(_typed_texts(messages)),
        found=tuple(_result_texts(messages, calls, web)),
        private=(
            *(await memory_texts(context.conversation.id, session.space)),
            *(passage.words for passage in context.suffix.recalled.passages),
            *_result_texts(messages, calls, MEMORY_TOOLS),
        ),
        fetches=len(fetches),
        asked=tuple(call.input for call in fetches),
    )


def _calls_in(messages: Sequence[Message]) -> list[ToolCall]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolCall)]


def _typed_texts(messages: Sequence[Message]) -> Iterator[str]:
    """Yield what people typed themselves, without what was put beside their words."""
    for message in messages:
        if message.origin == "person" and message.role == "user":
            yield from (
                part.text for part in message.parts if isinstance(part, Text) and not part.aside
            )


def _result_texts(
    messages: Sequence[Message], calls: Mapping[str, ToolCall], names: Collection[str]
) -> Iterator[str]:
    """Yield the results of the tools with these names."""
    parts = [part for message in messages for part in message.parts]
    for result in parts:
        if not isinstance(result, ToolResult):
            continue
        call = calls.get(result.call_id)
        if call is not None and call.name in names:
            yield result.text


@dataclass(frozen=True, slots=True, kw_only=True)
class _ToolOutcome:
    call: CallRow
    state: CallState
    text: str
    images: tuple[Image, ...] = ()
    #: The text holds words from outside.
    outside: bool = False


class _CallRefused(Exception):
    """A call ends before it runs: the state that is stored, and the text that the model reads."""

    def __init__(self, state: CallState, text: str) -> None:
        super().__init__(text)
        self.state, self.text = state, text


class ToolRunner:
    """Runs tool calls within the sender's rights, approvals and budgets."""

    def __init__(
        self,
        *,
        store: Store,
        toolset: Callable[[str], Toolset],
        now: Callable[[], datetime],
        message_counter: MessageCounter,
        approvals: ApprovalService,
        roles: RoleResolver,
        budget_guard: BudgetGuard,
        telemetry: Telemetry,
        memory_texts: MemoryTexts,
        guest_actions: Callable[[], Collection[str]],
        find_refusal: FindRefusal,
    ) -> None:
        """Args:
        now: the owner's local time.
        guest_actions: actions of tools that guests may use, too.
        find_refusal: returns why a guard refuses a call, or "".
        """
        self._store = store
        self._toolset = toolset
        self._now = now
        self._message_counter = message_counter
        self._approvals = approvals
        self._roles = roles
        self._budget_guard = budget_guard
        self._telemetry = telemetry
        self._memory_texts = memory_texts
        self._guest_actions = guest_actions
        self._find_refusal = find_refusal

    def plan(self, space: str, calls: Sequence[ToolCall]) -> list[PlannedCall]:
        """Return the calls as they are stored and judged: one of `use_tool` as the call that it
        makes.
        """
        toolset = self._toolset(space)
        judged = [inner_call(call) if toolset.get(USE_TOOL) else call for call in calls]
        tools = [toolset.get(call.name) for call in judged]
        return [
            PlannedCall(
                call_id=call.id,
                name=call.name,
                input=call.input,
                effect=tool.spec.effect if tool else "pure",
            )
            for call, tool in zip(judged, tools, strict=True)
        ]

    async def run(self, context: TurnContext, calls: Sequence[CallRow], message: Message) -> None:
        """Run every call and store all results as one message; pure calls run concurrently.

        Args:
            message: the one that holds the calls; if it is tainted, so are the results.
        """
        outcomes = await self._run_within_limits(context, calls)
        results = [
            ToolResult(
                call_id=outcome.call.call_id,
                text=outcome.text,
                is_error=outcome.state != "done",
                outside=outcome.outside,
            )
            for outcome in outcomes
        ]
        label = judge_results(message, results)
        images = [image for outcome in outcomes for image in outcome.images]
        draft = await self._message_counter.draft("user", [*results, *images], "tool", label)
        await self._store.sessions.end_calls(
            context.turn, [(outcome.call, outcome.state) for outcome in outcomes], draft
        )

    async def _run_within_limits(
        self, context: TurnContext, calls: Sequence[CallRow]
    ) -> list[_ToolOutcome]:
        """Run the calls within the person's daily limits; return the outcome of each, in order."""
        outcomes = {
            call.id: _ToolOutcome(call=call, state="denied", text=CALLS_USED_UP_TEXT)
            for call in await self._find_over_limit(context, calls)
        }
        allowed = [call for call in calls if call.id not in outcomes]
        concurrent = [call for call in allowed if _is_repeatable(call)]
        for outcome in await self._run_pure(context, concurrent):
            outcomes[outcome.call.id] = outcome
        for call in calls:
            if call.id not in outcomes:
                outcomes[call.id] = await self._run_one(context, call)
        return [outcomes[call.id] for call in calls]

    async def _find_over_limit(
        self, context: TurnContext, calls: Sequence[CallRow]
    ) -> list[CallRow]:
        """Return the planned calls beyond the person's daily limits."""
        planned = [call for call in calls if call.state == "planned"]
        within = planned[: await self._budget_guard.calls_left(context.actor, len(planned))]
        allowed = {call.id for call in within}
        toolset = self._tools_of(context)
        for budget in NARROW_BUDGETS:
            names = toolset.names_of_budget(budget)
            counted = [call for call in within if call.name in names]
            left = await self._budget_guard.calls_left(context.actor, len(counted), budget, names)
            allowed -= {call.id for call in counted[left:]}
        return [call for call in planned if call.id not in allowed]

    async def _run_pure(self, context: TurnContext, calls: Sequence[CallRow]) -> list[_ToolOutcome]:
        planned = [call for call in calls if call.state == "planned"]
        if planned:
            await self._store.sessions.start_calls(planned)
        return list(await asyncio.gather(*(self._run_started(context, call) for call in calls)))

    async def _run_one(self, context: TurnContext, call: CallRow) -> _ToolOutcome:
        if call.state == "unknown" or (call.state == "started" and call.effect == "unsafe"):
            return _ToolOutcome(call=call, state="unknown", text=OUTCOME_UNKNOWN_TEXT)
        if call.state == "planned":
            await self._store.sessions.start_calls([call])
        return await self._run_started(context, call)

    async def _run_started(self, context: TurnContext, call: CallRow) -> _ToolOutcome:
        context.event_sink.send("tool_started", tool=call.name, step=context.turn.step)
        began = time.perf_counter()
        state: CallState = "cancelled"
        toolset = self._tools_of(context)
        # Names that a model makes up must not become labels of metrics.
        label = call.name if toolset.get(call.name) else "none"
        try:
            outcome = await self._check_and_run(context, toolset, call)
            state = outcome.state
        finally:
            self._telemetry.tool_called(call, label, state, began, context.turn.trace_id)
        context.event_sink.send("tool_ended", tool=call.name, ok=state == "done")
        return outcome

    async def _check_and_run(
        self, context: TurnContext, toolset: Toolset, call: CallRow
    ) -> _ToolOutcome:
        try:
            tool, arguments = await self._check(context, toolset, call)
        except _CallRefused as refused:
            return _ToolOutcome(call=call, state=refused.state, text=refused.text)
        return await self._run_tool(tool, arguments, context, call)

    async def _check(
        self, context: TurnContext, toolset: Toolset, call: CallRow
    ) -> tuple[Tool, ToolArguments]:
        """Return the tool and the arguments of a call that may run now.

        Raises:
            _CallRefused: it is invalid, forbidden, or its person is asked to approve it first.
        """
        tool = self._find_tool(context, toolset, call.name)
        space = context.conversation.place.space
        actor = await self._load_actor(context)
        action = self._open_to_guests(tool.spec.action)
        self._authorize(context, actor, action, f"{call.name} is not allowed here.")
        await hit_async("tool.approved")

        arguments = _parse_arguments(tool, call.input)
        action = self._open_to_guests(action_for_call(tool.spec, arguments, space))
        decision = self._authorize(
            context, actor, action, f"{call.name} is not allowed here with these arguments."
        )
        guarded = to_guarded_call(
            tool.spec,
            arguments,
            space=space,
            conversation=context.conversation.id,
            channel=context.conversation.place.channel,
            person=context.actor.id,
        )
        if why := await self._find_refusal(guarded):
            raise _CallRefused("denied", self._denied(why))
        if decision.allowed:
            return tool, arguments

        session = await self._store.sessions.load(context.conversation.id)
        if await self._is_ruled(context, session, tool, arguments):
            return tool, arguments
        raise _CallRefused(
            "denied",
            await self._request_approval(context, session, call, action, arguments.given()),
        )

    def _find_tool(self, context: TurnContext, toolset: Toolset, name: str) -> Tool:
        """Return the tool of that name, if the turn has it.

        Raises:
            _CallRefused: it has not; the text says whether the program has it.
        """
        tool = toolset.get(name)
        if tool is not None:
            return tool
        if context.subagent and self._toolset(context.conversation.place.space).get(name):
            why = f"{name} is none of the tools of this task."
            raise _CallRefused("denied", self._denied(why))
        names = ", ".join(toolset.names())
        why = f"There is no tool {name[:MAX_SHOWN_NAME]!r}. There are: {names}."
        more = " Others are found with find_tools." if toolset.get(USE_TOOL) else ""
        raise _CallRefused("failed", f"{INVALID_CALL_PREFIX} {why}{more}")

    def _authorize(
        self, context: TurnContext, actor: Actor, action: str, refusal: str
    ) -> AccessDecision:
        """Return the decision on an action that is allowed, or that the person may approve.

        Raises:
            _CallRefused: it is neither; nobody is asked in the turn of a subagent.
        """
        if context.job and action in NOT_IN_JOBS:
            raise _CallRefused("denied", NOT_IN_JOBS_TEXT)
        decision = authorize(actor, action, context.conversation.place.space, context.scope)
        may_ask = decision.ask and not context.subagent
        if not decision.allowed and not may_ask:
            raise _CallRefused("denied", self._denied(refusal))
        return decision

    def _tools_of(self, context: TurnContext) -> Toolset:
        toolset = self._toolset(context.conversation.place.space)
        return toolset.only(context.subagent.tools) if context.subagent else toolset

    def _open_to_guests(self, action: str) -> str:
        return f"{action}.guest" if action in self._guest_actions() else action

    async def _load_actor(self, context: TurnContext) -> Actor:
        """Load the sender's rights again: they may have been taken away since the turn began."""
        place = context.conversation.place
        id, proven = context.actor.id, context.actor.bound is None
        person = await self._roles.actor(
            place.channel, place.account, id, place.chat_id, place.kind, proven=proven
        )
        return replace(person, by_model=True)

    async def _is_ruled(
        self, context: TurnContext, session: Session, tool: Tool, arguments: ToolArguments
    ) -> bool:
        """Tell whether the person has approved such calls for good.

        While outside words are in view, only rules for exactly one command that reads count.
        """
        if context.subagent or not can_have_rules(tool):
            return False
        tainted = is_tainted(context, session)
        now = self._store.now()
        rule = await find_covering_rule(
            self._store.access,
            self._roles,
            tool,
            arguments,
            context.conversation.place.space,
            now,
            tainted=tainted,
        )
        return rule is not None

    def _denied(self, why: str) -> str:
        self._telemetry.access_denied()
        return why

    async def _request_approval(
        self,
        context: TurnContext,
        session: Session,
        call: CallRow,
        action: str,
        arguments: dict[str, Any],
    ) -> str:
        """Ask the person to approve the call; return what the model reads.

        While outside words are in view, some calls are asked for with a warning, and the others are
        refused.
        """
        if context.is_refusal:
            return NOT_AFTER_REFUSAL_TEXT
        tainted = is_tainted(context, session)
        if tainted and action not in ASKED_WHEN_TAINTED:
            return TAINTED_CALL_TEXT
        request = ApprovalRequest(
            actor=context.actor,
            conversation=context.conversation,
            call=call.idem_key,
            action=action,
            tool=call.name,
            arguments=arguments,
            lang=context.lang,
            tainted=tainted,
            sources=[
                source.name
                for source in outside_sources(session).get(context.turn.number, ())
                if source.name
            ],
        )
        try:
            return await self._approvals.ask(request)
        except ToolFailed as err:
            return str(err)

    async def _reserve_storage(self, space: str, size: int) -> None:
        try:
            await self._budget_guard.storage.take(space, size)
        except QuotaExceededError as err:
            raise ToolFailed(err.full.sentence("It", "en")) from err

    async def _run_tool(
        self, tool: Tool, arguments: ToolArguments, context: TurnContext, call: CallRow
    ) -> _ToolOutcome:
        def ended(state: CallState, text: str) -> _ToolOutcome:
            return _ToolOutcome(call=call, state=state, text=text, outside=tool.spec.outside)

        space = context.conversation.place.space
        tool_context = ToolContext(
            conversation=context.conversation.id,
            space=space,
            now=self._now,
            idem_key=call.idem_key,
            actor=context.actor,
            load_message=lambda: load_message_context(self._store, context),
            load_visible=lambda: load_visible_words(
                self._store, context, self._memory_texts, self._toolset(space)
            ),
            reserve_storage=lambda size: self._reserve_storage(space, size),
            load_labels=lambda paths: self._store.file_labels.load(space, paths),
            label_names=lambda paths: self._store.file_labels.label_names(space, paths),
            label_contents=lambda paths: self._store.file_labels.label_contents(space, paths),
        )
        try:
            async with asyncio.timeout(tool.spec.seconds):
                await hit_async("tool.mid_effect")
                output = await tool.run(arguments, tool_context)
                await hit_async("tool.after_effect")
        except OutcomeUnknown as err:
            return ended("unknown", str(err))
        except ToolFailed as err:
            return ended("failed", str(err))
        except TimeoutError:
            state: CallState = "failed" if tool.spec.effect == "pure" else "unknown"
            return ended(
                state,
                f"{tool.spec.name} took longer than {tool.spec.seconds:.0f} s and was given up.",
            )
        except IndexUnusable as err:
            return ended("failed", f"{tool.spec.name} failed: {err}.")
        except StoreError:
            raise  # the database is away: the turn goes on from here when it is back
        except Exception as err:
            log.error("tool broke", tool=tool.spec.name, error=type(err).__name__, exc_info=True)
            return ended("failed", f"{tool.spec.name} broke: {type(err).__name__}.")
        if isinstance(output, str):
            return ended("done", output or NO_OUTPUT)
        outside = tool.spec.outside if output.outside is None else output.outside
        text = output.text or NO_OUTPUT
        return _ToolOutcome(
            call=call, state="done", text=text, images=output.images, outside=outside
        )


def _is_repeatable(call: CallRow) -> bool:
    """Whether a call has no effect, so that it runs beside others, and again if interrupted."""
    return call.effect == "pure" and call.state in ("planned", "started")


def _parse_arguments(tool: Tool, text: str) -> ToolArguments:
    try:
        given = json.loads(text or "{}")
    except (ValueError, RecursionError) as err:
        why = f"The arguments are not JSON: {err}."
        raise _CallRefused("failed", f"{INVALID_CALL_PREFIX} {why}") from err
    try:
        return tool.arguments.parse(given)
    except ToolFailed as err:
        raise _CallRefused("failed", f"{INVALID_CALL_PREFIX} {err}") from err
