"""Who may talk: grants, requests for them, and acts that wait for a person's yes."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "r0005"
down_revision = "r0004"

_PARTY = ("channel", "account", "subject", "subject_id")
_APPROVAL = ("channel", "account", "subject_id", "conversation", "space", "call", "action", "tool", "arguments")
_HASHES = ("digest", "code_sha256", "press_sha256", "state")


def upgrade() -> None:
    key = sa.PrimaryKeyConstraint("channel", "subject", "subject_id", "account", "group_id")
    op.create_table("access_grant", *_columns(*_PARTY, "group_id", "role", "name", "granted_by", times=("at",)), key)
    request = _columns("id", *_PARTY, "name", "conversation", "lang", "code_sha256", "state", times=("expires", "at"))
    op.create_table("access_request", *request, sa.PrimaryKeyConstraint("id"))
    op.create_index("access_request_at", "access_request", ["channel", "account", "at"])
    op.create_index("access_request_code", "access_request", ["code_sha256"])
    columns = _columns("id", *_APPROVAL, *_HASHES, times=("expires", "at"))
    unique = sa.UniqueConstraint("call", name="approval_call")
    op.create_table("approval", *columns, sa.PrimaryKeyConstraint("id"), unique)
    op.create_index("approval_person", "approval", ["channel", "subject_id"])


def _columns(*texts: str, times: tuple[str, ...]) -> list[sa.Column[Any]]:
    kinds: dict[str, Any] = {**dict.fromkeys(texts, sa.Text()), **dict.fromkeys(times, sa.Double())}
    return [sa.Column(name, kind, nullable=False) for name, kind in kinds.items()]
