"""The web channel: notifies the page's event streams of stored messages."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import structlog

from channels.base import Deliver
from channels.message import Capabilities, EventName, LiveEvent, OutboundMessage, Receipt
from channels.web.events import EventHub

log = structlog.get_logger(__name__)
T = TypeVar("T")
KEY_VALID_SECONDS = 10 * 365 * 86_400.0


class Web:
    """The page and the API; their server is channels.web.server.

    The page drops repeats by the row's id, so a send may be repeated at any time.
    """

    name = "web"
    account = "console"
    capabilities = Capabilities(
        keyed=True,
        key_valid=KEY_VALID_SECONDS,
        live=True,
        live_display="stream",
        receives=frozenset({"text", "picture", "file"}),
    )

    def __init__(self, hub: EventHub | None = None) -> None:
        self.hub = hub or EventHub()
        #: Set while `run` is running.
        self.deliver: Deliver | None = None
        #: Called with the name of a conversation at each message that is no progress text.
        self.replied: Callable[[str], None] = lambda conversation: None

    async def run(self, deliver: Deliver) -> None:
        """Let the site deliver messages until cancelled."""
        self.deliver = deliver
        try:
            await asyncio.Event().wait()
        finally:
            self.deliver = None

    async def send(self, message: OutboundMessage) -> Receipt:
        """Notify the streams of one part, which is already in the transcript."""
        # the reply is still to come, so the page must not end the turn
        if message.kind == "progress":
            self._notify(self.hub.notify_stored, message.address.chat_id)
            return Receipt(platform_id=message.id)
        name: EventName = "notice" if message.kind == "notice" else "reply"
        event = LiveEvent(
            address=message.address,
            name=name,
            message_id=message.reply_to,
            text=message.text,
            line=message.line,
            facts={"id": message.id},
        )
        self._notify(self.hub.publish, event)
        self._notify(self.replied, message.address.chat_id)
        return Receipt(platform_id=message.id)

    def accepted(self, conversation: str) -> None:
        """Notify the streams of a message that was stored."""
        self._notify(self.hub.notify_stored, conversation)

    def show(self, event: LiveEvent) -> None:
        """Send one live event to the streams of its conversation."""
        self.hub.publish(event)

    def _notify(self, notify: Callable[[T], None], subject: T) -> None:
        """Log a failure to notify: the message is stored, so neither its delivery nor its sending
        has failed.
        """
        try:
            notify(subject)
        except Exception:
            log.exception("page not moved")
