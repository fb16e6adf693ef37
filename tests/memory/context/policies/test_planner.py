"""A plan makes the next request fit, folds only whole old turns, and never touches what the person
just said.
"""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.context.message_rules import find_faults
from memory.context.policies.planner import ContextLimits, min_budget, plan_ahead, plan_context
from memory.context.policies.policies import LEAN, POLICIES, TURNS
from memory.context.tokens import WEIGHTED
from memory.context.view import assemble_view
from memory.conversation import Summary, Text, ToolCall, ToolResult
from tests.by_night import examples
from tests.memory.context.making import chat, make_session, replied, said, used


def limits(tokens=50_000, turns=20, **others):
    return ContextLimits(
        max_tokens=tokens, max_turns=turns, window=200_000, reserve=4_096, **others
    )


def with_done(session, planned):
    """The session as it is once the plan is carried out with the longest summary that a fold may
    get.
    """
    session = replace(session, reductions=(*session.reductions, *planned.reductions))
    if not planned.must_fold_now:
        return session
    kept = tuple(turn for turn in session.turns if turn.number > planned.fold.to_turn)
    gone = len(session.turns) - len(kept)
    return replace(
        session, turns=kept, summary=Summary(fold_id="f", turns=gone, text="s" * 3_300, tokens=990)
    )


def test_a_short_conversation_needs_nothing():
    planned = plan_context(
        make_session([*chat(3), [said("hi")]], running=True), TURNS, limits(), 100, WEIGHTED
    )
    assert (planned.reductions, planned.fold, planned.must_fold_now, planned.fits) == (
        (),
        None,
        False,
        True,
    )


def test_a_finished_turns_long_result_keeps_head_and_tail_and_a_running_turns_is_whole():
    long = "".join(f"{n:05d}" for n in range(4_001))
    turns = [[said("read"), *used("a", long), replied("done")], [said("again"), *used("b", long)]]
    session = make_session(turns, running=True)
    planned = plan_context(session, TURNS, limits(), 0, WEIGHTED)
    (snip,) = planned.reductions
    assert (snip.message_id, snip.part, snip.form) == ("m3", 0, "snip")
    assert snip.text.startswith("0000000001")
    assert snip.text.endswith("0399904000")
    assert '[... 8003 characters snipped; recall(handle="3.0") shows them ...]' in snip.text
    again = plan_context(with_done(session, planned), TURNS, limits(), 0, WEIGHTED)
    assert again.reductions == ()


def test_twenty_one_turns_fold_ten_in_the_background_while_they_still_fit():
    session = make_session([*chat(20), [said("21")]], running=True)
    planned = plan_context(session, TURNS, limits(), 0, WEIGHTED)
    assert (planned.fold.from_turn, planned.fold.to_turn, planned.fold.reason) == (1, 10, "turns")
    assert not planned.must_fold_now
    assert planned.fits


@pytest.mark.parametrize(("turns", "folded"), [(19, None), (20, 10), (21, 11)])
def test_after_a_turn_the_coming_one_is_counted(turns, folded):
    planned = plan_ahead(make_session(chat(turns)), TURNS, limits(), 0, WEIGHTED)
    assert (planned.fold.to_turn if planned.fold else None) == folded


def test_after_a_turn_too_many_tokens_fold_the_oldest_half_in_the_background():
    planned = plan_ahead(make_session(chat(7, size=3_000)), TURNS, limits(8_000), 0, WEIGHTED)
    assert (planned.fold.from_seq, planned.fold.to_seq, planned.fold.reason) == (1, 8, "tokens")


def test_fewer_than_five_long_turns_keep_question_and_answer_only():
    turns = [[said(f"q{n}"), *used(f"c{n}", "x" * 9_000), replied(f"a{n}")] for n in range(3)]
    session = make_session([*turns, [said("now")]], running=True)
    planned = plan_context(session, TURNS, limits(5_000), 0, WEIGHTED)
    assert planned.fold is None
    assert planned.fits
    view = assemble_view(with_done(session, planned), (), (), WEIGHTED)
    texts = [part.text for message in view.shown for part in message.parts]
    assert texts[:3] == ["q0", "[tool calls left out; recall(turn=1) shows them]", "a0"]
    assert texts[-1] == "now"
    assert not any(isinstance(part, ToolCall) for message in view.shown for part in message.parts)


def test_five_or_more_long_turns_fold_their_oldest_half_at_once():
    session = make_session([*chat(9, size=2_000), [said("now")]], running=True)
    planned = plan_context(session, TURNS, limits(9_000), 0, WEIGHTED)
    assert planned.must_fold_now
    assert (planned.fold.from_turn, planned.fold.to_turn) == (1, 5)
    assert planned.fits


def test_a_message_larger_than_the_budget_is_shown_head_and_tail():
    session = make_session([[said("START" + "m" * 200_000 + "END")]], running=True)
    planned = plan_context(session, TURNS, limits(4_000), 1_000, WEIGHTED)
    (pinned,) = planned.reductions
    assert planned.fits
    assert pinned.text.startswith("START")
    assert pinned.text.endswith("END")
    assert 'recall(handle="1.0")' in pinned.text
    assert pinned.tokens > 1_000


