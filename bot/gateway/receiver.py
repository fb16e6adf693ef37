"""Stores what channels receive, before anything else is done with it, and starts the work on it."""

import asyncio
import errno
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import structlog

from bot.access.pairing import PairingService
from bot.access.permissions import AccessScope, Actor, access_scope, authorize, conversation_space
from bot.access.roles import RoleResolver, grants_key
from bot.access.storage_quota import QuotaExceededError, StorageQuota
from bot.config.schema import Config
from bot.gateway.downloads import Downloads
from bot.gateway.gateway import Gateway
from bot.messages import (
    Admission,
    StoredAttachment,
    conversation_place,
    ends_turn,
    load_body,
    to_address,
    to_inbox_row,
)
from bot.telemetry.recorder import Telemetry
from channels.base import NO_NOTEBOOK_CHANGES, Deliver
from channels.message import Accepted, Attachment, InboundMessage, LiveEvent
from channels.toolkit.text import replace_unstorable
from memory.failpoints import hit_async
from memory.store.conversations.delivery import Delivered
from memory.store.errors import StoreError, StoreMoved
from memory.store.people.rows import GrantRow
from memory.store.rows import AcceptedRow, NewInboxRow, NoteChanges
from memory.store.store import Store
from memory.workspace.blobs import Blobs

log = structlog.get_logger(__name__)
IGNORED_STRANGER, IGNORED_JOINED, IGNORED_ASIDE = "stranger", "joined", "aside"


@dataclass(frozen=True, slots=True)
class _Denial:
    """A sender whose message is ignored."""

    actor: Actor
    code: str


