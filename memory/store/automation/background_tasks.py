"""Stores work that goes on beside a conversation: turns of sub-agents, and commands; each ends with
its outcome.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlalchemy import bindparam, func, select, update

from memory.ids import new_id
from memory.store.conversations.inbox import accept
from memory.store.conversations.messages import load_conversation_row
from memory.store.conversations.turns import finish_turn, settle_inbox_row
from memory.store.engine.database import Repository, Row, Tx, insert_into, light, read, write
from memory.store.errors import WrongState
from memory.store.longterm.views import NO_VIEWS, ViewBatch
from memory.store.rows import (
    HIDDEN_THREAD,
    NewInboxRow,
    NewMessage,
    Place,
    TurnRow,
    TurnState,
    Usage,
    column_values,
    columns_of,
    from_row,
)
from memory.store.schema.memory_tables import background_task as table
from memory.store.schema.tables import inbox, is_one_of, literal_text, tool_call, turn

TaskKind = Literal["agent", "exec"]
TaskState = Literal["running", "done", "failed", "cancelled", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """Work to begin."""

    kind: TaskKind
    space: str
    #: Where it was asked for, and where its outcome goes.
    conversation: str
    #: Idempotency key of the call that asked for it.
    call: str
    #: Among the tasks of the call.
    position: int
    #: The person whose rights count.
    channel: str
    account: str
    person: str
    #: What is to be done, in words.
    goal: str
    #: JSON text: of an agent its tools, its schema and the person's language; of a command its
    #: arguments.
    request: str
    #: Epoch of the conversation; after a clear nobody wants the outcome.
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow(NewTask):
    """Stored work."""

    id: str
    #: Of its space, from 1; people and models name it by it: w12.
    number: int
    #: The hidden conversation of an agent; "" for a command.
    child: str
    state: TaskState
    #: Nobody waits for the outcome any more: it becomes a message of its own.
    detached: bool
    outcome: str
    #: The outcome holds words from outside.
    tainted: bool
    #: Unix seconds.
    at: float
    #: Unix seconds; 0 while it runs.
    ended: float

    @property
    def name(self) -> str:
        return f"w{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnding:
    """How work ended."""

    state: TaskState
    outcome: str
    tainted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSteps:
    """How far a sub-agent has come."""

    #: Calls of tools that have ended.
    ended: int
    #: The tool that is being called; "" for none.
    current: str


# Makes the body of the message that tells of the tasks of one call.
ComposeBody = Callable[[Sequence[TaskRow]], str]
_SELECT = select(*columns_of(TaskRow, table))
_IS_RUNNING = is_one_of(table.c.state, "running")
_SELECT_OF_CALL = _SELECT.where(table.c.call == bindparam("call")).order_by(table.c.position)
_SELECT_OF_CHILD = _SELECT.where(table.c.child == bindparam("child"))
_SELECT_ONE = _SELECT.where(table.c.id == bindparam("id"))
_SELECT_BY_NUMBER = _SELECT.where(
    table.c.space == bindparam("space"), table.c.number == bindparam("number")
)
_SELECT_OPEN = _SELECT.where(
    table.c.conversation == bindparam("conversation"), _IS_RUNNING
).order_by(table.c.number)
_SELECT_OPEN_OF_SPACE = _SELECT.where(table.c.space == bindparam("space"), _IS_RUNNING).order_by(
    table.c.number
)
_SELECT_OPEN_COMMANDS = _SELECT.where(_IS_RUNNING, table.c.kind == literal_text("exec")).order_by(
    table.c.id
)
_SELECT_RUNNING = _SELECT.where(_IS_RUNNING).order_by(table.c.id)
_SELECT_CALLS_OF_CHILD = (
    select(tool_call.c.name, tool_call.c.state)
    .join(turn, turn.c.id == tool_call.c.turn_id)
    .where(turn.c.conversation == bindparam("child"))
    .order_by(tool_call.c.turn_id, tool_call.c.place)
)
_SELECT_LAST_NUMBER = select(func.max(table.c.number).label("number")).where(
    table.c.space == bindparam("space")
)
_COUNT_OPEN = (
    select(func.count().label("count"))
    .select_from(table)
    .where(table.c.space == bindparam("space"), table.c.kind == bindparam("kind"), _IS_RUNNING)
)
# Changes nothing, but conflicts with whoever ends another task of the call at the same time.
_LOCK_CALL = update(table).where(table.c.call == bindparam("call")).values(ended=table.c.ended)
_DETACH = (
    update(table)
    .where(table.c.call == bindparam("call"))
    .values(detached=bindparam("new_detached"))
)
_END = (
    update(table)
    .where(table.c.id == bindparam("id"), _IS_RUNNING)
    .values(
        state=bindparam("new_state"),
        outcome=bindparam("new_outcome"),
        tainted=bindparam("new_tainted"),
        ended=bindparam("new_ended"),
    )
)
_SELECT_NEW_ROWS = select(inbox.c.id).where(
    inbox.c.conversation == bindparam("conversation"), is_one_of(inbox.c.state, "new")
)


async def start_tasks(
    tx: Tx, new: Sequence[NewTask], bodies: Sequence[str], most: int
) -> tuple[list[TaskRow], bool]:
    """Store the tasks of one call, and for each agent the message that starts its hidden
    conversation.

    Args:
        bodies: of those messages; for commands they are not used.
        most: how many tasks of that kind may run in the space at once.

    Returns:
        The tasks, those of the first run of the call where it was made before; and False if there
        were too many.
    """
    if known := await load_tasks_of_call(tx, new[0].call):
        return known, True
    running = (await tx.execute(_COUNT_OPEN, space=new[0].space, kind=new[0].kind)).first()
    if (running["count"] if running else 0) + len(new) > most:
        return [], False
    last = (await tx.execute(_SELECT_LAST_NUMBER, space=new[0].space)).first()
    first = ((last["number"] if last else None) or 0) + 1
    parent = await load_conversation_row(tx, new[0].conversation)
    rows: list[TaskRow] = []
    for task, body in zip(new, bodies, strict=True):
        id, child = new_id(tx.now + task.position / 1e3), ""
        if task.kind == "agent":
            place = replace(_to_place(parent), thread_id=f"{HIDDEN_THREAD}{id}")
            arrival = NewInboxRow(
                place=place, key=f"task:{id}", kind="message", sender_id=task.person, body=body
            )
            [accepted] = await accept(tx, [arrival])
            child = accepted.conversation
        row = TaskRow(
            **{name: getattr(task, name) for name in NewTask.__dataclass_fields__},
            id=id,
            number=first + len(rows),
            child=child,
            state="running",
            detached=task.kind == "exec",
            outcome="",
            tainted=False,
            at=tx.now,
            ended=0.0,
        )
        await tx.execute(insert_into(table), **column_values(row, table))
        rows.append(row)
    return rows, True


async def load_tasks_of_call(tx: Tx, call: str) -> list[TaskRow]:
    """Load the tasks of a call, in the order of the call."""
    return [from_row(TaskRow, row) for row in (await tx.execute(_SELECT_OF_CALL, call=call)).all()]


@light
async def load_task_of_child(tx: Tx, child: str) -> TaskRow | None:
    """Load the task that a hidden conversation works on."""
    row = (await tx.execute(_SELECT_OF_CHILD, child=child)).first()
    return from_row(TaskRow, row) if row else None


@light
async def find_task(tx: Tx, space: str, number: int) -> TaskRow | None:
    """Find a task of a space, in any state."""
    row = (await tx.execute(_SELECT_BY_NUMBER, space=space, number=number)).first()
    return from_row(TaskRow, row) if row else None


@light
async def load_open_tasks(tx: Tx, conversation: str) -> list[TaskRow]:
    """Load the running tasks of a conversation."""
    return [
        from_row(TaskRow, row)
        for row in (await tx.execute(_SELECT_OPEN, conversation=conversation)).all()
    ]


@light
async def load_open_tasks_of_space(tx: Tx, space: str) -> list[TaskRow]:
    """Load the running tasks of a space."""
    return [
        from_row(TaskRow, row)
        for row in (await tx.execute(_SELECT_OPEN_OF_SPACE, space=space)).all()
    ]


@light
async def load_running_tasks(tx: Tx) -> list[TaskRow]:
    """Load the running tasks of all spaces."""
    return [from_row(TaskRow, row) for row in (await tx.execute(_SELECT_RUNNING)).all()]


@light
async def load_steps(tx: Tx, child: str) -> TaskSteps:
    """Load how far the sub-agent of a hidden conversation has come."""
    rows = (await tx.execute(_SELECT_CALLS_OF_CHILD, child=child)).all()
    current = [row["name"] for row in rows if row["state"] == "started"]
    ended = sum(row["state"] not in ("planned", "started") for row in rows)
    return TaskSteps(ended=ended, current=current[-1] if current else "")


@light
async def load_open_commands(tx: Tx) -> list[TaskRow]:
    """Load the commands that count as running; after a start they are lost."""
    return [from_row(TaskRow, row) for row in (await tx.execute(_SELECT_OPEN_COMMANDS)).all()]


async def collect_tasks(tx: Tx, call: str) -> list[TaskRow]:
    """Load the tasks of a call for the one who waited for them; if some still run, their outcomes
    come as a message.
    """
    await tx.execute(_LOCK_CALL, call=call)
    rows = await load_tasks_of_call(tx, call)
    if any(row.state == "running" for row in rows) and not rows[0].detached:
        await tx.execute(_DETACH, call=call, new_detached=True)
        rows = [replace(row, detached=True) for row in rows]
    return rows


async def end_task(tx: Tx, id: str, ending: TaskEnding, compose: ComposeBody) -> bool:
    """Store the end of a task; with the last of its call, one message tells of all, unless somebody
    waits for it.

    Returns:
        False if it has ended already.
    """
    row = (await tx.execute(_SELECT_ONE, id=id)).first()
    if row is None or row["state"] != "running":
        return False
    await tx.execute(_LOCK_CALL, call=row["call"])
    ended = {
        "new_state": ending.state,
        "new_outcome": ending.outcome,
        "new_tainted": ending.tainted,
    }
    if not (await tx.execute(_END, id=id, **ended, new_ended=tx.now)).rowcount:
        return False
    rows = await load_tasks_of_call(tx, row["call"])
    states = {other.state for other in rows}
    if rows[0].detached and "running" not in states and states != {"cancelled"}:
        await _announce(tx, rows, compose(rows))
    return True


async def _announce(tx: Tx, rows: Sequence[TaskRow], body: str) -> None:
    """Store the message that the model answers; none once the conversation was cleared."""
    first = rows[0]
    parent = await load_conversation_row(tx, first.conversation)
    if parent["epoch"] != first.epoch:
        return
    arrival = NewInboxRow(
        place=_to_place(parent),
        key=f"outcome:{first.call}",
        kind="message",
        sender_id=first.person,
        body=body,
        by_program=True,
    )
    await accept(tx, [arrival])


async def finish_agent_turn(
    tx: Tx,
    turn: TurnRow,
    state: TurnState,
    final: NewMessage,
    usage_rows: Sequence[Usage],
    ending: TaskEnding,
    compose: ComposeBody,
    views: ViewBatch = NO_VIEWS,
) -> bool:
    """End the turn of a hidden conversation and its task in one transaction; nothing is sent.

    Returns:
        See memory.store.conversations.turns.finish_turn.
    """
    stored = await finish_turn(tx, turn, state, final, (), usage_rows, views=views)
    if row := await load_task_of_child(tx, turn.conversation):
        await end_task(tx, row.id, ending, compose)
    return stored


async def settle_agent_row(
    tx: Tx, inbox_id: str, child: str, ending: TaskEnding, compose: ComposeBody
) -> None:
    """End a task whose message starts no turn."""
    await settle_inbox_row(tx, inbox_id, (), dead=ending.state != "cancelled")
    if row := await load_task_of_child(tx, child):
        await end_task(tx, row.id, ending, compose)


async def cancel_task(tx: Tx, id: str, compose: ComposeBody, *, silent: bool = False) -> bool:
    """End a task as cancelled, and the message of an agent that has not begun; a running turn is
    stopped elsewhere.

    Args:
        silent: the outcomes of its call are told to nobody any more.
    """
    row = (await tx.execute(_SELECT_ONE, id=id)).first()
    if row is None or row["state"] != "running":
        return False
    if row["child"]:
        for waiting in (await tx.execute(_SELECT_NEW_ROWS, conversation=row["child"])).all():
            try:
                await settle_inbox_row(tx, waiting["id"], ())
            except WrongState:
                continue
    if silent:
        await tx.execute(_DETACH, call=row["call"], new_detached=False)
    return await end_task(tx, id, TaskEnding(state="cancelled", outcome="", tainted=False), compose)


def _to_place(row: Row) -> Place:
    """Return the place with the conversation's own space, which links lead from."""
    return Place(**{name: row[name] for name in Place.__dataclass_fields__})


class TaskRecords(Repository):
    """Work beside conversations."""

    start = write(start_tasks, committed="work.started")
    of_call = read(load_tasks_of_call)
    of_child = read(load_task_of_child)
    find = read(find_task)
    open_tasks = read(load_open_tasks)
    open_tasks_of_space = read(load_open_tasks_of_space)
    open_commands = read(load_open_commands)
    running = read(load_running_tasks)
    steps = read(load_steps)
    collect = write(collect_tasks, committed="outcome.committed")
    end = write(end_task, committed="work.ended")
    finish_agent_turn = write(finish_agent_turn, committed="work.ended")
    settle_agent_row = write(settle_agent_row, committed="work.ended")
    cancel = write(cancel_task, committed="work.ended")
