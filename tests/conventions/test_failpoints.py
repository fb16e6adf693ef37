"""Every failpoint in the code is one that the kill suite ends a process at."""

import re

from tests.cases import every_case
from tests.walk.kills import names_hit, names_in_code

STEPS = {
    "recv": "parsed in_txn committed acked",
    "claim": "in_txn committed",
    "llm": "before first_byte mid_stream ended before_commit",
    "plan": "committed",
    "tool": "approved started mid_effect after_effect committed",
    "finish": "in_txn committed",
    "outbox": "claimed mid_send after_send marked between_parts",
    "fold": "planned summarised checked log_written log_synced in_txn folded undone",
    "clear": "in_txn committed",
    "forget": "quiet in_txn files_done committed",
    "file": "tmp_written synced replaced dir_synced",
    "blob": "stored",
    "sched": "due committed",
    "album": "armed fired",
    "channel": "connected polled token_stored logged_out down",
    "lease": "renewed lost",
    "mig": "backed_up step done",
    "move": "copied committed",
    "backup": "snapshot",
    "restore": "extracted verified loaded recorded swapped",
    "recover": " ".join(f"r{number}" for number in range(1, 14)),
}
# Every step between two of which a process may end.
NAMED = {f"{stage}.{step}" for stage, steps in STEPS.items() for step in steps.split()}
# Steps that the program does not have, or that are another one, and why.
WITHOUT_PLACE = {
    "channel.connected": (
        "channels know nothing of failpoints, and nothing is stored until recv.in_txn"
    ),
    "channel.polled": "it is recv.parsed: the gateway sees what was polled no sooner",
    "channel.token_stored": (
        "a note is one row in one transaction; with what was delivered it is recv.in_txn"
    ),
    "channel.logged_out": (
        "it is channel.down: the gateway goes the same way for every error that ends a channel"
    ),
    "recover.r10": (
        "no step at start: the ticker's first look finds what was due; a missed night is an open "
        "dream"
    ),
    "recover.r12": "no step at start: doctor, /metrics and every walk check the ledger",
}


def test_the_kill_suite_hits_every_failpoint_there_is() -> None:
    assert names_in_code() - names_hit() == set()


def test_the_kill_suite_knows_no_failpoint_that_is_gone() -> None:
    assert names_hit() - names_in_code() == set()


@every_case("name", sorted(NAMED))
def test_every_step_that_is_named_has_a_failpoint_or_a_reason(name: str) -> None:
    assert (name in names_in_code()) != (name in WITHOUT_PLACE)


def test_only_steps_that_are_named_have_a_reason() -> None:
    assert WITHOUT_PLACE.keys() - NAMED == set()


def test_failpoints_are_named_by_stage_and_step() -> None:
    assert [name for name in names_in_code() if not re.fullmatch(r"[a-z]+\.[a-z_0-9]+", name)] == []
