"""Every mutant still fits the product, names tests that exist, and every guarded invariant has
one.
"""

import ast
import os
import re
import select
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.cases import every_case
from tests.mutants.mutant import Mutant, changed, find_target, mutated
from tests.mutants.patches import MUTANTS
from tests.mutants.run import ROOT, Runner, Unsure, choose, first_failed, main, run_in_session

_NUMBERS = (
    1,
    2,
    3,
    4,
    5,
    6,
    9,
    11,
    12,
    14,
    15,
    17,
    18,
    21,
    22,
    23,
    25,
    35,
    36,
    37,
    38,
    39,
    40,
    43,
    44,
)
GUARDED = {f"I{number}" for number in _NUMBERS}


def test_every_mutant_applies() -> None:
    assert [fault for mutant in MUTANTS if (fault := _why_it_does_not_apply(mutant))] == []


def test_every_test_that_a_mutant_names_exists() -> None:
    named = {test for mutant in MUTANTS for test in mutant.tests}
    assert [
        test for test in sorted(named) if _function(test) not in _names(test.partition("::")[0])
    ] == []


@pytest.mark.parametrize(
    "formatted",
    [
        """
class Counter:
    def step(self, by):
        if by > 0 and self.is_on:
            self.count += by
""",
        """
def other():
    if by > 0 and self.is_on: pass

class Counter:
    # of steps
    def step(self, by):
        with lock:
            if (
                by > 0  # never back
                and (self.is_on)
            ):
                self.count += by
""",
    ],
)
def test_a_mutant_is_the_same_wherever_its_target_stands_and_however_it_is_formatted(
    formatted: str,
) -> None:
    mutant = _mutant(
        target="Counter.step",
        old="if by > 0 and\nself.is_on:",
        new="if by > 0:\n    self.seen = by\nif by:",
    )
    lines = [line.strip() for line in mutated(formatted, mutant).splitlines()]
    assert lines[-4:] == ["if by > 0:", "self.seen = by", "if by:", "self.count += by"]


@pytest.mark.parametrize(
    ("target", "old"),
    [("Counter.gone", "count = 1"), ("Counter.step", "count = 2"), ("Counter.step", "count")],
)
def test_a_mutant_whose_target_or_code_does_not_exist_once_is_refused(
    target: str, old: str
) -> None:
    text = "class Counter:\n    def step(self):\n        count = 1\n        return count\n"
    with pytest.raises(ValueError, match="times in"):
        mutated(text, _mutant(target=target, old=old, new="pass"))


def test_every_guarded_invariant_has_a_mutant() -> None:
    assert GUARDED - {mutant.guards for mutant in MUTANTS} == set()


def test_names_are_unique() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@every_case(
    ("line", "id"),
    [
        (
            "FAILED tests/walk/test_a.py::test_b[cut worker 9] - AssertionError: 1 - 1",
            "tests/walk/test_a.py::test_b[cut worker 9]",
        ),
        ("FAILED tests/walk/test_a.py::test_b[[](x)-!]", "tests/walk/test_a.py::test_b[[](x)-!]"),
        ("ERROR tests/walk/test_a.py::test_b - OSError", "tests/walk/test_a.py::test_b"),
        ("ERROR    asyncio:base_events.py:1 Task was destroyed", "a test that is not named"),
    ],
)
def test_who_noticed_a_mutant_is_named_whole(line: str, id: str) -> None:
    assert first_failed(f"=== short test summary info ===\n{line}\n1 failed in 2.00s\n") == id


def test_what_a_run_leaves_behind_is_killed(tmp_path: Path) -> None:
    left = (
        "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time; "
        "time.sleep(600)']).pid)"
    )
    code, printed = run_in_session([sys.executable, "-c", left], tmp_path, os.environ, 60)
    assert code == 0
    assert _ends(int(printed))


