"""Health of the models of a chain: failures, the time of the next try, status for people. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.errors import KeyRefused, ModelError, NoSuchModel, QuotaSpent, RateLimited, Unusable
from bot.texts import format_duration

NEVER = float("inf")
# Seconds until a failed model is tried again, doubled with each failure in a row up to the longest.
MIN_COOLDOWN, MAX_COOLDOWN = 30.0, 900.0
MIN_QUOTA_COOLDOWN, MAX_QUOTA_COOLDOWN = 300.0, 3_600.0  # after a spent quota, which lasts longer

ModelPhase = Literal["untried", "up", "resting", "refused"]
# Conversations use it, summaries use it, or it replaces a failed one.
ModelUse = Literal["chosen", "fast", "spare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth:
    """Health of one model. Times are seconds of a monotonic clock."""

    #: In a row.
    failures: int = 0
    #: The newest failure, None while healthy.
    error: ModelError | None = None
    #: Start of the current phase.
    since: float = 0.0
    #: When to try it again; NEVER: not before the configuration changes.
    until: float = 0.0
    #: A call is trying it again now.
    probing: bool = False
    answered: bool = False

    @property
    def is_healthy(self) -> bool:
        return self.error is None

    def is_skipped(self, now: float) -> bool:
        """Tell whether not to call it now: it is cooling down, or another call is trying it."""
        return not self.is_healthy and (self.probing or now < self.until)

    @property
    def phase(self) -> ModelPhase:
        if self.is_healthy:
            return "up" if self.answered else "untried"
        return "refused" if self.until == NEVER else "resting"


HEALTHY = ModelHealth()


def after_failure(before: ModelHealth, error: ModelError, now: float) -> ModelHealth:
    """Return the health after a failed call."""
    failures = before.failures + 1
    return ModelHealth(
        failures=failures,
        error=error,
        since=now if before.is_healthy else before.since,
        until=now + cooldown(error, failures),
        answered=before.answered,
    )


def after_success(before: ModelHealth, now: float) -> ModelHealth:
    """Return the health after an answer, or an error that only a working model returns."""
    if before.is_healthy and before.answered:
        return before
    return ModelHealth(answered=True, since=now)


def cooldown(error: ModelError, failures: int) -> float:
    """Return the seconds before the next try, after this many failures in a row. Pure.

    After a refused key or an unknown model name: NEVER, until the configuration changes.
    """
    if isinstance(error, QuotaSpent):
        return _backoff(MIN_QUOTA_COOLDOWN, failures, MAX_QUOTA_COOLDOWN)
    if isinstance(error, Unusable):
        return NEVER
    retry_after = error.retry_after if isinstance(error, RateLimited) else None
    return max(_backoff(MIN_COOLDOWN, failures, MAX_COOLDOWN), retry_after or 0.0)


def _backoff(first: float, failures: int, longest: float) -> float:
    return float(min(first * 2.0 ** min(failures - 1, 30), longest))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """One model of the chain at one moment, for people."""

    #: Provider and model id.
    name: str
    use: ModelUse
    phase: ModelPhase
    #: In this phase.
    seconds: float = 0.0
    #: Seconds until it is tried again; NEVER: not before the configuration changes.
    retry_in: float = 0.0
    #: Text of the failure, "" for none.
    why: str = ""
    failures: int = 0
    error: ModelError | None = None

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
    """Tell whether to notify the owner: at once if only they can repair it, else from the second failure."""
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
    """Return the status as the API shows it. asked_again_in: null until the configuration changes."""
    return {
        "name": status.name,
        "use": status.use,
        "up": status.ready,
        "state": status.phase,
        "seconds": round(status.seconds),
        "asked_again_in": None if status.retry_in == NEVER else round(status.retry_in),
        "why": status.why,
    }


def format_model_status(status: ModelStatus, lang: str) -> str:
    """Format the status in one line."""
    zh = lang == "zh"
    since = format_duration(status.seconds, lang)
    again = format_duration(status.retry_in, lang) if status.retry_in != NEVER else ""
    words = {
        "untried": ("还没用过", "not asked yet"),
        "up": (f"正常 {since}", f"answers since {since}"),
        "resting": (f"停用 {since}，{again}后再试", f"left out for {since}; asked again in {again}"),
        "refused": (f"停用 {since}，要改设置", f"left out for {since}; its settings must change"),
    }[status.phase]
    why = (f"（{status.why}）" if zh else f" ({status.why})") if status.why else ""
    return f"{'●' if status.ready else '○'} {status.name} — {words[0 if zh else 1]}{why}"


def notable_statuses(statuses: Sequence[ModelStatus]) -> list[ModelStatus]:
    """Return the statuses to show in /status: none while the only models are healthy."""
    if not any(status.use == "spare" or not status.ready for status in statuses):
        return []
    return [status for status in statuses if status.use != "fast" or not status.ready]
