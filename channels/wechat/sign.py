"""The sign that an answer is being written: for show only, so that every failure of it is passed over."""

import asyncio

from channels.errors import ChannelError
from channels.leaving import staying
from channels.message import Address, LiveEvent
from channels.pulse import Pulse
from channels.wechat.book import Book
from channels.wechat.session import Session
from channels.wechat.wire import Refused

EVERY_SECONDS = 5.0
LONGEST_SECONDS = 300.0
_ON, _OFF = 1, 2
_BEGINS = ("started", "delta", "tool_started", "tool_ended")
_ENDS = ("reply", "notice", "failed")


class TypingSign:
    """Shown from `started` to the answer. A ticket for each person is asked for once and used until it is refused."""

    def __init__(self, session: Session, book: Book) -> None:
        self._session = session
        self._book = book
        self._tickets: dict[str, str] = {}
        self._shown: set[Address] = set()
        self._pulse = Pulse(self._on, every=EVERY_SECONDS, longest=LONGEST_SECONDS)
        self._ending: set[asyncio.Task[None]] = set()

    def show(self, event: LiveEvent) -> None:
        """Begin, go on, or end."""
        if event.name in _BEGINS:
            self._pulse.beat(event.address)
        elif event.name in _ENDS:
            self.stop(event.address)

    def stop(self, address: Address) -> None:
        """Take the sign away, without waiting for that."""
        self._pulse.stop(address)
        if address in self._shown:
            self._shown.discard(address)
            with staying():
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
            await self._say(person, _ON)
        except Refused:
            self._tickets.pop(person, None)
            self._shown.discard(address)
            raise

    async def _off(self, address: Address) -> None:
        try:
            await self._say(address.chat_id, _OFF)
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
