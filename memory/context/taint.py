"""Taint: whether the model sees words from outside, which may carry instructions. Pure."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memory.conversation import Document, Image, Message, Part, Session, Text, ToolCall, ToolResult
from memory.text.normalize import normalize_text

_FILE_TOOLS = frozenset({"list_files", "write_file", "edit_file", "send_file"})
# Tools that report the bot's own data; if that is based on words from outside, their result has OUTSIDE_LABEL. The
# names serve for results that were stored without a label of their own.
NOTE_TOOL = "memory_write"
OWN_TOOLS = frozenset({"now", "recall", "memory_search", "memory_get", NOTE_TOOL}) | _FILE_TOOLS
# How the answer of NOTE_TOOL begins if it refuses a text; the text itself is not in the answer.
NOT_NOTED = "Not noted: words from outside are in view (a file, a tool's result), and this person has not written that."

# Labels of asides (see Text): words of others, of the bot and of the person, and the name of a file.
QUOTED_LABEL, MEANWHILE_LABEL = "quoted", "meanwhile, not to you"
OURS_LABEL, EDITED_LABEL = "in answer to your message", "an earlier message, now edited"
NOT_READ_LABEL = "a file that was not read"
OUTCOME_LABEL = "outcome of your call, from the program"
EARLIER_LABEL = "earlier times, from the program"
TASK_LABEL = "your task, worded while words from outside were in view"

# In results of memory tools that contain words of a tainted fold or turn.
OUTSIDE_LABEL = "[this holds words from outside]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldLabel:
    """Which lines of a fold's texts are tainted: if `tainted`, all except those with a key in `clean`."""

    tainted: bool
    clean: frozenset[str] = frozenset()

    @classmethod
    def of(cls, tainted: int, clean_lines: str) -> "FoldLabel":
        """Build a label from the columns of a fold's row."""
        return cls(tainted=bool(tainted), clean=frozenset(json.loads(clean_lines or "[]")))

    def covers(self, words: str) -> bool:
        """Whether a line of the fold is tainted. words: the line without time and speaker."""
        return self.tainted and line_key(words) not in self.clean


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyLabel:
    """Label of what the bot writes; see Message."""

    tainted: bool = False
    seen_only: bool = False


CLEAN_REPLY = ReplyLabel()
CLEAN_FOLD = FoldLabel(tainted=False)
UNKNOWN_FOLD = FoldLabel(tainted=True)  # for a fold without a row: it may hold anything


def is_tainted(messages: Iterable[Message]) -> bool:
    """Whether these messages hold words from outside, or were written while the bot saw some."""
    return any(outside for _, _, outside in judge_parts(messages))


def judge_parts(messages: Iterable[Message]) -> Iterator[tuple[Message, int, bool]]:
    """Yield each part as (message, position, tainted).

    Tainted are files, pictures, asides, results of tools that read the outside (including results whose call is not
    among the messages), and all parts of a message that is labelled as tainted.
    """
    own: set[str] = set()
    for message in messages:
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                (own.add if part.name in OWN_TOOLS else own.discard)(part.id)
            yield message, place, message.tainted or _is_from_outside(part, own)


def clean_texts(messages: Iterable[Message]) -> list[str] | None:
    """What was typed or written in the untainted parts of these messages; None if no part is tainted."""
    parts = [(message.parts[place], tainted) for message, place, tainted in judge_parts(messages)]
    clean = [part.text for part, tainted in parts if isinstance(part, Text) and not tainted]
    return clean if any(tainted for _, tainted in parts) else None


def judge_results(asked: Message, results: Iterable[ToolResult]) -> ReplyLabel:
    """Label the results of a message's calls."""
    own = {part.id for part in asked.parts if isinstance(part, ToolCall) and part.name in OWN_TOOLS}
    outside = any(_is_from_outside(result, own) for result in results)
    return ReplyLabel(tainted=asked.tainted or outside, seen_only=asked.seen_only and not outside)


def is_view_tainted(session: Session) -> bool:
    """Whether this session's next turn is tainted: by its live turns or by its summary.

    What the bot only wrote beside words from outside does not taint the view once those have left it.
    """
    by_summary = session.summary is not None and session.summary.tainted
    messages = (message for turn in session.turns for message in turn.messages)
    return by_summary or is_tainted(
        replace(message, tainted=False) if message.seen_only else message for message in messages
    )


def line_key(words: str) -> str:
    """A hash of a line of a fold, the same for other spaces, case, width and punctuation."""
    return hashlib.sha256(normalize_words(words).encode("utf-8", "replace")).hexdigest()[:16]


def normalize_words(words: str) -> str:
    """Letters and digits only, case and width folded."""
    return " ".join("".join(sign if sign.isalnum() else " " for sign in normalize_text(words)).split())


def _is_from_outside(part: Part, own: set[str]) -> bool:
    match part:
        case Document() | Image():
            return True
        case Text():
            return part.aside not in ("", EDITED_LABEL)
        case ToolResult():
            outside = part.call_id not in own if part.outside is None else part.outside
            return outside or OUTSIDE_LABEL in part.text
    return False
