"""Calls to Feishu's API: one pool of connections, one token, and what failures mean for a message."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import Message
from typing import Any

from channels.base import Fetched
from channels.errors import Ambiguous, BadFormat, ChannelError, LoggedOut, Rejected, Retryable, TooBig
from channels.feishu.settings import Settings
from channels.message import OutboundFile
from channels.toolkit.sending import HOOKS, staying
from channels.toolkit.text import clean

# What Feishu's error codes mean for a message. Pure.

STALE_TOKEN = frozenset({99991661, 99991663, 99991671, 99991677})
"""The tenant token is missing, invalid, malformed or expired: a new one, and the same call once more."""
BUSY = frozenset({99991400, 230020})
"""Too often, for this API or this chat."""
BUSY_TENANT = 11232
NO_APP = frozenset({99991543, 99991662, 99991673, 10003, 10014})
NO_SCOPE = frozenset({99991672, 99991676, 99991679, 230027})
NO_CHAT = frozenset({230002, 230013})
NOT_A_CARD = frozenset({230001, 230025, 230099, 99992402, 11310, 200610, 200621, 300305})
"""The content itself was refused; as plain text it would go."""
NOTHING_TO_ANSWER = frozenset({230011, 231003})
"""The message replied to was recalled or deleted."""
SEQUENCE = 300317
"""A card was told an operation number that it had passed."""
STREAM_CLOSED = frozenset({300309, 200850})
"""A card's streaming has ended by itself."""
SHORTEST_WAIT = 1.0
LONGEST_TEXT = 300


class Refused(Rejected):
    """Refused with a code of which nothing more is known here."""

    def __init__(self, why: str, *, code: int) -> None:
        super().__init__(why)
        self.code = code


class NoScope(LoggedOut):
    """The app has not been given a permission; the text names it."""


def meaning(code: int, text: str, *, status: int = 200, reset: str = "") -> ChannelError:
    """The error that an answer's code stands for.

    Args:
        code: never 0. text: its `msg`. status: the HTTP status. reset: seconds, as the rate limit's header says them.
    """
    said = f"{text[:LONGEST_TEXT]} ({code})"
    if code in BUSY or code == BUSY_TENANT or status == 429:
        return Retryable(said, retry_after=seconds(reset) or SHORTEST_WAIT, whole_channel=code == BUSY_TENANT)
    if code in STALE_TOKEN:
        return LoggedOut(f"Feishu refuses the app's token: {said}")
    if code in NO_APP:
        return LoggedOut(f"Feishu refuses the app; check app_id, app_secret and that the app is enabled: {said}")
    if code in NO_SCOPE:
        return NoScope(f"the app lacks a permission; grant it in the developer console and publish a version: {said}")
    if code in NO_CHAT:
        return Rejected(said, gone=True)
    if code in NOT_A_CARD:
        return BadFormat(said)
    if status >= 500:
        return Ambiguous(f"HTTP {status}: {said}")
    return Refused(said, code=code)


