"""Many pictures at once through a platform: each answered once, and what opens them takes its turn.

Memory is read from outside: of the process, and of the children in which it opens what nobody
vouches for.
"""

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator, Seen
from tests.walk.channel_worlds import FeishuWorld, TelegramWorld, configured
from tests.walk.harness import Bot, until
from tests.walk.load import ROOMY, SHAPES, errors_of
from tests.walk.record import unended
from tests.walk.speech import answer, asked, tokens_in

MOST_CHILDREN, MOST_CHILD_MB = 1, 300  # as documented of what opens files
MOST_GROWTH_MB = 180  # of the process itself, however many files of 18 MB wait to be opened
SIDE = 3_000  # pixels: 27 MB decoded
LARGE = 18_000_000  # bytes
PATIENCE = 300.0
LOOK = 0.02


@dataclass(slots=True)
class Most:
    """The most that was seen at once: children, MB of all of them, MB of the process. others:
    children not counted.
    """

    others: set[int] = field(default_factory=set)
    children: int = 0
    opened: float = 0.0
    process: float = 0.0

    async def watch(self, pid: int) -> None:
        """Look again and again."""
        while True:
            ids = await asyncio.to_thread(lambda: {*_children(pid)} - self.others)
            sizes = [_resident(child) for child in ids if _command(child) != _command(pid)]
            self.children = max(self.children, len(sizes))
            self.opened = max(self.opened, sum(sizes))
            self.process = max(self.process, _resident(pid))
            await asyncio.sleep(LOOK)


def _children(pid: int) -> Iterator[int]:
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            yield from map(int, listed.read_text().split())


def _command(pid: int) -> bytes:
    """What it runs; a child that runs nothing of its own yet shares its parent's memory, and its
    name.
    """
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _resident(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1_000
    return 0.0


def picture() -> bytes:
    """Large when it is decoded, and as a file, by what stands behind its end."""
    out = BytesIO()
    Image.new("RGB", (SIDE, SIDE), (9, 99, 9)).save(out, "PNG", compress_level=9)
    return out.getvalue() + os.urandom(LARGE - len(out.getvalue()))


@pytest.mark.parametrize("world_of", [TelegramWorld, pytest.param(FeishuWorld, marks=by_night)])
@pytest.mark.parametrize("people", [8, pytest.param(50, marks=by_night)])
async def test_pictures_sent_at_once_are_each_answered_once_and_opened_in_turn(
    tmp_path: Path, world_of: type[TelegramWorld | FeishuWorld], people: int
) -> None:
    most, world = Most(), world_of()
    world.people = [SHAPES[world.name].format(7_001 + at) for at in range(people)]
    async with world, ModelEmulator(responder=answer) as model:
        bot = Bot(tmp_path, {**configured(world, model), **ROOMY})
        await bot.start()
        world.say(world.people[0], asked("first"))
        await until(
            lambda: world.seen(world.people[0]),
            "an answer that takes what every first one takes",
            PATIENCE,
        )
        before = _resident(bot.pid)
        most.others = {*_children(bot.pid)}
        watching = asyncio.create_task(most.watch(bot.pid))
        data = picture()
        for person in world.people:
            world.show(person, data, asked(f"{person}/picture"))
        try:
            await until(
                lambda: not world.unconfirmed() and not unended(bot.db), "all is answered", PATIENCE
            )
            seen = Counter(
                token
                for one in world.people
                for text in world.seen(one)
                for token in tokens_in(text)
            )
            print(most, f"{most.process - before:.0f} MB more than the {before:.0f} before")
            assert seen == Counter(["first", *(f"{person}/picture" for person in world.people)])
            assert {
                token
                for one in model.requests
                if "base64," in one.raw.decode()
                for token in _asked(one)
            } >= {f"{person}/picture" for person in world.people}, "the model saw each picture"
            assert most.children <= MOST_CHILDREN
            assert 30 < most.opened < MOST_CHILD_MB
            assert most.process - before < MOST_GROWTH_MB
            assert errors_of(bot) == []
            assert await bot.term() == 0
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            if bot.alive:
                await bot.kill()


def _asked(request: Seen) -> list[str]:
    return tokens_in(request.raw.decode())
