"""Where /context says that the next fold is, there the policy wants one, and not before."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.context_fitter import FitLimits
from bot.agent.context_report import FoldTrigger, next_fold_triggers
from memory.context.policies.planner import ContextLimits, plan_ahead
from memory.context.policies.policies import POLICIES
from memory.context.tokens import WEIGHTED
from memory.conversation import Session, Summary
from tests.memory.context.making import chat, make_session, said

ENOUGH = 8  # turns from which on every policy finds something that it may fold


def setting_of(policy: str, tokens: int = 50_000, turns: int = 20, fixed: int = 2_000) -> FitLimits:
    limits = ContextLimits(max_tokens=tokens, max_turns=turns, window=1_000_000, reserve=4_096)
    return FitLimits(
        model="m",
        limits=limits,
        policy=POLICIES[policy],
        parts=(),
        tools=(),
        fixed=fixed,
        factor=1.0,
        error_percent=0.0,
    )


def tokens_of(session: Session, setting: FitLimits) -> int:
    return setting.fixed + sum(turn.tokens for turn in session.turns)


def wants_a_fold(session: Session, setting: FitLimits) -> bool:
    """At the turn's end, or because the next request would not fit."""
    ahead = plan_ahead(session, setting.policy, setting.limits, setting.fixed, WEIGHTED)
    return ahead.fold is not None or tokens_of(session, setting) > setting.limits.budget


@pytest.mark.parametrize("policy", POLICIES)
@given(
    count=st.integers(ENOUGH, 60),
    size=st.sampled_from((20, 400, 2_000, 6_000)),
    tokens=st.sampled_from((12_000, 50_000, 300_000)),
    turns=st.sampled_from((10, 20, 1_000)),
)
def test_a_fold_is_wanted_exactly_when_a_mark_is_reached(
    policy: str, count: int, size: int, tokens: int, turns: int
) -> None:
    session, setting = make_session(chat(count, size)), setting_of(policy, tokens, turns)
    marks = next_fold_triggers(session, setting, tokens_of(session, setting))
    assert marks
    assert all(mark.at > 0 for mark in marks)
    assert any(mark.now >= mark.at for mark in marks) == wants_a_fold(session, setting)


def test_the_marks_of_every_policy_at_the_usual_limits() -> None:
    session = make_session(chat(3))
    held = tokens_of(session, setting_of("turns"))
    expected = {
        "balanced": (("tokens", held, 37_500), ("turns", 3, 20)),
        "turns": (("turns", 3, 20), ("tokens", held, 50_000)),
        "budget": (("tokens", held, 2_000 + 30_000),),
        "layers": (("tokens", held, 40_000),),
        "boundary": (("tokens", held, 2_000 + 37_500), ("messages", 6, 501)),
        "rolling": (("new_messages", 6, 10), ("new_tokens", held - 2_000, 3_000)),
    }
    for policy, marks in expected.items():
        found = next_fold_triggers(session, setting_of(policy), held)
        assert found == tuple(FoldTrigger(unit=unit, now=now, at=at) for unit, now, at in marks), policy  # type: ignore[arg-type]


def test_what_is_new_is_counted_from_the_newest_fold_and_a_running_turn_is_not() -> None:
    session = make_session([*chat(5), [said("now")]], running=True)
    seen = session.turns[3].first_seq
    session = replace(session, summary=Summary(fold_id="f", turns=3, text="s", tokens=1, seen=seen))
    messages, tokens = next_fold_triggers(session, setting_of("rolling"), 5_000)
    assert (messages.now, tokens.now) == (4, sum(turn.tokens for turn in session.turns[3:5]))
    (_, turns) = next_fold_triggers(session, setting_of("balanced"), 5_000)
    assert turns.now == 5
