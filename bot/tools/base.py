"""The tool interface: arguments, context of a run, and the ordered set of tools."""

import difflib
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, Self, runtime_checkable

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.access.permissions import Actor
from bot.errors import ToolFailed
from memory.conversation import CallBudget, Effect, Image, ToolSpec
from memory.store.longterm.file_labels import PathLabels


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageContext:
    """The message that a turn answers."""

    message_id: str = ""
    channel: str = ""
    #: Text the person wrote.
    words: str = ""
    #: Time sent, UTC.
    sent: datetime | None = None
    #: Whether the view holds outside content: files, tool results, or summaries of them.
    tainted: bool = True


async def _load_empty_message() -> MessageContext:
    return MessageContext()


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleWords:
    """The words in view that decide what may be sent out."""

    #: Outside words are in view, so the model may be steered.
    tainted: bool = True
    #: What this person typed, in the live turns.
    typed: tuple[str, ...] = ()
    #: Results of web pages and searches in view.
    found: tuple[str, ...] = ()
    #: Texts of memory in view.
    private: tuple[str, ...] = ()
    #: Pages opened so far in this turn, the running call included.
    fetches: int = 0
    #: The arguments of these calls, in order.
    asked: tuple[str, ...] = ()


async def _load_nothing_visible() -> VisibleWords:
    return VisibleWords()


async def _load_no_labels(_: Iterable[str]) -> PathLabels:
    return PathLabels()


