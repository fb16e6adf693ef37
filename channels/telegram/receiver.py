"""Receives updates: by long polling, or by a webhook that is registered and watched here."""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import structlog

from channels.base import Notebook, WebhookRequest
from channels.errors import Ambiguous, ChannelError, ReceiverConflict, Retryable
from channels.telegram.client import BotApiClient, WebhookConflict
from channels.telegram.messages import UPDATE_TYPES
from channels.telegram.settings import TelegramSettings
from channels.toolkit.delivery import EmptyNotebook
from channels.toolkit.untrusted import parse_strict_json

log = structlog.get_logger(__name__)

GRACE_SECONDS = 10  # timeout of a long poll beyond the seconds that the server holds it
MAX_MISSED_POLLS = 3  # polls' time without an answer, after which the connections are replaced
MIN_PAUSE = 1.0
MAX_PAUSE = 30.0
RECENT_SECONDS = 600  # how long the webhook's last failure is reported
NOTEBOOK_KEY = "hook"
# updates that are pending at each check, a sixth of a poll apart, are fetched by no other program
CONFLICT_CHECKS = 3
CONFLICT_TEXT = (
    "another program polls with this bot's token: stop it, or give this one a bot of its own"
)
SECRET_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105

StoreUpdates = Callable[[list[dict[str, Any]]], Awaitable[None]]


class UpdateReceiver:
    """Receives one bot's updates. poll_seconds: length of a long poll, and time between two checks
    of the webhook.
    """

    def __init__(self, settings: TelegramSettings, poll_seconds: int) -> None:
        self._settings = settings
        self._poll_seconds = poll_seconds
        #: The URL to which another program has set the webhook, None for none.
        self._foreign_url: str | None = None
        self._lost_poll = False
        self._call_trouble = ""
        self._webhook_trouble = ""
        self.notebook: Notebook = EmptyNotebook()
        #: Timeout of a call.
        self.answer_seconds = poll_seconds + GRACE_SECONDS
        #: Unix seconds of the last good answer, 0 for none.
        self.last_contact = 0.0

    @property
    def trouble(self) -> str:
        """What fails at the moment, "" for nothing."""
        return self._call_trouble or self._webhook_trouble

    async def poll(self, client: BotApiClient, store: StoreUpdates) -> None:
        """Poll until cancelled; a batch is acknowledged only after `store` returned for it.

        Raises:
            ReceiverConflict: another program polls, or has set a webhook.
            ChannelError: no answer for the time of three polls.
        """
        if self._lost_poll and not await self._has_unread_updates(client):
            raise ReceiverConflict(CONFLICT_TEXT)
        self._lost_poll = False
        parameters: dict[str, Any] = {
            "timeout": self._poll_seconds,
            "allowed_updates": list(UPDATE_TYPES),
        }
        while True:
            try:
                updates = _valid_updates(await self.call(client, "get_updates", parameters))
            except WebhookConflict:
                await self._remove_webhook(client)
                continue
            except ReceiverConflict as err:
                self._lost_poll = True
                raise ReceiverConflict(CONFLICT_TEXT) from err
            await store(updates)
            if updates:
                parameters["offset"] = updates[-1]["update_id"] + 1

    async def watch_webhook(self, client: BotApiClient) -> None:
        """Register the webhook if necessary, then check it until cancelled.

        Raises:
            ReceiverConflict: another program has set or removed it.
            ChannelError: no answer for the time of three polls.
        """
        info = await self.call(client, "get_webhook_info", {})
        if self._foreign_url is not None and info.get("url", "") == self._foreign_url:
            raise self._webhook_conflict()
        if self._settings.webhook_url:
            await self._register(client, info)
        while True:
            info = await self.call(client, "get_webhook_info", {})
            if self._settings.webhook_url and info.get("url") != self._settings.webhook_url:
                self._foreign_url = info.get("url", "")
                raise self._webhook_conflict()
            self._webhook_trouble = _describe_trouble(info, time.time())
            await asyncio.sleep(self._poll_seconds)

    async def call(self, client: BotApiClient, method: str, parameters: dict[str, Any]) -> Any:
        """Make a call that may be repeated; retry it for the time of three polls."""
        seconds = MAX_MISSED_POLLS * self._poll_seconds
        reason, pause = "no answer", MIN_PAUSE
        try:
            async with asyncio.timeout(seconds):
                while True:
                    try:
                        result = await client.call(method, parameters)
                        break
                    except (Retryable, Ambiguous) as err:
                        reason = str(err)
                        self._call_trouble = f"no answer from Telegram: {reason}"
                        log.info("telegram silent", error=reason)
                        retry_after = err.retry_after if isinstance(err, Retryable) else None
                    await asyncio.sleep(retry_after or pause)
                    pause = min(2 * pause, MAX_PAUSE)
        except TimeoutError as err:
            self._call_trouble = f"no answer from Telegram for {seconds} s: {reason}"
            raise ChannelError(self._call_trouble) from err
        self.last_contact, self._call_trouble = time.time(), ""
        return result

    async def _has_unread_updates(self, client: BotApiClient) -> bool:
        """Whether no other program fetches the updates.

        A poll would tell too, but would end the other's poll.
        """
        for check in range(CONFLICT_CHECKS):
            if check:
                await asyncio.sleep(self._poll_seconds / 6)
            if not (await self.call(client, "get_webhook_info", {})).get("pending_update_count"):
                return False
        return True

    async def _register(self, client: BotApiClient, info: dict[str, Any]) -> None:
        """Set the webhook unless it is set already.

        Telegram does not return the secret, so its hash is noted.
        """
        url, secret = self._settings.webhook_url, self._settings.webhook_secret
        note = f"{hashlib.sha256(secret.encode()).hexdigest()} {url}"
        is_set = info.get("url") == url and sorted(info.get("allowed_updates", ())) == sorted(
            UPDATE_TYPES
        )
        if is_set and await self._read_note() == note:
            return
        parameters = {"url": url, "secret_token": secret, "allowed_updates": list(UPDATE_TYPES)}
        await self.call(client, "set_webhook", parameters)
        await self._write_note(note)

    async def _remove_webhook(self, client: BotApiClient) -> None:
        """Remove a webhook that this program has set and that prevents polling; pending updates
        stay.
        """
        url = (await self.call(client, "get_webhook_info", {})).get("url", "")
        own_urls = {self._settings.webhook_url, (await self._read_note()).partition(" ")[2]} - {""}
        if url and url not in own_urls:
            raise ReceiverConflict(
                f"a webhook at {_host(url)} receives this bot's messages, so polling receives "
                "nothing: set mode to webhook, remove it with Telegram's deleteWebhook, or give "
                "this program a bot of its own"
            )
        if url:
            await self.call(client, "delete_webhook", {"drop_pending_updates": False})
            await self._write_note("")

    def _webhook_conflict(self) -> ReceiverConflict:
        change = f"set to {_host(self._foreign_url)}" if self._foreign_url else "removed"
        return ReceiverConflict(
            f"the webhook was {change} by another program: stop that one, or give this one a bot "
            "of its own, and restart"
        )

    async def _read_note(self) -> str:
        return (await self.notebook.read(NOTEBOOK_KEY)).get(NOTEBOOK_KEY, "")

    async def _write_note(self, value: str) -> None:
        try:
            await self.notebook.write({NOTEBOOK_KEY: value})
        except OSError as err:
            log.warning("webhook not noted", error=type(err).__name__)


