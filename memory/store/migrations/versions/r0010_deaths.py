"""How often the process died while a message was the only one it worked on."""

import sqlalchemy as sa
from alembic import op

revision = "r0010"
down_revision = "r0009"


def upgrade() -> None:
    op.add_column("inbox", sa.Column("deaths_alone", sa.Integer(), nullable=False, server_default="0"))
