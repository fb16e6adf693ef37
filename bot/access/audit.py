"""Checkpoints of the audit chain in a file beside the store, so that a truncated chain is noticed.

A person who can write both can make them agree: against them only a copy of the file elsewhere is
evidence.
"""

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import structlog

from memory.store.audit import AuditHead
from memory.store.errors import StoreError
from memory.store.store import Store

log = structlog.get_logger(__name__)
CHECKPOINTS_FILE = "audit_heads"


class AuditCheckpoints:
    """The checkpoint file: one JSON line each, oldest first. All methods block."""

    def __init__(self, data: Path) -> None:
        self._path = data / CHECKPOINTS_FILE

    def known(self) -> list[AuditHead]:
        """Return all checkpoints since the store was last replaced; a line that a crash has cut is
        skipped.
        """
        found: list[AuditHead] = []
        for line in self._lines():
            with suppress(ValueError, KeyError, TypeError):
                held = json.loads(line)
                if "anew" in held:
                    found = []
                else:
                    found.append(AuditHead(seq=int(held["seq"]), hash=str(held["hash"])))
        return found

    def add(self, head: AuditHead, now: datetime) -> None:
        """Append a checkpoint, unless it is the same as the last one.

        Raises:
            OSError: it could not be written.
        """
        if head.seq and head not in self.known()[-1:]:
            self._append({"at": now.isoformat(), "seq": head.seq, "hash": head.hash})

    def invalidate(self, why: str, now: datetime) -> None:
        """Invalidate earlier checkpoints: the store was replaced by a snapshot or a backup.

        Raises:
            OSError: it could not be written.
        """
        if self._path.exists():
            self._append({"at": now.isoformat(), "anew": why})

    def _lines(self) -> Iterator[str]:
        try:
            with self._path.open(encoding="utf-8", errors="replace") as lines:
                yield from lines
        except FileNotFoundError:
            return

    def _append(self, row: dict[str, str | int]) -> None:
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, line.encode())
            os.fsync(handle)
        finally:
            os.close(handle)


async def count_lost_acts(store: Store, data: Path) -> int:
    """Count the acts that the newest checkpoint knows and the database has lost; 0 for none.

    Raises:
        StoreError: the chain cannot be read.
    """
    newest = (await asyncio.to_thread(AuditCheckpoints(data).known))[-1:]
    head = await store.audit.head()
    return max(0, *(known.seq - head.seq for known in newest)) if newest else 0


async def record_checkpoint(store: Store, data: Path, now: datetime) -> None:
    """Append a checkpoint to the file and to the log; if that fails, the log says so and nothing
    else happens.
    """
    try:
        head = await store.audit.head()
        await asyncio.to_thread(AuditCheckpoints(data).add, head, now)
    except (StoreError, OSError) as err:
        log.warning("the end of the chain of acts was not noted", error=type(err).__name__)
        return
    log.info("the chain of acts ends here", seq=head.seq, hash=head.hash)
