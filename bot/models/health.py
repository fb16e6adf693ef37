"""How each model of a chain has fared, and when one that failed is asked again. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bot.errors import KeyRefused, ModelError, NoSuchModel, QuotaSpent, RateLimited, Unusable
from bot.texts import format_duration

NEVER = float("inf")
# Seconds for which a model is left out after its first failure, doubled with each further one, and the longest.
MIN_COOLDOWN, MAX_COOLDOWN = 30.0, 900.0
# The same where a quota is spent: that lasts longer, and one call more is no more than a refusal.
MIN_QUOTA_COOLDOWN, MAX_QUOTA_COOLDOWN = 300.0, 3_600.0

ModelPhase = Literal["untried", "up", "resting", "refused"]
# Conversations choose it, summaries are written by it, or it stands in for others.
ModelUse = Literal["chosen", "fast", "spare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth:
    """One model's health. Times are seconds by one clock that never goes back."""

    #: In a row.
    failures: int = 0
    #: The newest of them, None when it is well.
    error: ModelError | None = None
    #: When it fell or rose.
    since: float = 0.0
    #: When it may be asked again, NEVER for: not before the configuration changes.
    until: float = 0.0
    #: It is being tried out now.
    probing: bool = False
    answered: bool = False

    @property
    def well(self) -> bool:
        """Whether its newest call came through, or there was none."""
        return self.error is None

    def left_out(self, now: float) -> bool:
        """Whether it is not asked now: it rests, or somebody is trying it out already."""
        return not self.well and (self.probing or now < self.until)

    @property
    def mood(self) -> ModelPhase:
        """In a word."""
        if self.well:
            return "up" if self.answered else "untried"
        return "refused" if self.until == NEVER else "resting"


HEALTHY = ModelHealth()


def after_failure(before: ModelHealth, error: ModelError, now: float) -> ModelHealth:
    """After a call that failed for a reason that is not the request's own."""
    failures = before.failures + 1
    return ModelHealth(
        failures=failures,
        error=error,
        since=before.since if not before.well else now,
        until=now + cooldown(error, failures),
        answered=before.answered,
    )


def after_success(before: ModelHealth, now: float) -> ModelHealth:
    """After an answer, or a refusal that only a model that is up can give."""
    if before.well and before.answered:
        return before
    return ModelHealth(answered=True, since=now)


def while_probing(before: ModelHealth, *, probing: bool) -> ModelHealth:
    """While it is tried out, and after a trial that was broken off."""
    return replace(before, probing=probing)


def cooldown(error: ModelError, failures: int) -> float:
    """Seconds for which a model is left out after so many failures in a row, the newest of them this one.

    A refused key and a name that the provider does not know rest until the configuration changes.
    """
    if isinstance(error, QuotaSpent):
        return _backoff(MIN_QUOTA_COOLDOWN, failures, MAX_QUOTA_COOLDOWN)
    if isinstance(error, Unusable):
        return NEVER
    told = error.retry_after if isinstance(error, RateLimited) else None
    return max(_backoff(MIN_COOLDOWN, failures, MAX_COOLDOWN), told or 0.0)


def _backoff(first: float, times: int, longest: float) -> float:
    return float(min(first * 2.0 ** min(times - 1, 30), longest))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """One model of the chain at one moment, for people."""

    #: Provider and model id.
    name: str
    #: What it is for.
    use: ModelUse
    mood: ModelPhase
    #: In this mood.
    seconds: float = 0.0
    #: Seconds until it is asked again, 0 for now, NEVER for: not before the configuration changes.
    again: float = 0.0
    #: What is wrong, "" for nothing.
    why: str = ""
    failures: int = 0
    #: The failure behind it, None when it is well.
    error: ModelError | None = None

    @property
    def ready(self) -> bool:
        """Whether it is asked when its turn comes."""
        return self.mood in ("up", "untried")


def model_status(name: str, condition: ModelHealth, now: float, use: ModelUse) -> ModelStatus:
    """A condition as it is told. name: provider and model id."""
    return ModelStatus(
        name=name,
        use=use,
        mood=condition.mood,
        seconds=max(0.0, now - condition.since) if condition.since else 0.0,
        again=0.0 if condition.well else max(0.0, condition.until - now),
        why=str(condition.error or ""),
        failures=condition.failures,
        error=condition.error,
    )


def is_owner_needed(state: ModelStatus) -> bool:
    """Whether the owner is told: of what they have to mend at once, of what may pass once it has not passed."""
    return not state.ready and (isinstance(state.error, Unusable) or state.failures >= 2)


def remedy_kind(error: ModelError | None) -> Literal["key", "name", "quota", "wait"]:
    """What kind of thing is to be done about it."""
    kinds: Sequence[tuple[type[ModelError], Literal["key", "name", "quota"]]] = (
        (KeyRefused, "key"),
        (NoSuchModel, "name"),
        (QuotaSpent, "quota"),
    )
    return next((word for kind, word in kinds if isinstance(error, kind)), "wait")


def model_status_to_json(state: ModelStatus) -> Mapping[str, Any]:
    """What the API tells of a model. asked_again_in: seconds, None for: not before the configuration changes."""
    return {
        "name": state.name,
        "use": state.use,
        "up": state.ready,
        "state": state.mood,
        "seconds": round(state.seconds),
        "asked_again_in": None if state.again == NEVER else round(state.again),
        "why": state.why,
    }


def format_model_status(state: ModelStatus, lang: str) -> str:
    """One line for a person: how it is, since when, and when it is asked again."""
    zh = lang == "zh"
    since, again = (
        format_duration(seconds, lang) if seconds != NEVER else "" for seconds in (state.seconds, state.again)
    )
    words = {
        "untried": ("还没用过", "not asked yet"),
        "up": (f"正常 {since}", f"answers since {since}"),
        "resting": (f"停用 {since}，{again}后再试", f"left out for {since}; asked again in {again}"),
        "refused": (f"停用 {since}，要改设置", f"left out for {since}; its settings must change"),
    }[state.mood]
    why = (f"（{state.why}）" if zh else f" ({state.why})") if state.why else ""
    return f"{'●' if state.ready else '○'} {state.name} — {words[0 if zh else 1]}{why}"


def notable_statuses(states: Sequence[ModelStatus]) -> list[ModelStatus]:
    """Those that say more than which model answers: a spare one, one that is left out, and the one it stands in for."""
    if not any(state.use == "spare" or not state.ready for state in states):
        return []
    return [state for state in states if state.use != "fast" or not state.ready]
