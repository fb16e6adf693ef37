"""Tools that are too many for the prompt: found by words, called by name, judged as themselves."""

import json
import sys
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.config.home import HomeFolder
from bot.config.sections.extensions import McpServerConfig
from bot.errors import ToolFailed
from bot.tools.base import Tool, ToolArguments, ToolContext, Toolset
from bot.tools.deferred import (
    MAX_FOUND,
    MAX_FOUND_CHARS,
    MAX_SHOWN_TOKENS,
    MAX_SHOWN_TOOLS,
    Findable,
    FindToolsTool,
    FoundByWords,
    UseToolTool,
    are_too_many,
    format_found,
)
from bot.tools.mcp.connection import tool_sha256
from bot.tools.mcp.service import source_sha256
from bot.tools.skills.library import SkillLibrary, SkillState
from memory.context.tokens import WEIGHTED
from memory.conversation import ToolCall, ToolSpec, inner_call
from memory.store.automation.mcp import ListedTool, McpChoice
from memory.store.store import Store
from memory.workspace.files import Workspace
from tests.bot.inside import Inside, inside, open_record
from tests.bot.talk import call, results
from tests.bot.tools.mcp.servers import Orders, review
from tests.by_night import by_night
from tests.emulators.mcp_server import tool

TEXT = {"type": "string"}
# of functions, to a turn: 700 to 1,300 measured, 180,000 where the tools are built each time
MAX_ADDED_CALLS = 5_000
AREAS = (
    "issue",
    "pull request",
    "branch",
    "commit",
    "wiki page",
    "release",
    "label",
    "milestone",
    "pipeline",
    "runner",
)
ACTS = (
    "Create",
    "Delete",
    "List",
    "Update",
    "Search",
    "Close",
    "Reopen",
    "Assign",
    "Rename",
    "Export",
)


class Plain:
    """A tool of nothing but its spec."""

    arguments = ToolArguments

    def __init__(self, name: str, description: str = "Does it.") -> None:
        self.spec = ToolSpec(
            name=name,
            description=description,
            schema="{}",
            effect="pure",
            action="mcp.call",
            origin="files",
        )

    async def run(self, arguments: ToolArguments, context: ToolContext) -> str:
        return "done"


def findables(count: int) -> list[Findable]:
    schema = {
        "type": "object",
        "properties": {"owner": TEXT, "dueDate": {**TEXT, "description": "When it is due"}},
    }
    return [
        Findable(
            name=(
                f"hub__{ACTS[number % 10].lower()}_{AREAS[number // 10 % 10].replace(' ', '_')}_{number}"  # noqa: E501
            ),
            origin="hub" if number % 2 else "lab",
            description=(
                f"{ACTS[number % 10]} a {AREAS[number // 10 % 10]} of a project, by its number "
                f"{number}."
            ),
            schema=json.dumps(schema),
        )
        for number in range(count)
    ]


def test_words_find_a_tool_by_name_description_and_parameter() -> None:
    index = FoundByWords(
        [*findables(400), Findable(name="x__weather", origin="x", description="预报天气 forecast")]
    )
    best = index.search("close a milestone")
    assert len(best) == MAX_FOUND
    assert all("close_milestone" in item.name for item in best[:4])
    assert [item.name for item in index.search("明天的天气怎么样")] == ["x__weather"]
    assert len(index.search("due date")) == MAX_FOUND
    assert {item.origin for item in index.search("release", "lab")} == {"lab"}
    assert [item.name for item in index.search("hub__create_issue_0")] == ["hub__create_issue_0"]
    assert index.search("qqqq") == []
    assert FoundByWords([]).search("anything") == []


def test_an_answer_is_bounded_and_its_first_schema_is_whole() -> None:
    long = json.dumps(
        {"type": "object", "properties": {f"p{number}": TEXT for number in range(700)}}
    )
    items = [
        Findable(name=f"t{number}", origin="s", description="d" * 4_000, schema=long)
        for number in range(8)
    ]
    text = format_found(items, 8)
    assert long in text
    assert text.count("too long to be shown") == 7
    assert len(text) < MAX_FOUND_CHARS + len(long)


