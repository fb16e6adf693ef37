"""Rules by which approved commands run without a question."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "r0012"
down_revision = "r0011"

_APPROVAL_RULE = "id space number:i channel account person tool command cwd level expires:t at:t"
_KINDS: dict[str, Any] = {"": sa.Text, "i": sa.Integer, "t": sa.Double, "b": sa.Boolean}


def upgrade() -> None:
    _add_approval_rules()


def _add_approval_rules() -> None:
    """What a person has approved for good."""
    numbered = sa.UniqueConstraint("space", "number", name="approval_rule_number")
    op.create_table("approval_rule", *_columns(_APPROVAL_RULE), sa.PrimaryKeyConstraint("id"), numbered)


def _columns(names: str) -> list[sa.Column[Any]]:
    pairs = (name.partition(":") for name in names.split())
    return [sa.Column(name, _KINDS[kind](), nullable=False) for name, _, kind in pairs]
