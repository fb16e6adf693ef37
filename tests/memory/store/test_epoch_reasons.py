"""A database of an older version learns why each epoch began: what nobody can tell counts as cleared."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from memory.store.open import open_store
from memory.store.schema.migrations.upgrade import upgrade

# (epoch, the former view's begin, undone, reason of the log that the end of the epoch before it planned)
Epoch = tuple[int, int, bool, str]
CASES: dict[str, tuple[Sequence[Epoch], int, int]] = {
    "cleared": ([(2, 1, False, "")], 9, 9),
    "new": ([(2, 1, False, "/new")], 9, 0),
    "idle": ([(2, 1, False, "idle")], 9, 0),
    "cleared, then new": ([(2, 1, False, ""), (3, 5, False, "/new")], 9, 5),
    "new, then cleared": ([(2, 1, False, "/new"), (3, 5, False, "")], 9, 9),
    "a clear undone, then new": ([(2, 1, True, ""), (4, 1, False, "/new")], 9, 0),
    "cleared, a clear undone": ([(2, 1, False, ""), (3, 5, True, "")], 5, 5),
    "nothing tells why": ([], 9, 9),
    "never": ([], 1, 0),
}


@pytest.mark.parametrize("case", CASES)
async def test_I18_an_upgraded_conversation_hides_what_was_or_may_have_been_cleared(tmp_path: Path, case: str) -> None:
    epochs, view_from, fence = CASES[case]
    path = tmp_path / "m.db"
    upgrade(path, "r0010")
    with closing(sqlite3.connect(path)) as old, old:
        _insert(old, "conversation", id="c", channel="terminal", account="local", chat_id="c1", next_seq=9,
                view_from=view_from, epoch=9)  # fmt: skip
        for epoch, former, undone, reason in epochs:
            _insert(old, "clearing", conversation="c", epoch=epoch, view_from=former, undone=undone)
            if reason:
                _insert(old, "fold", id=f"f{epoch}", conversation="c", epoch=epoch - 1, log_only=1, reason=reason,
                        state="folded", log_ref="memory/2026-01-01.md")  # fmt: skip
    store = await open_store(path)
    row = await store.sessions.conversation("c")
    assert row
    assert row.cleared_before == fence
    await store.close()


async def test_I18_undoing_a_clear_of_an_older_version_moves_the_fence_back(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    upgrade(path, "r0010")
    with closing(sqlite3.connect(path)) as old, old:
        _insert(old, "conversation", id="c", channel="terminal", account="local", chat_id="c1", next_seq=9,
                view_from=9, epoch=3)  # fmt: skip
        _insert(old, "clearing", conversation="c", epoch=2, view_from=1)
        _insert(old, "clearing", conversation="c", epoch=3, view_from=5)
    store = await open_store(path)
    for fence in (5, 0):
        assert await store.sessions.undo_clear("c")
        row = await store.sessions.conversation("c")
        assert row
        assert row.cleared_before == fence
    await store.close()


def _insert(base: sqlite3.Connection, table: str, **given: object) -> None:
    """Insert a row; columns that are not given are empty or 0."""
    columns = {row[1]: "" if row[2] == "TEXT" else 0 for row in base.execute(f"PRAGMA table_info({table})")}
    columns |= given
    marks = ", ".join(f":{name}" for name in columns)
    base.execute(f"INSERT INTO {table} VALUES ({marks})", columns)
