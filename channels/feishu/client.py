"""Calls to Feishu's API: one pool of connections, one token, and what failures mean for a message."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import Message
from typing import Any

from channels.base import FetchedFile
from channels.errors import Ambiguous, AttachmentTooBig, BadFormat, ChannelError, LoggedOut, Rejected, Retryable
from channels.feishu.settings import FeishuSettings
from channels.message import OutboundFile
from channels.toolkit.sending import HTTP_HOOKS, without_leaving
from channels.toolkit.text import replace_unstorable

# What Feishu's error codes mean for a message. Pure.

# The tenant token is missing, invalid, malformed or expired: a new one, and the same call once more.
STALE_TOKEN_CODES = frozenset({99991661, 99991663, 99991671, 99991677})
BUSY_CODES = frozenset({99991400, 230020})  # too often, for this API or this chat
TENANT_BUSY_CODE = 11232
BAD_APP_CODES = frozenset({99991543, 99991662, 99991673, 10003, 10014})
NO_SCOPE_CODES = frozenset({99991672, 99991676, 99991679, 230027})
NO_CHAT_CODES = frozenset({230002, 230013})
# The content itself was refused; as plain text it would go.
BAD_CARD_CODES = frozenset({230001, 230025, 230099, 99992402, 11310, 200610, 200621, 300305})
REPLY_TARGET_MISSING_CODES = frozenset({230011, 231003})  # the message replied to was recalled or deleted
SEQUENCE_CODE = 300317  # a card was told an operation number that it had passed
STREAM_CLOSED_CODES = frozenset({300309, 200850})  # a card's streaming has ended by itself
MIN_WAIT = 1.0
MAX_ERROR_TEXT = 300


class FeishuApiError(Rejected):
    """Refused with a code of which nothing more is known here."""

    def __init__(self, why: str, *, code: int) -> None:
        super().__init__(why)
        self.code = code


class PermissionMissing(LoggedOut):
    """The app has not been given a permission; the text names it."""


def error_for_code(code: int, text: str, *, status: int = 200, reset: str = "") -> ChannelError:
    """The error that an answer's code stands for.

    Args:
        code: never 0. text: its `msg`. status: the HTTP status. reset: seconds, as the rate limit's header says them.
    """
    said = f"{text[:MAX_ERROR_TEXT]} ({code})"
    if code in BUSY_CODES or code == TENANT_BUSY_CODE or status == 429:
        return Retryable(said, retry_after=parse_seconds(reset) or MIN_WAIT, whole_channel=code == TENANT_BUSY_CODE)
    if code in STALE_TOKEN_CODES:
        return LoggedOut(f"Feishu refuses the app's token: {said}")
    if code in BAD_APP_CODES:
        return LoggedOut(f"Feishu refuses the app; check app_id, app_secret and that the app is enabled: {said}")
    if code in NO_SCOPE_CODES:
        return PermissionMissing(
            f"the app lacks a permission; grant it in the developer console and publish a version: {said}"
        )
    if code in NO_CHAT_CODES:
        return Rejected(said, gone=True)
    if code in BAD_CARD_CODES:
        return BadFormat(said)
    if status >= 500:
        return Ambiguous(f"HTTP {status}: {said}")
    return FeishuApiError(said, code=code)


def parse_seconds(text: str) -> float | None:
    """A header's number of seconds, None for none or nonsense."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < 86_400 else None


DEFAULT_SERVER = "https://open.feishu.cn"
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 20.0
FILE_SECONDS = 120.0
CONNECTIONS = 32
TOKEN_MARGIN_SECONDS = 1800.0  # with less left a token is fetched anew: from then on the platform gives out another one
MAX_ERROR_BODY = 65_536
_ENDPOINT = "/callback/ws/endpoint"
_TOKEN = "/auth/v3/tenant_access_token/internal"  # noqa: S105
_UNSENT_ERRORS = (
    "ConnectError",
    "ConnectTimeout",
    "PoolTimeout",
    "ProxyError",
    "UnsupportedProtocol",
    "LocalProtocolError",
)

Json = dict[str, Any]


