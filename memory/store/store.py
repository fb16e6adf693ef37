"""One open store: its three doors, and the life it leads."""

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import structlog
from sqlalchemy import bindparam, delete, insert, update

from memory.store import audit, figures
from memory.store.access import SqlAccess
from memory.store.acts_kept import SqlAudit
from memory.store.database import Bell, Database
from memory.store.database_file import DatabaseFile
from memory.store.deaths import put_down
from memory.store.delivery import SqlDelivery
from memory.store.dreams import SqlDreams
from memory.store.engine import Tx
from memory.store.errors import StoreError
from memory.store.extractions import SqlExtractions
from memory.store.figure_records import Figures, Totals
from memory.store.file_labels import SqlFileLabels
from memory.store.folds import SqlFolds
from memory.store.forgettings import SqlForgettings
from memory.store.ids import new_id
from memory.store.leases import Leases
from memory.store.links import SqlLinks
from memory.store.memories import SqlMemoryRecords
from memory.store.notes import SqlNotes
from memory.store.people import SqlPeople
from memory.store.retention import SqlRetention
from memory.store.sessions import SqlSessions
from memory.store.snapshots import snapshot_if_due
from memory.store.spending import SqlSpending
from memory.store.tables import instance, probe

log = structlog.get_logger(__name__)
_PROBE_LETTERS = 4096
GOODBYE_SECONDS = 3.0
"""For which a server is told that we go; a lease ends by itself soon after."""
_ADD_PROBE = insert(probe)
_END_PROBE = delete(probe).where(probe.c.id == bindparam("row"))
_CLEAN = update(instance).values(clean=bindparam("whole"))


class SqlStore:
    """See memory.store.doors.Store.

    path: of a database that is a file. healed: what was done about a damaged one at opening, "" when nothing was.
    file: tells whether it still stands there.
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
        self.delivery = SqlDelivery(database)
        self.sessions = SqlSessions(database)
        self.folds = SqlFolds(database)
        self.memories = SqlMemoryRecords(database)
        self.extractions = SqlExtractions(database)
        self.forgettings = SqlForgettings(database)
        self.links = SqlLinks(database)
        self.dreams = SqlDreams(database)
        self.notes = SqlNotes(database)
        self.file_labels = SqlFileLabels(database)
        self.access = SqlAccess(database)
        self.leases = Leases(database)
        self.audit = SqlAudit(database)
        self.people = SqlPeople(database)
        self.retention = SqlRetention(database)
        self.spending = SqlSpending(database)
        self.database = database
        self.healed = healed
        self._path = path
        self._file = file
        self._writable = writable

    def rings(self, bell: Bell) -> None:
        self.database.bell = bell

    def now(self) -> float:
        return self.database.clock()

    async def figures(self) -> Figures:
        under_way = await self.database.read(figures.figures)
        size, log_size = await self._sizes()
        breaks, busy = dict(self.database.breaks), self.database.busy
        return replace(under_way, prefix_breaks=breaks, busy=busy, db_bytes=size, wal_bytes=log_size)

    async def _sizes(self) -> tuple[int, int]:
        """Bytes of the database and of its log; a server's log is not ours to see."""
        if self._path is None:
            return await self.database.read(figures.size_on_server), 0
        return figures.size_of(self._path), figures.size_of(self._path.with_name(f"{self._path.name}-wal"))

    async def totals(self) -> Totals:
        return await self.database.read(figures.totals)

    async def note(
        self,
        action: str,
        subject: str,
        result: str,
        actor: str,
        *,
        args: Mapping[str, object] | None = None,
    ) -> None:
        await self.database.write(audit.note, action, subject, result, actor, args=args)

    async def ready(self) -> bool:
        if self.database.suspect:
            return False
        try:
            await self.database.write(_try_a_row)
        except StoreError:
            return False
        return True

    def file_trouble(self) -> str:
        return self._file.trouble() if self._file else ""

    async def close(self) -> None:
        """Finish what waits, say that the end was a clean one, and keep a snapshot when the last is a day old."""
        if self._writable and not self.database.suspect:
            with suppress(StoreError, TimeoutError):  # a full disk, taken over, a server that does not answer
                async with asyncio.timeout(GOODBYE_SECONDS if self._path is None else None):
                    await self.database.write(_mark_clean)
                    await self.leases.leave()
        moved = self.file_trouble()  # closing takes the log away
        await self.database.close()
        if self._writable and not self.database.suspect and not moved:
            await asyncio.to_thread(self._snapshot)

    def _snapshot(self) -> None:
        if self._path is None:
            return
        try:
            snapshot_if_due(self._path, self.database.clock())
        except (sqlite3.Error, OSError) as err:
            log.warning("no snapshot", error=str(err))


async def _try_a_row(tx: Tx) -> None:
    """A row large enough to need room of its own."""
    id = new_id(tx.now)
    await tx.run(_ADD_PROBE, id=id, padding="." * _PROBE_LETTERS)
    await tx.run(_END_PROBE, row=id)


async def _mark_clean(tx: Tx) -> None:
    await put_down(tx)
    await tx.run(_CLEAN, whole=True)
