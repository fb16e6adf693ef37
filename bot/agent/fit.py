"""Makes the next request fit: reductions and folds as the policy plans them, then the view."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from bot.agent.calibration import Calibration
from bot.agent.drafting import Drafting
from bot.agent.prompt import Prompt
from bot.config import Config
from bot.errors import BudgetTooSmall
from bot.folding import Folding
from bot.models.prices import window
from memory.context.counter import Counter
from memory.context.plan import FoldRange, Limits, Plan, plan, smallest_budget
from memory.context.policy import POLICIES, Policy
from memory.context.view import View, assemble, fixed_tokens
from memory.conversation import Session, ToolSpec
from memory.store.doors import Sessions
from memory.store.records import FoldPlan

MOST_ROUNDS = 6
MOST_MARKED = 10_000
ROOMY = 0.5
"""Under this share of the budget, and with turns to spare, nothing is planned after a turn."""
MARGIN = 0.02
"""Share of the window left free for what a counter of another tokenizer gets wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a request is fitted to: the model, its limits, and what stands before the conversation."""

    model: str
    limits: Limits
    policy: Policy
    system: tuple[str, ...]
    tools: tuple[ToolSpec, ...]
    fixed: int


class Fitter:
    """Fits sessions into budgets. config: as it is at that moment."""

    def __init__(
        self,
        sessions: Sessions,
        folding: Folding,
        prompt: Prompt,
        drafting: Drafting,
        calibration: Calibration,
        config: Callable[[], Config],
    ) -> None:
        self._sessions = sessions
        self._folding = folding
        self._prompt = prompt
        self._drafting = drafting
        self.calibration = calibration
        self._config = config
        self._marked: dict[str, str] = {}
        self._roomy: dict[str, bool] = {}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as every request names them."""
        return self._prompt.specs()

    async def counter(self) -> Counter:
        """What everything is counted with."""
        return await self._drafting.counter()

    async def setting(self, model: str, policy: str, refused: int = 0) -> Setting:
        """The limits for one model as things stand; refused: how often the provider called this request too long.

        Raises:
            BudgetTooSmall: the budget cannot even hold what stands before the conversation.
        """
        config, counter = self._config(), await self.counter()
        system = self._prompt.system()
        tools = self.specs
        fixed = fixed_tokens(system, tools, "", counter)
        factor, _, _ = await self.calibration.factor(model)
        limits = limits_of(config, model, factor, refused)
        least = smallest_budget(fixed)
        if limits.budget < least:
            raise BudgetTooSmall(least)
        return Setting(
            model=model,
            limits=limits,
            policy=POLICIES.get(policy) or POLICIES[config.context_policy],
            system=system,
            tools=tools,
            fixed=fixed,
        )

    async def fit(self, session: Session, setting: Setting, tail: str) -> View:
        """The view of a session to send now. Folds that cannot wait are carried out; others go on beside it."""
        counter = await self.counter()
        fixed = setting.fixed + counter.text(tail)
        for _ in range(MOST_ROUNDS):
            planned = plan(session, setting.policy, setting.limits, fixed, counter, running=True)
            if not await self._carry_out(session, planned, setting):
                break
            session = await self._sessions.load(session.conversation)
        await self._mark(session.conversation, setting)
        self._roomy[session.conversation] = len(session.turns) < setting.limits.max_turns and (
            planned.tokens < setting.limits.budget * ROOMY
        )
        return assemble(session, setting.system, setting.tools, counter, tail)

    async def _mark(self, conversation: str, setting: Setting) -> None:
        sha256 = hashlib.sha256(repr((setting.model, setting.system, setting.tools)).encode()).hexdigest()
        if self._marked.get(conversation) != sha256:
            await self._sessions.mark_prefix(conversation, sha256, "system, tools or model")
            if len(self._marked) >= MOST_MARKED:
                self._marked.clear()
            self._marked[conversation] = sha256

    async def prepare(self, conversation: str, setting: Setting) -> None:
        """After a turn: begin the fold that the next one will want; nothing where there was room enough."""
        if self._roomy.pop(conversation, False):
            return
        counter = await self.counter()
        session = await self._sessions.load(conversation)
        planned = plan(session, setting.policy, setting.limits, setting.fixed, counter, running=False)
        if planned.fold is not None and not session.running:
            await self._folding.begin(self._fold_plan(session, planned.fold, setting))

    async def _carry_out(self, session: Session, planned: Plan, setting: Setting) -> bool:
        """Whether the view has changed, so that it has to be planned again."""
        if planned.reductions:
            await self._sessions.reduce(session.conversation, planned.reductions, planned.reductions[0].form)
        if planned.fold is None:
            return bool(planned.reductions)
        wanted = self._fold_plan(session, planned.fold, setting)
        if planned.must_fold_now:
            return await self._folding.hasten(wanted) is not None
        await self._folding.begin(wanted)
        return bool(planned.reductions)

    def _fold_plan(self, session: Session, fold: FoldRange, setting: Setting) -> FoldPlan:
        return fold_plan(session, fold, setting.policy.name)


def fold_plan(session: Session, fold: FoldRange, policy: str, log_only: bool = False) -> FoldPlan:
    """A range of a session's turns as the record takes it."""
    before = sum(turn.tokens for turn in session.turns) + (session.summary.tokens if session.summary else 0)
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
        tokens_before=before,
        log_only=log_only,
    )


def whole_range(session: Session, reason: str, policy: str, count: int = 0) -> FoldPlan:
    """A fold of the first `count` live turns (0: all of them); into the log alone when it takes them all."""
    taken = session.turns[:count] if count else session.turns
    fold = FoldRange(
        from_seq=taken[0].first_seq,
        to_seq=taken[-1].last_seq,
        from_turn=taken[0].number,
        to_turn=taken[-1].number,
        reason=reason,
    )
    return fold_plan(session, fold, policy, log_only=not count)


def limits_of(config: Config, model: str, factor: float, refused: int) -> Limits:
    """The limits of one request. A factor below one is not trusted: the configured budget holds by our own count."""
    held = config.llm.context_window or window(model)
    return Limits(
        max_tokens=config.agent_max_context_tokens,
        max_turns=config.agent_max_context_turns,
        window=held,
        reserve=min(config.llm.max_output_tokens, held // 2),
        margin=int(held * MARGIN),
        factor=max(1.0, factor),
        refused=refused,
    )
