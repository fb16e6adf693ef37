"""Plans what to shorten or fold before the next model call, and what to prepare after a turn."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from memory.context.policies.fold_stages import FoldTrigger, next_triggers
from memory.context.policies.policies import Policy
from memory.context.policies.shorten_stages import older_results
from memory.context.policies.state import NO_LINES, ContextState, Stage, ToolLines
from memory.context.policies.tool_lines import ToolResultRef
from memory.context.reductions import index_reductions, turn_tokens
from memory.context.time_marks import time_mark_tokens, time_marks
from memory.context.tokens import TokenCounter
from memory.context.view import summary_tokens
from memory.conversation import Reduction, Session

MIN_TURN_TOKENS = 2_000  # of a budget, for the turns
MIN_TURN_SHARE = 8  # the turns of a small window need no more than an eighth of it
# of the available tokens; so far below `line_at` a model begins to write the lines
SOON_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLimits:
    """Token and turn limits of a request."""

    #: Configured limit.
    max_tokens: int
    #: Configured limit.
    max_turns: int
    #: Context window of the model in tokens.
    window: int
    #: Tokens reserved for the answer.
    reserve: int
    #: Tokens reserved for our counter's error.
    margin: int = 0
    #: The provider's count divided by ours.
    factor: float = 1.0
    #: How often the provider refused this request as too long although it fits by our count.
    refused: int = 0
    #: Limit after such a refusal, by our counter; 0 for none.
    shrunk_tokens: int = 0

    @property
    def most(self) -> int:
        """Token limit of a request, by the provider's counter."""
        return min(self.max_tokens, self.window - self.reserve - self.margin)

    @property
    def budget(self) -> int:
        """Token limit of a request, by our counter."""
        usual = int(self.most / self.factor)
        return min(usual, self.shrunk_tokens) if self.shrunk_tokens else usual


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldRange:
    """The oldest live turns, to be moved from the view to the log and the summary."""

    from_seq: int
    to_seq: int
    from_turn: int
    to_turn: int
    reason: str
    #: How the cut was chosen, as JSON text (see boundary.dump_choice); "" for a fixed cut.
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """What to do before a model call."""

    #: Reductions to store.
    reductions: tuple[Reduction, ...]
    fold: FoldRange | None
    #: Fold before the call, without a model if need be; otherwise in the background.
    must_fold_now: bool
    #: The view fitted before any urgent stage.
    fitted: bool
    #: Tokens of the request after all this.
    tokens: int
    #: The request is within the budget.
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparationPlan:
    """What to prepare after a turn has ended."""

    fold: FoldRange | None
    #: Tool results that will soon be replaced by one line each.
    lines: tuple[ToolResultRef, ...]


def min_budget(fixed: int, window: int = MIN_TURN_TOKENS * MIN_TURN_SHARE) -> int:
    """The smallest accepted budget for a request whose system parts and tools cost `fixed`
    tokens.
    """
    return fixed + min(MIN_TURN_TOKENS, window // MIN_TURN_SHARE)


def plan_context(
    session: Session,
    policy: Policy,
    limits: ContextLimits,
    fixed: int,
    counter: TokenCounter,
    lines: ToolLines = NO_LINES,
) -> ContextPlan:
    """Plan the policy's measures before the next model call. Pure, linear in the live messages.

    Args:
        fixed: tokens of system parts, tools and suffix (see view.fixed_tokens).
        lines: lines that a model wrote for tool results; a rule makes the others.
    """
    state = replace(_initial_state(session, policy, limits, fixed, counter), lines=lines)
    state = _run_stages(
        (*policy.before, *(() if _is_fold_held(session, limits) else policy.early)), state
    )
    fitted = state.whole <= state.budget and not state.at_once
    if fitted and not state.refused:
        return ContextPlan(
            reductions=_new_reductions(state),
            fold=_fold_range(state),
            must_fold_now=False,
            fitted=True,
            tokens=state.whole,
            fits=True,
        )
    state = _run_stages(policy.urgent, state)
    return ContextPlan(
        reductions=_new_reductions(state, state.cut),
        fold=_fold_range(state),
        must_fold_now=state.cut > 0,
        fitted=fitted,
        tokens=state.tokens,
        fits=state.fits,
    )


def plan_ahead(
    session: Session, policy: Policy, limits: ContextLimits, fixed: int, counter: TokenCounter
) -> PreparationPlan:
    """Plan what the policy will want at the next message, so that it can be prepared.

    Pure and linear.
    """
    state = _state_after_turn(session, policy, limits, fixed, counter)
    after = () if _is_fold_held(session, limits) else policy.after
    soon = policy.lines and state.whole >= (policy.settings.line_at - SOON_SHARE) * state.available
    return PreparationPlan(
        fold=_fold_range(_run_stages(after, state)),
        lines=tuple(older_results(state)) if soon else (),
    )


def next_fold_triggers(
    session: Session, policy: Policy, limits: ContextLimits, fixed: int, counter: TokenCounter
) -> tuple[FoldTrigger, ...]:
    """What triggers the policy's next fold after a turn."""
    return next_triggers(policy.after, _state_after_turn(session, policy, limits, fixed, counter))


def _state_after_turn(
    session: Session, policy: Policy, limits: ContextLimits, fixed: int, counter: TokenCounter
) -> ContextState:
    """The state that the next turn would meet, itself counted."""
    state = _initial_state(session, policy, limits, fixed, counter)
    return replace(state, coming=0 if state.running else 1)


def _is_fold_held(session: Session, limits: ContextLimits) -> bool:
    """Whether folding is paused after an undo: until half of `max_turns` turns have been added."""
    since = sum(turn.first_seq >= session.held for turn in session.turns) if session.held else 0
    return bool(session.held) and since < max(1, limits.max_turns // 2)


def _initial_state(
    session: Session, policy: Policy, limits: ContextLimits, fixed: int, counter: TokenCounter
) -> ContextState:
    reductions = index_reductions(session.reductions)
    costs = tuple(
        turn_tokens(turn, reductions, counter, running=turn.number == session.running)
        for turn in session.turns
    )
    return ContextState(
        turns=session.turns,
        costs=costs,
        running=bool(session.turns) and session.turns[-1].number == session.running,
        budget=limits.budget,
        max_turns=limits.max_turns,
        base=fixed + time_mark_tokens(time_marks(session).values(), counter),
        summary=summary_tokens(session.summary, counter),
        seen=session.summary.seen if session.summary else 0,
        settings=policy.settings,
        counter=counter,
        reductions=reductions,
        refused=limits.refused,
    )


def _run_stages(stages: Iterable[Stage], state: ContextState) -> ContextState:
    for stage in stages:
        state = stage(state)
    return state


def _fold_range(state: ContextState) -> FoldRange | None:
    if not state.cut:
        return None
    first, last = state.turns[0], state.turns[state.cut - 1]
    return FoldRange(
        from_seq=first.first_seq,
        to_seq=last.last_seq,
        from_turn=first.number,
        to_turn=last.number,
        reason=state.reason,
        why=state.why,
    )


def _new_reductions(state: ContextState, cut: int = 0) -> tuple[Reduction, ...]:
    """The last reduction for each part that stays in the view."""
    kept = {message.id for turn in state.turns[cut:] for message in turn.messages}
    newest = {(item.message_id, item.part): item for item in state.added if item.message_id in kept}
    return tuple(newest.values())
