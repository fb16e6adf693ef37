"""HTTP requests and responses of the page and the API: refusals, routes, responses, the reading of
bodies.
"""

import asyncio
import gzip
import json
import re
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from channels.errors import ChannelError
from channels.phrases import NO_PHRASE, AnyPhrase, Phrase
from channels.toolkit.untrusted import parse_strict_json
from channels.web.backend import ConversationEntry


class HttpRefusal(ChannelError):
    """Answers one request with `status`, the JSON error {code, message} and additional
    `headers`.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: AnyPhrase,
        headers: Mapping[str, str] | None = None,
        *,
        field: str = "",
        hint: AnyPhrase = NO_PHRASE,
    ) -> None:
        """Args: field: which value of the request is wrong. hint: what to do next."""
        super().__init__(str(message))
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})
        self.field = field
        self.hint = hint


class CannotServe(ChannelError):
    """The port or the token file cannot be used; the text is one sentence for the operator."""


# Names and texts.


def request_language(request: Request) -> str:
    """Return the language that a client asks for first, "zh" or "en"."""
    first = request.headers.get("accept-language", "").split(",")[0].strip()
    return "zh" if first.lower().startswith("zh") else "en"


NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)  # of a conversation
LABEL_BYTES = 120


def clean_text(text: str) -> str:
    """Remove what cannot be stored: NUL is dropped, each lone surrogate becomes U+FFFD."""
    return (
        text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    )


def file_label(name: str) -> str:
    """Make a file name displayable: no folders, no control or direction characters, at most 120
    bytes.
    """
    last = re.split(r"[\\/]", clean_text(name))[-1]
    visible = "".join(
        char for char in last if unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp")
    )
    cut = visible.encode()[:LABEL_BYTES].decode(errors="ignore").strip(" .")
    return cut or "file"


# Routes and responses.

MEBIBYTE = 1 << 20
SMALL_BODY = MEBIBYTE
LARGE_BODY = 36 * MEBIBYTE  # 25 MB of files are 33.4 MB in base64
PROMISED_PATH, VERSIONED_PATH = "/api/", "/api/v1/"
HOOKS_PATH = "/hooks/"  # calls of the platforms
#: Takes the request, and what the route's `query` or `body` makes of it.
Handler = Callable[..., Awaitable[ASGIApp]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route of the API."""

    method: str
    path: str
    #: Action of bot.access.permissions that the caller must be allowed.
    action: str
    #: Called with the request, then with the validated query or body if there is one. May raise
    #: HttpRefusal.
    handler: Handler
    #: Only after a login of the last minutes; see `require_fresh_login`.
    needs_fresh_login: bool = False
    #: Programs of others rely on it: it is also at `/api/…`, where lists have names of their own.
    is_promised: bool = False
    #: Models of its query or its JSON body (one of them at most), and of its JSON reply; None for
    #: none.
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    reply: type[BaseModel] | None = None
    #: Bytes that the body may have.
    max_body: int = SMALL_BODY
    #: Field without which a body may have 1 MiB only; larger ones are read one at a time, see
    #: LargeBodies.
    large_field: str = ""
    #: Field that a body is the text of if it is not JSON.
    text_field: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """All addresses of the route."""
        if not self.is_promised:
            return (self.path,)
        return (self.path, f"{PROMISED_PATH}{self.path.removeprefix(VERSIONED_PATH)}")


def list_key(request: Request, name: str) -> str:
    """Return what the reply of a promised route calls its list: `items` in the versioned API, else
    its own name.
    """
    return "items" if is_versioned(request) else name


def is_versioned(request: Request) -> bool:
    """Tell whether a request is of the versioned API."""
    return bool(request.scope["path"].startswith(VERSIONED_PATH))


def json_response(
    value: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Build a JSON response that no cache stores."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    return Response(
        body, status, {"cache-control": "no-store", **(headers or {})}, "application/json"
    )


def compressed_json(request: Request, value: Mapping[str, Any]) -> Response:
    """Build a JSON response in gzip if the client accepts it.

    Only for what has no secret: from the length of a compressed response somebody in between could
    guess it.
    """
    body, headers = (
        bytes(json_response(value).body),
        {"cache-control": "no-store", "vary": "accept-encoding"},
    )
    if "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["content-encoding"] = gzip.compress(body, mtime=0), "gzip"
    return Response(body, 200, headers, "application/json")


