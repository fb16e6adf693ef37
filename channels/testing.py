"""A channel made of lists: what people write is put into it, what they would see is read from it."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from channels.base import Deliver, FetchedFile
from channels.errors import AttachmentTooBig, ChannelError, Rejected
from channels.message import Address, Capabilities, InboundMessage, LiveEvent, OutboundMessage, Receipt, Sender
from channels.toolkit.storing import store_with_retry
from channels.toolkit.text import replace_unstorable

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
MIN_PAUSE = 0.01
MAX_PAUSE = 1.0


class ScriptedChannel:
    """The twin of a real channel, with the same manners: it confirms only what was stored, and repeats what was not.

    sent: every part that arrived, in order; confirmed: keys of messages that were; shown: live events. files: what can
    be fetched, by ref.
    """

    def __init__(self, name: str = "scripted", account: str = "bot", capabilities: Capabilities | None = None) -> None:
        self.name = name
        self.account = account
        self.capabilities = capabilities or Capabilities(limit=4096, unit="utf16", live=True)
        self.sent: list[OutboundMessage] = []
        self.confirmed: list[str] = []
        self.shown: list[LiveEvent] = []
        self.files: dict[str, bytes] = {}
        self._waiting: list[InboundMessage] = []
        self._heard = 0
        self._faults: list[tuple[ChannelError, bool]] = []
        self._ended: ChannelError | None = None
        self._moved = asyncio.Event()

    def hear(
        self, text: str, *, chat: str = "c1", thread: str = "", sender: str = "u1", **fields: Any
    ) -> InboundMessage:
        """A person writes. fields: others of the message's, such as kind, key, addressed, attachments or sent_at."""
        self._heard += 1
        usual: dict[str, Any] = {
            "kind": "dm",
            "key": str(self._heard),
            "sent_at": EPOCH,
            "order_key": f"{self._heard:020d}",
        }
        message = InboundMessage(
            address=Address(channel=self.name, account=self.account, chat_id=chat, thread_id=thread),
            sender=Sender(id=sender, name=sender),
            text=replace_unstorable(text),
            **(usual | fields),
        )
        self.redeliver(message)
        return message

    def redeliver(self, message: InboundMessage) -> None:
        """The platform brings a message (once more)."""
        self._waiting.append(message)
        self._notify_waiters()

    def fail(self, *errors: ChannelError, arrived: bool = False) -> None:
        """The next sends end with these errors, one each; arrived: the message is seen all the same."""
        self._faults += [(error, arrived) for error in errors]

    def end(self, error: ChannelError) -> None:
        """Let `run` end with this error."""
        self._ended = error
        self._notify_waiters()

    async def until(self, holds: Callable[[], bool], seconds: float = 10.0) -> None:
        """Wait until something is true of this channel. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not holds():
                await self._moved.wait()

    async def run(self, deliver: Deliver) -> None:
        """Hear until cancelled, or until `end`."""
        while True:
            batch = list(self._waiting)
            if self._ended is not None:
                error, self._ended = self._ended, None
                raise error
            if not batch:
                await self._moved.wait()
                continue
            await store_with_retry(partial(deliver, batch), self.name, shortest=MIN_PAUSE, longest=MAX_PAUSE)
            del self._waiting[: len(batch)]
            self.confirmed += [message.key for message in batch]
            self._notify_waiters()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Take one part, or fail as told."""
        error, arrived = self._faults.pop(0) if self._faults else (None, True)
        if arrived:
            self.sent.append(message)
        self._notify_waiters()
        if error is not None:
            raise error
        return Receipt(platform_id=str(len(self.sent)))

    async def fetch(self, ref: str, most: int) -> FetchedFile:
        """A file's bytes. Raises AttachmentTooBig over `most`, Rejected where there is none."""
        if ref not in self.files:
            raise Rejected("the file is gone")
        if len(self.files[ref]) > most:
            raise AttachmentTooBig(f"more than {most} bytes")
        return FetchedFile(data=self.files[ref])

    def show(self, event: LiveEvent) -> None:
        self.shown.append(event)
        self._notify_waiters()

    def _notify_waiters(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()
