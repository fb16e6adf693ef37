"""The window of a model: where it is learnt, what it changes, and that small ones work."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.cli.doctor.report import run_checks
from bot.cli.main import main
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.errors import Overflow, Stalled
from bot.models.base import Answer, ModelEvent, Request, TextDelta, TokensUsed
from bot.models.providers.failures import read_failure, to_error
from bot.models.providers.offline import OfflinePassage
from bot.models.service import ModelService
from bot.models.windows import MAX_COUNTS, ModelWindow, ModelWindows, ServedModel, answer_reserve
from memory.conversation import Text
from tests.bot.inside import Inside
from tests.bot.models.virtual_time import run_in_virtual_time
from tests.bot.wired import wired
from tests.by_night import first_by_day
from tests.cases import every_case
from tests.emulators.model import RESPONDERS, Exchange, Seen
from tests.emulators.model_replies import Reply, echo, is_fold, refuse
from tests.emulators.model_rules import seen_by_model
from tests.emulators.windows import QWEN, REFUSALS, HomeServer, Refusal

PLAIN: dict[str, Any] = {"model": QWEN, "fast_model": QWEN, "max_output_tokens": 4_096}
WORDS = "the crane at the old harbour moved forty boxes of tea again today and nobody counted them "


def echo_at_once(body: dict[str, Any]) -> Reply:
    """The usual answer, not in pieces of twelve characters."""
    said = echo(body)
    return said if isinstance(said, Reply) else Reply(text=said, delta=4_096)


def turns_of(server: HomeServer) -> list[Seen]:
    """The requests of people's turns."""
    return [seen for seen in server.requests if seen.body.get("tools")]


async def talk(it: Inside, turns: int, size: int = 5) -> list[str]:
    answers = []
    for number in range(turns):
        answers.append(await it.text(f"{number}: {WORDS * size}"))
        await it.bot.settled()
    return answers


def served(**fields: Any) -> ServedModel:
    known: dict[str, Any] = {
        "provider": "openai",
        "base_url": "http://127.0.0.1:1/v1",
        "model": QWEN,
    }
    return ServedModel(**{**known, **fields})


@every_case(("name", "refusal"), [(name, refusal) for name, refusal in REFUSALS.items()])
def test_the_numbers_of_every_refusal_are_read(name: str, refusal: Refusal) -> None:
    numbers = {"prompt": 3_620, "answer": 1_024, "window": 4_096, "left": 3_072, "whole": 4_644}
    error: dict[str, Any] = {
        "message": refusal.text.format(**numbers),
        "type": refusal.type,
        "code": refusal.status,
    }
    if refusal.has_fields:
        error |= {"n_prompt_tokens": 3_620, "n_ctx": 4_096}
    for status in (refusal.status, 200, 500) if refusal.has_fields else (refusal.status,):
        found = to_error(read_failure(status, json.dumps({"error": error})))
        assert isinstance(found, Overflow), name
        assert (found.actual, found.limit) == (3_620, 4_096), name


@every_case(
    ("base_url", "model", "configured", "window"),
    [
        ("http://127.0.0.1:11434/v1", QWEN, 0, ModelWindow(tokens=8_192, source="default")),
        ("http://nas.local:8080/v1", QWEN, 0, ModelWindow(tokens=8_192, source="default")),
        ("https://models.example/v1", QWEN, 0, ModelWindow(tokens=128_000, source="default")),
        ("http://127.0.0.1:11434/v1", "gpt-6-luna", 0, ModelWindow(tokens=272_000, source="table")),
        ("http://127.0.0.1:11434/v1", QWEN, 16_384, ModelWindow(tokens=16_384, source="config")),
    ],
)
def test_a_window_that_nobody_named(
    base_url: str, model: str, configured: int, window: ModelWindow
) -> None:
    assert (
        ModelWindows().find(served(base_url=base_url, model=model, configured=configured)) == window
    )


@every_case(
    ("window", "most", "reserve"),
    [(200_000, 4_096, 4_096), (8_192, 4_096, 2_048), (8_192, 300, 300), (1_500, 4_096, 512)],
)
def test_the_answer_gives_way_in_a_small_window(window: int, most: int, reserve: int) -> None:
    assert answer_reserve(window, most) == reserve


@pytest.mark.parametrize("window", first_by_day(1, [4_096, 8_192]))
async def test_a_small_window_works_with_all_other_settings_as_they_are(
    tmp_path: Path, window: int
) -> None:
    llm = {**PLAIN, "context_window": window}
    server = HomeServer("vllm", window, responder=RESPONDERS["ok"])
    async with server, wired(tmp_path, server, llm=llm) as it:
        assert set(await talk(it, 14)) == {"ok"}
        assert not [seen for seen in turns_of(server)[2:] if seen.refused]
        report = await it.text("/context")
        assert f"model window {window:,} tokens, from llm.context_window" in report


