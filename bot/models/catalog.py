"""Context window, longest answer and prices of models by id, as published on 2026-11-20."""

import re
from dataclasses import dataclass

# tokens, of a model that is not in the table; `llm.context_window` overrides it
UNKNOWN_WINDOW = 128_000

_DATED = re.compile(r"-\d{8}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """Limits of a model in tokens, prices in US dollars for a million tokens."""

    window: int
    max_output: int
    input: float
    output: float
    cache_read: float
    #: Of an entry that lives 5 minutes.
    cache_write: float
    #: Accepts an effort level.
    effort: bool = True


def _claude_facts(
    price: tuple[float, float], *, read: float = 0.1, window: int = 1_000_000, effort: bool = True
) -> ModelFacts:
    """Return the facts of a Claude model. read: price of a cached token, as a share of the input
    price.
    """
    return ModelFacts(
        window=window,
        max_output=128_000 if window > 200_000 else 64_000,
        input=price[0],
        output=price[1],
        cache_read=price[0] * read,
        cache_write=price[0] * 1.25,
        effort=effort,
    )


def _gpt_facts(price: tuple[float, float], *, read: float) -> ModelFacts:
    """Return the facts of a GPT model. Its prices double above 272,000 tokens, taken as its
    window.
    """
    return ModelFacts(
        window=272_000,
        max_output=128_000,
        input=price[0],
        output=price[1],
        cache_read=price[0] * read,
        cache_write=price[0] * 1.25,
    )


# Source: the vendors' model and pricing pages. claude-haiku-5-5 costs five times this for prompts
# over 100,000 tokens.
MODELS = {
    "claude-fable-5-1": _claude_facts((10, 50), read=0.025),
    "claude-opus-5-5": _claude_facts((4, 20), read=0.05),
    "claude-opus-5": _claude_facts((5, 25)),
    "claude-sonnet-5-5": _claude_facts((2, 10), read=0.05),
    "claude-sonnet-5": _claude_facts((2, 10)),
    "claude-sonnet-4-6": _claude_facts((3, 15)),
    "claude-sonnet-4-5": _claude_facts((3, 15), window=200_000, effort=False),
    "claude-haiku-5-5": _claude_facts((0.1, 0.5)),
    "claude-haiku-4-5": _claude_facts((1, 5), window=200_000, effort=False),
    "gpt-6.1-sol": _gpt_facts((2, 10), read=0.05),
    "gpt-6.1-terra": _gpt_facts((1, 5), read=0.05),
    "gpt-6-luna": _gpt_facts((0.1, 0.5), read=0.1),
}


def model_facts(model: str) -> ModelFacts | None:
    """Return the facts of a model or of a dated snapshot of it; None for an unknown one."""
    return MODELS.get(model) or MODELS.get(_DATED.sub("", model))


def context_window(model: str) -> int:
    """Return the context window in tokens; UNKNOWN_WINDOW for an unknown model."""
    facts = model_facts(model)
    return facts.window if facts else UNKNOWN_WINDOW


def supports_effort(model: str) -> bool:
    """Tell whether a request may name an effort level; False for an unknown model."""
    facts = model_facts(model)
    return bool(facts and facts.effort)


def call_cost(
    model: str, *, input: int, output: int, cache_read: int = 0, cache_write: int = 0
) -> float | None:
    """Return the price of a call in US dollars, None for an unknown model. input: cached tokens
    included.
    """
    facts = model_facts(model)
    if facts is None:
        return None
    uncached = max(input - cache_read - cache_write, 0)
    cost = uncached * facts.input + output * facts.output
    return (cost + cache_read * facts.cache_read + cache_write * facts.cache_write) / 1_000_000
