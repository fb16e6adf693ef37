"""The Sessions door: each method is one unit of work."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, case, update

from memory.conversation import Message, Reduction, Session, Turn
from memory.failpoint import afp
from memory.store import calls, clearing, ends, importing, listing, prefix, removal, system, traces, turns, usage, views
from memory.store.database import Database
from memory.store.engine import Tx
from memory.store.records import (
    CallRow,
    ConversationRow,
    Draft,
    FoldPlan,
    Line,
    Place,
    PlannedCall,
    Snapshot,
    TurnRow,
    Usage,
)
from memory.store.tables import conversation as conversations
from memory.store.trace_records import Trace

_CHOOSE = (
    update(conversations)
    .where(conversations.c.id == bindparam("row"))
    .values(
        policy=case((bindparam("set_policy"), bindparam("to_policy")), else_=conversations.c.policy),
        model=case((bindparam("set_model"), bindparam("to_model")), else_=conversations.c.model),
    )
)


class SqlSessions:
    """See memory.store.doors.Sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, conversation: str, turns: int = 0) -> Session:
        return await self._database.read(views.load, conversation, turns)

    async def find(self, channel: str, account: str, chat_id: str, thread_id: str = "") -> ConversationRow | None:
        place = {"channel": channel, "account": account, "chat_id": chat_id, "thread_id": thread_id}
        return await self._database.read(views.find, place)

    async def conversation(self, id: str) -> ConversationRow | None:
        return await self._database.read(views.read_one, id)

    async def conversations(self, channel: str = "", limit: int = 200) -> list[ConversationRow]:
        return await self._database.read(views.listed, channel, limit)

    async def page(self, cursor: str = "", limit: int = 200, *, own: bool = False) -> tuple[list[ConversationRow], str]:
        return await self._database.read(listing.page, cursor, limit, own)

    async def changed(self, since: float, limit: int = 200) -> list[ConversationRow]:
        return await self._database.read(listing.changed, since, limit)

    async def lines(self, conversation: str, before: int = 0, limit: int = 50, after: int = 0) -> list[Line]:
        return await self._database.read(views.lines, conversation, before, limit, after)

    async def messages(self, conversation: str, from_seq: int = 1, to_seq: int = 0, limit: int = 0) -> list[Message]:
        return await self._database.read(views.messages, conversation, from_seq, to_seq, limit)

    async def add_step(
        self, turn: TurnRow, message: Draft, calls: Sequence[PlannedCall], usage: Usage
    ) -> list[CallRow]:
        planned = await self._database.write(turns.add_step, turn, message, calls, usage)
        await afp("plan.committed")
        return planned

    async def start_calls(self, calls: Sequence[CallRow]) -> None:
        await self._database.write(turns.start_calls, calls)
        await afp("tool.started")

    async def end_calls(self, turn: TurnRow, results: Sequence[tuple[CallRow, str]], message: Draft) -> Message:
        told = await self._database.write(turns.end_calls, turn, results, message)
        await afp("tool.committed")
        return told

    async def calls(self, turn_id: str) -> list[CallRow]:
        return await self._database.read(calls.read_calls, turn_id)

    async def turn(self, id: str) -> TurnRow | None:
        return await self._database.read(turns.read_turn, id)

    async def reduce(self, conversation: str, reductions: Sequence[Reduction], reason: str) -> None:
        await self._database.write(prefix.reduce, conversation, reductions, reason)

    async def mark_prefix(self, conversation: str, sha256: str, reason: str) -> int:
        return await self._database.write(prefix.mark_prefix, conversation, sha256, reason)

    async def snapshot(self, conversation: str) -> Snapshot | None:
        return await self._database.read(system.read_snapshot, conversation)

    async def set_snapshot(self, conversation: str, snapshot: Snapshot, reason: str) -> int:
        return await self._database.write(system.set_snapshot, conversation, snapshot, reason)

    async def clear(self, conversation: str, log_only: FoldPlan | None = None, *, by: str = "") -> int:
        epoch = await self._database.write(clearing.clear, conversation, log_only, by)
        await afp("clear.committed")
        return epoch

    async def undo_clear(self, conversation: str, *, by: str = "") -> bool:
        return await self._database.write(clearing.undo_clear, conversation, by)

    async def choose(self, conversation: str, *, policy: str | None = None, model: str | None = None) -> None:
        await self._database.write(_choose, conversation, policy, model)

    async def ends(self, space: str) -> dict[str, int]:
        return await self._database.read(ends.ends, space)

    async def usage(self, since: datetime, conversation: str = "") -> list[Usage]:
        return await self._database.read(usage.sum_usage, since, conversation)

    async def spend(self, conversation: str, spent: Sequence[Usage]) -> None:
        await self._database.write(usage.add_usage, conversation, spent)

    async def factor(self, model: str) -> tuple[float, int, float]:
        return await self._database.read(usage.read_factor, model)

    async def set_factors(self, learned: Mapping[str, tuple[float, int, float]]) -> None:
        await self._database.write(usage.set_factors, learned)

    async def idle(self, before: datetime) -> list[str]:
        return await self._database.read(views.idle, before)

    async def bring_in(self, place: Place, turns: Sequence[Turn]) -> str:
        return await self._database.write(importing.bring_in, place, turns)

    async def delete(self, conversation: str) -> None:
        await self._database.write(removal.remove, conversation)

    async def trace(self, conversation: str, *, of: str = "", sender: str = "", below: int = 0) -> Trace | None:
        return await self._database.read(traces.trace, conversation, traces.Which(of=of, sender=sender, below=below))


async def _choose(tx: Tx, id: str, policy: str | None, model: str | None) -> None:
    await tx.run(
        _CHOOSE,
        row=id,
        set_policy=policy is not None,
        to_policy=policy,
        set_model=model is not None,
        to_model=model,
    )