@pytest.mark.parametrize("kind", first_by_day(1, ["llamacpp", "vllm", "lmstudio"]))
async def test_a_window_that_a_refusal_named_holds_at_once_and_after_a_restart(
    tmp_path: Path, kind: str
) -> None:
    async with HomeServer(kind, 5_000, speaks=False, responder=echo_at_once) as server:
        async with wired(tmp_path, server, llm=PLAIN) as it:
            assert (await it.text(WORDS * 260)).startswith("echo: the crane")
            assert [bool(seen.refused) for seen in turns_of(server)] == [True, False]
            assert it.bot.models.window(QWEN) == ModelWindow(tokens=5_000, source="refusal")
            await talk(it, 6)
        before = len(server.requests)
        async with wired(tmp_path, server, llm=PLAIN) as it:
            assert it.bot.models.window(QWEN) == ModelWindow(tokens=5_000, source="refusal")
            await it.text(WORDS * 260)
            assert not [seen for seen in server.requests[before:] if seen.refused]
        async with wired(tmp_path, server, llm={**PLAIN, "context_window": 7_000}) as it:
            assert it.bot.models.window(QWEN) == ModelWindow(tokens=7_000, source="config")
            await it.bot.models.windows.settled()
        async with wired(tmp_path, server, llm=PLAIN) as it:
            assert it.bot.models.window(QWEN).source == "default", (
                "a changed configuration forgets what was learnt"
            )


@pytest.mark.parametrize("kind", ["vllm", "llamacpp", "lmstudio", "ollama"])
async def test_the_server_says_its_window_in_its_own_way(tmp_path: Path, kind: str) -> None:
    async with HomeServer(kind, 5_120) as server:
        async with wired(tmp_path, server, llm=PLAIN) as it:
            await it.text("hello")
            await it.bot.models.windows.settled()
            assert it.bot.models.window(QWEN) == ModelWindow(tokens=5_120, source="server")
            asked = len(server.asked)
            await talk(it, 3)
            assert len(server.asked) == asked, "it is asked once"
            assert "model window 5,120 tokens, as the server says" in await it.text("/context")
        async with wired(tmp_path, server, llm=PLAIN) as it:
            assert it.bot.models.window(QWEN) == ModelWindow(tokens=5_120, source="server")


class Secretive(HomeServer):
    """A server that never answers a question about itself. events: "asked", "left" for questions,
    "chat" for calls.
    """

    def __init__(self) -> None:
        super().__init__("vllm", 8_192)
        self.events: list[str] = []

    async def _answer(self, path: str, headers: dict[str, str], raw: bytes, out: Exchange) -> None:
        if path.endswith("/chat/completions"):
            self.events.append("chat")
            await super()._answer(path, headers, raw, out)
        else:
            self.events.append("asked")
            await out.left()
            self.events.append("left")


async def find_nothing(question: str, conversation: str, space: str) -> list[OfflinePassage]:
    return []


def service(server: HomeServer, **llm: Any) -> ModelService:
    """The models of a configuration, without a bot."""
    models = ModelService(lambda sha256: b"", find_nothing, lambda name, error: None)
    models.configure(
        Config.model_validate(
            {"llm": {"provider": "openai", "base_url": server.base_url, **PLAIN, **llm}}
        )
    )
    return models


async def test_no_message_waits_for_what_a_server_says_of_itself() -> None:
    async with Secretive() as server:
        models = service(server)
        await models.complete("", "hello", 100)  # imports and connects
        await models.windows.settled()
        server.events.clear()
        models.windows.note_failure(models.served_model(QWEN))
        await models.complete("", "hello", 100)
        assert "chat" in server.events
        assert "left" not in server.events, "the answer is there, the question still open"
        await models.windows.settled()
        assert "asked" in server.events
        assert models.window(QWEN).source == "default"
        await models.close()


async def test_a_server_that_cuts_silently_is_found_out_and_the_owner_is_told_once(
    tmp_path: Path,
) -> None:
    llm = {**PLAIN, "context_window": 32_768}
    async with (
        HomeServer("ollama", 4_096, speaks=False, responder=echo_at_once) as server,
        wired(tmp_path, server, llm=llm, language="en") as it,
    ):
        await talk(it, 16)
        assert it.bot.models.window(QWEN) == ModelWindow(tokens=3_996, source="cut")
        told = [part.text for part in it.channel.sent if "silently drops" in part.text]
        assert len(told) == 1
        assert "3,996" in told[0]
        sizes = [server.counts(seen_by_model(seen.body)) for seen in turns_of(server)]
        assert max(sizes) > 4_096 > max(sizes[-4:]), "it was cut, and later requests are not"
        report = await it.text("/context")
        assert "the server silently cut anything longer" in report
        share = re.search(r"([\d,]+) / ([\d,]+) tokens", report)
        assert share is not None
        assert int(share[2].replace(",", "")) < 3_996, "it is measured by what the server reads"
        assert (await it.bot.report.facts(await it.conversation()))["folds"]


