"""Client of the iLink API and its file servers: requests, session state, retries of polling."""

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
from channels.toolkit.http import CONNECT_SECONDS, HttpPool, is_unsent, parse_retry_after
from channels.toolkit.untrusted import load_object
from channels.wechat.state import AccountState, ILinkCredentials

FILE_SERVER = "https://novac2c.cdn.weixin.qq.com/c2c"
# Domains that the platform may redirect us to when its own servers are configured.
ALLOWED_DOMAINS = (".weixin.qq.com", ".wechat.com")
VERSION = "2.4.3"  # of the iLink protocol
AGENT = "mnema/0.1"
MAX_ERROR_TEXT = 200
SESSION_EXPIRED = -14

Json = dict[str, Any]


class ILinkApiError(Rejected):
    """The API replied with an error code. code: from ret, else errcode; text: errmsg."""

    def __init__(self, path: str, code: int, text: str) -> None:
        super().__init__(f"WeChat refused {path}: {code} {text}".rstrip())
        self.code = code
        self.text = text


class ILinkClient:
    """The iLink API over one connection pool. proxy: URL, "" for none."""

    def __init__(self, proxy: str) -> None:
        self._http = HttpPool(proxy)

    async def post(
        self, root: str, path: str, body: Json, *, timeout: float, token: str = ""
    ) -> Json:
        """Make one call and return the reply's JSON object.

        Args:
            root: URL of the API. path: below /ilink/bot/, with its query. token: the bot's, ""
                before login.
            timeout: seconds without a reply.

        Raises:
            Retryable: certainly not done. Ambiguous: possibly done. ILinkApiError: not done, with a
                code.
            Rejected: will never be accepted. LoggedOut: the session is over.
        """
        headers = {
            "AuthorizationType": "ilink_bot_token",
            "X-WECHAT-UIN": base64.b64encode(str(secrets.randbits(32)).encode()).decode(),
            **_client_info(),
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        body = {**body, "base_info": {"channel_version": VERSION, "bot_agent": AGENT}}
        return await self._call(
            "POST", f"{root}/ilink/bot/{path}", timeout, headers=headers, json=body
        )

    async def get(self, root: str, path: str, query: Mapping[str, str], *, timeout: float) -> Json:
        """Like `post`, without a body and a token."""
        return await self._call(
            "GET", f"{root}/ilink/bot/{path}", timeout, headers=_client_info(), params=query
        )

    @asynccontextmanager
    async def stream(self, method: str, url: str, **request: Any) -> AsyncIterator[Any]:
        """Start a request to a file server; the body of the reply is still to be read.

        Raises:
            Retryable: the server is unreachable. Ambiguous: it stopped responding.
        """
        client = await self._http.open()
        try:
            async with client.stream(method, url, **request) as response:
                yield response
        except self._failures as err:
            raise _error_for_exception(err) from err

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    @property
    def _failures(self) -> tuple[type[Exception], ...]:
        import httpx2

        return (httpx2.TransportError, httpx2.InvalidURL, httpx2.DecodingError)

    async def _call(self, method: str, url: str, timeout: float, **request: Any) -> Json:
        client = await self._http.open()
        import httpx2

        timeouts = httpx2.Timeout(timeout, connect=CONNECT_SECONDS)
        try:
            response = await client.request(method, url, timeout=timeouts, **request)
        except self._failures as err:
            raise _error_for_exception(err) from err
        path = urlsplit(url).path.rpartition("/")[2]
        _check_status(path, response.status_code, response.headers.get("retry-after", ""))
        return _check_body(path, load_object(response.content))


def _is_plain(url: str) -> bool:
    """Tell whether all readers of a URL see the same in it: ASCII without blanks and
    backslashes.
    """
    return url.isascii() and "\\" not in url and all(char > " " for char in url)


def checked_root(url: str, root: str) -> str:
    """Return a URL named by the platform, without a trailing slash, if it is allowed.

    Allowed is the configured scheme with the configured host or, where that is the platform's own,
    any host in the platform's domains.

    Raises:
        ChannelError: it is not allowed.
    """
    try:
        named, home = urlsplit(url), urlsplit(root)
        host, own = (named.hostname or "").lower(), (home.hostname or "").lower()
        port = named.port
    except ValueError as err:
        raise ChannelError("WeChat returned an invalid URL") from err
    redirected = (
        own.endswith(ALLOWED_DOMAINS) and host.endswith(ALLOWED_DOMAINS) and port in (None, 443)
    )
    if (
        named.username is not None
        or not _is_plain(url)
        or named.scheme != home.scheme
        or not (host and (host == own or redirected))
    ):
        raise ChannelError(
            f"WeChat named the host {host[:80]!r}, which is not one of its own: nothing is sent "
            "there"
        )
    return url.rstrip("/")


def _client_info() -> dict[str, str]:
    major, minor, patch = map(int, VERSION.split("."))
    return {"iLink-App-Id": "bot", "iLink-App-ClientVersion": str(major << 16 | minor << 8 | patch)}


def _error_for_exception(err: Exception) -> ChannelError:
    name = type(err).__name__
    if is_unsent(err) or name == "InvalidURL":
        return Retryable(f"WeChat cannot be reached: {name}", whole_channel=True)
    return Ambiguous(f"no complete reply from WeChat: {name}")


def _check_status(path: str, status: int, retry_after: str) -> None:
    if status == 200:
        return
    if status == 429:
        raise Retryable(f"too many calls of {path}", retry_after=parse_retry_after(retry_after))
    if status in (400, 413, 422):
        raise Rejected(f"WeChat refused {path} with status {status}")
    if 400 <= status < 500:
        raise Retryable(f"WeChat replied to {path} with status {status}")
    raise Ambiguous(f"WeChat replied to {path} with status {status}")


def _check_body(path: str, body: Json | None) -> Json:
    """Return the reply if it reports success: both codes absent or 0."""
    if body is None:
        raise Ambiguous(f"the reply to {path} is no JSON object")
    try:
        codes = [int(body.get(name) or 0) for name in ("ret", "errcode")]
    except (TypeError, ValueError) as err:
        raise Ambiguous(f"the error code in the reply to {path} is no number") from err
    if SESSION_EXPIRED in codes:
        raise LoggedOut(
            "the WeChat session is over, or the same account logged in elsewhere: scan the new QR "
            "code"
        )
    code = codes[0] or codes[1]
    if code:
        raise ILinkApiError(path, code, str(body.get("errmsg") or "")[:MAX_ERROR_TEXT])
    return body


# Polling.

log = structlog.get_logger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PollTiming:
    """Timeouts and pauses, in seconds."""

    #: How long the platform holds a poll.
    poll: float = 35.0
    #: Added to `poll` for our timeout.
    grace: float = 10.0
    #: Timeout of any other call.
    reply: float = 15.0
    #: Pause after the first failure, the second, and every later one.
    pauses: tuple[float, float, float] = (2.0, 2.0, 30.0)
    #: Between two messages to one person.
    spacing: float = 1.0
    #: Between two status checks of a QR code, and before a poll after one that was not held.
    check: float = 1.0
    #: How long a QR code is checked.
    code_lifetime: float = 480.0


class PollHealth:
    """When the platform last responded, and what failed since."""

    POLLS_MISSED = 3  # polls without a good reply after which the connections are replaced

    def __init__(self, timing: PollTiming) -> None:
        self._timing = timing
        #: Unix seconds, 0 for never.
        self.last_contact = 0.0
        self.trouble = ""

    async def call_with_retry(self, call: Callable[[], Awaitable[T]], hold: float = 0.0) -> T:
        """Repeat an idempotent call until it succeeds. hold: seconds of a poll, 0 for the default.

        Raises:
            LoggedOut: the session is over. ChannelError: no good reply in the time of three polls.
        """
        limit = self.POLLS_MISSED * max(hold, self._timing.poll)
        try:
            async with asyncio.timeout(limit):
                return await self._retry_until_reply(call)
        except TimeoutError as err:
            self.trouble = (
                f"nothing heard from WeChat for {limit:.0f} s: {self.trouble or 'no answer'}"
            )
            raise ChannelError(self.trouble) from err

    async def _retry_until_reply(self, call: Callable[[], Awaitable[T]]) -> T:
        failures = 0
        while True:
            try:
                reply = await call()
            except LoggedOut:
                raise
            except ChannelError as err:
                self.trouble = str(err)
                log.info("wechat silent", error=self.trouble)
                retry_after = err.retry_after if isinstance(err, Retryable) else None
            else:
                self.last_contact, self.trouble = time.time(), ""
                return reply
            await asyncio.sleep(retry_after or self._timing.pauses[min(failures, 2)])
            failures += 1


# The session.

LOGIN_REQUIRED = "WeChat is not logged in: scan the QR code that the page or the terminal shows"


class ILinkSession:
    """Makes calls with the credentials of the logged-in account."""

    def __init__(self, state: AccountState, proxy: str, timing: PollTiming) -> None:
        self._state = state
        self._timing = timing
        self._refused: ILinkCredentials | None = None
        #: For everything but polling.
        self.send_client = ILinkClient(proxy)
        #: Set when a call reports that the session is over, until `begin`.
        self.ended = asyncio.Event()

    @property
    def holds(self) -> bool:
        """Whether there are credentials that the platform has not refused."""
        return self._state.login is not None and self._state.login is not self._refused

    @property
    def credentials(self) -> ILinkCredentials:
        """The valid credentials. Raises LoggedOut: there are none."""
        if self._state.login is None or not self.holds:
            raise LoggedOut(LOGIN_REQUIRED)
        return self._state.login

    def begin(self) -> None:
        """Try the stored credentials, even if they were refused before."""
        self._refused = None
        self.ended.clear()

    async def call(
        self, path: str, body: Json, *, timeout: float = 0.0, client: ILinkClient | None = None
    ) -> Json:
        """Make one call with the account's token. timeout: seconds, 0 for the default.

        Raises:
            LoggedOut: there is no session, or the platform has ended it.
            ILinkApiError, Retryable, Ambiguous, Rejected: see `ILinkClient.post`.
        """
        login = self.credentials
        client = client or self.send_client
        try:
            timeout = timeout or self._timing.reply
            return await client.post(login.base, path, body, token=login.token, timeout=timeout)
        except LoggedOut:
            if login is self._state.login:
                self._refused = login
                self.ended.set()
            raise
