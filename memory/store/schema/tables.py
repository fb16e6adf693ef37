"""The tables of the durable record, the same for every backend."""

from sqlalchemy import (
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    exists,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from memory.store.schema.columns import (
    added_integer,
    added_moment,
    added_text,
    conversation_column,
    flag,
    id_column,
    integer,
    is_one_of,
    metadata,
    moment,
    partial_index,
    text,
)

# The versions of these tables, oldest first; the last is what this code reads and writes.
REVISIONS = ("r0001", "r0002", "r0003", "r0004", "r0005", "r0006", "r0007", "r0008", "r0009", "r0010")


instance = Table(
    "instance",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False, nullable=False),
    integer("lease_epoch"),
    flag("clean"),
)
# What each channel keeps between its lives, under names of its own.
channel_note = Table(
    "channel_note", metadata, text("channel"), text("name"), text("value"), PrimaryKeyConstraint("channel", "name")
)

probe = Table("probe", metadata, id_column(), text("padding"))
# The one door through which messages may leave: the trigger lets go of conversations that are named here.
removal = Table("removal", metadata, Column("conversation", Text, primary_key=True, nullable=False))

conversation = Table(
    "conversation",
    metadata,
    id_column(),
    text("channel"),
    text("account"),
    text("chat_id"),
    text("thread_id"),
    text("kind"),
    text("space"),
    integer("epoch", 1),
    integer("next_seq", 1),
    integer("next_turn", 1),
    integer("next_line", 1),
    integer("view_from", 1),
    text("fold_head"),
    text("policy"),
    text("model"),
    integer("prefix_generation"),
    text("prefix_sha256"),
    text("prefix_reason"),
    flag("listed"),
    text("title"),
    moment("heard"),
    moment("updated"),
    UniqueConstraint("channel", "account", "chat_id", "thread_id", name="conversation_place"),
)
Index("conversation_updated", conversation.c.updated)
Index("conversation_space", conversation.c.space)

inbox = Table(
    "inbox",
    metadata,
    id_column(),
    conversation_column(),
    text("channel"),
    text("account"),
    text("key"),
    text("kind"),
    text("sender_id"),
    text("body"),
    text("order_key"),
    text("state"),
    text("reason"),
    integer("attempts"),
    text("turn_id"),
    text("trace_id"),
    integer("line"),
    flag("urgent"),
    moment("not_before"),
    moment("received"),
    integer("lease_epoch"),
    added_text("album"),
    added_integer("deaths_alone"),
    UniqueConstraint("channel", "account", "key", name="inbox_key"),
)
Index("inbox_line", inbox.c.conversation, inbox.c.line)
partial_index("inbox_open", inbox.c.conversation, where=is_one_of(inbox.c.state, "new", "running"))
partial_index("inbox_aside", inbox.c.conversation, inbox.c.state, inbox.c.line, where=is_one_of(inbox.c.state, "aside"))

# who: whose budget it counts to, see spending.py; asked: when its message came in.
turn = Table(
    "turn",
    metadata,
    id_column(),
    conversation_column(),
    integer("number"),
    integer("epoch"),
    text("inbox_id"),
    text("actor"),
    text("state"),
    integer("step"),
    integer("attempts"),
    text("trace_id"),
    integer("first_seq"),
    integer("lease_epoch"),
    moment("started"),
    moment("ended"),
    added_text("who"),
    added_moment("asked"),
    UniqueConstraint("conversation", "number", name="turn_number"),
)
Index("turn_who", turn.c.who, turn.c.asked)
Index("turn_started", turn.c.started, turn.c.who)
Index("turn_first_seq", turn.c.conversation, turn.c.first_seq)
partial_index("turn_open", turn.c.conversation, where=is_one_of(turn.c.state, "running", "waiting"), unique=True)

# tainted: 1 for what the bot said or was told in a turn that saw words from outside.
message = Table(
    "message",
    metadata,
    id_column(),
    conversation_column(),
    integer("epoch"),
    integer("seq"),
    integer("turn"),
    text("turn_id"),
    text("role"),
    text("parts"),
    text("origin"),
    text("space"),
    flag("has_text"),
    integer("tokens"),
    text("counter"),
    moment("at"),
    added_integer("tainted"),
    UniqueConstraint("conversation", "seq", name="message_seq"),
)
Index("message_space", message.c.space, message.c.at)

