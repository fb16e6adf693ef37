"""What `mnema mcp` does; imported only when one of its commands runs, for it needs the
configuration and the store.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import typer

from bot.cli.common import COMMAND_LINE_ACTOR, print_json, printable, run_offline
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.config.sections.extensions import McpServerConfig
from bot.errors import MnemaError
from bot.runtime.store_access import run_with_store, store_exists, write_beside
from bot.tools.mcp.connection import McpError
from bot.tools.mcp.oauth import LoginFiles
from bot.tools.mcp.server import McpServer
from bot.tools.mcp.service import POLL_SECONDS, source_sha256
from bot.tools.mcp.stored_login import create_auth
from memory.store.automation.mcp import (
    ListedTool,
    McpChoice,
    McpEffect,
    McpMode,
    McpServerRow,
    McpToolRow,
    store_list,
    store_review,
)
from memory.text.invisible import find_invisible
from memory.workspace.write_locks import LOCAL_WRITE_LOCKS

_KEYS: dict[str, McpMode] = {"r": "run", "a": "ask", "o": "off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    servers: dict[str, McpServerRow]
    tools: list[McpToolRow]

    def of(self, server: str) -> list[McpToolRow]:
        """Return the listed tools of a server."""
        return [row for row in self.tools if row.server == server and row.listed]

    def is_reviewed(self, name: str, settings: McpServerConfig) -> bool:
        return name in self.servers and self.servers[name].source_sha256 == source_sha256(settings)


def list_servers(home: HomeFolder, *, as_json: bool) -> int:
    """Print the servers of config.json and their tools."""
    config, known = load_config(home), _load_known(home)
    found: list[dict[str, Any]] = [
        {
            "name": name,
            "command": list(settings.command),
            "url": settings.url,
            "env": sorted(settings.env),
            "headers": sorted(settings.headers),
            "network": settings.network,
            "files": list(settings.files),
            "spaces": list(settings.spaces),
            "reviewed": known.is_reviewed(name, settings),
            "tools": [
                {
                    "name": row.name,
                    "state": _state(row, known.is_reviewed(name, settings)),
                    "effect": row.effect,
                }
                for row in known.of(name)
            ],
        }
        for name, settings in sorted(config.mcp.items())
    ]
    if as_json:
        print_json(found)
        return 0
    for server in found:
        where = printable(" ".join(server["command"]) or server["url"])
        print(f"{server['name']}  {where}{_reach(bool(server['network']))}")
        for tool in server["tools"]:
            print(f"  {tool['state']:8} {tool['effect']:7} {printable(tool['name'])}")
        if not server["tools"]:
            print(f"  Its tools are not known yet: mnema mcp review {server['name']}")
    if not found:
        print("config.json names no servers under mcp.")
    return 0


def review(
    home: HomeFolder,
    name: str,
    *,
    run: Sequence[str] | None,
    ask: Sequence[str] | None,
    off: Sequence[str] | None,
    pure: Sequence[str] | None,
) -> int:
    """Start a server, show its tools as they are now, and choose which the model may use.

    Without --run, --ask and --off you are asked about each tool that is new or has changed.
    """
    settings = load_config(home).mcp.get(name)
    if settings is None:
        raise MnemaError(f"config.json has no server {name!r} under mcp.")
    if not store_exists(home):
        run_offline(home, _do_nothing, lock=True, writable=True)
    tools = asyncio.run(_list_tools(home, name, settings))
    known = _load_known(home)
    given, pure_names = _given_modes(run, ask, off), pure or ()
    unknown = sorted({*given, *pure_names} - {tool.name for tool in tools})
    if unknown:
        raise MnemaError(f"{name} has no tool {', '.join(map(printable, unknown))}.")
    # what was reviewed of another source is reviewed again
    reviewed = known.of(name) if known.is_reviewed(name, settings) else ()
    reviewed_rows = {row.name: row for row in reviewed}
    choices = []
    for tool in tools:
        row = _find_unchanged(reviewed_rows, tool)
        _show(tool, row)
        choices.append(_choose(tool, row, given, pure_names, interactive=not given))
    missed = asyncio.run(
        write_beside(
            home,
            lambda tx: store_review(tx, name, source_sha256(settings), choices, COMMAND_LINE_ACTOR),
        )
    )
    if missed:
        raise MnemaError(
            f"These changed while you read: {', '.join(map(printable, missed))}; review {name} "
            "again."
        )
    on = [choice.name for choice in choices if choice.mode != "off"]
    print(
        f"{name}: {len(on)} of {len(choices)} tools are on. A running bot picks this up in "
        f"{POLL_SECONDS:.0f} seconds."
    )
    return 0


def _given_modes(
    run: Sequence[str] | None, ask: Sequence[str] | None, off: Sequence[str] | None
) -> dict[str, McpMode]:
    """Return the modes that options give to tools; of several, the one that allows more."""
    given: dict[str, McpMode] = dict.fromkeys(off or (), "off")
    given.update(dict.fromkeys(ask or (), "ask"))
    given.update(dict.fromkeys(run or (), "run"))
    return given


def _find_unchanged(rows: Mapping[str, McpToolRow], tool: ListedTool) -> McpToolRow | None:
    """Return the row of a tool that is still as it was when it was reviewed; None of another."""
    row = rows.get(tool.name)
    if row is None or row.reviewed_sha256 != row.sha256 or row.sha256 != tool.sha256:
        return None
    return row


async def _do_nothing(_: object) -> None: ...


def load_config(home: HomeFolder) -> Config:
    """Load config.json."""
    file = ConfigFile(home.config)
    file.load()
    return file.current


def _load_known(home: HomeFolder) -> _Known:
    async def load(store: Any) -> _Known:
        return _Known(
            servers={row.id: row for row in await store.mcp.servers()},
            tools=await store.mcp.tools(),
        )

    return run_with_store(home, load, none=_Known(servers={}, tools=[]))


async def _list_tools(
    home: HomeFolder, name: str, settings: McpServerConfig
) -> Sequence[ListedTool]:
    """Start the server, and store what it lists."""

    async def store(era: str, tools: Sequence[ListedTool]) -> None:
        await write_beside(home, lambda tx: store_list(tx, name, era, tools))

    files = LoginFiles(home.mcp_logins, LOCAL_WRITE_LOCKS)
    server = McpServer(
        name,
        settings,
        "",
        store,
        create_auth=lambda needed: create_auth(name, settings, files, needed),
        home=home,
    )
    try:
        tools = await server.connect()
        for left_out in map(printable, server.left_out):
            print(
                f"{left_out}: left out, its description of arguments cannot be read.",
                file=sys.stderr,
            )
        return tools
    except McpError as err:
        raise MnemaError(f"{name} could not be listed: {printable(str(err))}.") from err
    finally:
        await server.close()


def _choose(
    tool: ListedTool,
    row: McpToolRow | None,
    given: dict[str, McpMode],
    pure: Sequence[str],
    *,
    interactive: bool,
) -> McpChoice:
    """Return the choice for one tool: as given, as it was, or as typed.

    Args:
        row: the choice as it was; None for a tool that is new or has changed.
    """
    mode: McpMode = row.mode if row else "off"
    effect: McpEffect = row.effect if row else "unsafe"
    if tool.name in given:
        mode, effect = given[tool.name], "unsafe"
    elif interactive and row is None:
        mode = _KEYS[_prompt("[r]un, [a]sk each time, [o]ff", ("r", "a", "o"), "o")]
        if (
            mode != "off"
            and tool.read_only
            and _prompt("It says that it only reads. Trust that?", ("y", "n"), "n") == "y"
        ):
            effect = "pure"
    if tool.name in pure:
        effect = "pure"
    return McpChoice(name=tool.name, mode=mode, effect=effect, sha256=tool.sha256)


def _prompt(question: str, keys: Sequence[str], default: str) -> str:
    if not sys.stdin.isatty():
        raise MnemaError(
            "There is no terminal to choose in; pass --run, --ask or --off with the names of tools."
        )
    while True:
        typed = str(typer.prompt(question, default=default)).strip().lower()[:1]
        if typed in keys:
            return typed


def _show(tool: ListedTool, settled: McpToolRow | None) -> None:
    """Print a tool; one that is settled in one line, others with everything that the model would
    read.
    """
    if settled is not None:
        print(f"{settled.mode:4} {settled.effect:7} {printable(tool.name)}  as reviewed")
        return
    print(f"\n{printable(tool.name)}{'  (says that it only reads)' if tool.read_only else ''}")
    if invisible := find_invisible(f"{tool.description}{tool.schema}"):
        print(f"  Warning: it contains invisible characters: {', '.join(invisible)}.")
    for line in tool.description.splitlines():
        print(f"  | {printable(line)}")
    for line in json.dumps(json.loads(tool.schema), ensure_ascii=False, indent=2).splitlines():
        print(f"  {printable(line)}")


def _state(row: McpToolRow, reviewed: bool) -> Literal["run", "ask", "off", "changed", "new"]:
    if row.reviewed_sha256 == "" or not reviewed:
        return "new"
    if row.sha256 != row.reviewed_sha256:
        return "changed"
    return row.mode


def _reach(network: bool) -> str:
    return "  (reaches this machine's network)" if network else ""
