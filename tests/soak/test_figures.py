"""Trends, verdicts and the picture of a soak."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import every_case
from tests.soak.figures import (
    COLUMNS,
    FIGURES,
    Sample,
    course,
    not_flat,
    second_half,
    student,
    table,
    trend,
)
from tests.soak.plot import draw

AN_HOUR = 7_000  # answers in an hour
WATCHED = [figure.name for figure in FIGURES if figure.tolerated is not None]


def samples(slope: float = 0.0, noise: float = 0.0, count: int = 720) -> list[Sample]:
    """An hour at 5 s, every figure around 100 with so much growth an hour, and AN_HOUR answers in
    it.
    """
    chance = random.Random(1)
    times = [at * 5.0 for at in range(count)]
    return [
        {
            **{name: 100 + slope * t / 3600 + chance.gauss(0, noise) for name in COLUMNS},
            "seconds": t,
            "answers": AN_HOUR * t / 3600,
        }
        for t in times
    ]


def memory(
    *, start: float = 214.0, leak: float = 0.0, caches: float = 0.0, minutes: float = 8.0
) -> list[Sample]:
    """An hour of a bot that leaks so many KiB with each answer, and whose caches take so many MiB
    until they are full.

    minutes: after which caches are filled to 63 %. Folds come and go: RSS is up to 6 MiB higher for
    a while.
    """
    chance, held, found = random.Random(1), 0.0, []
    for one in samples():
        held = 0.97 * held + chance.uniform(0, 0.36)
        filled = caches * (1 - math.exp(-one["seconds"] / 60 / minutes))
        found.append({**one, "rss": start + leak * one["answers"] / 1024 + filled + held})
    return found


@given(st.floats(-50, 50), st.floats(0, 3))
def test_a_trend_is_found_within_its_interval_or_near_it(slope: float, noise: float) -> None:
    found = trend(second_half(samples(slope, noise)), "rss")
    assert found.low <= found.slope <= found.high
    assert found.slope == pytest.approx(slope, abs=1e-6 + 3 * (found.high - found.low))


def test_what_does_not_move_is_flat_and_what_rises_is_named() -> None:
    assert not_flat(samples(noise=1.0)) == {}
    assert not_flat(samples(slope=40.0, noise=1.0)) == dict.fromkeys(WATCHED, "GROWS")


def test_a_rise_that_is_small_beside_what_was_said_is_flat_however_certain() -> None:
    assert not_flat(samples(slope=1.2)) == {}


def test_a_bot_that_leaks_5_kib_with_each_answer_fails_and_one_whose_caches_are_full_passes() -> (
    None
):
    assert not_flat(memory(leak=5)) == {"rss": "GROWS"}
    assert not_flat(memory(leak=5, caches=40)) == {"rss": "GROWS"}
    assert not_flat(memory(leak=0.2, caches=40)) == {}
    assert not_flat(memory(caches=40, minutes=60)) == {"rss": "GROWS"}, (
        "that they are still filling is no excuse"
    )


def test_a_run_that_is_too_short_or_too_restless_to_see_a_leak_says_so() -> None:
    assert not_flat(samples(noise=2.0)[:60])["rss"] == "UNSURE"
    assert not_flat(samples(noise=100.0)) == dict.fromkeys(WATCHED, "UNSURE")


def test_where_nobody_was_answered_nothing_is_known() -> None:
    silent = [{**one, "answers": 7.0} for one in samples()]
    assert not_flat(silent) == dict.fromkeys(WATCHED, "UNSURE")
    assert len(table(silent)) == len(FIGURES) + 2


def test_the_first_half_does_not_count() -> None:
    warming = [{**one, "rss": 100 - 80 * math.exp(-one["seconds"] / 200)} for one in samples()]
    assert not_flat(warming) == {}


@every_case(("free", "t"), [(8, 2.306), (5, 2.571), (10, 2.228), (28, 2.048), (1000, 1.962)])
def test_students_t_is_that_of_the_tables(free: int, t: float) -> None:
    assert student(free) == pytest.approx(t, abs=0.02)


def test_the_course_tells_rate_and_cost_of_each_piece() -> None:
    steady = [
        {**dict.fromkeys(COLUMNS, 7.0), "seconds": 5.0 * at, "answers": 10.0 * at, "cpu": at}
        for at in range(21)
    ]
    rows = [line.strip("| ").split(" | ") for line in course(steady)[2:]]
    assert [row[:4] for row in rows] == [
        [f"{10 * at}", f"{20 * at}", "2.0", "100"] for at in range(1, 11)
    ]
    silent = [{**one, "answers": 7.0} for one in steady]
    assert {line.strip("| ").split(" | ")[3] for line in course(silent)[2:]} == {"?"}


def test_table_and_picture_show_every_figure() -> None:
    many = samples(slope=3.0, noise=1.0)
    assert len(table(many)) == len(FIGURES) + 2
    picture = draw("a <title>", "told", FIGURES, many)
    assert "a &lt;title&gt;" in picture
    assert picture.count("<polyline") == len(FIGURES)
