"""What the record is asked for, and what it says of a redaction."""

from dataclasses import dataclass
from datetime import datetime

from memory.conversation import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidRow:
    """A stored message with where it was said. space: the conversation's own."""

    message: Message
    channel: str
    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidThere:
    """A message that mentioned it. at: UTC."""

    channel: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What T14 took out. conversations: whose view or folds it changed; blobs: files that no message shows any more.

    summaries: folds whose texts were changed; records: rows of memory that were emptied.
    """

    said: tuple[SaidThere, ...]
    conversations: tuple[str, ...]
    blobs: tuple[str, ...]
    summaries: int
    records: int
