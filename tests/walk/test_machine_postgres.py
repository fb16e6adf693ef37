"""The state machine over the record in PostgreSQL, where openings live beside each other and rows
know their holder.
"""

import os
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from memory.store.errors import StaleEpoch, WrongState
from memory.store.postgres.open import open_postgres
from memory.store.rows import SendOutcome
from memory.store.store import Store
from tests.postgres import emptied, made  # noqa: F401  a fixture
from tests.walk.machine import Record, outgoing, said

pytestmark = pytest.mark.postgres
EXAMPLES = settings(
    max_examples=int(os.environ.get("MNEMA_EXAMPLES", "6")),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize="MNEMA_EXAMPLES" not in os.environ,
    database=None,
    phases=tuple(Phase) if "MNEMA_SHRINK" in os.environ else (Phase.explicit, Phase.generate),
)


class OverPostgres(Record):
    """The same rules and invariants; a process that was outlived is fenced row by row. url: of a
    made database.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        emptied(url)
        super().__init__()

    async def opened(self) -> Store:
        return await open_postgres(
            self.url, clock=lambda: self.now, lease_seconds=3600, connections=2
        )

    def outlived(self, old: Store) -> None:
        """Its lease runs out, others recover what it held, and then its late writes find no row."""
        late = [talk.running for talk in self.talks.values() if talk.running]
        sends = [
            id
            for talk in self.talks.values()
            for id, row in talk.out.items()
            if row["state"] == "sending"
        ]
        with psycopg.connect(self.url, autocommit=True) as outside:
            outside.execute("UPDATE process SET until = 0 WHERE lease = %s", [old.database.lease])
        self.recovered(died=True)
        for turn in late:
            self.refused(
                old.delivery.finish(turn, "done", said("late"), outgoing("final", 1, True))
            )
        for id in sends:
            self.refused(old.delivery.settle_sent(id, SendOutcome(state="sent")))
        self.do(old.close())

    def refused(self, write: Any) -> None:
        try:
            self.do(write)
            raise AssertionError("a process without the lease wrote")
        except (WrongState, StaleEpoch):
            pass


def test_every_step_in_any_order_over_postgresql(made: str) -> None:  # noqa: F811
    run_state_machine_as_test(lambda: OverPostgres(made), settings=EXAMPLES)


def test_I11_a_turn_and_a_part_of_an_outlived_process_are_fenced(made: str) -> None:  # noqa: F811
    record = OverPostgres(made)
    try:
        record.first_words()
        for _ in range(2):
            record.deliver("a", 1)
            record.claim("a")
            record.finish("a", state="done", parts=2, keyed=False)
            record.begin_send("a")
            record.deliver("a", 1)
            record.claim("a")
            record.crash()
            record.every_message_is_where_it_ought_to_be()
            record.finish("a", state="done", parts=1, keyed=True)
    finally:
        record.teardown()
