"""Bodies of the routes to run a bot, as the API's description and the types of the page have
them.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from bot.console.models import ModelUsageBody, PersonUsageBody
from bot.console.operations.backup_encryption import MIN_PASSPHRASE_CHARS
from channels.errors import InvalidValue
from channels.phrases import Phrase
from channels.web.models import ApiModel
from channels.web.validation import Base64Data, Word, at_most

MAX_USAGE_DAYS = 366
MAX_PASSPHRASE_CHARS = 1_000


class UsageQueryBody(ApiModel):
    """Which days are wanted."""

    days: Annotated[int, at_most(MAX_USAGE_DAYS)] = Field(
        30,
        ge=1,
        le=MAX_USAGE_DAYS,
        description="Today and as many days before it as make this number.",
    )


class DayUsageItemBody(ModelUsageBody):
    """Use of one model for one purpose on one day."""

    own: bool = Field(description="By the owner; else by all other people together.")


class DayUsageBody(ApiModel):
    """Use on one day."""

    day: str = Field(description="In the owner's time zone, such as 2026-11-20.")
    items: list[DayUsageItemBody]


class NamedPersonUsageBody(PersonUsageBody):
    """Use by one person."""

    name: str = Field(description="As the platform gave it; empty where it is not known.")


class ConversationUsageBody(ApiModel):
    """Use in one conversation."""

    id: str = Field(description="Its name in addresses.")
    title: str = Field(description="Of another person's private chat only their id.")
    channel: str
    whose: Literal["own", "group", "other"]
    calls: int
    tokens: int = Field(description="From no cache.")
    cost: float
    unpriced: list[str]


class UsageLimitsBody(ApiModel):
    """What people may use in a day; 0 is no limit. The owner has none."""

    person_tokens: int
    person_money: float
    all_money: float
    all_money_warning: float = Field(description="From here on the owner is notified.")


class UsageDaysBody(ApiModel):
    """Use by day, and by person and conversation over all the days."""

    days: list[DayUsageBody] = Field(
        description="Oldest first, without gaps; the last one is today."
    )
    people: list[NamedPersonUsageBody] = Field(description="The most expensive first.")
    conversations: list[ConversationUsageBody] = Field(description="The 50 most expensive ones.")
    limits: UsageLimitsBody


class JobBody(ApiModel):
    """Work that outlives the request that started it."""

    id: str
    kind: str
    subject: str
    state: Literal["running", "done", "failed", "cancelled"]
    done: int
    expected: int = Field(description="0 where that is not known.")
    error: str
    result: dict[str, Any]
    started: str
    ended: str | None


class JobListBody(ApiModel):
    """Newest first."""

    items: list[JobBody]


class BackupBody(ApiModel):
    """A backup in the home's folder `backups`."""

    name: str
    size: int
    at: str
    encrypted: bool


class RestoreOutcomeBody(ApiModel):
    """What came of the last restore in the page."""

    file: str
    at: str
    ok: bool
    error: str
    kept: list[str] = Field([], description="Where the former state is.")
    missing: list[str] = Field([], description="Secrets that have to be set again.")
    withheld: list[str] = Field(
        [], description="Rights that were revoked since and are not given back."
    )
    unreadable: bool = False
    forgotten: int = 0


class BackupsBody(ApiModel):
    """The backups, newest first."""

    items: list[BackupBody]
    home: str = Field(description="The home's name, which is typed before a restore.")
    free_bytes: int
    can_restore: bool = Field(description="This process can restore: it holds the home.")
    last_restore: RestoreOutcomeBody | None


def _check_passphrase(passphrase: str) -> str:
    if len(passphrase) > MAX_PASSPHRASE_CHARS or {"\n", "\r"} & {*passphrase}:
        raise InvalidValue(
            Phrase(
                "passphrase must be one line of at most {most} characters",
                most=MAX_PASSPHRASE_CHARS,
            )
        )
    return passphrase


def _check_new_passphrase(passphrase: str) -> str:
    if 0 < len(passphrase) < MIN_PASSPHRASE_CHARS:
        raise InvalidValue(
            Phrase(
                "passphrase needs at least {least} characters; several words work best",
                least=MIN_PASSPHRASE_CHARS,
            )
        )
    return _check_passphrase(passphrase)


class NewBackupBody(ApiModel):
    """How to make a backup."""

    passphrase: Annotated[str, AfterValidator(_check_new_passphrase)] = Field(
        "", description="Encrypts it; it then holds the secrets too."
    )


class BackupPassphraseBody(ApiModel):
    """The passphrase of an encrypted backup."""

    passphrase: Annotated[str, AfterValidator(_check_passphrase)] = ""


class RestoreBody(BackupPassphraseBody):
    """The consent to replace all that the home holds."""

    home: str = Field(description="The home's name, as a person typed it.")


class NewUploadBody(ApiModel):
    """A file that is uploaded in pieces."""

    name: str
    size: int = Field(ge=100, description="Bytes.")


class UploadPieceBody(ApiModel):
    """The next piece of it."""

    offset: int
    data: Base64Data = Field(description="Base64, at most 700,000 bytes.")


class UploadBody(ApiModel):
    """How far it is."""

    id: str
    name: str
    received: int
    size: int


class ChannelSpanBody(ApiModel):
    """Minutes that a channel spent in one state."""

    state: str = Field(description="At the end of each minute; empty where it is not known.")
    minutes: int


