"""Trends, verdicts and the picture of a soak."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.soak.figures import COLUMNS, FIGURES, Sample, growing, second_half, student, table, trend
from tests.soak.plot import draw


def samples(slope: float = 0.0, noise: float = 0.0, count: int = 720) -> list[Sample]:
    """An hour at 5 s, every figure around 100 with so much growth an hour."""
    chance = random.Random(1)
    times = [at * 5.0 for at in range(count)]
    return [
        {name: t if name == "seconds" else 100 + slope * t / 3600 + chance.gauss(0, noise) for name in COLUMNS}
        for t in times
    ]


@given(st.floats(-50, 50), st.floats(0, 3))
def test_a_trend_is_found_within_its_interval_or_near_it(slope: float, noise: float) -> None:
    found = trend(second_half(samples(slope, noise)), "rss")
    assert found.low <= found.slope <= found.high
    assert found.slope == pytest.approx(slope, abs=1e-6 + 3 * (found.high - found.low))


def test_what_does_not_move_is_flat_and_what_rises_is_named() -> None:
    assert growing(samples(noise=1.0)) == []
    assert growing(samples(slope=20.0, noise=1.0)) == [figure.name for figure in FIGURES if figure.flat]


def test_a_rise_that_is_small_beside_the_level_is_flat_however_certain() -> None:
    assert growing(samples(slope=1.5)) == []


def test_the_first_half_does_not_count() -> None:
    warming = [{**one, "rss": 100 - 80 * math.exp(-one["seconds"] / 200)} for one in samples()]
    assert growing(warming) == []


@pytest.mark.parametrize(("free", "t"), [(8, 2.306), (5, 2.571), (10, 2.228), (28, 2.048), (1000, 1.962)])
def test_students_t_is_that_of_the_tables(free: int, t: float) -> None:
    assert student(free) == pytest.approx(t, abs=0.02)


def test_table_and_picture_show_every_figure() -> None:
    many = samples(slope=3.0, noise=1.0)
    assert len(table(many)) == len(FIGURES) + 2
    picture = draw("a <title>", "told", FIGURES, many)
    assert "a &lt;title&gt;" in picture
    assert picture.count("<polyline") == len(FIGURES)
