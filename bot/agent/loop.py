"""The agent: asks the model, runs the tools it asks for, and asks again, each step on the record."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.agent.context_fitter import ContextFitter, FitLimits, FitRequest
from bot.agent.tool_calls import INVALID_CALL_PREFIX, ToolRunner, is_tainted
from bot.agent.turn_context import EventSink, MessageCounter, TurnContext, TurnResult, format_minutes
from bot.config.schema import Config
from bot.errors import BadImage, Overflow, TooLarge
from bot.memory.recall import NOTHING_RECALLED
from bot.models.base import Answer, ModelClient, Request, Restarted, TextDelta, TokensUsed, ToolStarted, WireMessage
from bot.models.fallback import SMALLER_WINDOW
from bot.models.service import build_usage_row
from bot.texts import format_text
from memory.context.view import ContextView
from memory.conversation import Image, Message, Part, Reduction, Session, Text, ToolCall, ToolResult, Turn
from memory.failpoints import hit_async
from memory.store.rows import CallRow, PlannedCall
from memory.store.store import Sessions

# One step with a model: asks, shows the words as they come, and mends answers that stopped half-way.

MAX_CONTINUATIONS = 5
CONTINUE_PROMPT = "[Go on exactly where you stopped.]"
EMPTY_ANSWER_PROMPT = "[Your answer was empty. Please answer.]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep:
    """A whole answer."""

    parts: tuple[Part, ...]
    #: Each call's own, for the usage.
    answers: tuple[Answer, ...]
    #: It still ended for its length.
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


async def run_model_step(model: ModelClient, request: Request, event_sink: EventSink) -> ModelStep:
    """One step: a whole answer, continued where the wire stopped too early.

    Raises:
        Overflow: the request, or the answer in the making, does not fit the window.
        ModelError: as the model's stream.
    """
    first = await _call_model(model, request, event_sink)
    asked = ModelStep(parts=first.parts, answers=(first,))
    if first.cut_call:
        longer = replace(request, max_tokens=request.max_tokens * 2)
        again = await _call_model(model, longer, event_sink)
        asked = ModelStep(parts=again.parts, answers=(first, again), cut=again.cut_call or again.stop == "length")
    elif first.stop == "length":
        asked = await _continue_answer(model, request, event_sink, asked)
    for _ in range(MAX_CONTINUATIONS):
        if asked.last.stop != "pause":
            break
        more = await _call_model(model, _with_answer(request, asked.parts, ""), event_sink)
        asked = _join_steps(asked, more)
    if not asked.parts and asked.last.stop in ("end", "unknown"):
        more = await _call_model(model, _with_empty_answer_prompt(request), event_sink)
        asked = _join_steps(asked, more)
    return asked


async def _continue_answer(model: ModelClient, request: Request, event_sink: EventSink, asked: ModelStep) -> ModelStep:
    more = await _call_model(model, _with_answer(request, asked.parts, CONTINUE_PROMPT), event_sink)
    joined = _join_steps(asked, more)
    return replace(joined, cut=more.stop == "length")


async def _call_model(model: ModelClient, request: Request, event_sink: EventSink) -> Answer:
    place = "llm.first_byte"
    async for event in model.stream(request):
        await _hit_stream_failpoint(place)
        place = "llm.mid_stream"
        match event:
            case TextDelta():
                event_sink.tell("delta", event.text)
            case ToolStarted() if request.may_call:
                event_sink.tell("tool_started", tool=event.name, planned=True)
            case Restarted():
                event_sink.tell("delta", "", whole=True)
            case Answer():
                if event.stop == "overflow":
                    raise Overflow("the answer does not fit the model's window", kind=event.raw_stop)
                return event
            case _:
                pass
    raise RuntimeError(f"{model.name} ended its stream without an answer")


async def _hit_stream_failpoint(place: str) -> None:
    if place == "llm.first_byte":
        await hit_async("llm.first_byte")
    else:
        await hit_async("llm.mid_stream")


def _join_steps(asked: ModelStep, more: Answer) -> ModelStep:
    parts = asked.parts
    if parts and more.parts and isinstance(parts[-1], Text) and isinstance(more.parts[0], Text):
        text = Text(text=parts[-1].text + more.parts[0].text)
        return ModelStep(parts=(*parts[:-1], text, *more.parts[1:]), answers=(*asked.answers, more))
    return ModelStep(parts=parts + more.parts, answers=(*asked.answers, more))


def _with_answer(request: Request, parts: tuple[Part, ...], words: str) -> Request:
    messages = (*request.messages, WireMessage(role="assistant", parts=parts))
    if words:
        messages = (*messages, WireMessage(role="user", parts=(Text(text=words),)))
    return replace(request, messages=messages)


def _with_empty_answer_prompt(request: Request) -> Request:
    last = request.messages[-1]
    nudged = replace(last, parts=(*last.parts, Text(text=EMPTY_ANSWER_PROMPT)))
    return replace(request, messages=(*request.messages[:-1], nudged))


MAX_SAME_CALLS = 5
MAX_INVALID_STEPS = 3
MAX_OVERFLOWS = 2
MAX_SHRINKS = 4  # so often a request is made smaller for one model after the other of the chain
INVALID_STEPS_PROMPT = (
    "[Three steps in a row asked for what cannot be called. Call no more tools: answer with what you have.]"
)


class Agent:
    """Works on one turn until it ends. model: the chain as configured now; `calls` know what is left to use."""

    def __init__(
        self,
        sessions: Sessions,
        fitter: ContextFitter,
        message_counter: MessageCounter,
        calls: ToolRunner,
        model: Callable[[], ModelClient],
        config: Callable[[], Config],
    ) -> None:
        self._afford = calls.budget_guard.check
        self._sessions = sessions
        self._fitter = fitter
        self._drafting = message_counter
        self._calls = calls
        self._model = model
        self._config = config

    async def run(self, job: TurnContext) -> TurnResult:
        """Go on with the turn from wherever the record stands; return how it ends.

        Raises:
            ModelError: the model did not answer; the turn is for the caller to end.
            Fenced: the conversation was cleared meanwhile.
            OverBudget: the person has used up what they may use.
        """
        while True:
            session = await self._sessions.load(job.conversation.id)
            turn = _running_turn(session)
            open_calls = await self._open_calls(job, turn)
            if open_calls:
                if (tool := find_repeated_call(turn)) is not None:
                    text = format_text(job.lang, "same_call", tool=tool)
                    return TurnResult(
                        state="done", stored=(Text(text=text),), said=text, tainted=turn.messages[-1].tainted
                    )
                await self._calls.run(job, open_calls, turn.messages[-1])
                continue
            late = time.monotonic() - job.began >= job.times.sum_up
            last = late or job.turn.step >= job.max_steps or count_invalid_steps(turn) >= MAX_INVALID_STEPS
            asked, recalled = await self._ask(job, session, self._last_words(job, late=late) if last else "")
            tainted = recalled or is_tainted(job, session)
            if not asked.calls or last:
                return replace(self._final(job, asked, late=late, last=last), tainted=tainted)
            await self._plan(job, asked, tainted=tainted)
            job = replace(job, turn=replace(job.turn, step=job.turn.step + 1))

    async def _ask(self, job: TurnContext, session: Session, last_words: str) -> tuple[ModelStep, bool]:
        """The answer, and whether what was recalled for it may hold words from outside."""
        fit_request, dropped = FitRequest(model=job.model, policy=job.policy), False
        moving = replace(job.tail, last=last_words) if last_words else job.tail
        while True:
            fitted = await self._fitter.fit(session, fit_request, moving)
            view, setting = fitted.view, fitted.setting
            await self._afford(job)
            await hit_async("llm.before")
            request = replace(build_request(view, setting, self._config(), job), may_call=not last_words)
            try:
                asked = await run_model_step(self._model(), request, job.event_sink)
            except Overflow as err:
                if fit_request.refused >= (MAX_OVERFLOWS if err.kind != SMALLER_WINDOW else MAX_SHRINKS):
                    raise
                fit_request = await self._fitter.shorter(job.conversation.id, fit_request, fitted, err)
                moving = replace(moving, recalled=NOTHING_RECALLED)
                session = await self._sessions.load(session.conversation)
            except (BadImage, TooLarge):
                if dropped or not await self._drop_images(session):
                    raise
                dropped = True
                session = await self._sessions.load(session.conversation)
            else:
                await hit_async("llm.ended")
                used, calibration = asked.used, self._fitter.calibration
                model = asked.answers[0].asked or setting.model
                calibration.note(model, view.tokens.total, used.input, job.conversation.id)
                calibration.note_cache(job.conversation.id, used.cache_read, used.input)
                return asked, fitted.tainted

    async def _plan(self, job: TurnContext, asked: ModelStep, *, tainted: bool) -> None:
        await hit_async("llm.before_commit")
        known = {spec.name: spec.effect for spec in self._fitter.specs}
        planned = [
            PlannedCall(call_id=call.id, name=call.name, input=call.input, effect=known.get(call.name, "pure"))
            for call in asked.calls
        ]
        draft = await self._drafting.draft("assistant", asked.parts, "model", tainted=tainted)
        first, *others = map(build_usage_row, asked.answers)
        for other in others:
            first = replace(first, input=first.input + other.input, output=first.output + other.output)
        await self._sessions.add_step(job.turn, draft, planned, first)

    async def _open_calls(self, job: TurnContext, turn: Turn) -> list[CallRow]:
        wanted = {part.id for part in turn.messages[-1].parts if isinstance(part, ToolCall)}
        if not wanted or turn.messages[-1].role != "assistant":
            return []
        return [call for call in await self._sessions.calls(job.turn.id) if call.call_id in wanted]

    def _last_words(self, job: TurnContext, *, late: bool) -> str:
        """Why no more tools may be called."""
        if job.turn.step >= job.max_steps:
            return format_text(job.lang, "steps_note", steps=job.max_steps)
        return (
            format_text(job.lang, "time_note", minutes=format_minutes(job.times.sum_up))
            if late
            else INVALID_STEPS_PROMPT
        )

    def _final(self, job: TurnContext, asked: ModelStep, *, late: bool, last: bool) -> TurnResult:
        parts = tuple(part for part in asked.parts if not isinstance(part, ToolCall))
        text = asked.text.strip()
        marks = [format_text(job.lang, "cut")] if asked.cut else []
        if last and job.turn.step >= job.max_steps:
            marks.append(format_text(job.lang, "steps_spent", steps=job.max_steps))
        elif late:
            marks.append(format_text(job.lang, "time_spent", minutes=format_minutes(job.times.sum_up)))
        if (spare := asked.last.asked) and spare != job.model and self._config().llm.tell_spare:
            marks.append(format_text(job.lang, "spare_model", spare=spare, chosen=job.model))
        declined = asked.last.stop == "refusal"
        if declined:
            text = format_text(job.lang, "refused", detail=asked.last.detail).strip()
        elif not text:
            text = format_text(job.lang, "no_answer")
        if declined or not asked.text.strip():
            parts = (Text(text=text),)
        said = "\n\n".join([text, *marks])
        return TurnResult(
            state="done", stored=parts, said=said, usage=tuple(map(build_usage_row, asked.answers)), declined=declined
        )

    async def _drop_images(self, session: Session) -> bool:
        stand_ins = [
            Reduction(
                message_id=message.id, part=index, form="pinned", text="[picture refused by the model]", tokens=10
            )
            for message in _message_count(session)
            for index, part in enumerate(message.parts)
            if isinstance(part, Image)
        ]
        known = {(item.message_id, item.part) for item in session.reductions}
        fresh = [item for item in stand_ins if (item.message_id, item.part) not in known]
        if fresh:
            await self._sessions.reduce(session.conversation, fresh, "picture refused")
        return bool(fresh)


def build_request(view: ContextView, setting: FitLimits, config: Config, job: TurnContext) -> Request:
    """The view as one call to a model."""
    return Request(
        model=setting.model,
        system=view.system,
        messages=tuple(WireMessage(role=shown.role, parts=shown.parts) for shown in view.shown),
        tools=view.tools,
        max_tokens=min(config.llm.max_output_tokens, setting.limits.reserve),
        stable=view.stable,
        conversation=job.conversation.id,
        space=job.conversation.place.space,
        size=int(view.tokens.total * setting.limits.factor),
    )


def find_repeated_call(turn: Turn) -> str | None:
    """The tool that this turn has now asked for five times with the same arguments, if there is one."""
    seen: dict[tuple[str, str], int] = {}
    for message in turn.messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                key = (part.name, part.input)
                seen[key] = seen.get(key, 0) + 1
                if seen[key] >= MAX_SAME_CALLS:
                    return part.name
    return None


def count_invalid_steps(turn: Turn) -> int:
    """How many of the newest steps in a row asked only for what could not be called."""
    count = 0
    for message in reversed(turn.messages):
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if not results:
            if any(isinstance(part, ToolCall) for part in message.parts):
                continue
            break
        if not all(result.text.startswith(INVALID_CALL_PREFIX) for result in results):
            break
        count += 1
    return count


def _running_turn(session: Session) -> Turn:
    return session.turns[-1]


def _message_count(session: Session) -> list[Message]:
    return [message for turn in session.turns for message in turn.messages]
