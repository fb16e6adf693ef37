"""Long conversations with small models, in the ways of their servers: nothing is lost, no answer
and no fact.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.models.base import Request
from memory.context.policies.policies import BALANCED, FULL_BUDGET, build_policy
from tests.bot.inside import Inside, inside
from tests.bot.talk import call
from tests.bot.wired import wired
from tests.by_night import IS_NIGHT, by_night
from tests.emulators.model import ModelEmulator, Seen
from tests.emulators.model_replies import fold_text, is_fold, last_words
from tests.emulators.model_rules import seen_by_model
from tests.emulators.personas import LLAMACPP, OLLAMA, VLLM, Persona

TURNS = 200 if IS_NIGHT else 30
MODEL = "qwen3:8b"
FILLER = "The old harbour crane moved forty boxes of tea today, and nobody counted them. " * 6


def reply(body: dict[str, Any]) -> str:
    numbers = re.findall(r"^(\d+): ", last_words(body), re.MULTILINE)
    return fold_text(body) if is_fold(body) else f"noted {numbers[-1]}"


def fact(number: int) -> str:
    return f"I prefer ink of colour {7_000 + number} on label {number}."


def turns_of(server: ModelEmulator) -> list[Seen]:
    return [seen for seen in server.requests if seen.body.get("tools")]


async def hold(it: Inside, turns: int) -> dict[int, str]:
    """Talk; every tenth message has a fact. Returns the answers."""
    answers = {}
    for number in range(turns):
        words = fact(number) if number % 10 == 0 else FILLER
        answers[number] = await it.text(f"{number}: {words}")
        if number % 5 == 4:
            await it.bot.settled()
    await it.bot.settled()
    return answers


@pytest.mark.parametrize(
    ("persona", "output"),
    [
        pytest.param(replace(OLLAMA, window=4_096), 1_024, id="ollama-4k"),
        pytest.param(replace(LLAMACPP, window=4_096), 512, id="llamacpp-4k", marks=by_night),
        pytest.param(replace(LLAMACPP, window=8_192), 2_048, id="llamacpp-8k", marks=by_night),
        pytest.param(replace(VLLM, window=8_192), 2_048, id="vllm-8k"),
    ],
)
async def test_a_long_conversation_works_in_a_small_window(
    tmp_path: Path, persona: Persona, output: int
) -> None:
    llm = {"model": MODEL, "fast_model": MODEL, "max_output_tokens": output}
    server = ModelEmulator(persona=persona, responder=reply)
    async with (
        server,
        wired(tmp_path, server, llm=llm, memory={"extract": True}, language="en") as it,
    ):
        answers = await hold(it, TURNS)
        outcomes = await it.bot.store.outcomes.newest()
        folds = await it.bot.store.folds.folds(await it.conversation(), 1)
    assert answers == {number: f"noted {number}" for number in range(TURNS)}
    assert folds
    assert not outcomes.failed
    shown = str(server.requests[-1].body) + str(turns_of(server)[-1].body)
    files = "\n".join(path.read_text("utf-8") for path in (tmp_path / "workspace").rglob("*.md"))
    assert [
        number for number in range(0, TURNS, 10) if f"colour {7_000 + number} " not in shown + files
    ] == []
    refused = [seen for seen in server.requests if seen.refused]
    assert len(refused) <= 1  # by which the window was learnt
    sizes = [server.counts(seen_by_model(seen.body)) for seen in turns_of(server)]
    cut = [size for size in sizes if size > persona.window]
    # a window that is cut silently is known once requests have grown by a tenth while it was cut
    assert max(cut, default=0) <= persona.window * 1.25
    assert len(cut) <= 7


def test_balanced_scales_its_sizes_with_the_request() -> None:
    full = build_policy("balanced", {}, FULL_BUDGET).settings
    assert full == BALANCED.settings
    half = build_policy("balanced", {}, FULL_BUDGET // 2).settings
    assert (half.snip_chars, half.input_chars, half.result_chars, half.spare) == (
        10_000,
        500,
        1_000,
        500,
    )
    assert half.fold_at == full.fold_at
    own = build_policy("balanced", {"balanced": {"snip_chars": 3_000}}, FULL_BUDGET // 4).settings
    assert (own.snip_chars, own.result_chars) == (3_000, 500)
    assert build_policy("turns", {}, 2_000) == build_policy("turns", {})


async def test_a_long_result_leaves_room_for_the_talk_in_a_small_window(tmp_path: Path) -> None:
    settings = {"llm": {"context_window": 8_192, "max_output_tokens": 1_024}}

    def told(request: Request) -> Any:
        answered = sum(row.role == "assistant" for row in request.messages)
        return call("read_file", path="tea.md") if answered == 1 else "ok"

    async with inside(tmp_path, told, settings) as it:
        (tmp_path / "workspace" / "tea.md").write_text("Oolong and sencha from the harbour. " * 500)
        await it.text("hello")
        await it.text("read it")
        await it.text("thanks")
        shown = [
            part.text
            for row in it.model.requests[-1].messages
            for part in row.parts
            if hasattr(part, "call_id")
        ]
        session = await it.bot.fitter.load_session(await it.conversation())
    assert len(session.turns) == 3
    assert max(map(len, shown)) < 9_000  # of 18,000, all of which 50,000 tokens have room for
