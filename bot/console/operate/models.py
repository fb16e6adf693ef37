"""Bodies of the routes to run a bot, as the API's description and the types of the page have them."""

from typing import Any, Literal

from pydantic import Field

from bot.console.models import ModelUsageBody, PersonUsageBody
from channels.web.models import ApiModel

MAX_USAGE_DAYS = 366


class UsageQueryBody(ApiModel):
    """Which days are wanted."""

    days: int = Field(30, ge=1, le=MAX_USAGE_DAYS, description="Today and as many days before it as make this number.")


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
    all_money_warning: float = Field(description="From here on the owner is told.")


class UsageDaysBody(ApiModel):
    """Use by day, and by person and conversation over all the days."""

    days: list[DayUsageBody] = Field(description="Oldest first, without gaps; the last one is today.")
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
    withheld: list[str] = Field([], description="Rights that were revoked since and are not given back.")
    unreadable: bool = False
    forgotten: int = 0


class BackupsBody(ApiModel):
    """The backups, newest first."""

    items: list[BackupBody]
    home: str = Field(description="The home's name, which is typed before a restore.")
    free_bytes: int
    can_restore: bool = Field(description="This process can restore: it holds the home.")
    last_restore: RestoreOutcomeBody | None


class NewBackupBody(ApiModel):
    """How to make a backup."""

    passphrase: str = Field("", max_length=1_000, description="Encrypts it; it then holds the secrets too.")


class BackupPassphraseBody(ApiModel):
    """The passphrase of an encrypted backup."""

    passphrase: str = Field("", max_length=1_000)


class RestoreBody(BackupPassphraseBody):
    """The consent to replace all that the home holds."""

    home: str = Field(description="The home's name, as a person typed it.")


class NewUploadBody(ApiModel):
    """A file that is uploaded in pieces."""

    name: str
    size: int


class UploadPieceBody(ApiModel):
    """The next piece of it."""

    offset: int
    data: str = Field(description="Base64, at most 700,000 bytes.")


class UploadBody(ApiModel):
    """How far it is."""

    id: str
    name: str
    received: int
    size: int
