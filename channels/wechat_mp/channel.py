"""The door to a WeChat official account: hears by the platform's calls, answers them, and writes where it may."""

import asyncio
import importlib
import importlib.util
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import structlog

from channels.base import ConnectionStatus, Deliver, FetchedFile, Notebook, WebhookReply, WebhookRequest
from channels.errors import AttachmentTooBig, AwaitsUser, Rejected
from channels.message import (
    Accepted,
    Address,
    Capabilities,
    InboundMessage,
    LiveEvent,
    OutboundFile,
    OutboundMessage,
    Receipt,
)
from channels.toolkit.bounded import BoundedDict
from channels.toolkit.tasks import TypingIndicator
from channels.wechat_mp.client import (
    ANSWER_SECONDS,
    CustomerServiceQuota,
    NotGranted,
    OfficialAccountClient,
    QuotaUsedUp,
    checked_url,
    video_url,
)
from channels.wechat_mp.messages import (
    LIMIT,
    MediaRef,
    image_xml,
    later_text,
    parse,
    render,
    reply_xml,
    service_body,
    text_xml,
)
from channels.wechat_mp.pending_replies import PendingReplies, PendingReply, ReplyOffer, ReplyTiming
from channels.wechat_mp.settings import WechatMpSettings
from channels.wechat_mp.webhook import CallMalformed, CallRejected, OfficialAccountWebhookVerifier, VerifiedCall

log = structlog.get_logger(__name__)

CRYPTO_PACKAGE = "cryptography"
STORE_PAUSE = 0.1
LONG_TEXT_CHARS = 1_000  # characters; the Markdown of a longer text is read beside the event loop
# A message that comes so long after it was written comes for the third time, though we see it for the first.
LATE_REPLY_SECONDS = 9.0
TYPING_SECONDS = 10.0
MAX_TYPING_SECONDS = 180.0
PICTURE_BYTES = 10_000_000
PICTURES = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/bmp": "bmp"}
MAX_SENT_CAPTIONS = 10_000  # words sent whose picture is still to go; see `send`
MAX_WORKING = 10_000
UNENCRYPTED_WARNING = (
    "calls come unencrypted, so that nobody is more than a guest: set encoding_aes_key, and safe mode at the platform"
)
WORKING_EVENTS = ("accepted", "started", "delta", "tool_started", "tool_ended")


