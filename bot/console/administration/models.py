"""Bodies of the routes that manage the bot, as the description of the API and the types of the page
have them.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, RootModel, StringConstraints

from bot.console.models import PersonBody
from channels.web.models import ApiModel


class SettingsKeyBody(ApiModel):
    """One key of config.json."""

    key: str = Field(description="Dotted.")
    group: str = Field(description="What it is shown with.")
    unit: str = Field("", description="Of a number.")
    takes_effect: Literal["now", "turn", "restart"] = Field(
        description="From when on a change of it is in force."
    )
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
    items: list[SettingsOriginBody] = Field(
        description="Of every key that does not have its default."
    )


class SettingsPartBody(RootModel[dict[str, Any]]):
    """A part of config.json: what it leaves out stays."""


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

    part: dict[str, Any] = Field(
        description="Part of config.json below `channels` that is not saved yet."
    )


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


class PersonDeletionPreviewBody(ApiModel):
    """What the deletion of a person would delete, and what would stay."""

    accounts: list[str] = Field(
        description="CHANNEL:ID of this person's linked accounts, which all go."
    )
    conversations: int
    messages: int
    files: int = Field(description="Of their memory.")
    memories: int
    jobs: int
    group_messages: int = Field(description="That they wrote in groups; these stay.")
    acts: int = Field(description="Rows of the audit list that name them; these stay.")
    backups: list[str] = Field(description="Older copies of the database in the home, which stay.")
    listed: list[str] = Field(
        description="Keys of config.json that name an account and let it in again."
    )


class PersonDeletionBody(ApiModel):
    """The confirmation of a deletion."""

    name: str = Field(description="CHANNEL:ID as in the path.")


class PersonDeletionReceiptBody(ApiModel):
    """What was deleted, and what stays."""

    conversations: int
    rows: int = Field(description="Of other tables.")
    files: int
    attachments: int
    group_messages: int
    acts: int
    backups: list[str]
    is_compacted: bool = Field(description="The database's log has no deleted bytes any more.")
    listed: list[str]


class LoginBody(ApiModel):
    """A login of a browser."""

    id: str
    browser: str = Field(description="Browser and system; empty if they are not known.")
    began: str = Field(description="Empty for a login of an older version.")
    seen: str = Field(description="Its last request.")
    passkey: str = Field(description="Name of the passkey it was made with; empty for another way.")
    current: bool = Field(description="It is the one that asks.")


class LoginListBody(ApiModel):
    """All of them, the last used one first."""

    items: list[LoginBody]


class PasskeyBody(ApiModel):
    """A passkey of the owner."""

    id: str
    name: str
    site: str = Field(description="The host it is valid at.")
    added: str
    used: str = Field(description="The last login with it; empty before the first one.")


class PasskeyListBody(ApiModel):
    """All of them."""

    items: list[PasskeyBody]
    site: str = Field(description="The host of this address; empty where passkeys cannot be used.")


class PasskeyOptionsBody(ApiModel):
    """What the browser makes a passkey from."""

    options: dict[str, Any]


class NewPasskeyBody(ApiModel):
    """The passkey that the browser has made."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
    credential: dict[str, Any]


class SkillBody(ApiModel):
    """A skill of the owner's workspace."""

    name: str
    description: str
    state: Literal["off", "on", "changed", "invalid"]
    everyone: bool = Field(description="It is on in every chat, not only the owner's.")
    problem: str
    sha256: str = Field(description="Of all its files.")


class SkillListBody(ApiModel):
    """All of them, by name."""

    items: list[SkillBody]


class SkillReviewBody(SkillBody):
    """A skill with all that a person has to see before they enable it."""

    review: list[str]
    body: str = Field(description="Its instructions.")
    files: list[str]


class SkillSwitchBody(ApiModel):
    """A skill is enabled as it was shown, or turned off."""

    on: bool
    sha256: str = Field("", description="Of what was shown.")
    everyone: bool = False


class McpToolBody(ApiModel):
    """A tool of a server, as the model would read it."""

    name: str
    description: str
    schema_: dict[str, Any] = Field(alias="schema")
    read_only: bool = Field(description="It says that it only reads.")
    sha256: str
    state: Literal["new", "changed", "settled"]
    mode: Literal["off", "run", "ask"]
    effect: Literal["pure", "unsafe"]


