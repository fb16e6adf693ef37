"""Within a turn each request repeats the one before byte for byte, so that its results are paid for
once.
"""

import json
from itertools import pairwise
from pathlib import Path

from bot.models.base import Request
from memory.conversation import Text
from tests.bot.inside import inside
from tests.bot.models.asking import anthropic_body
from tests.bot.talk import call
from tests.emulators.model_rules import PromptCache, bare, count, seen_by_model

PAGE = "The harbour master wrote it down. " * 550
FACT = "The harbour master is called Ada."
ROOMY = {"agent_max_context_tokens": 150_000}


def steps_of(request: Request) -> int:
    return sum(message.role == "assistant" for message in request.messages[request.stable :])


def reading(request: Request) -> object:
    """Ten steps that read a page each; after the third something is remembered as well."""
    step = steps_of(request)
    if step == 10:
        return "All read."
    if step == 3:
        return [call("memory_write", id="r3", text=FACT, category="fact")]
    return [Text(text="Next."), call("read_file", id=f"t{step}", path=f"page{step}.md")]


async def test_ten_steps_repeat_what_was_sent_and_pay_for_each_page_once(tmp_path: Path) -> None:
    async with inside(tmp_path, reading, ROOMY) as it:  # type: ignore[arg-type]
        for number in range(10):
            (tmp_path / "workspace" / f"page{number}.md").write_text(f"Page {number}. {PAGE}")
        assert await it.text(f"Read all pages. {FACT}") == "All read."
        assert FACT in (tmp_path / "workspace" / "MEMORY.md").read_text()
        requests = [request for request in it.model.requests if request.purpose == "turn"]
    assert len(requests) == 11
    bodies = [anthropic_body(request) for request in requests]
    sent = [
        [json.dumps(bare(part)) for part in (*body["system"], *body["messages"])] for body in bodies
    ]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(sent))
    cache = PromptCache()
    paid = sum(count(seen_by_model(body)) - cache.account(body)[0] for body in bodies)
    first, last = count(seen_by_model(bodies[0])), count(seen_by_model(bodies[-1]))
    assert last - first > 9 * 4_000
    assert paid <= 1.03 * last
