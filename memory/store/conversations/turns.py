"""Turns: claimed with their inbox row, advanced by steps and tool calls, finished with the reply,
or given up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, ScalarSelect, Text, bindparam, func, select, update

from memory.conversation import Message
from memory.failpoints import hit_async
from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.conversations.inbox import has_another, take_context_rows
from memory.store.conversations.messages import (
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
from memory.store.engine.database import (
    QueueKey,
    Row,
    Tx,
    insert_into,
    light,
    soft,
    update_returning,
)
from memory.store.errors import MessageEdited, StaleEpoch, WrongState
from memory.store.linked_spaces import load_linked_space
from memory.store.longterm.views import NO_VIEWS, ViewBatch, add_views, newest_view
from memory.store.rows import (
    HIDDEN_THREAD,
    CallRow,
    InboxRow,
    NewMessage,
    NewOutboxRow,
    PlannedCall,
    TurnRow,
    TurnState,
    Usage,
    column_values,
    columns_of,
)
from memory.store.schema.memory_tables import extraction
from memory.store.schema.tables import (
    conversation,
    inbox,
    is_lease_void,
    is_one_of,
    literal_text,
    turn,
)

# A row carries the lease of the process that works on it: an inbox row from when it is opened or
# claimed, and its turn. A row that waits in a queue carries none, so the death of a process does
# not count against it.
NO_LEASE = 0
_IS_OPEN_INBOX = is_one_of(inbox.c.state, "new", "running")
_IS_OPEN_TURN = is_one_of(turn.c.state, "running", "waiting")
_COUNT_AT_WORK = (
    select(inbox.c.lease_epoch, func.count().label("rows"))
    .where(_IS_OPEN_INBOX, inbox.c.lease_epoch != NO_LEASE, is_lease_void(inbox.c.lease_epoch))
    .group_by(inbox.c.lease_epoch)
)
_COUNT_INBOX_DEATH = (
    update(inbox)
    .where(_IS_OPEN_INBOX, inbox.c.lease_epoch == bindparam("of_lease_epoch"))
    .values(
        attempts=inbox.c.attempts + 1,
        deaths_alone=inbox.c.deaths_alone + bindparam("more"),
        lease_epoch=NO_LEASE,
    )
)
_COUNT_TURN_DEATH = (
    update(turn)
    .where(_IS_OPEN_TURN, turn.c.lease_epoch != NO_LEASE, is_lease_void(turn.c.lease_epoch))
    .values(attempts=turn.c.attempts + 1, lease_epoch=NO_LEASE)
)
_RELEASE_INBOX = (
    update(inbox)
    .where(_IS_OPEN_INBOX, inbox.c.lease_epoch == bindparam("of_lease_epoch"))
    .values(lease_epoch=NO_LEASE)
)
_RELEASE_TURNS = (
    update(turn)
    .where(_IS_OPEN_TURN, turn.c.lease_epoch == bindparam("of_lease_epoch"))
    .values(lease_epoch=NO_LEASE)
)
_MARK_OPENED = (
    update(inbox)
    .where(inbox.c.id == bindparam("id"), inbox.c.state == literal_text("new"))
    .values(lease_epoch=bindparam("new_lease_epoch"))
)
_DEATHS_OF_OTHERS = select(func.coalesce(func.sum(inbox.c.deaths_alone), 0).label("count")).where(
    inbox.c.id != bindparam("id"),
    inbox.c.deaths_alone > 0,
    inbox.c.state != literal_text("dead"),
    inbox.c.received >= bindparam("since"),
)
# A turn of a sub-agent is not talk of the day: its outcome is in the turn that asked for it.
_NOTE_UNLOGGED = (
    update(conversation)
    .where(
        conversation.c.id == bindparam("id"),
        ~conversation.c.thread_id.like(literal_text(f"{HIDDEN_THREAD}%")),
    )
    .values(unlogged_since=bindparam("now"))
)
_SELECT_INBOX = select(
    inbox.c.conversation, inbox.c.state, inbox.c.trace_id, inbox.c.body, inbox.c.received
).where(inbox.c.id == bindparam("id"))
_CLAIM = (
    update(inbox)
    .where(inbox.c.id == bindparam("id"), inbox.c.state == literal_text("new"))
    .values(
        state=literal_text("running"),
        turn_id=bindparam("new_turn_id"),
        lease_epoch=bindparam("new_lease_epoch"),
    )
)
_END_NEW_INBOX = (
    update(inbox)
    .where(inbox.c.id == bindparam("id"), inbox.c.state == literal_text("new"))
    .values(state=bindparam("new_state"))
)
_END_INBOX = (
    update(inbox)
    .where(inbox.c.id == bindparam("id"), inbox.c.state == literal_text("running"))
    .values(state=bindparam("new_state"))
)
_SELECT = select(*columns_of(TurnRow, turn))
_SELECT_ONE = _SELECT.where(turn.c.id == bindparam("id"))
OPEN_TURNS = _SELECT.where(_IS_OPEN_TURN)
_SELECT_OPEN_OF_CONVERSATION = OPEN_TURNS.where(turn.c.conversation == bindparam("conversation"))
_STEP = (
    update(turn)
    .where(
        turn.c.id == bindparam("id"),
        turn.c.state == bindparam("state"),
        turn.c.lease_epoch == bindparam("lease_epoch"),
        turn.c.epoch == bindparam("epoch"),
    )
    .values(state=bindparam("new_state"), step=turn.c.step + bindparam("more"))
)
_END = (
    update(turn)
    .where(
        turn.c.id == bindparam("id"),
        _IS_OPEN_TURN,
        turn.c.lease_epoch == bindparam("lease_epoch"),
    )
    .values(state=bindparam("new_state"), ended=bindparam("now"))
)
_END_RETURNING = update_returning(
    _END,
    turn.c.who,
    turn.c.step,
    select_after=select(turn.c.who, turn.c.step).where(turn.c.id == bindparam("id")),
)
_CANCEL = (
    update(turn)
    .where(turn.c.id == bindparam("id"), _IS_OPEN_TURN)
    .values(state=literal_text("cancelled"), ended=bindparam("now"))
)
_SELECT_HOLDER = select(
    turn.c.lease_epoch, turn.c.inbox_id, is_lease_void(turn.c.lease_epoch).label("is_void")
).where(turn.c.id == bindparam("id"), _IS_OPEN_TURN)
_TAKE_TURN = (
    update(turn)
    .where(turn.c.id == bindparam("id"))
    .values(lease_epoch=bindparam("new_lease_epoch"))
)
_TAKE_INBOX = (
    update(inbox)
    .where(inbox.c.id == bindparam("id"))
    .values(lease_epoch=bindparam("new_lease_epoch"))
)


def running_turn_number(conversation: ColumnElement[str]) -> ScalarSelect[int | None]:
    """Return a subquery for the number of a conversation's open turn, NULL when none is open."""
    return (
        select(func.max(turn.c.number))
        .where(turn.c.conversation == conversation, _IS_OPEN_TURN)
        .scalar_subquery()
    )