def error_response(
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
    *,
    field: str = "",
    hint: str = "",
) -> Response:
    """Build the JSON body that every error has."""
    more = {name: value for name, value in (("field", field), ("hint", hint)) if value}
    return json_response({"error": {"code": code, "message": message, **more}}, status, headers)


def conversation_json(entry: ConversationEntry, *, full: bool = False) -> dict[str, Any]:
    """Convert a conversation's entry in the list to JSON; `full` as the versioned API has it."""
    fields = {
        "id": entry.id,
        "title": entry.title,
        "channel": entry.channel,
        "updated_at": entry.updated.isoformat(),
        "turns": entry.turns,
        "whose": entry.whose,
    }
    if not full:
        return fields
    more = {name: getattr(entry, name) for name in ("pinned", "archived", "unread", "etag")}
    refusal = entry.no_reply
    more |= {
        "person": entry.person,
        "chat_id": entry.chat_id,
        "named": entry.is_named,
        "deleting": entry.is_deleting,
        "no_reply": {lang: refusal.text(lang) for lang in ("en", "zh")} if refusal else None,
    }
    return fields | more


Headers = Sequence[tuple[bytes, bytes]]


def header_values(headers: Headers, name: bytes) -> list[bytes]:
    """Return all values of one header, in order. Names are lower-case in ASGI."""
    return [value for key, value in headers if key == name]


def peer_address(request: Request) -> str:
    """Return the address at the other end of the connection."""
    return request.client.host if request.client else ""


# Request bodies.

# read of a refused body: a client that is still sending may not read the refusal
DRAIN_BYTES = 96 * MEBIBYTE
MAX_LARGE_BODY_MEMBERS = 300_000  # brackets, braces and commas
RETRY_LARGE_SECONDS = 60  # after which a client may try a large body again
MAX_WAITING_BODIES = 8  # large bodies waiting to be read, with the first MiB of each in memory
_CLOSE = {"connection": "close"}


async def read_json(request: Request, *, limit: int = SMALL_BODY) -> dict[str, Any]:
    """Read a JSON object of at most `limit` bytes from the body.

    Raises:
        HttpRefusal: 413 too long, 400 not JSON or not an object; what `receive` raises, see
            BodyLimiter.
    """
    return as_object(parse_json(await read_body(request, limit=limit)))


