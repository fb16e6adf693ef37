"""Calls to the iLink API and to its files' servers, and what their failures mean for a message."""

import asyncio
import base64
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import structlog

from channels.errors import Ambiguous, ChannelError, LoggedOut, Rejected, Retryable
from channels.toolkit.sending import HTTP_HOOKS
from channels.wechat.state import AccountState, ILinkCredentials

SERVER = "https://ilinkai.weixin.qq.com"
FILE_SERVER = "https://novac2c.cdn.weixin.qq.com/c2c"
# Where the platform may send us on to when its own servers are used.
ALLOWED_DOMAINS = (".weixin.qq.com", ".wechat.com")
VERSION = "2.4.3"  # of the protocol that is spoken here
AGENT = "mnema/0.1"
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 15.0
CONNECTIONS = 32
MAX_ERROR_TEXT = 200
SESSION_EXPIRED = -14
_UNSENT_ERRORS = (
    "ConnectError",
    "ConnectTimeout",
    "PoolTimeout",
    "ProxyError",
    "UnsupportedProtocol",
    "LocalProtocolError",
)

Json = dict[str, Any]


class ILinkApiError(Rejected):
    """The API answered with a code of its own; code: from ret, else errcode; words: errmsg."""

    def __init__(self, path: str, code: int, words: str) -> None:
        super().__init__(f"WeChat refused {path}: {code} {words}".rstrip())
        self.code = code
        self.words = words


class ILinkClient:
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
            **_client_info(),
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        body = {**body, "base_info": {"channel_version": VERSION, "bot_agent": AGENT}}
        return await self._call("POST", f"{root}/ilink/bot/{path}", wait, headers=headers, json=body)

    async def get(self, root: str, path: str, query: Mapping[str, str], *, wait: float) -> Json:
        """As post, but without a body and without a token."""
        return await self._call("GET", f"{root}/ilink/bot/{path}", wait, headers=_client_info(), params=query)

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
            raise _error_for_exception(err) from err

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
            raise _error_for_exception(err) from err
        path = urlsplit(url).path.rpartition("/")[2]
        _check_status(path, answer.status_code, answer.headers.get("retry-after", ""))
        try:
            body = answer.json()
        except (ValueError, RecursionError) as err:
            raise Ambiguous(f"an answer to {path} that is not JSON") from err
        return _check_body(path, body)


def open_client(proxy: str) -> ILinkClient:
    """A new pool; takes tens of milliseconds. proxy: its URL, "" for none.

    It follows no redirects, and takes nothing from the environment.
    """
    import httpx2

    limits = httpx2.Limits(max_connections=CONNECTIONS)
    timeout = httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
    return ILinkClient(
        httpx2.AsyncClient(timeout=timeout, limits=limits, proxy=proxy or None, trust_env=False, event_hooks=HTTP_HOOKS)
    )


def checked_root(url: str, root: str) -> str:
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
    abroad = own.endswith(ALLOWED_DOMAINS) and host.endswith(ALLOWED_DOMAINS) and port in (None, 443)
    if odd or named.scheme != home.scheme or not (host and (host == own or abroad)):
        raise ChannelError(f"WeChat named the host {host[:80]!r}, which is not one of its own: nothing is sent there")
    return url.rstrip("/")


def _client_info() -> dict[str, str]:
    major, minor, patch = map(int, VERSION.split("."))
    return {"iLink-App-Id": "bot", "iLink-App-ClientVersion": str(major << 16 | minor << 8 | patch)}


def _error_for_exception(err: Exception) -> ChannelError:
    name = type(err).__name__
    if name in (*_UNSENT_ERRORS, "InvalidURL"):
        return Retryable(f"WeChat cannot be reached: {name}", whole_channel=True)
    return Ambiguous(f"no whole answer from WeChat: {name}")


def _check_status(path: str, status: int, retry_after: str) -> None:
    if status == 200:
        return
    if status == 429:
        raise Retryable(f"too many calls of {path}", retry_after=float(retry_after) if retry_after.isdigit() else None)
    if status in (400, 413, 422):
        raise Rejected(f"WeChat refused {path} with status {status}")
    if 400 <= status < 500:
        raise Retryable(f"WeChat answered {path} with status {status}")
    raise Ambiguous(f"WeChat answered {path} with status {status}")


def _check_body(path: str, body: Any) -> Json:
    """The answer if it says success: both codes absent or 0."""
    if not isinstance(body, dict):
        raise Ambiguous(f"an answer to {path} that is no object")
    try:
        codes = [int(body.get(name) or 0) for name in ("ret", "errcode")]
    except (TypeError, ValueError) as err:
        raise Ambiguous(f"an answer to {path} whose code is no number") from err
    if SESSION_EXPIRED in codes:
        raise LoggedOut("the WeChat session is over, or the same account logged in elsewhere: scan the new QR code")
    code = codes[0] or codes[1]
    if code:
        raise ILinkApiError(path, code, str(body.get("errmsg") or "")[:MAX_ERROR_TEXT])
    return body


