"""Calls to a Bot API server, and what their failures mean for a message."""

import asyncio
import logging
import re
import warnings
from typing import Any
from urllib.parse import quote

from channels.base import FetchedFile
from channels.errors import (
    Ambiguous,
    AttachmentTooBig,
    BadFormat,
    ChannelError,
    ChatMoved,
    LoggedOut,
    ReceiverConflict,
    Rejected,
    Retryable,
)
from channels.toolkit.sending import HTTP_HOOKS

SERVER = "https://api.telegram.org"
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 20.0
CONNECTIONS = 32
MAX_ERROR_TEXT = 300

_RETRY_AFTER = re.compile(r"retry (?:after|in) (\d+)\b(?!:)", re.IGNORECASE)
_UNSENT_ERRORS = (
    "ConnectError",
    "ConnectTimeout",
    "PoolTimeout",
    "ProxyError",
    "UnsupportedProtocol",
    "LocalProtocolError",
)
_GONE_TEXTS = ("chat not found", "peer_id_invalid")


class TopicMissing(Rejected):
    """The topic is not there (any more); the chat itself may be."""


class MessageUnchanged(Rejected):
    """The message already reads so."""


class MessageMissing(Rejected):
    """The message to be changed is not there (any more), or no longer ours to change."""


class PictureRejected(Rejected):
    """The bytes are not shown as a picture; as a file they would be taken."""


class MethodMissing(Retryable):
    """The server is too old for this method."""


class WebhookConflict(ReceiverConflict):
    """A webhook takes the updates."""


_ERRORS_BY_TEXT = (
    ("message thread not found", TopicMissing),
    ("message is not modified", MessageUnchanged),
    ("message to edit not found", MessageMissing),
    ("message can't be edited", MessageMissing),
    ("message_id_invalid", MessageMissing),
    ("photo_invalid_dimensions", PictureRejected),
    ("image_process_failed", PictureRejected),
    ("photo_save_file_invalid", PictureRejected),
    ("photo_ext_invalid", PictureRejected),
    ("file is too big", AttachmentTooBig),
    ("request entity too large", AttachmentTooBig),
    ("can't parse entities", BadFormat),
    ("text must be non-empty", BadFormat),
)


class BotApiClient:
    """One pool of connections to one bot's API. base_url: the server's root, "" for Telegram's own."""

    def __init__(self, token: str, base_url: str = "", proxy: str = "", wait: float = ANSWER_SECONDS) -> None:
        from telegram import Bot
        from telegram.request import HTTPXRequest

        silence_library()
        self._token = token
        self._request = HTTPXRequest(
            connection_pool_size=CONNECTIONS,
            connect_timeout=CONNECT_SECONDS,
            read_timeout=wait,
            write_timeout=ANSWER_SECONDS,
            pool_timeout=ANSWER_SECONDS,
            proxy=proxy or None,
            httpx_kwargs={"trust_env": False, "event_hooks": HTTP_HOOKS},
        )
        self._bot = Bot(token, f"{api_root(base_url)}/bot", request=self._request, get_updates_request=self._request)

    async def call(self, method: str, parameters: dict[str, Any] | None = None) -> Any:
        """One call; the answer's `result` as plain JSON values.

        Args:
            method: in snake case, as in "send_message".

        Raises:
            Retryable: surely not done. Ambiguous: perhaps done. Rejected: never to be done.
            LoggedOut: the token is refused, by this call and by get_me.
            Contended: another instance, or a webhook (HookSet), takes the updates.
        """
        from telegram.error import InvalidToken, TelegramError

        try:
            return await self._bot.do_api_request(method, api_kwargs=parameters or {})
        except InvalidToken as err:
            if method == "get_me":
                raise LoggedOut("Telegram refuses the bot's token") from err
            missing = "method not found" in str(err.__cause__).lower()
        except TelegramError as err:
            raise self._meaning(err) from err
        except (KeyError, TypeError, AttributeError, RecursionError) as err:
            raise Ambiguous(f"an answer without a result to {method}") from err
        # 401 and 404 look alike here, and a gateway may say 404: only get_me tells whether the token still holds.
        await self.call("get_me")
        raise (MethodMissing if missing else Retryable)(f"{method} is not found, though the token holds")

    async def close(self) -> None:
        """Drop the connections."""
        await self._request.shutdown()

    def _meaning(self, err: Exception) -> ChannelError:
        from telegram import error

        text = str(err).replace(self._token, "…")[:MAX_ERROR_TEXT]
        match err:
            case error.RetryAfter():
                return Retryable(text, retry_after=_retry_seconds(text))
            case error.ChatMigrated():
                return ChatMoved(text, chat_id=str(err.new_chat_id))
            case error.Forbidden():
                return Rejected(text, gone=True)
            case error.BadRequest():
                return _error_for_text(text)
            case error.Conflict():
                hook = "webhook" in text.lower()
                return (WebhookConflict if hook else ReceiverConflict)(
                    f"something else receives this bot's messages: {text}"
                )
            case error.NetworkError() if "request entity too large" in text.lower():
                return AttachmentTooBig(text)
            case error.NetworkError() if type(err.__cause__).__name__ in _UNSENT_ERRORS:
                return Retryable(text, whole_channel=True)
            case error.NetworkError() if "too many requests" in text.lower():
                return Retryable(text, retry_after=_retry_seconds(text))
            case _:
                return Ambiguous(text)


