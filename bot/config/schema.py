"""The models of config.json: every key with its type, range, default and description."""

import inspect
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, create_model, model_validator

from channels.feishu.settings import FeishuSettings
from channels.registry import find_installed_channels
from channels.telegram.settings import TelegramSettings
from channels.toolkit.settings import (
    AT_NEXT_TURN,
    AT_RESTART,
    ChannelSettings,
    ConfigSection,
    PhraseContext,
    Secret,
    SecretUrl,
    Texts,
    Unit,
    Url,
    ValueForm,
)
from channels.web.settings import WebSettings
from channels.wechat.settings import WechatSettings
from channels.wechat_mp.settings import WechatMpSettings
from channels.wecom.settings import WecomSettings


class BuiltInChannels(ConfigSection):
    """The channels of this program."""

    web: Annotated[WebSettings, AT_RESTART] = Field(
        WebSettings(), title="Web page", description="The page and API on this machine."
    )
    telegram: TelegramSettings = Field(
        TelegramSettings(), title="Telegram", description="A Telegram bot."
    )
    feishu: FeishuSettings = Field(
        FeishuSettings(), title="Feishu", description="A Feishu or Lark app."
    )
    wechat: WechatSettings = Field(
        WechatSettings(), title="WeChat", description="A personal WeChat account."
    )
    wechat_mp: WechatMpSettings = Field(
        WechatMpSettings(),
        title="WeChat official account",
        description="A WeChat official account.",
    )
    wecom: WecomSettings = Field(WecomSettings(), title="WeCom", description="A WeCom bot.")


def _create_installed_channels() -> type[ConfigSection]:
    """Return a model of the channels of other distributions."""
    fields: dict[str, Any] = {}
    for name, kind in find_installed_channels().classes.items():
        settings_type: type[ChannelSettings] = kind.settings_type
        about = inspect.cleandoc(settings_type.__doc__ or "").partition("\n")[0]
        field = Field(
            settings_type(),
            title=str(settings_type.title),
            description=about,
        )
        fields[name] = (settings_type, field)
    return create_model("InstalledChannels", __base__=ConfigSection, **fields)


class ChannelsConfig(_create_installed_channels(), BuiltInChannels):  # type: ignore[misc]  # a base made at run time
    """The channels."""


def _check_zone(name: str) -> str:
    if name:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as err:
            raise ValueError("no such time zone") from err
    return name


def _check_database_url(url: str) -> str:
    if url and urlsplit(url).scheme != "postgresql+psycopg":
        raise ValueError("not a database address")
    return url


Zone = Annotated[str, AfterValidator(_check_zone), ValueForm("zone")]
ClockTime = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$"), ValueForm("clock")]
DatabaseUrl = Annotated[
    str, Field(repr=False), AfterValidator(_check_database_url), ValueForm("database")
]
PolicyName = Literal["balanced", "turns", "budget", "layers", "boundary", "rolling"]
PolicyNumbers = Annotated[dict[str, dict[str, int | float]], ValueForm("policies")]
Provider = Literal["anthropic", "openai", "offline"]


class FallbackConfig(ConfigSection):
    """A further model, used when the ones before it are unavailable."""

    provider: Provider = Field(
        "anthropic", title="Provider", description="The API that this model is reached by."
    )
    model: str = Field(
        "", title="Model", description="Model id; empty means the provider's default."
    )
    api_key: Secret = Field("", title="Key", description="Its key.")
    base_url: Url = Field(
        "", title="Endpoint", description="Its endpoint; empty means the provider's own."
    )
    proxy: SecretUrl = Field("", title="Proxy", description="HTTP proxy for it; empty means none.")


