"""The door to a language model: a request of plain values in, a stream of events out."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from memory.conversation import Part, Role, ToolSpec

Purpose = Literal["turn", "fold", "extract", "dream"]
StopReason = Literal["end", "tools", "length", "pause", "refusal", "overflow", "unknown"]

# Reads a blob by its SHA-256. Raises OSError.
Blobs = Callable[[str], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class WireMessage:
    """A role and its parts as the model is to see them; neighbours may not share a role."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All that one call sends."""

    model: str
    #: Text parts, the stable ones first; the cache mark stands after the last.
    system: tuple[str, ...]
    messages: tuple[WireMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    #: Of the answer.
    max_tokens: int = 4096
    #: How many of `messages` belong to the prefix that the next call will repeat (the rest is the running turn's).
    stable: int = 0
    #: "turn" is the conversation; "fold" a summary, "extract" and "dream" memory's work (no tools, low effort).
    purpose: Purpose = "turn"
    #: Who this is for, "" for nobody (offline and scripted read it; it is never sent).
    conversation: str = ""
    space: str = ""
    #: Tokens of all of it by our count, 0 where nobody counted.
    size: int = 0
    #: The tools may be called; else they are listed all the same, so that the cached prefix holds, and the wire is told
    #: that none may be.
    may_call: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """More words of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """The model thinks; the text is for nobody but a debugger."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """The model has begun to write a call of this tool."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensUsed:
    """As the provider counted."""

    #: The whole of it, cached parts included.
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The last event of a call that came through."""

    #: In order, no empty text; tool calls have unique ids.
    parts: tuple[Part, ...]
    stop: StopReason
    usage: TokensUsed
    #: Who answered.
    model: str
    #: The name the answering model was asked by, as the chain knows it; `model` may be an alias's or a dated one.
    asked: str = ""
    #: The wire's word.
    raw_stop: str = ""
    #: Why, for a refusal. A cut tool call (stop "length" inside it) is left out and `cut_call` is set.
    detail: str = ""
    cut_call: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """A try failed after text was shown and another begins: what was shown so far is void."""

    why: str


ModelEvent = TextDelta | ThinkingDelta | ToolStarted | Restarted | Answer


class ModelClient(Protocol):
    """One wire to models."""

    name: str

    def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """One call: deltas, then exactly one Answer.

        Raises:
            ModelError: one of bot.errors; nothing else. Cancelling the task closes the connection.
        """
        ...

    async def close(self) -> None: ...
