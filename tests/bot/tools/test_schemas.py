"""The schemas that models are shown, to the letter: a prompt prefix that changes is paid for again."""

import json

import pytest

from bot.tools.registry import default_tool_specs
from memory.conversation import ToolSpec

SCHEMAS = {
    "edit_file": {
        "additionalProperties": False,
        "properties": {
            "new": {"description": "What stands there instead", "type": "string"},
            "old": {"description": "The exact passage, long enough to be the only one", "type": "string"},
            "path": {"description": "Path relative to the workspace, such as memory/2026-11-20.md", "type": "string"},
        },
        "required": ["path", "old", "new"],
        "type": "object",
    },
    "list_files": {
        "additionalProperties": False,
        "properties": {"path": {"description": "Folder, empty for everything", "type": "string"}},
        "required": [],
        "type": "object",
    },
    "memory_get": {
        "additionalProperties": False,
        "properties": {
            "count": {"description": "How many lines", "maximum": 200, "minimum": 1, "type": "integer"},
            "line": {"description": "First line, from 1", "minimum": 1, "type": "integer"},
            "path": {"description": "As memory_search gives it, such as memory/2026-11-20.md", "type": "string"},
        },
        "required": ["path"],
        "type": "object",
    },
    "memory_search": {
        "additionalProperties": False,
        "properties": {
            "limit": {"description": "How many passages", "maximum": 20, "minimum": 1, "type": "integer"},
            "page": {"description": "From 1, where the result has several", "minimum": 1, "type": "integer"},
            "query": {"description": "What is looked for", "type": "string"},
            "since": {"description": "YYYY-MM-DD, this day included", "type": "string"},
            "speaker": {"description": 'Only what this one said: "User", "Bot" or a name', "type": "string"},
            "until": {"description": "YYYY-MM-DD, this day included", "type": "string"},
        },
        "required": ["query"],
        "type": "object",
    },
    "memory_write": {
        "additionalProperties": False,
        "properties": {
            "category": {
                "description": "What kind of fact it is",
                "enum": ["user_preference", "project_context", "skill", "fact"],
                "type": "string",
            },
            "text": {"description": "The fact alone, one sentence that is clear by itself", "type": "string"},
        },
        "required": ["category", "text"],
        "type": "object",
    },
    "now": {"additionalProperties": False, "properties": {}, "required": [], "type": "object"},
    "read_file": {
        "additionalProperties": False,
        "properties": {
            "limit": {"description": "How many lines", "maximum": 2000, "minimum": 1, "type": "integer"},
            "offset": {"description": "First line, from 1", "minimum": 1, "type": "integer"},
            "path": {"description": "Path relative to the workspace, such as memory/2026-11-20.md", "type": "string"},
        },
        "required": ["path"],
        "type": "object",
    },
    "recall": {
        "additionalProperties": False,
        "properties": {
            "handle": {"description": 'Such as "41.0"', "type": "string"},
            "page": {"description": "From 1", "minimum": 1, "type": "integer"},
            "turn": {"description": "Number of a turn", "minimum": 1, "type": "integer"},
        },
        "required": [],
        "type": "object",
    },
    "send_file": {
        "additionalProperties": False,
        "properties": {
            "caption": {"description": "A few words beside it", "type": "string"},
            "handle": {"description": 'Such as "41.0": message and part, as recall shows them', "type": "string"},
            "path": {"description": "Such as outbox/report.md; write_file makes it", "type": "string"},
        },
        "required": [],
        "type": "object",
    },
    "write_file": {
        "additionalProperties": False,
        "properties": {
            "content": {"description": "The whole new content", "type": "string"},
            "path": {"description": "Path relative to the workspace, such as memory/2026-11-20.md", "type": "string"},
            "version": {"description": "Version of the file to replace; leave out for a new one", "type": "string"},
        },
        "required": ["path", "content"],
        "type": "object",
    },
}


def test_every_built_in_tool_has_its_schema_here() -> None:
    assert [spec.name for spec in default_tool_specs() if spec.name not in SCHEMAS] == []


@pytest.mark.parametrize("spec", default_tool_specs(), ids=lambda spec: spec.name)
def test_a_tools_schema_is_shown_as_it_stands_here(spec: ToolSpec) -> None:
    assert json.loads(spec.schema) == SCHEMAS[spec.name]
    assert spec.schema == json.dumps(json.loads(spec.schema), ensure_ascii=False, sort_keys=True)