class Receiver:
    """Implements `Deliver` for every channel: stores messages, then wakes the components that act
    on them.
    """

    def __init__(
        self,
        *,
        store: Store,
        blobs: Blobs,
        roles: RoleResolver,
        config: Callable[[], Config],
        gateway: Gateway,
        downloads: Downloads,
        pairing: PairingService,
        storage: StorageQuota,
        stop_turn: Callable[[str, str], object],
        warm_up: Callable[[], None],
        telemetry: Telemetry,
    ) -> None:
        """Connect the components.

        Args:
            stop_turn: stops a conversation's running turn; the second argument limits it to one
                inbox row, "" for any.
            warm_up: called with each message that is to be processed.
        """
        self._store = store
        self._blobs = blobs
        self._roles = roles
        self._config = config
        self._gateway = gateway
        self._downloads = downloads
        self._pairing = pairing
        self._storage = storage
        self._stop_turn = stop_turn
        self._warm_up = warm_up
        self._telemetry = telemetry

    def deliver_for(self, channel: str) -> Deliver:
        """Return the `Deliver` of one channel."""
        return partial(self._deliver, channel)

    async def _deliver(
        self,
        channel: str,
        messages: Sequence[InboundMessage],
        keep: Mapping[str, str] = NO_NOTEBOOK_CHANGES,
    ) -> list[Accepted]:
        """Store all messages in one transaction; a repeated one gets the id of its first delivery.

        Raises:
            OSError: nothing was stored; do not acknowledge, so that the platform sends it again.
        """
        began = time.perf_counter()
        await hit_async("recv.parsed")
        try:
            notes = NoteChanges(channel=channel, values=keep) if keep else None
            arrivals, rows = await self._accept(messages, notes)
        except StoreMoved as err:
            raise OSError(errno.ESTALE, str(err)) from err
        except StoreError as err:
            raise OSError(str(err)) from err
        self._telemetry.messages_received(channel, arrivals, rows, began)
        for message, item, row in zip(messages, arrivals, rows, strict=True):
            await self._act(message, item, row)
        await hit_async("recv.acked")
        return [Accepted(id=row.id, new=row.new) for row in rows]

    async def _accept(
        self, messages: Sequence[InboundMessage], notes: NoteChanges | None
    ) -> tuple[Sequence[NewInboxRow], Sequence[AcceptedRow]]:
        """Store messages by the roles that their senders have in that transaction.

        Where files come with them, the roles are read before: whose space they go to depends on
        these.
        """
        arrivals: list[NewInboxRow] = []
        denied: list[_Denial] = []
        if any(item.data for message in messages for item in message.attachments):
            arrivals = [await self._to_row_with_files(message, denied) for message in messages]
            rows = await self._store.delivery.accept(arrivals, notes)
        else:

            def admit(grants: Sequence[Sequence[GrantRow]]) -> Sequence[NewInboxRow]:
                arrivals.clear()
                denied.clear()
                for message, known in zip(messages, grants, strict=True):
                    actor = self._roles.actor_of(
                        known, *_sender_and_chat(message), proven=message.proven
                    )
                    admission = self._admission(message, actor, denied)
                    files = (
                        []
                        if admission.is_unread
                        else [_to_stored(item) for item in message.attachments]
                    )
                    arrivals.append(to_inbox_row(message, files, admission, self._store.now()))
                return arrivals

            delivered = [_to_delivered(message) for message in messages]
            rows = await self._store.delivery.accept_by_grants(delivered, admit, notes)
        for one in denied:
            self._telemetry.access_denied()
            log.info(
                "ignored",
                channel=one.actor.channel,
                sender=one.actor.id,
                role=one.actor.role,
                code=one.code,
            )
        return arrivals, rows

    async def _act(self, message: InboundMessage, item: NewInboxRow, row: AcceptedRow) -> None:
        """Act on a stored row; on a repeated one too, because the first time may have been cut
        short.
        """
        if message.act == "move":
            await self._pairing.moved(message.address, message.target)
        elif item.ignored in (IGNORED_STRANGER, IGNORED_JOINED):
            await self._pairing.met(message, row)
        elif row.state == "new":
            self._prepare(item, row)
        elif row.new and message.act == "delete" and row.meant:
            self._stop_turn(row.meant_in, row.meant)

    def _prepare(self, item: NewInboxRow, row: AcceptedRow) -> None:
        """Do what need not wait for the conversation's queue: stop a turn for /new, download files,
        show a receipt.
        """
        self._warm_up()
        body, place = load_body(item.body), item.place
        if item.kind == "command" and ends_turn(body.text):
            self._stop_turn(row.conversation, "")
        for file in body.files:
            if file.ref and not file.sha256:
                self._downloads.begin(place.channel, file.ref, place.space)
        channel = self._gateway.channels.get(place.channel)
        if channel is not None and channel.capabilities.user_writes_first:
            self._gateway.show(
                LiveEvent(address=to_address(place), name="accepted", message_id=row.id)
            )

    async def _to_row_with_files(
        self, message: InboundMessage, denied: "list[_Denial]"
    ) -> NewInboxRow:
        actor = await self._roles.actor(*_sender_and_chat(message), proven=message.proven)
        admission = self._admission(message, actor, denied)
        attachments = () if admission.is_unread else message.attachments
        files = [await self._store_file(item, admission.space) for item in attachments]
        return to_inbox_row(message, files, admission, self._store.now())

    def _admission(
        self, message: InboundMessage, actor: Actor, denied: "list[_Denial]"
    ) -> Admission:
        address, kind = message.address, message.kind
        space = conversation_space(
            actor.role, address.channel, address.account, actor.id, address.chat_id, kind
        )
        ignored = self._ignored(message, actor, access_scope(address.channel, kind, space), denied)
        return Admission(
            space=space,
            ignored="" if ignored == IGNORED_ASIDE else ignored,
            aside=ignored == IGNORED_ASIDE,
            to_space=self._moved_space(message, actor) if message.act == "move" else "",
        )

    def _ignored(
        self, message: InboundMessage, actor: Actor, where: AccessScope, denied: "list[_Denial]"
    ) -> str:
        """Return why a message is not to be answered; "" if it is."""
        if message.act in ("move", "delete"):
            return ""  # sent by the platform, so the sender's rights do not matter
        if message.act == "joined":
            return IGNORED_JOINED
        if message.sender.is_bot:
            return "bot"
        decision = authorize(actor, "chat", "", where)
        unaddressed = message.kind == "group" and not message.addressed and message.act == "message"
        if unaddressed and not (decision.allowed and self._config().groups.listen):
            return "not addressed"
        if not decision.allowed:
            denied.append(_Denial(actor, decision.code))
            return IGNORED_STRANGER if actor.role == "stranger" else decision.code
        return IGNORED_ASIDE if unaddressed else ""

    @staticmethod
    def _moved_space(message: InboundMessage, actor: Actor) -> str:
        address = message.address
        return conversation_space(
            actor.role, address.channel, address.account, actor.id, message.target, message.kind
        )

    async def _store_file(self, item: Attachment, space: str) -> StoredAttachment:
        """Store an attachment; over the quota only its name and size, which its turn reports."""
        sha256 = ""
        with suppress(QuotaExceededError):
            if item.data:
                await self._storage.take(space, len(item.data))
                sha256 = await asyncio.to_thread(self._blobs.put, item.data)
        return _to_stored(item, sha256)


def _sender_and_chat(message: InboundMessage) -> tuple[str, str, str, str, str]:
    """Return whose role in which chat decides about a message, as `RoleResolver.actor` takes it."""
    address = message.address
    return address.channel, address.account, message.sender.id, address.chat_id, message.kind


def _to_delivered(message: InboundMessage) -> Delivered:
    return Delivered(
        place=conversation_place(message, ""),
        key=replace_unstorable(message.key),
        sender=grants_key(*_sender_and_chat(message)),
    )


def _to_stored(item: Attachment, sha256: str = "") -> StoredAttachment:
    return StoredAttachment(
        sha256=sha256,
        name=replace_unstorable(item.name)[:200],
        media_type=item.media_type[:100],
        size=len(item.data),
        ref=item.ref,
    )
