"""The sections `mcp` and `plugins`."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from channels.toolkit.settings import (
    ConfigSection,
    PhraseContext,
    Secret,
    Texts,
    Unit,
    Url,
    ValueForm,
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
    Field(title="Variable", description="An environment variable.", examples=["${FILES_KEY}"]),
    ValueForm("secret"),
]

Header = Annotated[
    str,
    Field(title="Header", description="A header of every request.", examples=["${TOOLS_TOKEN}"]),
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
        description="The program to start, and its arguments; no shell is involved. Set either "
        "this or url.",
        examples=[["/usr/bin/server", "--stdio"]],
    )
    env: Environment = Field(
        {},
        title="Environment",
        description="The program's environment; besides these it gets only PATH and LANG, and in "
        "the sandbox HOME and TMPDIR.",
        examples=[{"KEY": "${FILES_KEY}"}],
    )
    url: Url = Field(
        "",
        title="Address",
        description="https address of a server that runs elsewhere.",
        examples=["https://tools.example.org/mcp"],
    )
    headers: Headers = Field(
        {},
        title="Headers",
        description="Headers sent with every request to that address.",
        examples=[{"Authorization": "${TOOLS_TOKEN}"}],
    )
    auth: Literal["none", "oauth", "client"] = Field(
        "none",
        title="Login",
        description="How to log in there: oauth with your consent (mnema mcp login), client with a "
        "secret of its own.",
        examples=["oauth"],
    )
    client_id: str = Field(
        "",
        title="Client id",
        description="Id of a client you registered there; empty: mnema mcp login registers one.",
        examples=["mnema"],
    )
    client_secret: Secret = Field(
        "", title="Client secret", description="That client's secret.", examples=["${TOOLS_SECRET}"]
    )
    issuer: Url = Field(
        "",
        title="Issuer",
        description="Who issues logins for that client; required when auth is client.",
        examples=["https://login.example.org"],
    )
    local: bool = Field(
        False,
        title="Local address",
        description="The address may be on this machine or a private network, and without TLS.",
        examples=[True],
    )
    network: bool = Field(
        False,
        title="Network",
        description="The server may use this machine's network; off: it has none (Linux only).",
        examples=[True],
    )
    files: McpFiles = Field(
        (),
        title="Folders",
        description="Folders it sees in its sandbox: those in the workspace by name, others by "
        "full "
        'path; with :rw it may write there. ["*"]: no sandbox; it reads whatever the '
        "bot can.",
        examples=[["files:rw", "/srv/notes"]],
    )
    spaces: Texts = Field(
        (),
        title="Spaces",
        description="Spaces that may use it besides the owner's; mnema people list shows them.",
        examples=[["telegram-123456789"]],
    )
    resources: bool = Field(
        False,
        title="Resources",
        description="The model may list and read what the server offers as resources.",
        examples=[True],
    )
    seconds: Annotated[int, Unit("s"), PhraseContext("one call")] = Field(
        60,
        ge=1,
        le=600,
        title="Time limit",
        description="Maximum seconds for one call.",
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
        description="Secrets by name; a tool gets only those it declares.",
        examples=[{"WEATHER_KEY": "${WEATHER_KEY}"}],
    )
    spaces: Texts = Field(
        (),
        title="Spaces",
        description="Spaces that may use it besides the owner's; mnema people list shows them.",
        examples=[["telegram-123456789"]],
    )
