"""What goes out over the Messages API wire."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from bot.errors import BadImage
from bot.models.base import Request
from bot.models.providers.anthropic import (
    MAX_CACHED_TOOLS,
    AnthropicModel,
    encode_anthropic_request,
)
from bot.models.providers.messages import MAX_CACHED_TEXTS
from bot.models.providers.openai import OpenAIModel
from bot.models.providers.openai_request import encode_openai_request
from memory.conversation import Document, Image, Text, Thinking, ToolCall, ToolResult
from tests.bot.models.asking import (
    MODEL,
    answer_of,
    anthropic_body,
    asking,
    blobs,
    call,
    result,
    said,
    tool,
)
from tests.cases import every_case
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply
from tests.emulators.model_rules import count


def anthropic_request(request: Request) -> bytes:
    return encode_anthropic_request(request, blobs).content


def openai_request(request: Request) -> bytes:
    return encode_openai_request(request, blobs)


def body(*messages: Any, **fields: Any) -> dict[str, Any]:
    return anthropic_body(asking(*messages, **fields))


def marked(value: Any, path: str = "") -> list[str]:
    """Where cache marks stand."""
    if isinstance(value, list):
        return [found for at, item in enumerate(value) for found in marked(item, f"{path}.{at}")]
    if not isinstance(value, dict):
        return []
    own = [path] if "cache_control" in value else []
    return own + [found for name, item in value.items() for found in marked(item, f"{path}.{name}")]


def test_marks_stand_after_tools_system_and_stable_messages() -> None:
    turns = ("a", said("assistant", "b"), "c", said("assistant", "d"), "now")
    rendered = body(*turns, stable=4, system=("one", "two"), tools=(tool("a"), tool("b")))
    assert marked(rendered) == [".tools.1", ".system.1", ".messages.3.content.0"]


def test_without_stable_messages_no_message_is_marked() -> None:
    assert marked(body("now")) == [".system.0"]


def test_the_same_request_gives_the_same_bytes_and_keeps_the_tools_order() -> None:
    request = asking(
        "a", said("assistant", call("c1")), said("user", result("c1")), tools=(tool("z"), tool("b"))
    )
    once, again = (json.dumps(anthropic_body(request)) for _ in range(2))
    assert once == again
    assert once.index('"z"') < once.index('"b"')


def test_more_texts_and_lists_of_tools_than_are_cached_are_each_sent_as_they_are() -> None:
    rules, count = "rule " * 200, max(MAX_CACHED_TOOLS, MAX_CACHED_TEXTS) + 1
    for number in [*range(count), *range(count)]:
        log = f"log {number} {rules}"
        sent = body("a", system=(rules, log), tools=(tool("z"), tool(f"t{number}")))
        assert [block["text"] for block in sent["system"]] == [rules, log]
        assert [spec["name"] for spec in sent["tools"]] == ["z", f"t{number}"]


def json_encodings(work: Callable[[], object]) -> int:
    """How many values a piece of work encodes as JSON."""
    counted = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal counted
        counted += event == "call" and frame.f_code is json.JSONEncoder.encode.__code__

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize("encode", [anthropic_request, openai_request])
def test_of_a_request_that_repeats_another_only_what_is_new_is_encoded(
    encode: Callable[[Request], object],
) -> None:
    said_before = [
        said("assistant" if at % 2 else "user", f"{encode.__name__} {at} " + "said " * 300)
        for at in range(21)
    ]
    specs = tuple(tool(f"t{at}") for at in range(30))
    first = asking(*said_before[:19], system=(encode.__name__ * 99,), tools=specs)
    second = replace(first, messages=tuple(said_before))
    assert json_encodings(lambda: encode(first)) >= 19
    assert json_encodings(lambda: encode(second)) == 3  # two messages, and the model's name


@every_case("written", ["[1]", '"a"', '{"path": ', '{"n": NaN}', '{"n": 1e999}', "[" * 100_000])
def test_what_is_no_json_object_travels_inside_one(written: str) -> None:
    odd = ToolCall(id="c1", name="read", input=written)
    rendered = body("a", said("assistant", odd), said("user", result("c1")))
    assert rendered["messages"][1]["content"][0]["input"] == {"invalid_json": written}


def test_halves_of_a_pair_are_joined_or_replaced_wherever_they_stand() -> None:
    odd = ToolCall(id="c1", name="read", input='{"\\ud83d": "\\ud83d\\ude00"}')
    rendered = body(
        "\ud83d\ude00 \ud83d", said("assistant", odd), said("user", result("c1", "\ude00"))
    )
    assert rendered["messages"][0]["content"][0]["text"] == "😀 \ufffd"
    assert rendered["messages"][1]["content"][0]["input"] == {"\ufffd": "😀"}
    assert rendered["messages"][2]["content"][0]["content"] == "\ufffd"


def test_empty_text_and_empty_messages_are_never_sent() -> None:
    rendered = body("a", said("assistant", " "), said("user", "", "b"), system=("", "s"))
    assert [block["text"] for message in rendered["messages"] for block in message["content"]] == [
        "a",
        "b",
    ]
    assert [block["text"] for block in rendered["system"]] == ["s"]


def test_results_go_first() -> None:
    rendered = body("a", said("assistant", call("c1")), said("user", "by the way", result("c1")))
    assert [block["type"] for block in rendered["messages"][2]["content"]] == [
        "tool_result",
        "text",
    ]


def test_thinking_is_shown_to_its_thinker_within_the_running_turn_only() -> None:
    own = Thinking(text="hm", signature="s", model=MODEL)
    foreign = replace(own, model="claude-opus-5-5")
    sealed = Thinking(text="data", model=MODEL, redacted=True)
    past, running = said("assistant", own, "x"), said("assistant", own, foreign, sealed, call("c1"))
    rendered = body("a", past, "b", running, said("user", result("c1")), stable=2)
    kinds = [[block["type"] for block in message["content"]] for message in rendered["messages"]]
    assert kinds[1] == ["text"]
    assert kinds[3] == ["thinking", "redacted_thinking", "tool_use"]


def test_names_and_ids_of_other_wires_fit_this_one() -> None:
    odd = ToolCall(id="functions.read:0", name="functions.read", input="{}")
    rendered = body(
        "a", said("assistant", odd), said("user", ToolResult(call_id="functions.read:0", text=""))
    )
    used, answered = rendered["messages"][1]["content"][0], rendered["messages"][2]["content"][0]
    assert used["id"] == answered["tool_use_id"] == "functions_read_0"
    assert used["name"] == "functions_read"
    assert "content" not in answered


def test_files_go_as_bytes_or_as_words() -> None:
    image = Image(sha256="png", media_type="image/png")
    pdf = Document(sha256="pdf", media_type="application/pdf", name="a.pdf", size=3)
    sheet = Document(sha256="x", media_type="text/csv", name="a.csv", size=3, text="1,2")
    lost = Image(sha256="gone", media_type="image/png")
    content = body(said("user", image, pdf, sheet, lost))["messages"][0]["content"]
    assert [block["type"] for block in content] == ["image", "document", "text", "text"]
    assert content[2]["text"] == "[a.csv]\n1,2"
    assert content[3]["text"] == "[picture no longer kept]"


def test_a_temperature_goes_to_the_models_that_are_known_to_take_one() -> None:
    assert body("a", model="claude-haiku-4-5", temperature=0.3)["temperature"] == 0.3
    assert "temperature" not in body("a", model="claude-haiku-4-5")
    assert "temperature" not in body("a", temperature=0.3)
    assert "temperature" not in body("a", model="unknown", temperature=0.3)


def test_a_fold_asks_for_little_effort_where_the_model_knows_the_word() -> None:
    assert body("a", purpose="fold")["output_config"] == {"effort": "low"}
    assert "output_config" not in body("a", purpose="fold", model="claude-haiku-4-5")
    assert "output_config" not in body("a")


async def test_the_prefix_of_the_last_call_is_read_from_the_cache(
    anthropic: AnthropicModel, emulator: ModelEmulator
) -> None:
    emulator.cache.least = 0
    long, later = "a" * 4000, "What else?"
    first = asking(long, said("assistant", "yes"), "now [it is 10:00]", stable=2, tools=(tool(),))
    second = asking(
        long,
        said("assistant", "yes"),
        "now",
        said("assistant", "ok"),
        later,
        stable=4,
        tools=(tool(),),
    )
    before = await answer_of(anthropic, first)
    after = await answer_of(anthropic, second)
    assert before.usage.cache_read == 0
    assert before.usage.cache_write > 1000
    assert after.usage.cache_read == before.usage.cache_write
    assert 0 < after.usage.cache_write < 50
    body_now = emulator.requests[-1].body
    parts = {name: body_now[name] for name in ("tools", "system", "messages")}
    assert after.usage.input == count(parts)


async def test_a_whole_tool_turn_with_thinking_is_accepted_by_a_strict_server(
    anthropic: AnthropicModel, emulator: ModelEmulator
) -> None:
    thought = Reply(
        thinking="let me see", redacted="c2VhbGVk", text="Looking.", calls=(Call(name="read"),)
    )
    emulator.script([thought, Reply(thinking="again", calls=(Call(name="read"),)), "done"])
    messages = [said("user", "old"), said("assistant", "answer"), said("user", "read it")]
    for _ in range(2):
        answer = await answer_of(anthropic, asking(*messages, stable=2, tools=(tool(),)))
        made = [part for part in answer.parts if isinstance(part, ToolCall)]
        messages += [
            said("assistant", *answer.parts),
            said("user", *(result(part.id) for part in made)),
        ]
    answer = await answer_of(anthropic, asking(*messages, stable=2, tools=(tool(),)))
    assert answer.parts == (Text(text="done"),)
    assert not any(seen.refused for seen in emulator.requests)


async def test_a_refused_picture_is_named_where_the_request_has_it(
    anthropic: AnthropicModel, emulator: ModelEmulator
) -> None:
    bad = Image(sha256="bad", media_type="image/png")
    hidden = Thinking(text="x", signature="s", model="claude-opus-5")
    request = asking("a", said("assistant", hidden), said("user", "", "look", bad))
    with pytest.raises(BadImage) as caught:
        await answer_of(anthropic, request)
    assert (caught.value.message, caught.value.part) == (2, 2)


async def test_the_same_request_is_the_same_bytes_on_the_wire(
    wire: AnthropicModel | OpenAIModel, emulator: ModelEmulator
) -> None:
    odd = 'half a pair: \ud83d, "quoted", \u2028, 你好'
    request = asking(
        odd, said("assistant", call("c1")), said("user", result("c1")), tools=(tool("z"), tool("b"))
    )
    for _ in range(2):
        await answer_of(wire, request)
    assert emulator.requests[0].raw == emulator.requests[1].raw
