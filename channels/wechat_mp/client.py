"""Calls to the official account's API: one token, one retry where it was the token's fault, and what errors mean."""

import asyncio
import importlib
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

from channels.base import Notebook
from channels.errors import Ambiguous, AttachmentTooBig, AwaitsUser, ChannelError, LoggedOut, Rejected, Retryable
from channels.toolkit.sending import HTTP_HOOKS, without_leaving
from channels.wechat_mp.settings import WechatMpSettings

SERVER = "https://api.weixin.qq.com"
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 20.0
CONNECTIONS = 32
RENEW_SECONDS = 300  # the platform changes a token so long before its end
FORCED_RENEWAL_SECONDS = 60.0  # the platform refuses to throw a token away more than once in 30 s
MAX_ANSWER_BYTES = 1 << 20
DAY = 86_400.0
SOON = 300.0
_MAX_ERROR_TEXT = 200

BAD_TOKEN_CODES = {40001, 40014, 42001}
BAD_CREDENTIALS_CODES = {40002, 40013, 40125, 41002, 41004}
NOT_GRANTED_CODES = {48001, 48002, 48004, 50001}


class NotGranted(AwaitsUser):
    """The account may not call this; what it has to say goes out as passive replies alone.

    again: seconds after which it is worth asking again.
    """

    def __init__(self, why: str, *, again: float) -> None:
        super().__init__(why)
        self.again = again


class QuotaUsedUp(AwaitsUser):
    """The person has had as many messages as they may before they write again."""


