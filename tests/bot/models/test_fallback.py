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
from bot.models.retry import RetryingModel, RetrySettings
from tests.bot.models.asking import answer_of, asking, hear, words
from tests.bot.models.endpoints import Endpoint
from tests.bot.models.virtual_time import run_in_virtual_time
from tests.bot.talk import Held

# Literals, so that the product is not compared with itself.
DEADLINE = 900.0
SMALLER = "smaller_window"
FIRST_REST = 30.0
FIRST_REFUSED_REST = 60.0
PROBE = 30.0


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
    links = [
        ChainModel(model=model, model_id="" if at == 0 else f"spare-{at}")
        for at, model in enumerate(models)
    ]
    made = FallbackModel(
        links, on_unusable=lambda name, error: told.append((name, error)), clock=clock or Clock()
    )
    return made, models, told


@pytest.mark.parametrize("error", [KeyRefused("no"), QuotaSpent("spent")])
async def test_a_model_that_refuses_is_told_of_once_and_comes_last_until_its_rest_ends(
    error: Unusable,
) -> None:
    clock = Clock()
    model, (first, second), told = chain(
        [error, error, "back"], ["one", "two", "three"], clock=clock
    )
    assert words(await answer_of(model, asking("hi"))) == "one"
    assert words(await answer_of(model, asking("hi"))) == "two"
    assert [len(first.requests), len(second.requests)] == [1, 2]
    clock.now = FIRST_REFUSED_REST
    assert words(await answer_of(model, asking("hi"))) == "three"
    assert model.health(0, "claude-sonnet-5-5").phase == "refused"
    assert [name for name, _ in told] == ["scripted claude-sonnet-5-5"]
    model.end_rests()
    assert words(await answer_of(model, asking("hi"))) == "back"


async def test_where_there_is_no_other_model_each_message_asks_one_that_refuses() -> None:
    model, (only,), told = chain([KeyRefused("no"), KeyRefused("no"), "paid"])
    for _ in range(2):
        with pytest.raises(KeyRefused):
            await answer_of(model, asking("hi"))
    assert words(await answer_of(model, asking("hi"))) == "paid"
    assert (len(only.requests), len(told)) == (3, 1)


async def test_nobody_is_refused_while_another_one_waits_for_a_model_that_failed() -> None:
    def tell(request: Request) -> str:
        if request.conversation == "first":
            raise Transient("busy")
        return request.conversation

    clock, held = Clock(), Held(tell, lambda request: request.conversation == "waits")
    model = FallbackModel(
        [ChainModel(model=held, probe=held)], on_unusable=lambda *_: None, clock=clock
    )
    with pytest.raises(Transient):
        await answer_of(model, asking("hi", conversation="first"))
    clock.now = FIRST_REST
    waiting = asyncio.create_task(answer_of(model, asking("hi", conversation="waits")))
    await held.begun.wait()
    others = [answer_of(model, asking("hi", conversation=f"other {at}")) for at in range(10)]
    assert [words(answer) for answer in await asyncio.gather(*others)] == [
        f"other {at}" for at in range(10)
    ]
    held.go_on.set()
    assert words(await waiting) == "waits"


def in_virtual_time(*endpoints: Endpoint) -> FallbackModel:
    loop = asyncio.get_running_loop()
    once = RetrySettings(calls=2, wait=False)
    links = [
        ChainModel(
            model=RetryingModel(endpoint, clock=loop.time),
            model_id=endpoint.name,
            probe=RetryingModel(endpoint, settings=once, clock=loop.time),
        )
        for endpoint in endpoints
    ]
    return FallbackModel(links, on_unusable=lambda *_: None, clock=loop.time)


def test_a_slow_model_answers_after_a_failure_where_there_is_no_other() -> None:
    async def talk() -> None:
        slow = Endpoint("slow", "refuse")
        model = in_virtual_time(slow)
        with pytest.raises(KeyRefused):
            await answer_of(model, asking("hi"))
        slow.mood = "slow"
        await asyncio.sleep(FIRST_REFUSED_REST)
        assert words(await answer_of(model, asking("hi"))) == "slow"

    run_in_virtual_time(talk())


