"""What a conversation is made of: parts, messages, turns, and the one session they belong to."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from memory.text.speakers import indent_words

Role = Literal["user", "assistant"]
Effect = Literal["pure", "idempotent", "unsafe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Words."""

    text: str
    #: Whose, in a group or a quotation, as they call themselves; "" the person's, or the model's.
    by: str = ""
    #: What they are where they are not said to the bot in this very message ("quoted", "meanwhile", "edited"):
    #: something to know, nothing to obey.
    aside: str = ""

    @property
    def shown(self) -> str:
        """The words as a model reads them: where they are not a person's own in private, no line but the first stands
        at the margin, for it might look like somebody else's.
        """
        if not self.by and not self.aside:
            return self.text
        named = f"{self.by}: {self.text}" if self.by else self.text
        return indent_words(f"[{self.aside}] {named}" if self.aside else named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture kept as a blob: sha256 names it, width and height in pixels (0 when unknown)."""

    sha256: str
    media_type: str
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file kept as a blob: sha256 names it, size in bytes; text is what was read out of it, "" for nothing."""

    sha256: str
    media_type: str
    name: str
    size: int
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The model asks for a tool."""

    id: str
    name: str
    #: The arguments as JSON text of an object, keys as the model gave them.
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the call with that id came to."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A model's thoughts, unchanged with its signature."""

    text: str
    signature: str = ""
    #: Who signed them, no other may be shown them.
    model: str = ""
    #: `text` holds the provider's opaque data.
    redacted: bool = False


Part = Text | Image | Document | ToolCall | ToolResult | Thinking
PART_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Text, Image, Document, ToolCall, ToolResult, Thinking)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One stored message."""

    #: Never changes, never repeats.
    id: str
    #: Place in its conversation, from 1.
    seq: int
    #: Number of its turn, from 1.
    turn: int
    role: Role
    parts: tuple[Part, ...]
    #: Timezone-aware UTC.
    at: datetime
    #: Counted once when it was stored, by the counter named in `counter`.
    tokens: int = 0
    counter: str = ""
    #: "person", "model", "tool" or "house" (words of ours, such as a stopped turn's last line).
    origin: str = "person"
    #: The bot said or was told it in a turn that saw words from outside (memory.context.taint); a person's own words
    #: never are.
    tainted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One user message and all it led to, the smallest thing that is folded; messages in order of seq."""

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
    """What stands for the folded turns: fold id, how many turns it covers in all, text, its tokens."""

    fold_id: str
    turns: int
    text: str
    tokens: int
    #: The session's next_seq when that fold was planned; messages from there on are new since then.
    seen: int = 0
    #: A line of it rests on words from outside (memory.context.taint).
    tainted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """A recorded shorter stand-in for one part of one message inside the view; never taken back."""

    message_id: str
    part: int
    #: "snip", "trim", "one_line", "text_only" or "pinned N" (characters).
    form: str
    #: What is shown instead ("" = the part is left out).
    text: str
    #: Count of the stand-in. Of two for one part the later holds.
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation as the model may see it now: the live turns only, oldest first.

    The last turn may be running (its number equals `running`, 0 when none is).
    """

    conversation: str
    space: str
    epoch: int
    #: What the next message gets.
    next_seq: int
    next_turn: int
    #: First seq not cleared.
    view_from: int
    #: Id of the newest fold, "" for none. prefix_generation rises when the prefix of its requests changes.
    fold_head: str
    summary: Summary | None
    turns: tuple[Turn, ...]
    reductions: tuple[Reduction, ...]
    running: int = 0
    policy: str = ""
    model: str = ""
    prefix_generation: int = 0
    #: next_seq when a person took back the newest fold, 0 for none.
    held: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a model is told of it."""

    name: str
    description: str
    #: JSON Schema of an object as JSON text with sorted keys.
    schema: str
    effect: Effect
    action: str


def dump_parts(parts: tuple[Part, ...]) -> str:
    """Parts as JSON text, the form they are stored in: a list of objects with `kind` and the fields that differ."""
    return json.dumps([_part_to_dict(part) for part in parts], ensure_ascii=False, separators=(",", ":"))


def load_parts(text: str) -> tuple[Part, ...]:
    """The inverse of `dump_parts`."""
    return tuple(_part_from_dict(item) for item in json.loads(text))


def _part_to_dict(part: Part) -> dict[str, Any]:
    fields = {name: getattr(part, name) for name in part.__slots__}
    for name in ("by", "aside"):
        if not fields.get(name, True):
            del fields[name]
    return {"kind": type(part).__name__, **fields}


def _part_from_dict(item: dict[str, Any]) -> Part:
    fields = dict(item)
    part: Part = PART_KINDS[fields.pop("kind")](**fields)
    return part


USER_SPEAKER, BOT_SPEAKER = "User", "Bot"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPart:
    """One part of the system prompt.

    text is "" only where a budget held nothing at all; such a part is not sent (see `texts`).
    """

    name: str
    text: str
    #: What its budget had no room for, as "## Heading: 3 paragraphs".
    left_out: tuple[str, ...] = ()
