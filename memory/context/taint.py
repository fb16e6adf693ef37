"""Taint: whether words are from outside and may carry instructions, and who says which part of a
message.

Pure.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memory.conversation import (
    BOT_SPEAKER,
    USER_SPEAKER,
    Document,
    Image,
    Message,
    Part,
    Session,
    Text,
    ToolCall,
    ToolResult,
)
from memory.text.normalize import normalize_text
from memory.text.quoting import UNNAMED_SPEAKER, plain_name

_FILE_TOOLS = frozenset({"list_files", "write_file", "edit_file", "send_file"})
# Tools that report the bot's own data; if that is based on words from outside, their result has
# OUTSIDE_LABEL. The names serve for results that were stored without a label of their own.
NOTE_TOOL = "memory_write"
OWN_TOOLS = frozenset({"now", "recall", "memory_search", "memory_get", NOTE_TOOL}) | _FILE_TOOLS
# How the answer of NOTE_TOOL begins if it refuses a text; the text itself is not in the answer.
NOT_NOTED = (
    "Not noted: words from outside are in view (a file, a tool's result), and this person has not "
    "written that."
)

# Labels of asides (see Text): words of others, of the bot and of the person, and the name of a
# file.
QUOTED_LABEL, MEANWHILE_LABEL = "quoted", "meanwhile, not to you"
OURS_LABEL, EDITED_LABEL = "in answer to your message", "an earlier message, now edited"
NOT_READ_LABEL = "a file that was not read"
OUTCOME_LABEL = "outcome of your call, from the program; it holds words from outside"
EARLIER_LABEL = "earlier times, from the program"
TASK_LABEL = "your task, worded while words from outside were in view"

# In results of memory tools that contain words of a tainted fold or turn, and before each such
# passage.
OUTSIDE_LABEL = "[this holds words from outside]"

# of a message that holds the outcome of a call; its role is "user", as models know no other
OUTCOME_ORIGIN = "tool"
# Outcomes that were stored without the name of their tool: this label, and how their texts begin.
_FORMER_OUTCOME_LABEL = "outcome of your call, from the program"
_APPROVED = re.compile(r"(\S{1,64}), (?=approved by the person: )")
_COMMAND_ENDED = re.compile(
    r"^\[w\d++\] .*+\n(?:\[exit code |\[ended: |Nothing was run|The program ended while)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldLabel:
    """Which lines of a fold's texts are tainted: if `tainted`, all except those with a key in
    `clean`.
    """

    tainted: bool
    clean: frozenset[str] = frozenset()

    @classmethod
    def of(cls, tainted: int, clean_lines: str) -> "FoldLabel":
        """Build a label from the columns of a fold's row."""
        return cls(tainted=bool(tainted), clean=frozenset(json.loads(clean_lines or "[]")))

    def covers(self, words: str) -> bool:
        """Whether a line of the fold is tainted. words: the line without time and speaker."""
        return self.tainted and line_key(words) not in self.clean


def split_outcome(text: str, tool: str = "") -> tuple[str, str]:
    """Return the tool that an outcome is of, and its text without that name.

    Args:
        tool: as it is stored; "" where only the text tells.
    """
    if tool:
        return tool, text
    if found := _APPROVED.match(text):
        return found[1], text[found.end() :]
    return "exec" if _COMMAND_ENDED.search(text) else "delegate", text


def read_outcome(body: Mapping[str, Any]) -> tuple[str, str]:
    """Return tool and text of the outcome in the JSON body of an inbox row; both are "" in a
    person's.
    """
    outcome = str(body.get("outcome") or "")
    return split_outcome(outcome, str(body.get("tool") or "")) if outcome else ("", "")


def name_outcome(message: Message) -> Message:
    """Return a message as it is stored now: an outcome that was stored as the person's words gets
    its own speaker.
    """
    if message.origin != "person" or not any(map(_is_former_outcome, message.parts)):
        return message
    return replace(message, origin=OUTCOME_ORIGIN, parts=tuple(map(_name_part, message.parts)))


def _is_former_outcome(part: Part) -> bool:
    return isinstance(part, Text) and part.aside == _FORMER_OUTCOME_LABEL


