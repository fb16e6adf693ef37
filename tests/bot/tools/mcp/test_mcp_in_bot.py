"""Tools of MCP servers as the model meets them, in a running bot with servers as processes of their own."""

import json
from pathlib import Path

from bot.config.home import HomeFolder
from tests.bot.inside import inside
from tests.bot.talk import call, results
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
