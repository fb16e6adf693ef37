"""Replies come before background calls where a server answers one request at a time; by a clock
that is not awaited.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.config.schema import Config
from bot.errors import ModelError
from bot.models.background import (
    MAX_INTERRUPTIONS,
    MAX_WAIT_SECONDS,
    BackgroundCalls,
    RepliesFirst,
)
from bot.models.providers.offline import ScriptedModel
from bot.models.service import ModelService
from tests.bot.models.virtual_time import run_in_virtual_time


class Bench:
    """Background calls, with the times at which they began and ended."""

    def __init__(self, *, waits: bool = True) -> None:
        self.calls = BackgroundCalls(lambda: waits)
        self.begun: list[float] = []
        self.done: list[float] = []

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def call(self, seconds: float, *, gives_way: bool = False) -> "asyncio.Task[str]":
        async def work() -> str:
            self.begun.append(round(self.now))
            await asyncio.sleep(seconds)
            self.done.append(round(self.now))
            return "written"

        return asyncio.create_task(self.calls.run(work, gives_way=gives_way))

    async def reply(self, seconds: float) -> None:
        with self.calls.reply():
            await asyncio.sleep(seconds)


def played(play: Callable[[Bench], Any], *, waits: bool = True) -> Bench:
    bench: list[Bench] = []

    async def run() -> None:
        bench.append(Bench(waits=waits))
        await play(bench[0])

    run_in_virtual_time(run())
    return bench[0]


def test_beside_replies_nothing_waits() -> None:
    async def play(bench: Bench) -> None:
        with bench.calls.reply():
            assert await bench.call(20) == "written"

    assert played(play, waits=False).begun == [0]


def test_a_call_begins_five_seconds_after_the_last_reply() -> None:
    async def play(bench: Bench) -> None:
        replies = asyncio.gather(bench.reply(10), bench.reply(30))
        await asyncio.sleep(1)
        assert await bench.call(20) == "written"
        await replies

    bench = played(play)
    assert (bench.begun, bench.done) == ([35], [55])


def test_a_reply_ends_a_call_that_is_made_again_and_runs_through_the_third_time() -> None:
    async def play(bench: Bench) -> None:
        written = bench.call(20)
        for _ in range(3):
            await asyncio.sleep(10)
            await bench.reply(10)
        assert await written == "written"

    bench = played(play)
    assert bench.begun == [0, 25, 45]
    assert bench.done == [65], "no reply ends it any more"


def test_a_call_that_has_waited_ten_minutes_runs_beside_a_reply() -> None:
    async def play(bench: Bench) -> None:
        reply = asyncio.create_task(bench.reply(3_000))
        await asyncio.sleep(0)
        assert await bench.call(20) == "written"
        reply.cancel()

    assert played(play).begun == [600]


def test_a_call_that_is_given_up_is_ended() -> None:
    async def play(bench: Bench) -> None:
        written = bench.call(20)
        await asyncio.sleep(5)
        written.cancel()
        with pytest.raises(asyncio.CancelledError):
            await written
        await asyncio.sleep(30)

    bench = played(play)
    assert (bench.begun, bench.done) == ([0], [])


async def test_off_asks_no_model() -> None:
    async def find_nothing(question: str, conversation: str, space: str) -> list[Any]:
        return []

    models = ModelService(lambda sha256: b"", find_nothing, lambda name, error: None)
    models.configure(Config.model_validate({"llm": {"background": "off"}}))
    model = ScriptedModel(lambda request: "no")
    models.use(model)
    with pytest.raises(ModelError) as refused:
        await models.complete("", "tell", 100)
    assert refused.value.kind == "offline"
    assert not model.requests


def test_a_call_that_gives_way_is_given_up_where_it_would_run_beside_a_reply() -> None:
    async def play(bench: Bench) -> None:
        reply = asyncio.create_task(bench.reply(3_000))
        await asyncio.sleep(0)
        with pytest.raises(RepliesFirst):
            await bench.call(20, gives_way=True)
        assert bench.now == MAX_WAIT_SECONDS
        reply.cancel()

    assert played(play).begun == []


def test_a_call_that_gives_way_is_given_up_when_replies_have_ended_it_twice() -> None:
    async def play(bench: Bench) -> None:
        written = bench.call(20, gives_way=True)
        for _ in range(MAX_INTERRUPTIONS):
            await asyncio.sleep(10)
            await bench.reply(10)
        with pytest.raises(RepliesFirst):
            await written

    bench = played(play)
    assert (bench.begun, bench.done) == ([0, 25], [])
