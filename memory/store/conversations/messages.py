"""Messages are added here, and nowhere changed: the originals that folds and reductions stand in for."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, func, insert, or_, select, update

from memory.conversation import Document, Message, Part, Text, ToolResult, dump_parts
from memory.ids import derive_key, new_id
from memory.store.engine.database import Row, Tx, update_returning
from memory.store.errors import WrongState
from memory.store.rows import CallRow, CallState, NewMessage, PlannedCall, TurnRow, columns_of, from_unix, to_call_row
from memory.store.schema.columns import literal_text
from memory.store.schema.tables import conversation, is_lease_void, message, tool_call, turn

# The conversation's own counters: the places of its messages, turns and transcript lines, given out once each.

_ADD_TO_COUNTERS = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"))
    .values(
        next_seq=conversation.c.next_seq + bindparam("seqs"),
        next_turn=conversation.c.next_turn + bindparam("turns"),
        next_line=conversation.c.next_line + bindparam("lines"),
    )
)
_SELECT_CONVERSATION = select(conversation).where(conversation.c.id == bindparam("row"))
_TAKE_NUMBERS = update_returning(_ADD_TO_COUNTERS, conversation, select_after=_SELECT_CONVERSATION)
_TAKE_NUMBERS_AND_TOUCH = update_returning(
    _ADD_TO_COUNTERS.values(updated=bindparam("now")), conversation, select_after=_SELECT_CONVERSATION
)


async def take_numbers(tx: Tx, id: str, *, seqs: int = 0, turns: int = 0, lines: int = 0, touched: bool = False) -> Row:
    """Take numbers; returns the conversation's row with the counters past what was taken, held until the commit.

    touched: something went in or out here now.

    Raises:
        LookupError: there is no such conversation.
    """
    values = {"row": id, "seqs": seqs, "turns": turns, "lines": lines} | ({"now": tx.now} if touched else {})
    row = await tx.told(_TAKE_NUMBERS_AND_TOUCH if touched else _TAKE_NUMBERS, **values)
    if row is None:
        raise LookupError(f"there is no conversation {id}")
    return row


async def load_conversation_row(tx: Tx, id: str) -> Row:
    """The conversation's bare row.

    Raises:
        LookupError: there is no such conversation.
    """
    row = await tx.one(_SELECT_CONVERSATION, row=id)
    if row is None:
        raise LookupError(f"there is no conversation {id}")
    return row


_INSERT_MESSAGE = insert(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRef:
    """Where a message belongs: its conversation, and its turn by id and number."""

    conversation: str
    turn_id: str
    number: int


async def add_message(tx: Tx, spot: TurnRef, draft: NewMessage, taken: Row | None = None) -> Message:
    """Store a message behind all others of its conversation; the draft's id is kept where it has one.

    taken: the conversation's row, where its number has been taken already.
    """
    conversation_row = taken or await take_numbers(tx, spot.conversation, seqs=1)
    added = Message(
        id=draft.id or new_id(tx.now),
        seq=conversation_row["next_seq"] - 1,
        turn=spot.number,
        role=draft.role,
        parts=draft.parts,
        at=from_unix(tx.now),
        tokens=draft.tokens,
        counter=draft.counter,
        origin=draft.origin,
        tainted=draft.tainted,
    )
    await tx.run(
        _INSERT_MESSAGE,
        id=added.id,
        conversation=spot.conversation,
        epoch=conversation_row["epoch"],
        seq=added.seq,
        turn=added.turn,
        turn_id=spot.turn_id,
        role=added.role,
        parts=dump_parts(added.parts),
        origin=added.origin,
        space=conversation_row["space"],
        has_text=any(_has_text(part) for part in added.parts),
        tokens=added.tokens,
        counter=added.counter,
        at=tx.now,
        tainted=int(added.tainted),
    )
    return added


def _has_text(part: Part) -> bool:
    return isinstance(part, Text | Document) and bool(part.text.strip())


# Tool calls and their states: planned, started before the effect, ended with exactly one result.

TRANSITIONS: dict[str, tuple[str, ...]] = {
    "planned": ("denied", "cancelled"),
    "started": ("done", "failed", "denied", "cancelled", "unknown"),
    "unknown": ("unknown",),
}
_CLOSING_RESULTS = {
    "cancelled": "[cancelled: the turn ended before this was done]",
    "unknown": "[outcome unknown: the turn ended while this ran; it may or may not have happened]",
}
_COUNT_CALLS = select(func.count().label("taken")).where(tool_call.c.turn_id == bindparam("row"))
_INSERT_CALL = insert(tool_call)
_SELECT_CALLS = select(*columns_of(CallRow, tool_call))
_SELECT_CALLS_OF_TURN = _SELECT_CALLS.where(tool_call.c.turn_id == bindparam("row")).order_by(tool_call.c.place)
_SELECT_OPEN_CALLS = _SELECT_CALLS.where(
    tool_call.c.turn_id == bindparam("row"),
    tool_call.c.result_id == literal_text(""),
    or_(
        tool_call.c.state == literal_text("planned"),
        tool_call.c.state == literal_text("started"),
        tool_call.c.state == literal_text("unknown"),
    ),
).order_by(tool_call.c.place)
_START_CALL = (
    update(tool_call)
    .where(tool_call.c.id == bindparam("row"), tool_call.c.state == literal_text("planned"))
    .values(state=literal_text("started"), attempts=tool_call.c.attempts + 1)
)
_END_CALL = (
    update(tool_call)
    .where(tool_call.c.id == bindparam("row"), tool_call.c.result_id == literal_text(""))
    .values(state=bindparam("became"), result_id=bindparam("result"))
)
_SELECT_ORPHANED_CALLS = (
    select(tool_call.c.id, tool_call.c.effect)
    .join(turn, turn.c.id == tool_call.c.turn_id)
    .where(tool_call.c.state == literal_text("started"), is_lease_void(turn.c.lease_epoch))
)
_SELECT_STARTED_CALLS = select(tool_call.c.id, tool_call.c.effect).where(
    tool_call.c.turn_id == bindparam("row"), tool_call.c.state == literal_text("started")
)
_SET_CALL_STATE = update(tool_call).where(tool_call.c.id == bindparam("row")).values(state=bindparam("became"))
_COUNT_UNKNOWN = (
    select(func.count().label("found"))
    .join_from(tool_call, turn, turn.c.id == tool_call.c.turn_id)
    .where(
        or_(turn.c.state == literal_text("running"), turn.c.state == literal_text("waiting")),
        tool_call.c.state == literal_text("unknown"),
        tool_call.c.result_id == literal_text(""),
    )
)


async def plan_calls(tx: Tx, turn_id: str, calls: Sequence[PlannedCall]) -> list[CallRow]:
    """Rows for the calls of one step, in the model's order."""
    row = await tx.one(_COUNT_CALLS, row=turn_id)
    first = row["taken"] if row else 0
    planned = [_planned_call(tx, turn_id, call) for call in calls]
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


