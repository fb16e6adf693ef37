"""Tools that are not in the prompt: found by words with `find_tools`, called by name with
`use_tool`.
"""

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

from pydantic import Field

from bot.errors import ToolFailed
from bot.tools.base import Tool, ToolArguments, ToolContext
from memory.context.tokens import WEIGHTED
from memory.conversation import USE_TOOL, ToolSpec
from memory.text.tokenizer import question_terms, text_terms

# of outside tools in a prompt; with more, all of them are deferred
MAX_SHOWN_TOOLS, MAX_SHOWN_TOKENS = 25, 6_000
MAX_FOUND = 8
MAX_FOUND_CHARS = 24_000  # of one answer: the schemas of tools that do not fit are left out
# of the list of origins in the prompt: 600 tokens with both descriptions
MAX_ORIGINS_CHARS = 1_500
MAX_SCHEMA_DEPTH = 10
NAME_WEIGHT = 4  # a term of a name counts as so many of a description
SMALL_WINDOW = 16_384  # tokens; below it, a prompt has only the tools that a space needs
USED_SECONDS = 30 * 86_400.0  # a tool that was used within this time is one that the person uses
RELOAD_SECONDS = 3_600.0  # between two counts of what a space uses
MAX_USED_TOKENS = 600  # of the tools that a space uses, in a small window: the most used first
MAX_KNOWN_SPACES = 1_000
# In every prompt. memory_get only reads on where memory_search has found something.
_ALWAYS = frozenset({"recall", "memory_search", "memory_write", "remind", "reminders"})
# Of no use before a space has files.
_FOR_FILES = frozenset(
    {"find_files", "search_files", "patch_files", "file_history", "restore_file"}
)
# Without both of these, nothing that is not in the prompt can be called.
_FINDERS = frozenset({"find_tools", USE_TOOL})
# Counts the calls of each tool in a space since a time, in unix seconds.
CountUsed = Callable[[str, float], Awaitable[Mapping[str, int]]]
# Parameters of BM25. Source: bm25() of SQLite's FTS5.
_K1, _B = 1.2, 0.75
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_HEAD = (
    "Find tools that are not listed here, by words for what they do, English ones too. Call them "
    "with use_tool. There are:"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findable:
    """Something that `find_tools` finds."""

    name: str
    #: Its server or package; of the bot's own tools their kind, such as files.
    origin: str
    #: What it is for.
    description: str
    #: JSON Schema of its arguments; "" for what is no tool.
    schema: str = ""


class FoundByWords:
    """Ranks findable things by BM25 over names, descriptions and parameters."""

    def __init__(self, items: Iterable[Findable]) -> None:
        self.items = tuple(sorted(items, key=lambda item: item.name))

    def search(self, query: str, origin: str = "", limit: int = MAX_FOUND) -> list[Findable]:
        """Return the best ones, best first; the one of exactly that name alone.

        Args:
            origin: only those of this origin; "" for all.
        """
        if named := [item for item in self.items if item.name == query.strip()]:
            return named
        scores: defaultdict[int, float] = defaultdict(float)
        for term in dict.fromkeys(question_terms(query) or text_terms(query)):
            for number, score in self._postings.get(term, ()):
                scores[number] += score
        best = sorted(scores, key=lambda number: (-scores[number], number))
        return [self.items[number] for number in best if origin in ("", self.items[number].origin)][
            :limit
        ]

    @cached_property
    def _postings(self) -> Mapping[str, Sequence[tuple[int, float]]]:
        """The items that hold each term, with its score there."""
        counts = [_count_terms(item) for item in self.items]
        lengths = [sum(count.values()) for count in counts]
        average = sum(lengths) / len(lengths) if lengths else 1.0
        holders: dict[str, list[int]] = {}
        for number, count in enumerate(counts):
            for term in count:
                holders.setdefault(term, []).append(number)
        found: dict[str, list[tuple[int, float]]] = {}
        for term, numbers in holders.items():
            rarity = log(1 + (len(counts) - len(numbers) + 0.5) / (len(numbers) + 0.5))
            found[term] = [
                (number, rarity * _saturate(counts[number][term], lengths[number] / average))
                for number in numbers
            ]
        return found


def _saturate(count: int, length: float) -> float:
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length))