async def test_folds_and_extraction_fit_the_window_of_the_model_that_writes_them(
    tmp_path: Path,
) -> None:
    settings: Any = {"memory": {"extract": True}}
    async with (
        HomeServer("vllm", 8_192, responder=echo_at_once) as server,
        wired(tmp_path, server, llm=PLAIN, **settings) as it,
    ):
        await talk(it, 18, size=16)
        background = [seen for seen in server.requests if not seen.body.get("tools")]
        assert any(is_fold(seen.body) for seen in background)
        assert not [seen.refused for seen in background if seen.refused]
        assert all(seen.body["max_tokens"] <= 2_048 for seen in background)
        folds = (await it.bot.report.facts(await it.conversation()))["folds"]
        # A fold for which a turn waits is finished at once with quotes, as on a busy machine.
        assert "model" in {fold["method"] for fold in folds}


async def test_a_long_range_is_summarised_in_parts_that_fit_a_small_model(tmp_path: Path) -> None:
    async with HomeServer("vllm", 65_536, responder=echo_at_once) as server:
        server.others = {"small": 4_096}
        async with wired(tmp_path, server, llm={**PLAIN, "fast_model": "small"}) as it:
            await talk(it, 16, size=25)
            await it.bot.models.windows.settled()
            assert it.bot.models.window("small") == ModelWindow(tokens=4_096, source="server")
            await it.text("/context fold")
            await it.bot.settled()
            folds = [seen for seen in server.requests if is_fold(seen.body)]
            assert len(folds) > 2
            assert not [seen.refused for seen in folds if seen.refused]


async def test_a_refusal_of_the_answers_length_is_followed_by_one_more_call_with_its_numbers() -> (
    None
):
    async with HomeServer("vllm", 2_048, speaks=False) as server:
        models = service(server)
        text, _ = await models.complete("", "hello", 8_192)
        assert text.startswith("echo: hello")
        assert [(bool(seen.refused), seen.body["max_tokens"]) for seen in server.requests] == [
            (True, 2_048),
            (False, 512),
        ]
        await models.close()


async def test_a_prompt_that_is_too_long_is_not_sent_again_and_later_ones_are_shorter() -> None:
    async with HomeServer("vllm", 2_048, speaks=False) as server:
        models = service(server, context_window=2_048)
        before = models.background_prompt_tokens()
        with pytest.raises(Overflow):
            await models.complete("", WORDS * 100, 8_192)
        assert len(server.requests) == 1
        assert models.background_prompt_tokens() < before
        await models.close()


def test_a_model_that_writes_slowly_is_waited_for_and_one_that_falls_silent_is_not() -> None:
    """By a clock that runs only while nothing else can."""

    class Slow:
        name = "slow"

        def __init__(self, pauses: Sequence[float]) -> None:
            self.pauses = pauses

        async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
            for pause in self.pauses:
                await asyncio.sleep(pause)
                yield TextDelta(text="word ")
            yield Answer(parts=(Text(text="done"),), stop="end", usage=TokensUsed(), model="slow")

        async def close(self) -> None:
            pass

    async def play() -> None:
        models = ModelService(lambda sha256: b"", find_nothing, lambda name, error: None)
        models.use(Slow([45.0] * 12))
        assert (await models.complete("", "tell", 100))[0] == "done", (
            "nine minutes, never a minute of silence"
        )
        models.use(Slow([1.0, 75.0]))
        began = asyncio.get_running_loop().time()
        with pytest.raises(Stalled):
            await models.complete("", "tell", 100)
        assert asyncio.get_running_loop().time() - began == pytest.approx(61.0, abs=1.0)

    run_in_virtual_time(play())


