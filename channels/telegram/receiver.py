"""How updates reach us: by long polling, or by a webhook that is registered and watched here."""

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
from channels.toolkit.untrusted import parse_strict_json

log = structlog.get_logger(__name__)

GRACE_SECONDS = 10  # how much longer than the server we wait for the end of a long poll
MAX_MISSED_POLLS = 3  # after so many polls' time without an answer the connections are thrown away
MIN_PAUSE = 1.0
MAX_PAUSE = 30.0
LATE_SECONDS = 600  # for how long a webhook's last failure, as Telegram tells it, is told further
NOTEBOOK_KEY = "hook"
CHECKS_BEFORE_RESET = 3  # messages that wait at so many looks, a sixth of a poll apart, are fetched by nobody
CONFLICT_TEXT = "another program polls with this bot's token: stop it, or give this one a bot of its own"

TakeUpdates = Callable[[list[dict[str, Any]]], Awaitable[None]]


class UpdateReceiver:
    """One bot's ear. heard: unix seconds of the last good answer, 0 for none; trouble: what fails now.

    poll_seconds: length of one poll, and between two looks at a webhook.
    """

    def __init__(self, settings: TelegramSettings, poll_seconds: int) -> None:
        self._settings = settings
        self._seconds = poll_seconds
        self._foreign: str | None = None
        self._aside = False
        self.notebook: Notebook | None = None
        self.heard = 0.0
        self._silence = ""
        self._complaint = ""

    @property
    def trouble(self) -> str:
        return self._silence or self._complaint

    @property
    def wait(self) -> float:
        """Seconds until a call without an answer is given up."""
        return self._seconds + GRACE_SECONDS

    async def poll(self, wire: BotApiClient, take: TakeUpdates) -> None:
        """Hear by polling forever; a batch is confirmed only after `take` returned for it.

        Raises:
            ReceiverConflict: another program polls, or somebody else's webhook is set.
            ChannelError: nothing was heard for three polls' time.
        """
        if self._aside and not await self._has_unread_updates(wire):
            raise ReceiverConflict(CONFLICT_TEXT)
        self._aside = False
        parameters: dict[str, Any] = {"timeout": self._seconds, "allowed_updates": list(UPDATE_TYPES)}
        while True:
            try:
                updates = _valid_updates(await self.answer(wire, "get_updates", parameters))
            except WebhookConflict:
                await self._remove_webhook(wire)
                continue
            except ReceiverConflict as err:
                self._aside = True
                raise ReceiverConflict(CONFLICT_TEXT) from err
            await take(updates)
            if updates:
                parameters["offset"] = updates[-1]["update_id"] + 1

    async def _has_unread_updates(self, wire: BotApiClient) -> bool:
        """Whether messages wait that nobody fetches: a poll of ours, to see, would end the other program's."""
        for look in range(CHECKS_BEFORE_RESET):
            if look:
                await asyncio.sleep(self._seconds / 6)
            if not (await self.answer(wire, "get_webhook_info", {})).get("pending_update_count"):
                return False
        return True

    async def watch(self, wire: BotApiClient) -> None:
        """Register the webhook where that is needed, then look after it forever.

        Raises:
            ReceiverConflict: another program has set or removed it since.
            ChannelError: no answer for three polls' time.
        """
        info = await self.answer(wire, "get_webhook_info", {})
        if self._foreign is not None and info.get("url", "") == self._foreign:
            raise self._taken()
        if self._settings.webhook_url:
            await self._register(wire, info)
        while True:
            info = await self.answer(wire, "get_webhook_info", {})
            if self._settings.webhook_url and info.get("url") != self._settings.webhook_url:
                self._foreign = info.get("url", "")
                raise self._taken()
            self._complaint = _webhook_trouble(info, time.time())
            await asyncio.sleep(self._seconds)

    async def answer(self, wire: BotApiClient, method: str, parameters: dict[str, Any]) -> Any:
        """The answer to a call that may be repeated at will; a failing network is waited out for three polls' time."""
        patience = MAX_MISSED_POLLS * self._seconds
        why = ["no answer"]
        try:
            async with asyncio.timeout(patience):
                found = await self._insist(wire, method, parameters, why)
        except TimeoutError as err:
            self._silence = f"nothing heard from Telegram for {patience} s: {why[-1]}"
            raise ChannelError(self._silence) from err
        self.heard, self._silence = time.time(), ""
        return found

    async def _insist(self, wire: BotApiClient, method: str, parameters: dict[str, Any], why: list[str]) -> Any:
        pause = MIN_PAUSE
        while True:
            try:
                return await wire.call(method, parameters)
            except (Retryable, Ambiguous) as err:
                why.append(str(err))
                self._silence = f"no answer from Telegram: {err}"
                log.info("telegram silent", error=str(err))
                asked = err.retry_after if isinstance(err, Retryable) else None
            await asyncio.sleep(asked or pause)
            pause = min(2 * pause, MAX_PAUSE)

    async def _register(self, wire: BotApiClient, info: dict[str, Any]) -> None:
        """Tell Telegram our address; the secret, which it does not tell back, is compared with what we told it last."""
        told = hashlib.sha256(self._settings.webhook_secret.encode()).hexdigest()
        note = f"{told} {self._settings.webhook_url}"
        same = info.get("url") == self._settings.webhook_url and sorted(info.get("allowed_updates", ())) == sorted(
            UPDATE_TYPES
        )
        if same and await self._noted() == note:
            return
        parameters = {
            "url": self._settings.webhook_url,
            "secret_token": self._settings.webhook_secret,
            "allowed_updates": list(UPDATE_TYPES),
        }
        await self.answer(wire, "set_webhook", parameters)
        await self._note(note)

    async def _remove_webhook(self, wire: BotApiClient) -> None:
        """Remove the webhook that stops our polls, if it is one of ours; what waits there stays."""
        url = (await self.answer(wire, "get_webhook_info", {})).get("url", "")
        ours = {self._settings.webhook_url, (await self._noted()).partition(" ")[2]} - {""}
        if url and url not in ours:
            raise ReceiverConflict(
                f"a webhook at {_host(url)} receives this bot's messages, so that polling hears nothing: set mode to "
                "webhook, remove it with Telegram's deleteWebhook, or give this program a bot of its own"
            )
        if url:
            await self.answer(wire, "delete_webhook", {"drop_pending_updates": False})
            await self._note("")

    def _taken(self) -> ReceiverConflict:
        by = f"set to {_host(self._foreign)}" if self._foreign else "removed"
        return ReceiverConflict(
            f"the webhook was {by} by another program: stop that one, or give this one a bot of its own, and restart"
        )

    async def _noted(self) -> str:
        return (await self.notebook.read(NOTEBOOK_KEY)).get(NOTEBOOK_KEY, "") if self.notebook else ""

    async def _note(self, value: str) -> None:
        if self.notebook:
            try:
                await self.notebook.write({NOTEBOOK_KEY: value})
            except OSError as err:
                log.warning("webhook not noted", error=type(err).__name__)


