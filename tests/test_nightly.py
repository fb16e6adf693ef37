"""A night goes on after what fails, says how to repeat it, and ends with 1."""

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.nightly import MACHINES, Part, parts, run, summary


def asked() -> argparse.Namespace:
    return argparse.Namespace(machine=20_000, kills=300, examples=2_000, seed=7)


def python(name: str, words: str, **also: str) -> Part:
    return Part(name=name, command=(sys.executable, "-c", words), also=also)


def test_all_examples_of_the_state_machine_are_tried_each_part_with_a_seed_of_its_own() -> None:
    machines = [part for part in parts(asked()) if part.name.startswith("state machine")]
    assert sum(int(part.also["MNEMA_EXAMPLES"]) for part in machines) >= 20_000
    assert len({part.command[-1] for part in machines}) == MACHINES


@by_night
def test_every_test_that_a_part_names_exists() -> None:
    named = [
        word
        for part in parts(asked())
        for word in part.command
        if word.startswith("tests/") and "::" in word
    ]
    listed = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--collect-only",
            "tests/walk/test_kill_channels.py",
        ],
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert [name for name in named if name not in listed] == []


def test_what_fails_is_told_with_the_line_that_repeats_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = python("a good one", "print('fine')")
    bad = python(
        "a bad one", "import os; print('seen', os.environ['SEED']); raise SystemExit(3)", SEED="12"
    )
    outcomes = [run(part, tmp_path) for part in (bad, good)]
    assert [outcome.code for outcome in outcomes] == [3, 0]
    told = "\n".join(summary(outcomes, 12, 60.0))
    assert "1 of 2 parts passed in 1 minutes" in told
    assert "seen 12" in told
    line = told.partition("FAILED a bad one\n  ")[2].splitlines()[0]
    again = subprocess.run(["env", *shlex.split(line)], capture_output=True, text=True, check=False)
    assert (again.returncode, again.stdout) == (3, "seen 12\n")
    assert "FAILED" in capsys.readouterr().out
