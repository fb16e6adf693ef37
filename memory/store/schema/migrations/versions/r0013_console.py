"""What the console shows and keeps beside the transcripts."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "r0013"
down_revision = "r0012"

_VIEW_MANIFEST = (
    "number:i turn_id turn:i epoch:i space fold_head from_seq:i to_seq:i generation:i zone model answered policy "
    "budget:i max_tokens:i same:i closed:b entries tokens:i checksum input:i output:i cache_read:i cache_write:i ms:i "
    "forgotten:b at:t"
)
_KINDS: dict[str, Any] = {"": sa.Text, "i": sa.Integer, "t": sa.Double, "b": sa.Boolean}


def upgrade() -> None:
    """Each part of the console adds its own tables."""
    _add_list_of_conversations()
    _add_views()


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


def _add_views() -> None:
    """What each request to a model showed, and the texts that it refers to."""
    conversation = sa.Column("conversation", sa.Text(), sa.ForeignKey("conversation.id"), nullable=False)
    columns = [
        sa.Column(name, _KINDS[kind](), nullable=False)
        for name, _, kind in (one.partition(":") for one in _VIEW_MANIFEST.split())
    ]
    op.create_table("view_manifest", conversation, *columns, sa.PrimaryKeyConstraint("conversation", "number"))
    op.create_index("view_manifest_at", "view_manifest", ["at"])
    texts = (sa.Column(name, sa.Text(), nullable=False) for name in ("conversation", "space", "sha256", "form", "text"))
    day = sa.Column("day", sa.Integer(), nullable=False)
    op.create_table("view_text", *texts, day, sa.PrimaryKeyConstraint("conversation", "space", "sha256"))
    op.create_index("view_text_day", "view_text", ["day"])
