"""Resources of MCP servers, by two tools over all of them, and their prompts."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import Field

from bot.errors import ToolFailed
from bot.tools.base import ToolArguments, ToolContext, ToolOutput
from bot.tools.deferred import Findable, FoundByWords
from bot.tools.mcp.connection import MAX_PAGES, McpError
from bot.tools.mcp.results import McpResult, content_texts, decode_blob, to_output
from bot.tools.mcp.server import McpServer
from memory.conversation import ToolSpec
from memory.workspace.blobs import Blobs

MAX_RESOURCES = 500  # of one server
MAX_LISTED, MAX_DESCRIPTION_CHARS = 20, 300
MAX_PROMPT_CHARS = 100_000
TOOL_SECONDS = 120.0
GetServer = Callable[[str], McpServer]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpPrompt:
    """A prompt as its server lists it."""

    name: str
    description: str
    #: Names of its arguments; required ones end in `*`.
    arguments: tuple[str, ...]


class McpFindArguments(ToolArguments):
    """Arguments of `mcp_find`."""

    query: str = Field("", max_length=400, description="Words; empty lists the first ones")
    server: str = ""


class McpReadArguments(ToolArguments):
    """Arguments of `mcp_read`."""

    server: str
    uri: str = Field(min_length=1, max_length=4_000)


class McpFindTool:
    """Finds resources of the servers whose resources the owner opened."""

    arguments = McpFindArguments

    def __init__(self, servers: Sequence[str], server: GetServer) -> None:
        self._servers = tuple(servers)
        self._server = server
        self.spec = ToolSpec(
            name="mcp_find",
            description=(
                f"List documents and other resources of the servers {', '.join(servers)}, by words."
            ),
            schema=McpFindArguments.to_json_schema(),
            effect="pure",
            action="mcp.call",
            seconds=TOOL_SECONDS,
        )

    async def run(self, arguments: McpFindArguments, context: ToolContext) -> ToolOutput:
        names = [_known(arguments.server, self._servers)] if arguments.server else self._servers
        found: list[Findable] = []
        troubles: list[str] = []
        for name in names:
            try:
                found += [
                    _to_findable(name, one) for one in await self._server(name).read(list_resources)
                ]
            except (McpError, TimeoutError) as err:
                troubles.append(f"{name}: {err or 'it took too long'}")
        if troubles and not found:
            raise ToolFailed("; ".join(troubles))
        shown = (
            FoundByWords(found).search(arguments.query, limit=MAX_LISTED)
            if arguments.query
            else found[:MAX_LISTED]
        )
        lines = [f"- {item.origin} {item.name}: {item.description}" for item in shown]
        head = f"[{len(shown)} of {len(found)} resources; mcp_read(server, uri) reads one]"
        return ToolOutput(text="\n".join([head, *lines, *troubles]), outside=True)


class McpReadTool:
    """Reads one resource."""

    arguments = McpReadArguments

    def __init__(self, servers: Sequence[str], server: GetServer, blobs: Blobs) -> None:
        self._servers = tuple(servers)
        self._server = server
        self._blobs = blobs
        self.spec = ToolSpec(
            name="mcp_read",
            description="Read a resource that mcp_find listed.",
            schema=McpReadArguments.to_json_schema(),
            effect="pure",
            action="mcp.call",
            seconds=TOOL_SECONDS,
        )

    async def run(self, arguments: McpReadArguments, context: ToolContext) -> ToolOutput:
        name = _known(arguments.server, self._servers)
        try:
            result: McpResult = await self._server(name).read(partial(read_resource, arguments.uri))
        except (McpError, TimeoutError) as err:
            raise ToolFailed(
                f"{name} did not give {arguments.uri[:200]}: {err or 'it took too long'}."
            ) from err
        return await to_output(result, "the resource", self._blobs)


async def list_resources(client: Any) -> list[tuple[str, str, str]]:
    """Load all resources and templates as address, name and description."""
    resources: list[tuple[str, str, str]] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_resources(cursor=cursor)
        resources += [
            (str(one.uri), one.title or one.name, one.description or "") for one in page.resources
        ]
        cursor = page.next_cursor
        if not cursor or len(resources) >= MAX_RESOURCES:
            break
    capabilities = client.server_capabilities
    offers_templates = capabilities is not None and capabilities.resources is not None
    if offers_templates and len(resources) < MAX_RESOURCES:
        resources += await _list_templates(client)
    return resources[:MAX_RESOURCES]


async def _list_templates(client: Any) -> list[tuple[str, str, str]]:
    from mcp.shared.exceptions import MCPError

    try:
        templates = await client.list_resource_templates()
    except MCPError:
        return []  # many servers know no templates
    return [
        (one.uri_template, one.title or one.name, one.description or "")
        for one in templates.resource_templates
    ]


async def read_resource(uri: str, client: Any) -> McpResult:
    """Read a resource; pictures are kept, other blobs only described."""
    found = await client.read_resource(uri)
    texts: list[str] = []
    images: list[tuple[str, str, bytes]] = []
    for content in found.contents:
        media_type = content.mime_type or ""
        if (text := getattr(content, "text", None)) is not None:
            texts.append(text)
        elif media_type.startswith("image/"):
            images.append(("picture", media_type, decode_blob(content.blob)))
        else:
            texts.append(
                f"[{len(decode_blob(content.blob)):,} bytes of {media_type or 'unknown type'}, not "
                "shown]"
            )
    return McpResult(texts=tuple(texts), images=tuple(images))


async def list_prompts(client: Any) -> list[McpPrompt]:
    """Load all prompts."""
    found: list[McpPrompt] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_prompts(cursor=cursor)
        for one in page.prompts:
            names = tuple(
                f"{argument.name}{'*' if argument.required else ''}"
                for argument in one.arguments or ()
            )
            description = " ".join((one.description or "").split())[:MAX_DESCRIPTION_CHARS]
            found.append(McpPrompt(name=one.name, description=description, arguments=names))
        cursor = page.next_cursor
        if not cursor or len(found) >= MAX_RESOURCES:
            break
    return found[:MAX_RESOURCES]


async def get_prompt(name: str, arguments: Mapping[str, str], client: Any) -> str:
    """Load a prompt's text."""
    found = await client.get_prompt(name, dict(arguments))
    return "\n\n".join(
        text for message in found.messages for text in content_texts(message.content)
    )[:MAX_PROMPT_CHARS]


def _known(name: str, servers: Sequence[str]) -> str:
    if name not in servers:
        raise ToolFailed(
            f"There is no server {name[:100]!r} with resources; there are: {', '.join(servers)}."
        )
    return name


def _to_findable(server: str, resource: tuple[str, str, str]) -> Findable:
    uri, name, about = resource
    text = " ".join(f"{name}. {about}".split())[:MAX_DESCRIPTION_CHARS]
    return Findable(name=uri, origin=server, description=json.dumps(text, ensure_ascii=False)[1:-1])
