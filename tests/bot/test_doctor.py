"""The doctor's word on the ledger: nothing of a sound record, the first fault of a broken one."""

import sqlite3
from contextlib import closing
from pathlib import Path

from bot.doctor import Check, report
from bot.home import Home
from memory.store.open import open_store
from tests.contracts.store_words import folded, talk


async def checks(home: Home) -> dict[str, Check]:
    return {check.name: check for check in await report(home)}


async def test_I36_the_ledger_has_a_line_of_its_own(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    home.ensure()
    assert "ledger" not in await checks(home)
    store = await open_store(home.db)
    conversation = await talk(store, "1", "2")
    await folded(store, conversation, 1)
    await store.close()
    sound = await checks(home)
    assert (sound["database"].ok, sound["ledger"].ok) == (True, True)
    with closing(sqlite3.connect(home.db, isolation_level=None)) as outside:
        outside.execute("DELETE FROM coverage")
    broken = await checks(home)
    assert (broken["database"].ok, broken["ledger"].ok) == (True, False)
    assert broken["ledger"].message.startswith("It has 2 faults; the first: a message behind the head")
    assert conversation in broken["ledger"].message
    assert broken["ledger"].hint


async def test_a_record_that_does_not_open_says_so_and_nothing_of_its_ledger(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    home.ensure()
    home.db.write_bytes(b"no database at all" * 100)
    found = await checks(home)
    assert not found["database"].ok
    assert "ledger" not in found
