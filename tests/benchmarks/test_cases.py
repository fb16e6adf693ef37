"""The recordings of the benchmarks: sizes as the seeds give them, readable, and with probes that
ask what was said.
"""

import json
from collections import Counter as Tally
from functools import cache
from itertools import pairwise

import pytest

from benchmarks import context
from benchmarks.cases import CASES
from benchmarks.cases.script import dump
from bot.cli.replay.recording import Recording, part_text
from memory.context.message_rules import find_faults
from memory.context.policies.boundary import load_choice
from memory.conversation import ShownMessage, ToolCall, ToolResult
from memory.text.tokenizer import fold_text, lexical_question_terms
from tests.by_night import by_night


@cache
def text(name: str) -> str:
    return dump(CASES[name]())


@pytest.fixture(params=list(CASES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def recording(name: str) -> Recording:
    return context.recorded(name)


def said(recording: Recording) -> dict[int, str]:
    """Everything in each turn, as it is compared."""
    return {
        turn.number: fold_text(
            "\n".join(part_text(part) for message in turn.messages for part in message.parts)
        )
        for turn in recording.turns
    }


def test_a_case_is_the_same_each_time(name: str) -> None:
    assert dump(CASES[name]()) == text(name)


def test_a_case_is_read_whole_and_is_valid(name: str, recording: Recording) -> None:
    assert not recording.notes
    assert recording.timed
    assert len(recording.messages) == len(json.loads(text(name))["messages"])
    assert not find_faults(
        tuple(
            ShownMessage(role=message.role, parts=message.parts) for message in recording.messages
        )
    )
    assert all(one.at <= other.at for one, other in pairwise(recording.messages))


def test_the_answer_to_a_probe_stands_in_its_turn_and_nowhere_else(recording: Recording) -> None:
    held, system = said(recording), fold_text("\n".join(recording.system))
    for probe in recording.probes:
        answer = fold_text(probe.answer)
        assert [number for number, told in held.items() if answer in told] == [probe.fact_turn], (
            probe
        )
        assert answer not in system
        assert answer not in fold_text(probe.question)


def test_a_probe_asks_later_than_it_was_told_in_words_that_were_used(recording: Recording) -> None:
    held = said(recording)
    for probe in recording.probes:
        assert probe.fact_turn <= probe.after <= len(recording.turns)
        shared = [
            term for term in lexical_question_terms(probe.question) if term in held[probe.fact_turn]
        ]
        assert shared, probe


def test_a_case_has_enough_probes_all_over_it(recording: Recording) -> None:
    turns = [probe.fact_turn for probe in recording.probes]
    assert len(turns) >= 10
    assert min(turns) <= len(recording.turns) // 4
    assert max(turns) > len(recording.turns) * 2 // 3
    assert any(probe.after == len(recording.turns) for probe in recording.probes)
    assert (
        any(probe.after < len(recording.turns) for probe in recording.probes)
        or len(recording.turns) < 20
    )


def test_the_long_session_is_as_the_layers_seed_has_it() -> None:
    long = context.recorded("long_session")
    assert len(long.turns) == 32
    assert context.whole(long) == pytest.approx(287_000, rel=0.02)
    assert context.passes(long, 200_000) == 22
    assert (long.messages[-1].at - long.messages[0].at).total_seconds() == pytest.approx(
        45 * 60, rel=0.02
    )
    large = [part for part in results(long) if len(part.text) > 10_000]
    assert len(large) >= 20


def test_the_search_for_a_fault_is_as_the_boundary_seed_has_it() -> None:
    search = context.recorded("debugging")
    assert context.whole(search) == pytest.approx(180_000, rel=0.02)
    assert len(search.messages) > 200
    calls = Tally(
        part.name
        for message in search.messages
        for part in message.parts
        if isinstance(part, ToolCall)
    )
    assert (calls["Read"], calls["Search"], calls["Edit"]) == (45, 23, 8)
    edited = [part.text for part in results(search) if part.text.startswith("Edited")]
    for path, line in (("auth.js", 42), ("middleware.js", 78), ("config.js", 15)):
        assert any(f"/{path} at line {line}:" in found for found in edited)


@pytest.mark.parametrize("name", ["topics_en", "topics_zh"])
def test_three_topics_with_so_many_messages_are_cut_where_one_changes(name: str) -> None:
    topics = context.recorded(name)
    assert len(topics.messages) == 50 + 60 + 40
    (fold,) = context.simulated(topics, "boundary", context.BUDGET).folds
    assert fold.range.to_turn == (50 + 60) // 2
    choice = load_choice(fold.range.why)
    assert choice is not None
    assert all(
        "topic" in dict(item.terms) for item in choice.candidates if item.turns == choice.turns
    )


def test_the_errors_are_errors_and_each_is_followed_by_its_remedy() -> None:
    case = context.recorded("errors")
    failed = [part for part in results(case) if part.is_error]
    assert "Cannot find module" in failed[0].text
    assert len(failed) >= 6
    for turn in case.turns:
        runs = [
            part
            for message in turn.messages
            for part in message.parts
            if isinstance(part, ToolResult)
        ]
        if any(part.is_error for part in runs):
            assert any(" 0 failed" in part.text for part in runs if not part.is_error)


def test_one_conversation_is_ten_times_as_heavy_as_the_other() -> None:
    heavy, light = context.recorded("heavy"), context.recorded("light")
    assert context.whole(heavy) / len(heavy.turns) == pytest.approx(2_900, rel=0.1)
    assert context.whole(light) / len(light.turns) == pytest.approx(300, rel=0.1)


def results(recording: Recording) -> list[ToolResult]:
    return [
        part
        for message in recording.messages
        for part in message.parts
        if isinstance(part, ToolResult)
    ]


@by_night
def test_each_layer_of_the_long_session_saves_about_what_the_layers_seed_says() -> None:
    left = {name: tokens for name, tokens, _ in context.layer_by_layer()}
    assert left["snip"] == pytest.approx(198_000, rel=0.03)
    assert left["one line"] == pytest.approx(142_000, rel=0.05)
    assert left["fold"] == pytest.approx(89_000, rel=0.1)


@pytest.mark.parametrize(("name", "turns"), [("heavy", 5), ("light", 50)])
def test_a_fixed_amount_of_tokens_is_few_heavy_turns_or_many_light_ones(
    name: str, turns: int
) -> None:
    outcome = context.simulated(context.recorded(name), "budget", context.OWN["budget"])
    (fold,) = outcome.folds
    kept = outcome.requests[fold.request].turn - 1 - fold.range.to_turn
    assert kept == pytest.approx(turns, rel=0.1)
