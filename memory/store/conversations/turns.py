"""Turns of work, from T2 to T6."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, ScalarSelect, Text, bindparam, func, insert, select, update

from memory.conversation import Message
from memory.failpoints import afp
from memory.ids import new_id
from memory.store.audit import note
from memory.store.conversations.inbox import take_context_rows as take_along
from memory.store.conversations.messages import (
    Spot,
    add_message,
    close_calls,
    end_call,
    open_calls,
    plan_calls,
    read_conversation,
    settle_calls,
    start_call,
    take,
)
from memory.store.conversations.outbox import add_parts
from memory.store.conversations.usage import add_usage
from memory.store.engine.database import Lane, Row, Tx, glance, told
from memory.store.errors import Fenced, Rewritten, WrongState
from memory.store.rows import (
    CallRow,
    Draft,
    InboxRow,
    Outgoing,
    PlannedCall,
    TurnRow,
    TurnState,
    Usage,
    columns_of,
    home_of,
    turn_row,
)
from memory.store.schema.columns import among, word
from memory.store.schema.memory_tables import extraction
from memory.store.schema.tables import conversation, inbox, turn, void
from memory.store.schema.tables import inbox as inbox_table

# What a process had at work when it died, and what that says of each message.
#
# A row that is at work carries the lease of its process: an inbox row from when it is opened or claimed, and its turn.
# A row that waits for its lane carries none, so the death of the process says nothing about it.

NOBODY = 0
"""The lease of a row that no process works on."""


def _open_row() -> ColumnElement[bool]:
    return among(inbox_table.c.state, "new", "running")


def _open_turn() -> ColumnElement[bool]:
    return among(turn.c.state, "running", "waiting")


_AT_WORK = (
    select(inbox_table.c.lease_epoch.label("holder"), func.count().label("rows"))
    .where(_open_row(), inbox_table.c.lease_epoch != NOBODY, void(inbox_table.c.lease_epoch))
    .group_by(inbox_table.c.lease_epoch)
)
_COUNT_ROWS = (
    update(inbox_table)
    .where(_open_row(), inbox_table.c.lease_epoch == bindparam("holder"))
    .values(
        attempts=inbox_table.c.attempts + 1,
        deaths_alone=inbox_table.c.deaths_alone + bindparam("more"),
        lease_epoch=NOBODY,
    )
)
_COUNT_TURNS = (
    update(turn)
    .where(_open_turn(), turn.c.lease_epoch != NOBODY, void(turn.c.lease_epoch))
    .values(attempts=turn.c.attempts + 1, lease_epoch=NOBODY)
)
_PUT_DOWN_ROWS = (
    update(inbox_table).where(_open_row(), inbox_table.c.lease_epoch == bindparam("mine")).values(lease_epoch=NOBODY)
)
_PUT_DOWN_TURNS = update(turn).where(_open_turn(), turn.c.lease_epoch == bindparam("mine")).values(lease_epoch=NOBODY)
_OPENED = (
    update(inbox_table)
    .where(inbox_table.c.id == bindparam("row"), inbox_table.c.state == word("new"))
    .values(lease_epoch=bindparam("mine"))
)
_OF_OTHERS = select(func.coalesce(func.sum(inbox_table.c.deaths_alone), 0).label("deaths")).where(
    inbox_table.c.id != bindparam("row"),
    inbox_table.c.deaths_alone > 0,
    inbox_table.c.state != word("dead"),
    inbox_table.c.received >= bindparam("since"),
)


async def count_deaths(tx: Tx) -> None:
    """Count the death of each process that is gone, once, against what it had at work; nobody holds that any more.

    One row at work at a death died alone; of several, nobody knows which one it was.
    """
    for dead in await tx.all(_AT_WORK):
        await tx.run(_COUNT_ROWS, holder=dead["holder"], more=int(dead["rows"] == 1))
    await tx.run(_COUNT_TURNS)


async def put_down(tx: Tx) -> None:
    """A clean end: what we have at work waits for the next process, and nothing has died of it."""
    await tx.run(_PUT_DOWN_ROWS, mine=tx.lease)
    await tx.run(_PUT_DOWN_TURNS, mine=tx.lease)


async def mark_opened(tx: Tx, id: str) -> None:
    """A row that is still new is at work from now on; a row that is not any more is left alone."""
    await tx.run(_OPENED, row=id, mine=tx.lease)


async def deaths_of_others(tx: Tx, id: str, since: float) -> int:
    """Deaths at which another message that came in since was alone at work; those of messages given up are explained.

    Looks at every row of the inbox: only for a message that is about to be given up.
    """
    [row] = await tx.all(_OF_OTHERS, row=id, since=since)
    return int(row["deaths"])


_SELECT_SPACE = select(conversation.c.space).where(conversation.c.id == bindparam("row"))


_INSERT_EXTRACTION = insert(extraction)


async def queue_extraction(tx: Tx, turn: TurnRow) -> None:
    """A finished turn is to be read for facts; it waits under its account's own space, whatever that has joined."""
    row = await tx.one(_SELECT_SPACE, row=turn.conversation)
    await tx.run(
        _INSERT_EXTRACTION,
        turn_id=turn.id,
        space=row["space"] if row else "",
        conversation=turn.conversation,
        turn=turn.number,
        state="queued",
        at=tx.now,
    )
    tx.ring(Lane(kind="facts", id=await home_of(tx, row["space"] if row else "")))


