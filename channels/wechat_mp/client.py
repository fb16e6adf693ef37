"""Client of the official account API: access token, calls, error mapping, customer-service
quota.
"""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

from channels.base import Notebook
from channels.errors import Ambiguous, AwaitsUser, ChannelError, LoggedOut, Rejected, Retryable
from channels.toolkit.delivery import BoundedDict
from channels.toolkit.http import AccessToken, HttpPool, is_unsent, parse_retry_after, read_limited
from channels.toolkit.untrusted import load_object
from channels.wechat_mp.settings import SERVER, WechatMpSettings

ANSWER_SECONDS = 20.0
RENEW_SECONDS = 300  # before its expiry a token is replaced, as the platform does itself
FORCED_RENEWAL_SECONDS = 60.0  # the platform revokes a token at most once in 30 s
MAX_ANSWER_BYTES = 1 << 20
NOT_GRANTED_SECONDS = 86_400.0  # until a call that needs a missing permission is tried again
MISCONFIGURED_SECONDS = 300.0  # the same for an error that the owner has to fix
_MAX_ERROR_TEXT = 200

BAD_TOKEN_CODES = {40001, 40014, 42001}
BAD_CREDENTIALS_CODES = {40002, 40013, 40125, 41002, 41004}
NOT_GRANTED_CODES = {48001, 48002, 48004, 50001}


class NotGranted(AwaitsUser):
    """The account may not make this call; only passive replies are left to it."""

    def __init__(self, why: str, *, again: float) -> None:
        super().__init__(why)
        #: Seconds after which the call is worth another try.
        self.again = again


class QuotaUsedUp(AwaitsUser):
    """The user has received all messages allowed before their next one."""