class LargeBodies:
    """Reads large bodies one at a time, to bound memory; a few more may wait."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()
        self._waiting = 0

    @asynccontextmanager
    async def read_json(self, request: Request, *, member: str) -> AsyncIterator[dict[str, Any]]:
        """Read a JSON object; one over 1 MiB needs this member, and the next waits for the block to
        end.

        Raises:
            HttpRefusal: as `read_json`; 503 if too many are waiting.
        """
        locked = False

        async def acquire() -> None:
            nonlocal locked
            await self._acquire()
            locked = True

        try:
            raw = await read_body(request, limit=LARGE_BODY, on_large=acquire)
            large = len(raw) > SMALL_BODY
            fields = as_object(
                await asyncio.to_thread(parse_json, raw) if large else parse_json(raw)
            )
            if large and not fields.get(member):
                raise HttpRefusal(
                    413,
                    "too_large",
                    Phrase(
                        "a message without {member} may have {small_body} bytes",
                        member=member,
                        small_body=SMALL_BODY,
                    ),
                )
            del raw
            yield fields
        finally:
            if locked:
                self._one_at_a_time.release()

    async def _acquire(self) -> None:
        if self._waiting >= MAX_WAITING_BODIES:
            why = Phrase(
                "too many large messages are being uploaded; send this one again in a minute"
            )
            raise HttpRefusal(503, "busy", why, {**_CLOSE, "retry-after": f"{RETRY_LARGE_SECONDS}"})
        self._waiting += 1
        try:
            await self._one_at_a_time.acquire()
        finally:
            self._waiting -= 1


async def read_body(
    request: Request,
    *,
    limit: int = SMALL_BODY,
    on_large: Callable[[], Awaitable[None]] | None = None,
    drain: int = DRAIN_BYTES,
) -> bytearray:
    """Read the body.

    Args:
        limit: bytes.
        on_large: awaited once the body exceeds 1 MiB; may raise HttpRefusal.
        drain: bytes up to which a refused body is read and dropped, so that the client gets to read
            the refusal.

    Raises:
        HttpRefusal: 413 too long, 400 cut off; what `on_large` and `receive` raised, see
            BodyLimiter.
    """
    body = bytearray()
    received = 0
    refused: HttpRefusal | None = None
    try:
        async for piece in request.stream():
            if on_large and received <= SMALL_BODY < received + len(piece):
                try:
                    await on_large()
                except HttpRefusal as err:
                    refused = err
            received += len(piece)
            if refused is None and received <= limit:
                body += piece
                continue
            body.clear()
            if received > drain:
                break
    except ClientDisconnect as err:
        raise HttpRefusal(400, "cut", Phrase("the body was cut off"), _CLOSE) from err
    if refused is not None:
        raise refused
    if received > limit:
        raise HttpRefusal(
            413, "too_large", Phrase("the body is larger than {limit} bytes", limit=limit), _CLOSE
        )
    return body


def parse_json(raw: bytes | bytearray) -> Any:
    """Parse JSON without duplicate keys, NaN, very long numbers or more than 32 levels.

    Raises:
        HttpRefusal: 400; the text says what is wrong.
    """
    if len(raw) > SMALL_BODY and sum(map(raw.count, (b"[", b"{", b","))) > MAX_LARGE_BODY_MEMBERS:
        raise HttpRefusal(400, "bad_json", Phrase("the body has too many fields"))
    try:
        return parse_strict_json(raw)
    except ValueError as err:
        raise HttpRefusal(
            400, "bad_json", Phrase("the body is not plain JSON: {err}", err=str(err)[:120])
        ) from err


def as_object(value: Any) -> dict[str, Any]:
    """Return the value if it is an object.

    Raises:
        HttpRefusal: 400 if it is not.
    """
    if not isinstance(value, dict):
        raise HttpRefusal(400, "bad_json", Phrase("the body must be a JSON object"))
    return value


# Time limits of bodies: without progress and in all; none is waited for any more once the server
# stops.

_DISCONNECT: Message = {"type": "http.disconnect"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyTimes:
    """How long a body is waited for, in seconds; what the handler does in between does not
    count.
    """

    #: For the next bytes.
    stall: float = 30.0
    #: For all of it.
    total: float = 300.0
    #: For all of a platform's call.
    webhook: float = 5.0


class BodyLimiter:
    """ASGI app around another: its `receive` raises HttpRefusal once the body does not come in
    time.

    Where the response has begun by then, `receive` returns a disconnect.
    """

    def __init__(self, app: ASGIApp, times: BodyTimes) -> None:
        self._app = app
        self._times = times
        self._waits: set[asyncio.Timeout] = set()
        self._stopping = False

    def stop(self) -> None:
        """Wait for no body any more, nor for the rest of those that are under way."""
        self._stopping = True
        for wait in self._waits:
            wait.reschedule(0.0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_hook = scope["path"].startswith(HOOKS_PATH) if scope["type"] == "http" else False
        total = self._times.webhook if is_hook else self._times.total
        left, has_begun, is_whole = total, False, False
        loop = asyncio.get_running_loop()

        async def receive_in_time() -> Message:
            nonlocal left, is_whole
            if is_whole:
                return await receive()
            limit, began = min(left, self._times.stall), loop.time()
            try:
                message = await self._wait(receive, limit)
            except TimeoutError as err:
                if has_begun:
                    return _DISCONNECT
                raise self._refusal(
                    limit if limit < left else total, is_stalled=limit < left
                ) from err
            left -= loop.time() - began
            is_whole = not message.get("more_body", False)
            return message

        async def send_and_see(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        await self._app(scope, receive_in_time, send_and_see)

    async def _wait(self, receive: Receive, seconds: float) -> Message:
        async with asyncio.timeout(0.0 if self._stopping else seconds) as wait:
            self._waits.add(wait)
            try:
                return await receive()
            finally:
                self._waits.discard(wait)

    def _refusal(self, seconds: float, *, is_stalled: bool) -> HttpRefusal:
        if self._stopping:
            why = Phrase("the server is stopping; send it again in a moment")
            return HttpRefusal(503, "stopping", why, {**_CLOSE, "retry-after": "5"})
        if is_stalled:
            return HttpRefusal(
                408,
                "slow",
                Phrase("no more of the body arrived within {seconds:g} s", seconds=seconds),
                _CLOSE,
            )
        return HttpRefusal(
            408,
            "slow",
            Phrase("the body did not arrive within {seconds:g} s", seconds=seconds),
            _CLOSE,
        )
