"""Messages are added here, and nowhere changed: the originals that folds and reductions stand in for."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, func, insert, or_, select, update

from memory.conversation import Document, Message, Part, Text, ToolResult, dump_parts
from memory.ids import key_of, new_id
from memory.store.engine.database import Row, Tx, told
from memory.store.errors import WrongState
from memory.store.rows import CallRow, CallState, Draft, PlannedCall, TurnRow, call_row, columns_of, moment
from memory.store.schema.columns import word
from memory.store.schema.tables import conversation, message, tool_call, turn, void

# The conversation's own counters: the places of its messages, turns and transcript lines, given out once each.

_TAKE = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"))
    .values(
        next_seq=conversation.c.next_seq + bindparam("seqs"),
        next_turn=conversation.c.next_turn + bindparam("turns"),
        next_line=conversation.c.next_line + bindparam("lines"),
    )
)
_READ = select(conversation).where(conversation.c.id == bindparam("row"))
_TAKEN = told(_TAKE, conversation, look=_READ)
_TAKEN_NOW = told(_TAKE.values(updated=bindparam("now")), conversation, look=_READ)


async def take(tx: Tx, id: str, *, seqs: int = 0, turns: int = 0, lines: int = 0, touched: bool = False) -> Row:
    """Take numbers; returns the conversation's row with the counters past what was taken, held until the commit.

    touched: something went in or out here now.

    Raises:
        LookupError: there is no such conversation.
    """
    values = {"row": id, "seqs": seqs, "turns": turns, "lines": lines} | ({"now": tx.now} if touched else {})
    row = await tx.told(_TAKEN_NOW if touched else _TAKEN, **values)
    if row is None:
        raise LookupError(f"there is no conversation {id}")
    return row


async def read_conversation(tx: Tx, id: str) -> Row:
    """The conversation's bare row.

    Raises:
        LookupError: there is no such conversation.
    """
    row = await tx.one(_READ, row=id)
    if row is None:
        raise LookupError(f"there is no conversation {id}")
    return row


_INSERT_MESSAGE = insert(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a message belongs: its conversation, and its turn by id and number."""

    conversation: str
    turn_id: str
    number: int


async def add_message(tx: Tx, spot: Spot, draft: Draft, taken: Row | None = None) -> Message:
    """Store a message behind all others of its conversation; the draft's id is kept where it has one.

    taken: the conversation's row, where its number has been taken already.
    """
    home = taken or await take(tx, spot.conversation, seqs=1)
    added = Message(
        id=draft.id or new_id(tx.now),
        seq=home["next_seq"] - 1,
        turn=spot.number,
        role=draft.role,
        parts=draft.parts,
        at=moment(tx.now),
        tokens=draft.tokens,
        counter=draft.counter,
        origin=draft.origin,
        tainted=draft.tainted,
    )
    await tx.run(
        _INSERT_MESSAGE,
        id=added.id,
        conversation=spot.conversation,
        epoch=home["epoch"],
        seq=added.seq,
        turn=added.turn,
        turn_id=spot.turn_id,
        role=added.role,
        parts=dump_parts(added.parts),
        origin=added.origin,
        space=home["space"],
        has_text=any(_words(part) for part in added.parts),
        tokens=added.tokens,
        counter=added.counter,
        at=tx.now,
        tainted=int(added.tainted),
    )
    return added


def _words(part: Part) -> bool:
    return isinstance(part, Text | Document) and bool(part.text.strip())


# Tool calls and their states: planned, started before the effect, ended with exactly one result.

DRAWN: dict[str, tuple[str, ...]] = {
    "planned": ("denied", "cancelled"),
    "started": ("done", "failed", "denied", "cancelled", "unknown"),
    "unknown": ("unknown",),
}
_HOUSE = {
    "cancelled": "[cancelled: the turn ended before this was done]",
    "unknown": "[outcome unknown: the turn ended while this ran; it may or may not have happened]",
}
_PLACES = select(func.count().label("taken")).where(tool_call.c.turn_id == bindparam("row"))
_INSERT_CALL = insert(tool_call)
_CALLS = select(*columns_of(CallRow, tool_call))
_OF_TURN = _CALLS.where(tool_call.c.turn_id == bindparam("row")).order_by(tool_call.c.place)
_OPEN = _CALLS.where(
    tool_call.c.turn_id == bindparam("row"),
    tool_call.c.result_id == word(""),
    or_(
        tool_call.c.state == word("planned"), tool_call.c.state == word("started"), tool_call.c.state == word("unknown")
    ),
).order_by(tool_call.c.place)
_START = (
    update(tool_call)
    .where(tool_call.c.id == bindparam("row"), tool_call.c.state == word("planned"))
    .values(state=word("started"), attempts=tool_call.c.attempts + 1)
)
_END = (
    update(tool_call)
    .where(tool_call.c.id == bindparam("row"), tool_call.c.result_id == word(""))
    .values(state=bindparam("became"), result_id=bindparam("result"))
)
_VOID = (
    select(tool_call.c.id, tool_call.c.effect)
    .join(turn, turn.c.id == tool_call.c.turn_id)
    .where(tool_call.c.state == word("started"), void(turn.c.lease_epoch))
)
_STARTED = select(tool_call.c.id, tool_call.c.effect).where(
    tool_call.c.turn_id == bindparam("row"), tool_call.c.state == word("started")
)
_TO_STATE = update(tool_call).where(tool_call.c.id == bindparam("row")).values(state=bindparam("became"))
_UNKNOWN = (
    select(func.count().label("found"))
    .join_from(tool_call, turn, turn.c.id == tool_call.c.turn_id)
    .where(
        or_(turn.c.state == word("running"), turn.c.state == word("waiting")),
        tool_call.c.state == word("unknown"),
        tool_call.c.result_id == word(""),
    )
)


