"""I1 at a power cut: what SQLite has synced when a call returns, and what a store makes of only
that.

`Disk` follows the real settings of the writing connection: each COMMIT under `synchronous=FULL`
syncs the log, as does each `os.fsync` of its file. An image of the disk is the database file with
the log as far as it was synced then.
"""

import asyncio
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memory.store.engine.database import is_soft
from memory.store.errors import WrongState
from memory.store.open import open_store
from memory.store.rows import SendOutcome
from memory.store.store import Store
from tests.contracts.store_words import SPENT, arrival, begin, call, parts, reply, results, words
from tests.memory.store.conftest import SqliteRecord

FULL = "2"
# Of the transactions T1 to T14: T2, T8, usage and its calibration, and the moves of the extraction
# queue.
SOFT = (
    "claim_turn",
    "mark_opened",
    "settle_sent",
    "settle_sent_and_look",
    "add_usage",
    "set_factors",
    "take_next",
    "set_state",
    "move_queued",
)


class Disk:
    """What of the log is on the disk."""

    def __init__(self, path: Path, store: Store, patch: pytest.MonkeyPatch) -> None:
        self.path, self.log = path, path.with_name(f"{path.name}-wal")
        self.synced = self.log.stat().st_size
        self.synced_by_itself = asyncio.Event()
        self._level = FULL
        self._commits = [0]
        self._after: Callable[[], None] = lambda: None
        writer = store.database._writer  # type: ignore[attr-defined]
        writer._conn.set_trace_callback(self._traced)
        self._fsync = os.fsync
        self._loop = asyncio.get_running_loop()
        patch.setattr(os, "fsync", self._synced)

    def image(self, folder: Path) -> Path:
        """Copy what a power cut would leave now."""
        self._settle()
        folder.mkdir()
        copy = folder / self.path.name
        shutil.copyfile(self.path, copy)
        copy.with_name(self.log.name).write_bytes(self.log.read_bytes()[: self.synced])
        return copy

    def _traced(self, statement: str) -> None:
        self._settle()
        if statement.startswith("PRAGMA synchronous="):
            self._level = statement.removeprefix("PRAGMA synchronous=")
        elif statement == "COMMIT" and self._level == FULL:
            self._after = self._sync  # the log is written after this call

    def _settle(self) -> None:
        self._after()
        self._after = lambda: None

    def _sync(self) -> None:
        self.synced = _committed_bytes(self.log)

    def _synced(self, fd: int) -> None:
        self._fsync(fd)
        if os.fstat(fd).st_ino == self.log.stat().st_ino:
            self._sync()
            self._loop.call_soon_threadsafe(self.synced_by_itself.set)


def _committed_bytes(log: Path) -> int:
    """The length of the log up to its last commit: frames of the first salt, and after them what is
    older.
    """
    content = log.read_bytes()
    page, end = int.from_bytes(content[8:12], "big"), 32
    for at in range(32, len(content) - 24 - page + 1, page + 24):
        if content[at + 8 : at + 16] != content[16:24]:
            break
        if content[at + 4 : at + 8] != b"\0\0\0\0":
            end = at + 24 + page
    return end


async def _states(path: Path) -> dict[str, list[str]]:
    """The states that a store opened on this file finds, by table."""
    store = await open_store(path)
    await store.close()
    with closing(sqlite3.connect(path)) as opened:
        tables = ("inbox", "turn", "tool_call", "outbox")
        return {
            table: [state for (state,) in opened.execute(f"SELECT state FROM {table}")]
            for table in tables
        }


