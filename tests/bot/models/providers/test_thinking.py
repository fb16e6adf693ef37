"""Thinking of servers that send it as text, as fields, or as a closing tag alone: it is never the
answer's.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.models.base import ModelEvent, Restarted, TextDelta, ThinkingDelta
from bot.models.providers.openai import OpenAIModel
from tests.bot.models.asking import (
    answer_of,
    asking,
    blobs,
    calls,
    hear,
    result,
    said,
    streamed,
    tool,
    words,
)
from tests.bot.wired import wired
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply, echo, is_fold, last_words
from tests.emulators.personas import DEEPSEEK, LLAMACPP, LMSTUDIO, OLLAMA, PERSONAS, VLLM, Persona

SECRET = "She is probably lonely. Do not mention it."


def shown_at_the_end(events: list[ModelEvent]) -> str:
    """What stands on the person's display."""
    text = ""
    for event in events:
        if isinstance(event, Restarted):
            text = ""
        if isinstance(event, TextDelta):
            text += event.text
    return text


@pytest.mark.parametrize("delta", [1, 3, 1_000])
@pytest.mark.parametrize("persona", PERSONAS.values(), ids=PERSONAS)
async def test_what_a_server_thinks_is_neither_in_the_answer_nor_left_on_the_display(
    openai: OpenAIModel, emulator: ModelEmulator, persona: Persona, delta: int
) -> None:
    emulator.persona = persona
    for _ in range(2):
        emulator.script([Reply(text="Hello!", thinking=SECRET, delta=delta)])
        events, answer = await hear(openai, asking("hi"))
        assert words(answer) == shown_at_the_end(events) == "Hello!"
        assert SECRET in "".join(event.text for event in events if isinstance(event, ThinkingDelta))
    assert streamed(events) == "Hello!", "it is held once it is known"


