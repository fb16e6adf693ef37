"""A reminder and a task are set in the page, by words and by calendar, as they were understood."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.console.wizards.reminders import ReminderWizard
from bot.console.wizards.routes import wizard_routes
from memory.store.automation.jobs import JobRow
from tests.bot.console.wizards.walking import Walk, texts
from tests.bot.inside import Inside, inside
from tests.bot.jobs.clock import ZONE, Clock, tick
from tests.channels.web.server import ScriptedBot, running


class Bench:
    def __init__(self, it: Inside, reminder: Walk, task: Walk, chinese: Walk, clock: Clock) -> None:
        self.it, self.clock = it, clock
        self.reminder, self.task, self.chinese = reminder, task, chinese

    async def rows(self) -> list[JobRow]:
        return list(await self.it.bot.store.jobs.open_jobs(""))


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    clock = Clock()
    async with inside(tmp_path, ["It rains."], ZONE, clock=clock) as it:
        bot = it.bot
        wizards = [
            ReminderWizard(kind=kind, jobs=bot.jobs, store=bot.store, now=bot.now)
            for kind in ("say", "do")
        ]
        async with (
            running(ScriptedBot(), wizard_routes(wizards)) as site,
            site.client() as client,
        ):
            yield Bench(
                it,
                Walk(client, "reminder"),
                Walk(client, "task"),
                Walk(client, "reminder", "zh-CN"),
                clock,
            )


async def test_words_are_shown_as_understood_and_nothing_is_set_before_the_end(
    bench: Bench,
) -> None:
    form = await bench.reminder.form()
    assert [kind["id"] for kind in form["kinds"]] == ["words", "picked"]
    assert "Asia/Shanghai" in form["about"]
    words = {"sentence": "每周一上午九点 浇花", "chat": "reminders"}
    shown = await bench.chinese.done("test", "words", **words)
    assert texts(shown)["what"] == "浇花"
    times = [text for step, text in texts(shown).items() if step.startswith("time-")]
    assert [time[:10] for time in times] == ["2026-11-30", "2026-12-07", "2026-12-14"]
    assert all("Asia/Shanghai" in time and "09:00" in time for time in times)
    assert await bench.rows() == []
    ended = await bench.chinese.done("finish", "words", **words)
    assert ended == {"text": "已设定 r1。", "path": "/tasks"}
    [row] = await bench.rows()
    assert (row.kind, row.body, row.channel, row.person) == ("say", "浇花", "web", "owner")


async def test_one_time_only_has_one_date_and_an_assumed_hour_is_said(bench: Bench) -> None:
    shown = await bench.reminder.done("test", "words", sentence="tomorrow pay the rent")
    assert [step for step in texts(shown) if step.startswith("time-")] == ["time-1"]
    assert "hour" in texts(shown)
    assert texts(shown)["repetition"] == "only once"


@pytest.mark.parametrize(
    ("repetition", "dates"),
    [
        ("", ["2026-12-31"]),
        ("day", ["2026-12-31", "2027-01-01", "2027-01-02"]),
        ("week", ["2026-12-31", "2027-01-07", "2027-01-14"]),
        ("month", ["2026-12-31", "2027-01-31", "2027-03-31"]),
        ("year", ["2026-12-31", "2027-12-31", "2028-12-31"]),
    ],
)
async def test_a_picked_time_repeats_as_chosen(
    bench: Bench, repetition: str, dates: list[str]
) -> None:
    given = {"moment": "2026-12-31T08:15", "repetition": repetition, "what": "rent"}
    shown = texts(await bench.reminder.done("test", "picked", **given))
    times = [text for step, text in shown.items() if step.startswith("time-")]
    assert [time[:10] for time in times] == dates
    assert all("08:15" in time for time in times)


async def test_weekdays_leave_the_weekend_out(bench: Bench) -> None:
    given = {"moment": "2026-11-27T08:00", "repetition": "weekdays", "what": "stand-up"}
    shown = texts(await bench.reminder.done("test", "picked", **given))
    assert [shown[f"time-{number}"][:10] for number in (1, 2)] == ["2026-11-27", "2026-11-30"]


@pytest.mark.parametrize(
    ("kind", "values", "field"),
    [
        ("words", {}, "sentence"),
        ("words", {"sentence": "pay the rent"}, "sentence"),
        ("words", {"sentence": "tomorrow at 9"}, "sentence"),
        ("words", {"sentence": f"tomorrow at 9 {'x' * 2_001}"}, "sentence"),
        ("picked", {"moment": "2020-01-01T00:00", "what": "late"}, "moment"),
        ("picked", {"moment": "soon", "what": "tea"}, "moment"),
        ("picked", {"moment": "2026-12-31T08:00"}, "what"),
        ("picked", {"moment": "2026-12-31T08:00", "what": "x", "repetition": "hour"}, "repetition"),
        ("dance", {}, "kind"),
    ],
)
async def test_what_cannot_be_is_refused_with_its_field(
    bench: Bench, kind: str, values: dict[str, str], field: str
) -> None:
    for step in ("test", "finish"):
        assert (await bench.reminder.refused(step, kind, **values))["field"] == field
    assert await bench.rows() == []


async def test_a_chat_that_is_not_the_owners_is_refused(bench: Bench) -> None:
    error = await bench.reminder.refused(
        "finish", "words", sentence="tomorrow 9:00 tea", chat="telegram:5006"
    )
    assert error["field"] == "chat"
    assert await bench.rows() == []


async def test_a_task_is_done_in_the_chat_that_was_chosen(bench: Bench) -> None:
    await bench.it.text("hello")
    form = await bench.task.form()
    [chat] = [field for field in form["kinds"][0]["fields"] if field["name"] == "chat"]
    assert [option["value"] for option in chat["options"]] == ["terminal:c1", "reminders"]
    assert chat["value"] == "terminal:c1"
    words = {"sentence": "tomorrow 8:00 look up the weather", "chat": "terminal:c1"}
    await bench.task.done("finish", "words", **words)
    [row] = await bench.rows()
    assert (row.kind, row.conversation) == ("do", await bench.it.conversation())
    bench.clock.set("2026-11-27T08:00")
    await tick(bench.it)
    assert any("It rains." in sent.text for sent in bench.it.channel.sent)
