"""The plumbing of the benchmarks: names, targets beside values, and CPU that is counted for the
right process.
"""

import os
import sys
from subprocess import PIPE, Popen, run

import pytest

from benchmarks.__main__ import UnknownName, main, select
from benchmarks.cpu_time import cpu_of, cpu_of_this
from benchmarks.figures import FIGURES, REPORTS
from benchmarks.measurement import Measurement, median_ratio, table
from benchmarks.process import ROOT
from benchmarks.views import recorded_request
from tests.cases import every_case

BUSY = (
    "import time\nwhile time.process_time() < 0.1: pass\nprint('done', flush=True)\nimport sys; "
    "sys.stdin.read()"
)


def measured(ours: float = 6.0, floor: float | None = 2.0, **fields: object) -> Measurement:
    return Measurement(**{"name": "a turn", "ours": ours, "floor": floor, "unit": "ms", **fields})  # type: ignore[arg-type]


def test_the_list_names_every_figure_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    told = [
        line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")
    ]
    assert told == [*FIGURES, *REPORTS]


def test_the_request_whose_recording_is_measured_can_be_made() -> None:
    turn, fitted, request = recorded_request()
    assert turn.conversation == "c"
    assert len(fitted.view.shown) == len(request.messages) > 100


def test_an_unknown_name_is_told_with_the_nearest_and_nothing_is_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["turn", "turn_cpuu"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert (
        err == "There is no figure 'turn_cpuu'; the nearest is 'turn_cpu', and --list shows all.\n"
    )


def test_only_a_report_that_stands_first_takes_options() -> None:
    assert select(["load", "http", "telegram"]) == (["load"], ["http", "telegram"])
    assert select(["load", "turn"]) == (["load", "turn"], ())
    assert select([]) == ((*FIGURES, *REPORTS), ())
    with pytest.raises(UnknownName, match="'http'"):
        select(["turn", "load", "http"])


@every_case(
    ("ours", "more", "verdict"),
    [
        (4.0, False, "aim"),
        (5.0, False, "ok"),
        (6.0, False, "MISSED"),
        (6.0, True, "aim"),
        (3.0, True, "MISSED"),
    ],
)
def test_a_verdict_compares_with_both_targets(ours: float, more: bool, verdict: str) -> None:
    assert (
        measured(ours, must=4.5 if more else 5.0, aim=5.0 if more else 4.0, more=more).verdict
        == verdict
    )


def test_targets_of_the_ratio_do_not_see_the_value() -> None:
    one = measured(50.0, 200.0, must=0.3, aim=0.4, targets_ratio=True, more=True, pair_ratio=0.35)
    assert one.verdict == "ok"
    assert "≥ ×0.3" in one.row()
    assert "×0.35" in one.row()


def test_what_was_not_measured_is_left_blank() -> None:
    row = measured(floor=None).row()
    assert row.split() == ["a", "turn", "6.00", "ms"]
    assert measured().verdict == ""


def test_a_row_shows_targets_and_cpu_under_their_headings() -> None:
    head, row = table(
        [measured(must=8, aim=6, cpu=5.0, floor_cpu=1.5, floor_is="a bare call")]
    ).splitlines()
    for heading, cell in (
        ("ours", "6.00"),
        ("floor", "2.00"),
        ("ratio", "×3.00"),
        ("must", "≤ 8"),
        ("aim", "≤ 6"),
    ):
        end = head.index(f" {heading}") + 1 + len(heading)
        assert row[:end].endswith(cell)
    assert "  5.00 / 1.50  floor: a bare call" in row


def test_the_ratio_of_pairs_ignores_a_busy_minute() -> None:
    assert median_ratio([(6, 2), (60, 20), (7, 2)]) == 3


def test_cpu_of_a_child_is_apart_until_and_after_it_ended() -> None:
    before = cpu_of_this()
    run([sys.executable, "-c", BUSY], check=True, stdout=PIPE, input=b"")
    spent = cpu_of_this() - before
    assert spent.children >= 0.1
    assert spent.own < spent.children


def test_cpu_of_another_process_is_that_of_its_own() -> None:
    with Popen([sys.executable, "-c", BUSY], stdin=PIPE, stdout=PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert cpu_of(process.pid).own >= 0.09
        process.kill()


def test_the_makefile_hands_names_on_and_nothing_else() -> None:
    # As by hand, though `make test ARGS=…` runs this.
    outside = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MAKE") and name != "ARGS"
    }

    def command(*words: str) -> str:
        asked = ["make", "-n", "bench", *words]
        return run(
            asked, cwd=ROOT, env=outside, check=True, capture_output=True, text=True
        ).stdout.strip()

    assert command().endswith("-m benchmarks")
    assert command("ARGS=turn_cpu crowd").endswith("-m benchmarks turn_cpu crowd")
