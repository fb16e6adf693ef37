"""`mnema mcp`: the list, and the review, beside a running bot too."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import main
from bot.config.home import HomeFolder
from tests.bot.tools.mcp.servers import Orders
from tests.emulators.mcp_server import tool

TEXT = {"type": "string"}


@pytest.fixture
def orders(tmp_path: Path) -> Orders:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    orders = Orders(
        tmp_path, [tool("echo", "Says it\x1b[31m again.", words=TEXT), tool("read", read_only=True)]
    )
    home.config.write_text(
        json.dumps({"mcp": {"files": {**orders.settings, "env": {"TOKEN": "sk-1234567890abcdef"}}}})
    )
    home.config.chmod(0o600)
    return orders


def states(home: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[str, str]]:
    capsys.readouterr()
    assert main(["--home", str(home), "mcp", "list", "--json"]) == 0
    shown = capsys.readouterr().out
    assert "sk-1234567890abcdef" not in shown
    (server,) = json.loads(shown)
    return {one["name"]: (one["state"], one["effect"]) for one in server["tools"]}


def review(home: Path, *words: str) -> int:
    return main(["--home", str(home), "mcp", "review", "files", *words])


def test_a_tool_is_off_until_it_is_reviewed_and_again_when_it_changes(
    tmp_path: Path, orders: Orders, capsys: pytest.CaptureFixture[str]
) -> None:
    assert states(tmp_path, capsys) == {}
    assert review(tmp_path) == 1, "there is no terminal to choose on"
    assert states(tmp_path, capsys) == {"echo": ("new", "unsafe"), "read": ("new", "unsafe")}
    assert review(tmp_path, "--run", "echo", "--ask", "read", "--pure", "read") == 0
    shown = capsys.readouterr().out
    assert "Says it?[31m again." in shown, "shown in full, without codes for the terminal"
    assert states(tmp_path, capsys) == {"echo": ("run", "unsafe"), "read": ("ask", "pure")}
    orders.write(
        tools=[
            tool("echo", "Says it again.", words=TEXT),
            tool("read", read_only=True),
            tool("new"),
        ]
    )
    assert review(tmp_path, "--off", "new") == 0
    assert states(tmp_path, capsys) == {
        "echo": ("off", "unsafe"),
        "read": ("ask", "pure"),
        "new": ("off", "unsafe"),
    }


def test_another_command_is_reviewed_as_a_whole(
    tmp_path: Path, orders: Orders, capsys: pytest.CaptureFixture[str]
) -> None:
    assert review(tmp_path, "--run", "echo") == 0
    config: dict[str, Any] = json.loads((tmp_path / "config.json").read_text())
    config["mcp"]["files"]["command"].append("more")
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert states(tmp_path, capsys)["echo"] == ("new", "unsafe")
    assert review(tmp_path, "--ask", "read") == 0
    assert states(tmp_path, capsys) == {"echo": ("off", "unsafe"), "read": ("ask", "unsafe")}


def test_it_works_while_a_bot_has_the_home(
    tmp_path: Path, orders: Orders, capsys: pytest.CaptureFixture[str]
) -> None:
    assert review(tmp_path, "--run", "echo") == 0
    with HomeFolder(root=tmp_path).lock():
        assert review(tmp_path, "--off", "echo") == 0
    assert states(tmp_path, capsys)["echo"] == ("off", "unsafe")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--run", "nothing"], "files has no tool nothing."),
        (["--pure", "x", "--run", "echo"], "files has no tool x."),
    ],
)
def test_what_is_not_there_is_refused(
    tmp_path: Path, orders: Orders, words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert review(tmp_path, *words) == 1
    assert why in capsys.readouterr().err
    orders.write(refuse="no such database")
    assert review(tmp_path, "--run", "echo") == 1
    assert "no such database" in capsys.readouterr().err
