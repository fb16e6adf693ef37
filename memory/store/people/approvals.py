"""Single acts that wait for their person's yes: asked, found again by a code, run at most once."""

import hashlib
from collections.abc import Sequence

from sqlalchemy import bindparam, insert, or_, select, update

from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.conversations.outbox import add_notices
from memory.store.engine.database import Row, Tx
from memory.store.errors import WrongState
from memory.store.people.rows import ApprovalRow, ApprovalState, NewApproval, Notice, Party
from memory.store.rows import from_unix
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.memory_tables import approval as table

# Notices that are told in the same transaction as what they tell of.


async def add_all_notices(tx: Tx, notices: Sequence[Notice]) -> None:
    """See Delivery.notify."""
    for notice in notices:
        await add_notices(tx, notice.conversation, notice.source, notice.out)


_INSERT = insert(table)
_SELECT_BY_CALL = select(table).where(table.c.call == bindparam("asked"))
_SELECT_ONE = select(table).where(table.c.id == bindparam("row"))
_SELECT_BY_CODE = select(table).where(
    or_(table.c.code_sha256 == bindparam("sha"), table.c.press_sha256 == bindparam("sha")),
    table.c.channel == bindparam("on"),
    table.c.account == bindparam("mine"),
    table.c.subject_id == bindparam("whose"),
)
_IS_ASKED = is_one_of(table.c.state, "asked")
_MOVE = (
    update(table)
    .where(table.c.id == bindparam("row"), table.c.state == bindparam("former"))
    .values(state=bindparam("became"))
)
_CLEAR_ARGUMENTS = update(table).where(table.c.id == bindparam("row")).values(arguments=literal_text(""))
_END_EXPIRED = (
    update(table)
    .where(_IS_ASKED, table.c.expires <= bindparam("now"))
    .values(state=literal_text("ended"), arguments=literal_text(""))
)
_END_OF_PERSON = (
    update(table)
    .where(_IS_ASKED, table.c.channel == bindparam("on"), table.c.subject_id == bindparam("whose"))
    .values(state=literal_text("ended"), arguments=literal_text(""))
)


async def add_approval(tx: Tx, asking: NewApproval, notices: Sequence[Notice]) -> ApprovalRow:
    """Store it and tell its person, one transaction; the same call a second time gives the first one's row."""
    if known := await tx.one(_SELECT_BY_CALL, asked=asking.call):
        return _to_row(known)
    await tx.run(_END_EXPIRED, now=tx.now)
    id = new_id(tx.now)
    person = asking.party
    await tx.run(
        _INSERT,
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
        digest=digest_arguments(asking.arguments),
        code_sha256=asking.code_sha256,
        press_sha256=asking.press_sha256,
        state="asked",
        expires=asking.expires.timestamp(),
        at=tx.now,
    )
    args = _audit_arguments(asking.tool, asking.arguments)
    await append_act(tx, f"ask {asking.action}", asking.conversation, "asked", person.id, args=args)
    await add_all_notices(tx, notices)
    return await _load_one(tx, id)


async def find_approval(tx: Tx, sha256: str, person: Party) -> ApprovalRow | None:
    """That person's, in whatever state, by the hash of its code or of what its button brings."""
    row = await tx.one(_SELECT_BY_CODE, sha=sha256, on=person.channel, mine=person.account, whose=person.id)
    return _to_row(row) if row else None


async def set_state(tx: Tx, id: str, was: ApprovalState, state: ApprovalState) -> bool:
    """False where it is not in that state (any more), or is to leave "asked" for "running" after its time."""
    row = await _load_one(tx, id)
    late = state == "running" and row.expires.timestamp() <= tx.now
    if late or not await tx.run(_MOVE, row=id, former=was, became=state):
        return False
    if state != "running":
        await tx.run(
            _CLEAR_ARGUMENTS, row=id
        )  # what was to be written is not kept: it may be the next thing to be forgotten
    await append_act(
        tx, row.action, row.conversation, state, row.party.id, args=_audit_arguments(row.tool, row.arguments)
    )
    return True


async def end_approvals_of(tx: Tx, channel: str, person: str) -> int:
    """Nothing that was asked of this person can be approved any more; how many acts that were."""
    return await tx.run(_END_OF_PERSON, on=channel, whose=person)


def digest_arguments(arguments: str) -> str:
    """SHA-256 of arguments as JSON text: what was shown is what is run."""
    return hashlib.sha256(arguments.encode()).hexdigest()


def _audit_arguments(tool: str, arguments: str) -> dict[str, object]:
    return {"tool": tool, "arguments": arguments}


async def _load_one(tx: Tx, id: str) -> ApprovalRow:
    row = await tx.one(_SELECT_ONE, row=id)
    if row is None:
        raise WrongState(f"there is no approval {id}")
    return _to_row(row)


def _to_row(row: Row) -> ApprovalRow:
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
        expires=from_unix(row["expires"]),
        at=from_unix(row["at"]),
    )
