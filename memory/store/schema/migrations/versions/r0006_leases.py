"""Who is alive, and who does what for all; one part of a conversation on its way at a time."""

import sqlalchemy as sa
from alembic import op

revision = "r0006"
down_revision = "r0005"


def upgrade() -> None:
    op.create_table(
        "process",
        sa.Column("lease", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.Column("told", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("lease"),
    )
    op.create_table(
        "duty",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("lease", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    where = sa.text("state = 'sending'")
    op.create_index("outbox_sending", "outbox", ["conversation"], unique=True, sqlite_where=where)
