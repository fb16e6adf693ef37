"""One open store: its three doors, and the life it leads."""

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

import structlog
from sqlalchemy import bindparam, delete, insert, update

from memory.conversation import Message, Reduction, Session, Turn
from memory.ids import new_id
from memory.store import audit
from memory.store.audit import AuditLog
from memory.store.conversations.delivery import SqlDelivery
from memory.store.conversations.folds import Folds, SqlFolds
from memory.store.conversations.inbox import ChannelNotes
from memory.store.conversations.sessions import SqlSessions
from memory.store.conversations.traces import Trace
from memory.store.conversations.turns import release_work
from memory.store.engine.database import Database, OnCommit, Tx
from memory.store.engine.database_file import DatabaseFile
from memory.store.engine.leases import Leases
from memory.store.errors import StoreError
from memory.store.longterm.dreams import DreamRecords
from memory.store.longterm.extractions import ExtractionQueue
from memory.store.longterm.file_labels import FileLabels
from memory.store.longterm.forgetting import SqlForgetRequests
from memory.store.longterm.links import AccountLinks
from memory.store.longterm.memories import MemoryRecords
from memory.store.longterm.protocols import ForgetRequests
from memory.store.maintenance import stats
from memory.store.maintenance.retention import Retention
from memory.store.maintenance.snapshots import snapshot_if_due
from memory.store.maintenance.stats import StoreStats, StoreTotals
from memory.store.people.access import AccessRecords, SqlAccessRecords
from memory.store.people.people import People, SqlPeople
from memory.store.people.spending import Spending, SqlSpending
from memory.store.rows import (
    AcceptedRow,
    CallRow,
    ConversationRow,
    FoldPlan,
    InboxRow,
    NewInboxRow,
    NewMessage,
    NewOutboxRow,
    NoteChanges,
    OutboxRow,
    Place,
    PlannedCall,
    PromptSnapshot,
    RecoveryReport,
    SendOutcome,
    TranscriptRow,
    TurnRow,
    TurnState,
    Usage,
)
from memory.store.schema.tables import instance, probe

log = structlog.get_logger(__name__)
_PROBE_CHARACTERS = 4096
CLOSE_SECONDS = 3.0  # for which a server is told that we go; a lease ends by itself soon after
_INSERT_PROBE = insert(probe)
_DELETE_PROBE = delete(probe).where(probe.c.id == bindparam("row"))
_MARK_CLEAN = update(instance).values(clean=bindparam("whole"))


