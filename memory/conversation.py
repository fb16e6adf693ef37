"""The data model of a conversation: parts, messages, turns and the session."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Literal

from memory.text.quoting import indent_words

Role = Literal["user", "assistant"]
# Calls a model with system prompt, prompt, limit of answer tokens, and id of the conversation that
# is charged. Ends by itself, however long a model writes: one that falls silent raises, as anything
# may.
Complete = Callable[[str, str, int, str], Awaitable[str]]
Effect = Literal["pure", "idempotent", "unsafe"]
#: The daily limit of a person that a tool call counts towards, beside that of all calls.
CallBudget = Literal["", "fetch", "search"]
# How an answer was left that was shown in part: the person stopped it, or it broke off.
Unfinished = Literal["stopped", "cut"]
# The last part of such a message; its origin is the key.
UNFINISHED_MARKS: Mapping[str, str] = {
    "stopped": "[stopped by the person]",
    "cut": "[cut off before its end]",
}
USE_TOOL = "use_tool"  # the tool that calls another one by its name; see inner_call


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text part."""

    text: str
    #: Display name of the speaker in a group or a quotation; "" for the person or the model.
    by: str = ""
    #: Label of words not addressed to the bot in this message ("quoted", "meanwhile", "edited"):
    #: information, never an instruction.
    aside: str = ""

    @property
    def shown(self) -> str:
        """The text as a model reads it.

        Other people's words and asides are indented from the second line on, so that no line looks
        like a new speaker.
        """
        if not self.by and not self.aside:
            return self.text
        named = f"{self.by}: {self.text}" if self.by else self.text
        return indent_words(f"[{self.aside}] {named}" if self.aside else named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture stored as a blob named by `sha256`; width and height in pixels, 0 when unknown."""

    sha256: str
    media_type: str
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file stored as a blob named by `sha256`, size in bytes; `text` is its extracted text, ""
    for none.
    """

    sha256: str
    media_type: str
    name: str
    size: int
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call by the model."""

    id: str
    name: str
    #: Arguments as the JSON text of an object, keys in the model's order.
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of the tool call with that id."""

    call_id: str
    text: str
    is_error: bool = False
    #: The text holds words from outside. None: stored before this was known, so it is judged by the
    #: tool's name.
    outside: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A model's reasoning, stored unchanged with its signature."""

    text: str
    signature: str = ""
    #: The model that signed it; it is sent to no other model.
    model: str = ""
    #: `text` holds the provider's opaque data.
    redacted: bool = False


Part = Text | Image | Document | ToolCall | ToolResult | Thinking
# What closes a turn that got no answer: the record needs it, a summary does not.
UNANSWERED_PARTS: tuple[Part, ...] = (Text(text="[no answer]"),)
PART_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Text, Image, Document, ToolCall, ToolResult, Thinking)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMessage:
    """One message of a request; neighbours may not share a role."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One stored message."""

    #: Unique and immutable.
    id: str
    #: Position in its conversation, from 1.
    seq: int
    #: Number of its turn, from 1.
    turn: int
    role: Role
    parts: tuple[Part, ...]
    #: Timezone-aware UTC.
    at: datetime
    #: Counted when it was stored, by the counter named in `counter`.
    tokens: int = 0
    counter: str = ""
    #: "person", "model", "tool", or "house" for text the bot wrote itself, such as the last line of
    #: a failed turn; a key of UNFINISHED_MARKS for what the model had written of an answer that was
    #: not finished.
    origin: str = "person"
    #: Written in a turn that saw words from outside (memory.context.taint); never set for a
    #: person's own words.
    tainted: bool = False
    #: Tainted only by what was seen: it repeats none of it, so once that has left the view, this
    #: does not taint it.
    seen_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A user message and everything it led to, in order of seq; the smallest unit of a fold."""

    number: int
    messages: tuple[Message, ...]

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.messages)

    @property
    def first_seq(self) -> int:
        return self.messages[0].seq

    @property
    def last_seq(self) -> int:
        return self.messages[-1].seq


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The summary in place of all folded turns, `turns` in number."""

    fold_id: str
    turns: int
    text: str
    tokens: int
    #: The session's next_seq when the fold was planned; messages from there on are newer.
    seen: int = 0
    #: At least one line rests on words from outside (memory.context.taint).
    tainted: bool = False
    #: See FoldRow.
    clean_lines: str = ""
    #: Number of the newest folded turn, 0 where it is unknown.
    last_turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """A stored, permanent replacement of one message part in the view by a shorter text."""

    message_id: str
    part: int
    #: "snip", "trim", "one_line", "text_only" or "pinned N" (characters).
    form: str
    #: Shown instead of the part; "" leaves it out.
    text: str
    #: Tokens of the replacement. A later reduction of the same part wins.
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation as the model may see it now: the live turns, oldest first.

    The last turn may be running (its number equals `running`, 0 when none is).
    """

    conversation: str
    space: str
    epoch: int
    #: Seq of the next message.
    next_seq: int
    next_turn: int
    #: First seq of the epoch: what its view shows, as itself or in its summary.
    view_from: int
    #: Id of the newest fold, "" for none.
    fold_head: str
    summary: Summary | None
    turns: tuple[Turn, ...]
    reductions: tuple[Reduction, ...]
    running: int = 0
    policy: str = ""
    model: str = ""
    #: Incremented whenever the prefix of its requests changes.
    prefix_generation: int = 0
    #: next_seq when a person undid the newest fold, 0 for none.
    held: int = 0
    #: Messages with a lower seq were cleared by a person; 0 for none.
    cleared_before: int = 0
    #: Zone of the times that its view shows; None shows none.
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """The description of a tool that a model receives."""

    name: str
    description: str
    #: JSON Schema of an object as JSON text with sorted keys.
    schema: str
    effect: Effect
    action: str
    #: Whether its results hold words from outside; only the bot's own tools over the bot's own data
    #: say no.
    outside: bool = True
    #: Seconds that one call may take.
    seconds: float = 60.0
    budget: CallBudget = ""
    #: The server or package that it comes from; "" for the bot's own tools.
    origin: str = ""


def inner_call(call: ToolCall) -> ToolCall:
    """Return the call that a call of `use_tool` makes; any other call, or one that names no tool,
    itself.

    Pure.
    """
    if call.name != USE_TOOL:
        return call
    try:
        given = json.loads(call.input)
        arguments = given.get("arguments", {}) if isinstance(given, dict) else {}
        if isinstance(arguments, str):  # as some models write objects inside of objects
            arguments = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return call
    name = given.get("name") if isinstance(given, dict) else None
    if not isinstance(name, str) or name.strip() in ("", USE_TOOL):
        return call
    return ToolCall(id=call.id, name=name.strip(), input=json.dumps(arguments, ensure_ascii=False))


def dump_parts(parts: tuple[Part, ...]) -> str:
    """Return parts as JSON text, the stored form: a list of objects with `kind` and the part's
    fields.
    """
    return json.dumps(
        [_part_to_dict(part) for part in parts], ensure_ascii=False, separators=(",", ":")
    )


def load_parts(text: str) -> tuple[Part, ...]:
    """Return the parts in a JSON text of `dump_parts`."""
    return tuple(_part_from_dict(item) for item in json.loads(text))


def _part_to_dict(part: Part) -> dict[str, Any]:
    fields = {name: getattr(part, name) for name in part.__dataclass_fields__}
    for name in ("by", "aside"):
        if not fields.get(name, True):
            del fields[name]
    if fields.get("outside", False) is None:
        del fields["outside"]
    return {"kind": type(part).__name__, **fields}


def _part_from_dict(item: dict[str, Any]) -> Part:
    fields = dict(item)
    part: Part = PART_KINDS[fields.pop("kind")](**fields)
    return part


USER_SPEAKER, BOT_SPEAKER = "User", "Bot"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPart:
    """One part of the system prompt; one with an empty text is not sent."""

    name: str
    text: str
    #: What did not fit into its budget, such as "## Heading: 3 paragraphs".
    left_out: tuple[str, ...] = ()
