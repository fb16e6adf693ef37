"""At the step limit the model reads last that it may call nothing more, and the wire says so
too.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.bot.wired import wired
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply, echo, is_fold
from tests.emulators.model_rules import Refused, bare, check_chat, check_messages

NOTE = "[All 2 steps are used. Call no more tools: say that the step limit is reached and sum up.]"
WIRES = pytest.mark.parametrize(
    ("provider", "choice"),
    [("anthropic", {"type": "none"}), ("openai", "none")],
    ids=["anthropic", "openai"],
)


def digging(last: Reply) -> Any:
    """Lists another folder at each step, whatever it is told; at the last one it answers `last`."""
    asked = 0

    def reply(body: dict[str, Any]) -> Reply:
        nonlocal asked
        if is_fold(body):
            return echo(body)
        asked += 1
        return (
            last
            if asked > 2
            else Reply(calls=(Call(name="list_files", input={"path": f"d{asked}"}),))
        )

    return reply


def last_block(body: dict[str, Any]) -> str:
    """The text that the model reads last."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content[-1].get("text", content[-1]))


@WIRES
async def test_the_last_request_ends_with_the_note_and_forbids_calls_with_the_same_tools(
    tmp_path: Path, provider: str, choice: Any
) -> None:
    async with ModelEmulator(responder=digging(Reply(text="so far: nothing"))) as emulator:
        async with wired(tmp_path, emulator, provider, agent_max_steps=2) as it:
            answer = await it.text("dig")
        first, second, third = (seen.body for seen in emulator.requests)
    assert answer.startswith("so far: nothing")
    assert "all 2 steps are used" in answer
    assert last_block(third) == NOTE
    assert third["tool_choice"] == choice
    assert third["tools"] == second["tools"] == first["tools"]
    for body in (first, second):
        assert "tool_choice" not in body
        assert "Call no more tools" not in str(body["messages"])
    sent = second["messages"]
    assert bare(third["messages"][: len(sent)]) == bare(sent), (
        "what was sent before is sent again as it was"
    )


@WIRES
async def test_a_call_that_comes_all_the_same_is_not_run_and_the_turn_ends_with_a_text(
    tmp_path: Path, provider: str, choice: Any
) -> None:
    stubborn = Reply(calls=(Call(name="write_file", input={"path": "x.md", "content": "x"}),))
    async with (
        ModelEmulator(responder=digging(stubborn)) as emulator,
        wired(tmp_path, emulator, provider, agent_max_steps=2) as it,
    ):
        answer = await it.text("dig")
        assert len(emulator.requests) == 3
        session = await it.bot.store.sessions.load(await it.conversation())
        planned = [event for event in it.channel.shown if event.name == "tool_started"]
    assert emulator.requests[-1].body["tool_choice"] == choice
    assert "all 2 steps are used" in answer
    assert not (tmp_path / "workspace" / "x.md").exists()
    assert [part.text for part in session.turns[-1].messages[-1].parts] == ["(no answer)"]  # type: ignore[union-attr]
    assert [event for event in planned if event.facts["tool"] == "write_file"] == []


TOOL = {"name": "now", "description": "d", "input_schema": {"type": "object"}}
FUNCTION = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    ("choice", "tools"),
    [({"type": "never"}, [TOOL]), ({"type": "none"}, []), ("none", [TOOL])],
    ids=str,
)
def test_the_emulated_messages_api_takes_no_other_choice(choice: Any, tools: list[Any]) -> None:
    body = {
        "model": "m",
        "max_tokens": 9,
        "stream": True,
        "messages": [{"role": "user", "content": "hi"}],
    }
    check_messages({**body, "tools": [TOOL], "tool_choice": {"type": "none"}}, bound=True)
    with pytest.raises(Refused):
        check_messages({**body, "tools": tools, "tool_choice": choice}, bound=True)


@pytest.mark.parametrize(
    ("choice", "tools"),
    [("never", [FUNCTION]), ("none", []), ({"type": "none"}, [FUNCTION])],
    ids=str,
)
def test_emulated_chat_completions_take_no_other_choice(choice: Any, tools: list[Any]) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    check_chat({**body, "tools": [FUNCTION], "tool_choice": "none"})
    with pytest.raises(Refused):
        check_chat({**body, "tools": tools, "tool_choice": choice})
