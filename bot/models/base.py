"""The language model interface: a request of plain values in, a stream of events out."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from memory.conversation import Part, ShownMessage, ToolSpec

Purpose = Literal["turn", "fold", "extract", "dream", "heartbeat", "title"]
StopReason = Literal["end", "tools", "length", "pause", "refusal", "overflow", "unknown"]

# The tool that a request offers which only tries a model.
CLOCK_TOOL = ToolSpec(
    name="now",
    description="Returns the time.",
    schema='{"properties":{},"type":"object"}',
    effect="pure",
    action="now",
)

# Reads a blob by its SHA-256. Raises OSError.
Blobs = Callable[[str], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call to a model."""

    model: str
    #: Text parts, the stable ones first; the cache mark follows the last.
    system: tuple[str, ...]
    messages: tuple[ShownMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    #: Limit of the answer, in tokens.
    max_tokens: int = 4096
    #: How many of `messages` belong to the prefix that the next call will repeat (the rest is the
    #: running turn's).
    stable: int = 0
    #: "turn": the conversation; "fold": a summary; "extract" and "dream": memory work (no tools,
    #: low effort); "heartbeat": a look at HEARTBEAT.md, "title": of a conversation (low effort).
    purpose: Purpose = "turn"
    #: Conversation id, "" for none. Never sent; the offline model and test doubles read it.
    conversation: str = ""
    space: str = ""
    #: Tokens of the whole request by our count, 0 if not counted.
    size: int = 0
    #: Whether tools may be called. If not, they are still listed, so that the cached prefix stays
    #: valid.
    may_call: bool = True
    #: Whether the model may think first; a server without a switch for that thinks all the same.
    may_think: bool = True
    #: None: the model's own.
    temperature: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """Thinking text; for debugging only."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """The model started to write a call of this tool."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensUsed:
    """Tokens of one call as the provider counted them."""

    #: All input tokens, cached ones included.
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The last event of a successful call."""

    #: In order, no empty text; tool calls have unique ids.
    parts: tuple[Part, ...]
    stop: StopReason
    usage: TokensUsed
    #: Id of the model that answered.
    model: str
    #: Model id that was requested; `model` may be an alias or a dated snapshot of it.
    requested: str = ""
    #: Stop reason as the provider sent it.
    raw_stop: str = ""
    #: Reason of a refusal.
    detail: str = ""
    #: A tool call was cut by the length limit; it is not in `parts`.
    cut_call: bool = False
    #: The output limit ended it before its thinking did: there is no answer.
    only_thought: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """An attempt failed after text was shown and another starts: discard what was shown."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryWait:
    """A call failed, and the same model is called again after a pause. It is nothing that a model
    said.
    """

    #: Code of the reason.
    why: str
    #: Number of the next call, and of calls at most.
    call: int
    calls: int


ModelEvent = TextDelta | ThinkingDelta | ToolStarted | Restarted | RetryWait | Answer


class ModelClient(Protocol):
    """A client of one model provider."""

    name: str

    def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Call the model: deltas, then exactly one Answer.

        Raises:
            ModelError: one of bot.errors; nothing else. Cancelling the task closes the connection.
        """
        ...

    async def close(self) -> None: ...
