"""Sends replies to each person in order, within the platform's allowance; typing indicator."""

import asyncio
import hashlib
import re
import time
from weakref import WeakValueDictionary

from channels.errors import Ambiguous, AwaitsUser, ChannelError, Rejected, Retryable
from channels.message import Address, LiveEvent, OutboundMessage, Receipt
from channels.toolkit.delivery import TypingIndicator
from channels.wechat.client import ILinkApiError, ILinkSession, Json
from channels.wechat.media import ILinkMedia
from channels.wechat.messages import render, text_item
from channels.wechat.state import AccountState

RATE_LIMITED = "rate limited"
LONG_TEXT_CHARS = 1_000  # the Markdown of a longer text is converted in a thread
# Seconds. After sends that came too fast the platform is said to accept none for a time, which
# doubles.
FIRST_BLOCK, MAX_BLOCK = 15.0, 3600.0
_RATE_LIMIT_CODE, _BAD_ARGUMENT_CODE = -2, -3
_PLAIN_KEY = re.compile(r"[A-Za-z0-9._-]{1,80}")


class ReplySender:
    """Sends the parts of replies. spacing: least seconds between two messages to one person."""

    def __init__(
        self, session: ILinkSession, state: AccountState, media: ILinkMedia, spacing: float
    ) -> None:
        self._session = session
        self._state = state
        self._media = media
        self._spacing = spacing
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        #: Monotonic seconds of the newest send, by person.
        self._last_sends: dict[str, float] = {}
        #: Rate-limit errors in a row, by person.
        self._rate_limits: dict[str, int] = {}

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send one part; raises as Channel.send."""
        address, login = message.address, self._session.credentials
        if address.account not in ("", login.bot):
            raise Rejected(
                "this conversation belongs to another WeChat bot than the one that is logged in",
                gone=True,
            )
        lock = self._locks.setdefault(address.chat_id, asyncio.Lock())
        async with lock:
            return await (self._send_file(message) if message.file else self._send_text(message))

    async def _send_text(self, message: OutboundMessage) -> Receipt:
        more = self._check_allowance(message, 1)
        is_long = len(message.text) > LONG_TEXT_CHARS
        text = await asyncio.to_thread(render, message, more) if is_long else render(message, more)
        return await self._send_item(
            message.address.chat_id, client_id(message.client_key), text_item(text)
        )

    async def _send_file(self, message: OutboundMessage) -> Receipt:
        """Upload a file, send its caption, then show the file: most failures happen before anything
        is seen.
        """
        assert message.file is not None
        person, key = message.address.chat_id, message.client_key
        needs_caption = bool(message.text.strip()) and (
            message.repeated or not self._state.is_caption_sent(key)
        )
        more = self._check_allowance(message, 2 if needs_caption else 1)
        item = await self._media.upload(person, message.file)
        if needs_caption:
            await self._send_item(
                person, client_id(key + ".caption"), text_item(render(message, more))
            )
            await self._state.set_caption_sent(key, True)
        try:
            receipt = await self._send_item(person, client_id(key), item)
        except Rejected:
            await self._state.set_caption_sent(key, False)
            raise
        await self._state.set_caption_sent(key, False)
        return receipt

    def _check_allowance(self, message: OutboundMessage, count: int) -> bool:
        """Check that so many messages may be sent; return whether they are the last while more
        parts follow.

        Raises:
            AwaitsUser: the person has to write first.
        """
        left = self._state.remaining(message.address.chat_id, time.time())
        if left < count:
            raise AwaitsUser(
                f"WeChat accepts {left} more messages before this person writes again; {count} are "
                "needed"
            )
        return left == count and message.part_no + 1 < message.parts

    async def _send_item(self, person: str, name: str, item: Json) -> Receipt:
        peer = self._state.peers.get(person)
        token = peer.token if peer else ""
        await self._wait_spacing(person)
        body = {
            "from_user_id": "",
            "to_user_id": person,
            "client_id": name,
            "message_type": 2,
            "message_state": 2,
            "context_token": token,
            "item_list": [item],
        }
        try:
            await self._session.call("sendmessage", {"msg": body})
        except ILinkApiError as err:
            raise await self._error_for(person, token, err) from err
        except Ambiguous:
            await self._state.count_send(person, token)
            raise
        self._rate_limits.pop(person, None)
        await self._state.count_send(person, token)
        return Receipt(platform_id=name)

    async def _wait_spacing(self, person: str) -> None:
        due = self._last_sends.get(person, -self._spacing) + self._spacing
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        now = time.monotonic()
        recent = {other: at for other, at in self._last_sends.items() if at + self._spacing > now}
        self._last_sends = recent | {person: now}

    async def _error_for(self, person: str, token: str, err: ILinkApiError) -> ChannelError:
        if err.code == _BAD_ARGUMENT_CODE:
            return err
        if err.code != _RATE_LIMIT_CODE:
            return Retryable(str(err))
        if RATE_LIMITED in err.text.lower():
            count = self._rate_limits.get(person, 0)
            self._rate_limits[person] = count + 1
            return Retryable(
                str(err), retry_after=min(FIRST_BLOCK * 2 ** min(count, 10), MAX_BLOCK)
            )
        peer = self._state.peers.get(person)
        if peer is not None and peer.token != token:  # they have written since
            return Retryable(str(err), retry_after=self._spacing)
        await self._state.count_send(person, token, all_used=True)
        return AwaitsUser(f"{err}: it accepts nothing more before this person writes again")


def client_id(key: str) -> str:
    """Return the id of a message for the platform, the same for every attempt."""
    return (
        f"mnema-{key}"
        if _PLAIN_KEY.fullmatch(key)
        else f"mnema-{hashlib.sha256(key.encode()).hexdigest()[:40]}"
    )


# The typing indicator: best effort.

REPEAT_SECONDS = 5.0
MAX_TYPING_SECONDS = 300.0
_TYPING_ON, _TYPING_OFF = 1, 2
_START_EVENTS = ("started", "delta", "tool_started", "tool_ended")
_END_EVENTS = ("reply", "notice", "failed")


class WechatTyping:
    """Shows "typing" from `started` to the reply.

    A person's ticket is reused until the API refuses it.
    """

    def __init__(self, session: ILinkSession, state: AccountState) -> None:
        self._session = session
        self._state = state
        self._tickets: dict[str, str] = {}
        self._shown: set[Address] = set()
        self._indicator = TypingIndicator(
            self._switch_on, every=REPEAT_SECONDS, longest=MAX_TYPING_SECONDS
        )
        self._ending: set[asyncio.Task[None]] = set()

    def show(self, event: LiveEvent) -> None:
        """Start, continue or stop the indicator."""
        if event.name in _START_EVENTS:
            self._indicator.show(event.address)
        elif event.name in _END_EVENTS:
            self.stop(event.address)

    def stop(self, address: Address) -> None:
        """Stop the indicator in the background."""
        self._indicator.stop(address)
        if address in self._shown:
            self._shown.discard(address)
            task = asyncio.create_task(self._switch_off(address), name="typing ends")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Stop all indicators."""
        await self._indicator.close()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _switch_on(self, address: Address) -> None:
        person = address.chat_id
        if person not in self._tickets:
            self._tickets[person] = await self._fetch_ticket(person)
        self._shown.add(address)
        try:
            await self._set_status(person, _TYPING_ON)
        except ILinkApiError:
            self._tickets.pop(person, None)
            self._shown.discard(address)
            raise

    async def _switch_off(self, address: Address) -> None:
        try:
            await self._set_status(address.chat_id, _TYPING_OFF)
        except ChannelError:
            self._tickets.pop(address.chat_id, None)

    async def _set_status(self, person: str, status: int) -> None:
        body = {
            "ilink_user_id": person,
            "typing_ticket": self._tickets.get(person, ""),
            "status": status,
        }
        await self._session.call("sendtyping", body)

    async def _fetch_ticket(self, person: str) -> str:
        """Fetch a ticket; the reply may hold a newer context token."""
        peer = self._state.peers.get(person)
        token = peer.token if peer else ""
        reply = await self._session.call(
            "getconfig", {"ilink_user_id": person, "context_token": token}
        )
        if reply.get("context_token"):
            await self._state.replace_token(person, token, str(reply["context_token"]))
        if not reply.get("typing_ticket"):
            raise ChannelError("WeChat gave no ticket to show typing with")
        return str(reply["typing_ticket"])
