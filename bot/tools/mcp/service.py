"""The MCP servers of a bot: their stored tools, which of them a space is offered, and their
connections.
"""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import structlog

from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.config.sections.extensions import McpServerConfig
from bot.tools.base import Tool
from bot.tools.mcp.oauth import LoginFiles
from bot.tools.mcp.resources import McpFindTool, McpPrompt, McpReadTool, get_prompt, list_prompts
from bot.tools.mcp.server import LabelPaths, McpServer, McpStatus
from bot.tools.mcp.stored_login import create_auth
from bot.tools.mcp.tool import McpTool
from channels.phrases import AnyPhrase, Phrase
from memory.store.automation.mcp import ListedTool, McpChoice, McpRecords, McpServerRow, McpToolRow
from memory.store.errors import StoreError
from memory.workspace.blobs import Blobs

log = structlog.get_logger(__name__)
# between two looks at the rows: a review by the command line takes effect after that
POLL_SECONDS = 30.0
MAX_NAMED = 5  # changed tools that one notice names
OWNER_SPACE = ""
# Tells the owner: trouble's channel, Chinese text, English text, key.
NotifyOwner = Callable[[str, AnyPhrase, str], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerView:
    """A server as commands show it."""

    name: str
    status: McpStatus
    #: Whether its command is the one whose tools were reviewed.
    reviewed: bool
    #: Number of tools that are offered, changed since the review, and listed.
    offered: int
    changed: int
    listed: int


def source_sha256(settings: McpServerConfig) -> str:
    """Return the hash of what a server is: the program that is run, or the address."""
    return hashlib.sha256(json.dumps(settings.command or settings.url).encode()).hexdigest()


class McpTools:
    """Offers the reviewed tools of all servers. `close` ends the servers.

    Args:
        notify_owner: sends the owner a notice.
        logins: the stored logins.
        home: whose workspace servers may be given folders of.
        label: stores that what is in these folders of the owner's space comes from outside.
    """

    def __init__(
        self,
        records: McpRecords,
        config: Callable[[], Config],
        blobs: Blobs,
        notify_owner: NotifyOwner,
        logins: LoginFiles,
        home: HomeFolder,
        label: LabelPaths,
    ) -> None:
        self._records = records
        self._config = config
        self._blobs = blobs
        self._notify_owner = notify_owner
        self._logins = logins
        self._home = home
        self._label = label
        self._servers: dict[str, McpServer] = {}
        self._server_rows: dict[str, McpServerRow] = {}
        self._rows: tuple[McpToolRow, ...] = ()
        #: Allowed tools, by the names of their servers and how long a call may take there.
        self._built: dict[tuple[tuple[str, int], ...], tuple[McpTool, ...]] = {}
        self._readers: dict[tuple[str, ...], tuple[Tool, ...]] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def load(self) -> None:
        """Load what is stored; blocks nothing else, for a prompt needs no running server."""
        if not self._config().mcp:
            return
        self._server_rows = {row.id: row for row in await self._records.servers()}
        rows = tuple(await self._records.tools())
        if rows != self._rows:
            self._rows, self._built = rows, {}

    async def watch(self) -> None:
        """Take up reviews, and end servers that are no longer configured, until cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await self.load()
            except StoreError as err:
                log.info("MCP tools not read", error=type(err).__name__)
            for name in [name for name in self._servers if name not in self._config().mcp]:
                self._retire(name)

    def views(self) -> list[McpServerView]:
        """Return all configured servers as they are now."""
        found = []
        for name, settings in sorted(self._config().mcp.items()):
            rows = [row for row in self._rows if row.server == name and row.listed]
            reviewed = self._is_reviewed(name, settings)
            server = self._servers.get(name)
            found.append(
                McpServerView(
                    name=name,
                    status=server.status if server else McpStatus(),
                    reviewed=reviewed,
                    offered=sum(row.allowed for row in rows) if reviewed else 0,
                    changed=sum(row.changed for row in rows),
                    listed=len(rows),
                )
            )
        return found

    def listed(self, name: str) -> list[McpToolRow]:
        """Return what is stored of a server's tools, in the server's order."""
        return [row for row in self._rows if row.server == name and row.listed]

    def settings(self, name: str) -> McpServerConfig:
        """Return the settings of a configured server."""
        return self._config().mcp[name]

    async def list_again(self, name: str) -> None:
        """Start a configured server if it does not run, so that its list is stored.

        Raises:
            McpError: it is down.
        """
        await self._server(name).connect()
        await self.load()

    async def review(self, name: str, choices: Sequence[McpChoice], by: str) -> list[str]:
        """Store what the owner chose; it is in force at once.

        Returns the tools that are other ones by now.
        """
        source = source_sha256(self._config().mcp[name])
        missed: list[str] = await self._records.store_review(name, source, choices, by)
        await self.load()
        return missed

    def up(self) -> dict[str, bool]:
        """Tell of each configured server whether it can be called; one that was not needed yet
        can.
        """
        found = {name: self._servers.get(name) for name in self._config().mcp}
        return {
            name: server is None or server.status.state != "down" for name, server in found.items()
        }

    async def close(self) -> None:
        """End all servers."""
        for name in list(self._servers):
            self._retire(name)
        if self._closing:
            await asyncio.wait(self._closing)

    def offered(self, space: str) -> tuple[Tool, ...]:
        """Return the tools of a space, by server and name."""
        names = self.usable(space)
        servers = tuple((name, settings.seconds) for name, settings in names.items())
        if servers not in self._built:
            self._built[servers] = self._build(servers)
        readable = tuple(name for name, settings in names.items() if settings.resources)
        return (*self._resource_tools(readable), *self._built[servers])

    def usable(self, space: str) -> dict[str, McpServerConfig]:
        """Return the reviewed servers that a space may use, by name."""
        return {
            name: settings
            for name, settings in sorted(self._config().mcp.items())
            if space in (OWNER_SPACE, *settings.spaces) and self._is_reviewed(name, settings)
        }

    async def prompts(self, server: str) -> list[McpPrompt]:
        """List the prompts of a configured server.

        Raises:
            McpError: it is down, or has none.
        """
        found: list[McpPrompt] = await self._server(server).read(list_prompts)
        return found

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> str:
        """Return the text of a prompt.

        Raises:
            McpError: it is down, or refuses.
        """
        text: str = await self._server(server).read(partial(get_prompt, name, arguments))
        return text

    def _resource_tools(self, servers: tuple[str, ...]) -> tuple[Tool, ...]:
        """Return the tools that read resources, for servers whose resources the owner opened."""
        if not servers:
            return ()
        if servers not in self._readers:
            self._readers[servers] = (
                McpFindTool(servers, self._server),
                McpReadTool(servers, self._server, self._blobs),
            )
        return self._readers[servers]

    def _is_reviewed(self, name: str, settings: McpServerConfig) -> bool:
        row = self._server_rows.get(name)
        return row is not None and row.source_sha256 == source_sha256(settings)

    def _build(self, servers: Sequence[tuple[str, int]]) -> tuple[McpTool, ...]:
        tools: dict[str, McpTool] = {}
        for name, seconds in servers:
            for row in self._rows:
                if row.server == name and row.allowed:
                    tool = McpTool(
                        row, seconds, partial(self._server, name), self._still_allowed, self._blobs
                    )
                    tools.setdefault(tool.spec.name, tool)
        return tuple(tools[name] for name in sorted(tools))

    def _still_allowed(self, shown: McpToolRow) -> bool:
        """Tell whether a tool is the same as when the model was shown it."""
        return any(
            row.allowed
            and (row.server, row.name, row.sha256) == (shown.server, shown.name, shown.sha256)
            for row in self._rows
        )

    def _server(self, name: str) -> McpServer:
        """Return a server with its current settings; its former one ends."""
        settings = self._config().mcp[name]
        server = self._servers.get(name)
        if server is not None and server.settings != settings:
            self._retire(name)
            server = None
        if server is None:
            row = self._server_rows.get(name)
            server = McpServer(
                name,
                settings,
                row.era if row else "",
                partial(self._store_list, name),
                create_auth=lambda needed: create_auth(
                    name, settings, self._logins, lambda: self._need_login(name, needed)
                ),
                label=self._label,
                home=self._home,
            )
            self._servers[name] = server
        return server

    def _need_login(self, name: str, needed: Callable[[], None]) -> None:
        """Tell the owner, once a day at most, that a server needs a login."""
        needed()
        task = asyncio.create_task(self._tell_login(name))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _tell_login(self, name: str) -> None:
        await self._notify_owner(
            "",
            Phrase(
                "The MCP server {name} needs a login; run in a terminal: mnema mcp login {name}",
                name=name,
            ),
            f"mcp-login:{name}:{datetime.now(UTC):%Y-%m-%d}",
        )

    def _retire(self, name: str) -> None:
        task = asyncio.create_task(self._servers.pop(name).close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _store_list(self, name: str, era: str, tools: Sequence[ListedTool]) -> None:
        """Store a new list, and tell the owner once of tools that are off because they changed."""
        await self._records.store_list(name, era, tools)
        await self.load()
        changed = [
            row
            for row in self._rows
            if row.server == name and row.changed and row.told_sha256 != row.sha256
        ]
        if not changed:
            return
        names = ", ".join(row.name for row in changed[:MAX_NAMED])
        key = hashlib.sha256("".join(row.sha256 for row in changed).encode()).hexdigest()[:16]
        await self._notify_owner(
            "",
            Phrase(
                "Tools of the MCP server {name} have changed and were turned off: {names} "
                "({changed} in all). Review them: mnema mcp review {name}",
                name=name,
                names=names,
                changed=len(changed),
            ),
            f"mcp:{name}:{key}",
        )
        for row in changed:
            await self._records.mark_notified(name, row.name)
        await self.load()