_INBOX = select(inbox.c.conversation, inbox.c.state, inbox.c.trace_id, inbox.c.body, inbox.c.received).where(
    inbox.c.id == bindparam("row")
)
_CLAIM = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), inbox.c.state == word("new"))
    .values(state=word("running"), turn_id=bindparam("by"), lease_epoch=bindparam("mine"))
)
_SETTLE = (
    update(inbox).where(inbox.c.id == bindparam("row"), inbox.c.state == word("new")).values(state=bindparam("became"))
)
_END_INBOX = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), inbox.c.state == word("running"))
    .values(state=bindparam("became"))
)
_ADD = insert(turn)
_TURN = select(*columns_of(TurnRow, turn))
_ONE = _TURN.where(turn.c.id == bindparam("row"))
OPEN_TURNS = _TURN.where(among(turn.c.state, "running", "waiting"))
_OPEN_HERE = OPEN_TURNS.where(turn.c.conversation == bindparam("row"))
_STEP = (
    update(turn)
    .where(
        turn.c.id == bindparam("row"),
        turn.c.state == bindparam("was"),
        turn.c.lease_epoch == bindparam("holder"),
        turn.c.epoch == bindparam("under"),
    )
    .values(state=bindparam("became"), step=turn.c.step + bindparam("more"))
)
_END = (
    update(turn)
    .where(
        turn.c.id == bindparam("row"),
        among(turn.c.state, "running", "waiting"),
        turn.c.lease_epoch == bindparam("holder"),
    )
    .values(state=bindparam("became"), ended=bindparam("now"))
)
_ENDED = told(_END, turn.c.who, turn.c.step, look=select(turn.c.who, turn.c.step).where(turn.c.id == bindparam("row")))
_CANCEL = (
    update(turn)
    .where(turn.c.id == bindparam("row"), among(turn.c.state, "running", "waiting"))
    .values(state=word("cancelled"), ended=bindparam("now"))
)
_HOLDER = select(turn.c.lease_epoch, turn.c.inbox_id, void(turn.c.lease_epoch).label("gone")).where(
    turn.c.id == bindparam("row"), among(turn.c.state, "running", "waiting")
)
_TAKE_OVER = update(turn).where(turn.c.id == bindparam("row")).values(lease_epoch=bindparam("mine"))
_TAKE_INBOX = update(inbox).where(inbox.c.id == bindparam("row")).values(lease_epoch=bindparam("mine"))


def running_of(conversation: ColumnElement[str]) -> ScalarSelect[int | None]:
    """The number of a conversation's open turn, NULL when none is open."""
    return (
        select(func.max(turn.c.number))
        .where(turn.c.conversation == conversation, among(turn.c.state, "running", "waiting"))
        .scalar_subquery()
    )