class ModelFactsBody(ApiModel):
    """What is known of one model."""

    name: str
    window: int = Field(description="Tokens that it can read.")
    window_source: Literal["config", "server", "refusal", "cut", "table", "default"] = Field(
        description=(
            "Where that is known from: the settings, the server, what it refused or cut, a table, "
            "or nowhere."
        )
    )
    tools: bool = Field(description="Whether its server takes tools.")
    thinking: Literal["", "field", "tags"] = Field(description="How its thinking came last.")
    slots: int = Field(
        description="Requests that its server answers at once, as it says; 0 if it does not."
    )
    error: str = Field(description="Its newest error, in the server's words.")
    error_seconds: int = Field(description="How long ago that was.")


class BackgroundBody(ApiModel):
    """What is known of the models in use, and what became of the newest work beside replies."""

    models: list[ModelFactsBody]
    folds: int = Field(description="Newest summaries, at most 20.")
    digests: dict[Literal["waited", "rejected", "unanswered"], int] = Field(
        description="How many of them are extracts: a message waited, what the model wrote could "
        "not be used, or it did not answer."
    )
    extractions: int = Field(description="Newest turns in which facts were looked for, at most 50.")
    failed: dict[str, int] = Field(description="How many of them failed, by the reason.")
    lines: list[str] = Field(description="All of that in sentences.")


class RecentMetricsBody(ApiModel):
    """One value for each of the last 1,440 minutes, oldest first; null where there is none."""

    newest: float = Field(
        description="When the last minute ended, unix seconds; 0 before the first one."
    )
    queue: list[float | None] = Field(description="Messages that are not answered yet.")
    unsent: list[float | None] = Field(description="Parts of replies that are not sent yet.")
    turns: list[float | None] = Field(description="Answers.")
    turn_seconds: list[float | None] = Field(description="Their mean duration.")
    model_errors: list[float | None]
    send_errors: list[float | None]
    faults: list[float | None] = Field(
        description="Answers that failed by a fault of this machine."
    )
    lag: list[float | None] = Field(description="Of the event loop, seconds.")
    channels: dict[str, list[ChannelSpanBody]] = Field(
        description="Spans of each channel, oldest first; 1,440 minutes."
    )


class LogQueryBody(ApiModel):
    """Which lines of the log are wanted."""

    level: Literal["", "debug", "info", "warning", "error", "critical"] = Field(
        "", description="This one and worse."
    )
    logger: Word = Field("", description="This one and those below it.")
    trace: Word = ""
    limit: Annotated[int, at_most(500)] = Field(200, ge=1, le=500)
    cursor: str = Field("", description="The `next` of the page before.")


class LogLineBody(ApiModel):
    """A line of the log, without any text that a person wrote."""

    at: str = Field(description="Where it is; no other line has the same.")
    timestamp: str
    level: str
    logger: str
    event: str
    trace: str
    exception: str
    facts: dict[str, Any]


class LogPageBody(ApiModel):
    """Newest first. A page may be short where few lines are wanted."""

    items: list[LogLineBody]
    next: str | None


class TraceQueryBody(ApiModel):
    """Which turns are wanted."""

    conversation: str = ""
    state: Literal["", "running", "waiting", "done", "cancelled", "failed", "interrupted"] = ""
    slow: float = Field(
        0, ge=0, le=1e6, allow_inf_nan=False, description="At least so many seconds."
    )
    limit: Annotated[int, at_most(200)] = Field(50, ge=1, le=200)
    cursor: str = Field("", description="The `next` of the page before.")


class TraceSummaryBody(ApiModel):
    """A turn in the list of traces."""

    id: str
    conversation: str
    title: str = Field(description="Of another person's private chat only their id.")
    channel: str
    whose: Literal["own", "group", "other"]
    state: str
    at: str
    seconds: float = Field(description="0 while it runs.")
    attempts: int


class TraceListBody(ApiModel):
    """Newest first. A page may be short where few turns are wanted."""

    items: list[TraceSummaryBody]
    next: str | None


class PushQueryBody(ApiModel):
    """Which subscription is asked about."""

    id: Word = Field("", description="Of a subscription of this browser.")


class PushOfferBody(ApiModel):
    """Whether a browser can be notified of new messages."""

    on: bool = Field(description="`channels.web.push` is on, and the page has an https address.")
    key: str = Field(description="The key to subscribe with, base64url; empty where it is off.")
    known: bool = Field(description="The subscription that was asked about is stored.")


class NewPushBody(ApiModel):
    """Where a browser is notified, as its PushSubscription has it."""

    endpoint: str = Field(max_length=2_000, description="https address.")
    p256dh: Word = Field(description="Base64url.")
    auth: Word = Field(description="Base64url.")
    language: Literal["zh", "en"] = "en"


class PushBody(ApiModel):
    """A stored subscription."""

    id: str


class WaterfallStepBody(ApiModel):
    """One step of a turn."""

    kind: str
    name: str
    state: str
    why: str = Field(description="The error, or the reason.")
    start: float = Field(description="Unix seconds.")
    seconds: float
    first: float = Field(description="Seconds until the model's first words; 0 for none.")
    input: int
    output: int
    cached: int
    attempts: int


class WaterfallBody(ApiModel):
    """A message's way, step by step, by their start."""

    trace: str
    message: str
    state: str
    exact: bool = Field(
        description="Measured by this process; else put together from what is stored."
    )
    steps: list[WaterfallStepBody]
