"""DatabaseClock: the database's time between two server times."""

import time

from hypothesis import given
from hypothesis import strategies as st

from memory.store.engine.database import DatabaseClock

MOMENT = 1_795_000_000.0
_SECONDS = st.floats(0.0, 5.0)


@given(
    st.lists(st.tuples(_SECONDS, _SECONDS, _SECONDS), min_size=1, max_size=20), st.floats(-1e6, 1e6)
)
def test_it_is_never_further_off_than_the_quickest_answer_took(asks, start):
    ticks = [start]
    clock = DatabaseClock(lambda: ticks[0])
    quickest = float("inf")
    for pause, there, back in asks:
        ticks[0] += pause
        sent_at = clock.sent_at()
        ticks[0] += there
        theirs = MOMENT + ticks[0] - start
        ticks[0] += back
        clock.set_server_time(theirs, sent_at)
        quickest = min(quickest, there + back)
        assert abs(clock() - (MOMENT + ticks[0] - start)) <= quickest + 1e-5


def test_it_follows_a_database_whose_own_clock_was_set():
    ticks = [10.0]
    clock = DatabaseClock(lambda: ticks[0])
    clock.set_server_time(MOMENT, clock.sent_at())
    for hours in (1, -2):
        ticks[0] += 1.0
        clock.set_server_time(MOMENT + hours * 3600, clock.sent_at())
        assert clock() == MOMENT + hours * 3600


def test_it_goes_by_the_machine_before_it_has_heard_anything():
    assert abs(DatabaseClock()() - time.time()) < 1.0
