"""The wizard of servers of tools: an address, connected to before it is saved.

A server that is a program is written into config.json by hand: who has the page should not choose
what runs on this machine.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from starlette.requests import Request

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.messages import ConfigRejected
from bot.config.sections.extensions import McpServerConfig
from bot.console.transcripts import CONSOLE_ACTOR
from bot.console.wizards.base import (
    NO_ADDRESS,
    WizardEnd,
    WizardField,
    WizardFinding,
    WizardForm,
    WizardInput,
    WizardKind,
    WizardReport,
    refuse,
    refuse_references,
)
from bot.telemetry.log import LogRedactor
from bot.tools.mcp.connection import McpError
from bot.tools.mcp.server import McpServer
from bot.tools.web.addresses import WebError, parse_url
from channels.phrases import Phrase, untranslated
from channels.web.auth import require_fresh_login
from channels.web.requests import SMALL_BODY, HttpRefusal
from memory.store.automation.mcp import ListedTool
from memory.store.store import Store

SHOWN_TOOLS = 12
OWN = "own"
CONNECTION = Phrase("Connection")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,31}")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpPreset:
    """A server that somebody runs for everybody."""

    id: str
    title: Phrase
    about: Phrase
    url: str
    #: Where a token is made; "" for a server that takes none.
    key_page: str = ""
    needs_token: bool = False


# Source: addresses that public configurations of other clients use, as of 2026-11-29.
MCP_PRESETS = (
    McpPreset(
        id="deepwiki",
        title=Phrase("DeepWiki"),
        about=Phrase("explains public repositories"),
        url="https://mcp.deepwiki.com/mcp",
    ),
    McpPreset(
        id="context7",
        title=Phrase("Context7"),
        about=Phrase("documentation of libraries"),
        url="https://mcp.context7.com/mcp",
        key_page="https://context7.com/dashboard",
    ),
    McpPreset(
        id="github",
        title=Phrase("GitHub"),
        about=Phrase("repositories, issues, pull requests"),
        url="https://api.githubcopilot.com/mcp/",
        key_page="https://github.com/settings/personal-access-tokens",
        needs_token=True,
    ),
    McpPreset(
        id="huggingface",
        title=Phrase("Hugging Face"),
        about=Phrase("models, data sets, papers"),
        url="https://huggingface.co/mcp",
        key_page="https://huggingface.co/settings/tokens",
    ),
    McpPreset(
        id="zhipu-search",
        title=Phrase("Zhipu web search"),
        about=Phrase("for the GLM Coding Plan"),
        url="https://open.bigmodel.cn/api/mcp/web_search_prime/mcp",
        key_page="https://open.bigmodel.cn/usercenter/apikeys",
        needs_token=True,
    ),
)
NAME = WizardField(
    name="name",
    title=Phrase("Name"),
    example=untranslated("notes"),
    help=Phrase("Letters, digits and hyphens; its tools' names begin with this name."),
)
ADDRESS = WizardField(
    name="url", title=Phrase("Address"), example=untranslated("https://tools.example.org/mcp")
)
LOCAL = WizardField(
    name="local",
    title=Phrase("It is on this machine or on a private network"),
    form="flag",
    required=False,
)
OPTIONAL_TOKEN = WizardField(
    name="token",
    title=Phrase("Token, if it needs one"),
    form="secret",
    required=False,
    help=Phrase("It is sent as “Authorization: Bearer …”, and never shown again."),
)
TOKEN = WizardField(name="token", title=Phrase("Token"), form="secret", help=OPTIONAL_TOKEN.help)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpWizard:
    """Adds a server of tools; the model is offered none of them before their review."""

    name: ClassVar[str] = "mcp"
    action: ClassVar[str] = "config.write"
    max_body: ClassVar[int] = SMALL_BODY

    file: ConfigFile
    home: HomeFolder
    store: Store
    presets: Sequence[McpPreset] = MCP_PRESETS

    @property
    def kinds(self) -> tuple[str, ...]:
        return (*(preset.id for preset in self.presets), OWN)

    async def form(self) -> WizardForm:
        """Return the presets, and an address of one's own."""
        own = WizardKind(
            id=OWN,
            title=Phrase("Another server"),
            note=Phrase("any address"),
            fields=(NAME, ADDRESS, OPTIONAL_TOKEN, LOCAL),
        )
        return WizardForm(
            title=Phrase("Add a tool server"),
            about=Phrase(
                "Whatever its tools are given leaves this machine. The model gets none of them "
                "until you have reviewed them. A server that is a program is set up in "
                "config.json: see docs/tools/mcp.md."
            ),
            choose=Phrase("Which server?"),
            kinds=(*(self._kind(preset) for preset in self.presets), own),
            test=Phrase("Test"),
            finish=Phrase("Add it"),
            result=Phrase("Live test"),
            untested=Phrase("Not tested yet. The test saves nothing."),
            testing=Phrase("Connecting…"),
        )

    def _kind(self, preset: McpPreset) -> WizardKind:
        is_there = preset.id in self.file.current.mcp
        fields: tuple[WizardField, ...] = ()
        if preset.key_page:
            fields = (TOKEN if preset.needs_token else OPTIONAL_TOKEN,)
        return WizardKind(
            id=preset.id,
            title=preset.title,
            note=Phrase("set up") if is_there else preset.about,
            is_found=is_there,
            link=preset.key_page,
            fields=fields,
        )

    async def test(self, given: WizardInput, request: Request) -> WizardReport:
        """Connect, and list its tools."""
        name, settings = self._settings(given)
        server = McpServer(
            name, McpServerConfig.model_validate(settings), "", _store_nothing, home=self.home
        )
        try:
            tools = await server.connect()
        except McpError as err:
            why = Phrase("It cannot be used: {why}.", why=_hide(str(err), given))
            hint = Phrase(
                "Check the address and the token. A server that needs a login in a browser is "
                "set up in config.json, then: mnema mcp login {name}",
                name=name,
            )
            failed = WizardFinding(
                step="connection", name=CONNECTION, state="failed", text=why, hint=hint
            )
            return WizardReport(findings=(failed,), ok=False)
        finally:
            await server.close()
        shown = ", ".join(tool.name for tool in tools[:SHOWN_TOOLS])
        listed = Phrase("{count} tool: {names}", "{count} tools: {names}", count=len(tools)).fill(
            names=shown + ("…" if len(tools) > SHOWN_TOOLS else "")
        )
        return WizardReport(
            findings=(
                WizardFinding(
                    step="connection", name=CONNECTION, state="ok", text=Phrase("It answers.")
                ),
                WizardFinding(
                    step="tools", name=Phrase("Tools"), state="ok" if tools else "no", text=listed
                ),
            ),
            ok=True,
        )

    async def finish(self, given: WizardInput, request: Request) -> WizardEnd:
        """Save the server."""
        require_fresh_login(request.state.visitor)
        name, settings = self._settings(given)
        try:
            await asyncio.to_thread(self.file.set_mcp_address, name, settings)
        except ConfigRejected as err:
            raise HttpRefusal(400, "config", err.phrase) from err
        await self.store.note("config", f"mcp.{name}", "set", CONSOLE_ACTOR)
        return WizardEnd(
            text=Phrase("{name} was added. Review its tools now.", name=name), path="/mcp"
        )

    def _settings(self, given: WizardInput) -> tuple[str, dict[str, Any]]:
        """Return the name of the server, and its item of the settings.

        Raises:
            HttpRefusal: a value is missing or cannot be.
        """
        refuse_references(given)
        preset = next((one for one in self.presets if one.id == given.kind), None)
        if preset is None:
            name, url = given.need(NAME), given.need(ADDRESS)
        else:
            name, url = preset.id, preset.url
        self._check_name(name, url)
        is_local = preset is None and given.get(LOCAL.name) != ""
        _check_address(url, is_local=is_local)
        token = _read_token(given, needed=preset is not None and preset.needs_token)
        settings: dict[str, Any] = {"url": url}
        if token:
            settings["headers"] = {"Authorization": f"Bearer {token}"}
        if is_local:
            settings["local"] = True
        return name, settings

    def _check_name(self, name: str, url: str) -> None:
        if not _NAME.fullmatch(name):
            raise refuse(NAME.name, Phrase("the name must be 1 to 32 letters, digits and hyphens"))
        former = self.file.current.mcp.get(name)
        if former is not None and former.url != url:
            raise refuse(NAME.name, Phrase("there is already a server with this name"))


def _read_token(given: WizardInput, *, needed: bool) -> str:
    token = given.need(TOKEN) if needed else given.get(TOKEN.name)
    if not (token.isascii() and token.isprintable()):
        raise refuse(TOKEN.name, Phrase("the token contains characters that no token has"))
    return token


def _check_address(url: str, *, is_local: bool) -> None:
    try:
        is_encrypted = parse_url(url).scheme == "https"
    except WebError as err:
        raise refuse(ADDRESS.name, NO_ADDRESS) from err
    if not (is_encrypted or is_local):
        why = Phrase("the address must begin with https://, unless it is on a private network")
        raise refuse(ADDRESS.name, why)


async def _store_nothing(era: str, tools: Sequence[ListedTool]) -> None:
    """Leave the list of a server that is only tried."""


def _hide(text: str, given: WizardInput) -> str:
    """Return what went wrong without the token."""
    return LogRedactor([given.get(TOKEN.name)])(text).rstrip(".")