class LlmConfig(ConfigSection):
    """The language model."""

    provider: Annotated[Provider, PhraseContext("the model that answers")] = Field(
        "anthropic",
        title="Provider",
        description="anthropic, openai (any compatible endpoint) or offline.",
    )
    model: str = Field(
        "",
        title="Model",
        description="Model id; empty means the provider's current middle model.",
        examples=["gpt-5"],
    )
    fast_model: str = Field(
        "",
        title="Small model",
        description="The model for summaries; empty means the provider's current small model.",
        examples=["gpt-5-mini"],
    )
    api_key: Secret = Field(
        "",
        title="Model key",
        description="Without it, the key in ANTHROPIC_API_KEY or OPENAI_API_KEY; without "
        "any, offline.",
        examples=["${MY_KEY}"],
        json_schema_extra={"reference": "${ANTHROPIC_API_KEY}"},
    )
    base_url: Annotated[Url, PhraseContext("the model that answers")] = Field(
        "",
        title="Endpoint",
        description="Endpoint; empty means the provider's own.",
        examples=["http://127.0.0.1:11434/v1"],
    )
    context_window: Annotated[int, Unit("tokens")] = Field(
        0,
        ge=0,
        le=100000000,
        title="Context window",
        description="What the model can read, in tokens; 0 means learnt.",
        examples=[128000],
    )
    max_output_tokens: Annotated[int, Unit("tokens")] = Field(
        4096,
        ge=16,
        le=1000000,
        title="Longest answer",
        description="Maximum tokens of one answer.",
        examples=[8192],
    )
    proxy: SecretUrl = Field(
        "",
        title="Proxy for the model",
        description="HTTP proxy for model calls; empty means none.",
        examples=["http://127.0.0.1:7890"],
    )
    fallback: Annotated[tuple[FallbackConfig, ...], Field(strict=False), ValueForm("fallbacks")] = (
        Field(
            (),
            title="Fallback models",
            description="Further models, tried in order when this one is unavailable.",
            examples=[[{"provider": "openai", "model": "gpt-5", "api_key": "${OPENAI_API_KEY}"}]],
        )
    )
    background: Literal["parallel", "idle", "off"] = Field(
        "parallel",
        title="Background calls",
        description="When a model writes summaries and facts: beside replies, while none "
        "is under way, or never.",
        examples=["idle"],
    )
    tell_spare: bool = Field(
        True,
        title="Name the fallback",
        description="Say under an answer when a model of `fallback` gave it.",
    )


class GroupsConfig(ConfigSection):
    """Group chats."""

    listen: bool = Field(
        False,
        title="Listen in groups",
        description="Store messages that are not addressed to the bot as background.",
    )


class EmbeddingConfig(ConfigSection):
    """The embedding model."""

    provider: Literal["openai", "local"] = Field(
        "openai",
        title="Provider of vectors",
        description="openai: any compatible endpoint; local: a model on this machine.",
    )
    base_url: Url = Field(
        "",
        title="Endpoint of vectors",
        description="Endpoint of openai; empty means the provider's own.",
        examples=["http://127.0.0.1:11434/v1"],
    )
    model: str = Field(
        "",
        title="Embedding model",
        description="Embedding model id; empty means a small one of the provider.",
        examples=["bge-m3"],
    )
    api_key: Secret = Field(
        "",
        title="Key for vectors",
        description="The endpoint's key; empty for a server that needs none.",
        examples=["${OPENAI_API_KEY}"],
    )


class MemoryConfig(ConfigSection):
    """Long-term memory."""

    extract: bool = Field(
        True, title="Extraction", description="Store lasting facts after each turn."
    )
    categories: Texts = Field(
        ("user_preference", "project_context", "skill", "fact"),
        title="Kinds of facts",
        description="Which kinds of facts are stored.",
        examples=[["user_preference", "fact"]],
    )
    min_importance: int = Field(
        5,
        ge=1,
        le=10,
        title="Least importance",
        description="Facts of less importance are not stored.",
        examples=[7],
    )
    similarity: float = Field(
        0.85,
        ge=0,
        le=1,
        title="Similarity",
        description="From this similarity on two memories count as one.",
        examples=[0.9],
    )
    dream_at: ClockTime = Field(
        "03:30",
        title="Nightly tidying",
        description="When memory is tidied each night, HH:MM.",
        examples=["04:15"],
    )
    recall_limit: Annotated[int, AT_NEXT_TURN, Unit("passages")] = Field(
        5,
        ge=0,
        le=50,
        title="Recalled passages",
        description="Maximum passages recalled for one message.",
        examples=[8],
    )
    recall_timeout_ms: Annotated[int, AT_NEXT_TURN, Unit("ms")] = Field(
        500,
        ge=1,
        le=60000,
        title="Time for recall",
        description="Maximum milliseconds that an answer waits for its recall.",
        examples=[800],
    )
    embedding: EmbeddingConfig | None = Field(
        None,
        title="Vectors for recall",
        description="Recall by vectors in addition to words; null means none.",
    )


