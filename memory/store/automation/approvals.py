"""Stores approvals: single acts that wait for a person's consent and run at most once."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import bindparam, or_, select, update

from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.conversations.inbox import accept
from memory.store.conversations.outbox import add_all_notices
from memory.store.engine.database import Row, Tx, insert_into
from memory.store.errors import WrongState
from memory.store.rows import NewInboxRow, Notice, Party, columns_of, from_row
from memory.store.schema.memory_tables import approval as table
from memory.store.schema.tables import is_one_of, literal_text, outbox

# "approved": the person has said yes while a turn ran, after which the call starts.
ApprovalState = Literal[
    "asked", "approved", "running", "done", "failed", "unknown", "denied", "ended"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApproval:
    """An approval to store."""

    party: Party
    conversation: str
    space: str
    #: Unique key of the tool call.
    call: str
    action: str
    tool: str
    #: JSON text, shown to the person.
    arguments: str
    #: Of the code to type.
    code_sha256: str
    #: Of the button's payload.
    press_sha256: str
    expires: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRow:
    """A stored approval."""

    id: str
    party: Party
    conversation: str
    space: str
    call: str
    action: str
    tool: str
    arguments: str
    #: SHA-256 of the arguments.
    digest: str
    state: ApprovalState
    #: UTC.
    expires: datetime
    #: UTC.
    at: datetime


_SELECT = select(
    *columns_of(ApprovalRow, table), table.c.channel, table.c.account, table.c.subject_id
)
_SELECT_BY_CALL = _SELECT.where(table.c.call == bindparam("call"))
_SELECT_ONE = _SELECT.where(table.c.id == bindparam("id"))
_SELECT_OF_SPACE = _SELECT_ONE.where(table.c.space == bindparam("space"))
_SELECT_BY_CODE = _SELECT.where(
    or_(table.c.code_sha256 == bindparam("sha256"), table.c.press_sha256 == bindparam("sha256")),
    table.c.channel == bindparam("channel"),
    table.c.account == bindparam("account"),
    table.c.subject_id == bindparam("subject_id"),
)
_SELECT_RUNNING = _SELECT.where(
    table.c.state == literal_text("running"), table.c.expires > bindparam("since")
)
_SELECT_ASKED = _SELECT.where(
    table.c.space == bindparam("space"),
    is_one_of(table.c.state, "asked"),
    table.c.expires > bindparam("now"),
).order_by(table.c.id)
_SELECT_UNDECIDED = _SELECT.where(is_one_of(table.c.state, "asked", "approved")).order_by(
    table.c.id
)
_SET_STATE = (
    update(table)
    .where(table.c.id == bindparam("id"), table.c.state == bindparam("state"))
    .values(state=bindparam("new_state"))
)
_CLEAR_ARGUMENTS = (
    update(table).where(table.c.id == bindparam("id")).values(arguments=literal_text(""))
)
QUESTION_PREFIX = "approval:"  # of the source of the notice that asks
_SELECT_EXTRAS = select(outbox.c.payload).where(
    outbox.c.source == bindparam("source"), outbox.c.payload != literal_text("")
)
_END = update(table).values(state=literal_text("ended"), arguments=literal_text(""))
_END_EXPIRED = _END.where(is_one_of(table.c.state, "asked"), table.c.expires <= bindparam("now"))
_END_OF_PERSON = _END.where(
    is_one_of(table.c.state, "asked", "approved"),
    table.c.channel == bindparam("channel"),
    table.c.subject_id == bindparam("subject_id"),
)


async def add_approval(tx: Tx, new: NewApproval, notices: Sequence[Notice]) -> ApprovalRow:
    """Store an approval and queue its notices; for a repeated call, return the row of the first."""
    if known := (await tx.execute(_SELECT_BY_CALL, call=new.call)).first():
        return _to_row(known)
    await tx.execute(_END_EXPIRED, now=tx.now)
    columns = asdict(new)
    party = columns.pop("party")
    columns |= {
        "id": new_id(tx.now),
        "channel": party["channel"],
        "account": party["account"],
        "subject_id": party["id"],
        "digest": digest_arguments(new.arguments),
        "state": "asked",
        "expires": new.expires.timestamp(),
        "at": tx.now,
    }
    await tx.execute(insert_into(table), **columns)
    args = {"tool": new.tool, "arguments": new.arguments}
    await append_act(tx, f"ask {new.action}", new.conversation, "asked", new.party.id, args=args)
    await add_all_notices(tx, notices)
    return await _load_one(tx, columns["id"])


async def find_approval(tx: Tx, sha256: str, person: Party) -> ApprovalRow | None:
    """Find a person's approval, in any state, by the hash of its code or of its button's
    payload.
    """
    party = {"channel": person.channel, "account": person.account, "subject_id": person.id}
    row = (await tx.execute(_SELECT_BY_CODE, sha256=sha256, **party)).first()
    return _to_row(row) if row else None


async def find_of_space(tx: Tx, space: str, id: str) -> ApprovalRow | None:
    """Load an approval of a space by its id, in any state."""
    row = (await tx.execute(_SELECT_OF_SPACE, id=id, space=space)).first()
    return _to_row(row) if row else None


async def find_running(tx: Tx, since: datetime) -> list[ApprovalRow]:
    """Load approvals that began to run and have no end, of those that were valid at `since`."""
    return [
        _to_row(row) for row in (await tx.execute(_SELECT_RUNNING, since=since.timestamp())).all()
    ]


async def find_asked(tx: Tx, space: str, now: float) -> list[ApprovalRow]:
    """Load the requests of a space that wait for a decision (now: unix seconds), oldest first."""
    return [_to_row(row) for row in (await tx.execute(_SELECT_ASKED, space=space, now=now)).all()]


async def load_codes(tx: Tx, approvals: Sequence[ApprovalRow]) -> Mapping[str, str]:
    """Load the codes of approvals from the messages that ask for them, by the approval's id.

    No other row holds a code as it is; one whose message was deleted is left out.
    """
    codes = {}
    for approval in approvals:
        source = question_source(approval.call)
        for row in (await tx.execute(_SELECT_EXTRAS, source=source)).all():
            if code := json.loads(row["payload"]).get("code"):
                codes[approval.id] = str(code)
    return codes


def question_source(call: str) -> str:
    """Return the source of the notice that asks for a call's approval."""
    return f"{QUESTION_PREFIX}{call}"


