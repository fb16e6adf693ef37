"""Emulated servers for tests: their orders, their configuration, and a review as the owner makes
it.
"""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.config.home import HomeFolder
from bot.config.sections.extensions import McpServerConfig
from bot.tools.mcp.server import McpServer
from bot.tools.mcp.service import source_sha256
from memory.store.automation.mcp import ListedTool, McpChoice
from memory.store.store import Store
from tests.bot.inside import open_record
from tests.emulators import mcp_server


class Orders:
    """The orders of one server, in a file that it reads."""

    def __init__(
        self, folder: Path, tools: Sequence[Mapping[str, Any]], name: str = "emulator", **more: Any
    ) -> None:
        folder.mkdir(exist_ok=True)
        self.path = folder / f"{name}.orders.json"
        self.log = folder / f"{name}.log"
        self.pid = folder / f"{name}.pid"
        self.orphan = folder / f"{name}.orphan"
        self.write(tools=list(tools), log=str(self.log), pid=str(self.pid), **more)

    def write(self, **orders: Any) -> None:
        known = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.path.write_text(json.dumps({**known, **orders}))

    @property
    def settings(self) -> dict[str, Any]:
        """Its part of config.json; it runs without a sandbox."""
        command = [sys.executable, str(Path(mcp_server.__file__)), str(self.path)]
        return {"command": command, "network": True, "files": ["*"]}

    @property
    def sandboxed(self) -> dict[str, Any]:
        """The same in the sandbox: it sees its own code and interpreter, and writes beside its
        orders.
        """
        prefixes = {sys.prefix, os.path.realpath(sys.base_prefix)}
        files = [path for path in sorted(prefixes) if not path.startswith("/usr")]
        code = str(Path(mcp_server.__file__).parent)
        return {**self.settings, "files": [*files, code, f"{self.path.parent}:rw"]}

    def calls(self) -> list[str]:
        """The tools that were called."""
        return (
            [line.split()[0] for line in self.log.read_text().splitlines()]
            if self.log.exists()
            else []
        )


async def review(
    home: Path,
    name: str,
    settings: Mapping[str, Any],
    modes: Mapping[str, str],
    pure: Sequence[str] = (),
) -> None:
    """List a server's tools and choose as the owner does, on a store that nobody has open."""
    store = await open_record(HomeFolder(root=home), time.time)
    try:
        await list_and_choose(store, name, settings, modes, pure)
    finally:
        await store.close()


async def list_and_choose(
    store: Store,
    name: str,
    settings: Mapping[str, Any],
    modes: Mapping[str, str],
    pure: Sequence[str] = (),
) -> None:
    config = McpServerConfig.model_validate(settings)

    async def store_list(era: str, tools: Sequence[ListedTool]) -> None:
        await store.mcp.store_list(name, era, tools)

    server = McpServer(name, config, "legacy", store_list, home=HomeFolder(root=Path("/none")))
    try:
        tools = await server.connect()
    finally:
        await server.close()
    choices = [
        McpChoice(
            name=tool.name,
            mode=modes[tool.name],  # type: ignore[arg-type]
            effect="pure" if tool.name in pure else "unsafe",
            sha256=tool.sha256,
        )
        for tool in tools
        if tool.name in modes
    ]
    assert await store.mcp.store_review(name, source_sha256(config), choices, "test") == []
