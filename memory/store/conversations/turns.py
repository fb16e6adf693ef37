"""Turns of work, from T2 to T6."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, ScalarSelect, Text, bindparam, func, insert, select, update

from memory.conversation import Message
from memory.failpoints import hit_async
from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.conversations.inbox import take_context_rows as take_along
from memory.store.conversations.messages import (
    TurnRef,
    add_message,
    close_calls,
    end_call,
    load_conversation_row,
    load_open_calls,
    plan_calls,
    settle_calls,
    start_call,
    take_numbers,
)
from memory.store.conversations.outbox import add_parts
from memory.store.conversations.usage import add_usage
from memory.store.engine.database import QueueKey, Row, Tx, single_query, update_returning
from memory.store.errors import MessageEdited, StaleEpoch, WrongState
from memory.store.rows import (
    CallRow,
    InboxRow,
    NewMessage,
    NewOutboxRow,
    PlannedCall,
    TurnRow,
    TurnState,
    Usage,
    columns_of,
    load_linked_space,
    to_turn_row,
)
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.memory_tables import extraction
from memory.store.schema.tables import conversation, inbox, is_lease_void, turn
from memory.store.schema.tables import inbox as inbox_table

# What a process had at work when it died, and what that says of each message.
#
# A row that is at work carries the lease of its process: an inbox row from when it is opened or claimed, and its turn.
# A row that waits for its lane carries none, so the death of the process says nothing about it.

NOBODY = 0  # the lease of a row that no process works on


def _is_open_row() -> ColumnElement[bool]:
    return is_one_of(inbox_table.c.state, "new", "running")


def _is_open_turn() -> ColumnElement[bool]:
    return is_one_of(turn.c.state, "running", "waiting")


_COUNT_AT_WORK = (
    select(inbox_table.c.lease_epoch.label("holder"), func.count().label("rows"))
    .where(_is_open_row(), inbox_table.c.lease_epoch != NOBODY, is_lease_void(inbox_table.c.lease_epoch))
    .group_by(inbox_table.c.lease_epoch)
)
_COUNT_ROW_DEATH = (
    update(inbox_table)
    .where(_is_open_row(), inbox_table.c.lease_epoch == bindparam("holder"))
    .values(
        attempts=inbox_table.c.attempts + 1,
        deaths_alone=inbox_table.c.deaths_alone + bindparam("more"),
        lease_epoch=NOBODY,
    )
)
_COUNT_TURN_DEATH = (
    update(turn)
    .where(_is_open_turn(), turn.c.lease_epoch != NOBODY, is_lease_void(turn.c.lease_epoch))
    .values(attempts=turn.c.attempts + 1, lease_epoch=NOBODY)
)
_RELEASE_ROWS = (
    update(inbox_table).where(_is_open_row(), inbox_table.c.lease_epoch == bindparam("mine")).values(lease_epoch=NOBODY)
)
_RELEASE_TURNS = update(turn).where(_is_open_turn(), turn.c.lease_epoch == bindparam("mine")).values(lease_epoch=NOBODY)
_MARK_OPENED = (
    update(inbox_table)
    .where(inbox_table.c.id == bindparam("row"), inbox_table.c.state == literal_text("new"))
    .values(lease_epoch=bindparam("mine"))
)
_DEATHS_OF_OTHERS = select(func.coalesce(func.sum(inbox_table.c.deaths_alone), 0).label("deaths")).where(
    inbox_table.c.id != bindparam("row"),
    inbox_table.c.deaths_alone > 0,
    inbox_table.c.state != literal_text("dead"),
    inbox_table.c.received >= bindparam("since"),
)


async def count_deaths(tx: Tx) -> None:
    """Count the death of each process that is gone, once, against what it had at work; nobody holds that any more.

    One row at work at a death died alone; of several, nobody knows which one it was.
    """
    for dead in await tx.all(_COUNT_AT_WORK):
        await tx.run(_COUNT_ROW_DEATH, holder=dead["holder"], more=int(dead["rows"] == 1))
    await tx.run(_COUNT_TURN_DEATH)


async def release_work(tx: Tx) -> None:
    """A clean end: what we have at work waits for the next process, and nothing has died of it."""
    await tx.run(_RELEASE_ROWS, mine=tx.lease)
    await tx.run(_RELEASE_TURNS, mine=tx.lease)


async def mark_opened(tx: Tx, inbox_id: str) -> None:
    """Before a row that is still new is opened: from now on the death of this process counts for it."""
    await tx.run(_MARK_OPENED, row=inbox_id, mine=tx.lease)


async def deaths_of_others(tx: Tx, inbox_id: str, since: float) -> int:
    """How often the process died while it had one other message at work that came in since and was not given up.

    since: unix time.
    """
    [row] = await tx.all(_DEATHS_OF_OTHERS, row=inbox_id, since=since)
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
    tx.notify(QueueKey(kind="facts", id=await load_linked_space(tx, row["space"] if row else "")))


_SELECT_INBOX = select(inbox.c.conversation, inbox.c.state, inbox.c.trace_id, inbox.c.body, inbox.c.received).where(
    inbox.c.id == bindparam("row")
)
_CLAIM = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), inbox.c.state == literal_text("new"))
    .values(state=literal_text("running"), turn_id=bindparam("by"), lease_epoch=bindparam("mine"))
)
_SETTLE = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), inbox.c.state == literal_text("new"))
    .values(state=bindparam("became"))
)
_END_INBOX = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), inbox.c.state == literal_text("running"))
    .values(state=bindparam("became"))
)
_INSERT = insert(turn)
_SELECT = select(*columns_of(TurnRow, turn))
_SELECT_ONE = _SELECT.where(turn.c.id == bindparam("row"))
OPEN_TURNS = _SELECT.where(is_one_of(turn.c.state, "running", "waiting"))
_SELECT_OPEN_OF_CONVERSATION = OPEN_TURNS.where(turn.c.conversation == bindparam("row"))
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
        is_one_of(turn.c.state, "running", "waiting"),
        turn.c.lease_epoch == bindparam("holder"),
    )
    .values(state=bindparam("became"), ended=bindparam("now"))
)
_END_RETURNING = update_returning(
    _END, turn.c.who, turn.c.step, select_after=select(turn.c.who, turn.c.step).where(turn.c.id == bindparam("row"))
)
_CANCEL = (
    update(turn)
    .where(turn.c.id == bindparam("row"), is_one_of(turn.c.state, "running", "waiting"))
    .values(state=literal_text("cancelled"), ended=bindparam("now"))
)
_SELECT_HOLDER = select(turn.c.lease_epoch, turn.c.inbox_id, is_lease_void(turn.c.lease_epoch).label("gone")).where(
    turn.c.id == bindparam("row"), is_one_of(turn.c.state, "running", "waiting")
)
_TAKE_OVER = update(turn).where(turn.c.id == bindparam("row")).values(lease_epoch=bindparam("mine"))
_TAKE_INBOX = update(inbox).where(inbox.c.id == bindparam("row")).values(lease_epoch=bindparam("mine"))


def running_turn_number(conversation: ColumnElement[str]) -> ScalarSelect[int | None]:
    """The number of a conversation's open turn, NULL when none is open."""
    return (
        select(func.max(turn.c.number))
        .where(turn.c.conversation == conversation, is_one_of(turn.c.state, "running", "waiting"))
        .scalar_subquery()
    )