class SqlStore:
    """See memory.store.store.Store.

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
        self.memories = MemoryRecords(database)
        self.extractions = ExtractionQueue(database)
        self.forgettings = SqlForgetRequests(database)
        self.links = AccountLinks(database)
        self.dreams = DreamRecords(database)
        self.notes = ChannelNotes(database)
        self.file_labels = FileLabels(database)
        self.access = SqlAccessRecords(database)
        self.leases = Leases(database)
        self.audit = AuditLog(database)
        self.people = SqlPeople(database)
        self.retention = Retention(database)
        self.spending = SqlSpending(database)
        self.database = database
        self.healed = healed
        self._path = path
        self._file = file
        self._writable = writable

    def set_on_commit(self, on_commit: OnCommit) -> None:
        self.database.on_commit = on_commit

    def now(self) -> float:
        return self.database.clock()

    async def figures(self) -> StoreStats:
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
        await self.database.write(audit.append_act, action, subject, result, actor, args=args)

    async def ready(self) -> bool:
        if self.database.is_damaged:
            return False
        try:
            await self.database.write(_write_probe)
        except StoreError:
            return False
        return True

    def file_trouble(self) -> str:
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


# The store's doors: every transaction of the durable record, as Protocols that any backend passes the suite of.
#
# All methods may raise StoreFull (disk), StoreBusy (another process holds the database) or StoreCorrupt. A method named
# after a state transition refuses one that is not drawn, with WrongState.


class Delivery(Protocol):
    """In by the inbox, out by the outbox: T1, T2, T6 to T8 and what recovery finds."""

    async def accept(self, arrivals: Sequence[NewInboxRow], keep: NoteChanges | None = None) -> list[AcceptedRow]:
        """T1: one transaction for all of them; a known key changes nothing. Makes conversations as needed.

        What was HELD in their conversations may go from now on. keep: what goes into a channel's notes with them.
        """
        ...

    async def waiting(self) -> list[str]:
        """Conversations that have inbox rows in state new (due or not) or running."""
        ...

    async def next_inbox_row(self, conversation: str, now: float) -> InboxRow | None:
        """The lane's next row: a running one first, else of the new ones that are not urgent the oldest that is due at
        `now`, else the one that is due first.
        """
        ...

    async def inbox(self, id: str) -> InboxRow | None: ...

    async def load_batched_rows(self, row: InboxRow) -> list[InboxRow]:
        """What goes into the turn of that row beside it, oldest first: the newest 200 of what was said aside, and the
        rest of its album.
        """
        ...

    async def claim(
        self,
        inbox_id: str,
        user: NewMessage,
        actor: str,
        also: Sequence[InboxRow] = (),
        *,
        body: str = "",
        who: str = "",
    ) -> TurnRow:
        """T2: inbox new -> running, turn made, its user message stored with the inbox row's id.

        also: rows that end with it (see companions). body: of the row, as it was read; Rewritten where an edit came
        between. who: whose budget it counts to (see Spending).
        """
        ...

    async def take_over(self, turn_id: str) -> TurnRow | None:
        """Hold an open turn from now on, whoever held it: its lane runs here."""
        ...

    async def mark_opened(self, inbox_id: str) -> None:
        """Before a row that is still new is opened: from now on the death of this process counts for it."""
        ...

    async def deaths_of_others(self, inbox_id: str, since: float) -> int:
        """How often the process died while it had one other message at work that came in since and was not given up.

        since: unix time.
        """
        ...

    async def begin(self, inbox_id: str) -> bool:
        """Before a command's effect, durable; False where it had begun before. From then on no edit changes the row."""
        ...

    async def settle(self, inbox_id: str, out: Sequence[NewOutboxRow], *, dead: bool = False) -> None:
        """A row that needs no turn (a command, a refusal): inbox -> done and its notices, one transaction.

        dead: it was given up, inbox -> dead.
        """
        ...

    async def finish(
        self,
        turn: TurnRow,
        state: TurnState,
        final: NewMessage | None,
        out: Sequence[NewOutboxRow],
        usage: Sequence[Usage] = (),
        *,
        remember: bool = False,
    ) -> bool:
        """T6: final message, all outbox rows, turn -> state, inbox -> done (dead for interrupted), usage.

        remember: put the turn into the queue of those that are read for lasting facts (see Extractions).
        Returns False and drops `out` (turn -> cancelled) when the epoch has moved since the claim. Calls of the
        turn that are still open get their final state and a result message first.
        """
        ...

    async def notify(self, conversation: str, source: str, out: Sequence[NewOutboxRow]) -> None:
        """Notice rows that answer no inbox row; the same source twice changes nothing."""
        ...

    async def unsent(self) -> list[str]:
        """Conversations that have outbox rows pending or unknown."""
        ...

    async def move(self, arrival: NewInboxRow) -> None:
        """T13 for a chat of which a send was told that it has moved: see Arrival, kind move."""
        ...

    async def has_open_parts(self, conversation: str) -> bool:
        """Whether parts of earlier answers are still on their way."""
        ...

    async def next_outbox_row(self, conversation: str) -> OutboxRow | None:
        """The oldest part that may go next (pending, whatever its not_before), none while one is sending."""
        ...

    async def sending(self, id: str) -> OutboxRow | None:
        """T7: pending -> sending, attempts + 1; None when it is no longer pending."""
        ...

    async def stayed(self, id: str, outcome: SendOutcome) -> OutboxRow | None:
        """T7 and T8 in one, for a part that surely did not leave; None when it is no longer pending."""
        ...

    async def sent(self, id: str, outcome: SendOutcome) -> OutboxRow:
        """T8. "unknown" is settled at once by the diagram: pending again (key valid, or marked), or dropped.

        "failed" fails the later parts of the source too.
        """
        ...

    async def recover(self, now: float, *, alone: bool = True) -> RecoveryReport:
        """R4, R6 to R9 in short transactions; running it twice changes nothing.

        alone: no other process is at work, so what was to overtake its lane, or waited for its album, is nobody's.
        """
        ...


