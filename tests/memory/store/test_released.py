"""A database that any released version left with open work is upgraded with all rows and used further.

`released/` has one dump for each revision: r0001 to r0003, r0005, r0006 and r0008 to r0013 by the last code of that
revision, a bot that was killed with a fold, a tool and a send under way; r0004 never was a release's newest, it is
r0003's with that step. Rows of tables that such a life leaves empty were written by hand.
"""

import asyncio
import os
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory.store.open import open_store
from memory.store.schema.create import HEAD
from memory.store.schema.migrations.upgrade import upgrade
from memory.store.schema.tables import REVISIONS
from tests.by_night import first_by_day
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.memory.store.conftest import SqliteRecord
from tests.memory.store.releasing import RELEASED
from tests.memory.store.test_opening import OPENED, shape
from tests.walk.harness import OWNER, scene, until
from tests.walk.machine import check_valid
from tests.walk.record import ledger_faults, query, unended
from tests.walk.speech import answer, asked

ROOT = Path(__file__).parents[3]
NEVER_ALONE = ("r0007",)  # revisions that came together with a later one, so that no record was ever left at them
OLDER = [revision for revision in REVISIONS if revision not in (HEAD, *NEVER_ALONE)]
released = pytest.mark.parametrize("revision", OLDER)
ALL = int(os.environ.get("MNEMA_KILLS", "0")) >= 100
# Kills and whole lives of every version are for the night; the first and the last one are for every day.
killed = pytest.mark.parametrize("revision", OLDER if ALL else (OLDER[0], OLDER[-1]))
AGO = 1_000  # the number of the next message in the chat: a lower one has been heard
# Tables that say who has the record open and which version it has.
OURS = ("instance", "alembic_version", "process", "duty")
# Turns in the view of each conversation as the dumps were left, but for the longest: some talk of memory too.
TURNS = {"work": 3, "old": 1, "new": 1, "late": 3, "tool": 1, "picture": 1, OWNER: 2}
LONGER = ("r0003", "r0004", "r0005", "r0006", "r0007")  # dumps of lives with one turn more in the longest
Rows = dict[str, list[tuple[Any, ...]]]


