"""Feishu API client: connections, tenant token, error mapping and upload plans."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import Message
from typing import Any

from channels.base import FetchedFile
from channels.errors import (
    Ambiguous,
    AttachmentTooBig,
    BadFormat,
    ChannelError,
    LoggedOut,
    Rejected,
    Retryable,
)
from channels.feishu.settings import SERVER, FeishuSettings
from channels.message import OutboundFile
from channels.toolkit.http import (
    AccessToken,
    HttpPool,
    is_unsent,
    parse_retry_after,
    read_limited,
    read_start,
)
from channels.toolkit.text import replace_unstorable
from channels.toolkit.untrusted import load_object

# Error codes.

# The tenant token is missing, invalid, malformed or expired: renew it and repeat the call once.
STALE_TOKEN_CODES = frozenset({99991661, 99991663, 99991671, 99991677})
BUSY_CODES = frozenset({99991400, 230020})  # too often, for this API or this chat
TENANT_BUSY_CODE = 11232
BAD_APP_CODES = frozenset({99991543, 99991662, 99991673, 10003, 10014})
NO_SCOPE_CODES = frozenset({99991672, 99991676, 99991679, 230027})
NO_CHAT_CODES = frozenset({230002, 230013})
# The content was refused; plain text would be accepted.
BAD_CARD_CODES = frozenset({230001, 230025, 230099, 99992402, 11310, 200610, 200621, 300305})
# the message replied to was recalled or deleted
REPLY_TARGET_MISSING_CODES = frozenset({230011, 231003})
SEQUENCE_CODE = 300317  # the card has already seen a higher operation number
STREAM_CLOSED_CODES = frozenset({300309, 200850})  # streaming into the card has timed out
MIN_WAIT = 1.0
MAX_ERROR_TEXT = 300


class FeishuApiError(Rejected):
    """Refused with a code that has no special handling."""

    def __init__(self, why: str, *, code: int) -> None:
        super().__init__(why)
        self.code = code


class PermissionMissing(LoggedOut):
    """The app lacks a permission; the text names it."""


def error_for_code(code: int, text: str, *, status: int = 200, reset: str = "") -> ChannelError:
    """Map a reply's error code to an error.

    Args:
        code: not 0. text: the reply's `msg`. status: HTTP status. reset: seconds from the
            rate-limit header.
    """
    why = f"{text[:MAX_ERROR_TEXT]} ({code})"
    if code in BUSY_CODES or code == TENANT_BUSY_CODE or status == 429:
        return Retryable(
            why,
            retry_after=parse_retry_after(reset) or MIN_WAIT,
            whole_channel=code == TENANT_BUSY_CODE,
        )
    if code in STALE_TOKEN_CODES:
        return LoggedOut(f"Feishu refuses the app's token: {why}")
    if code in BAD_APP_CODES:
        return LoggedOut(
            f"Feishu refuses the app; check app_id, app_secret and that the app is enabled: {why}"
        )
    if code in NO_SCOPE_CODES:
        return PermissionMissing(
            "the app lacks a permission; grant it in the developer console and publish a version: "
            f"{why}"
        )
    if code in NO_CHAT_CODES:
        return Rejected(why, gone=True)
    if code in BAD_CARD_CODES:
        return BadFormat(why)
    if status >= 500:
        return Ambiguous(f"HTTP {status}: {why}")
    return FeishuApiError(why, code=code)


ANSWER_SECONDS = 20.0
FILE_SECONDS = 120.0
# with less time left, the platform issues a new token; before that it returns the old
TOKEN_MARGIN_SECONDS = 1800.0
# so that a lifetime below the margin does not mean one token call per API call
MIN_TOKEN_SECONDS = 60.0
MAX_ERROR_BODY = 65_536
_ENDPOINT = "/callback/ws/endpoint"
_TOKEN = "/auth/v3/tenant_access_token/internal"  # noqa: S105

Json = dict[str, Any]


class FeishuClient:
    """The API of one app.

    The first call opens the connections, and the next one after `close` reopens them.
    """

    def __init__(self, settings: FeishuSettings, answer_seconds: float = ANSWER_SECONDS) -> None:
        self.root = (settings.domain or SERVER).rstrip("/")
        self._app = (settings.app_id, settings.app_secret)
        self._http = HttpPool(settings.proxy, answer_seconds)
        self._token = AccessToken(self._fetch_token)

    async def call(self, method: str, path: str, body: Json | None = None, **more: Any) -> Json:
        """Make one call with the tenant token and return the whole reply, whose code is 0.

        Args:
            path: below /open-apis. more: params, files or data for the HTTP client.

        Raises:
            Retryable: certainly not done. Ambiguous: possibly done. Rejected, BadFormat: will never
                be accepted.
            LoggedOut: the app's credentials or permissions are not sufficient.
        """
        token = await self._token.get()
        reply = await self._request(method, f"/open-apis{path}", body, token=token, **more)
        if reply["code"] in STALE_TOKEN_CODES:
            token = await self._token.get(rejected=token)
            reply = await self._request(method, f"/open-apis{path}", body, token=token, **more)
        if reply["code"]:
            raise _error_in_response(reply)
        return reply

    async def endpoint(self) -> Json:
        """Request the URL of the long connection; returns the reply whatever its code.

        Raises:
            Retryable, Ambiguous: no reply of that form.
        """
        body = {"AppID": self._app[0], "AppSecret": self._app[1]}
        return await self._request("POST", _ENDPOINT, body, headers={"locale": "zh"})

    async def fetch(self, path: str, params: Json, max_bytes: int) -> FetchedFile:
        """Download a file; stops reading beyond `max_bytes`.

        Raises:
            AttachmentTooBig: it is larger. Rejected: no access to it. Retryable, Ambiguous,
                LoggedOut: not now.
        """
        token = await self._token.get()
        for again in (True, False):
            async with self._stream(f"/open-apis{path}", params, token) as reply:
                if _is_file(reply):
                    return await _read_file(reply, max_bytes)
                refusal = _parse_response(
                    reply, await read_start(reply.aiter_bytes(), MAX_ERROR_BODY)
                )
            if refusal["code"] not in STALE_TOKEN_CODES or not again:
                break
            token = await self._token.get(rejected=token)
        raise (
            _error_in_response(refusal)
            if refusal["code"]
            else Ambiguous("an answer without a file")
        )

    async def upload(self, file: OutboundFile) -> Json:
        """Upload a file; return msg_type and content of the message that shows it.

        Raises:
            Rejected, AttachmentTooBig: never accepted. Retryable, LoggedOut: not now.
        """
        upload = plan_upload(file)
        try:
            reply = await self.call("POST", upload.path, data=upload.fields, files=upload.files)
        except PermissionMissing as err:
            raise Rejected(f"the file cannot be sent: {err}") from err
        except Ambiguous as err:  # an upload alone is not visible
            raise Retryable(str(err)) from err
        return {
            "msg_type": upload.msg_type,
            "content": json.dumps({upload.key: reply_field(reply, upload.key)}),
        }

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    async def _fetch_token(self, _: str) -> tuple[str, float]:
        body = {"app_id": self._app[0], "app_secret": self._app[1]}
        try:
            reply = await self._request("POST", f"/open-apis{_TOKEN}", body)
        except Ambiguous as err:  # the caller's own request has not been sent
            raise Retryable(f"no token: {err}", whole_channel=True) from err
        if reply["code"] in BAD_APP_CODES:
            raise _error_in_response(reply)
        token, life = reply.get("tenant_access_token"), reply.get("expire")
        if reply["code"] or not isinstance(token, str) or not isinstance(life, int | float):
            raise Retryable(f"no token: {reply.get('msg')} ({reply['code']})", whole_channel=True)
        return token, max(float(life) - TOKEN_MARGIN_SECONDS, MIN_TOKEN_SECONDS)

    async def _request(
        self, method: str, path: str, body: Json | None, *, token: str = "", **more: Any
    ) -> Json:
        import httpx2

        headers = {**more.pop("headers", {}), **_auth_headers(token)}
        if body is not None:
            more["content"] = json.dumps(body, ensure_ascii=False).encode()
            headers["content-type"] = "application/json; charset=utf-8"
        try:
            reply = await (await self._http.open()).request(
                method, self.root + path, headers=headers, **more
            )
        except httpx2.HTTPError as err:
            raise _error_without_response(err) from err
        return _parse_response(reply, reply.content)

    @asynccontextmanager
    async def _stream(self, path: str, params: Json, token: str) -> AsyncIterator[Any]:
        import httpx2

        # so that the limit counts the bytes received
        plain = {**_auth_headers(token), "accept-encoding": "identity"}
        request = {"params": params, "headers": plain, "timeout": FILE_SECONDS}
        try:
            async with (await self._http.open()).stream(
                "GET", self.root + path, **request
            ) as reply:
                yield reply
        except httpx2.HTTPError as err:
            raise _error_without_response(err) from err


def _auth_headers(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"} if token else {}


def _error_without_response(err: Exception) -> ChannelError:
    """The error of a call without a reply.

    The text leaves out the library's, where a URL may hold a secret.
    """
    name = type(err).__name__
    if is_unsent(err):
        return Retryable(f"Feishu cannot be reached: {name}", whole_channel=True)
    return Ambiguous(f"no answer from Feishu: {name}")


def _parse_response(reply: Any, content: bytes) -> Json:
    """Parse a reply that must be JSON with a code; adds its HTTP status and rate-limit header."""
    reset = reply.headers.get("x-ogw-ratelimit-reset") or reply.headers.get("retry-after") or ""
    parsed = load_object(content)
    if parsed is None or not isinstance(parsed.get("code"), int):
        if reply.status_code == 429:
            raise Retryable(
                "too many calls (HTTP 429)", retry_after=parse_retry_after(reset) or MIN_WAIT
            )
        raise Ambiguous(f"an answer that is not Feishu's (HTTP {reply.status_code})")
    if not parsed["code"] and reply.status_code >= 400:
        raise Ambiguous(f"code 0 with HTTP {reply.status_code}")
    return {**parsed, "_status": reply.status_code, "_reset": reset}


def _error_in_response(reply: Json) -> ChannelError:
    return error_for_code(
        reply["code"], str(reply.get("msg", "")), status=reply["_status"], reset=reply["_reset"]
    )


def reply_field(reply: Json, name: str) -> str:
    """Return a text of the reply's data. Raises Ambiguous: it is missing."""
    value = (reply.get("data") or {}).get(name)
    if not isinstance(value, str) or not value:
        raise Ambiguous(f"an answer without {name}")
    return value


