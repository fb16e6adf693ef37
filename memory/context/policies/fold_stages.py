"""The stages that fold: each says how many of the oldest turns leave the view for the log and the summary."""

from dataclasses import replace
from itertools import accumulate

from memory.context.policies.boundary import adaptive_keep, choose_cut, choose_cut_near, dump_choice
from memory.context.policies.shorten_stages import is_result_or_user_text, shorten_turn, text_only
from memory.context.policies.state import ContextState

MIN_RESTORED_TURNS, RESTORED_SHARE = 3, 6  # turns that a lean restart keeps at least, and as a share of the most turns


def fold_when_too_many_turns(now: ContextState) -> ContextState:
    """More turns than allowed: the oldest half is folded, the running or coming turn being counted."""
    turns = len(now.turns) + now.coming
    return now.fold(turns // 2, "turns") if turns > now.max_turns else now


def fold_when_too_many_tokens(now: ContextState) -> ContextState:
    """Too many tokens: the oldest half of what is kept is folded."""
    return now if now.fits else now.fold(now.cut + max(1, now.kept // 2), "tokens")


def fold_when_long_with_turns(now: ContextState) -> ContextState:
    """Too many tokens in five turns or more: the oldest half of what is kept is folded."""
    return now if now.kept < now.numbers.text_only_below else fold_when_too_many_tokens(now)


def fold_to_target(now: ContextState) -> ContextState:
    """A history over `fold_tokens`: the newest turns within `keep_tokens` stay, at least one; the rest is folded.

    Over `most_tokens` that does not wait for a model. A history that has less room than `most_tokens` is measured by
    the same shares of what room there is.
    """
    numbers = now.numbers
    room = min(numbers.most_tokens, max(1, now.budget - now.base))
    if now.history * numbers.most_tokens < numbers.fold_tokens * room:
        return now
    cut = _turns_beyond_newest(now, numbers.keep_tokens * room // numbers.most_tokens)
    return replace(now.fold(cut, "tokens"), at_once=now.at_once or (now.history > room and cut > 0))


def fold_to_half(now: ContextState) -> ContextState:
    """From `fold_at` of the room on: the oldest turns are folded until the rest is `keep_most` of that threshold."""
    threshold = now.numbers.fold_at * now.room
    if now.whole < threshold:
        return now
    return now.fold(
        _turns_beyond_newest(now, int(threshold * now.numbers.keep_most) - now.base - now.summary_after_fold), "tokens"
    )


def fold_at_boundary(now: ContextState) -> ContextState:
    """A long history is cut at the best-scored place near the share that its content asks to keep."""
    numbers, messages = now.numbers, sum(len(turn.messages) for turn in now.turns)
    many = messages > numbers.fold_messages
    if messages < numbers.least_messages or not (many or now.history >= now.scaled(numbers.fold_tokens)):
        return now
    keep, adapted = adaptive_keep(now.turns[: now.finished], numbers.keep)
    found = choose_cut(now.turns, now.costs, now.finished, keep, numbers.reach, numbers.newest)
    if found is None:
        return now
    return now.fold(found.turns, "messages" if many else "tokens", dump_choice(replace(found, adapted=adapted)))


def roll_summary(now: ContextState) -> ContextState:
    """Every so many new messages or tokens, all but the newest few messages are merged into the summary."""
    numbers = now.numbers
    new = [message for message in now.finished_messages if message.seq >= now.seen]
    many = len(new) >= numbers.every_messages
    if not many and sum(message.tokens for message in new) < numbers.every_tokens:
        return now
    kept, cut = 0, now.finished
    for place in range(now.finished - 1, -1, -1):
        kept += len(now.turns[place].messages)
        if place < now.finished - 1 and kept > numbers.keep_messages:
            break
        cut = place
    return now.fold(
        max(cut, _turns_beyond_newest(now, numbers.keep_tokens, now.finished)), "messages" if many else "tokens"
    )


def fold_half_when_due(now: ContextState) -> ContextState:
    """When a turn has ended with turns or tokens to spare no more: the oldest half, cut at the best place near it."""
    many = now.finished >= now.max_turns
    if not many and now.whole < now.numbers.fold_at * now.room:
        return now
    return _fold_half_near_boundary(now, "turns" if many else "tokens")


def fold_half_while_roomy(now: ContextState) -> ContextState:
    """In the middle of a turn, while it still fits: what would be due at its end is begun."""
    due = now.whole >= now.numbers.fold_at * now.room and now.fits
    return _fold_half_near_boundary(now, "tokens") if due else now


def drop_oldest(now: ContextState) -> ContextState:
    """The oldest turns that do not fit, with some tokens to spare, are folded; the running one stays."""
    return now if now.fits else _drop_to_tokens(now, now.budget)


def drop_when_nearly_full(now: ContextState) -> ContextState:
    """Beyond `drop_at` of the room nothing waits: what is to be folded goes at once, more if need be."""
    most = int(now.numbers.drop_at * now.room)
    if now.whole <= most:
        return now
    after = _drop_to_tokens(now, most) if now.tokens > most else now
    return replace(after, at_once=after.cut > 0)


def restart_lean(now: ContextState) -> ContextState:
    """After a restart that is to be lean: the newest turns stay, as question and answer; the rest is folded."""
    keep = max(MIN_RESTORED_TURNS, now.max_turns // RESTORED_SHARE)
    return text_only(now.fold(now.finished - keep, "restart") if now.finished > keep else now)


def shrink_after_overflow(now: ContextState) -> ContextState:
    """The provider refused: five turns stay, with results and user texts cut; refused again: the running one only."""
    if not now.refused:
        return now
    keep = now.numbers.overflow_turns if now.refused == 1 else 1
    now = now.fold(len(now.turns) - keep, "overflow")
    limit = now.numbers.overflow_chars // now.refused
    return now.shorten(
        item for turn in now.turns[now.cut :] for item in shorten_turn(now, turn, limit, is_result_or_user_text)
    )


def _turns_beyond_newest(now: ContextState, tokens: int, end: int = 0) -> int:
    """How many turns go so that the newest within `tokens` stay, at least one; turns from `end` on are not counted."""
    last = (end or len(now.turns)) - 1
    for place in range(last, -1, -1):
        tokens -= now.costs[place]
        if tokens < 0 and place < last:
            return place + 1
    return 0


def _fold_half_near_boundary(now: ContextState, reason: str) -> ContextState:
    """The running turn does not count: no cut makes it smaller. Nothing is folded for the sake of a few tokens."""
    if now.finished < 2:
        return now
    turns, costs = now.turns[: now.finished], now.costs[: now.finished]
    most, reach = int(now.numbers.keep_most * now.room), now.numbers.reach
    found = choose_cut_near(turns, costs, now.finished, now.finished // 2, reach, most)
    saved = sum(costs[: found.turns]) - max(0, now.summary_after_fold - now.summary)
    if reason == "tokens" and saved < now.numbers.batch * now.room:
        return now
    return now.fold(found.turns, reason, dump_choice(found))


def _drop_to_tokens(now: ContextState, most: int) -> ContextState:
    left = most - min(now.numbers.spare, most // 10) - now.base - now.summary_after_fold
    behind = list(accumulate(reversed(now.costs)))[::-1]  # tokens from each turn on
    cut = next((place for place in range(now.cut, now.finished) if behind[place] <= left), now.finished)
    return now.fold(cut, "tokens")
