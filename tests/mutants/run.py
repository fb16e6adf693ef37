"""Applies each mutant to a copy of the tree and runs the tests that must fail on it.

`python -m tests.mutants.run [--jobs N] [NAME or INVARIANT ...]` prints a line for each with the
test that failed; the exit code is 1 if a mutant survives or its result is unsure. N copies of the
tree are used in parallel. `--changed` takes only the mutants of files that differ from the parent
commit (make mutants); `make nightly` runs all.
"""

import argparse
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.mutants.mutant import Mutant, mutated
from tests.mutants.patches import MUTANTS
from tests.quick import is_quick

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    *("bot", "channels", "memory", "tests", "pyproject.toml", "config.example.json"),
    *("hatch_build.py", "README.md", "LICENSE"),  # of the wheel
    *sorted(path.name for path in ROOT.glob("requirements*.lock")),
)
SECONDS = 300
TIMED_OUT = f"no end within {SECONDS} s"
_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)


class Unsure(Exception):
    """The run does not show whether a test notices the mutant."""


class Runner:
    """Finds the test that kills a mutant, and asks on a loaded machine whether it passes without
    the mutant.

    Args:
        run: runs tests in a tree and returns the first that fails, "" when all pass.
    """

    def __init__(
        self, *, is_loaded: Callable[[], bool], run: Callable[[Path, Sequence[str]], str]
    ) -> None:
        self._is_loaded, self._run = is_loaded, run
        #: By test id: whether it passes on the unchanged tree.
        self._passes: dict[str, bool] = {}

    def killer(self, mutant: Mutant, tree: Path) -> str:
        """Return the first test that fails with the mutant in this copy, "" when none does;
        restores the copy.

        Raises:
            Unsure: pytest did not run to its end, or that test fails without the mutant too.
        """
        target = tree / mutant.file
        original = target.read_text()
        target.write_text(mutated(original, mutant))
        try:
            found = self._run(tree, mutant.tests)
        finally:
            target.write_text(original)
            for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
                compiled.unlink()
        if found and self._is_loaded() and not self._passes_unchanged(found, mutant, tree):
            raise Unsure(f"{found} fails without the mutant too")
        return found

    def _passes_unchanged(self, test: str, mutant: Mutant, tree: Path) -> bool:
        """On a loaded machine a time limit may fail a test: run it once more on the unchanged
        tree.
        """
        tests = (test,) if test.startswith("tests/") else mutant.tests
        key = " ".join(tests)
        if key not in self._passes:
            self._passes[key] = not self._run(tree, tests)
        return self._passes[key]


def is_machine_loaded() -> bool:
    return os.getloadavg()[0] > (os.cpu_count() or 1)


def run_tests(tree: Path, tests: Sequence[str]) -> str:
    """Run tests until one fails; return its node id, "" when all pass.

    Only exit code 1 says that a test ran and failed; a wrong node id or a signal is no result.

    Raises:
        Unsure: pytest ended otherwise.
    """
    base = tree.parent / "made"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-rfE",
        f"--basetemp={base}",
        *tests,
    ]
    environment = {**os.environ, "PYTHONPATH": str(tree), "MNEMA_NIGHT": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each mutant would compile all modules anew
    code, printed = run_in_session(command, tree, environment, SECONDS)
    if code is None:
        return TIMED_OUT
    if code not in (0, 1):
        raise Unsure(f"pytest ended with {code}: {printed[-4000:]}")
    return "" if code == 0 else first_failed(printed)


def run_in_session(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float
) -> tuple[int | None, str]:
    """Run a command in a new session; return its exit code (None: time limit) and output, and kill
    what it left.
    """
    # a pipe would stay open in what the tests started
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return code, output.read()


def first_failed(printed: str) -> str:
    """Return the node id of the first failed test in pytest's output; an id may contain blanks."""
    found = _FAILED.search(printed)
    return found[1] if found else "a test that is not named"


@contextmanager
def _trees(jobs: int) -> Iterator["queue.SimpleQueue[Path]"]:
    """Make copies of the product and its tests, one for each job."""
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
    """Run these, `jobs` in parallel, and print the result of each; return those that no test
    noticed.
    """
    alive, runner = [], Runner(is_loaded=is_machine_loaded, run=run_tests)
    with _trees(jobs) as free, ThreadPoolExecutor(jobs) as pool:

        def tried(mutant: Mutant) -> tuple[Mutant, str, str, float]:
            tree, began = free.get(), time.monotonic()
            try:
                by, why = runner.killer(mutant, tree), ""
            except Unsure as err:
                by, why = "", str(err)
            finally:
                free.put(tree)
            return mutant, by, why, time.monotonic() - began

        for mutant, by, why, seconds in pool.map(tried, chosen):
            alive += [] if by else [mutant]
            detail = f"<- {by}" if by else why or f"of {' '.join(mutant.tests)}"
            word = "killed" if by else "UNSURE" if why else "ALIVE "
            print(f"{word} {seconds:5.1f} s  {mutant.guards:4} {mutant.name}  {detail}", flush=True)
    return alive


def changed_files(commit: str) -> set[str]:
    """Return the files that differ from a commit, uncommitted changes included; none where there is
    no such commit.
    """
    command = ["git", "diff", "--name-only", "--no-renames", commit, "--"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"nothing to compare with: {done.stderr.strip()}", file=sys.stderr)
    return set(done.stdout.splitlines())


def choose(mutants: Sequence[Mutant], files: Collection[str], most: int) -> list[Mutant]:
    """Return the mutants of these files; of too many, `most` from beginning to end, those with
    quick tests first.
    """
    of_files = [mutant for mutant in mutants if mutant.file in files]
    quick = [mutant for mutant in of_files if has_quick_tests(mutant)]
    slow = [mutant for mutant in of_files if mutant not in quick]
    chosen = _spread(quick, most)
    return chosen + _spread(slow, most - len(chosen))


def has_quick_tests(mutant: Mutant) -> bool:
    """Whether the tests of a mutant start no process and no emulator."""
    return all(is_quick(ROOT / test.partition("::")[0]) for test in mutant.tests)


def _spread(mutants: Sequence[Mutant], most: int) -> list[Mutant]:
    """Return at most `most` of these, from beginning to end."""
    if len(mutants) <= most:
        return list(mutants)
    return [mutants[position * len(mutants) // most] for position in range(most)]


def main(words: Sequence[str]) -> int:
    """Run all mutants, or those with the given names or invariants; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants.run", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("names", nargs="*", help="names of mutants, or of invariants")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="number of mutants tested in parallel"
    )
    parser.add_argument(
        "--changed",
        nargs="?",
        const="HEAD^",
        metavar="COMMIT",
        help="only in files that differ from it",
    )
    parser.add_argument(
        "--at-most", type=int, default=len(MUTANTS), metavar="N", help="of those of changed files"
    )
    options = parser.parse_args(words)
    chosen = [
        mutant
        for mutant in MUTANTS
        if not options.names or {mutant.name, mutant.guards} & {*options.names}
    ]
    if not chosen:
        parser.error(f"no mutant is called {', '.join(options.names)}")
    if options.changed:
        chosen = choose(chosen, changed_files(options.changed), options.at_most)
    began = time.monotonic()
    alive = survivors(chosen, options.jobs) if chosen else []
    print(f"killed {len(chosen) - len(alive)} of {len(chosen)} in {time.monotonic() - began:.0f} s")
    for mutant in alive:
        print(f"ALIVE {mutant.guards} {mutant.name}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
