"""What a server does wrong ends its own call and nothing else, and nothing of it outlives us
(I47).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest

from bot.config.home import HomeFolder
from bot.config.sections.extensions import McpServerConfig
from bot.tools.mcp.connection import MAX_TOOLS, McpError, McpLost
from bot.tools.mcp.server import BREAKER_FAILURES, BREAKER_SECONDS, McpServer
from memory.store.automation.mcp import ListedTool
from tests.bot.tools.mcp.servers import Orders
from tests.emulators.mcp_server import tool

GONE_SECONDS = 5.0


class Clock:
    """Monotonic seconds that the test sets."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


@asynccontextmanager
async def started(
    orders: Orders, clock: Callable[[], float] | None = None, **settings: object
) -> AsyncIterator[tuple[McpServer, list[Sequence[ListedTool]]]]:
    lists: list[Sequence[ListedTool]] = []

    async def store(era: str, tools: Sequence[ListedTool]) -> None:
        lists.append(tools)

    config = McpServerConfig.model_validate({**orders.settings, **settings})
    server = McpServer(
        "files", config, "", store, clock or Clock(), home=HomeFolder(root=orders.path.parent)
    )
    try:
        yield server, lists
    finally:
        await server.close()


async def run(
    server: McpServer, name: str, *, repeatable: bool = False, **arguments: object
) -> str:
    result = await server.call(name, arguments, check=lambda: None, repeatable=repeatable)
    return "\n".join(result.texts)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def gone(*pids: int) -> bool:
    """Whether they all end in time."""
    deadline = asyncio.get_running_loop().time() + GONE_SECONDS
    while any(map(alive, pids)) and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 - other processes
        await asyncio.sleep(0.05)
    return not any(map(alive, pids))


async def test_a_server_that_dies_in_a_call_is_no_stop_and_is_started_again(tmp_path: Path) -> None:
    orders = Orders(tmp_path, [tool("die"), tool("echo")])
    async with started(orders) as (server, lists):
        with pytest.raises(McpLost) as lost:
            await run(server, "die")
        assert lost.value.sent
        assert not asyncio.current_task().cancelling()  # type: ignore[union-attr]
        assert orders.calls() == ["die"]
        with pytest.raises(McpLost, match="tried again in"):
            await run(server, "echo")
        assert server.status.state == "down"
        server._next_try = 0.0
        assert await run(server, "echo") == "echo: {}"
        assert len(lists) == 2


async def test_what_a_server_said_while_it_started_is_not_why_it_ended(tmp_path: Path) -> None:
    async with started(Orders(tmp_path, [tool("die")], greet="starting up")) as (server, _):
        with pytest.raises(McpLost, match="ended by itself"):
            await run(server, "die")


async def test_what_only_reads_is_called_once_more(tmp_path: Path) -> None:
    orders = Orders(tmp_path, [tool("die"), tool("die_once")])
    async with started(orders) as (server, _):
        assert "die_once" in await run(
            server, "die_once", repeatable=True, mark=str(tmp_path / "mark")
        )
        with pytest.raises(McpLost):
            await run(server, "die", repeatable=True)
        assert orders.calls() == ["die_once", "die_once", "die", "die"]


async def test_a_line_of_64_MB_ends_the_connection(tmp_path: Path) -> None:
    async with started(Orders(tmp_path, [tool("long_line")])) as (server, _):
        with pytest.raises(McpLost, match="4 MiB"):
            await run(server, "long_line")


async def test_a_call_that_hangs_is_given_up_and_others_go_on(tmp_path: Path) -> None:
    async with started(Orders(tmp_path, [tool("hang")]), seconds=1) as (server, _):
        with pytest.raises(TimeoutError):
            await run(server, "hang")
        assert server.status.state == "up"


async def test_a_caller_that_is_stopped_leaves_the_server_as_it_is(tmp_path: Path) -> None:
    orders = Orders(tmp_path, [tool("hang")])
    async with started(orders) as (server, _):
        await server.connect()
        call = asyncio.create_task(run(server, "hang"))
        while not orders.calls():  # noqa: ASYNC110 - another process writes the file
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert server.status.state == "up"


async def test_junk_many_tools_and_same_names_are_bounded(tmp_path: Path) -> None:
    tools = [
        tool("echo"),
        tool("echo", "Another one."),
        *(tool(f"t{number}") for number in range(700)),
    ]
    async with started(Orders(tmp_path, tools, print=50, page=100, endless=True)) as (server, _):
        listed = await server.connect()
        assert len(listed) == MAX_TOOLS
        assert [one.description for one in listed if one.name == "echo"] == ["Does it."]
        assert await run(server, "echo") == "echo: {}"


