"""The tables of commit ed4b8f97, where the revisions begin: nothing older was ever released."""

from typing import TypeVar

import sqlalchemy as sa
from alembic import op

revision = "r0013"
down_revision = None

T = TypeVar("T")
_metadata = sa.MetaData()
_TRIGGERS = {  # per dialect: messages are insert-only
    "sqlite": (
        "CREATE TRIGGER message_kept_as_is BEFORE UPDATE ON message "
        "WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) "
        "BEGIN SELECT RAISE(ABORT, 'messages are never changed'); END",
        "CREATE TRIGGER message_kept BEFORE DELETE ON message "
        "WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) "
        "BEGIN SELECT RAISE(ABORT, 'messages are never deleted'); END",
    ),
    "postgresql": (
        "CREATE FUNCTION message_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) THEN "
        "RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END; END IF; "
        "RAISE EXCEPTION 'messages are never %', "
        "CASE TG_OP WHEN 'DELETE' THEN 'deleted' ELSE 'changed' END; END $$",
        "CREATE TRIGGER message_kept BEFORE UPDATE OR DELETE ON message "
        "FOR EACH ROW EXECUTE FUNCTION message_is_kept()",
    ),
}


def upgrade() -> None:
    bind = op.get_bind()
    _metadata.create_all(bind, checkfirst=False)
    for statement in _TRIGGERS[bind.dialect.name]:
        op.execute(statement)
    op.execute("INSERT INTO instance (id, lease_epoch, clean) VALUES (1, 0, true)")
    op.execute("INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '')")


def _table(name: str, *items: sa.schema.SchemaItem) -> None:
    sa.Table(name, _metadata, *items)


def _texts(names: str, *, has_default: bool = False) -> list[sa.Column[str]]:
    """Make columns for texts; a column that came after its table has a default in the database."""
    return [_column(name, sa.Text(), "" if has_default else None) for name in names.split()]


def _integers(names: str, *, has_default: bool = False) -> list[sa.Column[int]]:
    return [_column(name, sa.Integer(), "0" if has_default else None) for name in names.split()]


def _times(names: str, *, has_default: bool = False) -> list[sa.Column[float]]:
    """Make columns for unix seconds."""
    return [_column(name, sa.Double(), "0" if has_default else None) for name in names.split()]


def _flags(names: str) -> list[sa.Column[bool]]:
    return [_column(name, sa.Boolean(), None) for name in names.split()]


def _column(name: str, kind: sa.types.TypeEngine[T], default: str | None) -> sa.Column[T]:
    return sa.Column(name, kind, nullable=False, autoincrement=False, server_default=default)


def _partial_index(name: str, *columns: str, where: str, unique: bool = False) -> sa.Index:
    """Make an index over some rows; `where` is as PostgreSQL takes it."""
    sqlite_where = sa.text(where.replace("IS false", "IS 0"))
    return sa.Index(
        name, *columns, unique=unique, sqlite_where=sqlite_where, postgresql_where=sa.text(where)
    )


