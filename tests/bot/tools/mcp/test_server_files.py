"""Which files a server on this machine sees: those that its settings name, in the sandbox, and no
others.
"""

import json
import os
import stat
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bot.cli.doctor.texts import show_checks
from bot.cli.doctor.tools import check_mcp
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.config.sections.extensions import McpServerConfig
from bot.tools.exec.runner import SandboxError
from bot.tools.mcp.connection import McpError
from bot.tools.mcp.server import McpServer
from bot.tools.mcp.stdio import find_problem, writable_paths
from memory.store.longterm.file_labels import WHOLE_SPACE, PathLabels
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.bot.tools.mcp.servers import Orders
from tests.bot.tools.mcp.test_server_faults import alive, gone, run
from tests.emulators.mcp_server import tool

TOOLS = [tool("read"), tool("write"), tool("env"), tool("network"), tool("processes")]


@pytest.fixture
def home(tmp_path: Path) -> HomeFolder:
    home = HomeFolder(root=tmp_path / "home")
    home.ensure()
    home.config.write_text('{"llm": {"api_key": "sk-canary"}}')
    (home.data / "web_token").write_text("canary")
    (home.workspace / "MEMORY.md").write_text("mine")
    (home.workspace / "drafts").mkdir()
    (home.workspace / "drafts" / "one.txt").write_text("draft")
    (home.workspace / "spaces" / "other").mkdir(parents=True)
    (home.workspace / "spaces" / "other" / "secret.txt").write_text("canary")
    return home


@asynccontextmanager
async def started(
    tmp_path: Path, home: HomeFolder, *files: str, **settings: Any
) -> AsyncIterator[McpServer]:
    orders = Orders(tmp_path / "server", TOOLS)
    given = orders.sandboxed
    config = McpServerConfig.model_validate(
        {**given, "files": [*given["files"], *files], **settings}
    )

    async def store(era: str, tools: Sequence[object]) -> None: ...

    server = McpServer("files", config, "legacy", store, home=home)
    try:
        yield server
    finally:
        await server.close()


