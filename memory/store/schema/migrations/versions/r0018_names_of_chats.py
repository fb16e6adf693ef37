"""A conversation has the platform's name of its chat: a group's title, a private chat's person."""

import sqlalchemy as sa
from alembic import op

revision = "r0018"
down_revision = "r0017"


def upgrade() -> None:
    """The names come with the next message of each chat."""
    op.add_column(
        "conversation", sa.Column("chat_name", sa.Text(), nullable=False, server_default="")
    )
