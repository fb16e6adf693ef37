"""Messages and tool calls of a conversation, and its counters.

Messages are only added, never changed.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import and_, bindparam, func, select, update

from memory.conversation import Document, Message, Text, ToolResult, dump_parts
from memory.ids import derive_key, new_id
from memory.store.engine.database import Row, Tx, insert_into, light, update_returning
from memory.store.errors import WrongState
from memory.store.rows import (
    CALL_TRANSITIONS,
    SEEN_ONLY,
    CallRow,
    CallState,
    NewMessage,
    PlannedCall,
    TurnRow,
    check_transition,
    column_values,
    columns_of,
    from_unix,
)
from memory.store.schema.tables import (
    conversation,
    inbox,
    is_lease_void,
    is_one_of,
    literal_text,
    message,
    tool_call,
    turn,
)

_ADD_TO_COUNTERS = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"))
    .values(
        next_seq=conversation.c.next_seq + bindparam("seqs"),
        next_turn=conversation.c.next_turn + bindparam("turns"),
        next_line=conversation.c.next_line + bindparam("lines"),
    )
)
_SELECT_CONVERSATION = select(conversation).where(conversation.c.id == bindparam("id"))
_TAKE_NUMBERS = update_returning(_ADD_TO_COUNTERS, conversation, select_after=_SELECT_CONVERSATION)
_TAKE_NUMBERS_AND_TOUCH = update_returning(
    _ADD_TO_COUNTERS.values(updated=bindparam("new_updated")),
    conversation,
    select_after=_SELECT_CONVERSATION,
)

# Messages of the turn `turn` of `conversation`, found by their seqs: a conversation of years is not
# read as a whole.
IS_OF_TURN = and_(
    message.c.conversation == bindparam("conversation"),
    message.c.turn == bindparam("turn"),
    message.c.seq
    >= select(turn.c.first_seq)
    .where(turn.c.conversation == bindparam("conversation"), turn.c.number == bindparam("turn"))
    .scalar_subquery(),
)

# A person's message has the id of its inbox row; a withdrawn one has no body.
_WRITERS = (
    select(inbox.c.id, inbox.c.sender_id, inbox.c.body)
    .join(message, message.c.id == inbox.c.id)
    .where(
        message.c.conversation == bindparam("conversation"),
        message.c.seq >= bindparam("first"),
        message.c.seq <= bindparam("last"),
        message.c.origin == literal_text("person"),
        inbox.c.body != literal_text(""),
    )
)


async def take_numbers(
    tx: Tx, id: str, *, seqs: int = 0, turns: int = 0, lines: int = 0, touched: bool = False
) -> Row:
    """Take so many seqs, turn numbers and lines; other transactions cannot change the conversation
    until the commit.

    Args:
        touched: whether a message came in or is queued now, which sets `updated`.

    Returns:
        The conversation's row, with the counters behind the taken numbers.

    Raises:
        LookupError: unknown conversation.
    """
    values = {"id": id, "seqs": seqs, "turns": turns, "lines": lines} | (
        {"new_updated": tx.now} if touched else {}
    )
    row = (
        await tx.execute(_TAKE_NUMBERS_AND_TOUCH if touched else _TAKE_NUMBERS, **values)
    ).first()
    if row is None:
        raise LookupError(f"there is no conversation {id}")
    return row


async def load_conversation_row(tx: Tx, id: str) -> Row:
    """Load the conversation's row with all its columns.

    Raises:
        LookupError: unknown conversation.
    """
    row = (await tx.execute(_SELECT_CONVERSATION, id=id)).first()
    if row is None:
        raise LookupError(f"there is no conversation {id}")
    return row


async def add_message(
    tx: Tx, turn_row: TurnRow, draft: NewMessage, taken: Row | None = None
) -> Message:
    """Store a message of a turn as the last of its conversation.

    Args:
        taken: the result of `take_numbers` where the caller has taken the message's seq already.
    """
    conversation_row = taken or await take_numbers(tx, turn_row.conversation, seqs=1)
    added = Message(
        id=draft.id or new_id(tx.now),
        seq=conversation_row["next_seq"] - 1,
        turn=turn_row.number,
        role=draft.role,
        parts=draft.parts,
        at=from_unix(tx.now),
        tokens=draft.tokens,
        counter=draft.counter,
        origin=draft.origin,
        tainted=draft.tainted,
        seen_only=draft.seen_only,
    )
    epoch, space = conversation_row["epoch"], conversation_row["space"]
    await insert_message(tx, turn_row, added, at=tx.now, epoch=epoch, space=space)
    return added


async def insert_message(
    tx: Tx, turn_row: TurnRow, added: Message, *, at: float, epoch: int, space: str
) -> None:
    """Insert the row of a message of a turn.

    Args:
        at: unix seconds; `added.at` has them rounded to microseconds.
    """
    taint = SEEN_ONLY if added.seen_only else int(added.tainted)
    columns = column_values(added, message) | {"parts": dump_parts(added.parts), "tainted": taint}
    await tx.execute(
        insert_into(message),
        **columns | {"at": at},
        conversation=turn_row.conversation,
        turn_id=turn_row.id,
        epoch=epoch,
        space=space,
        has_text=any(
            isinstance(part, Text | Document) and bool(part.text.strip()) for part in added.parts
        ),
    )
    tx.changed.add((space, turn_row.conversation))


_CLOSING_RESULTS = {
    "cancelled": "[cancelled: the turn ended before this was done]",
    "unknown": "[outcome unknown: the turn ended while this ran; it may or may not have happened]",
}
_CLOSING_TOKENS = 20  # of each such result, roughly
_COUNT_CALLS = select(func.count().label("count")).where(
    tool_call.c.turn_id == bindparam("turn_id")
)
_SELECT_CALLS = select(*columns_of(CallRow, tool_call))
_SELECT_CALLS_OF_TURN = _SELECT_CALLS.where(tool_call.c.turn_id == bindparam("turn_id")).order_by(
    tool_call.c.place
)
_SELECT_OPEN_CALLS = _SELECT_CALLS.where(
    tool_call.c.turn_id == bindparam("turn_id"),
    tool_call.c.result_id == literal_text(""),
    is_one_of(tool_call.c.state, "planned", "started", "unknown"),
).order_by(tool_call.c.place)
_START_CALL = (
    update(tool_call)
    .where(tool_call.c.id == bindparam("id"), tool_call.c.state == literal_text("planned"))
    .values(state=literal_text("started"), attempts=tool_call.c.attempts + 1)
)
_END_CALL = (
    update(tool_call)
    .where(tool_call.c.id == bindparam("id"), tool_call.c.result_id == literal_text(""))
    .values(state=bindparam("new_state"), result_id=bindparam("new_result_id"))
)
_SELECT_ORPHANED_CALLS = (
    select(tool_call.c.id, tool_call.c.effect)
    .join(turn, turn.c.id == tool_call.c.turn_id)
    .where(tool_call.c.state == literal_text("started"), is_lease_void(turn.c.lease_epoch))
)
_SELECT_STARTED_CALLS = select(tool_call.c.id, tool_call.c.effect).where(
    tool_call.c.turn_id == bindparam("turn_id"), tool_call.c.state == literal_text("started")
)
_SET_CALL_STATE = (
    update(tool_call).where(tool_call.c.id == bindparam("id")).values(state=bindparam("new_state"))
)
_COUNT_UNKNOWN = (
    select(func.count().label("count"))
    .join_from(tool_call, turn, turn.c.id == tool_call.c.turn_id)
    .where(
        is_one_of(turn.c.state, "running", "waiting"),
        tool_call.c.state == literal_text("unknown"),
        tool_call.c.result_id == literal_text(""),
    )
)


async def plan_calls(tx: Tx, turn_id: str, calls: Sequence[PlannedCall]) -> list[CallRow]:
    """Store the calls of one step as planned, in the model's order."""
    planned = [
        CallRow(
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
        for call in calls
    ]
    for place, call_row in enumerate(
        planned, (await tx.execute(_COUNT_CALLS, turn_id=turn_id)).count()
    ):
        await tx.execute(insert_into(tool_call), **column_values(call_row, tool_call), place=place)
    return planned


@light
async def load_calls(tx: Tx, turn_id: str) -> list[CallRow]:
    """Load all calls of a turn, in the order they were planned."""
    return [
        CallRow(**row) for row in (await tx.execute(_SELECT_CALLS_OF_TURN, turn_id=turn_id)).all()
    ]


async def load_open_calls(tx: Tx, turn_id: str) -> list[CallRow]:
    """Load the calls of a turn that have no result yet, in the order they were planned."""
    return [CallRow(**row) for row in (await tx.execute(_SELECT_OPEN_CALLS, turn_id=turn_id)).all()]


async def start_call(tx: Tx, id: str) -> bool:
    """Set a planned call to started; False when it is not planned."""
    return bool((await tx.execute(_START_CALL, id=id)).rowcount)


async def end_call(tx: Tx, call: CallRow, state: str, result_id: str) -> None:
    """Set a call to a final state.

    Args:
        call: as it is stored now.
        result_id: message that holds its result.

    Raises:
        WrongState: the call cannot go to that state, or has a result.
    """
    check_transition(f"call {call.call_id}", CALL_TRANSITIONS, call.state, state)
    if not (
        await tx.execute(_END_CALL, id=call.id, new_state=state, new_result_id=result_id)
    ).rowcount:
        raise WrongState(f"call {call.call_id} has its result already")


async def close_calls(tx: Tx, turn_row: TurnRow) -> None:
    """At the end of a turn: give each call without a result a final state and a result, all in one
    message.
    """
    open_calls = await load_open_calls(tx, turn_row.id)
    if not open_calls:
        return
    states = {call.id: _closing_state(call) for call in open_calls}
    results = tuple(
        ToolResult(call_id=call.call_id, text=_CLOSING_RESULTS[states[call.id]], is_error=True)
        for call in open_calls
    )
    tokens = _CLOSING_TOKENS * len(open_calls)
    draft = NewMessage(role="user", parts=results, tokens=tokens, counter="house", origin="house")
    added = await add_message(tx, turn_row, draft)
    for call in open_calls:
        await end_call(tx, call, states[call.id], added.id)


async def settle_orphaned_calls(tx: Tx) -> None:
    """Settle the started calls of processes that are gone: unsafe ones become unknown, the others
    planned again.
    """
    await _settle(tx, (await tx.execute(_SELECT_ORPHANED_CALLS)).all())


async def settle_calls(tx: Tx, turn_id: str) -> None:
    """Settle the started calls of a turn that is taken over: unsafe ones become unknown, the others
    planned again.
    """
    await _settle(tx, (await tx.execute(_SELECT_STARTED_CALLS, turn_id=turn_id)).all())


async def _settle(tx: Tx, started: Sequence[Row]) -> None:
    for row in started:
        await tx.execute(
            _SET_CALL_STATE,
            id=row["id"],
            new_state="unknown" if row["effect"] == "unsafe" else "planned",
        )


async def count_unknown(tx: Tx) -> int:
    """Count the calls of open turns whose outcome is unknown and that have no result yet."""
    return (await tx.execute(_COUNT_UNKNOWN)).count()


def _closing_state(call: CallRow) -> CallState:
    may_have_run = call.state == "started" and call.effect != "pure"
    return "unknown" if call.state == "unknown" or may_have_run else "cancelled"


def sender_name(body: str) -> str:
    """The display name of the sender in a stored body; "" if it has none."""
    fields = json.loads(body)
    return str(fields.get("name") or "") if isinstance(fields, dict) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who wrote a message, as its platform has it."""

    id: str
    name: str


async def load_writers(tx: Tx, conversation: str, first: int, last: int) -> dict[str, Writer]:
    """Load who wrote the messages from seq `first` to seq `last`, by the message's id."""
    rows = (await tx.execute(_WRITERS, conversation=conversation, first=first, last=last)).all()
    return {row["id"]: Writer(id=row["sender_id"], name=sender_name(row["body"])) for row in rows}