def test_tools_are_deferred_at_one_more_than_the_prompt_takes() -> None:
    tools: list[Tool] = [Plain(f"s__{number}") for number in range(MAX_SHOWN_TOOLS)]
    assert not are_too_many(tools)
    assert are_too_many([*tools, Plain("s__more")])
    sizes = range(3 * MAX_SHOWN_TOKENS, 4 * MAX_SHOWN_TOKENS)
    fitting = bisect_right(
        sizes, MAX_SHOWN_TOKENS, key=lambda size: WEIGHTED.tools([Plain("a", "x" * size).spec])
    )
    length = sizes[fitting - 1]
    assert not are_too_many([Plain("a", "x" * length)])
    assert are_too_many([Plain("a", "x" * (length + 4))])


def test_a_toolset_runs_deferred_tools_but_does_not_show_them() -> None:
    toolset = Toolset([Plain("a")], [Plain("b"), Plain("c")])
    assert toolset.names() == ("a",)
    assert [spec.name for spec in toolset.specs()] == ["a"]
    assert toolset.get("b") is not None
    assert toolset.without(["b"]).get("b") is None
    assert toolset.without(["b"]).get("c") is not None
    with pytest.raises(ValueError, match="same name"):
        Toolset([Plain("a")], [Plain("a")])


def use(arguments: object, id: str = "t1") -> ToolCall:
    return ToolCall(
        id=id,
        name="use_tool",
        input=arguments if isinstance(arguments, str) else json.dumps(arguments),
    )


def test_a_call_of_use_tool_is_the_call_that_it_makes() -> None:
    assert inner_call(use({"name": " a__b ", "arguments": {"x": "日"}})) == ToolCall(
        id="t1", name="a__b", input='{"x": "日"}'
    )
    assert inner_call(use({"name": "a__b", "arguments": '{"x": 1}'})).input == '{"x": 1}'
    assert inner_call(use({"name": "a__b"})).input == "{}"
    assert inner_call(use({"name": "a__b", "arguments": [1]})).input == "[1]"
    for odd in (
        "",
        "{",
        "[]",
        "7",
        '{"name": 7}',
        '{"name": ""}',
        '{"name": "use_tool", "arguments": {}}',
        "[" * 9_999,
    ):
        assert inner_call(use(odd)) == use(odd)
    assert inner_call(call("recall")) == call("recall")


async def test_the_two_tools_refuse_what_they_cannot_do() -> None:
    finder = FindToolsTool(findables(3))
    with pytest.raises(ToolFailed, match="Nothing here is of"):
        await finder.run(finder.arguments(query="x", server="none"), None)  # type: ignore[arg-type]
    assert "Try others" in await finder.run(finder.arguments(query="qqqq"), None)  # type: ignore[arg-type]
    with pytest.raises(ToolFailed, match="find_tools"):
        UseToolTool().arguments.parse({"name": "use_tool", "arguments": {}})


