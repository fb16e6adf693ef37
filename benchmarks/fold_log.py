"""What a fold adds to the day's log: appending its section, and indexing it, when the log is
already long.
"""

import asyncio
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cpu_time import cpu_of_this
from benchmarks.measurement import Measurement, median, median_ratio, rounds
from benchmarks.recall_rows import plain_index, synthetic
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.text.word_forms import index_terms
from memory.workspace.daily_log import LogSection, append_section
from memory.workspace.files import SpaceFiles, Workspace

SIZE = 2_000_000  # bytes of the day's log
LINES_A_FOLD = 20
FOLDS, WITHIN = 10, 25.0  # folds that are measured, and the seconds after which none begins
SETTLED = 0.06  # seconds after which a changed file's time can be trusted
AT = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)


async def fold_log() -> list[Measurement]:
    """Measure folds into one day's log, each beside a bare append and a bare insert of the same
    lines.
    """
    lines = synthetic(30_000).lines
    spare, pairs, cpu = iter(reversed(lines)), [], []
    with TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder) / "workspace")
        files = workspace.space("")
        _fill(files, lines)
        store = await open_store(Path(folder) / "mnema.db")
        indexes = FileIndexes(Path(folder) / "index")
        recall = Recall(
            RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=UTC)
        )
        with closing(plain_index(())) as base, (Path(folder) / "bare.md").open("ab") as bare:
            for number in rounds(FOLDS, WITHIN):
                await asyncio.sleep(SETTLED)
                await recall.refresh("")
                section = _section(f"f{number:06}", [next(spare) for _ in range(LINES_A_FOLD)])
                before, began = cpu_of_this(), time.perf_counter()
                append_section(files, section)
                await recall.refresh("")
                between, ended = cpu_of_this(), time.perf_counter()
                _append_bare(bare.fileno(), base, section)
                pairs.append((1_000 * (ended - began), 1_000 * (time.perf_counter() - ended)))
                cpu.append((1_000 * (between - before).own, 1_000 * (cpu_of_this() - between).own))
        await recall.close()
        await store.close()
    return [
        Measurement(
            name=f"append and index a fold, {SIZE / 1e6:g} MB day log",
            ours=median(one for one, _ in pairs),
            floor=median(one for _, one in pairs),
            unit="ms",
            must=15,
            aim=5,
            floor_is=f"{LINES_A_FOLD} lines appended with fsync and inserted into FTS5",
            pair_ratio=median_ratio(pairs),
            cpu=median(one for one, _ in cpu),
            floor_cpu=median(one for _, one in cpu),
        )
    ]


def _fill(files: SpaceFiles, lines: Sequence[str]) -> None:
    """Write a day's log of SIZE bytes, as folds would have written it."""
    text, size, at = [f"# {AT:%Y-%m-%d}\n"], 0, 0
    while size < SIZE:
        section = _section(f"g{at:06}", lines[at : at + LINES_A_FOLD])
        text.append(f"{section.heading}\n\n{section.body}\n")
        size += len(text[-1].encode())
        at = (at + LINES_A_FOLD) % len(lines)
    files.write(f"memory/{AT:%Y-%m-%d}.md", "\n".join(text), None)


def _section(fold: str, lines: Sequence[str]) -> LogSection:
    body = "\n".join(
        f"- 12:{at:02} {'Bot' if at % 2 else 'User'}: {line}" for at, line in enumerate(lines)
    )
    return LogSection(
        fold=fold, channel="web c1", first_turn=1, last_turn=len(lines) // 2, at=AT, body=body
    )


def _append_bare(file: int, base: sqlite3.Connection, section: LogSection) -> None:
    os.write(file, f"{section.heading}\n\n{section.body}\n\n".encode())
    os.fsync(file)
    base.execute("BEGIN")
    for line in section.body.splitlines():
        base.execute("INSERT INTO plain(terms) VALUES (?)", (" ".join(index_terms(line)),))
    base.execute("COMMIT")
