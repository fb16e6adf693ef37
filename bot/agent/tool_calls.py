"""Runs the tool calls of one step: each is started in the record before its effect, and ended in it after."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import structlog

from bot.access.budget_guard import Budgeting
from bot.access.permissions import authorize
from bot.access.roles import Roles
from bot.access.storage_quota import NoRoom
from bot.agent.approvals import TAINTED, Approvals, Wanted, action_of
from bot.agent.turn_context import Drafting, Job
from bot.errors import ToolFailed
from bot.telemetry.recorder import Signals
from bot.tools.base import Occasion, Tool, ToolContext, Toolset
from memory.context.taint import judged_results, tainted_view
from memory.conversation import Message, Session, ToolResult
from memory.failpoints import afp
from memory.store.errors import IndexUnusable
from memory.store.rows import CallRow, CallState
from memory.store.store import Store
from memory.workspace.files import Workspace

# What a tool may have to know of the message that its turn answers: who said what, and what else the model sees.


def is_tainted(job: Job, session: Session) -> bool:
    """Whether words from outside, or what rests on them, are in the conversation that the model sees. Pure.

    What a request recalls is not looked at: the answer to that request bears its label.
    """
    return job.where.kind == "group" or tainted_view(session)


async def occasion(store: Store, job: Job) -> Occasion:
    """Of the turn that runs, as the record stands."""
    session = await store.sessions.load(job.conversation.id)
    message = session.turns[-1].messages[0]
    return Occasion(
        message_id=message.id,
        channel=job.conversation.place.channel,
        words=job.words,
        said=message.at,
        tainted=is_tainted(job, session),
    )


log = structlog.get_logger(__name__)
TOOL_SECONDS = 60.0
INVALID = "[invalid call]"
FETCHES = ("web_fetch",)
"""Tools that fetch pages: they count against a limit of their own besides."""
SPENT = "[not done: this person's tool calls of today are used up; answer with what you have]"
UNKNOWN = (
    "[outcome unknown: the program was interrupted while this ran; it may or may not have happened."
    " It is not repeated by itself: look first, then decide.]"
)
BROKEN = (OSError, ValueError, TypeError, LookupError, RuntimeError, ArithmeticError)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    call: CallRow
    state: CallState
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What calls are run with. toolset: what is offered now; now: where the owner is."""

    store: Store
    toolset: Callable[[], Toolset]
    workspace: Workspace
    now: Callable[[], datetime]
    drafting: Drafting
    approvals: Approvals
    roles: Roles
    budgeting: Budgeting
    signals: Signals = field(default_factory=Signals)