def test_a_slow_model_that_is_tried_again_has_thirty_seconds_where_another_one_can_answer() -> None:
    async def talk() -> None:
        slow, spare = Endpoint("slow", "fail"), Endpoint("spare")
        model = in_virtual_time(slow, spare)
        assert words(await answer_of(model, asking("hi"))) == "spare"
        slow.mood = "slow"
        await asyncio.sleep(FIRST_REST)
        began = asyncio.get_running_loop().time()
        assert words(await answer_of(model, asking("hi"))) == "spare"
        assert PROBE <= asyncio.get_running_loop().time() - began < PROBE + 2

    run_in_virtual_time(talk())


def test_a_trial_ends_with_its_first_event() -> None:
    async def talk() -> None:
        first, spare = Endpoint("first", "fail"), Endpoint("spare")
        model = in_virtual_time(first, spare)
        await answer_of(model, asking("hi"))
        first.mood = "well"
        await asyncio.sleep(FIRST_REST)
        trial = asyncio.create_task(answer_of(model, asking("hi")))
        await asyncio.sleep(0.05)
        other = asyncio.create_task(answer_of(model, asking("hi")))
        await asyncio.sleep(0.1)
        third = asyncio.create_task(answer_of(model, asking("hi")))
        await asyncio.sleep(0)
        assert not trial.done()
        assert [words(await one) for one in (trial, other, third)] == ["first", "spare", "first"]

    run_in_virtual_time(talk())


def test_a_damaged_answer_counts_once_a_second_conversation_has_one() -> None:
    async def talk() -> None:
        first, spare = Endpoint("first", "damage"), Endpoint("spare")
        model = in_virtual_time(first, spare)
        for _ in range(2):
            assert words(await answer_of(model, asking("hi", conversation="one"))) == "spare"
        assert model.health(0, "first").is_healthy
        first.mood = "well"
        assert words(await answer_of(model, asking("hi", conversation="two"))) == "first"
        first.mood = "damage"
        for conversation in ("one", "two"):
            assert model.health(0, "first").is_healthy
            assert words(await answer_of(model, asking("hi", conversation=conversation))) == "spare"
        assert model.health(0, "first").phase == "resting"

    run_in_virtual_time(talk())


def test_failures_of_calls_at_the_same_time_count_as_one() -> None:
    async def talk() -> None:
        model = in_virtual_time(Endpoint("first", "refuse"), Endpoint("spare"))
        await asyncio.gather(
            *(answer_of(model, asking("hi", conversation=f"c{at}")) for at in range(10))
        )
        assert model.health(0, "first").failures == 1

    run_in_virtual_time(talk())


def test_a_model_that_breaks_off_again_and_again_rests_longer_though_it_begins_to_answer() -> None:
    async def talk() -> None:
        model = in_virtual_time(Endpoint("first", "break"), Endpoint("spare"))
        rests = []
        for _ in range(3):
            assert words(await answer_of(model, asking("hi"))) == "spare"
            rests.append(model.health(0, "first").until - asyncio.get_running_loop().time())
            await asyncio.sleep(rests[-1])
        # of which the spare model's answer took .6 s
        assert [round(rest + 0.6) for rest in rests] == [30, 60, 120]

    run_in_virtual_time(talk())


async def test_a_call_to_try_a_model_tells_its_health_at_once() -> None:
    model, (only,), _ = chain([KeyRefused("no"), KeyRefused("no"), "paid"])
    for _ in range(2):
        with pytest.raises(KeyRefused):
            await model.probe(0, asking("hi"))
        assert model.health(0, "claude-sonnet-5-5").phase == "refused"
    await model.probe(0, asking("hi"))
    assert model.health(0, "claude-sonnet-5-5").phase == "up"
    assert len(only.requests) == 3


