"""WeChat official account: receives by webhook, replies in that request or by customer-service
API.
"""

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

from channels.base import (
    ConnectionStatus,
    Deliver,
    FetchedFile,
    Notebook,
    WebhookReply,
    WebhookRequest,
)
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
from channels.toolkit.delivery import BoundedDict, TypingIndicator
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
    image_xml,
    later_text,
    parse,
    parse_ref,
    render,
    reply_xml,
    service_body,
    text_xml,
)
from channels.wechat_mp.pending_replies import PendingReplies, PendingReply, ReplyOffer, ReplyTiming
from channels.wechat_mp.settings import WechatMpSettings
from channels.wechat_mp.webhook import (
    CallMalformed,
    CallRejected,
    OfficialAccountWebhookVerifier,
    VerifiedCall,
)

log = structlog.get_logger(__name__)

CRYPTO_PACKAGE = "cryptography"
STORE_PAUSE = 0.1  # seconds between attempts to store a message
LONG_TEXT_CHARS = 1_000  # the Markdown of a longer text is converted in a thread
# after a message was written its third attempt comes, though it is the first we receive
LAST_ATTEMPT_SECONDS = 9.0
TYPING_SECONDS = 10.0
MAX_TYPING_SECONDS = 180.0
PICTURE_BYTES = 10_000_000
PICTURES = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/bmp": "bmp"}
MAX_SENT_CAPTIONS = 10_000  # of pictures that are not sent yet
MAX_RUNNING = 10_000  # messages that the bot works on
PLAIN_MODE_WARNING = (
    "calls come unencrypted, so that nobody is more than a guest: set encoding_aes_key, and safe "
    "mode at the platform"
)
RUNNING_EVENTS = ("accepted", "started", "delta", "tool_started", "tool_ended")


