"""A plug-in file in its process: what it can do, and what it cannot."""

import asyncio
import base64
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.errors import ToolFailed
from bot.tools.plugins.library import MAX_TOOLS, check_definitions
from bot.tools.plugins.runner import MAX_FETCHES, PluginSource, call_plugin, describe_plugin
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.cases import every_case

pytestmark = needs_sandbox
HEAD = "from bot.plugins import tool\n"
WEATHER = """
import datetime
from typing import Annotated, Literal
from pydantic import BaseModel, Field
from bot.plugins import Context, PluginError, tool

class Place(BaseModel):
    city: str
    unit: Literal["C", "F"] = "C"

print("noise at import")

@tool(effect="pure", needs=["KEY"])
async def weather(
    ctx: Context, place: Place, days: Annotated[int, Field(ge=1, le=9, description="How many")] = 3
) -> str:
    \"\"\"Forecast for a city.\"\"\"
    print('{"result": "forged"}')
    response = await ctx.fetch(f"https://weather.example/{place.city}/{days}", bearer="KEY")
    return f"{response.text} {place.unit} {ctx.now:%Y} {ctx.secret('KEY')}"

@tool(ask=True)
async def refuse(ctx, why: str) -> dict:
    \"\"\"Refuses.\"\"\"
    if why == "odd":
        return {"odd": [1, None]}
    raise PluginError(f"no: {why}")
"""


async def no_fetch(wanted: Mapping[str, Any]) -> dict[str, Any]:
    raise AssertionError(wanted)


async def run(
    text: str, tool: str = "go", arguments: str = "{}", seconds: float = 10.0, fetch: Any = no_fetch
) -> str:
    request = {
        "tool": tool,
        "arguments": arguments,
        "secrets": {"KEY": "k1"},
        "now": "2026-05-01T00:00:00+00:00",
    }
    return await call_plugin(PluginSource(name="plug", text=text), request, fetch, seconds)


def body(code: str) -> str:
    lines = "\n".join(f"    {line}" for line in code.splitlines())
    return f'{HEAD}@tool(effect="pure")\nasync def go(ctx) -> str:\n    """Goes."""\n{lines}\n'


async def test_a_file_is_described_and_called_with_strict_arguments() -> None:
    found = check_definitions(await describe_plugin(PluginSource(name="plug", text=WEATHER)), [])
    assert [(one.name, one.effect, one.needs, one.ask) for one in found] == [
        ("weather", "pure", ("KEY",), False),
        ("refuse", "unsafe", (), True),
    ]
    schema = json.loads(found[0].schema)
    assert schema["required"] == ["place"]
    assert schema["properties"]["days"]["maximum"] == 9
    asked: list[Mapping[str, Any]] = []

    async def fetch(wanted: Mapping[str, Any]) -> dict[str, Any]:
        asked.append(wanted)
        return {
            "url": wanted["url"],
            "status": 200,
            "headers": {},
            "body": base64.b64encode("晴".encode()).decode(),
        }

    assert (
        await run(WEATHER, "weather", '{"place": {"city": "Rome"}}', fetch=fetch) == "晴 C 2026 k1"
    )
    assert [(one["method"], one["url"], one["bearer"]) for one in asked] == [
        ("GET", "https://weather.example/Rome/3", "KEY")
    ]
    assert await run(WEATHER, "refuse", '{"why": "odd"}') == '{"odd": [1, null]}'
    with pytest.raises(ToolFailed, match="no: never"):
        await run(WEATHER, "refuse", '{"why": "never"}')


@every_case(
    ("code", "why"),
    [
        ("while True: pass", "longer than"),
        ("import os; os._exit(3)", "exit code 3"),
        ("raise SystemExit(4)", "exit code 4"),
        ("1 / 0", r"ZeroDivisionError: division by zero \(line 1\)"),
        ("x = 1", "defines no tool"),
        ("import os; os.kill(os.getpid(), 9)", "without an answer"),
        ("x = ' ' * 2**30", "MemoryError"),
        ("def", "SyntaxError"),
        (f"{HEAD}@tool()\nasync def go(ctx): pass", "docstring"),
        (f"{HEAD}@tool()\ndef go(ctx):\n    '''Goes.'''", "async function"),
        (f"{HEAD}@tool()\nasync def go(ctx, words):\n    '''Goes.'''", "a name and a type"),
        (f"{HEAD}@tool()\nasync def a__b(ctx):\n    '''Goes.'''", "single underscores"),
    ],
)
async def test_a_file_that_misbehaves_at_import_is_refused(code: str, why: str) -> None:
    with pytest.raises(ToolFailed, match=why):
        await describe_plugin(PluginSource(name="plug", text=code), seconds=1.5)


