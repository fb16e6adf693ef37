"""One line of a conversation's transcript, as people see it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.context.taint import read_outcome, split_outcome
from memory.store.engine.database import Row
from memory.store.rows import from_unix

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
