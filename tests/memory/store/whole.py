"""A database with a row in every table: the newest dump, upgraded, with rows that a dump cannot have."""

import shutil
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from memory.store.maintenance.copy import TABLES
from memory.store.schema.migrations.upgrade import upgrade
from tests.memory.store.test_released import OLDER, restored

BY_HAND = (
    "INSERT OR IGNORE INTO removal VALUES ('nobody')",
    "INSERT OR IGNORE INTO person_removal VALUES ('p', '[]', '[]', '[]', '{}', 1.5)",
    "INSERT OR IGNORE INTO limit_told SELECT 'web:1', id, 'messages', 1e9 FROM conversation LIMIT 1",
    "INSERT OR IGNORE INTO file_label VALUES ('', 'notes/x.md', 1.5, 0)",
    "INSERT OR IGNORE INTO job SELECT 'j', '', 1, id, 'web', 'local', 'o', 'say', 'water', '{}', 1e9, 0, 0, 'n', 'on', "
    "'', 1.5, 0, 0, '', 0 FROM conversation LIMIT 1",
    "INSERT OR IGNORE INTO occurrence VALUES ('x', 'j', 1.5, 'told', '', '', 1.5, '')",
    "INSERT OR IGNORE INTO job_setting VALUES ('web', 'local', 'o', '', 'Asia/Shanghai', '')",
    "INSERT OR IGNORE INTO heartbeat VALUES ('b', '', 'silent', 'aa', '', '', 10, 1.5)",
    "INSERT OR IGNORE INTO file_version VALUES ('v', '', 'notes/x.md', '', 0, '', 'c', 1.5)",
    "INSERT OR IGNORE INTO mcp_server VALUES ('files', 'aa', 'legacy', 1.5)",
    "INSERT OR IGNORE INTO mcp_tool VALUES ('files', 'read', 'Read.', '{}', 1, 'aa', 1, 'ask', 'pure', 'aa', '', 0)",
    "INSERT OR IGNORE INTO background_task SELECT 'w', '', 1, 'agent', id, 'k', 0, 'c', 'web', 'local', 'o', 'look', "
    "'{}', 'done', 1, 'found', 1, 1, 1.5, 2.5 FROM conversation LIMIT 1",
    "INSERT OR IGNORE INTO approval_rule VALUES ('r', '', 1, 'web', 'local', 'o', 'exec', '{}', '', 'A', 1e9, 1.5)",
    "INSERT OR IGNORE INTO view_text VALUES ('', '', 'aa', 'plain', 'Be brief.', 20000)",
    "INSERT OR IGNORE INTO view_manifest SELECT id, 1, 't', 1, 1, '', '', 1, 2, 0, '', 'm', 'm', 'balanced', 9000, "
    "500, -1, 0, '[]', 100, 'aa', 100, 5, 0, 0, 40, 0, 1.5 FROM conversation LIMIT 1",
    "INSERT OR IGNORE INTO channel_note VALUES ('x', 'odd', '引号 ' || char(10, 9, 92) || ' \\N \U0001f600')",
)


@cache
def _made() -> Path:
    path = restored(Path(mkdtemp(prefix="whole")) / "m.db", OLDER[-1])
    upgrade(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as held:
        for statement in BY_HAND:
            held.execute(statement)
        held.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        empty = [table.name for table in TABLES if not held.execute(f"SELECT 1 FROM {table.name}").fetchone()]
    assert empty == []
    return path


def whole(path: Path) -> Path:
    """Copy the database to this path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(_made(), path)
    return path
