"""Every mutant still fits the product, names tests that exist, and every guarded invariant has one."""

import ast

import pytest

from tests.mutants.mutant import Mutant
from tests.mutants.patches import MUTANTS
from tests.mutants.run import ROOT, first_failed, mutated

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


def _names(file: str) -> str:
    """The file's text, and that of the suites it takes its tests from, and of those that they are made of."""
    text = (ROOT / file).read_text()
    suites = [node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) and node.module]
    paths = [f"{suite.replace('.', '/')}.py" for suite in suites if suite.startswith("tests.contracts")]
    return "\n".join([text, *map(_names, paths)])
