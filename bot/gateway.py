"""Between the channels and the record: hears into the inbox, speaks from the outbox, keeps every channel alive."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from bot.rates import Rates
from bot.reply import address_of, outbound, outgoing
from bot.texts import say
from channels.base import Channel, Deliver
from channels.errors import Ambiguous, BadFormat, ChannelError, Contended, LoggedOut, Rejected, Retryable
from channels.message import Accepted, InboundMessage, LiveEvent
from memory.failpoint import afp
from memory.store.doors import Delivery
from memory.store.errors import StoreBusy, StoreFull
from memory.store.records import Fate, OutboxRow

log = structlog.get_logger(__name__)
MOST_ATTEMPTS = 20
LONGEST_TRYING = timedelta(days=1)
"""A part that is surely not delivered has failed once it is so old and was tried so often."""
SHORTEST_PAUSE = 1.0
LONGEST_PAUSE = 300.0
LONGEST_DEAF = 60.0
LOGGED_OUT_PAUSE = 60.0
SETTLED_SECONDS = 5.0
"""A channel that was down is called up again once it has heard, spoken, or run for so long."""


@dataclass(slots=True)
class Health:
    """How a channel is: up or not since when (unix seconds), and why not."""

    up: bool
    since: float
    why: str = ""


class Gateway:
    """Every channel's ear and mouth. language: the language of a conversation's last message, for the repeat mark."""

    def __init__(self, delivery: Delivery, language: Callable[[str], Awaitable[str]]) -> None:
        self._delivery = delivery
        self._language = language
        self._channels: dict[str, Channel] = {}
        self._rates: dict[str, Rates] = {}
        self._ears: dict[str, asyncio.Task[None]] = {}
        self._deaf: set[str] = set()
        self.health: dict[str, Health] = {}

    @property
    def channels(self) -> Mapping[str, Channel]:
        return self._channels

    def add(self, channel: Channel) -> None:
        """Know a channel: from now on it can be spoken through."""
        self._channels[channel.name] = channel
        able = channel.capabilities
        self._rates[channel.name] = Rates(per_chat=able.per_chat_rate, total=able.total_rate)
        self.health[channel.name] = Health(up=True, since=time.time())

    def listen(self, name: str, deliver: Deliver) -> asyncio.Task[None]:
        """Hear a channel until `remove`; one that ends with an error is started again after a growing pause."""
        self._ears[name] = asyncio.create_task(self._hear(self._channels[name], deliver), name=f"channel {name}")
        return self._ears[name]

    def ear(self, name: str) -> asyncio.Task[None]:
        """The task that hears a channel; it ends when the channel itself does."""
        return self._ears[name]

    async def remove(self, name: str) -> None:
        """Stop hearing; what is still to be sent waits in the record."""
        await self.deafen(name)
        channel = self._channels.pop(name, None)
        self.health.pop(name, None)
        if (closing := getattr(channel, "close", None)) is not None:
            await closing()

    async def deafen(self, name: str) -> None:
        """Stop hearing, but go on speaking."""
        task = self._ears.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def close(self) -> None:
        """Let go of every channel's connections."""
        for channel in self._channels.values():
            if (closing := getattr(channel, "close", None)) is not None:
                await closing()

    def show(self, event: LiveEvent) -> None:
        """Pass live text on, where the channel can show it."""
        channel = self._channels.get(event.address.channel)
        if channel is not None and channel.capabilities.live:
            channel.show(event)  # type: ignore[attr-defined]

    async def _hear(self, channel: Channel, deliver: Deliver) -> None:
        name, pause = channel.name, 0.0

        async def heard(messages: Sequence[InboundMessage]) -> list[Accepted]:
            self._up(name)
            return await deliver(messages)

        while True:
            began = time.monotonic()
            settled = asyncio.get_running_loop().call_later(SETTLED_SECONDS, self._up, name)
            try:
                await channel.run(heard)
                return
            except Exception as err:
                self._down(name, err)
                pause = next_pause(err, pause, time.monotonic() - began)
            finally:
                settled.cancel()
            self._deaf.add(name)
            try:
                await asyncio.sleep(pause)
            finally:
                self._deaf.discard(name)

    def _up(self, name: str) -> None:
        health = self.health.get(name)
        if health is not None and not health.up:
            health.up, health.since, health.why = True, time.time(), ""

    def _down(self, name: str, err: Exception) -> None:
        if (health := self.health.get(name)) is not None:
            health.up, health.since, health.why = False, time.time(), f"{type(err).__name__}: {err}"
        expected = isinstance(err, ChannelError)
        log.warning("channel down", channel=name, error=type(err).__name__, exc_info=not expected)

    async def send_next(self, conversation: str) -> bool:
        """The outbox lane's step: send the oldest part that may go; False when there is none."""
        row = await self._delivery.next_out(conversation)
        if row is None:
            return False
        channel = self._channels.get(row.place.channel)
        if channel is None:
            return False
        lang = await self._language(row.conversation) if row.repeats else ""
        if not await self._due(row) or (claimed := await self._delivery.sending(row.id)) is None:
            return True
        fate = await self._attempt(channel, claimed, lang)
        await afp("outbox.after_send")
        settled = await self._settle(claimed, fate)
        if settled.part_no + 1 < settled.parts:
            await afp("outbox.between_parts")
        if settled.state == "failed":
            await self._tell_failed(channel, settled)
        if settled.state == "dropped":
            log.warning("part dropped", channel=channel.name, outbox=row.id, fate=fate.state, error=fate.error)
        return True

    async def _due(self, row: OutboxRow) -> bool:
        """Wait for this part's time; False when things may have changed meanwhile, so that it is looked at again."""
        rates, chat = self._rates[row.place.channel], row.place.chat_id
        held = max(row.not_before - time.time(), rates.paused(chat, time.monotonic()))
        if held > 0:
            await asyncio.sleep(min(held, LONGEST_PAUSE))
            return False
        await asyncio.sleep(rates.book(chat, time.monotonic()))
        return rates.paused(chat, time.monotonic()) == 0

    async def _attempt(self, channel: Channel, row: OutboxRow, lang: str) -> Fate:
        try:
            await afp("outbox.mid_send")
            receipt = await channel.send(outbound(row, lang))
        except Exception as err:
            return self._fate(err, channel.name, row)
        if channel.name not in self._deaf:
            self._up(channel.name)
        return Fate(state="sent", platform_id=receipt.platform_id)

    async def _settle(self, row: OutboxRow, fate: Fate) -> OutboxRow:
        """What became of a send is known here only: it is kept until the record takes it."""
        pause = SHORTEST_PAUSE
        while True:
            try:
                return await self._delivery.sent(row.id, fate)
            except (StoreBusy, StoreFull) as err:
                log.error("fate not stored", outbox=row.id, fate=fate.state, error=type(err).__name__)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_DEAF)

    def _fate(self, err: Exception, name: str, row: OutboxRow) -> Fate:
        if isinstance(err, BadFormat) and not row.plain:
            return Fate(state="pending", error=str(err), plain=True)
        if isinstance(err, Rejected):
            return Fate(state="failed", error=str(err))
        if isinstance(err, LoggedOut):
            self._down(name, err)
            return Fate(state="pending", error=str(err), retry_at=time.time() + LOGGED_OUT_PAUSE)
        if isinstance(err, Retryable):
            if given_up(row.attempts, datetime.now(UTC) - row.created):
                return Fate(state="failed", error=f"{err} ({row.attempts} attempts)")
            return self._later(err, name, row)
        if not isinstance(err, Ambiguous):
            log.error("send broke", channel=name, error=type(err).__name__, exc_info=err)
        return Fate(state="unknown", error=str(err), retry_at=time.time() + back_off(row.attempts))

    def _later(self, err: Retryable, name: str, row: OutboxRow) -> Fate:
        wait = err.retry_after
        if wait is None:
            wait = back_off(row.attempts)
        else:
            self._rates[name].pause("" if err.whole_channel else row.place.chat_id, time.monotonic(), wait)
        return Fate(state="pending", error=str(err), retry_at=time.time() + wait)

    async def _tell_failed(self, channel: Channel, row: OutboxRow) -> None:
        log.warning("part failed", channel=channel.name, outbox=row.id, error=row.error)
        address = address_of(row.place)
        self.show(LiveEvent(address=address, name="error", message_id=row.reply_to, text=row.error))
        if row.kind != "notice":
            text = say(await self._language(row.conversation), "dropped_part", why=row.error)
            notice = outgoing(text, "notice", channel.capabilities)
            await self._delivery.notify(row.conversation, f"{row.source}:failed", notice)


def back_off(attempts: int) -> float:
    """Seconds until the next attempt after so many: twice as long each time, with jitter, 5 min at most."""
    most = min(LONGEST_PAUSE, 2.0 ** min(attempts - 1, 9))
    return random.uniform(most / 2, most)  # noqa: S311


def given_up(attempts: int, age: timedelta) -> bool:
    """Whether a part is not tried again: a long outage takes time, an impatient platform takes tries."""
    return attempts >= MOST_ATTEMPTS and age > LONGEST_TRYING


def next_pause(err: Exception, last: float, lasted: float) -> float:
    """Seconds until a channel that ended with this error is heard again. Pure.

    Args:
        last: the pause before, 0 for none. lasted: for how many seconds it had run.
    """
    if isinstance(err, LoggedOut | Contended):
        return LOGGED_OUT_PAUSE
    if not last or lasted > LONGEST_PAUSE:
        return SHORTEST_PAUSE
    return min(last * 2, LONGEST_DEAF)
