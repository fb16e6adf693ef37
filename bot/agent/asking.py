"""One step with a model: asks, shows the words as they come, and mends answers that stopped half-way."""

from dataclasses import dataclass, replace

from bot.agent.events import Watched
from bot.errors import Overflow
from bot.models.base import Answer, Model, Request, Restarted, TextDelta, TokensUsed, ToolStarted, WireMessage
from memory.conversation import Part, Text, ToolCall
from memory.failpoint import afp

MOST_PAUSES = 5
GO_ON = "[Go on exactly where you stopped.]"
SAY_SOMETHING = "[Your answer was empty. Please answer.]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A whole answer. answers: each call's own, for the usage; cut: it still ended for its length."""

    parts: tuple[Part, ...]
    answers: tuple[Answer, ...]
    cut: bool = False

    @property
    def last(self) -> Answer:
        return self.answers[-1]

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def used(self) -> TokensUsed:
        """The first call's count: the one whose size was estimated."""
        return self.answers[0].usage


async def ask(model: Model, request: Request, watched: Watched) -> Asked:
    """One step: a whole answer, continued where the wire stopped too early.

    Raises:
        Overflow: the request, or the answer in the making, does not fit the window.
        ModelError: as the model's stream.
    """
    first = await _call(model, request, watched)
    asked = Asked(parts=first.parts, answers=(first,))
    if first.cut_call:
        longer = replace(request, max_tokens=request.max_tokens * 2)
        again = await _call(model, longer, watched)
        asked = Asked(parts=again.parts, answers=(first, again), cut=again.cut_call or again.stop == "length")
    elif first.stop == "length":
        asked = await _go_on(model, request, watched, asked)
    for _ in range(MOST_PAUSES):
        if asked.last.stop != "pause":
            break
        more = await _call(model, _after(request, asked.parts, ""), watched)
        asked = _joined(asked, more)
    if not asked.parts and asked.last.stop in ("end", "unknown"):
        more = await _call(model, _nudged(request), watched)
        asked = _joined(asked, more)
    return asked


async def _go_on(model: Model, request: Request, watched: Watched, asked: Asked) -> Asked:
    more = await _call(model, _after(request, asked.parts, GO_ON), watched)
    joined = _joined(asked, more)
    return replace(joined, cut=more.stop == "length")


async def _call(model: Model, request: Request, watched: Watched) -> Answer:
    place = "llm.first_byte"
    async for event in model.stream(request):
        await _heard(place)
        place = "llm.mid_stream"
        match event:
            case TextDelta():
                watched.tell("delta", event.text)
            case ToolStarted() if request.may_call:
                watched.tell("tool_started", tool=event.name, planned=True)
            case Restarted():
                watched.tell("delta", "", whole=True)
            case Answer():
                if event.stop == "overflow":
                    raise Overflow("the answer does not fit the model's window", kind=event.raw_stop)
                return event
            case _:
                pass
    raise RuntimeError(f"{model.name} ended its stream without an answer")


async def _heard(place: str) -> None:
    if place == "llm.first_byte":
        await afp("llm.first_byte")
    else:
        await afp("llm.mid_stream")


def _joined(asked: Asked, more: Answer) -> Asked:
    parts = asked.parts
    if parts and more.parts and isinstance(parts[-1], Text) and isinstance(more.parts[0], Text):
        text = Text(text=parts[-1].text + more.parts[0].text)
        return Asked(parts=(*parts[:-1], text, *more.parts[1:]), answers=(*asked.answers, more))
    return Asked(parts=parts + more.parts, answers=(*asked.answers, more))


def _after(request: Request, parts: tuple[Part, ...], words: str) -> Request:
    messages = (*request.messages, WireMessage(role="assistant", parts=parts))
    if words:
        messages = (*messages, WireMessage(role="user", parts=(Text(text=words),)))
    return replace(request, messages=messages)


def _nudged(request: Request) -> Request:
    last = request.messages[-1]
    nudged = replace(last, parts=(*last.parts, Text(text=SAY_SOMETHING)))
    return replace(request, messages=(*request.messages[:-1], nudged))
