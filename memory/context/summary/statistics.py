"""Counts what a range of messages holds: messages by author, tools by name and in which order they
were used, files, pictures, documents, failed calls.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from memory.conversation import (
    Document,
    Image,
    Message,
    Part,
    Text,
    ToolCall,
    ToolResult,
    inner_call,
)

MIN_PATTERN = 2  # times that two tools followed each other
Counted = TypeVar("Counted", str, tuple[str, str])
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
    #: Two tools of which the second was often called right after the first, with the number of
    #: times, most often first.
    patterns: tuple[tuple[tuple[str, str], int], ...]
    #: Files that calls named, each once, in order.
    files: tuple[str, ...]
    pictures: int
    documents: int
    #: Tools by name with the number of their calls that failed, most first.
    failed: tuple[tuple[str, int], ...]


def count_statistics(messages: Sequence[Message]) -> RangeStatistics:
    """Count what these messages hold. Pure and linear."""
    parts = [part for message in messages for part in message.parts]
    calls = [inner_call(part) for part in parts if isinstance(part, ToolCall)]
    names = [call.name for call in calls]
    return RangeStatistics(
        user=_count_spoken(messages, "user"),
        bot=_count_spoken(messages, "assistant"),
        tools=_most_first(Counter(names)),
        patterns=_most_first(_count_patterns(names)),
        files=tuple(dict.fromkeys(path for call in calls for path in _named_files(call))),
        pictures=sum(isinstance(part, Image) for part in parts),
        documents=sum(isinstance(part, Document) for part in parts),
        failed=_most_first(_count_failed(parts)),
    )


def _count_patterns(names: Sequence[str]) -> dict[tuple[str, str], int]:
    """Count which tool was called right after which other one, MIN_PATTERN times at least."""
    pairs = Counter(pair for pair in pairwise(names) if pair[0] != pair[1])
    return {pair: count for pair, count in pairs.items() if count >= MIN_PATTERN}


def _count_failed(parts: Sequence[Part]) -> Mapping[str, int]:
    """Count the failed calls of each tool. An id may come again in a later step."""
    names: dict[str, str] = {}
    failed = Counter[str]()
    for part in parts:
        if isinstance(part, ToolCall):
            names[part.id] = inner_call(part).name
        elif isinstance(part, ToolResult) and part.is_error and part.call_id in names:
            failed[names[part.call_id]] += 1
    return failed


def _most_first(counts: Mapping[Counted, int]) -> tuple[tuple[Counted, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


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
