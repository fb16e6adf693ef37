"""Faults of the machine: an unreadable file keeps its last text, no one waits forever, and the
owner is notified.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.agent.prompt.persona import PersonaFiles
from bot.cli.doctor.report import run_checks
from bot.cli.doctor.texts import ShownCheck
from bot.config.home import HomeFolder
from bot.console.services import BotConsole
from bot.console.site import HealthProbes
from bot.models.base import Request
from bot.telemetry.faults import TroubleList
from memory.store.rows import TurnRow
from memory.workspace.files import Workspace
from tests.bot.inside import Inside, inside
from tests.bot.runtime.descriptors import no_descriptors
from tests.bot.talk import words
from tests.by_night import first_by_day


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere.md"))
    path.symlink_to("elsewhere.md")


def lost_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere.md")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def mended(path: Path, text: str) -> None:
    path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    path.write_text(text)


Broken = Callable[[Path], None]


async def checks(home: Path) -> dict[str, ShownCheck]:
    return {check.name: check for check in await run_checks(HomeFolder(root=home))}


def notices(it: Inside, start: str) -> list[str]:
    return [sent.text for sent in it.channel.sent if sent.text.startswith(start)]


@pytest.mark.parametrize("broken", first_by_day(2, [link, folder, lost_link, pipe]))
async def test_a_persona_that_cannot_be_read_stays_as_it_was_and_the_owner_is_told_once(
    tmp_path: Path, broken: Broken
) -> None:
    HomeFolder(root=tmp_path).ensure()
    soul = tmp_path / "workspace" / "SOUL.md"
    soul.write_text("You are Ada.")
    async with inside(tmp_path, lambda asked: "yes", {"language": "en"}) as it:
        assert await it.text("one") == "yes"
        await it.bot.trouble_notifications.look()
        broken(soul)
        for text in ("two", "three"):
            assert await it.text(text) == "yes"
            await it.bot.trouble_notifications.look()
        assert [request.system[0] for request in it.model.requests] == ["You are Ada."] * 3
        await it.channel.until(lambda: bool(notices(it, "SOUL.md")))
        ready, status = await HealthProbes(it.bot).ready(), await BotConsole(it.bot).status()
        assert (
            ready.reasons["troubles"]
            == status["troubles"]
            == {"SOUL.md": "it is not a plain file of this account, or is a hard link"}
        )
        assert ready.ok, "people are answered"
        found = (await checks(tmp_path))["SOUL.md"]
        assert (found.ok, found.message) == (
            False,
            "It cannot be read: it is not a plain file of this account, or is a hard link.",
        )
        assert found.hint.startswith("Put a plain file that the bot's account can read at ")
    async with inside(tmp_path, lambda asked: "yes", {"language": "en"}) as it:
        assert await it.text("four") == "yes"
        assert it.model.requests[0].system[0] == "You are Ada.", "after a restart too"
        await it.bot.trouble_notifications.look()
        mended(soul, "You are Bea.")
        assert await it.text("five") == "yes"
        assert it.model.requests[-1].system[0] == "You are Bea."
        await it.bot.trouble_notifications.look()
        await it.channel.until(lambda: bool(notices(it, "SOUL.md can be read again")))
        assert (await HealthProbes(it.bot).ready()).reasons["troubles"] == {}
        assert notices(it, "SOUL.md cannot be read") == []
    assert (await checks(tmp_path))["SOUL.md"].ok


def test_a_persona_read_at_the_descriptor_limit_stays_and_is_read_again_after_it(
    tmp_path: Path,
) -> None:
    soul = tmp_path / "SOUL.md"
    soul.write_text("You are Ada.")
    troubles = TroubleList()
    persona = PersonaFiles(Workspace(tmp_path), lambda space: (), tuple, troubles=troubles)
    assert persona.soul() == "You are Ada."
    soul.write_text("You are Bea.")
    with no_descriptors():
        assert persona.soul() == "You are Ada."
        assert [(one.what, str(one.reason)) for one in troubles.current()] == [
            ("SOUL.md", "Too many open files")
        ]
    assert persona.soul() == "You are Bea."
    assert troubles.current() == ()


async def test_doctor_names_a_memory_file_that_is_none(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    assert (await checks(tmp_path))["MEMORY.md"].ok
    pipe(tmp_path / "workspace" / "MEMORY.md")
    assert not (await checks(tmp_path))["MEMORY.md"].ok


async def test_a_message_that_only_meets_faults_of_the_machine_is_told_and_others_are_answered(
    tmp_path: Path,
) -> None:
    def script(request: Request) -> str:
        if "broken" in "".join(words(replace(request, messages=request.messages[-1:]))):
            raise OSError(5, "Input/output error")
        return "yes"

    async with inside(tmp_path, script) as it:
        waiting = it.channel.hear("broken, please", chat="c2", key="k")
        assert await it.text("well", chat="c1") == "yes"
        [notice] = await it.answer(waiting.key)
        assert notice.text.startswith(
            "I could not answer because of a fault on the machine I run on. The owner has "
            "been notified."
        )
        assert len(it.model.requests) == 4, "three tries of one, one of the other"
        await it.bot.trouble_notifications.look()
        await it.channel.until(lambda: bool(notices(it, "A message could not be answered")))
        assert "(Input/output error)" in notices(it, "A message could not be answered")[0]
        ready = await HealthProbes(it.bot).ready()
        assert (ready.ok, ready.reasons["troubles"]) == (False, {"turns": "Input/output error"})
        assert 'mnema_turn_faults_total{error="OSError"} 3' in await it.bot.metrics.text()
        assert await it.text("well again", chat="c2") == "yes", "the lane goes on"


class Unclaimable:
    """A store, or its delivery part, that cannot claim a message."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return Unclaimable(self._real.delivery) if name == "delivery" else getattr(self._real, name)

    async def claim(self, *args: Any, **more: Any) -> TurnRow:
        raise OSError(24, "Too many open files")


