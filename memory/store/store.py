"""One open store: its three doors, and the life it leads."""

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import structlog
from sqlalchemy import bindparam, delete, insert, update

from memory.ids import new_id
from memory.store import audit
from memory.store.audit import AuditLog
from memory.store.conversations.delivery import Delivery
from memory.store.conversations.folds import Folds
from memory.store.conversations.inbox import ChannelNotes
from memory.store.conversations.sessions import Sessions
from memory.store.conversations.turns import release_work
from memory.store.engine.database import Database, OnCommit, Tx
from memory.store.engine.database_file import DatabaseFile
from memory.store.engine.leases import Leases
from memory.store.errors import StoreError
from memory.store.longterm.dreams import DreamRecords
from memory.store.longterm.extractions import ExtractionQueue
from memory.store.longterm.forgetting import ForgetRequests
from memory.store.longterm.links import AccountLinks
from memory.store.longterm.memories import FileLabels, MemoryRecords
from memory.store.maintenance import stats
from memory.store.maintenance.retention import Retention
from memory.store.maintenance.snapshots import snapshot_if_due
from memory.store.maintenance.stats import StoreStats, StoreTotals
from memory.store.people.access import AccessRecords
from memory.store.people.people import People
from memory.store.people.spending import Spending
from memory.store.schema.tables import instance, probe

log = structlog.get_logger(__name__)
_PROBE_CHARACTERS = 4096
CLOSE_SECONDS = 3.0  # for which a server is told that we go; a lease ends by itself soon after
_INSERT_PROBE = insert(probe)
_DELETE_PROBE = delete(probe).where(probe.c.id == bindparam("row"))
_MARK_CLEAN = update(instance).values(clean=bindparam("whole"))


class Store:
    """One open store: its repositories and its own life.

    Methods of repositories may raise StoreFull (disk), StoreBusy (another process holds the database) or
    StoreCorrupt. A method named after a state transition raises WrongState where the state diagram has none such.
    """

    def __init__(
        self,
        database: Database,
        path: Path | None,
        *,
        writable: bool,
        healed: str = "",
        file: DatabaseFile | None = None,
    ) -> None:
        """Bind the repositories to one database.

        Args:
            path: file of the database, None where it is on a server.
            healed: what was done about a damaged file at opening, "" when nothing was.
            file: finds out whether the file is still in its place.
        """
        self.delivery = Delivery(database)
        self.sessions = Sessions(database)
        self.folds = Folds(database)
        self.memories = MemoryRecords(database)
        self.extractions = ExtractionQueue(database)
        self.forgettings = ForgetRequests(database)
        self.links = AccountLinks(database)
        self.dreams = DreamRecords(database)
        self.notes = ChannelNotes(database)
        self.file_labels = FileLabels(database)
        self.access = AccessRecords(database)
        self.leases = Leases(database)
        self.audit = AuditLog(database)
        self.people = People(database)
        self.retention = Retention(database)
        self.spending = Spending(database)
        self.database = database
        self.healed = healed
        self._path = path
        self._file = file
        self._writable = writable

    def set_on_commit(self, on_commit: OnCommit) -> None:
        """From now on tell this one, after each commit, in which lanes there is something to do."""
        self.database.on_commit = on_commit

    def now(self) -> float:
        """Unix seconds by the clock that the store goes by: one for all processes that share it."""
        return self.database.clock()

    async def figures(self) -> StoreStats:
        """What is under way and how the database is, for the metrics; cheap."""
        under_way = await self.database.read(stats.load_stats)
        size, log_size = await self._sizes()
        breaks, busy = dict(self.database.breaks), self.database.busy
        return replace(under_way, prefix_breaks=breaks, busy=busy, db_bytes=size, wal_bytes=log_size)

    async def _sizes(self) -> tuple[int, int]:
        """Bytes of the database and of its log; a server's log is not ours to see."""
        if self._path is None:
            return await self.database.read(stats.size_on_server), 0
        return stats.file_size(self._path), stats.file_size(self._path.with_name(f"{self._path.name}-wal"))

    async def totals(self) -> StoreTotals:
        """What the store counts in all, for the metrics; it reads whole tables, so not for every request."""
        return await self.database.read(stats.load_totals)

    async def note(
        self,
        action: str,
        subject: str,
        result: str,
        actor: str,
        *,
        args: Mapping[str, object] | None = None,
    ) -> None:
        """Add an act to the audit's chain. subject: the conversation or space; result: what came of it, in a word.

        args: what it was asked with, of which a digest is kept. "refused" as a result is a decision against it.
        """
        await self.database.write(audit.append_act, action, subject, result, actor, args=args)

    async def ready(self) -> bool:
        """A write probe: True when a row can be written now."""
        if self.database.is_damaged:
            return False
        try:
            await self.database.write(_write_probe)
        except StoreError:
            return False
        return True

    def file_trouble(self) -> str:
        """That the database file was removed or replaced under us, and what to do; "" otherwise."""
        return self._file.trouble() if self._file else ""

    async def close(self) -> None:
        """Finish what waits, say that the end was a clean one, and keep a snapshot when the last is a day old."""
        if self._writable and not self.database.is_damaged:
            with suppress(StoreError, TimeoutError):  # a full disk, taken over, a server that does not answer
                async with asyncio.timeout(CLOSE_SECONDS if self._path is None else None):
                    await self.database.write(_mark_clean)
                    await self.leases.leave()
        moved = self.file_trouble()  # closing takes the log away
        await self.database.close()
        if self._writable and not self.database.is_damaged and not moved:
            await asyncio.to_thread(self._snapshot)

    def _snapshot(self) -> None:
        if self._path is None:
            return
        try:
            snapshot_if_due(self._path, self.database.clock())
        except (sqlite3.Error, OSError) as err:
            log.warning("no snapshot", error=str(err))


async def _write_probe(tx: Tx) -> None:
    """A row large enough to need room of its own."""
    id = new_id(tx.now)
    await tx.run(_INSERT_PROBE, id=id, padding="." * _PROBE_CHARACTERS)
    await tx.run(_DELETE_PROBE, row=id)


async def _mark_clean(tx: Tx) -> None:
    await release_work(tx)
    await tx.run(_MARK_CLEAN, whole=True)
