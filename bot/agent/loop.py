"""The agent loop: call the model, run its tool calls, repeat; each step is stored before the
next.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.access.budget_guard import BudgetGuard
from bot.agent.context.fitter import ContextFitter, FitLimits, FitRequest, FittedView
from bot.agent.context.recorder import OnAnswer, OnRequest, ViewRecorder
from bot.agent.subagents.values import CORRECTION_PROMPT
from bot.agent.tool_calls import INVALID_CALL_PREFIX, ToolRunner
from bot.agent.turn_context import (
    EventSink,
    MessageCounter,
    TurnContext,
    TurnResult,
    format_minutes,
    label_reply,
)
from bot.config.schema import Config
from bot.errors import BadImage, Overflow, TooLarge
from bot.memory.recall import NOTHING_RECALLED, recalled_places
from bot.models.base import (
    Answer,
    ModelClient,
    Request,
    Restarted,
    RetryWait,
    TextDelta,
    TokensUsed,
    ToolStarted,
)
from bot.models.fallback import SMALLER_WINDOW
from bot.models.providers.transport import ClosingStream
from bot.models.service import ModelService, build_usage_row
from bot.texts import ONLY_THOUGHT, SAME_CALL
from channels.phrases import Phrase
from memory.context.taint import ReplyLabel
from memory.context.view import ContextView
from memory.conversation import (
    Image,
    Part,
    Reduction,
    Session,
    ShownMessage,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    inner_call,
)
from memory.failpoints import hit_async
from memory.store.conversations.sessions import Sessions
from memory.store.people.spending import SpendingTotals
from memory.store.rows import CallRow

MAX_CONTINUATIONS = 5  # per step
CONTINUE_PROMPT = "[Go on exactly where you stopped.]"
EMPTY_ANSWER_PROMPT = "[Your answer was empty. Please answer.]"
# Qwen reads the command where its server has no switch.
NO_THINKING_PROMPT = (
    "[Your thinking took up the whole answer. Answer now, without thinking first.] /no_think"
)
MAX_SAME_CALLS = 5  # per turn; calls with the same arguments
MAX_INVALID_STEPS = 3  # in a row; after these the model must answer
MAX_OVERFLOWS = 2  # requests of one step that the provider may call too long
MAX_SHRINKS = 4  # per step; each fallback model may have a smaller window
REFUSED_IMAGE_TEXT = "[picture refused by the model]"
INVALID_STEPS_PROMPT = (
    "[Three steps in a row asked for what cannot be called. Call no more tools: answer with what "
    "you have.]"
)
TOKENS_USED_PROMPT = (
    "[The tokens of this task are used up. Call no more tools: answer with what you have.]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep:
    """One step of the model: its complete answer, from one or more requests."""

    parts: tuple[Part, ...]
    #: One for each request, for the usage.
    answers: tuple[Answer, ...]
    #: The answer ends at the output limit.
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
        """Tokens of the first request: the one whose size was estimated."""
        return self.answers[0].usage


def ignore_request(_: Request) -> OnAnswer:
    """Record nothing of a request."""
    return lambda answer: None


async def run_model_step(
    model: ModelClient,
    request: Request,
    event_sink: EventSink,
    on_request: OnRequest = ignore_request,
    *,
    may_end_cut: bool = False,
) -> ModelStep:
    """Get one complete answer; continue it where the provider stopped too early.

    Args:
        on_request: called with each request before it is sent; what it returns is called with the
            answer.
        may_end_cut: an answer that fills the window, and so cannot continue, is returned as it is.

    Raises:
        Overflow: the request, or the answer so far, does not fit the window.
        ModelError: see ModelClient.stream.
    """
    first = await _call_model(model, request, event_sink, on_request)
    step = ModelStep(parts=first.parts, answers=(first,))
    if first.cut_call:
        longer = replace(request, max_tokens=request.max_tokens * 2)
        event_sink.restart()
        again = await _call_model(model, longer, event_sink, on_request)
        step = ModelStep(
            parts=again.parts, answers=(first, again), cut=again.cut_call or again.stop == "length"
        )
    elif first.only_thought:
        event_sink.restart()
        again = await _call_model(model, _without_thinking(request), event_sink, on_request)
        step = ModelStep(parts=again.parts, answers=(first, again), cut=again.stop == "length")
    elif first.stop == "length":
        try:
            going_on = _with_answer(request, step.parts, CONTINUE_PROMPT)
            answer = await _call_model(model, going_on, event_sink, on_request)
            step = replace(_join_steps(step, answer), cut=answer.stop == "length")
        except Overflow:
            if not may_end_cut:
                raise
            step = replace(step, cut=True)
    for _ in range(MAX_CONTINUATIONS):
        if step.last.stop != "pause":
            break
        answer = await _call_model(
            model, _with_answer(request, step.parts, ""), event_sink, on_request
        )
        step = _join_steps(step, answer)
    if not step.parts and step.last.stop in ("end", "unknown"):
        answer = await _call_model(
            model, _with_prompt(request, EMPTY_ANSWER_PROMPT), event_sink, on_request
        )
        step = _join_steps(step, answer)
    return step


async def _call_model(
    model: ModelClient, request: Request, event_sink: EventSink, on_request: OnRequest
) -> Answer:
    is_first, on_answer = True, on_request(request)
    async with ClosingStream(model.stream(request)) as events:
        async for event in events:
            if isinstance(event, RetryWait):
                event_sink.send("waiting", why=event.why, call=event.call, calls=event.calls)
                continue
            await (hit_async("llm.first_byte") if is_first else hit_async("llm.mid_stream"))
            is_first = False
            match event:
                case TextDelta():
                    event_sink.add_text(event.text)
                case ToolStarted() if request.may_call:
                    event_sink.send("tool_started", tool=event.name, planned=True)
                case Restarted():
                    event_sink.restart()
                case Answer():
                    event_sink.end_answer()
                    on_answer(event)
                    if event.stop == "overflow":
                        raise Overflow(
                            "the answer does not fit the model's window", kind=event.raw_stop
                        )
                    return event
    raise RuntimeError(f"{model.name} ended its stream without an answer")


def _join_steps(step: ModelStep, answer: Answer) -> ModelStep:
    parts = (*step.parts, *answer.parts)
    if step.parts and answer.parts:
        *before, end = step.parts
        start, *after = answer.parts
        if isinstance(end, Text) and isinstance(start, Text):
            parts = (*before, Text(text=end.text + start.text), *after)
    return ModelStep(parts=parts, answers=(*step.answers, answer))


def _with_answer(request: Request, parts: tuple[Part, ...], prompt: str) -> Request:
    messages = (*request.messages, ShownMessage(role="assistant", parts=parts))
    if prompt:
        messages = (*messages, ShownMessage(role="user", parts=(Text(text=prompt),)))
    return replace(request, messages=messages)


def _without_thinking(request: Request) -> Request:
    return replace(_with_prompt(request, NO_THINKING_PROMPT), may_think=False)


def _with_prompt(request: Request, prompt: str) -> Request:
    *earlier, last = request.messages
    prompted = replace(last, parts=(*last.parts, Text(text=prompt)))
    return replace(request, messages=(*earlier, prompted))


def _why_without_text(lang: str, step: ModelStep) -> str:
    """Say what stands in place of an answer: it was declined or is empty; "" if it has a text."""
    if step.last.stop == "refusal":
        refused = Phrase("The model declined this request. {detail}", detail=step.last.detail)
        return refused.text(lang).strip()
    if step.text.strip():
        return ""
    if step.last.only_thought:
        return ONLY_THOUGHT.text(lang)
    return Phrase("(no answer)").text(lang)


def has_used_steps(context: TurnContext, turn: Turn) -> bool:
    """Tell whether a turn may call no more tools: its steps are used, or too many had calls that
    could not run.
    """
    return context.turn.step >= context.max_steps or count_invalid_steps(turn) >= MAX_INVALID_STEPS


class Agent:
    """Runs one turn until it ends."""

    def __init__(
        self,
        *,
        sessions: Sessions,
        fitter: ContextFitter,
        message_counter: MessageCounter,
        tool_runner: ToolRunner,
        budget_guard: BudgetGuard,
        models: ModelService,
        views: ViewRecorder,
        config: Callable[[], Config],
    ) -> None:
        self._sessions = sessions
        self._fitter = fitter
        self._message_counter = message_counter
        self._tool_runner = tool_runner
        self._budget_guard = budget_guard
        self._models = models
        self._views = views
        self._config = config

    async def run(self, context: TurnContext) -> TurnResult:
        """Run the turn from its last stored step to its end.

        Raises:
            ModelError: the model did not answer; the caller ends the turn.
            StaleEpoch: the conversation was cleared in the meantime.
            OverBudget: the person, or all together, are over a limit.
        """
        with self._models.background.reply():
            return await self._run(context)

    async def _run(self, context: TurnContext) -> TurnResult:
        while True:
            session, spent = await self._load(context)
            turn = session.turns[-1]
            open_calls = await self._load_open_calls(context, turn)
            if open_calls:
                if (tool := find_repeated_call(turn)) is not None:
                    text = SAME_CALL.fill(tool=tool).text(context.lang)
                    label = ReplyLabel(tainted=turn.messages[-1].tainted)
                    return TurnResult(
                        state="done", parts=(Text(text=text),), reply=text, label=label
                    )
                await self._tool_runner.run(context, open_calls, turn.messages[-1])
                continue
            late = time.monotonic() - context.started >= context.timeouts.last_step_after
            last = late or has_used_steps(context, turn)
            final_note = self._final_note(context, late=late) if last else ""
            if await self._has_used_tokens(context):
                last, final_note = True, TOKENS_USED_PROMPT
            step, recalled = await self._call_model(context, session, final_note, spent)
            if (
                context.subagent
                and (not step.calls or last)
                and (why := context.subagent.complain(step.text))
            ):
                corrected, recalled = await self._call_model(
                    context, session, CORRECTION_PROMPT.format(why=why)
                )
                # both were paid for
                step, last = replace(corrected, answers=(*step.answers, *corrected.answers)), True
            label = await label_reply(context, session, step.parts, recalled=recalled)
            if not step.calls or last:
                return replace(self._final_result(context, step, late=late, last=last), label=label)
            await self._store_step(context, step, label)
            context = replace(context, turn=replace(context.turn, step=context.turn.step + 1))

    async def _has_used_tokens(self, context: TurnContext) -> bool:
        """Tell whether a turn with a limit on its tokens has reached it."""
        return (
            context.max_tokens > 0
            and await self._sessions.turn_tokens(context.turn) >= context.max_tokens
        )

    async def _load(self, context: TurnContext) -> tuple[Session, SpendingTotals | None]:
        """Load the session, and what the person has spent until now; None where `check` loads what
        is needed.
        """
        sums = await self._budget_guard.sums_of_turn(context.actor, context.turn)
        # What a fold costs may be stored between this load and the check, which then has to look
        # itself.
        if sums is None or self._fitter.folding.has_open_cost(context.conversation.id):
            return await self._sessions.load(context.conversation.id), None
        session, newest = await self._sessions.load_with_spending(
            context.conversation.id, sums.query
        )
        return session, sums.with_newest(newest)

    async def _check_budget(self, context: TurnContext, spent: SpendingTotals | None) -> None:
        """Check the budget, with what a fold may still cost: its call may have begun, or comes
        after the turn's.
        """
        folds = int(self._fitter.folding.has_open_cost(context.conversation.id))
        is_group = context.scope.kind == "group"
        await self._budget_guard.check(
            context.actor,
            context.turn,
            context.model,
            context.lang,
            spent,
            own_folds=0 if is_group else folds,
            group_folds=folds if is_group else 0,
        )

    async def _call_model(
        self,
        context: TurnContext,
        session: Session,
        final_note: str,
        spent: SpendingTotals | None = None,
    ) -> tuple[ModelStep, bool]:
        """Fit the request and send it, smaller where the provider refuses its size.

        Args:
            final_note: why no more tools may be called; "" while they may.
            spent: when `session` was loaded.

        Returns:
            The answer, and whether what was recalled for it may hold outside words.
        """
        tools, dropped = context.subagent.tools if context.subagent else None, False
        fit_request = FitRequest(model=context.model, policy=context.policy, tools=tools)
        suffix = replace(context.suffix, last=final_note) if final_note else context.suffix
        while True:
            fitted = await self._fitter.fit(session, fit_request, suffix)
            if fitted.session.turns is not session.turns:
                spent = None  # a fold came between, and it costs too
            await self._check_budget(context, spent)
            spent = None
            await hit_async("llm.before")
            request = build_request(
                fitted.view, fitted.fit_limits, self._config(), context, may_call=not final_note
            )
            if fit_request.refused >= MAX_SHRINKS:
                # not by our count: the model itself has to refuse it
                request = replace(request, size=0)
            context.event_sink.begin_request(session, recalled=fitted.tainted)
            try:
                may_end_cut = fit_request.refused > 0
                step = await self._send(context, fitted, request, may_end_cut=may_end_cut)
            except Overflow as err:
                if fit_request.refused >= (
                    MAX_OVERFLOWS if err.kind != SMALLER_WINDOW else MAX_SHRINKS
                ):
                    raise
                fit_request = await self._fitter.shrink(
                    context.conversation.id, fit_request, fitted, err
                )
                suffix = replace(suffix, recalled=NOTHING_RECALLED)
                session = await self._sessions.load(session.conversation)
            except (BadImage, TooLarge) as err:
                # First only the picture that the provider named, then all of them.
                if not await self._drop_images(
                    session, "" if dropped else find_refused_image(request, err)
                ):
                    raise
                dropped = True
                session = await self._sessions.load(session.conversation)
            else:
                await hit_async("llm.ended")
                self._note_answer(context, fitted, step)
                return step, fitted.tainted

    async def _send(
        self, context: TurnContext, fitted: FittedView, request: Request, *, may_end_cut: bool
    ) -> ModelStep:
        """Send a request, and record it with what it shows."""
        on_request = self._views.recorder(context.turn, fitted, await self._fitter.counter())
        async with self._fitter.storing_prefix(context.conversation.id, fitted.fit_limits):
            return await run_model_step(
                self._models.model,
                request,
                context.event_sink,
                on_request,
                may_end_cut=may_end_cut,
            )

    def _note_answer(self, context: TurnContext, fitted: FittedView, step: ModelStep) -> None:
        """Learn from the counts of an answer, and record what was recalled for it."""
        used, conversation = step.used, context.conversation.id
        model = step.answers[0].requested or fitted.fit_limits.model
        unsent = fitted.view.tokens.tools if self._models.refuses_tools(model) else 0
        counted = fitted.view.tokens.total - unsent
        if self._models.windows.note_usage(
            self._models.served_model(model), conversation, counted, used.input
        ):
            self._fitter.note_cut(conversation)
        else:
            self._fitter.calibration.note(model, counted, used.input, conversation)
        self._fitter.calibration.note_cache(conversation, used.cache_read, used.input)
        if fitted.recalled and not context.turn.step:
            self._views.note_recalled(context.turn.id, recalled_places(fitted.recalled))

    async def _store_step(self, context: TurnContext, step: ModelStep, label: ReplyLabel) -> None:
        """Store the answer with its calls as planned, before any of them runs."""
        await hit_async("llm.before_commit")
        planned = self._tool_runner.plan(context.conversation.place.space, step.calls)
        draft = await self._message_counter.draft("assistant", step.parts, "model", label)
        usage, *others = map(build_usage_row, step.answers)
        for other in others:
            usage = replace(
                usage, input=usage.input + other.input, output=usage.output + other.output
            )
        with self._views.storing(context.turn.id) as views:
            context.event_sink.end_step()  # the write is completed even if this task is cancelled
            await self._sessions.add_step(context.turn, draft, planned, usage, views)

    async def _load_open_calls(self, context: TurnContext, turn: Turn) -> list[CallRow]:
        call_ids = {part.id for part in turn.messages[-1].parts if isinstance(part, ToolCall)}
        if not call_ids or turn.messages[-1].role != "assistant":
            return []
        return [
            call for call in await self._sessions.calls(context.turn.id) if call.call_id in call_ids
        ]

    def _final_note(self, context: TurnContext, *, late: bool) -> str:
        """Say why no more tools may be called."""
        if context.turn.step >= context.max_steps:
            return (
                f"[All {context.max_steps} steps are used. Call no more tools: say that the step "
                "limit is reached and sum up.]"
            )
        if late:
            return (
                f"[{format_minutes(context.timeouts.last_step_after)} minutes are used, and no "
                "more time is left. Call no more tools: say so and sum up.]"
            )
        return INVALID_STEPS_PROMPT

    def _final_result(
        self, context: TurnContext, step: ModelStep, *, late: bool, last: bool
    ) -> TurnResult:
        """Make the turn's result of its last answer, with notes on what limited it."""
        notes = self._notes_on_answer(context, step, late=late, last=last)
        text = step.text.strip()
        parts = tuple(part for part in step.parts if not isinstance(part, ToolCall))
        if why := _why_without_text(context.lang, step):
            text, parts = why, (Text(text=why),)
        return TurnResult(
            state="done",
            parts=parts,
            reply="\n\n".join([text, *notes]),
            usage=tuple(map(build_usage_row, step.answers)),
            declined=step.last.stop == "refusal",
        )

    def _notes_on_answer(
        self, context: TurnContext, step: ModelStep, *, late: bool, last: bool
    ) -> list[str]:
        """Say what limited the answer, and whether another model than the chosen one gave it."""
        notes = []
        if step.cut and step.text.strip():
            notes.append(Phrase("(cut)"))
        if last and context.turn.step >= context.max_steps:
            used_up = Phrase("(all {steps} steps are used up; this is how far I got)")
            notes.append(used_up.fill(steps=context.max_steps))
        elif late:
            too_late = Phrase("(this answer has taken {minutes} minutes; this is how far I got)")
            notes.append(too_late.fill(minutes=format_minutes(context.timeouts.last_step_after)))
        used = step.last.requested
        is_spare = used not in ("", context.model)
        if is_spare and self._config().llm.tell_spare:
            spare = Phrase("({chosen} is not available right now; {spare} answered instead)")
            notes.append(spare.fill(spare=used, chosen=context.model))
        return [note.text(context.lang) for note in notes]

    async def _drop_images(self, session: Session, sha256: str) -> bool:
        """Replace a picture, or else all of them, by a line; return False when there is none left
        to replace.
        """
        images = [
            (message.id, index, part.sha256)
            for turn in session.turns
            for message in turn.messages
            for index, part in enumerate(message.parts)
            if isinstance(part, Image)
        ]
        reduced = {(item.message_id, item.part) for item in session.reductions}
        left = [image for image in images if image[:2] not in reduced]
        reductions = [
            Reduction(
                message_id=message_id, part=index, form="pinned", text=REFUSED_IMAGE_TEXT, tokens=10
            )
            for message_id, index, _ in [image for image in left if image[2] == sha256] or left
        ]
        if reductions:
            await self._sessions.reduce(session.conversation, reductions, "picture refused")
        return bool(reductions)