def _is_file(reply: Any) -> bool:
    """Whether a reply is a file. JSON is an error, unless the reply gives it a file name."""
    named = "content-disposition" in reply.headers
    return reply.status_code == 200 and (
        named or "json" not in reply.headers.get("content-type", "")
    )


async def _read_file(reply: Any, max_bytes: int) -> FetchedFile:
    data = await read_limited(reply.aiter_bytes(), max_bytes)
    disposition = Message()
    disposition["content-disposition"] = reply.headers.get("content-disposition", "")
    media_type = reply.headers.get("content-type", "").partition(";")[0].strip()
    return FetchedFile(
        data=data, name=replace_unstorable(disposition.get_filename() or ""), media_type=media_type
    )


# Uploads.

MAX_PICTURE_BYTES = 10_000_000
MAX_FILE_BYTES = 30_000_000
MAX_FILE_NAME = 200
_FILE_TYPES = {
    "pdf": "pdf",
    "doc": "doc",
    "docx": "doc",
    "xls": "xls",
    "xlsx": "xls",
    "ppt": "ppt",
    "pptx": "ppt",
}
_MEDIA_TYPES = {"opus": ("opus", "audio"), "mp4": ("mp4", "media")}
_PICTURE_SUFFIXES = ("png", "jpg", "jpeg", "gif", "webp", "bmp", "tiff", "ico")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """The request that uploads a file, and how a message then shows it."""

    #: Below /open-apis.
    path: str
    #: Fields of the multipart form.
    fields: dict[str, str]
    #: File parts of the multipart form.
    files: Json
    #: Name of the reply's field that holds the file's key.
    key: str
    #: Type of the message that shows the file.
    msg_type: str


def plan_upload(file: OutboundFile) -> Upload:
    """Choose how to upload a file.

    Raises:
        AttachmentTooBig: larger than Feishu accepts. Rejected: the file is empty.
    """
    name = (
        replace_unstorable(file.name).replace("\\", "/").rsplit("/", 1)[-1].strip()[-MAX_FILE_NAME:]
        or "file"
    )
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
        return Upload(
            path="/im/v1/images",
            fields=fields,
            files={"image": content},
            key="image_key",
            msg_type="image",
        )
    if len(file.data) > MAX_FILE_BYTES:
        raise AttachmentTooBig(
            f"the file {name} has {len(file.data)} bytes, and Feishu takes {MAX_FILE_BYTES}"
        )
    kind, msg_type = _MEDIA_TYPES.get(ending, (_FILE_TYPES.get(ending, "stream"), "file"))
    fields = {"file_type": kind, "file_name": name}
    return Upload(
        path="/im/v1/files",
        fields=fields,
        files={"file": content},
        key="file_key",
        msg_type=msg_type,
    )
