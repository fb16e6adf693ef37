"""Applies each mutant to a copy of the tree and runs the tests that must notice.

`python -m tests.mutants.run [--jobs N] [NAME or INVARIANT ...]` prints a line for each with the test that noticed; the
exit code is 1 if none did, for any of them. N copies of the tree are worked on beside each other.
"""

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.mutants.mutant import Mutant
from tests.mutants.patches import MUTANTS

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("bot", "channels", "memory", "tests", "pyproject.toml", "config.example.json")
SECONDS = 300
TIMED_OUT = f"no end within {SECONDS} s"
_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)


class Unsure(Exception):
    """Nobody knows whether a mutant is noticed."""


def mutated(text: str, mutant: Mutant) -> str:
    """A file's text with the wrong change in it.

    Raises:
        ValueError: what is to be changed does not stand there exactly once.
    """
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name}: its text stands {text.count(mutant.old)} times in {mutant.file}")
    return text.replace(mutant.old, mutant.new)


def killer(mutant: Mutant, tree: Path) -> str:
    """The first test that notices the mutant in this copy of the tree, "" when none does; then the copy is mended."""
    target = tree / mutant.file
    whole = target.read_text()
    target.write_text(mutated(whole, mutant))
    try:
        return _noticed(tree, mutant.tests)
    finally:
        target.write_text(whole)
        for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
            compiled.unlink()


def _noticed(tree: Path, tests: tuple[str, ...]) -> str:
    """Exit code 1 alone says that a test ran and failed; a wrong node id, or an end from outside, is no kill.

    Raises:
        Unsure: pytest ended otherwise.
    """
    made = tree.parent / "made"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "-p", "no:xdist", f"--basetemp={made}", *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree), "MNEMA_NIGHT": "1"}
    try:
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    if done.returncode not in (0, 1):
        raise Unsure(f"pytest ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return "" if done.returncode == 0 else first_failed(done.stdout)


def first_failed(printed: str) -> str:
    """The node id of the first failed test in what pytest printed; an id may have blanks."""
    found = _FAILED.search(printed)
    return found[1] if found else "a test that is not named"


@contextmanager
def _trees(jobs: int) -> Iterator["queue.SimpleQueue[Path]"]:
    """So many copies of the product and its tests."""
    with tempfile.TemporaryDirectory(prefix="mutants") as place:
        free: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(jobs):
            tree = Path(place) / str(number) / "tree"
            tree.mkdir(parents=True)
            for name in filter(lambda name: (ROOT / name).exists(), COPIED):
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
                copy(ROOT / name, tree / name)
            free.put(tree)
        yield free


def survivors(chosen: Sequence[Mutant], jobs: int) -> list[Mutant]:
    """Run these, `jobs` beside each other, and print what became of each; returns those that nothing noticed."""
    alive = []
    with _trees(jobs) as free, ThreadPoolExecutor(jobs) as pool:

        def tried(mutant: Mutant) -> tuple[Mutant, str, str, float]:
            tree, began = free.get(), time.monotonic()
            try:
                by, why = killer(mutant, tree), ""
            except Unsure as err:
                by, why = "", str(err)
            finally:
                free.put(tree)
            return mutant, by, why, time.monotonic() - began

        for mutant, by, why, seconds in pool.map(tried, chosen):
            alive += [] if by else [mutant]
            told = f"<- {by}" if by else why or f"of {' '.join(mutant.tests)}"
            word = "killed" if by else "UNSURE" if why else "ALIVE "
            print(f"{word} {seconds:5.1f} s  {mutant.guards:4} {mutant.name}  {told}", flush=True)
    return alive


def main(words: Sequence[str]) -> int:
    """Run all mutants, or those whose name or invariant is named; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="names of mutants, or of invariants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many run beside each other")
    asked = parser.parse_args(words)
    chosen = [mutant for mutant in MUTANTS if not asked.names or {mutant.name, mutant.guards} & {*asked.names}]
    if not chosen:
        parser.error(f"no mutant is called {', '.join(asked.names)}")
    began = time.monotonic()
    alive = survivors(chosen, asked.jobs)
    print(f"killed {len(chosen) - len(alive)} of {len(chosen)} in {time.monotonic() - began:.0f} s")
    for mutant in alive:
        print(f"ALIVE {mutant.guards} {mutant.name}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
