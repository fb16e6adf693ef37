"""One part after the other to each person, within what the platform allows them to get."""

import asyncio
import hashlib
import re
import time
from weakref import WeakValueDictionary

from channels.errors import Ambiguous, AwaitsUser, ChannelError, Rejected, Retryable
from channels.message import Address, LiveEvent, OutboundMessage, Receipt
from channels.toolkit.sending import without_leaving
from channels.toolkit.tasks import TypingIndicator
from channels.wechat.client import ILinkApiError, ILinkSession, Json
from channels.wechat.media import ILinkMedia
from channels.wechat.messages import render, text_item
from channels.wechat.state import AccountState

RATE_LIMITED = "rate limited"
LONG_TEXT_CHARS = 1_000  # characters; the Markdown of a longer text is read beside the event loop
# Seconds for which the platform is said to take nothing after sends that came too fast.
FIRST_BLOCK, MAX_BLOCK = 15.0, 3600.0
_RATE_LIMIT_CODE, _BAD_ARGUMENT_CODE = -2, -3
_PLAIN_KEY = re.compile(r"[A-Za-z0-9._-]{1,80}")


class ReplySender:
    """What goes out. spacing: seconds between two sends to one person, at least."""

    def __init__(self, session: ILinkSession, book: AccountState, files: ILinkMedia, spacing: float) -> None:
        self._session = session
        self._book = book
        self._files = files
        self._spacing = spacing
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._last: dict[str, float] = {}
        self._blocks: dict[str, int] = {}

    async def send(self, message: OutboundMessage) -> Receipt:
        """See Wechat.send."""
        address, login = message.address, self._session.credentials
        if address.account not in ("", login.bot):
            raise Rejected("this conversation belongs to another WeChat bot than the one that is logged in", gone=True)
        turn = self._turns.setdefault(address.chat_id, asyncio.Lock())
        async with turn:
            return await (self._send_file(message) if message.file else self._send_text(message))

    def allowance(self, person: str) -> int:
        """How many messages a person can still get before they write again."""
        return self._book.left(person, time.time())

    async def _send_text(self, message: OutboundMessage) -> Receipt:
        more = self._room(message, 1)
        words = (
            await asyncio.to_thread(render, message, more)
            if len(message.text) > LONG_TEXT_CHARS
            else render(message, more)
        )
        return await self._put(message.address.chat_id, client_id(message.client_key), text_item(words))

    async def _send_file(self, message: OutboundMessage) -> Receipt:
        """The file is carried first, its words go next, and it is shown last: so that most failures come unseen."""
        assert message.file is not None
        person, key = message.address.chat_id, message.client_key
        told = not message.text.strip() or (self._book.captioned(key) and not message.repeated)
        more = self._room(message, 1 if told else 2)
        with without_leaving():
            item = await self._files.upload(person, message.file)
        if not told:
            await self._put(person, client_id(key + ".caption"), text_item(render(message, more)))
            await self._book.caption(key, sent=True)
        try:
            receipt = await self._put(person, client_id(key), item)
        except Rejected:
            await self._book.caption(key, sent=False)
            raise
        await self._book.caption(key, sent=False)
        return receipt

    def _room(self, message: OutboundMessage, wanted: int) -> bool:
        """Whether these are the last sends that are allowed while further parts wait. Raises Waits: they are not."""
        left = self.allowance(message.address.chat_id)
        if left < wanted:
            raise AwaitsUser(f"WeChat takes {left} more messages before this person writes again; {wanted} are needed")
        return left == wanted and message.part_no + 1 < message.parts

    async def _put(self, person: str, name: str, item: Json) -> Receipt:
        peer = self._book.peer(person)
        token = peer.token if peer else ""
        await self._space(person)
        sent = {
            "from_user_id": "",
            "to_user_id": person,
            "client_id": name,
            "message_type": 2,
            "message_state": 2,
            "context_token": token,
            "item_list": [item],
        }
        try:
            await self._session.call("sendmessage", {"msg": sent})
        except ILinkApiError as err:
            raise await self._meaning(person, token, err) from err
        except Ambiguous:
            await self._book.spend(person, token)
            raise
        self._blocks.pop(person, None)
        await self._book.spend(person, token)
        return Receipt(platform_id=name)

    async def _space(self, person: str) -> None:
        due = self._last.get(person, -self._spacing) + self._spacing
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        now = time.monotonic()
        self._last = {one: at for one, at in self._last.items() if at + self._spacing > now} | {person: now}

    async def _meaning(self, person: str, token: str, err: ILinkApiError) -> ChannelError:
        if err.code == _BAD_ARGUMENT_CODE:
            return err
        if err.code != _RATE_LIMIT_CODE:
            return Retryable(str(err))
        if RATE_LIMITED in err.words.lower():
            block = self._blocks.get(person, 0)
            self._blocks[person] = block + 1
            return Retryable(str(err), retry_after=min(FIRST_BLOCK * 2 ** min(block, 10), MAX_BLOCK))
        peer = self._book.peer(person)
        if peer is not None and peer.token != token:  # they wrote meanwhile
            return Retryable(str(err), retry_after=self._spacing)
        await self._book.spend(person, token, all_of_it=True)
        return AwaitsUser(f"{err}: it takes nothing more before this person writes again")


