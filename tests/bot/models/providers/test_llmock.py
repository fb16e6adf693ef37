"""The Messages API wire against a server of somebody else's making, which also judges how we bear
its faults.
"""

from collections.abc import AsyncIterator

import pytest
from llmock.pytest_plugin import LLMock
from llmock.scenarios import Match, Reply

from bot.errors import BadRequest, KeyRefused, Overflow, RateLimited, Stalled, Transient
from bot.models.providers.anthropic import AnthropicModel
from bot.models.providers.transport import Timeouts
from bot.models.retry import RetryingModel, RetrySettings
from tests.bot.models.asking import (
    answer_of,
    asking,
    blobs,
    call,
    calls,
    hear,
    result,
    said,
    streamed,
    tool,
    words,
)


def model_of(llmock: LLMock, *, gap: float = 30) -> AnthropicModel:
    limits = Timeouts(first=30, gap=gap, step=60)
    return AnthropicModel(
        api_key="sk-x", base_url=llmock.base_url("anthropic"), blobs=blobs, limits=limits
    )


@pytest.fixture
async def model(llmock: LLMock) -> AsyncIterator[AnthropicModel]:
    wire = model_of(llmock)
    yield wire
    await wire.close()


async def test_words_stream(model: AnthropicModel, llmock: LLMock) -> None:
    llmock.reply("你好, dear world")
    events, answer = await hear(model, asking("hi"))
    assert streamed(events) == words(answer) == "你好, dear world"
    assert answer.stop == "end"
    assert answer.usage.input > 0


async def test_a_call_is_heard_and_its_result_taken(model: AnthropicModel, llmock: LLMock) -> None:
    llmock.call_tool("read", {"path": "a.md"})
    answer = await answer_of(model, asking("read it", tools=(tool(),)))
    assert answer.stop == "tools"
    assert [(made.name, made.input.replace(" ", "")) for made in calls(answer)] == [
        ("read", '{"path":"a.md"}')
    ]
    llmock.reply("it says hello")
    results = said("user", *(result(made.id) for made in calls(answer)))
    after = asking("read it", said("assistant", *answer.parts), results, tools=(tool(),))
    assert words(await answer_of(model, after)) == "it says hello"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, BadRequest),
        (401, KeyRefused),
        (429, RateLimited),
        (500, Transient),
        (503, Transient),
        (529, Transient),
    ],
)
async def test_refusals_are_named(
    model: AnthropicModel, llmock: LLMock, status: int, error: type[Exception]
) -> None:
    llmock.fail(status, message="told to fail")
    with pytest.raises(error):
        await answer_of(model, asking("hi"))


async def test_too_long_is_too_long(model: AnthropicModel, llmock: LLMock) -> None:
    llmock.limits(context_window=500)
    with pytest.raises(Overflow):
        await answer_of(model, asking("many words " * 2000))


@pytest.mark.parametrize("fault", ["truncate", "disconnect", "corrupt"])
async def test_a_broken_stream_is_no_answer(
    model: AnthropicModel, llmock: LLMock, fault: str
) -> None:
    llmock.reply("a long answer of many words " * 5)
    getattr(llmock, fault)(after_chunks=3)
    with pytest.raises(Transient):
        await answer_of(model, asking("hi"))


async def test_a_stall_is_noticed(llmock: LLMock) -> None:
    llmock.stall(after_chunks=2, seconds=2)
    impatient = model_of(llmock, gap=0.3)
    with pytest.raises(Stalled):
        await answer_of(impatient, asking("hi"))
    await impatient.close()


async def test_the_judge_finds_no_fault_with_the_way_we_repeat(
    model: AnthropicModel, llmock: LLMock
) -> None:
    llmock.rate_limit(times=1, retry_after=0.1)
    llmock.fail(529, times=1, retry_after=0.1)
    llmock.truncate(after_chunks=2, times=1)
    llmock.add(Reply(text="at last", times=None, match=Match(provider="anthropic")))
    patient = RetryingModel(model, settings=RetrySettings(first_pause=0.1))
    history = (said("assistant", call("c1")), said("user", result("c1")))
    assert words(await answer_of(patient, asking("hi", *history, tools=(tool(),)))) == "at last"
    assert len(llmock.requests) == 4
    llmock.assert_resilient()
