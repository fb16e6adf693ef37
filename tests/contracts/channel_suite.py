"""What every channel keeps, whatever stands behind it: cases that see it only from outside."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import pytest

from channels.base import Channel
from channels.errors import Ambiguous, Retryable
from channels.message import Accepted, Address, InboundMessage, OutboundMessage
from channels.text import length, split

HARD = (
    "plain words",
    "🙂 and 👨‍👩‍👧‍👦 and 🏳️‍🌈 and 🇩🇪🇨🇳",
    "中文，日本語、한국어。",
    "שלום עולם، مرحبا بالعالم\u200f!",
    "e\u0301 and Z\u0351\u036b\u0343\u036a go on",
    "क्षत्रिय and ไทย",
    "<b> & </b> \"quoted\" 'so'",
)


class Stage(Protocol):
    """A channel with its platform, as a test sees it."""

    channel: Channel
    address: Address

    def say(self, text: str) -> None:
        """A person writes."""

    def say_again(self) -> None:
        """The platform brings the last message once more."""

    def seen(self) -> list[str]:
        """What the person sees, in order."""

    def confirmed(self) -> int:
        """How many messages the platform holds for delivered."""

    def refuse_next(self, seconds: float) -> None:
        """The next send comes too early by so much."""

    def lose_next(self) -> None:
        """The next send arrives, its answer does not."""

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something to be true of the platform."""


class Inbox:
    """A `Deliver` that remembers; fails so often first, and holds back while `gate` is not set."""

    def __init__(self, failures: Sequence[Exception] = ()) -> None:
        self.stored: list[InboundMessage] = []
        self.tried = 0
        self.came = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()
        self._failures = list(failures)

    async def __call__(self, messages: Sequence[InboundMessage]) -> list[Accepted]:
        self.tried += 1
        if self._failures:
            raise self._failures.pop(0)
        self.came.set()
        await self.gate.wait()
        known = {message.key for message in self.stored}
        self.stored += messages
        return [Accepted(id=message.key, new=message.key not in known) for message in messages]


@asynccontextmanager
async def listening(channel: Channel, inbox: Inbox) -> AsyncIterator[asyncio.Task[None]]:
    """The channel hears into the inbox."""
    task = asyncio.create_task(channel.run(inbox))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def part(stage: Stage, text: str, number: int = 0) -> OutboundMessage:
    return OutboundMessage(id=f"o{number}", address=stage.address, client_key=f"k{number}", text=text, part_no=number)


class ChannelSuite:
    """Subclasses give a fixture `stage`."""

    async def test_hears_what_a_person_wrote(self, stage: Stage) -> None:
        inbox = Inbox()
        async with listening(stage.channel, inbox):
            stage.say("hello there")
            await stage.until(lambda: stage.confirmed() == 1)
        (message,) = inbox.stored
        assert (message.text, message.kind, message.addressed) == ("hello there", "dm", True)
        assert message.address == stage.address
        assert message.key
        assert message.sent_at.tzinfo is not None

    async def test_two_equal_messages_are_two(self, stage: Stage) -> None:
        inbox = Inbox()
        async with listening(stage.channel, inbox):
            stage.say("again")
            stage.say("again")
            await stage.until(lambda: stage.confirmed() == 2)
        assert [message.text for message in inbox.stored] == ["again", "again"]
        assert inbox.stored[0].key != inbox.stored[1].key
        assert inbox.stored[0].order_key <= inbox.stored[1].order_key

    async def test_the_same_message_has_the_same_key_every_time(self, stage: Stage) -> None:
        inbox = Inbox()
        async with listening(stage.channel, inbox):
            stage.say("once")
            await stage.until(lambda: stage.confirmed() == 1)
            stage.say_again()
            await stage.until(lambda: stage.confirmed() == 2)
        assert len({message.key for message in inbox.stored}) == 1

    async def test_confirms_only_after_deliver_returned(self, stage: Stage) -> None:
        inbox = Inbox()
        inbox.gate.clear()
        async with listening(stage.channel, inbox):
            stage.say("keep me")
            await asyncio.wait_for(inbox.came.wait(), 10)
            assert stage.confirmed() == 0
            inbox.gate.set()
            await stage.until(lambda: stage.confirmed() == 1)

    async def test_what_was_not_stored_is_not_confirmed_and_comes_again(self, stage: Stage) -> None:
        inbox = Inbox([OSError("disk full"), RuntimeError("database is closed")])
        async with listening(stage.channel, inbox):
            stage.say("patience")
            await stage.until(lambda: stage.confirmed() == 1)
        assert inbox.tried == 3
        assert [message.text for message in inbox.stored] == ["patience"]

    async def test_what_a_dead_process_had_not_stored_comes_to_the_next(self, stage: Stage) -> None:
        first, second = Inbox(), Inbox()
        first.gate.clear()
        async with listening(stage.channel, first):
            stage.say("survive")
            await asyncio.wait_for(first.came.wait(), 10)
        async with listening(stage.channel, second):
            await stage.until(lambda: stage.confirmed() == 1)
        assert [message.text for message in second.stored] == ["survive"]

    async def test_sends_in_order_and_names_each_message(self, stage: Stage) -> None:
        receipts = [await stage.channel.send(part(stage, f"line {number}", number)) for number in range(3)]
        assert stage.seen() == ["line 0", "line 1", "line 2"]
        assert len({receipt.platform_id for receipt in receipts}) == 3

    async def test_a_long_answer_arrives_in_parts_within_the_limit(self, stage: Stage) -> None:
        able = stage.channel.capabilities
        text = " ".join(f"word{number}🙂" for number in range(1500))
        for number, piece in enumerate(split(text, able.limit or 4096, able.unit)):
            await stage.channel.send(part(stage, piece, number))
        seen = stage.seen()
        assert len(seen) > 1
        assert all(length(piece, able.unit) <= (able.limit or 4096) for piece in seen)
        assert " ".join(seen).split() == text.split()

    async def test_too_early_is_worth_another_try_after_what_the_platform_says(self, stage: Stage) -> None:
        stage.refuse_next(7)
        with pytest.raises(Retryable) as refused:
            await stage.channel.send(part(stage, "soon"))
        assert refused.value.retry_after == 7
        assert not refused.value.whole_channel
        assert stage.seen() == []

    async def test_a_lost_answer_is_called_unknown(self, stage: Stage) -> None:
        stage.lose_next()
        with pytest.raises(Ambiguous):
            await stage.channel.send(part(stage, "perhaps"))
        assert stage.seen() == ["perhaps"]

    @pytest.mark.parametrize("text", HARD)
    async def test_any_script_survives_both_ways(self, stage: Stage, text: str) -> None:
        inbox = Inbox()
        async with listening(stage.channel, inbox):
            stage.say(text)
            await stage.until(lambda: stage.confirmed() == 1)
        await stage.channel.send(part(stage, inbox.stored[0].text))
        assert [inbox.stored[0].text, *stage.seen()] == [text, text]

    async def test_nul_and_lone_surrogates_stay_outside(self, stage: Stage) -> None:
        inbox = Inbox()
        async with listening(stage.channel, inbox):
            stage.say("a\x00b\ud83dc")
            await stage.until(lambda: stage.confirmed() == 1)
        assert inbox.stored[0].text == "a\ufffdb\ufffdc"
