"""Notifications of browsers by Web Push: who wants them, and that something new is there.

A message says that there is one, and nothing of it: not its words, not who wrote it.
"""

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Container, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import Response

from bot.config.enabled import EnabledFile
from bot.config.schema import Config
from bot.console.operations import models
from bot.console.operations.push_encryption import (
    KEY_BYTES,
    encode_base64url,
    encrypt,
    new_key,
    parse_keys,
    public_point,
    vapid_header,
)
from bot.runtime.bot import Bot
from bot.tools.web.addresses import WebError, WebUrl, parse_url
from bot.tools.web.client import GuardedClient
from channels.phrases import Phrase, untranslated
from channels.web.models import DoneBody
from channels.web.requests import HttpRefusal, Route, json_response
from channels.web.server import WebSite
from memory.workspace.atomic_write import write_atomic

log = structlog.get_logger(__name__)
SUBSCRIPTIONS_FILE, KEY_FILE = "push.json", "push_key"  # in the data folder, in no backup
MAX_SUBSCRIPTIONS = 20
KEEP_SECONDS = 86_400  # that a push service keeps a message for a device that is off
# Names that the page makes; another one may say something to whoever sees the screen.
_MADE_NAME = re.compile(r"chat-[0-9a-f]{8}")
GONE = frozenset({404, 410})
_NOTICE = Phrase("There is a new message.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PushSubscription:
    """A browser that wants notifications."""

    endpoint: str
    #: Base64url.
    p256dh: str
    auth: str
    #: "zh" or "en".
    language: str
    #: Id of its login: with that it ends.
    login: str


class PushNotifier:
    """Tells subscribed browsers that something new is there, while `channels.web.push` is on.

    Args:
        data: folder of the keys and the subscriptions.
        logins: ids of the logins that have not ended.
        is_read: tells whether somebody looks at a conversation.
        spawn: runs work in the background.
        now: unix seconds.
    """

    def __init__(
        self,
        *,
        data: Path,
        config: Callable[[], Config],
        client: GuardedClient,
        logins: Callable[[], Container[str]],
        is_read: Callable[[str], bool],
        spawn: Callable[[Coroutine[Any, Any, object]], None],
        now: Callable[[], float],
    ) -> None:
        self.client = client
        self._rows = EnabledFile(data / SUBSCRIPTIONS_FILE, PushSubscription)
        self._key_path = data / KEY_FILE
        self._config = config
        self._logins = logins
        self._is_read = is_read
        self._spawn = spawn
        self._now = now

    @property
    def is_on(self) -> bool:
        """Whether notifications are configured; they need the https address of the page."""
        web = self._config().channels.web
        return web.push and bool(web.public_url)

    def note_reply(self, conversation: str) -> None:
        """Tell the browsers of a new message, unless somebody is looking at its conversation."""
        if self.is_on and not self._is_read(conversation) and self._rows.load():
            self._spawn(self.send_all(conversation))

    async def send_all(self, conversation: str) -> None:
        """Send to every browser whose login has not ended; forget those that want none any more."""
        key = await asyncio.to_thread(self.load_key)
        path = f"/c/{conversation}" if _MADE_NAME.fullmatch(conversation) else "/c"
        # the newest one replaces those that a device has not fetched, and tells nothing of its name
        topic = hmac.digest(key, conversation.encode(), hashlib.sha256)[: KEY_BYTES // 2]
        for id, row in list(self._rows.load().items()):
            if row.login not in self._logins():
                self._rows.set(id, None)
                continue
            payload = {"text": _NOTICE.text(row.language), "path": path}
            await self._send(id, row, json.dumps(payload).encode(), key, encode_base64url(topic))

    async def _send(
        self, id: str, row: PushSubscription, payload: bytes, key: bytes, topic: str
    ) -> None:
        url = parse_url(row.endpoint)
        subject = self._config().channels.web.public_url
        headers = {
            "Authorization": vapid_header(key, origin_of(url), subject, self._now()),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(KEEP_SECONDS),
            "Topic": topic,
            "Urgency": "normal",
        }
        try:
            body = encrypt(payload, parse_keys(row.p256dh, row.auth))
            answer = await self.client.request("POST", row.endpoint, headers, body)
        except (WebError, ValueError) as err:
            log.info("a notification was not sent", why=getattr(err, "code", "keys"))
            return
        if answer.status in GONE:
            self._rows.set(id, None)
        elif answer.status >= 400:
            log.info("a push service refused a notification", status=answer.status)

    def load_key(self) -> bytes:
        """Return the private key that names this bot, made at first use; blocks."""
        try:
            key = self._key_path.read_bytes()
        except FileNotFoundError:
            key = b""
        if len(key) != KEY_BYTES:
            key = new_key()
            write_atomic(self._key_path, key)
        return key

    def add(self, row: PushSubscription) -> str:
        """Store a subscription, in place of a former one of the same browser; return its id.

        Raises:
            ValueError: there are too many.
        """
        id = hashlib.sha256(row.endpoint.encode()).hexdigest()[:32]
        rows = self._rows.load()
        if id not in rows and len(rows) >= MAX_SUBSCRIPTIONS:
            raise ValueError(f"{MAX_SUBSCRIPTIONS} browsers are notified; switch one off first")
        self._rows.set(id, row)
        return id

    def remove(self, id: str) -> bool:
        """Forget a subscription; False if there is none."""
        is_known = id in self._rows.load()
        if is_known:
            self._rows.set(id, None)
        return is_known

    def is_login(self, id: str) -> bool:
        """Tell whether this is a login of a browser that has not ended."""
        return id in self._logins()

    def has(self, id: str) -> bool:
        """Tell whether a subscription is stored."""
        return id in self._rows.load()


def build_notifier(bot: Bot, site: WebSite) -> PushNotifier:
    """Build what tells the browsers of a bot's site; all its state is on disk."""
    return PushNotifier(
        data=bot.home.data,
        config=bot.config,
        client=GuardedClient(allowed=lambda: bot.config().tools.web.allow),
        logins=site.gate.sessions,
        is_read=site.web.hub.has_readers,
        spawn=bot.spawn,
        now=bot.store.now,
    )


def origin_of(url: WebUrl) -> str:
    """Return the origin of an address, as VAPID names it."""
    return f"{url.scheme}://{url.authority}"


class PushRoutes:
    """Handlers of notifications."""

    def __init__(self, notifier: PushNotifier) -> None:
        self._notifier = notifier

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        path = "/api/v1/push"
        return (
            Route(
                method="GET",
                path=path,
                action="console.read",
                handler=self.offer,
                query=models.PushQueryBody,
                reply=models.PushOfferBody,
            ),
            Route(
                method="POST",
                path=path,
                action="console.write",
                handler=self.add,
                body=models.NewPushBody,
                reply=models.PushBody,
            ),
            Route(
                method="DELETE",
                path=f"{path}/{{id}}",
                action="console.write",
                handler=self.remove,
                reply=DoneBody,
            ),
        )

    async def offer(self, _: Request, query: models.PushQueryBody) -> Response:
        """Tell whether notifications can be had, with the key that a browser subscribes with."""
        key = ""
        if self._notifier.is_on:
            point = await asyncio.to_thread(lambda: public_point(self._notifier.load_key()))
            key = encode_base64url(point)
        is_known = self._notifier.is_on and self._notifier.has(query.id)
        return json_response({"on": self._notifier.is_on, "key": key, "known": is_known})

    async def add(self, request: Request, body: models.NewPushBody) -> Response:
        """Store where a browser is notified, once its push service is a public https address."""
        if not self._notifier.is_on:
            raise HttpRefusal(
                409, "state", Phrase("channels.web.push is off, or public_url is not set")
            )
        login = request.state.visitor.id
        if not self._notifier.is_login(login):
            raise HttpRefusal(
                409, "state", Phrase("only a signed-in browser can get notifications")
            )
        try:
            url = parse_url(body.endpoint)
            if url.scheme != "https":
                raise HttpRefusal(
                    400,
                    "endpoint",
                    Phrase("the address of a push service must be https"),
                    field="endpoint",
                )
            parse_keys(body.p256dh, body.auth)
            await self._notifier.client.judge(url)
            row = PushSubscription(login=login, **body.model_dump())
            id = self._notifier.add(row)
        except (WebError, ValueError) as err:
            raise HttpRefusal(400, "endpoint", untranslated(str(err)), field="endpoint") from err
        return json_response({"id": id}, 201)

    async def remove(self, request: Request) -> Response:
        """Tell a browser nothing any more."""
        if not self._notifier.remove(str(request.path_params["id"])):
            raise HttpRefusal(404, "not_found", Phrase("there is no such subscription"))
        return json_response({"ok": True})
