"""What the owner reads of models and of the work beside replies: in /status, on the page, in
doctor.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli.doctor.report import run_checks
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.errors import ModelError
from bot.memory.outcome_texts import describe_outcomes
from bot.models.base import Request
from bot.models.providers.openai import MAX_THOUGHTS
from memory.conversation import ShownMessage, Text, ToolCall, ToolResult
from memory.ids import new_id
from memory.store.engine.database import Tx, insert_into
from memory.store.longterm.outcomes import NEWEST_EXTRACTIONS, NEWEST_FOLDS, BackgroundOutcomes
from memory.store.schema.memory_tables import extraction
from tests.bot.models.test_windows import PLAIN, service
from tests.bot.wired import wired
from tests.browser.real import QUIET, real_bot
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply, is_extract, is_fold, refuse
from tests.emulators.personas import DEEPSEEK
from tests.emulators.windows import QWEN, HomeServer

WORDS = "I am called Ann and I live in Porto with two cats. " * 12


class Moody(HomeServer):
    """A server whose model refuses to summarise, and writes facts in words of its own."""

    def _next(self, body: dict[str, Any]) -> Reply:
        if is_fold(body):
            return refuse(400, message="template broke; key sk-abcdefghijklmnop1234")
        return Reply(text="Ann, two cats" if is_extract(body) else "ok")


async def test_the_owner_reads_how_many_summaries_and_facts_failed_and_why(tmp_path: Path) -> None:
    server = Moody("llamacpp", 32_768)
    async with (
        server,
        wired(tmp_path, server, llm=PLAIN, memory={"extract": True}, language="en") as it,
    ):
        for number in range(4):
            await it.text(f"{number}: {WORDS}")
            await it.bot.settled()
        await it.text("/context fold")
        await it.bot.settled()
        status = await it.text("/status")
        outcomes = await it.bot.store.outcomes.newest()
    assert dict(outcomes.digests) == {"unanswered": 1}
    assert (outcomes.extractions, dict(outcomes.failed)) == (4, {"the answer holds no JSON": 4})
    assert "1 of the last 1 summaries are extracts (the model did not answer 1)" in status
    assert (
        "storing facts failed in 4 of the last 4 turns (the model's answer did not have "
        "the form that was asked for 4)" in status
    )
    assert (
        f"openai {QWEN}: 32,768 tokens, as the server says; no thinking; it answers 4 requests at "
        "once" in status
    )
    [error] = [line for line in status.splitlines() if line.startswith(f"openai {QWEN} failed ")]
    assert error.endswith("template broke; key [secret]")
    checks = {check.name: check for check in await run_checks(HomeFolder(root=tmp_path))}
    assert not checks["summaries and facts"].ok
    assert "1 of the last 1 summaries are extracts" in checks["summaries and facts"].message


async def test_where_all_goes_well_doctor_is_content(tmp_path: Path) -> None:
    async with (
        HomeServer("vllm", 32_768) as server,
        wired(tmp_path, server, llm=PLAIN, language="en") as it,
    ):
        for number in range(4):
            await it.text(f"{number}: {WORDS}")
        await it.text("/context fold")
        await it.bot.settled()
        status = await it.text("/status")
    assert "0 of the last 1 summaries are extracts" in status
    assert "failed" not in status
    checks = {check.name: check for check in await run_checks(HomeFolder(root=tmp_path))}
    assert checks["summaries and facts"].ok


@pytest.mark.parametrize(
    ("language", "words"),
    [("zh-CN", "最近 1 轮里有 1 轮没能记下事实"), ("en", "of the last 1 turns")],
)
async def test_the_page_has_the_figures_and_sentences_in_its_language(
    tmp_path: Path, language: str, words: str
) -> None:
    async def add(tx: Tx) -> None:
        row = {"turn_id": "t1", "state": "failed", "reason": "Overflow", "at": 1.0}
        await tx.execute(insert_into(extraction), **_extraction(**row))

    async with (
        real_bot(tmp_path, lambda asked: "yes", settings=QUIET) as real,
        real.site.client() as client,
    ):
        await real.bot.store.database.write(add)
        found = (
            await client.get("/api/v1/health/background", headers={"accept-language": language})
        ).json()
    assert found["extractions"] == 1
    assert found["failed"] == {"Overflow": 1}
    assert (found["folds"], found["digests"]) == (0, {})
    [model] = found["models"]
    assert set(model) == {
        *("name", "window", "window_source", "tools", "thinking", "slots", "error", "error_seconds")
    }
    assert any(words in line for line in found["lines"])


def _extraction(**row: Any) -> dict[str, Any]:
    return {"space": "", "conversation": "c", "turn": 1, "attempts": 1, "found": "", **row}


async def test_only_the_newest_turns_count(tmp_path: Path) -> None:
    async def add(tx: Tx) -> None:
        for number in range(NEWEST_EXTRACTIONS + 1):
            state = "done" if number else "failed"
            row = _extraction(
                turn_id=new_id(tx.now - 60 + number),
                state=state,
                reason="" if number else "Overflow",
                at=tx.now,
            )
            await tx.execute(insert_into(extraction), **row)

    async with ModelEmulator() as emulator, wired(tmp_path, emulator) as it:
        await it.bot.store.database.write(add)
        outcomes = await it.bot.store.outcomes.newest()
    assert (outcomes.extractions, dict(outcomes.failed)) == (NEWEST_EXTRACTIONS, {})


def test_an_unknown_reason_is_shown_as_it_is() -> None:
    outcomes = BackgroundOutcomes(
        folds=NEWEST_FOLDS, digests={"waited": 2}, extractions=3, failed={"Odd": 1}
    )
    assert describe_outcomes(outcomes)[1].text("zh") == "最近 3 轮里有 1 轮没能记下事实（Odd 1）"
    assert "(a message was waiting; the model's summary follows later 2)" in str(
        describe_outcomes(outcomes)[0]
    )
    assert describe_outcomes(BackgroundOutcomes()) == []


@pytest.mark.parametrize(
    ("kind", "parallel", "llm", "first"),
    [
        ("llamacpp", 1, {}, True),
        ("llamacpp", 4, {}, False),
        ("llamacpp", 1, {"background": "parallel"}, False),
        ("llamacpp", 4, {"background": "idle"}, True),
        ("llamacpp", 1, {"background": "off"}, False),
        ("ollama", 1, {}, False),  # its address says nothing of its slots
        ("lmstudio", 1, {}, False),
    ],
)
async def test_replies_come_first_where_the_server_says_that_it_has_one_slot(
    kind: str, parallel: int, llm: dict[str, Any], first: bool
) -> None:
    async with HomeServer(kind, 8_192, parallel=parallel) as server:
        models = service(server, **llm)
        await models.windows.ask(models.served_model(QWEN))
        assert models.replies_come_first() is first
        await models.close()


async def test_an_error_is_forgotten_with_the_chain_that_made_it() -> None:
    async with HomeServer("vllm", 8_192) as server:
        server.script([refuse(400, message="template broke")])
        models = service(server)
        settings = {"provider": "openai", "base_url": server.base_url, **PLAIN}
        with pytest.raises(ModelError):
            await models.complete("", "hello", 100)
        assert models.facts()[0].error is not None
        models.configure(
            Config.model_validate({"llm": {**settings, "model": "a", "fast_model": "a"}})
        )
        models.configure(Config.model_validate({"llm": settings}))
        assert models.facts()[0].error is None
        await models.close()


async def test_the_slots_of_a_server_are_known_after_a_restart(tmp_path: Path) -> None:
    async with HomeServer("llamacpp", 8_192, parallel=1) as server:
        async with wired(tmp_path, server, llm=PLAIN) as it:
            await it.text("hello")
            await it.bot.models.windows.settled()
        async with wired(tmp_path, server, llm=PLAIN) as it:
            assert it.bot.models.replies_come_first()


def calling(conversation: str, *, running: bool) -> Request:
    """A request of a turn: its first one, or the one after its call."""
    messages = [ShownMessage(role="user", parts=(Text(text=conversation),))]
    if running:
        call = ToolCall(id=f"call {conversation}", name="now", input="{}")
        messages += [
            ShownMessage(role="assistant", parts=(call,)),
            ShownMessage(role="user", parts=(ToolResult(call_id=call.id, text="noon"),)),
        ]
    return Request(
        model=QWEN, system=(), messages=tuple(messages), max_tokens=64, conversation=conversation
    )


async def test_the_oldest_thoughts_go_when_there_is_one_too_many() -> None:
    def think(body: dict[str, Any]) -> Reply:
        if len(body["messages"]) > 1:
            return Reply(text="done")
        name = body["messages"][0]["content"]
        return Reply(
            thinking=f"thought {name}", calls=(Call(name="now", input={}, id=f"call {name}"),)
        )

    emulator = HomeServer("deepseek", 100_000, responder=think, persona=DEEPSEEK)
    async with emulator:
        models = service(emulator)
        for number in range(MAX_THOUGHTS + 1):
            async for _ in models.model.stream(calling(f"c{number}", running=False)):
                pass
        thoughts = []
        for number in (1, MAX_THOUGHTS, 0):
            async for _ in models.model.stream(calling(f"c{number}", running=True)):
                pass
            thoughts.append(json.dumps(emulator.requests[-1].body["messages"]))
        await models.close()
    assert '"thought c1"' in thoughts[0]
    assert f'"thought c{MAX_THOUGHTS}"' in thoughts[1]
    assert "thought" not in thoughts[2]
