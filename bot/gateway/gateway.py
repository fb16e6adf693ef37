"""Receives from all channels, sends the outbox through them, and restarts them when they fail."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypeVar, cast

import structlog

from bot.access.pairing import PairingService
from bot.access.permissions import LOCAL_CHANNELS, conversation_space
from bot.gateway.attachments import MAX_ATTACHMENT_BYTES
from bot.gateway.channel_status import ChannelHealth, ChannelStatus, channel_statuses
from bot.messages import (
    load_extras,
    message_seen_event,
    split_reply,
    to_address,
    to_chat_move,
    to_outbound_message,
)
from bot.page_questions import quote_question
from bot.telemetry.log import redact
from bot.telemetry.recorder import Telemetry, send_error_code
from channels.base import (
    NO_NOTEBOOK_CHANGES,
    Channel,
    Deliver,
    FetchedFile,
    HasAttachments,
    HasWebhook,
)
from channels.errors import (
    Ambiguous,
    AwaitsUser,
    BadFormat,
    ChannelError,
    ChatMoved,
    LoggedOut,
    ReceiverConflict,
    Rejected,
    Retryable,
)
from channels.message import Accepted, InboundMessage, LiveEvent, OutboundMessage, Receipt
from channels.phrases import Phrase
from memory.failpoints import hit_async
from memory.store.conversations.inbox import ChannelNotes
from memory.store.errors import StoreError, WrongState
from memory.store.rows import HELD_UNTIL_REPLY, OutboxRow, SendOutcome
from memory.store.store import Store
from memory.tasks import cancel_and_wait
from memory.workspace.blobs import Blobs

log = structlog.get_logger(__name__)
MAX_SEND_ATTEMPTS = 20
# An undelivered part fails once it is this old and was tried MAX_SEND_ATTEMPTS times.
GIVE_UP_AFTER = timedelta(days=1)
MAX_RETRY_SECONDS = 300.0  # between two attempts to send a part
MIN_RECONNECT_SECONDS = 1.0
MAX_RECONNECT_SECONDS = 60.0
STABLE_SECONDS = 300.0  # a connection that lasted longer starts with a short pause again
LOGGED_OUT_SECONDS = 60.0
# a short first pause: the other receiver is often our previous process, still shutting down
CONTENDED_SECONDS = 5.0
FETCH_RETRY_SECONDS = (1.0, 3.0)
FETCH_SECONDS = 60.0
SETTLED_SECONDS = 5.0  # a failed channel counts as up once it received, sent, or ran for this long
FAULT_SECONDS = 10.0  # between two log lines about one failing live view
BURST_SECONDS = 3.0  # a chat that was quiet may send this many seconds' worth at once
MAX_CHATS = 10_000
MAX_PARALLEL_SENDS = 32  # of one channel; each holds a connection
ResultT = TypeVar("ResultT")


@dataclass(slots=True)
class TokenBucket:
    """Fills at `rate` tokens a second up to `size`; a level below zero is the length of the
    queue.
    """

    rate: float
    size: float
    level: float
    at: float

    def is_full(self, now: float) -> bool:
        return self.level + (now - self.at) * self.rate >= self.size

    def book(self, now: float) -> float:
        self.level = min(self.size, self.level + (now - self.at) * self.rate) - 1.0
        self.at = now
        return max(0.0, -self.level / self.rate)


@dataclass(slots=True)
class RateLimiter:
    """The buckets of one channel. Times are monotonic seconds."""

    #: Messages a second to one chat; 0 for no limit.
    per_chat: float
    #: Messages a second in all; 0 for no limit.
    total: float
    #: Messages that a quiet chat may receive at once; 0: three seconds' worth. See Capabilities.
    burst: int = 0
    _chats: dict[str, TokenBucket] = field(default_factory=dict)
    _paused: dict[str, float] = field(default_factory=dict)
    _all: TokenBucket | None = None
    _prune_at: int = MAX_CHATS

    def book(self, chat: str, now: float) -> float:
        """Reserve the next send to this chat; return the seconds until it is due."""
        return max((bucket.book(now) for bucket in self._buckets(chat, now)), default=0.0)

    def paused(self, chat: str, now: float) -> float:
        """Return the seconds that a pause of this chat still lasts; 0.0 if it is not paused."""
        return max(0.0, *(self._paused.get(key, 0.0) - now for key in (chat, "")))

    def pause(self, chat: str, now: float, seconds: float) -> None:
        """Pause a chat as the platform requested; "" pauses the whole channel."""
        if len(self._paused) > MAX_CHATS:
            self._paused = {key: until for key, until in self._paused.items() if until > now}
        self._paused[chat] = max(now + seconds, self._paused.get(chat, 0.0))

    def _buckets(self, chat: str, now: float) -> list[TokenBucket]:
        found = []
        if self.per_chat:
            if chat not in self._chats and len(self._chats) >= self._prune_at:
                self._prune(now)
            found.append(self._chats.setdefault(chat, _full_bucket(self.per_chat, now, self.burst)))
        if self.total:
            self._all = self._all or _full_bucket(self.total, now)
            found.append(self._all)
        return found

    def _prune(self, now: float) -> None:
        """Drop chats whose bucket is full again: a new bucket is the same. One with a queue
        stays.
        """
        self._chats = {
            chat: bucket for chat, bucket in self._chats.items() if not bucket.is_full(now)
        }
        self._prune_at = max(MAX_CHATS, 2 * len(self._chats))


def _full_bucket(rate: float, now: float, burst: int = 0) -> TokenBucket:
    size = burst or max(1.0, rate * BURST_SECONDS)
    return TokenBucket(rate=rate, size=size, level=size, at=now)


class _ChannelNotes:
    """The stored notes of one channel."""

    def __init__(self, notes: ChannelNotes, channel: str) -> None:
        self._notes = notes
        self._channel = channel

    async def read(self, start: str = "") -> dict[str, str]:
        try:
            return await self._notes.load(self._channel, start)
        except StoreError as err:
            raise OSError(str(err)) from err

    async def write(self, values: Mapping[str, str]) -> None:
        try:
            await self._notes.put(self._channel, values)
        except StoreError as err:
            raise OSError(str(err)) from err


class Gateway:
    """Receives and sends for every channel."""

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        channels: dict[str, Channel],
        language: Callable[[str], Awaitable[str]],
        pairing: PairingService,
        telemetry: Telemetry,
    ) -> None:
        """Connect the components.

        Args:
            channels: the running channels by name, shared with others; changed here only.
            language: of a conversation's last message, for the repeat mark.
        """
        self.channels = channels
        self._delivery = store.delivery
        self._notes = store.notes
        self._now = store.now
        self._blobs = blobs
        self._language = language
        self._rates: dict[str, RateLimiter] = {}
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._receivers: dict[str, asyncio.Task[None]] = {}
        self._paused: set[str] = set()
        self.health: dict[str, ChannelHealth] = {}
        self._pairing = pairing
        #: Publishes live events to other processes; None if there are none.
        self.publish: Callable[[LiveEvent], None] | None = None
        self._telemetry = telemetry
        self._next_fault: dict[str, float] = {}

    def add(self, channel: Channel) -> None:
        """Register a channel for sending."""
        self.channels[channel.name] = channel
        able = channel.capabilities
        self._slots[channel.name] = asyncio.Semaphore(MAX_PARALLEL_SENDS)
        self._rates[channel.name] = RateLimiter(
            per_chat=able.per_chat_rate, total=able.total_rate, burst=able.burst
        )
        self.health[channel.name] = ChannelHealth(up=True, since=time.time())
        if (bind := getattr(channel, "bind", None)) is not None:
            bind(_ChannelNotes(self._notes, channel.name))

    def hooked(self, name: str) -> HasWebhook | None:
        """Return the channel if it has a webhook."""
        channel = self.channels.get(name)
        return (
            cast(HasWebhook, channel) if channel is not None and channel.capabilities.hook else None
        )

    def states(self) -> Mapping[str, ChannelStatus]:
        """Return the status of every channel, including what it reports itself."""
        return channel_statuses(self.channels, self.health, time.time())

    def local_states(self) -> Mapping[str, ChannelStatus]:
        """Return the status of the channels that this process receives from; of all if it is the
        only process.
        """
        return {
            name: state
            for name, state in self.states().items()
            if name in self._receivers or self.publish is None
        }

    def listen(self, name: str, deliver: Deliver) -> asyncio.Task[None]:
        """Receive from a channel until `remove`; restart it after errors with growing pauses."""
        self._receivers[name] = asyncio.create_task(
            self._receive(self.channels[name], deliver), name=f"channel {name}"
        )
        return self._receivers[name]

    def receiving_task(self, name: str) -> asyncio.Task[None]:
        """Return the receiving task of a channel; it ends when the channel does."""
        return self._receivers[name]

    async def remove(self, name: str) -> None:
        """Remove a channel; its unsent parts stay in the outbox."""
        await self.stop_receiving(name)
        channel = self.channels.pop(name, None)
        self.health.pop(name, None)
        if (closing := getattr(channel, "close", None)) is not None:
            await closing()

    async def stop_receiving(self, name: str) -> None:
        """Stop receiving, but continue to send."""
        task = self._receivers.pop(name, None)
        if task is not None:
            await cancel_and_wait((task,))

    async def close(self) -> None:
        """Close every channel's connections."""
        for channel in tuple(self.channels.values()):
            if (closing := getattr(channel, "close", None)) is not None:
                await closing()

    async def fetch(self, name: str, ref: str) -> FetchedFile:
        """Download an attachment, at most 25 MB, with up to three attempts.

        Raises:
            AttachmentTooBig: it is larger.
            ChannelError: it cannot be downloaded.
        """
        channel = self.channels.get(name)
        if channel is None or not hasattr(channel, "fetch"):
            raise Rejected(f"the channel {name} is off")
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                return await self._fetch(name, cast(HasAttachments, channel), ref)
        except TimeoutError as err:
            raise Ambiguous(f"it did not arrive within {FETCH_SECONDS:.0f} s") from err

    @staticmethod
    async def _fetch(name: str, channel: HasAttachments, ref: str) -> FetchedFile:
        for pause in FETCH_RETRY_SECONDS:
            try:
                return await channel.fetch(ref, MAX_ATTACHMENT_BYTES)
            except (Retryable, Ambiguous) as err:
                log.info("file not fetched yet", channel=name, error=type(err).__name__)
            await asyncio.sleep(pause)
        return await channel.fetch(ref, MAX_ATTACHMENT_BYTES)

    def show(self, event: LiveEvent) -> None:
        """Show a live event on its channel and to viewers in other processes."""
        self.show_here(event)
        if self.publish is not None and (
            event.address.channel in LOCAL_CHANNELS or event.address.channel not in self._receivers
        ):
            self._show_safely("elsewhere", self.publish, event)

    def show_here(self, event: LiveEvent) -> None:
        """Show a live event if its channel is received in this process."""
        channel = self.channels.get(event.address.channel)
        if (
            channel is not None
            and channel.capabilities.live
            and (not self.publish or channel.name in self._receivers)
        ):
            self._show_safely(channel.name, channel.show, event)  # type: ignore[attr-defined]

    def _show_safely(self, name: str, show: Callable[[LiveEvent], None], event: LiveEvent) -> None:
        """Call a viewer; its failure must never fail the turn or the message."""
        try:
            show(event)
        except Exception as err:
            now = time.monotonic()
            if now >= self._next_fault.get(name, 0.0):  # each piece of an answer may fail
                self._next_fault[name] = now + FAULT_SECONDS
                log.error(
                    "live view failed",
                    view=name,
                    shown=event.name,
                    error=type(err).__name__,
                    exc_info=err,
                )

    async def _receive(self, channel: Channel, deliver: Deliver) -> None:
        name, pause = channel.name, 0.0

        async def deliver_and_note(
            messages: Sequence[InboundMessage], keep: Mapping[str, str] = NO_NOTEBOOK_CHANGES
        ) -> list[Accepted]:
            self._up(name)
            return await deliver(messages, keep)

        while True:
            began = time.monotonic()
            settled = asyncio.get_running_loop().call_later(SETTLED_SECONDS, self._up, name)
            try:
                await channel.run(deliver_and_note)
                return
            except Exception as err:
                self._down(name, err)
                pause = next_reconnect_seconds(err, pause, time.monotonic() - began)
            finally:
                settled.cancel()
            await hit_async("channel.down")
            self._paused.add(name)
            try:
                await asyncio.sleep(pause)
            finally:
                self._paused.discard(name)

    def _up(self, name: str) -> None:
        if (health := self.health.get(name)) is not None:
            health.rise(time.time())

    def _down(self, name: str, err: Exception) -> None:
        if (health := self.health.get(name)) is not None:
            health.fall(err, time.time())
        expected = isinstance(err, ChannelError)
        log.warning("channel down", channel=name, error=type(err).__name__, exc_info=not expected)

    async def send_next(self, conversation: str) -> bool:
        """Send the oldest part of a conversation that may go; return False if there is none."""
        row = await self._delivery.next_outbox_row(conversation)
        if row is None or row.not_before >= HELD_UNTIL_REPLY:
            return False
        channel = self.channels.get(row.place.channel)
        if channel is None:
            return False
        if not await self._wait_until_due(row):
            return True
        done = await self._send_when_ready(channel, row)
        if done is None:
            return True
        settled, may_have_more = done
        if settled.part_no + 1 < settled.parts:
            await hit_async("outbox.between_parts")
        if settled.state == "failed":
            await self._report_failed(channel, settled)
        if settled.state == "dropped":
            log.warning("part dropped", channel=channel.name, outbox=row.id, error=settled.error)
        # a notice of the failure is in the queue now
        return may_have_more or settled.state == "failed"

    def _held_seconds(self, row: OutboxRow) -> float:
        paused = self._rates[row.place.channel].paused(row.place.chat_id, time.monotonic())
        return max(row.not_before - self._now(), paused)

    async def _wait_until_due(self, row: OutboxRow) -> bool:
        """Wait until the part may be sent; return False if it must be loaded again first."""
        rates, chat = self._rates[row.place.channel], row.place.chat_id
        held = self._held_seconds(row)
        if held > 0:
            await asyncio.sleep(min(held, MAX_RETRY_SECONDS))
            return False
        await asyncio.sleep(rates.book(chat, time.monotonic()))
        return rates.paused(chat, time.monotonic()) == 0

    async def _send_when_ready(
        self, channel: Channel, row: OutboxRow
    ) -> tuple[OutboxRow, bool] | None:
        """Build the message, wait for the channel, mark the part as sending, send it, and store the
        outcome.

        All that can fail or wait without sending comes before the mark: only a marked part may have
        been seen.

        Returns:
            The settled part, and whether the conversation may have another one; None if the part
            was dropped meanwhile.
        """
        tried = replace(row, attempts=row.attempts + 1)
        try:
            is_marked = row.repeats or row.page_body
            lang = await self._language(row.conversation) if is_marked else ""
            message = to_outbound_message(tried, lang, await self._file(row))
            if row.page_body:
                message = quote_question(message, row.page_body, channel.capabilities, lang)
            await _wait_until_ready(channel, row)
        except Exception as err:
            outcome = self._outcome_of_error(err, channel.name, tried)
            if outcome.state == "unknown":
                outcome = replace(outcome, state="pending")
            settled = await self._store_outcome(row.id, outcome, self._delivery.settle_not_sent)
            return (settled, True) if settled is not None else None
        async with self._slots[channel.name]:
            if await self._delivery.mark_sending(row.id) is None:
                return None
            await hit_async("outbox.mid_send")
            outcome = await self._attempt(channel, tried, message)
        if outcome.state == "unknown":
            self._telemetry.outcome_unknown()
        await hit_async("outbox.after_send")
        return await self._store_outcome(row.id, outcome, self._delivery.settle_sent_and_look)

    async def _attempt(
        self, channel: Channel, row: OutboxRow, message: OutboundMessage
    ) -> SendOutcome:
        began = time.perf_counter()
        try:
            try:
                receipt = await channel.send(message)
            except ChatMoved as err:
                receipt = await self._follow(channel, message, row, err)
        except Exception as err:
            self._telemetry.part_sent(row, send_error_code(err), began)
            return self._outcome_of_error(err, channel.name, row)
        self._telemetry.part_sent(row, "ok", began)
        if channel.name not in self._paused:
            self._up(channel.name)
        if self.publish is not None and channel.name in LOCAL_CHANNELS:
            self._show_safely("elsewhere", self.publish, message_seen_event(message))
        return SendOutcome(state="sent", platform_id=receipt.platform_id)

    async def _file(self, row: OutboxRow) -> bytes | None:
        sha256 = load_extras(row.payload).sha256
        if not sha256:
            return None
        try:
            return await asyncio.to_thread(self._blobs.get, sha256)
        except OSError as err:
            raise Rejected(f"the file cannot be read: {err.strerror or err}") from err

    async def _follow(
        self, channel: Channel, message: OutboundMessage, row: OutboxRow, err: ChatMoved
    ) -> Receipt:
        """Move the conversation to the chat's new id and send the part there."""
        place = row.place
        new_space = conversation_space(
            "guest", place.channel, place.account, "", err.chat_id, place.kind
        )
        try:
            await self._delivery.move(to_chat_move(place, err.chat_id, new_space))
            await self._pairing.moved(message.address, err.chat_id)
        except (StoreError, OSError) as trouble:
            raise Retryable(
                f"the chat has moved, which could not be stored: {trouble}"
            ) from trouble
        return await channel.send(
            replace(message, address=replace(message.address, chat_id=err.chat_id))
        )

    async def _store_outcome(
        self,
        id: str,
        outcome: SendOutcome,
        settle: Callable[[str, SendOutcome], Awaitable[ResultT]],
    ) -> ResultT:
        """Store the outcome of a send, until it succeeds: nothing else knows it."""
        outcome = replace(outcome, error=redact(outcome.error))  # people will read it
        pause = MIN_RECONNECT_SECONDS
        while True:
            try:
                return await settle(id, outcome)
            except WrongState:
                raise
            except StoreError as err:
                log.error(
                    "outcome not stored", outbox=id, outcome=outcome.state, error=type(err).__name__
                )
            await asyncio.sleep(pause)
            pause = min(pause * 2, MAX_RECONNECT_SECONDS)

    def _outcome_of_error(self, err: Exception, name: str, row: OutboxRow) -> SendOutcome:
        if isinstance(err, BadFormat) and not row.plain:
            return SendOutcome(state="pending", error=str(err), plain=True)
        if isinstance(err, Rejected):
            return SendOutcome(state="failed", error=str(err))
        if isinstance(err, LoggedOut):
            self._down(name, err)
            return SendOutcome(
                state="pending", error=str(err), retry_at=self._now() + LOGGED_OUT_SECONDS
            )
        if isinstance(err, AwaitsUser):
            return SendOutcome(state="pending", error=str(err), retry_at=HELD_UNTIL_REPLY)
        if isinstance(err, Retryable):
            if is_given_up(row.attempts, timedelta(seconds=self._now() - row.created.timestamp())):
                return SendOutcome(state="failed", error=f"{err} ({row.attempts} attempts)")
            return self._later(err, name, row)
        if not isinstance(err, Ambiguous):
            log.error("send broke", channel=name, error=type(err).__name__, exc_info=err)
        return SendOutcome(
            state="unknown",
            error=str(err),
            retry_at=self._now() + next_attempt_seconds(row.attempts),
        )

    def _later(self, err: Retryable, name: str, row: OutboxRow) -> SendOutcome:
        wait = err.retry_after
        if wait is None:
            wait = next_attempt_seconds(row.attempts)
        else:
            self._telemetry.rate_limited(wait)
            self._rates[name].pause(
                "" if err.whole_channel else row.place.chat_id, time.monotonic(), wait
            )
        return SendOutcome(state="pending", error=str(err), retry_at=self._now() + wait)

    async def _report_failed(self, channel: Channel, row: OutboxRow) -> None:
        log.warning("part failed", channel=channel.name, outbox=row.id, error=row.error)
        address = to_address(row.place)
        self.show(
            LiveEvent(address=address, name="failed", message_id=row.reply_to, text=row.error)
        )
        if row.kind != "notice":
            text = Phrase("Part of the answer could not be delivered: {why}", why=row.error).text(
                await self._language(row.conversation)
            )
            notice = split_reply(text, "notice", channel.capabilities)
            await self._delivery.notify(row.conversation, f"{row.source}:failed", notice)


