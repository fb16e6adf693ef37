"""The web channel as the gateway sees it: what is stored is shown by ringing the hub's bell."""

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
    """The browser. The server is driven elsewhere (see channels.web.server); `deliver` is set while this one runs.

    The page drops repeats by the row's id, so a send may be repeated forever.
    """

    name = "web"
    account = "console"
    capabilities = Capabilities(
        keyed=True, key_valid=KEY_VALID_SECONDS, live=True, shows="stream", hears=frozenset({"text", "picture", "file"})
    )

    def __init__(self, hub: EventHub | None = None) -> None:
        self.hub = hub or EventHub()
        self.deliver: Deliver | None = None

    async def run(self, deliver: Deliver) -> None:
        """Take messages from the site until cancelled."""
        self.deliver = deliver
        try:
            await asyncio.Event().wait()
        finally:
            self.deliver = None

    async def send(self, message: OutboundMessage) -> Receipt:
        """Show one part. It is in the transcript already, so being seen never depends on who listens now."""
        if message.kind == "progress":  # the answer itself is still to come, so it is not over for the page
            self._view(self.hub.look, message.address.chat_id)
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
        self._view(self.hub.publish, event)
        return Receipt(platform_id=message.id)

    def accepted(self, conversation: str) -> None:
        """Show that a message was stored; that it was never depends on who looks."""
        self._view(self.hub.look, conversation)

    def show(self, event: LiveEvent) -> None:
        """Show one event to whoever looks."""
        self.hub.publish(event)

    def _view(self, act: Callable[[T], None], about: T) -> None:
        """Move the page. What it shows is stored already, so its failure is no failure of what led to it."""
        try:
            act(about)
        except Exception:
            log.exception("page not moved")
