"""Stages that fold: each decides how many of the oldest turns leave the view, and what triggers the
next fold.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from math import ceil
from types import MappingProxyType
from typing import Literal

from memory.context.policies.boundary import adaptive_keep, choose_cut, choose_cut_near, dump_choice
from memory.context.policies.shorten_stages import is_result_or_user_text, shorten_turn, text_only
from memory.context.policies.state import ContextState, Stage

# turns that a lean restart keeps: 1/6 of max_turns, at least 3
MIN_RESTORED_TURNS, RESTORED_SHARE = 3, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldTrigger:
    """A fold is due once `now` reaches `at`."""

    #: tokens: of the whole request; new_…: since the newest fold.
    unit: Literal["tokens", "turns", "messages", "new_messages", "new_tokens"]
    now: int
    at: int


Triggers = tuple[FoldTrigger, ...]


def _due_reason(triggers: Triggers) -> str:
    """Why a fold is due, "" when it is not; turns and messages are named before tokens."""
    units = [trigger.unit.removeprefix("new_") for trigger in triggers if trigger.now >= trigger.at]
    return min(units, key=lambda unit: unit == "tokens", default="")


def _turn_triggers(state: ContextState) -> Triggers:
    """The running or coming turn does not count."""
    return (FoldTrigger(unit="turns", now=len(state.turns) + state.coming - 1, at=state.max_turns),)


def fold_when_too_many_turns(state: ContextState) -> ContextState:
    """Fold the oldest half when there are more than `max_turns`, counting the running or coming
    turn.
    """
    half = (len(state.turns) + state.coming) // 2
    return state.fold(half, "turns") if _due_reason(_turn_triggers(state)) else state


def _fit_triggers(state: ContextState) -> Triggers:
    return (FoldTrigger(unit="tokens", now=state.tokens, at=state.budget + 1),)


def fold_when_too_many_tokens(state: ContextState) -> ContextState:
    """Fold the oldest half of the kept turns when the view does not fit."""
    return state if state.fits else state.fold(state.cut + max(1, state.kept // 2), "tokens")


def fold_when_long_with_turns(state: ContextState) -> ContextState:
    """Like `fold_when_too_many_tokens`, from `text_only_below` turns on."""
    return (
        state if state.kept < state.settings.text_only_below else fold_when_too_many_tokens(state)
    )


def _target_triggers(state: ContextState) -> Triggers:
    at = state.settings.fold_tokens * _target_tokens(state) / state.settings.most_tokens
    return (FoldTrigger(unit="tokens", now=state.whole, at=state.base + ceil(at)),)


def fold_to_target(state: ContextState) -> ContextState:
    """Fold a history over `fold_tokens` to its newest turns within `keep_tokens`, at least one.

    Over `most_tokens` the fold happens at once. If fewer tokens are available, all three shrink
    with it.
    """
    if not _due_reason(_target_triggers(state)):
        return state
    available = _target_tokens(state)
    cut = _turns_beyond_newest(
        state, state.settings.keep_tokens * available // state.settings.most_tokens
    )
    return replace(
        state.fold(cut, "tokens"), at_once=state.at_once or (state.history > available and cut > 0)
    )


def _target_tokens(state: ContextState) -> int:
    return min(state.settings.most_tokens, max(1, state.budget - state.base))


def _share_triggers(state: ContextState) -> Triggers:
    return (
        FoldTrigger(
            unit="tokens", now=state.whole, at=ceil(state.settings.fold_at * state.available)
        ),
    )


def fold_to_half(state: ContextState) -> ContextState:
    """From `fold_at` of the available tokens on, fold the oldest turns until `keep_most` of that
    threshold is left.
    """
    if not _due_reason(_share_triggers(state)):
        return state
    left = int(state.settings.fold_at * state.available * state.settings.keep_most)
    return state.fold(
        _turns_beyond_newest(state, left - state.base - state.summary_after_fold), "tokens"
    )


def _boundary_triggers(state: ContextState) -> Triggers:
    settings, messages = state.settings, sum(len(turn.messages) for turn in state.turns)
    return (
        FoldTrigger(
            unit="tokens", now=state.whole, at=state.base + state.scaled(settings.fold_tokens)
        ),
        FoldTrigger(unit="messages", now=messages, at=settings.fold_messages + 1),
    )


def fold_at_boundary(state: ContextState) -> ContextState:
    """Cut a long history at the best-scored boundary near the share of it to keep."""
    settings, reason = state.settings, _due_reason(_boundary_triggers(state))
    if not reason or sum(len(turn.messages) for turn in state.turns) < settings.least_messages:
        return state
    keep, adapted = adaptive_keep(state.turns[: state.finished], settings.keep)
    found = choose_cut(
        state.turns,
        state.costs,
        state.finished,
        keep,
        settings.reach,
        settings.newest,
        settings.reach_turns,
    )
    if found is None:
        return state
    return state.fold(found.turns, reason, dump_choice(replace(found, adapted=adapted)))


def _roll_triggers(state: ContextState) -> Triggers:
    new = [message for message in state.finished_messages if message.seq >= state.seen]
    return (
        FoldTrigger(unit="new_messages", now=len(new), at=state.settings.every_messages),
        FoldTrigger(
            unit="new_tokens",
            now=sum(message.tokens for message in new),
            at=state.settings.every_tokens,
        ),
    )


def roll_summary(state: ContextState) -> ContextState:
    """After enough new messages or tokens, merge all but the newest messages into the summary."""
    reason = _due_reason(_roll_triggers(state))
    if not reason:
        return state
    kept, cut = 0, state.finished
    for place in range(state.finished - 1, -1, -1):
        kept += len(state.turns[place].messages)
        if place < state.finished - 1 and kept > state.settings.keep_messages:
            break
        cut = place
    return state.fold(
        max(cut, _turns_beyond_newest(state, state.settings.keep_tokens, state.finished)), reason
    )


def _share_or_turn_triggers(state: ContextState) -> Triggers:
    return (*_share_triggers(state), *_turn_triggers(state))


def fold_half_when_due(state: ContextState) -> ContextState:
    """After a turn, when turns or tokens run out, fold the oldest half, cut at the best boundary
    near it.
    """
    reason = _due_reason(_share_or_turn_triggers(state))
    return _fold_half_near_boundary(state, reason) if reason else state


def fold_half_in_turn(state: ContextState) -> ContextState:
    """During a turn that still fits, start the fold that would be due at its end."""
    due = _due_reason(_share_triggers(state)) and state.fits
    return _fold_half_near_boundary(state, "tokens") if due else state


def drop_oldest(state: ContextState) -> ContextState:
    """Fold the oldest turns that do not fit, leaving some tokens free; the running turn stays."""
    return state if state.fits else _drop_to_tokens(state, state.budget)


def drop_when_nearly_full(state: ContextState) -> ContextState:
    """Beyond `drop_at` of the available tokens, fold at once, and more turns if needed."""
    most = int(state.settings.drop_at * state.available)
    if state.whole <= most:
        return state
    after = _drop_to_tokens(state, most) if state.tokens > most else state
    return replace(after, at_once=after.cut > 0)


def restart_lean(state: ContextState) -> ContextState:
    """After a lean restart, keep the newest turns as question and answer and fold the rest."""
    keep = max(MIN_RESTORED_TURNS, state.max_turns // RESTORED_SHARE)
    return text_only(
        state.fold(state.finished - keep, "restart") if state.finished > keep else state
    )


def shrink_after_overflow(state: ContextState) -> ContextState:
    """After the provider refused: keep five turns with cut results and user texts; next time only
    the last turn.
    """
    if not state.refused:
        return state
    keep = state.settings.overflow_turns if state.refused == 1 else 1
    state = state.fold(len(state.turns) - keep, "overflow")
    limit = state.settings.overflow_chars // state.refused
    return state.shorten(
        item
        for turn in state.turns[state.cut :]
        for item in shorten_turn(state, turn, limit, is_result_or_user_text)
    )


def _turns_beyond_newest(state: ContextState, tokens: int, end: int = 0) -> int:
    """Number of turns before the newest ones within `tokens` (at least one); turns from `end` on do
    not count.
    """
    last = (end or len(state.turns)) - 1
    for place in range(last, -1, -1):
        tokens -= state.costs[place]
        if tokens < 0 and place < last:
            return place + 1
    return 0


def _fold_half_near_boundary(state: ContextState, reason: str) -> ContextState:
    """Fold about half of the finished turns, unless that saves less than one `batch`."""
    if state.finished < 2:
        return state
    turns, costs = state.turns[: state.finished], state.costs[: state.finished]
    most, reach = int(state.settings.keep_most * state.available), state.settings.reach
    found = choose_cut_near(turns, costs, state.finished, state.finished // 2, reach, most)
    saved = sum(costs[: found.turns]) - max(0, state.summary_after_fold - state.summary)
    if reason == "tokens" and saved < state.settings.batch * state.available:
        return state
    return state.fold(found.turns, reason, dump_choice(found))


def _drop_to_tokens(state: ContextState, most: int) -> ContextState:
    left = most - min(state.settings.spare, most // 10) - state.base - state.summary_after_fold
    behind = list(accumulate(reversed(state.costs)))[::-1]  # tokens from each turn on
    cut = next(
        (place for place in range(state.cut, state.finished) if behind[place] <= left),
        state.finished,
    )
    return state.fold(cut, "tokens")


# What each stage that runs after a turn waits for.
_TRIGGERS_BY_STAGE: Mapping[Stage, Callable[[ContextState], Triggers]] = MappingProxyType(
    {
        fold_when_too_many_turns: _turn_triggers,
        fold_when_too_many_tokens: _fit_triggers,
        fold_to_target: _target_triggers,
        fold_to_half: _share_triggers,
        fold_at_boundary: _boundary_triggers,
        roll_summary: _roll_triggers,
        fold_half_when_due: _share_or_turn_triggers,
    }
)


def next_triggers(stages: Iterable[Stage], state: ContextState) -> Triggers:
    """What triggers the next fold by these stages, the nearest of each unit; the first one reached
    does.

    A number of tokens is at most the budget: no view grows beyond it.
    """
    nearest: dict[str, FoldTrigger] = {}
    for trigger in (trigger for stage in stages for trigger in _TRIGGERS_BY_STAGE[stage](state)):
        if trigger.unit == "tokens":
            trigger = replace(trigger, at=min(trigger.at, state.budget))
        if trigger.unit not in nearest or trigger.at < nearest[trigger.unit].at:
            nearest[trigger.unit] = trigger
    return tuple(nearest.values())
