"""The database file removed under the running bot: it confirms nothing, says so, and goes on once
it is back.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.walk.harness import OWNER, Scene, mnema, scene, until
from tests.walk.speech import answer, asked

REMOVED = (
    "was removed while mnema uses it: stop mnema, put the file back or restore a backup, then "
    "start again"
)


@pytest.mark.parametrize("name", ["mnema.db", pytest.param("mnema.db-wal", marks=by_night)])
async def test_a_removed_file_means_no_confirmation_until_it_is_back(
    tmp_path: Path, name: str
) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer)) as talk:
        await talk.bot.start()
        await talk.say("talk", asked("before"))
        file, aside = tmp_path / "data" / name, tmp_path / "aside"
        file.rename(aside)
        await _is_told(talk, f"{file} {REMOVED}")
        if name == "mnema.db":
            await _doctor_says(tmp_path, f"{file} was removed while mnema uses it.")
        assert not file.exists()
        aside.rename(file)
        assert (await talk.web.ask("GET", "/readyz")).status_code == 200
        assert await talk.say("talk", asked("after")) == "re «after»"
        assert await talk.bot.term() == 0
        await talk.bot.start()
        assert [line["text"] for line in await talk.web.lines("talk")] == [
            asked("before"), "re «before»", asked("after"), "re «after»",
        ]  # fmt: skip


async def test_a_replaced_file_is_told_too_and_is_left_alone(tmp_path: Path) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer)) as talk:
        await talk.bot.start()
        await talk.say("talk", asked("before"))
        file = tmp_path / "data" / "mnema.db"
        other = tmp_path / "other"
        other.write_bytes(b"another file")
        other.replace(file)
        await _is_told(talk, f"{file} was replaced by another file while mnema uses it: stop mnema")
        assert await talk.bot.term() == 0
        assert file.read_bytes() == b"another file"


async def test_a_platform_keeps_what_cannot_be_stored_and_is_asked_again(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    async with TelegramEmulator() as telegram, scene(tmp_path, model, telegram.url) as talk:
        await talk.bot.start()
        telegram.inject(asked("before"), user=int(OWNER))
        await until(lambda: [seen.text for seen in telegram.sent()] == ["re «before»"], "an answer")
        file, aside = tmp_path / "data" / "mnema.db", tmp_path / "aside"
        await until(lambda: len(telegram.acks()) == 1, "its confirmation")
        file.rename(aside)
        telegram.inject(asked("meanwhile"), user=int(OWNER))
        await until(lambda: _refusals(talk), "it was to be stored")
        assert len(telegram.acks()) == 1
        aside.rename(file)
        await until(lambda: len(telegram.sent()) == 2, "an answer")
        assert [seen.text for seen in telegram.sent()] == ["re «before»", "re «meanwhile»"]


async def _doctor_says(home: Path, message: str) -> None:
    code, out, _ = await mnema(home, "doctor", "--json")
    assert code == 1
    [found] = [check for check in json.loads(out)["checks"] if check["name"] == "database"]
    assert (found["ok"], found["message"]) == (False, message)


async def _is_told(talk: Scene, trouble: str) -> None:
    refused = await talk.web.send("talk", asked("into nothing"), "k")
    assert refused.status_code == 503
    assert refused.json()["error"]["message"].startswith(f"nothing can be stored: {trouble}")
    ready = await talk.web.ask("GET", "/readyz")
    assert ready.status_code == 503
    assert ready.json()["reasons"]["database"].startswith(trouble)
    assert [line["text"] for line in await talk.web.lines("talk")] == [
        asked("before"),
        "re «before»",
    ]
    [line] = _refusals(talk)
    assert line["level"] == "error"


def _refusals(talk: Scene) -> list[dict[str, Any]]:
    log = (talk.bot.home / "data" / "log" / "mnema.log").read_text()
    return [
        line
        for line in map(json.loads, log.splitlines())
        if "no message confirmed" in line["event"]
    ]
