"""The kinds of servers that the model emulator plays refuse, cut and think as they are
described.
"""

import json
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from tests.cases import every_case
from tests.emulators.model import ModelEmulator
from tests.emulators.model_rules import Refused, count, seen_by_model
from tests.emulators.personas import (
    DEEPSEEK,
    LLAMACPP,
    LMSTUDIO,
    OLLAMA,
    PARAMETER_REFUSALS,
    PERSONAS,
    TOOL_REFUSALS,
    VLLM,
    Persona,
)


def body(*words: str, **fields: Any) -> dict[str, Any]:
    rows = [
        {"role": "system", "content": "Be brief."},
        *({"role": "user", "content": word} for word in words),
    ]
    return {"model": "m", "messages": rows, "stream": True, **fields}


async def ask(emulator: ModelEmulator, asked: dict[str, Any]) -> tuple[int, str]:
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.post(f"{emulator.url}/v1/chat/completions", json=asked)
        return answer.status_code, answer.text


def test_every_refusal_is_json_and_names_where_it_was_seen() -> None:
    refusals = [*TOOL_REFUSALS, *(refusal for _, refusal in PARAMETER_REFUSALS)]
    refusals += [
        refusal
        for one in PERSONAS.values()
        for refusal in (one.too_long, one.unknown, one.wants_thinking)
        if refusal
    ]
    for refusal in refusals:
        numbers = dict.fromkeys(("tokens", "answer", "asked", "window", "index"), 1)
        json.loads(refusal.filled(model="m", name="n", **numbers).body)
        assert refusal.status >= 400
        assert refusal.source


@every_case("persona", [LLAMACPP, LMSTUDIO, VLLM, DEEPSEEK])
def test_what_is_too_long_is_refused_with_its_numbers(persona: Persona) -> None:
    long = body("word " * 2_000, max_tokens=512)
    small = replace(persona, window=2_048)
    with pytest.raises(Refused) as caught:
        small.check(long, count)
    assert "2048" in caught.value.body
    assert str(count(seen_by_model(long))) in caught.value.body
    small.check(body("word", max_tokens=512), count)


async def test_one_that_cuts_says_nothing_and_its_count_stands_still() -> None:
    async with ModelEmulator(persona=replace(OLLAMA, window=400)) as emulator:
        prompts = []
        for number in range(2, 9):
            status, text = await ask(emulator, body(*["word " * 40] * number, "the last"))
            assert status == 200
            usage = next(line for line in text.splitlines() if '"usage"' in line)
            prompts.append(json.loads(usage.removeprefix("data: "))["usage"]["prompt_tokens"])
        assert max(prompts) <= 400
        assert len(set(prompts[-3:])) == 1


@every_case("persona", list(PERSONAS.values()))
def test_a_body_of_today_is_taken(persona: Persona) -> None:
    persona.check(
        body(
            "hi",
            max_tokens=256,
            temperature=0.3,
            stream_options={"include_usage": True},
            tools=[{}],
        ),
        count,
    )
