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
    among,
    flag,
    later_moment,
    later_text,
    later_whole,
    moment,
    of_conversation,
    own_id,
    partial,
    record,
    text,
    whole,
)

REVISIONS = ("r0001", "r0002", "r0003", "r0004", "r0005", "r0006", "r0007", "r0008", "r0009", "r0010")
"""The versions of these tables, oldest first; the last is what this code reads and writes."""


instance = Table(
    "instance",
    record,
    Column("id", Integer, primary_key=True, autoincrement=False, nullable=False),
    whole("lease_epoch"),
    flag("clean"),
)
channel_note = Table(
    "channel_note", record, text("channel"), text("name"), text("value"), PrimaryKeyConstraint("channel", "name")
)
"""What each channel keeps between its lives, under names of its own."""

probe = Table("probe", record, own_id(), text("padding"))
removal = Table("removal", record, Column("conversation", Text, primary_key=True, nullable=False))
"""The one door through which messages may leave: the trigger lets go of conversations that are named here."""

conversation = Table(
    "conversation",
    record,
    own_id(),
    text("channel"),
    text("account"),
    text("chat_id"),
    text("thread_id"),
    text("kind"),
    text("space"),
    whole("epoch", 1),
    whole("next_seq", 1),
    whole("next_turn", 1),
    whole("next_line", 1),
    whole("view_from", 1),
    text("fold_head"),
    text("policy"),
    text("model"),
    whole("prefix_generation"),
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
    record,
    own_id(),
    of_conversation(),
    text("channel"),
    text("account"),
    text("key"),
    text("kind"),
    text("sender_id"),
    text("body"),
    text("order_key"),
    text("state"),
    text("reason"),
    whole("attempts"),
    text("turn_id"),
    text("trace_id"),
    whole("line"),
    flag("urgent"),
    moment("not_before"),
    moment("received"),
    whole("lease_epoch"),
    later_text("album"),
    later_whole("deaths_alone"),
    UniqueConstraint("channel", "account", "key", name="inbox_key"),
)
Index("inbox_line", inbox.c.conversation, inbox.c.line)
partial("inbox_open", inbox.c.conversation, where=among(inbox.c.state, "new", "running"))
partial("inbox_aside", inbox.c.conversation, inbox.c.state, inbox.c.line, where=among(inbox.c.state, "aside"))

turn = Table(
    "turn",
    record,
    own_id(),
    of_conversation(),
    whole("number"),
    whole("epoch"),
    text("inbox_id"),
    text("actor"),
    text("state"),
    whole("step"),
    whole("attempts"),
    text("trace_id"),
    whole("first_seq"),
    whole("lease_epoch"),
    moment("started"),
    moment("ended"),
    later_text("who"),
    later_moment("asked"),
    UniqueConstraint("conversation", "number", name="turn_number"),
)
"""who: whose budget it counts to, see spending.py; asked: when its message came in."""
Index("turn_who", turn.c.who, turn.c.asked)
Index("turn_started", turn.c.started, turn.c.who)
Index("turn_first_seq", turn.c.conversation, turn.c.first_seq)
partial("turn_open", turn.c.conversation, where=among(turn.c.state, "running", "waiting"), unique=True)

message = Table(
    "message",
    record,
    own_id(),
    of_conversation(),
    whole("epoch"),
    whole("seq"),
    whole("turn"),
    text("turn_id"),
    text("role"),
    text("parts"),
    text("origin"),
    text("space"),
    flag("has_text"),
    whole("tokens"),
    text("counter"),
    moment("at"),
    later_whole("tainted"),
    UniqueConstraint("conversation", "seq", name="message_seq"),
)
"""tainted: 1 for what the bot said or was told in a turn that saw words from outside."""
Index("message_space", message.c.space, message.c.at)