def _valid_updates(found: Any) -> list[dict[str, Any]]:
    """Those that can be confirmed; what is none of them hides no other."""
    listed = found if isinstance(found, list) else [found]
    updates = [one for one in listed if isinstance(one, dict) and isinstance(one.get("update_id"), int)]
    if listed and not updates:
        raise ChannelError("Telegram's server answers getUpdates with something that holds no updates")
    return updates


def _webhook_trouble(info: dict[str, Any], now: float) -> str:
    """What Telegram says of the webhook, where that is no praise."""
    if not info.get("url"):
        return "no webhook is set, so that nothing is heard: give webhook_url, or call setWebhook"
    if now - info.get("last_error_date", 0) > LATE_SECONDS:
        return ""
    return f"Telegram cannot reach the webhook: {info.get('last_error_message', '')}"


def _host(url: str | None) -> str:
    parts = urlsplit(url or "")
    return f"{parts.scheme}://{parts.netloc}"


# What is believed of a webhook's call: the secret in its header, and JSON of a sane form. Pure.

HEADER = "x-telegram-bot-api-secret-token"


def read_webhook_update(request: WebhookRequest, secret: str) -> dict[str, Any] | None:
    """The update that the platform brought; None where any check fails, whichever it is."""
    if request.method != "POST" or not _has_secret(request, secret):
        return None
    try:
        update = parse_strict_json(request.body)
    except ValueError:
        return None
    if not isinstance(update, dict) or not isinstance(update.get("update_id"), int):
        return None
    return update


def _has_secret(request: WebhookRequest, secret: str) -> bool:
    given = [value for name, value in request.headers if name == HEADER]
    same = hmac.compare_digest((given[0] if given else "").encode("utf-8", "surrogatepass"), secret.encode())
    return same and len(given) == 1
