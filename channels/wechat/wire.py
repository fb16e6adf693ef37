"""Calls to the iLink API and to its files' servers, and what their failures mean for a message."""

import base64
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from channels.errors import Ambiguous, ChannelError, LoggedOut, Rejected, Retryable
from channels.leaving import HOOKS

SERVER = "https://ilinkai.weixin.qq.com"
FILES = "https://novac2c.cdn.weixin.qq.com/c2c"
DOMAINS = (".weixin.qq.com", ".wechat.com")
"""Where the platform may send us on to when its own servers are used."""
VERSION = "2.4.3"
"""Of the protocol that is spoken here."""
AGENT = "mnema/0.1"
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 15.0
CONNECTIONS = 32
LONGEST_WORDS = 200
EXPIRED = -14
_NOT_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "LocalProtocolError")

Json = dict[str, Any]


class Refused(Rejected):
    """The API answered with a code of its own; code: from ret, else errcode; words: errmsg."""

    def __init__(self, path: str, code: int, words: str) -> None:
        super().__init__(f"WeChat refused {path}: {code} {words}".rstrip())
        self.code = code
        self.words = words


class Wire:
    """One pool of connections; made by `open_wire`."""

    def __init__(self, http: Any) -> None:
        self._http = http

    async def post(self, root: str, path: str, body: Json, *, wait: float, token: str = "") -> Json:
        """One call; the answer's JSON object.

        Args:
            root: of the API. path: after /ilink/bot/, with its query. token: the bot's, "" before login.
            wait: for how many seconds an answer may fail to come.

        Raises:
            Retryable: surely not done. Ambiguous: perhaps done. Refused: not done, with a code.
            Rejected: never to be done. LoggedOut: the session is over.
        """
        headers = {
            "AuthorizationType": "ilink_bot_token",
            "X-WECHAT-UIN": base64.b64encode(str(secrets.randbits(32)).encode()).decode(),
            **_about_us(),
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        body = {**body, "base_info": {"channel_version": VERSION, "bot_agent": AGENT}}
        return await self._call("POST", f"{root}/ilink/bot/{path}", wait, headers=headers, json=body)

    async def get(self, root: str, path: str, query: Mapping[str, str], *, wait: float) -> Json:
        """As post, but without a body and without a token."""
        return await self._call("GET", f"{root}/ilink/bot/{path}", wait, headers=_about_us(), params=query)

    @asynccontextmanager
    async def stream(self, method: str, url: str, **request: Any) -> AsyncIterator[Any]:
        """An answer of a files' server, its body still to be read.

        Raises:
            Retryable: it cannot be reached. Ambiguous: it fell silent.
        """
        try:
            async with self._http.stream(method, url, **request) as answer:
                yield answer
        except self._failures as err:
            raise _meaning(err) from err

    async def close(self) -> None:
        """Drop the connections."""
        await self._http.aclose()

    @property
    def _failures(self) -> tuple[type[Exception], ...]:
        import httpx2

        return (httpx2.TransportError, httpx2.InvalidURL, httpx2.DecodingError)

    async def _call(self, method: str, url: str, wait: float, **request: Any) -> Json:
        import httpx2

        timeout = httpx2.Timeout(wait, connect=CONNECT_SECONDS)
        try:
            answer = await self._http.request(method, url, timeout=timeout, **request)
        except self._failures as err:
            raise _meaning(err) from err
        path = urlsplit(url).path.rpartition("/")[2]
        _judge_status(path, answer.status_code, answer.headers.get("retry-after", ""))
        try:
            body = answer.json()
        except (ValueError, RecursionError) as err:
            raise Ambiguous(f"an answer to {path} that is not JSON") from err
        return _judge(path, body)


def open_wire(proxy: str) -> Wire:
    """A new pool; takes tens of milliseconds. proxy: its URL, "" for none.

    It follows no redirects, and takes nothing from the environment.
    """
    import httpx2

    limits = httpx2.Limits(max_connections=CONNECTIONS)
    timeout = httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
    return Wire(
        httpx2.AsyncClient(timeout=timeout, limits=limits, proxy=proxy or None, trust_env=False, event_hooks=HOOKS)
    )


def admitted(url: str, root: str) -> str:
    """The URL the platform named, without a slash at its end, if we may go there; pure.

    It is at the configured host, or, where that is the platform's own, in one of the platform's domains; and with
    the scheme that is configured.

    Raises:
        ChannelError: it is somewhere else.
    """
    try:
        named, home = urlsplit(url), urlsplit(root)
        host, own = (named.hostname or "").lower(), (home.hostname or "").lower()
        odd = named.username is not None or "\\" in url or not url.isascii() or any(sign <= " " for sign in url)
        port = named.port
    except ValueError as err:
        raise ChannelError("WeChat named an address that is none") from err
    abroad = own.endswith(DOMAINS) and host.endswith(DOMAINS) and port in (None, 443)
    if odd or named.scheme != home.scheme or not (host and (host == own or abroad)):
        raise ChannelError(f"WeChat named the host {host[:80]!r}, which is not one of its own: nothing is sent there")
    return url.rstrip("/")


def _about_us() -> dict[str, str]:
    major, minor, patch = map(int, VERSION.split("."))
    return {"iLink-App-Id": "bot", "iLink-App-ClientVersion": str(major << 16 | minor << 8 | patch)}


def _meaning(err: Exception) -> ChannelError:
    name = type(err).__name__
    if name in (*_NOT_SENT, "InvalidURL"):
        return Retryable(f"WeChat cannot be reached: {name}", whole_channel=True)
    return Ambiguous(f"no whole answer from WeChat: {name}")


def _judge_status(path: str, status: int, retry_after: str) -> None:
    if status == 200:
        return
    if status == 429:
        raise Retryable(f"too many calls of {path}", retry_after=float(retry_after) if retry_after.isdigit() else None)
    if status in (400, 413, 422):
        raise Rejected(f"WeChat refused {path} with status {status}")
    if 400 <= status < 500:
        raise Retryable(f"WeChat answered {path} with status {status}")
    raise Ambiguous(f"WeChat answered {path} with status {status}")


def _judge(path: str, body: Any) -> Json:
    """The answer if it says success: both codes absent or 0."""
    if not isinstance(body, dict):
        raise Ambiguous(f"an answer to {path} that is no object")
    try:
        codes = [int(body.get(name) or 0) for name in ("ret", "errcode")]
    except (TypeError, ValueError) as err:
        raise Ambiguous(f"an answer to {path} whose code is no number") from err
    if EXPIRED in codes:
        raise LoggedOut("the WeChat session is over, or the same account logged in elsewhere: scan the new QR code")
    code = codes[0] or codes[1]
    if code:
        raise Refused(path, code, str(body.get("errmsg") or "")[:LONGEST_WORDS])
    return body