async def test_a_file_sees_no_file_no_network_and_no_environment_of_the_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    config = tmp_path / "config.json"
    config.write_text('{"llm": {"api_key": "sk-secret"}}')
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        tries = {
            "file": f"open({str(config)!r}).read()",
            "network": f"__import__('socket').create_connection(('127.0.0.1', {port}), 2)",
            "name": "__import__('socket').getaddrinfo('example.org', 80)",
            "code": "open(__import__('bot').plugins.__file__, 'a')",
            "parent": (
                "__import__('os').kill(1, 9) or __import__('os').listdir('/proc/1/root/home')"
            ),
        }
        for name, attempt in tries.items():
            with pytest.raises(ToolFailed, match="rror"):
                await run(body(f"import bot.plugins\nreturn str({attempt})"))
            assert name
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    environment = json.loads(
        await run(body("import json, os\nreturn json.dumps(dict(os.environ))"))
    )
    assert "ANTHROPIC_API_KEY" not in environment
    assert config.read_text().startswith("{")


async def test_what_it_says_is_bounded_and_forged_lines_are_no_answer() -> None:
    with pytest.raises(ToolFailed, match="no message"):
        await run(
            body("import os, sys\nos.write(int(sys.argv[1]), b'x' * 9_000_000)\nreturn 'late'")
        )
    with pytest.raises(ToolFailed, match="no message"):
        await run(body("import os, sys\nos.write(int(sys.argv[1]), b'[]junk\\n')\nreturn 'late'"))
    assert "[cut: the result has 300,000 characters]" in await run(body("return 'x' * 300_000"))
    with pytest.raises(ToolFailed, match="longer than 1 s"):
        await run(body("import time\ntime.sleep(60)"), seconds=1.0)
    with pytest.raises(ToolFailed, match="not among"):
        await run(body("return ctx.secret('OTHER')"))


async def test_requests_of_one_call_are_counted() -> None:
    sent = 0

    async def fetch(wanted: Mapping[str, Any]) -> dict[str, Any]:
        nonlocal sent
        sent += 1
        return {"url": wanted["url"], "status": 200, "headers": {}, "body": ""}

    many = (
        f"for number in range({MAX_FETCHES + 1}): await ctx.fetch('https://a.example/')\nreturn "
        "'all'"
    )
    with pytest.raises(ToolFailed, match="more than 20 requests"):
        await run(body(many), fetch=fetch)
    assert sent == MAX_FETCHES
    assert await run(body(many.replace("21", "20")), fetch=fetch) == "all"


async def test_a_call_that_is_stopped_leaves_no_process() -> None:
    began = asyncio.Event()

    async def fetch(wanted: Mapping[str, Any]) -> dict[str, Any]:
        began.set()
        await asyncio.sleep(60)
        return {}

    call = asyncio.create_task(
        run(body("return (await ctx.fetch('https://a.example/')).text"), fetch=fetch)
    )
    await began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    children = Path("/proc/self/task")
    texts = [
        (Path("/proc") / child / "cmdline").read_bytes()
        for thread in children.iterdir()
        for child in (thread / "children").read_text().split()
        if (Path("/proc") / child / "cmdline").exists()
    ]
    assert not [text for text in texts if b"worker.py" in text]


def definition(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": "d",
        "schema": "{}",
        "effect": "pure",
        "needs": [],
        "ask": False,
        **fields,
    }


@every_case(
    "given",
    [
        [definition("recall")],
        [definition("a"), definition("a")],
        [definition("a__b")],
        [definition("A")],
        [definition("a", effect="free")],
        [definition("a", schema="[")],
        [definition("a", schema="[]")],
        [definition("a", description=7)],
        [definition("a", description="d" * 4_001)],
        [definition("a", more=1)],
        [{"name": "a"}],
        [definition("a" * 49)],
        [definition(f"a{number}") for number in range(MAX_TOOLS + 1)],
    ],
)
def test_what_a_process_says_it_defines_is_checked(given: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        check_definitions(given, ["recall"])


def test_the_most_that_a_file_may_define() -> None:
    assert (
        len(check_definitions([definition(f"a{number}") for number in range(MAX_TOOLS)], []))
        == MAX_TOOLS
    )
