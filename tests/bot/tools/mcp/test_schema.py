"""Schemas of outside tools: what providers are shown, and what arguments are checked against."""

import json
import re
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import ToolFailed
from bot.models.base import Request
from bot.models.providers.anthropic import encode_anthropic_request
from bot.models.providers.openai_request import encode_openai_request
from bot.tools.mcp.schema import MAX_CHARS, MAX_DEPTH, ArgumentCheck, repair_schema
from bot.tools.mcp.tool import MAX_NAME_CHARS, tool_name
from memory.conversation import ShownMessage, Text, ToolSpec
from tests.cases import every_case
from tests.emulators.model_rules import check_chat, check_messages

TEXT = {"type": "string"}
ALLOWED = {
    *(
        "type",
        "description",
        "properties",
        "required",
        "items",
        "enum",
        "anyOf",
        "additionalProperties",
    ),
    *("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"),
}
NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
TREE = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/node"}},
    "$defs": {
        "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "name": TEXT}}
    },
}
DOUBLING = {
    "type": "object",
    "properties": {"x": {"$ref": "#/$defs/a0"}},
    "$defs": {
        f"a{number}": {
            "anyOf": [{"$ref": f"#/$defs/a{number + 1}"}, {"$ref": f"#/$defs/a{number + 1}"}]
        }
        for number in range(40)
    }
    | {"a40": TEXT},
}
HOSTILE: list[Any] = [
    {},
    True,
    [],
    {"type": "string"},
    {"type": ["object", "null"], "properties": {"a": TEXT}},
    {
        "anyOf": [
            {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
            {"properties": {"b": TEXT}},
        ]
    },
    {
        "oneOf": [
            {"type": "string"},
            {"type": "object", "properties": {"a": {"type": ["string", "integer", "null"]}}},
        ]
    },
    {"allOf": [{"properties": {"a": TEXT}, "required": ["a"]}, {"properties": {"b": TEXT}}]},
    {"$ref": "#/$defs/x", "$defs": {"x": {"type": "object", "properties": {"a": TEXT}}}},
    {"$ref": "#"},
    {"$ref": "https://evil.example/schema.json"},
    {
        "type": "object",
        "properties": {"a": {"$ref": "https://evil.example/x"}, "b": {"$ref": "#/$defs/none"}},
    },
    TREE,
    DOUBLING,
    {
        "type": "object",
        "properties": {"a b": TEXT, "ä": TEXT, "x" * 100: TEXT, "": TEXT, "$ref": TEXT},
    },
    {
        "type": "object",
        "properties": {"pattern": TEXT, "properties": {"type": "object"}, "format": TEXT},
    },
    {
        "type": "object",
        "properties": {
            "a": {"type": "string", "pattern": "(a+)+$", "format": "email", "default": 1}
        },
    },
    {
        "type": "object",
        "properties": {"a": {"items": [TEXT, {"type": "integer"}]}, "b": {"prefixItems": [TEXT]}},
    },
    {
        "type": "object",
        "properties": {"a": {"const": 1}, "b": {"enum": [None, {}, "x"]}, "c": {"enum": []}},
    },
    {
        "type": "object",
        "properties": {"a": {"type": "array"}},
        "required": ["a", "b", 7],
        "additionalProperties": TEXT,
    },
    {
        "type": "object",
        "properties": [],
        "required": "a",
        "additionalProperties": False,
        "$schema": "x",
        "$id": "y",
    },
    {
        "type": "object",
        "properties": {f"p{number}": {**TEXT, "description": "w" * 900} for number in range(200)},
    },
    {
        "type": "object",
        "patternProperties": {"(a+)+$": TEXT},
        "propertyNames": {"pattern": "(a+)+$"},
    },
    {
        "type": "object",
        "properties": {"a": False, "b": True, "c": None, "d": 5, "e": {"type": "file"}},
    },
    {
        "type": "object",
        "if": {"properties": {"a": TEXT}},
        "then": {"required": ["b"]},
        "not": {"required": ["c"]},
    },
]
# Each of them once more inside of a property, a list and an alternative.
HOSTILE += [
    {
        "type": "object",
        "properties": {"x": {"anyOf": [one, TEXT]}, "y": {"type": "array", "items": one}, "z": one},
    }
    for one in HOSTILE[:]
]
HOSTILE += [
    {"type": "object", "properties": {f"p{number}": {} for number in range(300)}},
    {
        "type": "object",
        "properties": {"a": {"type": "object", "properties": {"x" * 65: {"enum": [1.5, True]}}}},
    },
    {
        "type": "object",
        "properties": {"a": {"anyOf": []}, "b": {"type": []}, "c": {"type": ["null"]}},
    },
    {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "array"}}, "b": {"items": True}},
    },
    {
        "type": "object",
        "properties": {"a": {"type": "string", "enum": ["x", 1, None]}, "b": {"enum": ["x", 7]}},
    },
    {
        "type": "object",
        "properties": {"a": {"minimum": "1", "maxLength": 1.5, "minItems": -1, "maximum": True}},
    },
    {
        "type": "object",
        "properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}},
    },
    {
        "type": "object",
        "properties": {"a": {"type": "object", "required": ["x"], "properties": {"y": TEXT}}},
    },
    {
        "type": "object",
        "description": "d" * 30_000,
        "properties": {"a": {"description": 7, "default": "x" * 9_000}},
    },
]
deep: dict[str, Any] = TEXT
for _ in range(60):
    deep = {"type": "object", "properties": {"x": deep}}
