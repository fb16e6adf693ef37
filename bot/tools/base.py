"""The door to a tool: what it is, whose effect it has, and one method that runs it."""

import difflib
import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from bot.errors import ToolFailed
from memory.conversation import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageContext:
    """The message that a turn answers."""

    message_id: str = ""
    channel: str = ""
    #: The person's own.
    words: str = ""
    #: When, UTC.
    said: datetime | None = None
    #: Words from outside (files, tools, what such words were folded into) are among what the model sees.
    tainted: bool = True


async def no_message_context() -> MessageContext:
    """Nothing is known of it, so nothing rests on it."""
    return MessageContext()


async def has_unlimited_room(_: int) -> None:
    """There is room for anything."""


async def no_tainted_names() -> frozenset[str]:
    """No name is known to have been given in a tainted turn."""
    return frozenset()


async def discard_label(_: Sequence[str]) -> None:
    """Nobody asks for it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """For whom a tool runs."""

    #: Ids of the record.
    conversation: str
    #: Ids of the record.
    space: str
    #: The folder of the space.
    root: Path
    #: Timezone-aware, in the person's zone.
    now: Callable[[], datetime]
    #: Equal for every run of the same call.
    idem_key: str
    #: Looked up when it is asked for.
    occasion: Callable[[], Awaitable[MessageContext]] = no_message_context
    #: For so many bytes more; raises ToolFailed where there is none.
    room: Callable[[int], Awaitable[None]] = has_unlimited_room
    #: Paths of the space that were given their names in a tainted turn.
    labelled: Callable[[], Awaitable[frozenset[str]]] = no_tainted_names
    #: Adds some.
    label: Callable[[Sequence[str]], Awaitable[None]] = discard_label


class Tool(Protocol):
    """One thing a model may do."""

    spec: ToolSpec

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> str:
        """Do it; return what the model is told, whole (the view shortens it, the record does not).

        Raises:
            ToolFailed: it could not be done; the text says why and what would work.
        """
        ...


# The tools of one house by name, and whether a call's arguments fit.

_TYPE_CHECKS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


class Toolset:
    """Tools in a fixed order, so that a prompt's prefix never changes for nothing."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            raise ValueError("two tools have the same name")

    def names(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple(self._tools)

    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told of them, in order."""
        return tuple(tool.spec for tool in self._tools.values())

    def get(self, name: str) -> Tool | None:
        """The tool of that name, None when there is none."""
        return self._tools.get(name)

    def without(self, names: Collection[str]) -> "Toolset":
        """The same but for the tools of these names."""
        return Toolset([tool for name, tool in self._tools.items() if name not in names])

    def nearest(self, name: str) -> str:
        """The name most like an unknown one, "" when none is."""
        return _nearest_name(name, self._tools)

    def check(self, tool: Tool, arguments: Any) -> None:
        """Whether the arguments (parsed JSON) fit the tool's schema.

        Raises:
            ToolFailed: they do not; the text names the argument and what would be right.
        """
        _check_value(json.loads(tool.spec.schema), arguments, "")


def object_schema(properties: dict[str, Any], required: Sequence[str] = ()) -> str:
    """The JSON Schema of an object with these properties and no others, as a spec holds it."""
    whole = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return json.dumps(whole, ensure_ascii=False, sort_keys=True)


def _check_value(wanted: dict[str, Any], value: Any, name: str) -> None:
    where = f"argument {name!r}" if name else "the arguments"
    kinds = wanted.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_TYPE_CHECKS[kind](value) for kind in kinds):
        raise ToolFailed(f"{where} must be of type {' or '.join(kinds)}, not {json.dumps(value, default=str)[:80]}.")
    if "enum" in wanted and value not in wanted["enum"]:
        raise ToolFailed(f"{where} must be one of {json.dumps(wanted['enum'], ensure_ascii=False)}.")
    _check_range(wanted, value, where)
    if isinstance(value, dict):
        _check_object(wanted, value, where, name)
    if isinstance(value, list) and "items" in wanted:
        for number, item in enumerate(value):
            _check_value(wanted["items"], item, f"{name}[{number}]")


def _check_range(wanted: dict[str, Any], value: Any, where: str) -> None:
    if not _TYPE_CHECKS["number"](value):
        return
    low, high = wanted.get("minimum"), wanted.get("maximum")
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = " and ".join(
            text for text, bound in ((f"at least {low}", low), (f"at most {high}", high)) if bound is not None
        )
        raise ToolFailed(f"{where} must be {bounds}, not {value}.")


def _check_object(wanted: dict[str, Any], value: dict[str, Any], where: str, name: str) -> None:
    known = wanted.get("properties", {})
    inside = f"{name}." if name else ""
    for key, item in value.items():
        if key in known:
            _check_value(known[key], item, inside + key)
        elif wanted.get("additionalProperties", True) is False:
            near = _nearest_name(key, known)
            hint = f"; did you mean {near!r}?" if near else f"; known: {', '.join(known) or 'none'}."
            raise ToolFailed(f"unknown argument {inside + key!r}{hint}")
    missing = [key for key in wanted.get("required", ()) if key not in value]
    if missing:
        raise ToolFailed(f"{where} lack {', '.join(map(repr, missing))}.")


def _nearest_name(name: str, known: Sequence[str] | dict[str, Any]) -> str:
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)), "")
