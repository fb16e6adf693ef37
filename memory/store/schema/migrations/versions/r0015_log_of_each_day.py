"""A conversation tells since when the daily log lacks turns of it; folds that only write the log or
only a summary.
"""

import sqlalchemy as sa
from alembic import op

revision = "r0015"
down_revision = "r0014"

_OPEN = "(state = 'planned' OR state = 'summarised' OR state = 'checked' OR state = 'logged')"
_OPEN_LOGS = f"{_OPEN} AND log_only IS true"


def upgrade() -> None:
    """Conversations of before are 0 until their next turn: none is written about unasked."""
    op.add_column(
        "conversation", sa.Column("unlogged_since", sa.Double(), nullable=False, server_default="0")
    )
    op.create_index(
        "conversation_unlogged",
        "conversation",
        ["unlogged_since", "id"],
        sqlite_where=sa.text("unlogged_since > 0"),
        postgresql_where=sa.text("unlogged_since > 0"),
    )
    op.add_column(
        "fold", sa.Column("summary_only", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column("fold", sa.Column("day", sa.Text(), nullable=False, server_default=""))
    op.create_index("fold_end", "fold", ["conversation", "to_seq"])
    op.create_index(
        "fold_open_log",
        "fold",
        ["conversation"],
        sqlite_where=sa.text(_OPEN_LOGS.replace("IS true", "IS 1")),
        postgresql_where=sa.text(_OPEN_LOGS),
    )
