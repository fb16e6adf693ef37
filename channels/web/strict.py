"""Request bodies: read with a limit that counts what really comes, and parsed without JSON's traps."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import ClientDisconnect, Request

from channels.strict_json import strict_json
from channels.web.errors import Refused

MEBIBYTE = 1 << 20
SMALL = MEBIBYTE
LARGE = 36 * MEBIBYTE  # 25 MB of files are 33.4 MB in base64
DRAIN = 96 * MEBIBYTE
MANY = 300_000
LARGE_SECONDS = 60.0  # for a large body, from when its turn has come
MOST_WAITING = 8  # large bodies that wait for their turn, with the first MiB of each in memory


async def read_json(request: Request, *, limit: int = SMALL, seconds: float = 10.0) -> dict[str, Any]:
    """The body as an object, at most 1 MiB long.

    Raises:
        Refused: 413 too long, 408 too slow, 400 not JSON or not an object.
    """
    return as_object(parse(await read_body(request, limit=limit, seconds=seconds)))


class LargeBodies:
    """Reads bodies of which one large one at a time is held in memory; a few more wait for their turn."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()
        self._waiting = 0

    @asynccontextmanager
    async def read_json(self, request: Request, *, member: str) -> AsyncIterator[dict[str, Any]]:
        """A body that may be longer where it has this member, until the block ends.

        Raises:
            Refused: as read_json; 503 where too many wait already.
        """
        held = False

        async def take_turn() -> None:
            nonlocal held
            await self._take_turn()
            held = True

        try:
            raw = await read_body(request, limit=LARGE, seconds=LARGE_SECONDS, beyond=take_turn)
            large = len(raw) > SMALL
            fields = as_object(await asyncio.to_thread(parse, raw) if large else parse(raw))
            if large and not fields.get(member):
                raise Refused(413, "too_large", f"a message without {member} may have {SMALL} bytes")
            del raw
            yield fields
        finally:
            if held:
                self._one_at_a_time.release()

    async def _take_turn(self) -> None:
        if self._waiting >= MOST_WAITING:
            why = "too many large messages are on their way; send it again in a minute"
            raise Refused(503, "busy", why, {**_CLOSE, "retry-after": f"{LARGE_SECONDS:g}"})
        self._waiting += 1
        try:
            await self._one_at_a_time.acquire()
        finally:
            self._waiting -= 1


async def read_body(
    request: Request, *, limit: int = SMALL, seconds: float = 10.0, beyond: Callable[[], Awaitable[None]] | None = None
) -> bytearray:
    """The body's bytes, at most `limit` of them; one that is refused is drained a little, so that this is heard.

    Args:
        seconds: in which it has to arrive; they count anew after `beyond`, and not while that is awaited.
        beyond: awaited once more than 1 MiB have come; what it refuses is not read.
    """
    kept = bytearray()
    seen = 0
    refused: Refused | None = None
    try:
        async with asyncio.timeout(seconds) as deadline:
            async for piece in request.stream():
                if beyond and seen <= SMALL < seen + len(piece):
                    deadline.reschedule(None)
                    refused = await _refusal(beyond)
                    deadline.reschedule(asyncio.get_running_loop().time() + seconds)
                seen += len(piece)
                if refused is None and seen <= limit:
                    kept += piece
                    continue
                kept.clear()
                if seen > DRAIN:
                    break
    except TimeoutError as err:
        raise Refused(408, "slow", f"the body did not arrive within {seconds:g} s", _CLOSE) from err
    except ClientDisconnect as err:
        raise Refused(400, "cut", "the body was cut off", _CLOSE) from err
    if refused is not None:
        raise refused
    if seen > limit:
        raise Refused(413, "too_large", f"the body is larger than {limit} bytes", _CLOSE)
    return kept


async def _refusal(step: Callable[[], Awaitable[None]]) -> Refused | None:
    try:
        await step()
    except Refused as err:
        return err
    return None


def parse(raw: bytes | bytearray) -> Any:
    """JSON without duplicate keys, NaN, endless numbers or more than 32 levels.

    Raises:
        Refused: 400 with what is wrong.
    """
    if len(raw) > SMALL and sum(map(raw.count, (b"[", b"{", b","))) > MANY:
        raise Refused(400, "bad_json", "the body has too many members")
    try:
        return strict_json(raw)
    except ValueError as err:
        raise Refused(400, "bad_json", f"the body is not plain JSON: {str(err)[:120]}") from err


def as_object(value: Any) -> dict[str, Any]:
    """The value, when it is an object.

    Raises:
        Refused: 400 otherwise.
    """
    if not isinstance(value, dict):
        raise Refused(400, "bad_json", "the body must be a JSON object")
    return value


_CLOSE = {"connection": "close"}