class UserBudgetConfig(ConfigSection):
    """Limits of one person other than the owner; 0 means no limit."""

    messages_per_minute: Annotated[int, Unit("a_minute")] = Field(
        30,
        ge=0,
        le=1000000,
        title="Messages a minute",
        description="Messages a minute.",
        examples=[10],
    )
    messages_per_day: Annotated[int, Unit("a_day")] = Field(
        500,
        ge=0,
        le=100000000,
        title="Messages a day",
        description="Messages a day.",
        examples=[200],
    )
    tokens_per_day: Annotated[int, Unit("tokens_a_day")] = Field(
        3000000,
        ge=0,
        le=10**12,
        title="Tokens a day",
        description="Uncached tokens a day.",
        examples=[1000000],
    )
    money_per_day: Annotated[float, Unit("money_a_day")] = Field(
        2.0,
        ge=0,
        le=1000000,
        title="Money a day",
        description="Money a day, in the price table's unit.",
        examples=[0.5],
    )
    tool_calls_per_day: Annotated[int, Unit("a_day")] = Field(
        200,
        ge=0,
        le=1000000,
        title="Tool calls a day",
        description="Tool calls a day.",
        examples=[100],
    )
    fetches_per_day: Annotated[int, Unit("a_day")] = Field(
        50,
        ge=0,
        le=1000000,
        title="Pages fetched a day",
        description="Web pages fetched a day.",
        examples=[20],
    )
    searches_per_day: Annotated[int, Unit("a_day")] = Field(
        50,
        ge=0,
        le=1000000,
        title="Searches a day",
        description="Web searches a day.",
        examples=[20],
    )
    jobs: Annotated[int, Unit("at_once")] = Field(
        20,
        ge=0,
        le=100000,
        title="Reminders and jobs",
        description="Reminders and jobs at a time.",
        examples=[10],
    )
    storage_mb: Annotated[int, Unit("MB")] = Field(
        500,
        ge=0,
        le=10**9,
        title="File storage",
        description="Files stored, in megabytes.",
        examples=[200],
    )
    guest_messages_per_day: Annotated[int, Unit("a_day")] = Field(
        20,
        ge=0,
        le=1000000,
        title="Guest messages a day",
        description="Messages a day of a group's guest.",
        examples=[5],
    )


class TotalBudgetConfig(ConfigSection):
    """Limits of all people other than the owner together; 0 means no limit."""

    messages_per_day: Annotated[int, Unit("a_day"), PhraseContext("everybody together")] = Field(
        3000,
        ge=0,
        le=10**9,
        title="Messages a day, all",
        description="Messages a day.",
        examples=[1000],
    )
    money_per_day: Annotated[float, Unit("money_a_day"), PhraseContext("everybody together")] = (
        Field(
            10.0,
            ge=0,
            le=10000000,
            title="Money a day, all",
            description="Money a day, in the price table's unit.",
            examples=[5],
        )
    )
    storage_mb: Annotated[int, Unit("MB"), PhraseContext("everybody together")] = Field(
        20000,
        ge=0,
        le=10**9,
        title="File storage, all",
        description="Files stored, in megabytes.",
        examples=[5000],
    )


OwnLimit = Annotated[int | None, Field(ge=0, le=10**12), ValueForm("own_limit")]
OwnMoney = Annotated[float | None, Field(ge=0, le=1_000_000), ValueForm("own_limit")]


class OwnBudgetConfig(ConfigSection):
    """Limits of one person instead of those of `user`; null leaves that one, 0 means no limit."""

    messages_per_minute: OwnLimit = Field(
        None,
        title="Messages a minute",
        description="Messages a minute of this person; null: as everybody.",
    )
    messages_per_day: Annotated[OwnLimit, Unit("a_day")] = Field(
        None,
        title="Messages a day",
        description="Messages a day of this person; null: as everybody.",
    )
    tokens_per_day: Annotated[OwnLimit, Unit("a_day")] = Field(
        None,
        title="Tokens a day",
        description="Uncached tokens a day of this person; null: as everybody.",
    )
    money_per_day: Annotated[OwnMoney, Unit("a_day")] = Field(
        None, title="Money a day", description="Money a day of this person; null: as everybody."
    )


