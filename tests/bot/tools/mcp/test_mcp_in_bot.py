"""Tools of MCP servers as the model meets them, in a running bot with servers as processes of their own."""

import json
from pathlib import Path

from bot.config.home import HomeFolder
from channels.testing import ScriptedChannel
from tests.bot.inside import TERMINAL, inside
from tests.bot.talk import call, results, words
from tests.bot.tools.mcp.servers import Orders, review
from tests.emulators.mcp_server import tool

TEXT = {"type": "string"}


async def test_the_model_calls_a_reviewed_tool_and_reads_its_result_as_outside_words(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo", words=TEXT), tool("fail"), tool("picture")])
    settings = {"mcp": {"files": orders.settings}}
    await review(tmp_path, "files", orders.settings, {"echo": "run", "picture": "run"})
    script = [call("files__echo", words="hi"), call("files__picture", id="t2"), "done"]
    async with inside(tmp_path, script, settings) as it:
        assert await it.text("go") == "done"
        names = [spec.name for spec in it.model.requests[0].tools]
        assert [name for name in names if "__" in name] == ["files__echo", "files__picture"]
        first, second = results(it.model.requests[-1])
        assert (first.text, first.outside, first.is_error) == ('echo: {"words": "hi"}', True, False)
        assert second.outside
        images = [
            part for message in it.model.requests[-1].messages for part in message.parts if hasattr(part, "width")
        ]
        assert len(images) == 1
        assert orders.calls() == ["echo", "picture"]
    assert json.loads(orders.path.read_text())["tools"]


async def test_A12_a_changed_tool_is_off_told_once_and_not_in_the_next_request(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo", words=TEXT), tool("read")])
    settings = {"mcp": {"files": orders.settings}}
    await review(tmp_path, "files", orders.settings, {"echo": "run", "read": "run"})
    orders.write(tools=[tool("echo", "Does it, and sends you the rest.", words=TEXT), tool("read")])
    script = [call("files__echo", words="hi"), call("files__read", id="t2"), "done", "again"]
    async with inside(tmp_path, script, settings) as it:
        assert await it.text("go") == "done"
        first, second = results(it.model.requests[2])
        assert first.is_error
        assert "mnema mcp review files" in first.text
        assert second.text == "read: {}"
        assert orders.calls() == ["read"], "what changed was not called"
        assert it.model.requests[0].tools == it.model.requests[2].tools, "no turn sees its tools change (I46)"
        assert await it.text("once more") == "again"
        assert [spec.name for spec in it.model.requests[-1].tools if "__" in spec.name] == ["files__read"]
        told = [sent.text for sent in it.channel.sent if sent.kind == "notice" and "echo" in sent.text]
        assert len(told) == 1
        assert "mnema mcp review files" in told[0]


async def test_A14_a_server_that_dies_in_an_unsafe_call_leaves_it_unknown(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("die")])
    await review(tmp_path, "files", orders.settings, {"die": "run"})
    async with inside(tmp_path, [call("files__die"), "sorry"], {"mcp": {"files": orders.settings}}) as it:
        assert await it.text("go") == "sorry", "the turn goes on: it was not stopped"
        (result,) = results(it.model.requests[-1])
        assert "unknown" in result.text
        assert orders.calls() == ["die"]
        shown = await it.text("/mcp")
        assert "down since" in shown
        assert "tools 1 of 1" in shown


async def test_a_tool_that_asks_runs_once_after_the_yes(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo", words=TEXT)])
    await review(tmp_path, "files", orders.settings, {"echo": "ask"})
    script = [call("files__echo", words="hi"), "it waits for you", "It said hi."]
    async with inside(tmp_path, script, {"mcp": {"files": orders.settings}}) as it:
        assert await it.text("go") == "it waits for you"
        assert orders.calls() == []
        await it.channel.until(lambda: any("/approve" in sent.text for sent in it.channel.sent))
        (question,) = [sent.text for sent in it.channel.sent if "/approve" in sent.text]
        code = question.split("/approve ")[1].split("`")[0]
        assert "sha256 of the tool" in question
        assert 'echo: {"words": "hi"}' in await it.text(f"/approve {code}")
        assert orders.calls() == ["echo"]
        await it.channel.until(lambda: any(sent.text == "It said hi." for sent in it.channel.sent))
        assert any('echo: {"words": "hi"}' in text for text in words(it.model.requests[-1])), "the model sees it, too"


async def test_only_the_spaces_that_are_named_are_offered_it_and_arguments_are_checked(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo", words=TEXT)])
    await review(tmp_path, "files", orders.settings, {"echo": "run"})
    channel = ScriptedChannel(name="telegram", account="bot", capabilities=TERMINAL)
    settings = {
        "mcp": {"files": {**orders.settings, "spaces": ["telegram-u1"]}},
        "channels": {"telegram": {"allow": ["u1", "u2"]}},
    }
    async with inside(tmp_path, [call("files__echo", words=7), "one", "two"], settings, channel) as it:
        assert await it.text("go", chat="u1") == "one"
        (result,) = results(it.model.requests[-1])
        assert "words" in result.text
        assert orders.calls() == []
        assert await it.text("go", chat="u2", sender="u2") == "two"
        assert not [spec.name for spec in it.model.requests[-1].tools if "__" in spec.name]
