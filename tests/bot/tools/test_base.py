"""A toolset keeps its order, and says what is wrong with a call."""

from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from bot.access.permissions import ACTIONS
from bot.errors import ToolFailed
from bot.tools.base import ToolArguments, ToolContext, Toolset
from bot.tools.registry import default_tool_specs
from memory.conversation import ToolSpec
from tests.cases import every_case


class Room(BaseModel):
    """An object within the arguments."""

    model_config = ConfigDict(extra="forbid")
    room: str = ""


class PaintArguments(ToolArguments):
    """One argument of each kind."""

    colour: Literal["red", "blue"]
    coats: int = Field(1, ge=1, le=3)
    walls: list[str] = Field(default_factory=list)
    where: Room = Room()
    note: str | None = None


class Paint:
    """A tool with one argument of each kind."""

    arguments = PaintArguments
    spec = ToolSpec(
        name="paint",
        description="",
        schema=PaintArguments.to_json_schema(),
        effect="pure",
        action="files.read",
    )

    async def run(self, arguments: PaintArguments, context: ToolContext) -> str:
        return ""


def named(name: str) -> Paint:
    tool = Paint()
    tool.spec = replace(Paint.spec, name=name)
    return tool


@pytest.mark.parametrize(
    "arguments",
    [
        {"colour": "red"},
        {"colour": "blue", "coats": 3, "walls": ["a", "b"], "where": {"room": "x"}, "note": None},
    ],
)
def test_arguments_that_fit_are_taken(arguments: dict[str, Any]) -> None:
    assert PaintArguments.parse(arguments).given() == arguments


@every_case(
    ("arguments", "told"),
    [
        ({}, "'colour' is missing"),
        ({"colour": "green"}, "'red' or 'blue'"),
        ({"colour": 1}, "argument 'colour'.*not 1"),
        ({"colour": "red", "coats": True}, "integer"),
        ({"colour": "red", "coats": 1.5}, "integer"),
        ({"colour": "red", "coats": 0}, "greater than or equal to 1, not 0"),
        ({"colour": "red", "walls": ["a", 1]}, r"walls\.1"),
        ({"colour": "red", "where": {"rom": "x"}}, "unknown argument 'where.rom'"),
        ({"colour": "red", "note": 1}, "string"),
        ({"color": "red"}, "did you mean 'colour'"),
        ({"colour": "red", "zzz": 1}, "known: colour, coats"),
        ([], "object"),
        ("red", "object"),
        (None, "object"),
    ],
)
def test_arguments_that_do_not_fit_are_told(arguments: Any, told: str) -> None:
    with pytest.raises(ToolFailed, match=told):
        PaintArguments.parse(arguments)


def test_the_built_in_tools_keep_their_order_and_have_known_actions() -> None:
    of_memory, of_files = (
        "memory_search memory_get memory_write",
        "list_files read_file write_file edit_file",
    )
    of_more_files = "find_files search_files patch_files file_history restore_file send_file"
    names = f"recall {of_memory} {of_files} {of_more_files} remind reminders web_fetch"
    assert [spec.name for spec in default_tool_specs()] == names.split()
    assert all(ACTIONS[spec.action].model for spec in default_tool_specs())


def test_I38_a_toolset_tells_of_its_tools_in_the_order_it_was_given_them() -> None:
    # eight: a set of two stays in the order it was filled in under 6 of 150 hash seeds, a set of
    # eight under none
    names = ["paint", "sand", "brush", "scrape", "plaster", "glue", "saw", "drill"]
    for order in (names, names[::-1]):
        tools = Toolset([named(name) for name in order])
        assert [spec.name for spec in tools.specs()] == order
        assert [spec.name for spec in tools.without(["none"]).specs()] == order


def test_a_tool_is_had_by_its_name() -> None:
    tools = Toolset([paint := Paint()])
    assert tools.get("paint") is paint
    assert tools.get("no_such") is None


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        Toolset([Paint(), Paint()])
