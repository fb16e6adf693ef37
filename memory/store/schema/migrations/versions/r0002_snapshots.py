"""Why a fold was cut where it was, what had been said by then, and what a conversation's prefix shows of the files."""

import sqlalchemy as sa
from alembic import op

revision = "r0002"
down_revision = "r0001"


def upgrade() -> None:
    op.add_column("fold", sa.Column("why", sa.Text(), nullable=False, server_default=""))
    op.add_column("fold", sa.Column("seen_seq", sa.Integer(), nullable=False, server_default="0"))
    op.execute("UPDATE fold SET seen_seq = to_seq + 1")  # at least so much had been said when it was planned
    _prefix_text()
    _snapshot()
    _snapshot_part()


def _prefix_text() -> None:
    op.create_table(
        "prefix_text",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("sha256"),
    )


def _snapshot() -> None:
    op.create_table(
        "snapshot",
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("fold_head", sa.Text(), nullable=False),
        sa.Column("reductions", sa.Integer(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("conversation"),
        sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    )


def _snapshot_part() -> None:
    op.create_table(
        "snapshot_part",
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("left_out", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("conversation", "place"),
        sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
        sa.ForeignKeyConstraint(["sha256"], ["prefix_text.sha256"]),
    )
    op.create_index("snapshot_part_text", "snapshot_part", ["sha256"])