def read_webhook_update(request: WebhookRequest, secret: str) -> dict[str, Any] | None:
    """Return the update of a genuine webhook call; None if any check fails."""
    if request.method != "POST" or not _has_secret(request, secret):
        return None
    try:
        update = parse_strict_json(request.body)
    except ValueError:
        return None
    return update if _is_update(update) else None


def _has_secret(request: WebhookRequest, secret: str) -> bool:
    given = [value for name, value in request.headers if name == SECRET_HEADER]
    same = hmac.compare_digest(
        (given[0] if given else "").encode("utf-8", "surrogatepass"), secret.encode()
    )
    return same and len(given) == 1


def _valid_updates(result: Any) -> list[dict[str, Any]]:
    """Filter what has an update id and so can be acknowledged; raises ChannelError if nothing
    has.
    """
    listed = result if isinstance(result, list) else [result]
    updates = [one for one in listed if _is_update(one)]
    if listed and not updates:
        raise ChannelError(
            "Telegram's server answers getUpdates with something that holds no updates"
        )
    return updates


def _is_update(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("update_id"), int)


def _describe_trouble(info: dict[str, Any], now: float) -> str:
    """Describe what Telegram reports about the webhook, "" if it works."""
    if not info.get("url"):
        return "no webhook is set, so no messages arrive: set webhook_url, or call setWebhook"
    if now - info.get("last_error_date", 0) > RECENT_SECONDS:
        return ""
    return f"Telegram cannot reach the webhook: {info.get('last_error_message', '')}"


def _host(url: str | None) -> str:
    parts = urlsplit(url or "")
    return f"{parts.scheme}://{parts.netloc}"
