"""Checks a store from a backup, and keeps a restore from giving back rights that were taken away since."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import bindparam, case, delete, func, or_, select, update

from memory.store.audit import append_act, find_broken_seq
from memory.store.conversations import ledger
from memory.store.engine.database import Row, Tx
from memory.store.errors import StoreCorrupt, StoreError
from memory.store.maintenance.snapshots import is_sound, read_revision
from memory.store.open import open_store
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
    inbox,
    is_one_of,
    literal_text,
    message,
    outbox,
)

T = TypeVar("T")
ACTOR = "restore"
_RANK = {"blocked": 0, "user": 1, "admin": 2, "owner": 3}
_LOSS_ACTIONS = ("revoke", "unlink")  # acts that take a right away

_COUNT_CONVERSATIONS = (
    select(func.count().label("count")).select_from(conversation).where(conversation.c.listed.is_(True))
)
_COUNT_MESSAGES = select(func.count().label("count")).select_from(message)
_COUNT_WAITING = (
    select(func.count().label("count")).select_from(inbox).where(is_one_of(inbox.c.state, "new", "running"))
)
_COUNT_FORGOTTEN = (
    select(func.count().label("count"))
    .select_from(forgetting)
    .where(is_one_of(forgetting.c.state, "confirmed", "removed", "done"), forgetting.c.at > bindparam("since"))
)
_SELECT_ANY_CONVERSATION = select(conversation.c.id).limit(1)
_SELECT_ANY_ACT = select(audit.c.seq).limit(1)
_SELECT_LOSSES = select(audit.c.at, audit.c.action, audit.c.subject, audit.c.result).where(
    or_(*(audit.c.action == literal_text(act) for act in _LOSS_ACTIONS))
)
_SELECT_NOTES = select(channel_note)
_SELECT_LINKS = select(account_link)
_DELETE_NOTES = delete(channel_note)
_DELETE_LINK = delete(account_link).where(account_link.c.own_space == bindparam("own_space"))
_GRANT_KEY = ("channel", "account", "subject", "subject_id", "group_id")
_DELETE_GRANT = delete(access_grant).where(*(access_grant.c[name] == bindparam(name) for name in _GRANT_KEY))
# Codes and approvals are valid once, and may have been used since the backup.
_END_PENDING = (
    update(approval).where(is_one_of(approval.c.state, "asked", "approved")).values(state=literal_text("ended")),
    update(access_request)
    .where(is_one_of(access_request.c.state, "pending"), is_one_of(access_request.c.subject, "user", "owner"))
    .values(state=literal_text("cleared")),
    update(link_code)
    .where(is_one_of(link_code.c.state, "made", "typed", "agreed"))
    .values(state=literal_text("refused")),
    update(forgetting).where(is_one_of(forgetting.c.state, "asked")).values(state=literal_text("dropped")),
)
# Unsent parts may have been sent since the backup: they are sent with the repeat mark, or not at all.
_SETTLE_UNSENT = (
    update(outbox)
    .where(is_one_of(outbox.c.state, "pending"))
    .values(
        state=case((outbox.c.kind == literal_text("progress"), literal_text("dropped")), else_=outbox.c.state),
        repeats=case((outbox.c.repeats == 0, 1), else_=outbox.c.repeats),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContents:
    """What a store holds."""

    conversations: int
    messages: int
    #: Messages that are not processed yet.
    waiting: int
    #: No row of the audit chain was altered.
    audit: bool


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


async def examine_store(path: Path) -> StoreContents:
    """Check a store that no process has open; older tables are upgraded first.

    Raises:
        SchemaNewer: a newer version of this program has written it.
        StoreError: it is damaged, not a store, or its ledger has a fault.
    """
    return await _with_store(path, _count_contents)


async def read_rights(copy: Path, since: float) -> ReplacedRights:
    """Read the rights from a copy of the store that a restore replaces.

    Args:
        since: unix seconds of the backup.

    Raises:
        StoreError: it cannot be read.
    """
    return await _with_store(copy, lambda tx: _load_rights(tx, since))


async def prepare_restored(path: Path, before: ReplacedRights | None, source: str) -> tuple[str, ...]:
    """Prepare a checked store for use.

    A role that was revoked or lowered since the backup stays so, as does a removed link; who is blocked stays blocked.
    All codes and approvals end. Unsent parts are marked as repeats.

    Args:
        before: of the store that this one replaces; None where there was none.
        source: where the store came from, for the audit.

    Returns:
        The rights that were not given back, as `channel:id role`.

    Raises:
        StoreError: it could not be written.
    """
    return await _with_store(path, lambda tx: _prepare(tx, before, source))


async def _with_store(path: Path, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
    """Run `work` in one transaction, and close the database without a snapshot and without marking a clean end."""
    if not await asyncio.to_thread(is_sound, path):  # open_store would replace it by a snapshot
        raise StoreCorrupt("SQLite finds the database damaged")
    if not await asyncio.to_thread(read_revision, path):
        raise StoreError("it has no tables of mnema")
    store = await open_store(path)
    try:
        return await store.database.write(work)
    finally:
        await store.database.close()


async def _count_contents(tx: Tx) -> StoreContents:
    if faults := await ledger.check_ledger(tx):
        raise StoreError(f"its ledger has {len(faults)} faults; the first: {faults[0].what}")
    return StoreContents(
        conversations=await tx.count(_COUNT_CONVERSATIONS),
        messages=await tx.count(_COUNT_MESSAGES),
        waiting=await tx.count(_COUNT_WAITING),
        audit=await find_broken_seq(tx) == 0,
    )


async def _load_rights(tx: Tx, since: float) -> ReplacedRights:
    return ReplacedRights(
        lived=bool(await tx.one(_SELECT_ANY_CONVERSATION) or await tx.one(_SELECT_ANY_ACT)),
        grants=tuple(await load_all_grants(tx)),
        losses=tuple(dict(row) for row in await tx.all(_SELECT_LOSSES)),
        links=frozenset((row["own_space"], row["space"]) for row in await tx.all(_SELECT_LINKS)),
        notes=tuple(dict(row) for row in await tx.all(_SELECT_NOTES)),
        forgotten=await tx.count(_COUNT_FORGOTTEN, since=since),
    )


async def _prepare(tx: Tx, before: ReplacedRights | None, source: str) -> tuple[str, ...]:
    for statement in (*_END_PENDING, _SETTLE_UNSENT, _DELETE_NOTES):
        await tx.send(statement)
    lost: list[str] = []
    if before is not None:
        for note in before.notes:
            await tx.insert(channel_note, **note)
        lost = [*await _lower_grants(tx, before), *await _unlink(tx, before)]
        await _carry_losses(tx, before)
    await append_act(tx, "restore", source, "done", ACTOR)
    return tuple(lost)


async def _lower_grants(tx: Tx, before: ReplacedRights) -> list[str]:
    """Revoke or lower the grants of the backup that were revoked or lowered since; return them."""
    current_grants, lost = {_grant_key(row): row for row in before.grants}, []
    restored = await load_all_grants(tx)
    for row in restored:
        key, party = _grant_key(row), row.party
        current = current_grants.get(key)
        if current is None and _was_lost(before, "revoke", f"{party.channel}//{party.id}", row.at.timestamp()):
            await tx.send(_DELETE_GRANT, **dict(zip(_GRANT_KEY, key, strict=True)))
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
    for row in await tx.all(_SELECT_LINKS):
        own_space = row["own_space"]
        if (own_space, row["space"]) not in before.links and _was_lost(before, "unlink", own_space, row["at"]):
            await tx.send(_DELETE_LINK, own_space=own_space)
            lost.append(f"{own_space} linked to {row['space'] or 'the owner'}")
    return lost


async def _carry_losses(tx: Tx, before: ReplacedRights) -> None:
    """Copy the acts that took rights away since the backup: an older backup, restored later, needs them too."""
    known = {(row["at"], row["action"], row["subject"]) for row in await tx.all(_SELECT_LOSSES)}
    for row in before.losses:
        if (row["at"], row["action"], row["subject"]) not in known:
            await append_act(tx, row["action"], row["subject"], row["result"], ACTOR)


def _was_lost(before: ReplacedRights, action: str, subject: str, since: float) -> bool:
    return any(row["action"] == action and row["subject"] == subject and row["at"] >= since for row in before.losses)


def _grant_key(row: GrantRow) -> tuple[str, str, str, str, str]:
    party = row.party
    return (party.channel, party.account, party.subject, party.id, row.group)