_SELECT_RUNNING = select(running_turn_number(bindparam("row", type_=Text())).label("number"))


async def claim_turn(
    tx: Tx, inbox_id: str, user: NewMessage, actor: str, also: Sequence[InboxRow] = (), *, body: str = "", who: str = ""
) -> TurnRow:
    """T2: inbox new -> running, turn made, its user message stored with the inbox row's id.

    also: rows that end with it (see companions). body: of the row, as it was read; Rewritten where an edit came
    between. who: whose budget it counts to (see Spending).
    """
    row = await tx.one(_SELECT_INBOX, row=inbox_id)
    if row is None or row["state"] != "new":
        raise WrongState(f"inbox row {inbox_id} is {row['state'] if row else 'missing'}, not new")
    if body and row["body"] != body:
        raise MessageEdited(f"inbox row {inbox_id} was edited")
    conversation_row = await take_numbers(tx, row["conversation"], turns=1, seqs=1)
    made = await _insert_turn(tx, inbox_id, row, conversation_row, actor=actor, who=who)
    await tx.run(_CLAIM, row=inbox_id, by=made.id, mine=tx.lease)
    await take_along(tx, tuple(also), made.id)
    await add_message(tx, _turn_ref(made), replace(user, id=inbox_id), conversation_row)
    await hit_async("claim.in_txn")
    return made


