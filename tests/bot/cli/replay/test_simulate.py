"""Simulation: every request equals the running bot's, fits and is valid, and its figures are
correct.
"""

from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cli.replay.formats import parse_message
from bot.cli.replay.recording import DEFAULT_START, Recording, RecordingBuilder, count_recording
from bot.cli.replay.simulate import ProbeView, ReplayOutcome, simulate_recording
from memory.context.policies.policies import POLICIES
from memory.context.summary.validation import FoldSource, SummaryLimit
from memory.context.tokens import WEIGHTED
from memory.context.view import assemble_view
from memory.conversation import Session, Text
from tests.bot.cli.replay.making import bot, recording, setting, talk, used, user
from tests.by_night import first_by_day

turns = st.tuples(
    st.integers(0, 900), st.lists(st.integers(0, 6_000), max_size=3), st.integers(1, 200)
)


def read(messages: list[dict[str, Any]]) -> Recording:
    turning = RecordingBuilder(DEFAULT_START)
    for number, message in enumerate(messages, 1):
        turning.add_parsed(parse_message(message), f"message {number}")
    return count_recording(turning.recording("made", (), ()), WEIGHTED)


def prepared(outcome: ReplayOutcome) -> list[bool]:
    return [not fold.at_once for fold in outcome.folds]


