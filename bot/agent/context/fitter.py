"""Fits requests into their token budget: applies planned reductions and folds, builds the view."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from bot.agent.context.calibration import TokenCalibration
from bot.agent.folding import FoldManager, ToolLineWriter, build_fold_plan
from bot.agent.prompt.builder import SystemPromptBuilder
from bot.agent.subagents.values import SUBAGENT_RULES
from bot.agent.turn_context import MessageCounter, TurnSuffix
from bot.config.schema import Config, time_zone
from bot.errors import BudgetShortage, BudgetTooSmall, FoldFailed, Overflow
from bot.models.fallback import SMALLER_WINDOW
from bot.models.windows import MIN_RESERVE, RESERVE_SHARE, ModelWindow, answer_reserve
from bot.telemetry.recorder import Telemetry
from memory.context.policies.planner import (
    MIN_TURN_SHARE,
    ContextLimits,
    ContextPlan,
    min_budget,
    plan_ahead,
    plan_context,
)
from memory.context.policies.policies import Policy, build_policy
from memory.context.system_prompt import RULES, SOUL
from memory.context.tokens import TokenCounter, is_believable
from memory.context.view import ContextView, assemble_view, count_text, fixed_tokens
from memory.conversation import Session, SystemPart, ToolSpec
from memory.recall.documents import Passage
from memory.store.conversations.prompt_state import PrefixMark
from memory.store.conversations.sessions import Sessions
from memory.tasks import cancel_and_wait

MAX_TURNS_ON_LOOP = 500  # about 30 ms of a pass over them; a hop to a thread costs .1
MAX_FIT_ROUNDS = 6  # per request; each reduction or fold is planned again
MAX_TRACKED_CONVERSATIONS = 10_000
IDLE_BELOW = 0.4  # share of the budget; below it, IDLE_POLICIES plan nothing after a turn
IDLE_POLICIES = ("turns", "balanced")  # fold only by tokens and turns
SHRINK_FACTOR = 0.65  # next attempt after "too long" without a limit
MIN_SHRINK_FACTOR = 0.25  # of the refused request; the next attempt is at least this long
NAMED_LIMIT_SHARE = 0.95  # of a limit that the provider named
BUDGET_STEP_TOKENS = 500
_SUBAGENT_PARTS: tuple[SystemPart, ...] = (SystemPart(name=RULES, text=SUBAGENT_RULES),)
ResultT = TypeVar("ResultT")
ESTIMATE_MARGIN = 0.02  # share of the window left free: our tokenizer is not the model's


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRequest:
    """What to fit a request for."""

    #: Id of the model.
    model: str
    #: Name of the policy.
    policy: str
    #: Tools of a sub-agent, which sees no persona and no memory; None for a person's turn.
    tools: frozenset[str] | None = None
    #: How often the provider refused this request as too long.
    refused: int = 0
    #: Tokens the request may have after a refusal; 0 before one.
    shrunk_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FitLimits:
    """What a request has to fit: the model, its limits, and the parts before the conversation."""

    model: str
    limits: ContextLimits
    policy: Policy
    #: Of the model; `limits` has its tokens too.
    window: ModelWindow
    parts: tuple[SystemPart, ...]
    tools: tuple[ToolSpec, ...]
    #: Tokens of system parts and tools.
    fixed: int
    #: Why the parts before the conversation alone are too many; None while they fit.
    shortage: BudgetShortage | None
    #: Tokens of the model per token of our counter, as learnt in this conversation.
    factor: float
    #: Error of the last estimate.
    error_percent: float
    #: See SystemPrompt.
    memory_changes: str = ""

    @property
    def system(self) -> tuple[str, ...]:
        return tuple(part.text for part in self.parts if part.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedView:
    """A view that fits its limits."""

    view: ContextView
    fit_limits: FitLimits
    #: Passages recalled into it are tainted.
    tainted: bool
    #: What it was built of.
    session: Session
    #: See `assemble_view`.
    suffix: str
    note: str
    #: Those passages.
    recalled: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFitter:
    """Fits sessions into request budgets."""

    sessions: Sessions
    folding: FoldManager
    prompt: SystemPromptBuilder
    message_counter: MessageCounter
    calibration: TokenCalibration
    tool_lines: ToolLineWriter
    config: Callable[[], Config]
    #: Returns the window of a model.
    window: Callable[[str], ModelWindow]
    #: Returns the tools of a space, those that are not in its prompt included.
    all_specs: Callable[[str], tuple[ToolSpec, ...]]
    #: Returns the tools in the prompt of a space, in a window of so many tokens.
    specs_in_window: Callable[[str, int], tuple[ToolSpec, ...]]
    #: Loads what decides which tools are in the prompt of a space, in a window of so many tokens.
    load_tools: Callable[[str, int], Awaitable[None]]
    #: Tells whether a model's endpoint takes no tools.
    refuses_tools: Callable[[str], bool]
    telemetry: Telemetry = field(default_factory=Telemetry)
    #: What `storing_prefix` marked last, by conversation.
    _marked_prefixes: dict[str, tuple[object, ...]] = field(default_factory=dict)
    #: What the running turn was told of memory, by conversation; see `_memory_changes`.
    _shown_changes: dict[str, tuple[int, tuple[str, ...], str]] = field(default_factory=dict)
    #: Conversations whose newest request was far from a fold.
    _far_from_fold: dict[str, bool] = field(default_factory=dict)

    def specs(self, space: str) -> tuple[ToolSpec, ...]:
        """Return the tools in every request of a space."""
        return self.prompt.specs(space)

    def _specs_of(self, space: str, fit_request: FitRequest) -> tuple[ToolSpec, ...]:
        if self.refuses_tools(fit_request.model):
            return ()
        if fit_request.tools is None:
            return self.specs(space)
        return tuple(spec for spec in self.all_specs(space) if spec.name in fit_request.tools)

    async def counter(self) -> TokenCounter:
        """Return the token counter."""
        return await self.message_counter.counter()

    async def load_session(self, conversation: str) -> Session:
        """Load a conversation as the model sees it, with its times in the configured zone."""
        return self._in_zone(await self.sessions.load(conversation))

    def _in_zone(self, session: Session) -> Session:
        return replace(session, zone=time_zone(self.config()))

    async def load_limits(self, session: Session, fit_request: FitRequest) -> FitLimits:
        """Load the limits and system parts of the session's next request."""
        window = self.window(fit_request.model)
        await self.load_tools(session.space, window.tokens)
        config, counter, tools = (
            self.config(),
            await self.counter(),
            self._specs_of(session.space, fit_request),
        )
        factor, _, error = await self.calibration.factor(fit_request.model, session.conversation)
        limits = request_limits(
            config, window.tokens, factor, fit_request.refused, fit_request.shrunk_tokens
        )
        parts, memory_changes = _SUBAGENT_PARTS, ""
        if fit_request.tools is None:
            prompt_budget = self._prompt_budget(limits, session.space, tools, counter)
            prompt = await self.prompt.load(session, prompt_budget, counter)
            parts, memory_changes = prompt.parts, prompt.memory_changes
        fixed = fixed_tokens((part.text for part in parts), tools, "", counter)
        least = min_budget(fixed, limits.window)
        shortage = find_shortage(limits, fixed, tools, parts[0].text, counter)
        if shortage is None and limits.budget < least and not fit_request.shrunk_tokens:
            limits = replace(limits, factor=limits.most / least)
        return FitLimits(
            model=fit_request.model,
            limits=limits,
            policy=build_policy(fit_request.policy, config.policies, limits.most),
            window=window,
            parts=parts,
            tools=tools,
            fixed=fixed,
            shortage=shortage,
            factor=factor,
            error_percent=error,
            memory_changes=memory_changes,
        )

    async def fit(
        self, session: Session, fit_request: FitRequest, suffix: TurnSuffix
    ) -> FittedView:
        """Build the view to send now.

        Folds that it needs to fit run first; others start in the background.

        Args:
            suffix: text at the end of the running message, outside the cached prefix.

        Raises:
            BudgetTooSmall: the parts before the conversation, or with the newest step, are over the
                budget.
            FoldFailed: nothing fits without a fold, and the fold cannot be written.
        """
        counter, session = await self.counter(), self._in_zone(session)
        for _ in range(MAX_FIT_ROUNDS):
            fit_limits = await self.load_limits(session, fit_request)
            if fit_limits.shortage is not None:
                raise BudgetTooSmall(fit_limits.shortage)
            tokens = fit_limits.limits.budget - fit_limits.fixed
            summary = session.summary.text if session.summary else ""
            changes = self._memory_changes(session, fit_limits)
            block = suffix.shown(session, (*fit_limits.system, summary), changes, tokens, counter)
            fixed = (
                fit_limits.fixed
                + count_text(counter, block.text)
                + count_text(counter, suffix.last)
            )
            is_folding = self.folding.is_folding(session.conversation)
            policy = fit_limits.policy.without_early() if is_folding else fit_limits.policy
            lines = self.tool_lines.lines(session.conversation)
            plan = partial(plan_context, session, policy, fit_limits.limits, fixed, counter, lines)
            planned = await run_beside_loop(plan, len(session.turns))
            if not await self._apply_plan(session, planned, fit_limits):
                break
            session = self._in_zone(await self.sessions.load(session.conversation))
        if not planned.fits and not fit_request.shrunk_tokens:
            raise BudgetTooSmall(_message_shortage(fit_limits.limits, planned.tokens))
        self._far_from_fold[session.conversation] = _is_far_from_fold(session, planned, fit_limits)
        view = assemble_view(
            session, fit_limits.system, fit_limits.tools, counter, block.text, suffix.last
        )
        if view.repaired:
            self.telemetry.history_repaired()
        return FittedView(
            view=view,
            fit_limits=fit_limits,
            tainted=block.tainted,
            recalled=block.passages,
            session=session,
            suffix=block.text if session.running else "",
            note=suffix.last if session.running else "",
        )

    async def shrink(
        self, conversation: str, fit_request: FitRequest, fitted: FittedView, refusal: Overflow
    ) -> FitRequest:
        """Return what to fit after the provider refused a request as too long; learn from its
        count, if it has one.

        The next request fills the limit that the provider named, by its own count, else
        SHRINK_FACTOR of the refused.
        """
        fit_limits, counted = fitted.fit_limits, fitted.view.tokens.total
        model, is_named = refusal.model or fit_limits.model, is_believable(counted, refusal.limit)
        if refusal.kind != SMALLER_WINDOW:  # the fallback chain says that, not a provider
            await self.calibration.learn(model, counted, refusal.actual, conversation)
        refused = counted - fit_limits.fixed
        left = int(refused * SHRINK_FACTOR)
        if is_named and is_believable(counted, refusal.actual):
            left = (
                int(counted * refusal.limit / refusal.actual * NAMED_LIMIT_SHARE) - fit_limits.fixed
            )
        left = min(max(left, int(refused * MIN_SHRINK_FACTOR)), int(refused * NAMED_LIMIT_SHARE))
        return replace(
            fit_request, refused=fit_request.refused + 1, shrunk_tokens=fit_limits.fixed + left
        )

    def note_cut(self, conversation: str) -> None:
        """Let a fold be prepared after this turn: the server reads less than was believed."""
        self._far_from_fold.pop(conversation, None)

    def needs_preparation(self, conversation: str) -> bool:
        """Tell whether a fold may be due after the turn that has just ended: not if it was far from
        one.
        """
        return not self._far_from_fold.pop(conversation, False)

    async def prepare(self, conversation: str, fit_request: FitRequest) -> None:
        """Start the fold and the tool lines that the next turn will need."""
        counter, session = await self.counter(), await self.load_session(conversation)
        if session.running:
            return
        fit_limits = await self.load_limits(session, fit_request)
        if fit_limits.shortage is not None:
            return  # the next message reports it
        plan = partial(
            plan_ahead, session, fit_limits.policy, fit_limits.limits, fit_limits.fixed, counter
        )
        ahead = await run_beside_loop(plan, len(session.turns))
        self.tool_lines.begin(conversation, ahead.lines)
        if ahead.fold is not None:
            await self.folding.start(
                build_fold_plan(session, ahead.fold, fit_limits.policy.name, counter)
            )

    async def find_shortage(
        self, space: str, config: Config, model: str, window: ModelWindow
    ) -> BudgetShortage | None:
        """Return why the parts before any conversation of a space do not fit; None if they do.

        Args:
            config: may be another one than the current.
        """
        await self.load_tools(space, window.tokens)
        counter = await self.counter()
        tools = () if self.refuses_tools(model) else self.specs_in_window(space, window.tokens)
        factor, _, _ = await self.calibration.factor(model)
        texts = self.prompt.fixed_texts(space)
        fixed = fixed_tokens(texts, tools, "", counter)
        limits = request_limits(config, window.tokens, factor)
        return find_shortage(limits, fixed, tools, texts[0], counter)

    def _prompt_budget(
        self, limits: ContextLimits, space: str, tools: tuple[ToolSpec, ...], counter: TokenCounter
    ) -> int:
        """Return the request size to cut the system parts for; MEMORY.md must leave some for the
        talk.
        """
        fixed = min_budget(
            fixed_tokens(self.prompt.fixed_texts(space), tools, "", counter), limits.window
        )
        spare = max(0, limits.most - fixed) * 10 // 3 // BUDGET_STEP_TOKENS * BUDGET_STEP_TOKENS
        return min(limits.most, spare)

    def _memory_changes(self, session: Session, fit_limits: FitLimits) -> str:
        """Return the changes of memory that the turn's first request showed, while the system
        parts are the same.

        They stand before the turn's tool results: a change would make the provider read all of
        these again. What the turn itself remembers, its own calls show.
        """
        turn, system, changes = self._shown_changes.get(session.conversation, (0, (), ""))
        if turn == session.running and system == fit_limits.system:
            return changes
        if len(self._shown_changes) >= MAX_TRACKED_CONVERSATIONS:
            self._shown_changes.clear()
        self._shown_changes[session.conversation] = (
            session.running,
            fit_limits.system,
            fit_limits.memory_changes,
        )
        return fit_limits.memory_changes

    @asynccontextmanager
    async def storing_prefix(self, conversation: str, fit_limits: FitLimits) -> AsyncIterator[None]:
        """Store what is new in the prefix beside the request that shows it, in one commit.

        It is stored once the context is left, so before anything that rests on the answer. Beside
        the snapshot that is a change that is no fold or reduction: of model, tools, SOUL.md or
        zone.

        Raises:
            StoreError: it could not be stored.
        """
        own = [part.text for part in fit_limits.parts if part.name in (SOUL, RULES)]
        zone = self.config().timezone or (time.tzname, time.timezone)
        prefix = (fit_limits.model, own, fit_limits.tools, zone)
        if self._marked_prefixes.get(
            conversation
        ) == prefix and not self.prompt.has_unstored_snapshot(conversation):
            yield
            return
        storing = asyncio.create_task(self._store_prefix(conversation, prefix))
        try:
            yield
        except asyncio.CancelledError:
            # that the turn was stopped counts, not what may be wrong with the store
            await cancel_and_wait({storing})
            raise
        except Exception:
            await storing
            raise
        await storing

    async def _store_prefix(self, conversation: str, prefix: tuple[object, ...]) -> None:
        mark = None
        if self._marked_prefixes.get(conversation) != prefix:
            sha256 = hashlib.sha256(repr(prefix).encode()).hexdigest()
            mark = PrefixMark(sha256=sha256, reason="SOUL.md, tools, model or time zone")
        if self.prompt.has_unstored_snapshot(conversation):
            await self.prompt.store_snapshot(conversation, mark)
        elif mark is not None:
            await self.sessions.mark_prefix(conversation, mark)
        if mark is not None:
            if len(self._marked_prefixes) >= MAX_TRACKED_CONVERSATIONS:
                self._marked_prefixes.clear()
            self._marked_prefixes[conversation] = prefix

    async def _apply_plan(
        self, session: Session, planned: ContextPlan, fit_limits: FitLimits
    ) -> bool:
        """Apply reductions and folds; return whether the view may have changed and has to be
        planned again.

        If the request does not fit, a fold in progress is finished first, with the digest: that may
        be enough.
        """
        try:
            if not planned.fitted and await self.folding.finish(session.conversation):
                return True
            if planned.reductions:
                await self.sessions.reduce(
                    session.conversation, planned.reductions, planned.reductions[0].form
                )
            if planned.fold is None:
                return bool(planned.reductions)
            fold_plan = build_fold_plan(
                session, planned.fold, fit_limits.policy.name, await self.counter()
            )
            if planned.must_fold_now:
                await self.folding.fold_now(fold_plan)
                return True
            await self.folding.start(fold_plan)
            return bool(planned.reductions)
        except OSError as err:
            raise FoldFailed(err.strerror or type(err).__name__) from err


