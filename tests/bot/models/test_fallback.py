"""Which model is asked when one is of no use."""

import asyncio

import pytest

from bot.errors import (
    BadRequest,
    KeyRefused,
    ModelError,
    NoSuchModel,
    Overflow,
    QuotaSpent,
    RateLimited,
    Stalled,
    Transient,
    Unusable,
)
from bot.models.base import Request, TextDelta
from bot.models.fallback import ChainModel, FallbackModel
from bot.models.providers.offline import ScriptedAnswer, ScriptedModel
from tests.bot.models.asking import answer_of, asking, hear, words
from tests.bot.talk import Held

# Literals, so that the product is not compared with itself.
DEADLINE = 900.0
SMALLER = "smaller_window"
FIRST_REST = 30.0
SPENT_REST = 300.0


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def chain(
    *scripts: list[ScriptedAnswer], clock: Clock | None = None
) -> tuple[FallbackModel, list[ScriptedModel], list[tuple[str, Unusable]]]:
    told: list[tuple[str, Unusable]] = []
    models = [ScriptedModel(script) for script in scripts]
    links = [ChainModel(model=model, model_id="" if at == 0 else f"spare-{at}") for at, model in enumerate(models)]
    made = FallbackModel(links, on_unusable=lambda name, error: told.append((name, error)), clock=clock or Clock())
    return made, models, told


@pytest.mark.parametrize("error", [KeyRefused("no"), QuotaSpent("spent")])
async def test_an_unusable_model_is_told_of_once_and_left_alone_until_reset(error: Unusable) -> None:
    model, (first, second), told = chain([error, "back"], ["one", "two"])
    assert words(await answer_of(model, asking("hi"))) == "one"
    assert words(await answer_of(model, asking("hi", model="another"))) == "two"
    assert [len(first.requests), len(second.requests)] == [1, 2]
    assert [name for name, _ in told] == ["scripted claude-sonnet-5-5"]
    assert model.unusable == (error,)
    model.reset()
    assert words(await answer_of(model, asking("hi"))) == "back"


async def test_a_missing_model_says_nothing_of_its_neighbours() -> None:
    model, (first, _), told = chain([NoSuchModel("?"), "here"], ["spare", "spare"])
    assert words(await answer_of(model, asking("hi", model="tpyo"))) == "spare"
    assert words(await answer_of(model, asking("hi", model="right"))) == "here"
    assert words(await answer_of(model, asking("hi", model="tpyo"))) == "spare"
    assert len(first.requests) == 2
    assert len(told) == 1


PASSING = [Transient("busy"), Stalled("gap"), RateLimited("later")]


@pytest.mark.parametrize("error", PASSING)
async def test_a_model_that_failed_is_left_out_for_a_while_and_then_tried_again(error: ModelError) -> None:
    clock = Clock()
    model, (first, second), told = chain([error, "fine", "still"], ["spare", "spare"], clock=clock)
    assert words(await answer_of(model, asking("hi"))) == "spare"
    assert second.requests[0].model == "spare-1"
    clock.now = FIRST_REST - 1
    assert words(await answer_of(model, asking("hi"))) == "spare"
    assert len(first.requests) == 1
    clock.now = FIRST_REST
    assert [words(await answer_of(model, asking("hi"))) for _ in range(2)] == ["fine", "still"]
    assert told == []
    assert model.health(0, "claude-sonnet-5-5").phase == "up"


async def test_the_time_for_which_it_is_left_out_grows() -> None:
    clock = Clock()
    model, (first, _), _ = chain([Transient("busy")] * 20, ["spare"] * 40, clock=clock)
    waits = []
    for _ in range(7):
        await answer_of(model, asking("hi"))
        waits.append(model.health(0, "claude-sonnet-5-5").until - clock.now)
        clock.now += waits[-1]
    assert waits == [30, 60, 120, 240, 480, 900, 900]
    assert len(first.requests) == 7


async def test_what_the_provider_asks_to_wait_for_is_waited_for() -> None:
    model, _, _ = chain([RateLimited("later", retry_after=4_000.0)], ["spare"])
    await answer_of(model, asking("hi"))
    assert model.health(0, "claude-sonnet-5-5").until == 4_000


def trying(*spare: str) -> tuple[FallbackModel, Held, Clock]:
    """A chain whose first model fails once, is then tried out by one that waits, and is well after that."""
    clock, held = Clock(), Held(lambda request: "back", lambda request: True)
    first = ChainModel(model=ScriptedModel([Transient("busy"), "well"]), probe=held)
    links = [first, ChainModel(model=ScriptedModel(["ok", *spare]), model_id="spare")]
    return FallbackModel(links, on_unusable=lambda *_: None, clock=clock), held, clock


async def test_one_at_a_time_tries_a_model_out() -> None:
    model, held, clock = trying("one")
    await answer_of(model, asking("hi"))
    clock.now = FIRST_REST
    trial = asyncio.create_task(answer_of(model, asking("hi")))
    await held.begun.wait()
    assert words(await answer_of(model, asking("hi"))) == "one"
    held.go_on.set()
    assert words(await trial) == "back"
    assert len(held.requests) == 1
    assert words(await answer_of(model, asking("hi"))) == "well"


