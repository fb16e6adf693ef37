"""Cost of a replay, its probe scores, and its plot."""

import xml.etree.ElementTree as Tree
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from bot.cli.replay.plot import LABEL_GAP, MAX_POINTS, PlotLine, draw_plot
from bot.cli.replay.probes import make_probes, score_probes, with_probes
from bot.cli.replay.report import (
    PolicyResult,
    calculate_bill,
    count_cached_tokens,
    format_table,
    report_to_json,
    result_figures,
)
from bot.cli.replay.simulate import simulate_recording
from bot.models.catalog import call_cost, model_facts
from memory.context.summary.prompt import single_prompt, system_prompt
from memory.context.tokens import WEIGHTED
from tests.bot.cli.replay.making import bot, recording, setting, talk, user

MODEL, FAST = "claude-sonnet-5-5", "claude-haiku-5-5"
SVG = "{http://www.w3.org/2000/svg}"


def test_a_repeated_prefix_is_read_from_the_cache_and_the_rest_is_written(tmp_path: Path) -> None:
    outcome = simulate_recording(
        recording(tmp_path, talk(3), system="Be kind."), setting("turns", 50_000)
    )
    one, two, three = outcome.requests
    paid = calculate_bill(outcome, MODEL, FAST)
    known = model_facts(MODEL)
    assert known is not None
    assert count_cached_tokens(outcome.requests) == [0, two.common, three.common]
    whole = sum(request.tokens.total for request in outcome.requests)
    cached = two.common + three.common
    output = one.output + two.output + three.output
    dollars = (
        cached * known.cache_read + (whole - cached) * known.cache_write + output * known.output
    )
    assert paid.dollars == pytest.approx(dollars / 1e6)
    assert (paid.cached, paid.written, paid.output) == (cached, whole - cached, output)
    assert (paid.fold_calls, paid.fold_dollars) == (0, 0.0)


def test_after_five_minutes_the_whole_prefix_is_written_anew(tmp_path: Path) -> None:
    said = [
        *(user("first", "2026-11-20T06:00:00Z"), bot("yes", "2026-11-20T06:00:10Z")),
        *(user("second", "2026-11-20T06:05:00Z"), bot("yes", "2026-11-20T06:05:10Z")),
        *(user("third", "2026-11-20T06:10:01Z"), bot("yes", "2026-11-20T06:10:20Z")),
    ]
    outcome = simulate_recording(
        recording(tmp_path, said, system="Be kind. " * 50), setting("turns", 50_000)
    )
    first, second, third = count_cached_tokens(outcome.requests)
    assert (first, third) == (0, 0)
    assert second == outcome.requests[1].common > 0
    assert outcome.requests[2].common > 0


def test_a_fold_in_the_background_is_a_call_of_the_fast_model_and_one_at_once_is_none(
    tmp_path: Path,
) -> None:
    outcome = simulate_recording(recording(tmp_path, talk(12)), setting("turns", 50_000, turns=4))
    paid = calculate_bill(outcome, MODEL, FAST)
    assert paid.fold_calls == len(outcome.folds) > 1
    asked = system_prompt("en", 1_000)
    sent = sum(
        WEIGHTED.text(asked)
        + WEIGHTED.text(
            single_prompt(fold.replaced, (), fold.messages, WEIGHTED, outcome.setting.zone)
        )
        for fold in outcome.folds
    )
    written = sum(fold.after + WEIGHTED.text(fold.log) for fold in outcome.folds)
    assert (paid.fold_input, paid.fold_output) == (sent, written)
    assert paid.fold_dollars == call_cost(FAST, input=sent, output=written)
    late = replace(outcome, folds=tuple(replace(fold, at_once=True) for fold in outcome.folds))
    assert calculate_bill(late, MODEL, FAST).fold_calls == 0


