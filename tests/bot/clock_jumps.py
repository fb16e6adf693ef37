"""The scheduler in a process whose wall clock jumps (see tests.walk.moved): it prints its nights.

`python -m tests.bot.clock_jumps FILE JUMP...`: FILE holds by how much the wall clock is ahead; each
JUMP, in hours, is made while the clocks that only ever run forward pass two minutes.
"""

import asyncio
import sys
from datetime import UTC, date, datetime
from pathlib import Path

from bot.runtime.scheduler import DreamSchedule, Scheduler

STEP = 30.0  # seconds
START = datetime(2026, 11, 20, 12, tzinfo=UTC)


class MovedLoop(asyncio.SelectorEventLoop):
    """An event loop whose monotonic clock is put forward."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


def set_clock(file: Path, hours: float) -> None:
    """The wall clock shows so many hours more than the start, by the file that the moved clock
    reads.
    """
    real = datetime.now(UTC).timestamp() - int(file.read_text())
    file.write_text(f"{int(START.timestamp() + hours * 3600 - real):+16d}")


async def run(file: Path, jumps: list[float]) -> None:
    """Print the day of each night, and after each jump the hours until the next dream."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, MovedLoop)
    set_clock(file, 0)

    async def night(day: date) -> None:
        print(f"dream {day}", flush=True)

    async def nightly() -> None:
        print("nightly", flush=True)

    async def day_end() -> None:
        return None

    dreams = DreamSchedule(at=lambda: "03:30", now=lambda: datetime.now(UTC), night=night)
    scheduler = Scheduler(UTC, nightly, dreams, day_end)
    await scheduler.start()
    hours = 0.0
    for jump in [0.0, *jumps]:
        hours += jump
        for _ in range(4):
            hours += STEP / 3600
            set_clock(file, hours)
            loop.ahead += STEP
            await settle()
        left = scheduler.next_dream()
        assert left is not None
        print(f"next in {(left - datetime.now(UTC)).total_seconds() / 3600:.1f} h", flush=True)
    scheduler.stop()


async def settle() -> None:
    """Until nothing is ready to run."""
    for _ in range(100):
        await asyncio.sleep(0)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=MovedLoop) as runner:
        runner.run(run(Path(sys.argv[1]), [float(word) for word in sys.argv[2:]]))
