"""The twin of a model: it says what it was told to say, and remembers what it was asked."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from bot.errors import ModelError
from bot.models.base import Answer, ModelEvent, Request, StopReason, TextDelta, TokensUsed, ToolStarted
from memory.conversation import Part, Text, ToolCall

# One call's answer: words, one part, an Answer, an error to raise, or a sequence of such, streamed as it stands.
ScriptedAnswer = str | Part | Answer | ModelError | Sequence[ModelEvent | Part | ModelError]
Script = Iterable[ScriptedAnswer] | Callable[[Request], ScriptedAnswer]


class ScriptedModel:
    """A Model made of a list, used up line by line, or of a function of the request.

    requests: all that was asked, in order.
    """

    name = "scripted"

    def __init__(self, script: Script) -> None:
        self._tell = script if callable(script) else _next_answers(script)
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See Model.stream. Text is streamed in two pieces; an Answer that is left out is made from the parts."""
        self.requests.append(request)
        line = self._tell(request)
        said: list[Part] = []
        for step in (line,) if isinstance(line, str) or not isinstance(line, Sequence) else line:
            if isinstance(step, ModelError):
                raise step
            for event in _to_event(step, said):
                yield event
            if isinstance(step, Answer):
                return
        yield _build_answer(said, request)

    async def close(self) -> None:
        """Nothing is open."""


def _next_answers(script: Iterable[ScriptedAnswer]) -> Callable[[Request], ScriptedAnswer]:
    lines = iter(script)

    def tell(_: Request) -> ScriptedAnswer:
        try:
            return next(lines)
        except StopIteration:
            raise ModelError("the script has no more lines", kind="scripted") from None

    return tell


def _to_event(step: ModelEvent | Part | str, said: list[Part]) -> Iterable[ModelEvent]:
    if isinstance(step, str):
        step = Text(text=step)
    if isinstance(step, Text):
        middle = len(step.text) // 2
        yield from (TextDelta(text=piece) for piece in (step.text[:middle], step.text[middle:]) if piece)
    if isinstance(step, ToolCall):
        yield ToolStarted(name=step.name)
    if isinstance(step, Part):
        said.append(step)
    else:
        yield step


def _build_answer(said: Sequence[Part], request: Request) -> Answer:
    stop: StopReason = "tools" if any(isinstance(part, ToolCall) for part in said) else "end"
    usage = TokensUsed(input=sum(len(message.parts) for message in request.messages), output=len(said))
    return Answer(parts=tuple(said), stop=stop, usage=usage, model=request.model)
