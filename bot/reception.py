"""Who comes in: channels are heard, what they hear is stored, and once a row is in the record its lane wakes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.commands.router import Router
from bot.config import Config
from bot.dispatch.local import LocalLanes
from bot.fetching import Fetching
from bot.gateway import Gateway
from bot.inbound import Inbound, Listeners
from bot.intake import ends_turn, load_said
from bot.reply import address_of
from bot.roles import Roles
from bot.switching import Switch
from bot.turn import Turns
from channels.message import Address, InboundMessage, LiveEvent
from memory.blobs import Blobs
from memory.store.doors import Store
from memory.store.records import Arrival, Stored

A_LITTLE = 0.005
"""Timers may be a little early."""
MANY_LANES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where things go.

    met: told of strangers and of groups that took us in; moved: of a chat and its new id; stir: somebody is here.
    """

    store: Store
    blobs: Blobs
    config: Callable[[], Config]
    roles: Roles
    gateway: Gateway
    fetching: Fetching
    router: Router
    turns: Turns
    lanes: LocalLanes
    outbox: LocalLanes
    met: Callable[[InboundMessage, Stored], Awaitable[None]]
    moved: Callable[[Address, str], Awaitable[None]]
    stir: Callable[[], None]


class Reception:
    """What `Inbound` tells of each new row, and the lane of what overtakes the queue. switch: channels on and off."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.urgent = LocalLanes(self._urgent, MANY_LANES)
        told = Listeners(noticed=self.noticed, met=self.met, withdrawn=self.withdrawn, moved=places.moved)
        self.inbound = Inbound(places.store, places.blobs, places.roles, places.config, told)
        self.switch = Switch(
            gateway=places.gateway,
            inbound=self.inbound,
            outbox=places.outbox,
            lanes=places.lanes,
            delivery=places.store.delivery,
        )

    def noticed(self, arrival: Arrival, row: Stored) -> None:
        """Something to do: wake its lane, now or when it is due; a command may end what runs, or overtake."""
        places = self._places
        places.stir()
        if arrival.kind == "command" and ends_turn(load_said(arrival.body).text):
            places.turns.stop(row.conversation)
        for file in load_said(arrival.body).files:
            if file.ref and not file.sha256:
                places.fetching.begin(arrival.place.channel, file.ref)
        channel = places.gateway.channels.get(arrival.place.channel)
        if channel is not None and channel.capabilities.asks_first:
            places.outbox.wake(row.conversation)  # what waited for a word of this person may go now
            places.gateway.show(LiveEvent(address=address_of(arrival.place), name="accepted", message_id=row.id))
        if arrival.urgent:
            self.urgent.wake(row.id)
        elif arrival.not_before:
            self.wake_at(row.conversation, arrival.not_before)
        else:
            places.lanes.wake(row.conversation)

    async def met(self, message: InboundMessage, row: Stored) -> None:
        """A stranger wrote, or we were taken into a group."""
        await self._places.met(message, row)
        self._places.outbox.wake(row.conversation)

    def withdrawn(self, row: Stored) -> None:
        """A message was taken back by its writer: its answer is not gone on with."""
        self._places.turns.stop(row.meant_in, row.meant)

    def wake_at(self, conversation: str, when: float) -> None:
        """Look at a lane once more when something in it is due. when: unix seconds."""
        delay = max(0.0, when - time.time()) + A_LITTLE
        asyncio.get_running_loop().call_later(delay, self._places.lanes.wake, conversation)

    async def _urgent(self, inbox_id: str) -> bool:
        """The step of what overtakes: one row, beside its conversation's lane."""
        places = self._places
        row = await places.store.delivery.inbox(inbox_id)
        if row is not None and row.state == "new":
            await places.router.run(row, load_said(row.body))
            places.outbox.wake(row.conversation)
        return False
