"""A memory line tells since when it has its wording; its former wordings are rows of their own."""

import sqlalchemy as sa
from alembic import op

revision = "r0016"
down_revision = "r0015"


def upgrade() -> None:
    """Lines of before have 0: their present wording counts from the time they were noted."""
    op.add_column("memory", sa.Column("since", sa.Double(), nullable=False, server_default="0"))
