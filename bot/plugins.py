"""What an author of plug-ins imports: the decorator, what a tool gets when it runs, and what its
tests need.

It imports nothing else of the bot, for a plug-in in a file is run in a process that sees nothing
else of it.
"""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, get_type_hints

MARK = "__mnema_tool__"  # the attribute of a decorated function
MAX_DESCRIPTION = 4_000
_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
PluginEffect = Literal["pure", "idempotent", "unsafe"]
ToolFunction = Callable[..., Awaitable[Any]]


class PluginError(Exception):
    """The tool cannot do it; the text tells the model why, and what would work."""


class PluginInvalid(Exception):
    """The plug-in is not written as one has to be; the text tells its author why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What a server answered."""

    #: After redirects.
    url: str
    status: int
    #: Names in lower case.
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def text(self) -> str:
        """The body as text."""
        charset = re.search(r"charset=\"?([\w-]{1,40})", self.headers.get("content-type", ""))
        try:
            return self.body.decode(charset[1] if charset else "utf-8", "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return the body as parsed JSON.

        Raises:
            PluginError: it is none.
        """
        try:
            return json.loads(self.body)
        except ValueError as err:
            raise PluginError(f"{self.url} did not answer with JSON.") from err


class Context(Protocol):
    """What a tool may use while it runs; its first argument."""

    @property
    def now(self) -> datetime:
        """The time in the owner's zone."""
        ...

    def secret(self, name: str) -> str:
        """Return a secret that the tool `needs`."""
        ...

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | str = b"",
        bearer: str = "",
        check: bool = True,
    ) -> Response:
        """Send a request to a public address; the only network that a plug-in has.

        Args:
            bearer: name of the secret that is sent as `Authorization: Bearer …`.
            check: raise unless the status is below 400.

        Raises:
            PluginError: it was refused, did not answer, or answered with an error.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A tool as its function defines it."""

    name: str
    #: What the model reads: the function's docstring.
    description: str
    #: JSON Schema of the arguments, as JSON text with sorted keys.
    schema: str
    effect: PluginEffect
    #: Names of secrets.
    needs: tuple[str, ...]
    #: The person approves each call.
    ask: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    effect: PluginEffect
    needs: tuple[str, ...]
    ask: bool


def tool(
    *, effect: PluginEffect = "unsafe", needs: Sequence[str] = (), ask: bool = False
) -> Callable[[ToolFunction], ToolFunction]:
    """Mark an async function as a tool: `async def name(ctx, …) -> str` with a docstring.

    Args:
        effect: "pure": it only reads; "idempotent": it may be repeated; "unsafe": it must not be
            repeated.
        needs: names of the secrets that it uses.
        ask: the person approves each call.
    """

    def mark(function: ToolFunction) -> ToolFunction:
        setattr(function, MARK, _Mark(effect=effect, needs=tuple(needs), ask=ask))
        return function

    return mark


def define(function: ToolFunction) -> Definition:
    """Return what a marked function defines.

    Raises:
        PluginInvalid: it is not written as a tool has to be.
    """
    mark: _Mark | None = getattr(function, MARK, None)
    name = getattr(function, "__name__", "")
    description = inspect.getdoc(function) or ""
    if mark is None or not inspect.iscoroutinefunction(function):
        raise PluginInvalid(f"{name or function}: a tool is an async function with @tool(…)")
    if not _NAME.fullmatch(name) or "__" in name:
        raise PluginInvalid(
            f"{name}: a tool's name has small letters, digits and single underscores, at most 48"
        )
    if not description.strip() or len(description) > MAX_DESCRIPTION:
        raise PluginInvalid(
            f"{name}: a tool has a docstring of at most {MAX_DESCRIPTION:,} characters"
        )
    schema = _arguments_model(function).model_json_schema()
    schema.pop("title", None)
    for parameter in schema.get("properties", {}).values():
        parameter.pop("title", None)
    return Definition(
        name=name,
        description=description,
        schema=json.dumps(schema, ensure_ascii=False, sort_keys=True),
        effect=mark.effect,
        needs=mark.needs,
        ask=mark.ask,
    )


def find_tools(values: Sequence[Any]) -> dict[str, ToolFunction]:
    """Return the marked functions among values, by name."""
    return {value.__name__: value for value in values if callable(value) and hasattr(value, MARK)}


async def run_tool(function: ToolFunction, context: Context, arguments: str) -> str:
    """Check arguments strictly, run a tool, and return its result as text.

    Args:
        arguments: JSON text of an object.

    Raises:
        PluginError: the arguments do not fit, or the tool raised it.
    """
    from pydantic import ValidationError

    model = _arguments_model(function)
    try:
        given = model.model_validate_json(arguments)
    except ValidationError as err:
        first = err.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise PluginError(
            f"argument {place!r}: {first['msg']}." if place else f"{first['msg']}."
        ) from err
    result = await function(context, **{name: getattr(given, name) for name in model.model_fields})
    if isinstance(result, Response):
        return result.text
    return (
        result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
    )


def _arguments_model(function: ToolFunction) -> Any:
    """Return the pydantic model of a function's arguments, without the context."""
    from pydantic import ConfigDict, create_model

    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        raise PluginInvalid(f"{function.__name__}: its first parameter is the context")
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in parameters[1:]:
        if (
            parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            or parameter.name not in hints
        ):
            raise PluginInvalid(
                f"{function.__name__}: each parameter has a name and a type, as {parameter.name!r} "
                "has not"
            )
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    return create_model(
        function.__name__, __config__=ConfigDict(strict=True, extra="forbid"), **fields
    )


class ScriptedContext:
    """A context for tests of plug-ins: answers from a table, and no network.

    Args:
        answers: text, or status and text, by URL.
        secrets: by name.
    """

    def __init__(
        self,
        answers: Mapping[str, str | tuple[int, str]] | None = None,
        secrets: Mapping[str, str] | None = None,
        now: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC),
    ) -> None:
        self.now = now
        self._answers = answers or {}
        self._secrets = secrets or {}
        #: What was sent: method, URL, name of the bearer's secret.
        self.requests: list[tuple[str, str, str]] = []

    def secret(self, name: str) -> str:
        if name not in self._secrets:
            raise PluginError(f"the secret {name} is not there")
        return self._secrets[name]

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | str = b"",
        bearer: str = "",
        check: bool = True,
    ) -> Response:
        if bearer:
            self.secret(bearer)
        self.requests.append((method, url, bearer))
        answer = self._answers.get(url, (404, ""))
        status, text = (200, answer) if isinstance(answer, str) else answer
        return check_response(Response(url=url, status=status, body=text.encode()), check=check)


def check_response(response: Response, *, check: bool) -> Response:
    """Return a response, or raise PluginError for a status of 400 and above if `check`."""
    if check and response.status >= 400:
        raise PluginError(f"{response.url} answered {response.status}")
    return response


async def call(function: ToolFunction, context: Context, **arguments: Any) -> str:
    """Call a tool in a test as the bot does: arguments go through JSON and the strict check."""
    define(function)
    return await run_tool(function, context, json.dumps(arguments, ensure_ascii=False))