def _is_far_from_fold(session: Session, planned: ContextPlan, fit_limits: FitLimits) -> bool:
    """Tell whether no fold can be due after this turn, for policies that fold only by tokens and
    turns.
    """
    limits, settings = fit_limits.limits, fit_limits.policy.settings
    share = min(IDLE_BELOW, settings.fold_at / 2, settings.line_at / 2)
    few = fit_limits.policy.name in IDLE_POLICIES and len(session.turns) < limits.max_turns
    return few and planned.tokens + limits.reserve < limits.budget * share


def request_limits(
    config: Config, window: int, factor: float, refused: int = 0, shrunk_tokens: int = 0
) -> ContextLimits:
    """Return the limits of one request.

    A factor below 1 is ignored: the budget also holds by our count.

    Args:
        window: of the model, in tokens.
    """
    return ContextLimits(
        max_tokens=config.agent_max_context_tokens,
        max_turns=config.agent_max_context_turns,
        window=window,
        reserve=answer_reserve(window, config.llm.max_output_tokens),
        margin=int(window * ESTIMATE_MARGIN),
        factor=max(1.0, factor),
        refused=refused,
        shrunk_tokens=shrunk_tokens,
    )


def find_shortage(
    limits: ContextLimits, fixed: int, tools: Sequence[ToolSpec], soul: str, counter: TokenCounter
) -> BudgetShortage | None:
    """Return why the parts before the conversation do not fit; None if they do. Pure.

    Args:
        fixed: tokens of system parts and tools.
        soul: text of SOUL.md.
    """
    least = min_budget(fixed, limits.window)
    if limits.most >= least:
        return None
    return BudgetShortage(
        window=limits.window,
        reserve=limits.reserve,
        max_tokens=limits.max_tokens,
        fixed=fixed,
        least=least,
        least_window=_least_window(fixed),
        tools=counter.tools(tools),
        soul=counter.text(soul),
    )


def _least_window(fixed: int) -> int:
    """Return the smallest window that holds the fixed part, a turn and an answer, in tokens."""
    share = 1 - 1 / MIN_TURN_SHARE - ESTIMATE_MARGIN
    by_share = fixed / (share - 1 / RESERVE_SHARE)
    by_reserve = (fixed + MIN_RESERVE) / share
    return int(max(by_share, by_reserve)) + 1


def _message_shortage(limits: ContextLimits, tokens: int) -> BudgetShortage:
    return BudgetShortage(
        window=limits.window,
        reserve=limits.reserve,
        max_tokens=limits.max_tokens,
        fixed=tokens,
        least=tokens,
        is_message=True,
    )


async def run_beside_loop(work: Callable[[], ResultT], turns: int) -> ResultT:
    """Run work on so many turns of a conversation: in a thread where it would hold up everybody."""
    return await asyncio.to_thread(work) if turns > MAX_TURNS_ON_LOOP else work()
