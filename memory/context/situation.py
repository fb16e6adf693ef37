"""What a stage of a policy works on: the live turns, what they cost as shown, and what has been decided so far."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from memory.context import reduction
from memory.context.counter import Counter
from memory.conversation import Reduction, Turn

FRAME = 50  # tokens of the two lines around a summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What a policy's stages are tuned with; configuration may override each.

    snip_chars: a finished turn's longer tool result is snipped to snip_head and snip_tail of it. text_only_below: with
    fewer turns than this a view too long keeps texts only, with more it is folded. summary_tokens: the longest summary.
    overflow_turns, overflow_chars: what a provider's refusal leaves: turns, and characters of a result or user text.
    """

    snip_chars: int = 20_000
    snip_head: float = 0.3
    snip_tail: float = 0.3
    text_only_below: int = 5
    summary_tokens: int = 1_000
    overflow_turns: int = 5
    overflow_chars: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The turns of a session under a budget, part of the way through a policy's stages.

    turns: live ones, oldest first; costs: tokens of each as shown with `reductions`. running: whether the last one
    runs (it is counted, never folded). base: system, tools and tail; summary: the summary there is, framed, 0 for none.
    coming: turns about to begin, counted like live ones. cut: how many of the oldest turns a fold takes; reason: why.
    added: what these stages shortened, oldest first. refused: how often the provider called this request too long.
    """

    turns: tuple[Turn, ...]
    costs: tuple[int, ...]
    running: bool
    budget: int
    max_turns: int
    base: int
    summary: int
    numbers: Numbers
    counter: Counter
    reductions: Mapping[str, Mapping[int, Reduction]]
    added: tuple[Reduction, ...] = ()
    coming: int = 0
    cut: int = 0
    reason: str = ""
    refused: int = 0

    @property
    def finished(self) -> int:
        """How many turns may be folded."""
        return len(self.turns) - self.running

    @property
    def whole(self) -> int:
        """Tokens of the view with nothing folded."""
        return self.base + self.summary + sum(self.costs)

    @property
    def tokens(self) -> int:
        """Tokens of the view once the cut turns are folded, with room for the longest summary they may get."""
        if not self.cut:
            return self.whole
        return self.base + max(self.summary, self.numbers.summary_tokens + FRAME) + sum(self.costs[self.cut :])

    @property
    def fits(self) -> bool:
        return self.tokens <= self.budget

    @property
    def kept(self) -> int:
        """Turns left in the view, the coming one too."""
        return len(self.turns) - self.cut + self.coming

    def fold(self, turns: int, reason: str) -> "Situation":
        """Cut the oldest `turns` in all, the running one excepted; a cut never shrinks."""
        cut = max(self.cut, min(turns, self.finished))
        return replace(self, cut=cut, reason=self.reason or reason) if cut > self.cut else self

    def shorten(self, made: Iterable[Reduction]) -> "Situation":
        """Take these stand-ins; ones that are recorded already, word for word, change nothing."""
        new = [item for item in made if self.reductions.get(item.message_id, {}).get(item.part) != item]
        if not new:
            return self
        merged = {id: dict(parts) for id, parts in self.reductions.items()}
        for item in new:
            merged.setdefault(item.message_id, {})[item.part] = item
        touched = {item.message_id for item in new}
        costs = tuple(
            sum(reduction.tokens(message, merged, self.counter) for message in turn.messages)
            if any(message.id in touched for message in turn.messages)
            else cost
            for turn, cost in zip(self.turns, self.costs, strict=True)
        )
        return replace(self, reductions=merged, added=(*self.added, *new), costs=costs)


Stage = Callable[[Situation], Situation]
