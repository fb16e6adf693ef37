"""Applies each mutant to a copy of the tree and runs the tests that must notice.

`python -m tests.mutants.run [NAME or INVARIANT ...]`
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.mutants.mutant import Mutant
from tests.mutants.patches import MUTANTS

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("bot", "channels", "memory", "tests", "pyproject.toml", "config.example.json")
SECONDS = 300


def mutated(text: str, mutant: Mutant) -> str:
    """A file's text with the wrong change in it.

    Raises:
        ValueError: what is to be changed does not stand there exactly once.
    """
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name}: its text stands {text.count(mutant.old)} times in {mutant.file}")
    return text.replace(mutant.old, mutant.new)


def killed(mutant: Mutant) -> bool:
    """Whether the suite notices."""
    with tempfile.TemporaryDirectory(prefix="mutant") as place:
        tree = Path(place) / "tree"
        for name in filter(lambda name: (ROOT / name).exists(), COPIED):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            tree.mkdir(exist_ok=True)
            copy(ROOT / name, tree / name)
        target = tree / mutant.file
        target.write_text(mutated(target.read_text(), mutant))
        return _fails(tree, Path(place) / "made", mutant.tests)


def _fails(tree: Path, made: Path, tests: tuple[str, ...]) -> bool:
    """Exit code 1 alone says that a test ran and failed; a wrong node id is no kill."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", f"--basetemp={made}", *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True
    if done.returncode not in (0, 1):
        raise RuntimeError(f"pytest ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 1


def main(words: list[str]) -> int:
    """Run all mutants, or those whose name or invariant is named; returns the exit code."""
    chosen = [mutant for mutant in MUTANTS if not words or {mutant.name, mutant.guards} & set(words)]
    alive = []
    for mutant in chosen:
        dead = killed(mutant)
        print(f"{'killed ' if dead else 'ALIVE  '} {mutant.guards:4} {mutant.name}", flush=True)
        alive += [] if dead else [mutant]
    print(f"killed {len(chosen) - len(alive)} of {len(chosen)}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
