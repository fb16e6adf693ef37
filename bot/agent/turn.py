"""The walk of one message: claimed, answered, finished; read it from the top of `Turns.step`."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Literal

import structlog

from bot.access.budget_guard import BudgetGuard
from bot.access.budgets import budget_account
from bot.access.permissions import LOCAL_CHANNELS, AccessDecision, Actor, authorize
from bot.access.roles import RoleResolver
from bot.access.storage_quota import QuotaExceededError
from bot.agent.context_fitter import ContextFitter, FitRequest
from bot.agent.loop import Agent
from bot.agent.prompt import TurnSuffix, format_clock_note
from bot.agent.turn_context import (
    DEFAULT_TIMEOUTS,
    EventSink,
    MessageCounter,
    ShowEvent,
    TurnContext,
    TurnResult,
    TurnTimeouts,
    format_minutes,
)
from bot.commands.names import is_mutating, parse_command
from bot.config.schema import Config
from bot.dispatch import CrashIsolation
from bot.errors import BudgetTooSmall, FoldFailed, ModelError, OverBudget
from bot.gateway.attachments import StoredFile, format_attachment_refusal, ingest_attachments, sanitize_file_name
from bot.gateway.downloads import DownloadedFile, Downloads
from bot.gateway.receiver import access_scope
from bot.memory.recall import RecalledPassages, TurnRecall, find_tainted
from bot.messages import (
    MessageBody,
    StoredAttachment,
    album_caption,
    format_background,
    format_quote,
    load_body,
    sender_name,
    split_reply,
    to_address,
)
from bot.telemetry.faults import TroubleList
from bot.telemetry.log import bind_trace
from bot.telemetry.recorder import Telemetry
from bot.texts import format_budget_too_small, format_text, format_turn_failure, resolve_language
from channels.base import Channel
from channels.errors import AttachmentTooBig, ChannelError
from channels.message import Capabilities
from memory.context.taint import NOT_READ_LABEL
from memory.conversation import Part, Reduction, Text
from memory.longterm.extraction import TurnExchange, is_worth_reading
from memory.store.errors import MessageEdited, StaleEpoch
from memory.store.rows import ConversationRow, InboxRow, OutboxKind, Place, TurnRow, TurnState
from memory.store.store import Store
from memory.tasks import cancel_and_wait
from memory.workspace.blobs import Blobs

# Opens a turn: who asks and where, what they sent as parts, the claim in the record.


@dataclass(frozen=True, slots=True)
class _TurnOrigin:
    """Where a turn is opened, in which language, and whose budget it counts to."""

    lang: str
    place: Place
    who: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSetup:
    """What is needed to open turns."""

    store: Store
    blobs: Blobs
    message_counter: MessageCounter
    #: As they are at that moment.
    config: Callable[[], Config]
    #: As they are at that moment.
    model_name: Callable[[], str]
    #: As they are at that moment.
    now: Callable[[], datetime]
    show: ShowEvent
    turn_recall: TurnRecall
    roles: RoleResolver
    downloads: Downloads
    budget_guard: BudgetGuard
    #: Of each turn.
    times: TurnTimeouts = DEFAULT_TIMEOUTS

    async def conversation(self, row: InboxRow) -> ConversationRow:
        """The row's conversation."""
        found = await self.store.sessions.conversation(row.conversation)
        if found is None:
            raise LookupError(f"conversation {row.conversation} of inbox row {row.id} is missing")
        return found

    def allowed(self, actor: Actor, place: Place) -> AccessDecision:
        """Whether this sender may still talk here."""
        return authorize(actor, "chat", "", access_scope(place.channel, place.kind, place.space))

    async def over_budget(self, row: InboxRow, said: MessageBody, conversation: ConversationRow, actor: Actor) -> bool:
        """Whether this sender has used up what they may use; the row is settled then."""
        return await self.budget_guard.refuse(row, said, actor, conversation.model or self.model_name())

    async def actor(self, row: InboxRow, place: Place) -> Actor:
        """Who the sender is at this moment."""
        sender, proven = row.sender_id, load_body(row.body).proven
        return await self.roles.actor(place.channel, place.account, sender, place.chat_id, place.kind, proven=proven)

    async def job(
        self,
        row: InboxRow,
        said: MessageBody,
        conversation: ConversationRow,
        parts: tuple[Part, ...] | None,
        actor: Actor,
    ) -> TurnContext:
        """The turn of a row: taken up where the record has one, else claimed now.

        parts: what to answer instead of the row's own words (/retry).
        """
        config = self.config()
        place, lang = conversation.place, resolve_language(_query_text(said, parts), config.language)
        turn, recalled = await asyncio.gather(  # neither has to do with the other
            self._turn(row, said, parts, _TurnOrigin(lang, place, budget_account(actor))),
            self._recalled(conversation, _query_text(said, parts)),
        )
        return TurnContext(
            conversation=conversation,
            turn=turn,
            actor=actor,
            where=access_scope(place.channel, place.kind, place.space),
            lang=lang,
            tail=TurnSuffix(clock=format_clock_note(self.now()), recalled=recalled),
            model=conversation.model or self.model_name(),
            policy=conversation.policy or config.context_policy,
            max_steps=config.agent_max_steps,
            event_sink=self.event_sink(place, row),
            words=_query_text(said, parts),
            times=self.times,
        )

    async def _recalled(self, conversation: ConversationRow, words: str) -> RecalledPassages:
        """What memory holds on these words, and what of it would taint the turn; a group's turns are tainted anyway."""
        found = await self.turn_recall.recalled(conversation, words)
        if conversation.place.kind == "group" or not found.passages:
            return found
        labelled = zip(found.passages, await find_tainted(self.store, found.passages), strict=True)
        return replace(found, outside=frozenset(passage for passage, outside in labelled if outside))

    def event_sink(self, place: Place, row: InboxRow) -> EventSink:
        """Where the events of this row are shown."""
        return EventSink(show=self.show, address=to_address(place), message_id=row.id)

    async def _turn(
        self, row: InboxRow, said: MessageBody, parts: tuple[Part, ...] | None, here: _TurnOrigin
    ) -> TurnRow:
        known = await self.store.delivery.take_over(row.turn_id) if row.turn_id else None
        return known or await self._claim(row, said, parts, here)

    async def _claim(
        self, row: InboxRow, said: MessageBody, parts: tuple[Part, ...] | None, here: _TurnOrigin
    ) -> TurnRow:
        beside = [] if parts is not None else await self.store.delivery.load_batched_rows(row)
        content = parts if parts is not None else await self._parts(row, said, beside, here)
        draft = await self.message_counter.draft("user", content, "person")
        return await self.store.delivery.claim(
            row.id, replace(draft, id=row.id), row.sender_id, beside, body=row.body, who=here.who
        )

    async def _parts(
        self, row: InboxRow, said: MessageBody, beside: Sequence[InboxRow], here: _TurnOrigin
    ) -> tuple[Part, ...]:
        """The message as the model will see it: what was said beside it, its files, then its words."""
        lang, place = here.lang, here.place
        asides = [(one, load_body(one.body)) for one in beside if one.state == "aside"]
        whole = [said, *(load_body(one.body) for one in beside if one.state == "new")]
        parts: list[Part] = [*format_background(asides, place.kind), *format_quote(said, row, place.kind)]
        parts += await self._files([file for one in whole for file in one.files], place, lang)
        text = album_caption(one.text for one in whole) if len(whole) > 1 else said.text
        if text.strip() or not any(not isinstance(part, Text) or not part.aside for part in parts):
            parts.append(Text(text=text if text.strip() else "…", by=sender_name(said, row, place.kind)))
        return tuple(parts)

    async def _files(self, files: Sequence[StoredAttachment], place: Place, lang: str) -> list[Part]:
        if not files:
            return []
        held, lost = await self._held(files, place, lang)
        taken = await ingest_attachments(held, self.blobs, lang)
        told = (format_text(lang, "file_refused", why=why) for why in (*taken.refused, *lost))
        return [*taken.parts, *(Text(text=text, aside=NOT_READ_LABEL) for text in told)]

    async def _held(
        self, files: Sequence[StoredAttachment], place: Place, lang: str
    ) -> tuple[list[StoredFile], list[str]]:
        """The files that are here, and why the others are not."""
        held, lost = [], []
        for file in files:
            try:
                held.append(await self._file(file, place))
            except AttachmentTooBig:
                lost.append(format_attachment_refusal(file.name, "size", lang))
            except QuotaExceededError as err:
                lost.append(err.full.sentence(sanitize_file_name(file.name), lang))
            except OSError as err:
                lost.append(f"{sanitize_file_name(file.name)}: {err.strerror or type(err).__name__}")
            except ChannelError as err:
                lost.append(f"{sanitize_file_name(file.name)}: {format_text(lang, 'file_away')} ({err})")
        return held, lost

    async def _file(self, file: StoredAttachment, place: Place) -> StoredFile:
        here = DownloadedFile(sha256=file.sha256)
        if file.ref and not file.sha256:
            here = await self.downloads.get(place.channel, file.ref, place.space)
        elif file.size and not file.sha256:
            raise self.budget_guard.storage.quota_error(place.space, file.size)
        return StoredFile(name=here.name or file.name, sha256=here.sha256)