class McpServerBody(ApiModel):
    """A configured server of tools."""

    name: str
    state: str
    why: str
    reviewed: bool = Field(description="The program is the one whose tools were reviewed.")
    source: str = Field(description="Hash of its command or address.")
    command: list[str]
    url: str
    network: bool
    spaces: list[str]
    tools: list[McpToolBody]


class McpListBody(ApiModel):
    """All of them, by name."""

    items: list[McpServerBody]


class McpChoiceBody(ApiModel):
    """What the model may do with a tool as it was shown."""

    name: str
    sha256: str
    mode: Literal["off", "run", "ask"]
    effect: Literal["pure", "unsafe"]


class McpReviewBody(ApiModel):
    """A review."""

    source: str = Field(description="Of the server that was shown.")
    choices: list[McpChoiceBody] = Field(min_length=1, max_length=1_000)


class PresetsQueryBody(ApiModel):
    """Whether to look for servers on this machine."""

    local: bool = False


class PresetTitleBody(ApiModel):
    """What a preset is called."""

    zh: str
    en: str


class PresetBody(ApiModel):
    """A kind of server of models."""

    id: str
    title: PresetTitleBody
    provider: Literal["anthropic", "openai"]
    base_url: str = Field(
        description="Empty for the provider's own, and for `own`, where a person names it."
    )
    other_base_url: str = Field(
        description="The same vendor in another region, with keys of its own."
    )
    needs_key: bool
    key_page: str = Field(description="Where a key is made; empty for a server without.")
    local: bool = Field(description="It runs on this machine.")


class FoundServerBody(ApiModel):
    """A server that answered on this machine."""

    preset: str
    base_url: str


class PresetsBody(ApiModel):
    """All presets, and the servers that were found."""

    items: list[PresetBody]
    found: list[FoundServerBody]


class ModelEndpointBody(ApiModel):
    """A server, and the key for it."""

    preset: str
    base_url: str = Field("", max_length=2_000, description="Empty for the preset's.")
    api_key: str = Field(
        "", max_length=4_000, description="Empty for the saved one, if the server is the saved one."
    )


ModelId = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class ModelTrialBody(ModelEndpointBody):
    """A model to test."""

    model: ModelId


class ModelChoiceBody(ModelEndpointBody):
    """A model to use; with `fallback` alone, only the chain behind the model in use changes."""

    preset: str = Field("", description="Left out with `model`.")
    model: ModelId | None = Field(None, description="Left out to change the chain alone.")
    fast_model: str | None = Field(None, max_length=200, description="For summaries.")
    fallback: list[dict[str, Any]] | None = Field(
        None,
        description=(
            "As `llm.fallback`; an item without a key, or with masked values, gets those that are "
            "saved for its server."
        ),
    )


class ListedModelBody(ApiModel):
    """A model that a server has."""

    id: str
    context_window: int = Field(
        0, description="In tokens; left out if the server does not name it."
    )


class EndpointFaultBody(ApiModel):
    """Why a server could not be asked."""

    code: Literal["nothing_listens", "no_host", "timeout", "tls", "path", "key", "failed"]
    message: str
    server_words: str = Field(description="What it said itself, without secrets.")


class ListedModelsBody(ApiModel):
    """The models of a server in its order; none with an error."""

    items: list[ListedModelBody]
    error: EndpointFaultBody | None = None


class ModelCheckBody(ApiModel):
    """The result of one check."""

    id: Literal["address", "key", "answer", "streaming", "tools", "sight", "thinking", "window"]
    state: Literal["ok", "failed", "unknown", "no"]
    text: str


class ModelReportBody(ApiModel):
    """The results of the test of a model, up to the first failure."""

    checks: list[ModelCheckBody]
    window: int | None = Field(None, description="In tokens.")
    window_source: Literal["", "config", "server", "refusal", "cut", "table", "default"]
    ok: bool = Field(description="Address, key and answer are right.")
    server_words: str = Field(description="What the server said of a refusal, without secrets.")
