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

THINKING_TEXTS: Mapping[str, tuple[str, str]] = {
    "": ("没有思考", "no thinking"),
    "field": ("思考在单独的字段里", "thinking in a field of its own"),
    "tags": ("思考写在 <think> 里", "thinking in <think> tags"),
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
    zh = lang == "zh"
    parts = [format_window(facts.window, lang)]
    if facts.tools_refused:
        parts.append("不接受工具" if zh else "no tools")
    parts.append(THINKING_TEXTS[facts.thinking][not zh])
    slots = format_slots(facts.slots, lang)
    return (
        f"{facts.name}：{'；'.join(parts)}{slots}"
        if zh
        else f"{facts.name}: {'; '.join(parts)}{slots}"
    )


def format_slots(slots: int, lang: str) -> str:
    """Say at the end of a line how many requests a server answers at once; "" where it does not
    say.
    """
    if not slots:
        return ""
    if lang == "zh":
        return f"；同时回答 {slots} 个请求"
    requests = "1 request" if slots == 1 else f"{slots} requests"
    return f"; it answers {requests} at once"


def format_error(facts: KnownModel, now: float, lang: str) -> str:
    """Format the newest error of a model in its server's words; "" for none."""
    if facts.error is None:
        return ""
    ago = format_duration(now - facts.error.at, lang)
    if lang == "zh":
        return f"{facts.name} 最近一次出错在 {ago}前：{facts.error.words}"
    return f"{facts.name} failed {ago} ago: {facts.error.words}"