def api_root(base_url: str) -> str:
    """The server's address without a path. base_url: "" for Telegram's own."""
    return (base_url or SERVER).rstrip("/").removesuffix("/bot")


def upload_file(data: bytes, name: str) -> Any:
    """A file as a parameter of a call; `name` is what people see, without any folder."""
    from telegram import InputFile

    return InputFile(data, filename=name.replace("\\", "/").rpartition("/")[2] or "file")


def _error_for_text(text: str) -> Rejected:
    lower = text.lower()
    for words, meaning in _ERRORS_BY_TEXT:
        if words in lower:
            return meaning(text)
    return Rejected(text, gone=any(words in lower for words in _GONE_TEXTS))


def _retry_seconds(text: str) -> float | None:
    found = _RETRY_AFTER.search(text)
    return float(found[1]) if found else None


def silence_library() -> None:
    """The loggers print addresses, which hold the token; the advice is for callers of typed methods."""
    for name in ("httpx", "httpx2", "telegram"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for advice in ("Please use 'Bot", ".*attribute `retry_after`"):
        warnings.filterwarnings("ignore", message=advice)


# Files that came with a message, fetched from the Bot API's file server.

CHUNK_TIMEOUT_SECONDS = 20.0
DOWNLOAD_SECONDS = 120.0


class TelegramFileClient:
    """One pool of connections to the file server. base_url: as the API's; proxy: its URL, "" for none."""

    def __init__(self, token: str, base_url: str, proxy: str) -> None:
        self._start = f"{api_root(base_url)}/file/bot{token}/"
        self._proxy = proxy
        self._client: Any = None

    async def fetch(self, path: str, most: int) -> FetchedFile:
        """The bytes at a path that getFile named, at most `most`; it reads no more than that.

        Raises:
            TooBig: there are more. Rejected: the path has expired, or is none. Retryable: not now.
        """
        if not path or path.startswith("/") or ".." in path.split("/"):
            raise Rejected("the Bot API server names a file of its own machine")
        import httpx2

        if self._client is None:
            self._client = await asyncio.to_thread(self._open)
        try:
            async with asyncio.timeout(DOWNLOAD_SECONDS):
                return FetchedFile(data=await self._read(self._start + quote(path), most))
        except (httpx2.TransportError, TimeoutError) as err:
            raise Retryable(f"the file did not come whole: {type(err).__name__}") from err

    async def close(self) -> None:
        """Drop the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _read(self, url: str, most: int) -> bytes:
        data = bytearray()
        async with self._client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as answer:
            if answer.status_code in (400, 404, 410):
                raise Rejected("the file is not there any more")
            if answer.status_code != 200:
                raise Retryable(f"the file server answers {answer.status_code}")
            async for chunk in answer.aiter_raw():
                data += chunk
                if len(data) > most:
                    raise AttachmentTooBig(f"the file has more than {most} bytes")
        return bytes(data)

    def _open(self) -> Any:
        import httpx2

        timeout = httpx2.Timeout(CHUNK_TIMEOUT_SECONDS, connect=CONNECT_SECONDS)
        return httpx2.AsyncClient(timeout=timeout, trust_env=False, proxy=self._proxy or None)
