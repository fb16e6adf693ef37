"""An answer with more tool calls, or longer arguments, than any tool takes: its stream is
damaged.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.errors import Transient
from bot.models.providers.anthropic import AnthropicStreamDecoder
from bot.models.providers.openai_stream import OpenAIStreamDecoder
from memory.conversation import ToolCall
from tests.bot.inside import inside
from tests.bot.talk import results

MOST_CALLS = 128
MOST_BYTES = 512 * 1024
DEEP = 100_000  # levels


def openai_call(number: int, *pieces: str) -> Iterator[dict[str, Any]]:
    for at, piece in enumerate(pieces):
        call = {
            "index": number,
            "function": {"arguments": piece, **({} if at else {"name": "t"})},
            "id": f"c{number}",
        }
        yield {"choices": [{"delta": {"tool_calls": [call]}}]}


def anthropic_call(number: int, *pieces: str) -> Iterator[dict[str, Any]]:
    block = {"type": "tool_use", "id": f"c{number}", "name": "t"}
    yield {"type": "content_block_start", "index": number, "content_block": block}
    for piece in pieces:
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield {"type": "content_block_delta", "index": number, "delta": delta}


class Wire:
    """A decoder, and how its calls are streamed."""

    def __init__(self, name: str) -> None:
        self.call = openai_call if name == "openai" else anthropic_call
        unknown: Counter[str] = Counter()
        self.decoder: Any = (
            OpenAIStreamDecoder(unknown)
            if name == "openai"
            else AnthropicStreamDecoder("m", unknown)
        )

    def take(self, number: int, *pieces: str) -> None:
        for event in self.call(number, *pieces):
            self.decoder.take(event)


@pytest.fixture(params=["openai", "anthropic"])
def wire(request: pytest.FixtureRequest) -> Wire:
    return Wire(request.param)


def test_one_call_more_than_any_answer_has_is_a_damaged_stream(wire: Wire) -> None:
    for number in range(MOST_CALLS):
        wire.take(number, "{}")
    with pytest.raises(Transient, match="more than 128 tool calls") as caught:
        wire.take(MOST_CALLS, "{}")
    assert caught.value.kind == "damaged"


@pytest.mark.parametrize("sign", ["x", "é", "记"])
def test_one_byte_of_arguments_more_than_any_answer_has_is_a_damaged_stream(
    wire: Wire, sign: str
) -> None:
    count, rest = divmod(MOST_BYTES, len(sign.encode()))
    half = count // 2
    wire.take(0, sign * half, "")
    wire.take(1, sign * (count - half), "y" * rest)
    with pytest.raises(Transient, match="more than 524288 bytes") as caught:
        wire.take(2, "y")
    assert caught.value.kind == "damaged"


@pytest.mark.parametrize(
    "text", ["[" * DEEP, '{"path":' * DEEP, '{"path": ' + "[" * DEEP + "]" * DEEP + "}"]
)
async def test_arguments_that_are_nested_too_deep_are_no_json(tmp_path: Path, text: str) -> None:
    called = ToolCall(id="t1", name="read_file", input=text)
    async with inside(tmp_path, [called, "so it is", "and on"]) as it:
        assert await it.text("read it") == "so it is"
        [found] = results(it.model.requests[-1])
        assert found.is_error
        assert "The arguments are not JSON: " in found.text
        assert await it.text("go on") == "and on", "what is stored of it holds up no later turn"
        assert "fold" in await it.text("/context")