@pytest.mark.parametrize("policy", first_by_day(3, list(POLICIES)))
@settings(deadline=None, max_examples=10)
@given(
    shape=st.lists(turns, min_size=1, max_size=10),
    late=st.integers(0, 3),
    most=st.integers(3_000, 9_000),
)
def test_every_request_fits_and_is_valid(
    policy: str, shape: list[tuple[int, list[int], int]], late: int, most: int
) -> None:
    said: list[dict[str, Any]] = []
    for number, (question, results, answer) in enumerate(shape):
        said.append(user(f"Q{number} " + "问" * (question // 3) + "q" * question))
        for place, size in enumerate(results):
            said += used(f"c{number}_{place}", f"{number} " + "r " * (size // 2))
        said.append(bot("a" * answer))
    made = read(said)
    outcome = simulate_recording(made, setting(policy, most, late=late))
    assert len(outcome.requests) == sum(len(results) + 1 for _, results, _ in shape)
    assert (outcome.over, outcome.invalid) == (0, 0)
    assert all(0 <= one.common <= one.tokens.total for one in outcome.requests)
    covered = [(fold.range.from_seq, fold.range.to_seq) for fold in outcome.folds]
    ends = [0, *(end for _, end in covered)]
    assert [start for start, _ in covered] == [end + 1 for end in ends[:-1]]


def test_without_need_nothing_is_folded_and_everything_is_repeated(tmp_path: Path) -> None:
    made = recording(tmp_path, talk(4, tools=1), system="Be kind.")
    outcome = simulate_recording(made, setting("turns", 50_000))
    assert (outcome.folds, outcome.over) == ((), 0)
    assert not any(one.broke for one in outcome.requests)
    first, second = outcome.requests[:2]
    assert first.common == 0
    assert second.common == first.tokens.total, (
        "the first request stands whole at the beginning of the second"
    )
    assert [one.turn for one in outcome.requests] == [1, 1, 2, 2, 3, 3, 4, 4]


def test_a_fold_in_the_background_is_there_at_the_next_turn_and_breaks_the_prefix(
    tmp_path: Path,
) -> None:
    made = recording(tmp_path, talk(12))
    outcome = simulate_recording(made, setting("turns", 50_000, turns=4))
    assert prepared(outcome) == [True] * len(outcome.folds)
    assert outcome.folds
    broken = [one.number for one in outcome.requests if one.broke]
    assert broken == [fold.request for fold in outcome.folds]
    after = outcome.requests[outcome.folds[0].request]
    assert after.tokens.summary > 0
    assert after.folds == 1


def test_a_late_fold_comes_later_and_the_view_goes_on_meanwhile(tmp_path: Path) -> None:
    made = recording(tmp_path, talk(12))
    soon, late = (
        simulate_recording(made, setting("turns", 50_000, turns=4, late=late)) for late in (0, 2)
    )
    assert late.folds[0].request == soon.folds[0].request + 2
    assert not late.folds[0].at_once


def test_a_late_fold_is_ended_at_once_where_the_request_needs_it(tmp_path: Path) -> None:
    made = recording(tmp_path, talk(16, size=150))
    outcome = simulate_recording(made, setting("turns", 6_000, late=100))
    assert any(fold.at_once for fold in outcome.folds)
    assert outcome.over == 0


def test_each_reduction_is_counted_once(tmp_path: Path) -> None:
    made = recording(tmp_path, talk(10, tools=1, result=20_000))
    outcome = simulate_recording(made, setting("turns", 200_000))
    assert sum(one.reductions for one in outcome.requests) == 9, (
        "the running turn's result is whole"
    )


def test_a_summary_of_anothers_is_checked_and_taken(tmp_path: Path) -> None:
    made = recording(tmp_path, talk(12))
    held = setting(
        "turns",
        50_000,
        turns=4,
        summarise=lambda material, limit: ("- Topic1 was asked for.", "Topic1: C-7001."),
    )
    outcome = simulate_recording(made, held)
    assert outcome.folds[0].method == "model"
    assert outcome.folds[0].summary == "Topic1: C-7001."
    lied = setting(
        "turns",
        50_000,
        turns=4,
        summarise=lambda material, limit: ("- It cost 99 dollars.", "It cost 99."),
    )
    assert simulate_recording(made, lied).folds[0].method == "extract"


def test_a_probe_meets_the_view_of_its_turn_and_leaves_nothing_behind(tmp_path: Path) -> None:
    probes = [
        {"after": turn, "question": "Which code?", "answer": "C-7001", "fact_turn": 1}
        for turn in (2, 12)
    ]
    made = recording(tmp_path, talk(12), probes=probes)
    bare = recording(tmp_path, talk(12))
    outcome, without = (
        simulate_recording(each, setting("turns", 50_000, turns=4)) for each in (made, bare)
    )
    assert [one.tokens for one in outcome.requests] == [one.tokens for one in without.requests]
    assert len(outcome.planning) == len(without.planning)

    def shown(asked: ProbeView) -> str:
        return "\n".join(
            p.text for message in asked.view.shown for p in message.parts if isinstance(p, Text)
        )

    early, late = outcome.asked
    assert "Question 1 about" in shown(early)
    assert shown(early).endswith("Which code?")
    assert "Answer 1. reply" not in shown(late)
    assert late.folds


def test_the_texts_of_a_fold_are_made_once_for_all_probes_and_the_request_after_them(
    tmp_path: Path,
) -> None:
    probes = [{"after": turn, "question": f"Which {n}?", "answer": "C-7001", "fact_turn": 1}
              for turn in (4, 5, 12) for n in range(5)]  # fmt: skip
    made = recording(tmp_path, talk(12), probes=probes)
    asked: list[FoldSource] = []

    def summarise(material: FoldSource, limit: SummaryLimit) -> tuple[str, str]:
        asked.append(material)
        return "- Topics.", f"Topics, written {len(asked)} times."

    outcome = simulate_recording(made, setting("turns", 50_000, turns=4, summarise=summarise))
    last = outcome.asked[-1].folds
    assert len(asked) == max(len(last), len(outcome.folds))
    assert all(one.folds == last[: len(one.folds)] for one in outcome.asked)
    assert outcome.folds == last[: len(outcome.folds)]
    assert len(outcome.asked[0].folds) == 1, "a fold was ready"


def test_the_same_recording_gives_the_same_figures(tmp_path: Path) -> None:
    made = recording(tmp_path, talk(14, tools=1, result=1_500))
    ticks = iter(range(10_000))
    one, other = (
        simulate_recording(made, setting("balanced", 4_000, clock=lambda: next(ticks)))
        for _ in range(2)
    )
    assert one.requests == other.requests
    assert one.folds == other.folds
    assert set(one.planning) == {1}


def test_requests_are_what_the_bot_would_send(tmp_path: Path) -> None:
    made = recording(tmp_path, talk(3), system="Be kind.")
    outcome = simulate_recording(made, setting("turns", 50_000))
    last = made.turns[-1]
    session = Session(
        conversation="x",
        space="",
        epoch=1,
        next_seq=last.last_seq,
        next_turn=4,
        view_from=1,
        fold_head="",
        summary=None,
        turns=(*made.turns[:-1], type(last)(number=3, messages=last.messages[:1])),
        reductions=(),
        running=3,
        zone=UTC,
    )
    tail = "[Now: Thursday 2026-01-01 00:00, UTC]"
    view = assemble_view(session, made.system, (), WEIGHTED, tail)
    assert outcome.requests[-1].tokens == view.tokens
