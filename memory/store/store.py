"""One open store: its repositories, statistics, readiness and closing."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import structlog
from sqlalchemy import bindparam, delete, true, update

from memory.ids import new_id
from memory.store import audit
from memory.store.audit import AuditLog
from memory.store.automation.background_tasks import TaskRecords
from memory.store.automation.file_versions import FileVersions
from memory.store.automation.heartbeats import Heartbeats
from memory.store.automation.job_runs import JobRuns
from memory.store.automation.jobs import Jobs
from memory.store.automation.mcp import McpRecords
from memory.store.console.conversation_list import ConversationList
from memory.store.console.line_details import LineReads
from memory.store.conversations.delivery import Delivery
from memory.store.conversations.folds.steps import Folds
from memory.store.conversations.inbox import ChannelNotes
from memory.store.conversations.sessions import Sessions
from memory.store.conversations.turns import release_work
from memory.store.engine.database import Database, Tx, insert_into
from memory.store.engine.leases import Leases
from memory.store.engine.sqlite_connection import DatabaseFile, sqlite_errors_as_store_errors
from memory.store.errors import StoreCorrupt, StoreError
from memory.store.longterm.dreams import DreamRecords
from memory.store.longterm.extractions import ExtractionQueue
from memory.store.longterm.file_labels import FileLabels
from memory.store.longterm.forgetting import ForgetRequests
from memory.store.longterm.links import AccountLinks
from memory.store.longterm.memories import MemoryRecords
from memory.store.longterm.outcomes import OutcomeReads
from memory.store.longterm.recall import RecallReads
from memory.store.longterm.views import Views
from memory.store.maintenance import stats
from memory.store.maintenance.repair import RepairReport
from memory.store.maintenance.retention import Retention
from memory.store.maintenance.snapshots import is_snapshot_due, is_sound, take_snapshot
from memory.store.maintenance.stats import StoreStats, StoreTotals
from memory.store.people.access import AccessRecords
from memory.store.people.people import People
from memory.store.people.spending import Spending
from memory.store.people.usage_report import UsageReport
from memory.store.schema.tables import instance, probe

log = structlog.get_logger(__name__)
_PROBE_CHARACTERS = 4096  # enough to need disk space of its own
CLOSE_SECONDS = 3.0  # to release the lease on a server; it expires soon after anyway
_PROBED_ROWS = 2  # changed by one probe: inserted and deleted
_DELETE_PROBE = delete(probe).where(probe.c.id == bindparam("id"))
_MARK_CLEAN = update(instance).values(clean=true())


class Store:
    """One open store with its repositories.

    All methods of repositories may raise StoreFull, StoreBusy and StoreCorrupt. A method that
    changes a state raises WrongState where the row's state does not allow it.
    """

    def __init__(
        self,
        database: Database,
        path: Path | None,
        *,
        writable: bool,
        repaired: RepairReport | None = None,
        file: DatabaseFile | None = None,
    ) -> None:
        """Bind the repositories to one database.

        Args:
            path: file of the database, None where it is on a server.
            repaired: what was done about a damaged file at opening, None for nothing.
            file: detects that the file was moved.
        """
        self.delivery = Delivery(database)
        self.sessions = Sessions(database)
        self.folds = Folds(database)
        self.conversations = ConversationList(database)
        self.line_details = LineReads(database)
        self.memories = MemoryRecords(database)
        self.extractions = ExtractionQueue(database)
        self.outcomes = OutcomeReads(database)
        self.forgettings = ForgetRequests(database)
        self.links = AccountLinks(database)
        self.recall = RecallReads(database)
        self.dreams = DreamRecords(database)
        self.notes = ChannelNotes(database)
        self.file_labels = FileLabels(database)
        self.file_versions = FileVersions(database)
        self.views = Views(database)
        self.jobs = Jobs(database)
        self.tasks = TaskRecords(database)
        self.job_runs = JobRuns(database)
        self.heartbeats = Heartbeats(database)
        self.mcp = McpRecords(database)
        self.access = AccessRecords(database)
        self.leases = Leases(database)
        self.audit = AuditLog(database)
        self.people = People(database)
        self.retention = Retention(database)
        self.spending = Spending(database)
        self.usage_report = UsageReport(database)
        self.database = database
        self.repaired = repaired
        self._path = path
        self._file = file
        self._writable = writable
        self._probed_rows = 0
        #: Rows that were changed up to the newest snapshot; None where that is an earlier
        #: process's.
        self._snapshot_changes: int | None = None

    def now(self) -> float:
        """Return unix seconds by the store's clock, which all processes share."""
        return self.database.clock()

    async def figures(self) -> StoreStats:
        """Load the open work and the state of the database, for the metrics; cheap."""
        loaded = await self.database.read(stats.load_stats)
        if self._path is None:
            size, log_size = await self.database.read(stats.size_on_server), 0
        else:
            size = stats.file_size(self._path)
            log_size = stats.file_size(self._path.with_name(f"{self._path.name}-wal"))
        breaks, busy = dict(self.database.breaks), self.database.busy
        return replace(loaded, prefix_breaks=breaks, busy=busy, db_bytes=size, wal_bytes=log_size)

    async def totals(self) -> StoreTotals:
        """Load totals for the metrics; reads whole tables, so cache the result."""
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
        """Append an act to the audit chain; see memory.store.audit.append_act."""
        await self.database.write(audit.append_act, action, subject, result, actor, args=args)

    async def ready(self) -> bool:
        """Return whether a row can be written now."""
        if self.database.is_damaged:
            return False
        try:
            await self.database.write(_write_probe)
        except StoreError:
            return False
        self._probed_rows += _PROBED_ROWS
        return True

    def file_trouble(self) -> str:
        """Return that the database file was removed or replaced, and what to do; "" otherwise."""
        return self._file.trouble() if self._file else ""

    async def take_due_snapshot(self) -> bool:
        """Take a snapshot where one is due and something has changed since the last; return whether
        it was taken.

        Raises:
            StoreCorrupt: the copy does not pass its check; if the database does not either, it is
                marked as damaged.
            StoreError, OSError: there is no copy.
        """
        path, now = self._path, self.database.clock()
        changes = self.database.changed_rows - self._probed_rows
        if path is None or changes == self._snapshot_changes or self.file_trouble():
            return False
        newest_loss = await self.audit.newest_loss()
        if not await asyncio.to_thread(is_snapshot_due, path, now, newest_loss):
            return False
        try:
            with sqlite_errors_as_store_errors():
                await asyncio.to_thread(take_snapshot, path, now)
        except StoreCorrupt:
            self.database.is_damaged = not await asyncio.to_thread(is_sound, path)
            raise
        self._snapshot_changes = changes
        return True

    async def close(self) -> None:
        """Take a snapshot where one is due, finish waiting writes, and mark the end as clean."""
        if self._writable and not self.database.is_damaged:
            try:
                await self.take_due_snapshot()
            except (StoreError, OSError) as err:
                log.warning("no snapshot", error=str(err))
        if self._writable and not self.database.is_damaged:
            try:
                async with asyncio.timeout(CLOSE_SECONDS if self._path is None else None):
                    await self.database.write(_mark_clean)
                    await self.leases.leave()
            # full disk, lease lost, or a server that does not answer
            except (StoreError, TimeoutError) as err:
                log.warning(
                    "the next start looks after what this process leaves",
                    why=str(err) or type(err).__name__,
                )
        await self.database.close()


async def _write_probe(tx: Tx) -> None:
    id = new_id(tx.now)
    await tx.execute(insert_into(probe), id=id, padding="." * _PROBE_CHARACTERS)
    await tx.execute(_DELETE_PROBE, id=id)


async def _mark_clean(tx: Tx) -> None:
    await release_work(tx)
    await tx.execute(_MARK_CLEAN)
