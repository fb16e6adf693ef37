"""Rules by which approved commands run without a question; work beside conversations."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "r0012"
down_revision = "r0011"

_APPROVAL_RULE = "id space number:i channel account person tool command cwd level expires:t at:t"
_BACKGROUND_TASK = (
    "id space number:i kind conversation call position:i child channel account person goal request state detached:b "
    "outcome tainted:b epoch:i at:t ended:t"
)
_KINDS: dict[str, Any] = {"": sa.Text, "i": sa.Integer, "t": sa.Double, "b": sa.Boolean}


def upgrade() -> None:
    _add_approval_rules()
    _add_background_tasks()


def _add_approval_rules() -> None:
    """What a person has approved for good."""
    numbered = sa.UniqueConstraint("space", "number", name="approval_rule_number")
    op.create_table("approval_rule", *_columns(_APPROVAL_RULE), sa.PrimaryKeyConstraint("id"), numbered)


def _add_background_tasks() -> None:
    """Turns of sub-agents and commands in the background."""
    numbered = sa.UniqueConstraint("space", "number", name="background_task_number")
    once = sa.UniqueConstraint("call", "position", name="background_task_call")
    op.create_table("background_task", *_columns(_BACKGROUND_TASK), sa.PrimaryKeyConstraint("id"), numbered, once)
    op.create_index("background_task_child", "background_task", ["child"])
    is_running = sa.text("state = 'running'")
    op.create_index(
        "background_task_open",
        "background_task",
        ["conversation"],
        sqlite_where=is_running,
        postgresql_where=is_running,
    )


def _columns(names: str) -> list[sa.Column[Any]]:
    pairs = (name.partition(":") for name in names.split())
    return [sa.Column(name, _KINDS[kind](), nullable=False) for name, _, kind in pairs]
