"""`make bench`: all measurements with their floors, in one run."""

import asyncio
import sys

from benchmarks import context, in_process, load, over_http, recall, scale
from benchmarks.measurement import table


def main() -> int:
    """Measure and print; the exit code does not depend on the times."""
    with_options = {"recall": recall.main, "scale": scale.main, "load": load.main}
    if sys.argv[1:] and sys.argv[1] in with_options:
        print(with_options[sys.argv[1]](sys.argv[2:]))
        return 0
    wanted = sys.argv[1:] or ["in_process", "over_http", "context", "recall", "scale", "load"]
    figures = []
    if "in_process" in wanted:
        figures += asyncio.run(in_process.figures())
    if "over_http" in wanted:
        figures += asyncio.run(over_http.figures())
    if figures:
        print(table(figures))
    if "context" in wanted:
        print(context.report())
    if "recall" in wanted:
        print(recall.main([]))
    if "scale" in wanted:
        print(scale.main([]))
    if "load" in wanted:
        print(load.main([]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