def _count_terms(item: Findable) -> Counter[str]:
    words = _schema_words(json.loads(item.schema), 0) if item.schema else ()
    counts = Counter(text_terms(_HUMPS.sub(" ", " ".join((item.description, *words)))))
    for term in text_terms(_HUMPS.sub(" ", item.name)):
        counts[term] += NAME_WEIGHT
    return counts


def _schema_words(schema: Any, depth: int) -> Iterator[str]:
    """Yield the names and descriptions of parameters."""
    if not isinstance(schema, Mapping) or depth > MAX_SCHEMA_DEPTH:
        return
    if depth and isinstance(schema.get("description"), str):
        yield schema["description"]
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, inner in properties.items():
            yield name
            yield from _schema_words(inner, depth + 1)
    yield from _schema_words(schema.get("items"), depth + 1)


class FindToolsArguments(ToolArguments):
    """Arguments of `find_tools`."""

    query: str = Field(min_length=1, max_length=400)
    # also a kind of the bot's own tools: any origin that the description lists
    server: str = Field("", max_length=100)


class FindToolsTool:
    """Finds deferred tools, and skills that are not listed."""

    arguments = FindToolsArguments

    def __init__(self, items: Iterable[Findable]) -> None:
        self._index = FoundByWords(items)
        counts = Counter(item.origin for item in self._index.items)
        self._origins = frozenset(counts)
        self.spec = ToolSpec(
            name="find_tools",
            description=f"{_HEAD}\n{_format_origins(counts)}",
            schema=FindToolsArguments.to_json_schema(),
            effect="pure",
            action="tools.find",
        )

    async def run(self, arguments: FindToolsArguments, context: ToolContext) -> str:
        if arguments.server and arguments.server not in self._origins:
            raise ToolFailed(
                f"Nothing here is of {arguments.server!r}; there are: "
                f"{', '.join(sorted(self._origins))}."
            )
        # The first search builds the index, which takes a tenth of a second for a thousand tools.
        found = await asyncio.to_thread(self._index.search, arguments.query, arguments.server)
        if not found:
            return (
                "Nothing has these words. Try others, in English, too, for what the tool has to do."
            )
        return format_found(found, len(self._index.items))


def format_found(found: Sequence[Findable], count: int) -> str:
    """Format what was found, with as many schemas as fit. Pure."""
    head = f"[{len(found)} of {count:,}; use_tool calls one, with arguments of its schema]"
    lines, left = [head], MAX_FOUND_CHARS - len(head)
    for item in found:
        line = f"## {item.name} ({item.origin})\n{item.description}"[: max(200, left)]
        schema = f"\narguments: {item.schema}" if item.schema else ""
        if len(line) + len(schema) > left and schema:
            schema = (
                "\n(its schema is too long to be shown here; find_tools shows it for exactly this "
                "name)"
            )
        if item is found[0] and item.schema:  # always whole, so that each one can be called
            schema = f"\narguments: {item.schema}"
        lines.append(line + schema)
        left = max(0, left - len(lines[-1]))
    return "\n\n".join(lines)


def _format_origins(counts: Mapping[str, int]) -> str:
    lines: list[str] = []
    left = MAX_ORIGINS_CHARS
    for number, (origin, count) in enumerate(sorted(counts.items())):
        line = f"- {origin}: {count}"
        left -= len(line) + 1
        if left < 0:
            return "\n".join([*lines, f"- and {len(counts) - number} more"])
        lines.append(line)
    return "\n".join(lines)


