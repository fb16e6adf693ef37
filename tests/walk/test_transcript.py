"""A short play of the transcript: a gateway and a worker are killed at once, and nothing is
lost.
"""

from pathlib import Path

import pytest

from tests.walk.play import Plan, Story, play

pytestmark = [pytest.mark.kill, pytest.mark.postgres]
SHORT = Plan(
    conversations=8,
    workers=2,
    pace=1.0,
    slowest=0.6,
    blows=((1.0, "kill worker"), (1.0, "kill gateway")),
    seconds=1.0,
)


async def test_a_gateway_and_a_worker_die_under_load_and_the_oracle_finds_no_fault(
    tmp_path: Path, db: str
) -> None:
    story = Story()
    assert await play(SHORT, tmp_path, db, story) == []
    [told] = [line for line in story.lines if "the oracle:" in line]
    assert " 0 lost, 0 repeated without a mark," in told
    assert told.endswith(" 0 disordered")
