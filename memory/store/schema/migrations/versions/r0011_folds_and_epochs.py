"""Why each epoch began and up to where it was cleared; unusable answers; jobs; versions; tool servers."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "r0011"
down_revision = "r0010"

_CONVERSATIONS = sa.text("SELECT id, view_from FROM conversation WHERE view_from > 1")
# A fold into the log alone was only ever planned by /new and by the end by idleness.
_EPOCHS = sa.text("""
SELECT conversation, epoch, view_from, undone, (
    SELECT MAX(fold.reason) FROM fold
    WHERE fold.conversation = clearing.conversation AND fold.epoch = clearing.epoch - 1 AND fold.log_only
) AS log_reason FROM clearing ORDER BY conversation, epoch
""")
_SET_EPOCH = sa.text("""
UPDATE clearing SET begun_by = :begun_by, cleared_before = :before WHERE conversation = :conversation AND epoch = :epoch
""")
_SET_CONVERSATION = sa.text("UPDATE conversation SET cleared_before = :before WHERE id = :conversation")
_REASONS = {"/new": "new", "idle": "idle"}
_JOB = "id space number:i conversation channel account person kind body schedule next_at:t runs_left:i tainted:b norm"
_OCCURRENCE = "id job due:t state reason space at:t"
_FILE_VERSION = "id space path sha256 size:i pending call at:t"
_MCP_SERVER = "id source_sha256 era listed:t"
_MCP_TOOL = (
    "server name description schema read_only:b sha256 listed:b mode effect reviewed_sha256 told_sha256 position:i"
)
_KINDS: dict[str, Any] = {"": sa.Text, "i": sa.Integer, "t": sa.Double, "b": sa.Boolean}


def upgrade() -> None:
    _add_fold_columns()
    _add_epoch_reasons()
    _add_jobs()
    _add_file_versions()
    _add_mcp_servers()


def _add_fold_columns() -> None:
    """Older folds count as sent to no model and expect no texts."""
    for name in ("rejected", "sent_from"):
        op.add_column("fold", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
    for name in ("awaiting", "body_sha256"):
        op.add_column("fold", sa.Column(name, sa.Text(), nullable=False, server_default=""))


def _add_epoch_reasons() -> None:
    """An epoch without a fold that tells why it began counts as cleared, so that nothing cleared comes back."""
    op.add_column("conversation", sa.Column("cleared_before", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("clearing", sa.Column("begun_by", sa.Text(), nullable=False, server_default=""))
    op.add_column("clearing", sa.Column("cleared_before", sa.Integer(), nullable=False, server_default="0"))
    bind = op.get_bind()
    view_from = {row["id"]: row["view_from"] for row in bind.execute(_CONVERSATIONS).mappings()}
    rows = bind.execute(_EPOCHS).mappings().all()
    epochs = {name: list(group) for name, group in groupby(rows, key=lambda row: row["conversation"])}
    for conversation, began in view_from.items():
        before = 0 if conversation in epochs else began
        for epoch in _read_epochs(epochs.get(conversation, []), began):
            bind.execute(_SET_EPOCH, {"conversation": conversation, **epoch})
            before = epoch["after"] if not epoch["undone"] else before
        bind.execute(_SET_CONVERSATION, {"conversation": conversation, "before": before})


def _read_epochs(rows: list[sa.RowMapping], view_from: int) -> Iterator[Mapping[str, object]]:
    """Each epoch with its reason, and the seq below which everything was cleared before it and after it began.

    Where an epoch's view begins is not stored: it is where the former view of the next epoch that stands began.
    """
    fence = 0
    for number, row in enumerate(rows):
        begun_by = _REASONS.get(row["log_reason"] or "", "clear")
        later = (other["view_from"] for other in rows[number + 1 :] if not other["undone"])
        after = next(later, view_from) if begun_by == "clear" else fence
        yield {"epoch": row["epoch"], "begun_by": begun_by, "before": fence, "after": after, "undone": row["undone"]}
        if not row["undone"]:
            fence = after


def _add_jobs() -> None:
    """What people want done later, and how each due moment ended."""
    numbered = sa.UniqueConstraint("space", "number", name="job_number")
    op.create_table("job", *_columns(f"{_JOB} state reason at:t"), sa.PrimaryKeyConstraint("id"), numbered)
    is_on = sa.text("state = 'on'")
    op.create_index("job_due", "job", ["next_at"], sqlite_where=is_on, postgresql_where=is_on)
    op.create_index("job_person", "job", ["channel", "person"])
    once = sa.UniqueConstraint("job", "due", name="occurrence_due")
    op.create_table("occurrence", *_columns(_OCCURRENCE), sa.PrimaryKeyConstraint("id"), once)
    op.create_index("occurrence_space", "occurrence", ["space"])


def _add_file_versions() -> None:
    """Former contents of files that a tool changed."""
    op.create_table("file_version", *_columns(_FILE_VERSION), sa.PrimaryKeyConstraint("id"))
    op.create_index("file_version_path", "file_version", ["space", "path", "at"])
    is_pending = sa.text("pending != ''")
    op.create_index(
        "file_version_pending", "file_version", ["at"], sqlite_where=is_pending, postgresql_where=is_pending
    )


def _add_mcp_servers() -> None:
    """What servers of tools offer, and what the owner has allowed of it."""
    op.create_table("mcp_server", *_columns(_MCP_SERVER), sa.PrimaryKeyConstraint("id"))
    op.create_table("mcp_tool", *_columns(_MCP_TOOL), sa.PrimaryKeyConstraint("server", "name"))


def _columns(names: str) -> list[sa.Column[Any]]:
    pairs = (name.partition(":") for name in names.split())
    return [sa.Column(name, _KINDS[kind](), nullable=False) for name, _, kind in pairs]