Account = Annotated[str, Field(pattern=r"^[a-z_]{1,32}:.{1,200}$")]
PeopleBudgets = Annotated[dict[Account, OwnBudgetConfig], ValueForm("people_limits")]


class BudgetsConfig(ConfigSection):
    """Limits for everyone but the owner."""

    user: UserBudgetConfig = Field(
        UserBudgetConfig(), title="Budget per person", description="Per person."
    )
    people: PeopleBudgets = Field(
        {},
        title="Limits of single people",
        description="Limits of single people instead of those of `user`, by CHANNEL:ID.",
        examples=[{"telegram:42": {"messages_per_day": 20}}],
    )
    total: TotalBudgetConfig = Field(
        TotalBudgetConfig(), title="Budget of all", description="All people together."
    )


class AccessConfig(ConfigSection):
    """Only people in a channel's `owners` and `allow` have access; no setting loosens that."""


class SearchProviderConfig(ConfigSection):
    """A web search that is asked in its turn."""

    name: Literal["tavily", "brave", "bocha", "searxng", "exa"] = Field(
        "tavily",
        title="Name",
        description="tavily, brave, bocha, searxng or exa.",
        examples=["bocha"],
    )
    api_key: Secret = Field(
        "", title="Key", description="Its key; searxng needs none.", examples=["${BOCHA_KEY}"]
    )
    base_url: Url = Field(
        "",
        title="Address",
        description="Its address; empty means the provider's own, which searxng has not.",
        examples=["https://search.example.org"],
    )


class WebToolsConfig(ConfigSection):
    """Web pages and web search."""

    fetch: bool = Field(
        True,
        title="Open pages",
        description="Offer the model to open public web pages.",
        examples=[False],
    )
    guests: bool = Field(
        False,
        title="For guests",
        description="Guests of groups may have pages opened and searched for, too.",
        examples=[True],
    )
    allow: Texts = Field(
        (),
        title="Further addresses",
        description='Addresses besides public ones that may be opened, such as "10.0.0.7:8080".',
        examples=[["10.0.0.7:8080"]],
    )
    cache_mb: Annotated[int, Unit("MB")] = Field(
        16,
        ge=0,
        le=1024,
        title="Page cache",
        description="Memory for the pages of the last 15 minutes, in megabytes; 0 keeps none.",
        examples=[8],
    )
    providers: Annotated[
        tuple[SearchProviderConfig, ...], Field(strict=False), ValueForm("search_providers")
    ] = Field(
        (),
        title="Search providers",
        description="Web searches in order; the next one is asked when one fails. None: "
        "no search is offered.",
        examples=[[{"name": "bocha", "api_key": "${BOCHA_KEY}"}]],
    )


class ExecToolConfig(ConfigSection):
    """Programs and scripts in a sandbox, each approved by the owner."""

    enabled: bool = Field(
        False,
        title="Enabled",
        description="Offer the model to run commands in the owner's workspace.",
        examples=[True],
    )
    seconds: Annotated[int, Unit("s")] = Field(
        60,
        ge=1,
        le=600,
        title="Time limit",
        description="Time limit of a command that asks for no other, in seconds.",
        examples=[120],
    )
    memory_mb: Annotated[int, Unit("MB")] = Field(
        1024,
        ge=64,
        le=1048576,
        title="Memory limit",
        description="Memory of a command and all it starts, in MB.",
        examples=[2048],
    )
    processes: Annotated[int, Unit("processes")] = Field(
        64,
        ge=8,
        le=10000,
        title="Process limit",
        description="Processes and threads of a command.",
        examples=[128],
    )
    disk_mb: Annotated[int, Unit("MB")] = Field(
        512,
        ge=1,
        le=1048576,
        title="Disk limit",
        description="What a command may write to the disk, in MB.",
        examples=[1024],
    )


class SkillsConfig(ConfigSection):
    """Skills of the workspace."""

    index_tokens: Annotated[int, Unit("tokens")] = Field(
        2000,
        ge=100,
        le=20000,
        title="List of skills",
        description="How much the list of enabled skills may take in each request, in tokens.",
        examples=[1000],
    )