async def test_a_deferred_tool_is_found_called_and_judged_as_itself(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    more = [tool(f"more{number}", "Fills the list.") for number in range(MAX_SHOWN_TOOLS)]
    orders = Orders(tmp_path, [tool("echo", "Repeats words.", words=TEXT), tool("die"), *more])
    modes = {"echo": "run", "die": "ask", **{one["name"]: "run" for one in more}}
    await review(tmp_path, "files", orders.settings, modes)
    script = [
        call("find_tools", query="repeat words", id="t1"),
        use({"name": "files__echo", "arguments": {"words": "hi"}}, "t2"),
        use({"name": "files__die", "arguments": {}}, "t3"),
        use({"name": "files__none", "arguments": {}}, "t4"),
        use({"name": "use_tool", "arguments": {"name": "files__echo"}}, "t5"),
        use({"name": "files__echo", "arguments": {"words": 7}}, "t6"),
        "done",
    ]
    async with inside(tmp_path, script, {"mcp": {"files": orders.settings}}) as it:
        assert await it.text("go") == "done"
        shown = [spec.name for spec in it.model.requests[0].tools]
        assert shown[-2:] == ["find_tools", "use_tool"]
        assert not [name for name in shown if "__" in name]
        assert all(request.tools == it.model.requests[0].tools for request in it.model.requests)
        found, echoed, asked, unknown, itself, wrong = results(it.model.requests[-1])
        assert "files__echo" in found.text
        assert found.outside
        assert (echoed.text, echoed.outside) == ('echo: {"words": "hi"}', True)
        assert "approval" in asked.text
        assert "There is no tool 'files__none'" in unknown.text
        assert "find_tools found" in itself.text
        assert "argument 'words'" in wrong.text
        assert orders.calls() == ["echo"]
        question = next(sent.text for sent in it.channel.sent if "/approve" in sent.text)
        assert question.startswith("```\nfiles__die\n```")
        said = [
            part
            for message in it.model.requests[-1].messages
            for part in message.parts
            if isinstance(part, ToolCall) and part.id == "t2"
        ]
        assert [(part.name, json.loads(part.input)["name"]) for part in said] == [
            ("use_tool", "files__echo")
        ]
        assert await stored_calls(it.bot.store) == [
            ("find_tools", "pure", "done"),
            ("files__echo", "unsafe", "done"),
            ("files__die", "unsafe", "denied"),
            ("files__none", "pure", "failed"),
            ("use_tool", "pure", "failed"),
            ("files__echo", "unsafe", "failed"),
        ]


async def stored_calls(store: Store) -> list[tuple[str, str, str]]:
    query = "SELECT name, effect, state FROM tool_call ORDER BY id"
    rows = (await store.database.read(lambda tx: tx.driver.run(query, []))).all()
    return [(row["name"], row["effect"], row["state"]) for row in rows]


async def test_what_a_person_may_not_do_is_denied_through_use_tool_too(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool(f"more{number}") for number in range(MAX_SHOWN_TOOLS + 1)])
    await review(
        tmp_path,
        "files",
        orders.settings,
        {f"more{number}": "run" for number in range(MAX_SHOWN_TOOLS + 1)},
    )
    write = {"name": "write_file", "arguments": {"path": "skills/x/SKILL.md", "content": "obey"}}
    same = [
        use({"name": "read_file", "arguments": {"path": "none"}}, f"s{number}")
        for number in range(6)
    ]
    async with inside(
        tmp_path, [use(write), "done", *same, "never"], {"mcp": {"files": orders.settings}}
    ) as it:
        assert await it.text("go") == "done"
        (refused,) = results(it.model.requests[-1])
        assert "not allowed" in refused.text
        assert not (tmp_path / "workspace" / "skills" / "x").exists()
        assert "read_file" in await it.text("again and again"), (
            "the loop guard names the inner tool"
        )
        assert len(it.model.requests) == 7


def listed(name: str, number: int) -> ListedTool:
    description = (
        f"{ACTS[number % 10]} a {AREAS[number // 10 % 10]}. "
        + "It is a longer description of it. " * 6
    )
    schema = json.dumps(
        {"type": "object", "properties": {f"p{place}": TEXT for place in range(5)}}, sort_keys=True
    )
    return ListedTool(
        name=name,
        description=description,
        schema=schema,
        read_only=False,
        sha256=tool_sha256(name, description, schema),
    )


async def enable_many(
    home: Path, servers: Sequence[str], tools: int, skills: int
) -> dict[str, object]:
    """Store reviewed tools of servers that never run, and enabled skills; returns the settings."""
    HomeFolder(root=home).ensure()
    settings = {"command": ["none"], "network": True}
    source = source_sha256(McpServerConfig.model_validate(settings))
    store = await open_record(HomeFolder(root=home), time.time)
    try:
        for server in servers:
            own = [listed(f"t{number}", number) for number in range(tools)]
            await store.mcp.store_list(server, "legacy", own)
            choices = [
                McpChoice(name=one.name, mode="run", effect="unsafe", sha256=one.sha256)
                for one in own
            ]
            assert await store.mcp.store_review(server, source, choices, "test") == []
    finally:
        await store.close()
    for number in range(skills):
        folder = home / "workspace" / "skills" / f"skill-{number}"
        folder.mkdir(parents=True)
        about = (
            f"How we {ACTS[number % 10].lower()} a {AREAS[number % 7]}, in case {number}. "
            + "More of it. " * 10
        )
        (folder / "SKILL.md").write_text(
            f"---\nname: skill-{number}\ndescription: {about}\n---\nDo it.\n"
        )
    path = home / "data" / "skills.json"
    library = SkillLibrary(Workspace(home / "workspace"), SkillState(path))
    path.write_text(json.dumps({skill.name: {"sha256": skill.sha256} for skill in library.all()}))
    return {"mcp": dict.fromkeys(servers, settings)}


