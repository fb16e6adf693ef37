"""Several processes on one workspace: they wait for each other to write, and one of them watches it
for all.
"""

import asyncio
import time
from pathlib import Path

import psycopg
import pytest

from memory.store.postgres.locks import LOCK_CLASS, lock_key
from tests.walk.harness import until
from tests.walk.processes import several
from tests.walk.record import query

pytestmark = [pytest.mark.kill, pytest.mark.postgres]
WAITING = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = ? AND NOT granted"
WATCHING = "SELECT process.name FROM duty JOIN process USING (lease) WHERE duty.name = 'files'"
INDEXED = "SELECT 1 FROM mnema_index.entry WHERE lower(words) LIKE ?"
AGAIN = 2.0


async def test_files_are_written_in_turn_and_watched_by_one_whoever_dies(
    tmp_path: Path, db: str
) -> None:
    async with several(tmp_path, db) as bots:
        gateway, *workers = await bots.start("gateway", "worker", "worker")
        with psycopg.connect(db) as held:
            held.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, lock_key("")])
            new = {
                "content": b"# Notes\n",
                "headers": {"if-none-match": "*", "content-type": "text/markdown"},
            }
            saved = asyncio.create_task(gateway.web.ask("PUT", "/api/memory/files/notes.md", **new))
            await until(
                lambda: query(db, WAITING, LOCK_CLASS), "the gateway waits for its turn to write"
            )
            assert not (gateway.workspace / "notes.md").exists()
        assert (await saved).status_code == 201
        [[name]] = await until(lambda: query(db, WATCHING), "one watches the files")
        await next(bot for bot in workers if f":{bot.pid}:" in name).kill()
        await until(
            lambda: query(db, WATCHING) not in ([], [(name,)]), "the other one watches them"
        )
        await until(
            lambda: _edited(gateway.workspace, db), "what was written by hand is found in the index"
        )


def _edited(workspace: Path, db: str) -> bool:
    """Written again after some time: nobody tells when the watch begins."""
    path = workspace / "MEMORY.md"
    if time.time() - path.stat().st_mtime > AGAIN:
        path.write_text("# Memory\n\n- I keep bees at Xanadu.\n")
    return bool(query(db, INDEXED, "%xanadu%"))
