"""The Delivery door: each method is one unit of work."""

from collections.abc import Sequence

from memory.failpoint import afp
from memory.store import acts, deaths, inbox, outbox, recovery, turns
from memory.store.database import Database
from memory.store.records import (
    Arrival,
    Draft,
    Fate,
    InboxRow,
    Keep,
    OutboxRow,
    Outgoing,
    Recovered,
    Stored,
    TurnRow,
    TurnState,
    Usage,
)


class SqlDelivery:
    """See memory.store.doors.Delivery."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(self, arrivals: Sequence[Arrival], keep: Keep | None = None) -> list[Stored]:
        stored = await self._database.write(inbox.accept, arrivals, keep)
        await afp("recv.committed")
        return stored

    async def waiting(self) -> list[str]:
        return await self._database.read(inbox.waiting)

    async def next_in(self, conversation: str, now: float) -> InboxRow | None:
        return await self._database.read(inbox.next_in, conversation, now)

    async def inbox(self, id: str) -> InboxRow | None:
        return await self._database.read(inbox.read_inbox, id)

    async def companions(self, row: InboxRow) -> list[InboxRow]:
        return await self._database.read(acts.companions, row)

    async def claim(
        self,
        inbox_id: str,
        user: Draft,
        actor: str,
        also: Sequence[InboxRow] = (),
        *,
        body: str = "",
        who: str = "",
    ) -> TurnRow:
        claiming = turns.Claiming(user=user, actor=actor, body=body, also=tuple(also), who=who)
        claimed = await self._database.write(turns.claim, inbox_id, claiming)
        await afp("claim.committed")
        return claimed

    async def take_over(self, turn_id: str) -> TurnRow | None:
        return await self._database.write(turns.take_over, turn_id)

    async def mark_opened(self, inbox_id: str) -> None:
        await self._database.write(deaths.mark_opened, inbox_id)

    async def deaths_of_others(self, inbox_id: str, since: float) -> int:
        return await self._database.read(deaths.deaths_of_others, inbox_id, since)

    async def begin(self, inbox_id: str) -> bool:
        return await self._database.write(inbox.begin, inbox_id)

    async def settle(self, inbox_id: str, out: Sequence[Outgoing], *, dead: bool = False) -> None:
        await self._database.write(turns.settle, inbox_id, out, dead=dead)

    async def finish(
        self,
        turn: TurnRow,
        state: TurnState,
        final: Draft | None,
        out: Sequence[Outgoing],
        usage: Sequence[Usage] = (),
        *,
        remember: bool = False,
    ) -> bool:
        ending = turns.Ending(state=state, final=final, out=out, usage=usage, remember=remember)
        finished = await self._database.write(turns.finish, turn, ending)
        await afp("finish.committed")
        if remember:
            await afp("extract.queued")
        return finished

    async def notify(self, conversation: str, source: str, out: Sequence[Outgoing]) -> None:
        await self._database.write(outbox.notify, conversation, source, out)

    async def unsent(self) -> list[str]:
        return await self._database.read(outbox.unsent)

    async def move(self, arrival: Arrival) -> None:
        await self._database.write(acts.move, arrival)

    async def owes(self, conversation: str) -> bool:
        return await self._database.read(outbox.owes, conversation)

    async def next_out(self, conversation: str) -> OutboxRow | None:
        return await self._database.read(outbox.next_out, conversation)

    async def sending(self, id: str) -> OutboxRow | None:
        row = await self._database.write(outbox.sending, id)
        await afp("outbox.claimed")
        return row

    async def stayed(self, id: str, fate: Fate) -> OutboxRow | None:
        return await self._database.write(outbox.stayed, id, fate)

    async def sent(self, id: str, fate: Fate) -> OutboxRow:
        row = await self._database.write(outbox.sent, id, fate)
        await afp("outbox.marked")
        return row

    async def recover(self, now: float, *, alone: bool = True) -> Recovered:
        return await recovery.recover(self._database, now, alone=alone)
