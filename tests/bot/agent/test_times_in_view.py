"""Kept messages show when they came, the same after a restart, and nothing else of the bot sees
those times.
"""

from collections.abc import Sequence
from pathlib import Path

from bot.models.base import Request
from memory.context.time_marks import is_time_mark
from memory.conversation import Text
from tests.bot.inside import Inside, inside

NOON = 1_795_176_000.0  # 2026-11-20 12:00 UTC


class Clock:
    now = NOON

    def __call__(self) -> float:
        return self.now


def script(request: Request) -> str:
    return "Noted."


def words(request: Request) -> list[str]:
    return [
        part.text
        for message in request.messages
        for part in message.parts
        if isinstance(part, Text)
    ]


def kept(it: Inside) -> Sequence[object]:
    """The kept turns of the newest request."""
    request = [request for request in it.model.requests if request.purpose == "turn"][-1]
    return request.messages[: request.stable]


async def talk(it: Inside, clock: Clock, *said: tuple[str, float]) -> None:
    for text, hours in said:
        clock.now += hours * 3_600
        await it.text(text)


async def test_times_stand_before_kept_messages_and_a_restart_shows_the_same_bytes(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with inside(tmp_path, script, {"timezone": "Asia/Shanghai"}, clock=clock) as it:
        await talk(
            it,
            clock,
            ("my locker is 4711", 0),
            ("it is blue", 0.5),
            ("the gate is open", 2),
            ("good night", 9),
        )
        before = kept(it)
        shown = words(it.model.requests[-1])
    assert [text for text in shown if is_time_mark(text)] == [
        "[2026-11-20 Fri 20:00]",
        "[2026-11-20 Fri 22:30]",
    ]
    assert shown[shown.index("[2026-11-20 Fri 22:30]") + 1] == "the gate is open"
    async with inside(tmp_path, script, clock=clock) as it:
        await talk(it, clock, ("are you there", 0.1))
        assert kept(it)[: len(before)] == before
        assert "[2026-11-21 Sat 07:30]" in words(it.model.requests[-1])
        messages = [
            m
            for turn in (await it.bot.store.sessions.load(await it.conversation())).turns
            for m in turn.messages
        ]
        assert not any(is_time_mark(part.text) for message in messages for part in message.parts)  # type: ignore[union-attr]
        exported = await it.text("/export")
        assert "[2026-11-21 Sat 07:30]" not in exported


async def test_another_zone_is_a_recorded_change_of_the_prefix(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, script, {"timezone": "Asia/Shanghai"}, clock=clock) as it:
        await talk(it, clock, ("my locker is 4711", 0), ("it is blue", 0.1), ("and new", 0.1))
        first = kept(it)
        generation = (await it.bot.store.sessions.load(await it.conversation())).prefix_generation
        it.bot.file.set("timezone", "Europe/Rome")
        await talk(it, clock, ("still blue", 0.1))
        assert kept(it)[: len(first)] != first
        assert "[2026-11-20 Fri 13:00]" in words(it.model.requests[-1])
        after = (await it.bot.store.sessions.load(await it.conversation())).prefix_generation
        assert after == generation + 1
        await talk(it, clock, ("very blue", 0.1))
        assert (
            await it.bot.store.sessions.load(await it.conversation())
        ).prefix_generation == after
