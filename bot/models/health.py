"""Health of the models of a chain: failures, how long other models come first, status for people.

Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bot.errors import KeyRefused, ModelError, NoSuchModel, QuotaSpent, RateLimited, Unusable
from bot.texts import format_duration
from channels.phrases import NO_PHRASE, Phrase, join_phrases

# Seconds for which other models come before a failed one, doubled with each failure in a row up to
# the longest.
MIN_REST, MAX_REST = 30.0, 900.0
# after the first, the second and each further refusal in a row
REFUSED_RESTS = (60.0, 300.0, 900.0)

ModelPhase = Literal["untried", "up", "resting", "refused"]
# Conversations use it, summaries use it, or it replaces a failed one.
ModelUse = Literal["chosen", "fast", "spare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth:
    """Health of one model. Times are seconds of a monotonic clock."""

    #: In a row, since the last whole answer.
    failures: int = 0
    #: The newest failure, None while healthy.
    error: ModelError | None = None
    #: Start of the current phase.
    since: float = 0.0
    #: End of the rest: until then other models come first.
    until: float = 0.0
    answered: bool = False
    #: Conversation of the newest damaged answer, None if a whole one has come since.
    damaged_in: str | None = None

    @property
    def is_healthy(self) -> bool:
        return self.error is None

    def is_usable(self, now: float) -> bool:
        """Tell whether to call it before those that rest."""
        return self.is_healthy or now >= self.until

    @property
    def phase(self) -> ModelPhase:
        if self.is_healthy:
            return "up" if self.answered else "untried"
        return "refused" if isinstance(self.error, Unusable) else "resting"


HEALTHY = ModelHealth()


def after_failure(before: ModelHealth, error: ModelError, now: float) -> ModelHealth:
    """Return the health after a failed call. before: with the failures that were known when that
    call began.
    """
    failures = before.failures + 1
    return replace(
        before,
        failures=failures,
        error=error,
        since=now if before.is_healthy else before.since,
        until=now + rest_seconds(error, failures),
    )


def after_event(before: ModelHealth, now: float) -> ModelHealth:
    """Return the health after the first event of an answer: it can be called, but may fail in the
    middle again.
    """
    return before if before.is_healthy else replace(before, error=None, answered=True, since=now)


def after_answer(before: ModelHealth, now: float) -> ModelHealth:
    """Return the health after a whole answer, or an error that only a working model returns."""
    return ModelHealth(answered=True, since=before.since if before.phase == "up" else now)


def rest_seconds(error: ModelError, failures: int) -> float:
    """Return how long other models come first, after this many failures in a row. Pure."""
    if isinstance(error, Unusable):
        return REFUSED_RESTS[min(failures, len(REFUSED_RESTS)) - 1]
    retry_after = error.retry_after if isinstance(error, RateLimited) else None
    return max(min(MIN_REST * 2.0 ** min(failures - 1, 30), MAX_REST), retry_after or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """One model of the chain at one moment, for people."""

    #: Provider and model id.
    name: str
    use: ModelUse
    phase: ModelPhase
    #: In this phase.
    seconds: float = 0.0
    #: Seconds for which other models still come first.
    retry_in: float = 0.0
    #: Text of the failure, "" for none.
    why: str = ""
    failures: int = 0
    error: ModelError | None = None
    #: Its server's words when it refused tools; "" while it takes them.
    tools_refused: str = ""

    @property
    def ready(self) -> bool:
        return self.phase in ("up", "untried")


def model_status(name: str, health: ModelHealth, now: float, use: ModelUse) -> ModelStatus:
    """Build the status of a model. name: provider and model id."""
    return ModelStatus(
        name=name,
        use=use,
        phase=health.phase,
        seconds=max(0.0, now - health.since) if health.since else 0.0,
        retry_in=0.0 if health.is_healthy else max(0.0, health.until - now),
        why=str(health.error or ""),
        failures=health.failures,
        error=health.error,
    )


def is_owner_needed(status: ModelStatus) -> bool:
    """Tell whether to notify the owner: at once if only they can repair it, else from the second
    failure.
    """
    return not status.ready and (isinstance(status.error, Unusable) or status.failures >= 2)


def remedy_kind(error: ModelError | None) -> Literal["key", "name", "quota", "wait"]:
    """Return what the owner has to change; "wait" for nothing."""
    match error:
        case KeyRefused():
            return "key"
        case NoSuchModel():
            return "name"
        case QuotaSpent():
            return "quota"
        case _:
            return "wait"


def model_status_to_json(status: ModelStatus) -> Mapping[str, Any]:
    """Return the status as the API shows it."""
    return {
        "name": status.name,
        "use": status.use,
        "up": status.ready,
        "state": status.phase,
        "seconds": round(status.seconds),
        "asked_again_in": round(status.retry_in),
        "why": status.why,
    }


def format_model_status(status: ModelStatus, lang: str) -> str:
    """Format the status in one line."""
    since = format_duration(status.seconds, lang)
    next_try = Phrase("the next message tries it again")
    if status.retry_in >= 1:
        rest = format_duration(status.retry_in, lang)
        next_try = Phrase("other models come first for {rest}", rest=rest)
    words = {
        "untried": Phrase("not asked yet"),
        "up": Phrase("answering for {since}", since=since),
        "resting": Phrase("not answering for {since}; {next}", since=since, next=next_try),
        "refused": Phrase("refused for {since}; {next}", since=since, next=next_try),
    }[status.phase]
    facts = [words, Phrase(" ({why})", why=status.why) if status.why else NO_PHRASE]
    if status.tools_refused:
        facts.append(Phrase("; accepts no tools ({why})", why=status.tools_refused))
    sign = "●" if status.ready else "○"
    return f"{sign} {status.name} — {join_phrases(facts, NO_PHRASE).text(lang)}"


def notable_statuses(statuses: Sequence[ModelStatus]) -> list[ModelStatus]:
    """Return the statuses to show in /status: none while the only models are healthy and take all
    they are sent.
    """
    if not any(status.use == "spare" or _is_notable(status) for status in statuses):
        return []
    return [status for status in statuses if status.use != "fast" or _is_notable(status)]


def _is_notable(status: ModelStatus) -> bool:
    return not status.ready or bool(status.tools_refused)
