"""Two hundred conversations at once, by each channel, of a real process: whether all is answered, and how fast."""

import asyncio
import resource
import tempfile
from pathlib import Path

from tests.walk.load import load

CHANNELS = ("http", "telegram", "feishu", "wechat", "wechat_mp", "wecom")
CONVERSATIONS, MESSAGES, DEAF = 200, 3, 200
FILES = 8_192  # descriptors that this process may need for the clients' side


def main(wanted: list[str]) -> str:
    """The report. wanted: channels, none for all of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, FILES)), hard))
    return "\n".join(asyncio.run(_report(wanted or [*CHANNELS])))


async def _report(wanted: list[str]) -> list[str]:
    told = [f"{CONVERSATIONS} conversations at once; by HTTP beside {DEAF} streams that nobody reads"]
    for channel in wanted:
        with tempfile.TemporaryDirectory() as folder:
            found = await load(channel, Path(folder) / "home", CONVERSATIONS, MESSAGES, deaf=DEAF)
        told += [str(found), *(f"  {fault[:200]}" for fault in found.faults[:10])]
    return told