def find_refused_image(request: Request, error: BadImage | TooLarge) -> str:
    """Return the SHA-256 of the picture that the provider named; "" if it named none."""
    if not isinstance(error, BadImage) or not 0 <= error.message < len(request.messages):
        return ""
    parts = request.messages[error.message].parts
    part = parts[error.part] if 0 <= error.part < len(parts) else None
    return part.sha256 if isinstance(part, Image) else ""


def build_request(
    view: ContextView,
    fit_limits: FitLimits,
    config: Config,
    context: TurnContext,
    *,
    may_call: bool,
) -> Request:
    """Build the model request of a view."""
    return Request(
        model=fit_limits.model,
        system=view.system,
        messages=view.shown,
        tools=view.tools,
        max_tokens=min(config.llm.max_output_tokens, fit_limits.limits.reserve),
        stable=view.stable,
        conversation=context.conversation.id,
        space=context.conversation.place.space,
        size=int(view.tokens.total * fit_limits.limits.factor),
        may_call=may_call,
    )


def find_repeated_call(turn: Turn) -> str | None:
    """Return the tool that this turn has called MAX_SAME_CALLS times with the same arguments, if
    any.
    """
    counts: dict[tuple[str, str], int] = {}
    for message in turn.messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                call = inner_call(part)
                key = (call.name, call.input)
                counts[key] = counts.get(key, 0) + 1
                if counts[key] >= MAX_SAME_CALLS:
                    return call.name
    return None


def count_invalid_steps(turn: Turn) -> int:
    """Count the newest steps in a row that only made calls that could not be run."""
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