async def load_calls(tx: Tx, turn_id: str) -> list[CallRow]:
    """All calls of a turn, in the order they were planned."""
    return [to_call_row(row) for row in await tx.all(_SELECT_CALLS_OF_TURN, row=turn_id)]


async def load_open_calls(tx: Tx, turn_id: str) -> list[CallRow]:
    """The calls that have no result yet, in the model's order."""
    return [to_call_row(row) for row in await tx.all(_SELECT_OPEN_CALLS, row=turn_id)]


async def start_call(tx: Tx, id: str) -> bool:
    """planned -> started; False when it is not planned."""
    return bool(await tx.run(_START_CALL, row=id))


async def end_call(tx: Tx, call: CallRow, state: str, result_id: str) -> None:
    """One step to a final state. call: as the store has it now.

    Raises:
        WrongState: that step is not drawn, or the call has its result.
    """
    if state not in TRANSITIONS.get(call.state, ()):
        raise WrongState(f"call {call.call_id} does not go from {call.state} to {state}")
    if not await tx.run(_END_CALL, row=call.id, became=state, result=result_id):
        raise WrongState(f"call {call.call_id} has its result already")


async def close_calls(tx: Tx, row: TurnRow) -> None:
    """The turn ends: each call without a result gets its final state and one, all in one message."""
    left = await load_open_calls(tx, row.id)
    if not left:
        return
    states = {call.id: _closing_state(call) for call in left}
    results: tuple[Part, ...] = tuple(
        ToolResult(call_id=call.call_id, text=_CLOSING_RESULTS[states[call.id]], is_error=True) for call in left
    )
    draft = NewMessage(role="user", parts=results, tokens=20 * len(left), counter="house", origin="house")
    told = await add_message(tx, TurnRef(conversation=row.conversation, turn_id=row.id, number=row.number), draft)
    for call in left:
        await end_call(tx, call, states[call.id], told.id)


async def settle_orphaned_calls(tx: Tx) -> None:
    """Calls that an earlier life had started: those that may run again are planned again, the others unknown."""
    await _settle(tx, await tx.all(_SELECT_ORPHANED_CALLS))


async def settle_calls(tx: Tx, turn_id: str) -> None:
    """The same for one turn whose holder goes on with it no more."""
    await _settle(tx, await tx.all(_SELECT_STARTED_CALLS, row=turn_id))


async def _settle(tx: Tx, started: Sequence[Row]) -> None:
    for row in started:
        await tx.run(_SET_CALL_STATE, row=row["id"], became="unknown" if row["effect"] == "unsafe" else "planned")


async def count_unknown(tx: Tx) -> int:
    """Calls of open turns whose outcome nobody knows and that have no result yet."""
    row = await tx.one(_COUNT_UNKNOWN)
    return int(row["found"]) if row else 0


def _planned_call(tx: Tx, turn_id: str, call: PlannedCall) -> CallRow:
    return CallRow(
        id=new_id(tx.now),
        turn_id=turn_id,
        call_id=call.call_id,
        name=call.name,
        input=call.input,
        effect=call.effect,
        idem_key=derive_key(turn_id, call.call_id),
        state="planned",
        attempts=0,
    )


def _closing_state(call: CallRow) -> CallState:
    begun = call.state == "started" and call.effect != "pure"
    return "unknown" if call.state == "unknown" or begun else "cancelled"
