"""Every mutant still fits the product, names tests that exist, and every guarded invariant has one."""

import ast
import os
import select
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.mutants.mutant import Mutant
from tests.mutants.patches import MUTANTS
from tests.mutants.run import ROOT, Runner, Unsure, first_failed, mutated, run_in_session

_NUMBERS = (1, 2, 3, 4, 5, 6, 9, 11, 12, 14, 15, 17, 18, 21, 22, 23, 25, 35, 36, 37, 38, 39, 40, 43, 44)
GUARDED = {f"I{number}" for number in _NUMBERS}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mutant_still_applies(mutant: Mutant) -> None:
    ast.parse(mutated((ROOT / mutant.file).read_text(), mutant))
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert name.split("::")[-1].partition("[")[0] in _names(file)


def test_every_guarded_invariant_has_a_mutant() -> None:
    assert GUARDED - {mutant.guards for mutant in MUTANTS} == set()


def test_names_are_unique() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize(
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
    left = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']).pid)"
    code, printed = run_in_session([sys.executable, "-c", left], tmp_path, os.environ, 60)
    assert code == 0
    assert _ends(int(printed))


@pytest.mark.parametrize(("is_loaded", "is_sure"), [(True, False), (False, True)])
def test_on_a_loaded_machine_a_test_that_fails_without_the_mutant_too_is_no_kill(
    tmp_path: Path, is_loaded: bool, is_sure: bool
) -> None:
    runner = Runner(is_loaded=lambda: is_loaded, run=lambda tree, tests: "tests/test_it.py::test_it")
    with nullcontext() if is_sure else pytest.raises(Unsure, match="without the mutant"):
        assert runner.killer(_mutant_in(tmp_path), tmp_path) == "tests/test_it.py::test_it"


def test_a_killing_test_is_run_once_without_the_mutant_and_the_file_is_restored(tmp_path: Path) -> None:
    runs: list[str] = []

    def run(tree: Path, tests: Sequence[str]) -> str:
        runs.append((tree / "product.py").read_text())
        return "tests/test_it.py::test_it" if runs[-1] == "VALUE = 2\n" else ""

    runner, mutant = Runner(is_loaded=lambda: True, run=run), _mutant_in(tmp_path)
    assert [runner.killer(mutant, tmp_path) for _ in range(2)] == ["tests/test_it.py::test_it"] * 2
    assert runs == ["VALUE = 2\n", "VALUE = 1\n", "VALUE = 2\n"]
    assert (tmp_path / "product.py").read_text() == "VALUE = 1\n"


def _mutant_in(tree: Path) -> Mutant:
    (tree / "product.py").write_text("VALUE = 1\n")
    return Mutant(name="value", guards="I1", file="product.py", old="= 1", new="= 2", tests=("tests/test_it.py",))


def _ends(process: int) -> bool:
    """Whether a process ends; the kernel may take a moment after the signal."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    with os.fdopen(handle) as waited:
        return bool(select.select([waited], [], [], 30)[0])


def _names(file: str) -> str:
    """The file's text, and that of the suites it takes its tests from, and of those that they are made of."""
    text = (ROOT / file).read_text()
    suites = [node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) and node.module]
    paths = [f"{suite.replace('.', '/')}.py" for suite in suites if suite.startswith("tests.contracts")]
    return "\n".join([text, *map(_names, paths)])
