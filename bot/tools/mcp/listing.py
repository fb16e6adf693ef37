"""Lists of tools as servers send them: each tool is read by itself, so that an odd one costs only itself."""

from collections.abc import Mapping
from typing import Any, Self

import structlog

log = structlog.get_logger(__name__)
MAX_NAME_CHARS = 200  # of a tool that is left out, in the log and in the review


def clean_tools(tools: list[Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the tools in a form that the SDK accepts, and the names of those that have none.

    Only name, description, arguments and the hint that it only reads are used, so only these are passed on: the SDK
    refuses a whole list for one wrong icon.
    """
    cleaned, left_out = list[dict[str, Any]](), list[str]()
    for number, tool in enumerate(tools, start=1):
        name = tool.get("name") if isinstance(tool, Mapping) else None
        if not isinstance(name, str) or not name:
            left_out.append(f"tool {number} of its list, which has no name")
            continue
        schema = tool.get("inputSchema", {})
        if not isinstance(schema, Mapping):
            left_out.append(name[:MAX_NAME_CHARS])
            continue
        cleaned.append(_clean_tool(name, tool, schema))
    return cleaned, left_out


def _clean_tool(name: str, tool: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    cleaned: dict[str, Any] = {"name": name, "inputSchema": _clean_schema(schema)}
    description, annotations = tool.get("description"), tool.get("annotations")
    if isinstance(description, str):
        cleaned["description"] = description
    if isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True:
        cleaned["annotations"] = {"readOnlyHint": True}
    return cleaned


def _clean_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema whose root is an object, as the protocol wants it; the rest is repaired for models later."""
    cleaned = {**schema, "type": "object"}
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping):
        del cleaned["properties"]
    else:
        cleaned["properties"] = {
            name: inner if isinstance(inner, Mapping | bool) else {} for name, inner in properties.items()
        }
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        del cleaned["required"]
    if not isinstance(schema.get("$schema", ""), str):
        del cleaned["$schema"]
    return cleaned


class CleanedStream:
    """The messages of a server, with its lists of tools cleaned; a stream as the SDK's transports have them."""

    def __init__(self, server: str, messages: Any) -> None:
        self._server = server
        self._messages = messages
        #: Names of the tools that were left out of the lists so far, each once, in the server's order.
        self.left_out: dict[str, None] = {}

    @property
    def last_context(self) -> Any:
        """The context of the newest message's sender, where the transport has one."""
        return getattr(self._messages, "last_context", None)

    async def receive(self) -> Any:
        return self._clean(await self._messages.receive())

    async def aclose(self) -> None:
        await self._messages.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._clean(await self._messages.__anext__())

    async def __aenter__(self) -> Self:
        await self._messages.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> bool | None:
        left: bool | None = await self._messages.__aexit__(*error)
        return left

    def _clean(self, received: Any) -> Any:
        """Clean a list of tools; no other answer of a server has `tools`."""
        result = getattr(getattr(received, "message", None), "result", None)
        if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            return received
        result["tools"], left_out = clean_tools(result["tools"])
        for name in left_out:
            if name not in self.left_out:
                log.warning("a tool of an MCP server cannot be read and is left out", server=self._server, tool=name)
            self.left_out[name] = None
        return received
