"""Checks a store from a backup, and keeps a restore from giving back rights that were taken away
since.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import func, select

from memory.store.audit import append_act, find_broken_seq
from memory.store.conversations.folds import ledger
from memory.store.engine.database import Tx
from memory.store.errors import StoreCorrupt, StoreError
from memory.store.maintenance.replaced_rights import (
    ACTOR,
    ReplacedRights,
    load_rights,
    replace_notes,
    settle_open_work,
    withhold_rights,
)
from memory.store.maintenance.snapshots import is_sound, read_revision
from memory.store.open import open_store
from memory.store.schema.tables import conversation, inbox, is_one_of, message

T = TypeVar("T")

_COUNT_CONVERSATIONS = (
    select(func.count().label("count"))
    .select_from(conversation)
    .where(conversation.c.listed.is_(True))
)
_COUNT_MESSAGES = select(func.count().label("count")).select_from(message)
_COUNT_WAITING = (
    select(func.count().label("count"))
    .select_from(inbox)
    .where(is_one_of(inbox.c.state, "new", "running"))
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


async def examine_store(path: Path) -> StoreContents:
    """Check a store that no process has open; older tables are upgraded first.

    Raises:
        SchemaNewer, SchemaTooOld: this version can neither open nor upgrade its tables.
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
    return await _with_store(copy, lambda tx: load_rights(tx, since))


async def prepare_restored(
    path: Path, before: ReplacedRights | None, source: str
) -> tuple[str, ...]:
    """Prepare a checked store for use.

    A role that was revoked or lowered since the backup stays so, as does a removed link; who is
    blocked stays blocked. All codes and approvals end. Unsent parts are marked as repeats.

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
    """Run `work` in one transaction, and close the database without a snapshot and without marking
    a clean end.
    """
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
        conversations=(await tx.execute(_COUNT_CONVERSATIONS)).count(),
        messages=(await tx.execute(_COUNT_MESSAGES)).count(),
        waiting=(await tx.execute(_COUNT_WAITING)).count(),
        audit=await find_broken_seq(tx) == 0,
    )


async def _prepare(tx: Tx, before: ReplacedRights | None, source: str) -> tuple[str, ...]:
    await settle_open_work(tx)
    await replace_notes(tx, before.notes if before else ())
    lost = await withhold_rights(tx, before) if before else ()
    await append_act(tx, "restore", source, "done", ACTOR)
    return lost