async def test_what_was_shown_before_a_closing_tag_disappears_before_the_answer_begins(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    emulator.script([Reply(text=f"{SECRET}\n</think>\n\nHello!", delta=4)])
    events, _ = await hear(openai, asking("hi"))
    withdrawn = next(index for index, event in enumerate(events) if isinstance(event, Restarted))
    assert events[withdrawn + 1] == TextDelta(text="")
    assert openai.quirks(asking("hi").model).closes_only
    assert not openai.quirks("another").closes_only, "it is a matter of one model"


async def test_an_answer_that_the_limit_cut_in_its_thinking_says_so(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    for persona in (OLLAMA, LMSTUDIO):
        emulator.persona = persona
        emulator.script([Reply(thinking=SECRET, stop="length")])
        answer = await answer_of(openai, asking("hi"))
        assert answer.only_thought
        assert answer.parts == ()
    emulator.script([Reply(text="", stop="length")])
    assert not (await answer_of(openai, asking("hi"))).only_thought


@pytest.mark.parametrize(
    "persona", [OLLAMA, LLAMACPP, VLLM, DEEPSEEK], ids=lambda persona: persona.name
)
async def test_a_server_is_told_not_to_think_in_its_own_words(
    openai: OpenAIModel, emulator: ModelEmulator, persona: Persona
) -> None:
    emulator.persona = replace(persona, thought=SECRET)
    events, answer = await hear(openai, asking("hi", may_think=False))
    assert words(answer) == streamed(events) == "echo: hi"
    assert not any(isinstance(event, ThinkingDelta) for event in events)


async def test_the_thinking_of_a_running_turn_goes_back_only_to_a_server_that_asks_for_it(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    for persona, sent_back in ((VLLM, None), (DEEPSEEK, SECRET)):
        emulator.reset()
        emulator.persona = replace(persona, thinking="reasoning_content")
        emulator.script([Reply(thinking=SECRET, calls=(Call(name="read"),)), "done", "next"])
        first = asking("read it", tools=(tool(),), conversation="c1")
        asked = await answer_of(openai, first)
        results = said("user", *(result(made.id) for made in calls(asked)))
        messages = (*first.messages, said("assistant", *asked.parts), results)
        assert words(await answer_of(openai, replace(first, messages=messages))) == "done"
        assert emulator.requests[-1].body["messages"][2].get("reasoning_content") == sent_back
        later = (*messages, said("assistant", "done"), said("user", "and now?"))
        assert words(await answer_of(openai, replace(first, messages=later))) == "next"
        assert all("reasoning_content" not in row for row in emulator.requests[-1].body["messages"])


async def test_thinking_goes_back_to_its_own_conversation_and_an_empty_one_where_it_is_lost(
    openai: OpenAIModel, emulator: ModelEmulator
) -> None:
    emulator.persona = DEEPSEEK
    emulator.script(
        [Reply(thinking=SECRET, calls=(Call(name="read", id="call_0"),)), "one", "other"]
    )
    first = asking("read it", tools=(tool(),), conversation="c1")
    asked = await answer_of(openai, first)
    later = (*first.messages, said("assistant", *asked.parts), said("user", result("call_0")))
    for conversation, thought in (("c2", ""), ("c1", SECRET)):
        await answer_of(openai, replace(first, messages=later, conversation=conversation))
        assert emulator.requests[-1].body["messages"][2]["reasoning_content"] == thought


async def test_the_host_of_a_vendor_that_asks_for_thinking_is_known(
    emulator: ModelEmulator,
) -> None:
    for host, known in (
        ("https://api.deepseek.com/v1", True),
        ("https://api.deepseek.com.example/v1", False),
    ):
        model = OpenAIModel(base_url=host, blobs=blobs)
        assert model.sends_thinking_back is known
        await model.close()


SMALL = {"model": "m", "fast_model": "m"}


# --- in a bot
# --------------------------------------------------------------------------------------------------

DRAFT = "maybe drunk, too harsh, rewrite"


def thinking_about(body: dict[str, object]) -> Reply:
    """Echo; a summariser first drafts in its thinking what it then rejects."""
    if is_fold(body):
        return Reply(
            text=echo(body).text,
            thinking=f"<log>\n- {last_words(body)[-60:]} {DRAFT}\n</log>\n{DRAFT}",
        )  # type: ignore[union-attr]
    return Reply(text=f"echo: {last_words(body)}", thinking=SECRET)


def files_below(folder: Path) -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted(folder.rglob("*.md")))


@pytest.mark.parametrize("persona", PERSONAS.values(), ids=PERSONAS)
async def test_no_person_history_or_diary_holds_what_a_model_thought(
    tmp_path: Path, persona: Persona
) -> None:
    emulator = ModelEmulator(
        responder=thinking_about, persona=replace(persona, overflow="refuse", window=200_000)
    )
    async with (
        emulator,
        wired(tmp_path, emulator, memory={"extract": True}, llm=SMALL) as it,
    ):
        for number in range(4):
            answer = await it.text(
                f"{number}: I prefer green tea in the morning. " + "It is a long story. " * 20
            )
            assert answer.startswith("echo: ")
            assert SECRET not in answer
        assert "Folded turn" in await it.text("/context fold")
        await it.bot.settled()
        folds = await it.bot.store.folds.folds(await it.conversation())
        assert [fold.method for fold in folds] == ["model"]
        stored = files_below(tmp_path / "workspace")
        sent = "".join(seen.raw.decode() for seen in emulator.requests)
        assert stored.count("green tea") >= 2, "in the diary, and as a fact"
        for canary in (SECRET, DRAFT, "</think>", "<think>", "<log>"):
            assert canary not in stored
            assert canary not in folds[0].summary
        assert SECRET not in sent
        assert DRAFT not in sent


async def test_a_bot_asks_once_more_without_thinking_and_else_says_so(tmp_path: Path) -> None:
    async with ModelEmulator(persona=OLLAMA) as emulator, wired(tmp_path, emulator) as it:
        emulator.script([Reply(thinking=SECRET, stop="length"), "Hello!"])
        assert await it.text("hi") == "Hello!"
        assert [seen.body.get("reasoning_effort") for seen in emulator.requests] == [None, "none"]
        emulator.script([Reply(thinking=SECRET, stop="length")] * 2)
        emulator.persona = replace(OLLAMA, no_thinking=None)
        answer = await it.text("hi again")
        assert "used its whole answer for thinking" in answer
        assert "(cut)" not in answer


async def test_a_model_that_sends_only_the_closing_tag_is_known_after_a_restart(
    tmp_path: Path,
) -> None:
    async with ModelEmulator(persona=replace(VLLM, window=200_000, thought=SECRET)) as emulator:
        for start in range(2):
            async with wired(tmp_path, emulator, llm=SMALL) as it:
                emulator.script(["Hello!"])
                assert await it.text("hi") == "Hello!"
                await it.bot.settled()
                shown = "".join(event.text for event in it.channel.shown if event.name == "delta")
                assert (SECRET[:20] in shown) is (start == 0)
