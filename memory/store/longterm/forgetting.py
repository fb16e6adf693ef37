"""Requests to forget and their states; the one transaction that erases what a request names."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import bindparam, select, update

from memory.conversation import Message
from memory.store.audit import append_act
from memory.store.engine.database import Repository, Tx, insert_into, read, write
from memory.store.errors import WrongState
from memory.store.linked_spaces import belongs_to_space
from memory.store.longterm.erasure import DROP_UNCONFIRMED, IS_UNCONFIRMED, erase
from memory.store.longterm.rows import (
    EraseReport,
    ForgetTargets,
    ForgettingRow,
    ForgettingState,
    LocatedMessage,
)
from memory.store.rows import columns_of, from_row, to_message
from memory.store.schema.memory_tables import forgetting
from memory.store.schema.tables import conversation, is_one_of, literal_text, message

_DROP_OLDER = DROP_UNCONFIRMED.where(forgetting.c.conversation == bindparam("conversation"))
_DROP_EXPIRED = DROP_UNCONFIRMED.where(forgetting.c.expires <= bindparam("now"))

TRANSITIONS: dict[str, tuple[str, ...]] = {
    "asked": ("confirmed", "dropped"),
    "confirmed": ("removed",),
    "removed": ("done",),
}
# states in which none of the forgotten words is stored
STATES_WITHOUT_TARGETS = ("done", "dropped")

_SELECT = select(*columns_of(ForgettingRow, forgetting))
_SELECT_ONE = _SELECT.where(forgetting.c.id == bindparam("id"))
_SELECT_UNCONFIRMED = (
    _SELECT.where(
        forgetting.c.conversation == bindparam("conversation"),
        IS_UNCONFIRMED,
        forgetting.c.expires > bindparam("now"),
    )
    .order_by(forgetting.c.at.desc())
    .limit(1)
)
_SELECT_OPEN = _SELECT.where(is_one_of(forgetting.c.state, "confirmed", "removed")).order_by(
    forgetting.c.at, forgetting.c.id
)
_SELECT_LAST = (
    _SELECT.where(
        forgetting.c.space == bindparam("space"), forgetting.c.state == literal_text("done")
    )
    .order_by(forgetting.c.at.desc(), forgetting.c.id.desc())
    .limit(1)
)
_UPDATE = (
    update(forgetting)
    .where(forgetting.c.id == bindparam("id"), forgetting.c.state == bindparam("state"))
    .values({name: bindparam(f"new_{name}") for name in ("state", "targets", "receipt")})
)
_SELECT_MESSAGES_OF_SPACE = (
    select(
        *columns_of(Message, message),
        message.c.conversation,
        conversation.c.channel,
        conversation.c.space,
    )
    .join(conversation, conversation.c.id == message.c.conversation)
    .where(belongs_to_space(conversation.c.space), message.c.id > bindparam("after"))
    .order_by(message.c.id)
    .limit(bindparam("limit"))
)


# Returns the request's targets and receipt (both JSON) after the store was redacted.
DescribeErase = Callable[[EraseReport], tuple[str, str]]


async def _insert_request(tx: Tx, row: ForgettingRow) -> None:
    """Store a request; an earlier unconfirmed one of the same conversation is dropped."""
    await tx.execute(_DROP_OLDER, conversation=row.conversation)
    await tx.execute(_DROP_EXPIRED, now=tx.now)
    await tx.execute(
        insert_into(forgetting),
        **asdict(row) | {"expires": row.expires.timestamp(), "at": row.at.timestamp()},
    )


async def _load_unconfirmed(tx: Tx, conversation: str, now: datetime) -> ForgettingRow | None:
    """Load the request of a conversation that waits for its confirmation and has not expired."""
    row = (
        await tx.execute(_SELECT_UNCONFIRMED, conversation=conversation, now=now.timestamp())
    ).first()
    return from_row(ForgettingRow, row) if row else None


async def _move(
    tx: Tx,
    id: str,
    state: ForgettingState,
    *,
    targets: str | None = None,
    receipt: str | None = None,
) -> None:
    """Change a request's state as TRANSITIONS allow, else raise WrongState."""
    row = await _load_request(tx, id)
    if state not in TRANSITIONS.get(row.state, ()):
        raise WrongState(f"a forget request does not go from {row.state} to {state}")
    targets = "" if state in STATES_WITHOUT_TARGETS else row.targets if targets is None else targets
    receipt = row.receipt if receipt is None else receipt
    await tx.execute(
        _UPDATE, id=id, state=row.state, new_state=state, new_targets=targets, new_receipt=receipt
    )


