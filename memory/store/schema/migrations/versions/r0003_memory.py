"""What long-term memory keeps beside its files, and whether a fold's source was all of a person's own words."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "r0003"
down_revision = "r0002"

_TEXT = sa.Text()
_WHOLE = sa.Integer()
_TIME: Any = sa.Double()


def upgrade() -> None:
    op.add_column("fold", sa.Column("tainted", sa.Integer(), nullable=False, server_default="0"))
    _taint()
    op.create_index("conversation_space", "conversation", ["space"])
    op.execute("DROP TRIGGER message_kept_as_is")
    op.execute(
        "CREATE TRIGGER message_kept_as_is BEFORE UPDATE ON message "
        "WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) "
        "BEGIN SELECT RAISE(ABORT, 'messages are never changed'); END"
    )
    _memory()
    _memory_change()
    _extraction()
    _dream()
    _forgetting()
    _links()


def _taint() -> None:
    """Folds from before the column: tainted where a tool's result, a file or a picture can have been in the view."""
    op.execute(
        "UPDATE fold SET tainted = 1 WHERE EXISTS (SELECT 1 FROM message WHERE message.conversation = fold.conversation"
        " AND message.seq <= fold.to_seq AND (message.origin = 'tool'"
        """ OR message.parts LIKE '%{"kind":"Image"%' OR message.parts LIKE '%{"kind":"Document"%'))"""
    )


def _columns(kinds: dict[str, Any]) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name, kind in kinds.items()]


def _open(column: str, *words: str) -> sa.TextClause:
    return sa.text(" OR ".join(f"{column} = '{word}'" for word in words))


def _memory() -> None:
    texts = dict.fromkeys(("id", "space", "norm", "category", "text"), _TEXT)
    source = dict.fromkeys(("state", "origin", "conversation", "message_id", "channel", "quote"), _TEXT)
    times = dict.fromkeys(("said", "created", "updated", "used"), _TIME)
    columns = _columns(
        {**texts, "importance": _WHOLE, **source, **times, "uses": _WHOLE, "superseded_by": _TEXT, "valid_until": _TIME}
    )
    op.create_table("memory", *columns, sa.PrimaryKeyConstraint("id"))
    op.create_index("memory_space", "memory", ["space", "state"])
    op.create_index("memory_norm", "memory", ["space", "norm"], unique=True, sqlite_where=_open("state", "live"))


def _memory_change() -> None:
    texts = ("id", "space", "path", "kind", "before_sha256", "after_sha256", "added", "removed", "before", "about")
    columns = _columns({**dict.fromkeys(texts, _TEXT), "undone": sa.Boolean(), "at": _TIME})
    op.create_table("memory_change", *columns, sa.PrimaryKeyConstraint("id"))
    op.create_index("memory_change_space", "memory_change", ["space", "at"])


def _extraction() -> None:
    kinds = {"turn_id": _TEXT, "space": _TEXT, "conversation": _TEXT, "turn": _WHOLE, "state": _TEXT}
    columns = _columns({**kinds, "attempts": _WHOLE, "found": _TEXT, "reason": _TEXT, "at": _TIME})
    op.create_table("extraction", *columns, sa.PrimaryKeyConstraint("turn_id"))
    op.create_index("extraction_open", "extraction", ["space"], sqlite_where=_open("state", "queued", "found"))


def _dream() -> None:
    columns = _columns(
        {**dict.fromkeys(("id", "space", "day", "state", "plan", "diary", "reason"), _TEXT), "at": _TIME}
    )
    unique = sa.UniqueConstraint("space", "day", name="dream_day")
    op.create_table("dream", *columns, sa.PrimaryKeyConstraint("id"), unique)


def _forgetting() -> None:
    texts = ("id", "space", "conversation", "asked_by", "state", "code_sha256", "targets", "receipt")
    columns = _columns({**dict.fromkeys(texts, _TEXT), "expires": _TIME, "at": _TIME})
    op.create_table("forgetting", *columns, sa.PrimaryKeyConstraint("id"))
    states = _open("state", "asked", "confirmed", "removed")
    op.create_index("forgetting_open", "forgetting", ["space"], sqlite_where=states)


def _links() -> None:
    who = ("channel", "account", "sender_id")
    link = _columns({**dict.fromkeys(("own_space", "space", *who), _TEXT), "at": _TIME})
    op.create_table("account_link", *link, sa.PrimaryKeyConstraint("own_space"))
    op.create_index("account_link_space", "account_link", ["space"])
    typed = ("typed_channel", "typed_account", "typed_sender_id", "typed_name", "typed_space", "typed_conversation")
    texts = ("id", "code_sha256", "state", *who, "space", "conversation", *typed)
    code = _columns({**dict.fromkeys(texts, _TEXT), "expires": _TIME, "at": _TIME})
    op.create_table("link_code", *code, sa.PrimaryKeyConstraint("id"))
    op.create_index("link_code_sha256", "link_code", ["code_sha256"])