def restored(path: Path, revision: str) -> Path:
    """Restore the database as that version left it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as held:
        held.execute("PRAGMA auto_vacuum=INCREMENTAL")
        held.execute("PRAGMA journal_mode=WAL")
        held.executescript((RELEASED / f"{revision}.sql").read_text())
    path.chmod(0o600)
    return path


def columns(path: Path) -> dict[str, list[str]]:
    """Return the columns of every table that holds data of people."""
    with closing(sqlite3.connect(path)) as held:
        names = [row[0] for row in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: [row[1] for row in held.execute(f"PRAGMA table_info({name})")] for name in names if name not in OURS
        }


def content(path: Path, wanted: dict[str, list[str]]) -> Rows:
    """Return all rows of these tables with these columns."""
    with closing(sqlite3.connect(path)) as held:
        return {name: _rows(held, name, known) for name, known in wanted.items()}


def _rows(held: sqlite3.Connection, name: str, known: list[str]) -> list[tuple[Any, ...]]:
    listed = ", ".join(f'"{column}"' for column in known)
    return sorted(held.execute(f"SELECT {listed} FROM {name}"), key=repr)


def test_I28_every_version_before_this_one_has_its_dump() -> None:
    missing = [revision for revision in OLDER if not (RELEASED / f"{revision}.sql").exists()]
    assert not missing, "check out the last commit of that revision and run python -m tests.memory.store.releasing"


@released
def test_I28_a_dump_has_the_tables_of_its_version_and_something_in_each(tmp_path: Path, revision: str) -> None:
    old = restored(tmp_path / "old.db", revision)
    upgrade(tmp_path / "new.db", revision)
    assert {**shape(old), "instance": 0} == {**shape(tmp_path / "new.db"), "instance": 0}
    empty = {name for name, rows in content(old, columns(old)).items() if not rows}
    assert empty <= {"probe", "removal"}


@released
async def test_I28_a_released_record_is_brought_up_with_all_it_holds(tmp_path: Path, revision: str) -> None:
    record = SqliteRecord(restored(tmp_path / "m.db", revision))
    known = columns(record.path)
    before = content(record.path, known)
    store = await record.open()
    assert content(record.path, known) == before
    assert [kept.name for kept in tmp_path.glob("*.before-*")] == [f"m.db.before-{HEAD}-from-{revision}"]
    kept = tmp_path / f"m.db.before-{HEAD}-from-{revision}"
    assert content(kept, known) == before
    assert await store.folds.check_ledger() == []
    held = {}
    for row in await store.sessions.conversations():
        session = await store.sessions.load(row.id)
        held[row.place.chat_id] = len(session.turns)
        if not session.running:
            check_valid(session)
    assert held == {**TURNS, "garden": 5 if revision in LONGER else 4}
    await store.close()


@pytest.mark.kill
@killed
@pytest.mark.parametrize("point", first_by_day(2, ["mig.step@last", "mig.done@1", "mig.backed_up@1", "mig.step@1"]))
async def test_I28_a_kill_on_the_way_from_any_version_leaves_one_version_whole(
    tmp_path: Path, revision: str, point: str
) -> None:
    path = restored(tmp_path / "m.db", revision)
    known = columns(path)
    before = content(path, known)
    steps = REVISIONS[REVISIONS.index(revision) + 1 :]
    last = len(steps)
    code = await _opened(path, point.replace("last", str(last)))
    assert code == -signal.SIGKILL
    [(found,)] = query(path, "SELECT version_num FROM alembic_version")
    assert (
        found
        in {
            "mig.backed_up@1": {revision},
            "mig.step@1": {revision},
            "mig.step@last": {[revision, *steps][-2]},
            "mig.done@1": {HEAD},
        }[point]
    )
    assert content(path, known) == before
    store = await open_store(path)
    assert store.repaired is None
    assert await store.folds.check_ledger() == []
    await store.close()
    assert content(path, known) == before


async def _opened(path: Path, point: str) -> int:
    """Return the exit code of a process that opens the database and is killed at this failpoint."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OPENED, str(path)),
        cwd=ROOT,
        env={**os.environ, "MNEMA_TEST": "1", "MNEMA_FP": f"{point}:kill9"},
    )
    return await process.wait()


@pytest.mark.kill
@killed
async def test_I28_a_bot_lives_on_in_a_released_record(tmp_path: Path, revision: str) -> None:
    """Check that the open work is finished and the next message is answered."""
    restored(tmp_path / "data" / "mnema.db", revision)
    model = ModelEmulator(responder=answer)
    async with TelegramEmulator() as telegram, scene(tmp_path, model, telegram.url, provider="openai") as talk:
        telegram.chat(int(OWNER), next_id=AGO)
        await talk.bot.start()
        await until(lambda: not unended(talk.bot.db), "everything that was open is at its end")
        tool = await talk.web.lines("tool")
        assert [line["text"] for line in tool if line["role"] == "assistant"] == ["re «x1»", "re «x2»"]
        assert (tmp_path / "workspace" / "notes" / "x.md").read_text() == "x"
        await until(lambda: not query(talk.bot.db, OPEN_FOLDS), "the fold is at its end")
        assert await talk.say("garden", asked("now")) == "re «now»"
        telegram.inject(asked("later"), user=int(OWNER))
        await until(lambda: "later" in str(telegram.sent(int(OWNER))), "the chat is answered")
        assert await ledger_faults(talk.bot.db) == []
        assert await talk.bot.term() == 0


OPEN_FOLDS = "SELECT 1 FROM fold WHERE state IN ('planned', 'summarised', 'checked', 'logged')"
