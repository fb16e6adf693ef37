"""Takes what channels hear into the record, before anything else is done with it."""

import asyncio
import errno
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import structlog

from bot.access.permissions import AccessScope, Actor, authorize, conversation_space
from bot.access.roles import RoleResolver
from bot.access.storage_quota import QuotaExceededError
from bot.config.schema import Config
from bot.messages import Admission, StoredAttachment, to_inbox_row
from bot.telemetry.recorder import Telemetry
from channels.base import NO_NOTEBOOK_CHANGES, Deliver
from channels.message import Accepted, Address, Attachment, InboundMessage
from channels.toolkit.text import replace_unstorable
from memory.failpoints import hit_async
from memory.store.errors import StoreError, StoreMoved
from memory.store.rows import AcceptedRow, NewInboxRow, NoteChanges
from memory.store.store import Store
from memory.workspace.blobs import Blobs

log = structlog.get_logger(__name__)
IGNORED_STRANGER, IGNORED_JOINED, IGNORED_ASIDE = "stranger", "joined", "aside"


def access_scope(channel: str, kind: str, space: str) -> AccessScope:
    """The place of a conversation as access rules know it."""
    if channel == "terminal":
        return AccessScope(kind="terminal", space=space)
    if channel == "web":
        return AccessScope(kind="console", space=space)
    return AccessScope(kind="group" if kind == "group" else "dm", space=space)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundListeners:
    """Whom `Inbound` tells, once a row is in the record."""

    #: Of each that asks for work.
    noticed: Callable[[NewInboxRow, AcceptedRow], None]
    #: Of what came from a stranger, or took us into a group.
    met: Callable[[InboundMessage, AcceptedRow], Awaitable[None]]
    #: Of the inbox id of a message that its writer took back.
    withdrawn: Callable[[AcceptedRow], None]
    #: Of a chat and its new id.
    moved: Callable[[Address, str], Awaitable[None]]
    #: See Storage.take.
    take: Callable[[str, int], Awaitable[None]]
    telemetry: Telemetry = field(default_factory=Telemetry)


class Receiver:
    """What stands behind every channel's `Deliver`."""

    def __init__(
        self, store: Store, blobs: Blobs, roles: RoleResolver, config: Callable[[], Config], told: InboundListeners
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._roles = roles
        self._config = config
        self._told = told

    def ear(self, channel: str) -> Deliver:
        """The `Deliver` of one channel."""
        return partial(self._deliver, channel)

    async def _deliver(
        self, channel: str, messages: Sequence[InboundMessage], keep: Mapping[str, str] = NO_NOTEBOOK_CHANGES
    ) -> list[Accepted]:
        """Store all of them in one transaction; a repeat gets the id of its first delivery.

        Raises:
            OSError: nothing was stored; do not confirm, the platform will send it again.
        """
        began = time.perf_counter()
        await hit_async("recv.parsed")
        try:
            arrivals = [await self._arrival(message) for message in messages]
            kept = NoteChanges(channel=channel, values=keep) if keep else None
            rows = await self._store.delivery.accept(arrivals, kept)
        except StoreMoved as err:
            raise OSError(errno.ESTALE, str(err)) from err
        except StoreError as err:
            raise OSError(str(err)) from err
        self._told.telemetry.received(channel, arrivals, rows, began)
        for message, item, row in zip(messages, arrivals, rows, strict=True):
            await self._tell(message, item, row)
        await hit_async("recv.acked")
        return [Accepted(id=row.id, new=row.new) for row in rows]

    async def _tell(self, message: InboundMessage, item: NewInboxRow, row: AcceptedRow) -> None:
        if message.act == "move":
            await self._told.moved(message.address, message.target)
        elif item.ignored in (IGNORED_STRANGER, IGNORED_JOINED):
            await self._told.met(message, row)  # for a repeat too: the first time may have been cut short
        elif row.state == "new":
            self._told.noticed(item, row)  # for a repeat too
        elif row.new and message.act == "delete" and row.meant:
            self._told.withdrawn(row)

    async def _arrival(self, message: InboundMessage) -> NewInboxRow:
        address, kind = message.address, message.kind
        sender, proven = message.sender.id, message.proven
        actor = await self._roles.actor(address.channel, address.account, sender, address.chat_id, kind, proven=proven)
        space = conversation_space(actor.role, address.channel, address.account, actor.id, address.chat_id, kind)
        ignored = self._ignored(message, actor, access_scope(address.channel, kind, space))
        taken = Admission(
            space=space,
            ignored="" if ignored == IGNORED_ASIDE else ignored,
            aside=ignored == IGNORED_ASIDE,
            to_space=self._moved_space(message, actor) if message.act == "move" else "",
        )
        files = [] if ignored else [await self._keep(item, space) for item in message.attachments]
        return to_inbox_row(message, files, taken, self._store.now())

    def _ignored(self, message: InboundMessage, actor: Actor, where: AccessScope) -> str:
        """Why it is not taken as something to answer, "" where it is."""
        if message.act in ("move", "delete"):
            return ""  # the platform says so, whoever did it
        if message.act == "joined":
            return IGNORED_JOINED
        if message.sender.is_bot:
            return "bot"
        decision = authorize(actor, "chat", "", where)
        unaddressed = message.kind == "group" and not message.addressed and message.act == "message"
        if unaddressed and not (decision.allowed and self._config().groups.listen):
            return "not addressed"
        if not decision.allowed:
            self._told.telemetry.denied()
            log.info("ignored", channel=actor.channel, sender=actor.id, role=actor.role, code=decision.code)
            return IGNORED_STRANGER if actor.role == "stranger" else decision.code
        return IGNORED_ASIDE if unaddressed else ""

    @staticmethod
    def _moved_space(message: InboundMessage, actor: Actor) -> str:
        address = message.address
        return conversation_space(actor.role, address.channel, address.account, actor.id, message.target, message.kind)

    async def _keep(self, item: Attachment, space: str) -> StoredAttachment:
        """For what there is no room, only that it was sent is kept: its turn tells."""
        sha256 = ""
        with suppress(QuotaExceededError):
            if item.data:
                await self._told.take(space, len(item.data))
                sha256 = await asyncio.to_thread(self._blobs.put, item.data)
        return StoredAttachment(
            sha256=sha256,
            name=replace_unstorable(item.name)[:200],
            media_type=item.media_type[:100],
            size=len(item.data),
            ref=item.ref,
        )
