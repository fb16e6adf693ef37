"""What a turn of many tool calls pays for: nothing twice, by the documented rules of the prompt
cache.
"""

from collections.abc import Sequence

import pytest

from bot.models.base import Request
from memory.conversation import ShownMessage
from tests.bot.models.asking import anthropic_body, asking, call, result, said, tool
from tests.bot.models.providers.test_anthropic import marked
from tests.cases import every_case
from tests.emulators.model_rules import PromptCache, count, seen_by_model

KEPT = [said("user", "an old question " * 200), said("assistant", "an old answer " * 200)]
PAGE = "five thousand tokens of one page "
REPEATS = 606  # by the emulator's count


def step(number: int, calls: int = 1) -> list[ShownMessage]:
    """One step of a turn: some calls at once, and their results of 5,000 tokens together."""
    page = PAGE * (REPEATS // calls)
    ids = [f"c{number}-{at}" for at in range(calls)]
    return [
        said("assistant", "Let me look.", *(call(id) for id in ids)),
        said("user", *(result(id, f"{id} {page}") for id in ids)),
    ]


def turn_requests(
    kept: Sequence[ShownMessage], steps: Sequence[Sequence[ShownMessage]]
) -> list[Request]:
    """The requests of one turn after these messages."""
    messages = [*kept, said("user", "Compare all pages.", "[Now: 2026-11-20 10:00]")]
    made = [asking(*messages, stable=len(kept), tools=(tool(),))]
    for each in steps:
        messages += each
        made.append(asking(*messages, stable=len(kept), tools=(tool(),)))
    return made


def paid(cache: PromptCache, requests: Sequence[Request]) -> int:
    """Tokens of these requests that did not come out of the cache."""
    bodies = [anthropic_body(request) for request in requests]
    return sum(count(seen_by_model(body)) - cache.account(body)[0] for body in bodies)


def whole(request: Request) -> int:
    return count(seen_by_model(anthropic_body(request)))


@every_case("calls", [1, 4, 9, 10, 30])
def test_in_a_turn_of_ten_steps_each_result_is_paid_for_once(calls: int) -> None:
    requests = turn_requests(KEPT, [step(number, calls) for number in range(10)])
    assert whole(requests[-1]) > 10 * 5_000
    assert paid(PromptCache(), requests) <= 1.02 * whole(requests[-1])


@every_case("steps", [1, 9, 10, 40])
def test_the_turns_before_a_long_one_are_still_read_from_the_cache_after_it(steps: int) -> None:
    cache = PromptCache()
    long = turn_requests(KEPT, [step(number) for number in range(steps)])
    paid(cache, long)
    ended = [
        *long[-1].messages[: len(KEPT)],
        said("user", "Compare all pages."),
        *long[-1].messages[len(KEPT) + 1 :],
    ]
    (following,) = turn_requests([*ended, said("assistant", "They agree.")], [])
    body = anthropic_body(following)
    read, _ = cache.account(body)
    assert read >= sum(count(message) for message in body["messages"][: len(KEPT)])


@pytest.mark.parametrize("calls", [1, 9, 10, 30])
@pytest.mark.parametrize("kept", [[], KEPT, [*KEPT, *KEPT]])
def test_no_request_has_more_marks_than_four_and_the_newest_result_has_one(
    kept: list[ShownMessage], calls: int
) -> None:
    for request in turn_requests(kept, [step(number, calls) for number in range(4)])[1:]:
        body = anthropic_body(request)
        assert len(marked(body)) <= 4
        assert "cache_control" in body["messages"][-1]["content"][-1]


def test_a_note_after_the_results_stands_behind_the_mark() -> None:
    *_, last = turn_requests(KEPT, [step(1)])
    noted = [*last.messages[:-1], said("user", *last.messages[-1].parts, "[No more tools.]")]
    body = anthropic_body(asking(*noted, stable=len(KEPT), tools=(tool(),)))
    assert marked(body)[-1] == f".messages.{len(noted) - 1}.content.0"
