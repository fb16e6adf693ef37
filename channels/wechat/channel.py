"""The door to personal WeChat: an account that comes in by QR code, hears by long polling, speaks when spoken to."""

import asyncio
import time
from importlib.util import find_spec

import structlog

from channels.base import ConnectionStatus, Deliver, FetchedFile, LoginPrompt, Notebook
from channels.errors import Ambiguous, ChannelError, LoggedOut, Rejected
from channels.message import Address, Capabilities, InboundMessage, LiveEvent, OutboundMessage, Receipt
from channels.toolkit.storing import store_with_retry
from channels.wechat.client import (
    FILE_SERVER,
    LOGIN_REQUIRED,
    SERVER,
    ILinkClient,
    ILinkSession,
    Json,
    PollHealth,
    PollTiming,
)
from channels.wechat.login import QrLogin
from channels.wechat.media import MAX_FILE_BYTES, ILinkMedia
from channels.wechat.messages import LIMIT, MAX_TEXT, parse
from channels.wechat.sender import ReplySender, WechatTyping
from channels.wechat.settings import WechatSettings
from channels.wechat.state import MESSAGES_PER_WINDOW, AccountState

log = structlog.get_logger(__name__)

CRYPTO_PACKAGE = "cryptography"
MIN_HOLD, MAX_HOLD = 1.0, 120.0  # seconds between which we believe the platform how long it holds a call
# Seconds: an answer that came sooner and leads nowhere is no end of a long poll; the next is not asked at once.
MIN_POLL_SECONDS = 0.2
LOGOUT_NOTICE_SECONDS = 2.0
MAX_NOTIFIED_PEERS = 5  # people whose allowance is told in the vitals