async def _confirm(
    tx: Tx, row: ForgettingRow, targets: ForgetTargets, describe: DescribeErase
) -> EraseReport:
    """Confirm a request, erase what it names, and store the targets and receipt that `describe`
    returns; one transaction.
    """
    await _move(tx, row.id, "confirmed")
    erased = await erase(tx, row.space, targets)
    new_targets, receipt = describe(erased)
    state = {"state": "confirmed", "new_state": "confirmed"}
    await tx.execute(_UPDATE, id=row.id, **state, new_targets=new_targets, new_receipt=receipt)
    await append_act(
        tx, "forget", row.space, "confirmed", row.asked_by, args={"targets": row.targets}
    )
    return erased


async def _clear_targets(tx: Tx, id: str, receipt: str) -> None:
    """Delete a request's words and store its receipt; the state stays."""
    row = await _load_request(tx, id)
    await tx.execute(
        _UPDATE, id=id, state=row.state, new_state=row.state, new_targets="", new_receipt=receipt
    )


async def _load_request(tx: Tx, id: str) -> ForgettingRow:
    """Load one request, raise WrongState for an unknown id."""
    row = (await tx.execute(_SELECT_ONE, id=id)).first()
    if row is None:
        raise WrongState(f"there is no forget request {id}")
    return from_row(ForgettingRow, row)


async def _load_open(tx: Tx) -> list[ForgettingRow]:
    """Load the confirmed requests that are unfinished."""
    return [from_row(ForgettingRow, row) for row in (await tx.execute(_SELECT_OPEN)).all()]


async def _load_last(tx: Tx, space: str) -> ForgettingRow | None:
    """Load the newest request that is done."""
    row = (await tx.execute(_SELECT_LAST, space=space)).first()
    return from_row(ForgettingRow, row) if row else None


async def _expire(tx: Tx, now: datetime) -> None:
    """Drop requests that were not confirmed in time, with their words."""
    await tx.execute(_DROP_EXPIRED, now=now.timestamp())


async def _load_messages(tx: Tx, space: str, after: str, limit: int) -> list[LocatedMessage]:
    """Load messages of a space and the spaces linked to it, in the order of their ids, from the id
    `after` on.
    """
    rows = (
        await tx.execute(_SELECT_MESSAGES_OF_SPACE, space=space, after=after, limit=limit)
    ).all()
    return [
        LocatedMessage(
            message=to_message(
                {column.name: row[column.name] for column in columns_of(Message, message)}
            ),
            channel=row["channel"],
            space=row["space"],
        )
        for row in rows
    ]


class ForgetRequests(Repository):
    """Requests to forget, and the erasure of what they name."""

    add = write(_insert_request)
    find_unconfirmed = read(_load_unconfirmed)
    move = write(_move)
    row = read(_load_request)
    load_open = read(_load_open)
    last = read(_load_last)
    expire = write(_expire)
    messages = read(_load_messages)
    confirm = write(_confirm, committed="forget.committed")
    erase = write(erase)
    clear_targets = write(_clear_targets)

    async def compact(self) -> bool:
        """Overwrite deleted bytes in the database's files; False when a reader prevents it."""
        return await self._database.compact()
