"""A clock that a test sets, and what a bot under it has told."""

from collections.abc import Callable
from datetime import UTC, datetime

from tests.bot.inside import Inside

ZONE = {"timezone": "Asia/Shanghai"}
BEGAN = datetime(2026, 11, 26, 8, 30, tzinfo=UTC).timestamp()  # 16:30 there, a Thursday


class Clock:
    """The time as the bot sees it."""

    def __init__(self) -> None:
        self.at = BEGAN

    def __call__(self) -> float:
        return self.at

    def set(self, local: str) -> None:
        """Set the local time of ZONE."""
        self.at = datetime.fromisoformat(f"{local}+08:00").timestamp()


def notices(it: Inside, sign: str = "⏰") -> list[str]:
    return [sent.text for sent in it.channel.sent if sent.kind == "notice" and sign in sent.text]


async def until(it: Inside, done: Callable[[], bool]) -> None:
    it.bot.ticker.wake()
    await it.channel.until(done)


async def tick(it: Inside) -> None:
    """Fire what is due, let its turns end, and store how they ended."""
    while await it.bot.ticker.fire_due():
        pass
    await it.bot.settled()
    await it.bot.ticker.runs.settle()