@pytest.mark.parametrize(("is_loaded", "is_sure"), [(True, False), (False, True)])
def test_on_a_loaded_machine_a_test_that_fails_without_the_mutant_too_is_no_kill(
    tmp_path: Path, is_loaded: bool, is_sure: bool
) -> None:
    runner = Runner(
        is_loaded=lambda: is_loaded, run=lambda tree, tests: "tests/test_it.py::test_it"
    )
    with nullcontext() if is_sure else pytest.raises(Unsure, match="without the mutant"):
        assert runner.killer(_mutant_in(tmp_path), tmp_path) == "tests/test_it.py::test_it"


def test_a_killing_test_is_run_once_without_the_mutant_and_the_file_is_restored(
    tmp_path: Path,
) -> None:
    runs: list[str] = []

    def run(tree: Path, tests: Sequence[str]) -> str:
        runs.append((tree / "product.py").read_text())
        return "tests/test_it.py::test_it" if runs[-1] == "VALUE = 2" else ""

    runner, mutant = Runner(is_loaded=lambda: True, run=run), _mutant_in(tmp_path)
    assert [runner.killer(mutant, tmp_path) for _ in range(2)] == ["tests/test_it.py::test_it"] * 2
    assert runs == ["VALUE = 2", "VALUE = 1\n", "VALUE = 2"]
    assert (tmp_path / "product.py").read_text() == "VALUE = 1\n"


def test_of_changed_files_so_many_mutants_are_run() -> None:
    mutants = [
        replace(_mutant(target="A", old="1", new="2"), name=f"{number}", file=f"{number % 2}.py")
        for number in range(8)
    ]
    assert [mutant.name for mutant in choose(mutants, {"1.py", "9.py"}, 8)] == ["1", "3", "5", "7"]
    assert [mutant.name for mutant in choose(mutants, {"1.py", "0.py"}, 3)] == ["0", "2", "5"]


def test_of_too_many_mutants_those_with_quick_tests_are_run_first() -> None:
    slow = replace(
        _mutant(target="A", old="1", new="2"),
        name="slow",
        tests=("tests/walk/test_kill_random.py::test",),
    )
    quick = [replace(slow, name=name, tests=("tests/test_cases_as_one.py::test",)) for name in "ab"]
    assert [mutant.name for mutant in choose([slow, *quick], {slow.file}, 2)] == ["a", "b"]
    assert [mutant.name for mutant in choose([slow, *quick], {slow.file}, 3)] == ["a", "b", "slow"]


def test_the_command_line_runs_the_mutants_of_changed_files() -> None:
    assert main(["--changed", "HEAD^", "--at-most", "0"]) == 0


def _mutant_in(tree: Path) -> Mutant:
    (tree / "product.py").write_text("VALUE = 1\n")
    return _mutant(target="VALUE", old="= 1", new="= 2")


def _mutant(*, target: str, old: str, new: str) -> Mutant:
    return Mutant(
        name="a",
        guards="I1",
        file="product.py",
        target=target,
        old=old,
        new=new,
        tests=("tests/test_it.py",),
    )


def _ends(process: int) -> bool:
    """Whether a process ends; the kernel may take a moment after the signal."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    with os.fdopen(handle) as waited:
        return bool(select.select([waited], [], [], 30)[0])


def _why_it_does_not_apply(mutant: Mutant) -> str:
    try:
        statements, position = find_target(_parsed(mutant.file), mutant)
        changed(statements[position], mutant)
    except (ValueError, SyntaxError) as err:
        return f"{mutant.name}: {err}"
    return ""


@cache
def _parsed(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_text())


def _function(test: str) -> str:
    return test.partition("::")[2].split("::")[-1].partition("[")[0]


@cache
def _names(file: str) -> str:
    """The file's text, and that of the suites it takes its tests from, and of those that they are
    made of.
    """
    text = (ROOT / file).read_text()
    suites = re.findall(r"^from (tests\.contracts\S*) import", text, re.MULTILINE)
    return "\n".join([text, *(_names(f"{suite.replace('.', '/')}.py") for suite in suites)])
