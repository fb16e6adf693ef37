"""Reductions, which are shorter texts in place of single message parts, and the handles of what
they stand for.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from memory.context.tokens import MESSAGE_TOKENS, TokenCounter
from memory.conversation import Message, Part, Reduction, Text, Thinking, ToolCall, ToolResult, Turn

Reductions = Mapping[str, Mapping[int, Reduction]]  # by message id, then by part


def index_reductions(reductions: Iterable[Reduction]) -> dict[str, dict[int, Reduction]]:
    """Index reductions by message and part; the later of two for the same part wins."""
    by_message: dict[str, dict[int, Reduction]] = {}
    for reduction in reductions:
        by_message.setdefault(reduction.message_id, {})[reduction.part] = reduction
    return by_message


def apply_reductions(
    message: Message, reductions: Reductions, *, running: bool = True
) -> tuple[Part, ...]:
    """The parts of a message as shown; empty if nothing is. running: see `message_tokens`."""
    reduced = reductions.get(message.id, {})
    hide_thinking = not running and _has_thinking(message)
    if not reduced and not hide_thinking:
        return message.parts
    return tuple(
        shown
        for number, part in enumerate(message.parts)
        if not (hide_thinking and isinstance(part, Thinking))
        and (shown := _replacement_part(part, reduced[number]) if number in reduced else part)
        is not None
    )


def _parts_shown_as_stored(
    message: Message, reduced: Mapping[int, Reduction], *, hide_thinking: bool
) -> list[Part]:
    """The parts of a message that are shown as they are stored."""
    return [
        part
        for number, part in enumerate(message.parts)
        if number not in reduced and not (hide_thinking and isinstance(part, Thinking))
    ]


def message_tokens(
    message: Message, reductions: Reductions, counter: TokenCounter, *, running: bool = True
) -> int:
    """Tokens of a message as shown; the stored count is used where nothing is reduced.

    Args:
        running: its turn is running; the reasoning of other turns is not shown.
    """
    reduced = reductions.get(message.id, {})
    hide_thinking = not running and _has_thinking(message)
    if not reduced and not hide_thinking:
        return message.tokens if message.counter == counter.name else counter.message(message.parts)
    originals = _parts_shown_as_stored(message, reduced, hide_thinking=hide_thinking)
    replaced = [
        item.tokens for number, item in reduced.items() if item.text and number < len(message.parts)
    ]
    if not originals and not replaced:
        return 0
    return MESSAGE_TOKENS + sum(_part_tokens(counter, part) for part in originals) + sum(replaced)


def _has_thinking(message: Message) -> bool:
    return message.role == "assistant" and any(type(part) is Thinking for part in message.parts)


@lru_cache(maxsize=512)
def _part_tokens(counter: TokenCounter, part: Part) -> int:
    """Count a part once: the unreduced parts of a reduced message are counted with every
    request.
    """
    return counter.parts((part,))


def part_handle(message: Message, part: int) -> str:
    """The tool call that returns the original of a part."""
    return f'recall(handle="{message.seq}.{part}")'


def make_reduction(
    message: Message, part: int, form: str, text: str, counter: TokenCounter
) -> Reduction:
    """Build a reduction with its token count; text "" leaves the part out."""
    bare = Reduction(message_id=message.id, part=part, form=form, text=text, tokens=0)
    shown = _replacement_part(message.parts[part], bare)
    cost = counter.parts((shown,)) if shown else 0
    return Reduction(message_id=message.id, part=part, form=form, text=text, tokens=cost)


def snip_text(text: str, head: int, tail: int, where: str) -> str:
    """Keep the first and last characters of a text around a note; `where` is the handle to the
    original.
    """
    snipped = len(text) - head - tail
    note = f"[... {snipped} characters snipped; {where} shows them ...]"
    return "\n".join(filter(None, (text[:head], note, text[len(text) - tail :] if tail else "")))


def snip_input(call: ToolCall, head: int, tail: int, where: str) -> str:
    """Shorten a call's arguments to a JSON object with the snipped text."""
    return json.dumps({"shortened": snip_text(call.input, head, tail, where)}, ensure_ascii=False)


def _replacement_part(part: Part, reduction: Reduction) -> Part | None:
    if not reduction.text:
        return None
    if isinstance(part, ToolResult) and reduction.form != "text_only":
        return replace(part, text=reduction.text)
    if isinstance(part, ToolCall):
        return ToolCall(id=part.id, name=part.name, input=reduction.text)
    return (
        replace(part, text=reduction.text) if isinstance(part, Text) else Text(text=reduction.text)
    )


def turn_tokens(turn: Turn, reductions: Reductions, counter: TokenCounter, *, running: bool) -> int:
    """Tokens of a turn as shown."""
    return sum(
        message_tokens(message, reductions, counter, running=running) for message in turn.messages
    )


# Handles: the number of a message part or turn, in shared files with the conversation's name.

TAG_CHARS = 8  # of the conversation's id, from its random part
MAX_CHAT_CHARS = 24  # characters of a chat id that is part of a name
_PLAIN_CHAT = re.compile(rf"[A-Za-z0-9._:-]{{1,{MAX_CHAT_CHARS}}}")
_BARE = re.compile(
    r"recall\((?:handle=(?P<quote>\\?\")(?P<part>\d+(?:\.\d+)?)(?P=quote)|turn=(?P<turn>\d+))\)"
)
_HANDLE = re.compile(
    rf"(?:[^#~\"\s]{{0,60}}~(?P<tag>[0-9a-z]{{{TAG_CHARS}}})#)?"
    r"(?:t(?P<turn>\d{1,9})|(?P<seq>\d{1,12})(?:\.(?P<part>\d{1,6}))?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handle:
    """A parsed handle: of a turn, or of a message and perhaps one of its parts."""

    #: End of the conversation's id, "" for the running conversation.
    tag: str
    #: 0 for a message.
    turn: int
    #: 0 for a turn.
    seq: int
    #: None for the whole message.
    part: int | None


def conversation_tag(id: str) -> str:
    """The end of a conversation's id, which tells it from the others of a space."""
    return id[-TAG_CHARS:]


def conversation_key(channel: str, chat_id: str, id: str) -> str:
    """Name a conversation in handles, such as `web:c1~7x9k2mqd`: readable where the chat id is
    short, then its tag.
    """
    name = f"{channel}:{chat_id}" if _PLAIN_CHAT.fullmatch(chat_id) else channel
    return f"{name}~{conversation_tag(id)}"


def name_handles(text: str, key: str) -> str:
    """Add the conversation to all handles in a text that have none; key: see `conversation_key`, ""
    adds nothing.
    """

    def named(found: re.Match[str]) -> str:
        quote = found["quote"] or '"'
        return f"recall(handle={quote}{key}#{found['part'] or 't' + found['turn']}{quote})"

    return _BARE.sub(named, text) if key else text


def parse_handle(text: str) -> Handle | None:
    """Parse what a handle quotes, such as `41.0`, `web:c1~7x9k2mqd#41.0` or
    `web:c1~7x9k2mqd#t12`.
    """
    found = _HANDLE.fullmatch(text.strip())
    if found is None or (found["turn"] and not found["tag"]):
        return None
    return Handle(
        tag=found["tag"] or "",
        turn=int(found["turn"] or 0),
        seq=int(found["seq"] or 0),
        part=int(found["part"]) if found["part"] else None,
    )
