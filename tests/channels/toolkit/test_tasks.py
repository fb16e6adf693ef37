"""A sign of life beats until it is told to stop, or nobody asks for it any more."""

import asyncio

from channels.errors import Rejected
from channels.message import Address
from channels.toolkit.tasks import TypingIndicator

HERE = Address(channel="c", account="a", chat_id="1")
THERE = Address(channel="c", account="a", chat_id="2")


class Heart:
    def __init__(self, enough: int = 3) -> None:
        self.beats: list[Address] = []
        self.enough = asyncio.Event()
        self._wanted = enough

    async def beat(self, address: Address) -> None:
        self.beats.append(address)
        if len(self.beats) >= self._wanted:
            self.enough.set()


async def test_it_repeats_until_it_is_stopped() -> None:
    heart = Heart()
    pulse = TypingIndicator(heart.beat, every=0.001, longest=60)
    pulse.beat(HERE)
    pulse.beat(HERE)
    await asyncio.wait_for(heart.enough.wait(), 5)
    pulse.stop(HERE)
    stopped = len(heart.beats)
    await asyncio.sleep(0.01)
    assert len(heart.beats) == stopped


async def test_each_place_has_its_own() -> None:
    heart = Heart(2)
    pulse = TypingIndicator(heart.beat, every=60, longest=60)
    pulse.beat(HERE)
    pulse.beat(THERE)
    await asyncio.wait_for(heart.enough.wait(), 5)
    assert set(heart.beats) == {HERE, THERE}
    await pulse.close()


async def test_without_news_it_ends_and_may_begin_again() -> None:
    heart = Heart(1)
    pulse = TypingIndicator(heart.beat, every=0.001, longest=0.02)
    pulse.beat(HERE)
    await asyncio.wait_for(heart.enough.wait(), 5)
    await asyncio.sleep(0.05)
    ended = len(heart.beats)
    await asyncio.sleep(0.02)
    assert len(heart.beats) == ended
    heart.enough.clear()
    pulse.beat(HERE)
    await asyncio.wait_for(heart.enough.wait(), 5)
    await pulse.close()


async def test_a_refused_sign_is_not_repeated() -> None:
    tried = asyncio.Event()

    async def refused(address: Address) -> None:
        tried.set()
        raise Rejected("no")

    pulse = TypingIndicator(refused, every=0.001, longest=60)
    pulse.beat(HERE)
    await asyncio.wait_for(tried.wait(), 5)
    await pulse.close()
