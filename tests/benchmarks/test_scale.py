"""The plumbing of the loads: each message is sent once and waited for, and people by HTTP get their
answers.
"""

import asyncio
from pathlib import Path

from benchmarks.process import SHORT, Writer, model_server, running, settings
from benchmarks.scale import send_all, send_paced
from benchmarks.scale_shape import Course, Name, Shape, now


class Echo:
    """An engine that answers a message once every other one of the same call has been sent."""

    name = "echo"

    def __init__(self) -> None:
        self.workers: list[int] = []
        self.course = Course()
        self.said: list[Name] = []

    async def say(self, name: Name, text: str) -> None:
        self.said.append(name)
        self.course.asked[name] = now()
        await asyncio.sleep(0)
        self.course.begun[name] = self.course.ended[name] = self.course.stored[
            name
        ] = self.course.done[name] = now()
        self.course.answers.append(name)

    async def settle(self) -> int:
        return 0


async def test_every_message_is_sent_once_and_in_order() -> None:
    shape, engine = Shape(conversations=20, paced=30, turns=2, rate=10_000), Echo()
    await send_all(engine, shape.warm_names())
    await send_paced(engine, shape.paced_names(), shape.rate)
    await send_all(engine, shape.crowd_names())
    names = [*shape.warm_names(), *shape.paced_names(), *shape.crowd_names()]
    assert sorted(engine.said) == sorted(set(names))
    assert engine.course.faults(names) == []
    assert len(engine.course.added(names)) == len(names)


async def test_one_who_writes_by_http_is_answered_by_a_real_bot(tmp_path: Path) -> None:
    async with model_server(reply=SHORT) as url, running(tmp_path / "home", settings(url)) as bot:
        writer = Writer(bot, "c1")
        assert await writer.ask("hello") > 0
        assert await writer.ask("hello again") > 0
        await writer.close()
        assert bot.cpu().own > 0
        assert bot.rss() > 10
