"""A tool of an MCP server as the model sees it."""

import re
from collections.abc import Callable, Mapping

from bot.errors import OutcomeUnknown, ToolFailed
from bot.tools.base import ToolContext, ToolOutput
from bot.tools.exec.rules import ASKING_SERVER_ACTION, SERVER_FACT, SERVER_TOOL_FACT
from bot.tools.mcp.connection import CONNECT_SECONDS, LIST_SECONDS, McpError, McpLost
from bot.tools.mcp.results import to_output
from bot.tools.mcp.schema import ArgumentCheck, McpCallArguments, repair_schema, shorten_name
from bot.tools.mcp.server import McpServer
from memory.conversation import ToolSpec
from memory.store.automation.mcp import McpToolRow
from memory.workspace.blobs import Blobs

MAX_NAME_CHARS = 64
MAX_SHOWN_DESCRIPTION = 4_000
CLOSE_SECONDS = 10.0
RUN_ACTION = "mcp.call"
_OTHERS = re.compile(r"[^A-Za-z0-9_-]")


def tool_name(server: str, tool: str) -> str:
    """Return the name that the model knows; the same for the same tool at all times."""
    name = f"{server}__{tool}"
    shown = shorten_name(name, MAX_NAME_CHARS, _OTHERS)
    return name if shown[:-7] == name and len(name) <= MAX_NAME_CHARS else shown


class McpTool:
    """Runs one reviewed tool.

    Args:
        server: returns the server's current connection.
        still_allowed: tells whether it is still what the owner reviewed.
    """

    def __init__(
        self,
        row: McpToolRow,
        seconds: float,
        server: Callable[[], McpServer],
        still_allowed: Callable[[McpToolRow], bool],
        blobs: Blobs,
    ) -> None:
        schema, names = repair_schema(row.schema)
        self.row = row
        self.arguments = ArgumentCheck(row.schema, names)
        calls = 2 if row.effect == "pure" else 1
        self.spec = ToolSpec(
            name=tool_name(row.server, row.name),
            description=f"[A tool of the MCP server {row.server}] {row.description[:MAX_SHOWN_DESCRIPTION]}".strip(),  # noqa: E501
            schema=schema,
            effect=row.effect,
            action=ASKING_SERVER_ACTION if row.mode == "ask" else RUN_ACTION,
            seconds=calls * seconds + CONNECT_SECONDS + LIST_SECONDS + CLOSE_SECONDS,
            origin=row.server,
        )
        self._server = server
        self._still_allowed = still_allowed
        self._blobs = blobs

    async def bind(self, arguments: McpCallArguments) -> Mapping[str, str]:
        """See BoundTool: a call is for the tool as the owner reviewed it."""
        self._check()
        return {SERVER_FACT: self.row.server, SERVER_TOOL_FACT: self.row.sha256}

    async def run(self, arguments: McpCallArguments, context: ToolContext) -> ToolOutput:
        """See Tool."""
        server, pure = self._server(), self.spec.effect == "pure"
        try:
            result = await server.call(
                self.row.name, arguments.values, check=self._check, repeatable=pure
            )
        except McpLost as err:
            why = f"The MCP server {server.name} is down: {err}."
            if err.sent and not pure:
                raise OutcomeUnknown(
                    f"{why} Whether the call happened is unknown; look first, then decide."
                ) from err
            raise ToolFailed(why) from err
        except McpError as err:
            raise ToolFailed(f"{self.spec.name} failed: {err}") from err
        except TimeoutError as err:
            why = f"{self.spec.name} took longer than {server.settings.seconds} s and was given up."
            if pure:
                raise ToolFailed(why) from err
            raise OutcomeUnknown(
                f"{why} Whether it happened is unknown; look first, then decide."
            ) from err
        return await to_output(result, self.spec.name, self._blobs)

    def _check(self) -> None:
        if not self._still_allowed(self.row):
            raise ToolFailed(
                f"{self.spec.name} is not what the owner reviewed any more, so it was not called; "
                f"they can review it with: mnema mcp review {self.row.server}"
            )