class Calls:
    """The hands of the agent."""

    def __init__(self, bench: Bench) -> None:
        self._store, self._sessions = bench.store, bench.store.sessions
        self._toolset = bench.toolset
        self._workspace = bench.workspace
        self._now = bench.now
        self._drafting = bench.drafting
        self._approvals = bench.approvals
        self._roles = bench.roles
        self.budgeting = bench.budgeting
        self._signals = bench.signals

    async def run(self, job: Job, calls: Sequence[CallRow], asked: Message) -> None:
        """Bring every call to its end and store all results as one message. Pure ones run beside each other.

        Args:
            asked: the message that the calls stand in; what it rests on, the results rest on too.
        """
        ended = {call.id: _Done(call=call, state="denied", text=SPENT) for call in await self._over(job, calls)}
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
        tainted = judged_results(asked, results)
        told = await self._drafting.draft("user", results, "tool", tainted=tainted)
        await self._sessions.end_calls(job.turn, [(done.call, done.state) for done in ordered], told)

    async def _over(self, job: Job, calls: Sequence[CallRow]) -> list[CallRow]:
        """Those of the calls that have not begun for which nothing is left of the person's day."""
        fresh = [call for call in calls if call.state == "planned"]
        made = fresh[: await self.budgeting.calls_left(job, len(fresh))]
        fetches = [call for call in made if call.name in FETCHES]
        left = await self.budgeting.calls_left(job, len(fetches), FETCHES)
        kept = {call.id for call in made} - {call.id for call in fetches[left:]}
        return [call for call in fresh if call.id not in kept]

    async def _together(self, job: Job, calls: Sequence[CallRow]) -> list[_Done]:
        fresh = [call for call in calls if call.state == "planned"]
        if fresh:
            await self._sessions.start_calls(fresh)
        return list(await asyncio.gather(*(self._effect(job, call) for call in calls)))

    async def _one(self, job: Job, call: CallRow) -> _Done:
        if call.state == "unknown" or (call.state == "started" and call.effect == "unsafe"):
            return _Done(call=call, state="unknown", text=UNKNOWN)
        if call.state == "planned":
            await self._sessions.start_calls([call])
        return await self._effect(job, call)

    async def _effect(self, job: Job, call: CallRow) -> _Done:
        job.watched.tell("tool_started", tool=call.name, step=job.turn.step)
        began = time.perf_counter()
        state: CallState = "cancelled"
        try:
            state, text = await self._outcome(job, call)
        finally:
            self._signals.ran(call, self._known(call.name), state, began, job.turn.trace_id)
        job.watched.tell("tool_ended", tool=call.name, ok=state == "done")
        return _Done(call=call, state=state, text=text)

    def _known(self, name: str) -> str:
        """A tool's name; the model may ask for any, and what it makes up becomes no label."""
        return name if self._toolset().get(name) else "none"

    async def _outcome(self, job: Job, call: CallRow) -> tuple[CallState, str]:
        tool = self._toolset().get(call.name)
        if tool is None:
            return (
                "failed",
                f"{INVALID} There is no tool {call.name!r}. There are: {', '.join(self._toolset().names())}.",
            )
        place = job.conversation.place
        space = place.space
        id, proven = job.actor.id, job.actor.bound is None
        person = await self._roles.actor(place.channel, place.account, id, place.chat_id, place.kind, proven=proven)
        actor = replace(person, by_model=True)  # asked anew: rights may have been taken since the turn began
        if not authorize(actor, tool.spec.action, space, job.where).allowed:
            return self._denied(f"{call.name} is not allowed here.")
        await afp("tool.approved")
        try:
            arguments = self._arguments(tool, call.input)
        except ToolFailed as err:
            return "failed", f"{INVALID} {err}"
        decision = authorize(actor, action := action_of(tool.spec, arguments, space), space, job.where)
        if decision.allowed:
            return await self._run(tool, arguments, job, call)
        if not decision.ask:
            return self._denied(f"{call.name} is not allowed here with these arguments.")
        return "denied", await self._ask(job, call, action, arguments)

    def _denied(self, why: str) -> tuple[CallState, str]:
        self._signals.denied()
        return "denied", why

    async def _ask(self, job: Job, call: CallRow, action: str, arguments: dict[str, Any]) -> str:
        """Put the act before the person; words from outside ask for nothing."""
        if (await occasion(self._store, job)).tainted:
            return TAINTED
        wanted = Wanted(
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
            await self.budgeting.storage.take(space, size)
        except NoRoom as err:
            raise ToolFailed(err.full.sentence("It", "en")) from err

    def _arguments(self, tool: Tool, text: str) -> dict[str, Any]:
        try:
            arguments = json.loads(text or "{}")
        except ValueError as err:
            raise ToolFailed(f"The arguments are not JSON: {err}.") from err
        self._toolset().check(tool, arguments)
        checked: dict[str, Any] = arguments
        return checked

    async def _run(self, tool: Tool, arguments: dict[str, Any], job: Job, call: CallRow) -> tuple[CallState, str]:
        space = job.conversation.place.space
        context = ToolContext(
            conversation=job.conversation.id,
            space=space,
            root=self._workspace.space(space).root,
            now=self._now,
            idem_key=call.idem_key,
            occasion=lambda: occasion(self._store, job),
            room=lambda size: self._room(space, size),
            labelled=lambda: self._store.file_labels.marked(space),
            label=lambda paths: self._store.file_labels.mark(space, paths),
        )
        try:
            async with asyncio.timeout(TOOL_SECONDS):
                await afp("tool.mid_effect")
                text = await tool.run(arguments, context)
                await afp("tool.after_effect")
        except ToolFailed as err:
            return "failed", str(err)
        except TimeoutError:
            state: CallState = "failed" if tool.spec.effect == "pure" else "unknown"
            return state, f"{tool.spec.name} took longer than {TOOL_SECONDS:.0f} s and was given up."
        except IndexUnusable as err:
            return "failed", f"{tool.spec.name} failed: {err}."
        except BROKEN as err:
            log.error("tool broke", tool=tool.spec.name, error=type(err).__name__, exc_info=True)
            return "failed", f"{tool.spec.name} broke: {type(err).__name__}."
        return "done", text or "(nothing)"
