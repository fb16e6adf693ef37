"""What the console shows and keeps beside the transcripts."""

import sqlalchemy as sa
from alembic import op

revision = "r0013"
down_revision = "r0012"


def upgrade() -> None:
    """Each part of the console adds its own tables."""
    _add_list_of_conversations()


def _add_list_of_conversations() -> None:
    """What the owner chooses for a conversation, how far they have read it, and what a turn was given of memory."""
    columns = {"own_title": sa.Text, "pinned": sa.Integer, "archived": sa.Integer, "seen_line": sa.Integer}
    for name, kind in (columns | {"deleting": sa.Double, "touched": sa.Double}).items():
        default = "" if kind is sa.Text else "0"
        op.add_column("conversation", sa.Column(name, kind(), nullable=False, server_default=default))
    op.execute("UPDATE conversation SET seen_line = next_line - 1")
    op.create_index("conversation_touched", "conversation", ["touched"])
    op.create_index("conversation_pinned", "conversation", ["pinned", "updated"])
    is_asked = sa.text("deleting > 0")
    op.create_index(
        "conversation_deleting", "conversation", ["deleting"], sqlite_where=is_asked, postgresql_where=is_asked
    )
    op.add_column("turn", sa.Column("recalled", sa.Text(), nullable=False, server_default=""))