tool_call = Table(
    "tool_call",
    metadata,
    id_column(),
    Column("turn_id", Text, ForeignKey("turn.id"), nullable=False),
    integer("place"),
    text("call_id"),
    text("name"),
    text("input"),
    text("effect"),
    text("idem_key"),
    text("state"),
    integer("attempts"),
    text("result_id"),
    UniqueConstraint("turn_id", "call_id", name="tool_call_id"),
)
partial_index("tool_call_started", tool_call.c.turn_id, where=is_one_of(tool_call.c.state, "started"))

outbox = Table(
    "outbox",
    metadata,
    id_column(),
    conversation_column(),
    text("source"),
    integer("part_no"),
    integer("parts", 1),
    integer("epoch"),
    text("kind"),
    text("client_key"),
    text("text"),
    text("state"),
    integer("attempts"),
    integer("repeats"),
    flag("plain"),
    moment("key_valid"),
    moment("key_expires"),
    moment("not_before"),
    text("reply_to"),
    text("platform_id"),
    text("error"),
    integer("line"),
    moment("created"),
    integer("lease_epoch"),
    added_text("payload"),
    added_moment("settled"),
    UniqueConstraint("source", "part_no", name="outbox_part"),
    UniqueConstraint("client_key", name="outbox_client_key"),
)
Index("outbox_line", outbox.c.conversation, outbox.c.line)
partial_index(
    "outbox_open",
    outbox.c.conversation,
    outbox.c.line,
    outbox.c.part_no,
    where=is_one_of(outbox.c.state, "pending", "sending", "unknown"),
)

partial_index("outbox_sending", outbox.c.conversation, where=is_one_of(outbox.c.state, "sending"), unique=True)

fold = Table(
    "fold",
    metadata,
    id_column(),
    conversation_column(),
    text("space"),
    text("channel"),
    integer("epoch"),
    text("prev_fold"),
    integer("from_seq"),
    integer("to_seq"),
    integer("from_turn"),
    integer("to_turn"),
    integer("turns_covered"),
    text("state"),
    text("method"),
    text("policy"),
    text("reason"),
    text("log_text"),
    text("summary"),
    integer("summary_tokens"),
    text("source_sha256"),
    text("log_ref"),
    integer("tokens_before"),
    integer("tokens_after"),
    flag("log_only"),
    moment("at"),
    integer("lease_epoch"),
    added_text("why"),
    added_integer("seen_seq"),
    added_integer("tainted"),
    added_text("clean_lines"),
    added_integer("summary_tainted"),
)
Index("fold_conversation", fold.c.conversation, fold.c.at)
_OPEN_FOLD = is_one_of(fold.c.state, "planned", "summarised", "checked", "logged")
partial_index("fold_open", fold.c.conversation, where=_OPEN_FOLD & fold.c.log_only.is_(False), unique=True)
Index(
    "fold_range",
    fold.c.conversation,
    fold.c.from_seq,
    unique=True,
    sqlite_where=is_one_of(fold.c.state, "folded") & fold.c.log_only.is_(False),
    postgresql_where=is_one_of(fold.c.state, "folded") & fold.c.log_only.is_(False),
)

coverage = Table(
    "coverage",
    metadata,
    Column("message_id", Text, primary_key=True, nullable=False),
    Column("class", Text, nullable=False, key="kind"),
    text("fold_id"),
)
Index("coverage_fold", coverage.c.fold_id)

reduction = Table(
    "reduction",
    metadata,
    text("message_id"),
    integer("part"),
    text("form"),
    conversation_column(),
    text("text"),
    integer("tokens"),
    text("reason"),
    integer("prefix_generation"),
    PrimaryKeyConstraint("message_id", "part", "form"),
    ForeignKeyConstraint(["message_id"], ["message.id"]),
)
Index("reduction_conversation", reduction.c.conversation)

# System parts as they were shown, each once however many conversations show it; named by the text's hash.
prefix_text = Table("prefix_text", metadata, Column("sha256", Text, primary_key=True, nullable=False), text("text"))