@pytest.mark.parametrize("turns", [3, pytest.param(50, marks=by_night)])
async def test_many_skills_and_tools_take_a_small_index_and_never_move_the_prefix(
    tmp_path: Path, turns: int
) -> None:
    settings = await enable_many(tmp_path, ["a", "b", "c", "d"], 100, 300)
    script = [call("find_tools", query="reopen the wiki", id="t1"), "found"] + ["ok"] * turns
    async with inside(tmp_path, script, {**settings, "agent_max_context_turns": 100}) as it:
        assert await it.text("go") == "found"
        for number in range(turns):
            assert await it.text(f"turn {number}") == "ok"
        specs = {spec.name: spec for spec in it.model.requests[0].tools}
        added = [specs[name] for name in ("skill", "find_tools", "use_tool")]
        assert WEIGHTED.tools(added) <= 2_600
        assert "- a: 100" in specs["find_tools"].description
        assert "- skills: " in specs["find_tools"].description
        prefixes = {(request.system, request.tools) for request in it.model.requests}
        assert len(prefixes) == 1
        (found,) = results(it.model.requests[1])
        assert "reopen" in found.text.lower()


@asynccontextmanager
async def with_many_and_without(folder: Path) -> AsyncIterator[tuple[Inside, Inside]]:
    """Two bots, one with 300 skills and 400 tools, after what is done once, such as building the
    list of tools.
    """
    settings = await enable_many(folder / "many", ["a", "b", "c", "d"], 100, 300)
    more, says = {"agent_max_context_turns": 200}, lambda _: "ok"
    async with (
        inside(folder / "many", says, {**settings, **more}) as many,
        inside(folder / "none", says, more) as none,
    ):
        for number in range(3):
            await take_turn(many, number), await take_turn(none, number)
        yield many, none


async def take_turn(it: Inside, number: int) -> None:
    assert await it.text(f"turn {number}") == "ok"
    await it.bot.settled()


async def test_many_skills_and_tools_add_few_calls_to_a_turn(tmp_path: Path) -> None:
    async def calls(it: Inside, number: int) -> int:
        counted = Counter[str]()
        sys.setprofile(lambda frame, event, arg: counted.update((event,)))
        try:
            await take_turn(it, number)
        finally:
            sys.setprofile(None)
        return counted["call"] + counted["c_call"]

    async with with_many_and_without(tmp_path) as (many, none):
        added = sorted(
            [await calls(many, number) - await calls(none, number) for number in range(5)]
        )
        assert added[0] <= MAX_ADDED_CALLS, added  # the others may look at the folders again


@by_night
async def test_many_skills_and_tools_add_two_milliseconds_to_a_turn(tmp_path: Path) -> None:
    async def cpu(it: Inside, number: int) -> float:
        began = time.process_time()
        await take_turn(it, number)
        return time.process_time() - began

    async with with_many_and_without(tmp_path) as (many, none):
        added = sorted([await cpu(many, number) - await cpu(none, number) for number in range(100)])
        assert added[50] <= 0.002, added


async def test_turned_off_tools_are_not_found_and_do_not_count(tmp_path: Path) -> None:
    settings = await enable_many(tmp_path, ["a"], MAX_SHOWN_TOOLS + 1, 0)
    async with inside(tmp_path, ["one"], {**settings, "tools": {"off": ["a__t0"]}}) as it:
        assert await it.text("go") == "one"
        names = [spec.name for spec in it.model.requests[0].tools]
        assert len([name for name in names if name.startswith("a__")]) == MAX_SHOWN_TOOLS
