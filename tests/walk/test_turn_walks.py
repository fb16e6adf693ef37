"""Whole walks of single turns: order, stop, tools of unknown outcome, ends of the process, two of
them.
"""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from memory.store.open import open_store
from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply
from tests.walk.harness import Scene, mnema, scene, until
from tests.walk.record import query, unended
from tests.walk.screen import watching
from tests.walk.speech import answer, asked

STOPPED_WITHIN = 2.0


async def asked_of_model(talk: Scene, count: int = 1) -> None:
    """The model has had so many requests."""
    await until(lambda: len(talk.model.requests) >= count, f"the model is asked {count} times")


async def test_messages_that_come_while_one_is_answered_are_answered_in_order_the_same_words_twice(
    tmp_path: Path,
) -> None:
    model = ModelEmulator(responder=answer)
    model.script([Reply(text="first", wait=0.5)])
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        ids = [
            await talk.web.post("talk", text)
            for text in (asked("one"), asked("same"), asked("same"))
        ]
        told = [(await talk.web.answer("talk", id))["text"] for id in ids]
        assert told == ["first", "re «same»", "re «same»"]
        lines = await talk.web.lines("talk")
        assert [line["reply_to"] for line in lines if line["role"] == "assistant"] == ids
        assert len(set(ids)) == 3


@by_night
async def test_two_conversations_are_answered_beside_each_other(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    model.script([Reply(text="slow", wait=1.0), Reply(text="slow", wait=1.0)])
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        ids = {name: await talk.web.post(name, asked(name)) for name in ("one", "other")}
        await asked_of_model(talk, 2)
        assert [name for name, id in ids.items() if await talk.web.answers(name, id)] == []
        for name, id in ids.items():
            assert (await talk.web.answer(name, id))["text"] == "slow"


@pytest.mark.parametrize("by", ["the button", "the command"])
async def test_stop_in_the_middle_of_a_stream_ends_the_turn_at_once(
    by: str, tmp_path: Path
) -> None:
    model = ModelEmulator(responder=answer)
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        assert await talk.say("talk", asked("first")) == "re «first»"
        model.script([Reply(text="a long story " * 50, then="stall", after=6)])
        async with watching(talk) as screen:
            id = await talk.web.post("talk", asked("story"))
            await until(lambda: screen.growing, "the answer grows")
        since = time.monotonic()
        await (talk.web.stop("talk") if by == "the button" else talk.web.post("talk", "/stop"))
        line = await talk.web.answer("talk", id)
        assert time.monotonic() - since < STOPPED_WITHIN
        assert (line["role"], line["state"]) == ("assistant", "stopped")
        assert await talk.say("talk", asked("next")) == "re «next»"


async def test_stop_in_the_middle_of_a_tool_ends_the_turn_at_once(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    model.script([Reply(calls=(Call(name="list_files"),))])
    async with scene(tmp_path, model) as talk:
        await talk.bot.start("tool.mid_effect:hang")
        id = await talk.web.post("talk", asked("time"))
        await until(
            lambda: query(talk.bot.db, "SELECT id FROM tool_call WHERE state = 'started'"),
            "the tool runs",
        )
        since = time.monotonic()
        await talk.web.stop("talk")
        await talk.web.answer("talk", id)
        assert time.monotonic() - since < STOPPED_WITHIN
        assert await talk.say("talk", asked("next")) == "re «next»"


@pytest.mark.parametrize(
    ("place", "times"),
    [
        pytest.param("tool.started", 0, marks=by_night),
        ("tool.mid_effect", 0),
        pytest.param("tool.after_effect", 1, marks=by_night),
    ],
)
async def test_a_tool_whose_outcome_nobody_knows_is_not_run_again(
    place: str, times: int, tmp_path: Path
) -> None:
    model = ModelEmulator(responder=answer)
    edit = {"path": "list.md", "old": "- end", "new": "- bread\n- end"}
    model.script([Reply(calls=(Call(name="edit_file", input=edit),))])
    async with scene(tmp_path, model) as talk:
        talk.bot.workspace.mkdir()
        (talk.bot.workspace / "list.md").write_text("- end\n")
        await talk.bot.start(f"{place}:kill9")
        id = await talk.web.post("talk", asked("shopping"))
        assert await talk.bot.ended() == -9
        await talk.bot.start()
        assert (await talk.web.answer("talk", id))["text"] == "re «shopping»"
        assert (talk.bot.workspace / "list.md").read_text().count("bread") == times
        result = _results(model.requests[-1].body)
        assert "unknown" in result
        assert query(talk.bot.db, "SELECT state, attempts FROM tool_call") == [("unknown", 1)]


async def test_a_turn_that_was_killed_goes_on_by_itself_from_its_last_step(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    model.script([Reply(calls=(Call(name="list_files"),))])
    async with scene(tmp_path, model) as talk:
        await talk.bot.start("tool.committed:kill9")
        id = await talk.web.post("talk", asked("time"))
        assert await talk.bot.ended() == -9
        await talk.bot.start()
        assert (await talk.web.answer("talk", id))["text"] == "re «time»"
        assert len(model.requests) == 2


async def test_a_turn_that_kills_the_process_each_time_is_given_up_and_told(tmp_path: Path) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer)) as talk:
        await talk.bot.start("llm.before:kill9")
        id = await talk.web.post("talk", asked("poison"))
        await talk.bot.ended()
        for _ in range(2):
            await talk.bot.spawn("llm.before:kill9")
            assert await talk.bot.ended() == -9
        await talk.bot.start("llm.before:kill9")
        line = await talk.web.answer("talk", id)
        assert line["role"] == "notice"
        assert "interrupted" in line["text"]
        await talk.bot.restart()
        assert await talk.say("talk", asked("next")) == "re «next»"


async def test_sigterm_lets_a_running_answer_end(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    model.script([Reply(text="in time", wait=0.5)])
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        id = await talk.web.post("talk", asked("late"))
        await asked_of_model(talk)
        assert await talk.bot.term() == 0
        assert unended(talk.bot.db) == []
        await talk.bot.start()
        assert [line["text"] for line in await talk.web.answers("talk", id)] == ["in time"]
        assert len(model.requests) == 1


async def test_a_second_process_on_the_same_home_ends_with_one_sentence(tmp_path: Path) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer)) as talk:
        await talk.bot.start()
        code, out, err = await mnema(tmp_path, "run")
        assert code == 1
        assert out == ""
        assert len(err.strip().splitlines()) == 1
        assert "running" in err
        assert await talk.say("talk", asked("still")) == "re «still»"


