"""What is too old is removed at night: conversations, rows of ended work, files that nothing names, old copies."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from memory.forgetting.person_removal import referenced_blobs
from memory.store.store import Store
from memory.workspace.blobs import Blobs

log = structlog.get_logger(__name__)
NIGHT_SECONDS = 600.0  # what a night may take; the next one goes on
TURN_BATCH, ROW_BATCH, CONVERSATION_BATCH = 50, 500, 200  # in one transaction, and conversations looked up at once
# How long a file that nothing names stays: its message may still be on its way into the store.
UNREFERENCED_AGE = timedelta(days=1)
SPENDING_AGE = timedelta(days=35)  # how long at least tokens are counted: /usage tells of 30 days


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionJob:
    """data: the folder of the database and its copies. clock: monotonic seconds. lasts: of one night."""

    store: Store
    blobs: Blobs
    data: Path
    clock: Callable[[], float] = field(default=time.monotonic)
    lasts: float = NIGHT_SECONDS

    async def night(self, days: int, now: datetime) -> dict[str, int]:
        """Remove what is older than so many days, 0 for nothing, and files that nothing names; returns how many."""
        until = self.clock() + self.lasts
        done = {"conversations": 0, "rows": 0, "copies": 0}
        if days:
            before = now - timedelta(days=days)
            done["conversations"] = await self._conversations(before.timestamp(), until)
            done["rows"] = await self._rows(before, min(before, now - SPENDING_AGE), until)
            done["copies"] = await asyncio.to_thread(_remove_database_copies, self.data, before.timestamp())
        done["files"] = await self._files((now - UNREFERENCED_AGE).timestamp(), until)
        if any(done.values()):
            log.info("what was too old is removed", **done)
        return done

    async def _conversations(self, before: float, until: float) -> int:
        gone, awake = 0, set[str]()
        while self.clock() < until:
            found = [id for id in await self.store.retention.old(before, CONVERSATION_BATCH) if id not in awake]
            if not found:
                break
            for id in found:
                fate = await self._thinned(id, before, until)
                gone += fate == "gone"
                if fate != "gone":
                    awake.add(id)
        return gone

    async def _thinned(self, id: str, before: float, until: float) -> str:
        fate = "left"
        while fate == "left" and self.clock() < until:
            fate = await self.store.retention.thin(id, before, TURN_BATCH)
        return fate

    async def _rows(self, ended: datetime, spent: datetime, until: float) -> int:
        gone = 0
        for work, before in ((self.store.retention.ended, ended), (self.store.retention.spent, spent)):
            while self.clock() < until and (some := await work(before.timestamp(), ROW_BATCH)):
                gone += some
        return gone

    async def _files(self, before: float, until: float) -> int:
        old = await asyncio.to_thread(self.blobs.older, before)
        if not old or self.clock() >= until:
            return 0
        unnamed = old - await referenced_blobs(self.store)
        return sum([await asyncio.to_thread(self.blobs.remove_older, name, before) for name in sorted(unnamed)])


def _remove_database_copies(data: Path, before: float) -> int:
    """Copies of the database from before a migration, and damaged ones put aside."""
    found = [*data.glob("*.db.before-*"), *data.glob("*.db.corrupt.*")]
    old = [path for path in found if path.is_file() and path.stat().st_mtime < before]
    for path in old:
        path.unlink()
    return len(old)
