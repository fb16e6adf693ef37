"""Bodies of the routes that manage the bot, as the description of the API and the types of the page have them."""

from typing import Any, Literal

from pydantic import Field

from bot.console.models import PersonBody
from channels.web.models import ApiModel


class SettingsKeyBody(ApiModel):
    """One key of config.json."""

    key: str = Field(description="Dotted.")
    group: str = Field(description="What it is shown with.")
    unit: str = Field("", description="Of a number.")
    takes_effect: Literal["now", "turn", "restart"] = Field(description="From when on a change of it is in force.")
    file_only: bool = Field(False, description="It is only written in the file itself.")
    title_zh: str
    title_en: str
    about_zh: str
    about_en: str
    form: str = Field(description="What values it takes; `section` has none of its own.")
    example: str = ""
    choices: list[str] = Field([])
    least: float | None = None
    most: float | None = None
    default: Any = None
    secret: bool = False


class SettingsKeysBody(ApiModel):
    """Every key that is no item of a list, in the order of config.json."""

    items: list[SettingsKeyBody]


class SettingsProblemBody(ApiModel):
    """What is wrong with the settings."""

    key: str = Field(description='Dotted; "" for the file as a whole.')
    message: str
    line: int = Field(description="In the file, from 1; 0 where no place is known.")
    column: int


class SettingsOriginBody(ApiModel):
    """Where the value of a key comes from."""

    key: str
    source: Literal["default", "file", "variable"]
    variables: list[str] = Field([], description="Of the environment.")
    unset: list[str] = Field([], description="Those of them that are not set.")


class SettingsStateBody(ApiModel):
    """The file as it is now."""

    tag: str = Field(description="The ETag of the settings.")
    trouble: SettingsProblemBody | None = None
    items: list[SettingsOriginBody] = Field(description="Of every key that does not have its default.")


class SettingsCheckBody(ApiModel):
    """A change to check: a part of config.json, or the whole text."""

    part: dict[str, Any] | None = None
    text: str | None = None


class SettingsCheckedBody(ApiModel):
    """What is wrong with it."""

    items: list[SettingsProblemBody]


class SettingsSourceBody(ApiModel):
    """The text of config.json, with masked secrets."""

    text: str


class SettingsChangeBody(ApiModel):
    """What a version changed in the one before it; a secret is masked."""

    key: str
    before: str
    after: str


class SettingsVersionBody(ApiModel):
    """A text of config.json that was in force."""

    id: str
    at: str
    first: bool = Field(description="What it changed is not known: it is the oldest one.")
    changes: list[SettingsChangeBody]


class SettingsVersionsBody(ApiModel):
    """Newest first; the first one is in force."""

    items: list[SettingsVersionBody]


class ChannelTestBody(ApiModel):
    """Settings of a channel that are tried."""

    part: dict[str, Any] = Field(description="Part of config.json below `channels` that is not saved yet.")


class ChannelFindingBody(ApiModel):
    """What one step of the test found: a line of the reply."""

    step: str
    state: Literal["ok", "failed", "skipped"]
    text: str
    hint: str = Field(description="What to do.")


class LimitUseBody(ApiModel):
    """What a person has used today of one limit."""

    limit: Literal["messages_per_minute", "messages_per_day", "tokens_per_day", "money_per_day"]
    used: float
    most: float = Field(description="0: no limit.")
    own: float | None = Field(description="This person's own limit; null: as everybody.")


class PersonFactsBody(ApiModel):
    """What is known of a person, without what they wrote."""

    channel: str
    id: str
    name: str = Field(description="What they call themselves.")
    role: str
    grants: list[PersonBody]
    accounts: list[str] = Field(description="CHANNEL:ID of this person's linked accounts.")
    last_seen: str
    conversations: int
    messages: int
    today: list[LimitUseBody]
