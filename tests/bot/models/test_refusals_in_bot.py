"""A bot on a server that refuses something: what people, the owner, /status and doctor say of
it.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.cli.doctor.report import run_checks
from bot.config.home import HomeFolder
from bot.errors import BadRequest
from channels.message import Capabilities
from channels.testing import ScriptedChannel as Channel
from tests.bot.inside import Inside, inside
from tests.bot.wired import wired
from tests.emulators.model import ModelEmulator
from tests.emulators.model_host import obliging
from tests.emulators.model_replies import is_fold, refuse
from tests.emulators.personas import (
    LLAMACPP,
    LLAMACPP_TOOLS,
    OLLAMA,
    OLLAMA_TOOLS,
    TOOL_REFUSALS,
    VLLM_TOOLS,
    Persona,
    Refusal,
)

WIDE = replace(OLLAMA, window=200_000, overflow="refuse")
SMALL = {"model": "gemma3:4b", "fast_model": "gemma3:4b"}


async def told_by(it: Inside, words: str) -> list[str]:
    for _ in range(3):
        await it.bot.model_notifications.look()
    await it.bot.outbox_dispatcher.settled()
    return [sent.text for sent in it.channel.sent if words in sent.text]


@pytest.mark.parametrize("refusal", TOOL_REFUSALS, ids=lambda refusal: refusal.source[:40])
async def test_a_model_without_tools_answers_and_costs_two_calls_once(
    tmp_path: Path, refusal: Refusal
) -> None:
    persona = replace(WIDE, without_tools=refusal)
    async with (
        ModelEmulator(persona=persona) as emulator,
        wired(tmp_path, emulator, llm=SMALL) as it,
    ):
        assert (await it.text("hi")).startswith("echo: hi")
        assert (await it.text("and now")).startswith("echo: and now")
        assert len(emulator.requests) == 3
        assert [bool(seen.refused) for seen in emulator.requests] == [True, False, False]
        factor, samples, _ = await it.bot.fitter.calibration.factor("gemma3:4b")
        assert samples == 2
        assert factor > 0.8, "the tools that were not sent are not counted"


async def test_the_owner_is_told_once_that_a_model_takes_no_tools_also_after_a_restart(
    tmp_path: Path,
) -> None:
    words = "gemma3:4b does not support tools"
    async with ModelEmulator(persona=replace(WIDE, without_tools=OLLAMA_TOOLS)) as emulator:
        for start in range(2):
            async with wired(tmp_path, emulator, llm=SMALL) as it:
                await it.text("hi")
                told = await told_by(it, "does not accept tools")
                assert len(told) == (0 if start else 1)
                assert not told or words in told[0]
                status = await it.text("/status")
                assert (
                    "; accepts no tools (registry.ollama.ai/library/gemma3:4b does not support "
                    "tools)" in status
                )
        emulator.persona = WIDE


async def test_try_now_tries_tools_again(tmp_path: Path) -> None:
    emulator = ModelEmulator(persona=replace(WIDE, without_tools=OLLAMA_TOOLS))
    async with emulator, wired(tmp_path, emulator, llm=SMALL) as it:
        await it.text("hi")
        await it.bot.models.try_now()
        assert it.bot.models.states()[0].tools_refused
        emulator.persona = WIDE
        await it.bot.models.try_now()
        assert it.bot.models.states()[0].tools_refused == ""
        await it.text("and now")
        assert "tools" in emulator.requests[-1].body
        assert "accepts no tools" not in await it.text("/status")


async def test_the_owner_reads_the_servers_words_without_keys(tmp_path: Path) -> None:
    refusal = refuse(
        400, error="api_error", message="template broke; key sk-abcdefghijklmnop1234 " + "x" * 900
    )
    async with ModelEmulator() as emulator, wired(tmp_path, emulator) as it:
        emulator.script([refusal])
        answer = await it.text("hi")
        assert len(emulator.requests) == 1, "what is refused with 400 is no outage"
        first, second = answer.split("\n")
        assert first.startswith(
            "The model did not answer: it refused the request. Your message is saved;"
        )
        assert second.startswith("The server's words: template broke; key [secret]")
        assert len(second) < 350
        assert it.bot.models.states()[0].phase == "up"
        emulator.script([refusal])
        assert "服务器的原话：template broke" in await it.text("你好")


async def test_others_and_groups_read_a_plain_sentence(tmp_path: Path) -> None:
    owner, ann, team = "7700000001", "7700000002", "-100"
    people = {"language": "en", "channels": {"telegram": {"owners": [owner], "allow": [ann, team]}}}
    channel = Channel(name="telegram", account="bot", capabilities=Capabilities(groups=True))
    words = "template broke"
    async with inside(
        tmp_path, lambda _: BadRequest(f"HTTP 400: {words}", status=400), people, channel
    ) as it:
        for sender, chat, kind, reads in (
            (owner, owner, "dm", True),
            (ann, ann, "dm", False),
            (owner, team, "group", False),
        ):
            heard = channel.hear("hi", chat=chat, sender=sender)
            if kind == "group":
                channel._undelivered.remove(heard)
                heard = replace(heard, kind="group", key="in the group")
                channel.redeliver(heard)
            notice = "".join(part.text for part in await it.answer(heard.key))
            assert "it refused the request" in notice
            assert (words in notice) is reads


async def test_folds_are_written_at_a_low_temperature_and_answers_at_the_models_own(
    tmp_path: Path,
) -> None:
    async with ModelEmulator() as emulator, wired(tmp_path, emulator, llm=SMALL) as it:
        for number in range(4):
            await it.text(f"{number}: " + "It is a long story. " * 30)
        await it.text("/context fold")
        folds = [seen.body for seen in emulator.requests if is_fold(seen.body)]
        assert [body.get("temperature") for body in folds] == [0.3]
        assert all(
            "temperature" not in seen.body for seen in emulator.requests if not is_fold(seen.body)
        )


@pytest.mark.parametrize(
    ("persona", "marks", "hint"),
    [
        (replace(LLAMACPP, window=50_000), "tools ✓, vision ✓, streaming ✓, thinking –.", ""),
        (replace(LLAMACPP, thought="hm"), "tools ✓, vision ✓, streaming ✓, thinking ✓.", ""),
        (replace(LLAMACPP, name="unstreamed"), "tools ✓, vision ✓, streaming –, thinking –.", ""),
        (
            replace(LLAMACPP, thought="hm", thinking="tags"),
            "tools ✓, vision ✓, streaming ✓, thinking ✓ <think>.",
            "",
        ),
        (
            replace(LLAMACPP, without_tools=LLAMACPP_TOOLS),
            "tools –, vision ✓, streaming ✓, thinking –.",
            "--jinja",
        ),
        (
            replace(LLAMACPP, without_tools=VLLM_TOOLS),
            "tools –, vision ✓, streaming ✓, thinking –.",
            "--enable-auto-tool-choice",
        ),
    ],
)
async def test_doctor_says_what_a_model_takes(
    tmp_path: Path, persona: Persona, marks: str, hint: str
) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    async with ModelEmulator(persona=persona, responder=obliging) as emulator:
        if persona.name == "unstreamed":
            emulator.responder = lambda body: replace(
                obliging(body), forms=frozenset({"unstreamed"})
            )
        llm = {"provider": "openai", "api_key": "k", "base_url": f"{emulator.url}/v1", **SMALL}
        home.config.write_text(json.dumps({"llm": llm}))
        home.config.chmod(0o600)
        check = next(check for check in await run_checks(home) if check.name == "model")
        assert check.ok
        assert check.message == f"openai gemma3:4b answers: {marks}"
        assert hint in check.hint
        assert bool(check.hint) is bool(hint)
        chinese = next(
            check for check in await run_checks(home, "zh") if check.name in ("model", "模型")
        )
        assert "有回应：工具 " in chinese.message
        assert "服务器不接受工具" in chinese.hint or not hint
        emulator.reset()
        emulator.script([refuse(400, message="the chat template is broken")])
        emulator.persona = None
        failed = next(check for check in await run_checks(home) if check.name == "model")
        assert not failed.ok
        assert "the chat template is broken" in failed.message


async def test_doctor_says_that_a_key_is_refused(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    async with ModelEmulator(keys={"right"}) as emulator:
        url = f"{emulator.url}/v1"
        llm = {"provider": "openai", "api_key": "wrong", "base_url": url, **SMALL}
        home.config.write_text(json.dumps({"llm": llm}))
        home.config.chmod(0o600)
        messages = [
            next(check for check in await run_checks(home, lang) if check.name == "model").message
            for lang in ("en", "zh")
        ]
    assert messages[0].startswith(
        f"openai gemma3:4b at {url}: The server refuses this key (HTTP 401)."
    )
    assert messages[1].startswith(
        f"openai gemma3:4b，地址 {url}：服务器不接受这个密钥（HTTP 401）。"
    )


async def test_tools_that_are_refused_take_no_room(tmp_path: Path) -> None:
    persona = replace(WIDE, without_tools=OLLAMA_TOOLS)
    async with (
        ModelEmulator(persona=persona) as emulator,
        wired(tmp_path, emulator, llm=SMALL) as it,
    ):
        await it.text("hi")
        facts = await it.bot.report.facts(await it.conversation())
        assert facts["parts"]["tools"] == 0
        emulator.persona = WIDE
        await it.bot.models.try_now()
        facts = await it.bot.report.facts(await it.conversation())
        assert facts["parts"]["tools"] > 0