HOSTILE.append(deep)


def check_shape(schema: Any, depth: int = 0) -> None:
    assert isinstance(schema, dict)
    assert depth <= MAX_DEPTH + 1
    assert schema.keys() <= ALLOWED
    assert isinstance(schema.get("additionalProperties", True), bool)
    assert isinstance(schema.get("type", ""), str)
    assert set(schema.get("required", ())) <= set(schema.get("properties", ()))
    for name, inner in schema.get("properties", {}).items():
        assert NAME.fullmatch(name)
        check_shape(inner, depth + 1)
    for inner in schema.get("anyOf", ()):
        check_shape(inner, depth + 1)
    if "items" in schema:
        check_shape(schema["items"], depth + 1)


@every_case("original", HOSTILE)
def test_what_a_provider_is_shown_is_an_object_of_plain_keywords(original: Any) -> None:
    shown, _ = repair_schema(json.dumps(original))
    assert len(shown) <= MAX_CHARS
    schema = json.loads(shown)
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    check_shape(schema)


def specs() -> tuple[ToolSpec, ...]:
    """A tool for each hostile schema, as the model is shown it."""
    rows = [
        (tool_name("server", f"t{number}"), json.dumps(one)) for number, one in enumerate(HOSTILE)
    ]
    return tuple(
        ToolSpec(
            name=name,
            description="d",
            schema=repair_schema(text)[0],
            effect="pure",
            action="mcp.call",
        )
        for name, text in rows
    )


def test_sixty_hostile_schemas_are_taken_by_both_wires() -> None:
    assert len(HOSTILE) >= 60
    message = ShownMessage(role="user", parts=(Text(text="hello"),))
    request = Request(model="m", system=("s",), messages=(message,), tools=specs())
    check_messages(json.loads(encode_anthropic_request(request, lambda _: b"").content), bound=True)
    check_chat(json.loads(encode_openai_request(request, lambda _: b"")))


@every_case("original", HOSTILE)
def test_the_original_still_judges_arguments_and_never_hangs_or_breaks(original: Any) -> None:
    text = json.dumps(original)
    check = ArgumentCheck(text, repair_schema(text)[1])
    for arguments in ({}, {"a": "x"}, {"a": 1, "x": {"y": [1]}}, {"x": None}):
        with suppress(ToolFailed):
            assert check.parse(arguments).given() == arguments


def test_a_check_that_doubles_with_each_level_is_given_up() -> None:
    text = json.dumps(DOUBLING)
    check = ArgumentCheck(text, {})
    began = time.process_time()
    assert check.parse({"x": 7}).values == {"x": 7}, "the server has to refuse it"
    assert time.process_time() - began < 5.0
    assert check.parse({"x": "text"}).values == {"x": "text"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "items",
                    "anyOf",
                    "oneOf",
                    "allOf",
                    "$ref",
                    "required",
                    "enum",
                    "a",
                    "$defs",
                    "const",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_no_schema_breaks_the_repair(original: Any) -> None:
    check_shape(json.loads(repair_schema(json.dumps(original))[0]))


@every_case(
    ("original", "good", "bad"),
    [
        (
            TREE,
            {"node": {"next": {"next": {"name": "x"}}}},
            {"node": {"next": {"next": {"name": 1}}}},
        ),
        ({"type": "object", "properties": {"a": TEXT}, "required": ["a"]}, {"a": "x"}, {}),
        (
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "(a+)+$"}}},
            {"a": "a" * 60 + "!"},
            {"a": 1},
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "https://evil.example/x"}, "b": TEXT}},
            {"a": 1, "b": "x"},
            {"b": 1},
        ),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1}, {"a": 1, "b": 1}),
    ],
)
def test_arguments_are_checked_against_the_original(original: Any, good: Any, bad: Any) -> None:
    text = json.dumps(original)
    check = ArgumentCheck(text, repair_schema(text)[1])
    assert check.parse(good).values == good
    with pytest.raises(ToolFailed):
        check.parse(bad)
    with pytest.raises(ToolFailed):
        check.parse([])


def test_renamed_properties_reach_the_server_under_their_own_names() -> None:
    original = {
        "type": "object",
        "properties": {"a b": {"type": "object", "properties": {"ä": TEXT}}},
    }
    shown, names = repair_schema(json.dumps(original))
    (outer,) = json.loads(shown)["properties"]
    (inner,) = json.loads(shown)["properties"][outer]["properties"]
    arguments = ArgumentCheck(json.dumps(original), names).parse({outer: {inner: "x"}})
    assert arguments.values == {"a b": {"ä": "x"}}
    assert arguments.given() == {outer: {inner: "x"}}


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9-]{0,31}", fullmatch=True), st.text(max_size=100))
def test_a_tools_name_is_one_that_providers_take(server: str, tool: str) -> None:
    name = tool_name(server, tool)
    assert re.fullmatch(rf"[A-Za-z0-9_-]{{1,{MAX_NAME_CHARS}}}", name)
    assert name == tool_name(server, tool)
    plain = f"{server}__{tool}"
    assert (name == plain) == bool(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", plain))


def test_different_tools_have_different_names() -> None:
    names = [
        tool_name("a", "b.c"),
        tool_name("a", "b c"),
        tool_name("a", "x" * 80),
        tool_name("a", "x" * 81),
    ]
    assert len(set(names)) == len(names)
