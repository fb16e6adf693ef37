"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "r0001"
down_revision = None
_KEPT = (
    "CREATE TRIGGER message_kept_as_is BEFORE UPDATE ON message "
    "BEGIN SELECT RAISE(ABORT, 'messages are never changed'); END",
    "CREATE TRIGGER message_kept BEFORE DELETE ON message "
    "WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) "
    "BEGIN SELECT RAISE(ABORT, 'messages are never deleted'); END",
)


def upgrade() -> None:
    for make in (
        _audit,
        _conversation,
        _coverage,
        _instance,
        _model_factor,
        _probe,
        _removal,
        _clearing,
        _fold,
        _inbox,
        _message,
        _outbox,
        _turn,
        _usage,
        _reduction,
        _tool_call,
    ):
        make()
    if op.get_bind().dialect.name == "sqlite":
        for trigger in _KEPT:
            op.execute(trigger)
    op.execute(sa.text("INSERT INTO instance (id, lease_epoch, clean) VALUES (1, 0, :clean)").bindparams(clean=True))


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _wholes(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer(), nullable=False, autoincrement=False) for name in names]


def _flags(*names: str) -> list[sa.Column[bool]]:
    return [sa.Column(name, sa.Boolean(), nullable=False) for name in names]


def _times(*names: str) -> list[sa.Column[float]]:
    return [sa.Column(name, sa.Double(), nullable=False) for name in names]


def _partial(name: str, table: str, columns: list[str], where: str, *, unique: bool) -> None:
    sqlite, postgresql = where.replace("NO", "IS 0"), where.replace("NO", "IS false")
    op.create_index(
        name, table, columns, unique=unique, sqlite_where=sa.text(sqlite), postgresql_where=sa.text(postgresql)
    )


def _audit() -> None:
    op.create_table(
        "audit",
        *_wholes("seq"),
        *_times("at"),
        *_texts("actor", "action", "subject", "args_digest", "decision", "result", "prev_hash", "hash"),
        sa.PrimaryKeyConstraint("seq"),
    )


