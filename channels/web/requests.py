"""HTTP requests and responses of the page and the API: refusals, JSON bodies, posted messages."""

import asyncio
import base64
import binascii
import gzip
import json
import re
import secrets
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp

from channels.errors import ChannelError
from channels.message import Attachment, InboundMessage, Sender
from channels.toolkit.untrusted import parse_strict_json
from channels.web.backend import ConversationEntry, web_address


class HttpRefusal(ChannelError):
    """Answers one request with `status`, the JSON error {code, message} and additional `headers`."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        field: str = "",
        hint: str = "",
    ) -> None:
        """Args: field: which value of the request is wrong. hint: what to do next."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})
        self.field = field
        self.hint = hint


class CannotServe(ChannelError):
    """The port or the token file cannot be used; the text is one sentence for the operator."""


# A posted message.

NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
MEDIA_TYPE = re.compile(r"[a-z0-9.+-]{1,64}/[a-z0-9.+-]{1,64}", re.ASCII)
MAX_TEXT = 200_000
MAX_KEY = 200
MAX_FILES = 10
MAX_FILES_BYTES = 25_000_000
LABEL_BYTES = 120
KNOWN_FIELDS = frozenset({"conversation", "text", "key", "attachments"})


def parse_message(fields: Mapping[str, Any], now: datetime) -> InboundMessage:
    """Parse the JSON object of a posted message.

    The key is prefixed with the conversation's name, so clients may number their messages per conversation.

    Raises:
        HttpRefusal: 400 for a field that is wrong, 413 for one that is too large; the text names it.
    """
    unknown = sorted(set(fields) - KNOWN_FIELDS)
    if unknown:
        raise HttpRefusal(
            400, "unknown_field", f"{unknown[0][:40]!r} is not a field of a message; {sorted(KNOWN_FIELDS)} are"
        )
    conversation = fields.get("conversation")
    if not isinstance(conversation, str) or not NAME.fullmatch(conversation):
        raise HttpRefusal(400, "conversation", "conversation must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -")
    text = _text(fields.get("text", ""))
    attachments = _attachments(fields.get("attachments") or [])
    if not text.strip() and not attachments:
        raise HttpRefusal(400, "empty", "text is empty; write something or attach a file")
    return InboundMessage(
        address=web_address(conversation),
        kind="dm",
        key=f"{conversation}\x1f{_key(fields.get('key'))}",
        sender=Sender(id="owner"),
        text=text,
        sent_at=now,
        attachments=attachments,
    )


