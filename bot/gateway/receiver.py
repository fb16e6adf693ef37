"""Takes what channels hear into the record, before anything else is done with it."""

import asyncio
import errno
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import structlog

from bot.access.permissions import Actor, Where, authorize, space_of
from bot.access.roles import Roles
from bot.access.storage_quota import NoRoom
from bot.config.schema import Config
from bot.messages import KeptFile, Taken, arrival
from bot.telemetry.recorder import Signals
from channels.base import NOTHING, Deliver
from channels.message import Accepted, Address, Attachment, InboundMessage
from channels.toolkit.text import clean
from memory.failpoints import afp
from memory.store.errors import StoreError, StoreMoved
from memory.store.rows import Arrival, Keep, Stored
from memory.store.store import Store
from memory.workspace.blobs import Blobs

log = structlog.get_logger(__name__)
STRANGER, JOINED, ASIDE = "stranger", "joined", "aside"


def where_of(channel: str, kind: str, space: str) -> Where:
    """The place of a conversation as access rules know it."""
    if channel == "terminal":
        return Where(kind="terminal", space=space)
    if channel == "web":
        return Where(kind="console", space=space)
    return Where(kind="group" if kind == "group" else "dm", space=space)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """Whom `Inbound` tells, once a row is in the record.

    noticed: of each that asks for work. met: of what came from a stranger, or took us into a group. withdrawn: of the
    inbox id of a message that its writer took back. moved: of a chat and its new id. take: see Storage.take.
    """

    noticed: Callable[[Arrival, Stored], None]
    met: Callable[[InboundMessage, Stored], Awaitable[None]]
    withdrawn: Callable[[Stored], None]
    moved: Callable[[Address, str], Awaitable[None]]
    take: Callable[[str, int], Awaitable[None]]
    signals: Signals = field(default_factory=Signals)


class Inbound:
    """What stands behind every channel's `Deliver`."""

    def __init__(self, store: Store, blobs: Blobs, roles: Roles, config: Callable[[], Config], told: Listeners) -> None:
        self._store = store
        self._blobs = blobs
        self._roles = roles
        self._config = config
        self._told = told

    def ear(self, channel: str) -> Deliver:
        """The `Deliver` of one channel."""
        return partial(self._deliver, channel)

    async def _deliver(
        self, channel: str, messages: Sequence[InboundMessage], keep: Mapping[str, str] = NOTHING
    ) -> list[Accepted]:
        """Store all of them in one transaction; a repeat gets the id of its first delivery.

        Raises:
            OSError: nothing was stored; do not confirm, the platform will send it again.
        """
        began = time.perf_counter()
        await afp("recv.parsed")
        try:
            arrivals = [await self._arrival(message) for message in messages]
            kept = Keep(channel=channel, values=keep) if keep else None
            rows = await self._store.delivery.accept(arrivals, kept)
        except StoreMoved as err:
            raise OSError(errno.ESTALE, str(err)) from err
        except StoreError as err:
            raise OSError(str(err)) from err
        self._told.signals.received(channel, arrivals, rows, began)
        for message, item, row in zip(messages, arrivals, rows, strict=True):
            await self._tell(message, item, row)
        await afp("recv.acked")
        return [Accepted(id=row.id, new=row.new) for row in rows]

    async def _tell(self, message: InboundMessage, item: Arrival, row: Stored) -> None:
        if message.act == "move":
            await self._told.moved(message.address, message.target)
        elif item.ignored in (STRANGER, JOINED):
            await self._told.met(message, row)  # for a repeat too: the first time may have been cut short
        elif row.state == "new":
            self._told.noticed(item, row)  # for a repeat too
        elif row.new and message.act == "delete" and row.meant:
            self._told.withdrawn(row)

    async def _arrival(self, message: InboundMessage) -> Arrival:
        address, kind = message.address, message.kind
        sender, proven = message.sender.id, message.proven
        actor = await self._roles.actor(address.channel, address.account, sender, address.chat_id, kind, proven=proven)
        space = space_of(actor.role, address.channel, address.account, actor.id, address.chat_id, kind)
        ignored = self._ignored(message, actor, where_of(address.channel, kind, space))
        taken = Taken(
            space=space,
            ignored="" if ignored == ASIDE else ignored,
            aside=ignored == ASIDE,
            to_space=self._moved_space(message, actor) if message.act == "move" else "",
        )
        files = [] if ignored else [await self._keep(item, space) for item in message.attachments]
        return arrival(message, files, taken, self._store.now())

    def _ignored(self, message: InboundMessage, actor: Actor, where: Where) -> str:
        """Why it is not taken as something to answer, "" where it is."""
        if message.act in ("move", "delete"):
            return ""  # the platform says so, whoever did it
        if message.act == "joined":
            return JOINED
        if message.sender.is_bot:
            return "bot"
        decision = authorize(actor, "chat", "", where)
        unaddressed = message.kind == "group" and not message.addressed and message.act == "message"
        if unaddressed and not (decision.allowed and self._config().groups.listen):
            return "not addressed"
        if not decision.allowed:
            self._told.signals.denied()
            log.info("ignored", channel=actor.channel, sender=actor.id, role=actor.role, code=decision.code)
            return STRANGER if actor.role == "stranger" else decision.code
        return ASIDE if unaddressed else ""

    @staticmethod
    def _moved_space(message: InboundMessage, actor: Actor) -> str:
        address = message.address
        return space_of(actor.role, address.channel, address.account, actor.id, message.target, message.kind)

    async def _keep(self, item: Attachment, space: str) -> KeptFile:
        """For what there is no room, only that it was sent is kept: its turn tells."""
        sha256 = ""
        with suppress(NoRoom):
            if item.data:
                await self._told.take(space, len(item.data))
                sha256 = await asyncio.to_thread(self._blobs.put, item.data)
        return KeptFile(
            sha256=sha256,
            name=clean(item.name)[:200],
            media_type=item.media_type[:100],
            size=len(item.data),
            ref=item.ref,
        )
