"""`make bench`: every figure beside its floor, measured in this one run."""

import asyncio
import sys

from benchmarks import context, indoors, load, outside, recall, scale
from benchmarks.figure import table


def main() -> int:
    """Measure and print; timing decides nothing, so the exit code is 0 either way."""
    if sys.argv[1:2] == ["recall"]:
        print(recall.main(sys.argv[2:]))
        return 0
    if sys.argv[1:2] == ["scale"]:
        print(scale.main(sys.argv[2:]))
        return 0
    if sys.argv[1:2] == ["load"]:
        print(load.main(sys.argv[2:]))
        return 0
    wanted = sys.argv[1:] or ["indoors", "outside", "context", "recall", "scale", "load"]
    figures = []
    if "indoors" in wanted:
        figures += asyncio.run(indoors.figures())
    if "outside" in wanted:
        figures += asyncio.run(outside.figures())
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
