"""Between the channels and the record: hears into the inbox, speaks from the outbox, keeps every channel alive."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import structlog

from bot.rates import Rates
from bot.reply import address_of, outbound, outgoing
from bot.texts import say
from channels.base import Channel, Deliver
from channels.errors import Ambiguous, BadFormat, ChannelError, Contended, LoggedOut, Rejected, Retryable
from channels.message import LiveEvent
from memory.failpoint import afp
from memory.store.doors import Delivery
from memory.store.records import Fate, OutboxRow

log = structlog.get_logger(__name__)
MOST_ATTEMPTS = 20
LONGEST_PAUSE = 300.0
LONGEST_DEAF = 60.0
LOGGED_OUT_PAUSE = 60.0


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
        self._channels.pop(name, None)
        self.health.pop(name, None)

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
        pause = 1.0
        while True:
            began = time.monotonic()
            health = self.health[channel.name]
            health.up, health.since, health.why = True, time.time(), ""
            try:
                await channel.run(deliver)
                return
            except (LoggedOut, Contended) as err:
                pause = LOGGED_OUT_PAUSE
                self._down(channel.name, err)
            except Exception as err:
                self._down(channel.name, err)
            if time.monotonic() - began > LONGEST_PAUSE:
                pause = 1.0
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_DEAF)

    def _down(self, name: str, err: Exception) -> None:
        health = self.health[name]
        health.up, health.since, health.why = False, time.time(), f"{type(err).__name__}: {err}"
        expected = isinstance(err, ChannelError)
        log.warning("channel down", channel=name, error=type(err).__name__, exc_info=not expected)

    async def send_next(self, conversation: str) -> bool:
        """The outbox lane's step: send the oldest part that may go; False when there is none."""
        row = await self._delivery.next_out(conversation)
        if row is None:
            return False
        name, chat = row.place.channel, row.place.chat_id
        channel = self._channels.get(name)
        if channel is None:
            return False
        now = time.monotonic()
        wait = max(row.not_before - time.time(), self._rates[name].wait(chat, now))
        if wait > 0:
            await asyncio.sleep(min(wait, LONGEST_PAUSE))
            return True
        claimed = await self._delivery.sending(row.id)
        if claimed is None:
            return True
        self._rates[name].take(chat, now)
        fate = await self._attempt(channel, claimed)
        await afp("outbox.after_send")
        settled = await self._delivery.sent(claimed.id, fate)
        if settled.part_no + 1 < settled.parts:
            await afp("outbox.between_parts")
        if settled.state == "failed":
            await self._tell_failed(channel, settled)
        return True

    async def _attempt(self, channel: Channel, row: OutboxRow) -> Fate:
        await afp("outbox.mid_send")
        message = outbound(row, await self._language(row.conversation) if row.repeats else "")
        try:
            receipt = await channel.send(message)
        except Exception as err:
            return self._fate(err, channel.name, row)
        return Fate(state="sent", platform_id=receipt.platform_id)

    def _fate(self, err: Exception, name: str, row: OutboxRow) -> Fate:
        if isinstance(err, BadFormat) and not row.plain:
            return Fate(state="pending", error=str(err), plain=True)
        if isinstance(err, Rejected):
            return Fate(state="failed", error=str(err))
        if isinstance(err, LoggedOut):
            self._down(name, err)
            return Fate(state="pending", error=str(err), retry_at=time.time() + LOGGED_OUT_PAUSE)
        if isinstance(err, Retryable):
            if row.attempts >= MOST_ATTEMPTS:
                return Fate(state="failed", error=f"{err} ({row.attempts} attempts)")
            return self._later(err, name, row)
        if not isinstance(err, Ambiguous):
            log.error("send broke", channel=name, error=type(err).__name__, exc_info=err)
        return Fate(state="unknown", error=str(err))

    def _later(self, err: Retryable, name: str, row: OutboxRow) -> Fate:
        asked = err.retry_after is not None
        most = min(LONGEST_PAUSE, 2.0 ** min(row.attempts, 9))
        wait = err.retry_after if err.retry_after is not None else random.uniform(most / 2, most)  # noqa: S311
        if asked:
            chat = "" if err.whole_channel else row.place.chat_id
            self._rates[name].pause(chat, time.monotonic() + wait)
        return Fate(state="pending", error=str(err), retry_at=time.time() + wait)

    async def _tell_failed(self, channel: Channel, row: OutboxRow) -> None:
        log.warning("part failed", channel=channel.name, outbox=row.id, error=row.error)
        address = address_of(row.place)
        self.show(LiveEvent(address=address, name="error", message_id=row.reply_to, text=row.error))
        if row.kind != "notice":
            text = say(await self._language(row.conversation), "dropped_part", why=row.error)
            notice = outgoing(text, "notice", channel.capabilities)
            await self._delivery.notify(row.conversation, f"{row.source}:failed", notice)
