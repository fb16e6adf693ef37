"""Two hundred parallel conversations on each channel of a real process: are all answered, and how
fast?
"""

import asyncio
import resource
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.walk.load import load

CHANNELS = ("http", "telegram", "feishu", "wechat", "wechat_mp", "wecom")
CONVERSATIONS, MESSAGES, DEAF = 200, 3, 200
FILES = 8_192  # descriptors that the clients in this process may need


def main(channels: Sequence[str]) -> str:
    """Return the report. channels: empty for all of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, FILES)), hard))
    return "\n".join(asyncio.run(_report(channels or [*CHANNELS])))


async def _report(channels: Sequence[str]) -> Sequence[str]:
    lines = [
        (
            f"{CONVERSATIONS} parallel conversations; by HTTP with {DEAF} more streams that no "
            "client reads"
        )
    ]
    for channel in channels:
        with tempfile.TemporaryDirectory() as folder:
            found = await load(channel, Path(folder) / "home", CONVERSATIONS, MESSAGES, deaf=DEAF)
        lines += [str(found), *(f"  {fault[:200]}" for fault in found.faults[:10])]
    return lines
