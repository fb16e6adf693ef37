"""Single acts that wait for their person's yes: asked, found again by a code, run at most once."""

import hashlib
from collections.abc import Sequence

from sqlalchemy import bindparam, insert, or_, select, update

from memory.ids import new_id
from memory.store.audit import note
from memory.store.conversations.outbox import notify
from memory.store.engine.database import Row, Tx
from memory.store.errors import WrongState
from memory.store.people.rows import ApprovalRow, ApprovalState, Asking, Notice, Party
from memory.store.rows import moment
from memory.store.schema.columns import among, word
from memory.store.schema.memory_tables import approval as table

# Notices that are told in the same transaction as what they tell of.


async def tell(tx: Tx, notices: Sequence[Notice]) -> None:
    """Put them into the outbox; one whose source is known there is not told again."""
    for notice in notices:
        await notify(tx, notice.conversation, notice.source, notice.out)


_ASK = insert(table)
_ASKED = select(table).where(table.c.call == bindparam("asked"))
_APPROVAL = select(table).where(table.c.id == bindparam("row"))
_FOUND = select(table).where(
    or_(table.c.code_sha256 == bindparam("sha"), table.c.press_sha256 == bindparam("sha")),
    table.c.channel == bindparam("on"),
    table.c.account == bindparam("mine"),
    table.c.subject_id == bindparam("whose"),
)
_ASKED_BEFORE = among(table.c.state, "asked")
_MOVE = (
    update(table)
    .where(table.c.id == bindparam("row"), table.c.state == bindparam("former"))
    .values(state=bindparam("became"))
)
_OVER = update(table).where(table.c.id == bindparam("row")).values(arguments=word(""))
_EXPIRED = (
    update(table)
    .where(_ASKED_BEFORE, table.c.expires <= bindparam("now"))
    .values(state=word("ended"), arguments=word(""))
)
_END = (
    update(table)
    .where(_ASKED_BEFORE, table.c.channel == bindparam("on"), table.c.subject_id == bindparam("whose"))
    .values(state=word("ended"), arguments=word(""))
)


async def ask(tx: Tx, asking: Asking, notices: Sequence[Notice]) -> ApprovalRow:
    """See Access.ask."""
    if known := await tx.one(_ASKED, asked=asking.call):
        return _row(known)
    await tx.run(_EXPIRED, now=tx.now)
    id = new_id(tx.now)
    person = asking.party
    await tx.run(
        _ASK,
        id=id,
        channel=person.channel,
        account=person.account,
        subject_id=person.id,
        conversation=asking.conversation,
        space=asking.space,
        call=asking.call,
        action=asking.action,
        tool=asking.tool,
        arguments=asking.arguments,
        digest=digest(asking.arguments),
        code_sha256=asking.code_sha256,
        press_sha256=asking.press_sha256,
        state="asked",
        expires=asking.expires.timestamp(),
        at=tx.now,
    )
    args = _args(asking.tool, asking.arguments)
    await note(tx, f"ask {asking.action}", asking.conversation, "asked", person.id, args=args)
    await tell(tx, notices)
    return await _one(tx, id)


async def approval(tx: Tx, sha256: str, person: Party) -> ApprovalRow | None:
    row = await tx.one(_FOUND, sha=sha256, on=person.channel, mine=person.account, whose=person.id)
    return _row(row) if row else None


async def move(tx: Tx, id: str, was: ApprovalState, state: ApprovalState) -> bool:
    """See Access.move."""
    row = await _one(tx, id)
    late = state == "running" and row.expires.timestamp() <= tx.now
    if late or not await tx.run(_MOVE, row=id, former=was, became=state):
        return False
    if state != "running":
        await tx.run(_OVER, row=id)  # what was to be written is not kept: it may be the next thing to be forgotten
    await note(tx, row.action, row.conversation, state, row.party.id, args=_args(row.tool, row.arguments))
    return True


async def end_all(tx: Tx, channel: str, person: str) -> int:
    """Nothing that was asked of this person can be approved any more; how many acts that were."""
    return await tx.run(_END, on=channel, whose=person)


def digest(arguments: str) -> str:
    """SHA-256 of arguments as JSON text: what was shown is what is run."""
    return hashlib.sha256(arguments.encode()).hexdigest()


def _args(tool: str, arguments: str) -> dict[str, object]:
    return {"tool": tool, "arguments": arguments}


async def _one(tx: Tx, id: str) -> ApprovalRow:
    row = await tx.one(_APPROVAL, row=id)
    if row is None:
        raise WrongState(f"there is no approval {id}")
    return _row(row)


def _row(row: Row) -> ApprovalRow:
    return ApprovalRow(
        id=row["id"],
        party=Party(channel=row["channel"], account=row["account"], subject="user", id=row["subject_id"]),
        conversation=row["conversation"],
        space=row["space"],
        call=row["call"],
        action=row["action"],
        tool=row["tool"],
        arguments=row["arguments"],
        digest=row["digest"],
        state=row["state"],
        expires=moment(row["expires"]),
        at=moment(row["at"]),
    )