class FeishuClient:
    """One app's API. Opened by the first call, and again by the next after `close`."""

    def __init__(self, settings: FeishuSettings, answer_seconds: float = ANSWER_SECONDS) -> None:
        self.root = (settings.domain or DEFAULT_SERVER).rstrip("/")
        self._app = (settings.app_id, settings.app_secret)
        self._proxy = settings.proxy
        self._answer_seconds = answer_seconds
        self._client: Any = None
        self._token = ""
        self._until = 0.0
        self._fetching = asyncio.Lock()

    async def call(self, method: str, path: str, body: Json | None = None, **more: Any) -> Json:
        """One call as the app; the whole answer, whose code is 0.

        Args:
            path: below /open-apis. more: params, files or data, as the HTTP client takes them.

        Raises:
            Retryable: surely not done. Ambiguous: perhaps done. Rejected, BadFormat: never to be done.
            LoggedOut: the app's credentials or permissions do not do.
        """
        token = await self._fresh()
        reply = await self._ask(method, f"/open-apis{path}", body, token=token, **more)
        if reply["code"] in STALE_TOKEN_CODES:
            token = await self._fresh(rejected_token=token)
            reply = await self._ask(method, f"/open-apis{path}", body, token=token, **more)
        if reply["code"]:
            raise _error_in_response(reply)
        return reply

    async def endpoint(self) -> Json:
        """Where a long connection is to be opened: the answer of the endpoint call, whatever its code.

        Raises:
            Retryable, Ambiguous: no answer of that form.
        """
        body = {"AppID": self._app[0], "AppSecret": self._app[1]}
        return await self._ask("POST", _ENDPOINT, body, headers={"locale": "zh"})

    async def fetch(self, path: str, params: Json, most: int) -> FetchedFile:
        """The bytes of a file, at most `most` of them.

        Raises:
            TooBig: there are more. Rejected: not ours to have. Retryable, Ambiguous, LoggedOut: not now.
        """
        token = await self._fresh()
        for again in (True, False):
            async with self._stream(f"/open-apis{path}", params, token) as reply:
                if _is_file(reply):
                    return await _read_limited(reply, most)
                refusal = _parse_response(reply, await _read_error_body(reply))
            if refusal["code"] not in STALE_TOKEN_CODES or not again:
                break
            token = await self._fresh(rejected_token=token)
        raise _error_in_response(refusal) if refusal["code"] else Ambiguous("an answer without a file")

    async def close(self) -> None:
        """Drop the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    # -- the token --------------------------------------------------------------------------------

    async def _fresh(self, rejected_token: str = "") -> str:
        """A token that holds; of many callers one fetches it. instead_of: what the platform has just refused."""
        if self._holds(rejected_token):
            return self._token
        async with self._fetching:
            if not self._holds(rejected_token):
                await self._fetch_token()
            return self._token

    def _holds(self, refused: str) -> bool:
        return bool(self._token) and self._token != refused and self._until - time.monotonic() > TOKEN_MARGIN_SECONDS

    async def _fetch_token(self) -> None:
        began = time.monotonic()
        body = {"app_id": self._app[0], "app_secret": self._app[1]}
        try:
            with without_leaving():
                reply = await self._ask("POST", f"/open-apis{_TOKEN}", body)
        except Ambiguous as err:  # nothing of the caller's has been sent
            raise Retryable(f"no token: {err}", whole_channel=True) from err
        if reply["code"] in BAD_APP_CODES:
            raise _error_in_response(reply)
        token, life = reply.get("tenant_access_token"), reply.get("expire")
        if reply["code"] or not isinstance(token, str) or not isinstance(life, int | float):
            raise Retryable(f"no token: {reply.get('msg')} ({reply['code']})", whole_channel=True)
        # A life shorter than our margin must not have every call fetch a token.
        self._token, self._until = token, began + max(float(life), TOKEN_MARGIN_SECONDS + 60)

    # -- bytes ------------------------------------------------------------------------------------

    async def _ask(self, method: str, path: str, body: Json | None, *, token: str = "", **more: Any) -> Json:
        import httpx2

        headers = {**more.pop("headers", {}), **_auth_headers(token)}
        if body is not None:
            more["content"] = json.dumps(body, ensure_ascii=False).encode()
            headers["content-type"] = "application/json; charset=utf-8"
        try:
            reply = await self._open().request(method, self.root + path, headers=headers, **more)
        except httpx2.HTTPError as err:
            raise _error_without_response(err) from err
        return _parse_response(reply, reply.content)

    @asynccontextmanager
    async def _stream(self, path: str, params: Json, token: str) -> AsyncIterator[Any]:
        import httpx2

        plain = {**_auth_headers(token), "accept-encoding": "identity"}  # what is counted is what came
        request = {"params": params, "headers": plain, "timeout": FILE_SECONDS}
        try:
            async with self._open().stream("GET", self.root + path, **request) as reply:
                yield reply
        except httpx2.HTTPError as err:
            raise _error_without_response(err) from err

    def _open(self) -> Any:
        import httpx2

        if self._client is None:
            self._client = httpx2.AsyncClient(
                timeout=httpx2.Timeout(self._answer_seconds, connect=min(self._answer_seconds, CONNECT_SECONDS)),
                limits=httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
                proxy=self._proxy or None,
                trust_env=False,
                event_hooks=HTTP_HOOKS,
            )
        return self._client


def _auth_headers(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"} if token else {}


def _error_without_response(err: Exception) -> ChannelError:
    """The error of a call that had no answer; its words are ours, for an address may hold a secret."""
    name = type(err).__name__
    if name in _UNSENT_ERRORS:
        return Retryable(f"Feishu cannot be reached: {name}", whole_channel=True)
    return Ambiguous(f"no answer from Feishu: {name}")


def _parse_response(reply: Any, content: bytes) -> Json:
    """The answer as JSON with a code in it; its status and the rate limit's header are put beside it."""
    reset = reply.headers.get("x-ogw-ratelimit-reset") or reply.headers.get("retry-after") or ""
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict) or not isinstance(parsed.get("code"), int):
        if reply.status_code == 429:
            raise Retryable("too many calls (HTTP 429)", retry_after=parse_seconds(reset) or 1.0)
        raise Ambiguous(f"an answer that is not Feishu's (HTTP {reply.status_code})")
    if not parsed["code"] and reply.status_code >= 400:
        raise Ambiguous(f"code 0 with HTTP {reply.status_code}")
    return {**parsed, "_status": reply.status_code, "_reset": reset}


