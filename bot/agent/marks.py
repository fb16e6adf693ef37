"""How near the next fold is: for every stage of a policy that folds, what it counts and where it acts."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.agent.fit import Setting
from memory.context import stages
from memory.context.situation import Stage
from memory.conversation import Session

Unit = Literal["tokens", "turns", "messages", "new_messages", "new_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A fold is wanted once `now` has come to `at`. tokens: of the whole request; new_…: since the newest fold."""

    unit: Unit
    now: int
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a session stands. tokens: of its view."""

    session: Session
    setting: Setting
    tokens: int

    @property
    def budget(self) -> int:
        return self.setting.limits.budget

    @property
    def room(self) -> int:
        window = self.setting.policy.numbers.window
        return min(self.budget, window) if window else self.budget

    def at_tokens(self, at: float) -> Mark:
        """No view grows beyond the budget: there something is folded whatever the policy's own number is."""
        return Mark(unit="tokens", now=self.tokens, at=min(math.ceil(at), self.budget))

    def at_turns(self) -> Mark:
        finished = sum(turn.number != self.session.running for turn in self.session.turns)
        return Mark(unit="turns", now=finished, at=self.setting.limits.max_turns)


def next_fold(session: Session, setting: Setting, tokens: int) -> tuple[Mark, ...]:
    """What brings the next fold once a turn has ended; the first that is reached does. tokens: of the view."""
    place = _Place(session=session, setting=setting, tokens=tokens)
    found = (mark for stage in setting.policy.after for mark in _MARKS[stage](place))
    nearest: dict[Unit, Mark] = {}
    for mark in found:
        if mark.unit not in nearest or mark.at < nearest[mark.unit].at:
            nearest[mark.unit] = mark
    return tuple(nearest.values())


def _many(place: _Place) -> list[Mark]:
    return [place.at_turns()]


def _long(place: _Place) -> list[Mark]:
    return [place.at_tokens(place.budget + 1)]


def _to_target(place: _Place) -> list[Mark]:
    numbers, fixed = place.setting.policy.numbers, place.setting.fixed
    room = min(numbers.most_tokens, max(1, place.budget - fixed))
    return [place.at_tokens(fixed + numbers.fold_tokens * room / numbers.most_tokens)]


def _to_half(place: _Place) -> list[Mark]:
    return [place.at_tokens(place.setting.policy.numbers.fold_at * place.room)]


def _at_boundary(place: _Place) -> list[Mark]:
    numbers, turns = place.setting.policy.numbers, place.session.turns
    tokens, window = numbers.fold_tokens, numbers.window
    if window and place.budget < window:
        tokens = tokens * place.budget // window
    messages = sum(len(turn.messages) for turn in turns)
    return [
        place.at_tokens(place.setting.fixed + tokens),
        Mark(unit="messages", now=messages, at=numbers.fold_messages + 1),
    ]


def _roll(place: _Place) -> list[Mark]:
    numbers, session = place.setting.policy.numbers, place.session
    seen = session.summary.seen if session.summary else 0
    new = [
        message
        for turn in session.turns
        if turn.number != session.running
        for message in turn.messages
        if message.seq >= seen
    ]
    return [
        Mark(unit="new_messages", now=len(new), at=numbers.every_messages),
        Mark(unit="new_tokens", now=sum(message.tokens for message in new), at=numbers.every_tokens),
    ]


def _half_when_due(place: _Place) -> list[Mark]:
    return [*_to_half(place), *_many(place)]


_MARKS: Mapping[Stage, Callable[[_Place], list[Mark]]] = {
    stages.fold_when_many: _many,
    stages.fold_when_long: _long,
    stages.fold_to_target: _to_target,
    stages.fold_to_half: _to_half,
    stages.fold_at_boundary: _at_boundary,
    stages.roll_summary: _roll,
    stages.fold_half_when_due: _half_when_due,
}
"""One for each stage that runs when a turn has ended."""
