"""The tables of conversations, the audit and processes, for both databases; and the kinds of
columns.
"""

import re

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    exists,
    literal_column,
    or_,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

# The revisions of the tables, oldest first; this code reads and writes the last.
REVISIONS = ("r0013", "r0014", "r0015", "r0016", "r0017", "r0018")
# Revisions before the first one; the last commit that upgrades their tables, to those of r0013.
REMOVED_REVISIONS = tuple(f"r{number:04}" for number in range(1, 13))
LAST_COMMIT_WITH_REMOVED = "ed4b8f97"

MAX_INTEGER = 2**31 - 1  # the largest number that a column holds, as PostgreSQL has it

metadata = MetaData()  # of all tables of the store; those of memory_tables too


def literal_text(text: str) -> ColumnElement[str]:
    """Return a constant as a literal in the SQL itself, which partial indexes need."""
    return literal_column(f"'{text}'", Text())


def escape_like(words: str) -> str:
    """Escape what LIKE would take for a pattern, with "/"."""
    return re.sub("[/%_]", "/\\g<0>", words)


def is_one_of(column: Column[str], *texts: str) -> ColumnElement[bool]:
    """Return whether the column has one of these constants, so that a partial index over the same
    ones is used.
    """
    return or_(*(column == literal_text(one) for one in texts))


def text(name: str, *, added: bool = False) -> Column[str]:
    """Make a column for a text, "" by default.

    Args:
        added: by a later revision to a table that may have rows.
    """
    return Column(name, Text, nullable=False, default="", server_default="" if added else None)


def integer(name: str, default: int = 0, *, added: bool = False) -> Column[int]:
    """Make a column for a whole number; `added` as for `text`."""
    return Column(
        name, Integer, nullable=False, default=default, server_default="0" if added else None
    )


def moment(name: str, *, added: bool = False) -> Column[float]:
    """Make a column for unix seconds, 0.0 by default; `added` as for `text`."""
    return Column(name, Double, nullable=False, default=0.0, server_default="0" if added else None)


def flag(name: str) -> Column[bool]:
    """Make a column for yes or no, no by default."""
    return Column(name, Boolean, nullable=False, default=False)


def id_column() -> Column[str]:
    """Make the column `id`, the primary key."""
    return Column("id", Text, primary_key=True, nullable=False)


def conversation_column() -> Column[str]:
    """Make the column for the conversation that a row belongs to."""
    return Column("conversation", Text, ForeignKey("conversation.id"), nullable=False)


def partial_index(
    name: str, *columns: Column[str], where: ColumnElement[bool], unique: bool = False
) -> Index:
    """Make an index over the rows that satisfy `where`; `creation_statements` tells the dialect.

    As an argument it would import the dialect of each database that it is for.
    """
    return Index(name, *columns, unique=unique, info={"where": where})


# One row: the number of the newest opening, and whether it has ended cleanly.
instance = Table(
    "instance",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False, nullable=False),
    integer("lease_epoch"),
    flag("clean"),
)
# Short texts that channels store between restarts.
channel_note = Table(
    "channel_note",
    metadata,
    text("channel"),
    text("name"),
    text("value"),
    PrimaryKeyConstraint("channel", "name"),
)
# Written and deleted by the readiness check.
probe = Table("probe", metadata, id_column(), text("padding"))
# Conversations whose messages a trigger allows to change or delete now.
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
    integer(
        "cleared_before", added=True
    ),  # messages with a lower seq were cleared and are never recalled by themselves
    text("own_title", added=True),  # given in the console; "" shows the first words
    integer("pinned", added=True),
    integer("archived", added=True),
    integer("seen_line", added=True),  # the last line that was read in the console
    moment("deleting", added=True),  # when it is deleted, 0 while nobody has asked for that
    moment("touched", added=True),  # when one of these was changed
    # when the first turn in view began that no daily log has, 0 for none
    moment("unlogged_since", added=True),
    text("chat_name", added=True),  # the platform's: a group's title, a private chat's person
    UniqueConstraint("channel", "account", "chat_id", "thread_id", name="conversation_place"),
)
Index("conversation_updated", conversation.c.updated)
Index("conversation_touched", conversation.c.touched)
Index("conversation_pinned", conversation.c.pinned, conversation.c.updated)
partial_index(
    "conversation_deleting",
    conversation.c.deleting,
    where=conversation.c.deleting > literal_column("0"),
)
Index("conversation_space", conversation.c.space)
partial_index(
    "conversation_unlogged",
    conversation.c.unlogged_since,
    conversation.c.id,
    where=conversation.c.unlogged_since > literal_column("0"),
)

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
    text("album", added=True),
    integer("deaths_alone", added=True),
    UniqueConstraint("channel", "account", "key", name="inbox_key"),
)
Index("inbox_line", inbox.c.conversation, inbox.c.line)
partial_index("inbox_open", inbox.c.conversation, where=is_one_of(inbox.c.state, "new", "running"))
partial_index(
    "inbox_aside",
    inbox.c.conversation,
    inbox.c.state,
    inbox.c.line,
    where=is_one_of(inbox.c.state, "aside"),
)

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
    text("who", added=True),  # whose budget it counts against; see people/spending.py
    moment("asked", added=True),  # when its message was received
    # where the passages are that its first request was given, as JSON
    text("recalled", added=True),
    UniqueConstraint("conversation", "number", name="turn_number"),
)
Index("turn_who", turn.c.who, turn.c.asked)
Index("turn_started", turn.c.started, turn.c.who)
Index("turn_first_seq", turn.c.conversation, turn.c.first_seq)
partial_index(
    "turn_open",
    turn.c.conversation,
    where=is_one_of(turn.c.state, "running", "waiting"),
    unique=True,
)

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
    integer("tainted", added=True),  # 1 for what was written in a turn that saw words from outside
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
partial_index(
    "tool_call_started", tool_call.c.turn_id, where=is_one_of(tool_call.c.state, "started")
)

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
    text("payload", added=True),
    moment("settled", added=True),
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