def _error_in_response(reply: Json) -> ChannelError:
    return error_for_code(reply["code"], str(reply.get("msg", "")), status=reply["_status"], reset=reply["_reset"])


def _is_file(reply: Any) -> bool:
    """JSON is an error's, unless it is offered under a name."""
    named = "content-disposition" in reply.headers
    return reply.status_code == 200 and (named or "json" not in reply.headers.get("content-type", ""))


async def _read_limited(reply: Any, most: int) -> FetchedFile:
    kept = bytearray()
    async for piece in reply.aiter_bytes():
        kept += piece
        if len(kept) > most:
            raise AttachmentTooBig(f"the file is larger than {most} bytes")
    disposition = Message()
    disposition["content-disposition"] = reply.headers.get("content-disposition", "")
    media_type = reply.headers.get("content-type", "").partition(";")[0].strip()
    return FetchedFile(
        data=bytes(kept), name=replace_unstorable(disposition.get_filename() or ""), media_type=media_type
    )


async def _read_error_body(reply: Any) -> bytes:
    kept = bytearray()
    async for piece in reply.aiter_bytes():
        kept += piece
        if len(kept) > MAX_ERROR_BODY:
            break
    return bytes(kept)


# Files as Feishu takes them: what kind each is, and how it is shown. Pure.

MAX_PICTURE_BYTES = 10_000_000
MAX_FILE_BYTES = 30_000_000
MAX_FILE_NAME = 200
_FILE_TYPES = {"pdf": "pdf", "doc": "doc", "docx": "doc", "xls": "xls", "xlsx": "xls", "ppt": "ppt", "pptx": "ppt"}
_MEDIA_TYPES = {"opus": ("opus", "audio"), "mp4": ("mp4", "media")}
_PICTURE_SUFFIXES = ("png", "jpg", "jpeg", "gif", "webp", "bmp", "tiff", "ico")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One upload."""

    #: Below /open-apis.
    path: str
    #: Of the form.
    fields: dict[str, str]
    #: Of the form.
    files: Json
    #: What the answer calls its key.
    key: str
    #: Of the message that then shows it.
    msg_type: str


def plan_upload(file: OutboundFile) -> Upload:
    """How a file goes up.

    Raises:
        TooBig: more than Feishu takes. Rejected: there is nothing in it.
    """
    name = replace_unstorable(file.name).replace("\\", "/").rsplit("/", 1)[-1].strip()[-MAX_FILE_NAME:] or "file"
    if not file.data:
        raise Rejected(f"the file {name} is empty, and Feishu takes no empty files")
    ending = name.rpartition(".")[2].lower()
    content = (name, file.data, file.media_type or "application/octet-stream")
    if (
        file.picture
        and len(file.data) <= MAX_PICTURE_BYTES
        and (ending in _PICTURE_SUFFIXES or file.media_type.startswith("image/"))
    ):
        fields = {"image_type": "message"}
        return Upload(path="/im/v1/images", fields=fields, files={"image": content}, key="image_key", msg_type="image")
    if len(file.data) > MAX_FILE_BYTES:
        raise AttachmentTooBig(f"the file {name} has {len(file.data)} bytes, and Feishu takes {MAX_FILE_BYTES}")
    kind, msg_type = _MEDIA_TYPES.get(ending, (_FILE_TYPES.get(ending, "stream"), "file"))
    fields = {"file_type": kind, "file_name": name}
    return Upload(path="/im/v1/files", fields=fields, files={"file": content}, key="file_key", msg_type=msg_type)


def file_body(upload: Upload, key: str) -> Json:
    """msg_type and content of the message that shows what went up under this key."""
    return {"msg_type": upload.msg_type, "content": json.dumps({upload.key: key})}
