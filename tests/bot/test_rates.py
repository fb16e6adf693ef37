"""Waiting before a send: per chat, per channel, and as asked."""

from hypothesis import given
from hypothesis import strategies as st

from bot.rates import BURST_SECONDS, Rates


def test_a_quiet_chat_may_burst_and_then_waits_its_second() -> None:
    rates = Rates(per_chat=1.0, total=0.0)
    for _ in range(int(BURST_SECONDS)):
        assert rates.wait("a", 0.0) == 0.0
        rates.take("a", 0.0)
    assert rates.wait("a", 0.0) == 1.0
    assert rates.wait("b", 0.0) == 0.0


def test_a_pause_of_one_chat_holds_up_no_other() -> None:
    rates = Rates(per_chat=1.0, total=30.0)
    rates.pause("a", 60.0)
    assert rates.wait("a", 0.0) == 60.0
    assert rates.wait("b", 0.0) == 0.0


def test_a_pause_of_the_channel_holds_up_every_chat() -> None:
    rates = Rates(per_chat=0.0, total=0.0)
    rates.pause("", 5.0)
    assert rates.wait("a", 1.0) == 4.0


@given(st.lists(st.floats(min_value=0.0, max_value=2.0), max_size=60))
def test_no_more_goes_out_than_rate_and_burst_allow(gaps: list[float]) -> None:
    rates, now, sent = Rates(per_chat=1.0, total=0.0), 0.0, 0
    for gap in gaps:
        now += gap
        if rates.wait("a", now) == 0.0:
            rates.take("a", now)
            sent += 1
    assert sent <= now + BURST_SECONDS + 1
