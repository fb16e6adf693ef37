"""Commands in the background: approved once, looked at, ended with their tree, told of once, never
run again.
"""

import asyncio
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bot.models.base import Request
from memory.conversation import ToolCall
from tests.bot.inside import Inside
from tests.bot.talk import call, folded, results, words
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.bot.tools.exec.test_exec_in_bot import ON, approve, ask, files_of, owned
from tests.by_night import by_night
from tests.walk.harness import until

# What is slept is looked for on the whole machine, where others run the same tests: the seconds are
# this process's own.
SECONDS = os.environ.get("MNEMA_TEST_SLEEP") or f"600.{os.getpid()}"
SLEEPER = ("sh", "-c", f"echo begun; touch begun; exec sleep {SECONDS}")
ONCE = ("sh", "-c", f"echo x >> ran; exec sleep {SECONDS}")


def background(*argv: str, id: str = "t1", **more: Any) -> Any:
    return call("exec", id=id, argv=list(argv), background=True, **more)


def ended(it: Inside) -> list[str]:
    """What the newest request shows of ended work."""
    return [
        text
        for text in words(it.model.requests[-1])
        if text.startswith("Ended: ") or "\nEnded: " in text
    ]


async def begun(it: Inside, name: str = "begun") -> None:
    await until((files_of(it) / name).exists, "it runs")


async def none_open(it: Inside) -> bool:
    return not await it.bot.store.tasks.open_tasks_of_space("")


def sleepers() -> int:
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += path.read_bytes() == f"sleep\0{SECONDS}\0".encode()
        except OSError:
            continue
    return found


@needs_sandbox
async def test_it_returns_at_once_and_its_end_is_one_message(tmp_path: Path) -> None:
    run = background(
        "sh", "-c", "echo working; while [ ! -e go ]; do sleep 0.02; done; echo finished"
    )
    script: Any = [run, "asked", "it runs", _status("w1", 0), "?", "it is done"]
    async with owned(tmp_path, script) as it:
        await ask(it)
        assert "w1 runs in the background" in await approve(it)
        await until(lambda: "working" in _output(it), "it prints")
        assert "w1 running" in await _look(it)
        assert " s · `working`" in await it.text("/tasks")
        (files_of(it) / "go").touch()
        await it.channel.until(lambda: it.channel.sent[-1].text == "it is done")
        await it.bot.settled()
        [told] = ended(it)
        assert "w1 done" in told
        assert "working\nfinished" in told
        assert "exit code 0" in told
        assert await it.bot.store.tasks.open_tasks_of_space("") == []


def _status(name: str, after: int) -> Any:
    return ToolCall(id="s1", name="exec_status", input=f'{{"id": "{name}", "after": {after}}}')


def _output(it: Inside) -> str:
    return "".join(one.output.text() for one in it.bot.exec_tools.background._known.values())


async def _look(it: Inside) -> str:
    await it.text("how is it?")
    return results(it.model.requests[-1])[-1].text


@needs_sandbox
@pytest.mark.parametrize("command", ["/stop", "/context clear"])
async def test_stop_and_clear_end_its_tree_at_once_and_tell_nobody(
    tmp_path: Path, command: str
) -> None:
    told = iter([background(*SLEEPER), "asked", "it runs"])
    async with owned(
        tmp_path, lambda one: next(told) if one.purpose == "turn" else folded("- x", "x")
    ) as it:
        before = sleepers()
        await ask(it)
        await approve(it)
        await begun(it)
        await until(lambda: sleepers() == before + 1, "it sleeps")
        began = time.monotonic()
        assert "nothing to stop" not in (await it.text(command)).lower()
        await until(lambda: sleepers() == before, "it is gone")
        assert time.monotonic() - began < 2
        await until(lambda: none_open(it), "its row is ended")
        await it.bot.settled()
        assert len([one for one in it.model.requests if one.purpose == "turn"]) == 3


@needs_sandbox
@pytest.mark.parametrize("command", ["/stop", "/context clear"])
async def test_stop_and_clear_end_sub_agents_and_a_command_together(
    tmp_path: Path, command: str
) -> None:
    begun_children, gate = asyncio.Semaphore(0), asyncio.Event()
    tasks = [{"goal": f"ponder {name}"} for name in "abc"]
    told = iter(
        [
            background(*SLEEPER),
            "asked",
            "it runs",
            call("delegate", id="d1", tasks=tasks),
            "they run on",
        ]
    )
    script = lambda one: next(told) if one.purpose == "turn" else folded("- x", "x")  # noqa: E731
    async with owned(
        tmp_path, script, {**ON, "delegate": {"enabled": True, "wait_seconds": 0}}
    ) as it:
        before, stream = sleepers(), it.model.stream

        async def held(request: Request) -> Any:
            if "ponder" in words(request)[0]:
                begun_children.release()
                await gate.wait()
            async for event in stream(request):
                yield event

        it.model.stream = held  # type: ignore[method-assign]
        await ask(it)
        await approve(it)
        await begun(it)
        assert await it.text("and ponder") == "they run on"
        for _ in range(3):
            await begun_children.acquire()
        assert len(await it.bot.store.tasks.open_tasks_of_space("")) == 4
        clock = time.monotonic()
        await it.say(command)
        await until(lambda: none_open(it), "all are ended")
        await until(lambda: sleepers() == before, "its processes are gone")
        assert time.monotonic() - clock < 2, "it is about 0.1 s"
        await it.bot.settled()
        assert ended(it) == []