class Sessions(Protocol):
    """What conversations hold: T2 to T6's messages read back, T10, and the transcript."""

    async def load(self, conversation: str, turns: int = 0) -> Session:
        """The session as it may be shown. Touches only live rows (and the newest `turns` of them when > 0)."""
        ...

    async def find(self, channel: str, account: str, chat_id: str, thread_id: str = "") -> ConversationRow | None: ...

    async def conversation(self, id: str) -> ConversationRow | None: ...

    async def conversations(self, channel: str = "", limit: int = 200) -> list[ConversationRow]:
        """Newest first."""
        ...

    async def page(self, cursor: str = "", limit: int = 200, *, own: bool = False) -> tuple[list[ConversationRow], str]:
        """A page of the list, newest first, and the cursor of the next one ("" after the last).

        Conversations that do not move while the pages are read are in exactly one of them; one that gets a message
        meanwhile moves to the front. own: only the owner's, in private.

        Raises:
            ValueError: the cursor is not one of this list.
        """
        ...

    async def changed(self, since: float, limit: int = 200) -> list[ConversationRow]:
        """Those with a message at or after `since` (unix seconds of `Store.now`), newest first."""
        ...

    async def lines(self, conversation: str, before: int = 0, limit: int = 50, after: int = 0) -> list[TranscriptRow]:
        """The transcript, oldest first: the newest `limit` below `before` (0: all), or the first above `after`."""
        ...

    async def messages(self, conversation: str, from_seq: int = 1, to_seq: int = 0, limit: int = 0) -> list[Message]:
        """Stored originals in order of seq, cleared ones included; to_seq 0: to the end."""
        ...

    async def add_step(
        self, turn: TurnRow, message: NewMessage, calls: Sequence[PlannedCall], usage: Usage
    ) -> list[CallRow]:
        """T3: the assistant message, its calls as planned, usage, step + 1. Raises Fenced if the epoch moved."""
        ...

    async def start_calls(self, calls: Sequence[CallRow]) -> None:
        """T4: planned -> started, before the effect."""
        ...

    async def end_calls(self, turn: TurnRow, results: Sequence[tuple[CallRow, str]], message: NewMessage) -> Message:
        """T5: (call, final state) for each, and the one user message that holds all their results."""
        ...

    async def calls(self, turn_id: str) -> list[CallRow]: ...

    async def turn(self, id: str) -> TurnRow | None: ...

    async def reduce(self, conversation: str, reductions: Sequence[Reduction], reason: str) -> None:
        """Record reductions; raises prefix_generation by one when any is new."""
        ...

    async def mark_prefix(self, conversation: str, sha256: str, reason: str) -> int:
        """Note what the prefix (system, tools, model) is now; returns the generation, raised when it changed."""
        ...

    async def snapshot(self, conversation: str) -> PromptSnapshot | None:
        """What the files look like in this conversation's prefix, None where none was taken yet."""
        ...

    async def set_snapshot(self, conversation: str, snapshot: PromptSnapshot, reason: str) -> int:
        """Keep a new one; returns the generation, raised when there was one before and its parts are others now.

        One whose epoch or fold_head is not the conversation's any more changes nothing.
        """
        ...

    async def clear(self, conversation: str, log_only: FoldPlan | None = None, *, by: str = "") -> int:
        """T10; with `log_only` (from /new) that fold is planned with it. Returns the epoch. by: who wants it."""
        ...

    async def undo_clear(self, conversation: str, *, by: str = "") -> bool:
        """Take back the newest clear (epoch + 1 again); False when a clear is not the newest act on the context."""
        ...

    async def choose(self, conversation: str, *, policy: str | None = None, model: str | None = None) -> None: ...

    async def ends(self, space: str) -> dict[str, int]:
        """The next seq of each conversation that is of this very space, linked ones not among them."""
        ...

    async def usage(self, since: datetime, conversation: str = "") -> list[Usage]:
        """Sums per model and purpose."""
        ...

    async def spend(self, conversation: str, spent: Sequence[Usage]) -> None:
        """Tokens of model calls beside a turn (a fold, an extraction)."""
        ...

    async def factor(self, model: str) -> tuple[float, int, float]:
        """(factor, samples, last error in per cent) of the counter for that model; (1.0, 0, 0.0) when unknown."""
        ...

    async def set_factors(self, learned: Mapping[str, tuple[float, int, float]]) -> None:
        """What `factor` tells from now on, by model."""
        ...

    async def idle(self, before: datetime) -> list[str]:
        """Conversations with live turns that nobody wrote in since."""
        ...

    async def import_conversation(self, place: Place, turns: Sequence[Turn]) -> str:
        """A conversation from elsewhere (`mnema sessions import`), all of it in one transaction; returns its id.

        Ids, numbers and places are given anew; times, parts, origins and counts are kept. Nothing of it is sent.
        Refused where there is a conversation at that place.
        """
        ...

    async def delete(self, conversation: str) -> None:
        """A person asked (`mnema sessions delete`): the conversation with all its rows."""
        ...

    async def trace(self, conversation: str, *, of: str = "", sender: str = "", below: int = 0) -> Trace | None:
        """What became of a message here, None for an unknown one. sender: only theirs; below: lines under that number.

        of: a trace id, or the id of a message or of an answer to it; "": of the newest that asked the model.
        """
        ...


