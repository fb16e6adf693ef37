"""Whether words from outside, which may hold orders for the model, are among those it sees. Pure."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory.conversation import Document, Image, Message, Part, Session, Text, ToolCall, ToolResult
from memory.text.normalize import normalize_text

_FILE_TOOLS = frozenset({"list_files", "write_file", "edit_file", "send_file"})
# Tools that tell what the house itself knows; where that rests on words from outside, they say so (see OUTSIDE).
OWN_TOOLS = frozenset({"now", "recall", "memory_search", "memory_get", "memory_write"}) | _FILE_TOOLS

QUOTED_LABEL, MEANWHILE_LABEL = "quoted", "meanwhile, not to you"
OURS_LABEL, EDITED_LABEL = "in answer to your message", "an earlier message, now edited"
# Asides of a message (see Text): other people's words, the person's own or ours, and what a file is called.
NOT_READ_LABEL = "a file that was not read"

# What a result of memory says where it gives words of a tainted fold or turn.
OUTSIDE_LABEL = "[this holds words from outside]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldLabel:
    """Which lines of a fold's texts rest on words from outside: where any does, all but those with a key in `clean`."""

    tainted: bool
    clean: frozenset[str] = frozenset()

    @classmethod
    def of(cls, tainted: int, clean_lines: str) -> "FoldLabel":
        """Out of a fold's row."""
        return cls(tainted=bool(tainted), clean=frozenset(json.loads(clean_lines or "[]")))

    def covers(self, words: str) -> bool:
        """Whether these words of the fold rest on words from outside. words: of one line, without time and speaker."""
        return self.tainted and line_key(words) not in self.clean


CLEAN_FOLD = FoldLabel(tainted=False)
UNKNOWN_FOLD = FoldLabel(tainted=True)  # of a fold that the record does not know: it may hold anything


def is_tainted(messages: Iterable[Message]) -> bool:
    """Whether words from outside are among these messages, or what the bot said or was told while it saw some."""
    return any(outside for _, _, outside in judge_parts(messages))


def judge_parts(messages: Iterable[Message]) -> Iterator[tuple[Message, int, bool]]:
    """Each part by its message and place, and whether it holds words from outside or rests on them.

    It holds some where it is a file, a picture, words said aside, or the result of a tool that reads the outside; a
    result whose call is not among the messages counts as such. It rests on some where its message is labelled so.
    """
    own: set[str] = set()
    for message in messages:
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                (own.add if part.name in OWN_TOOLS else own.discard)(part.id)
            yield message, place, message.tainted or _is_from_outside(part, own)


def judge_results(asked: Message, results: Iterable[ToolResult]) -> bool:
    """Whether the results of that message's calls hold words from outside or rest on them."""
    own = {part.id for part in asked.parts if isinstance(part, ToolCall) and part.name in OWN_TOOLS}
    return asked.tainted or any(_is_from_outside(result, own) for result in results)


def is_view_tainted(session: Session) -> bool:
    """Whether a turn of this session is tainted: by what it sees itself, or by a line of its summary."""
    summarised = session.summary is not None and session.summary.tainted
    return summarised or is_tainted(message for turn in session.turns for message in turn.messages)


def line_key(words: str) -> str:
    """What a line of a fold goes by, whatever its spaces, case, width and punctuation."""
    return hashlib.sha256(normalize_words(words).encode("utf-8", "replace")).hexdigest()[:16]


def normalize_words(words: str) -> str:
    """Words and figures alone, folded."""
    return " ".join("".join(sign if sign.isalnum() else " " for sign in normalize_text(words)).split())


def _is_from_outside(part: Part, own: set[str]) -> bool:
    match part:
        case Document() | Image():
            return True
        case Text():
            return part.aside not in ("", EDITED_LABEL)
        case ToolResult():
            return part.call_id not in own or OUTSIDE_LABEL in part.text
    return False
