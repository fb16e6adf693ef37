"""What has to be shortened or folded before the next model call, or may be once a turn has ended."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from memory.context import reduction
from memory.context.counter import Counter
from memory.context.policy import Policy
from memory.context.situation import Situation, Stage
from memory.context.view import summary_tokens
from memory.conversation import Reduction, Session

SMALLEST_REST = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a request may cost.

    max_tokens, max_turns: as configured. window: of the model in tokens; reserve: kept free for its answer; margin:
    kept free for our error. factor: the provider's count over ours. refused: how often the provider has called this
    very request too long although it was counted to fit.
    """

    max_tokens: int
    max_turns: int
    window: int
    reserve: int
    margin: int = 0
    factor: float = 1.0
    refused: int = 0

    @property
    def budget(self) -> int:
        """Tokens of our counter that a whole request may have."""
        return int(min(self.max_tokens, self.window - self.reserve - self.margin) / self.factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldRange:
    """Whole turns, from the first live one on, that leave the view for the log and the summary."""

    from_seq: int
    to_seq: int
    from_turn: int
    to_turn: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done. reductions: to be recorded. must_fold_now: the view does not fit before the fold is done;
    else it is carried out in the background. tokens: of the request once all this is done; fits: within the budget.
    """

    reductions: tuple[Reduction, ...]
    fold: FoldRange | None
    must_fold_now: bool
    tokens: int
    fits: bool


def smallest_budget(fixed: int) -> int:
    """The least budget that is not refused, for a request whose system parts and tools cost `fixed` tokens."""
    return fixed + SMALLEST_REST


def plan(session: Session, policy: Policy, limits: Limits, fixed: int, counter: Counter, running: bool) -> Plan:
    """What the policy wants at this moment. Pure and linear in the live messages.

    Args:
        fixed: tokens of system parts, tools and tail (see view.fixed_tokens).
        running: True before a model call, False when a turn has ended and the next is awaited.
    """
    now = _situation(session, policy, limits, fixed, counter)
    if not running:
        now = _run(policy.after, _with_next(now))
        return Plan(
            reductions=(), fold=_range(now), must_fold_now=False, tokens=now.whole, fits=now.whole <= now.budget
        )
    now = _run(policy.before, now)
    if now.whole <= now.budget and not now.refused:
        return Plan(reductions=now.added, fold=_range(now), must_fold_now=False, tokens=now.whole, fits=True)
    now = _run(policy.urgent, now)
    return Plan(reductions=_of_kept(now), fold=_range(now), must_fold_now=now.cut > 0, tokens=now.tokens, fits=now.fits)


def _situation(session: Session, policy: Policy, limits: Limits, fixed: int, counter: Counter) -> Situation:
    reductions = reduction.index(session.reductions)
    costs = tuple(
        sum(reduction.tokens(message, reductions, counter) for message in turn.messages) for turn in session.turns
    )
    return Situation(
        turns=session.turns,
        costs=costs,
        running=bool(session.turns) and session.turns[-1].number == session.running,
        budget=limits.budget,
        max_turns=limits.max_turns,
        base=fixed,
        summary=summary_tokens(session.summary, counter),
        numbers=policy.numbers,
        counter=counter,
        reductions=reductions,
        refused=limits.refused,
    )


def _with_next(now: Situation) -> Situation:
    return now if now.running else replace(now, coming=1)


def _run(stages: Iterable[Stage], now: Situation) -> Situation:
    for stage in stages:
        now = stage(now)
    return now


def _range(now: Situation) -> FoldRange | None:
    if not now.cut:
        return None
    first, last = now.turns[0], now.turns[now.cut - 1]
    return FoldRange(
        from_seq=first.first_seq,
        to_seq=last.last_seq,
        from_turn=first.number,
        to_turn=last.number,
        reason=now.reason,
    )


def _of_kept(now: Situation) -> tuple[Reduction, ...]:
    """What is folded away at once needs no stand-ins."""
    kept = {message.id for turn in now.turns[now.cut :] for message in turn.messages}
    newest = {(item.message_id, item.part): item for item in now.added if item.message_id in kept}
    return tuple(newest.values())
