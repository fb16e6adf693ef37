"""Tools of plug-ins as the model sees them: those of a file run in its own process, those of a
package in ours.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping

from bot.errors import ToolFailed
from bot.plugins import Definition, PluginError, ToolFunction, run_tool
from bot.tools.base import ToolContext, ToolOutput
from bot.tools.mcp.schema import ArgumentCheck, McpCallArguments, repair_schema
from bot.tools.plugins.library import PluginFile
from bot.tools.plugins.network import PackageContext, PluginNetwork
from bot.tools.plugins.runner import MAX_RESULT_CHARS, PluginSource, call_plugin
from bot.tools.web.client import GuardedClient
from memory.conversation import ToolSpec

CALL_SECONDS = 60.0
RUN_ACTION, ASK_ACTION = "plugin.call", "plugin.call.ask"


class PluginTool:
    """One tool of a file, or of a package.

    Args:
        origin: the file's or package's name.
        secrets: returns what the owner gave, by name.
        client: sends the requests.
        known_secrets: returns all secrets of the configuration.
    """

    def __init__(
        self,
        definition: Definition,
        origin: str,
        secrets: Callable[[], Mapping[str, str]],
        client: GuardedClient,
        known_secrets: Callable[[], Collection[str]],
    ) -> None:
        schema, names = repair_schema(definition.schema)
        self.definition = definition
        self.origin = origin
        self.arguments = ArgumentCheck(definition.schema, names)
        self.spec = ToolSpec(
            name=definition.name,
            description=definition.description,
            schema=schema,
            effect=definition.effect,
            action=ASK_ACTION if definition.ask else RUN_ACTION,
            seconds=CALL_SECONDS + 5.0,  # the process is ended first
            origin=origin,
        )
        self._secrets = secrets
        self._client = client
        self._known_secrets = known_secrets

    async def bind(self, arguments: McpCallArguments) -> Mapping[str, str]:
        """See BoundTool: a call is for the tool as it is defined now."""
        text = json.dumps([self.spec.name, self.spec.description, self.definition.schema])
        return {"sha256 of the tool": hashlib.sha256(text.encode()).hexdigest()}

    def missing(self) -> list[str]:
        """Return the secrets that the tool needs and the owner has not given."""
        given = self._secrets()
        return [name for name in self.definition.needs if not given.get(name)]

    def _needed(self) -> dict[str, str]:
        if missing := self.missing():
            keys = ", ".join(f"plugins.{self.origin}.env.{name}" for name in missing)
            raise ToolFailed(f"{self.spec.name} needs what the owner has not given yet: {keys}.")
        given = self._secrets()
        return {name: given[name] for name in self.definition.needs}

    def _network(self, context: ToolContext, secrets: Mapping[str, str]) -> PluginNetwork:
        return PluginNetwork(self._client, context, secrets, self._known_secrets)


class FileTool(PluginTool):
    """A tool of a file; `still_enabled` tells whether the file is as the owner enabled it."""

    def __init__(
        self,
        definition: Definition,
        file: PluginFile,
        secrets: Callable[[], Mapping[str, str]],
        client: GuardedClient,
        known_secrets: Callable[[], Collection[str]],
        still_enabled: Callable[[str, str], bool],
    ) -> None:
        super().__init__(definition, file.name, secrets, client, known_secrets)
        self._file = file
        self._still_enabled = still_enabled

    async def bind(self, arguments: McpCallArguments) -> Mapping[str, str]:
        """See BoundTool: a call is for the file as the owner enabled it."""
        self._check()
        return {"sha256 of the plug-in": self._file.sha256}

    async def run(self, arguments: McpCallArguments, context: ToolContext) -> ToolOutput:
        """See Tool."""
        self._check()
        secrets = self._needed()
        request = {
            "tool": self.definition.name,
            "arguments": json.dumps(arguments.values, ensure_ascii=False),
            "secrets": secrets,
            "now": context.now().isoformat(),
        }
        source = PluginSource(name=self._file.name, text=self._file.text)
        text = await call_plugin(
            source, request, self._network(context, secrets).answer, CALL_SECONDS
        )
        return ToolOutput(text=text, outside=True)

    def _check(self) -> None:
        if not self._still_enabled(self._file.name, self._file.sha256):
            name = self._file.name
            raise ToolFailed(
                f"The plug-in {name} is not enabled any more; the owner can: mnema tools on {name}"
            )


class PackageTool(PluginTool):
    """A tool of an installed package."""

    def __init__(
        self,
        definition: Definition,
        package: str,
        function: ToolFunction,
        secrets: Callable[[], Mapping[str, str]],
        client: GuardedClient,
        known_secrets: Callable[[], Collection[str]],
    ) -> None:
        super().__init__(definition, package, secrets, client, known_secrets)
        self._function = function

    async def run(self, arguments: McpCallArguments, context: ToolContext) -> ToolOutput:
        """See Tool."""
        secrets = self._needed()
        own = PackageContext(self._network(context, secrets), context, secrets)
        try:
            text = await run_tool(
                self._function, own, json.dumps(arguments.values, ensure_ascii=False)
            )
        except PluginError as err:
            raise ToolFailed(str(err)) from err
        return ToolOutput(text=text[:MAX_RESULT_CHARS], outside=True)
