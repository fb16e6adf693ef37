"""Channel status: what the gateway observed and what the channel reports, as one value, text and
JSON.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, cast

from bot.telemetry.log import redact
from bot.texts import duration
from channels.base import Channel, ConnectionStatus, HasLogin, HasStatus, LoginPrompt
from channels.errors import ChannelError, LoggedOut, ReceiverConflict
from channels.phrases import NO_PHRASE, AnyPhrase, Phrase, PhraseList, ShownPhrase, join_phrases
from memory.store.rows import to_iso

# seconds without contact: three long polls of 35 s, the longest of any platform
SILENT_AFTER = 105.0

ConnectionTrouble = Literal["", "down", "logged_out", "contended"]
ChannelPhase = Literal["up", "connecting", "asking", "deaf", "down", "logged_out", "contended"]
PHASE_TEXTS: Mapping[ChannelPhase, Phrase] = {
    "up": Phrase("connected for {span}"),
    "connecting": Phrase("connecting"),
    "asking": Phrase("waiting for login"),
    "deaf": Phrase("no word from the platform for {span}"),
    "down": Phrase("disconnected for {span}"),
    "logged_out": Phrase("logged out for {span}"),
    "contended": Phrase("on standby for {span}: another program is receiving instead"),
}


@dataclass(slots=True)
class ChannelHealth:
    """What the gateway observed of a channel. Times are unix seconds, 0 for never."""

    up: bool
    since: float
    why: str = ""
    trouble: ConnectionTrouble = ""
    last_error: str = ""
    last_error_at: float = 0.0

    def rise(self, now: float) -> None:
        """Note that it works, since now if it did not before."""
        if not self.up:
            self.up, self.since, self.why, self.trouble = True, now, "", ""

    def fall(self, err: Exception, now: float) -> None:
        """Note that it failed, since now if it worked before, or failed in another way."""
        trouble = trouble_from_error(err)
        if self.trouble != trouble:
            self.since = now
        why = str(err) if isinstance(err, ChannelError) else f"{type(err).__name__}: {err}"
        self.up, self.why, self.trouble = False, redact(why), trouble
        self.last_error, self.last_error_at = self.why, now


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelStatus:
    """The status of a channel at one moment. Times are unix seconds, 0 for never."""

    name: str
    phase: ChannelPhase
    #: When this phase began, as far as that is known.
    since: float
    #: What fails now; "" if nothing does.
    why: str = ""
    #: Last contact with the platform.
    last_contact: float = 0.0
    last_error: str = ""
    last_error_at: float = 0.0
    #: What is left of the platform's allowance; "" if it has none.
    quota: str = ""
    #: A person logs it in, by QR code or digits.
    has_login: bool = False
    #: The login that it waits for now.
    prompt: LoginPrompt | None = None

    @property
    def ready(self) -> bool:
        """Tell whether messages are received, or are about to be for the first time."""
        return self.phase in ("up", "connecting")


def trouble_from_error(err: Exception) -> ConnectionTrouble:
    """Classify the error that ended a channel."""
    if isinstance(err, LoggedOut):
        return "logged_out"
    return "contended" if isinstance(err, ReceiverConflict) else "down"


def channel_statuses(
    channels: Mapping[str, Channel], healths: Mapping[str, ChannelHealth], now: float
) -> dict[str, ChannelStatus]:
    """Return the status of every channel, sorted by name."""
    return {
        name: channel_status(channels[name], healths[name], now)
        for name in sorted(channels)
        if name in healths
    }


def channel_status(channel: Channel, health: ChannelHealth, now: float) -> ChannelStatus:
    """Return one channel's status: its login prompt and last contact count for more than its
    running task.
    """
    has_status, has_login = hasattr(channel, "connection_status"), hasattr(channel, "prompt")
    own = cast(HasStatus, channel).connection_status() if has_status else ConnectionStatus()
    prompt = cast(HasLogin, channel).prompt() if has_login else None
    polls = has_status and not channel.capabilities.hook
    phase, since = channel_phase(health, own.last_contact if polls else None, prompt, now)
    trouble = redact(own.trouble)
    why = health.why or trouble
    if phase == "down" and health.up:
        why = trouble or health.last_error
    return ChannelStatus(
        name=channel.name,
        phase=phase,
        since=since,
        why=why,
        last_contact=own.last_contact,
        last_error=health.last_error,
        last_error_at=health.last_error_at,
        quota=own.quota,
        has_login=has_login,
        prompt=prompt,
    )


def channel_phase(
    health: ChannelHealth, last_contact: float | None, prompt: LoginPrompt | None, now: float
) -> tuple[ChannelPhase, float]:
    """Return the phase and its start. last_contact: None where silence means nothing (webhooks)."""
    if prompt is not None:
        return "asking", health.since
    if not health.up:
        return health.trouble or "down", health.since
    if last_contact is None:
        return "up", health.since
    if now - max(last_contact, health.since) > SILENT_AFTER:
        return "deaf", max(last_contact, health.since)
    if last_contact >= max(health.last_error_at, 1.0):
        return "up", health.since
    return ("down", health.last_error_at) if health.last_error_at else ("connecting", health.since)


def format_channel_status(state: ChannelStatus, now: float, lang: str) -> str:
    """Format the status as one line, with the channel's name."""
    sign = "●" if state.ready else "○"
    return f"{sign} {state.name} — {describe_channel_status(state, now).text(lang)}"


