"""What a stage of a policy works on: the live turns, what they cost as shown, and what has been decided so far."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from memory.context.reductions import turn_tokens
from memory.context.tokens import TokenCounter
from memory.conversation import Message, Reduction, Turn

FRAME_TOKENS = 50  # tokens of the two lines around a summary
# By message id and part: the one line that a model has written for a tool result.
ToolLines = Mapping[tuple[str, int], str]
NO_LINES: ToolLines = MappingProxyType({})


def _setting(default: Any, lowest: float, highest: float) -> Any:
    return field(default=default, metadata={"range": (lowest, highest)})


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """What a policy's stages are tuned with; configuration may override each. Counts are whole, shares are of 1.

    Every field carries its `range` (lowest, highest) as metadata. Tokens that a policy names were chosen for a window
    of `window` tokens; under a smaller budget they shrink with it (0: they never do).
    """

    window: int = _setting(0, 0, 10_000_000)
    #: A longer tool result shows its first and last snip_share, each at most snip_most of snip_chars.
    snip_chars: int = _setting(20_000, 200, 10_000_000)
    snip_share: float = _setting(0.3, 0.0, 0.5)
    snip_most: float = _setting(0.5, 0.0, 0.5)
    #: What a finished turn's tool input and result may keep where tool traffic is trimmed.
    input_chars: int = _setting(500, 50, 1_000_000)
    #: What a finished turn's tool input and result may keep where tool traffic is trimmed.
    result_chars: int = _setting(1_000, 50, 1_000_000)
    #: Share of the room from which old results become one line each.
    line_at: float = _setting(0.6, 0.05, 1.0)
    #: Share of the room that shortening old results must save at once.
    batch: float = _setting(0.0, 0.0, 1.0)
    #: So many of the newest results are neither trimmed nor made a line.
    spared_results: int = _setting(5, 0, 1_000)
    #: Share of the room at which a fold is wanted.
    fold_at: float = _setting(0.8, 0.1, 1.0)
    #: The same as numbers of the history, of at least least_messages.
    fold_tokens: int = _setting(30_000, 100, 10_000_000)
    #: The same as numbers of the history, of at least least_messages.
    fold_messages: int = _setting(500, 2, 100_000)
    least_messages: int = _setting(10, 2, 100_000)
    #: The share of the history that stays.
    keep: float = _setting(0.5, 0.05, 0.95)
    #: The share of the room (of the threshold in `layers`) that may stay.
    keep_most: float = _setting(0.5, 0.05, 1.0)
    #: What stays as numbers.
    keep_tokens: int = _setting(15_000, 0, 10_000_000)
    #: What stays as numbers.
    keep_messages: int = _setting(4, 1, 100_000)
    #: How far (messages in `boundary`, turns in `balanced`) a cut may move to a better place.
    reach: int = _setting(5, 0, 1_000)
    #: Messages no cut enters.
    newest: int = _setting(5, 0, 1_000)
    #: Of the whole history, at any time.
    most_tokens: int = _setting(40_000, 500, 10_000_000)
    #: Share of the room beyond which the oldest turns go at once.
    drop_at: float = _setting(0.95, 0.1, 1.0)
    #: How much that is new is rolled into the summary.
    every_messages: int = _setting(10, 2, 100_000)
    #: How much that is new is rolled into the summary.
    every_tokens: int = _setting(3_000, 100, 10_000_000)
    #: With fewer turns than this a view too long keeps texts only, with more it is folded.
    text_only_below: int = _setting(5, 0, 10_000)
    #: The longest summary.
    summary_tokens: int = _setting(1_000, 100, 20_000)
    #: Tokens left free when turns are dropped.
    spare: int = _setting(1_000, 0, 1_000_000)
    #: What a provider's refusal leaves: turns, and characters of a result or user text.
    overflow_turns: int = _setting(5, 1, 10_000)
    #: What a provider's refusal leaves: turns, and characters of a result or user text.
    overflow_chars: int = _setting(10_000, 200, 10_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextState:
    """The turns of a session under a budget, part of the way through a policy's stages."""

    #: Live ones, oldest first.
    turns: tuple[Turn, ...]
    #: Tokens of each as shown with `reductions`.
    costs: tuple[int, ...]
    #: Whether the last one runs (it is counted, never folded).
    running: bool
    budget: int
    max_turns: int
    #: System, tools and tail.
    base: int
    #: The summary there is, framed, 0 for none.
    summary: int
    numbers: PolicySettings
    counter: TokenCounter
    reductions: Mapping[str, Mapping[int, Reduction]]
    #: Messages from this seq on are new since the newest fold.
    seen: int = 0
    lines: ToolLines = field(default_factory=dict)
    #: What these stages shortened, oldest first.
    added: tuple[Reduction, ...] = ()
    #: Turns about to begin, counted like live ones.
    coming: int = 0
    #: How many of the oldest turns a fold takes.
    cut: int = 0
    #: Why.
    reason: str = ""
    #: The search for it as JSON text.
    why: str = ""
    #: The fold is not to wait although the view fits.
    at_once: bool = False
    #: How often the provider called this request too long.
    refused: int = 0

    @property
    def finished(self) -> int:
        """How many turns may be folded."""
        return len(self.turns) - self.running

    @property
    def room(self) -> int:
        """Tokens that shares are of: the budget, or the policy's own window where that is less."""
        return min(self.budget, self.numbers.window) if self.numbers.window else self.budget

    @property
    def history(self) -> int:
        """Tokens of summary and turns with nothing folded."""
        return self.summary + sum(self.costs)

    @property
    def whole(self) -> int:
        """Tokens of the view with nothing folded."""
        return self.base + self.history

    @property
    def tokens(self) -> int:
        """Tokens of the view once the cut turns are folded, with room for the longest summary they may get."""
        if not self.cut:
            return self.whole
        return self.base + self.summary_after_fold + sum(self.costs[self.cut :])

    @property
    def summary_after_fold(self) -> int:
        """Tokens of the summary once something is folded, at most."""
        return max(self.summary, self.numbers.summary_tokens + FRAME_TOKENS)

    @property
    def fits(self) -> bool:
        return self.tokens <= self.budget

    @property
    def kept(self) -> int:
        """Turns left in the view, the coming one too."""
        return len(self.turns) - self.cut + self.coming

    @property
    def finished_messages(self) -> list[Message]:
        """Messages of the turns that may be folded."""
        return [message for turn in self.turns[: self.finished] for message in turn.messages]

    def scaled(self, tokens: int) -> int:
        """A policy's number of tokens as this budget lets it be."""
        window = self.numbers.window
        return tokens if not window or self.budget >= window else tokens * self.budget // window

    def fold(self, turns: int, reason: str, why: str = "") -> "ContextState":
        """Cut the oldest `turns` in all, the running one excepted; a cut never shrinks."""
        cut = max(self.cut, min(turns, self.finished))
        return replace(self, cut=cut, reason=self.reason or reason, why=self.why or why) if cut > self.cut else self

    def shorten(self, made: Iterable[Reduction]) -> "ContextState":
        """Take these stand-ins; ones that are recorded already, word for word, change nothing."""
        new = [item for item in made if self.reductions.get(item.message_id, {}).get(item.part) != item]
        if not new:
            return self
        merged: dict[str, Mapping[int, Reduction]] = dict(self.reductions)
        touched: set[str] = set()
        for item in new:
            if item.message_id not in touched:
                merged[item.message_id] = dict(merged.get(item.message_id, {}))
                touched.add(item.message_id)
            merged[item.message_id][item.part] = item  # type: ignore[index]
        costs = tuple(
            turn_tokens(turn, merged, self.counter, running=place >= self.finished)
            if any(message.id in touched for message in turn.messages)
            else cost
            for place, (turn, cost) in enumerate(zip(self.turns, self.costs, strict=True))
        )
        return replace(self, reductions=merged, added=(*self.added, *new), costs=costs)


Stage = Callable[[ContextState], ContextState]
