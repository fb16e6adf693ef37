"""Who comes in: channels are heard, what they hear is stored, and once a row is in the record its lane wakes."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.commands.router import Router
from bot.config import Config
from bot.dispatch.lanes import Lanes, LanesOf
from bot.fetching import Fetching
from bot.gateway import Gateway
from bot.inbound import Inbound, Listeners
from bot.intake import ends_turn, load_said
from bot.reply import address_of
from bot.roles import Roles
from bot.signals import Signals
from bot.switching import Switch
from channels.base import Channel
from channels.message import Address, InboundMessage, LiveEvent
from memory.blobs import Blobs
from memory.store.doors import Store
from memory.store.records import Arrival, Stored

MANY_LANES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where things go.

    stop: ends the running turn of a conversation, or only the one that answers that inbox row. hear: begins to hear a
    channel. met: told of strangers and of groups that took us in; moved: of a chat and its new id; stir: somebody is
    here; take: see Storage.take.
    """

    store: Store
    blobs: Blobs
    config: Callable[[], Config]
    roles: Roles
    gateway: Gateway
    fetching: Fetching
    router: Router
    stop: Callable[[str, str], object]
    hear: Callable[[Channel], object]
    lanes: Lanes
    outbox: Lanes
    lanes_of: LanesOf
    met: Callable[[InboundMessage, Stored], Awaitable[None]]
    moved: Callable[[Address, str], Awaitable[None]]
    stir: Callable[[], None]
    take: Callable[[str, int], Awaitable[None]]
    signals: Signals


class Reception:
    """What `Inbound` tells of each new row, and the lane of what overtakes the queue. switch: channels on and off."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.urgent = places.lanes_of("urgent", self._urgent, MANY_LANES)
        told = Listeners(
            noticed=self.noticed,
            met=self.met,
            withdrawn=self.withdrawn,
            moved=places.moved,
            take=places.take,
            signals=places.signals,
        )
        self.inbound = Inbound(places.store, places.blobs, places.roles, places.config, told)
        self.switch = Switch(
            gateway=places.gateway,
            outbox=places.outbox,
            lanes=places.lanes,
            delivery=places.store.delivery,
            hear=lambda channel: places.hear(channel),
        )

    def noticed(self, arrival: Arrival, row: Stored) -> None:
        """Something to do, in a lane whose bell has rung: a command may end what runs, files are fetched ahead."""
        places = self._places
        places.stir()
        if arrival.kind == "command" and ends_turn(load_said(arrival.body).text):
            places.stop(row.conversation, "")
        for file in load_said(arrival.body).files:
            if file.ref and not file.sha256:
                places.fetching.begin(arrival.place.channel, file.ref, arrival.place.space)
        channel = places.gateway.channels.get(arrival.place.channel)
        if channel is not None and channel.capabilities.asks_first:
            places.gateway.show(LiveEvent(address=address_of(arrival.place), name="accepted", message_id=row.id))

    async def met(self, message: InboundMessage, row: Stored) -> None:
        """A stranger wrote, or we were taken into a group."""
        await self._places.met(message, row)

    def withdrawn(self, row: Stored) -> None:
        """A message was taken back by its writer: its answer is not gone on with."""
        self._places.stop(row.meant_in, row.meant)

    async def _urgent(self, inbox_id: str) -> bool:
        """The step of what overtakes: one row, beside its conversation's lane."""
        places = self._places
        began, row = time.perf_counter(), await places.store.delivery.inbox(inbox_id)
        if row is not None and row.state == "new":
            await places.router.run(row, load_said(row.body))
            places.signals.handled(row.trace_id, "command", began)
        return False
