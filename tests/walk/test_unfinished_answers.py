"""An answer that was stopped or broke off stays as far as it was shown: on the page, in the record,
for the model.
"""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply
from tests.walk.harness import Scene, scene, until
from tests.walk.record import ledger_faults, query
from tests.walk.screen import watching
from tests.walk.speech import answer, asked
from tests.walk.web import Page

STORY = (
    "Once there was a fox in a wide forest that told nobody where it slept at night, and so on. "
)
SHOWN = "Once there was"
STOPPED_WITHIN = 2.0
BREAKS = 5  # calls of one step
AT_ONCE = Reply(status=529, headers={"retry-after": "0"})
STOPPED_MARK, CUT_MARK = "[stopped by the person]", "[cut off before its end]"


def stalling() -> Reply:
    """Words, then silence."""
    return Reply(text=STORY, then="stall", after=8)


def breaking() -> Reply:
    """Words, then an error in the stream that may be retried at once."""
    return Reply(text=STORY, thinking="secret thoughts", then="error", after=10)


@asynccontextmanager
async def talking(
    tmp_path: Path, model: ModelEmulator, provider: str = "anthropic"
) -> AsyncIterator[Scene]:
    async with scene(tmp_path, model, provider=provider) as talk:
        await talk.bot.start()
        yield talk


def told_to_model(model: ModelEmulator) -> str:
    return json.dumps(model.requests[-1].body["messages"], ensure_ascii=False)


@pytest.mark.parametrize("provider", ["anthropic", pytest.param("openai", marks=by_night)])
@pytest.mark.parametrize("by", ["the button", pytest.param("the command", marks=by_night)])
async def test_what_was_shown_of_a_stopped_answer_stays(
    tmp_path: Path, by: str, provider: str
) -> None:
    model = ModelEmulator(responder=answer)
    model.script([stalling()])
    async with talking(tmp_path, model, provider) as talk:
        id = await talk.web.post("talk", asked("story"))
        async with watching(talk) as screen:
            await until(lambda: SHOWN in screen.growing, "the answer is shown")
            since = time.monotonic()
            await (talk.web.stop("talk") if by == "the button" else talk.web.post("talk", "/stop"))
            line = await talk.web.answer("talk", id)
            assert time.monotonic() - since < STOPPED_WITHIN
            assert (line["role"], line.get("state")) == ("assistant", "stopped")
            assert line["text"] == screen.growing.strip()
            await until(
                lambda: any(told.get("id") == line["id"] for _, told in screen.lines),
                "the page has the line",
            )
            ((name, told),) = [
                (name, told) for name, told in screen.lines if told.get("id") == line["id"]
            ]
            assert (name, told["state"], told["text"]) == ("reply", "stopped", line["text"])
        assert await talk.web.answers("talk", id) == [line]
        await talk.bot.kill()
        await talk.bot.start()
        assert await talk.web.answers("talk", id) == [line]
        assert await talk.say("talk", asked("next")) == "re «next»"
        assert line["text"] in told_to_model(model)
        assert STOPPED_MARK in told_to_model(model)
        roles = [
            message["role"]
            for message in model.requests[-1].body["messages"]
            if message["role"] != "system"
        ]
        assert roles == ["user", "assistant", "user"]
        assert await ledger_faults(talk.bot.db) == []


@pytest.mark.parametrize("provider", ["anthropic", pytest.param("openai", marks=by_night)])
async def test_what_was_shown_of_an_answer_that_broke_off_stays_beside_the_notice(
    tmp_path: Path, provider: str
) -> None:
    model = ModelEmulator(responder=answer)
    model.script([breaking(), *[AT_ONCE] * (BREAKS - 1)])
    async with talking(tmp_path, model, provider) as talk:
        id = await talk.web.post("talk", asked("story"))
        async with watching(talk) as screen:
            lines = await until(lambda: two_answers(talk, id), "the answer and the notice")
            await until(lambda: len(screen.lines) == 3, "the page has them")
            assert [(name, told.get("state")) for name, told in screen.lines[1:]] == [
                ("reply", "cut"),
                ("notice", None),
            ]
            assert screen.growing.strip() == lines[0]["text"]
        assert [line["role"] for line in lines] == ["assistant", "notice"]
        assert lines[0]["state"] == "cut"
        assert lines[0]["text"].startswith(SHOWN)
        assert "/retry" in lines[1]["text"]
        assert await talk.say("talk", asked("next")) == "re «next»"
        assert lines[0]["text"] in told_to_model(model)
        assert CUT_MARK in told_to_model(model)
        assert "secret thoughts" not in told_to_model(model) + json.dumps(
            await talk.web.lines("talk")
        )
        assert await ledger_faults(talk.bot.db) == []