async def settle_inbox_row(tx: Tx, inbox_id: str, out: Sequence[NewOutboxRow], *, dead: bool = False) -> None:
    """A row that needs no turn (a command, a refusal): inbox -> done and its notices, one transaction.

    dead: it was given up, inbox -> dead.
    """
    row = await tx.one(_SELECT_INBOX, row=inbox_id)
    if row is None or not await tx.run(_SETTLE, row=inbox_id, became="dead" if dead else "done"):
        raise WrongState(f"inbox row {inbox_id} is {row['state'] if row else 'missing'}, not new")
    await add_parts(tx, row["conversation"], answer_source(inbox_id), out, inbox_id)


@single_query
async def load_turn(tx: Tx, id: str) -> TurnRow | None:
    """One turn, None for an unknown id."""
    row = await tx.one(_SELECT_ONE, row=id)
    return to_turn_row(row) if row else None


async def take_over_turn(tx: Tx, turn_id: str) -> TurnRow | None:
    """Hold an open turn from now on, whoever held it: its lane runs here."""
    holder = await tx.one(_SELECT_HOLDER, row=turn_id)
    if holder is not None and holder["lease_epoch"] != tx.lease:
        if holder["gone"]:
            await count_deaths(tx)  # before this row leaves those that its holder had at work
        await tx.run(_TAKE_OVER, row=turn_id, mine=tx.lease)
        await tx.run(_TAKE_INBOX, row=holder["inbox_id"], mine=tx.lease)
        await settle_calls(tx, turn_id)
    return await load_turn(tx, turn_id)


@single_query
async def load_running_number(tx: Tx, conversation: str) -> int:
    """The number of the conversation's open turn, 0 when none is open."""
    row = await tx.one(_SELECT_RUNNING, row=conversation)
    return int(row["number"] or 0) if row else 0


async def add_step(
    tx: Tx, turn: TurnRow, message: NewMessage, calls: Sequence[PlannedCall], usage: Usage
) -> list[CallRow]:
    """T3: the assistant message, its calls as planned, usage, step + 1. Raises Fenced if the epoch moved."""
    await _set_state(tx, turn, "running", "waiting" if calls else "running", more=1)
    await add_message(tx, _turn_ref(turn), message)
    planned = await plan_calls(tx, turn.id, calls)
    await add_usage(tx, turn.conversation, [usage], turn.id)
    return planned


async def start_calls(tx: Tx, calls: Sequence[CallRow]) -> None:
    """T4: planned -> started, before the effect."""
    for call in calls:
        held = await load_turn(tx, call.turn_id)
        if held is None or not await start_call(tx, call.id):
            await _raise_refusal(tx, held, f"call {call.call_id} is not planned")
        elif call.effect != "pure":
            args = {"name": call.name, "input": call.input}
            await append_act(tx, f"tool {call.name}", held.conversation, "started", held.actor, args=args)


async def end_calls(tx: Tx, turn: TurnRow, results: Sequence[tuple[CallRow, str]], message: NewMessage) -> Message:
    """T5: (call, final state) for each, and the one user message that holds all their results."""
    await _set_state(tx, turn, "waiting", "running")
    left = {call.id: call for call in await load_open_calls(tx, turn.id)}
    if left.keys() != {call.id for call, _ in results}:
        raise WrongState("the results are not those of the calls that wait for one")
    told = await add_message(tx, _turn_ref(turn), message)
    for call, state in results:
        await end_call(tx, left[call.id], state, told.id)
    return told