def test_a_model_without_prices_costs_nothing_that_is_known(tmp_path: Path) -> None:
    outcome = simulate_recording(recording(tmp_path, talk(2)), setting())
    assert calculate_bill(outcome, "my-own", FAST).total is None
    result = PolicyResult(
        name="x", outcome=outcome, bill=calculate_bill(outcome, "my-own", FAST), scores=()
    )
    assert result_figures(result)["cost"] is None
    assert "–" in format_table([result])


def test_probes_ask_for_what_occurs_once_and_are_put_later(tmp_path: Path) -> None:
    said = [user("My locker is number 4417 in the east hall."), bot("Noted.")]
    said += [user("我家的门牌号是 8823，别忘了告诉快递员。"), bot("好的。")]
    said += [user("The bus is number 12 today and also 12 tomorrow."), bot("Fine.")]
    said += talk(20)[: 2 * 20]
    read = with_probes(recording(tmp_path, said))
    asked = {probe.answer: probe for probe in read.probes}
    assert "4417" in asked
    assert asked["4417"].question == "My locker is number … in the east hall."
    assert (asked["4417"].fact_turn, asked["4417"].after) == (1, 4)
    assert any("8823" in answer for answer in asked)
    assert "12" not in asked
    assert all(probe.after > probe.fact_turn for probe in read.probes)
    assert tuple(make_probes(read, 50)) == with_probes(read).probes
    assert len(with_probes(read, 3).probes) == 3
    assert with_probes(read, 0).probes == ()


def test_given_probes_are_taken_instead(tmp_path: Path) -> None:
    probe = {"after": 3, "question": "Which code had topic1?", "answer": "C-7001", "fact_turn": 1}
    assert [
        each.answer for each in with_probes(recording(tmp_path, talk(4), probes=[probe])).probes
    ] == ["C-7001"]


def test_what_has_left_the_view_is_found_again_and_what_was_never_said_is_not(
    tmp_path: Path,
) -> None:
    probes = [
        {"after": 2, "question": "Which code has topic1?", "answer": "C-7001", "fact_turn": 1},
        {"after": 40, "question": "Which code has topic1?", "answer": "C-7001", "fact_turn": 1},
        {"after": 40, "question": "Which code has topic1?", "answer": "C-9999", "fact_turn": 1},
        {"after": 3, "question": "Which code has topic30?", "answer": "C-7030", "fact_turn": 3},
    ]
    read = recording(tmp_path, talk(40), probes=probes)
    outcome = simulate_recording(
        read, setting("turns", 3_000, turns=4, summarise=lambda m, limit: ("- Talk.", "Talk."))
    )
    soon, late, never, early = score_probes(outcome, read, outcome.setting.zone)
    assert (soon.visible, soon.either) == (True, True)
    assert (late.visible, late.found, late.either) == (False, True, True)
    assert not never.either
    assert not early.either, "it is said later than it is asked for"


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("The flight to Lisbon costs 1,250 EUR in March.", "1,250"),
        ("The rent of the workshop is USD12,500.50 a year.", "USD12,500.50"),
        ("The bakery sold 1,204,993 loaves last spring", "1,204,993"),
        ("去里斯本的机票大约要 12,500 元左右，三月出发。", "12,500"),
        ("In 2024, people of the village built a bridge.", "2024"),
    ],
)
def test_a_number_with_commas_is_one_answer(tmp_path: Path, said: str, answer: str) -> None:
    read = recording(
        tmp_path, [user(said), bot("Noted."), user("Thanks, and good night."), bot("Good night.")]
    )
    assert [probe.answer for probe in make_probes(read, 5)] == [answer]


def test_the_answer_in_the_question_does_not_count(tmp_path: Path) -> None:
    probe = {"after": 2, "question": "Is it X-55512?", "answer": "X-55512"}
    read = recording(tmp_path, talk(3), probes=[probe])
    outcome = simulate_recording(read, setting())
    assert not score_probes(outcome, read, outcome.setting.zone)[0].either


