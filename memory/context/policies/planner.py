"""What has to be shortened or folded before the next model call, or may be once a turn has ended."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from memory.context import reductions as reduction
from memory.context.policies.policies import Policy
from memory.context.policies.shorten_stages import older_results
from memory.context.policies.state import NO_LINES, ContextState, Stage, ToolLines
from memory.context.policies.tool_lines import ToolResultRef
from memory.context.reductions import turn_tokens
from memory.context.tokens import TokenCounter
from memory.context.view import summary_tokens
from memory.conversation import Reduction, Session

MIN_TURN_TOKENS = 2_000
SOON_SHARE = 0.1  # share of the room before `line_at` at which a model is asked for the lines


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLimits:
    """What a request may cost."""

    #: As configured.
    max_tokens: int
    #: As configured.
    max_turns: int
    #: Of the model in tokens.
    window: int
    #: Kept free for its answer.
    reserve: int
    #: Kept free for our error.
    margin: int = 0
    #: The provider's count over ours.
    factor: float = 1.0
    #: How often the provider has called this very request too long although it was counted to fit; shrunk: what it may
    #: have now, by our counter, 0 for no limit.
    refused: int = 0
    shrunk_tokens: int = 0

    @property
    def most(self) -> int:
        """Tokens of the provider's counter that a whole request may have."""
        return min(self.max_tokens, self.window - self.reserve - self.margin)

    @property
    def budget(self) -> int:
        """Tokens of our counter that a whole request may have."""
        usual = int(self.most / self.factor)
        return min(usual, self.shrunk_tokens) if self.shrunk_tokens else usual


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldRange:
    """Whole turns, from the first live one on, that leave the view for the log and the summary."""

    from_seq: int
    to_seq: int
    from_turn: int
    to_turn: int
    reason: str
    #: The search for the cut as JSON text (see boundary.explain), "" where none was made.
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """What is to be done before a model call."""

    #: To be recorded.
    reductions: tuple[Reduction, ...]
    fold: FoldRange | None
    #: The fold is not to wait for a model; else it is carried out in the background.
    must_fold_now: bool
    #: Nothing of this was pressing.
    fitted: bool
    #: Of the request once all this is done.
    tokens: int
    #: Within the budget.
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparationPlan:
    """What may be prepared once a turn has ended."""

    fold: FoldRange | None
    #: Tool results that are soon to be one line each.
    lines: tuple[ToolResultRef, ...]


def min_budget(fixed: int) -> int:
    """The least budget that is not refused, for a request whose system parts and tools cost `fixed` tokens."""
    return fixed + MIN_TURN_TOKENS


def plan_context(
    session: Session,
    policy: Policy,
    limits: ContextLimits,
    fixed: int,
    counter: TokenCounter,
    lines: ToolLines = NO_LINES,
) -> ContextPlan:
    """What the policy wants before the next model call. Pure and linear in the live messages.

    Args:
        fixed: tokens of system parts, tools and tail (see view.fixed_tokens).
        lines: what a model has written for results that may become one line; a rule writes the others.
    """
    now = replace(_initial_state(session, policy, limits, fixed, counter), lines=lines)
    now = _run_stages((*policy.before, *(() if _is_fold_held(session, limits) else policy.early)), now)
    fitted = now.whole <= now.budget and not now.at_once
    if fitted and not now.refused:
        return ContextPlan(
            reductions=_new_reductions(now),
            fold=_fold_range(now),
            must_fold_now=False,
            fitted=True,
            tokens=now.whole,
            fits=True,
        )
    now = _run_stages(policy.urgent, now)
    return ContextPlan(
        reductions=_new_reductions(now, now.cut),
        fold=_fold_range(now),
        must_fold_now=now.cut > 0,
        fitted=fitted,
        tokens=now.tokens,
        fits=now.fits,
    )


def plan_ahead(
    session: Session, policy: Policy, limits: ContextLimits, fixed: int, counter: TokenCounter
) -> PreparationPlan:
    """What the policy will want when the next message comes, so that it can be prepared. Pure and linear."""
    now = _initial_state(session, policy, limits, fixed, counter)
    now = replace(now, coming=0 if now.running else 1)
    after = () if _is_fold_held(session, limits) else policy.after
    soon = policy.lines and now.whole >= (policy.numbers.line_at - SOON_SHARE) * now.room
    return PreparationPlan(fold=_fold_range(_run_stages(after, now)), lines=tuple(older_results(now)) if soon else ())


def _is_fold_held(session: Session, limits: ContextLimits) -> bool:
    """A fold that a person has taken back is not wanted again at once, but after half as many turns as are shown."""
    since = sum(turn.first_seq >= session.held for turn in session.turns) if session.held else 0
    return bool(session.held) and since < max(1, limits.max_turns // 2)


def _initial_state(
    session: Session, policy: Policy, limits: ContextLimits, fixed: int, counter: TokenCounter
) -> ContextState:
    reductions = reduction.index_reductions(session.reductions)
    costs = tuple(
        turn_tokens(turn, reductions, counter, running=turn.number == session.running) for turn in session.turns
    )
    return ContextState(
        turns=session.turns,
        costs=costs,
        running=bool(session.turns) and session.turns[-1].number == session.running,
        budget=limits.budget,
        max_turns=limits.max_turns,
        base=fixed,
        summary=summary_tokens(session.summary, counter),
        seen=session.summary.seen if session.summary else 0,
        numbers=policy.numbers,
        counter=counter,
        reductions=reductions,
        refused=limits.refused,
    )


def _run_stages(stages: Iterable[Stage], now: ContextState) -> ContextState:
    for stage in stages:
        now = stage(now)
    return now


def _fold_range(now: ContextState) -> FoldRange | None:
    if not now.cut:
        return None
    first, last = now.turns[0], now.turns[now.cut - 1]
    return FoldRange(
        from_seq=first.first_seq,
        to_seq=last.last_seq,
        from_turn=first.number,
        to_turn=last.number,
        reason=now.reason,
        why=now.why,
    )


def _new_reductions(now: ContextState, cut: int = 0) -> tuple[Reduction, ...]:
    """The last stand-in for each part; what is folded away at once needs none."""
    kept = {message.id for turn in now.turns[cut:] for message in turn.messages}
    newest = {(item.message_id, item.part): item for item in now.added if item.message_id in kept}
    return tuple(newest.values())
