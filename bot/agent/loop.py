"""The agent: asks the model, runs the tools it asks for, and asks again, each step on the record."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.agent.context_fitter import Fitter, Setting, Wish
from bot.agent.tool_calls import INVALID, Calls, is_tainted
from bot.agent.turn_context import Drafting, Ended, Job, Watched, minutes
from bot.config.schema import Config
from bot.errors import BadImage, Overflow, TooLarge
from bot.memory.recall import NOTHING
from bot.models.base import Answer, Model, Request, Restarted, TextDelta, TokensUsed, ToolStarted, WireMessage
from bot.models.fallback import SMALLER
from bot.models.service import usage_of
from bot.texts import say
from memory.context.view import View
from memory.conversation import Image, Message, Part, Reduction, Session, Text, ToolCall, ToolResult, Turn
from memory.failpoints import afp
from memory.store.rows import CallRow, PlannedCall
from memory.store.store import Sessions

# One step with a model: asks, shows the words as they come, and mends answers that stopped half-way.

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


SAME_CALLS = 5
INVALID_STEPS = 3
OVERFLOWS = 2
MOST_SMALLER = 4
"""So often a request is made smaller for one model after the other of the chain."""
INVALID_NOTE = "[Three steps in a row asked for what cannot be called. Call no more tools: answer with what you have.]"


class Agent:
    """Works on one turn until it ends. model: the chain as configured now; `calls` know what is left to use."""

    def __init__(
        self,
        sessions: Sessions,
        fitter: Fitter,
        drafting: Drafting,
        calls: Calls,
        model: Callable[[], Model],
        config: Callable[[], Config],
    ) -> None:
        self._afford = calls.budgeting.check
        self._sessions = sessions
        self._fitter = fitter
        self._drafting = drafting
        self._calls = calls
        self._model = model
        self._config = config

    async def run(self, job: Job) -> Ended:
        """Go on with the turn from wherever the record stands; return how it ends.

        Raises:
            ModelError: the model did not answer; the turn is for the caller to end.
            Fenced: the conversation was cleared meanwhile.
            OverBudget: the person has used up what they may use.
        """
        while True:
            session = await self._sessions.load(job.conversation.id)
            turn = _running(session)
            open_calls = await self._open_calls(job, turn)
            if open_calls:
                if (tool := repeated_call(turn)) is not None:
                    text = say(job.lang, "same_call", tool=tool)
                    return Ended(state="done", stored=(Text(text=text),), said=text, tainted=turn.messages[-1].tainted)
                await self._calls.run(job, open_calls, turn.messages[-1])
                continue
            late = time.monotonic() - job.began >= job.times.sum_up
            last = late or job.turn.step >= job.max_steps or invalid_steps(turn) >= INVALID_STEPS
            asked, recalled = await self._ask(job, session, self._last_words(job, late=late) if last else "")
            tainted = recalled or is_tainted(job, session)
            if not asked.calls or last:
                return replace(self._final(job, asked, late=late, last=last), tainted=tainted)
            await self._plan(job, asked, tainted=tainted)
            job = replace(job, turn=replace(job.turn, step=job.turn.step + 1))

    async def _ask(self, job: Job, session: Session, last_words: str) -> tuple[Asked, bool]:
        """The answer, and whether what was recalled for it may hold words from outside."""
        wish, dropped = Wish(model=job.model, policy=job.policy), False
        moving = replace(job.tail, last=last_words) if last_words else job.tail
        while True:
            fitted = await self._fitter.fit(session, wish, moving)
            view, setting = fitted.view, fitted.setting
            await self._afford(job)
            await afp("llm.before")
            request = replace(request_of(view, setting, self._config(), job), may_call=not last_words)
            try:
                asked = await ask(self._model(), request, job.watched)
            except Overflow as err:
                if wish.refused >= (OVERFLOWS if err.kind != SMALLER else MOST_SMALLER):
                    raise
                wish = await self._fitter.shorter(job.conversation.id, wish, fitted, err)
                moving = replace(moving, recalled=NOTHING)
                session = await self._sessions.load(session.conversation)
            except (BadImage, TooLarge):
                if dropped or not await self._drop_images(session):
                    raise
                dropped = True
                session = await self._sessions.load(session.conversation)
            else:
                await afp("llm.ended")
                used, calibration = asked.used, self._fitter.calibration
                model = asked.answers[0].asked or setting.model
                calibration.note(model, view.tokens.total, used.input, job.conversation.id)
                calibration.note_cache(job.conversation.id, used.cache_read, used.input)
                return asked, fitted.tainted

    async def _plan(self, job: Job, asked: Asked, *, tainted: bool) -> None:
        await afp("llm.before_commit")
        known = {spec.name: spec.effect for spec in self._fitter.specs}
        planned = [
            PlannedCall(call_id=call.id, name=call.name, input=call.input, effect=known.get(call.name, "pure"))
            for call in asked.calls
        ]
        draft = await self._drafting.draft("assistant", asked.parts, "model", tainted=tainted)
        first, *others = map(usage_of, asked.answers)
        for other in others:
            first = replace(first, input=first.input + other.input, output=first.output + other.output)
        await self._sessions.add_step(job.turn, draft, planned, first)

    async def _open_calls(self, job: Job, turn: Turn) -> list[CallRow]:
        wanted = {part.id for part in turn.messages[-1].parts if isinstance(part, ToolCall)}
        if not wanted or turn.messages[-1].role != "assistant":
            return []
        return [call for call in await self._sessions.calls(job.turn.id) if call.call_id in wanted]

    def _last_words(self, job: Job, *, late: bool) -> str:
        """Why no more tools may be called."""
        if job.turn.step >= job.max_steps:
            return say(job.lang, "steps_note", steps=job.max_steps)
        return say(job.lang, "time_note", minutes=minutes(job.times.sum_up)) if late else INVALID_NOTE

    def _final(self, job: Job, asked: Asked, *, late: bool, last: bool) -> Ended:
        parts = tuple(part for part in asked.parts if not isinstance(part, ToolCall))
        text = asked.text.strip()
        marks = [say(job.lang, "cut")] if asked.cut else []
        if last and job.turn.step >= job.max_steps:
            marks.append(say(job.lang, "steps_spent", steps=job.max_steps))
        elif late:
            marks.append(say(job.lang, "time_spent", minutes=minutes(job.times.sum_up)))
        if (spare := asked.last.asked) and spare != job.model and self._config().llm.tell_spare:
            marks.append(say(job.lang, "spare_model", spare=spare, chosen=job.model))
        declined = asked.last.stop == "refusal"
        if declined:
            text = say(job.lang, "refused", detail=asked.last.detail).strip()
        elif not text:
            text = say(job.lang, "no_answer")
        if declined or not asked.text.strip():
            parts = (Text(text=text),)
        said = "\n\n".join([text, *marks])
        return Ended(
            state="done", stored=parts, said=said, usage=tuple(map(usage_of, asked.answers)), declined=declined
        )

    async def _drop_images(self, session: Session) -> bool:
        stand_ins = [
            Reduction(
                message_id=message.id, part=index, form="pinned", text="[picture refused by the model]", tokens=10
            )
            for message in _messages(session)
            for index, part in enumerate(message.parts)
            if isinstance(part, Image)
        ]
        known = {(item.message_id, item.part) for item in session.reductions}
        fresh = [item for item in stand_ins if (item.message_id, item.part) not in known]
        if fresh:
            await self._sessions.reduce(session.conversation, fresh, "picture refused")
        return bool(fresh)


def request_of(view: View, setting: Setting, config: Config, job: Job) -> Request:
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


def repeated_call(turn: Turn) -> str | None:
    """The tool that this turn has now asked for five times with the same arguments, if there is one."""
    seen: dict[tuple[str, str], int] = {}
    for message in turn.messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                key = (part.name, part.input)
                seen[key] = seen.get(key, 0) + 1
                if seen[key] >= SAME_CALLS:
                    return part.name
    return None


def invalid_steps(turn: Turn) -> int:
    """How many of the newest steps in a row asked only for what could not be called."""
    count = 0
    for message in reversed(turn.messages):
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if not results:
            if any(isinstance(part, ToolCall) for part in message.parts):
                continue
            break
        if not all(result.text.startswith(INVALID) for result in results):
            break
        count += 1
    return count


def _running(session: Session) -> Turn:
    return session.turns[-1]


def _messages(session: Session) -> list[Message]:
    return [message for turn in session.turns for message in turn.messages]
