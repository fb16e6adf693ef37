"""The shape of a load of many conversations, and what is to be told of a run of it. Pure, but for the clock."""

import statistics
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Name = tuple[int, int]  # a message: the number of its conversation, and its own number there


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is done. seconds: that a model takes; rate: messages a second of the paced part; paced: how many there.

    places: turns at once in a worker. facts: ours reads each turn for lasting facts too, as it does unless told not to.
    """

    conversations: int = 1000
    turns: int = 5
    seconds: float = 1.5
    rate: float = 50.0
    paced: int = 500
    places: int = 1000
    facts: bool = False

    @property
    def warm(self) -> int:
        """Messages before anything is measured; a turn takes at least its model's time, so every worker gets some."""
        return min(32, self.conversations)

    @property
    def messages(self) -> int:
        """Of the part in which all write at once."""
        return self.conversations * self.turns

    def warm_names(self) -> list[Name]:
        """Those: the first of some conversations."""
        return [(who, 0) for who in range(self.warm)]

    def paced_names(self) -> list[Name]:
        """The messages of the paced part, in the order in which they are written: everybody by turns."""
        return [(at % self.conversations, 1 + at // self.conversations) for at in range(self.paced)]

    def crowd_names(self) -> list[Name]:
        """Those of the other part: everybody's first, everybody's second."""
        first = self.paced // self.conversations + 2
        return [(who, first + number) for number in range(self.turns) for who in range(self.conversations)]


@dataclass(slots=True)
class Course:
    """When what happened to each message, in seconds of one clock that all processes of a machine share.

    asked: its writer sent it; stored: that was confirmed; begun, ended: the model's (the handler's) time; done: its
    answer is sent and marked, or the job is gone. answers: in the order in which they were seen.
    """

    asked: dict[Name, float] = field(default_factory=dict)
    stored: dict[Name, float] = field(default_factory=dict)
    begun: dict[Name, float] = field(default_factory=dict)
    ended: dict[Name, float] = field(default_factory=dict)
    done: dict[Name, float] = field(default_factory=dict)
    answers: list[Name] = field(default_factory=list)

    def faults(self, names: Iterable[Name]) -> list[str]:
        """What was lost, repeated, invented or answered out of its conversation's order."""
        wanted, seen = Counter(names), Counter(self.answers)
        found = [f"{name} was answered {seen[name]} times" for name in wanted | seen if seen[name] != wanted[name]]
        last: dict[int, int] = {}
        for who, number in self.answers:
            if number < last.get(who, -1):
                found.append(f"{(who, number)} was answered after number {last[who]}")
            last[who] = number
        return found

    def added(self, names: Iterable[Name]) -> list[float]:
        """Seconds that each message took beyond its model's, from being sent to its answer being marked as sent."""
        return [self._before(name) + self._after(name) for name in names]

    def before(self, names: Iterable[Name]) -> list[float]:
        """From being sent to the model's being asked, seconds each."""
        return [self._before(name) for name in names]

    def after(self, names: Iterable[Name]) -> list[float]:
        """From the model's last word to the answer's being marked, seconds each."""
        return [self._after(name) for name in names]

    def accepted(self, names: Iterable[Name]) -> list[float]:
        """From being sent to the confirmation, seconds each."""
        return [self.stored[name] - self.asked[name] for name in names]

    def took(self, names: Iterable[Name]) -> float:
        """Seconds from the first message to the last answer."""
        wanted = list(names)
        return max(self.done[name] for name in wanted) - min(self.asked[name] for name in wanted)

    def _before(self, name: Name) -> float:
        return self.begun[name] - self.asked[name]

    def _after(self, name: Name) -> float:
        return self.done[name] - self.ended[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one run came to. cpu: seconds of processor by who used it, in the crowd; transactions: in the crowd.

    rss: MB of one worker by when; bytes: of each table for one message, indexes included; open: most turns at once.
    idle: transactions a second while nothing was said.
    """

    engine: str
    workers: int
    shape: Shape
    course: Course
    faults: tuple[str, ...]
    cpu: Mapping[str, float]
    transactions: float
    idle: float = 0.0
    rss: Mapping[str, float] = field(default_factory=dict)
    bytes: Mapping[str, float] = field(default_factory=dict)
    most_open: int = 0

    @property
    def rate(self) -> float:
        """Messages a second of the crowd."""
        return self.shape.messages / self.course.took(self.shape.crowd_names())


def share(values: Iterable[float], part: float) -> float:
    """The value below which that part of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else float("nan")


def middle(values: Iterable[float]) -> float:
    """Their median."""
    return statistics.median(values)


def now() -> float:
    """Seconds of the clock that all processes of this machine share."""
    return time.monotonic()


def marked(name: Name) -> str:
    """How a text names its message."""
    return f"<<{name[0]}:{name[1]}>>"
