"""A record that comes out of a backup: looked at, and made to give nobody back what was taken from them since."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import bindparam, case, delete, func, insert, literal_column, or_, select, update

from memory.store.audit import broken_at, note
from memory.store.conversations import ledger
from memory.store.engine.database import Row, Tx
from memory.store.errors import StoreCorrupt, StoreError
from memory.store.maintenance.snapshots import revision, sound
from memory.store.open import open_store
from memory.store.people.access import all_grants, grant
from memory.store.people.rows import GrantRow
from memory.store.schema import memory_tables
from memory.store.schema.columns import among, word
from memory.store.schema.memory_tables import account_link, forgetting, link_code
from memory.store.schema.tables import audit, channel_note, conversation, inbox, message, outbox

T = TypeVar("T")
BY = "restore"
_RANK = {"blocked": 0, "user": 1, "admin": 2, "owner": 3}
_TAKEN = ("revoke", "unlink")
"""Acts in the audit by which somebody lost something."""

_CONVERSATIONS = select(func.count().label("held")).select_from(conversation).where(conversation.c.listed.is_(True))
_MESSAGES = select(func.count().label("held")).select_from(message)
_WAITING = select(func.count().label("held")).select_from(inbox).where(among(inbox.c.state, "new", "running"))
_FORGOTTEN = (
    select(func.count().label("held"))
    .select_from(forgetting)
    .where(among(forgetting.c.state, "confirmed", "removed", "done"), forgetting.c.at > bindparam("since"))
)
_LIVED = select(conversation.c.id).limit(1)
_AUDITED = select(audit.c.seq).limit(1)
_LOSSES = select(audit.c.at, audit.c.action, audit.c.subject, audit.c.result).where(
    or_(*(audit.c.action == word(act) for act in _TAKEN))
)
_NOTES = select(channel_note)
_LINKS = select(account_link)
_ADD_NOTE = insert(channel_note)
_DROP_NOTES = delete(channel_note)
_DROP_LINK = delete(account_link).where(account_link.c.own_space == bindparam("own"))
_DROP_GRANT = delete(memory_tables.access_grant).where(
    *(
        memory_tables.access_grant.c[name] == bindparam(f"of_{name}")
        for name in ("channel", "account", "subject", "subject_id", "group_id")
    )
)
_END_ONCE = (
    update(memory_tables.approval).where(among(memory_tables.approval.c.state, "asked")).values(state=word("ended")),
    update(memory_tables.access_request)
    .where(
        among(memory_tables.access_request.c.state, "pending"),
        among(memory_tables.access_request.c.subject, "user", "owner"),
    )
    .values(state=word("cleared")),
    update(link_code).where(among(link_code.c.state, "made", "typed", "agreed")).values(state=word("refused")),
    update(forgetting).where(among(forgetting.c.state, "asked")).values(state=word("dropped")),
)
"""What may be used once may have been used since."""
_UNSENT = (
    update(outbox)
    .where(among(outbox.c.state, "pending"))
    .values(
        state=case((outbox.c.kind == word("progress"), literal_column("'dropped'")), else_=outbox.c.state),
        repeats=case((outbox.c.repeats == 0, 1), else_=outbox.c.repeats),
    )
)
"""What was still to be sent may have been sent since: it goes as a repeat, and says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a record holds. waiting: messages without an answer; audit: no row of its chain was altered."""

    conversations: int
    messages: int
    waiting: int
    audit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the record that a backup replaces says about rights, and what its channels keep.

    lived: somebody has talked to the bot, or was let in; in a home that is new nothing was taken from anybody.
    losses: rows of the audit; forgotten: requests to forget that were confirmed since the backup.
    """

    lived: bool
    grants: tuple[GrantRow, ...]
    losses: tuple[Row, ...]
    links: frozenset[tuple[str, str]]
    notes: tuple[Row, ...]
    forgotten: int


async def examine(path: Path) -> Contents:
    """Look at a record that nobody else has open; an older one gets this version's tables first.

    Raises:
        SchemaNewer: a newer version of this program has written it.
        StoreError: it is damaged, is no record, or its ledger has a fault.
    """
    return await _with(path, _examined)


async def standing(copy: Path, since: float) -> Standing:
    """What a copy of the record that is to be replaced says. since: unix seconds of the backup.

    Raises:
        StoreError: it cannot be read.
    """
    return await _with(copy, lambda tx: _stood(tx, since))


