"""Everything that is too long for a change, part by part: new examples, hundreds of kills, mutants;
then a summary.

`python -m tests.nightly` (make nightly) goes on after a part that fails and exits with 1 if any
did. Every part has a seed, and is told as a command line that repeats it.
"""

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.walk.channel_worlds import WORLDS

ROOT = Path(__file__).resolve().parents[1]
WALKS, MACHINE = "tests/walk", "tests/walk/test_machine.py"
SHARED_MACHINE = "tests/walk/test_machine_postgres.py"
RANDOM, CHANNELS = "tests/walk/test_kill_random.py", "tests/walk/test_kill_channels.py"
AUTOMATION = "tests/walk/test_kill_automation.py"
SHOWN = 25
# Lines of a failing part that the summary shows; parts that the state machine's examples are split
# into, by seed.
MACHINES = 8
SLOWER = 25  # how many times as long an example takes over PostgreSQL
NOTHING_TO_RUN = 5  # pytest's exit code where nothing was collected


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One command. also: what its environment has more than ours."""

    name: str
    command: tuple[str, ...]
    also: dict[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """To be pasted into a shell at the root of the tree."""
        return " ".join(
            [*(f"{name}={value}" for name, value in self.also.items()), shlex.join(self.command)]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a part went. told: the end of what it printed."""

    part: Part
    code: int
    seconds: float
    told: str


def parts(asked: argparse.Namespace) -> list[Part]:
    """All parts of a night, the longest first. asked: the numbers of the command line, and the
    seed.
    """
    python, seed = sys.executable, asked.seed
    pytest = (python, "-m", "pytest", "-x")
    each = -(-asked.machine // MACHINES)
    machines = [
        Part(
            name=f"state machine {number + 1} of {MACHINES}: {each} examples",
            command=(*pytest, MACHINE, f"--hypothesis-seed={seed + number}"),
            also={"MNEMA_EXAMPLES": f"{each}"},
        )
        for number in range(MACHINES)
    ]
    machines.append(
        Part(
            name=f"state machine over PostgreSQL: {asked.machine // SLOWER} examples",
            command=(*pytest, SHARED_MACHINE, f"--hypothesis-seed={seed}"),
            also={"MNEMA_EXAMPLES": f"{asked.machine // SLOWER}"},
        )
    )
    kills = {"MNEMA_KILLS": f"{asked.kills}", "MNEMA_SEED": f"{seed}", "MNEMA_NIGHT": "1"}
    killed = [
        Part(
            name=f"{asked.kills} kills, the page and telegram, each store",
            command=(*pytest, "-s", RANDOM),
            also=kills,
        ),
        Part(
            name=f"{asked.kills} kills, tools, reminders and sub-agents, each store",
            command=(*pytest, "-s", AUTOMATION),
            also=kills,
        ),
        *(
            Part(
                name=f"{asked.kills} kills, {world} on {store}",
                command=(*pytest, "-s", f"{CHANNELS}::{test}[{world}]"),
                also=kills,
            )
            for world in WORLDS
            for store, test in _KILLED.items()
        ),
    ]
    apart = [
        f"--deselect={path}" for path in (MACHINE, SHARED_MACHINE, RANDOM, CHANNELS, AUTOMATION)
    ]
    return [
        *machines,
        *killed,
        Part(name="transcript", command=(python, "-m", "tests.walk.transcript", f"--seed={seed}")),
        Part(name="mutants", command=(python, "-m", "tests.mutants.run", "--jobs", "1")),
        Part(name="a real small model", command=(python, "-m", "tests.real_model")),
        Part(
            name=f"properties, {asked.examples} examples",
            command=(*pytest[:-1], "tests", f"--ignore={WALKS}", f"--hypothesis-seed={seed}"),
            also={"MNEMA_EXAMPLES": f"{asked.examples}", "MNEMA_NIGHT": "1"},
        ),
        Part(
            name="tools and reminders over PostgreSQL",
            command=(*pytest[:-1], "tests/bot/tools", "tests/bot/jobs"),
            also={"MNEMA_STORE": "postgres"},
        ),
        Part(name="every other walk, at length", command=(*pytest[:-1], WALKS, *apart), also=kills),
    ]


# Store -> the test of CHANNELS that has its record there.
_KILLED = {
    "PostgreSQL": "test_the_same_on_postgresql_where_the_next_life_outlives_the_lease_of_the_last",
    "SQLite": "test_whoever_writes_there_is_answered_however_often_the_process_is_killed",
}


def run(part: Part, logs: Path) -> Outcome:
    """One part to its end; all it prints is in a file of its own."""
    file, began = (
        logs / f"{''.join(sign if sign.isalnum() else '-' for sign in part.name)}.log",
        time.monotonic(),
    )
    with file.open("w") as log:
        log.write(f"{part.line}\n")
        log.flush()
        done = subprocess.run(
            part.command,
            cwd=ROOT,
            env={**os.environ, **part.also},
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    code = 0 if done.returncode == NOTHING_TO_RUN else done.returncode
    told = "\n".join(file.read_text(errors="replace").splitlines()[-SHOWN:])
    outcome = Outcome(part=part, code=code, seconds=time.monotonic() - began, told=told)
    print(f"{'passed' if not code else 'FAILED'} {outcome.seconds:7.0f} s  {part.name}", flush=True)
    return outcome


def summary(outcomes: Sequence[Outcome], seed: int, seconds: float) -> list[str]:
    """The end of a night in lines: how many parts failed, and of each of them the command that
    repeats it.
    """
    failed = [outcome for outcome in outcomes if outcome.code]
    lines = [
        (
            f"seed {seed}: {len(outcomes) - len(failed)} of {len(outcomes)} parts passed in "
            f"{seconds / 60:.0f} minutes"
        )
    ]
    for outcome in failed:
        lines += ["", f"FAILED {outcome.part.name}", f"  {outcome.part.line}", outcome.told]
    return lines


def main(words: Sequence[str]) -> int:
    """Run the parts, so many beside each other; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.nightly", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--machine", type=int, default=20_000, help="examples of the state machine")
    parser.add_argument("--kills", type=int, default=300, help="kills on each channel")
    parser.add_argument("--examples", type=int, default=2_000, help="examples of each property")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="parts beside each other"
    )
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument(
        "--logs", type=Path, default=ROOT / ".nightly", help="a folder for what each part prints"
    )
    parser.add_argument("--only", default="", help="parts whose name has this in it")
    asked = parser.parse_args(words)
    asked.logs.mkdir(parents=True, exist_ok=True)
    began, chosen = time.monotonic(), [part for part in parts(asked) if asked.only in part.name]
    print(
        f"seed {asked.seed}, {len(chosen)} parts, {asked.jobs} at a time, logs in {asked.logs}",
        flush=True,
    )
    with ThreadPoolExecutor(asked.jobs) as pool:
        outcomes = list(pool.map(lambda part: run(part, asked.logs), chosen))
    print("\n".join(summary(outcomes, asked.seed, time.monotonic() - began)))
    return 1 if any(outcome.code for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
