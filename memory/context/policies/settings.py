"""The numbers of a policy: what each means, its default and its range."""

from dataclasses import dataclass, field
from typing import Any


def setting(default: Any, lowest: float, highest: float, *, description: str) -> Any:
    """Declare a number, with its range as metadata.

    Args:
        description: what it means, as people read it: a clause without a full stop.
    """
    return field(default=default, metadata={"range": (lowest, highest), "description": description})


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """Settings of a policy's stages; each can be overridden in the configuration.

    A budget is the available tokens of a request.
    """

    #: 0: they never shrink.
    window: int = setting(
        0,
        0,
        10_000_000,
        description="window these numbers are meant for; with a smaller budget they scale down",
    )
    snip_chars: int = setting(
        20_000,
        200,
        10_000_000,
        description="tool results longer than this many characters are shortened",
    )
    snip_share: float = setting(0.3, 0.0, 0.5, description="share kept at each end when shortening")
    snip_most: float = setting(
        0.5, 0.0, 0.5, description="most kept at each end, as a share of snip_chars"
    )
    input_chars: int = setting(
        500, 50, 1_000_000, description="characters kept of an old tool input"
    )
    result_chars: int = setting(
        1_000, 50, 1_000_000, description="characters kept of an old tool result"
    )
    line_at: float = setting(
        0.6, 0.05, 1.0, description="share of the budget at which old results shrink to one line"
    )
    batch: float = setting(
        0.0, 0.0, 1.0, description="smallest share of the budget that one round must save"
    )
    spared_results: int = setting(5, 0, 1_000, description="newest results left unchanged")
    fold_at: float = setting(
        0.8, 0.1, 1.0, description="share of the budget at which older turns are folded"
    )
    fold_tokens: int = setting(
        30_000, 100, 10_000_000, description="tokens of history at which older turns are folded"
    )
    fold_messages: int = setting(
        500, 2, 100_000, description="messages of history at which older turns are folded"
    )
    least_messages: int = setting(
        10, 2, 100_000, description="messages below which nothing is folded"
    )
    keep: float = setting(
        0.5, 0.05, 0.95, description="share of the history that stays after a fold"
    )
    #: Of the available tokens; in `layers`, of the threshold.
    keep_most: float = setting(0.5, 0.05, 1.0, description="largest share that may stay")
    keep_tokens: int = setting(15_000, 0, 10_000_000, description="tokens that stay after a fold")
    keep_messages: int = setting(4, 1, 100_000, description="messages that stay after a fold")
    #: Messages in `boundary`, turns in `balanced`.
    reach: int = setting(5, 0, 1_000, description="how far the split may move to a better place")
    #: Of `boundary`, however long the turns are.
    reach_turns: int = setting(
        2, 0, 1_000, description="turns on each side of the split whose ends are also compared"
    )
    newest: int = setting(5, 0, 1_000, description="newest messages that are never folded")
    most_tokens: int = setting(40_000, 500, 10_000_000, description="maximum tokens of history")
    drop_at: float = setting(
        0.95,
        0.1,
        1.0,
        description="share of the budget at which the oldest turns are folded at once",
    )
    every_messages: int = setting(
        10, 2, 100_000, description="new messages after which the summary is updated"
    )
    every_tokens: int = setting(
        3_000, 100, 10_000_000, description="new tokens after which the summary is updated"
    )
    #: Of a view that is too long.
    text_only_below: int = setting(
        5, 0, 10_000, description="turns below which texts are kept instead of folded"
    )
    summary_tokens: int = setting(1_000, 100, 20_000, description="maximum tokens of the summary")
    spare: int = setting(1_000, 0, 1_000_000, description="tokens left free when turns are dropped")
    overflow_turns: int = setting(
        5, 1, 10_000, description="turns that stay after the model refused a request as too long"
    )
    overflow_chars: int = setting(
        10_000, 200, 10_000_000, description="characters that then stay of each text"
    )