async def test_a_message_that_cannot_even_be_opened_is_told_too(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda asked: "yes", around=Unclaimable) as it:  # type: ignore[arg-type]
        it.channel.hear("你好", key="k")
        await it.channel.until(lambda: bool(it.parts("k")), seconds=20)
        [notice] = it.parts("k")
        assert notice.text.startswith("我运行的这台机器出了故障，没能回答；所有者已收到通知。")
        assert await it.bot.store.delivery.waiting() == []


def test_a_failed_turn_is_a_trouble_for_ten_minutes() -> None:
    now = [0.0]
    troubles = TroubleList(lambda: now[0])
    troubles.turn_failed(OSError(28, "No space left on device"))
    now[0] = 599.0
    assert [one.what for one in troubles.current()] == ["turns"]
    now[0] = 601.0
    assert troubles.current() == ()


def test_no_more_than_a_hundred_troubles_are_kept_and_each_can_still_end() -> None:
    troubles = TroubleList()
    for number in range(101):
        troubles.unreadable(f"web-{number}", "MEMORY.md", OSError(5, "Input/output error"))
    assert len(troubles.current()) == 100
    for number in range(101):
        troubles.readable(f"web-{number}", "MEMORY.md")
    assert troubles.current() == ()


async def test_a_trouble_that_comes_and_goes_is_told_of_once_an_hour(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    memory = tmp_path / "workspace" / "MEMORY.md"
    async with inside(tmp_path, lambda asked: "yes", {"language": "en"}) as it:
        for number in range(3):
            pipe(memory)
            await it.text(f"message {number}", chat=f"c{number}")
            await it.bot.trouble_notifications.look()
            mended(memory, "- tea")
            await it.bot.trouble_notifications.look()
        await asyncio.sleep(0)
        await it.bot.outbox_dispatcher.settled()
        assert len(notices(it, "MEMORY.md cannot be read")) == 1
        assert len(notices(it, "MEMORY.md can be read again")) == 1


def test_files_may_be_asked_for_while_a_turn_notes_one() -> None:
    class Compared(str):
        """A path whose comparison lets another thread run."""

        def __eq__(self, other: object) -> bool:
            troubles.unreadable("s1", "MEMORY.md", OSError(24, "too many open files"))
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    troubles = TroubleList()
    for path in (Compared("SOUL.md"), "MEMORY.md"):
        troubles.unreadable("", path, OSError(24, "too many open files"))
    assert troubles.files() == (("", "SOUL.md"), ("", "MEMORY.md"))
    assert troubles.files() == (("", "SOUL.md"), ("", "MEMORY.md"), ("s1", "MEMORY.md"))
