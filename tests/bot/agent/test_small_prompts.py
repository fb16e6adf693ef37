"""What every request holds before the conversation: how many tokens, in which window, and what
brings tools in.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.agent.context.fitter import FitRequest
from bot.config.home import HomeFolder
from bot.tools.deferred import MAX_USED_TOKENS, PromptNeeds
from memory.context.tokens import WEIGHTED, load_o200k_counter
from memory.conversation import ToolCall
from tests.bot.inside import Inside, inside
from tests.bot.talk import call

FILE_TOOLS = {"find_files", "search_files", "patch_files", "file_history", "restore_file"}
ALWAYS = [
    "recall",
    "memory_search",
    "memory_write",
    "remind",
    "reminders",
    "find_tools",
    "use_tool",
]


def with_window(tokens: int) -> dict[str, Any]:
    return {
        "llm": {"context_window": tokens, "max_output_tokens": 1_024},
        "memory": {"extract": True},
    }


def use(name: str, **arguments: object) -> ToolCall:
    given = json.dumps({"name": name, "arguments": arguments})
    return ToolCall(id=f"use {name}", name="use_tool", input=given)


def shown(it: Inside, request: int = -1) -> list[str]:
    return [spec.name for spec in it.model.requests[request].tools]


async def fixed_tokens(it: Inside, conversation: str) -> int:
    session = await it.bot.fitter.load_session(conversation)
    limits = await it.bot.fitter.load_limits(
        session, FitRequest(model=it.bot.model_name(), policy="balanced")
    )
    return limits.fixed


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(("window", "most"), [(50_000, 1_900), (8_192, 1_200), (4_096, 1_200)])
async def test_the_fixed_part_of_a_first_request_is_small(
    tmp_path: Path, window: int, most: int, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    home.set_soul_language(language)
    async with inside(tmp_path, ["ok"], with_window(window)) as it:
        await it.text({"zh": "你好", "en": "hello"}[language])
        facts = await it.bot.report.facts(await it.conversation())
        fixed = await fixed_tokens(it, await it.conversation())
        request = it.model.requests[0]
    counter = load_o200k_counter()
    sent = sum(map(counter.text, request.system)) + counter.tools(request.tools)
    with capsys.disabled():
        tools = f"{len(request.tools)} tools"
        print(
            f"\nwindow {window:,} {language}: {fixed:,} tokens by /context, {sent:,} by o200k, "
            f"{tools}"
        )
    assert fixed <= most
    assert sent <= most
    assert fixed == facts["parts"]["system"] + facts["parts"]["tools"]


async def test_tools_for_files_come_in_between_turns_once_there_are_files(tmp_path: Path) -> None:
    replies = [
        "hi",
        call("find_tools", query="search files"),
        use("find_files", glob="*"),
        call("write_file", "t3", path="notes/tea.md", content="oolong"),
        "done",
        "there",
    ]
    async with inside(tmp_path, replies, with_window(50_000)) as it:
        await it.text("hello")
        await it.text("write it down")
        assert not FILE_TOOLS & set(shown(it))  # its own file changes nothing within the turn
        marks = (await it.bot.store.sessions.load(await it.conversation())).prefix_generation
        await it.text("and now")
        assert set(shown(it)) >= FILE_TOOLS
        assert "find_tools" not in shown(it)
        after = (await it.bot.store.sessions.load(await it.conversation())).prefix_generation
        used = await it.bot.store.outcomes.used_tools("", 0.0)
    assert after > marks  # the change of the prefix is declared
    assert used == {"find_tools": 1, "find_files": 1, "write_file": 1}


OF_THE_PROGRAM = (
    "MEMORY.md",
    "HEARTBEAT.md",
    "memory/2026-11-20.md",
    "spaces/other/list.md",
    "skills/x/SKILL.md",
    ".hidden",
)


@pytest.mark.parametrize(
    ("paths", "counts"),
    [
        (["files/a.txt"], True),
        (["list.md"], True),
        (["sub/list.md"], True),
        (OF_THE_PROGRAM, False),
    ],
)
async def test_files_of_the_program_are_no_files_of_a_person(
    tmp_path: Path, paths: Sequence[str], counts: bool
) -> None:
    async with inside(tmp_path, ["ok"], with_window(50_000)) as it:
        for path in paths:
            file = tmp_path / "workspace" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x")
        await it.text("hello")
        assert (set(shown(it)) >= FILE_TOOLS) is counts


async def test_a_small_window_has_what_the_person_uses(tmp_path: Path) -> None:
    replies = ["hi", use("list_files"), "these", "welcome", "bye"]
    passed = 0.0
    async with inside(
        tmp_path, replies, with_window(8_192), clock=lambda: time.time() + passed
    ) as it:
        await it.text("hello")
        assert shown(it) == ALWAYS
        # files it can read: by use_tool
        assert "You cannot search the internet" in it.model.requests[-1].system[1]
        assert "or write files" not in it.model.requests[-1].system[1]
        await it.text("what files are there?")
        assert shown(it) == ALWAYS
        await it.text("thanks")
        assert shown(it) == ALWAYS  # what is used is counted once an hour
        passed = 3_600.0
        await it.text("see you")
        assert shown(it) == ["recall", "memory_search", "memory_write", "list_files", *ALWAYS[3:]]
    async with inside(tmp_path, ["again"]) as it:  # as it was before the restart
        await it.text("hello again")
        assert "list_files" in shown(it)


async def test_what_is_used_has_a_bound_in_a_small_window(tmp_path: Path) -> None:
    names = [
        "list_files",
        "find_files",
        "search_files",
        "file_history",
        "read_file",
        "web_fetch",
        "send_file",
    ]
    needs = PromptNeeds(has_files=True, is_small=True, used=(*names, "write_file", "edit_file"))
    async with inside(tmp_path, ["ok"], with_window(8_192)) as it:
        tools = it.bot.toolset("").all()
    found = {tool.spec.name for tool in tools} - needs.find_deferred(tools, ()) - set(ALWAYS)
    cost = WEIGHTED.tools([tool.spec for tool in tools if tool.spec.name in found])
    assert MAX_USED_TOKENS - 120 < cost <= MAX_USED_TOKENS
    assert found <= set(needs.used)


async def test_nothing_is_hidden_where_it_could_not_be_found(tmp_path: Path) -> None:
    settings = {**with_window(8_192), "tools": {"off": ["find_tools"]}}
    async with inside(tmp_path, ["ok"], settings) as it:
        await it.text("hello")
        assert set(shown(it)) >= FILE_TOOLS


@pytest.mark.parametrize(("window", "is_small"), [(16_383, True), (16_384, False)])
async def test_a_window_is_small_below_sixteen_thousand(
    tmp_path: Path, window: int, is_small: bool
) -> None:
    async with inside(tmp_path, ["ok"], with_window(window)) as it:
        await it.text("hello")
        assert (shown(it) == ALWAYS) is is_small


@pytest.mark.parametrize("notes", [True, False])
async def test_the_model_knows_whether_facts_are_noted_anyway(tmp_path: Path, notes: bool) -> None:
    async with inside(tmp_path, ["ok"], {"memory": {"extract": notes}}) as it:
        await it.text("hello")
        assert ("noted after the turn" in it.model.requests[0].system[1]) is notes


async def test_a_look_at_another_window_builds_the_tools_of_the_model_no_second_time(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, [], with_window(50_000)) as it:
        toolset = it.bot.toolset("")
        assert len(it.bot.toolset.specs("", 8_192)) < len(toolset.specs())
        assert it.bot.toolset("") is toolset