class WechatMp:
    """One official account.

    A reply is sent in the request of its message, if that is still open; else by the
    customer-service API, if the account has it; else in the request of the person's next message.

    Args:
        timing: of the platform's requests.
        timeout: seconds to wait for a reply of the API.
        clock: returns unix seconds.
    """

    name = "wechat_mp"
    settings_type = WechatMpSettings

    def __init__(
        self,
        settings: WechatMpSettings,
        *,
        timing: ReplyTiming | None = None,
        timeout: float = ANSWER_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if settings.encoding_aes_key and importlib.util.find_spec(CRYPTO_PACKAGE) is None:
            raise ImportError(
                "encoding_aes_key needs a package for encryption", name=CRYPTO_PACKAGE
            )
        self.account = settings.app_id
        self.capabilities = Capabilities(
            limit=LIMIT,
            caption=LIMIT,
            unit="utf8",
            live=True,
            live_display="typing",
            receives=frozenset({"text", "picture", "voice", "video"}),
            picture_bytes=PICTURE_BYTES,
            user_writes_first=True,
            hook=True,
        )
        self._encrypted = bool(settings.encoding_aes_key)
        self._verifier = OfficialAccountWebhookVerifier(
            token=settings.token, app_id=settings.app_id, aes_key=settings.encoding_aes_key
        )
        self._api = OfficialAccountClient(settings, timeout)
        self._clock = clock
        self._service = CustomerServiceQuota(settings.app_id)
        self._pending = PendingReplies(timing or ReplyTiming())
        self._typing = TypingIndicator(
            self._show_typing, every=TYPING_SECONDS, longest=MAX_TYPING_SECONDS
        )
        self._deliver: Deliver | None = None
        self._started = asyncio.Event()
        self._notebook: Notebook | None = None
        #: The account's own name in messages; it must not change.
        self._original_id = ""
        self._original_id_key = f"{settings.app_id}.original_id"
        #: Keys of pictures whose caption was sent.
        self._sent_captions: BoundedDict[str, None] = BoundedDict(MAX_SENT_CAPTIONS)
        #: Person by id of the message that the bot works on.
        self._running: BoundedDict[str, str] = BoundedDict(MAX_RUNNING)
        self._deliveries: set[asyncio.Future[list[Accepted]]] = set()
        #: Unix seconds of the last genuine call.
        self._last_call = 0.0
        self._rejection = ""

    def bind(self, notebook: Notebook) -> None:
        """See channels.base.HasNotebook."""
        self._notebook = notebook

    async def run(self, deliver: Deliver) -> None:
        """Accept calls until cancelled; each is confirmed only after `deliver` returned."""
        if self._encrypted:
            await asyncio.to_thread(
                importlib.import_module, f"{CRYPTO_PACKAGE}.hazmat.primitives.ciphers"
            )
        values = await self._notebook.read(f"{self.account}.") if self._notebook else {}
        self._original_id = values.get(self._original_id_key, "")
        self._verifier.nonces.load(values, self._clock())
        self._service.bind(self._notebook, values)
        self._pending.open()
        self._deliver = deliver
        self._started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self._started.clear()
            self._deliver = None
            self._pending.close()

    async def hook(self, request: WebhookRequest) -> WebhookReply:
        """Answer one call of the platform; that of a message waits for the reply or the platform's
        timeout.
        """
        now = self._clock()
        try:
            if request.method == "GET":
                echo = self._verifier.verify_address(request.query, now)
                return (
                    WebhookReply(body=echo)
                    if await self._store_nonce()
                    else WebhookReply(status=503)
                )
            call = self._verifier.verify_message(request, now)
            if self._original_id not in ("", call.fields["ToUserName"]):
                raise CallRejected("the call is for another account than earlier ones")
            deliver = await self._wait_for_receiver()
            self._verifier.recheck_nonce(call, now)
        except CallRejected as err:
            if not isinstance(err, CallMalformed):
                self._rejection = str(err)
            log.info("call refused", channel=self.name, why=str(err))
            return WebhookReply(status=401)
        self._last_call, self._rejection = now, ""
        message = parse(call.fields, self.account)
        if deliver is None:
            return WebhookReply(status=503)
        if message is None:
            return (
                WebhookReply(body=b"success")
                if await self._store_nonce()
                else WebhookReply(status=503)
            )
        return await self._answer_message(call, replace(message, proven=self._encrypted), deliver)

    async def _store_nonce(self) -> bool:
        """Store the nonce of a call without a message, so that it cannot come with one after a
        restart.
        """
        nonces = self._verifier.nonces.unstored()
        if self._notebook is None or not nonces:
            return True
        try:
            await self._notebook.write(nonces)
        except (OSError, RuntimeError) as err:
            log.warning("nonce not stored", channel=self.name, error=f"{type(err).__name__}: {err}")
            return False
        self._verifier.nonces.stored(nonces)
        return True

    async def _wait_for_receiver(self) -> Deliver | None:
        """Wait for `run` to start: each refused call would use up one of the platform's
        attempts.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pending.timing.hold):
                await self._started.wait()
        return self._deliver

    async def wait_until_ready(self, address: Address, reply_to_key: str) -> None:
        """Wait for a request that a reply can go into, while the platform may still repeat one."""
        await self._pending.wait_for_request(reply_to_key, address.chat_id)

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send one part; the receipt has our own key, since the platform returns no id.

        Raises:
            AwaitsUser: no request is open, and the API is missing or used up. See channels.errors
                for the others.
        """
        self._typing.stop(message.address)
        self._running.pop(message.reply_to, None)
        if message.file is None:
            await self._send_text(message)
            return Receipt(platform_id=message.client_key)
        media_id = await self._upload(message.file)
        if message.text.strip() and message.client_key not in self._sent_captions:
            await self._send_text(message)
            # not again if the picture needs another attempt
            self._sent_captions[message.client_key] = None
        person = message.address.chat_id
        await self._send_content(
            message, image_xml(media_id), service_body(person, "image", {"media_id": media_id})
        )
        self._sent_captions.pop(message.client_key, None)
        return Receipt(platform_id=message.client_key)

    def allowance(self, address: Address) -> int | None:
        """Return how many messages this person can still receive by the API; None before it is
        known whether the account has it.
        """
        return self._service.remaining(address.chat_id)

    def show(self, event: LiveEvent) -> None:
        """Show the typing indicator, if the account may; best effort."""
        if event.name in ("reply", "failed", "notice"):
            self._typing.stop(event.address)
            self._running.pop(event.message_id, None)
        elif event.name in RUNNING_EVENTS:
            self._running[event.message_id] = event.address.chat_id
            if event.name != "accepted" and self._service.may_call:
                self._typing.show(event.address)

    async def fetch(self, ref: str, most: int) -> FetchedFile:
        """Download a file: by the API, or a picture from its public URL if the account has no API.

        Raises:
            AttachmentTooBig, Rejected, Retryable.
        """
        try:
            media_id, url = parse_ref(ref)
        except ValueError as err:
            raise Rejected("not a file of this channel") from err
        if media_id and self._service.may_call:
            with suppress(NotGranted):
                return await self._service.call(self._download_by_id(media_id, most))
        if not url:
            raise Rejected("only a verified account can download such files")
        data, kind = await self._api.get(checked_url(url, self._api.root), most)
        return FetchedFile(data=data, media_type=kind)

    def connection_status(self) -> ConnectionStatus:
        """See channels.base.HasStatus."""
        warning = "" if self._encrypted else PLAIN_MODE_WARNING
        rejected = f"a call was refused: {self._rejection}" if self._rejection else ""
        trouble = "; ".join(filter(None, (rejected, self._service.trouble, warning)))
        return ConnectionStatus(
            last_contact=max(self._last_call, self._api.heard),
            trouble=trouble,
            quota=self._service.describe(),
        )

    async def probe(self) -> str:
        """Check app_id and secret. Raises ChannelError."""
        await self._api.log_in()
        return f"official account {self.account}"

    async def close(self) -> None:
        """Close the connections; a later send opens new ones."""
        for delivery in self._deliveries:
            delivery.cancel()
        await self._typing.close()
        await self._api.close()

    async def _answer_message(
        self, call: VerifiedCall, message: InboundMessage, deliver: Deliver
    ) -> WebhookReply:
        pending = self._pending.arrive(message.key, message.sender.id)
        number = pending.attempts
        if number == 1:
            self._service.reset_count(message.sender.id)
        accepted = await self._store(
            call, message, deliver, pending.began + self._pending.timing.cut
        )
        if accepted is not None:
            is_late = self._clock() - message.sent_at.timestamp() > LAST_ATTEMPT_SECONDS
            if pending.attempts == 1 and (is_late or not accepted.new):
                # earlier attempts reached a former process: this may be the last one
                pending.more = False
            offer = await self._pending.wait(pending) or self._offer_without_reply(
                pending, number, message.text
            )
            if offer is not None:
                return self._build_reply(call, pending, number, offer)
        await self._pending.wait_for_hang_up(pending, number)
        return WebhookReply(status=503)

    def _offer_without_reply(
        self, pending: PendingReply, number: int, text: str
    ) -> ReplyOffer | None:
        """Answer an attempt that ends before the reply is ready; None if another one will come
        instead.
        """
        if pending.attempts != number or self._deliver is None:
            return None
        # A stranger must not learn of a bot, so only a person whose message is being processed
        # reads that it is.
        if self._service.granted or pending.person not in self._running.values():
            return self._pending.end(pending, "")
        return None if pending.more else self._pending.end(pending, text_xml(later_text(text)))

    def _build_reply(
        self, call: VerifiedCall, pending: PendingReply, number: int, offer: ReplyOffer
    ) -> WebhookReply:
        written = partial(self._pending.written, pending, number)
        if not offer.content:
            return WebhookReply(body=b"success", written=written)
        now = self._clock()
        xml = reply_xml(call.fields, offer.content, now)
        body = (
            self._verifier.encrypt_reply(xml, now, secrets.token_hex(8)) if call.encrypted else xml
        )
        return WebhookReply(
            body=body.encode(), media_type="application/xml; charset=utf-8", written=written
        )

    async def _store(
        self, call: VerifiedCall, message: InboundMessage, deliver: Deliver, until: float
    ) -> Accepted | None:
        """Deliver a message before the platform hangs up (loop time); None if not stored: it will
        come again.
        """
        original_id = call.fields["ToUserName"]
        nonces = self._verifier.nonces.unstored()
        keep: Mapping[str, str] = nonces | (
            {} if self._original_id else {self._original_id_key: original_id}
        )
        now = asyncio.get_running_loop().time
        while now() < until:
            # Never cancelled: it may still be stored, and then the next attempt is recognised as a
            # repeat.
            delivery = asyncio.ensure_future(deliver([message], keep))
            self._deliveries.add(delivery)
            delivery.add_done_callback(self._delivered)
            await asyncio.wait({delivery}, timeout=until - now())
            if not delivery.done():
                log.warning("message not stored in time", channel=self.name)
                return None
            err = delivery.exception()
            if err is None:
                self._original_id = original_id
                self._verifier.nonces.stored(nonces)
                return delivery.result()[0]
            if not isinstance(err, OSError | RuntimeError):
                raise err
            log.warning(
                "message not stored", channel=self.name, error=f"{type(err).__name__}: {err}"
            )
            await asyncio.sleep(STORE_PAUSE)
        return None

    def _delivered(self, delivery: asyncio.Future[list[Accepted]]) -> None:
        self._deliveries.discard(delivery)
        if not delivery.cancelled():
            delivery.exception()  # marks it as retrieved: nothing may be waiting for it any more

    async def _send_text(self, message: OutboundMessage) -> None:
        person = message.address.chat_id
        last = self._service.is_last(person)
        is_long = len(message.text) > LONG_TEXT_CHARS
        text = (
            await asyncio.to_thread(render, message, last=last)
            if is_long
            else render(message, last=last)
        )
        await self._send_content(
            message, text_xml(text), service_body(person, "text", {"content": text})
        )

    async def _send_content(
        self, message: OutboundMessage, passive: str, body: dict[str, Any]
    ) -> None:
        """Send in an open request, else by the API."""
        person = message.address.chat_id
        if await self._pending.answer_request(message.reply_to_key, person, passive):
            return
        if not self._service.may_call:
            raise AwaitsUser(
                "the account can only reply: this is sent when the person writes again"
            )
        try:
            await self._service.call(self._api.call("/cgi-bin/message/custom/send", body))
        except QuotaUsedUp:
            self._service.count_send(person, all_used=True)
            raise
        self._service.count_send(person)

    async def _upload(self, file: OutboundFile) -> str:
        ending = PICTURES.get(file.media_type)
        if ending is None:
            raise Rejected(
                f"an official account carries pictures (JPEG, PNG, GIF, BMP), not {file.media_type}"
            )
        if len(file.data) > PICTURE_BYTES:
            raise AttachmentTooBig(
                f"the picture has {len(file.data)} bytes, the platform takes {PICTURE_BYTES}"
            )
        if not self._service.may_call:
            raise Rejected("only a verified account may send pictures")
        try:
            return await self._service.call(
                self._api.upload("image", f"picture.{ending}", file.media_type, file.data)
            )
        except NotGranted as err:
            raise Rejected(f"the picture cannot be sent: {err}") from err

    async def _download_by_id(self, media_id: str, most: int) -> FetchedFile:
        data, kind = await self._api.media(media_id, most)
        if "json" in kind or "text/plain" in kind:
            data, kind = await self._api.get(checked_url(video_url(data), self._api.root), most)
        return FetchedFile(data=data, media_type=kind)

    async def _show_typing(self, address: Address) -> None:
        body = {"touser": address.chat_id, "command": "Typing"}
        await self._service.call(self._api.call("/cgi-bin/message/custom/typing", body))