def test_the_running_turns_pairs_stay_when_its_results_are_shortened():
    running = [
        said("look"),
        *used("a", "r" * 90_000),
        *used("b", "s" * 90_000, '{"path": "' + "p" * 9_000 + '"}'),
    ]
    session = make_session([*chat(2), running], running=True)
    planned = plan_context(session, TURNS, limits(3_000), 500, WEIGHTED)
    assert planned.fits
    view = assemble_view(with_done(session, planned), (), (), WEIGHTED)
    assert find_faults(view.shown) == []
    assert [p.id for m in view.shown for p in m.parts if isinstance(p, ToolCall)] == ["a", "b"]
    assert [p.call_id for m in view.shown for p in m.parts if isinstance(p, ToolResult)] == [
        "a",
        "b",
    ]


def test_a_refused_request_leaves_five_turns_with_long_texts_cut_and_refused_again_only_the_running_one():  # noqa: E501
    turns = [*chat(7), [said("long " + "x" * 12_000), replied("y" * 12_000)], [said("now")]]
    session = make_session(turns, running=True)
    planned = plan_context(session, TURNS, limits(refused=1), 0, WEIGHTED)
    assert (planned.fold.to_turn, planned.fold.reason, planned.must_fold_now) == (
        4,
        "overflow",
        True,
    )
    assert [item.message_id for item in planned.reductions] == ["m15"]
    assert 9_900 < len(planned.reductions[0].text) < 10_200
    done = plan_context(with_done(session, planned), TURNS, limits(refused=1), 0, WEIGHTED)
    assert done.fold is None
    planned = plan_context(session, TURNS, limits(refused=2), 0, WEIGHTED)
    assert planned.fold.to_turn == 8


def test_a_lean_restart_leaves_the_newest_turns_as_question_and_answer():
    turns = [[said(f"q{n}"), *used(f"c{n}", "x" * 90), replied(f"a{n}")] for n in range(1, 8)]
    session = make_session(turns)
    planned = plan_context(session, LEAN, limits(), 0, WEIGHTED)
    assert (planned.fold.from_turn, planned.fold.to_turn, planned.must_fold_now) == (1, 4, False)
    assert {item.message_id for item in planned.reductions} == {
        f"m{4 * n + k}" for n in (4, 5, 6) for k in (2, 3)
    }
    assert plan_context(make_session(turns[:3]), LEAN, limits(turns=30), 0, WEIGHTED).fold is None
    assert LEAN.name not in POLICIES


def test_the_factor_and_the_window_shrink_the_budget():
    assert limits(50_000).budget == 50_000
    assert limits(50_000, factor=1.25).budget == 40_000
    assert (
        ContextLimits(
            max_tokens=50_000, max_turns=20, window=8_000, reserve=1_000, margin=500
        ).budget
        == 6_500
    )


@st.composite
def histories(draw):
    sizes = st.sampled_from([0, 10, 900, 25_000])
    turns = []
    for number in range(draw(st.integers(0, 12))):
        steps = draw(st.lists(sizes, max_size=2))
        chain = [
            m for step, size in enumerate(steps) for m in used(f"t{number}s{step}", "r" * size)
        ]
        turns.append(
            [said(f"ask {number} " + "u" * draw(sizes)), *chain, replied("a" * draw(sizes) + ".")]
        )
    steps = draw(st.lists(sizes, max_size=4))
    chain = [m for step, size in enumerate(steps) for m in used(f"run{step}", "s" * size)]
    summary = draw(
        st.none() | st.just(Summary(fold_id="f0", turns=3, text="s" * 3_000, tokens=900))
    )
    return make_session(
        [*turns, [said("now " + "w" * draw(sizes)), *chain]],
        running=True,
        summary=summary,
        first_turn=4,
    )


@settings(max_examples=examples(300), deadline=None)
@given(histories(), st.integers(0, 5_000), st.integers(0, 60_000), st.integers(2, 20))
def test_whatever_the_history_the_request_fits_and_the_running_turn_is_in_it(
    session, fixed, room, turns
):
    budget = min_budget(fixed) + room
    wanted = limits(budget, turns)
    planned = plan_context(session, TURNS, wanted, fixed, WEIGHTED)
    assert planned.fits
    assert planned.tokens <= budget
    done = with_done(session, planned)
    view = assemble_view(done, (), (), WEIGHTED)
    assert fixed + view.tokens.total <= budget
    assert find_faults(view.shown) == []
    numbers = [turn.number for turn in done.turns]
    assert numbers == [turn.number for turn in session.turns][-len(numbers) :]
    assert numbers[-1] == session.running
    asked = [p for m in session.turns[-1].messages for p in m.parts if isinstance(p, ToolCall)]
    shown = [p.id for m in view.shown for p in m.parts if isinstance(p, ToolCall)]
    assert shown[len(shown) - len(asked) :] == [p.id for p in asked]
    assert any(
        p.text.startswith("now") or "[..." in p.text
        for m in view.shown
        for p in m.parts
        if isinstance(p, Text)
    )
    again = plan_context(done, TURNS, wanted, fixed, WEIGHTED)
    assert again.reductions == ()
    assert not again.must_fold_now
