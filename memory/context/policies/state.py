"""The state that a policy's stages work on: the live turns, their cost as shown, and the decisions
so far.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from memory.context.reductions import turn_tokens
from memory.context.tokens import TokenCounter
from memory.conversation import Message, Reduction, Turn

FRAME_TOKENS = 50  # of the two lines around a summary
FINAL_FORMS = ("one_line", "text_only")  # forms of reductions that are never shortened further
# Lines that a model wrote in place of tool results, by message id and part.
ToolLines = Mapping[tuple[str, int], str]
NO_LINES: ToolLines = MappingProxyType({})


def _setting(default: Any, lowest: float, highest: float) -> Any:
    return field(default=default, metadata={"range": (lowest, highest)})


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """Settings of a policy's stages; each can be overridden in the configuration.

    Every field has its `range` (lowest, highest) as metadata.
    """

    #: The window in tokens that the policy's token numbers were chosen for; they shrink with a
    #: smaller budget. 0: never
    window: int = _setting(0, 0, 10_000_000)
    #: Longer tool results are snipped to their beginning and end.
    snip_chars: int = _setting(20_000, 200, 10_000_000)
    #: Share of the result that each of the two pieces shows.
    snip_share: float = _setting(0.3, 0.0, 0.5)
    #: The most that each piece shows, as a share of snip_chars.
    snip_most: float = _setting(0.5, 0.0, 0.5)
    #: Characters of a tool's input left by trimming.
    input_chars: int = _setting(500, 50, 1_000_000)
    #: Characters of a tool's result left by trimming.
    result_chars: int = _setting(1_000, 50, 1_000_000)
    #: Share of the available tokens from which on old results become one line each.
    line_at: float = _setting(0.6, 0.05, 1.0)
    #: Share of the available tokens that one round of shortening or folding must save at least.
    batch: float = _setting(0.0, 0.0, 1.0)
    #: Newest results that are neither trimmed nor replaced by a line.
    spared_results: int = _setting(5, 0, 1_000)
    #: Share of the available tokens at which a fold is wanted.
    fold_at: float = _setting(0.8, 0.1, 1.0)
    #: Tokens of the history at which a fold is wanted.
    fold_tokens: int = _setting(30_000, 100, 10_000_000)
    #: Messages in the history at which a fold is wanted.
    fold_messages: int = _setting(500, 2, 100_000)
    #: A history with fewer messages is never folded.
    least_messages: int = _setting(10, 2, 100_000)
    #: Share of the history that stays.
    keep: float = _setting(0.5, 0.05, 0.95)
    #: Share of the available tokens (in `layers`, of the threshold) that may stay.
    keep_most: float = _setting(0.5, 0.05, 1.0)
    #: Tokens that stay.
    keep_tokens: int = _setting(15_000, 0, 10_000_000)
    #: Messages that stay.
    keep_messages: int = _setting(4, 1, 100_000)
    #: Distance that a cut may move to a better place: messages in `boundary`, turns in `balanced`.
    reach: int = _setting(5, 0, 1_000)
    #: Turns on either side of the target whose ends `boundary` compares, however long the turns
    #: are.
    reach_turns: int = _setting(2, 0, 1_000)
    #: Newest messages that are never folded.
    newest: int = _setting(5, 0, 1_000)
    #: Hard limit of the history in tokens.
    most_tokens: int = _setting(40_000, 500, 10_000_000)
    #: Share of the available tokens beyond which the oldest turns are folded at once.
    drop_at: float = _setting(0.95, 0.1, 1.0)
    #: New messages that trigger a roll of the summary.
    every_messages: int = _setting(10, 2, 100_000)
    #: New tokens that trigger a roll of the summary.
    every_tokens: int = _setting(3_000, 100, 10_000_000)
    #: A view that is too long is reduced to its texts if it has fewer turns than this; otherwise it
    #: is folded.
    text_only_below: int = _setting(5, 0, 10_000)
    #: Limit of a summary in tokens.
    summary_tokens: int = _setting(1_000, 100, 20_000)
    #: Tokens left free when turns are dropped.
    spare: int = _setting(1_000, 0, 1_000_000)
    #: Turns that stay after the provider refused a request as too long.
    overflow_turns: int = _setting(5, 1, 10_000)
    #: Characters of a result or user text that stay after such a refusal.
    overflow_chars: int = _setting(10_000, 200, 10_000_000)


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