def _check_quiet_hours(hours: tuple[str, ...]) -> tuple[str, ...]:
    if len(hours) not in (0, 2):
        raise ValueError("not a begin and an end")
    return hours


QuietHours = Annotated[
    tuple[Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")], ...],
    Field(strict=False),
    AfterValidator(_check_quiet_hours),
    ValueForm("quiet_hours"),
]


class JobsConfig(ConfigSection):
    """Reminders and tasks."""

    quiet: QuietHours = Field(
        ("22:30", "07:30"),
        title="Quiet hours",
        description="Begin and end of the hours in which no task runs; [] for none. "
        "Reminders come.",
        examples=[["23:00", "07:00"]],
    )
    do_a_day: Annotated[int, Unit("a_day")] = Field(
        24,
        ge=0,
        le=10000,
        title="Tasks a day",
        description="Tasks that may run for one person in a day, the owner included; 0: no limit.",
        examples=[48],
    )
    late_hours: Annotated[int, Unit("h")] = Field(
        24,
        ge=1,
        le=720,
        title="Hours late",
        description="How late a reminder or a single task may come; what is later is skipped.",
        examples=[12],
    )


class DelegateConfig(ConfigSection):
    """Sub-agents of the model."""

    enabled: bool = Field(
        False,
        title="Use sub-agents",
        description="Offer the model to give tasks to sub-agents.",
        examples=[True],
    )
    at_once: Annotated[int, Unit("at_once")] = Field(
        3,
        ge=1,
        le=20,
        title="At once",
        description="Sub-agents that may work in a space at the same time.",
        examples=[5],
    )
    tokens: Annotated[int, Unit("tokens")] = Field(
        30000,
        ge=2000,
        le=1000000,
        title="Token limit",
        description="What one may read and write, in tokens.",
        examples=[50000],
    )
    minutes: Annotated[int, Unit("min")] = Field(
        10,
        ge=1,
        le=120,
        title="Time limit",
        description="How long one may take, in minutes.",
        examples=[20],
    )
    wait_seconds: Annotated[int, Unit("s")] = Field(
        45,
        ge=0,
        le=45,
        title="Wait",
        description="How long the model waits for outcomes, in seconds.",
        examples=[20],
    )


class HeartbeatConfig(ConfigSection):
    """The heartbeat."""

    every: Annotated[int, Unit("min")] = Field(
        0,
        ge=0,
        le=10080,
        title="Interval",
        description="Minutes between two looks at HEARTBEAT.md; 0: none.",
        examples=[30],
    )
    day_share: float = Field(
        0.05,
        ge=0,
        le=1,
        title="Share of a day",
        description="What it may use in a day, as a share of budgets.user.tokens_per_day.",
        examples=[0.02],
    )
    notices: Annotated[int, Unit("a_day")] = Field(
        3,
        ge=1,
        le=100,
        title="Notices a day",
        description="Notices that it may send in a day; then it is paused.",
        examples=[5],
    )


class ToolsConfig(ConfigSection):
    """The model's tools."""

    web: WebToolsConfig = Field(
        WebToolsConfig(), title="Web", description="Web pages and web search."
    )
    exec: ExecToolConfig = Field(
        ExecToolConfig(), title="Commands", description="Programs and scripts in a sandbox."
    )
    off: Texts = Field(
        (),
        title="Tools that are off",
        description="Names of tools that are not offered to the model.",
        examples=[["send_file"]],
    )


def _check_command(command: tuple[str, ...]) -> tuple[str, ...]:
    if command and (not command[0] or any("\0" in word for word in command)):
        raise ValueError("no program")
    return command


McpServerName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,31}$")]
McpCommand = Annotated[
    tuple[str, ...], Field(strict=False), AfterValidator(_check_command), ValueForm("command")
]
ALL_FILES, WRITABLE_SUFFIX = "*", ":rw"  # in the list of what a server sees


def _check_files(files: tuple[str, ...]) -> tuple[str, ...]:
    if ALL_FILES in files and len(files) > 1:
        raise ValueError("nothing beside *")
    if any(not entry.removesuffix(WRITABLE_SUFFIX) or "\0" in entry for entry in files):
        raise ValueError("no folder")
    return files


