"""Failpoints do nothing in a process that was not started for a test."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from memory.failpoints import FailpointError, arm, hit, hit_async, is_torn


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    assert arm({})


@pytest.mark.parametrize(
    "test", [{}, {"MNEMA_TEST": ""}, {"MNEMA_TEST": "0"}, {"MNEMA_TEST": "true"}]
)
async def test_S67_without_MNEMA_TEST_no_failpoint_acts_and_the_caller_is_told_so(
    test: dict[str, str],
) -> None:
    assert not arm(
        {"MNEMA_FP": "recv.parsed:raise,file.replaced:torn,recv.committed:kill9", **test}
    )
    hit("recv.parsed")
    await hit_async("recv.parsed")
    assert not is_torn("file.replaced")
    hit("recv.committed")


async def test_with_MNEMA_TEST_the_named_one_acts_at_its_turn() -> None:
    assert arm({"MNEMA_FP": "recv.parsed@2:raise", "MNEMA_TEST": "1"})
    hit("recv.parsed")
    hit("recv.acked")
    with pytest.raises(FailpointError, match=r"recv\.parsed"):
        hit("recv.parsed")
    hit("recv.parsed")


def test_what_was_armed_once_is_not_armed_for_ever() -> None:
    assert arm({"MNEMA_FP": "recv.parsed:raise", "MNEMA_TEST": "1"})
    assert not arm({"MNEMA_FP": "recv.parsed:raise"})
    hit("recv.parsed")


def test_a_program_that_is_started_so_goes_on_and_says_that_it_does_nothing() -> None:
    environ = {name: value for name, value in os.environ.items() if name != "MNEMA_TEST"}
    command = [sys.executable, "-m", "bot", "--version"]
    ended = subprocess.run(
        command,
        env={**environ, "MNEMA_FP": "recv.parsed:kill9"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0
    assert ended.stderr == "mnema: MNEMA_FP is set without MNEMA_TEST=1 and does nothing.\n"
