"""Looks at a running bot from outside: the kernel's figures of its process, its files, and what it
says at /metrics.
"""

import asyncio
import os
import re
from pathlib import Path

import httpx

from tests.soak.figures import MEBI, Sample
from tests.walk.web import Web

_VALUE = re.compile(r"^(\w+) ([-+.\w]+)$", re.MULTILINE)
# Reads of the number of tasks for one sample, and seconds between them: the least is taken. A task
# that is never ended is in each; those of the answers in progress follow the load, and hid 2 of
# 1,000 answers in an hour.
READS, PAUSE = 4, 0.25


async def look(pid: int, home: Path, web: Web, seconds: float, answers: int) -> Sample:
    """One sample of everything but the tasks of a bot that does not answer, which are then left
    out.

    Takes a second.

    Args:
        seconds: since the start. answers: that people have seen.
    """
    status = Path(f"/proc/{pid}/status").read_text()
    found: Sample = {
        "seconds": seconds,
        "rss": _kernel(status, "VmRSS") / 1024,
        "handles": float(len(os.listdir(f"/proc/{pid}/fd"))),
        "threads": float(_kernel(status, "Threads")),
        "wal": _size(home / "data" / "mnema.db-wal"),
        "database": _size(home / "data" / "mnema.db"),
        "index": sum(map(_size, (home / "data" / "index").rglob("*"))),
        "data": sum(map(_size, (home / "data").rglob("*"))),
        "cpu": _processor_seconds(pid),
        "answers": float(answers),
    }
    tasks = []
    try:
        for number in range(READS):
            await asyncio.sleep(PAUSE if number else 0)
            told = (await web.ask("GET", "/metrics")).raise_for_status().text
            tasks.append(dict(_VALUE.findall(told))["process_asyncio_tasks"])
    except httpx.HTTPError:
        return found
    return {**found, "tasks": min(map(float, tasks))}


def _kernel(status: str, name: str) -> int:
    return int(status.partition(f"{name}:")[2].split()[0])


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _size(path: Path) -> float:
    try:
        return path.stat().st_size / MEBI if path.is_file() else 0.0
    except FileNotFoundError:  # gone since the folder was read
        return 0.0
