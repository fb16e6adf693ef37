"""The state that a policy's stages work on: the live turns, their cost as shown, and the decisions
so far.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from memory.context.policies.settings import PolicySettings
from memory.context.reductions import turn_tokens
from memory.context.tokens import TokenCounter
from memory.conversation import Message, Reduction, Turn

FRAME_TOKENS = 50  # of the two lines around a summary
FINAL_FORMS = ("one_line", "text_only")  # forms of reductions that are never shortened further
# Lines that a model wrote in place of tool results, by message id and part.
ToolLines = Mapping[tuple[str, int], str]
NO_LINES: ToolLines = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextState:
    """The turns of a session under a budget, between two stages of a policy."""

    #: Live turns, oldest first.
    turns: tuple[Turn, ...]
    #: Tokens of each turn as shown with `reductions`.
    costs: tuple[int, ...]
    #: The last turn is running; it is counted but never folded.
    running: bool
    budget: int
    max_turns: int
    #: Tokens of system prompt, tools, turn suffix and the times in the history.
    base: int
    #: Tokens of the current summary with its frame, 0 for none.
    summary: int
    settings: PolicySettings
    counter: TokenCounter
    reductions: Mapping[str, Mapping[int, Reduction]]
    #: Messages from this seq on are new since the newest fold.
    seen: int = 0
    lines: ToolLines = field(default_factory=dict)
    #: Reductions made by these stages, oldest first.
    added: tuple[Reduction, ...] = ()
    #: Turns about to start, counted like live ones.
    coming: int = 0
    #: Number of oldest turns to fold.
    cut: int = 0
    #: Why the fold is wanted: "turns", "tokens", "messages", "overflow" or "restart".
    reason: str = ""
    #: How the cut was chosen, as JSON text.
    why: str = ""
    #: Fold now, although the view fits.
    at_once: bool = False
    #: How often the provider refused this request as too long.
    refused: int = 0

    @property
    def finished(self) -> int:
        """Number of turns that may be folded."""
        return len(self.turns) - self.running

    @property
    def available(self) -> int:
        """The tokens that shares refer to: the budget, or the policy's window if that is less."""
        return min(self.budget, self.settings.window) if self.settings.window else self.budget

    @property
    def history(self) -> int:
        """Tokens of summary and turns, before the fold."""
        return self.summary + sum(self.costs)

    @property
    def whole(self) -> int:
        """Tokens of the view, before the fold."""
        return self.base + self.history

    @property
    def tokens(self) -> int:
        """Tokens of the view after the fold, with the longest summary it may get."""
        if not self.cut:
            return self.whole
        return self.base + self.summary_after_fold + sum(self.costs[self.cut :])

    @property
    def summary_after_fold(self) -> int:
        """Most tokens of the summary after a fold."""
        return max(self.summary, self.settings.summary_tokens + FRAME_TOKENS)

    @property
    def fits(self) -> bool:
        return self.tokens <= self.budget

    @property
    def kept(self) -> int:
        """Turns left in the view, including the coming one."""
        return len(self.turns) - self.cut + self.coming

    @property
    def finished_messages(self) -> list[Message]:
        """Messages of the turns that may be folded."""
        return [message for turn in self.turns[: self.finished] for message in turn.messages]

    def scaled(self, tokens: int) -> int:
        """Scale a policy's number of tokens to this budget."""
        window = self.settings.window
        return tokens if not window or self.budget >= window else tokens * self.budget // window

    def fold(self, turns: int, reason: str, why: str = "") -> "ContextState":
        """Fold the oldest `turns` turns, never the running one; a later smaller number changes
        nothing.
        """
        cut = max(self.cut, min(turns, self.finished))
        return (
            replace(self, cut=cut, reason=self.reason or reason, why=self.why or why)
            if cut > self.cut
            else self
        )

    def shorten(self, made: Iterable[Reduction]) -> "ContextState":
        """Add reductions; those that are equal to stored ones change nothing."""
        new = [
            item for item in made if self.reductions.get(item.message_id, {}).get(item.part) != item
        ]
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