async def _ignore(_: object) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool run may use of the conversation and its space."""

    #: Conversation id.
    conversation: str
    #: Space id.
    space: str

    #: Current time in the person's zone.
    now: Callable[[], datetime]
    #: Idempotency key; the same for every run of one call.
    idem_key: str
    #: The person for whom the tool runs; None where nobody is known.
    actor: Actor | None = None
    #: Loads the message that the turn answers; the default counts as tainted.
    load_message: Callable[[], Awaitable[MessageContext]] = _load_empty_message
    #: Loads what decides whether a URL or a search may go out; the default counts as tainted.
    load_visible: Callable[[], Awaitable[VisibleWords]] = _load_nothing_visible
    #: Reserves that many bytes of storage; raises ToolFailed when the quota is used up.
    reserve_storage: Callable[[int], Awaitable[None]] = _ignore
    #: Loads which of these paths of the space have a name or a content from outside.
    load_labels: Callable[[Iterable[str]], Awaitable[PathLabels]] = _load_no_labels
    #: Labels new files and folders by their names, and with them what they hold.
    label_names: Callable[[Sequence[str]], Awaitable[None]] = _ignore
    #: Labels files by their contents.
    label_contents: Callable[[Sequence[str]], Awaitable[None]] = _ignore


class ToolArguments(BaseModel):
    """Arguments of a tool: exact types and no unknown names. The JSON Schema is built on first
    use.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)

    @classmethod
    def to_json_schema(cls) -> str:
        """Return the JSON Schema for the model provider, without what costs tokens and helps no
        model.

        Titles repeat the names, the class's description is for programmers, defaults are applied
        here, and a number or a name that is not allowed is refused with a sentence that says what
        is.
        """
        built = cls.model_json_schema()
        shown = _inline(built, built.pop("$defs", {}))
        return json.dumps(shown, ensure_ascii=False, sort_keys=True)

    @classmethod
    def parse(cls, given: Any) -> Self:
        """Check parsed JSON against this class.

        Raises:
            ToolFailed: it does not fit; the text names the argument and the valid form.
        """
        try:
            return cls.model_validate(given)
        except ValidationError as err:
            # A misspelt name is also a missing one: report the spelling.
            errors = sorted(
                err.errors(include_url=False), key=lambda error: error["type"] != "extra_forbidden"
            )
            raise ToolFailed(_format_error({**errors[0]}, list(cls.model_fields))) from err

    def written_paths(self) -> tuple[str, ...]:
        """Return the paths of the workspace that a call with these arguments writes to."""
        return ()

    def given(self) -> dict[str, Any]:
        """Return the arguments that the model passed, without defaults."""
        return self.model_dump(exclude_unset=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedCall:
    """A call that a guard may refuse: `check(call)` returns why, or "" or None."""

    tool: str
    #: As the model passed them.
    arguments: Mapping[str, Any]
    #: "pure", "idempotent" or "unsafe".
    effect: str
    #: Server, file or package of the tool; "" for the bot's own.
    origin: str
    space: str
    conversation: str
    #: Channel and id of the person whose turn it is.
    channel: str
    person: str


# Returns why a guard refuses a call, "" if none does.
FindRefusal = Callable[[GuardedCall], Awaitable[str]]


def to_guarded_call(
    spec: ToolSpec,
    arguments: ToolArguments,
    *,
    space: str,
    conversation: str,
    channel: str,
    person: str,
) -> GuardedCall:
    """Return a call as the guards are asked about it."""
    return GuardedCall(
        tool=spec.name,
        arguments=arguments.given(),
        effect=spec.effect,
        origin=spec.origin,
        space=space,
        conversation=conversation,
        channel=channel,
        person=person,
    )


class LazyToolSpec:
    """A `ToolSpec` class attribute, built on first access so that importing a tool builds no
    schema.
    """

    def __init__(
        self,
        arguments: type[ToolArguments],
        *,
        name: str,
        description: str,
        effect: Effect,
        action: str,
        outside: bool = True,
        seconds: float = 60.0,
        budget: CallBudget = "",
    ) -> None:
        self._build: Callable[[], ToolSpec] = lambda: ToolSpec(
            name=name,
            description=description,
            schema=arguments.to_json_schema(),
            effect=effect,
            action=action,
            outside=outside,
            seconds=seconds,
            budget=budget,
        )
        self._built: ToolSpec | None = None

    def __get__(self, instance: object, owner: type) -> ToolSpec:
        if self._built is None:
            self._built = self._build()
        return self._built


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """A result that is more than a text."""

    #: Full text for the model.
    text: str
    #: Pictures that the model sees after the results of this step.
    images: tuple[Image, ...] = ()
    #: Whether it holds words from outside; None: as the tool's spec says.
    outside: bool | None = None


class ArgumentParser(Protocol):
    """Checks arguments; a class of `ToolArguments`, or the check of an outside schema."""

    def parse(self, given: Any) -> ToolArguments:
        """Check parsed JSON; raises ToolFailed with the argument and the valid form."""
        ...


class Tool(Protocol):
    """A function that the model may call."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def arguments(self) -> ArgumentParser: ...

    async def run(self, arguments: Any, context: ToolContext) -> str | ToolOutput:
        """Run the tool with what `arguments` parsed; return the full result for the model.

        Raises:
            ToolFailed: it did not work; the text says why and what would work.
        """
        ...


@runtime_checkable
class BoundTool(Tool, Protocol):
    """A tool whose approved calls depend on more than their arguments.

    The model sees their outcome in a turn.
    """

    async def bind(self, arguments: Any) -> Mapping[str, str]:
        """Return what an approval of these arguments depends on; it is void once that has changed.

        Raises:
            ToolFailed: these arguments cannot be run.
        """
        ...


class Toolset:
    """Tools in a fixed order, so that the cached prompt prefix stays valid.

    Args:
        deferred: tools that can be called, too, but are not in the prompt.
    """

    def __init__(self, tools: Sequence[Tool], deferred: Sequence[Tool] = ()) -> None:
        self._shown = {tool.spec.name: tool for tool in tools}
        self._tools = self._shown | {tool.spec.name: tool for tool in deferred}
        if len(self._tools) != len(tools) + len(deferred):
            raise ValueError("two tools have the same name")

    def names(self) -> tuple[str, ...]:
        """Return the names of the tools in the prompt, in order."""
        return tuple(self._shown)

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the specs of the tools in the prompt, in order."""
        return tuple(tool.spec for tool in self._shown.values())

    def all(self) -> tuple[Tool, ...]:
        """Return all tools, those in the prompt first."""
        return tuple(self._tools.values())

    def names_of_budget(self, budget: CallBudget) -> tuple[str, ...]:
        """Return the names of the tools whose calls count towards this daily limit."""
        return tuple(name for name, tool in self._tools.items() if tool.spec.budget == budget)

    def get(self, name: str) -> Tool | None:
        """Return the tool of that name, also a deferred one, or None."""
        return self._tools.get(name)

    def without(self, names: Collection[str]) -> "Toolset":
        """Return a copy without the tools of these names."""
        shown = [tool for name, tool in self._shown.items() if name not in names]
        rest = [
            tool
            for name, tool in self._tools.items()
            if name not in names and name not in self._shown
        ]
        return Toolset(shown, rest)

    def only(self, names: Collection[str]) -> "Toolset":
        """Return a copy with the tools of these names."""
        return Toolset([tool for name, tool in self._tools.items() if name in names])


# Left out of schemas that models read.
_NOT_OF_OBJECTS = ("title", "description", "additionalProperties")
_NOT_OF_FIELDS = ("title", "default", "minimum", "maximum", "minLength", "maxLength")


def _inline(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of arguments, and those within it, without references, which not every
    provider knows.
    """
    shown = {key: value for key, value in schema.items() if key not in _NOT_OF_OBJECTS}
    shown["properties"] = {
        name: _inline_field(field, definitions)
        for name, field in schema.get("properties", {}).items()
    }
    return shown


def _inline_field(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: value for key, value in field.items() if key not in _NOT_OF_FIELDS}
    if items := shown.get("items"):
        shown["items"] = _inline_field(items, definitions)
    if reference := shown.pop("$ref", ""):
        shown |= _inline(definitions[reference.rpartition("/")[2]], definitions)
    return shown


def _format_error(error: Mapping[str, Any], known: Sequence[str]) -> str:
    name = ".".join(map(str, error["loc"]))
    match error["type"]:
        case "extra_forbidden":
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known) or 'none'}."
            return f"unknown argument {name!r}; {hint}"
        case "missing":
            return f"argument {name!r} is missing."
        case "model_type":
            return "the arguments must be a JSON object."
    given = json.dumps(error["input"], ensure_ascii=False, default=str)[:80]
    return f"argument {name!r}: {error['msg']}, not {given}."
