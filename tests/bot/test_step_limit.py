"""At the step limit the model reads last that it may call nothing more, and the wire says so too."""

from pathlib import Path
from typing import Any

import pytest

from tests.bot.wired import wired
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply, echo, is_fold
from tests.emulators.model_rules import Refused, check_chat, check_messages

NOTE = "[All 2 steps are used. Call no more tools: say that the step limit is reached and sum up.]"
WIRES = pytest.mark.parametrize(
    ("provider", "choice"), [("anthropic", {"type": "none"}), ("openai", "none")], ids=["anthropic", "openai"]
)


def digging(last: Reply) -> Any:
    """Lists another folder at each step, whatever it is told; at the last one it answers `last`."""
    asked = 0

    def reply(body: dict[str, Any]) -> Reply:
        nonlocal asked
        if is_fold(body):
            return echo(body)
        asked += 1
        return last if asked > 2 else Reply(calls=(Call(name="list_files", input={"path": f"d{asked}"}),))

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
    assert third["messages"][: len(sent)] == sent, "what was sent before is sent again as it was"


@WIRES
async def test_a_call_that_comes_all_the_same_is_not_run_and_the_turn_ends_with_a_text(
    tmp_path: Path, provider: str, choice: Any
) -> None:
    stubborn = Reply(calls=(Call(name="write_file", input={"path": "x.md", "content": "x"}),))
    async with ModelEmulator(responder=digging(stubborn)) as emulator:
        async with wired(tmp_path, emulator, provider, agent_max_steps=2) as it:
            answer = await it.text("dig")
            assert len(emulator.requests) == 3
            session = await it.house.store.sessions.load(await it.conversation())
            planned = [event for event in it.channel.shown if event.name == "tool_started"]
    assert emulator.requests[-1].body["tool_choice"] == choice
    assert "all 2 steps are used" in answer
    assert not (tmp_path / "workspace" / "x.md").exists()
    assert [part.text for part in session.turns[-1].messages[-1].parts] == ["(no answer)"]  # type: ignore[union-attr]
    assert [event for event in planned if event.facts["tool"] == "write_file"] == []


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_the_emulator_takes_no_choice_that_the_wire_does_not_know(provider: str) -> None:
    message = {"role": "user", "content": "hi"}
    tool = {"name": "now", "description": "d", "input_schema": {"type": "object"}}
    function = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}
    for choice, tools in (({"type": "never"}, True), ("never", True), ({"type": "none"}, False), ("none", False)):
        body: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [message], "tool_choice": choice}
        with pytest.raises(Refused):
            if provider == "anthropic":
                check_messages({**body, **({"tools": [tool]} if tools else {}), "stream": True}, bound=True)
            else:
                check_chat({**body, **({"tools": [function]} if tools else {})})
