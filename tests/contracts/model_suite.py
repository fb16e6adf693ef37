"""What every Model must do, whatever stands behind it.

A suite class inherits ModelSuite and gives the fixture `telling`: a function that takes the next
replies (the emulator's) and returns the Model that will answer with them.
"""

import asyncio
from collections.abc import Callable

import pytest

from bot.errors import ModelError, Transient
from bot.models.base import Answer, ModelClient, TextDelta, ToolStarted
from memory.conversation import Text
from tests.bot.models.asking import (
    answer_of,
    asking,
    call,
    calls,
    hear,
    result,
    said,
    streamed,
    tool,
    words,
)
from tests.emulators.model_replies import Call, Reply, refuse

Telling = Callable[..., ModelClient]


class ModelSuite:
    """Inherited by one class a Model."""

    async def test_words_come_in_pieces_and_once_whole(self, telling: Telling) -> None:
        text = "春天在哪里？ Spring is here — naïve café 👩‍👩‍👧."
        events, answer = await hear(telling(Reply(text=text, delta=3)), asking("你好"))
        assert streamed(events) == words(answer) == text
        assert sum(isinstance(event, TextDelta) for event in events) > 1
        assert answer.stop == "end"
        assert not answer.cut_call

    async def test_parallel_calls_keep_their_order_and_arguments(self, telling: Telling) -> None:
        asked = (
            Call(name="read", input={"path": "甲.md"}),
            Call(name="write", input={"path": "b", "n": [1, {"x": None}]}),
        )
        request = asking("读", tools=(tool("read"), tool("write")))
        events, answer = await hear(telling(Reply(text="好", calls=asked)), request)
        assert answer.stop == "tools"
        assert [made.name for made in calls(answer)] == ["read", "write"]
        assert [event.name for event in events if isinstance(event, ToolStarted)] == [
            "read",
            "write",
        ]
        assert len({made.id for made in calls(answer)}) == 2
        assert calls(answer)[0].input.replace(" ", "") == '{"path":"甲.md"}'

    async def test_a_call_and_its_result_can_be_sent_back(self, telling: Telling) -> None:
        first = asking("读", tools=(tool(),))
        model = telling(Reply(calls=(Call(name="read"),)), "done")
        asked = await answer_of(model, first)
        results = [result(made.id) for made in calls(asked)]
        second = asking(
            "读", said("assistant", *asked.parts), said("user", *results), tools=(tool(),)
        )
        assert words(await answer_of(model, second)) == "done"

    async def test_ids_that_repeat_within_the_request_become_new(self, telling: Telling) -> None:
        request = asking(
            "a", said("assistant", call("call_1")), said("user", result("call_1")), tools=(tool(),)
        )
        twice = (
            Call(name="read", id="call_1"),
            Call(name="read", id="call_2"),
            Call(name="read", id="call_2"),
        )
        made = [part.id for part in calls(await answer_of(telling(Reply(calls=twice)), request))]
        assert len({"call_1", *made}) == 4
        assert all(made)

    async def test_an_empty_answer_has_no_parts(self, telling: Telling) -> None:
        answer = await answer_of(telling(Reply()), asking("hm"))
        assert answer.parts == ()
        assert answer.stop == "end"

    async def test_a_failure_is_one_of_ours_and_the_next_call_works(self, telling: Telling) -> None:
        model = telling(refuse(500), "better now")
        with pytest.raises(Transient):
            await answer_of(model, asking("hi"))
        assert words(await answer_of(model, asking("hi"))) == "better now"

    async def test_only_model_errors_come_out(self, telling: Telling) -> None:
        model = telling(refuse(400), refuse(401), refuse(404), refuse(429), refuse(503))
        for _ in range(5):
            with pytest.raises(ModelError):
                await answer_of(model, asking("hi"))

    async def test_the_stream_may_be_left_at_any_event(self, telling: Telling) -> None:
        model = telling(Reply(text="one two three four", delta=4), "again")
        stream = model.stream(asking("hi"))
        assert not isinstance(await anext(stream), Answer)
        await stream.aclose()  # type: ignore[attr-defined]
        assert words(await answer_of(model, asking("hi"))) == "again"

    async def test_calls_at_the_same_time_do_not_mix(self, telling: Telling) -> None:
        model = telling("same", "same", "same")
        heard = await asyncio.gather(*(hear(model, asking(str(number))) for number in range(3)))
        assert all(streamed(events) == words(answer) == "same" for events, answer in heard)

    async def test_no_part_of_an_answer_is_empty_text(self, telling: Telling) -> None:
        answer = await answer_of(
            telling(Reply(text=" \n", calls=(Call(name="read"),))), asking("x", tools=(tool(),))
        )
        assert not [part for part in answer.parts if isinstance(part, Text)]
