"""Reminders under SIGKILL: one that is due is told once, whether it was stored that it is due or
not.
"""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.emulators.model import ModelEmulator
from tests.walk.harness import scene, until
from tests.walk.record import ledger_faults, query, unended
from tests.walk.speech import answer

pytestmark = pytest.mark.kill
SIGKILLED = -9
TOLD = (
    "SELECT text FROM outbox WHERE source LIKE 'job:%' AND source NOT LIKE '%:made' ORDER BY text"
)


def make_due(db: Path, at: float) -> None:
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("UPDATE job SET next_at = ?", (at,))


@pytest.mark.parametrize("point", ["sched.due", "sched.committed"])
async def test_reminders_that_are_due_when_the_process_is_killed_are_told_once(
    tmp_path: Path, point: str
) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer), provider="openai") as talk:
        await talk.bot.start()
        for text in ("feed the cat", "浇花"):
            await talk.web.post("talk", f"/remind 1h {text}")
        await until(lambda: len(query(talk.bot.db, "SELECT 1 FROM job")) == 2, "both are stored")
        await talk.bot.kill()
        make_due(talk.bot.db, time.time())
        await talk.bot.spawn(f"{point}:kill9")  # it may end before it is ready
        assert await talk.bot.ended() == SIGKILLED, talk.bot.complaints()
        fired = len(query(talk.bot.db, "SELECT 1 FROM occurrence"))
        assert fired == (2 if point == "sched.committed" else 0)
        await talk.bot.start()
        await until(lambda: len(query(talk.bot.db, TOLD)) == 2, "both are told")
        await until(lambda: not unended(talk.bot.db), "all is at rest")
        assert [
            "feed the cat" in text or "浇花" in text for (text,) in query(talk.bot.db, TOLD)
        ] == [True, True]
        assert len(query(talk.bot.db, "SELECT 1 FROM occurrence")) == 2
        assert await ledger_faults(talk.bot.db) == []
        assert await talk.bot.term() == 0