def _name_part(part: Part) -> Part:
    if not isinstance(part, Text) or part.aside != _FORMER_OUTCOME_LABEL:
        return part
    tool, text = split_outcome(part.text)
    return Text(text=text, by=tool, aside=OUTCOME_LABEL)


def outcome_tool(message: Message) -> str:
    """Return the tool that a message holds an outcome of; "" for any other message."""
    asides = (
        part for part in message.parts if isinstance(part, Text) and part.aside == OUTCOME_LABEL
    )
    return next((part.by for part in asides), "")


def is_own_words(part: Part) -> bool:
    """Whether a part is what the sender of its message says, not words of others that came with
    it.
    """
    return isinstance(part, Text) and part.aside in ("", EDITED_LABEL)


def speaker_of(message: Message, part: Part) -> str:
    """Name who says a text or a file of a message; words of others are never under the sender's
    name.
    """
    if (named := _named_speaker(part)) is not None:
        return named
    if message.role != "user":
        return BOT_SPEAKER
    return outcome_tool(message) or USER_SPEAKER


def _named_speaker(part: Part) -> str | None:
    """Return who is named with a text or a file; None if its sender says it."""
    match part:
        case Document(name=name):
            return plain_name(f"file {name}")
        case Text(by=tool, aside=aside) if aside == OUTCOME_LABEL:
            return tool
        case Text(by=name, aside=aside) if aside == MEANWHILE_LABEL:
            return name or UNNAMED_SPEAKER
        case Text(aside=aside) if aside == OURS_LABEL:
            return f"{QUOTED_LABEL} {BOT_SPEAKER}"
        case Text(by=name, aside=aside) if not is_own_words(part):
            return f"{plain_name(aside)} {name}".strip()
        case Text(by=name) if name:
            return name
    return None


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

    Tainted are files, pictures, asides, results of tools that read the outside (including results
    whose call is not among the messages), and all parts of a message that is labelled as tainted.
    """
    own: set[str] = set()
    for message in messages:
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                (own.add if part.name in OWN_TOOLS else own.discard)(part.id)
            yield message, place, message.tainted or _is_from_outside(part, own)


def judge_results(asked: Message, results: Iterable[ToolResult]) -> ReplyLabel:
    """Label the results of a message's calls."""
    own = {part.id for part in asked.parts if isinstance(part, ToolCall) and part.name in OWN_TOOLS}
    outside = any(_is_from_outside(result, own) for result in results)
    return ReplyLabel(tainted=asked.tainted or outside, seen_only=asked.seen_only and not outside)


def is_view_tainted(session: Session) -> bool:
    """Whether this session's next turn is tainted: by its live turns or by its summary.

    What the bot only wrote beside words from outside does not taint the view once those have left
    it.
    """
    by_summary = session.summary is not None and session.summary.tainted
    messages = (message for turn in session.turns for message in turn.messages)
    return by_summary or is_tainted(
        replace(message, tainted=False) if message.seen_only else message for message in messages
    )


def was_view_tainted(session: Session) -> bool:
    """Whether the running turn was tainted when it began: by its message, or by what that came
    to.
    """
    if not session.turns:
        return is_view_tainted(session)
    *earlier, turn = session.turns
    return is_view_tainted(
        replace(session, turns=(*earlier, replace(turn, messages=turn.messages[:1])))
    )


def line_key(words: str) -> str:
    """A hash of a line of a fold, the same for other spaces, case, width and punctuation."""
    return hashlib.sha256(normalize_words(words).encode("utf-8", "replace")).hexdigest()[:16]


def normalize_words(words: str) -> str:
    """Letters and digits only, case and width folded."""
    return " ".join(
        "".join(sign if sign.isalnum() else " " for sign in normalize_text(words)).split()
    )


def _is_from_outside(part: Part, own: set[str]) -> bool:
    match part:
        case Document() | Image():
            return True
        case Text():
            return not is_own_words(part)
        case ToolResult():
            outside = part.call_id not in own if part.outside is None else part.outside
            return outside or OUTSIDE_LABEL in part.text
    return False
