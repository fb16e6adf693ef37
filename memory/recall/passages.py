"""What is asked of recall, and what it gives."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Kind = Literal["memory", "log", "said"]
"""A line of MEMORY.md, a line of a daily log, something said in a conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One search. space: whose memory, "" the owner's; there is no default.

    now: timezone-aware, in the person's zone; relative dates in the query are reckoned from it and nothing else is.
    since, until: YYYY-MM-DD, both inclusive, "" for open. speaker: only what that person said, "" for anyone.
    behalf: the conversation that asks without its person's word; what was cleared there is left out, and so is what
    does not match enough of the query. "" for a search that somebody asked for. shown_in: the conversation whose live
    turns are left out, since they are in view anyway; "" for none.
    """

    space: str
    query: str
    now: datetime
    limit: int = 5
    since: str = ""
    until: str = ""
    speaker: str = ""
    behalf: str = ""
    shown_in: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Something found. text: all that may be given of it, with date and speaker where they are known.

    words: the bare words, as they stand in the file or message. path: relative to the workspace's root, line and last
    (its last line): of a file; "" and 0 for something said. turn, conversation, message_id, seq: of something said,
    else 0 and "". speaker: "" where none is known. fold: whose section a log's line stands in. date: YYYY-MM-DD or "".
    score: 0 to 1, the best hit of a search being near 1.
    """

    text: str
    words: str
    kind: Kind
    date: str
    score: float
    space: str = ""
    path: str = ""
    line: int = 0
    last: int = 0
    turn: int = 0
    conversation: str = ""
    message_id: str = ""
    seq: int = 0
    speaker: str = ""
    fold: str = ""
