"""I39 inside of the tool loop: each request of a turn that reads and reads fits, as the strictest
provider counts.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.bot.agent.test_overflow import COUNTS, essay
from tests.bot.wired import wired
from tests.by_night import first_by_day
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply, is_fold
from tests.emulators.model_rules import seen_by_model

STEPS = 12
ROOM = 12_000
QUIET: Any = {"memory": {"extract": False, "recall_limit": 0}}


def reading(body: dict[str, Any]) -> Reply:
    """Read one file after the other, then say so."""
    done = str(body["messages"]).count("tool_use_id")
    if done < STEPS and not is_fold(body):
        return Reply(
            calls=(Call(id=f"call_{done}", name="read_file", input={"path": f"{done}.md"}),)
        )
    return Reply(text="read them all")


@pytest.mark.parametrize("policy", first_by_day(1, ["balanced", "turns", "layers"]))
async def test_I39_every_request_of_a_long_turn_with_tools_fits(
    tmp_path: Path, policy: str
) -> None:
    (tmp_path / "workspace").mkdir()
    for number in range(STEPS):
        (tmp_path / "workspace" / f"{number}.md").write_text(essay(number, 700))
    emulator = ModelEmulator(responder=reading, window=ROOM + 1_024)
    emulator.counts = COUNTS
    settings = {
        "agent_max_context_tokens": ROOM,
        "context_policy": policy,
        "llm": {"context_window": ROOM + 1_024},
    }
    async with emulator, wired(tmp_path, emulator, "anthropic", **QUIET, **settings) as it:
        assert await it.text("read all of them") == "read them all"
        asked = [seen for seen in emulator.requests if not is_fold(seen.body)]
        assert [seen.refused for seen in asked if seen.refused] == []
        assert len(asked) == STEPS + 1
        whole = sum(COUNTS(essay(number, 700)) for number in range(STEPS))
        assert whole > 2 * ROOM, "all of it together would not fit"
        assert max(COUNTS(seen_by_model(seen.body)) for seen in asked) <= ROOM
