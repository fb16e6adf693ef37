"""Where the chain of acts ends, people who are being removed, and when a part's fate was settled."""

import sqlalchemy as sa
from alembic import op

revision = "r0008"
down_revision = "r0007"

_HEAD = """
INSERT INTO audit_head (id, seq, hash)
SELECT 1, COALESCE(MAX(seq), 0), COALESCE((SELECT hash FROM audit ORDER BY seq DESC LIMIT 1), '') FROM audit
"""


def upgrade() -> None:
    op.add_column("outbox", sa.Column("settled", sa.Double(), nullable=False, server_default="0"))
    op.create_table(
        "audit_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.execute(_HEAD)
    names = [sa.Column(name, sa.Text(), nullable=False) for name in ("id", "spaces", "parties", "blobs", "receipt")]
    op.create_table(
        "person_removal", *names, sa.Column("at", sa.Double(), nullable=False), sa.PrimaryKeyConstraint("id")
    )
