"""Several processes under load, two of them killed and one stopped: told in lines with times,
judged by the oracle.

`python -m tests.walk.transcript` starts a server and a database of its own, prints what happens,
and exits with 1 on any fault. `--blow "20 restart database immediate"` and the like, as
`tests.walk.play.Plan` has them, hurt other things.
"""

import argparse
import asyncio
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from tests.postgres import database
from tests.walk.cluster import Cluster, cluster, why_not
from tests.walk.play import Plan, Story, play


@contextmanager
def record(story: Story) -> Iterator[str | Cluster]:
    """A new database, in a server of its own where one can be started."""
    if why := why_not():
        story.tell(f"the database is in the server that is there: {why}")
        with database() as db:
            yield db
    else:
        with cluster(durable=True) as server:
            yield server


def blow(text: str) -> tuple[float, str]:
    """One blow of the command line: seconds, then what."""
    after, _, what = text.partition(" ")
    return float(after), what


def main(words: Sequence[str]) -> int:
    """Play, tell, judge; returns the exit code."""
    usual = Plan()
    parser = argparse.ArgumentParser(
        prog="python -m tests.walk.transcript", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--conversations", type=int, default=usual.conversations)
    parser.add_argument("--gateways", type=int, default=usual.gateways)
    parser.add_argument("--workers", type=int, default=usual.workers)
    parser.add_argument(
        "--pace",
        type=float,
        default=usual.pace,
        help="mean seconds between two messages of a person",
    )
    parser.add_argument(
        "--slowest", type=float, default=usual.slowest, help="seconds of the model's slowest answer"
    )
    parser.add_argument("--seconds", type=float, default=usual.seconds, help="of load, at least")
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument(
        "--blow", dest="blows", type=blow, action="append", help="instead of the usual three"
    )
    asked = vars(parser.parse_args(words))
    plan = Plan(**{**asked, "blows": tuple(asked["blows"] or usual.blows)})
    story = Story()
    story.tell(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}"
    )
    with record(story) as db, tempfile.TemporaryDirectory(prefix="mnema-transcript") as home:
        faults = asyncio.run(play(plan, Path(home), db, story))
        story.tell(f"verdict: {'; '.join(faults) or 'no fault'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
