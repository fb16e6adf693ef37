"""The door to one platform, and what stands behind it as far as a channel can see."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from channels.message import Accepted, Capabilities, InboundMessage, LiveEvent, OutboundMessage, Receipt

Deliver = Callable[[Sequence[InboundMessage]], Awaitable[list[Accepted]]]
"""Stores messages for ever before it returns; raises OSError or RuntimeError when it could not (do not ack)."""


class Channel(Protocol):
    """A door to one platform: hears with run, speaks with send."""

    name: str
    account: str
    capabilities: Capabilities

    async def run(self, deliver: Deliver) -> None:
        """Hear until cancelled; every message is confirmed to the platform only after `deliver` returned.

        Raises:
            LoggedOut: the owner has to act.
            ChannelError: anything else that ended it; it is started again after a pause.
        """
        ...

    async def send(self, message: OutboundMessage) -> Receipt:
        """Deliver one part; return the platform's id for it.

        Raises:
            Retryable: surely not delivered; see its retry_after (seconds).
            Rejected: this message will never be accepted (BadFormat: as plain text it would).
            Ambiguous: the answer was lost.
            LoggedOut: the owner has to act.
        """
        ...


class Live(Protocol):
    """What a channel whose capabilities say `live` also has."""

    def show(self, event: LiveEvent) -> None:
        """Take one event; returns at once, never raises, may drop all but the newest."""
        ...
