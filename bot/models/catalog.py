"""What is known of models by name: window, longest answer, prices. As published on 2026-11-20."""

import re
from dataclasses import dataclass

UNKNOWN_WINDOW = 128_000  # assumed for a model that is not in the table; `llm.context_window` overrides it

_DATED = re.compile(r"-\d{8}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """One model."""

    #: Tokens. The prices: US dollars for a million tokens.
    window: int
    #: Tokens. The prices: US dollars for a million tokens.
    max_output: int
    input: float
    output: float
    cache_read: float
    #: An entry that lives 5 minutes.
    cache_write: float
    #: Whether it takes an effort level.
    effort: bool = True


def _claude_facts(
    price: tuple[float, float], *, read: float = 0.1, window: int = 1_000_000, effort: bool = True
) -> ModelFacts:
    """A Claude model. read: what a cached token costs, as a share of the input price; a write costs 1.25 of it."""
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
    """A GPT model. Its prices hold up to 272,000 tokens and double above, so that is the window we go by."""
    return ModelFacts(
        window=272_000,
        max_output=128_000,
        input=price[0],
        output=price[1],
        cache_read=price[0] * read,
        cache_write=price[0] * 1.25,
    )


# Source: the vendors' model and pricing pages. claude-haiku-5-5 costs five times this for prompts over 100,000 tokens.
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
    """What is known of that model, a dated snapshot as its name without the date; None for an unknown one."""
    return MODELS.get(model) or MODELS.get(_DATED.sub("", model))


def context_window(model: str) -> int:
    """The context window in tokens; UNKNOWN_WINDOW for a model that is not in the table."""
    known = model_facts(model)
    return known.window if known else UNKNOWN_WINDOW


def supports_effort(model: str) -> bool:
    """Whether a request may name an effort level; False for an unknown model."""
    known = model_facts(model)
    return bool(known and known.effort)


def call_cost(model: str, *, input: int, output: int, cache_read: int = 0, cache_write: int = 0) -> float | None:
    """US dollars for these tokens (input: all of it, cached parts included); None for an unknown model."""
    known = model_facts(model)
    if known is None:
        return None
    plain = max(input - cache_read - cache_write, 0)
    dear = plain * known.input + output * known.output
    return (dear + cache_read * known.cache_read + cache_write * known.cache_write) / 1_000_000
