"""Repairs the schemas of outside tools for model providers, and checks arguments against the
originals.

Pure.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bot.errors import ToolFailed
from bot.tools.base import ToolArguments

MAX_DEPTH, MAX_CHARS = 8, 16_000
# keywords looked at for one call, in a tenth of a second; what is left is not checked
MAX_CHECK_STEPS = 5_000
MAX_NODES = 2_000  # of one schema once its references are inlined
MAX_NOTE_CHARS, MAX_ENUM = 120, 200
MAX_LEFT_OUT_CHARS = 200  # of the name of a tool that cannot be read, in the log and in the review
# depth, characters of a description
_STEPS = ((MAX_DEPTH, 2_000), (MAX_DEPTH, 200), (5, 200), (3, 60), (2, 0), (1, 0))
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_OTHERS = re.compile(r"[^A-Za-z0-9_.-]")
_TYPES = {"string", "number", "integer", "boolean", "object", "array"}
_LIMITS, _COUNTS = ("minimum", "maximum"), ("minItems", "maxItems", "minLength", "maxLength")
_UNIONS = ("anyOf", "oneOf")
_ITEMS: Mapping[str, dict[str, Any]] = {"array": {"items": {"type": "string"}}}
# What a schema that allows everything is shown as.
_ANYTHING = (
    {"type": "string"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "object", "properties": {}},
)
# said in words: providers differ in what they take of these
_NOTES = ("pattern", "format", "default")
_UNCHECKED = frozenset(
    {"pattern", "patternProperties", "format", "$schema", "$id", "id", "$dynamicRef", "$anchor"}
)
_OF_SCHEMAS = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
_DATA = frozenset({"enum", "const", "default", "examples", "required"})


@dataclass(slots=True, kw_only=True)
class _Repair:
    """One attempt to write a schema with limits of depth and text."""

    root: Mapping[str, Any]
    depth: int
    note_chars: int
    #: New property names to original ones.
    names: dict[str, str] = field(default_factory=dict)
    nodes: int = 0

    def object_at_root(self) -> dict[str, Any]:
        """Return the whole schema as an object; of alternatives, all properties and none
        required.
        """
        found = self.node(self.root, 0, frozenset())
        if found.get("type") == "object" and "anyOf" not in found:
            return found
        branches = [branch for branch in found.get("anyOf", ()) if branch.get("type") == "object"]
        merged: dict[str, Any] = {**found.get("properties", {})}
        for branch in branches:
            for name, schema in branch.get("properties", {}).items():
                merged.setdefault(name, schema)
        repaired = {"type": "object", "properties": merged}
        if "properties" in found:
            repaired |= {key: found[key] for key in ("description", "required") if key in found}
        return repaired

    def node(self, schema: Any, depth: int, above: frozenset[str]) -> dict[str, Any]:
        """Return one repaired schema; of what lies too deep, or refers to itself, only its type."""
        self.nodes += 1
        if not isinstance(schema, Mapping):
            return {"anyOf": [*_ANYTHING]}
        if depth > self.depth or self.nodes > MAX_NODES:
            return _cut(schema)
        if isinstance(schema.get("$ref"), str):
            return self._referred(schema, depth, above)
        schema = self._with_all_of(schema, above)
        repaired: dict[str, Any] = {}
        self._describe(schema, repaired)
        self._alternatives(schema, repaired, depth, above)
        kind = _type_of(schema)
        if "anyOf" not in repaired and kind:
            repaired["type"] = kind
        if kind == "object":
            self._properties(schema, repaired, depth, above)
        elif kind == "array":
            repaired["items"] = self.node(_items_of(schema), depth + 1, above)
        repaired |= _limits_of(schema)
        if values := _enum_of(schema):
            repaired["enum"] = values
        # some providers want one or the other everywhere
        if not repaired.keys() & {"type", "anyOf"}:
            repaired["anyOf"] = [*_ANYTHING]
        return repaired

    def _referred(
        self, schema: Mapping[str, Any], depth: int, above: frozenset[str]
    ) -> dict[str, Any]:
        """Return the repaired schema that a local reference names, with what stands beside it."""
        reference = schema["$ref"]
        target = _resolve(self.root, reference)
        if target is None:
            return {"anyOf": [*_ANYTHING]}
        if reference in above:
            return _cut(target)
        own = {key: value for key, value in schema.items() if key != "$ref"}
        return self.node({**target, **own}, depth, above | {reference})

    def _with_all_of(self, schema: Mapping[str, Any], above: frozenset[str]) -> Mapping[str, Any]:
        parts = schema.get("allOf")
        if not isinstance(parts, list):
            return schema
        merged = {key: value for key, value in schema.items() if key != "allOf"}
        for part in parts[:MAX_ENUM]:
            self.nodes += 1
            if isinstance(part, Mapping) and isinstance(part.get("$ref"), str):
                part = None if part["$ref"] in above else _resolve(self.root, part["$ref"])
            if not isinstance(part, Mapping) or "allOf" in part:
                continue
            merged = _merge(merged, part)
        return merged

    def _describe(self, schema: Mapping[str, Any], repaired: dict[str, Any]) -> None:
        text = schema.get("description")
        words = text[: self.note_chars] if isinstance(text, str) else ""
        if self.note_chars:
            notes = [f"{key}: {_one_line(schema[key])}" for key in _NOTES if key in schema]
            words = " ".join(filter(None, (words, f"({'; '.join(notes)})" if notes else "")))
        if words:
            repaired["description"] = words

    def _alternatives(
        self, schema: Mapping[str, Any], repaired: dict[str, Any], depth: int, above: frozenset[str]
    ) -> None:
        unions = [schema[key] for key in _UNIONS if isinstance(schema.get(key), list)]
        if not unions:
            self._types(schema, repaired, depth, above)
            return
        given = [one for one in unions[0][:MAX_ENUM] if not _is_null(one)]
        kept = [self.node(one, depth + 1, above) for one in given]
        if len(kept) == 1 and not schema.keys() & {"type", "properties", "items"}:
            repaired.update({**kept[0], **repaired})
        elif kept:
            repaired["anyOf"] = kept

    def _types(
        self, schema: Mapping[str, Any], repaired: dict[str, Any], depth: int, above: frozenset[str]
    ) -> None:
        """Make alternatives of a list of types, which some providers refuse."""
        known = _known_types(schema.get("type"))
        if len(known) < 2:
            return
        left_out = {"type", "description", *_NOTES}
        plain = {key: value for key, value in schema.items() if key not in left_out}
        repaired["anyOf"] = [self.node({**plain, "type": kind}, depth + 1, above) for kind in known]

    def _properties(
        self, schema: Mapping[str, Any], repaired: dict[str, Any], depth: int, above: frozenset[str]
    ) -> None:
        given = schema.get("properties")
        given = given if isinstance(given, Mapping) else {}
        mapped = {name: self._property_name(name) for name in given}
        repaired["properties"] = {
            mapped[name]: self.node(one, depth + 1, above)
            for name, one in given.items()
            if one is not False
        }
        required = schema.get("required")
        if isinstance(required, list):
            known = [
                name
                for name in dict.fromkeys(filter(_is_text, required))
                if mapped.get(name) in repaired["properties"]
            ]
            repaired["required"] = [mapped[name] for name in known]
        if "additionalProperties" in schema:
            repaired["additionalProperties"] = schema["additionalProperties"] is not False

    def _property_name(self, name: str) -> str:
        if _NAME.fullmatch(name):
            return name
        new = shorten_name(name, 64, _OTHERS)
        self.names[new] = name
        return new


def shorten_name(name: str, limit: int, others: re.Pattern[str]) -> str:
    """Return a name of allowed characters, made unique by six hex digits of the original's hash."""
    plain = others.sub("_", name)[: limit - 7]
    return f"{plain}_{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def repair_schema(text: str) -> tuple[str, Mapping[str, str]]:
    """Return a schema that providers take, as JSON text with sorted keys, and its new property
    names to the old ones.

    The longest version within `MAX_CHARS` is taken: first descriptions go, then what lies deep.
    """
    root = json.loads(text)
    for depth, note_chars in _STEPS:
        repair = _Repair(
            root=root if isinstance(root, dict) else {}, depth=depth, note_chars=note_chars
        )
        found = json.dumps(repair.object_at_root(), ensure_ascii=False, sort_keys=True)
        if len(found) <= MAX_CHARS:
            return found, repair.names
    return '{"properties": {}, "type": "object"}', {}


