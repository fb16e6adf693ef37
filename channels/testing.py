"""An in-memory channel: tests put in what people write and read what they would see."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from channels.base import Deliver, FetchedFile
from channels.errors import AttachmentTooBig, ChannelError, Rejected
from channels.message import (
    Address,
    Capabilities,
    InboundMessage,
    LiveEvent,
    OutboundMessage,
    Receipt,
    Sender,
)
from channels.toolkit.delivery import store_with_retry
from channels.toolkit.text import replace_unstorable

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
MIN_PAUSE = 0.01
MAX_PAUSE = 1.0


class ScriptedChannel:
    """A test double that, like a real channel, acknowledges only what was stored and repeats the
    rest.
    """

    def __init__(
        self, name: str = "scripted", account: str = "bot", capabilities: Capabilities | None = None
    ) -> None:
        self.name = name
        self.account = account
        self.capabilities = capabilities or Capabilities(limit=4096, unit="utf16", live=True)
        #: Every part that arrived, in order.
        self.sent: list[OutboundMessage] = []
        #: Keys of the acknowledged messages.
        self.confirmed: list[str] = []
        self.shown: list[LiveEvent] = []
        #: Files that can be fetched, by ref.
        self.files: dict[str, bytes] = {}
        self._undelivered: list[InboundMessage] = []
        self._written = 0
        self._faults: list[tuple[ChannelError, bool]] = []
        self._ended: ChannelError | None = None
        self._changed = asyncio.Event()

    def hear(
        self, text: str, *, chat: str = "c1", thread: str = "", sender: str = "u1", **fields: Any
    ) -> InboundMessage:
        """Receive a message from a person. fields: other fields of InboundMessage."""
        self._written += 1
        defaults: dict[str, Any] = {
            "kind": "dm",
            "key": str(self._written),
            "sent_at": EPOCH,
            "order_key": f"{self._written:020d}",
        }
        message = InboundMessage(
            address=Address(
                channel=self.name, account=self.account, chat_id=chat, thread_id=thread
            ),
            sender=Sender(id=sender, name=sender),
            text=replace_unstorable(text),
            **(defaults | fields),
        )
        self.redeliver(message)
        return message

    def redeliver(self, message: InboundMessage) -> None:
        """Receive a message, possibly a repeat."""
        self._undelivered.append(message)
        self._notify_waiters()

    def fail(self, *errors: ChannelError, arrived: bool = False) -> None:
        """Let the next sends raise these errors, one each. arrived: the message is delivered all
        the same.
        """
        self._faults += [(error, arrived) for error in errors]

    def end(self, error: ChannelError) -> None:
        """Let `run` raise this error."""
        self._ended = error
        self._notify_waiters()

    async def until(self, holds: Callable[[], bool], seconds: float = 30.0) -> None:
        """Wait until a condition on this channel holds. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not holds():
                await self._changed.wait()

    async def run(self, deliver: Deliver) -> None:
        while True:
            batch = list(self._undelivered)
            if self._ended is not None:
                error, self._ended = self._ended, None
                raise error
            if not batch:
                await self._changed.wait()
                continue
            await store_with_retry(
                partial(deliver, batch), self.name, shortest=MIN_PAUSE, longest=MAX_PAUSE
            )
            del self._undelivered[: len(batch)]
            self.confirmed += [message.key for message in batch]
            self._notify_waiters()

    async def send(self, message: OutboundMessage) -> Receipt:
        error, arrived = self._faults.pop(0) if self._faults else (None, True)
        if arrived:
            self.sent.append(message)
        self._notify_waiters()
        if error is not None:
            raise error
        return Receipt(platform_id=str(len(self.sent)))

    async def fetch(self, ref: str, max_bytes: int) -> FetchedFile:
        if ref not in self.files:
            raise Rejected("the file is gone")
        if len(self.files[ref]) > max_bytes:
            raise AttachmentTooBig(f"more than {max_bytes} bytes")
        return FetchedFile(data=self.files[ref])

    def show(self, event: LiveEvent) -> None:
        self.shown.append(event)
        self._notify_waiters()

    def _notify_waiters(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