class OfficialAccountClient:
    """One account's API. The connections are opened at the first call. patience: seconds to wait for an answer."""

    def __init__(self, settings: WechatMpSettings, patience: float = ANSWER_SECONDS) -> None:
        self._patience = patience
        self._app_id = settings.app_id
        self._secret = settings.app_secret
        self._proxy = settings.proxy
        self.root = (settings.base_url or SERVER).rstrip("/")
        self._client: Any = None
        self._opening = asyncio.Lock()
        self._renewing = asyncio.Lock()
        self._token = ""
        self._good_until = 0.0
        self._forced = -FORCED_RENEWAL_SECONDS
        self.heard = 0.0

    async def call(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """A POST with a JSON body, whose signs stand as they are: escapes would be shown to people.

        Raises:
            Retryable, Waits, NotGranted, Rejected: surely not done. Ambiguous: perhaps done.
        """
        content = json.dumps(body, ensure_ascii=False).encode()
        return await self._tried(path, content=content, headers={"content-type": "application/json; charset=utf-8"})

    async def upload(self, kind: str, name: str, media_type: str, data: bytes) -> str:
        """The media_id of a file, good for three days. kind: image, voice, video. Raises as `call`, not Ambiguous."""
        try:
            with without_leaving():
                answer = await self._tried(
                    "/cgi-bin/media/upload", params={"type": kind}, files={"media": (name, data, media_type)}
                )
        except Ambiguous as err:
            raise Retryable(str(err)) from err  # nobody sees an upload
        media_id = answer.get("media_id")
        if not isinstance(media_id, str) or not media_id:
            raise Retryable("an upload was answered without a media_id")
        return media_id

    async def media(self, media_id: str, most: int) -> tuple[bytes, str]:
        """The bytes and the media type of a person's file; a video is an application/json that says where it is.

        Raises:
            TooBig, Rejected, NotGranted, Retryable.
        """
        for first in (True, False):
            token = await self._good_token()
            data, kind = await self.get(f"{self.root}/cgi-bin/media/get", most, access_token=token, media_id=media_id)
            code, text = _read_error(_load_object(data)) if "json" in kind or "text/plain" in kind else (0, "")
            if code in BAD_TOKEN_CODES and first:
                await self._renew(token)
                continue
            if code:
                raise error_for_code(code, text)
            break
        return data, kind

    async def get(self, url: str, most: int, **query: str) -> tuple[bytes, str]:
        """What is at an address, at most `most` bytes of it, and its media type. Follows no redirects.

        Raises:
            TooBig, Rejected, Retryable.
        """
        client = await self._opened()
        kept = bytearray()
        as_it_is = {"accept-encoding": "identity"}  # what is packed could be larger than it looks
        try:
            async with self._failing(), client.stream("GET", url, params=query, headers=as_it_is) as response:
                async for piece in response.aiter_raw():
                    kept += piece
                    if len(kept) > most:
                        raise AttachmentTooBig(f"the file is larger than {most} bytes")
        except Ambiguous as err:
            raise Retryable(str(err)) from err
        if response.status_code >= 500 or response.status_code == 429:
            raise Retryable(f"the file was answered with {response.status_code}")
        if response.status_code != 200:
            raise Rejected(f"the file was answered with {response.status_code}")
        self.heard = time.time()
        return bytes(kept), response.headers.get("content-type", "").lower()

    async def log_in(self) -> None:
        """Get a token if there is none. Raises LoggedOut, NotGranted, Retryable."""
        await self._good_token()

    async def close(self) -> None:
        """Drop the connections; the next call opens them again."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _tried(self, path: str, **request: Any) -> dict[str, Any]:
        token = await self._good_token()
        code, text, answer = await self._asked(path, token, request)
        if code in BAD_TOKEN_CODES:
            token = await self._renew(token)
            code, text, answer = await self._asked(path, token, request)
        if code:
            raise error_for_code(code, text)
        self.heard = time.time()
        return answer

    async def _asked(self, path: str, token: str, request: dict[str, Any]) -> tuple[int, str, dict[str, Any]]:
        params = {"access_token": token, **request.get("params", {})}
        answer = await self._post(path, **(request | {"params": params}))
        return *_read_error(answer), answer

    async def _post(self, path: str, **request: Any) -> dict[str, Any]:
        client = await self._opened()
        async with self._failing():
            response = await client.post(self.root + path, **request)
        if response.status_code == 429:
            raise Retryable("the platform says: too many calls", retry_after=_retry_seconds(response.headers))
        answer = _load_object(response.content) if len(response.content) <= MAX_ANSWER_BYTES else None
        if response.status_code != 200 or answer is None:
            raise Ambiguous(f"the call was answered with {response.status_code} and no JSON to go by")
        return answer

    async def _good_token(self) -> str:
        if time.monotonic() < self._good_until:
            return self._token
        async with self._renewing:
            if time.monotonic() >= self._good_until:
                await self._fetch_token(force=False)
        return self._token

    async def _renew(self, bad: str) -> str:
        """Another token than this one; those who ask together get one between them."""
        async with self._renewing:
            if self._token == bad:
                await self._fetch_token(force=False)
            if self._token == bad and time.monotonic() - self._forced >= FORCED_RENEWAL_SECONDS:
                self._forced = time.monotonic()
                await self._fetch_token(force=True)
            if self._token == bad:
                self._good_until = 0.0
                raise Retryable("the platform refuses the token it gives", retry_after=FORCED_RENEWAL_SECONDS)
        return self._token

    async def _fetch_token(self, *, force: bool) -> None:
        who = {"grant_type": "client_credential", "appid": self._app_id, "secret": self._secret}
        try:
            with without_leaving():
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
            raise Retryable("a token was asked for, and the answer has none")
        self._token = token
        self._good_until = time.monotonic() + max(1, lasts - RENEW_SECONDS)
        self.heard = time.time()

    async def _opened(self) -> Any:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_open_client, self._proxy, self._patience)
        return self._client

    @asynccontextmanager
    async def _failing(self) -> AsyncIterator[None]:
        """Names what the network did; never with the address, which holds the token."""
        httpx2 = importlib.import_module("httpx2")
        early = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
        try:
            yield
        except early as err:
            raise Retryable(f"no connection to the platform: {type(err).__name__}", whole_channel=True) from None
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as err:
            raise Rejected(f"not an address that can be asked: {type(err).__name__}") from None
        except httpx2.RequestError as err:
            raise Ambiguous(f"the answer was lost: {type(err).__name__}") from None


def error_for_code(code: int, text: str) -> ChannelError:
    """What a refusal of the platform's means for a message. text: what it said."""
    if code == 45015:
        return AwaitsUser(f"the person wrote more than 48 h ago, or has left: {text}")
    if code == 45047:
        return QuotaUsedUp(f"the person has had all they may before they write: {text}")
    if code in NOT_GRANTED_CODES:
        return NotGranted(f"the account has no such right (only verified accounts do): {text}", again=DAY)
    if code == 40164:
        return NotGranted(f"this machine's address is not on the account's IP whitelist: {text}", again=SOON)
    if code in BAD_TOKEN_CODES or code == -1:
        return Retryable(text)
    if code == 45011:
        return Retryable(f"too many calls a minute: {text}", retry_after=60.0)
    if code == 45009:
        return Retryable(f"the day's calls are used up: {text}", retry_after=1800.0, whole_channel=True)
    return Rejected(text, gone=code == 40003)


def _read_error(answer: dict[str, Any] | None) -> tuple[int, str]:
    """Error code (0: none) and text of an answer."""
    code = (answer or {}).get("errcode", 0)
    if not isinstance(code, int):
        return -1, "an error without a number"
    return code, f"{code} {str((answer or {}).get('errmsg', ''))[:_MAX_ERROR_TEXT]}"


def _load_object(data: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _retry_seconds(headers: Any) -> float | None:
    value = headers.get("retry-after", "")
    return float(value) if value.isascii() and value.isdigit() and len(value) < 6 else None


def _open_client(proxy: str, patience: float) -> Any:
    import httpx2

    logging.getLogger("httpx2").setLevel(logging.WARNING)  # it would print addresses, which hold the token
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(patience, connect=CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=CONNECTIONS),
        verify=httpx2.create_ssl_context(trust_env=False),
        proxy=proxy or None,
        trust_env=False,
        event_hooks=HTTP_HOOKS,
    )


# Which addresses of files are asked: the platform's, over TLS, and nothing that a message could name. Pure.

# The domains that the platform's pictures and videos are served from.
ALLOWED_DOMAINS = ("qpic.cn", "qlogo.cn", "qq.com", "wechat.com")


def checked_url(url: str, root: str) -> str:
    """The address as it may be asked: on https, at one of the platform's hosts or at the API's own root.

    Raises:
        Rejected: it is somewhere else.
    """
    try:
        parts, home = urlsplit(url), urlsplit(root)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as err:
        raise Rejected("the file's address is none") from err
    if parts.username or parts.password or not host:
        raise Rejected("the file's address is not a plain one")
    path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    if (parts.scheme, parts.netloc.lower()) == (home.scheme, home.netloc.lower()):
        return f"{home.scheme}://{home.netloc}{path}"
    if port in (None, 80, 443) and any(host == family or host.endswith(f".{family}") for family in ALLOWED_DOMAINS):
        return f"https://{host}{path}"
    raise Rejected("the file is not at one of the platform's addresses")


def video_url(data: bytes) -> str:
    """Where a video is, as the platform answers for its media_id. Raises Rejected."""
    try:
        found = json.loads(data)["video_url"]
    except (ValueError, KeyError, TypeError, RecursionError) as err:
        raise Rejected("the platform does not say where the video is") from err
    return str(found)


# Whether the account may write unasked (the customer-service API), and what is left of what each person may get.

T = TypeVar("T")
GRANTED_KEY = "granted"
MESSAGES_PER_WINDOW = 5  # messages by the API after each of a person's, within 48 h
MAX_PEOPLE = 10_000


class CustomerServiceQuota:
    """What is known of the right, learnt from every call that needs it."""

    def __init__(self, app_id: str) -> None:
        self._page = f"{app_id}.service"
        self._refused_until = 0.0
        self._used: dict[str, int] = {}
        self._notebook: Notebook | None = None
        self.granted = False
        self.trouble = ""

    def bind(self, notebook: Notebook | None, pages: Mapping[str, str]) -> None:
        """Go on from what an earlier life wrote down."""
        self._notebook = notebook
        written = pages.get(self._page, "")
        self.granted = written == GRANTED_KEY
        self._refused_until = float(written) if written and not self.granted else 0.0

    @property
    def may_call(self) -> bool:
        """False for a day after the platform said no, and for five minutes after the owner was to mend something."""
        return time.time() >= self._refused_until

    async def ask(self, call: Awaitable[T]) -> T:
        """The call's result, noting what it tells of the right.

        Raises:
            NotGranted: it is not there, or the credentials are refused. What else the call raises.
        """
        try:
            result = await call
        except NotGranted as err:
            await self._refused(str(err), err.again)
            raise
        except LoggedOut as err:
            await self._refused(str(err), SOON)
            raise NotGranted(str(err), again=SOON) from err
        self.trouble = ""
        if not self.granted:
            self.granted = True
            await self._note(GRANTED_KEY)
        return result

    def wrote(self, person: str) -> None:
        """The person has written: they may get as many again."""
        self._used.pop(person, None)

    def sent(self, person: str, *, all_used: bool = False) -> None:
        """One more has gone to them by the API, or the platform says that they were all."""
        count = MESSAGES_PER_WINDOW if all_used else self._used.pop(person, 0) + 1
        self._used[person] = count
        while len(self._used) > MAX_PEOPLE:
            del self._used[next(iter(self._used))]

    def last(self, person: str) -> bool:
        """Whether nothing can follow the next message to them before they write."""
        return not self.granted or self._used.get(person, 0) + 1 >= MESSAGES_PER_WINDOW

    def quota(self) -> str:
        """What is left, in words."""
        if not self.granted:
            return "" if self.may_call else "one answer to each message: the account has no customer-service API"
        full = sum(1 for used in self._used.values() if used >= MESSAGES_PER_WINDOW)
        return f"{MESSAGES_PER_WINDOW} messages after each of a person's; used up for {full}"

    async def _refused(self, why: str, again: float) -> None:
        self.granted = False
        self.trouble = "" if again >= DAY else why
        self._refused_until = time.time() + again
        if again >= DAY:
            await self._note(f"{self._refused_until:.0f}")

    async def _note(self, written: str) -> None:
        if self._notebook is not None:
            with suppress(OSError):  # learnt anew in the next life
                await self._notebook.write({self._page: written})
