"""The model emulator is strict, and can stand alone."""

import asyncio
import base64
import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.bot.models.asking import PNG
from tests.cases import every_case
from tests.emulators.model import ModelEmulator
from tests.emulators.model_counts import named
from tests.emulators.model_replies import Reply

ROOT = Path(__file__).parents[2]
HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
TOOL = {"name": "read", "input_schema": {"type": "object"}}


def use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "read", "input": {}}


def result(id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "x"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def turn(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


ASKED = turn("user", text("a"))
BROKEN = [
    ([], "messages: at least one message is required"),
    ([turn("assistant", text("a"))], "first message must use"),
    ([turn("user", text(" "))], "messages: text content blocks must be non-empty"),
    (
        [ASKED, turn("assistant", use("t1"))],
        "messages.1: `tool_use` ids were found without `tool_result` blocks",
    ),
    ([ASKED, turn("assistant", use("t1")), turn("user", text("b"))], "ids were found without"),
    (
        [ASKED, turn("assistant", use("t1")), turn("user", text("b"), result("t1"))],
        "ids were found without",
    ),
    (
        [ASKED, turn("assistant", use("t1"), use("t2")), turn("user", result("t1"))],
        "immediately after: t2.",
    ),
    ([ASKED, turn("user", result("t9"))], "messages.0.content.1: unexpected `tool_use_id` found"),
    (
        [ASKED, turn("assistant", use("t1"), use("t1")), turn("user", result("t1"))],
        "`tool_use` ids must be unique",
    ),
    ([turn("user", {"type": "image", "source": {"type": "base64"}})], "messages.0"),
    ([turn("user", {"type": "hologram"})], "messages.0"),
    (
        [ASKED, turn("assistant", {"type": "thinking", "thinking": "t", "signature": "x"}), ASKED],
        "Invalid `signature`",
    ),
]


async def post(url: str, body: Any, headers: dict[str, str] = HEADERS) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=30) as client:
        return await client.post(url, json=body, headers=headers)


@every_case(("messages", "words"), BROKEN)
async def test_a_history_that_breaks_a_rule_is_refused(
    messages: list[dict[str, Any]], words: str
) -> None:
    async with ModelEmulator() as emulator:
        body = {
            "model": "m",
            "max_tokens": 9,
            "messages": messages,
            "stream": True,
            "tools": [TOOL],
        }
        answer = await post(f"{emulator.url}/v1/messages", body)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


@every_case(
    "rows",
    [
        [],
        [{"role": "user"}],
        [{"role": "tool", "tool_call_id": "c", "content": "x"}],
        [
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            {"role": "user", "content": "x"},
        ],
    ],
)
async def test_chat_rows_that_break_a_rule_are_refused(rows: list[dict[str, Any]]) -> None:
    async with ModelEmulator() as emulator:
        answer = await post(f"{emulator.url}/v1/chat/completions", {"model": "m", "messages": rows})
    assert answer.status_code == 400


async def test_keys_are_checked_when_they_are_named() -> None:
    async with ModelEmulator(keys={"right"}) as emulator:
        body = {"model": "m", "max_tokens": 9, "messages": [ASKED], "stream": True}
        assert (await post(f"{emulator.url}/v1/messages", body)).status_code == 401


async def test_tokens_can_be_counted() -> None:
    async with ModelEmulator() as emulator:
        answer = await post(
            f"{emulator.url}/v1/messages/count_tokens", {"model": "m", "messages": [ASKED]}
        )
    assert answer.json()["input_tokens"] > 0


@every_case(
    "name", ["bytes", "characters:0.31", "characters:0.31:0.0", "pieces:50000", "pieces:9000:0.05"]
)
def test_every_way_to_count_says_the_same_twice_and_more_of_more(name: str) -> None:
    counts, short, long = (
        named(name),
        {"messages": [turn("user", text("你好 there"))]},
        {"messages": [ASKED] * 90},
    )
    assert counts(short) == named(name)(short) > 0
    assert counts(long) > 3 * counts(short)
    assert counts("你好世界" * 50) > counts("word" * 50), "Chinese costs more than Latin letters"


@every_case("name", ["", "words", "characters", "characters:a", "pieces:1:2:3", "bytes:1"])
def test_a_way_to_count_that_is_not_known_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"no way to count|could not convert"):
        named(name)


def test_noise_is_at_most_what_was_asked_for_and_hits_both_ways() -> None:
    exact, noisy = named("characters:0.31:0.0"), named("characters:0.31:0.02")
    off = [noisy(word) / exact(word) - 1 for word in (f"{at} " * 5_000 for at in range(40))]
    assert -0.021 < min(off) < -0.01
    assert 0.01 < max(off) < 0.021


