"""Rules of approval, background tasks; how jobs fail and are held, what people choose for them; the heartbeat."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "r0012"
down_revision = "r0011"

_APPROVAL_RULE = "id space number:i channel account person tool command cwd level expires:t at:t"
_JOB_SETTING = "channel account person space zone quiet"
_HEARTBEAT = "id space decision sha256 norm reason tokens:i at:t"
_BACKGROUND_TASK = (
    "id space number:i kind conversation call position:i child channel account person goal request state detached:b "
    "outcome tainted:b epoch:i at:t ended:t"
)
_KINDS: dict[str, Any] = {"": sa.Text, "i": sa.Integer, "t": sa.Double, "b": sa.Boolean}


def upgrade() -> None:
    _add_approval_rules()
    _add_job_columns()
    _add_job_settings()
    _add_heartbeat()
    _add_background_tasks()


def _add_approval_rules() -> None:
    """What a person has approved for good."""
    numbered = sa.UniqueConstraint("space", "number", name="approval_rule_number")
    op.create_table("approval_rule", *_columns(_APPROVAL_RULE), sa.PrimaryKeyConstraint("id"), numbered)


def _add_job_columns() -> None:
    """How often a job failed, why it is due at another time, and which message a due moment started."""
    for name in ("fails", "retries"):
        op.add_column("job", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
    op.add_column("job", sa.Column("extra", sa.Text(), nullable=False, server_default=""))
    op.add_column("job", sa.Column("resumes_at", sa.Double(), nullable=False, server_default="0"))
    op.add_column("occurrence", sa.Column("inbox_row", sa.Text(), nullable=False, server_default=""))
    # How the runs before this revision ended was not stored; they are over.
    op.execute("UPDATE occurrence SET state = 'done' WHERE state = 'run'")
    is_running = sa.text("state = 'run'")
    op.create_index("occurrence_running", "occurrence", ["job"], sqlite_where=is_running, postgresql_where=is_running)


def _add_job_settings() -> None:
    """Time zone and quiet hours of a person."""
    key = sa.PrimaryKeyConstraint("channel", "account", "person")
    op.create_table("job_setting", *_columns(_JOB_SETTING), key)
    op.create_index("job_setting_space", "job_setting", ["space"])


def _add_heartbeat() -> None:
    """What each beat decided."""
    op.create_table("heartbeat", *_columns(_HEARTBEAT), sa.PrimaryKeyConstraint("id"))
    op.create_index("heartbeat_space", "heartbeat", ["space", "at"])


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