tool_call = Table(
    "tool_call",
    record,
    own_id(),
    Column("turn_id", Text, ForeignKey("turn.id"), nullable=False),
    whole("place"),
    text("call_id"),
    text("name"),
    text("input"),
    text("effect"),
    text("idem_key"),
    text("state"),
    whole("attempts"),
    text("result_id"),
    UniqueConstraint("turn_id", "call_id", name="tool_call_id"),
)
partial("tool_call_started", tool_call.c.turn_id, where=among(tool_call.c.state, "started"))

outbox = Table(
    "outbox",
    record,
    own_id(),
    of_conversation(),
    text("source"),
    whole("part_no"),
    whole("parts", 1),
    whole("epoch"),
    text("kind"),
    text("client_key"),
    text("text"),
    text("state"),
    whole("attempts"),
    whole("repeats"),
    flag("plain"),
    moment("key_valid"),
    moment("key_expires"),
    moment("not_before"),
    text("reply_to"),
    text("platform_id"),
    text("error"),
    whole("line"),
    moment("created"),
    whole("lease_epoch"),
    later_text("payload"),
    later_moment("settled"),
    UniqueConstraint("source", "part_no", name="outbox_part"),
    UniqueConstraint("client_key", name="outbox_client_key"),
)
Index("outbox_line", outbox.c.conversation, outbox.c.line)
partial(
    "outbox_open",
    outbox.c.conversation,
    outbox.c.line,
    outbox.c.part_no,
    where=among(outbox.c.state, "pending", "sending", "unknown"),
)

partial("outbox_sending", outbox.c.conversation, where=among(outbox.c.state, "sending"), unique=True)

fold = Table(
    "fold",
    record,
    own_id(),
    of_conversation(),
    text("space"),
    text("channel"),
    whole("epoch"),
    text("prev_fold"),
    whole("from_seq"),
    whole("to_seq"),
    whole("from_turn"),
    whole("to_turn"),
    whole("turns_covered"),
    text("state"),
    text("method"),
    text("policy"),
    text("reason"),
    text("log_text"),
    text("summary"),
    whole("summary_tokens"),
    text("source_sha256"),
    text("log_ref"),
    whole("tokens_before"),
    whole("tokens_after"),
    flag("log_only"),
    moment("at"),
    whole("lease_epoch"),
    later_text("why"),
    later_whole("seen_seq"),
    later_whole("tainted"),
    later_text("clean_lines"),
    later_whole("summary_tainted"),
)
Index("fold_conversation", fold.c.conversation, fold.c.at)
_OPEN_FOLD = among(fold.c.state, "planned", "summarised", "checked", "logged")
partial("fold_open", fold.c.conversation, where=_OPEN_FOLD & fold.c.log_only.is_(False), unique=True)
Index(
    "fold_range",
    fold.c.conversation,
    fold.c.from_seq,
    unique=True,
    sqlite_where=among(fold.c.state, "folded") & fold.c.log_only.is_(False),
    postgresql_where=among(fold.c.state, "folded") & fold.c.log_only.is_(False),
)

coverage = Table(
    "coverage",
    record,
    Column("message_id", Text, primary_key=True, nullable=False),
    Column("class", Text, nullable=False, key="kind"),
    text("fold_id"),
)
Index("coverage_fold", coverage.c.fold_id)

reduction = Table(
    "reduction",
    record,
    text("message_id"),
    whole("part"),
    text("form"),
    of_conversation(),
    text("text"),
    whole("tokens"),
    text("reason"),
    whole("prefix_generation"),
    PrimaryKeyConstraint("message_id", "part", "form"),
    ForeignKeyConstraint(["message_id"], ["message.id"]),
)
Index("reduction_conversation", reduction.c.conversation)

prefix_text = Table("prefix_text", record, Column("sha256", Text, primary_key=True, nullable=False), text("text"))
"""System parts as they were shown, each once however many conversations show it; named by the text's hash."""

