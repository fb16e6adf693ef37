"""Downgrades a database to the tables of an earlier version, with all rows that those can hold."""

import sqlite3
from contextlib import closing
from pathlib import Path

_NEVER_CHANGED = (
    "CREATE TRIGGER message_kept_as_is BEFORE UPDATE ON message "
    "BEGIN SELECT RAISE(ABORT, 'messages are never changed'); END"
)
# By revision: what leads there from the one after it.
BACK = {
    "r0013": ("ALTER TABLE file_label DROP COLUMN content_only",),
    "r0012": (
        *(f"DROP INDEX conversation_{name}" for name in ("touched", "pinned", "deleting")),
        *(
            f"ALTER TABLE conversation DROP COLUMN {name}"
            for name in ("own_title", "pinned", "archived", "seen_line", "deleting", "touched")
        ),
        "ALTER TABLE turn DROP COLUMN recalled",
        "DROP TABLE view_manifest",
        "DROP TABLE view_text",
    ),
    "r0011": (
        "DROP INDEX occurrence_running",
        *(f"ALTER TABLE job DROP COLUMN {name}" for name in ("fails", "retries", "extra", "resumes_at")),
        "ALTER TABLE occurrence DROP COLUMN inbox_row",
        "DROP TABLE job_setting",
        "DROP TABLE heartbeat",
        "DROP TABLE approval_rule",
        "DROP TABLE background_task",
    ),
    "r0010": (
        *(f"ALTER TABLE fold DROP COLUMN {name}" for name in ("rejected", "sent_from", "awaiting", "body_sha256")),
        "ALTER TABLE conversation DROP COLUMN cleared_before",
        "ALTER TABLE clearing DROP COLUMN begun_by",
        "ALTER TABLE clearing DROP COLUMN cleared_before",
        "DROP TABLE job",
        "DROP TABLE occurrence",
        "DROP TABLE file_version",
        "DROP TABLE mcp_server",
        "DROP TABLE mcp_tool",
    ),
    "r0009": (
        "DROP INDEX memory_line",
        "ALTER TABLE inbox DROP COLUMN deaths_alone",
        "DROP TABLE file_label",
        "ALTER TABLE message DROP COLUMN tainted",
        "ALTER TABLE fold DROP COLUMN clean_lines",
        "ALTER TABLE fold DROP COLUMN summary_tainted",
    ),
    "r0008": ("DROP INDEX inbox_aside",),
    "r0007": ("DROP TABLE audit_head", "DROP TABLE person_removal", "ALTER TABLE outbox DROP COLUMN settled"),
    "r0006": (
        "DROP TABLE limit_told",
        *(f"DROP INDEX {name}" for name in ("turn_who", "turn_started", "usage_who")),
        *(f"ALTER TABLE {column.replace('.', ' DROP COLUMN ')}" for column in ("turn.who", "turn.asked", "usage.who")),
    ),
    "r0005": ("DROP INDEX outbox_sending", "DROP TABLE process", "DROP TABLE duty"),
    "r0004": tuple(f"DROP TABLE {name}" for name in ("access_grant", "access_request", "approval")),
    "r0003": (
        "DROP TABLE channel_note",
        "ALTER TABLE inbox DROP COLUMN album",
        "ALTER TABLE outbox DROP COLUMN payload",
    ),
    "r0002": (
        *(
            f"DROP TABLE {name}"
            for name in ("memory", "memory_change", "extraction", "dream", "forgetting", "account_link", "link_code")
        ),
        "DROP INDEX conversation_space",
        "ALTER TABLE fold DROP COLUMN tainted",
        "DROP TRIGGER message_kept_as_is",
        _NEVER_CHANGED,
    ),
    "r0001": (
        "DROP TABLE snapshot_part",
        "DROP TABLE snapshot",
        "DROP TABLE prefix_text",
        "ALTER TABLE fold DROP COLUMN why",
        "ALTER TABLE fold DROP COLUMN seen_seq",
    ),
}


def go_back(path: Path, to: str = "r0001") -> None:
    """Downgrade a database that no process has open; columns that the older tables lack are lost."""
    with closing(sqlite3.connect(path, isolation_level=None)) as held:
        held.execute("PRAGMA foreign_keys=OFF")
        held.execute("BEGIN IMMEDIATE")
        for revision in sorted(BACK, reverse=True):
            if revision >= to:
                for statement in BACK[revision]:
                    held.execute(statement)
        held.execute("UPDATE alembic_version SET version_num = ?", (to,))
        held.execute("COMMIT")