def seconds(text: str) -> float | None:
    """A header's number of seconds, None for none or nonsense."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < 86_400 else None


FEISHU = "https://open.feishu.cn"
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 20.0
FILE_SECONDS = 120.0
CONNECTIONS = 32
FRESH_SECONDS = 1800.0
"""With less left a token is fetched anew: from then on the platform gives out another one."""
MOST_REFUSAL = 65_536
_ENDPOINT = "/callback/ws/endpoint"
_TOKEN = "/auth/v3/tenant_access_token/internal"  # noqa: S105
_UNSENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "LocalProtocolError")

Json = dict[str, Any]


class Wire:
    """One app's API. Opened by the first call, and again by the next after `close`."""

    def __init__(self, settings: Settings, answer_seconds: float = ANSWER_SECONDS) -> None:
        self.root = (settings.domain or FEISHU).rstrip("/")
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
        if reply["code"] in STALE_TOKEN:
            token = await self._fresh(instead_of=token)
            reply = await self._ask(method, f"/open-apis{path}", body, token=token, **more)
        if reply["code"]:
            raise _error(reply)
        return reply

    async def endpoint(self) -> Json:
        """Where a long connection is to be opened: the answer of the endpoint call, whatever its code.

        Raises:
            Retryable, Ambiguous: no answer of that form.
        """
        body = {"AppID": self._app[0], "AppSecret": self._app[1]}
        return await self._ask("POST", _ENDPOINT, body, headers={"locale": "zh"})

    async def fetch(self, path: str, params: Json, most: int) -> Fetched:
        """The bytes of a file, at most `most` of them.

        Raises:
            TooBig: there are more. Rejected: not ours to have. Retryable, Ambiguous, LoggedOut: not now.
        """
        token = await self._fresh()
        for again in (True, False):
            async with self._stream(f"/open-apis{path}", params, token) as reply:
                if _is_file(reply):
                    return await _read(reply, most)
                refusal = _parsed(reply, await _refusal(reply))
            if refusal["code"] not in STALE_TOKEN or not again:
                break
            token = await self._fresh(instead_of=token)
        raise _error(refusal) if refusal["code"] else Ambiguous("an answer without a file")

    async def close(self) -> None:
        """Drop the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    # -- the token --------------------------------------------------------------------------------

    async def _fresh(self, instead_of: str = "") -> str:
        """A token that holds; of many callers one fetches it. instead_of: what the platform has just refused."""
        if self._holds(instead_of):
            return self._token
        async with self._fetching:
            if not self._holds(instead_of):
                await self._fetch_token()
            return self._token

    def _holds(self, refused: str) -> bool:
        return bool(self._token) and self._token != refused and self._until - time.monotonic() > FRESH_SECONDS

    async def _fetch_token(self) -> None:
        began = time.monotonic()
        body = {"app_id": self._app[0], "app_secret": self._app[1]}
        try:
            with staying():
                reply = await self._ask("POST", f"/open-apis{_TOKEN}", body)
        except Ambiguous as err:  # nothing of the caller's has been sent
            raise Retryable(f"no token: {err}", whole_channel=True) from err
        if reply["code"] in NO_APP:
            raise _error(reply)
        token, life = reply.get("tenant_access_token"), reply.get("expire")
        if reply["code"] or not isinstance(token, str) or not isinstance(life, int | float):
            raise Retryable(f"no token: {reply.get('msg')} ({reply['code']})", whole_channel=True)
        # A life shorter than our margin must not have every call fetch a token.
        self._token, self._until = token, began + max(float(life), FRESH_SECONDS + 60)

    # -- bytes ------------------------------------------------------------------------------------

    async def _ask(self, method: str, path: str, body: Json | None, *, token: str = "", **more: Any) -> Json:
        import httpx2

        headers = {**more.pop("headers", {}), **_bearer(token)}
        if body is not None:
            more["content"] = json.dumps(body, ensure_ascii=False).encode()
            headers["content-type"] = "application/json; charset=utf-8"
        try:
            reply = await self._open().request(method, self.root + path, headers=headers, **more)
        except httpx2.HTTPError as err:
            raise _unanswered(err) from err
        return _parsed(reply, reply.content)

    @asynccontextmanager
    async def _stream(self, path: str, params: Json, token: str) -> AsyncIterator[Any]:
        import httpx2

        plain = {**_bearer(token), "accept-encoding": "identity"}  # what is counted is what came
        request = {"params": params, "headers": plain, "timeout": FILE_SECONDS}
        try:
            async with self._open().stream("GET", self.root + path, **request) as reply:
                yield reply
        except httpx2.HTTPError as err:
            raise _unanswered(err) from err

    def _open(self) -> Any:
        import httpx2

        if self._client is None:
            self._client = httpx2.AsyncClient(
                timeout=httpx2.Timeout(self._answer_seconds, connect=min(self._answer_seconds, CONNECT_SECONDS)),
                limits=httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
                proxy=self._proxy or None,
                trust_env=False,
                event_hooks=HOOKS,
            )
        return self._client


def _bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"} if token else {}


def _unanswered(err: Exception) -> ChannelError:
    """The error of a call that had no answer; its words are ours, for an address may hold a secret."""
    name = type(err).__name__
    if name in _UNSENT:
        return Retryable(f"Feishu cannot be reached: {name}", whole_channel=True)
    return Ambiguous(f"no answer from Feishu: {name}")


def _parsed(reply: Any, content: bytes) -> Json:
    """The answer as JSON with a code in it; its status and the rate limit's header are put beside it."""
    reset = reply.headers.get("x-ogw-ratelimit-reset") or reply.headers.get("retry-after") or ""
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict) or not isinstance(parsed.get("code"), int):
        if reply.status_code == 429:
            raise Retryable("too many calls (HTTP 429)", retry_after=seconds(reset) or 1.0)
        raise Ambiguous(f"an answer that is not Feishu's (HTTP {reply.status_code})")
    if not parsed["code"] and reply.status_code >= 400:
        raise Ambiguous(f"code 0 with HTTP {reply.status_code}")
    return {**parsed, "_status": reply.status_code, "_reset": reset}