@needs_sandbox
async def test_a_person_and_the_model_can_end_one_by_its_name(tmp_path: Path) -> None:
    stop = _stop("w2")
    script: Any = [
        background(*SLEEPER),
        "asked",
        "runs",
        background(*SLEEPER),
        "asked",
        "runs",
        stop,
        "ended",
    ]
    async with owned(tmp_path, script) as it:
        for _ in range(2):
            await ask(it)
            await approve(it)
            await begun(it)
        shown = await it.text("/tasks")
        assert "w1 · command · sh -c" in shown
        assert "w2 · command" in shown
        assert "w1 was stopped" in await it.text("/tasks cancel w1")
        assert "No w1 is running" in await it.text("/tasks cancel w1")
        await it.text("end it")
        assert "w2 was ended" in results(it.model.requests[-1])[-1].text
        assert await it.bot.store.tasks.open_tasks_of_space("") == []


def _stop(name: str) -> Any:
    return ToolCall(id="s2", name="exec_stop", input=f'{{"id": "{name}"}}')


@needs_sandbox
async def test_three_run_at_once_and_no_fourth(tmp_path: Path) -> None:
    script = [
        step for n in range(4) for step in (background(*SLEEPER, id=f"t{n}"), "asked", "runs")
    ]
    async with owned(tmp_path, script) as it:
        for number in range(4):
            await ask(it)
            told = await approve(it)
            assert ("failed" in told) == (number == 3), told
        assert len(await it.bot.store.tasks.open_tasks_of_space("")) == 3


@needs_sandbox
@pytest.mark.parametrize(("seconds", "fits"), [(3_600, True), (3_601, False)])
async def test_it_may_take_an_hour(tmp_path: Path, seconds: int, fits: bool) -> None:
    async with owned(
        tmp_path, [background("true", seconds=seconds), "asked", "runs", "done"]
    ) as it:
        await it.text("please")
        await it.bot.settled()
        asked = any(re.search("/approve", sent.text) for sent in it.channel.sent)
        assert asked == fits


KILLED = """
import asyncio, os, sys
from pathlib import Path
from tests.bot.tools.exec.test_background_in_bot import ONCE, background, begun
from tests.bot.tools.exec.test_exec_in_bot import approve, ask, owned

async def main():
    async with owned(Path(sys.argv[1]), [background(*ONCE), "asked", "runs"]) as it:
        await ask(it)
        await approve(it)
        await begun(it, "ran")
        await it.bot.settled()
        os.kill(os.getpid(), 9)

asyncio.run(main())
"""


@needs_sandbox
async def test_what_ran_when_the_program_ended_is_lost_and_told_once(tmp_path: Path) -> None:
    before = sleepers()
    async with owned(tmp_path, [background(*ONCE), "asked", "runs"]) as it:
        await ask(it)
        await approve(it)
        await begun(it, "ran")
        await until(lambda: sleepers() == before + 1, "it sleeps")
    assert sleepers() == before
    async with owned(tmp_path, ["I do not know how it ended."]) as it:
        await it.bot.settled()
        [told] = ended(it)
        assert "w1 lost" in told
        assert (files_of(it) / "ran").read_text() == "x\n"
    async with owned(tmp_path, ["never asked"]) as it:
        await it.bot.settled()
        assert it.model.requests == []


@needs_sandbox
@by_night
@pytest.mark.kill
async def test_after_a_kill_it_is_lost_told_once_and_not_run_again(tmp_path: Path) -> None:
    before = sleepers()
    known = {**os.environ, "MNEMA_TEST_SLEEP": SECONDS}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(tmp_path), env=known
    )
    assert await process.wait() == -9
    await until(lambda: sleepers() == before, "the tree went with it", 5)
    async with owned(tmp_path, ["I do not know how it ended."]) as it:
        await it.bot.settled()
        [told] = ended(it)
        assert "w1 lost" in told
        assert (files_of(it) / "ran").read_text() == "x\n"
    async with owned(tmp_path, ["never asked"]) as it:
        await it.bot.settled()
        assert it.model.requests == []
