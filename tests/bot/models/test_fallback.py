"""Which model is asked when one is of no use."""

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
from bot.models.base import TextDelta
from bot.models.fallback import Chain, Link
from bot.models.scripted import Line, Scripted
from tests.bot.models.asking import answer_of, asking, hear, words


def chain(*scripts: list[Line]) -> tuple[Chain, list[Scripted], list[tuple[str, Unusable]]]:
    told: list[tuple[str, Unusable]] = []
    models = [Scripted(script) for script in scripts]
    links = [Link(model=model, ask_for="" if at == 0 else f"spare-{at}") for at, model in enumerate(models)]
    return Chain(links, on_unusable=lambda name, error: told.append((name, error))), models, told


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


@pytest.mark.parametrize("error", [Transient("busy"), Stalled("gap"), RateLimited("later")])
async def test_a_passing_fault_moves_on_but_is_forgotten(error: ModelError) -> None:
    model, (first, second), told = chain([error, "fine"], ["spare"])
    assert words(await answer_of(model, asking("hi"))) == "spare"
    assert second.requests[0].model == "spare-1"
    assert words(await answer_of(model, asking("hi"))) == "fine"
    assert told == []
    assert len(first.requests) == 2


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
