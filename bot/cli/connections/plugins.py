"""`mnema tools`: list, enable, turn off and begin plug-ins, which are files of tools in the
workspace.
"""

import asyncio
import re
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from bot.cli.common import JsonOption, print_json, printable
from bot.config.extras import TOOL_GROUP
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.plugins import Definition
from bot.tools.plugins.library import (
    FOLDER,
    EnabledPlugin,
    PluginFile,
    PluginLibrary,
    PluginState,
    check_definitions,
    is_file_name,
)
from memory.text.invisible import find_invisible
from memory.workspace.files import Workspace

app = typer.Typer(
    help="List, create, enable and turn off plug-ins: files of tools.", no_args_is_help=True
)
NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the file in workspace/tools, without .py.")
]
_HOSTS = re.compile(r"https?://([A-Za-z0-9.-]{1,253})")
_FILE = '''"""Says what the tool is for."""

from typing import Annotated

from pydantic import Field

from bot.plugins import Context, tool


@tool(effect="pure")
async def {name}(ctx: Context, words: Annotated[str, Field(description="What to look for")]) -> str:
    """Tell the model here when to call this."""
    response = await ctx.fetch(f"https://example.org/?q={{words}}")
    return response.text
'''
_TEST = '''"""Run with: pytest {file}"""

import asyncio
from pathlib import Path
from runpy import run_path

from bot.plugins import ScriptedContext, call

{name} = run_path(str(Path(__file__).with_name("{name}.py")))["{name}"]


def test_it_answers_with_what_the_server_says() -> None:
    context = ScriptedContext({{"https://example.org/?q=tea": "found"}})
    assert asyncio.run(call({name}, context, words="tea")) == "found"
'''


class PluginRefused(MnemaError):
    """The plug-in cannot be enabled or begun; the text says why."""


def _library(home: HomeFolder) -> PluginLibrary:
    return PluginLibrary(Workspace(home.workspace), PluginState(home.plugins_state))


@app.command("list")
def list_plugins(ctx: typer.Context, as_json: JsonOption = False) -> int:
    """List the files of workspace/tools with their tools, and the packages that are installed for
    the bot.
    """
    library = _library(ctx.obj)
    state = library.state.load()
    rows = [(file, _state(file, state), _enabled_tools(file, state)) for file in library.all()]
    packages = _package_names()
    if as_json:
        files = [{"name": file.name, "state": kind, "tools": tools} for file, kind, tools in rows]
        print_json({"files": files, "packages": packages})
        return 0
    for file, kind, tools in rows:
        about = file.problem or ", ".join(tools)
        print(printable(f"{kind:8} {file.name}{f': {about}' if about else ''}"))
    for name in packages:
        print(printable(f"package  {name}"))
    if not rows and not packages:
        print(f"There are none. mnema tools new NAME creates one in {ctx.obj.workspace / FOLDER}.")
    return 0


def _enabled_tools(file: PluginFile, state: Mapping[str, EnabledPlugin]) -> list[str]:
    """Return the names of the tools that a file had when it was enabled."""
    row = state.get(file.name)
    return [tool.name for tool in row.tools] if row else []


@app.command("on")
def turn_on(
    ctx: typer.Context,
    name: NameArgument,
    enable: Annotated[
        str, typer.Option("--enable", help="The name again, to enable it without a question.")
    ] = "",
) -> int:
    """Run a file in its sandbox to see what it defines, show that, and enable it once you type its
    name.
    """
    home: HomeFolder = ctx.obj
    file = _find(home, name)
    if file.problem:
        raise PluginRefused(f"{name} cannot be enabled: {file.problem}.")
    tools = _describe(file, home)
    print("\n".join(map(printable, _review(file, tools))))
    typed = enable or typer.prompt(
        "Type the file's name to enable it; anything else changes nothing"
    )
    if typed.strip() != name:
        print("Nothing was changed.")
        return 1
    PluginState(home.plugins_state).set(name, EnabledPlugin(sha256=file.sha256, tools=tools))
    print(f"{name} is on. The bot sees it within seconds; any change turns it off.")
    if needs := sorted({secret for tool in tools for secret in tool.needs}):
        print(
            f'It needs, in config.json: "plugins": {{"{name}": {{"env": {{"{needs[0]}": "…"}}}}}}'
        )
    return 0


