"""The state machine over the store's doors; MNEMA_EXAMPLES raises the number of runs."""

import os

from hypothesis import HealthCheck, Phase, settings

from tests.walk.machine import Record

TestRecord = Record.TestCase
TestRecord.settings = settings(
    max_examples=int(os.environ.get("MNEMA_EXAMPLES", "70")),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize="MNEMA_EXAMPLES" not in os.environ,
    database=None,
    phases=tuple(Phase) if "MNEMA_SHRINK" in os.environ else (Phase.explicit, Phase.generate),
)