class OfficialAccountClient:
    """The API of one account. timeout: seconds to wait for a reply."""

    def __init__(self, settings: WechatMpSettings, timeout: float = ANSWER_SECONDS) -> None:
        self._app_id = settings.app_id
        self._secret = settings.app_secret
        self.root = (settings.base_url or SERVER).rstrip("/")
        self._http = HttpPool(settings.proxy, timeout)
        self._token = AccessToken(self._fetch_token)
        self._forced_at = -FORCED_RENEWAL_SECONDS  # monotonic seconds
        #: Unix seconds of the last good reply, 0 for none.
        self.heard = 0.0

    async def call(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """POST a JSON body without \\u escapes, which the platform would show to users.

        Raises:
            Retryable, AwaitsUser, NotGranted, Rejected: certainly not done. Ambiguous: possibly
                done.
        """
        content = json.dumps(body, ensure_ascii=False).encode()
        return await self._call_with_token(
            path, content=content, headers={"content-type": "application/json; charset=utf-8"}
        )

    async def upload(self, kind: str, name: str, media_type: str, data: bytes) -> str:
        """Upload an image, voice or video; return its media_id, valid for three days.

        Never raises Ambiguous.
        """
        try:
            answer = await self._call_with_token(
                "/cgi-bin/media/upload",
                params={"type": kind},
                files={"media": (name, data, media_type)},
            )
        except Ambiguous as err:
            raise Retryable(str(err)) from err  # users do not see an upload
        media_id = answer.get("media_id")
        if not isinstance(media_id, str) or not media_id:
            raise Retryable("the reply to an upload has no media_id")
        return media_id

    async def media(self, media_id: str, most: int) -> tuple[bytes, str]:
        """Download a user's file: its bytes and media type.

        A video comes as application/json with its URL.

        Raises:
            AttachmentTooBig, Rejected, NotGranted, Retryable.
        """
        token = await self._token.get()
        for first in (True, False):
            data, kind = await self.get(
                f"{self.root}/cgi-bin/media/get", most, access_token=token, media_id=media_id
            )
            code, text = (
                _read_error(load_object(data))
                if "json" in kind or "text/plain" in kind
                else (0, "")
            )
            if code in BAD_TOKEN_CODES and first:
                token = await self._token.get(rejected=token)
                continue
            if code:
                raise error_for_code(code, text)
            break
        return data, kind

    async def get(self, url: str, most: int, **query: str) -> tuple[bytes, str]:
        """Download at most `most` bytes of a URL, with their media type. Follows no redirects.

        Raises:
            AttachmentTooBig, Rejected, Retryable.
        """
        client = await self._http.open()
        plain = {"accept-encoding": "identity"}  # so that the limit counts the bytes received
        try:
            async with (
                self._failing(),
                client.stream("GET", url, params=query, headers=plain) as response,
            ):
                data = await read_limited(response.aiter_raw(), most)
        except Ambiguous as err:
            raise Retryable(str(err)) from err
        if response.status_code >= 500 or response.status_code == 429:
            raise Retryable(f"the download failed with status {response.status_code}")
        if response.status_code != 200:
            raise Rejected(f"the download failed with status {response.status_code}")
        self.heard = time.time()
        return data, response.headers.get("content-type", "").lower()

    async def log_in(self) -> None:
        """Fetch a token if there is none. Raises LoggedOut, NotGranted, Retryable."""
        await self._token.get()

    async def close(self) -> None:
        """Close all connections; the next call reopens them."""
        await self._http.close()

    async def _call_with_token(self, path: str, **request: Any) -> dict[str, Any]:
        token = await self._token.get()
        code, text, answer = await self._call_once(path, token, request)
        if code in BAD_TOKEN_CODES:
            token = await self._token.get(rejected=token)
            code, text, answer = await self._call_once(path, token, request)
        if code:
            raise error_for_code(code, text)
        self.heard = time.time()
        return answer

    async def _call_once(
        self, path: str, token: str, request: dict[str, Any]
    ) -> tuple[int, str, dict[str, Any]]:
        params = {"access_token": token, **request.get("params", {})}
        answer = await self._post(path, **(request | {"params": params}))
        return *_read_error(answer), answer

    async def _post(self, path: str, **request: Any) -> dict[str, Any]:
        client = await self._http.open()
        async with self._failing():
            response = await client.post(self.root + path, **request)
        if response.status_code == 429:
            raise Retryable(
                "the platform reports too many calls",
                retry_after=parse_retry_after(response.headers.get("retry-after", "")),
            )
        answer = (
            load_object(response.content) if len(response.content) <= MAX_ANSWER_BYTES else None
        )
        if response.status_code != 200 or answer is None:
            raise Ambiguous(f"the API replied with status {response.status_code} and no JSON")
        return answer

    async def _fetch_token(self, rejected: str) -> tuple[str, float]:
        """Fetch a token and its lifetime in seconds; force a new one if the platform returns the
        rejected one.
        """
        token, seconds = await self._request_token(force=False)
        if token == rejected and time.monotonic() - self._forced_at >= FORCED_RENEWAL_SECONDS:
            self._forced_at = time.monotonic()
            token, seconds = await self._request_token(force=True)
        if token == rejected:
            raise Retryable(
                "the platform refuses the token that it has just issued",
                retry_after=FORCED_RENEWAL_SECONDS,
            )
        return token, seconds

    async def _request_token(self, *, force: bool) -> tuple[str, float]:
        who = {"grant_type": "client_credential", "appid": self._app_id, "secret": self._secret}
        try:
            answer = await self._post("/cgi-bin/stable_token", json=who | {"force_refresh": force})
        except Ambiguous as err:
            raise Retryable(str(err)) from err
        code, text = _read_error(answer)
        if code in BAD_CREDENTIALS_CODES or code == 40001:
            raise LoggedOut(f"the platform refuses app_id or app_secret: {text}")
        if code:
            raise error_for_code(code, text)
        token, lasts = answer.get("access_token"), answer.get("expires_in")
        if not isinstance(token, str) or not token or not isinstance(lasts, int):
            raise Retryable("the reply to a token request has no token")
        self.heard = time.time()
        return token, max(1.0, lasts - RENEW_SECONDS)

    @asynccontextmanager
    async def _failing(self) -> AsyncIterator[None]:
        """Translate errors of the network, without their text: it can hold a URL with the token."""
        import httpx2

        try:
            yield
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as err:
            raise Rejected(f"not a valid URL: {type(err).__name__}") from None
        except httpx2.RequestError as err:
            if is_unsent(err):
                raise Retryable(
                    f"no connection to the platform: {type(err).__name__}", whole_channel=True
                ) from None
            raise Ambiguous(f"the reply was lost: {type(err).__name__}") from None


def error_for_code(code: int, text: str) -> ChannelError:
    """Map an error code of the platform to an error. text: the reply's."""
    if code == 45015:
        return AwaitsUser(f"the person wrote more than 48 h ago, or has left: {text}")
    if code == 45047:
        return QuotaUsedUp(f"the person has had all they may before they write: {text}")
    if code in NOT_GRANTED_CODES:
        return NotGranted(
            f"the account has no such right (only verified accounts do): {text}",
            again=NOT_GRANTED_SECONDS,
        )
    if code == 40164:
        return NotGranted(
            f"this machine's address is not on the account's IP whitelist: {text}",
            again=MISCONFIGURED_SECONDS,
        )
    if code in BAD_TOKEN_CODES or code == -1:
        return Retryable(text)
    if code == 45011:
        return Retryable(f"too many calls a minute: {text}", retry_after=60.0)
    if code == 45009:
        return Retryable(
            f"the day's calls are used up: {text}", retry_after=1800.0, whole_channel=True
        )
    return Rejected(text, gone=code == 40003)


def _read_error(answer: dict[str, Any] | None) -> tuple[int, str]:
    """Return error code (0: none) and text of a reply."""
    code = (answer or {}).get("errcode", 0)
    if not isinstance(code, int):
        return -1, "an error without a code"
    return code, f"{code} {str((answer or {}).get('errmsg', ''))[:_MAX_ERROR_TEXT]}"


# File URLs: a message must not make us request anything but the platform's own servers, over TLS.

# Domains that serve the platform's pictures and videos.
ALLOWED_DOMAINS = ("qpic.cn", "qlogo.cn", "qq.com", "wechat.com")


def checked_url(url: str, root: str) -> str:
    """Return a file's URL as it may be requested: https at a host of the platform, or at the API's
    root.

    Raises:
        Rejected: it is not allowed.
    """
    try:
        parts, home = urlsplit(url), urlsplit(root)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as err:
        raise Rejected("the file's URL is invalid") from err
    if parts.username or parts.password or not host:
        raise Rejected("the file's URL contains credentials or no host")
    path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    if (parts.scheme, parts.netloc.lower()) == (home.scheme, home.netloc.lower()):
        return f"{home.scheme}://{home.netloc}{path}"
    if port in (None, 80, 443) and any(
        host == family or host.endswith(f".{family}") for family in ALLOWED_DOMAINS
    ):
        return f"https://{host}{path}"
    raise Rejected("the file's URL is not one of the platform")


def video_url(data: bytes) -> str:
    """Read a video's URL from the reply for its media_id. Raises Rejected."""
    try:
        found = json.loads(data)["video_url"]
    except (ValueError, KeyError, TypeError, RecursionError) as err:
        raise Rejected("the platform returned no URL of the video") from err
    return str(found)


# The customer-service API: whether the account has it, and how many messages each user can still
# get.

T = TypeVar("T")
GRANTED_VALUE = "granted"
MESSAGES_PER_WINDOW = 5  # messages after each of a user's own, within 48 h
MAX_PEOPLE = 10_000


class CustomerServiceQuota:
    """Whether the account may use the customer-service API, learned from its calls, and message
    counts.
    """

    def __init__(self, app_id: str) -> None:
        self._notebook_key = f"{app_id}.service"
        self._refused_until = 0.0
        self._used = BoundedDict[str, int](MAX_PEOPLE)
        self._notebook: Notebook | None = None
        self.granted = False
        self.trouble = ""

    def bind(self, notebook: Notebook | None, values: Mapping[str, str]) -> None:
        """Restore the state that an earlier process stored."""
        self._notebook = notebook
        value = values.get(self._notebook_key, "")
        self.granted = value == GRANTED_VALUE
        self._refused_until = float(value) if value and not self.granted else 0.0

    @property
    def may_call(self) -> bool:
        """False for a day after a refusal, and for five minutes after an error that the owner has
        to fix.
        """
        return time.time() >= self._refused_until

    async def call(self, call: Awaitable[T]) -> T:
        """Await a call and store whether it was permitted.

        Raises:
            NotGranted: it is not permitted, or the credentials are refused.
        """
        try:
            result = await call
        except NotGranted as err:
            await self._refused(str(err), err.again)
            raise
        except LoggedOut as err:
            await self._refused(str(err), MISCONFIGURED_SECONDS)
            raise NotGranted(str(err), again=MISCONFIGURED_SECONDS) from err
        self.trouble = ""
        if not self.granted:
            self.granted = True
            await self._store(GRANTED_VALUE)
        return result

    def reset_count(self, person: str) -> None:
        """Reset the count of a user who has written."""
        self._used.pop(person, None)

    def count_send(self, person: str, *, all_used: bool = False) -> None:
        """Count one message to a user. all_used: the platform reports that the quota is used up."""
        count = MESSAGES_PER_WINDOW if all_used else self._used.pop(person, 0) + 1
        self._used[person] = count

    def remaining(self, person: str) -> int | None:
        """Return how many messages a user can still receive, None while that is unknown."""
        if not self.may_call:
            return 0
        used = self._used.get(person, 0)
        return MESSAGES_PER_WINDOW - used if self.granted else None

    def is_last(self, person: str) -> bool:
        """Whether the next message to a user is the last one before they write."""
        return not self.granted or self._used.get(person, 0) + 1 >= MESSAGES_PER_WINDOW

    def describe(self) -> str:
        """Describe what is left of the quota."""
        if not self.granted:
            return (
                ""
                if self.may_call
                else "one answer to each message: the account has no customer-service API"
            )
        full = sum(1 for used in self._used.values() if used >= MESSAGES_PER_WINDOW)
        return f"{MESSAGES_PER_WINDOW} messages after each of a person's; used up for {full}"

    async def _refused(self, why: str, again: float) -> None:
        self.granted = False
        self.trouble = "" if again >= NOT_GRANTED_SECONDS else why
        self._refused_until = time.time() + again
        if again >= NOT_GRANTED_SECONDS:
            await self._store(f"{self._refused_until:.0f}")

    async def _store(self, value: str) -> None:
        if self._notebook is not None:
            with suppress(OSError):  # the next process will find out again
                await self._notebook.write({self._notebook_key: value})
