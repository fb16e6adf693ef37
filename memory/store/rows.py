"""Rows as frozen values, what transactions take, and how the columns of a row become them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from sqlalchemy import BindParameter, Table, bindparam

from memory.context.taint import FoldLabel, name_outcome
from memory.conversation import Effect, Message, Part, Role, SystemPart, load_parts
from memory.store.engine.database import Row
from memory.store.errors import WrongState

T = TypeVar("T")
Conversion = Callable[[Any], Any]
# "approval" starts a call that was approved while a turn ran.
InboxKind = Literal["message", "command", "aside", "edit", "delete", "move", "approval"]
InboxState = Literal["new", "aside", "running", "done", "ignored", "dead"]
TurnState = Literal["running", "waiting", "done", "cancelled", "failed", "interrupted"]
CallState = Literal["planned", "started", "done", "failed", "denied", "cancelled", "unknown"]
OutboxKind = Literal["final", "media", "progress", "notice"]
OutboxState = Literal["pending", "sending", "sent", "failed", "unknown", "dropped"]
Subject = Literal["user", "group"]
FoldState = Literal["planned", "summarised", "checked", "logged", "folded", "stale", "undone"]
FoldMethod = Literal["model", "extract"]
# "texts": both are still expected; "log": they are stored, and the log still has to be put into the
# file.
FoldAwaiting = Literal["", "texts", "log"]

# From each state, the states that a step may set. A fold reaches "folded" and "undone" by its
# commit and its undo only; a planned call becomes "started" by `start_call` only.
FOLD_TRANSITIONS: Mapping[str, tuple[str, ...]] = {
    "planned": ("summarised", "checked", "stale"),
    "summarised": ("checked", "stale"),
    "checked": ("logged", "stale"),
    "logged": ("stale",),
}
CALL_TRANSITIONS: Mapping[str, tuple[str, ...]] = {
    "planned": ("denied", "cancelled"),
    "started": ("done", "failed", "denied", "cancelled", "unknown"),
    "unknown": ("unknown",),
}

# Threads of hidden conversations, in which sub-agents work: at the place of the conversation that
# asked for them, so that the same person has the same rights there. No platform has such a thread.
HIDDEN_THREAD = "agent:"
ALBUM_SECONDS = 2.0  # to wait for more parts of an album after the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a conversation is, and the space whose memory it uses."""

    channel: str
    account: str
    chat_id: str
    thread_id: str
    #: "dm" or "group".
    kind: str
    #: "" for the owner's.
    space: str

    @property
    def is_hidden(self) -> bool:
        """Whether it is a sub-agent's, which no person sees and nothing is sent to."""
        return self.thread_id.startswith(HIDDEN_THREAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInboxRow:
    """One received message before it is stored."""

    place: Place
    #: Unique for its channel and account forever, so that a repeated delivery changes nothing.
    key: str
    #: "aside" is not answered but shown to the model with the next turn; "edit" and "delete" change
    #: the message with the key `target`; "move" is of the chat at `place` to the chat id `target`.
    kind: InboxKind
    sender_id: str
    #: JSON text of the message (see bot/messages.py), with blobs by hash.
    body: str
    order_key: str = ""
    #: Why it is not processed, "" when it is. Stored as the row's reason.
    ignored: str = ""
    #: Overtakes the conversation's queue, as /stop does.
    urgent: bool = False
    #: Unix seconds before which it is not processed, 0.0 for at once.
    not_before: float = 0.0
    #: Of an edit, deletion or move; see `kind`.
    target: str = ""
    #: Of a move, the space of the new chat, which is linked to that of the old one.
    to_space: str = ""
    #: Rows with the same album become one turn; each new part moves their `not_before`.
    album: str = ""
    #: The program wrote it, not the person: what waits for a message of theirs goes on waiting.
    by_program: bool = False
    #: Typed in the console: what waits for a message on the platform goes on waiting.
    is_from_page: bool = False
    #: The platform's name of the chat, "" where it gives none.
    chat_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteChanges:
    """Notes that a channel stores with the messages it delivers, such as its cursor."""

    channel: str
    #: Texts by name; "" deletes one.
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedRow:
    """The stored inbox row of a delivered message."""

    #: The inbox row; that of the first delivery where this one is a repeat.
    id: str
    conversation: str
    #: False for a repeat.
    new: bool
    state: InboxState
    line: int
    #: Of an edit or a deletion, the inbox id of the message it changes, "" where that is unknown.
    meant: str = ""
    #: Of a deletion, the conversation of that message.
    meant_in: str = ""
    #: Id of the trace that everything done for the row belongs to.
    trace_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxRow:
    """One received message, or what it was for."""

    id: str
    conversation: str
    channel: str
    account: str
    key: str
    kind: InboxKind
    sender_id: str
    body: str
    order_key: str
    state: InboxState
    #: Why it is ignored, or that its command has begun.
    reason: str
    #: Processes that died while they worked on it; of a command also its beginning.
    attempts: int
    #: Of those deaths, the ones when the process worked on nothing else.
    deaths_alone: int
    turn_id: str
    trace_id: str
    #: Line number in the transcript that a person sees.
    line: int
    urgent: bool
    #: Unix seconds before which it is not processed.
    not_before: float
    album: str
    received: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRow:
    """One conversation."""

    id: str
    place: Place
    epoch: int
    next_seq: int
    next_turn: int
    view_from: int
    fold_head: str
    title: str
    #: Turns in the view, without the running one.
    turns: int
    #: Time of the newest received or queued message.
    updated: datetime
    policy: str
    model: str
    #: The account's own space; `place.space` is the one it uses, which differs once the account is
    #: linked.
    own_space: str = ""
    #: Messages with a lower seq were cleared: only a search that somebody asks for finds them. 0
    #: for none.
    cleared_before: int = 0
    next_line: int = 1
    #: Chosen in the console: a title ("" for none), the last line read, unix seconds of the
    #: deletion (0.0 for none).
    own_title: str = ""
    pinned: int = 0
    archived: int = 0
    seen_line: int = 0
    deleting: float = 0.0
    #: The platform's name: of a group its title, of a private chat the person's.
    chat_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message before it is stored; the store assigns its seq and turn."""

    role: Role
    parts: tuple[Part, ...]
    tokens: int
    counter: str
    origin: str
    #: "" lets the store create one.
    id: str = ""
    #: See Message.
    tainted: bool = False
    #: See Message.
    seen_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """One turn of work."""

    id: str
    conversation: str
    number: int
    epoch: int
    inbox_id: str
    actor: str
    state: TurnState
    #: Finished model calls.
    step: int
    #: Processes that died while they worked on it.
    attempts: int
    trace_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One tool call."""

    id: str
    turn_id: str
    #: The model's id of the call.
    call_id: str
    name: str
    #: Arguments as JSON text.
    input: str
    effect: Effect
    #: Idempotency key, the same for every run of the call.
    idem_key: str
    state: CallState
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A tool call before it is stored; fields as in CallRow."""

    call_id: str
    name: str
    input: str
    #: "pure" for an unknown tool, whose only result is an error.
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOutboxRow:
    """One part of a reply before it is stored."""

    kind: OutboxKind
    text: str
    part_no: int
    parts: int
    #: Seconds for which the platform recognises the idempotency key, 0.0 when it takes none.
    key_valid: float = 0.0
    #: JSON text of what goes with the text (a file by its blob, buttons, `unfinished`), "" for
    #: nothing.
    payload: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """One part of a reply in the outbox."""

    id: str
    conversation: str
    place: Place
    #: Inbox id it replies to, plus the kind of reply.
    source: str
    part_no: int
    parts: int
    kind: OutboxKind
    #: Idempotency key, derived from source and part_no.
    client_key: str
    text: str
    state: OutboxState
    attempts: int
    #: Sends whose outcome is unknown; at most one is retried, with the repeat mark.
    repeats: int
    #: Sent as plain text, because the platform refused the formatted one.
    plain: bool
    #: Unix seconds until which the platform recognises the key, 0.0 for none.
    key_expires: float
    #: Unix seconds before which it is not sent.
    not_before: float
    #: Inbox id of the message it replies to.
    reply_to: str
    #: The platform's key of that message.
    reply_to_key: str
    #: The platform's id of the sent message.
    platform_id: str
    error: str
    #: Line number in the transcript.
    line: int
    payload: str
    created: datetime
    #: Trace of the message it replies to.
    trace_id: str = ""
    #: Of a reply's first part: the body of its message, where that was typed on the page.
    page_body: str = ""


HELD_UNTIL_REPLY = 9_000_000_000.0  # as retry_at or not_before: until the person writes again


@dataclass(frozen=True, slots=True, kw_only=True)
class SendOutcome:
    """The outcome of a send."""

    #: "sent", "failed", "pending" (to be retried) or "unknown".
    state: OutboxState
    platform_id: str = ""
    error: str = ""
    #: Unix seconds or HELD_UNTIL_REPLY, of "pending" only.
    retry_at: float = 0.0
    #: Retry as plain text.
    plain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """A person or group on a platform."""

    channel: str
    #: The bot's own account there, "" for any.
    account: str
    subject: Subject
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A message to send because of a change."""

    conversation: str
    #: Unique key of the notice, so that a repeated transaction does not send it twice.
    source: str
    out: tuple[NewOutboxRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of model calls as the provider counted them."""

    model: str
    #: Cached tokens included.
    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    estimated: int = 0
    purpose: str = "turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldPlan:
    """A fold to plan. Its range is whole turns, from the first live one on."""

    conversation: str
    epoch: int
    prev_fold: str
    from_seq: int
    to_seq: int
    from_turn: int
    to_turn: int
    policy: str
    reason: str
    #: Tokens of the turns and the summary in view.
    tokens_before: int
    #: Tokens of the turns that stay, 0 while unknown.
    tokens_after: int = 0
    #: Writes the daily log but no summary, as /new does.
    log_only: bool = False
    #: JSON text that explains the cut, "" for none.
    why: str = ""
    #: The conversation's next_seq when it was planned, 0 for its value when the plan is stored.
    seen_seq: int = 0
    #: Unix seconds from which the age of its messages counts, 0 for the time at which the plan is
    #: stored.
    at: float = 0.0
    #: Writes a summary but no log, as other folds write that.
    summary_only: bool = False
    #: Day of its section in the daily log, YYYY-MM-DD; "" for that of `at`.
    day: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldRow:
    """One fold."""

    id: str
    conversation: str
    space: str
    channel: str
    epoch: int
    prev_fold: str
    from_seq: int
    to_seq: int
    from_turn: int
    to_turn: int
    turns_covered: int
    state: FoldState
    method: FoldMethod
    policy: str
    reason: str
    log_text: str
    summary: str
    summary_tokens: int
    source_sha256: str
    #: Path of the daily log, relative to the workspace root.
    log_ref: str
    tokens_before: int
    tokens_after: int
    log_only: bool
    #: Time of the plan (UTC).
    at: datetime
    #: JSON text that explains the cut, "" for none.
    why: str = ""
    #: The conversation's next_seq when it was planned, or when it was undone.
    seen_seq: int = 0
    #: At least one line of its texts is based on words from outside (memory.context.taint).
    tainted: bool = False
    #: JSON list of the keys of the other lines, "" where no line is tainted.
    clean_lines: str = ""
    #: At least one line of the summary is tainted.
    summary_tainted: bool = False
    #: Answers of a model that could not be used.
    rejected: int = 0
    #: The first seq of the messages that these answers were about; 0 while there are none.
    sent_from: int = 0
    #: What of the model's texts may still replace the digest's in a folded row.
    awaiting: FoldAwaiting = ""
    #: SHA-256 of the section's text in the daily log that may be replaced while `awaiting` is
    #: "log".
    body_sha256: str = ""
    #: Its turns are in the daily log by folds that only write that.
    summary_only: bool = False
    #: Day of its section in the daily log, YYYY-MM-DD; "" for that of `at`.
    day: str = ""

    @property
    def label(self) -> FoldLabel:
        return FoldLabel.of(self.tainted, self.clean_lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSnapshot:
    """Awareness, MEMORY.md and the day's log as a conversation's prompt prefix shows them until the
    next snapshot.
    """

    #: The parts in order.
    parts: tuple[SystemPart, ...]
    #: Hash of the files behind the parts that a person may edit.
    source: str
    #: The session's when the snapshot was taken.
    epoch: int
    #: The session's when the snapshot was taken.
    fold_head: str
    #: Number of the session's reductions when the snapshot was taken.
    reductions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryReport:
    """What recovery found unfinished."""

    #: Open turns that no living process works on.
    turns: tuple[TurnRow, ...]
    #: Open folds that this process took over.
    folds: tuple[FoldRow, ...]
    #: Tool calls of open turns whose outcome is unknown.
    calls_unknown: int
    #: Parts that were being sent.
    sends_unknown: int
    #: Conversations' inbox rows that are new or running.
    inbox_waiting: int


def columns_of(kind: Any, table: Table) -> list[Any]:
    """Return the table's columns that have a field of the same name in the dataclass `kind`."""
    return [table.c[name] for name in kind.__dataclass_fields__ if name in table.c]


def column_values(row: Any, table: Table) -> dict[str, Any]:
    """Return the fields of a dataclass that have a column of the same name in the table, as values
    for an INSERT.
    """
    return {name: getattr(row, name) for name in row.__dataclass_fields__ if name in table.c}


def new_binds(*columns: str) -> dict[str, BindParameter[Any]]:
    """Return a parameter `:new_<column>` for each column, as values for an UPDATE."""
    return {name: bindparam(f"new_{name}") for name in columns}


def check_transition(
    subject: str, transitions: Mapping[str, tuple[str, ...]], state: str, new_state: str
) -> None:
    """Check that a step may set this state.

    Raises:
        WrongState: the table of transitions has no such step.
    """
    if new_state not in transitions.get(state, ()):
        raise WrongState(f"{subject} cannot go from {state} to {new_state}")


def from_unix(seconds: float) -> datetime:
    """Convert unix seconds to an aware UTC time."""
    return datetime.fromtimestamp(seconds, UTC)


def to_iso(seconds: float) -> str:
    """Convert unix seconds to an ISO time in UTC; 0, which stands for never, to ""."""
    return from_unix(seconds).isoformat() if seconds else ""


def from_row(kind: type[T], row: Row, **others: Any) -> T:
    """Make a dataclass from a row whose columns are named as its fields.

    Args:
        others: values of the fields that no column holds as they are.
    """
    values = {**row}
    if kind not in _conversions:
        _conversions[kind] = _find_conversions(kind)
    for name, convert in _conversions[kind]:
        if name in values:
            values[name] = convert(values[name])
    return kind(**values | others)


def _from_optional_unix(seconds: float) -> datetime | None:
    return from_unix(seconds) if seconds else None


# How a column's value becomes that of a field, by the field's type; other types are stored as they
# are.
_CONVERSION_BY_TYPE: Mapping[Any, Conversion] = {
    bool: bool,
    datetime: from_unix,
    datetime | None: _from_optional_unix,  # 0 for none
}
_conversions: dict[type, Sequence[tuple[str, Conversion]]] = {}  # by dataclass


def _find_conversions(kind: type[Any]) -> Sequence[tuple[str, Conversion]]:
    """Return the fields of a dataclass whose columns hold another type, each with its
    conversion.
    """
    by_type = _CONVERSION_BY_TYPE
    return [(field.name, by_type[field.type]) for field in fields(kind) if field.type in by_type]


SEEN_ONLY = 2  # in the column `tainted` of a message; 1 if it may rest on words from outside


def to_message(row: Row) -> Message:
    """Convert a message's row; its parts are JSON."""
    is_seen_only = row["tainted"] == SEEN_ONLY
    return name_outcome(
        from_row(Message, row, parts=load_parts(row["parts"]), seen_only=is_seen_only)
    )


def to_conversation_row(row: Row) -> ConversationRow:
    """Convert a conversation's row with its PLACE_COLUMNS."""
    columns, place = _split_place(row)
    return from_row(ConversationRow, columns, place=place)


def to_outbox_row(row: Row) -> OutboxRow:
    """Convert an outbox row with its PLACE_COLUMNS."""
    columns, place = _split_place(row)
    return from_row(OutboxRow, columns, place=place)


def _split_place(row: Row) -> tuple[dict[str, Any], Place]:
    """Return a joined row's other columns, and the place of its `place_…` columns."""
    columns = {name: row[name] for name in row.keys() if not name.startswith("place_")}  # noqa: SIM118
    return columns, Place(**{name: row[f"place_{name}"] for name in Place.__dataclass_fields__})
