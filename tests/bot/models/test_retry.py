"""When one model is asked again, how often, and after how long."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import (
    BadImage,
    BadRequest,
    KeyRefused,
    ModelError,
    NoSuchModel,
    Overflow,
    QuotaSpent,
    RateLimited,
    Stalled,
    TooLarge,
    Transient,
)
from bot.models.base import RetryWait, TextDelta
from bot.models.providers.anthropic import AnthropicModel
from bot.models.providers.offline import ScriptedAnswer, ScriptedModel
from bot.models.providers.transport import TimedStream, Timeouts
from bot.models.retry import RetryingModel, RetrySettings
from memory.conversation import Text
from tests.bot.models.asking import answer_of, asking, hear, said, tool, words
from tests.cases import every_case
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply, refuse

BUSY = Transient("busy", status=529)


class Clock:
    """Time that passes only in sleep."""

    def __init__(self) -> None:
        self.now, self.slept = 0.0, list[float]()

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def patient(
    lines: Sequence[ScriptedAnswer], clock: Clock | None = None, chance: float = 1.0
) -> tuple[RetryingModel, ScriptedModel, Clock]:
    script, clock = ScriptedModel(lines), clock or Clock()
    return (
        RetryingModel(script, clock=clock, sleep=clock.sleep, chance=lambda: chance),
        script,
        clock,
    )


async def test_pauses_double_up_to_a_minute_and_five_calls_are_the_most() -> None:
    model, script, clock = patient([BUSY] * 9)
    with pytest.raises(Transient):
        await answer_of(model, asking("hi"))
    assert len(script.requests) == 5
    assert clock.slept == [1, 2, 4, 8]


async def test_an_answer_after_failures_is_the_answer() -> None:
    model, _, clock = patient([BUSY, BUSY, "hello"], chance=0.25)
    assert words(await answer_of(model, asking("hi"))) == "hello"
    assert clock.slept == [0.25, 0.5]


async def test_silence_is_tried_only_twice_more() -> None:
    model, script, _ = patient([Stalled("gap")] * 9)
    with pytest.raises(Stalled):
        await answer_of(model, asking("hi"))
    assert len(script.requests) == 3


async def test_the_wait_that_was_asked_for_is_kept_exactly() -> None:
    model, _, clock = patient([RateLimited("later", retry_after=33.5), "hello"], chance=0.1)
    assert words(await answer_of(model, asking("hi"))) == "hello"
    assert clock.slept == [33.5]


async def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    model, script, clock = patient([RateLimited("later", retry_after=7200), "hello"])
    with pytest.raises(RateLimited):
        await answer_of(model, asking("hi"))
    assert len(script.requests) == 1
    assert clock.slept == []


@every_case(
    "error",
    [BadRequest, KeyRefused, NoSuchModel, QuotaSpent, Overflow, BadImage, TooLarge, ModelError],
)
async def test_what_asking_again_cannot_mend_is_not_asked_again(error: type[ModelError]) -> None:
    model, script, _ = patient([error("no"), "hello"])
    with pytest.raises(error):
        await answer_of(model, asking("hi"))
    assert len(script.requests) == 1


async def test_what_was_shown_is_taken_back_before_another_try() -> None:
    model, _, _ = patient([[TextDelta(text="hel"), BUSY], BUSY, "hello"])
    events, answer = await hear(model, asking("hi"))
    assert [type(event).__name__ for event in events if not isinstance(event, RetryWait)][:3] == [
        "TextDelta",
        "Restarted",
        "TextDelta",
    ]
    waits = [
        (event.why, event.call, event.calls) for event in events if isinstance(event, RetryWait)
    ]
    assert waits == [("busy", 2, 5), ("busy", 3, 5)]
    assert answer.parts == (Text(text="hello"),)


async def test_foreign_thinking_is_left_out_once(
    anthropic: AnthropicModel, emulator: ModelEmulator
) -> None:
    emulator.script([Reply(thinking="aha", text="yes", calls=(Call(name="read"),))])
    thought = await answer_of(anthropic, asking("one"))
    edited = asking("another", said("assistant", *thought.parts[:2]), "and now?", tools=(tool(),))
    assert words(await answer_of(RetryingModel(anthropic), edited)) == "echo: and now?"
    assert len(emulator.requests) == 3


async def test_a_model_always_overloaded_is_asked_five_times_in_all(
    anthropic: AnthropicModel, emulator: ModelEmulator
) -> None:
    clock = Clock()
    emulator.script([refuse(529)] * 20)
    with pytest.raises(Transient):
        await answer_of(RetryingModel(anthropic, clock=clock, sleep=clock.sleep), asking("hi"))
    assert len(emulator.requests) == 5
    assert sum(clock.slept) <= 15


async def test_the_whole_step_has_one_deadline(
    anthropic: AnthropicModel, emulator: ModelEmulator
) -> None:
    emulator.script([Reply(text="word " * 99, delta=2, pace=0.02)] * 5)
    with pytest.raises(Stalled) as caught:
        await answer_of(RetryingModel(anthropic, settings=RetrySettings(step=0.2)), asking("hi"))
    assert caught.value.kind == "step"
    assert len(emulator.requests) == 1


@given(tries=st.integers(1, 4), chance=st.floats(0, 1))
def test_a_pause_is_never_longer_than_the_longest(tries: int, chance: float) -> None:
    pause = RetrySettings(first_pause=30, longest_pause=60).pause(BUSY, tries, 0, chance)
    assert pause is not None
    assert 0 <= pause <= min(30 * 2 ** (tries - 1), 60)


async def test_nothing_is_left_open_when_an_item_is_late() -> None:
    closed: list[str] = []

    async def slow() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.Event().wait()
            yield 2
        finally:
            closed.append("closed")

    async with TimedStream(slow(), Timeouts(first=1, gap=0.01, step=1)) as items:
        assert await anext(items) == 1
        with pytest.raises(Stalled):
            await anext(items)
    assert closed == ["closed"]