class UseToolArguments(ToolArguments):
    """Arguments of `use_tool`."""

    name: str
    arguments: dict[str, Any]

    @classmethod
    def to_json_schema(cls) -> str:
        """See ToolArguments: an object of any shape, in the form that all providers take."""
        properties = {
            "arguments": {"type": "object", "additionalProperties": True},
            "name": {"type": "string"},
        }
        schema = {"properties": properties, "required": ["name", "arguments"], "type": "object"}
        return json.dumps(schema, sort_keys=True)

    @classmethod
    def parse(cls, given: Any) -> "UseToolArguments":
        """Refuse what names no other tool: any other call was stored, and is judged, as the one it
        makes.
        """
        raise ToolFailed(
            "name is that of a tool that find_tools found, and arguments is an object of its "
            "schema."
        )


class UseToolTool:
    """Stands in the prompt for the deferred tools; `memory.conversation.inner_call` is what is
    run.
    """

    arguments = UseToolArguments

    def __init__(self) -> None:
        self.spec = ToolSpec(
            name=USE_TOOL,
            description="Call a tool that find_tools found.",
            schema=UseToolArguments.to_json_schema(),
            effect="pure",
            action="tools.find",
        )

    async def run(self, arguments: UseToolArguments, context: ToolContext) -> str:
        raise ToolFailed("There is nothing to call.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptNeeds:
    """What decides which tools a space has in its prompt."""

    has_files: bool
    #: The model's window is small.
    is_small: bool
    #: Names of the tools that the space uses, most used first; known in a small window only.
    used: tuple[str, ...] = ()

    def find_deferred(self, tools: Sequence[Tool], off: Collection[str]) -> frozenset[str]:
        """Return the names of the tools to leave out of the prompt.

        Args:
            off: names that are turned off.
        """
        if not _FINDERS.isdisjoint(off):
            return frozenset()
        if not self.is_small:
            return frozenset() if self.has_files else _FOR_FILES
        return frozenset(tool.spec.name for tool in tools) - _ALWAYS - self._find_used(tools)

    def _find_used(self, tools: Sequence[Tool]) -> frozenset[str]:
        """Return as many of the tools that are used as fit a small window."""
        specs = {tool.spec.name: tool.spec for tool in tools}
        left, names = MAX_USED_TOKENS, set[str]()
        for name in self.used:
            cost = WEIGHTED.tools([specs[name]]) if name in specs and name not in _ALWAYS else 0
            if cost <= left:
                left -= cost
                names.add(name)
        return frozenset(names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoadedUses:
    """The tools that a space had used when they were counted."""

    #: Most used first.
    names: tuple[str, ...]
    #: Unix seconds.
    loaded_at: float


class ToolUses:
    """Which tools each space has used of late.

    Args:
        count: counts their calls.
        now: returns unix seconds.
    """

    def __init__(self, count: CountUsed, now: Callable[[], float]) -> None:
        self._count, self._now = count, now
        self._known: dict[str, _LoadedUses] = {}

    async def load(self, space: str) -> None:
        """Load what a space has used, unless that was loaded within the hour."""
        now = self._now()
        known = self._known.get(space)
        if known is not None and 0 <= now - known.loaded_at < RELOAD_SECONDS:
            return
        calls = await self._count(space, now - USED_SECONDS)
        if space not in self._known and len(self._known) >= MAX_KNOWN_SPACES:
            self._known.clear()
        names = tuple(sorted(calls, key=lambda name: (-calls[name], name)))
        self._known[space] = _LoadedUses(names=names, loaded_at=now)

    def find(self, space: str) -> tuple[str, ...]:
        """Return the names of the tools that a space used when it was last loaded, most used
        first.
        """
        known = self._known.get(space)
        return known.names if known else ()


def are_too_many(tools: Sequence[Tool]) -> bool:
    """Tell whether these outside tools are too many, or too long, for the prompt."""
    return (
        len(tools) > MAX_SHOWN_TOOLS
        or WEIGHTED.tools([tool.spec for tool in tools]) > MAX_SHOWN_TOKENS
    )


def to_findable(tool: Tool) -> Findable:
    """Return a tool as it is found; one of ours is listed under its kind, such as files."""
    spec = tool.spec
    origin = spec.origin or spec.action.partition(".")[0]
    return Findable(name=spec.name, origin=origin, description=spec.description, schema=spec.schema)
