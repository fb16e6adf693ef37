"""What goes wrong at the model and in storage is told, and never costs a message."""

import json
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply, html, is_fold, refuse
from tests.walk.harness import Scene, scene
from tests.walk.record import ledger_faults, message_hashes
from tests.walk.speech import answer, asked

AT_ONCE = "0"
TOO_LONG = "prompt is too long: 300000 tokens > 200000 maximum"


async def send(talk: Scene, token: str) -> str:
    id = await talk.web.post("talk", asked(token))
    line = await talk.web.answer("talk", id)
    return f"{line['role']}: {line['text']}"


@by_night
async def test_a_burst_of_overload_is_waited_out(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    model.script(
        [
            refuse(529, retry_after=AT_ONCE),
            refuse(503, retry_after=AT_ONCE),
            refuse(529, retry_after=AT_ONCE),
        ]
    )
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        assert await send(talk, "patient") == "assistant: re «patient»"
        assert len(model.requests) == 4


async def test_overload_without_end_is_told_after_five_calls_and_the_message_is_kept(
    tmp_path: Path,
) -> None:
    model = ModelEmulator(responder=answer)
    model.script([refuse(529, retry_after=AT_ONCE)] * 5)
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        told = await send(talk, "lost?")
        assert told.startswith("notice: ")
        assert "overloaded" in told
        assert len(model.requests) == 5
        assert await send(talk, "next") == "assistant: re «next»"
        bodies = [json.dumps(request.body, ensure_ascii=False) for request in model.requests]
        assert any("«lost?»" in body and "«next»" in body for body in bodies)
        assert (await talk.web.lines("talk"))[0]["text"] == asked("lost?")


@pytest.mark.parametrize("words", ["half an answer ", pytest.param("", marks=by_night)])
async def test_an_error_inside_a_stream_is_tried_again_and_what_was_shown_is_void(
    words: str, tmp_path: Path
) -> None:
    model = ModelEmulator(responder=answer)
    model.script([Reply(text=words * 10 or "x", then="error", after=4 if words else 1)])
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        assert await send(talk, "broken") == "assistant: re «broken»"
        assert "half an answer" not in json.dumps(await talk.web.lines("talk"))


async def test_a_provider_that_calls_it_too_long_is_asked_again_with_less(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        for at in range(6):
            await talk.say("talk", asked(f"t{at}", "some words about nothing in particular. " * 40))
        model.script([refuse(400, message=TOO_LONG)])
        assert await send(talk, "long") == "assistant: re «long»"
        # a summary that the turn's end began may have been asked for meanwhile
        before, after = [seen for seen in model.requests if not is_fold(seen.body)][-2:]
        assert len(after.raw) < len(before.raw)
        assert await ledger_faults(talk.bot.db) == []


async def test_a_spent_budget_is_told_and_the_message_is_kept(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    model.script([refuse(429, message="limit reached", code="enforced_spend_limit_reached")])
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        told = await send(talk, "dear")
        assert "limit has been reached" in told
        assert "saved" in told
        assert len(model.requests) == 1


async def test_a_request_that_is_refused_costs_no_memory(tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        await send(talk, "before")
        model.script([refuse(400, message="messages: something is wrong")])
        assert (await send(talk, "refused")).startswith("notice: ")
        await send(talk, "after")
        later = json.dumps(model.requests[-1].body, ensure_ascii=False)
        assert [
            token for token in ("before", "refused", "after") if f"«{token}»" not in later
        ] == []


TEXTS = (
    "messages: field required",
    "tools.0: bad schema",
    "unexpected role",
    "prompt: invalid",
    "max_tokens: too large",
)
ERRORS = (
    *(refuse(400, message=text) for text in TEXTS),
    *(refuse(400, message=TOO_LONG) for _ in range(4)),
    *(refuse(status) for status in (405, 409, 410, 418, 422, 451)),
    html(413),
    html(400),
    Reply(status=200, body="<html>a login page</html>", headers={"content-type": "text/html"}),
    *(
        refuse(status, retry_after=AT_ONCE)
        for status in (500, 502, 503, 504, 529)
        for _ in range(5)
    ),
    *(refuse(429, retry_after=AT_ONCE) for _ in range(5)),
    Reply(text="no", stop="refusal"),
    Reply(text="much too lo", stop="max_tokens"),
    Reply(text="stopped oddly", stop="a_reason_from_next_year"),
    Reply(text=""),
    Reply(text="I call", calls=(Call(name="no_such_tool", input={}),)),
    Reply(text="I call", calls=(Call(name="read_file", input="{not json"),)),
    Reply(text="I call", calls=(Call(name="read_file", input={"path": "../../etc/passwd"}),)),
    refuse(404),
)
STORAGE = ("claim.in_txn@9:enospc", "finish.in_txn@11:eio", "recv.in_txn@14:enospc")


async def test_no_error_of_a_provider_or_of_storage_changes_a_stored_message(
    tmp_path: Path,
) -> None:
    model = ModelEmulator(responder=answer)
    async with scene(tmp_path, model) as talk:
        await talk.bot.start(",".join(STORAGE))
        model.script(ERRORS)
        kept: dict[str, str] = {}
        refused = 0
        for at in range(len(ERRORS)):
            answered = await talk.web.send("talk", asked(f"t{at}"), f"k{at}")
            if answered.status_code == 503:
                refused += 1
                answered = await talk.web.send("talk", asked(f"t{at}"), f"k{at}")
            await talk.web.answer("talk", answered.json()["id"])
            now = message_hashes(talk.bot.db)
            assert {id: digest for id, digest in now.items() if id in kept} == kept
            kept = now
            if len(model.requests) >= len(ERRORS):
                break
        assert len(model.requests) >= len(ERRORS)
        assert refused == 1
        assert await ledger_faults(talk.bot.db) == []
        users = [line for line in await talk.web.lines("talk") if line["role"] == "user"]
        assert len(users) == at + 1
