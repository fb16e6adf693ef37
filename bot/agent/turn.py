"""Processes the messages of a conversation: run the command or the turn, store the reply.

The flow of one message, from the top of `TurnRunner.step`:

    next inbox row → command, or turn: set up and claim → agent loop → finish
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Literal

import structlog

from bot.access.permissions import LOCAL_CHANNELS, Actor, access_scope, authorize
from bot.agent.context.fitter import ContextFitter, FitRequest
from bot.agent.context.recorder import ViewRecorder
from bot.agent.loop import Agent
from bot.agent.open_turns import OpenTurns, RunningAgent
from bot.agent.subagents.service import SubagentService
from bot.agent.subagents.values import NO_RIGHTS_TEXT, Subagent
from bot.agent.titles import TitleWriter
from bot.agent.turn_context import (
    EventSink,
    MessageCounter,
    ShowEvent,
    ShownText,
    TurnContext,
    TurnResult,
    TurnSetup,
    keep_shown_text,
)
from bot.agent.turn_results import failed_result, is_worth_extracting, split_result, to_result
from bot.config.schema import Config
from bot.dispatch import CrashIsolation, Dispatcher
from bot.messages import MessageBody, is_mutating, load_body, parse_command, split_reply, to_address
from bot.page_questions import ASKED_UNITS
from bot.telemetry.faults import TroubleList
from bot.telemetry.log import bind_trace
from bot.telemetry.recorder import Telemetry
from bot.texts import DENIED, GIVEN_UP, INTERRUPTED, MACHINE_FAILED, resolve_language
from channels.base import Channel
from channels.message import Capabilities, LiveEvent
from channels.web.backend import web_address
from memory.conversation import UNANSWERED_PARTS, Part, Reduction, Text
from memory.store.conversations.delivery import NextWork
from memory.store.errors import MessageEdited, StoreError
from memory.store.rows import ConversationRow, InboxRow, NewOutboxRow, Place, TurnState
from memory.store.store import Store
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
LONG_TEXT_CHARS = 1_000  # a longer reply is split in a thread
MAX_CRASHES = 3  # runs of one turn that end in an unexpected error; then it is given up
# attempts of a message that end in an error of this machine, about two seconds in all
MAX_FAULTS = 3
# A message that was the only one in progress at this many process deaths is given up. If the
# process also died with other messages alone, something else may kill it: each such death, from
# STORM_SECONDS before the message arrived, excuses one of its own.
MAX_DEATHS_ISOLATED = 3
MAX_EXCUSED_DEATHS = 6
STORM_SECONDS = 900.0
# These show a growing reply as a message of its own, which would appear above earlier replies still
# to be sent.
LIVE_STREAMING_KINDS = ("draft", "edits", "card", "stream")
DECLINED_TEXT = "[a request that the model declined]"
INTERRUPTED_PARTS = (Text(text="[interrupted]"),)
# Runs a command row and settles it; returns parts when the row is to go on as a turn with them
# (/retry).
RunCommand = Callable[[InboxRow, MessageBody], Awaitable[tuple[Part, ...] | None]]


class TurnRunner:
    """Runs the turns of all conversations; `step` is what the dispatcher calls for one of them."""

    def __init__(
        self,
        *,
        store: Store,
        setup: TurnSetup,
        message_counter: MessageCounter,
        fitter: ContextFitter,
        agent: Agent,
        views: ViewRecorder,
        run_command: RunCommand,
        channels: Mapping[str, Channel],
        config: Callable[[], Config],
        dispatcher: Dispatcher,
        isolation: CrashIsolation,
        started_at: float,
        telemetry: Telemetry,
        troubles: TroubleList,
        subagents: SubagentService,
        open_turns: OpenTurns,
        title_writer: TitleWriter,
    ) -> None:
        """Args:
        dispatcher: calls `step`.
        started_at: when this process started, by the store's clock: a message received before was
        waiting for it.
        """
        self._store = store
        self._setup = setup
        self._message_counter = message_counter
        self._fitter = fitter
        self._agent = agent
        self._views = views
        self._run_command = run_command
        self._channels = channels
        self._config = config
        self.dispatcher = dispatcher
        self._telemetry = telemetry
        self._troubles = troubles
        self._subagents = subagents
        self._open_turns = open_turns
        self._title_writer = title_writer
        self._isolation = isolation
        self._started_at = started_at
        self._crashes: dict[str, int] = {}
        self._faults: dict[str, list[Exception]] = {}
        # By inbox row, over all attempts.
        self._shown: dict[str, ShownText] = {}
        self._background: set[asyncio.Task[None]] = set()

    async def step(self, conversation: str) -> bool:
        """Process the oldest open row of a conversation; return False when nothing more can be done
        now.
        """
        work = await self._next_work(conversation)
        if work is None:
            return False
        row = work.row
        has_to_wait, may_have_more = self._isolation.holds_up(row.attempts), True
        is_awaited = has_to_wait and work.conversation.place.is_hidden
        if not await self._isolation.enter(conversation, row.attempts, is_awaited=is_awaited):
            return False
        try:
            if has_to_wait:
                work = await self._reload(work)
            if work is not None:
                # edited while it was set up: the next step
                with bind_trace(row.trace_id), suppress(MessageEdited):
                    may_have_more = await self._process_or_give_up(work)
        finally:
            self._isolation.leave(conversation)
        return may_have_more

    async def _next_work(self, conversation: str) -> NextWork | None:
        """Return the row to process now; if it has to wait, ask to be woken when it may be
        processed.
        """
        now = self._store.now()
        work = await self._store.delivery.next_work(conversation, now)
        if work is None:
            return None
        row = work.row
        if row.state == "new" and row.not_before > now:
            self.dispatcher.wake(conversation, row.not_before)
            return None
        if not await self._is_fatal(row):
            age = now - row.received.timestamp()
            delay = self._isolation.seconds_until_allowed(
                conversation, row.attempts, row.deaths_alone, age
            )
            if delay > 0:
                self.dispatcher.wake(conversation, now + delay)
                return None
        return work

    async def _is_fatal(self, row: InboxRow) -> bool:
        """Tell whether a message kills the process, beyond what frequent restarts would do to any
        message.
        """
        if row.deaths_alone < MAX_DEATHS_ISOLATED:
            return False
        since = row.received.timestamp() - STORM_SECONDS
        others = await self._store.delivery.deaths_of_others(row.id, since)
        return row.deaths_alone >= MAX_DEATHS_ISOLATED + min(others, MAX_EXCUSED_DEATHS)

    async def _reload(self, work: NextWork) -> NextWork | None:
        """Load a row and its conversation again; None if the row is not the next one any more, or
        has changed.
        """
        again = await self._store.delivery.next_work(work.row.conversation, self._store.now())
        return again if again is not None and again.row == work.row else None

    async def _process_or_give_up(self, work: NextWork) -> bool:
        """Process a row; after MAX_FAULTS attempts that failed by errors of this machine, notify
        the sender.

        Errors of the database do not count: they end with the outage, and the row is processed
        then.

        Returns:
            False when the conversation's queue is empty.
        """
        row = work.row
        faults, may_have_more = self._faults.get(row.id, []), True
        try:
            may_have_more = await self._process(work)
        except StoreError:
            raise
        except Exception as err:
            self._telemetry.turn_failed(type(err).__name__)
            if len(faults) < MAX_FAULTS:
                self._faults[row.id] = [*faults, err]
                raise
            log.error(
                "a message is given up", inbox=row.id, error=type(err).__name__, exc_info=True
            )
            self._troubles.turn_failed(self._faults[row.id][0])
            await self._give_up(row, work.conversation, "failed")
        self._faults.pop(row.id, None)
        self._shown.pop(row.id, None)
        self._end_on_page(row)
        return may_have_more

    async def _process(self, work: NextWork) -> bool:
        """Run a row as a command, or as a turn of its conversation; return False when its queue is
        empty then.
        """
        row, conversation = work.row, work.conversation
        body, parts, began = load_body(row.body), None, time.perf_counter()
        if await self._is_fatal(row):
            log.warning(
                "a message was given up", conversation=row.conversation, deaths=row.attempts
            )
            await self._give_up(row, conversation, "interrupted")
            return True
        is_hidden = conversation.place.is_hidden
        # An edit may have made it a command, or none. What a model wants done is never one.
        command = None if row.turn_id or is_hidden else parse_command(body.text)
        if self._may_be_opened_again(row, command):
            await self._store.delivery.mark_opened(row.id)
        if command or body.approved:
            parts = await self._run_command(row, body)
            if parts is None:
                self._telemetry.row_handled(row.trace_id, "command", began)
                return True
        actor = await self._setup.actor(work)
        subagent = await self._subagents.load(conversation) if is_hidden else None
        if is_hidden and not await self._may_work(row, conversation, actor, subagent):
            return True
        if not subagent and not await self._check_access(row, body, conversation, actor):
            self._telemetry.row_handled(row.trace_id, "refusal", began)
            return True
        return await self._run_turn(work, body, parts, actor, subagent, began)

    async def _run_turn(
        self,
        work: NextWork,
        body: MessageBody,
        parts: tuple[Part, ...] | None,
        actor: Actor,
        subagent: Subagent | None,
        began: float,
    ) -> bool:
        """Run the turn of a row; return False when the queue of its conversation is empty then.

        Args:
            parts: what a command has the model answer instead of the row's own text.
            began: when the row was taken up, by `time.perf_counter`.
        """
        row, conversation = work.row, work.conversation
        async with self._open_turns.opened(conversation) as has_waited:
            event_sink = await self._event_sink(row, body, conversation.place)
            event_sink.send("started")
            if has_waited:
                work = replace(work, asides=None)  # some may be forgotten now
            context = await self._setup.claim(work, body, parts, actor, event_sink, subagent)
            result = await keep_shown_text(context, await self._run_agent(context))
            finishing = time.perf_counter()
            state, has_next = await self._finish(context, result)
            self._telemetry.stage_ended(row.trace_id, "store", finishing)
        labels = {"mnema.model": context.model, "mnema.policy": context.policy}
        self._telemetry.turn_ended(row.trace_id, state, began, labels)
        return has_next

    async def _may_work(
        self, row: InboxRow, conversation: ConversationRow, actor: Actor, subagent: Subagent | None
    ) -> bool:
        """Tell whether a sub-agent may begin or go on; if not, its row, turn and task are ended.

        Its task may have been cancelled while no process worked on it, or the person's rights taken
        away.
        """
        place = conversation.place
        allowed = authorize(
            actor, "chat", "", access_scope(place.channel, place.kind, place.space)
        ).allowed
        if subagent is not None and subagent.task.state == "running" and allowed:
            return True
        turn = await self._store.delivery.take_over(row.turn_id) if row.turn_id else None
        if turn is None:
            await self._subagents.end_unstarted(row, "cancelled", NO_RIGHTS_TEXT)
            return False
        final = await self._message_counter.draft("assistant", INTERRUPTED_PARTS, "house")
        if subagent is None:  # its task was deleted
            await self._store.delivery.finish(turn, "cancelled", final, ())
        else:
            await self._subagents.finish(subagent, turn, "cancelled", final, NO_RIGHTS_TEXT, ())
        return False

    def _may_be_opened_again(self, row: InboxRow, command: tuple[str, str] | None) -> bool:
        """Tell whether a new row may have been opened by the previous process.

        A mutating command marks itself when it begins; if it was marked before, it would count as
        interrupted.
        """
        if command and is_mutating(*command):
            return False
        return row.state == "new" and self._arrived_before_start(row)

    def _arrived_before_start(self, row: InboxRow) -> bool:
        """Tell whether a row is older than this process: the previous one may have died while
        setting it up.

        A time in the future counts as older: the clock was put back.
        """
        return not self._started_at <= row.received.timestamp() <= self._store.now()

    async def _check_access(
        self, row: InboxRow, body: MessageBody, conversation: ConversationRow, actor: Actor
    ) -> bool:
        """Check rights again, and budgets unless the turn has begun: they may have changed since
        the message came.

        Returns:
            False after a refusal: the row is settled.
        """
        place = conversation.place
        if authorize(
            actor, "chat", "", access_scope(place.channel, place.kind, place.space)
        ).allowed:
            model = conversation.model or self._setup.model_name()
            return bool(row.turn_id) or not await self._setup.budget_guard.refuse(
                row, body, actor, model
            )
        self._telemetry.access_denied()
        text = DENIED.text(resolve_language(body.text))
        await self._end_with_notice(
            row, "cancelled", split_reply(text, "notice", self._capabilities(place.channel))
        )
        return False

    async def _end_with_notice(
        self, row: InboxRow, state: TurnState, notice: Sequence[NewOutboxRow]
    ) -> None:
        """End a row, and the turn that an earlier process began for it, with a notice."""
        turn = await self._store.delivery.take_over(row.turn_id) if row.turn_id else None
        if turn is None:
            await self._store.delivery.settle(row.id, notice)
            return
        final = await self._message_counter.draft("assistant", INTERRUPTED_PARTS, "house")
        await self._store.delivery.finish(turn, state, final, notice)

    async def _event_sink(self, row: InboxRow, body: MessageBody, place: Place) -> EventSink:
        """Return where to show the turn; show nothing live while earlier replies are still to be
        sent there.
        """
        if place.is_hidden:
            return EventSink(show=lambda event: None, address=to_address(place), message_id=row.id)
        streams = self._capabilities(place.channel).live_display in LIVE_STREAMING_KINDS
        is_hidden = streams and place.channel not in LOCAL_CHANNELS
        is_hidden = is_hidden and await self._store.delivery.has_open_parts(row.conversation)
        show: ShowEvent = (lambda event: None) if is_hidden else self._setup.show
        if body.written_on == "page":
            show = partial(self._show_on_page_too, show, row.conversation)
        return EventSink(
            show=show,
            address=to_address(place),
            message_id=row.id,
            displays_text=streams and not is_hidden,
            shown=self._shown.setdefault(row.id, ShownText()),
        )

    def _show_on_page_too(self, show: ShowEvent, conversation: str, event: LiveEvent) -> None:
        """Show an event of a chat of another channel to the page as well, where it was asked."""
        show(event)
        self._setup.show(replace(event, address=web_address(conversation)))

    def _end_on_page(self, row: InboxRow) -> None:
        """Let the page read the stored answer to what was asked on it in another channel's chat."""
        if load_body(row.body).written_on != "page":
            return
        address = web_address(row.conversation)
        self._setup.show(LiveEvent(address=address, name="reply", message_id=row.id, line=row.line))

    async def _run_agent(self, context: TurnContext) -> TurnResult:
        """Run the agent loop in a task of its own, so that it can be stopped and timed out."""
        turn, conversation = context.turn, context.conversation
        if self._crashes.get(turn.id, 0) >= MAX_CRASHES:
            text = INTERRUPTED.text(context.lang)
            return TurnResult(
                state="interrupted", parts=INTERRUPTED_PARTS, reply=text, origin="house"
            )
        if len(faults := self._faults.get(turn.inbox_id, [])) >= MAX_FAULTS:
            self._troubles.turn_failed(faults[0])
            return failed_result(MACHINE_FAILED.fill(trace=turn.trace_id).text(context.lang))
        task = asyncio.create_task(self._agent.run(context), name=f"turn {turn.id}")
        running = RunningAgent(task, turn.inbox_id)
        with self._open_turns.running(conversation, running):
            await _wait_for_end(running, context)
        try:
            return to_result(context, running)
        except (OSError, StoreError):
            raise  # not a bug: see _process_or_give_up
        except Exception:
            self._crashes[turn.id] = self._crashes.get(turn.id, 0) + 1
            raise

    async def _finish(self, context: TurnContext, result: TurnResult) -> tuple[TurnState, bool]:
        """Store the reply and the end of the turn in one transaction.

        Returns:
            The state that was stored, and whether another message waits in the conversation's
            queue.
        """
        self._crashes.pop(context.turn.id, None)
        final = await self._message_counter.draft(
            "assistant", result.parts, result.origin, result.label
        )
        if (subagent := context.subagent) is not None:
            self._fitter.needs_preparation(context.conversation.id)  # it has no next turn
            with self._views.storing(context.turn.id) as views:
                stored = await self._subagents.finish(
                    subagent, context.turn, result.state, final, result.reply, result.usage, views
                )
            return result.state if stored else "cancelled", False
        outbox = await self._split(context, result)
        if result.unreached and await self._is_untouched_job(context):
            outbox = []  # it is tried again, or told of, by bot.jobs.ticker
        remember = is_worth_extracting(context, result, self._config())
        with self._views.storing(context.turn.id) as views:
            finished = await self._store.delivery.finish_and_look(
                context.turn,
                result.state,
                final,
                outbox,
                result.usage,
                remember=remember,
                views=views,
            )
        if result.state == "failed":
            stays = {"state": result.unfinished} if result.unfinished and outbox else {}
            context.event_sink.send("failed", result.reply, **stays)
        if result.declined:
            await self._hide_request(context)
        # The fold that the next message will need starts now, while no person waits for it.
        if self._fitter.needs_preparation(context.conversation.id):
            fit_request = FitRequest(model=context.model, policy=context.policy)
            self._run_in_background(self._fitter.prepare(context.conversation.id, fit_request))
        self._run_in_background(self._setup.budget_guard.warn(context.actor))
        if self._title_writer.is_due(context, result):
            self._run_in_background(self._title_writer.write(context.conversation.id))
        return result.state if finished.stored else "cancelled", finished.has_next

    async def _split(self, context: TurnContext, result: TurnResult) -> list[NewOutboxRow]:
        """Split what is sent: a reply or notice, or what was shown of an unfinished answer and why
        it broke off.
        """
        place = context.conversation.place
        split = partial(
            split_result,
            result,
            self._capabilities(place.channel),
            self._allowance(place),
            ASKED_UNITS if context.is_from_page else 0,
        )
        is_long = len(result.reply) + len(result.shown) > LONG_TEXT_CHARS
        return await asyncio.to_thread(split) if is_long else split()

    async def _is_untouched_job(self, context: TurnContext) -> bool:
        """Tell whether this is the turn of a task that has called no tool."""
        turn = await self._store.sessions.turn(context.turn.id) if context.job else None
        return turn is not None and not turn.step

    async def _hide_request(self, context: TurnContext) -> None:
        """Show a declined request as one line in later views; the stored message stays as it is."""
        sessions = self._store.sessions
        session = await sessions.load(context.conversation.id)
        requests = [
            turn.messages[0] for turn in session.turns if turn.number == context.turn.number
        ]
        reductions = [
            Reduction(
                message_id=message.id,
                part=index,
                form="one_line",
                text="" if index else DECLINED_TEXT,
                tokens=10,
            )
            for message in requests
            for index in range(len(message.parts))
        ]
        await sessions.reduce(context.conversation.id, reductions, "declined")

    async def _give_up(
        self, row: InboxRow, conversation: ConversationRow, state: Literal["interrupted", "failed"]
    ) -> None:
        """Tell the sender that a message will not be answered, and end its row, without setting up
        a turn.

        Args:
            state: interrupted: it kills the process; failed: this machine failed at each attempt.
        """
        began, delivery, is_fatal = (
            time.perf_counter(),
            self._store.delivery,
            state == "interrupted",
        )
        if subagent := await self._subagents.load(conversation):
            await self._give_up_task(row, subagent, state)
            return
        place = conversation.place
        lang = resolve_language(load_body(row.body).text, self._config().language)
        turn = await delivery.take_over(row.turn_id) if row.turn_id else None
        if is_fatal:
            text = (INTERRUPTED if turn else GIVEN_UP).text(lang)
        else:
            text = MACHINE_FAILED.fill(trace=row.trace_id).text(lang)
        notice = split_reply(
            text, "notice", self._capabilities(place.channel), self._allowance(place)
        )
        if turn is None:
            await delivery.settle(row.id, notice, dead=is_fatal)
        else:
            parts = INTERRUPTED_PARTS if is_fatal else UNANSWERED_PARTS
            await delivery.finish(
                turn, state, await self._message_counter.draft("assistant", parts, "house"), notice
            )
        self._telemetry.turn_ended(row.trace_id, state, began, {})

    async def _give_up_task(
        self, row: InboxRow, subagent: Subagent, state: Literal["interrupted", "failed"]
    ) -> None:
        """End a task that kills the process, or that fails at each attempt; nobody is told but who
        gave it.
        """
        turn = await self._store.delivery.take_over(row.turn_id) if row.turn_id else None
        if turn is None:
            await self._subagents.end_unstarted(row, "failed", GIVEN_UP.text("en"))
            return
        parts = INTERRUPTED_PARTS if state == "interrupted" else UNANSWERED_PARTS
        final = await self._message_counter.draft("assistant", parts, "house")
        await self._subagents.finish(subagent, turn, state, final, INTERRUPTED.text("en"), ())

    async def settled(self) -> None:
        """Wait for the background work that follows turns."""
        while self._background:
            await asyncio.wait(list(self._background))

    async def close(self) -> None:
        """Cancel the background work; it is prepared again after the next turn."""
        await cancel_and_wait(self._background)

    def _run_in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._on_background_done)

    def _on_background_done(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("after the turn", error=type(err).__name__, exc_info=err)

    def _allowance(self, place: Place) -> int | None:
        """Return how many messages the platform still accepts for this chat; None if it does not
        limit them.
        """
        channel = self._channels.get(place.channel)
        allowance = getattr(channel, "allowance", None)
        return allowance(to_address(place)) if allowance is not None else None

    def _capabilities(self, channel: str) -> Capabilities:
        known = self._channels.get(channel)
        return known.capabilities if known is not None else Capabilities()


async def _wait_for_end(running: RunningAgent, context: TurnContext) -> None:
    """Wait until the agent loop of a turn has ended, and cancel it when its time is over."""
    task = running.task
    try:
        await asyncio.wait(
            {task}, timeout=context.started + context.timeouts.cancel_after - time.monotonic()
        )
        if not task.done():
            running.timed_out = True
            task.cancel()
            await asyncio.wait({task})
    except asyncio.CancelledError:
        await cancel_and_wait({task})
        raise