class Store(Protocol):
    """One open store: its doors, and its own life."""

    @property
    def delivery(self) -> Delivery: ...

    @property
    def sessions(self) -> Sessions: ...

    @property
    def folds(self) -> Folds: ...

    @property
    def memories(self) -> MemoryRecords: ...

    @property
    def extractions(self) -> ExtractionQueue: ...

    @property
    def dreams(self) -> DreamRecords: ...

    @property
    def forgettings(self) -> ForgetRequests: ...

    @property
    def links(self) -> AccountLinks: ...

    @property
    def notes(self) -> ChannelNotes: ...

    @property
    def file_labels(self) -> FileLabels: ...

    @property
    def access(self) -> AccessRecords: ...

    @property
    def spending(self) -> Spending: ...

    def set_on_commit(self, on_commit: OnCommit) -> None:
        """From now on tell this one, after each commit, in which lanes there is something to do."""
        ...

    def now(self) -> float:
        """Unix seconds by the clock that the record goes by: one for all processes that share it."""
        ...

    async def figures(self) -> StoreStats:
        """What is under way and how the database is, for the metrics; cheap."""
        ...

    async def totals(self) -> StoreTotals:
        """What the record counts in all, for the metrics; it reads whole tables, so not for every request."""
        ...

    @property
    def audit(self) -> AuditLog: ...

    @property
    def people(self) -> People: ...

    @property
    def retention(self) -> Retention: ...

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
        ...

    async def ready(self) -> bool:
        """A write probe: True when a row can be written now."""
        ...

    def file_trouble(self) -> str:
        """That the database file was removed or replaced under us, and what to do; "" otherwise."""
        ...

    async def close(self) -> None: ...
