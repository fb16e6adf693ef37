"""What channels keep between their lives, albums, and files that go out."""

import sqlalchemy as sa
from alembic import op

revision = "r0004"
down_revision = "r0003"

_LATER = (("inbox", "album"), ("outbox", "payload"))


def upgrade() -> None:
    for table, column in _LATER:
        op.add_column(table, sa.Column(column, sa.Text(), nullable=False, server_default=""))
    names = [sa.Column(name, sa.Text(), nullable=False) for name in ("channel", "name", "value")]
    op.create_table("channel_note", *names, sa.PrimaryKeyConstraint("channel", "name"))