def clean_text(text: str) -> str:
    """Remove what cannot be stored: NUL is dropped, each lone surrogate becomes U+FFFD."""
    return text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def file_label(name: str) -> str:
    """Make a file name displayable: no folders, no control or direction characters, at most 120 bytes."""
    last = re.split(r"[\\/]", clean_text(name))[-1]
    visible = "".join(char for char in last if unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp"))
    cut = visible.encode()[:LABEL_BYTES].decode(errors="ignore").strip(" .")
    return cut or "file"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise HttpRefusal(400, "text", "text must be a string")
    if len(value) > MAX_TEXT:
        raise HttpRefusal(413, "too_long", f"text has {len(value)} characters; {MAX_TEXT} fit, a file takes more")
    return clean_text(value)


def _key(value: Any) -> str:
    if value is None:
        return secrets.token_hex(16)
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_KEY:
        raise HttpRefusal(400, "key", f"key must be a string of 1 to {MAX_KEY} characters, or left out")
    if clean_text(value) != value:
        raise HttpRefusal(400, "key", "key must be plain text without NUL")
    return value


def _attachments(value: Any) -> tuple[Attachment, ...]:
    if not isinstance(value, list):
        raise HttpRefusal(400, "attachments", "attachments must be a list")
    if len(value) > MAX_FILES:
        raise HttpRefusal(413, "too_many_files", f"{len(value)} files; {MAX_FILES} fit into one message")
    files = tuple(_attachment(item) for item in value)
    total = sum(len(item.data) for item in files)
    if total > MAX_FILES_BYTES:
        raise HttpRefusal(413, "too_large", f"the files have {total} bytes; {MAX_FILES_BYTES} fit into one message")
    return files


def _attachment(item: Any) -> Attachment:
    if not isinstance(item, dict) or not all(isinstance(value, str) for value in item.values()):
        raise HttpRefusal(400, "attachments", "an attachment is an object of strings: name, media_type, data")
    media_type = item.get("media_type", "").split(";")[0].strip().lower() or "application/octet-stream"
    if not MEDIA_TYPE.fullmatch(media_type):
        raise HttpRefusal(400, "attachments", f"{media_type[:40]!r} is not a media type such as image/png")
    try:
        data = base64.b64decode(item.get("data", ""), validate=True)
    except (binascii.Error, ValueError) as err:
        raise HttpRefusal(400, "attachments", "data of an attachment must be base64") from err
    if not data:
        raise HttpRefusal(400, "attachments", "an attachment is empty")
    return Attachment(name=file_label(item.get("name", "")), media_type=media_type, data=data)


# Routes and responses.

Handler = Callable[[Request], Awaitable[ASGIApp]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route of the API."""

    method: str
    path: str
    #: Action of bot.access.permissions that the caller must be allowed.
    action: str
    #: May raise HttpRefusal.
    handler: Handler
    #: Only after a login of the last minutes; see `require_fresh_login`.
    needs_fresh_login: bool = False
    #: What its query, its JSON body and its JSON reply are; None for none, or another format.
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    reply: type[BaseModel] | None = None

    @property
    def v1(self) -> str:
        """Its address in the versioned API, where lists are called `items`; "" outside the API."""
        return f"{V1_PATH}{self.path.removeprefix(API_PATH)}" if self.path.startswith(API_PATH) else ""


API_PATH, V1_PATH = "/api/", "/api/v1/"


def list_key(request: Request, name: str) -> str:
    """Return what a reply calls its list: `items` in the versioned API, else its own name."""
    return "items" if request.scope["path"].startswith(V1_PATH) else name


def is_versioned(request: Request) -> bool:
    """Tell whether a request is of the versioned API."""
    return bool(request.scope["path"].startswith(V1_PATH))


def json_response(value: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Build a JSON response that no cache stores."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    return Response(body, status, {"cache-control": "no-store", **(headers or {})}, "application/json")


def compressed_json(request: Request, value: Mapping[str, Any]) -> Response:
    """Build a JSON response in gzip if the client accepts it.

    Only for what has no secret: from the length of a compressed response somebody in between could guess it.
    """
    body, headers = bytes(json_response(value).body), {"cache-control": "no-store", "vary": "accept-encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["content-encoding"] = gzip.compress(body, mtime=0), "gzip"
    return Response(body, 200, headers, "application/json")


def error_response(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None, *, field: str = "", hint: str = ""
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
    return fields | more | {"named": entry.is_named, "deleting": entry.is_deleting}


Fields = TypeVar("Fields", bound=BaseModel)


def parse_query(model: type[Fields], request: Request) -> Fields:
    """Parse a query string; what is given twice counts once, NUL is dropped.

    Raises:
        HttpRefusal: 400 with the parameter that is wrong.
    """
    return _parse(model, {name: clean_text(value) for name, value in request.query_params.items()}, 400)


def parse_fields(model: type[Fields], body: Mapping[str, Any]) -> Fields:
    """Parse the fields of a JSON object.

    Raises:
        HttpRefusal: 422 with the field that is wrong.
    """
    return _parse(model, body, 422)


def _parse(model: type[Fields], values: Mapping[str, Any], status: int) -> Fields:
    try:
        return model.model_validate(values)
    except ValidationError as err:
        first = err.errors(include_url=False, include_context=False, include_input=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "body"
        raise HttpRefusal(status, name, f"{name} is not as it must be: {first['msg']}", field=name) from err


Headers = Sequence[tuple[bytes, bytes]]


def header_values(headers: Headers, name: bytes) -> list[bytes]:
    """Return all values of one header, in order. Names are lower-case in ASGI."""
    return [value for key, value in headers if key == name]


def peer_address(request: Request) -> str:
    """Return the address at the other end of the connection."""
    return request.client.host if request.client else ""


# Request bodies.

MEBIBYTE = 1 << 20
SMALL_BODY = MEBIBYTE
LARGE_BODY = 36 * MEBIBYTE  # 25 MB of files are 33.4 MB in base64
DRAIN_BYTES = 96 * MEBIBYTE  # read of a refused body: a client that is still sending may not read the refusal
MAX_LARGE_BODY_MEMBERS = 300_000  # brackets, braces and commas
RETRY_LARGE_SECONDS = 60  # after which a client may try a large body again
MAX_WAITING_BODIES = 8  # large bodies waiting to be read, with the first MiB of each in memory
_CLOSE = {"connection": "close"}


async def read_json(request: Request, *, limit: int = SMALL_BODY) -> dict[str, Any]:
    """Read a JSON object of at most `limit` bytes from the body.

    Raises:
        HttpRefusal: 413 too long, 400 not JSON or not an object; what `receive` raises, see BodyLimiter.
    """
    return as_object(parse_json(await read_body(request, limit=limit)))


class LargeBodies:
    """Reads large bodies one at a time, to bound memory; a few more may wait."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()
        self._waiting = 0

    @asynccontextmanager
    async def read_json(self, request: Request, *, member: str) -> AsyncIterator[dict[str, Any]]:
        """Read a JSON object; one over 1 MiB needs this member, and the next waits for the block to end.

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
            fields = as_object(await asyncio.to_thread(parse_json, raw) if large else parse_json(raw))
            if large and not fields.get(member):
                raise HttpRefusal(413, "too_large", f"a message without {member} may have {SMALL_BODY} bytes")
            del raw
            yield fields
        finally:
            if locked:
                self._one_at_a_time.release()

    async def _acquire(self) -> None:
        if self._waiting >= MAX_WAITING_BODIES:
            why = "too many large messages are on their way; send it again in a minute"
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
        drain: bytes up to which a refused body is read and dropped, so that the client gets to read the refusal.

    Raises:
        HttpRefusal: 413 too long, 400 cut off; what `on_large` and `receive` raised, see BodyLimiter.
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
        raise HttpRefusal(400, "cut", "the body was cut off", _CLOSE) from err
    if refused is not None:
        raise refused
    if received > limit:
        raise HttpRefusal(413, "too_large", f"the body is larger than {limit} bytes", _CLOSE)
    return body


def parse_json(raw: bytes | bytearray) -> Any:
    """Parse JSON without duplicate keys, NaN, very long numbers or more than 32 levels.

    Raises:
        HttpRefusal: 400; the text says what is wrong.
    """
    if len(raw) > SMALL_BODY and sum(map(raw.count, (b"[", b"{", b","))) > MAX_LARGE_BODY_MEMBERS:
        raise HttpRefusal(400, "bad_json", "the body has too many members")
    try:
        return parse_strict_json(raw)
    except ValueError as err:
        raise HttpRefusal(400, "bad_json", f"the body is not plain JSON: {str(err)[:120]}") from err


def as_object(value: Any) -> dict[str, Any]:
    """Return the value if it is an object.

    Raises:
        HttpRefusal: 400 if it is not.
    """
    if not isinstance(value, dict):
        raise HttpRefusal(400, "bad_json", "the body must be a JSON object")
    return value
