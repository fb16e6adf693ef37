"""The model of config.json as a whole."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from bot.config.sections.budgets import BudgetsConfig
from bot.config.sections.channels import ChannelsConfig
from bot.config.sections.extensions import McpServerConfig, McpServerName, PluginConfig, PluginName
from bot.config.sections.jobs import DelegateConfig, HeartbeatConfig, JobsConfig
from bot.config.sections.llm import LlmConfig
from bot.config.sections.memory import MemoryConfig
from bot.config.sections.tools import SkillsConfig, ToolsConfig
from channels.toolkit.settings import (
    AT_NEXT_TURN,
    AT_RESTART,
    ConfigSection,
    Unit,
    Url,
    ValueForm,
)


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


DatabaseUrl = Annotated[
    str, Field(repr=False), AfterValidator(_check_database_url), ValueForm("database")
]


PolicyName = Literal["balanced", "turns", "budget", "layers", "boundary", "rolling"]


PolicyNumbers = Annotated[dict[str, dict[str, int | float]], ValueForm("policies")]


class GroupsConfig(ConfigSection):
    """Group chats."""

    listen: bool = Field(
        False,
        title="Listen in groups",
        description="Store messages that are not addressed to the bot as background.",
    )


class AccessConfig(ConfigSection):
    """Only people in a channel's `owners` and `allow` have access; no setting loosens that."""


class ConsoleConfig(ConfigSection):
    """What is kept for the console."""

    titles: bool = Field(
        False,
        title="Titles by the model",
        description="Title a new conversation of yours after its first answer, with a background "
        "call to the small model; otherwise your first words are its title.",
    )
    views_days: Annotated[int, Unit("days")] = Field(
        30,
        ge=0,
        le=36500,
        title="Days of context history",
        description="How many days the context inspector can look back at what each request showed "
        "the model; 0: nothing is recorded.",
        examples=[7],
    )


class LogConfig(ConfigSection):
    """The program's log; it never holds message text."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info",
        title="Log level",
        description="Lowest level that is written. Takes effect at the next start.",
    )
    max_mb: Annotated[int, Unit("MB")] = Field(
        10,
        ge=1,
        le=10000,
        title="Size of a log file",
        description="Size at which a new file is started, in megabytes. Takes effect at the next "
        "start.",
        examples=[20],
    )
    keep: Annotated[int, Unit("files")] = Field(
        5,
        ge=1,
        le=1000,
        title="Old log files",
        description="Number of old log files to keep. Takes effect at the next start.",
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
        description="Maximum tokens of one request to the model; a higher limit remembers more and "
        "costs more.",
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
        description="How the context is kept small. balanced: old tool results shrink to one line, "
        "then the older half is folded in the background; turns: the older half is "
        "folded at the turn limit; budget: only the newest tokens stay; layers: shortens "
        "step by step as the window fills; boundary: splits where the topic changes; "
        "rolling: updates the summary all the time.",
    )
    policies: Annotated[PolicyNumbers, AT_NEXT_TURN] = Field(
        {},
        title="Policy settings",
        description='Numbers that differ from the policy\'s defaults, such as {"balanced": '
        '{"snip_chars": 15000}}.',
        examples=[{"balanced": {"snip_chars": 15000}}],
    )
    session_restore: Annotated[Literal["full", "lean"], AT_RESTART] = Field(
        "full",
        title="Context after a restart",
        description="full: the same as before the restart; lean: only questions and answers of the "
        "newest turns.",
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
        description="Conversations idle for more days than this are deleted at night; 0: never.",
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
        description="Decides which day a log entry belongs to; empty: the machine's zone. Takes "
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
        description="Which model answers, and how to reach it.",
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
        description="What is remembered and how it is recalled.",
    )
    budgets: BudgetsConfig = Field(
        BudgetsConfig(), title="Budgets", description="Limits for everyone but the owner."
    )
    access: AccessConfig = Field(
        AccessConfig(), title="Access", description="Only people on a channel's lists have access."
    )
    tools: Annotated[ToolsConfig, AT_NEXT_TURN] = Field(
        ToolsConfig(), title="Tools", description="Tools the model may use."
    )
    skills: Annotated[SkillsConfig, AT_NEXT_TURN] = Field(
        SkillsConfig(),
        title="Skills",
        description="Folders of instructions that the owner has enabled.",
    )
    jobs: JobsConfig = Field(
        JobsConfig(),
        title="Reminders and tasks",
        description="When reminders are sent and tasks run.",
    )
    delegate: Annotated[DelegateConfig, AT_NEXT_TURN] = Field(
        DelegateConfig(),
        title="Sub-agents",
        description="Tasks that the model hands to sub-agents.",
    )
    heartbeat: HeartbeatConfig = Field(
        HeartbeatConfig(),
        title="Heartbeat",
        description="Regular checks by the bot itself, silent by default.",
    )
    mcp: Annotated[dict[McpServerName, McpServerConfig], ValueForm("mcp_servers"), AT_NEXT_TURN] = (
        Field(
            {},
            title="MCP servers",
            description="Servers that offer tools by the Model Context Protocol, by name. Can only "
            "be set in this file.",
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
        description="What plug-ins get, by the name of their file or package. Can only be set in "
        "this file.",
        examples=[{"weather": {"env": {"WEATHER_KEY": "${WEATHER_KEY}"}}}],
    )
    console: ConsoleConfig = Field(
        ConsoleConfig(), title="Console", description="What is stored for the console."
    )
    log: Annotated[LogConfig, AT_RESTART] = Field(
        LogConfig(),
        title="Program log",
        description="What the program logs about itself; never message text.",
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
