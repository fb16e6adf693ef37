"""Keeps a restored store from giving back rights that were taken away since, and from doing again
what was done.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, case, delete, func, or_, select, update

from memory.store.audit import append_act
from memory.store.engine.database import Row, Tx, insert_into
from memory.store.people.access import add_grant, load_all_grants
from memory.store.people.rows import GrantRow
from memory.store.schema.memory_tables import (
    access_grant,
    access_request,
    account_link,
    approval,
    forgetting,
    link_code,
)
from memory.store.schema.tables import (
    audit,
    channel_note,
    conversation,
    is_one_of,
    literal_text,
    outbox,
    tool_call,
)

ACTOR = "restore"
_RANK = {"blocked": 0, "user": 1, "admin": 2, "owner": 3}
LOSS_ACTIONS = ("revoke", "unlink")  # acts that take a right away
_COUNT_FORGOTTEN = (
    select(func.count().label("count"))
    .select_from(forgetting)
    .where(
        is_one_of(forgetting.c.state, "confirmed", "removed", "done"),
        forgetting.c.at > bindparam("since"),
    )
)
_SELECT_ANY_CONVERSATION = select(conversation.c.id).limit(1)
_SELECT_ANY_ACT = select(audit.c.seq).limit(1)
_SELECT_LOSSES = select(audit.c.at, audit.c.action, audit.c.subject, audit.c.result).where(
    or_(*(audit.c.action == literal_text(act) for act in LOSS_ACTIONS))
)
_SELECT_NOTES = select(channel_note)
_SELECT_LINKS = select(account_link)
_DELETE_NOTES = delete(channel_note)
_DELETE_LINK = delete(account_link).where(account_link.c.own_space == bindparam("own_space"))
_GRANT_KEY = ("channel", "account", "subject", "subject_id", "group_id")
_DELETE_GRANT = delete(access_grant).where(
    *(access_grant.c[name] == bindparam(name) for name in _GRANT_KEY)
)
# Codes and approvals are valid once, and may have been used since the backup.
_END_PENDING = (
    update(approval)
    .where(is_one_of(approval.c.state, "asked", "approved"))
    .values(state=literal_text("ended")),
    update(access_request)
    .where(
        is_one_of(access_request.c.state, "pending"),
        is_one_of(access_request.c.subject, "user", "owner"),
    )
    .values(state=literal_text("cleared")),
    update(link_code)
    .where(is_one_of(link_code.c.state, "made", "typed", "agreed"))
    .values(state=literal_text("refused")),
    update(forgetting)
    .where(is_one_of(forgetting.c.state, "asked"))
    .values(state=literal_text("dropped")),
)
# Unsent parts may have been sent since the backup: they are sent with the repeat mark, or not at
# all.
_SETTLE_UNSENT = (
    update(outbox)
    .where(is_one_of(outbox.c.state, "pending"))
    .values(
        state=case(
            (outbox.c.kind == literal_text("progress"), literal_text("dropped")),
            else_=outbox.c.state,
        ),
        repeats=case((outbox.c.repeats == 0, 1), else_=outbox.c.repeats),
    )
)
# A call that was planned may have been started since; only an unsafe one must not be started again.
_SETTLE_PLANNED = (
    update(tool_call)
    .where(is_one_of(tool_call.c.state, "planned"), tool_call.c.effect == literal_text("unsafe"))
    .values(state=literal_text("unknown"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedRights:
    """Rights and channel notes in the store that a restore replaces."""

    #: Whether it was ever used; in an unused one, no right was taken away.
    lived: bool
    grants: tuple[GrantRow, ...]
    #: Audit rows of acts that took a right away.
    losses: tuple[Row, ...]
    #: Own space and the space that it is linked to.
    links: frozenset[tuple[str, str]]
    #: Rows of channel_note.
    notes: tuple[Row, ...]
    #: Requests to forget that were confirmed since the backup.
    forgotten: int


async def load_rights(tx: Tx, since: float) -> ReplacedRights:
    """Load the rights and notes of a store that is to be replaced.

    Args:
        since: unix seconds of what replaces it.
    """
    return ReplacedRights(
        lived=bool(
            (await tx.execute(_SELECT_ANY_CONVERSATION)).first()
            or (await tx.execute(_SELECT_ANY_ACT)).first()
        ),
        grants=tuple(await load_all_grants(tx)),
        losses=tuple(dict(row) for row in (await tx.execute(_SELECT_LOSSES)).all()),
        links=frozenset(
            (row["own_space"], row["space"]) for row in (await tx.execute(_SELECT_LINKS)).all()
        ),
        notes=tuple(dict(row) for row in (await tx.execute(_SELECT_NOTES)).all()),
        forgotten=(await tx.execute(_COUNT_FORGOTTEN, since=since)).count(),
    )


async def settle_open_work(tx: Tx) -> None:
    """End codes and approvals, and mark as unknown what may have been sent or started since."""
    for statement in (*_END_PENDING, _SETTLE_UNSENT, _SETTLE_PLANNED):
        await tx.execute(statement)


async def replace_notes(tx: Tx, notes: Sequence[Row]) -> None:
    """Give the channels these notes instead of those that they had."""
    await tx.execute(_DELETE_NOTES)
    for note in notes:
        await tx.execute(insert_into(channel_note), **note)


async def withhold_rights(tx: Tx, before: ReplacedRights) -> tuple[str, ...]:
    """Take away the rights that were taken away since, and carry over the acts that did it; return
    the rights.
    """
    lost = (*await _lower_grants(tx, before), *await _unlink(tx, before))
    await _carry_losses(tx, before)
    return lost


async def _lower_grants(tx: Tx, before: ReplacedRights) -> list[str]:
    """Revoke or lower the grants of the backup that were revoked or lowered since; return them."""
    current_grants, lost = {_grant_key(row): row for row in before.grants}, []
    restored = await load_all_grants(tx)
    for row in restored:
        key, party = _grant_key(row), row.party
        current = current_grants.get(key)
        if current is None and _was_lost(
            before, "revoke", f"{party.channel}//{party.id}", row.at.timestamp()
        ):
            await tx.execute(_DELETE_GRANT, **dict(zip(_GRANT_KEY, key, strict=True)))
        elif current is not None and _RANK.get(current.role, 9) < _RANK.get(row.role, 9):
            await add_grant(tx, current)
        else:
            continue
        lost.append(f"{party.channel}:{party.id} {row.role}")
    known = {_grant_key(row) for row in restored}
    for row in before.grants:
        if row.role == "blocked" and _grant_key(row) not in known:
            await add_grant(tx, row)
    return lost


async def _unlink(tx: Tx, before: ReplacedRights) -> list[str]:
    """Remove the links of the backup that were removed since; return them."""
    lost = []
    for row in (await tx.execute(_SELECT_LINKS)).all():
        own_space = row["own_space"]
        if (own_space, row["space"]) not in before.links and _was_lost(
            before, "unlink", own_space, row["at"]
        ):
            await tx.execute(_DELETE_LINK, own_space=own_space)
            lost.append(f"{own_space} linked to {row['space'] or 'the owner'}")
    return lost


async def _carry_losses(tx: Tx, before: ReplacedRights) -> None:
    """Copy the acts that took rights away since the backup: an older backup, restored later, needs
    them too.
    """
    known = {
        (row["at"], row["action"], row["subject"])
        for row in (await tx.execute(_SELECT_LOSSES)).all()
    }
    for row in before.losses:
        if (row["at"], row["action"], row["subject"]) not in known:
            await append_act(tx, row["action"], row["subject"], row["result"], ACTOR)


def _was_lost(before: ReplacedRights, action: str, subject: str, since: float) -> bool:
    return any(
        row["action"] == action and row["subject"] == subject and row["at"] >= since
        for row in before.losses
    )


def _grant_key(row: GrantRow) -> tuple[str, str, str, str, str]:
    party = row.party
    return (party.channel, party.account, party.subject, party.id, row.group)
