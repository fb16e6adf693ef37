"""Many conversations at once, by each channel: every message answered, none twice, nothing wrong in
the log.

`python -m benchmarks load` (a part of `make bench`) asks the same of 200 conversations and more.
"""

from pathlib import Path

import pytest

from tests.by_night import IS_NIGHT
from tests.walk.load import load

CONVERSATIONS = 200 if IS_NIGHT else 24


@pytest.mark.parametrize("channel", ["telegram", "feishu", "wechat", "wechat_mp", "wecom"])
async def test_many_conversations_of_a_platform_at_once_are_all_answered_once(
    tmp_path: Path, channel: str
) -> None:
    found = await load(channel, tmp_path, conversations=CONVERSATIONS, messages=1)
    assert (found.faults, found.answered) == ([], CONVERSATIONS)


async def test_many_conversations_by_http_at_once_are_all_answered_once_beside_readers_that_never_read(  # noqa: E501
    tmp_path: Path,
) -> None:
    found = await load(
        "http", tmp_path, conversations=CONVERSATIONS, messages=2, deaf=CONVERSATIONS
    )
    assert (found.faults, found.answered) == ([], 2 * CONVERSATIONS)
