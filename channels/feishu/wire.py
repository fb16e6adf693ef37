"""Calls to Feishu's API: one pool of connections, one token, and what failures mean for a message."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import Message
from typing import Any

from channels.base import Fetched
from channels.errors import Ambiguous, ChannelError, Retryable, TooBig
from channels.feishu.codes import NO_APP, STALE_TOKEN, meaning, seconds
from channels.feishu.settings import Settings
from channels.leaving import HOOKS, staying
from channels.text import clean

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
