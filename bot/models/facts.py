"""What is known of each model in use: window, tools, thinking, slots, and its newest error.

Pure but for the notes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bot.errors import ModelError
from bot.models.providers.failures import shorten_words
from bot.models.windows import ModelWindow, format_window
from bot.texts import format_duration
from channels.phrases import Phrase, join_phrases

THINKING_TEXTS: Mapping[str, Phrase] = {
    "": Phrase("no thinking"),
    "field": Phrase("thinking in a field of its own"),
    "tags": Phrase("thinking in <think> tags"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LastError:
    """The newest failed call of a model."""

    #: The server's words, without secrets.
    words: str
    #: Seconds of a monotonic clock.
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """What is known of one model."""

    #: Provider and model id.
    name: str
    window: ModelWindow
    #: Its server's words when it refused tools; "" while it takes them.
    tools_refused: str
    #: See ModelQuirks.
    thinking: Literal["", "field", "tags"]
    #: Requests that its server answers at once, as it says; 0 where it does not.
    slots: int
    #: None before the first.
    error: LastError | None


def note_error(error: ModelError, now: float) -> LastError:
    """Return what to remember of a failed call."""
    return LastError(words=shorten_words(str(error)), at=now)


def facts_to_json(facts: KnownModel, now: float) -> Mapping[str, Any]:
    """Return the facts as the API shows them."""
    return {
        "name": facts.name,
        "window": facts.window.tokens,
        "window_source": facts.window.source,
        "tools": not facts.tools_refused,
        "thinking": facts.thinking,
        "slots": facts.slots,
        "error": facts.error.words if facts.error else "",
        "error_seconds": round(now - facts.error.at) if facts.error else 0,
    }


def format_facts(facts: KnownModel, lang: str) -> str:
    """Format what is known of a model in one line, without its newest error."""
    parts = [
        format_window(facts.window),
        *([Phrase("no tools")] if facts.tools_refused else ()),
        THINKING_TEXTS[facts.thinking],
        *([format_slots(facts.slots)] if facts.slots else ()),
    ]
    return Phrase("{name}: {parts}", name=facts.name, parts=join_phrases(parts, Phrase("; "))).text(
        lang
    )


def format_slots(slots: int) -> Phrase:
    """Say how many requests a server answers at once."""
    return Phrase(
        "it answers 1 request at once", "it answers {count} requests at once", count=slots
    )


def format_error(facts: KnownModel, now: float, lang: str) -> str:
    """Format the newest error of a model in its server's words; "" for none."""
    if facts.error is None:
        return ""
    return Phrase(
        "{name} failed {ago} ago: {words}",
        name=facts.name,
        ago=format_duration(now - facts.error.at, lang),
        words=facts.error.words,
    ).text(lang)