async def test_a_missing_model_says_nothing_of_its_neighbours() -> None:
    model, (first, _), told = chain([NoSuchModel("?"), "here"], ["spare", "spare"])
    assert words(await answer_of(model, asking("hi", model="tpyo"))) == "spare"
    assert words(await answer_of(model, asking("hi", model="right"))) == "here"
    assert words(await answer_of(model, asking("hi", model="tpyo"))) == "spare"
    assert len(first.requests) == 2
    assert len(told) == 1


PASSING = [Transient("busy"), Stalled("gap"), RateLimited("later")]


@pytest.mark.parametrize("error", PASSING)
async def test_a_model_that_failed_comes_last_for_a_while_and_is_then_tried_again(
    error: ModelError,
) -> None:
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


async def test_its_rest_grows() -> None:
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
    """A chain whose first model fails once, is then tried out by one that waits, and is well after
    that.
    """
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


async def test_a_trial_that_was_broken_off_is_made_again_after_its_time() -> None:
    model, held, clock = trying("one")
    await answer_of(model, asking("hi"))
    clock.now = FIRST_REST
    trial = asyncio.create_task(answer_of(model, asking("hi")))
    await held.begun.wait()
    trial.cancel()
    await asyncio.gather(trial, return_exceptions=True)
    held.go_on.set()
    assert words(await answer_of(model, asking("hi"))) == "one"
    clock.now += PROBE
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


@pytest.mark.parametrize("error", [KeyRefused("no"), NoSuchModel("?"), QuotaSpent("spent")])
async def test_a_refusal_rests_for_one_then_five_then_fifteen_minutes(error: Unusable) -> None:
    clock = Clock()
    model, (first, _), told = chain([error] * 4, ["spare"] * 8, clock=clock)
    waits = []
    for _ in range(4):
        await answer_of(model, asking("hi"))
        waits.append(model.health(0, "claude-sonnet-5-5").until - clock.now)
        clock.now += waits[-1]
    assert waits == [60, 300, 900, 900]
    assert (len(first.requests), len(told)) == (4, 1)


async def test_of_models_that_all_rest_the_one_whose_rest_ends_first_is_asked_first() -> None:
    model, (first, second), _ = chain([KeyRefused("no"), "later"], [Transient("busy"), "sooner"])
    with pytest.raises(Transient):
        await answer_of(model, asking("hi"))
    assert words(await answer_of(model, asking("hi"))) == "sooner"
    assert words(await answer_of(model, asking("hi", model="other"))) == "later"
    assert [len(first.requests), len(second.requests)] == [2, 2]


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
    made = FallbackModel(
        [ChainModel(model=model) for model in models], on_unusable=lambda *_: None, clock=clock
    )
    with pytest.raises(Transient):
        await answer_of(made, asking("hi"))
    assert [len(model.requests) for model in models] == [1, 1, 0, 0]


async def test_a_spare_model_with_a_smaller_window_is_not_sent_what_it_must_refuse() -> None:
    first, spare = ScriptedModel([KeyRefused("no")]), ScriptedModel(["fits"])
    links = [
        ChainModel(model=first),
        ChainModel(model=spare, model_id="small", window=lambda: 1_000),
    ]
    made = FallbackModel(links, on_unusable=lambda *_: None)
    with pytest.raises(Overflow) as refused:
        await answer_of(made, asking("hi", size=900))
    assert (refused.value.kind, refused.value.model, refused.value.limit) == (
        SMALLER,
        "small",
        980 - 256,
    )
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


async def test_the_last_error_is_raised_after_a_call_of_each_model() -> None:
    model, (first, second), _ = chain([KeyRefused("one")] * 2, [QuotaSpent("two")] * 2)
    for _ in range(2):
        with pytest.raises(QuotaSpent):
            await answer_of(model, asking("hi"))
    assert [len(first.requests), len(second.requests)] == [2, 2]


async def test_what_one_model_showed_is_taken_back_before_the_next() -> None:
    model, _, _ = chain([[TextDelta(text="half"), Transient("busy")]], ["whole"])
    events, _ = await hear(model, asking("hi"))
    assert [type(event).__name__ for event in events[:3]] == ["TextDelta", "Restarted", "TextDelta"]
