"""Whether words from outside, which may hold orders for the model, are among those it sees. Pure."""

from collections.abc import Iterable

from memory.conversation import Document, Image, Message, Session, Text, ToolCall, ToolResult

_OF_FILES = frozenset({"list_files", "write_file", "edit_file", "send_file"})
OWN_TOOLS = frozenset({"now", "recall", "memory_search", "memory_get", "memory_write"}) | _OF_FILES
"""Tools that tell what the house itself knows, or what a fold or this view has been judged by already."""

QUOTED, MEANWHILE = "quoted", "meanwhile, not to you"
OURS, EDITED = "in answer to your message", "an earlier message, now edited"
"""Asides of a message (see Text): other people's words, and the person's own or ours."""

OUTSIDE = "[this holds words from outside]"
"""What a result of memory says where it gives words of a tainted fold or turn."""


def tainted(messages: Iterable[Message]) -> bool:
    """Whether a file, a picture, words said aside or the result of a tool that reads the outside is among them.

    A result whose call is not among them counts as read from outside.
    """
    own: set[str] = set()
    for message in messages:
        for part in message.parts:
            match part:
                case ToolCall() if part.name in OWN_TOOLS:
                    own.add(part.id)
                case ToolCall():
                    own.discard(part.id)
                case Document() | Image():
                    return True
                case Text() if part.aside not in ("", EDITED):
                    return True
                case ToolResult() if part.call_id not in own or OUTSIDE in part.text:
                    return True
    return False


def tainted_view(session: Session) -> bool:
    """Whether a turn of this session is tainted: by what it sees itself, or by what its summary was made of."""
    summarised = session.summary is not None and session.summary.tainted
    return summarised or tainted(message for turn in session.turns for message in turn.messages)
