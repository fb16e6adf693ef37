"""Several large uploads at once: each has its time from when its turn has come, and only so many
wait for it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from channels.web.requests import BodyLimiter, BodyTimes, HttpRefusal, LargeBodies

MIB = 1 << 20
STALL = 30.0  # seconds
WAITING = 8


class MovedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock the test puts forward."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


async def settle() -> None:
    """Until nothing is ready to run."""
    for _ in range(50):
        await asyncio.sleep(0)


async def pass_time(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, MovedLoop)
    loop.ahead += seconds
    await settle()


async def send_nothing(_: Message) -> None: ...


class Upload:
    """One large body that arrives in pieces, as the test sends them."""

    def __init__(self, bodies: LargeBodies) -> None:
        self._pieces: asyncio.Queue[Message] = asyncio.Queue()
        self._bodies = bodies
        self.is_read = asyncio.Event()
        self.may_end = asyncio.Event()
        self.send(b'{"attachments": ["' + b"x" * 2 * MIB)
        self.result = asyncio.create_task(self._read())

    def send(self, piece: bytes, *, more: bool = True) -> None:
        self._pieces.put_nowait({"type": "http.request", "body": piece, "more_body": more})

    async def finish(self) -> None:
        self.send(b'"]}', more=False)
        await self.is_read.wait()

    async def _read(self) -> int:
        """The status that it is answered with."""
        status = 0

        async def read(scope: Scope, receive: Receive, send: Send) -> None:
            nonlocal status
            status = await self._handle(Request(scope, receive))

        scope = {"type": "http", "method": "POST", "path": "/api/v1/messages", "headers": []}
        await BodyLimiter(read, BodyTimes())(scope, self._pieces.get, send_nothing)
        return status

    async def _handle(self, request: Request) -> int:
        try:
            async with self._bodies.read_json(request, member="attachments") as fields:
                assert len(fields["attachments"][0]) == 2 * MIB
                self.is_read.set()
                await self.may_end.wait()
        except HttpRefusal as err:
            return err.status
        return 202


def on_a_moved_clock(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        with asyncio.Runner(loop_factory=MovedLoop) as runner:
            runner.run(test())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@on_a_moved_clock
async def test_the_time_of_a_large_upload_begins_when_its_turn_has_come() -> None:
    bodies = LargeBodies()
    first, second = Upload(bodies), Upload(bodies)
    await settle()
    await pass_time(STALL - 1)
    await first.finish()
    await pass_time(STALL - 1)  # and then it is stored
    first.may_end.set()
    assert await first.result == 202
    await pass_time(STALL - 1)
    await second.finish()
    second.may_end.set()
    assert await second.result == 202


@on_a_moved_clock
async def test_one_that_does_not_arrive_in_its_time_lets_the_next_one_in() -> None:
    bodies = LargeBodies()
    first, second = Upload(bodies), Upload(bodies)
    await settle()
    await pass_time(STALL + 1)
    assert await first.result == 408
    await settle()
    await pass_time(STALL - 1)
    await second.finish()
    second.may_end.set()
    assert await second.result == 202


@on_a_moved_clock
async def test_one_more_than_may_wait_is_refused_when_it_has_come_and_no_other_is() -> None:
    bodies = LargeBodies()
    uploads = [Upload(bodies) for _ in range(1 + WAITING)]
    await settle()
    beyond = Upload(bodies)
    await settle()
    beyond.send(b'"]}', more=False)
    assert await beyond.result == 503
    for upload in uploads:
        await upload.finish()
        upload.may_end.set()
        assert await upload.result == 202
        await settle()


@on_a_moved_clock
async def test_who_leaves_while_it_waits_frees_its_place() -> None:
    bodies = LargeBodies()
    uploads = [Upload(bodies) for _ in range(1 + WAITING)]
    await settle()
    uploads[1].result.cancel()
    await asyncio.wait([uploads[1].result])
    late = Upload(bodies)
    for upload in [uploads[0], *uploads[2:], late]:
        await upload.finish()
        upload.may_end.set()
        assert await upload.result == 202
        await settle()