async def two_answers(talk: Scene, id: str) -> list[dict[str, Any]]:
    found = await talk.web.answers("talk", id)
    return found if len(found) == 2 else []


async def test_the_last_text_that_was_shown_counts_and_a_call_that_broke_off_does_not(
    tmp_path: Path,
) -> None:
    model = ModelEmulator(responder=answer)
    other = Reply(
        text="Another beginning that is read.",
        calls=(Call(name="list_files"),),
        then="error",
        after=9,
    )
    model.script([breaking(), other, *[AT_ONCE] * (BREAKS - 2)])
    async with talking(tmp_path, model) as talk:
        id = await talk.web.post("talk", asked("story"))
        cut, _ = await until(lambda: two_answers(talk, id), "the answer and the notice")
        assert cut["text"] == "Another beginning that is read."
        assert query(talk.bot.db, "SELECT count(*) FROM tool_call") == [(0,)]
        await talk.say("talk", asked("next"))
        assert STORY[:20] not in told_to_model(model)


async def test_a_stop_before_any_text_stores_no_answer(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    model.script([Reply(text=STORY, then="stall")])
    async with talking(tmp_path, model) as talk:
        id = await talk.web.post("talk", asked("story"))
        await model.arrived.wait()
        await talk.web.stop("talk")
        line = await talk.web.answer("talk", id)
        assert (line["role"], line["text"]) == ("notice", "Stopped.")
        assert await talk.say("talk", asked("next")) == "re «next»"


async def test_a_stop_during_a_tool_keeps_the_words_before_it_once(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    model.script(
        [Reply(text="I look into the folder.", calls=(Call(name="list_files"),)), stalling()]
    )
    async with talking(tmp_path, model) as talk:
        id = await talk.web.post("talk", asked("story"))
        async with watching(talk) as screen:
            await until(lambda: SHOWN in screen.growing, "the answer is shown")
            await talk.web.stop("talk")
            line = await talk.web.answer("talk", id)
        first, _, rest = line["text"].partition("\n\n")
        assert first == "I look into the folder."
        assert rest.startswith(SHOWN)
        await talk.say("talk", asked("next"))
        assert told_to_model(model).count("I look into the folder.") == 1
        assert told_to_model(model).count(SHOWN) == 1


async def test_continue_goes_on_from_what_was_shown(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    model.script([stalling(), "and slept in a den."])
    async with talking(tmp_path, model) as talk:
        id = await talk.web.post("talk", asked("story"))
        async with watching(talk) as screen:
            await until(lambda: SHOWN in screen.growing, "the answer is shown")
            await talk.web.stop("talk")
            line = await talk.web.answer("talk", id)
        assert await talk.say("talk", "Continue.") == "and slept in a den."
        assert line["text"] in told_to_model(model)
        lines = await talk.web.lines("talk")
        assert [line["role"] for line in lines] == ["user", "assistant", "user", "assistant"]


async def test_a_cleared_conversation_gets_nothing_of_an_answer_that_ran(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    model.script([stalling()])
    async with talking(tmp_path, model) as talk:
        await talk.web.post("talk", asked("story"))
        async with watching(talk) as screen:
            await until(lambda: SHOWN in screen.growing, "the answer is shown")
            await talk.web.answer("talk", await talk.web.post("talk", "/context clear"))
        assert await talk.say("talk", asked("next")) == "re «next»"
        assert SHOWN not in told_to_model(model)
        assert STOPPED_MARK not in told_to_model(model)
        assert await ledger_faults(talk.bot.db) == []


@pytest.mark.parametrize(
    "place", ["finish.in_txn", pytest.param("finish.committed", marks=by_night)]
)
async def test_a_kill_while_a_stop_is_stored_doubles_nothing(tmp_path: Path, place: str) -> None:
    model = ModelEmulator(responder=answer)
    model.script([stalling()])
    async with scene(tmp_path, model) as talk:
        await talk.bot.start(f"{place}:kill9")
        id = await talk.web.post("talk", asked("story"))
        async with watching(talk) as screen:
            await until(lambda: SHOWN in screen.growing, "the answer is shown")
            await talk.web.stop("talk")
            assert await talk.bot.ended() == -9
        await talk.bot.start()
        page = Page(talk.web, "talk")
        line = await talk.web.answer("talk", id)
        assert (
            line["text"] == "re «story»" if place == "finish.in_txn" else line["state"] == "stopped"
        )
        assert await talk.say("talk", asked("next")) == "re «next»"
        assert len(await talk.web.answers("talk", id)) == 1
        await until(lambda: len(page.shown) == 4, "the page has all lines")
        await page.close()
        assert await ledger_faults(talk.bot.db) == []