def _cut(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of the same type without what it says of its parts."""
    kind = _type_of(schema) or "object"
    return (
        {"type": kind, "properties": {}}
        if kind == "object"
        else {"type": kind} | _ITEMS.get(kind, {})
    )


def _resolve(root: Any, reference: str) -> Mapping[str, Any] | None:
    """Return what a local reference names; None for a remote or broken one."""
    if not reference.startswith("#"):
        return None
    found = root
    for step in reference[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _type_of(schema: Mapping[str, Any]) -> str:
    """Return the one type of a schema, guessed if it is left out; "" if there are several or
    none.
    """
    kind = schema.get("type")
    known = _known_types(kind)
    if isinstance(kind, list) or known:
        return known[0] if len(known) == 1 else ""
    if "properties" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    values = _enum_of(schema)
    return "string" if values and all(isinstance(value, str) for value in values) else ""


def _known_types(kind: Any) -> list[str]:
    """Return the types of JSON Schema in the value of `type`, which is one or a list."""
    named = kind if isinstance(kind, list) else [kind]
    return [one for one in named if isinstance(one, str) and one in _TYPES]


def _limits_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the limits of numbers, lengths and counts that are numbers of the right kind."""
    numbers = {key: schema[key] for key in _LIMITS if type(schema.get(key)) in (int, float)}
    counts = {key: schema[key] for key in _COUNTS if type(schema.get(key)) is int}
    return numbers | {key: count for key, count in counts.items() if count >= 0}


def _merge(schema: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with a part of its `allOf`: properties and required names add up."""
    merged = {**part, **schema}
    own, more = schema.get("properties"), part.get("properties")
    if isinstance(own, Mapping) and isinstance(more, Mapping):
        merged["properties"] = {**own, **more}
    own, more = schema.get("required"), part.get("required")
    if isinstance(own, list) and isinstance(more, list):
        merged["required"] = [*own, *more]
    return merged


def _items_of(schema: Mapping[str, Any]) -> Any:
    items = schema.get("prefixItems", schema.get("items"))
    if isinstance(items, list):
        return {"anyOf": items} if items else {}
    return items


def _enum_of(schema: Mapping[str, Any]) -> list[Any]:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list) or len(values) > MAX_ENUM:
        return []
    return [value for value in values if isinstance(value, str | int | float | bool)]


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _one_line(value: Any) -> str:
    return " ".join(json.dumps(value, ensure_ascii=False).split())[:MAX_NOTE_CHARS]


def clean_tools(tools: list[Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the tools in a form that the SDK accepts, and the names of those that have none.

    Only name, description, arguments and the hint that it only reads are used, so only these are
    passed on: the SDK refuses a whole list for one wrong icon.
    """
    cleaned, left_out = list[dict[str, Any]](), list[str]()
    for number, tool in enumerate(tools, start=1):
        name = tool.get("name") if isinstance(tool, Mapping) else None
        if not isinstance(name, str) or not name:
            left_out.append(f"tool {number} of its list, which has no name")
            continue
        schema = tool.get("inputSchema", {})
        if not isinstance(schema, Mapping):
            left_out.append(name[:MAX_LEFT_OUT_CHARS])
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
    """Return a schema whose root is an object, as the protocol wants it; the rest is repaired for
    models later.
    """
    cleaned = {**schema, "type": "object"}
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping):
        del cleaned["properties"]
    else:
        cleaned["properties"] = {
            name: inner if isinstance(inner, Mapping | bool) else {}
            for name, inner in properties.items()
        }
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        del cleaned["required"]
    if not isinstance(schema.get("$schema", ""), str):
        del cleaned["$schema"]
    return cleaned


class McpCallArguments(ToolArguments):
    """Arguments of an outside tool, under the server's own names."""

    values: dict[str, Any]
    #: The same under the names that the model knows.
    shown: dict[str, Any]

    def given(self) -> dict[str, Any]:
        """Return the arguments as the model passed them."""
        return self.shown


class _TooManySteps(Exception):
    """Checking these arguments takes more than `MAX_CHECK_STEPS`."""


@dataclass(frozen=True)
class ArgumentCheck:
    """Parses the arguments of one outside tool.

    Args:
        original: the server's schema as JSON text.
        names: property names that the model knows to the server's.
    """

    original: str
    names: Mapping[str, str]

    def parse(self, given: Any) -> McpCallArguments:
        """Check parsed JSON against the original schema.

        Raises:
            ToolFailed: it does not fit; the text names the place and the valid form.
        """
        if not isinstance(given, dict):
            raise ToolFailed("the arguments must be a JSON object.")
        values = _rename(given, self.names) if self.names else given
        self._steps.clear()
        try:
            error = next(self._errors(values), None)
        except RecursionError as err:
            raise ToolFailed(
                "the tool's own schema cannot be checked: it refers to itself."
            ) from err
        except _TooManySteps:
            error = None  # the server checks the rest
        if error is not None:
            place = ".".join(map(str, error.absolute_path))
            raise ToolFailed(
                f"argument {place!r}: {error.message[:300]}" if place else error.message[:300]
            )
        return McpCallArguments(values=values, shown=given)

    @cached_property
    def _steps(self) -> list[None]:
        """One entry for each keyword that was looked at in the running check."""
        return []

    def _count(self, check: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        """Return a keyword's check that is counted: alternatives of alternatives double with each
        level.
        """

        def counted(*given: Any) -> Iterator[Any]:
            self._steps.append(None)
            if len(self._steps) > MAX_CHECK_STEPS:
                raise _TooManySteps
            yield from check(*given) or ()

        return counted

    @cached_property
    def _errors(self) -> Callable[[Any], Iterator[Any]]:
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import extend
        from referencing import Registry

        root = json.loads(self.original)
        # A registry of its own: the default one would fetch remote references.
        registry: Any = Registry()
        schema = _checkable(root, root, 0)
        try:
            Draft202012Validator.check_schema(schema)
        except (SchemaError, RecursionError):
            schema = {"type": "object"}  # what is no schema checks nothing; the server has to
        counted = {
            name: self._count(check) for name, check in Draft202012Validator.VALIDATORS.items()
        }
        kind: Any = extend(Draft202012Validator, counted)
        validator: Any = kind(schema, registry=registry)
        find_errors: Callable[[Any], Iterator[Any]] = validator.iter_errors
        return find_errors


def _checkable(schema: Any, root: Any, depth: int) -> Any:
    """Return a schema without regular expressions, which can hang, and without references that lead
    nowhere.
    """
    if isinstance(schema, list):
        return [_checkable(one, root, depth + 1) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if depth > 64 or ("$ref" in schema and _resolve(root, str(schema["$ref"])) is None):
        return {}
    checkable: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _UNCHECKED:
            continue
        # what older drafts call a list of items
        is_prefix = key == "items" and isinstance(value, list)
        name = "prefixItems" if is_prefix else key
        checkable[name] = _checkable_value(key, value, root, depth)
    return checkable


def _checkable_value(key: str, value: Any, root: Any, depth: int) -> Any:
    """Return the value of a keyword, which is schemas by their names, plain data, or a schema."""
    if key in _DATA:
        return value
    if key in _OF_SCHEMAS and isinstance(value, dict):
        return {name: _checkable(one, root, depth + 1) for name, one in value.items()}
    return _checkable(value, root, depth + 1)


def _rename(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(key, key): _rename(inner, names) for key, inner in value.items()}
    return [_rename(inner, names) for inner in value] if isinstance(value, list) else value