# How long things take with WeChat, and how its silence is waited out.

log = structlog.get_logger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PollTiming:
    """Seconds, all of them."""

    #: How long the platform holds a call.
    poll: float = 35.0
    #: How much longer we wait for its end.
    grace: float = 10.0
    #: How long any other call may take.
    answer: float = 15.0
    #: After the first failure, the second, and every later one.
    pauses: tuple[float, float, float] = (2.0, 2.0, 30.0)
    #: Between two sends to one person.
    spacing: float = 1.0
    #: Between two looks at a QR code.
    look: float = 1.0
    #: How long one is followed.
    code: float = 480.0


class PollHealth:
    """When the platform was last heard, and what is wrong since. heard: unix seconds, 0 never."""

    POLLS_MISSED = 3  # after so many polls' time without a good answer the connections are thrown away

    def __init__(self, pace: PollTiming) -> None:
        self._pace = pace
        self.heard = 0.0
        self.trouble = ""

    async def call_with_retry(self, call: Callable[[], Awaitable[T]], hold: float = 0.0) -> T:
        """The answer to a call that may be repeated at will. hold: seconds of a poll, 0 for the usual ones.

        Raises:
            LoggedOut: the session is over. ChannelError: nothing good was heard for three polls' time.
        """
        patience = self.POLLS_MISSED * max(hold, self._pace.poll)
        try:
            async with asyncio.timeout(patience):
                return await self._retry_until_answered(call)
        except TimeoutError as err:
            self.trouble = f"nothing heard from WeChat for {patience:.0f} s: {self.trouble or 'no answer'}"
            raise ChannelError(self.trouble) from err

    async def _retry_until_answered(self, call: Callable[[], Awaitable[T]]) -> T:
        failures = 0
        while True:
            try:
                answer = await call()
            except LoggedOut:
                raise
            except ChannelError as err:
                self.trouble = str(err)
                log.info("wechat silent", error=self.trouble)
                asked = err.retry_after if isinstance(err, Retryable) else None
            else:
                self.heard, self.trouble = time.time(), ""
                return answer
            await asyncio.sleep(asked or self._pace.pauses[min(failures, 2)])
            failures += 1


# Calls in the name of the account that is logged in, and the moment when it no longer is.

LOGIN_REQUIRED = "WeChat is not logged in: scan the QR code that the page or the terminal shows"


class ILinkSession:
    """One account's calls, over a pool of connections that is opened when it is first needed.

    ended: set once a call was told that the session is over, until `begin`.
    """

    def __init__(self, book: AccountState, proxy: str, pace: PollTiming) -> None:
        self._book = book
        self._proxy = proxy
        self._pace = pace
        self._send_client: ILinkClient | None = None
        self._opening = asyncio.Lock()
        self._refused: ILinkCredentials | None = None
        self.ended = asyncio.Event()

    @property
    def holds(self) -> bool:
        """Whether there are credentials that nobody has refused."""
        return self._book.login is not None and self._book.login is not self._refused

    @property
    def credentials(self) -> ILinkCredentials:
        """Those that hold. Raises LoggedOut: there are none."""
        if self._book.login is None or not self.holds:
            raise LoggedOut(LOGIN_REQUIRED)
        return self._book.login

    def begin(self) -> None:
        """What the book holds is to be tried (again)."""
        self._refused = None
        self.ended.clear()

    async def call(self, path: str, body: Json, *, wait: float = 0.0, wire: ILinkClient | None = None) -> Json:
        """One call with the account's token; see Wire.post. wait: seconds, 0 for the usual.

        Raises:
            LoggedOut: there is no session, or this call was told that it is over.
        """
        login = self.credentials
        wire = wire or await self.send_client()
        try:
            return await wire.post(login.base, path, body, token=login.token, wait=wait or self._pace.answer)
        except LoggedOut:
            if login is self._book.login:
                self._refused = login
                self.ended.set()
            raise

    async def send_client(self) -> ILinkClient:
        """The connections that everything but hearing uses."""
        async with self._opening:
            if self._send_client is None:
                self._send_client = await asyncio.to_thread(open_client, self._proxy)
            return self._send_client

    async def close(self) -> None:
        """Drop the connections; a later call opens them again."""
        if self._send_client is not None:
            wire, self._send_client = self._send_client, None
            await wire.close()
