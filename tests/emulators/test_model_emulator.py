"""The model emulator is strict, and can stand alone."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Reply

ROOT = Path(__file__).parents[2]
HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
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
    ([ASKED, turn("assistant", use("t1"))], "messages.1: `tool_use` ids were found without `tool_result` blocks"),
    ([ASKED, turn("assistant", use("t1")), turn("user", text("b"))], "ids were found without"),
    ([ASKED, turn("assistant", use("t1")), turn("user", text("b"), result("t1"))], "ids were found without"),
    ([ASKED, turn("assistant", use("t1"), use("t2")), turn("user", result("t1"))], "immediately after: t2."),
    ([ASKED, turn("user", result("t9"))], "messages.0.content.1: unexpected `tool_use_id` found"),
    ([ASKED, turn("assistant", use("t1"), use("t1")), turn("user", result("t1"))], "`tool_use` ids must be unique"),
    ([turn("user", {"type": "image", "source": {"type": "base64"}})], "messages.0"),
    ([turn("user", {"type": "hologram"})], "messages.0"),
    ([ASKED, turn("assistant", {"type": "thinking", "thinking": "t", "signature": "x"}), ASKED], "Invalid `signature`"),
]


async def post(url: str, body: Any, headers: dict[str, str] = HEADERS) -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.post(url, json=body, headers=headers)


@pytest.mark.parametrize(("messages", "words"), BROKEN)
async def test_a_history_that_breaks_a_rule_is_refused(messages: list[dict[str, Any]], words: str) -> None:
    async with ModelEmulator() as emulator:
        body = {"model": "m", "max_tokens": 9, "messages": messages, "stream": True, "tools": [TOOL]}
        answer = await post(f"{emulator.url}/v1/messages", body)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"role": "user"}],
        [{"role": "tool", "tool_call_id": "c", "content": "x"}],
        [
            {
                "role": "assistant",
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
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
        answer = await post(f"{emulator.url}/v1/messages/count_tokens", {"model": "m", "messages": [ASKED]})
    assert answer.json()["input_tokens"] > 0


async def test_a_request_to_fold_is_answered_with_the_json_it_asks_for() -> None:
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
    assert json.loads(default) == {"log": "- 我喜欢爬山", "summary": "- 我喜欢爬山"}


async def _words(emulator: ModelEmulator, body: dict[str, Any]) -> str:
    lines = (await post(f"{emulator.url}/v1/messages", body)).text.splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    return "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta")


async def test_it_runs_as_a_process_and_is_told_over_its_control_port() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.emulators.model", "--port", "0", "--reply", "ok"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        url = (await process.stdout.readline()).decode().strip()
        await post(f"{url}/_ctl/script", {"replies": [{"text": "told", "calls": [{"name": "read"}]}]})
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}
        first, second = [(await post(f"{url}/v1/chat/completions", body)).text for _ in range(2)]
        assert '"told"' in first
        assert '"ok"' in second
        async with httpx2.AsyncClient() as client:
            seen = (await client.get(f"{url}/_ctl/requests")).json()
        assert [item["body"] for item in seen] == [body, body]
    finally:
        process.terminate()
        await process.wait()
