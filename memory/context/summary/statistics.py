"""Counts what a range of messages holds: messages by author, tools by name, files, pictures,
documents, errors.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory.conversation import Document, Image, Message, Text, ToolCall, ToolResult, inner_call

# Arguments of tools that name a file.
_FILE_KEYS = (
    "path",
    "file_path",
    "filename",
    "file",
    "source",
    "destination",
    "target",
    "new_path",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeStatistics:
    """What a range of messages holds."""

    #: Messages with text of people, and of the bot.
    user: int
    bot: int
    #: Tools by name with the number of their calls, most used first.
    tools: tuple[tuple[str, int], ...]
    #: Files that calls named, each once, in order.
    files: tuple[str, ...]
    pictures: int
    documents: int
    #: Calls that failed.
    errors: int


def count_statistics(messages: Sequence[Message]) -> RangeStatistics:
    """Count what these messages hold. Pure and linear."""
    parts = [part for message in messages for part in message.parts]
    calls = [inner_call(part) for part in parts if isinstance(part, ToolCall)]
    tools = Counter(call.name for call in calls)
    return RangeStatistics(
        user=_count_spoken(messages, "user"),
        bot=_count_spoken(messages, "assistant"),
        tools=tuple(sorted(tools.items(), key=lambda item: (-item[1], item[0]))),
        files=tuple(dict.fromkeys(path for call in calls for path in _named_files(call))),
        pictures=sum(isinstance(part, Image) for part in parts),
        documents=sum(isinstance(part, Document) for part in parts),
        errors=sum(isinstance(part, ToolResult) and part.is_error for part in parts),
    )


def _count_spoken(messages: Sequence[Message], role: str) -> int:
    """Messages of a role that say or show something, which tool calls and results alone do not."""
    spoken = (Text, Image, Document)
    return sum(
        message.role == role and any(isinstance(part, spoken) for part in message.parts)
        for message in messages
    )


def _named_files(call: ToolCall) -> Iterator[str]:
    try:
        arguments = json.loads(call.input)
    except (ValueError, RecursionError):
        return
    if isinstance(arguments, dict):
        for key in _FILE_KEYS:
            if isinstance(value := arguments.get(key), str) and (path := " ".join(value.split())):
                yield path
