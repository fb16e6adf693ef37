"""What goes out over the chat completions wire, and the wild forms that come back."""

import json
from typing import Any

import pytest

from bot.errors import KeyRefused, Transient
from bot.models.base import ThinkingDelta
from bot.models.providers.messages import MAX_CACHED_TEXTS
from bot.models.providers.openai import OpenAIModel
from bot.models.providers.openai_request import MAX_CACHED_TOOLS
from memory.conversation import Document, Image, Thinking, ToolCall
from tests.bot.models.asking import (
    answer_of,
    asking,
    blobs,
    call,
    calls,
    hear,
    openai_body,
    result,
    said,
    tool,
    words,
)
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply

TWO = (Call(name="read", input={"path": "a.md"}), Call(name="write", input={"path": "b.md"}))
FORMS = [
    *(
        "no_index",
        "same_index",
        "whole_call",
        "no_done",
        "comments",
        "blank",
        "usage_last",
        "usage_every",
    ),
    *("no_usage", "role_every", "no_space", "unstreamed", "cache_hit"),
]


def rows(*messages: Any, **fields: Any) -> list[dict[str, Any]]:
    return list(openai_body(asking(*messages, **fields))["messages"])


@pytest.mark.parametrize(
    "form", [*FORMS, "no_index whole_call", "no_index role_every no_done no_usage"]
)
async def test_every_form_met_in_the_wild_is_understood(
    openai: OpenAIModel, emulator: ModelEmulator, form: str
) -> None:
    emulator.script([Reply(text="两件事", calls=TWO, forms=frozenset(form.split()), delta=4)])
    answer = await answer_of(openai, asking("hi", tools=(tool("read"), tool("write"))))
    assert words(answer) == "两件事"
    assert [(made.name, made.input) for made in calls(answer)] == [
        ("read", '{"path": "a.md"}'),
        ("write", '{"path": "b.md"}'),
    ]
    assert answer.stop == "tools"
    assert (answer.usage.input > 0) == ("no_usage" not in form)


async def test_calls_without_any_id_and_index_are_told_apart(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    nameless = tuple(Call(name=made.name, input=made.input, id="") for made in TWO)
    emulator.script([Reply(calls=nameless, forms=frozenset({"no_index"}), delta=4)])
    answer = await answer_of(openai, asking("hi", tools=(tool("read"), tool("write"))))
    assert [made.name for made in calls(answer)] == ["read", "write"]
    assert len({made.id for made in calls(answer)} - {""}) == 2


async def test_a_stream_without_a_reason_to_end_has_failed(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    emulator.script([Reply(text="half", forms=frozenset({"no_finish"}))])
    with pytest.raises(Transient):
        await answer_of(openai, asking("hi"))


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("stop", "end"),
        ("length", "length"),
        ("content_filter", "refusal"),
        ("sensitive", "refusal"),
        ("model_context_window_exceeded", "overflow"),
        ("tea_time", "unknown"),
    ],
)
async def test_each_reason_to_finish(
    openai: OpenAIModel, emulator: ModelEmulator, word: str, stop: str
) -> None:
    emulator.script([Reply(text="so far", stop=word)])
    answer = await answer_of(openai, asking("hi"))
    assert (answer.stop, answer.raw_stop) == (stop, word)


async def test_a_servers_fault_told_as_a_reason_to_finish_is_one(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    emulator.script([Reply(text="half", stop="network_error")])
    with pytest.raises(Transient):
        await answer_of(openai, asking("hi"))


async def test_a_stop_with_calls_means_calls(openai: OpenAIModel, emulator: ModelEmulator) -> None:
    emulator.script([Reply(calls=TWO, stop="stop")])
    answer = await answer_of(openai, asking("hi", tools=(tool("read"), tool("write"))))
    assert answer.stop == "tools"


async def test_reasoning_is_shown_but_not_kept(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    emulator.script([Reply(thinking="hmm", text="42")])
    events, answer = await hear(openai, asking("hi"))
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "hmm"
    assert len(answer.parts) == 1


async def test_an_error_body_behind_status_200_is_an_error(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    body = '{"error": {"message": "bad key", "code": "invalid_api_key"}}'
    emulator.script([Reply(body=body, headers={"content-type": "application/json"})])
    with pytest.raises(KeyRefused):
        await answer_of(openai, asking("hi"))


async def test_the_newer_name_of_the_longest_answer_is_learnt_once(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    emulator.limit_field = "max_completion_tokens"
    for _ in range(2):
        assert words(await answer_of(openai, asking("hi"))) == "echo: hi"
    assert [seen.refused != "" for seen in emulator.requests] == [True, False, False]


async def test_a_server_of_ones_own_needs_no_key(emulator: ModelEmulator) -> None:
    model = OpenAIModel(base_url=f"{emulator.url}/v1/", blobs=blobs)
    assert words(await answer_of(model, asking("hi"))) == "echo: hi"
    assert emulator.requests[0].path == "/v1/chat/completions"
    await model.close()


def test_the_conversation_takes_the_shape_of_the_wire() -> None:
    thought = Thinking(text="x", signature="s")
    answer = said("assistant", thought, "Let me look.", call("c1"), call("c2"))
    results = said("user", "and?", result("c1"), result("c2", "no such file", is_error=True))
    assert rows("a", answer, results, system=("one", "", "two")) == [
        {"role": "system", "content": "one\n\ntwo"},
        {"role": "user", "content": "a"},
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {
                    "id": id,
                    "type": "function",
                    "function": {"name": "read", "arguments": '{"path":"a.md"}'},
                }
                for id in ("c1", "c2")
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "contents"},
        {"role": "tool", "tool_call_id": "c2", "content": "Error: no such file"},
        {"role": "user", "content": "and?"},
    ]


def test_more_texts_and_lists_of_tools_than_are_cached_are_each_sent_as_they_are() -> None:
    rules, count = "rule " * 200, max(MAX_CACHED_TOOLS, MAX_CACHED_TEXTS) + 1
    for number in [*range(count), *range(count)]:
        log = f"log {number} {rules}"
        sent = openai_body(asking("a", system=(rules, log), tools=(tool("z"), tool(f"t{number}"))))
        assert sent["messages"][0]["content"] == f"{rules}\n\n{log}"
        assert [each["function"]["name"] for each in sent["tools"]] == ["z", f"t{number}"]


def test_pictures_go_as_data_and_files_as_words() -> None:
    picture = Image(sha256="png", media_type="image/png")
    file = Document(
        sha256="pdf", media_type="application/pdf", name="a.pdf", size=3, text="page one"
    )
    content = rows(said("user", "look", picture, file))[1]["content"]
    assert content[1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert content[2] == {"type": "text", "text": "[a.pdf]\npage one"}


def test_broken_arguments_are_sent_back_as_json() -> None:
    broken = ToolCall(id="c1", name="read", input='{"path": ')
    sent = rows("a", said("assistant", broken), said("user", result("c1")))[2]["tool_calls"][0][
        "function"
    ]
    assert json.loads(sent["arguments"]) == {"invalid_json": '{"path": '}