def client_id(key: str) -> str:
    """The platform's name of a part, the same for every attempt."""
    return f"mnema-{key}" if _PLAIN_KEY.fullmatch(key) else f"mnema-{hashlib.sha256(key.encode()).hexdigest()[:40]}"


# The sign that an answer is being written: for show only, so that every failure of it is passed over.

REPEAT_SECONDS = 5.0
MAX_TYPING_SECONDS = 300.0
_TYPING_ON, _TYPING_OFF = 1, 2
_START_EVENTS = ("started", "delta", "tool_started", "tool_ended")
_END_EVENTS = ("reply", "notice", "failed")


class WechatTyping:
    """Shown from `started` to the answer. A ticket for each person is asked for once and used until it is refused."""

    def __init__(self, session: ILinkSession, book: AccountState) -> None:
        self._session = session
        self._book = book
        self._tickets: dict[str, str] = {}
        self._shown: set[Address] = set()
        self._pulse = TypingIndicator(self._on, every=REPEAT_SECONDS, longest=MAX_TYPING_SECONDS)
        self._ending: set[asyncio.Task[None]] = set()

    def show(self, event: LiveEvent) -> None:
        """Begin, go on, or end."""
        if event.name in _START_EVENTS:
            self._pulse.beat(event.address)
        elif event.name in _END_EVENTS:
            self.stop(event.address)

    def stop(self, address: Address) -> None:
        """Take the sign away, without waiting for that."""
        self._pulse.stop(address)
        if address in self._shown:
            self._shown.discard(address)
            with without_leaving():
                task = asyncio.create_task(self._off(address), name="typing ends")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Stop everywhere."""
        await self._pulse.close()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _on(self, address: Address) -> None:
        person = address.chat_id
        if person not in self._tickets:
            self._tickets[person] = await self._ticket(person)
        self._shown.add(address)
        try:
            await self._say(person, _TYPING_ON)
        except ILinkApiError:
            self._tickets.pop(person, None)
            self._shown.discard(address)
            raise

    async def _off(self, address: Address) -> None:
        try:
            await self._say(address.chat_id, _TYPING_OFF)
        except ChannelError:
            self._tickets.pop(address.chat_id, None)

    async def _say(self, person: str, status: int) -> None:
        body = {"ilink_user_id": person, "typing_ticket": self._tickets.get(person, ""), "status": status}
        await self._session.call("sendtyping", body)

    async def _ticket(self, person: str) -> str:
        """A ticket; the platform may give a newer context token with it."""
        peer = self._book.peer(person)
        token = peer.token if peer else ""
        body = {"ilink_user_id": person, "context_token": token}
        told = await self._session.call("getconfig", body)
        if told.get("context_token"):
            await self._book.renew(person, token, str(told["context_token"]))
        if not told.get("typing_ticket"):
            raise ChannelError("WeChat gave no ticket to show typing with")
        return str(told["typing_ticket"])
