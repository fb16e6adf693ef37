"""The tables of the durable record, the same for every backend."""

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
    literal_column,
    or_,
)

REVISIONS = ("r0001", "r0002")
"""The versions of these tables, oldest first; the last is what this code reads and writes."""

record = MetaData()


def word(text: str) -> ColumnElement[str]:
    """A word of ours as a literal in the SQL itself, so that partial indexes can be used."""
    return literal_column(f"'{text}'", Text())


def among(column: Column[str], *words: str) -> ColumnElement[bool]:
    """Whether the column holds one of our words, written so that a partial index over the same words is seen."""
    return or_(*(column == word(one) for one in words))


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, default="")


def _whole(name: str, default: int = 0) -> Column[int]:
    return Column(name, Integer, nullable=False, default=default)


def _later_text(name: str) -> Column[str]:
    """A text that rows older than the column have too: empty."""
    return Column(name, Text, nullable=False, default="", server_default="")


def _later_whole(name: str) -> Column[int]:
    """A number that rows older than the column have too: 0, until the revision says better."""
    return Column(name, Integer, nullable=False, default=0, server_default="0")


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False, default=False)


def _time(name: str) -> Column[float]:
    """Unix seconds, UTC."""
    return Column(name, Double, nullable=False, default=0.0)


def _id() -> Column[str]:
    return Column("id", Text, primary_key=True, nullable=False)


def _conversation() -> Column[str]:
    return Column("conversation", Text, ForeignKey("conversation.id"), nullable=False)


def _partial(name: str, *columns: Column[str], where: ColumnElement[bool], unique: bool = False) -> Index:
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


instance = Table(
    "instance",
    record,
    Column("id", Integer, primary_key=True, autoincrement=False, nullable=False),
    _whole("lease_epoch"),
    _flag("clean"),
)
probe = Table("probe", record, _id(), _text("padding"))
removal = Table("removal", record, Column("conversation", Text, primary_key=True, nullable=False))
"""The one door through which messages may leave: the trigger lets go of conversations that are named here."""

conversation = Table(
    "conversation",
    record,
    _id(),
    _text("channel"),
    _text("account"),
    _text("chat_id"),
    _text("thread_id"),
    _text("kind"),
    _text("space"),
    _whole("epoch", 1),
    _whole("next_seq", 1),
    _whole("next_turn", 1),
    _whole("next_line", 1),
    _whole("view_from", 1),
    _text("fold_head"),
    _text("policy"),
    _text("model"),
    _whole("prefix_generation"),
    _text("prefix_sha256"),
    _text("prefix_reason"),
    _flag("listed"),
    _text("title"),
    _time("heard"),
    _time("updated"),
    UniqueConstraint("channel", "account", "chat_id", "thread_id", name="conversation_place"),
)
Index("conversation_updated", conversation.c.updated)

inbox = Table(
    "inbox",
    record,
    _id(),
    _conversation(),
    _text("channel"),
    _text("account"),
    _text("key"),
    _text("kind"),
    _text("sender_id"),
    _text("body"),
    _text("order_key"),
    _text("state"),
    _text("reason"),
    _whole("attempts"),
    _text("turn_id"),
    _text("trace_id"),
    _whole("line"),
    _flag("urgent"),
    _time("not_before"),
    _time("received"),
    _whole("lease_epoch"),
    UniqueConstraint("channel", "account", "key", name="inbox_key"),
)
Index("inbox_line", inbox.c.conversation, inbox.c.line)
_partial("inbox_open", inbox.c.conversation, where=among(inbox.c.state, "new", "running"))

turn = Table(
    "turn",
    record,
    _id(),
    _conversation(),
    _whole("number"),
    _whole("epoch"),
    _text("inbox_id"),
    _text("actor"),
    _text("state"),
    _whole("step"),
    _whole("attempts"),
    _text("trace_id"),
    _whole("first_seq"),
    _whole("lease_epoch"),
    _time("started"),
    _time("ended"),
    UniqueConstraint("conversation", "number", name="turn_number"),
)
Index("turn_first_seq", turn.c.conversation, turn.c.first_seq)
_partial("turn_open", turn.c.conversation, where=among(turn.c.state, "running", "waiting"), unique=True)

message = Table(
    "message",
    record,
    _id(),
    _conversation(),
    _whole("epoch"),
    _whole("seq"),
    _whole("turn"),
    _text("turn_id"),
    _text("role"),
    _text("parts"),
    _text("origin"),
    _text("space"),
    _flag("has_text"),
    _whole("tokens"),
    _text("counter"),
    _time("at"),
    UniqueConstraint("conversation", "seq", name="message_seq"),
)
Index("message_space", message.c.space, message.c.at)

tool_call = Table(
    "tool_call",
    record,
    _id(),
    Column("turn_id", Text, ForeignKey("turn.id"), nullable=False),
    _whole("place"),
    _text("call_id"),
    _text("name"),
    _text("input"),
    _text("effect"),
    _text("idem_key"),
    _text("state"),
    _whole("attempts"),
    _text("result_id"),
    UniqueConstraint("turn_id", "call_id", name="tool_call_id"),
)
_partial("tool_call_started", tool_call.c.turn_id, where=among(tool_call.c.state, "started"))

