"""How long the typing indicator is repeated, and what a bounded dict holds."""

import asyncio

from channels.errors import Rejected
from channels.message import Address
from channels.toolkit.delivery import BoundedDict, TypingIndicator

CHAT = Address(channel="c", account="a", chat_id="1")
OTHER_CHAT = Address(channel="c", account="a", chat_id="2")


class Platform:
    """Records the calls of a typing indicator."""

    def __init__(self, expected: int = 3) -> None:
        self.calls: list[Address] = []
        self.reached = asyncio.Event()
        self._expected = expected

    async def show_typing(self, address: Address) -> None:
        self.calls.append(address)
        if len(self.calls) >= self._expected:
            self.reached.set()


async def test_the_indicator_is_repeated_until_it_is_stopped() -> None:
    platform = Platform()
    indicator = TypingIndicator(platform.show_typing, every=0.001, longest=60)
    indicator.show(CHAT)
    indicator.show(CHAT)
    await asyncio.wait_for(platform.reached.wait(), 5)
    indicator.stop(CHAT)
    stopped = len(platform.calls)
    await asyncio.sleep(0.01)
    assert len(platform.calls) == stopped


async def test_each_chat_has_an_indicator_of_its_own() -> None:
    platform = Platform(2)
    indicator = TypingIndicator(platform.show_typing, every=60, longest=60)
    indicator.show(CHAT)
    indicator.show(OTHER_CHAT)
    await asyncio.wait_for(platform.reached.wait(), 5)
    assert set(platform.calls) == {CHAT, OTHER_CHAT}
    await indicator.close()


async def test_without_news_the_indicator_ends_and_may_start_again() -> None:
    platform = Platform(1)
    indicator = TypingIndicator(platform.show_typing, every=0.001, longest=0.02)
    indicator.show(CHAT)
    await asyncio.wait_for(platform.reached.wait(), 5)
    await asyncio.sleep(0.05)
    ended = len(platform.calls)
    await asyncio.sleep(0.02)
    assert len(platform.calls) == ended
    platform.reached.clear()
    indicator.show(CHAT)
    await asyncio.wait_for(platform.reached.wait(), 5)
    await indicator.close()


async def test_a_refused_indicator_is_not_repeated() -> None:
    tried = asyncio.Event()

    async def refused(address: Address) -> None:
        tried.set()
        raise Rejected("no")

    indicator = TypingIndicator(refused, every=0.001, longest=60)
    indicator.show(CHAT)
    await asyncio.wait_for(tried.wait(), 5)
    await indicator.close()


def test_a_bounded_dict_drops_its_oldest_keys() -> None:
    known = BoundedDict[str, int](2)
    for number, key in enumerate("abac"):
        known[key] = number
    assert known == {"b": 1, "c": 3}
