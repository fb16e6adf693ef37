"""The load of `scale`, its results, and their report."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

Name = tuple[int, int]  # a message: the number of its conversation, and its own number there


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The load: some warm-up messages, a part at a fixed rate, and a part in which all write as
    fast as possible.
    """

    conversations: int = 1000
    #: Messages of each conversation in the unpaced part.
    turns: int = 5
    #: That the model takes.
    seconds: float = 1.5
    #: Messages a second of the paced part.
    rate: float = 50.0
    #: Number of messages of the paced part.
    paced: int = 500
    #: Parallel turns of a worker.
    places: int = 1000
    #: Whether mnema extracts lasting facts too, which is its default.
    facts: bool = False

    @property
    def warm(self) -> int:
        """Number of warm-up messages; a turn takes at least its model's time, so every worker gets
        some.
        """
        return min(32, self.conversations)

    @property
    def messages(self) -> int:
        """Number of messages of the unpaced part."""
        return self.conversations * self.turns

    def warm_names(self) -> list[Name]:
        """List the warm-up messages: the first of some conversations."""
        return [(who, 0) for who in range(self.warm)]

    def paced_names(self) -> list[Name]:
        """List the messages of the paced part in order, one conversation after the other."""
        return [(at % self.conversations, 1 + at // self.conversations) for at in range(self.paced)]

    def crowd_names(self) -> list[Name]:
        """List the messages of the unpaced part: the first of all conversations, the second of all,
        and so on.
        """
        first = self.paced // self.conversations + 2
        return [
            (who, first + number)
            for number in range(self.turns)
            for who in range(self.conversations)
        ]


@dataclass(slots=True)
class Course:
    """The times of each message, in seconds of one clock that all processes of a machine share."""

    #: When it was sent.
    asked: dict[Name, float] = field(default_factory=dict)
    #: When that was confirmed.
    stored: dict[Name, float] = field(default_factory=dict)
    #: When the model, or the job's handler, started and ended.
    begun: dict[Name, float] = field(default_factory=dict)
    ended: dict[Name, float] = field(default_factory=dict)
    #: When its answer was marked as sent, or its job was deleted.
    done: dict[Name, float] = field(default_factory=dict)
    #: Answered messages, in the order of the answers.
    answers: list[Name] = field(default_factory=list)

    def faults(self, names: Iterable[Name]) -> list[str]:
        """List messages that were lost, answered twice, invented, or answered out of order."""
        wanted, seen = Counter(names), Counter(self.answers)
        found = [
            f"{name} was answered {seen[name]} times"
            for name in wanted | seen
            if seen[name] != wanted[name]
        ]
        last: dict[int, int] = {}
        for who, number in self.answers:
            if number < last.get(who, -1):
                found.append(f"{(who, number)} was answered after number {last[who]}")
            last[who] = number
        return found

    def added(self, names: Iterable[Name]) -> list[float]:
        """Return the seconds of each message without those of its model."""
        return [self._before(name) + self._after(name) for name in names]

    def before(self, names: Iterable[Name]) -> list[float]:
        """Return the seconds from sending each message to the start of the model."""
        return [self._before(name) for name in names]

    def after(self, names: Iterable[Name]) -> list[float]:
        """Return the seconds from the end of the model to the sent answer, for each message."""
        return [self._after(name) for name in names]

    def accepted(self, names: Iterable[Name]) -> list[float]:
        """Return the seconds from sending each message to its confirmation."""
        return [self.stored[name] - self.asked[name] for name in names]

    def took(self, names: Iterable[Name]) -> float:
        """Return the seconds from the first message to the last answer."""
        wanted = list(names)
        return max(self.done[name] for name in wanted) - min(self.asked[name] for name in wanted)

    def _before(self, name: Name) -> float:
        return self.begun[name] - self.asked[name]

    def _after(self, name: Name) -> float:
        return self.done[name] - self.ended[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Results of one run; "unpaced" is the part in which all write as fast as possible."""

    engine: str
    workers: int
    shape: Shape
    course: Course
    faults: tuple[str, ...]
    #: CPU seconds in the unpaced part, by process.
    cpu: Mapping[str, float]
    #: For one message of the unpaced part.
    transactions: float
    #: Transactions a second without messages.
    idle: float = 0.0
    #: MB of one worker, by phase.
    rss: Mapping[str, float] = field(default_factory=dict)
    #: Of each table for one message, indexes included.
    bytes: Mapping[str, float] = field(default_factory=dict)
    #: Maximum of parallel turns.
    most_open: int = 0

    @property
    def rate(self) -> float:
        """Messages a second of the unpaced part."""
        return self.shape.messages / self.course.took(self.shape.crowd_names())


def share(values: Iterable[float], part: float) -> float:
    """Return the quantile `part`."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else float("nan")


def now() -> float:
    """Return the time of a clock that all processes of this machine share."""
    return time.monotonic()


def marked(name: Name) -> str:
    """Return the mark by which a text names its message."""
    return f"<<{name[0]}:{name[1]}>>"


def report(found: Sequence[RunResult]) -> str:
    """Format everything: ours and bare for each number of workers."""
    shape = found[0].shape
    lines = [
        f"{shape.conversations} conversations of {shape.turns} turns, a model of {shape.seconds:g} "
        f"s, {shape.places} places a worker; paced: {shape.paced} messages at {shape.rate:g} a "
        "second",
    ]
    for workers, pair in groupby(found, key=lambda one: one.workers):
        bare, ours = sorted(pair, key=lambda one: one.engine)
        lines += ["", f"{workers} worker{'s' if workers > 1 else ''}", *_rows(bare, ours)]
    ours = next(one for one in found if one.engine == "ours")
    lines += ["", "bytes of each table for one message, indexes included:", *_bytes(ours)]
    return "\n".join(lines)


def _rows(bare: RunResult, ours: RunResult) -> list[str]:
    paced = bare.shape.paced_names()
    rows = [f"  {'':<44} {'ours':>9} {'bare':>9} {'more':>9}"]
    for what, part in (("accepted", 0.5), ("accepted", 0.95), ("before", 0.5), ("after", 0.5)):
        rows.append(
            _row(
                f"{_WHAT[what]}, p{part * 100:.0f}",
                _ms(ours, what, part),
                _ms(bare, what, part),
                "ms",
            )
        )
    for part, asked in ((0.5, "ms  ≤ 15 asked"), (0.95, "ms")):
        by_ours, by_bare = (1000 * share(one.course.added(paced), part) for one in (ours, bare))
        rows.append(_row(f"added to a message, p{part * 100:.0f}", by_ours, by_bare, asked))
    ratio = ours.rate / bare.rate
    rows.append(
        _row("all at once", ours.rate, bare.rate, f"messages/s; ×{ratio:.2f} of bare, ≥ 0.80 asked")
    )
    for who in ours.cpu:
        by_ours, by_bare = (1000 * one.cpu[who] / one.shape.messages for one in (ours, bare))
        rows.append(_row(f"processor for a message, {who}", by_ours, by_bare, "ms"))
    rows.append(_row("transactions for a message", ours.transactions, bare.transactions, ""))
    rows.append(_row("transactions while nothing is said", ours.idle, bare.idle, "/s"))
    rows.append(_row("a worker's memory, idle", ours.rss["idle"], bare.rss["idle"], "MB"))
    rows.append(_row("a worker's memory, most", ours.rss["crowd"], bare.rss["crowd"], "MB"))
    each = ours.most_open / ours.workers
    held = 1000 * (ours.rss["crowd"] - ours.rss["idle"]) / each if each else float("nan")
    rows.append(
        f"  {'for an open turn':<44} {held:>9.1f} {'':>9} {'':>9} kB ({ours.most_open} open at "
        "once in all)"
    )
    rows.append(
        _row("faults (lost, repeated, out of order)", len(ours.faults), len(bare.faults), "")
    )
    return [*rows, *(f"    {fault}" for fault in (*ours.faults, *bare.faults)[:5])]


_WHAT = {
    "accepted": "sent to stored",
    "before": "sent to the model's being asked",
    "after": "the model's end to the answer's being marked",
}


def _ms(found: RunResult, what: str, part: float) -> float:
    values: list[float] = getattr(found.course, what)(found.shape.paced_names())
    return 1000 * share(values, part)


def _row(what: str, ours: float, bare: float, unit: str) -> str:
    return f"  {what:<44} {ours:>9.1f} {bare:>9.1f} {ours - bare:>+9.1f} {unit}".rstrip()


def _bytes(ours: RunResult) -> list[str]:
    kept = {name: size for name, size in ours.bytes.items() if size >= 1}
    rows = [
        f"  {name:<32} {size:>8.0f}"
        for name, size in sorted(kept.items(), key=lambda item: -item[1])
    ]
    return [*rows, f"  {'in all':<32} {sum(ours.bytes.values()):>8.0f}"]
