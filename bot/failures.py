"""What a person is told when a model did not answer: one plain sentence, no wire text. Pure."""

from bot.errors import KeyRefused, ModelError, NoSuchModel, Overflow, QuotaSpent, RateLimited, Stalled, Transient
from bot.texts import say

REASONS: tuple[tuple[type[ModelError], str], ...] = (
    (KeyRefused, "why_key"),
    (NoSuchModel, "why_model"),
    (QuotaSpent, "why_quota"),
    (RateLimited, "why_rate"),
    (Stalled, "why_stalled"),
    (Overflow, "why_overflow"),
    (Transient, "why_busy"),
)


def why(err: ModelError, lang: str) -> str:
    """The reason in the person's words."""
    for kind, key in REASONS:
        if isinstance(err, kind):
            return say(lang, key)
    return say(lang, "why_other")


def told(err: ModelError, lang: str, trace_id: str) -> str:
    """The notice for a failed turn."""
    return say(lang, "model_failed", why=why(err, lang), trace=trace_id)
