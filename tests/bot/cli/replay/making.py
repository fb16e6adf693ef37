"""Makes recordings for the tests of this package."""

import json
from pathlib import Path
from typing import Any

from bot.cli.replay.recording import Recording, count_recording, read_recording
from bot.cli.replay.simulate import ReplaySetting
from memory.context.policies.planner import ContextLimits
from memory.context.policies.policies import build_policy
from memory.context.tokens import WEIGHTED


def user(text: str, at: str = "") -> dict[str, Any]:
    return {"role": "user", "content": text, **({"at": at} if at else {})}


def bot(text: str, at: str = "") -> dict[str, Any]:
    return {"role": "assistant", "content": text, **({"at": at} if at else {})}


def used(id: str, result: str) -> list[dict[str, Any]]:
    """Return a call and its result in Anthropic's form."""
    return [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": id, "name": "read_file", "input": {"path": id}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": id, "content": result}],
        },
    ]


def talk(turns: int, size: int = 40, tools: int = 0, result: int = 400) -> list[dict[str, Any]]:
    """Return so many turns of a question and an answer of `size` words, each with `tools` calls in
    between.
    """
    said: list[dict[str, Any]] = []
    for turn in range(1, turns + 1):
        said.append(
            user(
                f"Question {turn} about topic{turn}: the code of topic{turn} is C-{7000 + turn}. "
                + "word " * size
            )
        )
        for call in range(tools):
            said += used(f"t{turn}c{call}", f"line of file {turn} " * (result // 10))
        said.append(bot(f"Answer {turn}. " + "reply " * size))
    return said


def file_of(folder: Path, document: object, name: str = "talk.json") -> Path:
    path = folder / name
    path.write_text(
        document if isinstance(document, str) else json.dumps(document, ensure_ascii=False), "utf-8"
    )
    return path


def recording(folder: Path, messages: list[dict[str, Any]], **more: Any) -> Recording:
    """Read and count a recording like a replay."""
    return count_recording(
        read_recording(file_of(folder, {"messages": messages, **more})), WEIGHTED
    )


def setting(
    policy: str = "balanced", tokens: int = 6_000, turns: int = 20, **more: Any
) -> ReplaySetting:
    limits = ContextLimits(max_tokens=tokens, max_turns=turns, window=1_000_000, reserve=4_096)
    return ReplaySetting(policy=build_policy(policy, {}), limits=limits, counter=WEIGHTED, **more)