outbox = Table(
    "outbox",
    record,
    _id(),
    _conversation(),
    _text("source"),
    _whole("part_no"),
    _whole("parts", 1),
    _whole("epoch"),
    _text("kind"),
    _text("client_key"),
    _text("text"),
    _text("state"),
    _whole("attempts"),
    _whole("repeats"),
    _flag("plain"),
    _time("key_valid"),
    _time("key_expires"),
    _time("not_before"),
    _text("reply_to"),
    _text("platform_id"),
    _text("error"),
    _whole("line"),
    _time("created"),
    _whole("lease_epoch"),
    UniqueConstraint("source", "part_no", name="outbox_part"),
    UniqueConstraint("client_key", name="outbox_client_key"),
)
Index("outbox_line", outbox.c.conversation, outbox.c.line)
_partial(
    "outbox_open",
    outbox.c.conversation,
    outbox.c.line,
    outbox.c.part_no,
    where=among(outbox.c.state, "pending", "sending", "unknown"),
)

fold = Table(
    "fold",
    record,
    _id(),
    _conversation(),
    _text("space"),
    _text("channel"),
    _whole("epoch"),
    _text("prev_fold"),
    _whole("from_seq"),
    _whole("to_seq"),
    _whole("from_turn"),
    _whole("to_turn"),
    _whole("turns_covered"),
    _text("state"),
    _text("method"),
    _text("policy"),
    _text("reason"),
    _text("log_text"),
    _text("summary"),
    _whole("summary_tokens"),
    _text("source_sha256"),
    _text("log_ref"),
    _whole("tokens_before"),
    _whole("tokens_after"),
    _flag("log_only"),
    _time("at"),
    _whole("lease_epoch"),
    _later_text("why"),
    _later_whole("seen_seq"),
)
Index("fold_conversation", fold.c.conversation, fold.c.at)
_OPEN_FOLD = among(fold.c.state, "planned", "summarised", "checked", "logged")
_partial("fold_open", fold.c.conversation, where=_OPEN_FOLD & fold.c.log_only.is_(False), unique=True)
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
    _text("fold_id"),
)
Index("coverage_fold", coverage.c.fold_id)

reduction = Table(
    "reduction",
    record,
    _text("message_id"),
    _whole("part"),
    _text("form"),
    _conversation(),
    _text("text"),
    _whole("tokens"),
    _text("reason"),
    _whole("prefix_generation"),
    PrimaryKeyConstraint("message_id", "part", "form"),
    ForeignKeyConstraint(["message_id"], ["message.id"]),
)
Index("reduction_conversation", reduction.c.conversation)

prefix_text = Table("prefix_text", record, Column("sha256", Text, primary_key=True, nullable=False), _text("text"))
"""System parts as they were shown, each once however many conversations show it; named by the text's hash."""

snapshot = Table(
    "snapshot",
    record,
    Column("conversation", Text, ForeignKey("conversation.id"), primary_key=True, nullable=False),
    _text("source"),
    _whole("epoch"),
    _text("fold_head"),
    _whole("reductions"),
    _time("at"),
)
snapshot_part = Table(
    "snapshot_part",
    record,
    _conversation(),
    _whole("place"),
    _text("name"),
    Column("sha256", Text, ForeignKey("prefix_text.sha256"), nullable=False),
    _text("left_out"),
    PrimaryKeyConstraint("conversation", "place"),
)
Index("snapshot_part_text", snapshot_part.c.sha256)

clearing = Table(
    "clearing",
    record,
    _conversation(),
    _whole("epoch"),
    _whole("view_from"),
    _text("fold_head"),
    _flag("undone"),
    _time("at"),
    PrimaryKeyConstraint("conversation", "epoch"),
)
"""One row for each clear: the epoch it began, and the former pair that undoing it brings back."""

model_factor = Table(
    "model_factor",
    record,
    Column("model", Text, primary_key=True, nullable=False),
    Column("factor", Double, nullable=False),
    _whole("samples"),
    Column("error_percent", Double, nullable=False),
)
usage = Table(
    "usage",
    record,
    _id(),
    _conversation(),
    _text("turn_id"),
    _text("model"),
    _text("purpose"),
    _whole("input"),
    _whole("output"),
    _whole("cache_read"),
    _whole("cache_write"),
    _whole("estimated"),
    _time("at"),
)
Index("usage_at", usage.c.at)
Index("usage_conversation", usage.c.conversation, usage.c.at)

audit = Table(
    "audit",
    record,
    Column("seq", Integer, primary_key=True, autoincrement=False, nullable=False),
    _time("at"),
    _text("actor"),
    _text("action"),
    _text("subject"),
    _text("args_digest"),
    _text("decision"),
    _text("result"),
    _text("prev_hash"),
    _text("hash"),
)
"""An append-only chain: each hash covers its row and the hash before it."""

stamp = Table(
    "alembic_version",
    record,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