_RUNNING = select(running_of(bindparam("row", type_=Text())).label("number"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """All that T6 stores of a turn. remember: it is to be read for lasting facts."""

    state: TurnState
    final: Draft | None
    out: Sequence[Outgoing]
    usage: Sequence[Usage]
    remember: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claiming:
    """What T2 is given. body: of the row, as it was read; also: rows that end with it, in order of their lines.

    who: whose budget the turn counts to.
    """

    user: Draft
    actor: str
    who: str = ""
    body: str = ""
    also: tuple[InboxRow, ...] = ()


async def claim(tx: Tx, inbox_id: str, claiming: Claiming) -> TurnRow:
    """T2; a second open turn of the conversation is refused by the table itself."""
    row = await tx.one(_INBOX, row=inbox_id)
    if row is None or row["state"] != "new":
        raise WrongState(f"inbox row {inbox_id} is {row['state'] if row else 'missing'}, not new")
    if claiming.body and row["body"] != claiming.body:
        raise Rewritten(f"inbox row {inbox_id} was edited")
    home = await take(tx, row["conversation"], turns=1, seqs=1)
    made = await _begin(tx, inbox_id, row, claiming, home)
    await tx.run(_CLAIM, row=inbox_id, by=made.id, mine=tx.lease)
    await take_along(tx, claiming.also, made.id)
    await add_message(tx, _spot(made), replace(claiming.user, id=inbox_id), home)
    await afp("claim.in_txn")
    return made


async def settle(tx: Tx, inbox_id: str, out: Sequence[Outgoing], *, dead: bool = False) -> None:
    row = await tx.one(_INBOX, row=inbox_id)
    if row is None or not await tx.run(_SETTLE, row=inbox_id, became="dead" if dead else "done"):
        raise WrongState(f"inbox row {inbox_id} is {row['state'] if row else 'missing'}, not new")
    await add_parts(tx, row["conversation"], answer_to(inbox_id), out, inbox_id)


@glance
async def read_turn(tx: Tx, id: str) -> TurnRow | None:
    """One turn, None for an unknown id."""
    row = await tx.one(_ONE, row=id)
    return turn_row(row) if row else None


async def take_over(tx: Tx, id: str) -> TurnRow | None:
    """See Delivery.take_over."""
    holder = await tx.one(_HOLDER, row=id)
    if holder is not None and holder["lease_epoch"] != tx.lease:
        if holder["gone"]:
            await count_deaths(tx)  # before this row leaves those that its holder had at work
        await tx.run(_TAKE_OVER, row=id, mine=tx.lease)
        await tx.run(_TAKE_INBOX, row=holder["inbox_id"], mine=tx.lease)
        await settle_calls(tx, id)
    return await read_turn(tx, id)


@glance
async def running_number(tx: Tx, conversation: str) -> int:
    """The number of the conversation's open turn, 0 when none is open."""
    row = await tx.one(_RUNNING, row=conversation)
    return int(row["number"] or 0) if row else 0


async def add_step(tx: Tx, held: TurnRow, message: Draft, calls: Sequence[PlannedCall], usage: Usage) -> list[CallRow]:
    """T3."""
    await _move(tx, held, "running", "waiting" if calls else "running", more=1)
    await add_message(tx, _spot(held), message)
    planned = await plan_calls(tx, held.id, calls)
    await add_usage(tx, held.conversation, [usage], held.id)
    return planned


async def start_calls(tx: Tx, calls: Sequence[CallRow]) -> None:
    """T4."""
    for call in calls:
        held = await read_turn(tx, call.turn_id)
        if held is None or not await start_call(tx, call.id):
            await _refuse(tx, held, f"call {call.call_id} is not planned")
        elif call.effect != "pure":
            args = {"name": call.name, "input": call.input}
            await note(tx, f"tool {call.name}", held.conversation, "started", held.actor, args=args)


async def end_calls(tx: Tx, held: TurnRow, results: Sequence[tuple[CallRow, str]], message: Draft) -> Message:
    """T5. All calls that have no result get theirs here."""
    await _move(tx, held, "waiting", "running")
    left = {call.id: call for call in await open_calls(tx, held.id)}
    if left.keys() != {call.id for call, _ in results}:
        raise WrongState("the results are not those of the calls that wait for one")
    told = await add_message(tx, _spot(held), message)
    for call, state in results:
        await end_call(tx, left[call.id], state, told.id)
    return told


async def finish(tx: Tx, held: TurnRow, ending: Ending) -> bool:
    """T6; False when the epoch has moved, for then it was cancelled with the clear, and nothing of it is said."""
    ended = await tx.told(_ENDED, row=held.id, holder=tx.lease, became=ending.state, now=tx.now)
    await add_usage(tx, held.conversation, ending.usage, held.id, ended)
    if ended is None:
        if (await read_conversation(tx, held.conversation))["epoch"] == held.epoch:
            raise WrongState(f"turn {held.id} is not open, or not ours")
        return False
    if ended["step"]:  # only a step plans calls
        await close_calls(tx, held)
    seqs = 0 if ending.final is None else 1
    taken = await take(tx, held.conversation, seqs=seqs, lines=len(ending.out), touched=True)
    if ending.final is not None:
        await add_message(tx, _spot(held), ending.final, taken)
    await add_parts(tx, held.conversation, answer_to(held.inbox_id), ending.out, held.inbox_id, taken)
    await tx.run(_END_INBOX, row=held.inbox_id, became="dead" if ending.state == "interrupted" else "done")
    if ending.remember:
        await queue_extraction(tx, held)
    await afp("finish.in_txn")
    return True


async def cancel_open(tx: Tx, conversation: str) -> None:
    """At a clear: whatever runs there is over, and nothing more is said of it."""
    for row in await tx.all(_OPEN_HERE, row=conversation):
        await _cancel(tx, turn_row(row))


def answer_to(inbox_id: str) -> str:
    """The source of the outbox rows that answer an inbox row."""
    return f"{inbox_id}:answer"


async def _begin(tx: Tx, inbox_id: str, row: Row, claiming: Claiming, home: Row) -> TurnRow:
    """home: the conversation's row, the number of the turn and of its first message taken."""
    made = TurnRow(
        id=new_id(tx.now),
        conversation=row["conversation"],
        number=home["next_turn"] - 1,
        epoch=home["epoch"],
        inbox_id=inbox_id,
        actor=claiming.actor,
        state="running",
        step=0,
        attempts=0,
        trace_id=row["trace_id"],
    )
    await tx.run(
        _ADD,
        id=made.id,
        conversation=made.conversation,
        number=made.number,
        epoch=made.epoch,
        inbox_id=inbox_id,
        actor=claiming.actor,
        who=claiming.who,
        asked=row["received"],
        state=made.state,
        trace_id=made.trace_id,
        first_seq=home["next_seq"] - 1,
        lease_epoch=tx.lease,
        started=tx.now,
    )
    return made


async def _move(tx: Tx, held: TurnRow, was: str, became: str, more: int = 0) -> None:
    home = await read_conversation(tx, held.conversation)
    moved = await tx.run(_STEP, row=held.id, was=was, became=became, more=more, holder=tx.lease, under=home["epoch"])
    if not moved:
        await _refuse(tx, held, f"turn {held.id} is not {was}, or not ours")


async def _refuse(tx: Tx, held: TurnRow | None, why: str) -> None:
    if held is not None and (await read_conversation(tx, held.conversation))["epoch"] != held.epoch:
        raise Fenced(f"turn {held.id} was begun before the conversation was cleared")
    raise WrongState(why)


async def _cancel(tx: Tx, held: TurnRow) -> None:
    if await tx.run(_CANCEL, row=held.id, now=tx.now):
        await close_calls(tx, held)
        await tx.run(_END_INBOX, row=held.inbox_id, became="done")


def _spot(held: TurnRow) -> Spot:
    return Spot(conversation=held.conversation, turn_id=held.id, number=held.number)
