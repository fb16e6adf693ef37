"""What servers refuse: tools in any spelling, and fields that they do not know.

It is left out, and remembered.
"""

from dataclasses import replace

import pytest

from bot.errors import BadRequest, NoSuchModel, Overflow
from bot.models.providers.failures import read_failure, to_error
from bot.models.providers.openai import OpenAIModel
from bot.models.providers.quirks import NO_QUIRKS, learn_from_refusal
from tests.bot.models.asking import answer_of, asking, call, result, said, tool, words
from tests.cases import every_case
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import refuse
from tests.emulators.personas import PARAMETER_REFUSALS, TOOL_REFUSALS, VLLM, Persona, Refusal

ASKED = asking("hi", tools=(tool(),), may_call=False, temperature=0.3, model="qwen3")
SENT = {
    "model",
    "messages",
    "tools",
    "tool_choice",
    "temperature",
    "max_tokens",
    "stream",
    "stream_options",
}


def persona(**fields: object) -> Persona:
    return Persona(**{"name": "own", "window": 100_000, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize("refusal", TOOL_REFUSALS, ids=lambda refusal: refusal.source[:40])
async def test_a_request_is_sent_again_without_the_tools_that_a_server_refuses(
    openai: OpenAIModel, emulator: ModelEmulator, refusal: Refusal
) -> None:
    emulator.persona = persona(without_tools=refusal)
    for _ in range(3):
        assert words(await answer_of(openai, ASKED)) == "echo: hi"
    assert ["tools" in seen.body for seen in emulator.requests] == [True, False, False, False]
    assert "tool_choice" not in emulator.requests[-1].body
    assert openai.quirks("qwen3").tools_refused in refusal.body.replace("{model}", "qwen3").replace(
        '\\"', '"'
    ).replace("\\n\\n", " ")
    openai.forget_refusals("qwen3")
    await answer_of(openai, ASKED)
    assert "tools" in emulator.requests[-2].body


async def test_tools_are_refused_by_one_model_and_not_by_another(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    emulator.persona = persona(without_tools=TOOL_REFUSALS[0])
    await answer_of(openai, ASKED)
    emulator.persona = None
    await answer_of(openai, replace(ASKED, model="another"))
    assert "tools" in emulator.requests[-1].body
    assert openai.quirks("another").tools_refused == ""


async def test_earlier_calls_become_text_where_tools_are_refused(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    emulator.persona = persona(without_tools=TOOL_REFUSALS[0])
    talk = asking(
        "read it",
        said("assistant", "Yes.", call("c1")),
        said("user", result("c1", "42")),
        tools=(tool(),),
    )
    await answer_of(openai, talk)
    system, *rows = emulator.requests[-1].body["messages"]
    assert system["content"].startswith("Be brief.")
    assert "no tools" in system["content"]
    assert [row["role"] for row in rows] == ["user", "assistant", "user"]
    assert 'read {"path":"a.md"}' in rows[1]["content"]
    assert "42" in rows[2]["content"]


@pytest.mark.parametrize(
    ("name", "refusal"), PARAMETER_REFUSALS, ids=[name for name, _ in PARAMETER_REFUSALS]
)
async def test_a_field_that_a_refusal_names_is_left_out_and_that_is_remembered(
    openai: OpenAIModel, emulator: ModelEmulator, name: str, refusal: Refusal
) -> None:
    emulator.persona = persona(unknown=refusal, unknown_names=frozenset({name}))
    for _ in range(2):
        assert words(await answer_of(openai, ASKED)) == "echo: hi"
    assert [name in seen.body for seen in emulator.requests] == [True, False, False]
    assert "tools" in emulator.requests[-1].body
    assert set(emulator.requests[0].body) - set(emulator.requests[-1].body) == {name}


async def test_each_field_that_a_server_does_not_know_is_left_out(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    unknown = frozenset({"max_tokens", "max_completion_tokens", "stream_options", "temperature"})
    emulator.persona = replace(VLLM, unknown_names=unknown)
    assert words(await answer_of(openai, ASKED)) == "echo: hi"
    assert not unknown & emulator.requests[-1].body.keys()
    assert len(emulator.requests) == 5


async def test_what_is_refused_all_the_same_is_an_error_and_nothing_is_remembered(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    emulator.script([refuse(400, message="this model does not support tools")] * 2)
    with pytest.raises(BadRequest) as caught:
        await answer_of(openai, ASKED)
    assert "does not support tools" in str(caught.value)
    assert len(emulator.requests) == 2
    assert openai.quirks("qwen3") == NO_QUIRKS


async def test_a_request_that_is_too_long_is_not_sent_again(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    emulator.persona = replace(VLLM, window=200, without_tools=None)
    with pytest.raises(Overflow):
        await answer_of(openai, replace(ASKED, max_tokens=5_000))
    assert len(emulator.requests) == 1


@every_case(
    ("status", "text", "learnt"),
    [
        (400, "gemma does not support tools", "tools"),
        (400, "Function calling is not enabled for models/gemma-3", "tools"),
        (404, 'No endpoints found that support tool use. Try disabling "read".', "tools"),
        (400, "tool_choice requires a parser", "tools"),
        (500, "tools param requires --jinja flag", "tools"),
        (422, "body.tools: Extra inputs are not permitted", "tools"),
        (400, "messages: at least one message is required", ""),
        (400, "No tool output found for the call", ""),
        (
            400,
            "max_tokens is too large: 9000. This model supports at most 4096 completion tokens",
            "",
        ),
        (400, "Unrecognized request argument supplied: stream_options", "stream_options"),
        (
            400,
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "temperature",
        ),
        (400, "Unknown field: enable_thinking", ""),
        (401, "your key does not support tools", ""),
        (429, "too many requests with tools support", ""),
    ],
)
def test_what_a_refusal_teaches(status: int, text: str, learnt: str) -> None:
    quirks = learn_from_refusal(NO_QUIRKS, read_failure(status, {"error": {"message": text}}), SENT)
    if not learnt:
        assert quirks is None
        return
    assert quirks is not None
    assert (quirks.tools_refused == text) == (learnt == "tools")
    assert quirks.left_out == ({learnt} - {"tools"})


@every_case("text", ["this model does not support it", "an internal api error"])
def test_what_a_server_refuses_with_400_is_no_outage_whatever_it_calls_it(text: str) -> None:
    for kind in ("api_error", "server_error", "overloaded_error"):
        assert (
            type(to_error(read_failure(400, {"error": {"message": text, "type": kind}})))
            is BadRequest
        )
        assert (
            type(to_error(read_failure(404, {"error": {"message": text, "type": kind}})))
            is NoSuchModel
        )


@every_case(
    ("body", "words"),
    [
        ({"error": "just words"}, "just words"),
        ({"detail": "body -> n\n not permitted"}, "body -> n\n not permitted"),
        (
            {"detail": [{"loc": ["body", "n"], "msg": "not permitted", "input": "PRIVATE"}]},
            "body.n: not permitted",
        ),
        (
            {"message": {"detail": [{"loc": ["body", "n"], "msg": "no", "input": "PRIVATE"}]}},
            "body.n: no",
        ),
        (
            {
                "message": (
                    "[{'type': 't', 'loc': ('body', 'n'), 'msg': 'no', 'input': {'a': 'PRIVATE'}}]"
                )
            },
            "[{'type': 't', 'loc': ('body', 'n'), 'msg': 'no', 'input': …}]",
        ),
    ],
)
def test_a_servers_words_are_read_without_what_they_repeat_of_the_request(
    body: object, words: str
) -> None:
    assert read_failure(422, body).text == words