def test_the_json_holds_every_request_and_the_table_every_policy(tmp_path: Path) -> None:
    read = with_probes(recording(tmp_path, talk(9, tools=1)))
    results = []
    for name in ("turns", "rolling"):
        outcome = simulate_recording(read, setting(name, 50_000, turns=4))
        scores = score_probes(outcome, read, outcome.setting.zone)
        results.append(
            PolicyResult(
                name=name, outcome=outcome, bill=calculate_bill(outcome, MODEL, FAST), scores=scores
            )
        )
    told = report_to_json(read, results)
    for held, result in zip(told["policies"], results, strict=True):
        assert held["requests"] == len(held["series"]) == 18
        assert held["tokens_max"] == max(one["tokens"] for one in held["series"])
        assert held["folds"] == len(held["fold_list"]) == len(result.outcome.folds)
        assert len(held["answers"]) == len(told["probes"]) == len(read.probes)
        assert held["over_budget"] == held["invalid"] == 0
        assert sum(one["parts"]["history"] for one in held["series"]) > 0
    head, *lines = format_table(results).splitlines()
    assert head.split() == ["turns", "rolling"]
    assert len({len(line) for line in (head, *lines)}) == 1


def drawn(*lines: PlotLine, limit: int = 50_000, title: str = "x") -> Tree.Element:
    return Tree.fromstring(draw_plot(title, "sub", lines, limit))


def texts(svg: Tree.Element) -> list[str]:
    return ["".join(each.itertext()) for each in svg.iter(f"{SVG}text")]


def test_the_picture_is_sound_xml_with_a_line_a_limit_and_a_mark_for_each_fold() -> None:
    svg = drawn(
        PlotLine(name="balanced", tokens=(10, 40_000, 20_000), folds=(2,), note="ø 20k"),
        PlotLine(name="turns", tokens=(10, 45_000, 21_000), folds=()),
        title='<script>"&',
    )
    shown = texts(svg)
    assert '<script>"&' in shown
    assert "limit 50,000" in shown
    assert {"balanced ø 20k", "turns"} <= set(shown)
    assert len(list(svg.iter(f"{SVG}polyline"))) == 2
    assert len([mark for mark in svg.iter(f"{SVG}circle") if mark.get("r")]) == 2, (
        "a fold, and the key"
    )
    assert not list(svg.iter(f"{SVG}script"))


def test_names_of_lines_do_not_cover_each_other_and_stay_in_the_picture() -> None:
    svg = drawn(
        *(PlotLine(name=f"p{n}", tokens=(1, 10 + n), folds=()) for n in range(6)), limit=100
    )
    places = sorted(
        float(each.get("y", "0"))
        for each in svg.iter(f"{SVG}text")
        if each.get("class", "")[:4] == "name"
    )
    assert len(places) == 6
    assert all(below - above >= LABEL_GAP - 0.2 for above, below in pairwise(places))
    assert places[-1] < float(svg.get("height", "0"))


def test_the_longest_name_with_its_note_ends_before_the_edge() -> None:
    svg = drawn(PlotLine(name="boundary", tokens=(10, 104_999), folds=(), note="ø 105.0k"))
    (label,) = [each for each in svg.iter(f"{SVG}text") if each.get("class", "")[:4] == "name"]
    shown = "".join(label.itertext())
    assert float(label.get("x", "0")) + 8.5 * len(shown) < float(svg.get("width", "0"))


def test_a_long_conversation_is_thinned_to_its_highest_points() -> None:
    tokens = tuple(100_000 if at == 4_321 else at % 50 for at in range(9_000))
    svg = drawn(PlotLine(name="p", tokens=tokens, folds=(5,)), limit=1_000_000)
    (line,) = svg.iter(f"{SVG}polyline")
    points = line.get("points", "").split()
    assert len(points) <= MAX_POINTS
    highest = min(float(point.split(",")[1]) for point in points)
    assert highest < 150
    assert "limit 1,000,000" not in texts(svg), "no line comes near it"


@pytest.mark.parametrize("tokens", [(), (5,), (0, 0)])
def test_hardly_anything_can_be_drawn(tokens: tuple[int, ...]) -> None:
    assert drawn(PlotLine(name="p", tokens=tokens, folds=(0, 7))) is not None