async def find_undecided(tx: Tx) -> list[ApprovalRow]:
    """Load the requests of all spaces whose calls have not begun, oldest first."""
    return [_to_row(row) for row in (await tx.execute(_SELECT_UNDECIDED)).all()]


async def set_state(
    tx: Tx,
    id: str,
    former: ApprovalState,
    state: ApprovalState,
    outcome: NewInboxRow | None = None,
    *,
    by: str = "",
) -> bool:
    """Change an approval's state; False when it is not in state `former`, or the yes comes after it
    expired.

    Args:
        outcome: a message to process, which is stored in the same transaction.
        by: who decided, if it is not the person who was asked.
    """
    row = await _load_one(tx, id)
    is_yes = former == "asked" and state in ("approved", "running")
    is_late = is_yes and row.expires.timestamp() <= tx.now
    if is_late or not (await tx.execute(_SET_STATE, id=id, state=former, new_state=state)).rowcount:
        return False
    # a person may want to forget the arguments, so they are not kept
    if state not in ("approved", "running"):
        await tx.execute(_CLEAR_ARGUMENTS, id=id)
    args = {"tool": row.tool, "arguments": row.arguments}
    await append_act(tx, row.action, row.conversation, state, by or row.party.id, args=args)
    if outcome is not None:
        await accept(tx, [outcome])
    return True


async def end_approvals_of(tx: Tx, channel: str, person: str) -> int:
    """End all approvals of a person whose calls have not begun; returns how many."""
    return (await tx.execute(_END_OF_PERSON, channel=channel, subject_id=person)).rowcount


def digest_arguments(arguments: str) -> str:
    """Hash arguments (JSON text) with SHA-256, to prove that what runs is what was shown."""
    return hashlib.sha256(arguments.encode()).hexdigest()


async def _load_one(tx: Tx, id: str) -> ApprovalRow:
    row = (await tx.execute(_SELECT_ONE, id=id)).first()
    if row is None:
        raise WrongState(f"there is no approval {id}")
    return _to_row(row)


def _to_row(row: Row) -> ApprovalRow:
    columns = {**row}
    channel, account, id = (columns.pop(name) for name in ("channel", "account", "subject_id"))
    return from_row(
        ApprovalRow, columns, party=Party(channel=channel, account=account, subject="user", id=id)
    )