snapshot = Table(
    "snapshot",
    metadata,
    Column("conversation", Text, ForeignKey("conversation.id"), primary_key=True, nullable=False),
    text("source"),
    integer("epoch"),
    text("fold_head"),
    integer("reductions"),
    moment("at"),
)
snapshot_part = Table(
    "snapshot_part",
    metadata,
    conversation_column(),
    integer("place"),
    text("name"),
    Column("sha256", Text, ForeignKey("prefix_text.sha256"), nullable=False),
    text("left_out"),
    PrimaryKeyConstraint("conversation", "place"),
)
Index("snapshot_part_text", snapshot_part.c.sha256)

# One row for each clear: the epoch it began, and the former pair that undoing it brings back.
clearing = Table(
    "clearing",
    metadata,
    conversation_column(),
    integer("epoch"),
    integer("view_from"),
    text("fold_head"),
    flag("undone"),
    moment("at"),
    PrimaryKeyConstraint("conversation", "epoch"),
)

model_factor = Table(
    "model_factor",
    metadata,
    Column("model", Text, primary_key=True, nullable=False),
    Column("factor", Double, nullable=False),
    integer("samples"),
    Column("error_percent", Double, nullable=False),
)
usage = Table(
    "usage",
    metadata,
    id_column(),
    conversation_column(),
    text("turn_id"),
    text("model"),
    text("purpose"),
    integer("input"),
    integer("output"),
    integer("cache_read"),
    integer("cache_write"),
    integer("estimated"),
    moment("at"),
    added_text("who"),
)
Index("usage_at", usage.c.at)
Index("usage_who", usage.c.who, usage.c.at)
Index("usage_conversation", usage.c.conversation, usage.c.at)

# An append-only chain: each hash covers its row and the hash before it.
audit = Table(
    "audit",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False, nullable=False),
    moment("at"),
    text("actor"),
    text("action"),
    text("subject"),
    text("args_digest"),
    text("decision"),
    text("result"),
    text("prev_hash"),
    text("hash"),
)

# One row: where the chain ends. Whoever adds to the chain changes it first, so that two never take one place.
audit_head = Table(
    "audit_head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False, nullable=False),
    integer("seq"),
    text("hash"),
)

# A person who is being removed; gone when that is done. spaces, parties, blobs: JSON lists; receipt: JSON counts.
person_removal = Table(
    "person_removal",
    metadata,
    id_column(),
    text("spaces"),
    text("parties"),
    text("blobs"),
    text("receipt"),
    moment("at"),
)

stamp = Table(
    "alembic_version",
    metadata,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


# Unix seconds by PostgreSQL's clock, as an expression.
NOW_SQL = "extract(epoch FROM clock_timestamp())::double precision"


# The tables about who is alive: processes that have the store open, and the duties that one of them has at a time.

FOREVER = 1e18  # as `until` of a process that no other can outlive: SQLite's only writer

# Openings of the store for writing. until: by the database's clock; told: what it says of itself, JSON.
process = Table(
    "process",
    metadata,
    Column("lease", Integer, primary_key=True, autoincrement=False, nullable=False),
    text("name"),
    moment("until"),
    text("told"),
)

# What one process does for all: hear a channel's account, dream, write a file. Free once its holder is void.
duty = Table("duty", metadata, text("name"), integer("lease"), PrimaryKeyConstraint("name"))


class database_clock(FunctionElement[float]):
    """Unix seconds by the database's own clock, the same for every process."""

    type = Double()
    inherit_cache = True


@compiles(database_clock)
def _compile_for_sqlite(element: database_clock, compiler: SQLCompiler, **options: object) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(database_clock, "postgresql")
def _compile_for_postgresql(element: database_clock, compiler: SQLCompiler, **options: object) -> str:
    return f"({NOW_SQL})"


def is_lease_void(lease: Column[int]) -> ColumnElement[bool]:
    """Whether the holder of a row is gone: its process is not known any more, or did not renew its lease in time."""
    return ~exists().where(process.c.lease == lease, process.c.until > database_clock())


# The table of the Spending door: who was told that a limit is reached.

# Who was told in which conversation that a limit is reached, and until when that holds.
limit_told = Table(
    "limit_told",
    metadata,
    text("who"),
    conversation_column(),
    text("limit_name"),
    moment("until"),
    PrimaryKeyConstraint("who", "conversation", "limit_name"),
)
