"""Takes what channels hear into the record, before anything else is done with it."""

import asyncio
from collections.abc import Callable, Sequence

import structlog

from bot.access import Actor, Where, authorize, role_of, space_of
from bot.config import Config
from bot.intake import KeptFile, arrival
from channels.message import Accepted, Attachment, InboundMessage
from channels.text import clean
from memory.blobs import Blobs
from memory.failpoint import afp
from memory.store.doors import Delivery
from memory.store.errors import StoreError
from memory.store.records import Arrival, Stored

log = structlog.get_logger(__name__)
Noticed = Callable[[Arrival, Stored], None]


def lists_of(config: Config, channel: str) -> dict[str, Sequence[str]]:
    """The `owners` and `allow` lists of a channel; empty where it has none."""
    section = getattr(config.channels, channel, None)
    return {"owners": getattr(section, "owners", ()), "allow": getattr(section, "allow", ())}


def actor_of(config: Config, channel: str, sender: str, chat: str, kind: str) -> Actor:
    """Who a sender is here and now."""
    return Actor(channel=channel, id=sender, role=role_of(lists_of(config, channel), channel, sender, chat, kind))


def where_of(channel: str, kind: str, space: str) -> Where:
    """The place of a conversation as access rules know it."""
    if channel == "terminal":
        return Where(kind="terminal", space=space)
    if channel == "web":
        return Where(kind="console", space=space)
    return Where(kind="group" if kind == "group" else "dm", space=space)


class Inbound:
    """The one `Deliver` of all channels. noticed: called for each new row once it is in the record."""

    def __init__(self, delivery: Delivery, blobs: Blobs, config: Callable[[], Config], noticed: Noticed) -> None:
        self._delivery = delivery
        self._blobs = blobs
        self._config = config
        self._noticed = noticed

    async def deliver(self, messages: Sequence[InboundMessage]) -> list[Accepted]:
        """Store all of them in one transaction; a repeat gets the id of its first delivery.

        Raises:
            OSError: nothing was stored; do not confirm, the platform will send it again.
        """
        await afp("recv.parsed")
        try:
            arrivals = [await self._arrival(message) for message in messages]
            rows = await self._delivery.accept(arrivals)
        except StoreError as err:
            raise OSError(str(err)) from err
        for item, row in zip(arrivals, rows, strict=True):
            if row.new and not item.ignored:
                self._noticed(item, row)
        await afp("recv.acked")
        return [Accepted(id=row.id, new=row.new) for row in rows]

    async def _arrival(self, message: InboundMessage) -> Arrival:
        address, kind = message.address, message.kind
        actor = actor_of(self._config(), address.channel, message.sender.id, address.chat_id, kind)
        space = space_of(actor.role, address.channel, address.account, actor.id, address.chat_id, kind)
        ignored = self._ignored(message, actor, where_of(address.channel, kind, space))
        files = [] if ignored else [await self._keep(item) for item in message.attachments]
        return arrival(message, files, space, ignored)

    def _ignored(self, message: InboundMessage, actor: Actor, where: Where) -> str:
        if message.sender.is_bot:
            return "bot"
        if message.kind == "group" and not message.addressed:
            return "not addressed"
        decision = authorize(actor, "chat", "", where)
        if not decision.allowed:
            log.info("ignored", channel=actor.channel, sender=actor.id, role=actor.role, code=decision.code)
            return "stranger" if actor.role == "stranger" else decision.code
        return ""

    async def _keep(self, item: Attachment) -> KeptFile:
        sha256 = await asyncio.to_thread(self._blobs.put, item.data) if item.data else ""
        return KeptFile(
            sha256=sha256, name=clean(item.name)[:200], media_type=item.media_type[:100], size=len(item.data)
        )
