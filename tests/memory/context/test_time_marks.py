"""The times in the history of a view: which there are, that none ever changes, and what they
cost.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from bot.models.base import Request
from memory.context.message_rules import find_faults
from memory.context.policies.planner import ContextLimits, plan_context
from memory.context.policies.policies import POLICIES
from memory.context.time_marks import is_time_mark
from memory.context.tokens import WEIGHTED
from memory.context.view import assemble_view
from memory.conversation import Summary, Text, Turn
from tests.bot.models.asking import anthropic_body, openai_body
from tests.memory.context.making import chat, make_session, replied, said, used

SHANGHAI = ZoneInfo("Asia/Shanghai")
MORNING = datetime(2026, 11, 20, 1, 5, tzinfo=UTC)
LIMITS = ContextLimits(max_tokens=50_000, max_turns=20, window=200_000, reserve=4_096)


def session_at(*minutes, zone=SHANGHAI, running=False):
    """A turn of a question, a tool's result and an answer at each of these minutes after nine in
    the morning.
    """
    turns = [
        [said(f"question {n}"), *used(f"c{n}", "result"), replied(f"answer {n}")]
        for n in range(len(minutes))
    ]
    made = make_session(turns, running=running)

    def moved(turn: Turn, minute: float) -> Turn:
        at = MORNING + timedelta(minutes=minute)
        return replace(turn, messages=tuple(replace(message, at=at) for message in turn.messages))

    return replace(made, turns=tuple(map(moved, made.turns, minutes)), zone=zone)


def times(session):
    """The time of each person's message in the view, "" for none."""
    opened = [
        shown
        for shown in assemble_view(session, (), (), WEIGHTED).shown
        if isinstance(shown.parts[0], Text)
    ]
    first = [shown.parts[0].text for shown in opened if shown.role == "user"]
    return [text if is_time_mark(text) else "" for text in first]


def test_the_first_message_and_each_after_an_hour_or_on_another_day_has_its_time():
    day = 24 * 60
    assert times(session_at(0, 60, 121, 122, 892, 897, 10 * day)) == [
        "[2026-11-20 Fri 09:05]", "", "[2026-11-20 Fri 11:06]", "",
        "[2026-11-20 Fri 23:57]", "[2026-11-21 Sat 00:02]", "[2026-11-30 Mon 09:05]",
    ]  # fmt: skip
    assert times(session_at(0, 890, 893, zone=UTC)) == [
        "[2026-11-20 Fri 01:05]",
        "[2026-11-20 Fri 15:55]",
        "",
    ]
    assert times(session_at(0, 600, zone=None)) == ["", ""]


def test_the_running_turn_has_the_clock_and_no_second_time():
    assert times(session_at(0, 300, running=True)) == ["[2026-11-20 Fri 09:05]", ""]


def test_the_time_is_a_part_of_its_own_between_the_summary_and_the_words():
    session = session_at(0, 300)
    summary = Summary(fold_id="f", turns=3, text="They met.", tokens=3)
    view = assemble_view(replace(session, summary=summary), (), (), WEIGHTED)
    assert [part.text for part in view.shown[0].parts][1:] == [
        "[2026-11-20 Fri 09:05]",
        "question 0",
    ]
    assert find_faults(view.shown) == []
    assert session.turns[0].messages[0].parts == (Text(text="question 0"),)


@given(st.lists(st.integers(0, 4_000), min_size=1, max_size=12), st.integers(0, 11))
def test_later_turns_change_no_time_and_a_fold_only_adds_that_of_the_new_first(steps, folded):
    minutes = [sum(steps[: n + 1]) for n in range(len(steps))]
    session = session_at(*minutes)
    every = times(session)
    for count in range(1, len(minutes) + 1):
        assert times(replace(session, turns=session.turns[:count])) == every[:count]
    folded = min(folded, len(minutes) - 1)
    kept = times(replace(session, turns=session.turns[folded:]))
    assert kept[1:] == every[folded + 1 :]
    assert is_time_mark(kept[0])
    assert len([*filter(None, kept)]) <= len([*filter(None, every)])


def test_times_are_counted_in_the_view_and_in_the_plan():
    session = session_at(0, 300, 301, 900)
    view, bare = (
        assemble_view(each, (), (), WEIGHTED) for each in (session, replace(session, zone=None))
    )
    cost = sum(WEIGHTED.text(time) for time in times(session))
    assert cost > 0
    assert view.tokens.total == bare.tokens.total + cost
    for policy in POLICIES.values():
        planned = plan_context(session, policy, LIMITS, 100, WEIGHTED)
        assert planned.tokens == view.tokens.total + 100


def test_both_wires_carry_them():
    session = replace(make_session([*chat(1), [said("and now?")]], running=True), zone=UTC)
    view = assemble_view(session, ("system",), (), WEIGHTED)
    request = Request(
        model="claude-sonnet-5-5", system=view.system, messages=view.shown, stable=view.stable
    )
    (first, *_) = anthropic_body(request)["messages"]
    assert first["content"][0] == {"type": "text", "text": "[2026-11-20 Fri 06:01]"}
    (_, first, *_) = openai_body(request)["messages"]
    assert first["content"].startswith("[2026-11-20 Fri 06:01]\n\nquestion 1")