async def settle(path: Path, before: Standing | None, told: str) -> tuple[str, ...]:
    """Make a record that `examine` has seen fit to be lived in again.

    A role that was taken away or lowered, and a link that was undone, stay so; whoever is blocked stays blocked. All
    codes and approvals end. What was still to be sent is marked as a repeat.

    Args:
        before: of the record that this one replaces; None where there was none.
        told: what the audit says of where the record came from.

    Returns:
        Whom something was not given back to, as `channel:id role`.

    Raises:
        StoreError: it could not be written.
    """
    return await _with(path, lambda tx: _settled(tx, before, told))


async def _with(path: Path, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
    """`work` in one transaction; the store is let go of without a snapshot and without calling it cleanly closed."""
    if not await asyncio.to_thread(sound, path):  # the store would heal it
        raise StoreCorrupt("SQLite finds the database damaged")
    if not await asyncio.to_thread(revision, path):
        raise StoreError("it has no tables of mnema")
    store = await open_store(path)
    try:
        return await store.database.write(work)
    finally:
        await store.database.close()


async def _examined(tx: Tx) -> Contents:
    if faults := await ledger.check(tx):
        raise StoreError(f"its ledger has {len(faults)} faults; the first: {faults[0].what}")
    return Contents(
        conversations=await _count(tx, _CONVERSATIONS),
        messages=await _count(tx, _MESSAGES),
        waiting=await _count(tx, _WAITING),
        audit=await broken_at(tx) == 0,
    )


async def _stood(tx: Tx, since: float) -> Standing:
    return Standing(
        lived=bool(await tx.one(_LIVED) or await tx.one(_AUDITED)),
        grants=tuple(await all_grants(tx)),
        losses=tuple(dict(row) for row in await tx.all(_LOSSES)),
        links=frozenset((row["own_space"], row["space"]) for row in await tx.all(_LINKS)),
        notes=tuple(dict(row) for row in await tx.all(_NOTES)),
        forgotten=await _count(tx, _FORGOTTEN, since=since),
    )


async def _settled(tx: Tx, before: Standing | None, told: str) -> tuple[str, ...]:
    for statement in (*_END_ONCE, _UNSENT, _DROP_NOTES):
        await tx.run(statement)
    lost: list[str] = []
    if before is not None:
        for kept in before.notes:
            await tx.run(_ADD_NOTE, **kept)
        lost = [*await _lower(tx, before), *await _unlink(tx, before)]
        await _carry_losses(tx, before)
    await note(tx, "restore", told, "done", BY)
    return tuple(lost)


async def _lower(tx: Tx, before: Standing) -> list[str]:
    """Each grant of the backup as far as it still stands."""
    now, lost = {_key(row): row for row in before.grants}, []
    held = await all_grants(tx)
    for row in held:
        key, party = _key(row), row.party
        current = now.get(key)
        if current is None and _lost(before, "revoke", f"{party.channel}//{party.id}", row.at.timestamp()):
            await tx.run(_DROP_GRANT, **dict(zip(_KEY, key, strict=True)))
        elif current is not None and _RANK.get(current.role, 9) < _RANK.get(row.role, 9):
            await grant(tx, current)
        else:
            continue
        lost.append(f"{party.channel}:{party.id} {row.role}")
    known = {_key(row) for row in held}
    for row in before.grants:
        if row.role == "blocked" and _key(row) not in known:
            await grant(tx, row)
    return lost


async def _unlink(tx: Tx, before: Standing) -> list[str]:
    lost = []
    for row in await tx.all(_LINKS):
        own = row["own_space"]
        if (own, row["space"]) not in before.links and _lost(before, "unlink", own, row["at"]):
            await tx.run(_DROP_LINK, own=own)
            lost.append(f"{own} linked to {row['space'] or 'the owner'}")
    return lost


async def _carry_losses(tx: Tx, before: Standing) -> None:
    """What was lost since stands in this audit too: an earlier backup, restored one day, must not bring it back."""
    known = {(row["at"], row["action"], row["subject"]) for row in await tx.all(_LOSSES)}
    for row in before.losses:
        if (row["at"], row["action"], row["subject"]) not in known:
            await note(tx, row["action"], row["subject"], row["result"], BY)


def _lost(before: Standing, action: str, subject: str, since: float) -> bool:
    return any(row["action"] == action and row["subject"] == subject and row["at"] >= since for row in before.losses)


_KEY = ("of_channel", "of_account", "of_subject", "of_subject_id", "of_group_id")


def _key(row: GrantRow) -> tuple[str, str, str, str, str]:
    party = row.party
    return (party.channel, party.account, party.subject, party.id, row.group)


async def _count(tx: Tx, statement: object, **values: float) -> int:
    row = await tx.one(statement, **values)  # type: ignore[arg-type]
    return int(row["held"]) if row else 0