def _error(reply: Json) -> ChannelError:
    return meaning(reply["code"], str(reply.get("msg", "")), status=reply["_status"], reset=reply["_reset"])


def _is_file(reply: Any) -> bool:
    """JSON is an error's, unless it is offered under a name."""
    named = "content-disposition" in reply.headers
    return reply.status_code == 200 and (named or "json" not in reply.headers.get("content-type", ""))


async def _read(reply: Any, most: int) -> Fetched:
    kept = bytearray()
    async for piece in reply.aiter_bytes():
        kept += piece
        if len(kept) > most:
            raise TooBig(f"the file is larger than {most} bytes")
    disposition = Message()
    disposition["content-disposition"] = reply.headers.get("content-disposition", "")
    media_type = reply.headers.get("content-type", "").partition(";")[0].strip()
    return Fetched(data=bytes(kept), name=clean(disposition.get_filename() or ""), media_type=media_type)


async def _refusal(reply: Any) -> bytes:
    kept = bytearray()
    async for piece in reply.aiter_bytes():
        kept += piece
        if len(kept) > MOST_REFUSAL:
            break
    return bytes(kept)


# Files as Feishu takes them: what kind each is, and how it is shown. Pure.

MOST_PICTURE = 10_000_000
MOST_FILE = 30_000_000
LONGEST_NAME = 200
_KINDS = {"pdf": "pdf", "doc": "doc", "docx": "doc", "xls": "xls", "xlsx": "xls", "ppt": "ppt", "pptx": "ppt"}
_HEARD = {"opus": ("opus", "audio"), "mp4": ("mp4", "media")}
_PICTURES = ("png", "jpg", "jpeg", "gif", "webp", "bmp", "tiff", "ico")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One upload. path: below /open-apis; fields, files: of the form; key: what the answer calls its key.

    msg_type: of the message that then shows it.
    """

    path: str
    fields: dict[str, str]
    files: Json
    key: str
    msg_type: str


def upload_of(file: OutboundFile) -> Upload:
    """How a file goes up.

    Raises:
        TooBig: more than Feishu takes. Rejected: there is nothing in it.
    """
    name = clean(file.name).replace("\\", "/").rsplit("/", 1)[-1].strip()[-LONGEST_NAME:] or "file"
    if not file.data:
        raise Rejected(f"the file {name} is empty, and Feishu takes no empty files")
    ending = name.rpartition(".")[2].lower()
    content = (name, file.data, file.media_type or "application/octet-stream")
    if (
        file.picture
        and len(file.data) <= MOST_PICTURE
        and (ending in _PICTURES or file.media_type.startswith("image/"))
    ):
        fields = {"image_type": "message"}
        return Upload(path="/im/v1/images", fields=fields, files={"image": content}, key="image_key", msg_type="image")
    if len(file.data) > MOST_FILE:
        raise TooBig(f"the file {name} has {len(file.data)} bytes, and Feishu takes {MOST_FILE}")
    kind, msg_type = _HEARD.get(ending, (_KINDS.get(ending, "stream"), "file"))
    fields = {"file_type": kind, "file_name": name}
    return Upload(path="/im/v1/files", fields=fields, files={"file": content}, key="file_key", msg_type=msg_type)


def file_body(upload: Upload, key: str) -> Json:
    """msg_type and content of the message that shows what went up under this key."""
    return {"msg_type": upload.msg_type, "content": json.dumps({upload.key: key})}
