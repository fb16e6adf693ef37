"""What was said aside and waits for the next turn, found without the whole conversation."""

import sqlalchemy as sa
from alembic import op

revision = "r0009"
down_revision = "r0008"


def upgrade() -> None:
    where = sa.text("state = 'aside'")
    columns = ["conversation", "state", "line"]  # with state SQLite prefers it to inbox_line
    op.create_index("inbox_aside", "inbox", columns, sqlite_where=where, postgresql_where=where)