class Wechat:
    """One account. pace: how long things take; allowance: messages a person can get after each one of theirs.

    What was heard is stored together with the cursor behind it, and only then is the cursor used; a login that ends
    leaves cursor and tokens where they are.
    """

    name = "wechat"
    opened_with = WechatSettings

    def __init__(
        self, settings: WechatSettings, *, pace: PollTiming | None = None, allowance: int = MESSAGES_PER_WINDOW
    ) -> None:
        if find_spec(CRYPTO_PACKAGE) is None:
            raise ImportError("WeChat's files need a cipher", name=CRYPTO_PACKAGE)
        self._pace = pace or PollTiming()
        self.capabilities = Capabilities(
            limit=LIMIT,
            longest=MAX_TEXT,
            live=True,
            per_chat_rate=1 / self._pace.spacing if self._pace.spacing else 0.0,
            hears=frozenset({"text", "picture", "file", "voice", "video", "quote"}),
            shows="typing",
            file_bytes=MAX_FILE_BYTES,
            picture_bytes=MAX_FILE_BYTES,
            caption=LIMIT,
            asks_first=True,
            says_leaving=True,
        )
        self._proxy = settings.proxy
        self._book = AccountState(allowance)
        self._hearing = PollHealth(self._pace)
        self._login = QrLogin((settings.base_url or SERVER).rstrip("/"), self._pace, self._hearing)
        self._session = ILinkSession(self._book, settings.proxy, self._pace)
        self._files = ILinkMedia(self._session, (settings.cdn_url or FILE_SERVER).rstrip("/"))
        self._speaking = ReplySender(self._session, self._book, self._files, self._pace.spacing)
        self._typing = WechatTyping(self._session, self._book)

    @property
    def account(self) -> str:
        """Our bot's id, "" before the first login was read or made."""
        return self._book.login.bot if self._book.login else ""

    def bind(self, notebook: Notebook) -> None:
        """See channels.base.Keeping."""
        self._book.bind(notebook)

    async def run(self, deliver: Deliver) -> None:
        """Hear until cancelled, and log in whenever that is needed; `prompt` says what the owner has to do for it.

        Raises:
            ChannelError: nothing good was heard for three polls' time. LoggedOut: not even a QR code is to be had.
        """
        await self._book.open()
        self._session.begin()
        wire = ILinkClient(self._proxy)
        trusted = True
        try:
            while True:
                if not self._session.holds:
                    trusted = await self._log_in(wire, trusted)
                try:
                    await self._listen(wire, deliver)
                except LoggedOut as err:
                    log.warning("wechat logged out", why=str(err))
        finally:
            await self._notify_logout(wire)
            await wire.close()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Deliver one part; the id is our own of it, for the platform gives none.

        Raises:
            AwaitsUser: the person has to write first.
            Retryable, Rejected, AttachmentTooBig, Ambiguous, LoggedOut: see channels.errors.
        """
        await self._book.open()
        receipt = await self._speaking.send(message)
        if message.part_no + 1 >= message.parts:
            self._typing.stop(message.address)
        return receipt

    def allowance(self, address: Address) -> int | None:
        """How many messages this person can still get before they write again; None while nothing was read yet."""
        return self._speaking.allowance(address.chat_id) if self.account else None

    def show(self, event: LiveEvent) -> None:
        """Show that an answer is being written; best effort."""
        self._typing.show(event)

    async def fetch(self, ref: str, most: int) -> FetchedFile:
        """See channels.base.Fetching."""
        return await self._files.download(ref, most)

    def prompt(self) -> LoginPrompt | None:
        """See channels.base.Asking. To ask is to look: after a rest it brings a new QR code."""
        return self._login.prompt()

    def answer(self, text: str) -> None:
        """The digits the phone shows; or anything, to end the rest between QR codes."""
        self._login.answer(text)

    def vitals(self) -> ConnectionStatus:
        """See channels.base.Telling."""
        now = time.time()
        newest = sorted(self._book.peers.items(), key=lambda pair: -pair[1].got)[:MAX_NOTIFIED_PEERS]
        quota = ", ".join(f"{person} {self._book.left(person, now)}/{self._book.allowance}" for person, _ in newest)
        trouble = self._hearing.trouble or ("" if self._session.holds else LOGIN_REQUIRED)
        return ConnectionStatus(heard=self._hearing.heard, trouble=trouble, quota=quota)

    async def probe(self) -> str:
        """Ask for the settings of the person who scanned, which shows whether the session holds.

        Raises:
            LoggedOut: it does not. ChannelError: there is no telling.
        """
        await self._book.open()
        login = self._session.credentials
        try:
            await self._session.call("getconfig", {"ilink_user_id": login.person, "context_token": ""})
        except Rejected:
            log.debug("getconfig refused")  # by a session that holds
        return f"{login.bot}, logged in by {login.person or 'somebody'}"

    async def close(self) -> None:
        """Drop the connections that sends use; a later send opens them again."""
        await self._typing.close()
        await self._session.close()

    async def _log_in(self, wire: ILinkClient, trusted: bool) -> bool:
        """Log in again; False when the platform says that the stored login still holds.

        trusted: it may say so; if it turns out to be wrong, the next login takes no such answer.
        """
        known = self._book.login
        login = await self._login.run(wire, [known.token] if known and trusted else [])
        if login is not None:
            await store_with_retry(lambda: self._book.store_login(login), self.name)
        self._session.begin()
        return login is not None

    async def _listen(self, wire: ILinkClient, deliver: Deliver) -> None:
        """Poll until the session is over. Raises LoggedOut, ChannelError."""
        await self._notify(wire, "notifystart")
        hold = self._pace.poll
        while True:
            began, cursor = time.monotonic(), self._book.cursor
            answer = await self._poll_unless_expired(wire, hold)
            await self._take(answer, deliver)
            hold = _hold_seconds(answer, hold)
            if self._book.cursor == cursor and time.monotonic() - began < MIN_POLL_SECONDS:
                await asyncio.sleep(self._pace.look)

    async def _poll_unless_expired(self, wire: ILinkClient, hold: float) -> Json:
        """The next answer to a poll; given up when some other call is told that the session is over."""
        poll = asyncio.ensure_future(self._hearing.call_with_retry(lambda: self._poll(wire, hold), hold))
        over = asyncio.ensure_future(self._session.ended.wait())
        try:
            await asyncio.wait((poll, over), return_when=asyncio.FIRST_COMPLETED)
            if not poll.done():
                raise LoggedOut("another call was told that the session is over")
            return poll.result()
        finally:
            poll.cancel()
            over.cancel()
            await asyncio.gather(poll, over, return_exceptions=True)

    async def _poll(self, wire: ILinkClient, hold: float) -> Json:
        body = {"get_updates_buf": self._book.cursor}
        answer = await self._session.call("getupdates", body, wait=hold + self._pace.grace, wire=wire)
        answer["msgs"] = answer.get("msgs") or []
        if not isinstance(answer["msgs"], list):
            raise Ambiguous("an answer to getupdates whose messages are no list")
        return answer

    async def _take(self, answer: Json, deliver: Deliver) -> None:
        """Store what came, with the cursor behind it."""
        raw = answer["msgs"]
        messages = [message for one in raw if (message := self._read(one)) is not None]
        cursor = str(answer.get("get_updates_buf") or "")
        pages = self._book.heard(raw, cursor if cursor != self._book.cursor else "", time.time())
        if messages or pages:
            await store_with_retry(lambda: deliver(messages, pages), self.name)
            self._book.kept(pages)

    def _read(self, message: Json) -> InboundMessage | None:
        try:
            return parse(message, self.account, time.time())
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as err:
            known = message.get("message_id") if isinstance(message, dict) else None
            log.warning("message not understood", message_id=known, error=type(err).__name__)
            return None

    async def _notify(self, wire: ILinkClient, path: str) -> None:
        try:
            await self._session.call(f"msg/{path}", {}, wire=wire)
        except LoggedOut:
            raise
        except ChannelError as err:
            log.info("wechat not notified", call=path, error=str(err))

    async def _notify_logout(self, wire: ILinkClient) -> None:
        if not self._session.holds:
            return
        try:
            async with asyncio.timeout(LOGOUT_NOTICE_SECONDS):
                await self._notify(wire, "notifystop")
        except (TimeoutError, LoggedOut):
            log.info("wechat not told that we stop")


def _hold_seconds(answer: Json, before: float) -> float:
    asked = answer.get("longpolling_timeout_ms")
    if isinstance(asked, bool) or not isinstance(asked, int | float) or asked <= 0:
        return before
    return min(max(asked / 1000, MIN_HOLD), MAX_HOLD)