McpFiles = Annotated[Texts, AfterValidator(_check_files)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
EnvironmentVariable = Annotated[
    str,
    Field(
        title="Variable", description="A variable of its environment.", examples=["${FILES_KEY}"]
    ),
    ValueForm("secret"),
]
Header = Annotated[
    str,
    Field(title="Header", description="A header of each request.", examples=["${TOOLS_TOKEN}"]),
    ValueForm("secret"),
]
PluginSecret = Annotated[
    str,
    Field(title="Secret", description="A secret.", examples=["${WEATHER_KEY}"]),
    ValueForm("secret"),
]
Environment = Annotated[
    dict[VariableName, EnvironmentVariable], Field(repr=False), ValueForm("texts_by_name")
]
Headers = Annotated[dict[HeaderName, Header], Field(repr=False), ValueForm("texts_by_name")]
PluginSecrets = Annotated[
    dict[VariableName, PluginSecret], Field(repr=False), ValueForm("texts_by_name")
]


class McpServerConfig(ConfigSection):
    """A server whose tools the model may use once they are reviewed."""

    command: McpCommand = Field(
        (),
        title="Command",
        description="The program that is started, and its arguments; no shell reads "
        "them. Either this or url.",
        examples=[["/usr/bin/server", "--stdio"]],
    )
    env: Environment = Field(
        {},
        title="Environment",
        description="Its environment; besides these only PATH, LANG, and in the sandbox "
        "HOME and TMPDIR.",
        examples=[{"KEY": "${FILES_KEY}"}],
    )
    url: Url = Field(
        "",
        title="Address",
        description="Address of a server that runs elsewhere, by https.",
        examples=["https://tools.example.org/mcp"],
    )
    headers: Headers = Field(
        {},
        title="Headers",
        description="Headers of each request to that address.",
        examples=[{"Authorization": "${TOOLS_TOKEN}"}],
    )
    auth: Literal["none", "oauth", "client"] = Field(
        "none",
        title="Login",
        description="How to log in there: oauth with your consent (mnema mcp login), "
        "client with its own secret.",
        examples=["oauth"],
    )
    client_id: str = Field(
        "",
        title="Client id",
        description="Id of a client that you registered there; empty: mnema mcp login registers.",
        examples=["mnema"],
    )
    client_secret: Secret = Field(
        "", title="Client secret", description="That client's secret.", examples=["${TOOLS_SECRET}"]
    )
    issuer: Url = Field(
        "",
        title="Issuer",
        description="Who issues the logins of that client; required for auth client.",
        examples=["https://login.example.org"],
    )
    local: bool = Field(
        False,
        title="Local address",
        description="The address may be of this machine or a private network, and without TLS.",
        examples=[True],
    )
    network: bool = Field(
        False,
        title="Network",
        description="It may use this machine's network; off: it has none (Linux only).",
        examples=[True],
    )
    files: McpFiles = Field(
        (),
        title="Folders",
        description="Folders it sees in its sandbox: of the workspace by name, others by "
        'their whole path; with :rw it may write there. ["*"]: it runs '
        "without a sandbox and reads what the bot can.",
        examples=[["files:rw", "/srv/notes"]],
    )
    spaces: Texts = Field(
        (),
        title="Spaces",
        description="Spaces that may use it, besides the owner's; mnema people list shows them.",
        examples=[["telegram-123456789"]],
    )
    resources: bool = Field(
        False,
        title="Resources",
        description="The model may list and read what it offers as resources.",
        examples=[True],
    )
    seconds: Annotated[int, Unit("s"), PhraseContext("one call")] = Field(
        60,
        ge=1,
        le=600,
        title="Time limit",
        description="Seconds that one call may take.",
        examples=[120],
    )

    @model_validator(mode="after")
    def _check_one_way(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("either command or url")
        if self.files and self.url:
            raise ValueError("files are for a server with a command")
        if self.auth != "none" and not self.url:
            raise ValueError("auth is for a server with a url")
        if self.auth == "client" and not (self.client_id and self.client_secret and self.issuer):
            raise ValueError("auth client needs client_id, client_secret and issuer")
        return self


PluginName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]


class PluginConfig(ConfigSection):
    """What a plug-in, a file or an installed package, is given."""

    env: PluginSecrets = Field(
        {},
        title="Secrets",
        description="Secrets by name; a tool gets those that it says it needs, and no other.",
        examples=[{"WEATHER_KEY": "${WEATHER_KEY}"}],
    )
    spaces: Texts = Field(
        (),
        title="Spaces",
        description="Spaces that may use it, besides the owner's; mnema people list shows them.",
        examples=[["telegram-123456789"]],
    )


class ConsoleConfig(ConfigSection):
    """What is kept for the console."""

    views_days: Annotated[int, Unit("days")] = Field(
        30,
        ge=0,
        le=36500,
        title="Days of past views",
        description="Days that the context inspector can look back: what each request "
        "showed; 0: nothing is recorded.",
        examples=[7],
    )


class LogConfig(ConfigSection):
    """The program's log; it never holds message text."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", title="Log level", description="Lowest level that is written."
    )
    max_mb: Annotated[int, Unit("MB")] = Field(
        10,
        ge=1,
        le=10000,
        title="Size of a log file",
        description="Size at which the file is rotated, in megabytes.",
        examples=[20],
    )
    keep: Annotated[int, Unit("files")] = Field(
        5,
        ge=1,
        le=1000,
        title="Kept log files",
        description="Number of rotated files.",
        examples=[10],
    )
    otel: Url = Field(
        "",
        title="Trace collector",
        description="URL of an OpenTelemetry collector (OTLP over HTTP) that receives a "
        "trace of each message.",
        examples=["http://127.0.0.1:4318"],
    )


class Config(ConfigSection):
    """All settings, each with a value."""

    agent_max_context_tokens: Annotated[int, AT_NEXT_TURN, Unit("tokens")] = Field(
        50000,
        ge=4000,
        le=10000000,
        title="Context limit in tokens",
        description="Maximum tokens of one request to the model.",
        examples=[80000],
    )
    agent_max_context_turns: Annotated[int, AT_NEXT_TURN, Unit("turns")] = Field(
        20,
        ge=1,
        le=10000,
        title="Context limit in turns",
        description="Turns at which balanced and turns fold the older half.",
        examples=[30],
    )
    agent_max_steps: Annotated[int, AT_NEXT_TURN, Unit("calls")] = Field(
        15,
        ge=1,
        le=200,
        title="Steps in one turn",
        description="Maximum model calls in one turn.",
        examples=[25],
    )
    context_policy: Annotated[PolicyName, AT_NEXT_TURN] = Field(
        "balanced",
        title="Context policy",
        description="How the context stays small. balanced: old results become lines, "
        "then the oldest half is folded in the background; turns: half is "
        "folded at the maximum of turns; budget: the newest tokens stay; "
        "layers: it is shortened step by step as the window fills; boundary: "
        "cut where the topic changes; rolling: the summary is updated all "
        "the time.",
    )
    policies: Annotated[PolicyNumbers, AT_NEXT_TURN] = Field(
        {},
        title="Policy settings",
        description="Numbers of a policy that differ from its defaults, such as "
        '{"balanced": {"snip_chars": 15000}}.',
        examples=[{"balanced": {"snip_chars": 15000}}],
    )
    session_restore: Annotated[Literal["full", "lean"], AT_RESTART] = Field(
        "full",
        title="Context after a restart",
        description="Context after a restart: all of it, or the newest turns' texts.",
    )
    session_max_idle_days: Annotated[int, Unit("days")] = Field(
        30,
        ge=0,
        le=36500,
        title="Idle days of a session",
        description="Days without a message after which a session ends; 0: never.",
        examples=[14],
    )
    retention_days: Annotated[int, Unit("days")] = Field(
        0,
        ge=0,
        le=36500,
        title="Retention in days",
        description="Conversations idle for so many days are deleted at night; 0: never.",
        examples=[365],
    )
    notify_folds: bool = Field(
        False, title="Fold notices", description="Announce in the chat when older turns are folded."
    )
    language: Literal["auto", "zh", "en"] = Field(
        "auto",
        title="Language",
        description="Language of the bot's own texts, such as replies to commands; auto: "
        "the user's.",
    )
    timezone: Annotated[Zone, AT_RESTART] = Field(
        "",
        title="Time zone",
        description="Decides the day of a log entry; empty: the machine's zone. Takes "
        "effect at the next start.",
        examples=["Asia/Shanghai"],
    )
    concurrency: Annotated[int, AT_RESTART, Unit("turns")] = Field(
        64,
        ge=1,
        le=10000,
        title="Parallel turns",
        description="Messages that are answered at the same time. Takes effect at the next start.",
        examples=[16],
    )
    database_url: Annotated[DatabaseUrl, AT_RESTART] = Field(
        "",
        title="Database",
        description="postgresql+psycopg://…; empty means SQLite in data/mnema.db.",
        examples=["postgresql+psycopg://mnema@127.0.0.1/mnema"],
    )
    llm: Annotated[LlmConfig, AT_NEXT_TURN] = Field(
        LlmConfig(),
        title="Language model",
        description="Which model answers, and how it is reached.",
    )
    channels: ChannelsConfig = Field(
        ChannelsConfig(), title="Channels", description="Where people talk to the bot."
    )
    groups: GroupsConfig = Field(
        GroupsConfig(), title="Group chats", description="What the bot does in group chats."
    )
    memory: MemoryConfig = Field(
        MemoryConfig(),
        title="Long-term memory",
        description="What is remembered, and how it is recalled.",
    )
    budgets: BudgetsConfig = Field(
        BudgetsConfig(), title="Budgets", description="Limits for everyone but the owner."
    )
    access: AccessConfig = Field(
        AccessConfig(), title="Access", description="Only people in a channel's lists have access."
    )
    tools: Annotated[ToolsConfig, AT_NEXT_TURN] = Field(
        ToolsConfig(), title="Tools", description="What the model may use."
    )
    skills: Annotated[SkillsConfig, AT_NEXT_TURN] = Field(
        SkillsConfig(),
        title="Skills",
        description="Folders of instructions that the owner enabled.",
    )
    jobs: JobsConfig = Field(
        JobsConfig(), title="Reminders and tasks", description="Reminders and tasks."
    )
    delegate: Annotated[DelegateConfig, AT_NEXT_TURN] = Field(
        DelegateConfig(),
        title="Sub-agents",
        description="Tasks that the model gives to sub-agents.",
    )
    heartbeat: HeartbeatConfig = Field(
        HeartbeatConfig(),
        title="Heartbeat",
        description="Looks of its own, which are silent by default.",
    )
    mcp: Annotated[dict[McpServerName, McpServerConfig], ValueForm("mcp_servers"), AT_NEXT_TURN] = (
        Field(
            {},
            title="MCP servers",
            description="Servers with tools by the Model Context Protocol, by name. Only "
            "written in this file.",
            examples=[
                {
                    "files": {
                        "command": ["npx", "-y", "server-files"],
                        "env": {"KEY": "${FILES_KEY}"},
                    }
                }
            ],
        )
    )
    plugins: Annotated[dict[PluginName, PluginConfig], ValueForm("plugins"), AT_NEXT_TURN] = Field(
        {},
        title="Plug-ins",
        description="What plug-ins get, by the name of their file or package. Only "
        "written in this file.",
        examples=[{"weather": {"env": {"WEATHER_KEY": "${WEATHER_KEY}"}}}],
    )
    console: ConsoleConfig = Field(
        ConsoleConfig(), title="Console", description="What is kept for the console."
    )
    log: Annotated[LogConfig, AT_RESTART] = Field(
        LogConfig(),
        title="Program log",
        description="What the program writes about itself; never message text.",
    )


class MachineZone(tzinfo):
    """The machine's zone with its rules: a time before a clock change gets the offset of that
    time.
    """

    def fromutc(self, dt: datetime) -> datetime:
        """See tzinfo."""
        local = datetime.fromtimestamp(dt.replace(tzinfo=UTC).timestamp())
        return local.replace(microsecond=dt.microsecond, tzinfo=self)

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        """See tzinfo."""
        return dt.replace(tzinfo=None).astimezone().utcoffset() if dt else None

    def dst(self, dt: datetime | None) -> timedelta | None:
        """Return None: only the whole offset is known."""
        return None

    def tzname(self, dt: datetime | None) -> str | None:
        """See tzinfo."""
        return dt.replace(tzinfo=None).astimezone().tzname() if dt else None


MACHINE_ZONE = MachineZone()


def time_zone(config: Config) -> tzinfo:
    """Return the configured time zone, else the machine's."""
    return ZoneInfo(config.timezone) if config.timezone else MACHINE_ZONE
