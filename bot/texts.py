"""Texts of the bot itself for people, in Chinese and English."""

import os
import re
from datetime import timedelta

from bot.errors import (
    BudgetShortage,
    Damaged,
    KeyRefused,
    ModelError,
    NoSuchModel,
    Overflow,
    QuotaSpent,
    RateLimited,
    Stalled,
    Transient,
)
from channels.phrases import AnyPhrase, Phrase, PhraseList, join_phrases, join_sentences

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# Tokens that a persona is advised to keep within. Source: the budget seed's SOUL_BUDGET.
LONG_SOUL_TOKENS = 3_000


def resolve_language(text: str, setting: str = "auto") -> str:
    """Return "zh" or "en": as configured, else the language of `text`."""
    if setting in ("zh", "en"):
        return setting
    return "zh" if _CJK.search(text) else "en"


def detect_machine_language(setting: str = "auto") -> str:
    """Return the language used before any message: as configured, else the machine's."""
    if setting in ("zh", "en"):
        return setting
    return "zh" if _machine_locale().startswith("zh") else "en"


def is_machine_language_known(setting: str = "auto") -> bool:
    """Tell whether the configuration or the machine names a language; the C locale names none."""
    return setting in ("zh", "en") or _machine_locale().partition(".")[0] not in ("", "C", "POSIX")


def _machine_locale() -> str:
    return next(
        filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), ""
    )


def show_before_messages(phrase: AnyPhrase, setting: str = "auto") -> str:
    """Return a text in the language used before any message."""
    return phrase.text(detect_machine_language(setting))


# Phrases that several modules show.
DENIED = Phrase("That is not available to you here.")
NOT_IN_A_GROUP = Phrase("That is not available in a group. Write to me in a private chat.")
INTERRUPTED = Phrase(
    "I was interrupted several times while working on this and gave up. /retry tries again."
)
GIVEN_UP = Phrase(
    "I was interrupted several times while opening this message and gave up. If you still need an "
    "answer, send it again; if it had files, leave them out."
)
MACHINE_FAILED = Phrase(
    "I could not answer because of a fault on the machine I run on. The owner has been notified. "
    "Please try again later. ({trace})"
)
SERVER_WORDS = Phrase("The server's words: {words}")
SEE_HELP = Phrase("/help lists all commands.")
UNKNOWN_COMMAND = Phrase("There is no command /{name}. {near}")
COMMAND_FAILED = Phrase("That did not work: {why}. You can try again. ({trace})")


_MESSAGE_LARGE_FOR_WINDOW = Phrase(
    "This is too long: the request needs {least:,} tokens; this model's window is {window:,}, of "
    "which {reserve:,} are reserved for the answer. Send something shorter."
)
_MESSAGE_LARGE = Phrase(
    "This is too long: the request needs {least:,} tokens, and agent_max_context_tokens is "
    "{max_tokens:,}. Raise it, or send something shorter."
)
_WINDOW_SMALL = Phrase(
    "This model's window is {window:,} tokens; {reserve:,} are reserved for the answer and the "
    "fixed prompt takes {fixed:,} (tools {tools:,}). Set llm.context_window to at least "
    "{least_window:,}, on a server that reads as much, or turn tools off with tools.off."
)
_BUDGET_SMALL = Phrase(
    "The context budget is too small: agent_max_context_tokens must be at least {least:,}; it is "
    "{max_tokens:,}, of which the fixed prompt takes {fixed:,} (tools {tools:,})."
)


def describe_shortage(shortage: BudgetShortage) -> PhraseList:
    """Say why a request cannot fit: what binds, and what to change; names SOUL.md when it is the
    reason.
    """
    if shortage.is_message:
        phrase = _MESSAGE_LARGE_FOR_WINDOW if shortage.is_window else _MESSAGE_LARGE
    else:
        phrase = _WINDOW_SMALL if shortage.is_window else _BUDGET_SMALL
    names = ("window", "reserve", "max_tokens", "fixed", "tools", "least", "least_window")
    sentences = [phrase.fill(**{name: getattr(shortage, name) for name in names})]
    if shortage.soul > LONG_SOUL_TOKENS:
        sentences.append(
            Phrase(
                "SOUL.md takes {soul:,} of these tokens and is always sent in full; shorten it.",
                soul=shortage.soul,
            )
        )
    return join_sentences(sentences)


def format_shortage(lang: str, shortage: BudgetShortage) -> str:
    """Format `describe_shortage` in a language."""
    return describe_shortage(shortage).text(lang)


def duration(seconds: float) -> PhraseList:
    """Return a duration in one or two units; below a minute in seconds."""
    whole = max(0, int(seconds))
    sizes = (whole // 86_400, whole // 3_600 % 24, whole // 60 % 60)
    units = (Phrase("{count} d"), Phrase("{count} h"), Phrase("{count} min"))
    given = [unit.fill(count=count) for count, unit in zip(sizes, units, strict=True) if count]
    return join_phrases(given[:2] or [Phrase("{count} s", count=whole)], Phrase(" "))


def format_duration(seconds: float, lang: str) -> str:
    """Format a duration in one or two units; below a minute in seconds."""
    return duration(seconds).text(lang)


def format_span(time: timedelta, lang: str) -> str:
    """Format a duration in one or two units."""
    return format_duration(time.total_seconds(), lang)


# Notices of failed model calls: one plain sentence, no text of the provider.

ONLY_THOUGHT = Phrase(
    "(The model used its whole answer for thinking and wrote nothing else. /retry tries again; "
    "the owner can raise llm.max_output_tokens.)"
)
SAME_CALL = Phrase(
    "I called {tool} five times with the same arguments and stopped. Tell me how to continue."
)
# Kind, code, reason.
_FAILURE_REASONS: tuple[tuple[type[ModelError], str, Phrase], ...] = (
    (KeyRefused, "key", Phrase("its key is invalid, unpaid or not authorised.")),
    (NoSuchModel, "model", Phrase("there is no model with that name.")),
    (QuotaSpent, "quota", Phrase("its spending or plan limit has been reached.")),
    (RateLimited, "rate", Phrase("too many requests.")),
    (Stalled, "stalled", Phrase("it did not respond in time.")),
    (Overflow, "overflow", Phrase("the conversation does not fit its window.")),
    (Damaged, "damaged", Phrase("its answer was cut off or could not be read.")),
    (Transient, "busy", Phrase("it is overloaded or cannot be reached right now.")),
)


def failure_reason(err: ModelError) -> Phrase:
    """Return the reason of a failed call, for people."""
    for kind, _, reason in _FAILURE_REASONS:
        if isinstance(err, kind):
            return reason
    return Phrase("it refused the request.")


def failure_code(err: ModelError) -> str:
    """Return the code of that reason, for programs."""
    return next((code for kind, code, _ in _FAILURE_REASONS if isinstance(err, kind)), "other")


def format_turn_failure(err: ModelError, lang: str, trace_id: str, words: str = "") -> str:
    """Format the notice of a failed turn. words: the server's own, for the owner alone."""
    notice = Phrase(
        "The model did not answer: {why} Your message is saved; /retry tries again. ({trace})",
        why=failure_reason(err),
        trace=trace_id,
    )
    text = notice.text(lang)
    return f"{text}\n{SERVER_WORDS.fill(words=words).text(lang)}" if words else text


def from_system(err: Exception) -> Phrase:
    """Return what the system says of an error."""
    return Phrase("{words}", context="of the system", words=str(err))