def test_pictures_calls_and_schemas_cost_and_ids_do_not() -> None:
    counts = named("pieces:50000")
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    broken = {"type": "image", "source": {**source, "data": "no picture"}}
    assert counts([{"type": "image", "source": source}]) < 5, "one pixel"
    assert (
        counts([broken])
        == counts([{"type": "image_url", "image_url": {"url": "data:;base64,bm90"}}])
        == 1_600
    )
    assert counts([use("t1")]) == counts([use("t" * 500)]) > counts([text("read")])
    assert counts([TOOL]) < counts(
        [{**TOOL, "input_schema": {"type": "object", "properties": {"path": {}}}}]
    )


async def test_both_wires_report_the_same_use_by_another_tokenizer_and_refuse_by_it() -> None:
    body = {
        "model": "m",
        "max_tokens": 50,
        "messages": [{"role": "user", "content": "你好 " * 400}],
        "stream": True,
    }
    async with ModelEmulator() as emulator:
        emulator.counts = named("pieces:50000")
        counted = emulator.counts({"messages": body["messages"]})
        messages = (await post(f"{emulator.url}/v1/messages", body)).text
        chat = (await post(f"{emulator.url}/v1/chat/completions", body)).text
        used = json.loads(messages.partition("data: ")[2].splitlines()[0])["message"]["usage"]
        assert (
            used["input_tokens"]
            + used["cache_read_input_tokens"]
            + used["cache_creation_input_tokens"]
            == counted
        )
        assert f'"prompt_tokens": {counted},' in chat
        emulator.window = counted + 49
        said = [await _refusal(emulator, wire, body) for wire in ("messages", "chat/completions")]
        emulator.told = False
        silent = [await _refusal(emulator, wire, body) for wire in ("messages", "chat/completions")]
    assert all(str(counted) in words and str(counted + 49) in words for words in said)
    assert not any(letter.isdigit() for words in silent for letter in words)


async def _refusal(emulator: ModelEmulator, wire: str, body: Any) -> str:
    answer = await post(f"{emulator.url}/v1/{wire}", body)
    assert answer.status_code == 400
    return str(answer.json()["error"]["message"])


async def test_a_request_to_fold_is_answered_with_the_texts_it_asks_for() -> None:
    prompt = "Turns:\n- 10:00 user: 我喜欢爬山\n- 10:01 assistant: 好"
    async with ModelEmulator() as emulator:
        body = {
            "model": "m",
            "max_tokens": 9,
            "stream": True,
            "system": "mnema-fold",
            "messages": [turn("user", text(prompt))],
        }
        default = await _words(emulator, body)
        emulator.script(["not for folds"], folds=[Reply(text="scripted")])
        assert await _words(emulator, body) == "scripted"
    assert default == "<log>\n- 我喜欢爬山\n</log>\n<summary>\n- 我喜欢爬山\n</summary>"


async def test_a_request_for_facts_takes_no_scripted_reply_and_is_told_what_the_person_prefers() -> (  # noqa: E501
    None
):
    prompt = (
        "<data name='user'>\nHello. I prefer tea! Is it late?\n</data>\n\n<data name='assistant'>\n"
        "I prefer\n</data>"
    )
    async with ModelEmulator() as emulator:
        emulator.script(["for the person"])
        body = {
            "model": "m",
            "max_tokens": 9,
            "stream": True,
            "messages": [turn("user", text(prompt))],
        }
        told = await _words(emulator, {**body, "system": "mnema-extract\nRead."})
        assert await _words(emulator, body) == "for the person"
        two = (
            prompt.replace("'user'", "'user 1'")
            + "\n\n<data name='user 2'>\nI prefer rice.\n</data>"
        )
        of_two = await _words(
            emulator,
            {**body, "messages": [turn("user", text(two))], "system": "mnema-extract\nRead."},
        )
    [fact] = json.loads(told)
    assert (fact["content"], fact["source"]) == ("I prefer tea", "I prefer tea")
    assert [one["content"] for one in json.loads(of_two)] == ["I prefer tea", "I prefer rice"]


async def _words(emulator: ModelEmulator, body: dict[str, Any]) -> str:
    lines = (await post(f"{emulator.url}/v1/messages", body)).text.splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    return "".join(
        event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta"
    )


async def test_it_runs_as_a_process_and_is_told_over_its_control_port() -> None:
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "tests.emulators.model",
            "--port",
            "0",
            "--reply",
            "ok",
            "--count",
            "pieces:9000",
        ),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        url = (await process.stdout.readline()).decode().strip()
        await post(
            f"{url}/_ctl/script", {"replies": [{"text": "told", "calls": [{"name": "read"}]}]}
        )
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}
        first, second = [(await post(f"{url}/v1/chat/completions", body)).text for _ in range(2)]
        assert '"told"' in first
        assert '"ok"' in second
        assert f'"prompt_tokens": {named("pieces:9000")({"messages": body["messages"]})},' in second
        async with httpx2.AsyncClient(timeout=30) as client:
            seen = (await client.get(f"{url}/_ctl/requests")).json()
        assert [item["body"] for item in seen] == [body, body]
    finally:
        process.terminate()
        await process.wait()
