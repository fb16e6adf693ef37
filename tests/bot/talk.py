"""Short words for what tests read out of requests, and models whose answers a test holds back."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable

from bot.models.base import Answer, ModelEvent, Request, TokensUsed
from memory.context.time_marks import is_time_mark
from memory.conversation import Part, Text, ToolCall, ToolResult


def call(name: str, id: str = "t1", **arguments: object) -> ToolCall:
    """A tool call as a model writes it."""
    return ToolCall(id=id, name=name, input=json.dumps(arguments))


def words(request: Request) -> list[str]:
    """Every text of the messages, without the times before kept ones."""
    texts = [
        part.text
        for message in request.messages
        for part in message.parts
        if isinstance(part, Text)
    ]
    return [text for text in texts if not is_time_mark(text)]


def results(request: Request) -> list[ToolResult]:
    """Every tool result of the messages."""
    return [
        part
        for message in request.messages
        for part in message.parts
        if isinstance(part, ToolResult)
    ]


def answer(*parts: Part, stop: str = "end", cut_call: bool = False) -> list[Answer]:
    """One whole answer, with the stop reason of the wire."""
    usage = TokensUsed(input=10, output=1)
    return [Answer(parts=parts, stop=stop, usage=usage, model="m", cut_call=cut_call)]  # type: ignore[arg-type]


def folded(log: str, summary: str) -> str:
    """What a summariser writes."""
    return f"<log>\n{log}\n</log>\n<summary>\n{summary}\n</summary>"


class Held:
    """A model that answers with `tell`, but waits with those requests that `when` picks until
    `go_on` is set.

    begun: set as soon as one waits. requests: all that was asked, in order. tokens: of the input,
    as it is billed.
    """

    name = "held"

    def __init__(
        self,
        tell: Callable[[Request], str],
        when: Callable[[Request], bool],
        tokens: Callable[[Request], int] = lambda request: 0,
    ) -> None:
        self._tell = tell
        self._when = when
        self._tokens = tokens
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See Model.stream."""
        self.requests.append(request)
        if self._when(request):
            self.begun.set()
            await self.go_on.wait()
        parts = (Text(text=self._tell(request)),)
        usage = TokensUsed(input=self._tokens(request))
        yield Answer(parts=parts, stop="end", usage=usage, model=request.model)

    @property
    def turns(self) -> list[Request]:
        """The requests of conversations, summaries left out."""
        return [request for request in self.requests if request.purpose == "turn"]

    async def close(self) -> None:
        """Nothing is open."""
