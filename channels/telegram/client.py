"""Clients of the Telegram Bot API and its file server, with error mapping."""

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
from channels.telegram.settings import SERVER, TelegramSettings
from channels.toolkit.http import (
    ANSWER_SECONDS,
    CONNECT_SECONDS,
    MAX_CONNECTIONS,
    HttpPool,
    create_tls_context,
    is_unsent,
    read_limited,
)

MAX_ERROR_TEXT = 300

_RETRY_AFTER = re.compile(r"retry (?:after|in) (\d+)\b(?!:)", re.IGNORECASE)
_GONE_TEXTS = ("chat not found", "peer_id_invalid")


class TopicMissing(Rejected):
    """The topic does not exist; the chat itself may."""


class MessageUnchanged(Rejected):
    """The edited message would be the same as before."""


class MessageMissing(Rejected):
    """The message to edit does not exist, or can no longer be edited."""


class PictureRejected(Rejected):
    """The bytes cannot be sent as a picture; as a file they would be accepted."""


class MethodMissing(Retryable):
    """The server is too old for this method."""


class WebhookConflict(ReceiverConflict):
    """A webhook receives the updates."""


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
    """The API of one bot. answer_seconds: timeout of a call."""

    def __init__(self, settings: TelegramSettings, answer_seconds: float = ANSWER_SECONDS) -> None:
        from telegram import Bot
        from telegram.request import HTTPXRequest

        _silence_library()
        self._token = settings.token
        self._request = HTTPXRequest(
            connection_pool_size=MAX_CONNECTIONS,
            connect_timeout=CONNECT_SECONDS,
            read_timeout=answer_seconds,
            write_timeout=ANSWER_SECONDS,
            pool_timeout=ANSWER_SECONDS,
            proxy=settings.proxy or None,
            httpx_kwargs={"verify": create_tls_context(), "trust_env": False},
        )
        root = f"{_api_root(settings)}/bot"
        self._bot = Bot(self._token, root, request=self._request, get_updates_request=self._request)

    async def call(self, method: str, parameters: dict[str, Any] | None = None) -> Any:
        """Make one call and return `result` of the reply as plain JSON values.

        Args:
            method: in snake case, as in "send_message".

        Raises:
            Retryable: certainly not done. Ambiguous: possibly done. Rejected: will never be
                accepted.
            LoggedOut: the token is refused, by this call and by get_me.
            ReceiverConflict: another instance, or a webhook (WebhookConflict), receives the
                updates.
        """
        from telegram.error import InvalidToken, TelegramError

        try:
            return await self._bot.do_api_request(method, api_kwargs=parameters or {})
        except InvalidToken as err:
            if method == "get_me":
                raise LoggedOut("Telegram refuses the bot's token") from err
            missing = "method not found" in str(err.__cause__).lower()
        except TelegramError as err:
            raise self._map_error(err) from err
        except (KeyError, TypeError, AttributeError, RecursionError) as err:
            raise Ambiguous(f"an answer without a result to {method}") from err
        # The library maps 401 and 404 to one error, and a proxy may send 404: only get_me proves a
        # bad token.
        await self.call("get_me")
        raise (MethodMissing if missing else Retryable)(
            f"{method} is not found, though the token holds"
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._request.shutdown()

    def _map_error(self, err: Exception) -> ChannelError:
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
                conflict = WebhookConflict if "webhook" in text.lower() else ReceiverConflict
                return conflict(f"another program receives this bot's messages: {text}")
            case error.NetworkError():
                return _map_network_error(text, err.__cause__)
            case _:
                return Ambiguous(text)


def _api_root(settings: TelegramSettings) -> str:
    return (settings.base_url or SERVER).rstrip("/").removesuffix("/bot")


def upload_file(data: bytes, name: str) -> Any:
    """Wrap a file as a call's parameter; folders are removed from its name."""
    from telegram import InputFile

    return InputFile(data, filename=name.replace("\\", "/").rpartition("/")[2] or "file")


def _map_network_error(text: str, cause: BaseException | None) -> ChannelError:
    """Return what an error of the connection means; the library gives some answers as one, too."""
    lower = text.lower()
    if "request entity too large" in lower:
        return AttachmentTooBig(text)
    if is_unsent(cause):
        return Retryable(text, whole_channel=True)
    if "too many requests" in lower:
        return Retryable(text, retry_after=_retry_seconds(text))
    return Ambiguous(text)


def _error_for_text(text: str) -> Rejected:
    lower = text.lower()
    for phrase, error in _ERRORS_BY_TEXT:
        if phrase in lower:
            return error(text)
    return Rejected(text, gone=any(phrase in lower for phrase in _GONE_TEXTS))


def _retry_seconds(text: str) -> float | None:
    found = _RETRY_AFTER.search(text)
    return float(found[1]) if found else None


def _silence_library() -> None:
    """Mute loggers, which print URLs with the token, and warnings that recommend typed calls."""
    for name in ("httpx", "httpx2", "telegram"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for advice in ("Please use 'Bot", ".*attribute `retry_after`"):
        warnings.filterwarnings("ignore", message=advice)


DOWNLOAD_SECONDS = 120.0


class TelegramFileClient:
    """The Bot API's file server."""

    def __init__(self, settings: TelegramSettings) -> None:
        self._root = f"{_api_root(settings)}/file/bot{settings.token}/"
        self._http = HttpPool(settings.proxy)

    async def fetch(self, path: str, max_bytes: int) -> FetchedFile:
        """Download the file at a path from getFile; stops reading beyond `max_bytes`.

        Raises:
            AttachmentTooBig: it is larger. Rejected: the path has expired or is invalid. Retryable:
                not now.
        """
        if not path or path.startswith("/") or ".." in path.split("/"):
            raise Rejected("the Bot API server gives a path on its own machine")
        import httpx2

        try:
            async with asyncio.timeout(DOWNLOAD_SECONDS):
                client = await self._http.open()
                headers = {"Accept-Encoding": "identity"}
                async with client.stream(
                    "GET", self._root + quote(path), headers=headers
                ) as response:
                    if response.status_code in (400, 404, 410):
                        raise Rejected("the file no longer exists")
                    if response.status_code != 200:
                        raise Retryable(f"the file server answers {response.status_code}")
                    return FetchedFile(data=await read_limited(response.aiter_raw(), max_bytes))
        except (httpx2.TransportError, TimeoutError) as err:
            raise Retryable(f"the download failed: {type(err).__name__}") from err

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()