def _conversation() -> None:
    op.create_table(
        "conversation",
        *_texts("id", "channel", "account", "chat_id", "thread_id", "kind", "space"),
        *_wholes("epoch", "next_seq", "next_turn", "next_line", "view_from"),
        *_texts("fold_head", "policy", "model"),
        *_wholes("prefix_generation"),
        *_texts("prefix_sha256", "prefix_reason"),
        *_flags("listed"),
        *_texts("title"),
        *_times("heard", "updated"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("channel", "account", "chat_id", "thread_id", name="conversation_place"),
    )
    op.create_index("conversation_updated", "conversation", ["updated"])


def _coverage() -> None:
    op.create_table(
        "coverage",
        *_texts("message_id", "class", "fold_id"),
        sa.PrimaryKeyConstraint("message_id"),
    )
    op.create_index("coverage_fold", "coverage", ["fold_id"])


def _instance() -> None:
    op.create_table(
        "instance",
        *_wholes("id", "lease_epoch"),
        *_flags("clean"),
        sa.PrimaryKeyConstraint("id"),
    )


def _model_factor() -> None:
    op.create_table(
        "model_factor",
        *_texts("model"),
        *_times("factor"),
        *_wholes("samples"),
        *_times("error_percent"),
        sa.PrimaryKeyConstraint("model"),
    )


def _probe() -> None:
    op.create_table(
        "probe",
        *_texts("id", "padding"),
        sa.PrimaryKeyConstraint("id"),
    )


def _removal() -> None:
    op.create_table(
        "removal",
        *_texts("conversation"),
        sa.PrimaryKeyConstraint("conversation"),
    )


def _clearing() -> None:
    op.create_table(
        "clearing",
        *_texts("conversation"),
        *_wholes("epoch", "view_from"),
        *_texts("fold_head"),
        *_flags("undone"),
        *_times("at"),
        sa.PrimaryKeyConstraint("conversation", "epoch"),
        sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    )


def _fold() -> None:
    op.create_table(
        "fold",
        *_texts("id", "conversation", "space", "channel"),
        *_wholes("epoch"),
        *_texts("prev_fold"),
        *_wholes("from_seq", "to_seq", "from_turn", "to_turn", "turns_covered"),
        *_texts("state", "method", "policy", "reason", "log_text", "summary"),
        *_wholes("summary_tokens"),
        *_texts("source_sha256", "log_ref"),
        *_wholes("tokens_before", "tokens_after"),
        *_flags("log_only"),
        *_times("at"),
        *_wholes("lease_epoch"),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    )
    op.create_index("fold_conversation", "fold", ["conversation", "at"])
    _partial(
        "fold_open",
        "fold",
        ["conversation"],
        "(state = 'planned' OR state = 'summarised' OR state = 'checked' OR state = 'logged') AND log_only NO",
        unique=True,
    )
    _partial("fold_range", "fold", ["conversation", "from_seq"], "state = 'folded' AND log_only NO", unique=True)


def _inbox() -> None:
    op.create_table(
        "inbox",
        *_texts(
            "id",
            "conversation",
            "channel",
            "account",
            "key",
            "kind",
            "sender_id",
            "body",
            "order_key",
            "state",
            "reason",
        ),
        *_wholes("attempts"),
        *_texts("turn_id", "trace_id"),
        *_wholes("line"),
        *_flags("urgent"),
        *_times("not_before", "received"),
        *_wholes("lease_epoch"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("channel", "account", "key", name="inbox_key"),
        sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    )
    op.create_index("inbox_line", "inbox", ["conversation", "line"])
    _partial("inbox_open", "inbox", ["conversation"], "state = 'new' OR state = 'running'", unique=False)


def _message() -> None:
    op.create_table(
        "message",
        *_texts("id", "conversation"),
        *_wholes("epoch", "seq", "turn"),
        *_texts("turn_id", "role", "parts", "origin", "space"),
        *_flags("has_text"),
        *_wholes("tokens"),
        *_texts("counter"),
        *_times("at"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("conversation", "seq", name="message_seq"),
        sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    )
    op.create_index("message_space", "message", ["space", "at"])


def _outbox() -> None:
    op.create_table(
        "outbox",
        *_texts("id", "conversation", "source"),
        *_wholes("part_no", "parts", "epoch"),
        *_texts("kind", "client_key", "text", "state"),
        *_wholes("attempts", "repeats"),
        *_flags("plain"),
        *_times("key_valid", "key_expires", "not_before"),
        *_texts("reply_to", "platform_id", "error"),
        *_wholes("line"),
        *_times("created"),
        *_wholes("lease_epoch"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("source", "part_no", name="outbox_part"),
        sa.UniqueConstraint("client_key", name="outbox_client_key"),
        sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    )
    op.create_index("outbox_line", "outbox", ["conversation", "line"])
    _partial(
        "outbox_open",
        "outbox",
        ["conversation", "line", "part_no"],
        "state = 'pending' OR state = 'sending' OR state = 'unknown'",
        unique=False,
    )


def _turn() -> None:
    op.create_table(
        "turn",
        *_texts("id", "conversation"),
        *_wholes("number", "epoch"),
        *_texts("inbox_id", "actor", "state"),
        *_wholes("step", "attempts"),
        *_texts("trace_id"),
        *_wholes("first_seq", "lease_epoch"),
        *_times("started", "ended"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("conversation", "number", name="turn_number"),
        sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    )
    op.create_index("turn_first_seq", "turn", ["conversation", "first_seq"])
    _partial("turn_open", "turn", ["conversation"], "state = 'running' OR state = 'waiting'", unique=True)


def _usage() -> None:
    op.create_table(
        "usage",
        *_texts("id", "conversation", "turn_id", "model", "purpose"),
        *_wholes("input", "output", "cache_read", "cache_write", "estimated"),
        *_times("at"),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    )
    op.create_index("usage_at", "usage", ["at"])
    op.create_index("usage_conversation", "usage", ["conversation", "at"])


def _reduction() -> None:
    op.create_table(
        "reduction",
        *_texts("message_id"),
        *_wholes("part"),
        *_texts("form", "conversation", "text"),
        *_wholes("tokens"),
        *_texts("reason"),
        *_wholes("prefix_generation"),
        sa.PrimaryKeyConstraint("message_id", "part", "form"),
        sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
        sa.ForeignKeyConstraint(["message_id"], ["message.id"]),
    )
    op.create_index("reduction_conversation", "reduction", ["conversation"])


def _tool_call() -> None:
    op.create_table(
        "tool_call",
        *_texts("id", "turn_id"),
        *_wholes("place"),
        *_texts("call_id", "name", "input", "effect", "idem_key", "state"),
        *_wholes("attempts"),
        *_texts("result_id"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("turn_id", "call_id", name="tool_call_id"),
        sa.ForeignKeyConstraint(["turn_id"], ["turn.id"]),
    )
    _partial("tool_call_started", "tool_call", ["turn_id"], "state = 'started'", unique=False)
