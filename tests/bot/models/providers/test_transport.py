"""The clients, streams and time limits that model calls are made of."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest

from bot.errors import Stalled
from bot.models.fallback import ChainModel, FallbackModel
from bot.models.providers.anthropic import AnthropicModel
from bot.models.providers.openai import OpenAIModel
from bot.models.providers.transport import (
    ClientPool,
    ClosingStream,
    TimedStream,
    Timeouts,
    create_http_client,
    iterate_data_lines,
    timeouts_for,
)
from bot.models.retry import RetryingModel
from bot.models.service import InstrumentedModel
from bot.telemetry.recorder import Telemetry
from tests.bot.models.asking import answer_of, asking, blobs, words
from tests.cases import every_case
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Reply

MANY = 130  # more than an HTTP client has open at once where it is not told
ROOMY = 60.0  # seconds that no test waits for
SHORT = 0.02


async def test_as_many_calls_go_on_at_once_as_are_begun() -> None:
    together = asyncio.Barrier(MANY)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await together.wait()
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with create_http_client("") as client, asyncio.timeout(30):
            answers = await asyncio.gather(*(client.get(url) for _ in range(MANY)))
    assert [one.status_code for one in answers] == [204] * MANY


# -- clients --------------------------------------------------------------------------------------


class Clients:
    """Numbers in place of clients: those that are open, in the order in which they were created."""

    def __init__(self) -> None:
        self.created, self.open = 0, list[int]()

    def create(self) -> int:
        self.created += 1
        self.open.append(self.created)
        return self.created

    async def close(self, client: int) -> None:
        self.open.remove(client)


@every_case(("calls", "clients"), [(1, 1), (8, 1), (9, 2), (16, 2), (17, 3)])
async def test_a_client_serves_eight_calls_at_once_and_the_first_with_room_the_next(
    calls: int, clients: int
) -> None:
    made = Clients()
    pool = ClientPool(made.create, made.close)
    async with AsyncExitStack() as running:
        used = [await running.enter_async_context(pool.client()) for _ in range(calls)]
    assert used == [1 + at // 8 for at in range(calls)]
    assert made.open == list(range(1, clients + 1))
    async with pool.client() as again:
        assert again == 1
    await pool.close()
    assert made.open == []
    async with pool.client() as fresh:
        assert fresh == clients + 1


async def test_clients_of_a_rush_are_closed_after_it_and_those_at_work_are_not() -> None:
    made = Clients()
    pool = ClientPool(made.create, made.close, idle_seconds=0.0)
    async with pool.client(), AsyncExitStack() as longer:
        async with AsyncExitStack() as rush:
            for _ in range(15):
                await rush.enter_async_context(pool.client())
            await longer.enter_async_context(pool.client())
            await rush.enter_async_context(pool.client())
            assert made.open == [1, 2, 3]
        assert made.open == [1, 3]
    assert made.open == [1]


async def test_calls_that_end_while_idle_clients_are_being_closed_do_not_close_them_again() -> None:
    made, closing, may_close = Clients(), asyncio.Event(), asyncio.Event()

    async def close(client: int) -> None:
        closing.set()
        await may_close.wait()
        await made.close(client)

    async def use() -> None:
        async with pool.client():
            pass

    pool = ClientPool(made.create, close, idle_seconds=0.005)
    async with AsyncExitStack() as rush:
        assert [await rush.enter_async_context(pool.client()) for _ in range(17)][-1] == 3
    calls: list[asyncio.Task[None]] = []
    while not closing.is_set():  # the two idle clients have to be idle for a while
        calls.append(asyncio.create_task(use()))
        await asyncio.wait({calls[-1]}, timeout=0.001)
    calls.append(asyncio.create_task(use()))
    await asyncio.wait({calls[-1]}, timeout=0.001)
    may_close.set()
    await asyncio.gather(*calls)
    assert made.open == [1]


async def test_one_client_is_created_by_all_that_need_the_first() -> None:
    made = Clients()
    pool = ClientPool(made.create, made.close)

    async def use() -> int:
        async with pool.client() as client:
            return client

    assert await asyncio.gather(pool.preload(), *(use() for _ in range(5))) == [None, 1, 1, 1, 1, 1]


# -- streams --------------------------------------------------------------------------------------


async def numbers(count: int, closed: list[str] | None = None) -> AsyncIterator[int]:
    """So many numbers, then none for ever."""
    try:
        for number in range(count):
            yield number
        await asyncio.Event().wait()
    finally:
        if closed is not None:
            closed.append("closed")


@every_case(
    ("limits", "items", "kind"),
    [
        (Timeouts(first=SHORT, gap=ROOMY, step=ROOMY), 0, "first_byte"),
        (Timeouts(first=SHORT, gap=SHORT / 4, step=ROOMY), 0, "first_byte"),
        (Timeouts(first=ROOMY, gap=SHORT, step=ROOMY), 1, "gap"),
        (Timeouts(first=ROOMY, gap=SHORT, step=ROOMY), 3, "gap"),
        (Timeouts(first=ROOMY, gap=ROOMY, step=SHORT), 0, "step"),
        (Timeouts(first=ROOMY, gap=ROOMY, step=SHORT), 3, "step"),
    ],
)
async def test_a_wait_that_is_too_long_ends_and_says_which(
    limits: Timeouts, items: int, kind: str
) -> None:
    closed = list[str]()
    async with TimedStream(numbers(items, closed), limits) as stream:
        for number in range(items):
            assert await anext(stream) == number
        with pytest.raises(Stalled) as caught:
            await anext(stream)
    assert caught.value.kind == kind
    assert closed == ["closed"]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_the_reader_may_take_its_time_between_two_items() -> None:
    async with TimedStream(numbers(3), Timeouts(first=SHORT, gap=SHORT, step=ROOMY)) as stream:
        assert await anext(stream) == 0
        taken = asyncio.Event()
        asyncio.get_running_loop().call_later(3 * SHORT, taken.set)
        await taken.wait()
        assert await anext(stream) == 1


async def test_a_cancelled_reader_is_cancelled_and_not_late() -> None:
    waiting = asyncio.Event()

    async def read() -> None:
        async with TimedStream(numbers(0), Timeouts(first=ROOMY)) as stream:
            waiting.set()
            await anext(stream)

    task = asyncio.create_task(read())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_reader_that_is_cancelled_when_it_is_late_stays_cancelled() -> None:
    async def cancelled_too() -> AsyncIterator[int]:
        try:
            await asyncio.Event().wait()
            yield 0
        except asyncio.CancelledError:
            task.cancel()
            raise

    async def read() -> None:
        async with TimedStream(cancelled_too(), Timeouts(first=SHORT)) as stream:
            await anext(stream)

    task = asyncio.create_task(read())
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("outer", "inner", "kind"), [(SHORT, ROOMY, "step"), (ROOMY, SHORT, "gap")]
)
async def test_of_two_limits_the_one_that_is_reached_counts(
    outer: float, inner: float, kind: str
) -> None:
    """Late at the inner one: it is the outer one's item, an error.

    Late at the outer one: the inner one is closed.
    """
    seen = list[str]()

    async def within() -> AsyncIterator[int]:
        try:
            async with TimedStream(
                numbers(1), Timeouts(first=ROOMY, gap=inner, step=ROOMY)
            ) as stream:
                async for number in stream:
                    yield number
        except Stalled as err:
            seen.append(err.kind)
            raise

    async with TimedStream(within(), Timeouts(first=ROOMY, gap=ROOMY, step=outer)) as stream:
        assert await anext(stream) == 0
        with pytest.raises(Stalled) as caught:
            await anext(stream)
    assert caught.value.kind == kind
    assert seen == (["gap"] if kind == "gap" else [])


async def test_what_follows_an_answer_is_read_but_not_waited_for() -> None:
    closed = list[str]()
    async with TimedStream(
        numbers(3, closed), Timeouts(first=ROOMY, gap=ROOMY, step=ROOMY)
    ) as stream:
        assert await anext(stream) == 0
        await stream.drain()
        assert closed == ["closed"]
        assert [item async for item in stream] == []


async def test_a_stream_that_is_left_is_closed() -> None:
    closed = list[str]()
    async with ClosingStream(numbers(3, closed)) as stream:
        assert await anext(stream) == 0
        assert closed == []
    assert closed == ["closed"]


@every_case("size", [1, 2, 3, 7, 1_000])
async def test_lines_are_the_same_however_they_are_cut(size: int) -> None:
    head, tail = (
        'data: {"a":"一\u2028"}\r\n\r\n: a note\nevent: ping\ndata:',
        '\n\ndata:{"b":2}\nid: 7\ndata: [DONE]',
    )
    text = (head + tail).encode()

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(text), size):
            yield text[start : start + size]

    expected = ['{"a":"一\u2028"}', "", '{"b":2}', "[DONE]"]
    assert [line async for line in iterate_data_lines(pieces())] == expected


@every_case(
    ("url", "first"),
    [
        ("https://api.openai.com/v1", 120),
        ("https://8.8.8.8/v1", 120),
        ("", 120),
        ("http://127.0.0.1:11434/v1", 600),
        ("http://[::1]:8080", 600),
        ("http://192.168.1.20:1234/v1", 600),
        ("http://100.64.0.7:8000/v1", 600),
        ("http://localhost:11434/v1", 600),
        ("http://ollama:11434/v1", 600),
        ("http://nas.local/v1", 600),
    ],
)
def test_a_server_at_home_may_take_long_to_begin(url: str, first: float) -> None:
    limits = timeouts_for(url)
    assert (limits.first, limits.gap, limits.step) == (first, 90, 600)


# -- work of a call -------------------------------------------------------------------------------


class CountingLoop(asyncio.SelectorEventLoop):
    """An event loop that counts the timers and tasks that are started."""

    timers = tasks = 0

    def call_at(self, when, callback, *args, context=None):  # type: ignore[no-untyped-def]
        self.timers += 1
        return super().call_at(when, callback, *args, context=context)

    def create_task(self, coro, **options):  # type: ignore[no-untyped-def]
        self.tasks += 1
        return super().create_task(coro, **options)


def open_anthropic(url: str) -> AnthropicModel:
    return AnthropicModel(api_key="k", base_url=url, blobs=blobs)


def open_openai(url: str) -> OpenAIModel:
    return OpenAIModel(api_key="k", base_url=f"{url}/v1", blobs=blobs)


@pytest.mark.parametrize("open_model", [open_anthropic, open_openai])
def test_a_call_starts_a_timer_for_each_layer_and_no_task_however_many_pieces_come(
    open_model: Callable[[str], AnthropicModel | OpenAIModel],
) -> None:
    async def work(deltas: int) -> tuple[int, int]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, CountingLoop)
        async with ModelEmulator() as emulator:
            model = InstrumentedModel(open_model(emulator.url), Telemetry())
            chain = FallbackModel(
                [ChainModel(model=RetryingModel(model))], on_unusable=lambda *_: None
            )
            emulator.script(["connected", Reply(text="abcd" * deltas, delta=4)])
            await answer_of(chain, asking("hi"))
            loop.timers = loop.tasks = 0
            assert words(await answer_of(chain, asking("hi"))) == "abcd" * deltas
            counted = loop.timers, loop.tasks
            await chain.close()
        return counted

    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        few, many = (runner.run(work(deltas)) for deltas in (2, 200))
    assert few == many
    # The chain's, the retries' and the provider's, which is started again for the rest after the
    # answer.
    assert many <= (4, 0)
