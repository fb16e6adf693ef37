"""A conversation's transcript: its lines as people see them, from the rows of inbox and outbox."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import CompoundSelect, bindparam, literal_column, select, union_all

from memory.context.taint import read_outcome, split_outcome
from memory.store.engine.database import Row, Tx
from memory.store.rows import from_unix
from memory.store.schema.tables import MAX_INTEGER, inbox, literal_text, outbox

_ROLES = {
    "user": "user",
    "final": "assistant",
    "media": "assistant",
    "progress": "notice",
    "notice": "notice",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRow:
    """One line of the transcript that a person sees."""

    id: str
    #: The `line` of the inbox or outbox row behind it.
    number: int
    #: "user", "assistant" or "notice".
    role: str
    text: str
    at: datetime
    reply_to: str
    #: State of the inbox or outbox row behind it; of an answer that was not finished, how it was
    #: left (Unfinished).
    state: str
    #: Of the outcome of a call, a notice: the tool.
    tool: str = ""
    #: Name of the person who wrote it, as the platform has it.
    speaker: str = ""
    #: Where the person typed it: "" on the channel, "page" in the console.
    written_on: str = ""
    #: How that call ended, where a person decided over it: "done", "failed", "unknown" or "denied".
    call_end: str = ""


def transcript_lines() -> CompoundSelect[Any]:
    """Select the inbox and outbox rows of one conversation between two line numbers, as transcript
    lines.
    """
    received = select(
        inbox.c.id,
        inbox.c.line.label("number"),
        literal_text("user").label("role"),
        inbox.c.body.label("text"),
        inbox.c.received.label("at"),
        literal_text("").label("reply_to"),
        inbox.c.state,
        literal_text("").label("payload"),
    ).where(
        inbox.c.conversation == bindparam("conversation"),
        inbox.c.line > bindparam("after"),
        inbox.c.line < bindparam("before"),
        inbox.c.state != literal_text("ignored"),
    )
    sent = select(
        outbox.c.id,
        outbox.c.line.label("number"),
        outbox.c.kind.label("role"),
        outbox.c.text,
        outbox.c.created.label("at"),
        outbox.c.reply_to,
        outbox.c.state,
        outbox.c.payload,
    ).where(
        outbox.c.conversation == bindparam("conversation"),
        outbox.c.line > bindparam("after"),
        outbox.c.line < bindparam("before"),
        outbox.c.state != literal_text("dropped"),
    )
    return union_all(received, sent)


_LINES = transcript_lines()
_FIRST_LINES = _LINES.order_by(literal_column("number")).limit(bindparam("limit"))
_LAST_LINES = _LINES.order_by(literal_column("number").desc()).limit(bindparam("limit"))


async def load_lines(
    tx: Tx, conversation: str, before: int = 0, limit: int = 50, after: int = 0
) -> list[TranscriptRow]:
    """Load lines of the transcript, oldest first.

    Args:
        before: load the newest lines with smaller numbers, 0 for the end.
        after: load the first lines with greater numbers instead.
    """
    statement = _FIRST_LINES if after else _LAST_LINES
    rows = (
        await tx.execute(
            statement,
            conversation=conversation,
            after=after,
            before=before or MAX_INTEGER,
            limit=limit,
        )
    ).all()
    found = [to_transcript_row(row) for row in rows]
    return found if after else found[::-1]


def shown_text(body: str) -> str:
    """Return what a transcript shows of an inbox row's body: its `shown`, else its `text`.

    Raises:
        ValueError: the body is not a JSON object.
    """
    fields = json.loads(body)
    if isinstance(fields, dict):
        return str(fields.get("shown", fields.get("text", "")))
    raise ValueError("an inbox body is a JSON object")


def to_transcript_row(row: Row) -> TranscriptRow:
    """Convert a line of the transcript; what the program received as the outcome of a call is a
    notice.
    """
    columns = dict(row)
    payload = columns.pop("payload")
    role, text, tool = _ROLES[row["role"]], row["text"], ""
    body: Mapping[str, Any] = {}
    if role == "user":
        body = json.loads(row["text"])
        text, (tool, _) = shown_text(row["text"]), read_outcome(body)
    if tool:
        role, (_, text) = "notice", split_outcome(text)
    unfinished = json.loads(payload).get("unfinished") if payload else ""
    shown = {
        "role": role,
        "text": text,
        "tool": tool,
        "call_end": str(body.get("call_end") or ""),
        "speaker": str(body.get("name") or ""),
        "written_on": str(body.get("written_on") or ""),
        "at": from_unix(row["at"]),
        "state": unfinished or row["state"],
    }
    return TranscriptRow(**{**columns, **shown})