async def finish_turn(
    tx: Tx,
    held: TurnRow,
    state: TurnState,
    final: NewMessage | None,
    out: Sequence[NewOutboxRow],
    usage: Sequence[Usage] = (),
    *,
    remember: bool = False,
) -> bool:
    """T6; False when the epoch has moved, for then it was cancelled with the clear, and nothing of it is said."""
    ended = await tx.told(_END_RETURNING, row=held.id, holder=tx.lease, became=state, now=tx.now)
    await add_usage(tx, held.conversation, usage, held.id, ended)
    if ended is None:
        if (await load_conversation_row(tx, held.conversation))["epoch"] == held.epoch:
            raise WrongState(f"turn {held.id} is not open, or not ours")
        return False
    if ended["step"]:  # only a step plans calls
        await close_calls(tx, held)
    seqs = 0 if final is None else 1
    taken = await take_numbers(tx, held.conversation, seqs=seqs, lines=len(out), touched=True)
    if final is not None:
        await add_message(tx, _turn_ref(held), final, taken)
    await add_parts(tx, held.conversation, answer_source(held.inbox_id), out, held.inbox_id, taken)
    await tx.run(_END_INBOX, row=held.inbox_id, became="dead" if state == "interrupted" else "done")
    if remember:
        await queue_extraction(tx, held)
    await hit_async("finish.in_txn")
    return True


async def cancel_open_turns(tx: Tx, conversation: str) -> None:
    """At a clear: whatever runs there is over, and nothing more is said of it."""
    for row in await tx.all(_SELECT_OPEN_OF_CONVERSATION, row=conversation):
        await _cancel(tx, to_turn_row(row))


def answer_source(inbox_id: str) -> str:
    """The source of the outbox rows that answer an inbox row."""
    return f"{inbox_id}:answer"


async def _insert_turn(tx: Tx, inbox_id: str, row: Row, conversation_row: Row, *, actor: str, who: str) -> TurnRow:
    """home: the conversation's row, the number of the turn and of its first message taken."""
    made = TurnRow(
        id=new_id(tx.now),
        conversation=row["conversation"],
        number=conversation_row["next_turn"] - 1,
        epoch=conversation_row["epoch"],
        inbox_id=inbox_id,
        actor=actor,
        state="running",
        step=0,
        attempts=0,
        trace_id=row["trace_id"],
    )
    await tx.run(
        _INSERT,
        id=made.id,
        conversation=made.conversation,
        number=made.number,
        epoch=made.epoch,
        inbox_id=inbox_id,
        actor=actor,
        who=who,
        asked=row["received"],
        state=made.state,
        trace_id=made.trace_id,
        first_seq=conversation_row["next_seq"] - 1,
        lease_epoch=tx.lease,
        started=tx.now,
    )
    return made


async def _set_state(tx: Tx, held: TurnRow, was: str, became: str, more: int = 0) -> None:
    conversation_row = await load_conversation_row(tx, held.conversation)
    moved = await tx.run(
        _STEP, row=held.id, was=was, became=became, more=more, holder=tx.lease, under=conversation_row["epoch"]
    )
    if not moved:
        await _raise_refusal(tx, held, f"turn {held.id} is not {was}, or not ours")


async def _raise_refusal(tx: Tx, held: TurnRow | None, why: str) -> None:
    if held is not None and (await load_conversation_row(tx, held.conversation))["epoch"] != held.epoch:
        raise StaleEpoch(f"turn {held.id} was begun before the conversation was cleared")
    raise WrongState(why)


async def _cancel(tx: Tx, held: TurnRow) -> None:
    if await tx.run(_CANCEL, row=held.id, now=tx.now):
        await close_calls(tx, held)
        await tx.run(_END_INBOX, row=held.inbox_id, became="done")


def _turn_ref(held: TurnRow) -> TurnRef:
    return TurnRef(conversation=held.conversation, turn_id=held.id, number=held.number)
