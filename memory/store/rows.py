"""Database rows as the record's values."""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Table

from memory.conversation import Message, load_parts
from memory.store.engine import Row
from memory.store.records import (
    CallRow,
    ConversationRow,
    FoldRow,
    InboxRow,
    Line,
    OutboxRow,
    Place,
    TurnRow,
)

_PLACE = tuple(Place.__dataclass_fields__)
_ROLES = {"user": "user", "final": "assistant", "media": "assistant", "progress": "notice", "notice": "notice"}


def columns_of(kind: Any, table: Table) -> list[Any]:
    """The table's columns that a record has fields for, by the same name."""
    return [table.c[name] for name in kind.__dataclass_fields__ if name in table.c]


def moment(seconds: float) -> datetime:
    """Unix seconds as an aware UTC time."""
    return datetime.fromtimestamp(seconds, UTC)


def said(body: str) -> str:
    """What a transcript shows of an inbox row's body: `shown` where it has that, else its `text`.

    Raises:
        ValueError: the body is not a JSON object.
    """
    held = json.loads(body)
    if not isinstance(held, dict):
        raise ValueError("an inbox body is a JSON object")
    return str(held.get("shown", held.get("text", "")))


def inbox_row(row: Row) -> InboxRow:
    """An inbox row as a value."""
    return InboxRow(**{**row, "urgent": bool(row["urgent"]), "received": moment(row["received"])})


def turn_row(row: Row) -> TurnRow:
    """A turn's row as a value."""
    return TurnRow(**row)


def call_row(row: Row) -> CallRow:
    """A call's row as a value."""
    return CallRow(**row)


def message_of(row: Row) -> Message:
    """A message's row as a value, its parts read from JSON."""
    values = {"parts": load_parts(row["parts"]), "at": moment(row["at"]), "tainted": bool(row["tainted"])}
    return Message(**{**row, **values})


def fold_row(row: Row) -> FoldRow:
    """A fold's row as a value."""
    flags = {name: bool(row[name]) for name in ("log_only", "tainted", "summary_tainted")}
    return FoldRow(**{**row, **flags, "at": moment(row["at"])})


def conversation_row(row: Row) -> ConversationRow:
    """A conversation's row, with what was joined to it, as a value."""
    own, place = _parted(row)
    return ConversationRow(**{**own, "updated": moment(row["updated"])}, place=place)


def outbox_row(row: Row) -> OutboxRow:
    """An outbox row, with its conversation's place, as a value."""
    own, place = _parted(row)
    return OutboxRow(**{**own, "plain": bool(row["plain"]), "created": moment(row["created"])}, place=place)


def line_of(row: Row) -> Line:
    """One line of the transcript as a value."""
    words = said(row["text"]) if row["role"] == "user" else row["text"]
    return Line(**{**row, "role": _ROLES[row["role"]], "text": words, "at": moment(row["at"])})


def _parted(row: Row) -> tuple[dict[str, Any], Place]:
    """A joined row's own columns, and the place that its `place_…` columns describe."""
    own = {name: row[name] for name in row.keys() if not name.startswith("place_")}  # noqa: SIM118
    return own, Place(**{name: row[f"place_{name}"] for name in _PLACE})
