"""The plug-ins of a bot: which tools a space is offered, and the guards that may refuse a call."""

import asyncio
import inspect
import sys
import time
from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from importlib.metadata import EntryPoints, entry_points
from typing import Any

import structlog

from bot.config.extras import GUARD_GROUP, TOOL_GROUP
from bot.config.schema import Config
from bot.plugins import PluginInvalid, define, find_tools
from bot.tools.base import GuardedCall, Tool
from bot.tools.plugins.library import PluginFile, PluginLibrary
from bot.tools.plugins.tool import FileTool, PackageTool
from bot.tools.web.client import GuardedClient

log = structlog.get_logger(__name__)
GUARD_SECONDS = 5.0
OWNER_SPACE = ""
BROKEN_GUARD = "A guard of this bot could not judge the call, so it was not made."


def find_installed_points() -> EntryPoints:
    """Return the entry points for tools and guards of all installed packages."""
    return read_points(tuple(sys.path))


@cache
def read_points(search_path: tuple[str, ...]) -> EntryPoints:
    """Read the entry points for tools and guards of the packages on the search path of modules.

    It takes a tenth of a millisecond for each package, so it is done once: what is installed later
    is used from the next start.
    """
    return EntryPoints((*entry_points(group=TOOL_GROUP), *entry_points(group=GUARD_GROUP)))


class PluginTools:
    """Offers the tools of enabled files and installed packages.

    Args:
        known_secrets: returns all secrets of the configuration.
        points: returns the entry points of all installed packages.
        guard_seconds: how long one guard may take.
    """

    def __init__(
        self,
        library: PluginLibrary,
        config: Callable[[], Config],
        known_secrets: Callable[[], Collection[str]],
        client: GuardedClient | None = None,
        points: Callable[[], EntryPoints] = find_installed_points,
        guard_seconds: float = GUARD_SECONDS,
    ) -> None:
        self.library = library
        self._config = config
        self._known_secrets = known_secrets
        self._client = client or GuardedClient(allowed=lambda: config().tools.web.allow)
        self._points = points
        self._guard_seconds = guard_seconds
        self._packages: tuple[PackageTool, ...] = ()
        self._guards: tuple[tuple[str, Callable[[GuardedCall], Any]], ...] = ()
        self._built: dict[str, tuple[PluginFile, tuple[FileTool, ...]]] = {}

    async def load(self) -> None:
        """Import the packages that are installed for the bot; one that is broken is left out and
        logged.
        """
        points = await asyncio.to_thread(self._points)
        tools, guards = points.select(group=TOOL_GROUP), points.select(group=GUARD_GROUP)
        packages: list[PackageTool] = []
        for point in sorted(tools, key=lambda point: point.name):
            try:
                packages += self._load_package(point.name, await asyncio.to_thread(point.load))
            except Exception as err:
                log.error(
                    "package of tools not loaded",
                    name=point.name,
                    error=type(err).__name__,
                    exc_info=True,
                )
        self._packages = tuple(packages)
        loaded = []
        for point in sorted(guards, key=lambda point: point.name):
            try:
                loaded.append((point.name, await asyncio.to_thread(point.load)))
            except Exception as err:
                # A guard that is meant to be there refuses everything: it may never allow by being
                # absent.
                log.error(
                    "guard not loaded", name=point.name, error=type(err).__name__, exc_info=True
                )
                loaded.append((point.name, _refuse))
        self._guards = tuple(loaded)

    def offered(self, space: str) -> tuple[Tool, ...]:
        """Return the tools of a space, by file or package and name; the first of equal names
        counts.
        """
        tools: dict[str, Tool] = {}
        if not self._packages and not self.library.state.path.exists():
            return ()
        for tool in self.all():
            settings = self._config().plugins.get(tool.origin)
            if space == OWNER_SPACE or (settings is not None and space in settings.spaces):
                tools.setdefault(tool.spec.name, tool)
        return tuple(tools.values())

    def all(self) -> list[FileTool | PackageTool]:
        """Return all tools of enabled files and installed packages."""
        found: list[FileTool | PackageTool] = []
        for file, enabled in self.library.enabled():
            known = self._built.get(file.name)
            if known is None or known[0] != file:
                secrets = partial(self._secrets, file.name)
                built = tuple(
                    FileTool(
                        one,
                        file,
                        secrets,
                        self._client,
                        self._known_secrets,
                        self.library.is_enabled,
                    )
                    for one in enabled.tools
                )
                known = self._built[file.name] = (file, built)
            found += known[1]
        return [*found, *self._packages]

    async def find_refusal(self, call: GuardedCall) -> str:
        """Ask the guards about a call; return why one refuses it, or "" if none does."""
        for name, check in self._guards:
            began = time.monotonic()
            try:
                async with asyncio.timeout(self._guard_seconds):
                    answer = check(call)
                    why = await answer if inspect.isawaitable(answer) else answer
                # one that never waits cannot be interrupted
                if time.monotonic() - began > self._guard_seconds:
                    raise TimeoutError
            except Exception as err:
                log.error("guard broke", guard=name, error=type(err).__name__, exc_info=True)
                return BROKEN_GUARD
            if why:
                return str(why)[:500]
        return ""

    def _load_package(self, name: str, loaded: Any) -> list[PackageTool]:
        values = list(vars(loaded).values()) if inspect.ismodule(loaded) else list(loaded)
        functions = find_tools(values)
        if not functions:
            raise PluginInvalid(f"{name} has no function with @tool(…)")
        return [
            PackageTool(
                define(function),
                name,
                function,
                partial(self._secrets, name),
                self._client,
                self._known_secrets,
            )
            for function in functions.values()
        ]

    def _secrets(self, name: str) -> Mapping[str, str]:
        settings = self._config().plugins.get(name)
        return settings.env if settings is not None else {}


def _refuse(call: GuardedCall) -> str:
    return BROKEN_GUARD