class WechatMp:
    """One official account. pace, patience, clock: how long its requests are held, how many seconds an answer of the
    API is waited for, and what tells the time; for tests.

    An answer goes out in the request that its message came with, if that is still open; else by the customer-service
    API, where the account has it; else in the request of whatever the person writes next.
    """

    name = "wechat_mp"
    opened_with = WechatMpSettings

    def __init__(
        self,
        settings: WechatMpSettings,
        *,
        pace: ReplyTiming | None = None,
        patience: float = ANSWER_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if settings.encoding_aes_key and importlib.util.find_spec(CRYPTO_PACKAGE) is None:
            raise ImportError("encoding_aes_key needs a package for ciphers", name=CRYPTO_PACKAGE)
        self.account = settings.app_id
        self.capabilities = Capabilities(
            limit=LIMIT,
            caption=LIMIT,
            unit="utf8",
            live=True,
            shows="typing",
            hears=frozenset({"text", "picture", "voice", "video"}),
            picture_bytes=PICTURE_BYTES,
            asks_first=True,
            hook=True,
            says_leaving=True,
        )
        self._sealed = bool(settings.encoding_aes_key)
        self._guard = OfficialAccountWebhookVerifier(
            token=settings.token, app_id=settings.app_id, signs=settings.encoding_aes_key
        )
        self._api = OfficialAccountClient(settings, patience)
        self._clock = clock
        self._service = CustomerServiceQuota(settings.app_id)
        self._exchanges = PendingReplies(pace or ReplyTiming())
        self._typing = TypingIndicator(self._type, every=TYPING_SECONDS, longest=MAX_TYPING_SECONDS)
        self._deliver: Deliver | None = None
        self._listening = asyncio.Event()
        self._notebook: Notebook | None = None
        self._original_page = f"{settings.app_id}.original_id"
        self._original = ""
        self._worded: BoundedDict[str, None] = BoundedDict(MAX_SENT_CAPTIONS)
        self._working: BoundedDict[str, str] = BoundedDict(MAX_WORKING)
        self._storing: set[asyncio.Future[list[Accepted]]] = set()
        self._heard = 0.0
        self._refusal = ""

    def bind(self, notebook: Notebook) -> None:
        """Called once, before `run` and any `send`."""
        self._notebook = notebook

    async def run(self, deliver: Deliver) -> None:
        """Let calls in until cancelled; each is confirmed only after `deliver` returned."""
        if self._sealed:
            await asyncio.to_thread(importlib.import_module, f"{CRYPTO_PACKAGE}.hazmat.primitives.ciphers")
        pages = await self._notebook.read(f"{self.account}.") if self._notebook else {}
        self._original = pages.get(self._original_page, "")
        self._guard.nonces.load(pages, self._clock())
        self._service.bind(self._notebook, pages)
        self._exchanges.opened()
        self._deliver = deliver
        self._listening.set()
        try:
            await asyncio.Event().wait()
        finally:
            self._listening.clear()
            self._deliver = None
            self._exchanges.close()

    async def hook(self, request: WebhookRequest) -> WebhookReply:
        """Answer one call of the platform's; a message is held until its answer is there, or the platform gives up."""
        now = self._clock()
        try:
            if request.method == "GET":
                echo = self._guard.address(request.query, now)
                return WebhookReply(body=echo) if await self._store_nonce() else WebhookReply(status=503)
            push = self._guard.push(request, now)
            if self._original not in ("", push.fields["ToUserName"]):
                raise CallRejected("a call for another account than those before it")
            deliver = await self._wait_for_receiver()
            self._guard.recheck(push, now)
        except CallRejected as err:
            if not isinstance(err, CallMalformed):
                self._refusal = str(err)
            log.info("call refused", channel=self.name, why=str(err))
            return WebhookReply(status=401)
        self._heard, self._refusal = now, ""
        message = parse(push.fields, self.account)
        if deliver is None:
            return WebhookReply(status=503)
        if message is None:
            return WebhookReply(body=b"success") if await self._store_nonce() else WebhookReply(status=503)
        return await self._answered(push, replace(message, proven=self._sealed), deliver)

    async def _store_nonce(self) -> bool:
        """Store the nonce of a call that brings no message; it must not come again with one after a restart."""
        pages = self._guard.nonces.unstored()
        if self._notebook is None or not pages:
            return True
        try:
            await self._notebook.write(pages)
        except (OSError, RuntimeError) as err:
            log.warning("nonce not stored", channel=self.name, error=f"{type(err).__name__}: {err}")
            return False
        self._guard.nonces.stored(pages)
        return True

    async def _wait_for_receiver(self) -> Deliver | None:
        """Who takes messages; a call that comes while we start waits for it, for each refusal uses up a try."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._exchanges.pace.hold):
                await self._listening.wait()
        return self._deliver

    async def send(self, message: OutboundMessage) -> Receipt:
        """Deliver one part; the platform gives no id for it, so it goes by its own key.

        Raises:
            AwaitsUser: no request is open, and the API is missing or used up. See channels.errors for the others.
        """
        self._typing.stop(message.address)
        self._working.pop(message.reply_to, None)
        if message.file is None:
            await self._tell(message)
            return Receipt(platform_id=message.client_key)
        media_id = await self._uploaded(message.file)
        if message.text.strip() and message.client_key not in self._worded:
            await self._tell(message)
            self._worded[message.client_key] = None  # not again, should the picture need another attempt
        person = message.address.chat_id
        await self._put(message, image_xml(media_id), service_body(person, "image", {"media_id": media_id}))
        self._worded.pop(message.client_key, None)
        return Receipt(platform_id=message.client_key)

    def show(self, event: LiveEvent) -> None:
        """Show that an answer is being written, where the account may; best effort."""
        if event.name in ("reply", "failed", "notice"):
            self._typing.stop(event.address)
            self._working.pop(event.message_id, None)
        elif event.name in WORKING_EVENTS:
            self._working[event.message_id] = event.address.chat_id
            if event.name != "accepted" and self._service.may_call:
                self._typing.beat(event.address)

    async def fetch(self, ref: str, most: int) -> FetchedFile:
        """The bytes of a file: by the API, or, for a picture of an account without it, from its public address.

        Raises:
            AttachmentTooBig, Rejected, Retryable.
        """
        try:
            media = MediaRef.of(ref)
        except ValueError as err:
            raise Rejected("not a file of this channel") from err
        if media.id and self._service.may_call:
            with suppress(NotGranted):
                return await self._service.ask(self._by_id(media.id, most))
        if not media.url:
            raise Rejected("only a verified account may fetch such files")
        data, kind = await self._api.get(checked_url(media.url, self._api.root), most)
        return FetchedFile(data=data, media_type=kind)

    def vitals(self) -> ConnectionStatus:
        """As they are now."""
        plain = "" if self._sealed else UNENCRYPTED_WARNING
        refused = f"a call was refused: {self._refusal}" if self._refusal else ""
        trouble = "; ".join(filter(None, (refused, self._service.trouble, plain)))
        return ConnectionStatus(heard=max(self._heard, self._api.heard), trouble=trouble, quota=self._service.quota())

    async def probe(self) -> str:
        """Try AppID and secret. Raises ChannelError."""
        await self._api.log_in()
        return f"official account {self.account}"

    async def close(self) -> None:
        """Drop the connections; a later send opens them again."""
        for storing in self._storing:
            storing.cancel()
        await self._typing.close()
        await self._api.close()

    async def _answered(self, push: VerifiedCall, message: InboundMessage, deliver: Deliver) -> WebhookReply:
        exchange = self._exchanges.arrive(message.key, message.sender.id)
        number = exchange.tries
        if number == 1:
            self._service.wrote(message.sender.id)
        accepted = await self._stored(push, message, deliver, exchange.began + self._exchanges.pace.cut)
        if accepted is not None:
            self._note(exchange, message, accepted)
            offer = await self._exchanges.wait(exchange) or self._late_content(exchange, number, message.text)
            if offer is not None:
                return self._reply(push, exchange, number, offer)
        await self._exchanges.hang(exchange, number)
        return WebhookReply(status=503)

    def _note(self, exchange: PendingReply, message: InboundMessage, accepted: Accepted) -> None:
        late = self._clock() - message.sent_at.timestamp() > LATE_REPLY_SECONDS
        if exchange.tries == 1 and (late or not accepted.new):
            exchange.more = False  # earlier tries came to an earlier life of ours: this may be the last

    def _late_content(self, exchange: PendingReply, number: int, text: str) -> ReplyOffer | None:
        """What to say when the answer takes longer than this try; None: nothing, another try will come."""
        if exchange.tries != number or self._deliver is None:
            return None
        # Strangers are told nothing: that a bot thinks is said only where one does.
        if self._service.granted or exchange.person not in self._working.values():
            return self._exchanges.end(exchange, "")
        return None if exchange.more else self._exchanges.end(exchange, text_xml(later_text(text)))

    def _reply(self, push: VerifiedCall, exchange: PendingReply, number: int, offer: ReplyOffer) -> WebhookReply:
        written = partial(self._exchanges.written, exchange, number)
        if not offer.content:
            return WebhookReply(body=b"success", written=written)
        now = self._clock()
        xml = reply_xml(push.fields, offer.content, now)
        body = self._guard.seal(xml, now, secrets.token_hex(8)) if push.sealed else xml
        return WebhookReply(body=body.encode(), media_type="application/xml; charset=utf-8", written=written)

    async def _stored(
        self, push: VerifiedCall, message: InboundMessage, deliver: Deliver, until: float
    ) -> Accepted | None:
        """Deliver it before the platform hangs up (loop time); None: it could not be stored, and will come again."""
        nonces = self._guard.nonces.unstored()
        keep: Mapping[str, str] = nonces | ({} if self._original else {self._original_page: push.fields["ToUserName"]})
        now = asyncio.get_running_loop().time
        while now() < until:
            # Never cancelled: what is being stored is stored, and known as a repeat when it comes again.
            storing = asyncio.ensure_future(deliver([message], keep))
            self._storing.add(storing)
            storing.add_done_callback(self._forget)
            await asyncio.wait({storing}, timeout=until - now())
            if not storing.done():
                log.warning("message not stored in time", channel=self.name)
                return None
            err = storing.exception()
            if err is None:
                self._original = push.fields["ToUserName"]
                self._guard.nonces.stored(nonces)
                return storing.result()[0]
            if not isinstance(err, OSError | RuntimeError):
                raise err
            log.warning("message not stored", channel=self.name, error=f"{type(err).__name__}: {err}")
            await asyncio.sleep(STORE_PAUSE)
        return None

    def _forget(self, storing: asyncio.Future[list[Accepted]]) -> None:
        self._storing.discard(storing)
        if not storing.cancelled():
            storing.exception()  # told by whoever still waits for it

    async def _tell(self, message: OutboundMessage) -> None:
        person = message.address.chat_id
        last = self._service.last(person)
        is_long = len(message.text) > LONG_TEXT_CHARS
        text = await asyncio.to_thread(render, message, last=last) if is_long else render(message, last=last)
        await self._put(message, text_xml(text), service_body(person, "text", {"content": text}))

    async def _put(self, message: OutboundMessage, passive: str, body: dict[str, Any]) -> None:
        """Into an open request, else by the API."""
        person = message.address.chat_id
        if not await self._exchanges.answer_request(message.reply_to_key, person, passive):
            await self._send_by_service(person, body)

    async def _send_by_service(self, person: str, body: dict[str, Any]) -> None:
        if not self._service.may_call:
            raise AwaitsUser("the account may not write unasked: this goes out when the person writes again")
        try:
            await self._service.ask(self._api.call("/cgi-bin/message/custom/send", body))
        except QuotaUsedUp:
            self._service.sent(person, all_used=True)
            raise
        self._service.sent(person)

    async def _uploaded(self, file: OutboundFile) -> str:
        ending = PICTURES.get(file.media_type)
        if ending is None:
            raise Rejected(f"an official account carries pictures (JPEG, PNG, GIF, BMP), not {file.media_type}")
        if len(file.data) > PICTURE_BYTES:
            raise AttachmentTooBig(f"the picture has {len(file.data)} bytes, the platform takes {PICTURE_BYTES}")
        if not self._service.may_call:
            raise Rejected("only a verified account may send pictures")
        try:
            return await self._service.ask(self._api.upload("image", f"picture.{ending}", file.media_type, file.data))
        except NotGranted as err:
            raise Rejected(f"the picture cannot be sent: {err}") from err

    async def _by_id(self, media_id: str, most: int) -> FetchedFile:
        data, kind = await self._api.media(media_id, most)
        if "json" in kind or "text/plain" in kind:
            data, kind = await self._api.get(checked_url(video_url(data), self._api.root), most)
        return FetchedFile(data=data, media_type=kind)

    async def _type(self, address: Address) -> None:
        body = {"touser": address.chat_id, "command": "Typing"}
        await self._service.ask(self._api.call("/cgi-bin/message/custom/typing", body))