partial_index(
    "outbox_sending", outbox.c.conversation, where=is_one_of(outbox.c.state, "sending"), unique=True
)

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
    text("why", added=True),
    integer("seen_seq", added=True),
    integer("tainted", added=True),
    text("clean_lines", added=True),
    integer("summary_tainted", added=True),
    integer("rejected", added=True),
    integer("sent_from", added=True),
    text("awaiting", added=True),
    text("body_sha256", added=True),
    integer("summary_only", added=True),  # its turns are in the log by folds that only write that
    text("day", added=True),  # of its section in the log, "" for that of `at`
)
Index("fold_conversation", fold.c.conversation, fold.c.at)
Index("fold_end", fold.c.conversation, fold.c.to_seq)
_OPEN_FOLD = is_one_of(fold.c.state, "planned", "summarised", "checked", "logged")
partial_index(
    "fold_open", fold.c.conversation, where=_OPEN_FOLD & fold.c.log_only.is_(False), unique=True
)
partial_index("fold_open_log", fold.c.conversation, where=_OPEN_FOLD & fold.c.log_only.is_(True))
_FOLDED = is_one_of(fold.c.state, "folded")
partial_index(
    "fold_range",
    fold.c.conversation,
    fold.c.from_seq,
    where=_FOLDED & fold.c.log_only.is_(False),
    unique=True,
)

# The ledger: which fold covers which message.
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

# Texts of system parts as they were sent, by their hash; several snapshots may share one.
prefix_text = Table(
    "prefix_text", metadata, Column("sha256", Text, primary_key=True, nullable=False), text("text")
)

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

# One row for each epoch after the first: why it began, and the former view and fence, which its
# undo restores.
clearing = Table(
    "clearing",
    metadata,
    conversation_column(),
    integer("epoch"),
    integer("view_from"),
    text("fold_head"),
    flag("undone"),
    moment("at"),
    text("begun_by", added=True),
    integer("cleared_before", added=True),
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
    text("who", added=True),
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

# One row: the end of the chain. An append changes it first, so that no two acts get the same
# number.
audit_head = Table(
    "audit_head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False, nullable=False),
    integer("seq"),
    text("hash"),
)

# A person whose removal is not finished.
person_removal = Table(
    "person_removal",
    metadata,
    id_column(),
    text("spaces"),  # JSON list
    text("parties"),  # JSON list
    text("blobs"),  # JSON list
    text("receipt"),  # JSON counts
    moment("at"),
)

stamp = Table(
    "alembic_version",
    metadata,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)

# unix seconds by PostgreSQL's clock
NOW_SQL = "extract(epoch FROM clock_timestamp())::double precision"
FOREVER = 1e18  # as `until` of SQLite's only writer, whose lease does not expire

# Openings of the store for writing.
process = Table(
    "process",
    metadata,
    Column("lease", Integer, primary_key=True, autoincrement=False, nullable=False),
    text("name"),
    moment("until"),  # by the database's clock
    text("told"),  # status of the process for the others, JSON
)

# Work that one process does for all, such as receiving for a channel's account; free once the lease
# is void.
duty = Table("duty", metadata, text("name"), integer("lease"), PrimaryKeyConstraint("name"))


class database_clock(FunctionElement[float]):
    """SQL expression for unix seconds by the database's clock."""

    type = Double()
    inherit_cache = True


@compiles(database_clock)
def _compile_for_sqlite(element: database_clock, compiler: SQLCompiler, **options: object) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(database_clock, "postgresql")
def _compile_for_postgresql(
    element: database_clock, compiler: SQLCompiler, **options: object
) -> str:
    return f"({NOW_SQL})"


def is_lease_void(lease: Column[int]) -> ColumnElement[bool]:
    """Return whether the lease of a row is void: its process has ended, or did not renew it in
    time.
    """
    return ~exists().where(process.c.lease == lease, process.c.until > database_clock())


# Who was notified in which conversation that a limit is reached, and until when they are not
# notified again.
limit_told = Table(
    "limit_told",
    metadata,
    text("who"),
    conversation_column(),
    text("limit_name"),
    moment("until"),
    PrimaryKeyConstraint("who", "conversation", "limit_name"),
)