_table("instance", *_integers("id lease_epoch"), *_flags("clean"), sa.PrimaryKeyConstraint("id"))
_table("channel_note", *_texts("channel name value"), sa.PrimaryKeyConstraint("channel", "name"))
_table("probe", *_texts("id padding"), sa.PrimaryKeyConstraint("id"))
_table("removal", *_texts("conversation"), sa.PrimaryKeyConstraint("conversation"))
_table(
    "conversation",
    *_texts("id channel account chat_id thread_id kind space"),
    *_integers("epoch next_seq next_turn next_line view_from"),
    *_texts("fold_head policy model"),
    *_integers("prefix_generation"),
    *_texts("prefix_sha256 prefix_reason"),
    *_flags("listed"),
    *_texts("title"),
    *_times("heard updated"),
    *_integers("cleared_before", has_default=True),
    *_texts("own_title", has_default=True),
    *_integers("pinned archived seen_line", has_default=True),
    *_times("deleting touched", has_default=True),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("channel", "account", "chat_id", "thread_id", name="conversation_place"),
    _partial_index("conversation_deleting", "deleting", where="deleting > 0"),
    sa.Index("conversation_pinned", "pinned", "updated"),
    sa.Index("conversation_space", "space"),
    sa.Index("conversation_touched", "touched"),
    sa.Index("conversation_updated", "updated"),
)
_table(
    "inbox",
    *_texts("id conversation channel account key kind sender_id body order_key state"),
    *_texts("reason"),
    *_integers("attempts"),
    *_texts("turn_id trace_id"),
    *_integers("line"),
    *_flags("urgent"),
    *_times("not_before received"),
    *_integers("lease_epoch"),
    *_texts("album", has_default=True),
    *_integers("deaths_alone", has_default=True),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("channel", "account", "key", name="inbox_key"),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    _partial_index("inbox_aside", "conversation", "state", "line", where="state = 'aside'"),
    sa.Index("inbox_line", "conversation", "line"),
    _partial_index("inbox_open", "conversation", where="state = 'new' OR state = 'running'"),
)
_table(
    "turn",
    *_texts("id conversation"),
    *_integers("number epoch"),
    *_texts("inbox_id actor state"),
    *_integers("step attempts"),
    *_texts("trace_id"),
    *_integers("first_seq lease_epoch"),
    *_times("started ended"),
    *_texts("who", has_default=True),
    *_times("asked", has_default=True),
    *_texts("recalled", has_default=True),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("conversation", "number", name="turn_number"),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    sa.Index("turn_first_seq", "conversation", "first_seq"),
    _partial_index(
        "turn_open", "conversation", where="state = 'running' OR state = 'waiting'", unique=True
    ),
    sa.Index("turn_started", "started", "who"),
    sa.Index("turn_who", "who", "asked"),
)
_table(
    "message",
    *_texts("id conversation"),
    *_integers("epoch seq turn"),
    *_texts("turn_id role parts origin space"),
    *_flags("has_text"),
    *_integers("tokens"),
    *_texts("counter"),
    *_times("at"),
    *_integers("tainted", has_default=True),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("conversation", "seq", name="message_seq"),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    sa.Index("message_space", "space", "at"),
)
_table(
    "tool_call",
    *_texts("id turn_id"),
    *_integers("place"),
    *_texts("call_id name input effect idem_key state"),
    *_integers("attempts"),
    *_texts("result_id"),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("turn_id", "call_id", name="tool_call_id"),
    sa.ForeignKeyConstraint(["turn_id"], ["turn.id"]),
    _partial_index("tool_call_started", "turn_id", where="state = 'started'"),
)
_table(
    "outbox",
    *_texts("id conversation source"),
    *_integers("part_no parts epoch"),
    *_texts("kind client_key text state"),
    *_integers("attempts repeats"),
    *_flags("plain"),
    *_times("key_valid key_expires not_before"),
    *_texts("reply_to platform_id error"),
    *_integers("line"),
    *_times("created"),
    *_integers("lease_epoch"),
    *_texts("payload", has_default=True),
    *_times("settled", has_default=True),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("source", "part_no", name="outbox_part"),
    sa.UniqueConstraint("client_key", name="outbox_client_key"),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    sa.Index("outbox_line", "conversation", "line"),
    _partial_index(
        "outbox_open",
        "conversation",
        "line",
        "part_no",
        where="state = 'pending' OR state = 'sending' OR state = 'unknown'",
    ),
    _partial_index("outbox_sending", "conversation", where="state = 'sending'", unique=True),
)
_table(
    "fold",
    *_texts("id conversation space channel"),
    *_integers("epoch"),
    *_texts("prev_fold"),
    *_integers("from_seq to_seq from_turn to_turn turns_covered"),
    *_texts("state method policy reason log_text summary"),
    *_integers("summary_tokens"),
    *_texts("source_sha256 log_ref"),
    *_integers("tokens_before tokens_after"),
    *_flags("log_only"),
    *_times("at"),
    *_integers("lease_epoch"),
    *_texts("why", has_default=True),
    *_integers("seen_seq tainted", has_default=True),
    *_texts("clean_lines", has_default=True),
    *_integers("summary_tainted rejected sent_from", has_default=True),
    *_texts("awaiting body_sha256", has_default=True),
    sa.PrimaryKeyConstraint("id"),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    sa.Index("fold_conversation", "conversation", "at"),
    _partial_index(
        "fold_open",
        "conversation",
        where="(state = 'planned' OR state = 'summarised' OR state = 'checked'"
        " OR state = 'logged') AND log_only IS false",
        unique=True,
    ),
    _partial_index(
        "fold_range",
        "conversation",
        "from_seq",
        where="state = 'folded' AND log_only IS false",
        unique=True,
    ),
)
_table(
    "coverage",
    *_texts("message_id class fold_id"),
    sa.PrimaryKeyConstraint("message_id"),
    sa.Index("coverage_fold", "fold_id"),
)
_table(
    "reduction",
    *_texts("message_id"),
    *_integers("part"),
    *_texts("form conversation text"),
    *_integers("tokens"),
    *_texts("reason"),
    *_integers("prefix_generation"),
    sa.PrimaryKeyConstraint("message_id", "part", "form"),
    sa.ForeignKeyConstraint(["message_id"], ["message.id"]),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    sa.Index("reduction_conversation", "conversation"),
)
_table("prefix_text", *_texts("sha256 text"), sa.PrimaryKeyConstraint("sha256"))
_table(
    "snapshot",
    *_texts("conversation source"),
    *_integers("epoch"),
    *_texts("fold_head"),
    *_integers("reductions"),
    *_times("at"),
    sa.PrimaryKeyConstraint("conversation"),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
)
_table(
    "snapshot_part",
    *_texts("conversation"),
    *_integers("place"),
    *_texts("name sha256 left_out"),
    sa.PrimaryKeyConstraint("conversation", "place"),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    sa.ForeignKeyConstraint(["sha256"], ["prefix_text.sha256"]),
    sa.Index("snapshot_part_text", "sha256"),
)
_table(
    "clearing",
    *_texts("conversation"),
    *_integers("epoch view_from"),
    *_texts("fold_head"),
    *_flags("undone"),
    *_times("at"),
    *_texts("begun_by", has_default=True),
    *_integers("cleared_before", has_default=True),
    sa.PrimaryKeyConstraint("conversation", "epoch"),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
)
_table(
    "model_factor",
    *_texts("model"),
    *_times("factor"),
    *_integers("samples"),
    *_times("error_percent"),
    sa.PrimaryKeyConstraint("model"),
)
_table(
    "usage",
    *_texts("id conversation turn_id model purpose"),
    *_integers("input output cache_read cache_write estimated"),
    *_times("at"),
    *_texts("who", has_default=True),
    sa.PrimaryKeyConstraint("id"),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    sa.Index("usage_at", "at"),
    sa.Index("usage_conversation", "conversation", "at"),
    sa.Index("usage_who", "who", "at"),
)
_table(
    "audit",
    *_integers("seq"),
    *_times("at"),
    *_texts("actor action subject args_digest decision result prev_hash hash"),
    sa.PrimaryKeyConstraint("seq"),
)
_table("audit_head", *_integers("id seq"), *_texts("hash"), sa.PrimaryKeyConstraint("id"))
_table(
    "person_removal",
    *_texts("id spaces parties blobs receipt"),
    *_times("at"),
    sa.PrimaryKeyConstraint("id"),
)
_table(
    "process",
    *_integers("lease"),
    *_texts("name"),
    *_times("until"),
    *_texts("told"),
    sa.PrimaryKeyConstraint("lease"),
)
_table("duty", *_texts("name"), *_integers("lease"), sa.PrimaryKeyConstraint("name"))
_table(
    "limit_told",
    *_texts("who conversation limit_name"),
    *_times("until"),
    sa.PrimaryKeyConstraint("who", "conversation", "limit_name"),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
)
_table(
    "memory",
    *_texts("id space norm category text"),
    *_integers("importance"),
    *_texts("state origin conversation message_id channel quote"),
    *_times("said created updated used"),
    *_integers("uses"),
    *_texts("superseded_by"),
    *_times("valid_until"),
    sa.PrimaryKeyConstraint("id"),
    sa.Index("memory_line", "space", "norm", "state"),
    _partial_index("memory_norm", "space", "norm", where="state = 'live'", unique=True),
    sa.Index("memory_space", "space", "state"),
)
_table(
    "memory_change",
    *_texts("id space path kind before_sha256 after_sha256 added removed before about"),
    *_flags("undone"),
    *_times("at"),
    sa.PrimaryKeyConstraint("id"),
    sa.Index("memory_change_space", "space", "at"),
)
_table(
    "extraction",
    *_texts("turn_id space conversation"),
    *_integers("turn"),
    *_texts("state"),
    *_integers("attempts"),
    *_texts("found reason"),
    *_times("at"),
    sa.PrimaryKeyConstraint("turn_id"),
    _partial_index("extraction_open", "space", where="state = 'queued' OR state = 'found'"),
)
_table(
    "dream",
    *_texts("id space day state plan diary reason"),
    *_times("at"),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("space", "day", name="dream_day"),
)
_table(
    "forgetting",
    *_texts("id space conversation asked_by state code_sha256 targets receipt"),
    *_times("expires at"),
    sa.PrimaryKeyConstraint("id"),
    _partial_index(
        "forgetting_open",
        "space",
        where="state = 'asked' OR state = 'confirmed' OR state = 'removed'",
    ),
)
_table(
    "account_link",
    *_texts("own_space space channel account sender_id"),
    *_times("at"),
    sa.PrimaryKeyConstraint("own_space"),
    sa.Index("account_link_space", "space"),
)
_table(
    "link_code",
    *_texts("id code_sha256 state channel account sender_id space conversation"),
    *_texts("typed_channel typed_account typed_sender_id typed_name typed_space"),
    *_texts("typed_conversation"),
    *_times("expires at"),
    sa.PrimaryKeyConstraint("id"),
    sa.Index("link_code_sha256", "code_sha256"),
)
_table("file_label", *_texts("space path"), *_times("at"), sa.PrimaryKeyConstraint("space", "path"))
_table(
    "access_grant",
    *_texts("channel account subject subject_id group_id role name granted_by"),
    *_times("at"),
    sa.PrimaryKeyConstraint("channel", "subject", "subject_id", "account", "group_id"),
)
_table(
    "access_request",
    *_texts("id channel account subject subject_id name conversation lang code_sha256"),
    *_texts("state"),
    *_times("expires at"),
    sa.PrimaryKeyConstraint("id"),
    sa.Index("access_request_at", "channel", "account", "at"),
    sa.Index("access_request_code", "code_sha256"),
)
_table(
    "approval",
    *_texts("id channel account subject_id conversation space call action tool"),
    *_texts("arguments digest code_sha256 press_sha256 state"),
    *_times("expires at"),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("call", name="approval_call"),
    sa.Index("approval_person", "channel", "subject_id"),
)
_table(
    "approval_rule",
    *_texts("id space"),
    *_integers("number"),
    *_texts("channel account person tool command cwd level"),
    *_times("expires at"),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("space", "number", name="approval_rule_number"),
)
_table(
    "background_task",
    *_texts("id space"),
    *_integers("number"),
    *_texts("kind conversation call"),
    *_integers("position"),
    *_texts("child channel account person goal request state"),
    *_flags("detached"),
    *_texts("outcome"),
    *_flags("tainted"),
    *_integers("epoch"),
    *_times("at ended"),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("space", "number", name="background_task_number"),
    sa.UniqueConstraint("call", "position", name="background_task_call"),
    sa.Index("background_task_child", "child"),
    _partial_index("background_task_open", "conversation", where="state = 'running'"),
)
_table(
    "job",
    *_texts("id space"),
    *_integers("number"),
    *_texts("conversation channel account person kind body schedule"),
    *_times("next_at"),
    *_integers("runs_left"),
    *_flags("tainted"),
    *_texts("norm state reason"),
    *_times("at"),
    *_integers("fails retries", has_default=True),
    *_texts("extra", has_default=True),
    *_times("resumes_at", has_default=True),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("space", "number", name="job_number"),
    _partial_index("job_due", "next_at", where="state = 'on'"),
    sa.Index("job_person", "channel", "person"),
)
_table(
    "occurrence",
    *_texts("id job"),
    *_times("due"),
    *_texts("state reason space"),
    *_times("at"),
    *_texts("inbox_row", has_default=True),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("job", "due", name="occurrence_due"),
    _partial_index("occurrence_running", "job", where="state = 'run'"),
    sa.Index("occurrence_space", "space"),
)
_table(
    "job_setting",
    *_texts("channel account person space zone quiet"),
    sa.PrimaryKeyConstraint("channel", "account", "person"),
    sa.Index("job_setting_space", "space"),
)
_table(
    "heartbeat",
    *_texts("id space decision sha256 norm reason"),
    *_integers("tokens"),
    *_times("at"),
    sa.PrimaryKeyConstraint("id"),
    sa.Index("heartbeat_space", "space", "at"),
)
_table(
    "file_version",
    *_texts("id space path sha256"),
    *_integers("size"),
    *_texts("pending call"),
    *_times("at"),
    sa.PrimaryKeyConstraint("id"),
    sa.Index("file_version_path", "space", "path", "at"),
    _partial_index("file_version_pending", "at", where="pending != ''"),
)
_table(
    "mcp_server", *_texts("id source_sha256 era"), *_times("listed"), sa.PrimaryKeyConstraint("id")
)
_table(
    "mcp_tool",
    *_texts("server name description schema"),
    *_flags("read_only"),
    *_texts("sha256"),
    *_flags("listed"),
    *_texts("mode effect reviewed_sha256 told_sha256"),
    *_integers("position"),
    sa.PrimaryKeyConstraint("server", "name"),
)
_table(
    "view_manifest",
    *_texts("conversation"),
    *_integers("number"),
    *_texts("turn_id"),
    *_integers("turn epoch"),
    *_texts("space fold_head"),
    *_integers("from_seq to_seq generation"),
    *_texts("zone model answered policy"),
    *_integers("budget max_tokens same"),
    *_flags("closed"),
    *_texts("entries"),
    *_integers("tokens"),
    *_texts("checksum"),
    *_integers("input output cache_read cache_write ms"),
    *_flags("forgotten"),
    *_times("at"),
    sa.PrimaryKeyConstraint("conversation", "number"),
    sa.ForeignKeyConstraint(["conversation"], ["conversation.id"]),
    sa.Index("view_manifest_at", "at"),
)
_table(
    "view_text",
    *_texts("conversation space sha256 form text"),
    *_integers("day"),
    sa.PrimaryKeyConstraint("conversation", "space", "sha256"),
    sa.Index("view_text_day", "day"),
)