async def test_a_trial_that_was_broken_off_may_be_made_again() -> None:
    model, held, clock = trying()
    await answer_of(model, asking("hi"))
    clock.now = FIRST_REST
    trial = asyncio.create_task(answer_of(model, asking("hi")))
    await held.begun.wait()
    trial.cancel()
    await asyncio.gather(trial, return_exceptions=True)
    held.go_on.set()
    assert words(await answer_of(model, asking("hi"))) == "back"


async def test_a_trial_is_one_call_without_retries() -> None:
    clock = Clock()
    patient, once, spare = (
        ScriptedModel([Transient("busy")]),
        ScriptedModel([Transient("busy")]),
        ScriptedModel(["a", "b"]),
    )
    links = [ChainModel(model=patient, probe=once), ChainModel(model=spare, model_id="spare")]
    made = FallbackModel(links, on_unusable=lambda *_: None, clock=clock)
    await answer_of(made, asking("hi"))
    clock.now = FIRST_REST
    await answer_of(made, asking("hi"))
    assert [len(one.requests) for one in (patient, once, spare)] == [1, 1, 2]


async def test_a_spent_quota_is_looked_at_again_and_a_refused_key_is_not() -> None:
    clock = Clock()
    model, (first, second, _), told = chain([QuotaSpent("spent"), "paid"], [KeyRefused("no")], ["a", "b"], clock=clock)
    assert words(await answer_of(model, asking("hi"))) == "a"
    clock.now = SPENT_REST - 1
    assert words(await answer_of(model, asking("hi"))) == "b"
    clock.now = SPENT_REST
    assert words(await answer_of(model, asking("hi"))) == "paid"
    assert [len(one.requests) for one in (first, second)] == [2, 1]
    assert len(told) == 2
    assert model.health(1, "spare-1").phase == "refused"
    clock.now = 1e9
    assert model.health(1, "spare-1").is_skipped(clock.now)


async def test_where_nothing_else_is_left_a_resting_model_is_asked_all_the_same() -> None:
    model, (first, second), _ = chain([Transient("busy"), "fine"], [Transient("busy")])
    with pytest.raises(Transient):
        await answer_of(model, asking("hi"))
    assert words(await answer_of(model, asking("hi"))) == "fine"
    assert [len(first.requests), len(second.requests)] == [2, 1]


async def test_I21_all_models_together_have_one_deadline() -> None:
    clock = Clock()

    def slow(request: Request) -> ScriptedAnswer:
        clock.now += DEADLINE / 2
        return Transient("busy")

    models = [ScriptedModel(slow) for _ in range(4)]
    made = FallbackModel([ChainModel(model=model) for model in models], on_unusable=lambda *_: None, clock=clock)
    with pytest.raises(Transient):
        await answer_of(made, asking("hi"))
    assert [len(model.requests) for model in models] == [1, 1, 0, 0]


async def test_a_spare_model_with_a_smaller_window_is_not_sent_what_it_must_refuse() -> None:
    first, spare = ScriptedModel([KeyRefused("no")]), ScriptedModel(["fits"])
    links = [ChainModel(model=first), ChainModel(model=spare, model_id="small", window=1_000)]
    made = FallbackModel(links, on_unusable=lambda *_: None)
    with pytest.raises(Overflow) as refused:
        await answer_of(made, asking("hi", size=900))
    assert (refused.value.kind, refused.value.model, refused.value.limit) == (SMALLER, "small", 980 - 256)
    assert spare.requests == []
    assert words(await answer_of(made, asking("hi", size=724))) == "fits"


async def test_a_refusal_of_the_request_shows_that_the_model_is_up() -> None:
    clock = Clock()
    model, _, _ = chain([Transient("busy"), BadRequest("bad")], ["spare"], clock=clock)
    await answer_of(model, asking("hi"))
    clock.now = FIRST_REST
    with pytest.raises(BadRequest):
        await answer_of(model, asking("hi"))
    assert model.health(0, "claude-sonnet-5-5").is_healthy


@pytest.mark.parametrize("error", [Overflow("long"), BadRequest("bad")])
async def test_the_requests_own_fault_is_the_callers(error: ModelError) -> None:
    model, (_, second), _ = chain([error], ["spare"])
    with pytest.raises(type(error)):
        await answer_of(model, asking("hi"))
    assert second.requests == []


async def test_the_last_error_is_raised_and_known_ones_cost_no_call() -> None:
    model, (first, second), _ = chain([KeyRefused("one")], [QuotaSpent("two")])
    for _ in range(2):
        with pytest.raises(QuotaSpent):
            await answer_of(model, asking("hi"))
    assert [len(first.requests), len(second.requests)] == [1, 1]


async def test_what_one_model_showed_is_taken_back_before_the_next() -> None:
    model, _, _ = chain([[TextDelta(text="half"), Transient("busy")]], ["whole"])
    events, _ = await hear(model, asking("hi"))
    assert [type(event).__name__ for event in events[:3]] == ["TextDelta", "Restarted", "TextDelta"]
