"""Database rows as the store's values."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Table, Text, bindparam, func, or_, select

from memory.context.taint import FoldLabel
from memory.conversation import Effect, Message, Part, Role, SystemPart, load_parts
from memory.store.engine.database import Row, Tx, single_query
from memory.store.schema.memory_tables import account_link
from memory.store.schema.tables import conversation

# The rows of the durable record as frozen values, and what goes into its transactions.

InboxKind = Literal["message", "command", "aside", "edit", "delete", "move"]
InboxState = Literal["new", "aside", "running", "done", "ignored", "dead"]
TurnState = Literal["running", "waiting", "done", "cancelled", "failed", "interrupted"]
CallState = Literal["planned", "started", "done", "failed", "denied", "cancelled", "unknown"]
OutboxKind = Literal["final", "media", "progress", "notice"]
OutboxState = Literal["pending", "sending", "sent", "failed", "unknown", "dropped"]
FoldState = Literal["planned", "summarised", "checked", "logged", "folded", "stale", "undone"]
FoldMethod = Literal["model", "extract"]


ALBUM_SECONDS = 2.0  # how long more parts of an album are waited for after the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a conversation is and whose memory it uses."""

    channel: str
    account: str
    chat_id: str
    thread_id: str
    #: "dm" or "group".
    kind: str
    #: "" is the owner's.
    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInboxRow:
    """One inbound message for T1.

    key is unique per channel and account forever.
    """

    place: Place
    key: str
    kind: InboxKind
    sender_id: str
    #: JSON text of what was said (see bot/messages.py), with blobs by hash.
    body: str
    order_key: str = ""
    #: "" or why it will not be handled (stored as such).
    ignored: str = ""
    #: Handled beside the lane (a command such as /stop), so it never waits its turn. kind aside: not to be answered,
    #: told to the model with the conversation's next turn. edit and delete are of the message with key `target`; move
    #: is of the chat at `place` to the chat id `target`, whose space would be `to_space`.
    urgent: bool = False
    not_before: float = 0.0
    target: str = ""
    to_space: str = ""
    #: Rows of one become one turn; not_before is when the oldest of them is due, and moves with each newer one.
    album: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteChanges:
    """What a channel keeps with the messages it delivers: texts by name; "" takes one away."""

    channel: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedRow:
    """T1's answer: the inbox id (that of the first delivery where this one is a repeat)."""

    id: str
    conversation: str
    new: bool
    state: InboxState
    line: int
    #: Of an edit or a withdrawal, the inbox id of the message it is about, "" where that is unknown.
    meant: str = ""
    #: The conversation of that one.
    meant_in: str = ""
    #: What everything that comes of the row is found by.
    trace_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxRow:
    """One accepted message."""

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
    #: Deaths of a process that had it at work.
    attempts: int
    #: Those of them when it was the only one at work.
    deaths_alone: int
    turn_id: str
    trace_id: str
    #: Place in the transcript a person sees.
    line: int
    urgent: bool
    #: Unix seconds before which it is not begun.
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
    #: In the view now, the running one left out.
    turns: int
    #: Newest in- or outbound.
    updated: datetime
    policy: str
    model: str
    #: What it has by itself; place.space is the memory it uses, that of the home its account has joined.
    own_space: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message before it is stored: the store gives it its seq and turn."""

    role: Role
    parts: tuple[Part, ...]
    tokens: int
    counter: str
    origin: str
    #: Given by us, "" = made there.
    id: str = ""
    #: See Message.
    tainted: bool = False


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
    #: Model calls finished.
    step: int
    #: Deaths of a process that had it at work.
    attempts: int
    trace_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One tool call. row id."""

    id: str
    turn_id: str
    #: The model's.
    call_id: str
    name: str
    #: JSON text.
    input: str
    effect: Effect
    #: The same for every run of it.
    idem_key: str
    state: CallState
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A call as T3 plans it."""

    call_id: str
    name: str
    input: str
    #: "pure" for an unknown tool, which only ever yields an error.
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOutboxRow:
    """One part of an answer for T6. The store derives client_key from source and part_no."""

    kind: OutboxKind
    text: str
    part_no: int
    parts: int
    #: Seconds for which the platform holds the key, 0 when it takes none.
    key_valid: float = 0.0
    #: JSON text of what goes with the text (a file by its blob, buttons), "" for nothing.
    payload: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """One part of an answer on its way."""

    id: str
    conversation: str
    place: Place
    #: Inbox id it answers + what it is.
    source: str
    part_no: int
    parts: int
    kind: OutboxKind
    client_key: str
    text: str
    state: OutboxState
    attempts: int
    #: Sends of unknown fate.
    repeats: int
    plain: bool
    #: Unix seconds until which the key holds, 0 for none.
    key_expires: float
    #: Unix seconds.
    not_before: float
    #: Inbox id.
    reply_to: str
    #: The platform's key of that message.
    reply_to_key: str
    platform_id: str
    error: str
    #: Place in the transcript.
    line: int
    payload: str
    created: datetime
    #: That row's.
    trace_id: str = ""


HELD_UNTIL_REPLY = 9_000_000_000.0  # as retry_at or not_before: until the person writes again


@dataclass(frozen=True, slots=True, kw_only=True)
class SendOutcome:
    """T8: what became of a send."""

    state: OutboxState
    platform_id: str = ""
    error: str = ""
    #: Unix seconds or HELD, for state "pending".
    retry_at: float = 0.0
    #: Next try as plain text.
    plain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of model calls as the provider counted them."""

    model: str
    #: All of it, cached parts included.
    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    estimated: int = 0
    purpose: str = "turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldPlan:
    """A fold to be begun. The range is whole turns, from the first live one on."""

    conversation: str
    epoch: int
    prev_fold: str
    from_seq: int
    to_seq: int
    from_turn: int
    to_turn: int
    policy: str
    reason: str
    #: Of the turns and summary in view.
    tokens_before: int
    #: Of the turns that stay, 0 to tell it from them.
    tokens_after: int = 0
    #: /new's, no summary.
    log_only: bool = False
    #: JSON text that explains the cut, "" for none.
    why: str = ""
    #: The conversation's next_seq when it was planned, 0 for what it is when this is stored.
    seen_seq: int = 0


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
    #: The daily log's path relative to the workspace root.
    log_ref: str
    tokens_before: int
    tokens_after: int
    log_only: bool
    #: When planned (UTC).
    at: datetime
    #: JSON text that explains the cut, "" for none.
    why: str = ""
    #: The conversation's next_seq when it was planned, or when it was taken back.
    seen_seq: int = 0
    #: Some line of its texts rests on words from outside (memory.context.taint).
    tainted: bool = False
    #: JSON list of the keys of those that do not, where some do.
    clean_lines: str = ""
    #: One of the summary does.
    summary_tainted: bool = False

    @property
    def label(self) -> FoldLabel:
        """Which lines of its texts rest on words from outside."""
        return FoldLabel.of(self.tainted, self.clean_lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSnapshot:
    """What awareness, MEMORY.md and the day's log look like in a conversation's prefix until they are looked at
    again.
    """

    #: As they are shown, in order.
    parts: tuple[SystemPart, ...]
    #: A hash of all that a person may edit of it. epoch, fold_head, and reductions (how many its view had): the
    #: session's when it was taken.
    source: str
    epoch: int
    fold_head: str
    reductions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRow:
    """One line of the transcript a person sees."""

    id: str
    #: Its `line`.
    number: int
    #: "user", "assistant" or "notice".
    role: str
    text: str
    at: datetime
    reply_to: str
    #: Of the inbox or outbox row behind it.
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerFault:
    """A breach of the coverage ledger: which conversation, which message or fold, what is wrong."""

    conversation: str
    subject: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryReport:
    """What recovery at start found to do. notices: inbox ids whose dead or interrupted turns were told."""

    turns: tuple[TurnRow, ...]
    folds: tuple[FoldRow, ...]
    calls_unknown: int
    sends_unknown: int
    inbox_waiting: int


_PLACE_FIELDS = tuple(Place.__dataclass_fields__)
_ROLES = {"user": "user", "final": "assistant", "media": "assistant", "progress": "notice", "notice": "notice"}


def columns_of(kind: Any, table: Table) -> list[Any]:
    """The table's columns that a record has fields for, by the same name."""
    return [table.c[name] for name in kind.__dataclass_fields__ if name in table.c]


def from_unix(seconds: float) -> datetime:
    """Unix seconds as an aware UTC time."""
    return datetime.fromtimestamp(seconds, UTC)


def shown_text(body: str) -> str:
    """What a transcript shows of an inbox row's body: `shown` where it has that, else its `text`.

    Raises:
        ValueError: the body is not a JSON object.
    """
    held = json.loads(body)
    if not isinstance(held, dict):
        raise ValueError("an inbox body is a JSON object")
    return str(held.get("shown", held.get("text", "")))


def to_inbox_row(row: Row) -> InboxRow:
    """An inbox row as a value."""
    return InboxRow(**{**row, "urgent": bool(row["urgent"]), "received": from_unix(row["received"])})


def to_turn_row(row: Row) -> TurnRow:
    """A turn's row as a value."""
    return TurnRow(**row)


def to_call_row(row: Row) -> CallRow:
    """A call's row as a value."""
    return CallRow(**row)


def to_message(row: Row) -> Message:
    """A message's row as a value, its parts read from JSON."""
    values = {"parts": load_parts(row["parts"]), "at": from_unix(row["at"]), "tainted": bool(row["tainted"])}
    return Message(**{**row, **values})


def to_fold_row(row: Row) -> FoldRow:
    """A fold's row as a value."""
    flags = {name: bool(row[name]) for name in ("log_only", "tainted", "summary_tainted")}
    return FoldRow(**{**row, **flags, "at": from_unix(row["at"])})


def to_conversation_row(row: Row) -> ConversationRow:
    """A conversation's row, with what was joined to it, as a value."""
    own, place = _split_place(row)
    return ConversationRow(**{**own, "updated": from_unix(row["updated"])}, place=place)


def to_outbox_row(row: Row) -> OutboxRow:
    """An outbox row, with its conversation's place, as a value."""
    own, place = _split_place(row)
    return OutboxRow(**{**own, "plain": bool(row["plain"]), "created": from_unix(row["created"])}, place=place)


def to_transcript_line(row: Row) -> TranscriptRow:
    """One line of the transcript as a value."""
    words = shown_text(row["text"]) if row["role"] == "user" else row["text"]
    return TranscriptRow(**{**row, "role": _ROLES[row["role"]], "text": words, "at": from_unix(row["at"])})


def _split_place(row: Row) -> tuple[dict[str, Any], Place]:
    """A joined row's own columns, and the place that its `place_…` columns describe."""
    own = {name: row[name] for name in row.keys() if not name.startswith("place_")}  # noqa: SIM118
    return own, Place(**{name: row[f"place_{name}"] for name in _PLACE_FIELDS})


# Whose memory an account's space is: its own, or the one it has joined. The one place that says so in SQL.


def linked_space(own: ColumnElement[str]) -> ColumnElement[str]:
    """The space whose memory goes with this one: what it has joined, else itself. A group's never joins another."""
    joined = select(account_link.c.space).where(account_link.c.own_space == own).scalar_subquery()
    return func.coalesce(joined, own)


def belongs_to_space(own: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether what stands under this space is the memory of `:space`: its own, or that of an account that joined it."""
    joined = select(account_link.c.own_space).where(account_link.c.space == bindparam("space"))
    return or_(own == bindparam("space"), own.in_(joined))


LINKED_SPACE = linked_space(conversation.c.space)  # the home of a conversation's space, within a query of conversations
# A conversation's place as `place_…` columns, with the home of its space.
PLACE_COLUMNS = tuple(
    (LINKED_SPACE if name == "space" else conversation.c[name]).label(f"place_{name}")
    for name in Place.__dataclass_fields__
)
_SELECT_LINKED_SPACE = select(linked_space(bindparam("own", type_=Text())).label("space"))
_MEMBERS = select(account_link.c.own_space).where(account_link.c.space == bindparam("space"))
_MEMBERS_IN_ORDER = _MEMBERS.order_by(account_link.c.at, account_link.c.own_space)


@single_query
async def load_linked_space(tx: Tx, own_space: str) -> str:
    """The space that an account's memory is: its own, or the one it joined."""
    row = await tx.one(_SELECT_LINKED_SPACE, own=own_space)
    return str(row["space"]) if row else own_space


@single_query
async def load_member_spaces(tx: Tx, space: str) -> tuple[str, ...]:
    """All spaces whose texts belong to this one: itself first, then those that joined it."""
    return (space, *(row["own_space"] for row in await tx.all(_MEMBERS_IN_ORDER, space=space)))
