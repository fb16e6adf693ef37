"""Stages that fold: each decides how many of the oldest turns leave the view."""

from dataclasses import replace
from itertools import accumulate

from memory.context.policies.boundary import adaptive_keep, choose_cut, choose_cut_near, dump_choice
from memory.context.policies.shorten_stages import is_result_or_user_text, shorten_turn, text_only
from memory.context.policies.state import ContextState

MIN_RESTORED_TURNS, RESTORED_SHARE = 3, 6  # turns that a lean restart keeps: 1/6 of max_turns, at least 3


def fold_when_too_many_turns(state: ContextState) -> ContextState:
    """Fold the oldest half when there are more than `max_turns`, counting the running or coming turn."""
    turns = len(state.turns) + state.coming
    return state.fold(turns // 2, "turns") if turns > state.max_turns else state


def fold_when_too_many_tokens(state: ContextState) -> ContextState:
    """Fold the oldest half of the kept turns when the view does not fit."""
    return state if state.fits else state.fold(state.cut + max(1, state.kept // 2), "tokens")


def fold_when_long_with_turns(state: ContextState) -> ContextState:
    """Like `fold_when_too_many_tokens`, from `text_only_below` turns on."""
    return state if state.kept < state.numbers.text_only_below else fold_when_too_many_tokens(state)


def fold_to_target(state: ContextState) -> ContextState:
    """Fold a history over `fold_tokens` to its newest turns within `keep_tokens`, at least one.

    Over `most_tokens` the fold happens at once. If the room is smaller than `most_tokens`, all three shrink with it.
    """
    numbers = state.numbers
    room = min(numbers.most_tokens, max(1, state.budget - state.base))
    if state.history * numbers.most_tokens < numbers.fold_tokens * room:
        return state
    cut = _turns_beyond_newest(state, numbers.keep_tokens * room // numbers.most_tokens)
    return replace(state.fold(cut, "tokens"), at_once=state.at_once or (state.history > room and cut > 0))


def fold_to_half(state: ContextState) -> ContextState:
    """From `fold_at` of the room on, fold the oldest turns until `keep_most` of that threshold is left."""
    threshold = state.numbers.fold_at * state.room
    if state.whole < threshold:
        return state
    return state.fold(
        _turns_beyond_newest(state, int(threshold * state.numbers.keep_most) - state.base - state.summary_after_fold),
        "tokens",
    )


def fold_at_boundary(state: ContextState) -> ContextState:
    """Cut a long history at the best-scored boundary near the share of it to keep."""
    numbers, messages = state.numbers, sum(len(turn.messages) for turn in state.turns)
    many = messages > numbers.fold_messages
    if messages < numbers.least_messages or not (many or state.history >= state.scaled(numbers.fold_tokens)):
        return state
    keep, adapted = adaptive_keep(state.turns[: state.finished], numbers.keep)
    found = choose_cut(state.turns, state.costs, state.finished, keep, numbers.reach, numbers.newest)
    if found is None:
        return state
    return state.fold(found.turns, "messages" if many else "tokens", dump_choice(replace(found, adapted=adapted)))


def roll_summary(state: ContextState) -> ContextState:
    """After enough new messages or tokens, merge all but the newest messages into the summary."""
    numbers = state.numbers
    new = [message for message in state.finished_messages if message.seq >= state.seen]
    many = len(new) >= numbers.every_messages
    if not many and sum(message.tokens for message in new) < numbers.every_tokens:
        return state
    kept, cut = 0, state.finished
    for place in range(state.finished - 1, -1, -1):
        kept += len(state.turns[place].messages)
        if place < state.finished - 1 and kept > numbers.keep_messages:
            break
        cut = place
    return state.fold(
        max(cut, _turns_beyond_newest(state, numbers.keep_tokens, state.finished)), "messages" if many else "tokens"
    )


def fold_half_when_due(state: ContextState) -> ContextState:
    """After a turn, when turns or tokens run out, fold the oldest half, cut at the best boundary near it."""
    many = state.finished >= state.max_turns
    if not many and state.whole < state.numbers.fold_at * state.room:
        return state
    return _fold_half_near_boundary(state, "turns" if many else "tokens")


def fold_half_while_roomy(state: ContextState) -> ContextState:
    """During a turn that still fits, start the fold that would be due at its end."""
    due = state.whole >= state.numbers.fold_at * state.room and state.fits
    return _fold_half_near_boundary(state, "tokens") if due else state


def drop_oldest(state: ContextState) -> ContextState:
    """Fold the oldest turns that do not fit, leaving some tokens free; the running turn stays."""
    return state if state.fits else _drop_to_tokens(state, state.budget)


def drop_when_nearly_full(state: ContextState) -> ContextState:
    """Beyond `drop_at` of the room, fold at once, and more turns if needed."""
    most = int(state.numbers.drop_at * state.room)
    if state.whole <= most:
        return state
    after = _drop_to_tokens(state, most) if state.tokens > most else state
    return replace(after, at_once=after.cut > 0)


def restart_lean(state: ContextState) -> ContextState:
    """After a lean restart, keep the newest turns as question and answer and fold the rest."""
    keep = max(MIN_RESTORED_TURNS, state.max_turns // RESTORED_SHARE)
    return text_only(state.fold(state.finished - keep, "restart") if state.finished > keep else state)


def shrink_after_overflow(state: ContextState) -> ContextState:
    """After the provider refused: keep five turns with cut results and user texts; next time only the last turn."""
    if not state.refused:
        return state
    keep = state.numbers.overflow_turns if state.refused == 1 else 1
    state = state.fold(len(state.turns) - keep, "overflow")
    limit = state.numbers.overflow_chars // state.refused
    return state.shorten(
        item for turn in state.turns[state.cut :] for item in shorten_turn(state, turn, limit, is_result_or_user_text)
    )


def _turns_beyond_newest(state: ContextState, tokens: int, end: int = 0) -> int:
    """Number of turns before the newest ones within `tokens` (at least one); turns from `end` on do not count."""
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
    most, reach = int(state.numbers.keep_most * state.room), state.numbers.reach
    found = choose_cut_near(turns, costs, state.finished, state.finished // 2, reach, most)
    saved = sum(costs[: found.turns]) - max(0, state.summary_after_fold - state.summary)
    if reason == "tokens" and saved < state.numbers.batch * state.room:
        return state
    return state.fold(found.turns, reason, dump_choice(found))


def _drop_to_tokens(state: ContextState, most: int) -> ContextState:
    left = most - min(state.numbers.spare, most // 10) - state.base - state.summary_after_fold
    behind = list(accumulate(reversed(state.costs)))[::-1]  # tokens from each turn on
    cut = next((place for place in range(state.cut, state.finished) if behind[place] <= left), state.finished)
    return state.fold(cut, "tokens")
