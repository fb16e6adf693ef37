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
        0, 0, 10_000_000, description="window that the numbers are meant for; they shrink with less"
    )
    snip_chars: int = setting(
        20_000, 200, 10_000_000, description="characters from which a tool result is snipped"
    )
    snip_share: float = setting(
        0.3, 0.0, 0.5, description="share that stays at either end when snipped"
    )
    snip_most: float = setting(
        0.5, 0.0, 0.5, description="most at either end, as a share of snip_chars"
    )
    input_chars: int = setting(
        500, 50, 1_000_000, description="characters left of an old tool input"
    )
    result_chars: int = setting(
        1_000, 50, 1_000_000, description="characters left of an old tool result"
    )
    line_at: float = setting(
        0.6, 0.05, 1.0, description="share of the budget at which old results become lines"
    )
    batch: float = setting(
        0.0, 0.0, 1.0, description="least share of the budget that one round must save"
    )
    spared_results: int = setting(5, 0, 1_000, description="newest results that are left alone")
    fold_at: float = setting(
        0.8, 0.1, 1.0, description="share of the budget at which a fold is due"
    )
    fold_tokens: int = setting(
        30_000, 100, 10_000_000, description="tokens of history at which a fold is due"
    )
    fold_messages: int = setting(
        500, 2, 100_000, description="messages of history at which a fold is due"
    )
    least_messages: int = setting(
        10, 2, 100_000, description="messages below which nothing is folded"
    )
    keep: float = setting(0.5, 0.05, 0.95, description="share of the history that stays")
    #: Of the available tokens; in `layers`, of the threshold.
    keep_most: float = setting(0.5, 0.05, 1.0, description="share that may stay at most")
    keep_tokens: int = setting(15_000, 0, 10_000_000, description="tokens that stay")
    keep_messages: int = setting(4, 1, 100_000, description="messages that stay")
    #: Messages in `boundary`, turns in `balanced`.
    reach: int = setting(5, 0, 1_000, description="how far the cut may move to a better place")
    #: Of `boundary`, however long the turns are.
    reach_turns: int = setting(
        2, 0, 1_000, description="turns on either side of the cut whose ends are compared too"
    )
    newest: int = setting(5, 0, 1_000, description="newest messages that are never folded")
    most_tokens: int = setting(40_000, 500, 10_000_000, description="most tokens of history")
    drop_at: float = setting(
        0.95, 0.1, 1.0, description="share of the budget at which the oldest turns go at once"
    )
    every_messages: int = setting(
        10, 2, 100_000, description="new messages after which the summary is updated"
    )
    every_tokens: int = setting(
        3_000, 100, 10_000_000, description="new tokens after which the summary is updated"
    )
    #: Of a view that is too long.
    text_only_below: int = setting(
        5, 0, 10_000, description="turns below which texts stay instead of a fold"
    )
    summary_tokens: int = setting(1_000, 100, 20_000, description="most tokens of the summary")
    spare: int = setting(1_000, 0, 1_000_000, description="tokens left free when turns go")
    overflow_turns: int = setting(
        5, 1, 10_000, description="turns that stay after the model refused a request as too long"
    )
    overflow_chars: int = setting(
        10_000, 200, 10_000_000, description="characters of a text that stay after that"
    )
