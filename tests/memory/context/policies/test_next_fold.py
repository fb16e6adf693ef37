"""Where /context says that the next fold is, there the policy wants one, and not before."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.policies.fold_stages import FoldTrigger
from memory.context.policies.planner import ContextLimits, next_fold_triggers, plan_ahead
from memory.context.policies.policies import POLICIES
from memory.context.tokens import WEIGHTED
from memory.conversation import Session, Summary
from tests.memory.context.making import chat, make_session, said

ENOUGH = 8  # turns from which on every policy finds something that it may fold
FIXED = 2_000


def limits_of(tokens: int = 50_000, turns: int = 20) -> ContextLimits:
    return ContextLimits(max_tokens=tokens, max_turns=turns, window=1_000_000, reserve=4_096)


def triggers_of(
    session: Session, policy: str, limits: ContextLimits | None = None
) -> tuple[FoldTrigger, ...]:
    return next_fold_triggers(session, POLICIES[policy], limits or limits_of(), FIXED, WEIGHTED)


def tokens_of(session: Session) -> int:
    return FIXED + sum(turn.tokens for turn in session.turns)


def wants_a_fold(session: Session, policy: str, limits: ContextLimits) -> bool:
    """At the turn's end, or because the next request would not fit."""
    ahead = plan_ahead(session, POLICIES[policy], limits, FIXED, WEIGHTED)
    return ahead.fold is not None or tokens_of(session) > limits.budget


@pytest.mark.parametrize("policy", POLICIES)
@given(
    count=st.integers(ENOUGH, 60),
    size=st.sampled_from((20, 400, 2_000, 6_000)),
    tokens=st.sampled_from((12_000, 50_000, 300_000)),
    turns=st.sampled_from((10, 20, 1_000)),
)
def test_a_fold_is_wanted_exactly_when_a_trigger_is_reached(
    policy: str, count: int, size: int, tokens: int, turns: int
) -> None:
    session, limits = make_session(chat(count, size)), limits_of(tokens, turns)
    triggers = triggers_of(session, policy, limits)
    assert triggers
    assert all(trigger.at > 0 for trigger in triggers)
    assert any(trigger.now >= trigger.at for trigger in triggers) == wants_a_fold(
        session, policy, limits
    )


def test_the_triggers_of_every_policy_at_the_usual_limits() -> None:
    session = make_session(chat(3))
    held = tokens_of(session)
    expected = {
        "balanced": (("tokens", held, 37_500), ("turns", 3, 20)),
        "turns": (("turns", 3, 20), ("tokens", held, 50_000)),
        "budget": (("tokens", held, 2_000 + 30_000),),
        "layers": (("tokens", held, 40_000),),
        "boundary": (("tokens", held, 2_000 + 37_500), ("messages", 6, 501)),
        "rolling": (("new_messages", 6, 10), ("new_tokens", held - 2_000, 3_000)),
    }
    for policy, triggers in expected.items():
        found = triggers_of(session, policy)
        assert found == tuple(
            FoldTrigger(unit=unit, now=now, at=at) for unit, now, at in triggers
        ), policy  # type: ignore[arg-type]


def test_what_is_new_is_counted_from_the_newest_fold_and_a_running_turn_is_not() -> None:
    session = make_session([*chat(5), [said("now")]], running=True)
    seen = session.turns[3].first_seq
    session = replace(session, summary=Summary(fold_id="f", turns=3, text="s", tokens=1, seen=seen))
    messages, tokens = triggers_of(session, "rolling")
    assert (messages.now, tokens.now) == (4, sum(turn.tokens for turn in session.turns[3:5]))
    (_, turns) = triggers_of(session, "balanced")
    assert turns.now == 5