async def test_a_process_that_was_stopped_and_replaced_cannot_write_any_more(
    tmp_path: Path,
) -> None:
    """A lock that is gone (a copied folder's, a broken network share's) leaves the lease to keep
    the record whole.
    """
    model = ModelEmulator(responder=answer)
    model.script([Reply(text="from the grave", wait=1.0)])
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        await talk.web.post("talk", asked("first"))
        await asked_of_model(talk)
        other = await open_store(talk.bot.db)
        log = tmp_path / "data" / "log" / "mnema.log"
        await until(lambda: "StoreBusy" in log.read_text(), "the old process has tried to write")
        assert query(talk.bot.db, "SELECT id FROM message WHERE role = 'assistant'") == []
        await other.close()


async def test_an_attachment_survives_a_kill(tmp_path: Path) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer)) as talk:
        await talk.bot.start("claim.committed:kill9")
        file = {"name": "note.txt", "media_type": "text/plain", "data": "YSBub3RlIGluIGEgZmlsZQ=="}
        body = {"conversation": "talk", "text": asked("file"), "key": "k", "attachments": [file]}
        answered = await talk.web.ask("POST", "/api/messages", json=body)
        assert answered.status_code == 202
        assert await talk.bot.ended() == -9
        await talk.bot.start()
        assert (await talk.web.answer("talk", answered.json()["id"]))["text"] == "re «file»"
        assert "a note in a file" in json.dumps(talk.model.requests[-1].body)


def _results(body: dict[str, Any]) -> str:
    """All tool results of a request."""
    blocks = [
        block
        for row in body["messages"]
        if isinstance(row["content"], list)
        for block in row["content"]
    ]
    return json.dumps([block for block in blocks if block["type"] == "tool_result"])