ODD_TOOLS = [
    {"name": "rootless", "inputSchema": {"properties": {"words": {"type": "string"}}}},
    {"name": "union", "inputSchema": {"anyOf": [{"type": "object"}, {"type": "null"}]}},
    {"name": "bare"},
    {
        "name": "odd_parts",
        "description": 7,
        "icons": "x",
        "outputSchema": [],
        "inputSchema": {"type": "string"},
    },
    {
        "name": "odd_schema",
        "inputSchema": {"type": "object", "properties": [], "required": "words", "$schema": 1},
    },
]
UNREADABLE_TOOLS = [
    {"name": "text", "inputSchema": "none"},
    {"inputSchema": {}},
    "no tool",
    {"name": 5},
]


async def test_one_odd_tool_is_repaired_or_left_out_by_name_and_costs_no_other(
    tmp_path: Path,
) -> None:
    orders = Orders(tmp_path, [*UNREADABLE_TOOLS, *ODD_TOOLS, tool("echo")])
    async with started(orders) as (server, _):
        listed = await server.connect()
        assert [one.name for one in listed] == [*(str(one["name"]) for one in ODD_TOOLS), "echo"]
        assert all(json.loads(one.schema)["type"] == "object" for one in listed)
        assert json.loads(listed[0].schema)["properties"] == {"words": {"type": "string"}}
        assert server.left_out[0] == "text"
        assert len(server.left_out) == len(UNREADABLE_TOOLS)
        assert await run(server, "rootless", words="hi")


async def test_a_list_that_cannot_be_read_at_all_is_the_reason_and_no_guess(tmp_path: Path) -> None:
    async with started(Orders(tmp_path, [], raw_list={"tools": "none"})) as (server, _):
        with pytest.raises(McpError, match="tools") as failed:
            await server.connect()
        assert "ended by itself" not in str(failed.value)


async def test_why_a_server_does_not_start_is_its_last_word_and_five_failures_stop_it_for_long(
    tmp_path: Path,
) -> None:
    clock, orders = Clock(), Orders(tmp_path, [], refuse="no such database")
    async with started(orders, clock) as (server, _):
        for _ in range(BREAKER_FAILURES):
            with pytest.raises(McpError, match="no such database"):
                await server.connect()
            clock.at = server._next_try
        assert clock.at >= BREAKER_SECONDS
        orders.write(refuse="", tools=[tool("echo")])
        assert await run(server, "echo") == "echo: {}"
    nothing = Orders(tmp_path, [], "nothing")
    async with started(nothing, command=[str(tmp_path / "nothing")]) as (server, _):
        with pytest.raises(McpError, match="No such file"):
            await server.connect()


async def test_an_idle_server_ends_and_comes_back(tmp_path: Path) -> None:
    orders = Orders(tmp_path, [tool("echo")])
    async with started(orders) as (server, lists):
        await run(server, "echo")
        pid = int(orders.pid.read_text())
        server._stop_idle()
        assert await gone(pid)
        assert server.status.state == "idle"
        assert await run(server, "echo") == "echo: {}"
        assert len(lists) == 2


async def test_a_server_gets_no_environment_of_ours_and_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    orders = Orders(tmp_path, [tool("env"), tool("network")])
    async with started(orders, network=False, env={"TOKEN": "t"}) as (server, _):
        known = json.loads(await run(server, "env"))
        assert known.keys() - {"LC_CTYPE"} == {"PATH", "LANG", "TOKEN"}
        assert json.loads(await run(server, "network")) == ["lo"]


async def test_I47_closing_ends_a_server_that_ignores_it_and_what_it_started(
    tmp_path: Path,
) -> None:
    orders = Orders(tmp_path, [tool("echo")], ignore_term=True)
    orders.write(orphan=str(orders.orphan))
    async with started(orders) as (server, _):
        await server.connect()
        pids = int(orders.pid.read_text()), int(orders.orphan.read_text())
        assert all(map(alive, pids))
    assert await gone(*pids)


def hold_server(settings: dict[str, Any], connected: Event) -> None:
    """What the bot's process is in the next test."""

    async def hold() -> None:
        async def store(era: str, tools: Sequence[ListedTool]) -> None: ...

        checked = McpServerConfig.model_validate(settings)
        server = McpServer("files", checked, "legacy", store, home=HomeFolder(root=Path("/none")))
        await server.connect()
        connected.set()
        await asyncio.Event().wait()

    asyncio.run(hold())


@pytest.mark.kill
async def test_I47_SIGKILL_of_the_bot_leaves_no_child(tmp_path: Path) -> None:
    orders = Orders(tmp_path, [tool("echo")], ignore_term=True)
    orders.write(orphan=str(orders.orphan))
    context = get_context("fork")
    connected = context.Event()
    holder = context.Process(target=hold_server, args=(orders.settings, connected))
    holder.start()
    try:
        assert await asyncio.to_thread(connected.wait, 30)
        pids = int(orders.pid.read_text()), int(orders.orphan.read_text())
        assert all(map(alive, pids))
    finally:
        holder.kill()
        holder.join()
    assert await gone(*pids)
