"""At the end of a day its talk is in the day's log, in a whole bot: the view and what is shown of
folds stay as they are, and /forget finds it.
"""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.models.base import Request
from memory import failpoints
from memory.store.rows import FoldRow
from tests.bot.inside import Inside, inside
from tests.bot.talk import folded, words

LONG = "We spoke at length about the ferry to Naxos and who is to feed the cat. " * 10
LOG, SUMMARY = "- They talked about a ferry.", "## Goal and state\n- They talked about a ferry."
TUESDAY, WEDNESDAY = "2026-05-05", "2026-05-06"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0
        self.set(f"{TUESDAY} 10:00")

    def set(self, when: str) -> None:
        self.now = datetime.fromisoformat(when).replace(tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


SETTINGS = {"timezone": "UTC", "agent_max_context_turns": 6}


@pytest.fixture(autouse=True)
def no_failpoints():
    yield
    failpoints.arm({})


def script(request: Request) -> str:
    if request.purpose == "fold":
        return folded(LOG, SUMMARY)
    return f"re: {[text for text in words(request) if not text.startswith('[')][-1]}"


def log(folder: Path, day: str = TUESDAY) -> str:
    path = folder / "workspace" / "memory" / f"{day}.md"
    return path.read_text() if path.exists() else ""


async def rows(it: Inside) -> list[FoldRow]:
    return await it.bot.store.folds.folds(await it.conversation())


async def test_the_log_has_the_day_the_view_is_as_it_was_and_no_fold_is_shown(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with inside(tmp_path, script, SETTINGS, clock=clock) as it:
        await it.text(LONG)
        await it.text("My locker opens with 4711.")
        id = await it.conversation()
        before = await it.bot.store.sessions.load(id)
        clock.set(f"{WEDNESDAY} 00:01")
        await it.bot.log_ended_days()
        (row,) = await rows(it)
        assert row.log_only
        assert f"fold {row.id} -->" in log(tmp_path)
        assert LOG in log(tmp_path)
        assert "4711" in log(tmp_path)
        assert await it.bot.store.sessions.load(id) == before
        facts = await it.bot.report.facts(id)
        assert (facts["folds"], facts["folding"]) == ([], None)
        assert "Nothing is folded" in await it.text("/context diff")
    async with inside(tmp_path, script, SETTINGS, clock=clock) as it:
        await it.bot.log_ended_days()
        assert len(await rows(it)) == 1, "nor after a restart"


async def test_a_later_fold_tells_nothing_twice(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, script, SETTINGS, clock=clock) as it:
        for number in range(3):
            await it.text(f"Fact {number} is {4000 + number}.")
        clock.set(f"{WEDNESDAY} 00:01")
        await it.bot.log_ended_days()
        for number in range(3, 8):
            await it.text(f"Fact {number} is {4000 + number}.")
            await it.bot.settled()
        view_folds = [row for row in await rows(it) if not row.log_only]
        assert view_folds
        assert view_folds[0].summary_only
        told = log(tmp_path) + log(tmp_path, WEDNESDAY)
        for number in range(view_folds[-1].to_turn):
            assert told.count(f"User: Fact {number} is {4000 + number}.") == 1
        assert "4002" not in log(tmp_path, WEDNESDAY), "Tuesday's talk is in Tuesday's file"
        assert not await it.bot.store.folds.check_ledger()


async def test_a_failed_section_is_written_by_the_next_run(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, script, SETTINGS, clock=clock) as it:
        await it.text("My locker opens with 4711.")
        clock.set(f"{WEDNESDAY} 00:01")
        failpoints.arm({"MNEMA_TEST": "1", "MNEMA_FP": "fold.checked:raise"})
        await it.bot.log_ended_days()
        assert log(tmp_path) == ""
        failpoints.arm({})
        await it.bot.log_ended_days()
        await it.bot.settled()
        assert "4711" in log(tmp_path)
        assert len(await rows(it)) == 1


async def test_forgetting_finds_the_section_of_a_day(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, script, SETTINGS, clock=clock) as it:
        await it.text("My locker opens with 4711.")
        await it.text("The dentist is on 12 May.")
        clock.set(f"{WEDNESDAY} 00:01")
        await it.bot.log_ended_days()
        assert "4711" in log(tmp_path)
        await it.text("/forget 4711")
        await it.text("/forget yes")
        await it.bot.settled()
        assert "4711" not in log(tmp_path)
        assert "dentist" in log(tmp_path)
        assert "4711" not in "".join(row.log_text for row in await rows(it))


async def test_the_conversation_itself_recalls_nothing_of_what_it_still_shows(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with inside(tmp_path, script, SETTINGS, clock=clock) as it:
        await it.text("My locker opens with 4711.")
        clock.set(f"{WEDNESDAY} 00:01")
        await it.bot.log_ended_days()
        await it.text("Which number opens my locker?")
        shown = "\n".join(words(it.model.requests[-1]))
        assert shown.count("4711") == 2, "the turn itself: question and answer"
        await it.text("Which number opens my locker?", chat="c2")
        assert "4711" in "\n".join(words(it.model.requests[-1])), "another one recalls it"