@needs_sandbox
async def test_a_server_sees_nothing_of_the_workspace_and_the_machine_unless_it_is_named(
    tmp_path: Path, home: HomeFolder
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("canary")
    async with started(tmp_path, home) as server:
        for path in (
            home.workspace,
            home.workspace / "MEMORY.md",
            home.config,
            home.data / "web_token",
            outside,
            Path("/etc/passwd"),
            Path("/var"),
        ):
            assert "denied" in await run(server, "read", path=str(path)), path
        assert "written" in await run(server, "write", path="/tmp/scratch")
        for path in (Path("/tmp/scratch"), outside):
            assert not path.exists() or path.read_text() == "canary"
        assert "denied" in await run(server, "write", path="/made")
        assert len(json.loads(await run(server, "processes"))) <= 3


@needs_sandbox
async def test_named_folders_are_read_and_written_only_with_rw(
    tmp_path: Path, home: HomeFolder
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    async with started(tmp_path, home, "drafts", f"{notes}:rw") as server:
        one = home.workspace / "drafts" / "one.txt"
        assert await run(server, "read", path=str(one)) == "draft"
        assert "denied" in await run(server, "write", path=str(one))
        assert await run(server, "write", path=str(notes / "made")) == "written"
        assert "denied" in await run(server, "read", path=str(home.workspace / "MEMORY.md"))
    assert one.read_text() == "draft"
    assert (notes / "made").read_text() == "written"


@needs_sandbox
async def test_of_the_whole_workspace_other_peoples_files_stay_hidden(
    tmp_path: Path, home: HomeFolder
) -> None:
    async with started(tmp_path, home, ".") as server:
        assert await run(server, "read", path=str(home.workspace / "MEMORY.md")) == "mine"
        assert await run(server, "read", path=str(home.workspace / "spaces")) == ""


@needs_sandbox
@pytest.mark.parametrize("network", [True, False])
async def test_network_and_environment_are_as_configured(
    tmp_path: Path, home: HomeFolder, monkeypatch: pytest.MonkeyPatch, network: bool
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    async with started(tmp_path, home, network=network, env={"TOKEN": "t"}) as server:
        known = json.loads(await run(server, "env"))
        assert known.keys() - {"LC_CTYPE", "PWD"} == {"PATH", "LANG", "TOKEN", "HOME", "TMPDIR"}
        shown = json.loads(await run(server, "network"))
        assert (shown == ["lo"]) == (not network or len(os.listdir("/sys/class/net")) == 1)


@needs_sandbox
async def test_I47_a_server_in_the_sandbox_ends_with_its_connection(
    tmp_path: Path, home: HomeFolder
) -> None:
    orders = Orders(tmp_path / "server", TOOLS)
    orders.write(ignore_term=True)
    async with started(tmp_path, home) as server:
        orders.write(ignore_term=True)
        await server.connect()
        found = [
            pid
            for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
            if has_word(pid, str(orders.path))
        ]
        assert found
    assert await gone(*found)
    assert not any(map(alive, found))


def has_word(pid: int, word: str) -> bool:
    try:
        return word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@needs_sandbox
@pytest.mark.parametrize("named", ["/", "..", "../data", "../config.json", "{link}"])
async def test_what_holds_the_bots_keys_is_refused(
    tmp_path: Path, home: HomeFolder, named: str
) -> None:
    (tmp_path / "link").symlink_to(home.data)
    async with started(tmp_path, home, named.format(link=tmp_path / "link")) as server:
        with pytest.raises(McpError, match="keys and data"):
            await server.connect()
        assert server.status.state == "down"


@pytest.mark.parametrize("named", ["spaces", "spaces/other", "spaces/other:rw", "{link}"])
def test_the_files_of_other_people_cannot_be_named(
    tmp_path: Path, home: HomeFolder, named: str
) -> None:
    (tmp_path / "link").symlink_to(home.workspace / "spaces" / "other")
    settings = McpServerConfig(command=["server"], files=[named.format(link=tmp_path / "link")])
    with pytest.raises(SandboxError, match="other people"):
        writable_paths(settings, home)


def test_what_a_server_may_write_to_in_the_workspace_is_labelled(
    tmp_path: Path, home: HomeFolder
) -> None:
    def labelled(*files: str) -> list[str]:
        return writable_paths(McpServerConfig(command=["server"], files=list(files)), home)

    (tmp_path / "link").symlink_to(home.workspace / "drafts")
    assert labelled("drafts", "MEMORY.md", "/srv:rw") == []
    assert labelled("drafts:rw", "drafts/one.txt:rw") == ["drafts/", "drafts/one.txt"]
    assert labelled(f"{tmp_path}/link:rw") == ["drafts/"]
    assert labelled(".:rw") == [WHOLE_SPACE]
    assert PathLabels(names=frozenset({WHOLE_SPACE})).has_outside_content("MEMORY.md")


async def test_where_there_is_no_sandbox_nothing_is_started(
    tmp_path: Path, home: HomeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "mips")
    async with started(tmp_path, home) as server:
        with pytest.raises(McpError, match="there is no sandbox"):
            await server.connect()
        assert "there is no sandbox for" in server.status.why
        assert server.status.refused.text("zh").startswith("没有沙箱：没有用于 ")
    assert not (tmp_path / "server" / "emulator.pid").exists()


@needs_sandbox
def test_doctor_says_what_a_server_sees_and_what_is_missing(
    tmp_path: Path, home: HomeFolder
) -> None:
    def said(lang: str = "en", **settings: Any) -> str:
        config = Config.model_validate({"mcp": {"notes": {"command": ["cat"], **settings}}})
        [check] = show_checks(check_mcp(config, {}, home), lang)
        return f"{check.ok} {check.message} {check.hint}"

    assert find_problem(McpServerConfig.model_validate({"command": ["cat"]}), home) is None
    assert "no /none" in said(files=["/none"])
    assert "无法运行：`files` 里的 /none 不存在。" in said("zh", files=["/none"])
    assert "无法运行：`files` 里的 / 有机器人的密钥和数据。" in said("zh", files=["/"])
    assert "keys and data" in said(files=["/"])
    program = tmp_path / "own"
    program.write_text("#!/bin/sh\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert "in none of the folders" in said(command=[str(program)])
    assert f"无法运行：它的程序 {program} 不在 `files` 开放给它的文件夹里。" in said(
        "zh", command=[str(program)]
    )
    assert "in none" not in said(command=[str(program)], files=[str(tmp_path / "own")])


@pytest.mark.parametrize("files", [["*", "x"], [""], [":rw"], ["a\0b"]])
def test_a_list_that_means_nothing_is_refused(files: list[str]) -> None:
    with pytest.raises(ValidationError):
        McpServerConfig.model_validate({"command": ["x"], "files": files})
    with pytest.raises(ValidationError):
        McpServerConfig.model_validate({"url": "https://x.example", "files": ["x"]})
