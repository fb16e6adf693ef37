"""A part that is marked in the record at the moment it leaves, and not while it waits to."""

import asyncio

from channels.leaving import Withdrawn
from memory.failpoint import afp
from memory.store.doors import Delivery


class Departure:
    """One part on its way out, marked in the record when it leaves. over: the send is, nothing leaves any more."""

    def __init__(self, delivery: Delivery, id: str) -> None:
        self._delivery = delivery
        self._id = id
        self.waits = True
        self.withdrawn = False
        self.over = False
        self._marking = asyncio.Lock()

    async def leave(self) -> None:
        """Raises Withdrawn: it is not pending any more."""
        async with self._marking:
            if self.over or not self.waits:
                return
            if self.withdrawn or await self._delivery.sending(self._id) is None:
                self.withdrawn = True
                raise Withdrawn("it was dropped before it left")
            self.waits = False
            await afp("outbox.mid_send")