_SELECT_RUNNING = select(
    running_turn_number(bindparam("conversation", type_=Text())).label("number")
)


async def count_deaths(tx: Tx) -> None:
    """Count the death of each process that is gone against the rows it worked on, once, and release
    them.

    A row that was its only one is what it may have died of; of several, none can be named.
    """
    for dead in (await tx.execute(_COUNT_AT_WORK)).all():
        await tx.execute(
            _COUNT_INBOX_DEATH, of_lease_epoch=dead["lease_epoch"], more=int(dead["rows"] == 1)
        )
    await tx.execute(_COUNT_TURN_DEATH)


async def release_work(tx: Tx) -> None:
    """At a clean end: release the rows that this process works on; it counts as no death."""
    await tx.execute(_RELEASE_INBOX, of_lease_epoch=tx.lease)
    await tx.execute(_RELEASE_TURNS, of_lease_epoch=tx.lease)


@soft
@light
async def mark_opened(tx: Tx, inbox_id: str) -> None:
    """Put the lease on a new row before it is processed: from now on a death of this process counts
    against it.
    """
    await tx.execute(_MARK_OPENED, id=inbox_id, new_lease_epoch=tx.lease)


async def deaths_of_others(tx: Tx, inbox_id: str, since: float) -> int:
    """Count the deaths while a process worked on one other message only that was received since and
    is not given up.

    Args:
        since: unix seconds.
    """
    return (await tx.execute(_DEATHS_OF_OTHERS, id=inbox_id, since=since)).count()


