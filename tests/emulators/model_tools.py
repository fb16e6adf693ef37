"""What providers refuse in the tools of a request, the strictest of each rule."""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

MAX_DEPTH = 12
_NAME, _PROPERTY = re.compile(r"[a-zA-Z0-9_-]{1,64}"), re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
_ROOT_UNIONS = ("anyOf", "oneOf", "allOf", "enum", "not", "const", "if", "$ref")
_UNKNOWN = (
    "$ref",
    "$defs",
    "$id",
    "$schema",
    "allOf",
    "oneOf",
    "not",
    "if",
    "patternProperties",
    "prefixItems",
    "const",
)


def find_fault(name: str, schema: Any) -> str:
    """Why a tool is refused; "" if every provider takes it."""
    return _find_in_text(name, json.dumps(schema))


@cache
def _find_in_text(name: str, text: str) -> str:
    schema = json.loads(text)
    if not _NAME.fullmatch(name):
        return f"{name!r} does not match {_NAME.pattern}"
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return f"{name}: the schema must have type 'object'"
    if known := [key for key in _ROOT_UNIONS if key in schema]:
        return f"{name}: {known[0]} is not supported at the top level"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as err:
        return f"{name}: JSON schema is invalid: {err.message}"
    return _find_fault(schema, name, 0)


def _find_fault(schema: Any, place: str, depth: int) -> str:
    if not isinstance(schema, Mapping):
        return f"{place}: {schema!r} is not a schema"
    if depth > MAX_DEPTH:
        return f"{place}: nested too deep"
    if known := [key for key in _UNKNOWN if key in schema]:
        return f"{place}: {known[0]} is not supported"
    kind, alternatives = schema.get("type"), schema.get("anyOf")
    if (kind is None) == (alternatives is None):
        return f"{place}: a schema has either type or anyOf"
    if kind is not None and kind not in _TYPES:
        return f"{place}: type {kind!r} is none"
    if kind == "array" and "items" not in schema:
        return f"{place}: array schema missing items"
    if "enum" in schema and not schema["enum"]:
        return f"{place}: enum is empty"
    properties = schema.get("properties", {})
    if missing := set(schema.get("required", ())) - set(properties):
        return f"{place}: required {sorted(missing)} is no property"
    inner = [(f"{place}.{name}", one) for name, one in properties.items()]
    inner += [(f"{place}.anyOf", one) for one in alternatives or ()]
    inner += [(f"{place}.items", schema["items"])] if "items" in schema else []
    names = [
        f"{place}: property {name!r} does not match"
        for name in properties
        if not _PROPERTY.fullmatch(name)
    ]
    return next(
        filter(None, (*names, *(_find_fault(one, where, depth + 1) for where, one in inner))), ""
    )
