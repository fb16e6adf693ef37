"""The state machine over the store's doors; MNEMA_EXAMPLES raises the number of runs."""

import os

from hypothesis import HealthCheck, Phase, settings

from tests.walk.machine import Record

TestRecord = Record.TestCase
TestRecord.settings = settings(
    max_examples=int(
        os.environ.get("MNEMA_EXAMPLES", "70" if "MNEMA_NIGHT" in os.environ else "20")
    ),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize="MNEMA_EXAMPLES" not in os.environ,
    database=None,
    phases=tuple(Phase) if "MNEMA_SHRINK" in os.environ else (Phase.explicit, Phase.generate),
)


def test_after_a_clear_a_new_fold_can_be_begun_at_once() -> None:
    record = Record()
    try:
        record.first_words()
        for step in ("before", "after"):
            record.deliver("a", 1)
            record.claim("a")
            record.finish("a", state="done", parts=1, keyed=True)
            record.fold_start("a", 1)
            assert record.talks["a"].fold is not None, step
            record.clear("a", log=False)
    finally:
        record.teardown()
