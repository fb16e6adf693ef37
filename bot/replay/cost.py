"""What the requests of a replay would have cost, with a provider's prompt cache. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.models.prices import cost
from bot.replay.simulate import Folded, Outcome, Request, Setting
from memory.context import prompt
from memory.context.digest import language

CACHE_SECONDS = 300.0
"""How long a cached prefix lives after it was last read. Source: the price table's entries of 5 minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """Tokens and US dollars. cached: read from the cache; written: the rest of the input; output: recorded answers.

    fold_calls: summaries a model would have been asked for. dollars, fold_dollars: None for a model without prices.
    """

    cached: int
    written: int
    output: int
    fold_calls: int
    fold_input: int
    fold_output: int
    dollars: float | None
    fold_dollars: float | None

    @property
    def total(self) -> float | None:
        """Requests and summaries together."""
        if self.dollars is None or self.fold_dollars is None:
            return None
        return self.dollars + self.fold_dollars

    @property
    def cache_share(self) -> float:
        """Of the input, what came from the cache."""
        return self.cached / max(1, self.cached + self.written)


def bill(outcome: Outcome, model: str, fast_model: str) -> Bill:
    """The whole conversation's."""
    cached = sum(cached_tokens(outcome.requests))
    whole = sum(request.tokens.total for request in outcome.requests)
    output = sum(request.output for request in outcome.requests)
    asked = [fold for fold in outcome.folds if not fold.at_once]
    counter = outcome.setting.counter
    fold_input = sum(_fold_input(fold, outcome.setting) for fold in asked)
    fold_output = sum(fold.after + counter.text(fold.log) for fold in asked)
    return Bill(
        cached=cached,
        written=whole - cached,
        output=output,
        fold_calls=len(asked),
        fold_input=fold_input,
        fold_output=fold_output,
        dollars=cost(model, input=whole, output=output, cache_read=cached, cache_write=whole - cached),
        fold_dollars=cost(fast_model, input=fold_input, output=fold_output),
    )


def cached_tokens(requests: Sequence[Request]) -> list[int]:
    """For each request, how much of it the cache still holds: nothing when the one before is over five minutes old."""
    held = [0] if requests else []
    for before, now in pairwise(requests):
        held.append(now.common if (now.at - before.at).total_seconds() <= CACHE_SECONDS else 0)
    return held


def _fold_input(fold: Folded, setting: Setting) -> int:
    """What the one who summarises would have been sent: the bot's own prompt of it."""
    counter = setting.counter
    told = prompt.system(language(fold.messages), setting.policy.numbers.summary_tokens)
    asked = prompt.prompt(fold.replaced, (), fold.messages, counter, setting.zone)
    return counter.text(told) + counter.text(asked)
