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
    ChannelSettings,
    ConfigSection,
    Secret,
    SecretUrl,
    Texts,
    Url,
    ValueForm,
)
from channels.web.settings import WebSettings
from channels.wechat.settings import WechatSettings
from channels.wechat_mp.settings import WechatMpSettings
from channels.wecom.settings import WecomSettings


class BuiltInChannels(ConfigSection):
    """The channels of this program."""

    web: WebSettings = Field(WebSettings(), description="The page and API on this machine.")
    telegram: TelegramSettings = Field(TelegramSettings(), description="A Telegram bot.")
    feishu: FeishuSettings = Field(FeishuSettings(), description="A Feishu or Lark app.")
    wechat: WechatSettings = Field(WechatSettings(), description="A personal WeChat account.")
    wechat_mp: WechatMpSettings = Field(
        WechatMpSettings(), description="A WeChat official account."
    )
    wecom: WecomSettings = Field(WecomSettings(), description="A WeCom bot.")


def _create_installed_channels() -> type[ConfigSection]:
    """Return a model of the channels of other distributions."""
    fields: dict[str, Any] = {}
    for name, kind in find_installed_channels().classes.items():
        settings_type: type[ChannelSettings] = kind.settings_type
        title_zh, title = settings_type.title
        about = inspect.cleandoc(settings_type.__doc__ or "").partition("\n")[0]
        field = Field(
            settings_type(),
            title=title,
            description=about,
            json_schema_extra={"title_zh": title_zh},
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

    provider: Provider = Field("anthropic", description="The API that this model is reached by.")
    model: str = Field("", description="Model id; empty means the provider's default.")
    api_key: Secret = Field("", description="Its key.")
    base_url: Url = Field("", description="Its endpoint; empty means the provider's own.")
    proxy: SecretUrl = Field("", description="HTTP proxy for it; empty means none.")


class LlmConfig(ConfigSection):
    """The language model."""

    provider: Provider = Field(
        "anthropic", description="anthropic, openai (any compatible endpoint) or offline."
    )
    model: str = Field("", description="Model id; empty means the provider's current middle model.")
    fast_model: str = Field(
        "", description="The model for summaries; empty means the provider's current small model."
    )
    api_key: Secret = Field(
        "",
        description=(
            "Without it, the key in ANTHROPIC_API_KEY or OPENAI_API_KEY; without any, offline."
        ),
        json_schema_extra={"reference": "${ANTHROPIC_API_KEY}"},
    )
    base_url: Url = Field("", description="Endpoint; empty means the provider's own.")
    context_window: int = Field(
        0, ge=0, le=100_000_000, description="What the model can read, in tokens; 0 means learnt."
    )
    max_output_tokens: int = Field(
        4096, ge=16, le=1_000_000, description="Maximum tokens of one answer."
    )
    proxy: SecretUrl = Field("", description="HTTP proxy for model calls; empty means none.")
    fallback: Annotated[tuple[FallbackConfig, ...], Field(strict=False), ValueForm("fallbacks")] = (
        Field((), description="Further models, tried in order when this one is unavailable.")
    )
    background: Literal["parallel", "idle", "off"] = Field(
        "parallel",
        description=(
            "When a model writes summaries and facts: beside replies, while none is under way, or "
            "never."
        ),
    )
    tell_spare: bool = Field(
        True, description="Say under an answer when a model of `fallback` gave it."
    )


class GroupsConfig(ConfigSection):
    """Group chats."""

    listen: bool = Field(
        False, description="Store messages that are not addressed to the bot as background."
    )


class EmbeddingConfig(ConfigSection):
    """The embedding model."""

    provider: Literal["openai", "local", "none"] = Field(
        "openai",
        description="openai: any compatible endpoint; local: the model on this machine; none: words alone.",  # noqa: E501
    )
    base_url: Url = Field("", description="Endpoint of openai; empty means the provider's own.")
    model: str = Field(
        "", description="Embedding model id; empty means a small one of the provider."
    )
    api_key: Secret = Field(
        "", description="The endpoint's key; empty for a server that needs none."
    )


class MemoryConfig(ConfigSection):
    """Long-term memory."""

    extract: bool = Field(True, description="Store lasting facts after each turn.")
    categories: Texts = Field(
        ("user_preference", "project_context", "skill", "fact"),
        description="Which kinds of facts are stored.",
    )
    min_importance: int = Field(
        5, ge=1, le=10, description="Facts of less importance are not stored."
    )
    similarity: float = Field(
        0.85, ge=0, le=1, description="From this similarity on two memories count as one."
    )
    dream_at: ClockTime = Field("03:30", description="When memory is tidied each night, HH:MM.")
    recall_limit: int = Field(
        5, ge=0, le=50, description="Maximum passages recalled for one message."
    )
    recall_timeout_ms: int = Field(
        500,
        ge=1,
        le=60_000,
        description="Maximum milliseconds that an answer waits for its recall.",
    )
    embedding: EmbeddingConfig | None = Field(
        None,
        description=(
            "Recall by vectors in addition to words; null means the model on this machine if the "
            "extra embeddings is installed, else words alone."
        ),
    )


class UserBudgetConfig(ConfigSection):
    """Limits of one person other than the owner; 0 means no limit."""

    messages_per_minute: int = Field(30, ge=0, le=1_000_000, description="Messages a minute.")
    messages_per_day: int = Field(500, ge=0, le=100_000_000, description="Messages a day.")
    tokens_per_day: int = Field(3_000_000, ge=0, le=10**12, description="Uncached tokens a day.")
    money_per_day: float = Field(
        2.0, ge=0, le=1_000_000, description="Money a day, in the price table's unit."
    )
    tool_calls_per_day: int = Field(200, ge=0, le=1_000_000, description="Tool calls a day.")
    fetches_per_day: int = Field(50, ge=0, le=1_000_000, description="Web pages fetched a day.")
    searches_per_day: int = Field(50, ge=0, le=1_000_000, description="Web searches a day.")
    jobs: int = Field(20, ge=0, le=100_000, description="Reminders and jobs at a time.")
    storage_mb: int = Field(500, ge=0, le=10**9, description="Files stored, in megabytes.")
    guest_messages_per_day: int = Field(
        20, ge=0, le=1_000_000, description="Messages a day of a group's guest."
    )


class TotalBudgetConfig(ConfigSection):
    """Limits of all people other than the owner together; 0 means no limit."""

    messages_per_day: int = Field(3000, ge=0, le=10**9, description="Messages a day.")
    money_per_day: float = Field(
        10.0, ge=0, le=10_000_000, description="Money a day, in the price table's unit."
    )
    storage_mb: int = Field(20_000, ge=0, le=10**9, description="Files stored, in megabytes.")


OwnLimit = Annotated[int | None, Field(ge=0, le=10**12), ValueForm("own_limit")]
OwnMoney = Annotated[float | None, Field(ge=0, le=1_000_000), ValueForm("own_limit")]


class OwnBudgetConfig(ConfigSection):
    """Limits of one person instead of those of `user`; null leaves that one, 0 means no limit."""

    messages_per_minute: OwnLimit = Field(
        None, description="Messages a minute of this person; null: as everybody."
    )
    messages_per_day: OwnLimit = Field(
        None, description="Messages a day of this person; null: as everybody."
    )
    tokens_per_day: OwnLimit = Field(
        None, description="Uncached tokens a day of this person; null: as everybody."
    )
    money_per_day: OwnMoney = Field(
        None, description="Money a day of this person; null: as everybody."
    )


Account = Annotated[str, Field(pattern=r"^[a-z_]{1,32}:.{1,200}$")]
PeopleBudgets = Annotated[dict[Account, OwnBudgetConfig], ValueForm("people_limits")]


class BudgetsConfig(ConfigSection):
    """Limits for everyone but the owner."""

    user: UserBudgetConfig = Field(UserBudgetConfig(), description="Per person.")
    people: PeopleBudgets = Field(
        {}, description="Limits of single people instead of those of `user`, by CHANNEL:ID."
    )
    total: TotalBudgetConfig = Field(TotalBudgetConfig(), description="All people together.")


class AccessConfig(ConfigSection):
    """Only people in a channel's `owners` and `allow` have access; no setting loosens that."""


class SearchProviderConfig(ConfigSection):
    """A web search that is asked in its turn."""

    name: Literal["tavily", "brave", "bocha", "searxng", "exa"] = Field(
        "tavily", description="tavily, brave, bocha, searxng or exa."
    )
    api_key: Secret = Field("", description="Its key; searxng needs none.")
    base_url: Url = Field(
        "", description="Its address; empty means the provider's own, which searxng has not."
    )


class WebToolsConfig(ConfigSection):
    """Web pages and web search."""

    fetch: bool = Field(True, description="Offer the model to open public web pages.")
    guests: bool = Field(
        False, description="Guests of groups may have pages opened and searched for, too."
    )
    allow: Texts = Field(
        (), description='Addresses besides public ones that may be opened, such as "10.0.0.7:8080".'
    )
    cache_mb: int = Field(
        16,
        ge=0,
        le=1024,
        description="Memory for the pages of the last 15 minutes, in megabytes; 0 keeps none.",
    )
    providers: Annotated[
        tuple[SearchProviderConfig, ...], Field(strict=False), ValueForm("search_providers")
    ] = Field(
        (),
        description=(
            "Web searches in order; the next one is asked when one fails. None: no search is "
            "offered."
        ),
    )


class ExecToolConfig(ConfigSection):
    """Programs and scripts in a sandbox, each approved by the owner."""

    enabled: bool = Field(
        False, description="Offer the model to run commands in the owner's workspace."
    )
    seconds: int = Field(
        60, ge=1, le=600, description="Time limit of a command that asks for no other, in seconds."
    )
    memory_mb: int = Field(
        1024, ge=64, le=1_048_576, description="Memory of a command and all it starts, in MB."
    )
    processes: int = Field(64, ge=8, le=10_000, description="Processes and threads of a command.")
    disk_mb: int = Field(
        512, ge=1, le=1_048_576, description="What a command may write to the disk, in MB."
    )


class SkillsConfig(ConfigSection):
    """Skills of the workspace."""

    index_tokens: int = Field(
        2_000,
        ge=100,
        le=20_000,
        description="How much the list of enabled skills may take in each request, in tokens.",
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
        description=(
            "Begin and end of the hours in which no task runs; [] for none. Reminders come."
        ),
    )
    do_a_day: int = Field(
        24,
        ge=0,
        le=10_000,
        description="Tasks that may run for one person in a day, the owner included; 0: no limit.",
    )
    late_hours: int = Field(
        24,
        ge=1,
        le=720,
        description="How late a reminder or a single task may come; what is later is skipped.",
    )


class DelegateConfig(ConfigSection):
    """Sub-agents of the model."""

    enabled: bool = Field(False, description="Offer the model to give tasks to sub-agents.")
    at_once: int = Field(
        3, ge=1, le=20, description="Sub-agents that may work in a space at the same time."
    )
    tokens: int = Field(
        30_000, ge=2_000, le=1_000_000, description="What one may read and write, in tokens."
    )
    minutes: int = Field(10, ge=1, le=120, description="How long one may take, in minutes.")
    wait_seconds: int = Field(
        45, ge=0, le=45, description="How long the model waits for outcomes, in seconds."
    )


class HeartbeatConfig(ConfigSection):
    """The heartbeat."""

    every: int = Field(
        0, ge=0, le=10_080, description="Minutes between two looks at HEARTBEAT.md; 0: none."
    )
    day_share: float = Field(
        0.05,
        ge=0,
        le=1,
        description="What it may use in a day, as a share of budgets.user.tokens_per_day.",
    )
    notices: int = Field(
        3, ge=1, le=100, description="Notices that it may send in a day; then it is paused."
    )


class ToolsConfig(ConfigSection):
    """The model's tools."""

    web: WebToolsConfig = Field(WebToolsConfig(), description="Web pages and web search.")
    exec: ExecToolConfig = Field(ExecToolConfig(), description="Programs and scripts in a sandbox.")
    off: Texts = Field((), description="Names of tools that are not offered to the model.")


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
Environment = Annotated[
    dict[VariableName, Annotated[str, ValueForm("secret")]],
    Field(repr=False),
    ValueForm("texts_by_name"),
]


HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
Headers = Annotated[
    dict[HeaderName, Annotated[str, ValueForm("secret")]],
    Field(repr=False),
    ValueForm("texts_by_name"),
]


class McpServerConfig(ConfigSection):
    """A server whose tools the model may use once they are reviewed."""

    command: McpCommand = Field(
        (),
        description=(
            "The program that is started, and its arguments; no shell reads them. Either this or "
            "url."
        ),
    )
    env: Environment = Field(
        {},
        description=(
            "Its environment; besides these only PATH, LANG, and in the sandbox HOME and TMPDIR."
        ),
    )
    url: Url = Field("", description="Address of a server that runs elsewhere, by https.")
    headers: Headers = Field({}, description="Headers of each request to that address.")
    auth: Literal["none", "oauth", "client"] = Field(
        "none",
        description=(
            "How to log in there: oauth with your consent (mnema mcp login), client with its own "
            "secret."
        ),
    )
    client_id: str = Field(
        "",
        description="Id of a client that you registered there; empty: mnema mcp login registers.",
    )
    client_secret: Secret = Field("", description="That client's secret.")
    issuer: Url = Field(
        "", description="Who issues the logins of that client; required for auth client."
    )
    local: bool = Field(
        False,
        description="The address may be of this machine or a private network, and without TLS.",
    )
    network: bool = Field(
        False, description="It may use this machine's network; off: it has none (Linux only)."
    )
    files: McpFiles = Field(
        (),
        description="Folders it sees in its sandbox: of the workspace by name, others by their "
        "whole path; with :rw it "
        'may write there. ["*"]: it runs without a sandbox and reads what the bot can.',
    )
    spaces: Texts = Field(
        (), description="Spaces that may use it, besides the owner's; mnema people list shows them."
    )
    resources: bool = Field(
        False, description="The model may list and read what it offers as resources."
    )
    seconds: int = Field(60, ge=1, le=600, description="Seconds that one call may take.")

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

    env: Environment = Field(
        {}, description="Secrets by name; a tool gets those that it says it needs, and no other."
    )
    spaces: Texts = Field(
        (), description="Spaces that may use it, besides the owner's; mnema people list shows them."
    )


class ConsoleConfig(ConfigSection):
    """What is kept for the console."""

    titles: bool = Field(
        False,
        description=(
            "Name a new conversation of yours after its first answer, by a background call of the "
            "fast model; otherwise it has your first words as its title."
        ),
    )
    views_days: int = Field(
        30,
        ge=0,
        le=36_500,
        description=(
            "Days that the context inspector can look back: what each request showed; 0: nothing "
            "is recorded."
        ),
    )


class LogConfig(ConfigSection):
    """The program's log; it never holds message text."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level that is written."
    )
    max_mb: int = Field(
        10, ge=1, le=10_000, description="Size at which the file is rotated, in megabytes."
    )
    keep: int = Field(5, ge=1, le=1000, description="Number of rotated files.")
    otel: Url = Field(
        "",
        description=(
            "URL of an OpenTelemetry collector (OTLP over HTTP) that receives a trace of each "
            "message."
        ),
    )


class Config(ConfigSection):
    """All settings, each with a value."""

    agent_max_context_tokens: int = Field(
        50_000, ge=4_000, le=10_000_000, description="Maximum tokens of one request to the model."
    )
    agent_max_context_turns: int = Field(
        20, ge=1, le=10_000, description="Turns at which balanced and turns fold the older half."
    )
    agent_max_steps: int = Field(15, ge=1, le=200, description="Maximum model calls in one turn.")
    context_policy: PolicyName = Field(
        "balanced",
        description="How the context stays small. balanced: old results become lines, then the "
        "oldest half is folded in the background; turns: half is folded at the maximum of turns; "
        "budget: the newest tokens stay; layers: it is shortened step by step as the window fills; "
        "boundary: cut where the topic changes; rolling: the summary is updated all the time.",
    )
    policies: PolicyNumbers = Field(
        {},
        description=(
            'Numbers of a policy that differ from its defaults, such as {"balanced": '
            '{"snip_chars": 15000}}.'
        ),
    )
    session_restore: Literal["full", "lean"] = Field(
        "full", description="Context after a restart: all of it, or the newest turns' texts."
    )
    session_max_idle_days: int = Field(
        30,
        ge=0,
        le=36_500,
        description="Days without a message after which a session ends; 0: never.",
    )
    retention_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="Conversations idle for so many days are deleted at night; 0: never.",
    )
    notify_folds: bool = Field(
        False, description="Announce in the chat when older turns are folded."
    )
    language: Literal["auto", "zh", "en"] = Field(
        "auto",
        description=(
            "Language of the bot's own texts, such as replies to commands; auto: the user's."
        ),
    )
    timezone: Zone = Field(
        "",
        description=(
            "Decides the day of a log entry; empty: the machine's zone. Takes effect at the next "
            "start."
        ),
    )
    concurrency: int = Field(
        64,
        ge=1,
        le=10_000,
        description="Messages that are answered at the same time. Takes effect at the next start.",
    )
    database_url: DatabaseUrl = Field(
        "", description="postgresql+psycopg://…; empty means SQLite in data/mnema.db."
    )
    llm: LlmConfig = Field(LlmConfig(), description="Which model answers, and how it is reached.")
    channels: ChannelsConfig = Field(ChannelsConfig(), description="Where people talk to the bot.")
    groups: GroupsConfig = Field(GroupsConfig(), description="What the bot does in group chats.")
    memory: MemoryConfig = Field(
        MemoryConfig(), description="What is remembered, and how it is recalled."
    )
    budgets: BudgetsConfig = Field(
        BudgetsConfig(), description="Limits for everyone but the owner."
    )
    access: AccessConfig = Field(
        AccessConfig(), description="Only people in a channel's lists have access."
    )
    tools: ToolsConfig = Field(ToolsConfig(), description="What the model may use.")
    skills: SkillsConfig = Field(
        SkillsConfig(), description="Folders of instructions that the owner enabled."
    )
    jobs: JobsConfig = Field(JobsConfig(), description="Reminders and tasks.")
    delegate: DelegateConfig = Field(
        DelegateConfig(), description="Tasks that the model gives to sub-agents."
    )
    heartbeat: HeartbeatConfig = Field(
        HeartbeatConfig(), description="Looks of its own, which are silent by default."
    )
    mcp: Annotated[dict[McpServerName, McpServerConfig], ValueForm("mcp_servers")] = Field(
        {},
        description=(
            "Servers with tools by the Model Context Protocol, by name. Only written in this file."
        ),
    )
    plugins: Annotated[dict[PluginName, PluginConfig], ValueForm("plugins")] = Field(
        {},
        description=(
            "What plug-ins get, by the name of their file or package. Only written in this file."
        ),
    )
    console: ConsoleConfig = Field(ConsoleConfig(), description="What is kept for the console.")
    log: LogConfig = Field(
        LogConfig(), description="What the program writes about itself; never message text."
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
