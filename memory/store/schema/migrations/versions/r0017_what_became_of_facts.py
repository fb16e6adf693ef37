"""What became of the facts of a message, and what a memory replaced, is found by an index."""

import sqlalchemy as sa
from alembic import op

revision = "r0017"
down_revision = "r0016"

_REPLACED = sa.text("state = 'superseded'")
_RESTS_ON_MESSAGE = sa.text("message_id != ''")


def upgrade() -> None:
    """Only indexes: no row changes."""
    op.create_index(
        "memory_source",
        "memory",
        ["message_id"],
        sqlite_where=_RESTS_ON_MESSAGE,
        postgresql_where=_RESTS_ON_MESSAGE,
    )
    op.create_index(
        "memory_successor",
        "memory",
        ["superseded_by"],
        sqlite_where=_REPLACED,
        postgresql_where=_REPLACED,
    )
