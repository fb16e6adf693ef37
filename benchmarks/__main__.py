"""`make bench`: every figure beside its floor and its targets; `python -m benchmarks NAME...`
measures some.
"""

import difflib
import logging
import sys
from collections.abc import Sequence

import structlog

from benchmarks.figures import FIGURES, REPORTS, describe, measure, write_report
from benchmarks.measurement import TargetMissed, table

KNOWN = (*FIGURES, *REPORTS)


class UnknownName(Exception):
    """No figure or report has this name; the text names the nearest."""


def main(words: Sequence[str]) -> int:
    """Measure and print.

    Returns:
        The exit code: 2 for an unknown name, 1 if a report fell below what it must not fall below.
    """
    if "--list" in words:
        print(describe())
        return 0
    try:
        names, options = select(words)
    except UnknownName as err:
        print(err, file=sys.stderr)
        return 2
    # a bot in this process would render its log for a terminal
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    if measured := [name for name in names if name in FIGURES]:
        print(table([]))
        for name in measured:
            for row in measure(name):
                print(row, flush=True)
    missed = False
    for name in filter(REPORTS.__contains__, names):
        try:
            print(write_report(name, options), flush=True)
        except TargetMissed as err:
            print(err, flush=True)
            missed = True
    return int(missed)


def select(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the names to measure, all for no words, and the options where the first word is a
    report that has some.

    Raises:
        UnknownName: for the first word that is neither.
    """
    if words and words[0] in REPORTS and not set(words) <= set(KNOWN):
        return words[:1], words[1:]
    for word in words:
        if word not in KNOWN:
            near = difflib.get_close_matches(word, KNOWN, n=1, cutoff=0.0)[0]
            raise UnknownName(
                f"There is no figure {word!r}; the nearest is {near!r}, and --list shows all."
            )
    return words or KNOWN, ()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
