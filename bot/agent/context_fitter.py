"""Makes the next request fit: reductions and folds as the policy plans them, then the view."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bot.agent.folding import FoldManager
from bot.agent.prompt import SystemPromptBuilder, TurnSuffix
from bot.agent.token_calibration import TokenCalibration
from bot.agent.tool_lines import ToolLineWriter
from bot.agent.turn_context import MessageCounter
from bot.config.schema import Config
from bot.errors import BudgetTooSmall, FoldFailed, Overflow
from bot.models.catalog import context_window
from bot.models.fallback import SMALLER_WINDOW
from bot.telemetry.recorder import Telemetry
from memory.context.policies.planner import ContextLimits, ContextPlan, FoldRange, min_budget, plan_ahead, plan_context
from memory.context.policies.policies import Policy, build_policy
from memory.context.reductions import index_reductions, turn_tokens
from memory.context.system_prompt import RULES, SOUL
from memory.context.tokens import TokenCounter, is_believable
from memory.context.view import ContextView, assemble_view, fixed_tokens
from memory.conversation import Session, SystemPart, ToolSpec
from memory.store.conversations.sessions import Sessions
from memory.store.rows import FoldPlan

MAX_FIT_ROUNDS = 6
MAX_TRACKED_CONVERSATIONS = 10_000
IDLE_BELOW = 0.4
# Policies that want nothing after a turn under that share of the budget, or half of what they begin at, with turns to
# spare.
IDLE_POLICIES = ("turns", "balanced")
# Of what a provider refused without numbers, the share tried next; the least share; what a named limit leaves.
SHRINK_FACTOR, MIN_BUDGET_SHARE, NAMED_LIMIT_SHARE = 0.65, 0.25, 0.95
BUDGET_STEP_TOKENS = 500
ESTIMATE_MARGIN = 0.02  # share of the window left free for what a counter of another tokenizer gets wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRequest:
    """What a request is to be fitted for."""

    #: Its id.
    model: str
    #: Its name.
    policy: str
    #: How often the provider has called this very request too long; shrunk: tokens that it may have since.
    refused: int = 0
    shrunk_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FitLimits:
    """What a request is fitted to: the model, its limits, and what stands before the conversation."""

    model: str
    limits: ContextLimits
    policy: Policy
    parts: tuple[SystemPart, ...]
    tools: tuple[ToolSpec, ...]
    #: Tokens of system parts and tools.
    fixed: int
    #: Of the counter, here.
    factor: float
    #: Of the counter, here.
    error_percent: float
    #: What of MEMORY.md is newer than the parts, for the tail.
    since: str = ""

    @property
    def system(self) -> tuple[str, ...]:
        return tuple(part.text for part in self.parts if part.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedView:
    """A view that fits, and what it was fitted to."""

    view: ContextView
    fit_limits: FitLimits
    #: What was recalled into it may hold words from outside.
    tainted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFitter:
    """Fits sessions into budgets."""

    sessions: Sessions
    folding: FoldManager
    prompt: SystemPromptBuilder
    message_counter: MessageCounter
    calibration: TokenCalibration
    lining: ToolLineWriter
    #: As it is at that moment.
    config: Callable[[], Config]
    telemetry: Telemetry = field(default_factory=Telemetry)
    _marked_prompts: dict[str, str] = field(default_factory=dict)
    _far_from_fold: dict[str, bool] = field(default_factory=dict)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as every request names them."""
        return self.prompt.specs()

    async def counter(self) -> TokenCounter:
        """What everything is counted with."""
        return await self.message_counter.counter()

    async def load_limits(self, session: Session, fit_request: FitRequest) -> FitLimits:
        """The limits and the system parts for this session as things stand.

        Raises:
            BudgetTooSmall: the budget, as it is configured, cannot even hold what stands before the conversation.
        """
        config, counter, tools = self.config(), await self.counter(), self.specs
        factor, _, error = await self.calibration.factor(fit_request.model, session.conversation)
        limits = replace(
            request_limits(config, fit_request.model, factor),
            refused=fit_request.refused,
            shrunk_tokens=fit_request.shrunk_tokens,
        )
        room = self._room(limits.most, tools, counter)
        parts = await self.prompt.parts(session, room, counter)
        since = self.prompt.since(session.conversation)
        fixed = fixed_tokens((part.text for part in parts), tools, "", counter)
        least = min_budget(fixed)
        if limits.most < least:
            raise BudgetTooSmall(least, counter.text(parts[0].text))
        told = 0 if config.llm.context_window else await self.calibration.window(fit_request.model)
        if told and told < limits.window:
            limits = replace(
                limits, window=told, reserve=min(limits.reserve, told // 2), margin=int(told * ESTIMATE_MARGIN)
            )
        if limits.budget < least and not fit_request.shrunk_tokens:
            limits = replace(limits, factor=limits.most / least)
        return FitLimits(
            model=fit_request.model,
            limits=limits,
            policy=build_policy(fit_request.policy, config.policies),
            parts=parts,
            tools=tools,
            fixed=fixed,
            factor=factor,
            error_percent=error,
            since=since,
        )

    async def fit(self, session: Session, fit_request: FitRequest, suffix: TurnSuffix) -> FittedView:
        """The view of a session to send now. Folds that cannot wait are carried out; others go on beside it.

        Args:
            moving: what ends the running message, and is in no prefix.

        Raises:
            BudgetTooSmall: as `setting`; or the newest step alone is more than the budget.
            FoldFailed: nothing fits without a fold, and the fold cannot be written.
        """
        counter = await self.counter()
        for _ in range(MAX_FIT_ROUNDS):
            fit_limits = await self.load_limits(session, fit_request)
            block = suffix.shown(
                fit_limits.system, fit_limits.since, fit_limits.limits.budget - fit_limits.fixed, counter
            )
            fixed = fit_limits.fixed + counter.text(block.text) + counter.text(suffix.last)
            busy, lines = self.folding.busy(session.conversation), self.lining.lines(session.conversation)
            policy = fit_limits.policy.without_early() if busy else fit_limits.policy
            planned = plan_context(session, policy, fit_limits.limits, fixed, counter, lines)
            if not await self._carry_out(session, planned, fit_limits):
                break
            session = await self.sessions.load(session.conversation)
        if not planned.fits and not fit_request.shrunk_tokens:
            raise BudgetTooSmall(planned.tokens)
        await asyncio.gather(self.prompt.keep(session.conversation), self._mark(session.conversation, fit_limits))
        self._far_from_fold[session.conversation] = _is_far_from_fold(session, planned, fit_limits)
        view = assemble_view(session, fit_limits.system, fit_limits.tools, counter, block.text, suffix.last)
        if view.repaired:
            self.telemetry.repaired()
        return FittedView(view=view, fit_limits=fit_limits, tainted=block.tainted)

    async def shorter(
        self, conversation: str, fit_request: FitRequest, fitted: FittedView, refusal: Overflow
    ) -> FitRequest:
        """What to fit the request for once the provider has called it too long; its numbers, if any, are learnt.

        The next one has what its limit leaves by its own count, or where it named none, SHRINK of what was refused.
        """
        fit_limits, counted = fitted.fit_limits, fitted.view.tokens.total
        model, named = refusal.model or fit_limits.model, is_believable(counted, refusal.limit)
        if refusal.kind != SMALLER_WINDOW:  # that is our own word
            await self.calibration.learn(model, counted, refusal.actual, conversation)
            if named and refusal.limit > fit_limits.fixed:
                await self.calibration.note_window(model, refusal.limit)
        rest = counted - fit_limits.fixed
        left = int(rest * SHRINK_FACTOR)
        if named and is_believable(counted, refusal.actual):
            left = int(counted * refusal.limit / refusal.actual * NAMED_LIMIT_SHARE) - fit_limits.fixed
        left = min(max(left, int(rest * MIN_BUDGET_SHARE)), int(rest * NAMED_LIMIT_SHARE))
        return replace(fit_request, refused=fit_request.refused + 1, shrunk_tokens=fit_limits.fixed + left)

    async def prepare(self, conversation: str, fit_request: FitRequest) -> None:
        """After a turn: begin the fold and the lines that the next one will want; nothing where there was room."""
        if self._far_from_fold.pop(conversation, False):
            return
        counter, session = await self.counter(), await self.sessions.load(conversation)
        if session.running:
            return
        try:
            fit_limits = await self.load_limits(session, fit_request)
        except BudgetTooSmall:
            return  # who writes next is told
        ahead = plan_ahead(session, fit_limits.policy, fit_limits.limits, fit_limits.fixed, counter)
        self.lining.begin(conversation, ahead.lines)
        if ahead.fold is not None:
            await self.folding.begin(build_fold_plan(session, ahead.fold, fit_limits.policy.name, counter))

    def _room(self, most: int, tools: tuple[ToolSpec, ...], counter: TokenCounter) -> int:
        """The request that the system parts are cut for: a smaller one where MEMORY.md would leave no room to talk."""
        own = min_budget(fixed_tokens(self.prompt.own(), tools, "", counter))
        spare = max(0, most - own) * 10 // 3 // BUDGET_STEP_TOKENS * BUDGET_STEP_TOKENS
        return min(most, spare)

    async def _mark(self, conversation: str, fit_limits: FitLimits) -> None:
        """What no fold, reduction or snapshot declares: another model, other tools, another SOUL.md."""
        own = [part.text for part in fit_limits.parts if part.name in (SOUL, RULES)]
        sha256 = hashlib.sha256(repr((fit_limits.model, own, fit_limits.tools)).encode()).hexdigest()
        if self._marked_prompts.get(conversation) != sha256:
            await self.sessions.mark_prefix(conversation, sha256, "SOUL.md, tools or model")
            if len(self._marked_prompts) >= MAX_TRACKED_CONVERSATIONS:
                self._marked_prompts.clear()
            self._marked_prompts[conversation] = sha256

    async def _carry_out(self, session: Session, planned: ContextPlan, fit_limits: FitLimits) -> bool:
        """Whether the view may have changed, so that it has to be planned again.

        What does not fit first gets the fold that is under way: finished with the digest, it may be all that is needed.
        """
        try:
            if not planned.fitted and await self.folding.finish(session.conversation):
                return True
            if planned.reductions:
                await self.sessions.reduce(session.conversation, planned.reductions, planned.reductions[0].form)
            if planned.fold is None:
                return bool(planned.reductions)
            wanted = build_fold_plan(session, planned.fold, fit_limits.policy.name, await self.counter())
            if planned.must_fold_now:
                await self.folding.hasten(wanted)
                return True
            await self.folding.begin(wanted)
            return bool(planned.reductions)
        except OSError as err:
            raise FoldFailed(err.strerror or type(err).__name__) from err


def _is_far_from_fold(session: Session, planned: ContextPlan, fit_limits: FitLimits) -> bool:
    """Whether nothing can be due after this turn, so that nobody has to look: only where tokens and turns decide."""
    limits, numbers = fit_limits.limits, fit_limits.policy.numbers
    share = min(IDLE_BELOW, numbers.fold_at / 2, numbers.line_at / 2)
    few = fit_limits.policy.name in IDLE_POLICIES and len(session.turns) < limits.max_turns
    return few and planned.tokens + limits.reserve < limits.budget * share


def build_fold_plan(
    session: Session, fold: FoldRange, policy: str, counter: TokenCounter | None = None, *, log_only: bool = False
) -> FoldPlan:
    """A range of a session's turns as the record takes it. counter: to tell tokens as they are shown, not as stored."""
    before, after = (
        _displayed_tokens(session, fold.to_turn, counter) if counter else (sum(t.tokens for t in session.turns), 0)
    )
    return FoldPlan(
        conversation=session.conversation,
        epoch=session.epoch,
        prev_fold=session.fold_head,
        from_seq=fold.from_seq,
        to_seq=fold.to_seq,
        from_turn=fold.from_turn,
        to_turn=fold.to_turn,
        policy=policy,
        reason=fold.reason,
        tokens_before=before + (session.summary.tokens if session.summary else 0),
        tokens_after=after,
        log_only=log_only,
        why=fold.why,
        seen_seq=session.next_seq,
    )


def _displayed_tokens(session: Session, to_turn: int, counter: TokenCounter) -> tuple[int, int]:
    """Tokens of all live turns as they are shown, and of those behind the cut."""
    reductions = index_reductions(session.reductions)
    costs = {
        turn.number: turn_tokens(turn, reductions, counter, running=turn.number == session.running)
        for turn in session.turns
    }
    return sum(costs.values()), sum(cost for number, cost in costs.items() if number > to_turn)


def fold_range_of_first(
    session: Session, reason: str, policy: str, count: int = 0, counter: TokenCounter | None = None
) -> FoldPlan:
    """A fold of the first `count` live turns (0: all of them); into the log alone when it takes them all."""
    taken = session.turns[:count] if count else session.turns
    fold = FoldRange(
        from_seq=taken[0].first_seq,
        to_seq=taken[-1].last_seq,
        from_turn=taken[0].number,
        to_turn=taken[-1].number,
        reason=reason,
    )
    return build_fold_plan(session, fold, policy, counter, log_only=not count)


def request_limits(config: Config, model: str, factor: float) -> ContextLimits:
    """The limits of one request. A factor below one is not trusted: the configured budget holds by our own count."""
    held = config.llm.context_window or context_window(model)
    return ContextLimits(
        max_tokens=config.agent_max_context_tokens,
        max_turns=config.agent_max_context_turns,
        window=held,
        reserve=min(config.llm.max_output_tokens, held // 2),
        margin=int(held * ESTIMATE_MARGIN),
        factor=max(1.0, factor),
    )
