"""Waiting before a send: per chat, per channel, and as the platform asked."""

from hypothesis import given
from hypothesis import strategies as st

from bot.gateway.gateway import RateLimiter

# Literals, so that the product is not compared with itself.
BURST_SECONDS = 3.0


def test_a_quiet_chat_may_burst_and_then_waits_its_second() -> None:
    rates = RateLimiter(per_chat=1.0, total=0.0)
    assert [rates.book("a", 0.0) for _ in range(int(BURST_SECONDS))] == [0.0, 0.0, 0.0]
    assert rates.book("a", 0.0) == 1.0
    assert rates.book("b", 0.0) == 0.0


def test_a_pause_of_one_chat_holds_up_no_other() -> None:
    rates = RateLimiter(per_chat=1.0, total=30.0)
    rates.pause("a", 0.0, 60.0)
    assert rates.paused("a", 0.0) == 60.0
    assert rates.paused("b", 0.0) == 0.0


def test_a_pause_of_the_channel_holds_up_every_chat() -> None:
    rates = RateLimiter(per_chat=0.0, total=0.0)
    rates.pause("", 0.0, 5.0)
    assert rates.paused("a", 1.0) == 4.0


def test_a_shorter_pause_does_not_end_a_longer_one() -> None:
    rates = RateLimiter(per_chat=0.0, total=0.0)
    rates.pause("a", 0.0, 60.0)
    rates.pause("a", 1.0, 5.0)
    assert rates.paused("a", 1.0) == 59.0


def test_many_chats_at_once_stand_in_line_for_the_channel() -> None:
    rates = RateLimiter(per_chat=1.0, total=10.0)
    waits = [rates.book(str(chat), 0.0) for chat in range(100)]
    assert waits[:30] == [0.0] * 30
    assert [round(wait, 6) for wait in waits[30:33]] == [0.1, 0.2, 0.3]
    assert waits == sorted(waits)


@given(st.lists(st.floats(min_value=0.0, max_value=2.0), max_size=60))
def test_no_more_goes_out_than_rate_and_burst_allow(gaps: list[float]) -> None:
    rates, now = RateLimiter(per_chat=1.0, total=0.0), 0.0
    for sent, gap in enumerate(gaps, 1):
        now += gap
        now += rates.book("a", now)
        assert sent <= now + BURST_SECONDS + 1e-6
