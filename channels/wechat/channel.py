"""Personal WeChat: a bot account, logged in by QR code, that receives by long polling and
replies.
"""

import asyncio
import time
from importlib.util import find_spec

import structlog

from channels.base import ConnectionStatus, Deliver, FetchedFile, LoginPrompt, Notebook
from channels.errors import Ambiguous, ChannelError, LoggedOut, Rejected
from channels.message import (
    Address,
    Capabilities,
    InboundMessage,
    LiveEvent,
    OutboundMessage,
    Receipt,
)
from channels.toolkit.delivery import store_with_retry
from channels.wechat.client import (
    FILE_SERVER,
    LOGIN_REQUIRED,
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
from channels.wechat.settings import SERVER, WechatSettings
from channels.wechat.state import MESSAGES_PER_WINDOW, AccountState

log = structlog.get_logger(__name__)

CRYPTO_PACKAGE = "cryptography"
# seconds; limits on how long the platform may say that it holds a poll
MIN_HOLD, MAX_HOLD = 1.0, 120.0
# a poll that returned sooner without news was not held; pause before the next one
MIN_POLL_SECONDS = 0.2
LOGOUT_NOTICE_SECONDS = 2.0
MAX_SHOWN_PEERS = 5  # people whose remaining messages are part of the status


class Wechat:
    """One account.

    Received messages are stored together with their cursor, and the cursor is used only after that.
    Cursor and context tokens outlive a logout.

    Args:
        timing: timeouts and pauses.
        allowance: messages that a person can receive after each of their own.
    """

    name = "wechat"
    settings_type = WechatSettings

    def __init__(
        self,
        settings: WechatSettings,
        *,
        timing: PollTiming | None = None,
        allowance: int = MESSAGES_PER_WINDOW,
    ) -> None:
        if find_spec(CRYPTO_PACKAGE) is None:
            raise ImportError("WeChat's file encryption needs a package", name=CRYPTO_PACKAGE)
        self._timing = timing or PollTiming()
        self.capabilities = Capabilities(
            limit=LIMIT,
            longest=MAX_TEXT,
            live=True,
            per_chat_rate=1 / self._timing.spacing if self._timing.spacing else 0.0,
            receives=frozenset({"text", "picture", "file", "voice", "video", "quote"}),
            live_display="typing",
            file_bytes=MAX_FILE_BYTES,
            picture_bytes=MAX_FILE_BYTES,
            caption=LIMIT,
            user_writes_first=True,
        )
        self._proxy = settings.proxy
        self._state = AccountState(allowance)
        self._health = PollHealth(self._timing)
        self._login = QrLogin((settings.base_url or SERVER).rstrip("/"), self._timing, self._health)
        self._session = ILinkSession(self._state, settings.proxy, self._timing)
        self._media = ILinkMedia(self._session, (settings.cdn_url or FILE_SERVER).rstrip("/"))
        self._sender = ReplySender(self._session, self._state, self._media, self._timing.spacing)
        self._typing = WechatTyping(self._session, self._state)

    @property
    def account(self) -> str:
        """The bot's id, "" before a login is known."""
        return self._state.login.bot if self._state.login else ""

    def bind(self, notebook: Notebook) -> None:
        """See channels.base.HasNotebook."""
        self._state.bind(notebook)

    async def run(self, deliver: Deliver) -> None:
        """Receive until cancelled; log in whenever necessary, with `prompt` telling the owner what
        to do.

        Raises:
            ChannelError: no good reply in the time of three polls. LoggedOut: no QR code can be
                fetched.
        """
        await self._state.open()
        self._session.begin()
        client = ILinkClient(self._proxy)
        trusted = True
        try:
            while True:
                if not self._session.holds:
                    trusted = await self._log_in(client, trusted)
                try:
                    await self._receive(client, deliver)
                except LoggedOut as err:
                    log.warning("wechat logged out", why=str(err))
        finally:
            await self._notify_logout(client)
            await client.close()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send one part; the receipt has our own id of it, since the platform returns none.

        Raises:
            AwaitsUser: the person has to write first.
            Retryable, Rejected, AttachmentTooBig, Ambiguous, LoggedOut: see channels.errors.
        """
        await self._state.open()
        receipt = await self._sender.send(message)
        if message.part_no + 1 >= message.parts:
            self._typing.stop(message.address)
        return receipt

    def allowance(self, address: Address) -> int | None:
        """Return how many messages this person can still receive; None before the notebook is
        read.
        """
        return self._state.remaining(address.chat_id, time.time()) if self.account else None

    def show(self, event: LiveEvent) -> None:
        """Show or hide the typing indicator; best effort."""
        self._typing.show(event)

    async def fetch(self, ref: str, most: int) -> FetchedFile:
        """See channels.base.HasAttachments."""
        return await self._media.download(ref, most)

    def prompt(self) -> LoginPrompt | None:
        """See channels.base.HasLogin."""
        return self._login.prompt()

    def answer(self, text: str) -> None:
        """Enter the digits that the phone shows; any text ends a pause between QR codes."""
        self._login.answer(text)

    def connection_status(self) -> ConnectionStatus:
        """See channels.base.HasStatus."""
        now = time.time()
        newest = sorted(self._state.peers.items(), key=lambda pair: -pair[1].got)[:MAX_SHOWN_PEERS]
        allowance = self._state.allowance
        quota = ", ".join(
            f"{person} {self._state.remaining(person, now)}/{allowance}" for person, _ in newest
        )
        trouble = self._health.trouble or ("" if self._session.holds else LOGIN_REQUIRED)
        return ConnectionStatus(
            last_contact=self._health.last_contact, trouble=trouble, quota=quota
        )

    async def probe(self) -> str:
        """Check the session by fetching the settings of the person who logged in.

        Raises:
            LoggedOut: the session is over. ChannelError: it cannot be checked.
        """
        await self._state.open()
        login = self._session.credentials
        try:
            await self._session.call(
                "getconfig", {"ilink_user_id": login.person, "context_token": ""}
            )
        except Rejected:
            log.debug("getconfig refused")  # but the session is valid
        return f"{login.bot}, logged in by {login.person or 'an unknown person'}"

    async def close(self) -> None:
        """Close the connections of sends; a later send opens new ones."""
        await self._typing.close()
        await self._session.send_client.close()

    async def _log_in(self, client: ILinkClient, trusted: bool) -> bool:
        """Log in; return False if the platform says that the stored login is still valid.

        Args:
            trusted: accept that reply. It is not accepted twice in a row: the session would end
                again.
        """
        known = self._state.login
        login = await self._login.run(client, [known.token] if known and trusted else [])
        if login is not None:
            await store_with_retry(lambda: self._state.store_login(login), self.name)
        self._session.begin()
        return login is not None

    async def _receive(self, client: ILinkClient, deliver: Deliver) -> None:
        """Poll until the session is over. Raises LoggedOut, ChannelError."""
        await self._notify(client, "notifystart")
        hold = self._timing.poll
        while True:
            began, cursor = time.monotonic(), self._state.cursor
            reply = await self._poll_unless_expired(client, hold)
            await self._store(reply, deliver)
            hold = _hold_seconds(reply, hold)
            if self._state.cursor == cursor and time.monotonic() - began < MIN_POLL_SECONDS:
                await asyncio.sleep(self._timing.check)

    async def _poll_unless_expired(self, client: ILinkClient, hold: float) -> Json:
        """Poll with retries; raise LoggedOut as soon as another call reports that the session is
        over.
        """
        poll = asyncio.ensure_future(
            self._health.call_with_retry(lambda: self._poll(client, hold), hold)
        )
        expired = asyncio.ensure_future(self._session.ended.wait())
        try:
            await asyncio.wait((poll, expired), return_when=asyncio.FIRST_COMPLETED)
            if not poll.done():
                raise LoggedOut("another call reported that the session is over")
            return poll.result()
        finally:
            poll.cancel()
            expired.cancel()
            await asyncio.gather(poll, expired, return_exceptions=True)

    async def _poll(self, client: ILinkClient, hold: float) -> Json:
        body = {"get_updates_buf": self._state.cursor}
        reply = await self._session.call(
            "getupdates", body, timeout=hold + self._timing.grace, client=client
        )
        reply["msgs"] = reply.get("msgs") or []
        if not isinstance(reply["msgs"], list):
            raise Ambiguous("the messages in a reply to getupdates are no list")
        return reply

    async def _store(self, reply: Json, deliver: Deliver) -> None:
        """Store the messages of a reply together with their cursor."""
        messages = [message for raw in reply["msgs"] if (message := self._parse(raw)) is not None]
        cursor = str(reply.get("get_updates_buf") or "")
        values = self._state.update(
            reply["msgs"], cursor if cursor != self._state.cursor else "", time.time()
        )
        if messages or values:
            await store_with_retry(lambda: deliver(messages, values), self.name)
            self._state.stored(values)

    def _parse(self, message: Json) -> InboundMessage | None:
        try:
            return parse(message, self.account, time.time())
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as err:
            id = message.get("message_id") if isinstance(message, dict) else None
            log.warning("message not understood", message_id=id, error=type(err).__name__)
            return None

    async def _notify(self, client: ILinkClient, path: str) -> None:
        try:
            await self._session.call(f"msg/{path}", {}, client=client)
        except LoggedOut:
            raise
        except ChannelError as err:
            log.info("wechat not notified", call=path, error=str(err))

    async def _notify_logout(self, client: ILinkClient) -> None:
        if not self._session.holds:
            return
        try:
            async with asyncio.timeout(LOGOUT_NOTICE_SECONDS):
                await self._notify(client, "notifystop")
        except (TimeoutError, LoggedOut):
            log.info("wechat not notified that we stop")


def _hold_seconds(reply: Json, previous: float) -> float:
    """Read how long the platform will hold the next poll."""
    milliseconds = reply.get("longpolling_timeout_ms")
    if (
        isinstance(milliseconds, bool)
        or not isinstance(milliseconds, int | float)
        or milliseconds <= 0
    ):
        return previous
    return min(max(milliseconds / 1000, MIN_HOLD), MAX_HOLD)