def describe_channel_status(state: ChannelStatus, now: float) -> PhraseList:
    """Describe phase, last contact, last error, remaining allowance, and prompt."""

    span = duration(now - state.since)
    why = Phrase(" ({why})", why=state.why) if state.why else NO_PHRASE
    parts: list[AnyPhrase | str] = [
        join_phrases([PHASE_TEXTS[state.phase].fill(span=span), why], NO_PHRASE)
    ]
    if state.last_contact and state.phase != "deaf":
        ago = duration(now - state.last_contact)
        parts.append(Phrase("last heard {ago} ago", ago=ago))
    if state.last_error and state.last_error != state.why:
        ago = duration(now - state.last_error_at)
        parts.append(
            Phrase("last error {ago} ago: {last_error}", ago=ago, last_error=state.last_error)
        )
    if state.quota:
        parts.append(Phrase("left: {quota}", quota=state.quota))
    if state.prompt is not None and state.prompt.kind != "qr":  # a QR code grants access
        parts.append(_without_full_stop(state.prompt.about))
    return join_phrases(parts, Phrase("; "))


def _without_full_stop(sentence: AnyPhrase) -> ShownPhrase:
    return ShownPhrase(*(sentence.text(lang).rstrip("。.") for lang in ("en", "zh")))


def shift_times(state: ChannelStatus, seconds: float) -> ChannelStatus:
    """Convert all times to another clock, which is `seconds` ahead. Pure."""
    since, contact, error_at = (
        at + seconds if at else 0.0 for at in (state.since, state.last_contact, state.last_error_at)
    )
    return replace(state, since=since, last_contact=contact, last_error_at=error_at)


def channel_status_to_json(state: ChannelStatus) -> dict[str, Any]:
    """Return the API's JSON of a channel, without the QR code's content, which grants access."""
    record = {
        "up": state.ready,
        "state": state.phase,
        "why": state.why,
        "since": to_iso(state.since),
        "heard": to_iso(state.last_contact),
        "last_error": state.last_error,
        "last_error_at": to_iso(state.last_error_at),
        "quota": state.quota,
        "login": state.has_login,
    }
    return record if state.prompt is None else {**record, "prompt": _prompt_to_json(state.prompt)}


def channel_status_from_json(name: str, record: Mapping[str, Any]) -> ChannelStatus:
    """Parse what `channel_status_to_json` returned; the prompt lacks its text."""
    prompt = record.get("prompt")
    return ChannelStatus(
        name=name,
        phase=record["state"],
        since=_from_iso(record["since"]),
        why=record["why"],
        last_contact=_from_iso(record["heard"]),
        last_error=record["last_error"],
        last_error_at=_from_iso(record["last_error_at"]),
        quota=record["quota"],
        has_login=record["login"],
        prompt=LoginPrompt(kind=prompt["kind"], about=ShownPhrase(prompt["en"], prompt["zh"]))
        if prompt
        else None,
    )


def _prompt_to_json(prompt: LoginPrompt) -> dict[str, str]:
    """Return the API's JSON of a prompt; `id` changes with its text."""
    id = hashlib.sha256(prompt.text.encode()).hexdigest()[:12]
    return {
        "kind": prompt.kind,
        "zh": prompt.about.text("zh"),
        "en": prompt.about.text("en"),
        "id": id,
        "expires": to_iso(prompt.expires),
    }


def _from_iso(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp() if moment else 0.0
