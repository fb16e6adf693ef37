"""A record that comes out of a backup: looked at, and made to give nobody back what was taken from them since."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import bindparam, case, delete, func, insert, literal_column, or_, select, update

from memory.store.audit import append_act, find_broken_seq
from memory.store.conversations import ledger
from memory.store.engine.database import Row, Tx
from memory.store.errors import StoreCorrupt, StoreError
from memory.store.maintenance.snapshots import is_sound, read_revision
from memory.store.open import open_store
from memory.store.people.access import add_grant, load_all_grants
from memory.store.people.rows import GrantRow
from memory.store.schema import memory_tables
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.memory_tables import account_link, forgetting, link_code
from memory.store.schema.tables import audit, channel_note, conversation, inbox, message, outbox

T = TypeVar("T")
ACTOR = "restore"
_RANK = {"blocked": 0, "user": 1, "admin": 2, "owner": 3}
_LOSS_ACTIONS = ("revoke", "unlink")  # acts in the audit by which somebody lost something

_COUNT_CONVERSATIONS = (
    select(func.count().label("held")).select_from(conversation).where(conversation.c.listed.is_(True))
)
_COUNT_MESSAGES = select(func.count().label("held")).select_from(message)
_COUNT_WAITING = select(func.count().label("held")).select_from(inbox).where(is_one_of(inbox.c.state, "new", "running"))
_COUNT_FORGOTTEN = (
    select(func.count().label("held"))
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
_INSERT_NOTE = insert(channel_note)
_DELETE_NOTES = delete(channel_note)
_DELETE_LINK = delete(account_link).where(account_link.c.own_space == bindparam("own"))
_DELETE_GRANT = delete(memory_tables.access_grant).where(
    *(
        memory_tables.access_grant.c[name] == bindparam(f"of_{name}")
        for name in ("channel", "account", "subject", "subject_id", "group_id")
    )
)
# What may be used once may have been used since.
_END_PENDING = (
    update(memory_tables.approval)
    .where(is_one_of(memory_tables.approval.c.state, "asked"))
    .values(state=literal_text("ended")),
    update(memory_tables.access_request)
    .where(
        is_one_of(memory_tables.access_request.c.state, "pending"),
        is_one_of(memory_tables.access_request.c.subject, "user", "owner"),
    )
    .values(state=literal_text("cleared")),
    update(link_code)
    .where(is_one_of(link_code.c.state, "made", "typed", "agreed"))
    .values(state=literal_text("refused")),
    update(forgetting).where(is_one_of(forgetting.c.state, "asked")).values(state=literal_text("dropped")),
)
# What was still to be sent may have been sent since: it goes as a repeat, and says so.
_SETTLE_UNSENT = (
    update(outbox)
    .where(is_one_of(outbox.c.state, "pending"))
    .values(
        state=case((outbox.c.kind == literal_text("progress"), literal_column("'dropped'")), else_=outbox.c.state),
        repeats=case((outbox.c.repeats == 0, 1), else_=outbox.c.repeats),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContents:
    """What a record holds."""

    conversations: int
    messages: int
    #: Messages without an answer.
    waiting: int
    #: No row of its chain was altered.
    audit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedRights:
    """What the store that a backup replaces says about rights, and what its channels keep."""

    #: Somebody has talked to the bot, or was let in; in a home that is new nothing was taken from anybody.
    lived: bool
    grants: tuple[GrantRow, ...]
    #: Rows of the audit.
    losses: tuple[Row, ...]
    links: frozenset[tuple[str, str]]
    notes: tuple[Row, ...]
    #: Requests to forget that were confirmed since the backup.
    forgotten: int


async def examine_store(path: Path) -> StoreContents:
    """Look at a record that nobody else has open; an older one gets this version's tables first.

    Raises:
        SchemaNewer: a newer version of this program has written it.
        StoreError: it is damaged, is no record, or its ledger has a fault.
    """
    return await _with_store(path, _count_contents)


async def read_rights(copy: Path, since: float) -> ReplacedRights:
    """What a copy of the store that is to be replaced says. since: unix seconds of the backup.

    Raises:
        StoreError: it cannot be read.
    """
    return await _with_store(copy, lambda tx: _load_rights(tx, since))


async def prepare_restored(path: Path, before: ReplacedRights | None, told: str) -> tuple[str, ...]:
    """Make a record that `examine` has seen fit to be lived in again.

    A role that was taken away or lowered, and a link that was undone, stay so; whoever is blocked stays blocked. All
    codes and approvals end. What was still to be sent is marked as a repeat.

    Args:
        before: of the store that this one replaces; None where there was none.
        told: what the audit says of where the store came from.

    Returns:
        Whom something was not given back to, as `channel:id role`.

    Raises:
        StoreError: it could not be written.
    """
    return await _with_store(path, lambda tx: _prepare(tx, before, told))


async def _with_store(path: Path, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
    """`work` in one transaction; the store is let go of without a snapshot and without calling it cleanly closed."""
    if not await asyncio.to_thread(is_sound, path):  # the store would heal it
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
        conversations=await _count(tx, _COUNT_CONVERSATIONS),
        messages=await _count(tx, _COUNT_MESSAGES),
        waiting=await _count(tx, _COUNT_WAITING),
        audit=await find_broken_seq(tx) == 0,
    )


async def _load_rights(tx: Tx, since: float) -> ReplacedRights:
    return ReplacedRights(
        lived=bool(await tx.one(_SELECT_ANY_CONVERSATION) or await tx.one(_SELECT_ANY_ACT)),
        grants=tuple(await load_all_grants(tx)),
        losses=tuple(dict(row) for row in await tx.all(_SELECT_LOSSES)),
        links=frozenset((row["own_space"], row["space"]) for row in await tx.all(_SELECT_LINKS)),
        notes=tuple(dict(row) for row in await tx.all(_SELECT_NOTES)),
        forgotten=await _count(tx, _COUNT_FORGOTTEN, since=since),
    )


async def _prepare(tx: Tx, before: ReplacedRights | None, told: str) -> tuple[str, ...]:
    for statement in (*_END_PENDING, _SETTLE_UNSENT, _DELETE_NOTES):
        await tx.run(statement)
    lost: list[str] = []
    if before is not None:
        for kept in before.notes:
            await tx.run(_INSERT_NOTE, **kept)
        lost = [*await _lower_grants(tx, before), *await _unlink(tx, before)]
        await _carry_losses(tx, before)
    await append_act(tx, "restore", told, "done", ACTOR)
    return tuple(lost)


async def _lower_grants(tx: Tx, before: ReplacedRights) -> list[str]:
    """Each grant of the backup as far as it still stands."""
    now, lost = {_grant_key(row): row for row in before.grants}, []
    held = await load_all_grants(tx)
    for row in held:
        key, party = _grant_key(row), row.party
        current = now.get(key)
        if current is None and _count_losses(before, "revoke", f"{party.channel}//{party.id}", row.at.timestamp()):
            await tx.run(_DELETE_GRANT, **dict(zip(_KEY, key, strict=True)))
        elif current is not None and _RANK.get(current.role, 9) < _RANK.get(row.role, 9):
            await add_grant(tx, current)
        else:
            continue
        lost.append(f"{party.channel}:{party.id} {row.role}")
    known = {_grant_key(row) for row in held}
    for row in before.grants:
        if row.role == "blocked" and _grant_key(row) not in known:
            await add_grant(tx, row)
    return lost


async def _unlink(tx: Tx, before: ReplacedRights) -> list[str]:
    lost = []
    for row in await tx.all(_SELECT_LINKS):
        own = row["own_space"]
        if (own, row["space"]) not in before.links and _count_losses(before, "unlink", own, row["at"]):
            await tx.run(_DELETE_LINK, own=own)
            lost.append(f"{own} linked to {row['space'] or 'the owner'}")
    return lost


async def _carry_losses(tx: Tx, before: ReplacedRights) -> None:
    """What was lost since stands in this audit too: an earlier backup, restored one day, must not bring it back."""
    known = {(row["at"], row["action"], row["subject"]) for row in await tx.all(_SELECT_LOSSES)}
    for row in before.losses:
        if (row["at"], row["action"], row["subject"]) not in known:
            await append_act(tx, row["action"], row["subject"], row["result"], ACTOR)


def _count_losses(before: ReplacedRights, action: str, subject: str, since: float) -> bool:
    return any(row["action"] == action and row["subject"] == subject and row["at"] >= since for row in before.losses)


_KEY = ("of_channel", "of_account", "of_subject", "of_subject_id", "of_group_id")


def _grant_key(row: GrantRow) -> tuple[str, str, str, str, str]:
    party = row.party
    return (party.channel, party.account, party.subject, party.id, row.group)


async def _count(tx: Tx, statement: object, **values: float) -> int:
    row = await tx.one(statement, **values)  # type: ignore[arg-type]
    return int(row["held"]) if row else 0
