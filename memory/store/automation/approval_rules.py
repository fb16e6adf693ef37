"""Stores rules of approval: calls that a person has approved for good, until the rule ends or is
revoked.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, func, select, update

from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.engine.database import Row, Tx, insert_into, light
from memory.store.rows import Party, columns_of, from_row
from memory.store.schema.memory_tables import approval_rule as table

MAX_RULES = 50  # of a space
RULE_VALIDITY = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApprovalRule:
    """A rule to store."""

    space: str
    #: Who made it.
    party: Party
    tool: str
    #: JSON text of what it covers.
    command: str
    #: Working folder in the sandbox.
    cwd: str
    #: Level of the sandbox.
    level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRuleRow(NewApprovalRule):
    """A stored rule."""

    id: str
    #: Of its space, from 1; people name it by it.
    number: int
    #: UTC.
    expires: datetime
    #: UTC.
    at: datetime


_SELECT = select(
    *columns_of(ApprovalRuleRow, table), table.c.channel, table.c.account, table.c.person
)
_IN_SPACE = table.c.space == bindparam("space")
_SELECT_VALID = _SELECT.where(_IN_SPACE, table.c.expires > bindparam("now")).order_by(
    table.c.number
)
_SELECT_EQUAL = _SELECT.where(
    _IN_SPACE,
    table.c.tool == bindparam("tool"),
    table.c.command == bindparam("command"),
    table.c.cwd == bindparam("cwd"),
    table.c.level == bindparam("level"),
)
_SELECT_BY_NUMBER = _SELECT.where(_IN_SPACE, table.c.number == bindparam("number"))
_SELECT_LAST = select(func.max(table.c.number).label("number"), func.count().label("count")).where(
    _IN_SPACE
)
_EXTEND = (
    update(table)
    .where(table.c.id == bindparam("id"))
    .values(
        expires=bindparam("new_expires"),
        channel=bindparam("new_channel"),
        account=bindparam("new_account"),
        person=bindparam("new_person"),
    )
)
_DELETE = delete(table).where(table.c.id == bindparam("id"))
_DELETE_EXPIRED = delete(table).where(_IN_SPACE, table.c.expires <= bindparam("now"))
_DELETE_OF_PERSON = delete(table).where(
    table.c.channel == bindparam("channel"), table.c.person == bindparam("person")
)


async def add_rule(tx: Tx, new: NewApprovalRule) -> ApprovalRuleRow | None:
    """Store a rule for `RULE_VALIDITY`; an equal one is extended, and is this person's from then
    on.

    Returns:
        None if the space has `MAX_RULES`.
    """
    await tx.execute(_DELETE_EXPIRED, space=new.space, now=tx.now)
    expires = tx.now + RULE_VALIDITY.total_seconds()
    same = {"tool": new.tool, "command": new.command, "cwd": new.cwd, "level": new.level}
    if known := (await tx.execute(_SELECT_EQUAL, space=new.space, **same)).first():
        await tx.execute(
            _EXTEND,
            id=known["id"],
            new_expires=expires,
            new_channel=new.party.channel,
            new_account=new.party.account,
            new_person=new.party.id,
        )
        number = int(known["number"])
    else:
        last = (await tx.execute(_SELECT_LAST, space=new.space)).first()
        if last and last["count"] >= MAX_RULES:
            return None
        number = ((last["number"] if last else None) or 0) + 1
        party = {"channel": new.party.channel, "account": new.party.account, "person": new.party.id}
        id = new_id(tx.now)
        await tx.execute(
            insert_into(table),
            id=id,
            space=new.space,
            number=number,
            expires=expires,
            at=tx.now,
            **party,
            **same,
        )
    await append_act(
        tx, "approval rule", f"{new.space or 'owner'} {number}", "made", new.party.id, args=same
    )
    row = (await tx.execute(_SELECT_BY_NUMBER, space=new.space, number=number)).first()
    return _to_row(row) if row else None


@light
async def load_rules(tx: Tx, space: str, now: float) -> list[ApprovalRuleRow]:
    """Load the rules of a space that are valid now (unix seconds), by number."""
    return [_to_row(row) for row in (await tx.execute(_SELECT_VALID, space=space, now=now)).all()]


async def revoke_rule(tx: Tx, space: str, number: int, by: str) -> bool:
    """Delete a rule; False if there is none with that number."""
    row = (await tx.execute(_SELECT_BY_NUMBER, space=space, number=number)).first()
    if row is None:
        return False
    await tx.execute(_DELETE, id=row["id"])
    await append_act(tx, "approval rule", f"{space or 'owner'} {number}", "revoked", by)
    return True


async def delete_rules_of(tx: Tx, channel: str, person: str) -> int:
    """Delete the rules that a person made; returns how many."""
    return (await tx.execute(_DELETE_OF_PERSON, channel=channel, person=person)).rowcount


def _to_row(row: Row) -> ApprovalRuleRow:
    columns = {**row}
    channel, account, id = (columns.pop(name) for name in ("channel", "account", "person"))
    return from_row(
        ApprovalRuleRow,
        columns,
        party=Party(channel=channel, account=account, subject="user", id=id),
    )
