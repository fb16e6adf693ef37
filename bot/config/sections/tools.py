"""The sections `tools` and `skills`."""

from typing import Annotated, Literal

from pydantic import Field

from channels.toolkit.settings import (
    ConfigSection,
    Secret,
    Texts,
    Unit,
    Url,
    ValueForm,
)


class SearchProviderConfig(ConfigSection):
    """A web search that is asked in its turn."""

    name: Literal["tavily", "brave", "bocha", "searxng", "exa"] = Field(
        "tavily",
        title="Name",
        description="tavily, brave, bocha, searxng or exa.",
        examples=["bocha"],
    )
    api_key: Secret = Field(
        "",
        title="Key",
        description="The provider's key; searxng needs none.",
        examples=["${BOCHA_KEY}"],
    )
    base_url: Url = Field(
        "",
        title="Address",
        description="The provider's address; empty means its own. searxng needs one.",
        examples=["https://search.example.org"],
    )


class WebToolsConfig(ConfigSection):
    """Web pages and web search."""

    fetch: bool = Field(
        True,
        title="Open pages",
        description="Let the model open public web pages.",
        examples=[False],
    )
    guests: bool = Field(
        False,
        title="For guests",
        description="Guests in groups may also have the bot open pages and search.",
        examples=[True],
    )
    allow: Texts = Field(
        (),
        title="Additional addresses",
        description='Addresses besides public ones that may be opened, such as "10.0.0.7:8080".',
        examples=[["10.0.0.7:8080"]],
    )
    cache_mb: Annotated[int, Unit("MB")] = Field(
        16,
        ge=0,
        le=1024,
        title="Page cache",
        description="Memory for the pages of the last 15 minutes, in megabytes; 0: no cache.",
        examples=[8],
    )
    providers: Annotated[
        tuple[SearchProviderConfig, ...], Field(strict=False), ValueForm("search_providers")
    ] = Field(
        (),
        title="Search providers",
        description="Search services, asked in order until one answers. None: no search is "
        "offered.",
        examples=[[{"name": "bocha", "api_key": "${BOCHA_KEY}"}]],
    )


class ExecToolConfig(ConfigSection):
    """Programs and scripts in a sandbox, each approved by the owner."""

    enabled: bool = Field(
        False,
        title="Enabled",
        description="Let the model run commands in the owner's workspace.",
        examples=[True],
    )
    seconds: Annotated[int, Unit("s")] = Field(
        60,
        ge=1,
        le=600,
        title="Time limit",
        description="Default time limit of a command, in seconds.",
        examples=[120],
    )
    memory_mb: Annotated[int, Unit("MB")] = Field(
        1024,
        ge=64,
        le=1048576,
        title="Memory limit",
        description="Memory for a command and everything it starts, in MB.",
        examples=[2048],
    )
    processes: Annotated[int, Unit("processes")] = Field(
        64,
        ge=8,
        le=10000,
        title="Process limit",
        description="Processes and threads that a command may have.",
        examples=[128],
    )
    disk_mb: Annotated[int, Unit("MB")] = Field(
        512,
        ge=1,
        le=1048576,
        title="Disk limit",
        description="How much a command may write to the disk, in MB.",
        examples=[1024],
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
        title="Disabled tools",
        description="Names of the tools that are not offered to the model.",
        examples=[["send_file"]],
    )


class SkillsConfig(ConfigSection):
    """Skills of the workspace."""

    index_tokens: Annotated[int, Unit("tokens")] = Field(
        2000,
        ge=100,
        le=20000,
        title="List of skills",
        description="Tokens that the list of enabled skills may take up in each request.",
        examples=[1000],
    )