def _query_text(said: MessageBody, parts: tuple[Part, ...] | None) -> str:
    """What was said, or what is said again: it tells the language of the notices, and what memory is asked for."""
    if parts is None:
        return said.text
    return " ".join(part.text for part in parts if isinstance(part, Text) and not part.aside)


def is_worth_extracting(job: TurnContext, ended: TurnResult, config: Config) -> bool:
    """Whether a turn that ends so is to be read for facts: answered, in private, and by a person who may write memory.

    A tainted turn is no exception: whatever the view holds, only the person's own words count (see Exchange).
    """
    if ended.state != "done" or ended.declined or not config.memory.extract:
        return False
    if job.conversation.place.kind != "dm":
        return False
    if not authorize(job.actor, "memory.write", job.where.space, job.where).allowed:
        return False
    return is_worth_reading(TurnExchange(user=job.words, bot=ended.said))


log = structlog.get_logger(__name__)
LONG_TEXT_CHARS = 1_000  # characters; a longer answer is cut into parts beside the event loop
MAX_TAKEOVERS = 3
MAX_FAULTS = 3  # tries of a message that end in an error of this machine; they take about two seconds
# A message that was alone at work at so many deaths of the process is given up. If the process died with others alone
# too, something else may kill it: each such death since STORM_SECONDS before it came excuses one of its own.
MAX_DEATHS_ISOLATED = 3
MAX_EXCUSED_DEATHS = 6
STORM_SECONDS = 900.0
# How an answer is shown that would stand above those that are still to come: as a message of its own.
LIVE_STREAMING_KINDS = ("draft", "edits", "card", "stream")
# Faults of ours: the lane tries the turn again, and after three of them it ends as interrupted.
TURN_ERRORS = (RuntimeError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
# Errors after which a message is tried again, so many times; the record's own are none: they end with the outage.
TURN_FAULTS = (OSError, *TURN_ERRORS)
DECLINED_TEXT = "[a request that the model declined]"
INTERRUPTED_PARTS = (Text(text="[interrupted]"),)
UNANSWERED = (Text(text="[no answer]"),)
# Answers a command row and settles it; returns parts when the row is to go on as a turn with them (/retry).
RunCommand = Callable[[InboxRow, MessageBody], Awaitable[tuple[Part, ...] | None]]


@dataclass(slots=True)
class _RunningTurn:
    task: asyncio.Task[TurnResult]
    inbox_id: str
    stopped: bool = False
    late: bool = False


@dataclass(frozen=True, slots=True)
class _OpenTurn:
    """A turn from the look at its conversation to its end in the record."""

    space: str
    over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDependencies:
    """What a turn works with."""

    store: Store
    opening: TurnSetup
    message_counter: MessageCounter
    fitter: ContextFitter
    agent: Agent
    command: RunCommand
    channels: Callable[[], Mapping[str, Channel]]
    config: Callable[[], Config]
    #: Wakes a lane at that unix time.
    wake: Callable[[str, float], None]
    telemetry: Telemetry = field(default_factory=Telemetry)
    troubles: TroubleList = field(default_factory=TroubleList)


class TurnRunner:
    """Every lane's step, and the way to stop what runs in one."""

    def __init__(self, works: TurnDependencies) -> None:
        self._works = works
        self._running: dict[str, _RunningTurn] = {}
        self._open: dict[str, _OpenTurn] = {}
        self._quiet: dict[str, list[asyncio.Event]] = {}
        self._broken: dict[str, int] = {}
        self._faults: dict[str, list[Exception]] = {}
        self._after: set[asyncio.Task[None]] = set()
        self._isolation = CrashIsolation(lambda conversation: works.wake(conversation, 0.0))
        self._since = works.store.now()

    async def step(self, conversation: str) -> bool:
        """The lane's step: bring the oldest row to its end; False when there is none."""
        now = self._works.store.now()
        row = await self._works.store.delivery.next_inbox_row(conversation, now)
        if row is None:
            return False
        if row.state == "new" and row.not_before > now:
            self._works.wake(conversation, row.not_before)
            return False
        if (wait := await self._calm_in(row, now)) > 0:
            self._works.wake(conversation, now + wait)
            return False
        late = self._isolation.holds_up(row.attempts)
        if not await self._isolation.enter(conversation, row.attempts):
            return False
        try:
            if not late or await self._still_next(row):
                with (
                    bind_trace(row.trace_id),
                    suppress(MessageEdited),
                ):  # an edit came while it was opened: it is read anew
                    await self._try(row)
        finally:
            self._isolation.leave(conversation)
        return True

    async def _calm_in(self, row: InboxRow, now: float) -> float:
        """Seconds for which a message that may be what the process dies of is left alone."""
        if await self._is_fatal(row):
            return 0.0
        age = now - row.received.timestamp()
        return self._isolation.seconds_until_allowed(row.conversation, row.attempts, row.deaths_alone, age)

    async def _is_fatal(self, row: InboxRow) -> bool:
        """Whether a message is what the process dies of, beyond what a storm of restarts would do to any message."""
        if row.deaths_alone < MAX_DEATHS_ISOLATED:
            return False
        since = row.received.timestamp() - STORM_SECONDS
        others = await self._works.store.delivery.deaths_of_others(row.id, since)
        return row.deaths_alone >= MAX_DEATHS_ISOLATED + min(others, MAX_EXCUSED_DEATHS)

    async def _still_next(self, row: InboxRow) -> bool:
        """Whether a row is as it was before a wait; if it is not, the next step sees what is."""
        return await self._works.store.delivery.next_inbox_row(row.conversation, self._works.store.now()) == row

    def stop(self, conversation: str, inbox_id: str = "") -> bool:
        """End the running turn of a conversation now; False when none runs. inbox_id: only where it answers that."""
        running = self._running.get(conversation)
        if running is None or inbox_id not in ("", running.inbox_id):
            return False
        running.stopped = True
        running.task.cancel()
        return True

    @asynccontextmanager
    async def quiet(self, space: str) -> AsyncIterator[None]:
        """Stop the turns of a space and wait for their end; until this is left, the next ones there wait."""
        left = asyncio.Event()
        self._quiet.setdefault(space, []).append(left)
        try:
            for conversation, turn in list(self._open.items()):
                if turn.space == space:
                    self.stop(conversation)
                    await turn.over.wait()
            yield
        finally:
            self._quiet[space].remove(left)
            left.set()

    async def settled(self) -> None:
        """Wait for what goes on after turns."""
        while self._after:
            await asyncio.wait(list(self._after))

    async def close(self) -> None:
        """Drop what goes on after turns; it is prepared anew after the next one."""
        await cancel_and_wait(self._after)

    async def _try(self, row: InboxRow) -> None:
        """Bring a row to its end; one that only ever meets errors of this machine is given up, and that is told."""
        faults = self._faults.get(row.id, [])
        try:
            await self._row(row)
        except TURN_FAULTS as err:
            self._works.telemetry.fault(type(err).__name__)
            if len(faults) < MAX_FAULTS:
                self._faults[row.id] = [*faults, err]
                raise
            log.error("a message is given up", inbox=row.id, error=type(err).__name__, exc_info=True)
            self._works.troubles.turn_failed(self._faults[row.id][0])
            await self._give_up(row, "failed")
        self._faults.pop(row.id, None)

    async def _row(self, row: InboxRow) -> None:
        said, parts, began = load_body(row.body), None, time.perf_counter()
        if await self._is_fatal(row):
            log.warning("a message was given up", conversation=row.conversation, deaths=row.attempts)
            await self._give_up(row, "interrupted")
            return
        command = None if row.turn_id else parse_command(said.text)  # an edit may have made it one, or none
        # One that acts marks itself when it begins, and where it was marked before it counts as interrupted.
        if row.state == "new" and not (command and is_mutating(*command)) and self._was_here(row):
            await self._works.store.delivery.mark_opened(row.id)
        if command:
            parts = await self._works.command(row, said)
            if parts is None:
                self._works.telemetry.handled(row.trace_id, "command", began)
                return
        conversation = await self._works.opening.conversation(row)
        actor = await self._works.opening.actor(row, conversation.place)
        if not row.turn_id and not await self._allowed(row, said, conversation, actor):
            self._works.telemetry.handled(row.trace_id, "refusal", began)
            return
        async with self._opened(conversation):
            event_sink = await self._watched(row, conversation.place)
            event_sink.tell("started")
            job = await self._works.opening.job(row, said, conversation, parts, actor)
            job = replace(job, event_sink=event_sink)
            ended = await self._finish(job, await self._work(job))
        self._works.telemetry.turned(row.trace_id, ended, began, {"mnema.model": job.model, "mnema.policy": job.policy})

    def _was_here(self, row: InboxRow) -> bool:
        """Whether it came in before this process began: the last one may have died while opening it.

        A time that is still to come is that of a clock that was put back since.
        """
        return not self._since <= row.received.timestamp() <= self._works.store.now()

    async def _give_up(self, row: InboxRow, state: Literal["interrupted", "failed"]) -> None:
        """End a message and open nothing of it: the process dies of it, or this machine fails each time it is tried."""
        began, delivery, died = time.perf_counter(), self._works.store.delivery, state == "interrupted"
        place = (await self._works.opening.conversation(row)).place
        lang = resolve_language(load_body(row.body).text, self._works.config().language)
        turn = await delivery.take_over(row.turn_id) if row.turn_id else None
        if not died:
            text = format_text(lang, "machine_failed", trace=row.trace_id)
        else:
            text = format_text(lang, "interrupted" if turn else "given_up")
        notice = split_reply(text, "notice", self._able(place.channel), self._left(place))
        if turn is None:
            await delivery.settle(row.id, notice, dead=died)
        else:
            final = await self._works.message_counter.draft(
                "assistant", INTERRUPTED_PARTS if died else UNANSWERED, "house"
            )
            await delivery.finish(turn, state, final, notice)
        self._works.telemetry.turned(row.trace_id, state, began, {})

    async def _watched(self, row: InboxRow, place: Place) -> EventSink:
        """Where this turn is shown; not as it grows where earlier answers are still on their way to the same place."""
        event_sink = self._works.opening.event_sink(place, row)
        grows = place.channel not in LOCAL_CHANNELS and self._able(place.channel).shows in LIVE_STREAMING_KINDS
        if grows and await self._works.store.delivery.has_open_parts(row.conversation):
            return replace(event_sink, show=lambda event: None)
        return event_sink

    @asynccontextmanager
    async def _opened(self, conversation: ConversationRow) -> AsyncIterator[None]:
        space = conversation.place.space
        while held := self._quiet.get(space):
            await held[0].wait()
        turn = self._open[conversation.id] = _OpenTurn(space)
        try:
            yield
        finally:
            del self._open[conversation.id]
            turn.over.set()

    async def _allowed(self, row: InboxRow, said: MessageBody, conversation: ConversationRow, actor: Actor) -> bool:
        """Rights are asked for again when the work begins: they may have been taken away since, or be used up."""
        place = conversation.place
        if self._works.opening.allowed(actor, place).allowed:
            return not await self._works.opening.over_budget(row, said, conversation, actor)
        self._works.telemetry.denied()
        refusal = split_reply(format_text(resolve_language(said.text), "denied"), "notice", self._able(place.channel))
        await self._works.store.delivery.settle(row.id, refusal)
        return False

    async def _work(self, job: TurnContext) -> TurnResult:
        """Run the agent beside this coroutine, so that it can be stopped."""
        if self._broken.get(job.turn.id, 0) >= MAX_TAKEOVERS:
            return TurnResult(state="interrupted", stored=INTERRUPTED_PARTS, said=format_text(job.lang, "interrupted"))
        if len(faults := self._faults.get(job.turn.inbox_id, [])) >= MAX_FAULTS:
            self._works.troubles.turn_failed(faults[0])
            said = format_text(job.lang, "machine_failed", trace=job.turn.trace_id)
            return TurnResult(state="failed", stored=UNANSWERED, said=said)
        task = asyncio.create_task(self._works.agent.run(job), name=f"turn {job.turn.id}")
        running = self._running[job.conversation.id] = _RunningTurn(task, job.turn.inbox_id)
        if self._quiet.get(job.conversation.place.space):
            self.stop(job.conversation.id)  # it was being opened when its space went quiet
        try:
            await asyncio.wait({task}, timeout=job.began + job.times.most - time.monotonic())
            if not task.done():
                running.late = True
                task.cancel()
                await asyncio.wait({task})
        except asyncio.CancelledError:
            await cancel_and_wait({task})
            raise
        finally:
            del self._running[job.conversation.id]
        try:
            return _task_outcome(job, running)
        except TURN_ERRORS:
            self._broken[job.turn.id] = self._broken.get(job.turn.id, 0) + 1
            raise

    async def _finish(self, job: TurnContext, ended: TurnResult) -> TurnState:
        """The state it has in the record then."""
        self._broken.pop(job.turn.id, None)
        origin = "model" if ended.state == "done" else "house"
        final = await self._works.message_counter.draft("assistant", ended.stored, origin, tainted=ended.tainted)
        kind: OutboxKind = "final" if ended.state == "done" else "notice"
        place = job.conversation.place
        cut = partial(split_reply, ended.said, kind, self._able(place.channel), self._left(place))
        parts = await asyncio.to_thread(cut) if len(ended.said) > LONG_TEXT_CHARS else cut()
        remember = is_worth_extracting(job, ended, self._works.config())
        finish = self._works.store.delivery.finish
        kept = await finish(job.turn, ended.state, final, parts, ended.usage, remember=remember)
        if ended.state == "failed":
            job.event_sink.tell("failed", ended.said)
        if ended.declined:
            await self._hide(job)
        self._later(self._prepare(job))
        self._later(self._works.opening.budget_guard.warn(job.actor))
        return ended.state if kept else "cancelled"

    async def _hide(self, job: TurnContext) -> None:
        """Later views show a declined request as one line; the log keeps it."""
        sessions = self._works.store.sessions
        session = await sessions.load(job.conversation.id)
        asked = [turn.messages[0] for turn in session.turns if turn.number == job.turn.number]
        stand_ins = [
            Reduction(
                message_id=message.id, part=index, form="one_line", text="" if index else DECLINED_TEXT, tokens=10
            )
            for message in asked
            for index in range(len(message.parts))
        ]
        await sessions.reduce(job.conversation.id, stand_ins, "declined")

    async def _prepare(self, job: TurnContext) -> None:
        """Begin, while nobody waits, the fold that the next message will want."""
        await self._works.fitter.prepare(job.conversation.id, FitRequest(model=job.model, policy=job.policy))

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._after.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._after.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("after the turn", error=type(err).__name__, exc_info=err)

    def _left(self, place: Place) -> int | None:
        """How many messages the platform still lets us send there, None where it does not count them."""
        channel = self._works.channels().get(place.channel)
        ration = getattr(channel, "allowance", None)
        return ration(to_address(place)) if ration is not None else None

    def _able(self, channel: str) -> Capabilities:
        known = self._works.channels().get(channel)
        return known.capabilities if known is not None else Capabilities()


def _task_outcome(job: TurnContext, running: _RunningTurn) -> TurnResult:
    """How the agent's work ended; a stop by a person is not an error, the end of the process is none of ours."""
    try:
        return running.task.result()
    except asyncio.CancelledError:
        if running.late:
            return _late_result(job)
        if not running.stopped:
            raise
        return _stopped_result(job)
    except StaleEpoch:
        return _stopped_result(job)
    except OverBudget as err:
        return TurnResult(state="failed", stored=UNANSWERED, said=str(err))
    except BudgetTooSmall as err:
        told_least = format_budget_too_small(job.lang, err.least, err.soul)
        return TurnResult(state="failed", stored=UNANSWERED, said=told_least)
    except FoldFailed as err:
        log.error("fold failed", error=str(err))
        return TurnResult(state="failed", stored=UNANSWERED, said=format_text(job.lang, "fold_failed", why=err.why))
    except ModelError as err:
        log.warning("model failed", error=type(err).__name__, status=err.status, kind=err.kind)
        return TurnResult(state="failed", stored=UNANSWERED, said=format_turn_failure(err, job.lang, job.turn.trace_id))


def _late_result(job: TurnContext) -> TurnResult:
    spent = format_text(job.lang, "too_long", minutes=format_minutes(job.times.most))
    log.warning("a turn took too long", conversation=job.conversation.id, step=job.turn.step)
    return TurnResult(state="failed", stored=UNANSWERED, said=spent)


def _stopped_result(job: TurnContext) -> TurnResult:
    return TurnResult(
        state="cancelled",
        stored=(Text(text=format_text(job.lang, "stopped_mark")),),
        said=format_text(job.lang, "stopped"),
    )
