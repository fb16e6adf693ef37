"""Every failpoint in the code is one that the kill suite ends a process at."""

import re

from tests.walk.kills import names_hit, names_in_code


def test_the_kill_suite_hits_every_failpoint_there_is() -> None:
    assert names_in_code() - names_hit() == set()


def test_the_kill_suite_knows_no_failpoint_that_is_gone() -> None:
    assert names_hit() - names_in_code() == set()


def test_failpoints_are_named_by_stage_and_step() -> None:
    assert [name for name in names_in_code() if not re.fullmatch(r"[a-z]+\.[a-z_0-9]+", name)] == []
