"""What a person says again and again: lines of daily logs that recur and can stand in memory. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.longterm.lasting import category_of, lasting
from memory.longterm.similarity import normal, similarity
from memory.recall.lexical import question_terms

LEAST_DAYS = 2
MOST_LINES = 5_000
MOST_NOTED = 10
"""Lines that one night adds to memory, so that an odd week cannot flood it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A line of a daily log that reports a person's own words. day: YYYY-MM-DD; path: in the space; number: from 1.

    spoken: it stands there as what the person said, not in somebody's telling. said: aware, as near as is known.
    conversation, channel: "" for a note by hand.
    """

    text: str
    day: str
    path: str
    number: int
    said: datetime
    spoken: bool = False
    conversation: str = ""
    channel: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A line for memory, and the lines of the logs that bear it out, oldest first."""

    text: str
    category: str
    sources: tuple[LogLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A line that was in memory once: what says the same comes back only when it was said after `at`."""

    text: str
    at: datetime


class Near:
    """Texts by their terms, so that only those with much in common are compared."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts: list[str] = []
        self._sizes: list[int] = []
        self._having: dict[str, list[int]] = {}
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Keep one more; its place is the next number, from 0."""
        terms = _terms(text)
        for term in terms:
            self._having.setdefault(term, []).append(len(self.texts))
        self.texts.append(text)
        self._sizes.append(len(terms))

    def to(self, text: str, *, more: bool = False) -> list[int]:
        """Places of the texts that may say the same, in order: half of the terms of either are the other's.

        more: they may say much more besides.
        """
        terms = _terms(text)
        shared = Counter(place for term in terms for place in self._having.get(term, ()))
        return sorted(
            at
            for at, count in shared.items()
            if 2 * count >= (len(terms) if more else max(len(terms), self._sizes[at]))
        )


def recurring(
    log: Sequence[LogLine], known: Sequence[str], ended: Sequence[Ended], threshold: float
) -> tuple[Noted, ...]:
    """What was said on at least two days and is not in memory, in the words of the newest line; the newest ten.

    Args:
        known: the lines of memory. ended: what was taken out of it.
        threshold: the similarity from which on two lines say the same.
    """
    newest = sorted(log, key=lambda line: (line.day, line.path, line.number))[-MOST_LINES:]
    there, former = Near(known), Near(one.text for one in ended)
    lines = [
        line
        for line in newest
        if lasting(line.text, spoken=line.spoken)
        and not _said(line.text, there, threshold)
        and not _over(line, former, lambda at: ended[at].at, threshold)
    ]
    groups = [group for group in _groups(lines, threshold) if len({line.day for line in group}) >= LEAST_DAYS]
    groups.sort(key=lambda group: (group[-1].day, group[-1].path, group[-1].number))
    return tuple(
        Noted(text=group[-1].text, category=category_of(group[-1].text), sources=tuple(group))
        for group in groups[-MOST_NOTED:]
    )


def _said(text: str, there: Near, threshold: float) -> bool:
    """Whether memory has a line that says the same, or as much and more."""
    terms = set(question_terms(text))
    near = (there.texts[at] for at in there.to(text, more=True))
    return any(
        similarity(text, other) >= threshold or len(terms.intersection(question_terms(other))) >= threshold * len(terms)
        for other in near
    )


def _over(line: LogLine, former: Near, at: Callable[[int], datetime], threshold: float) -> bool:
    return any(
        line.said <= at(place) and similarity(line.text, former.texts[place]) >= threshold
        for place in former.to(line.text)
    )


def _groups(lines: Sequence[LogLine], threshold: float) -> list[list[LogLine]]:
    """Lines that say the same, each like every other of its group, in order."""
    groups: list[list[LogLine]] = []
    of: list[int] = []
    seen = Near()
    for line in lines:
        near = dict.fromkeys(of[at] for at in seen.to(line.text))
        fitting = (at for at in near if all(similarity(line.text, one.text) >= threshold for one in groups[at]))
        group = next(fitting, None)
        if group is None:
            group = len(groups)
            groups.append([])
        groups[group].append(line)
        seen.add(line.text)
        of.append(group)
    return groups


def _terms(text: str) -> frozenset[str]:
    return frozenset(question_terms(text)) or frozenset((normal(text),))