TOO_SMALL = {
    "en": re.compile(
        "This model's window is 1,500 tokens; 512 are reserved for the answer and the "
        "fixed prompt takes \\d,\\d{3} \\(tools \\d+\\)\\. Set llm\\.context_window to at "
        "least \\d,\\d{3}"
    ),
    "zh": re.compile(
        "这个模型的窗口是 1,500 个 token；其中 512 留给回答，固定部分占 "
        "\\d,\\d{3}（其中工具 \\d+）。请让服务器至少读 \\d,\\d{3}"
    ),
}


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_everything_says_the_same_of_a_window_that_is_too_small(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str
) -> None:
    async with HomeServer("vllm", 1_500, speaks=False) as server:
        llm = {**PLAIN, "context_window": 1_500}
        async with wired(tmp_path, server, llm=llm, language=lang) as it:
            said = await it.text("hello")
            assert TOO_SMALL[lang].match(said), said
            report = await it.text("/context")
            assert TOO_SMALL[lang].search(report), report
            assert "SOUL.md" in report
            least = int(re.findall(r"\d,\d{3}", said)[-1].replace(",", ""))
        check = next(
            each
            for each in await run_checks(HomeFolder(root=tmp_path), lang)
            if each.name == "model window"
        )
        assert not check.ok
        assert TOO_SMALL[lang].match(check.message), check.message
        assert await asyncio.to_thread(main, ["--home", str(tmp_path), "config", "check"]) == 3
        assert TOO_SMALL[lang].search(capsys.readouterr().err)
        server.window = least
        async with wired(
            tmp_path, server, llm={**PLAIN, "context_window": least}, language=lang
        ) as it:
            assert (await it.text("hello")).startswith("echo: hello"), (
                "the window that was named is enough"
            )


async def test_a_limit_that_leaves_no_room_is_not_saved(tmp_path: Path) -> None:
    async with (
        HomeServer("vllm", 32_768) as server,
        wired(tmp_path, server, llm=PLAIN, language="en") as it,
    ):
        (tmp_path / "workspace" / "SOUL.md").write_text("You like tea of all kinds. " * 600)
        said = await it.text("/config agent_max_context_tokens 4000")
        found = re.match(
            (
                r"Not changed\. The context .* must be at least (\d,\d{3}); it is 4,000, of which "
                r"the fixed"
            ),
            said,
        )
        assert found, said
        assert it.bot.config().agent_max_context_tokens == 50_000
        least = found[1].replace(",", "")
        assert "saved" in await it.text(f"/config agent_max_context_tokens {least}")
        assert (await it.text("hello")).startswith("echo: hello")


async def test_doctor_says_the_window_and_where_it_is_known_from(tmp_path: Path) -> None:
    async with HomeServer("llamacpp", 5_120) as server:
        async with wired(tmp_path, server, llm=PLAIN):
            pass
        check = next(
            each
            for each in await run_checks(HomeFolder(root=tmp_path))
            if each.name == "model window"
        )
        known = f"{QWEN}: 5,120 tokens, as the server says; it answers 4 requests at once."
        assert (check.ok, check.message) == (True, known)


async def test_a_turn_that_got_no_answer_is_no_answer_in_a_summary(tmp_path: Path) -> None:
    async with HomeServer("vllm", 32_768) as server, wired(tmp_path, server, llm=PLAIN) as it:
        await it.text("first")
        server.script([refuse(400, message="no")])
        await it.text("second")
        await talk(it, 4)
        await it.text("/context fold")
        await it.bot.settled()
        (fold,) = [seen for seen in server.requests if is_fold(seen.body)]
        prompt = fold.body["messages"][-1]["content"]
        assert "User: second" in prompt
        assert "[no answer]" not in prompt


async def test_an_answer_that_a_small_window_leaves_no_room_to_continue_is_sent_as_far_as_it_got(
    tmp_path: Path,
) -> None:
    llm = {**PLAIN, "context_window": 4_096}

    def at_length(body: dict[str, Any]) -> Reply:
        return Reply(text="word " * 700, stop="length", delta=500)

    async with (
        HomeServer("vllm", 4_096, responder=at_length) as server,
        wired(tmp_path, server, llm=llm) as it,
    ):
        said = await it.text("tell me everything, " + WORDS * 4)
        assert said.startswith("word word"), said[:200]
        assert len(turns_of(server)) <= 5


async def test_a_server_that_cuts_whole_messages_is_found_out_though_its_count_wavers() -> None:
    windows, model = ModelWindows(), served()
    grows = [(number * 140, number * 140) for number in range(20, 29)]
    cut = [(3_950, 3_890), (4_090, 3_930), (4_230, 3_925)]
    assert not [at for at in (*grows, *cut) if windows.note_usage(model, "c", *at)]
    assert windows.note_usage(model, "c", 4_370, 3_960)
    assert windows.find(model).tokens == 3_960


async def test_with_ten_thousand_and_one_conversations_only_the_oldest_counts_are_dropped() -> None:
    windows, model = ModelWindows(), served()
    names = [f"c{number}" for number in range(MAX_COUNTS + 1)]
    for name in names:
        assert not windows.note_usage(model, name, 2_000, 2_000)
    assert not windows.note_usage(model, names[0], 4_000, 2_000), (
        "it is compared with nothing any more"
    )
    assert windows.note_usage(model, names[2], 4_000, 2_000)
    assert windows.note_usage(model, names[-1], 4_000, 2_000)