async def plan_calls(tx: Tx, turn_id: str, calls: Sequence[PlannedCall]) -> list[CallRow]:
    """Rows for the calls of one step, in the model's order."""
    row = await tx.one(_PLACES, row=turn_id)
    first = row["taken"] if row else 0
    planned = [_planned(tx, turn_id, call) for call in calls]
    for place, call in enumerate(planned, first):
        await tx.run(
            _INSERT_CALL,
            id=call.id,
            turn_id=turn_id,
            place=place,
            call_id=call.call_id,
            name=call.name,
            input=call.input,
            effect=call.effect,
            idem_key=call.idem_key,
            state=call.state,
        )
    return planned


async def read_calls(tx: Tx, turn_id: str) -> list[CallRow]:
    """All calls of a turn, in the order they were planned."""
    return [call_row(row) for row in await tx.all(_OF_TURN, row=turn_id)]


async def open_calls(tx: Tx, turn_id: str) -> list[CallRow]:
    """The calls that have no result yet, in the model's order."""
    return [call_row(row) for row in await tx.all(_OPEN, row=turn_id)]


async def start_call(tx: Tx, id: str) -> bool:
    """planned -> started; False when it is not planned."""
    return bool(await tx.run(_START, row=id))


async def end_call(tx: Tx, call: CallRow, state: str, result_id: str) -> None:
    """One step to a final state. call: as the record has it now.

    Raises:
        WrongState: that step is not drawn, or the call has its result.
    """
    if state not in DRAWN.get(call.state, ()):
        raise WrongState(f"call {call.call_id} does not go from {call.state} to {state}")
    if not await tx.run(_END, row=call.id, became=state, result=result_id):
        raise WrongState(f"call {call.call_id} has its result already")


async def close_calls(tx: Tx, row: TurnRow) -> None:
    """The turn ends: each call without a result gets its final state and one, all in one message."""
    left = await open_calls(tx, row.id)
    if not left:
        return
    states = {call.id: _closed(call) for call in left}
    results: tuple[Part, ...] = tuple(
        ToolResult(call_id=call.call_id, text=_HOUSE[states[call.id]], is_error=True) for call in left
    )
    draft = Draft(role="user", parts=results, tokens=20 * len(left), counter="house", origin="house")
    told = await add_message(tx, Spot(conversation=row.conversation, turn_id=row.id, number=row.number), draft)
    for call in left:
        await end_call(tx, call, states[call.id], told.id)


async def settle_void_calls(tx: Tx) -> None:
    """Calls that an earlier life had started: those that may run again are planned anew, the others unknown."""
    await _settle(tx, await tx.all(_VOID))


async def settle_calls(tx: Tx, turn_id: str) -> None:
    """The same for one turn whose holder goes on with it no more."""
    await _settle(tx, await tx.all(_STARTED, row=turn_id))


async def _settle(tx: Tx, started: Sequence[Row]) -> None:
    for row in started:
        await tx.run(_TO_STATE, row=row["id"], became="unknown" if row["effect"] == "unsafe" else "planned")


async def count_unknown(tx: Tx) -> int:
    """Calls of open turns whose outcome nobody knows and that have no result yet."""
    row = await tx.one(_UNKNOWN)
    return int(row["found"]) if row else 0


def _planned(tx: Tx, turn_id: str, call: PlannedCall) -> CallRow:
    return CallRow(
        id=new_id(tx.now),
        turn_id=turn_id,
        call_id=call.call_id,
        name=call.name,
        input=call.input,
        effect=call.effect,
        idem_key=key_of(turn_id, call.call_id),
        state="planned",
        attempts=0,
    )


def _closed(call: CallRow) -> CallState:
    begun = call.state == "started" and call.effect != "pure"
    return "unknown" if call.state == "unknown" or begun else "cancelled"
