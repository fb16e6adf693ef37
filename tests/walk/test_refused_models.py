"""A model that refuses and is mended while people write: each is told of a call of their own, and
then answered.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import refuse
from tests.walk.harness import Scene, mnema, scene
from tests.walk.oracle import unfounded_notices
from tests.walk.speech import answer, asked

REFUSED = "its key is invalid, unpaid or not authorised"


async def said(talk: Scene, conversation: str, text: str) -> str:
    """Write, and return who answers and what."""
    line = await talk.web.answer(conversation, await talk.web.post(conversation, text))
    return f"{line['role']}: {line['text']}"


async def running_model_check(talk: Scene) -> dict[str, Any]:
    """What `mnema doctor` says of the running bot's models."""
    _, out, _ = await mnema(talk.bot.home, "doctor", "--json")
    found: dict[str, Any] = next(
        check for check in json.loads(out)["checks"] if check["name"] == "model health"
    )
    return found


async def test_a_key_that_is_refused_and_then_accepted_needs_no_change_of_the_configuration(
    tmp_path: Path,
) -> None:
    model = ModelEmulator(responder=answer, keys={"another key"})
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        people = [f"person{at}" for at in range(4)]
        for number in range(2):
            told = await asyncio.gather(
                *(said(talk, name, asked(f"{name}/{number}")) for name in people)
            )
            assert all(line.startswith("notice: ") and REFUSED in line for line in told), told
        assert model.failed >= 8
        check = await running_model_check(talk)
        assert not check["ok"]
        assert "authentication_error" in check["message"]
        assert (await talk.web.ask("GET", "/readyz")).status_code == 503
        assert "refused for" in await talk.say("person0", "/status")

        model.keys = None
        assert await said(talk, "person0", asked("mended")) == "assistant: re «mended»"
        assert await said(talk, "person1", "/retry") == "assistant: re «person1/1»"
        assert (await running_model_check(talk))["ok"]
        assert (await talk.web.ask("GET", "/readyz")).status_code == 200
        assert unfounded_notices(talk.bot.db, model) == []
        model.failed, failed = 0, model.failed
        assert len(unfounded_notices(talk.bot.db, model)) == 1
        model.failed = failed


async def test_a_single_refusal_costs_one_message(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        for status in (401, 402, 403, 404):
            model.script([refuse(status)])
            assert (await said(talk, "talk", asked(f"{status}"))).startswith("notice: ")
            assert (
                await said(talk, "other", asked(f"after {status}"))
                == f"assistant: re «after {status}»"
            )


async def test_the_page_asks_a_model_at_once(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        model.script([refuse(401)] * 2)
        await said(talk, "talk", asked("refused"))

        async def try_now() -> list[dict[str, Any]]:
            asked_now = (
                await talk.web.ask("POST", "/api/v1/health/models", json={})
            ).raise_for_status()
            models: list[dict[str, Any]] = asked_now.json()["models"]
            return models

        assert [(one["state"], one["up"]) for one in await try_now() if one["use"] == "chosen"] == [
            ("refused", False)
        ]
        assert {one["state"] for one in await try_now()} == {"up"}
        assert {one["state"] for one in (await talk.web.get("/api/status"))["models"]} == {"up"}