async def _wait_until_ready(channel: Channel, row: OutboxRow) -> None:
    """Wait for what a channel needs before it can send. Raises ChannelError: it cannot send now."""
    if (wait := getattr(channel, "wait_until_ready", None)) is not None:
        await wait(to_address(row.place), row.reply_to_key)


def next_attempt_seconds(attempts: int) -> float:
    """Return the seconds until the next attempt: doubled each time, with jitter, at most 5 min."""
    most = min(MAX_RETRY_SECONDS, 2.0 ** min(attempts - 1, 9))
    return random.uniform(most / 2, most)  # noqa: S311


def is_given_up(attempts: int, age: timedelta) -> bool:
    """Tell whether a part is given up: only after a long time and many attempts."""
    return attempts >= MAX_SEND_ATTEMPTS and age > GIVE_UP_AFTER


def next_reconnect_seconds(err: Exception, last: float, connected_seconds: float) -> float:
    """Return the seconds until a channel that ended with this error is restarted.

    Args:
        last: the previous pause, 0 for none.
        connected_seconds: how long it had run.
    """
    if isinstance(err, LoggedOut):
        return LOGGED_OUT_SECONDS
    first = CONTENDED_SECONDS if isinstance(err, ReceiverConflict) else MIN_RECONNECT_SECONDS
    if not last or connected_seconds > STABLE_SECONDS:
        return first
    return min(max(last * 2, first), MAX_RECONNECT_SECONDS)