snapshot = Table(
    "snapshot",
    record,
    Column("conversation", Text, ForeignKey("conversation.id"), primary_key=True, nullable=False),
    text("source"),
    whole("epoch"),
    text("fold_head"),
    whole("reductions"),
    moment("at"),
)
snapshot_part = Table(
    "snapshot_part",
    record,
    of_conversation(),
    whole("place"),
    text("name"),
    Column("sha256", Text, ForeignKey("prefix_text.sha256"), nullable=False),
    text("left_out"),
    PrimaryKeyConstraint("conversation", "place"),
)
Index("snapshot_part_text", snapshot_part.c.sha256)

clearing = Table(
    "clearing",
    record,
    of_conversation(),
    whole("epoch"),
    whole("view_from"),
    text("fold_head"),
    flag("undone"),
    moment("at"),
    PrimaryKeyConstraint("conversation", "epoch"),
)
"""One row for each clear: the epoch it began, and the former pair that undoing it brings back."""

model_factor = Table(
    "model_factor",
    record,
    Column("model", Text, primary_key=True, nullable=False),
    Column("factor", Double, nullable=False),
    whole("samples"),
    Column("error_percent", Double, nullable=False),
)
usage = Table(
    "usage",
    record,
    own_id(),
    of_conversation(),
    text("turn_id"),
    text("model"),
    text("purpose"),
    whole("input"),
    whole("output"),
    whole("cache_read"),
    whole("cache_write"),
    whole("estimated"),
    moment("at"),
    later_text("who"),
)
Index("usage_at", usage.c.at)
Index("usage_who", usage.c.who, usage.c.at)
Index("usage_conversation", usage.c.conversation, usage.c.at)

audit = Table(
    "audit",
    record,
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
"""An append-only chain: each hash covers its row and the hash before it."""

audit_head = Table(
    "audit_head",
    record,
    Column("id", Integer, primary_key=True, autoincrement=False, nullable=False),
    whole("seq"),
    text("hash"),
)
"""One row: where the chain ends. Whoever adds to the chain changes it first, so that two never take one place."""

person_removal = Table(
    "person_removal",
    record,
    own_id(),
    text("spaces"),
    text("parties"),
    text("blobs"),
    text("receipt"),
    moment("at"),
)
"""A person who is being removed; gone when that is done. spaces, parties, blobs: JSON lists; receipt: JSON counts."""

stamp = Table(
    "alembic_version",
    record,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


NOW = "extract(epoch FROM clock_timestamp())::double precision"
"""Unix seconds by PostgreSQL's clock, as an expression."""


# The tables about who is alive: processes that have the record open, and the duties that one of them has at a time.

FOREVER = 1e18
"""As `until` of a process that no other can outlive: SQLite's only writer."""

process = Table(
    "process",
    record,
    Column("lease", Integer, primary_key=True, autoincrement=False, nullable=False),
    text("name"),
    moment("until"),
    text("told"),
)
"""Openings of the record for writing. until: by the database's clock; told: what it says of itself, JSON."""

duty = Table("duty", record, text("name"), whole("lease"), PrimaryKeyConstraint("name"))
"""What one process does for all: hear a channel's account, dream, write a file. Free once its holder is void."""


class database_clock(FunctionElement[float]):
    """Unix seconds by the database's own clock, the same for every process."""

    type = Double()
    inherit_cache = True


@compiles(database_clock)
def _of_sqlite(element: database_clock, compiler: SQLCompiler, **options: object) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(database_clock, "postgresql")
def _of_postgresql(element: database_clock, compiler: SQLCompiler, **options: object) -> str:
    return f"({NOW})"


def void(lease: Column[int]) -> ColumnElement[bool]:
    """Whether the holder of a row is gone: its process is not known any more, or did not renew its lease in time."""
    return ~exists().where(process.c.lease == lease, process.c.until > database_clock())


# The table of the Spending door: who was told that a limit is reached.

limit_told = Table(
    "limit_told",
    record,
    text("who"),
    of_conversation(),
    text("limit_name"),
    moment("until"),
    PrimaryKeyConstraint("who", "conversation", "limit_name"),
)
"""Who was told in which conversation that a limit is reached, and until when that holds."""
