"""Who a turn is for and what it used, found by person and time; who was told that a limit is reached."""

import sqlalchemy as sa
from alembic import op

revision = "r0007"
down_revision = "r0006"


def upgrade() -> None:
    for table in ("turn", "usage"):
        op.add_column(table, sa.Column("who", sa.Text(), nullable=False, server_default=""))
    op.add_column("turn", sa.Column("asked", sa.Double(), nullable=False, server_default="0"))
    op.create_index("turn_who", "turn", ["who", "asked"])
    op.create_index("turn_started", "turn", ["started", "who"])
    op.create_index("usage_who", "usage", ["who", "at"])
    op.create_table(
        "limit_told",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("who", "conversation", "limit_name")),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("who", "conversation", "limit_name"),
        sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    )