@app.command("off")
def turn_off(ctx: typer.Context, name: NameArgument) -> int:
    """Turn a plug-in off; its file stays."""
    state = PluginState(ctx.obj.plugins_state)
    if name not in state.load():
        _find(ctx.obj, name)
    state.set(name, None)
    print(f"{name} is off.")
    return 0


@app.command("new")
def new(ctx: typer.Context, name: NameArgument) -> int:
    """Write a file with one tool, and a test for it."""
    home: HomeFolder = ctx.obj
    if not is_file_name(name):
        raise PluginRefused(
            "A name has lower-case letters, digits and single underscores, and does not begin with "
            "test_."
        )
    folder = home.workspace / FOLDER
    file, test = folder / f"{name}.py", folder / f"test_{name}.py"
    if file.exists() or test.exists():
        raise PluginRefused(f"{file} already exists.")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for path, text in ((file, _FILE), (test, _TEST)):
        path.write_text(text.format(name=name, file=test), "utf-8")
        path.chmod(0o600)
    print(f"Wrote {file} and {test}. Once it does what you want: mnema tools on {name}")
    return 0


def _find(home: HomeFolder, name: str) -> PluginFile:
    file = next((file for file in _library(home).all() if file.name == name), None)
    if file is None:
        raise PluginRefused(
            f"There is no {home.workspace / FOLDER / name}.py; mnema tools list shows them."
        )
    return file


def _state(file: PluginFile, state: Mapping[str, EnabledPlugin]) -> str:
    row = state.get(file.name)
    if file.problem:
        return "invalid"
    if row is None:
        return "off"
    return "on" if row.sha256 == file.sha256 else "changed"


def _describe(file: PluginFile, home: HomeFolder) -> tuple[Definition, ...]:
    from bot.errors import ToolFailed
    from bot.tools.exec.probe import probe_sandbox
    from bot.tools.plugins.runner import PluginSource, describe_plugin
    from bot.tools.registry import RESERVED_NAMES, default_tool_specs

    async def describe() -> list[dict[str, Any]]:
        level = await probe_sandbox()
        if level.level == "C":
            raise PluginRefused(
                f"There is no sandbox here, so plug-in files are not run: {level.reason}."
            )
        return await describe_plugin(PluginSource(name=file.name, text=file.text))

    others = [
        tool.name
        for name, row in PluginState(home.plugins_state).load().items()
        for tool in row.tools
        if name != file.name
    ]
    taken = [*(spec.name for spec in default_tool_specs()), *RESERVED_NAMES, *others]
    try:
        return check_definitions(asyncio.run(describe()), taken)
    except (ToolFailed, ValueError) as err:
        raise PluginRefused(f"{file.name} cannot be enabled: {err}.") from err


def _review(file: PluginFile, tools: tuple[Definition, ...]) -> list[str]:
    """Return what a person has to see before they enable a file."""
    lines = [
        (
            f"{file.name}.py, SHA-256 {file.sha256}, {len(file.text.splitlines()):,} lines. Read "
            "it first. It defines:"
        )
    ]
    for tool in tools:
        asks = ", the person approves each call" if tool.ask else ""
        lines += [
            f"- {tool.name} ({tool.effect}{asks}): {tool.description}",
            f"  arguments: {tool.schema}",
        ]
    if needs := sorted({name for tool in tools for name in tool.needs}):
        lines.append(f"Secrets it gets: {', '.join(needs)}")
    if hosts := sorted(set(_HOSTS.findall(file.text))):
        lines.append(f"Hosts it names: {', '.join(hosts[:30])}")
    if invisible := find_invisible(file.text.removeprefix("\ufeff")):
        lines.append(f"Warning: it contains invisible characters: {', '.join(invisible)}.")
    return [line for text in lines for line in text.splitlines()]


def _package_names() -> list[str]:
    from importlib.metadata import entry_points

    return sorted(point.name for point in entry_points(group=TOOL_GROUP))
