"""Request bodies: read with a limit that counts what really comes, and parsed without JSON's traps."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from starlette.requests import ClientDisconnect, Request

from channels.strict_json import strict_json
from channels.web.errors import Refused

MEBIBYTE = 1 << 20
SMALL = MEBIBYTE
LARGE = 36 * MEBIBYTE  # 25 MB of files are 33.4 MB in base64
DRAIN = 96 * MEBIBYTE
MANY = 300_000
_ONE_LARGE_AT_A_TIME = asyncio.Lock()


async def read_json(request: Request, *, limit: int = SMALL, seconds: float = 10.0) -> dict[str, Any]:
    """The body as an object, at most 1 MiB long.

    Raises:
        Refused: 413 too long, 408 too slow, 400 not JSON or not an object.
    """
    return as_object(parse(await read_body(request, limit=limit, seconds=seconds)))


@asynccontextmanager
async def large_json(request: Request, *, member: str) -> AsyncIterator[dict[str, Any]]:
    """A body that may be longer where it has this member; one such at a time is held in memory, until the block ends.

    Raises:
        Refused: as read_json.
    """
    async with AsyncExitStack() as held:
        turn = partial(held.enter_async_context, _ONE_LARGE_AT_A_TIME)
        raw = await read_body(request, limit=LARGE, seconds=60.0, beyond=turn)
        large = len(raw) > SMALL
        fields = as_object(await asyncio.to_thread(parse, raw) if large else parse(raw))
        if large and not fields.get(member):
            raise Refused(413, "too_large", f"a message without {member} may have {SMALL} bytes")
        del raw
        yield fields


async def read_body(
    request: Request, *, limit: int = SMALL, seconds: float = 10.0, beyond: Callable[[], Awaitable[None]] | None = None
) -> bytearray:
    """The body's bytes, at most `limit` of them; a longer one is drained a little, so that the refusal is heard.

    beyond: awaited once more than 1 MiB have come.
    """
    kept = bytearray()
    seen = 0
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                if beyond and seen <= SMALL < seen + len(piece):
                    await beyond()
                seen += len(piece)
                if seen <= limit:
                    kept += piece
                    continue
                kept.clear()
                if seen > DRAIN:
                    break
    except TimeoutError as err:
        raise Refused(408, "slow", f"the body did not arrive within {seconds:g} s", _CLOSE) from err
    except ClientDisconnect as err:
        raise Refused(400, "cut", "the body was cut off", _CLOSE) from err
    if seen > limit:
        raise Refused(413, "too_large", f"the body is larger than {limit} bytes", _CLOSE)
    return kept


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