@soft
@light
async def claim_turn(
    tx: Tx,
    inbox_id: str,
    user: NewMessage,
    actor: str,
    also: Sequence[InboxRow] = (),
    *,
    body: str = "",
    who: str = "",
) -> TurnRow:
    """Start the turn of a new inbox row and store its user message, which has the inbox row's id.

    Args:
        also: rows that join the turn; see `load_batched_rows`.
        body: of the row when it was read, "" to skip the check for an edit.
        who: whose budget it counts against; see Spending.

    Raises:
        WrongState: the row is not new.
        MessageEdited: the row's body is not `body` any more.
    """
    row = (await tx.execute(_SELECT_INBOX, id=inbox_id)).first()
    if row is None or row["state"] != "new":
        raise WrongState(f"inbox row {inbox_id} is {row['state'] if row else 'missing'}, not new")
    if body and row["body"] != body:
        raise MessageEdited(f"inbox row {inbox_id} was edited")
    conversation_row = await take_numbers(tx, row["conversation"], seqs=1, turns=1)
    claimed = TurnRow(
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
    await tx.execute(
        insert_into(turn),
        **column_values(claimed, turn),
        who=who,
        asked=row["received"],
        first_seq=conversation_row["next_seq"] - 1,
        lease_epoch=tx.lease,
        started=tx.now,
    )
    if not conversation_row["unlogged_since"]:
        await tx.execute(_NOTE_UNLOGGED, id=row["conversation"], now=tx.now)
    await tx.execute(_CLAIM, id=inbox_id, new_turn_id=claimed.id, new_lease_epoch=tx.lease)
    await take_context_rows(tx, also, claimed.id)
    await add_message(tx, claimed, replace(user, id=inbox_id), conversation_row)
    await hit_async("claim.in_txn")
    return claimed


@light
async def settle_inbox_row(
    tx: Tx, inbox_id: str, out: Sequence[NewOutboxRow], *, dead: bool = False
) -> None:
    """End a new row that needs no turn, such as a command or a refusal, and queue its reply.

    Args:
        dead: whether the row is given up.

    Raises:
        WrongState: the row is not new.
    """
    row = (await tx.execute(_SELECT_INBOX, id=inbox_id)).first()
    if (
        row is None
        or not (
            await tx.execute(_END_NEW_INBOX, id=inbox_id, new_state="dead" if dead else "done")
        ).rowcount
    ):
        raise WrongState(f"inbox row {inbox_id} is {row['state'] if row else 'missing'}, not new")
    await add_parts(tx, row["conversation"], answer_source(inbox_id), out, inbox_id)


@light
async def load_turn(tx: Tx, id: str) -> TurnRow | None:
    """Load one turn, None for an unknown id."""
    row = (await tx.execute(_SELECT_ONE, id=id)).first()
    return TurnRow(**row) if row else None


@light
async def take_over_turn(tx: Tx, turn_id: str) -> TurnRow | None:
    """Put this process's lease on an open turn that no living process works on.

    Raises:
        WrongState: another living process does. That its queue was given to this one is no reason
            to run it twice.
    """
    holder = (await tx.execute(_SELECT_HOLDER, id=turn_id)).first()
    if holder is not None and holder["lease_epoch"] != tx.lease:
        if not holder["is_void"]:
            raise WrongState(f"another process works on turn {turn_id}")
        # before this row is no longer one of those that the dead process worked on
        await count_deaths(tx)
        await tx.execute(_TAKE_TURN, id=turn_id, new_lease_epoch=tx.lease)
        await tx.execute(_TAKE_INBOX, id=holder["inbox_id"], new_lease_epoch=tx.lease)
        await settle_calls(tx, turn_id)
    return await load_turn(tx, turn_id)


@light
async def load_running_number(tx: Tx, conversation: str) -> int:
    """Load the number of the conversation's open turn, 0 when none is open."""
    row = (await tx.execute(_SELECT_RUNNING, conversation=conversation)).first()
    return int(row["number"] or 0) if row else 0


@light
async def add_step(
    tx: Tx,
    turn: TurnRow,
    message: NewMessage,
    calls: Sequence[PlannedCall],
    usage: Usage,
    views: ViewBatch = NO_VIEWS,
) -> list[CallRow]:
    """Store the answer of one model call: its message, its tool calls as planned, its usage, and
    what it showed.

    Raises:
        StaleEpoch: the conversation was cleared since the turn began.
        WrongState: the turn is not running, or not on this process.
    """
    await _set_state(tx, turn, "running", "waiting" if calls else "running", more=1)
    await add_message(tx, turn, message)
    planned = await plan_calls(tx, turn.id, calls)
    await add_usage(tx, turn.conversation, [usage], turn.id)
    await add_views(tx, turn, views)
    return planned


@light
async def start_calls(tx: Tx, calls: Sequence[CallRow]) -> None:
    """Set planned calls to started, before their effect.

    Raises:
        StaleEpoch: the conversation was cleared since the turn began.
        WrongState: a call is not planned.
    """
    for call in calls:
        turn_row = await load_turn(tx, call.turn_id)
        if turn_row is None or not await start_call(tx, call.id):
            await _raise_refusal(tx, turn_row, f"call {call.call_id} is not planned")
        elif call.effect != "pure":
            args = {"name": call.name, "input": call.input}
            await append_act(
                tx, f"tool {call.name}", turn_row.conversation, "started", turn_row.actor, args=args
            )


@light
async def end_calls(
    tx: Tx, turn: TurnRow, results: Sequence[tuple[CallRow, str]], message: NewMessage
) -> Message:
    """Store the results of all open calls of a turn.

    Args:
        results: each call with its final state.
        message: holds all their results.

    Raises:
        StaleEpoch: the conversation was cleared since the turn began.
        WrongState: the turn does not wait for these results, or not on this process.
    """
    await _set_state(tx, turn, "waiting", "running")
    open_calls = {call.id: call for call in await load_open_calls(tx, turn.id)}
    if open_calls.keys() != {call.id for call, _ in results}:
        raise WrongState("the results are not those of the calls that wait for one")
    added = await add_message(tx, turn, message)
    for call, state in results:
        await end_call(tx, open_calls[call.id], state, added.id)
    return added


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedTurn:
    """What a finished turn leaves."""

    #: False when a clear has cancelled the turn.
    stored: bool
    #: Its conversation's queue has another row, due or not.
    has_next: bool


@light
async def finish_turn_and_look(
    tx: Tx,
    turn_row: TurnRow,
    state: TurnState,
    final: NewMessage | None,
    out: Sequence[NewOutboxRow],
    usage: Sequence[Usage] = (),
    *,
    remember: bool = False,
    views: ViewBatch = NO_VIEWS,
) -> FinishedTurn:
    """End a turn and its inbox row, and store the final message, the parts of the reply and the
    usage.

    Open tool calls get a final state and a result first. An interrupted turn leaves its inbox row
    dead.

    Args:
        remember: queue the turn for the extraction of facts.

    Of a turn that a clear has cancelled only usage and views are stored. What comes to the queue
    after this has looked at it notifies it again.

    Raises:
        WrongState: the turn is not open, or not on this process.
    """
    conversation, seqs, lines = turn_row.conversation, 0 if final is None else 1, len(out)
    ended = await _end(tx, turn_row, state)
    taken = await take_numbers(tx, conversation, seqs=seqs, lines=lines, touched=True)
    newest = await newest_view(tx, conversation)
    has_next = await has_another(tx, conversation, turn_row.inbox_id)
    await add_usage(tx, conversation, usage, turn_row.id, ended)
    await add_views(tx, turn_row, views, newest)
    if ended is None:
        if taken["epoch"] == turn_row.epoch:
            raise WrongState(f"turn {turn_row.id} is not open, or not ours")
        await take_numbers(tx, conversation, seqs=-seqs, lines=-lines)  # nothing gets them
        return FinishedTurn(stored=False, has_next=has_next)
    if ended["step"] and await load_open_calls(tx, turn_row.id):  # only a step plans calls
        # the results of these come first
        await take_numbers(tx, conversation, seqs=-seqs, lines=-lines)
        await close_calls(tx, turn_row)
        taken = await take_numbers(tx, conversation, seqs=seqs, lines=lines)
    if final is not None:
        await add_message(tx, turn_row, final, taken)
    await add_parts(
        tx, turn_row.conversation, answer_source(turn_row.inbox_id), out, turn_row.inbox_id, taken
    )
    await tx.execute(
        _END_INBOX, id=turn_row.inbox_id, new_state="dead" if state == "interrupted" else "done"
    )
    if remember:
        await _queue_extraction(tx, turn_row, taken)
    await hit_async("finish.in_txn")
    return FinishedTurn(stored=True, has_next=has_next)


@light
async def finish_turn(
    tx: Tx,
    turn_row: TurnRow,
    state: TurnState,
    final: NewMessage | None,
    out: Sequence[NewOutboxRow],
    usage: Sequence[Usage] = (),
    *,
    remember: bool = False,
    views: ViewBatch = NO_VIEWS,
) -> bool:
    """End a turn as `finish_turn_and_look` does; False when a clear has cancelled it."""
    finished = await finish_turn_and_look(
        tx, turn_row, state, final, out, usage, remember=remember, views=views
    )
    return finished.stored


async def _end(tx: Tx, turn_row: TurnRow, state: TurnState) -> Row | None:
    values = {"lease_epoch": tx.lease, "new_state": state, "now": tx.now}
    return (await tx.execute(_END_RETURNING, id=turn_row.id, **values)).first()


async def _queue_extraction(tx: Tx, turn_row: TurnRow, conversation_row: Row) -> None:
    """Queue a finished turn for the extraction of facts, under its account's own space even where
    that is linked.
    """
    space = conversation_row["space"]
    await tx.execute(
        insert_into(extraction),
        turn_id=turn_row.id,
        space=space,
        conversation=turn_row.conversation,
        turn=turn_row.number,
        state="queued",
        at=tx.now,
    )
    tx.notify(QueueKey(kind="facts", id=await load_linked_space(tx, space)))


async def cancel_open_turns(tx: Tx, conversation: str) -> None:
    """At a clear: cancel what runs in the conversation; it gets no reply."""
    for row in (await tx.execute(_SELECT_OPEN_OF_CONVERSATION, conversation=conversation)).all():
        turn_row = TurnRow(**row)
        if (await tx.execute(_CANCEL, id=turn_row.id, now=tx.now)).rowcount:
            await close_calls(tx, turn_row)
            await tx.execute(_END_INBOX, id=turn_row.inbox_id, new_state="done")


def answer_source(inbox_id: str) -> str:
    """Return the source of the outbox rows that answer an inbox row."""
    return f"{inbox_id}:answer"


async def _set_state(tx: Tx, turn_row: TurnRow, state: str, new_state: str, more: int = 0) -> None:
    conversation_row = await load_conversation_row(tx, turn_row.conversation)
    epoch = conversation_row["epoch"]
    moved = (
        await tx.execute(
            _STEP,
            id=turn_row.id,
            state=state,
            lease_epoch=tx.lease,
            epoch=epoch,
            new_state=new_state,
            more=more,
        )
    ).rowcount
    if not moved:
        await _raise_refusal(tx, turn_row, f"turn {turn_row.id} is not {state}, or not ours")


async def _raise_refusal(tx: Tx, turn_row: TurnRow | None, why: str) -> None:
    if (
        turn_row
        and (await load_conversation_row(tx, turn_row.conversation))["epoch"] != turn_row.epoch
    ):
        raise StaleEpoch(f"turn {turn_row.id} was begun before the conversation was cleared")
    raise WrongState(why)