async def test_I01_what_a_power_cut_leaves_of_a_turn(
    record: SqliteRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await record.open(soft_seconds=3600.0)
    await store.delivery.accept([arrival("first of all", at=None)])
    disk = Disk(record.path, store, monkeypatch)
    [row] = await store.delivery.accept([arrival("k1")])
    images = {"accepted": disk.image(tmp_path / "accepted")}
    turn = await store.delivery.claim(row.id, words(), "u1")
    images["claimed"] = disk.image(tmp_path / "claimed")
    [planned] = await store.sessions.add_step(turn, reply(), [call("c1", "unsafe")], SPENT)
    await store.sessions.start_calls([planned])
    images["started"] = disk.image(tmp_path / "started")
    await store.sessions.end_calls(turn, [(planned, "done")], results(planned))
    images["called"] = disk.image(tmp_path / "called")
    await store.delivery.finish_and_look(turn, "done", reply(), parts("yes"), [SPENT])
    images["finished"] = disk.image(tmp_path / "finished")
    part = await store.delivery.next_outbox_row(turn.conversation)
    assert part is not None
    await store.delivery.mark_sending(part.id)
    images["sending"] = disk.image(tmp_path / "sending")
    await store.delivery.settle_sent(part.id, SendOutcome(state="sent", platform_id="p"))
    images["sent"] = disk.image(tmp_path / "sent")
    states = {name: await _states(path) for name, path in images.items()}
    expected = {
        "accepted": (["new", "new"], [], [], []),
        "claimed": (["new", "new"], [], [], []),  # soft: the message is claimed again
        "started": (["new", "running"], ["waiting"], ["started"], []),
        "called": (["new", "running"], ["running"], ["done"], []),
        "finished": (["new", "done"], ["done"], ["done"], ["pending"]),
        "sending": (["new", "done"], ["done"], ["done"], ["sending"]),
        # soft: recovered as of unknown fate
        "sent": (["new", "done"], ["done"], ["done"], ["sending"]),
    }
    assert {name: tuple(found.values()) for name, found in states.items()} == expected


async def test_I01_a_soft_commit_is_on_the_disk_soon_by_itself(
    record: SqliteRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await record.open()
    await store.delivery.accept([arrival("first of all")])
    disk = Disk(record.path, store, monkeypatch)
    await begin(store, "k1")
    await asyncio.wait_for(disk.synced_by_itself.wait(), 10)
    assert (await _states(disk.image(tmp_path / "later")))["turn"] == ["running"]


async def test_I01_a_soft_commit_during_a_sync_is_synced_by_the_next(record: SqliteRecord) -> None:
    store = await record.open()
    keeper = store.database._log_keeper  # type: ignore[attr-defined]
    begun, go_on, syncs = asyncio.Event(), threading.Event(), []
    loop = asyncio.get_running_loop()

    class File:
        def log_bytes(self) -> int:
            return 0

        def sync_log(self) -> None:
            syncs.append(1)
            loop.call_soon_threadsafe(begun.set)
            assert go_on.wait(20)

    keeper._file = File()
    keeper.note_commit(synced=False)
    await asyncio.wait_for(begun.wait(), 20)
    keeper.note_commit(synced=True)
    keeper.note_commit(synced=False)
    begun.clear()
    go_on.set()
    await asyncio.wait_for(begun.wait(), 20)
    assert len(syncs) == 2


async def test_I01_a_hard_commit_covers_the_soft_ones_before_it(
    record: SqliteRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await record.open(soft_seconds=3600.0)
    await store.delivery.accept([arrival("first of all")])
    disk = Disk(record.path, store, monkeypatch)
    await begin(store, "k1")
    await store.delivery.accept([arrival("k2")])
    assert (await _states(disk.image(tmp_path / "covered")))["turn"] == ["running"]


async def test_I01_units_that_share_a_commit_are_as_durable_as_the_most_durable(
    record: SqliteRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await record.open(soft_seconds=3600.0)
    [row] = await store.delivery.accept([arrival("k1")])
    disk = Disk(record.path, store, monkeypatch)
    await asyncio.gather(
        store.delivery.claim(row.id, words(), "u1"), store.delivery.accept([arrival("k2")])
    )
    assert (await _states(disk.image(tmp_path / "shared")))["inbox"] == ["running", "new"]


async def test_I01_a_soft_commit_of_a_closed_store_is_on_the_disk(
    record: SqliteRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await record.open(soft_seconds=3600.0)
    await begin(store, "k1")
    # so that closing does not copy the log into the file
    reading = await record.open(writable=False)
    disk = Disk(record.path, store, monkeypatch)
    disk.synced = 0
    await store.close()
    assert (await _states(disk.image(tmp_path / "closed")))["turn"] == ["running"]
    await reading.close()


async def test_a_soft_unit_that_fails_changes_nothing(record: SqliteRecord) -> None:
    store = await record.open()
    turn = await begin(store, "k1")
    with pytest.raises(WrongState):
        await store.delivery.claim(turn.inbox_id, words(), "u1")
    assert (await store.delivery.inbox(turn.inbox_id)).state == "running"  # type: ignore[union-attr]


def test_the_soft_commits_are_those_that_recovery_repeats() -> None:
    from memory.store.conversations import outbox, turns, usage
    from memory.store.longterm import extractions

    units = [
        getattr(module, name)
        for module in (turns, outbox, usage, extractions)
        for name in dir(module)
    ]
    assert {unit.__name__ for unit in units if callable(unit) and is_soft(unit)} == set(SOFT)


async def test_I26_the_log_is_copied_into_the_file_beside_the_commits(record: SqliteRecord) -> None:
    """More commits than bring a checkpoint, and the log is as long as one interval of them, not as
    all.
    """
    store = await record.open()
    lengths = []
    for number in range(12):
        for at in range(50):
            await store.delivery.accept([arrival(f"{number}/{at}", "x" * 4000)])
        lengths.append(record.path.with_name(f"{record.path.name}-wal").stat().st_size)
    assert lengths[-1] <= 3 * lengths[1]
