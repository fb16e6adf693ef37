"""What of a server's result the model sees."""

from pathlib import Path

from bot.tools.mcp.results import McpResult, to_output
from memory.workspace.blobs import Blobs
from tests.bot.gateway.test_attachments import drawn

MOST_CHARS, MOST_PICTURES = 200_000, 4  # literals, so that the product is not compared with itself


async def test_a_result_has_so_many_characters_and_pictures(tmp_path: Path) -> None:
    whole = await to_output(McpResult(texts=("x" * MOST_CHARS,)), "draw", Blobs(tmp_path))
    assert len(whole.text) == MOST_CHARS
    cut = await to_output(McpResult(texts=("x" * MOST_CHARS, "y")), "draw", Blobs(tmp_path))
    assert cut.text == "x" * MOST_CHARS + "\n[cut: the result has 200,003 characters]"
    picture = ("picture", "image/png", drawn("png"))
    drawing = await to_output(
        McpResult(texts=("x",), images=(picture,) * (MOST_PICTURES + 2)), "draw", Blobs(tmp_path)
    )
    assert drawing.text == "x\n\n[2 more picture(s), not shown]"
    assert len(drawing.images) == MOST_PICTURES
