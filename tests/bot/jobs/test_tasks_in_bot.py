"""Tasks in a running bot: quiet hours, limits, their own turns, failures, and what /tasks
changes.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.agent.turn_context import JOB_STEPS
from bot.errors import ModelError
from bot.jobs.firing import MAX_FAILS, RETRY_MINUTES
from bot.models.base import Answer, Request, TokensUsed
from channels.errors import AwaitsUser, LoggedOut
from channels.testing import ScriptedChannel
from memory.conversation import Text
from tests.bot.inside import TERMINAL, Inside, inside
from tests.bot.jobs.clock import ZONE, Clock, notices, tick, until
from tests.bot.talk import Held, call, results, words

DAILY = "/remind do daily 8:00 check"


async def states(it: Inside, number: int = 1, space: str = "") -> list[tuple[str, str]]:
    """How the due moments of a job ended, oldest first."""
    row = await it.bot.store.jobs.find(space, number)
    assert row is not None
    return [
        (one.state, one.reason)
        for one in reversed(await it.bot.store.jobs.occurrences(row.id, 100))
    ]


async def due(it: Inside, number: int = 1) -> datetime:
    row = await it.bot.store.jobs.find("", number)
    assert row is not None
    return datetime.fromtimestamp(row.next_at, UTC)


async def test_quiet_hours_put_a_task_off_and_a_reminder_not(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, lambda asked: "done", ZONE, clock=clock) as it:
        await it.text("/remind do every 60m look")
        await it.text("/remind tomorrow 6:00 wake up")
        clock.set("2026-11-27T06:00:01")
        await tick(it)
        assert "⏰ wake up" in notices(it)
        assert it.model.requests == []
        assert await states(it) == [("skipped", "late")], (
            "a task of each hour is worth half an hour"
        )
        clock.set("2026-11-27T06:30:01")
        await tick(it)
        assert (await states(it))[-1] == ("held", "quiet")
        assert "quiet hours" in await it.text("/tasks r1")
        clock.set("2026-11-27T07:30:00")
        await tick(it)
        assert (await states(it))[-1] == ("done", "")
        assert len(it.model.requests) == 1
        assert await due(it) == datetime(2026, 11, 27, 0, 30, tzinfo=UTC)


async def test_a_task_in_the_quiet_hours_is_warned_of_and_they_are_each_persons_choice(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with inside(tmp_path, lambda asked: "done", ZONE, clock=clock) as it:
        await it.text("/remind do every day 6:00 look")
        assert "done at 07:30" in notices(it)[0]
        assert "22:30" in await it.text("/tasks quiet")
        assert "23:00 to 05:00" in await it.text("/tasks quiet 23-5")
        assert "as 22:30-07:30" in await it.text("/tasks quiet never")
        clock.set("2026-11-27T06:00:01")
        await tick(it)
        assert await states(it) == [("done", "")]
        assert "没有安静时段" in await it.text("/任务 安静 关")
        assert "22:30 到 07:30" in await it.text("/任务 安静 默认")


async def test_a_single_task_that_was_put_off_is_paused_and_resumed(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, lambda asked: "done", ZONE, clock=clock) as it:
        await it.text("/remind do today 23:00 look")
        clock.set("2026-11-26T23:00:01")
        await tick(it)
        assert await it.text("/tasks pause r1") == "r1 is paused."
        assert "2026-11-27 Fri 07:30" in await it.text("/tasks resume r1")
        clock.set("2026-11-27T07:30:01")
        await tick(it)
        assert await states(it) == [("held", "quiet"), ("done", "")]


async def test_each_person_has_a_zone(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(
        tmp_path, ["hi", call("remind", what="x", at="2026-11-27T09:00"), "ok"], ZONE, clock=clock
    ) as it:
        assert "Asia/Shanghai" in await it.text("/tasks zone")
        assert "Europe/Berlin, where it is 2026-11-26 09:30" in await it.text(
            "/tasks zone Europe/Berlin"
        )
        assert "no time zone" in await it.text("/tasks zone Mars/Olympus")
        await it.text("/remind tomorrow 8:00 call")
        assert any("2026-11-27 Fri 08:00 Europe/Berlin" in text for text in notices(it))
        await it.text("hello")
        assert any("09:30, UTC+1" in text for text in words(it.model.requests[-1]))
        await it.text("remind me")
        assert "09:00 Europe/Berlin" in results(it.model.requests[-1])[0].text
        assert "你的时区是 Asia/Shanghai" in await it.text("/任务 时区 默认")


async def test_a_task_changes_neither_memory_nor_persona_and_sets_no_tasks(tmp_path: Path) -> None:
    clock = Clock()
    script = [
        call("remind", what="more", at="2026-11-29T09:00"),
        call("memory_write", id="t2", text="The user likes tea."),
        call("write_file", id="t3", path="SOUL.md", content="x"),
        call("reminders", id="t4", cancel=1),
        "Done.",
    ]
    async with inside(tmp_path, script, ZONE, clock=clock) as it:
        await it.text(DAILY)
        clock.set("2026-11-27T08:00:01")
        await tick(it)
        told = results(it.model.requests[-1])
        assert len(told) == 4
        assert all("not allowed in the turn of a task" in one.text for one in told)
        assert "r1" in await it.text("/tasks")


async def test_a_task_has_eight_steps_and_so_many_tokens(tmp_path: Path) -> None:
    clock = Clock()
    steps = (call("list_files", id=f"t{number}", path=f"{number}") for number in range(100))

    def endless(asked: Request) -> Any:
        return next(steps) if asked.may_call else "What I have."

    async with inside(tmp_path, endless, ZONE, clock=clock) as it:
        await it.text(DAILY)
        clock.set("2026-11-27T08:00:01")
        await tick(it)
        assert len(it.model.requests) == JOB_STEPS + 1
        assert any(sent.text.startswith("What I have.") for sent in it.channel.sent)

    def costly(asked: Request) -> Any:
        parts = (next(steps),) if asked.may_call else (Text(text="Enough."),)
        return [
            Answer(parts=parts, stop="end", usage=TokensUsed(input=30_000, output=5), model="m")
        ]

    async with inside(tmp_path, costly, ZONE, clock=clock) as it:
        clock.set("2026-11-28T08:00:01")
        await tick(it)
        assert len(it.model.requests) == 3, "after the second answer 50,000 tokens are used up"
        assert await states(it) == [("done", ""), ("done", "")]


async def test_a_task_sees_how_its_last_three_times_ended(tmp_path: Path) -> None:
    clock, numbers = Clock(), iter(range(1, 100))
    async with inside(tmp_path, lambda asked: f"answer {next(numbers)}", ZONE, clock=clock) as it:
        await it.text(DAILY)
        for day in range(27, 31):
            clock.set(f"2026-11-{day}T08:00:01")
            await tick(it)
        clock.set("2026-12-01T08:00:01")
        await tick(it)
        asked = next(
            text for text in reversed(words(it.model.requests[-1])) if text.startswith("⏰ r1")
        )
        assert [line[13:] for line in asked.splitlines() if line.startswith("- ")] == [
            f"08:00 done: answer {number}" for number in (4, 3, 2)
        ]


async def test_a_model_that_does_not_answer_is_tried_again_and_three_failures_pause_the_job(
    tmp_path: Path,
) -> None:
    clock = Clock()

    def down(asked: Request) -> Any:
        raise ModelError("away", kind="down")

    channel = ScriptedChannel(
        name="terminal", account="local", capabilities=replace(TERMINAL, buttons=True)
    )
    async with inside(tmp_path, down, ZONE, channel, clock=clock) as it:
        await it.text(DAILY)
        for day in range(27, 27 + MAX_FAILS):
            clock.set(f"2026-11-{day}T08:00:01")
            await tick(it)
            for minutes in RETRY_MINUTES:
                clock.at += minutes * 60 - 1
                await tick(it)
                clock.at += 2
                await tick(it)
            told = await states(it)
            assert told[-len(RETRY_MINUTES) - 1 :] == [("failed", "model")] * (
                1 + len(RETRY_MINUTES)
            )
        await it.channel.until(lambda: bool(notices(it, "paused")))
        assert len(notices(it, "did not answer")) == MAX_FAILS, (
            "once for each day, not for each attempt"
        )
        assert len(notices(it, "paused")) == 1
        assert "Paused: it failed 3 times" in await it.text("/tasks r1")
        [told_paused] = [sent for sent in it.channel.sent if "paused" in sent.text]
        [resume] = told_paused.buttons
        await it.text("", act="press", target=resume.data)
        row = await it.bot.store.jobs.find("", 1)
        assert row is not None
        assert (row.state, row.fails) == ("on", 0)


async def test_a_single_task_is_tried_again_until_it_works(tmp_path: Path) -> None:
    clock = Clock()
    answers: Iterator[Any] = iter([ModelError("away", kind="down"), "It worked."])
    async with inside(tmp_path, lambda asked: [next(answers)], ZONE, clock=clock) as it:
        await it.text("/remind do 10m check")
        clock.at += 601
        await tick(it)
        assert await states(it) == [("failed", "model")]
        assert "being retried" in await it.text("/tasks r1")
        clock.at += RETRY_MINUTES[0] * 60
        await tick(it)
        assert await states(it) == [("failed", "model"), ("done", "")]
        row = await it.bot.store.jobs.find("", 1)
        assert row is not None
        assert (row.state, row.fails) == ("done", 0)


async def test_a_task_whose_last_run_is_still_on_is_skipped(tmp_path: Path) -> None:
    clock = Clock()
    model = Held(lambda asked: "at last", lambda asked: True)
    async with inside(tmp_path, ["x"], ZONE, clock=clock) as it:
        it.bot.models.use(model)
        await it.text("/remind do every 30m look")
        clock.at += 1801
        await it.bot.ticker.fire_due()
        await model.begun.wait()
        clock.at += 1800
        await it.bot.ticker.fire_due()
        assert await states(it) == [("run", ""), ("skipped", "busy")]
        model.go_on.set()
        await tick(it)
        assert await states(it) == [("done", ""), ("skipped", "busy")]


async def test_so_many_tasks_a_day_and_one_more(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(
        tmp_path, lambda asked: "done", ZONE | {"jobs": {"do_a_day": 2}}, clock=clock
    ) as it:
        await it.text("/remind do every 60m look")
        for _ in range(4):
            clock.at += 3601
            await tick(it)
        assert await states(it) == [("done", "")] * 2 + [("skipped", "limit")] * 2
        await it.channel.until(lambda: bool(notices(it, "used up")))
        assert len(notices(it, "used up")) == 1
        clock.set("2026-11-27T08:30:05")
        await tick(it)
        clock.at += 3600
        await tick(it)
        assert (await states(it))[-2:] == [("skipped", "late"), ("done", "")]


async def test_edit_changes_time_words_or_both_and_run_does_not_count(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, ["hi"], ZONE, clock=clock) as it:
        await it.text("/remind tomorrow 8:00 call Anna")
        assert await it.text("/tasks edit r1 tomorrow 9:30") == (
            "r1 has a new time and the same words.\n⏰ 2026-11-27 Fri 09:30 Asia/Shanghai (in 17 "
            "h) · r1\ncall Anna"
        )
        assert "09:30" in await it.text("/tasks")
        assert "call Anna" in await it.text("/tasks")
        changed = await it.text("/任务 修改 r1 给安娜打电话")
        assert changed.startswith("r1 的内容改了，时间没变。\n⏰")
        assert "09:30" in await it.text("/任务 查看 r1")
        await it.text("/tasks edit r1 weekdays 7:15 stand-up")
        assert "· 工作日 7:15 ·" in await it.text("/任务")
        changed = await it.text("/任务 修改 r1 下周五 9:00 abc")
        assert changed.startswith("r1 的时间和内容都改了。\n⏰ 2026-12-04 周五 09:00")
        assert changed.endswith("\nabc")
        assert await it.text("/任务 修改 r1 下周 交报告") == (
            "没看懂是什么时间；可以写成：下周五 9:00 交报告。只改内容的话，请给内容加上引号。"
        )
        assert "r1 的内容改了，时间没变。" in await it.text("/任务 修改 r1 “下周的报告”")
        assert "r1 没有变化。" in await it.text("/任务 修改 r1 下周五 9:00")
        assert "没写几点，按 09:00 算。" in await it.text("/任务 修改 r1 明天")
        await it.text("/tasks edit r1 weekdays 7:15 stand-up")
        assert "过了" in await it.text("/任务 修改 r1 2020-01-01 9:00")
        assert "明天9点" in await it.text("/tasks edit r1")
        assert "没有进行中的 r9" in await it.text("/tasks edit r9 x")
        before = await due(it)
        await it.text("/tasks run r1")
        await until(it, lambda: "⏰ stand-up" in notices(it))
        assert await due(it) == before
        assert "没有进行中的 r9" in await it.text("/tasks show r9")


async def test_where_the_person_writes_first_it_is_warned_of_held_and_shown(tmp_path: Path) -> None:
    clock = Clock()
    channel = ScriptedChannel(
        name="wechat",
        account="bot",
        capabilities=replace(TERMINAL, user_writes_first=True, limit=1000),
    )
    settings: dict[str, Any] = ZONE | {"channels": {"wechat": {"owners": ["u1"]}}}
    async with inside(tmp_path, lambda asked: "Done.", settings, channel, clock=clock) as it:
        await it.text("/remind 20m tea", chat="u1")
        assert "later messages wait until you write" in notices(it)[0]
        await it.text("/remind do 30m look", chat="u1")
        channel.fail(AwaitsUser("write first"))
        clock.at += 1201
        await tick(it)
        await it.bot.outbox_dispatcher.settled()
        conversation = await it.conversation("u1")
        assert await it.bot.store.jobs.held_sources(conversation)
        clock.at += 600
        await tick(it)
        assert "⏰ tea" not in notices(it), "a task of the program is no message of the person"
        held = await it.bot.store.jobs.held_sources(conversation)
        assert len(held) == 2
        shown = await it.text("/tasks r1", chat="u1")
        await it.channel.until(lambda: "⏰ tea" in notices(it))
        assert "r1" in shown


async def test_a_reminder_of_a_channel_that_is_logged_out_comes_once_it_is_back(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with inside(tmp_path, lambda asked: "Done.", ZONE, clock=clock) as it:
        await it.text("/remind 20m tea")
        it.channel.fail(LoggedOut("token revoked"))
        clock.at += 1201
        await it.bot.ticker.fire_due()
        await until(it, lambda: not it.bot.gateway.health["terminal"].up)
        assert "⏰ tea" not in notices(it)
        [row] = await it.bot.store.jobs.of_space("")
        assert [run.state for run in await it.bot.store.jobs.occurrences(row.id, 5)] == ["told"]
    clock.at += 61
    async with inside(tmp_path, lambda asked: "Done.", clock=clock) as it:
        await it.channel.until(lambda: "⏰ tea" in notices(it))
        await tick(it)
        await it.bot.outbox_dispatcher.settled()
        assert notices(it).count("⏰ tea") == 1


async def test_a_job_of_a_deleted_conversation_is_gone_and_stops_no_other(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, lambda asked: "done", ZONE, clock=clock) as it:
        await it.text("/remind do 10m look", chat="c2")
        await it.text("/remind 10m tea", chat="c1")
        await it.bot.store.sessions.delete(await it.conversation("c2"))
        clock.at += 601
        await until(it, lambda: "⏰ tea" in notices(it))
        assert it.model.requests == []


async def test_late_tasks_of_a_chat_run_one_a_minute(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, lambda asked: "done", ZONE, clock=clock) as it:
        for number in range(3):
            await it.text(f"/remind do tomorrow 8:0{number} look at {number}")
    clock.set("2026-11-27T11:00")
    async with inside(tmp_path, lambda asked: "done", ZONE, clock=clock) as it:
        await tick(it)
        assert len(it.model.requests) == 1
        for count in (2, 3):
            clock.at += 60
            await tick(it)
            assert len(it.model.requests) == count
        assert await states(it, 3) == [("held", "late"), ("done", "")]


async def test_a_task_is_stopped_without_counting_as_a_failure(tmp_path: Path) -> None:
    clock = Clock()
    model = Held(lambda asked: "at last", lambda asked: True)
    async with inside(tmp_path, ["x"], ZONE, clock=clock) as it:
        it.bot.models.use(model)
        await it.text("/remind do 10m look")
        clock.at += 601
        await it.bot.ticker.fire_due()
        await model.begun.wait()
        await it.text("/stop")
        await asyncio.wait_for(tick(it), 5)
        assert await states(it) == [("failed", "stopped")]


async def test_what_the_model_gets_wrong_is_refused_with_what_is_right(tmp_path: Path) -> None:
    script = [
        call("remind", what="x", at="2026-11-27T09:00", zone="Asia/Pekin"),
        call("remind", id="t2", what="x", at="2026-11-25T09:00"),
        call("remind", id="t3", what="x", cron="0 0 9 * * 1"),
        call("remind", id="t4", what="x"),
        "Done.",
    ]
    async with inside(tmp_path, script, ZONE, clock=Clock()) as it:
        await it.text("remind me")
        told = results(it.model.requests[-1])
        assert all(one.is_error for one in told)
        for one, right in zip(
            told, ("Asia/Shanghai", "passed", "five fields", "exactly one"), strict=True
        ):
            assert right in one.text
        assert await it.bot.store.jobs.of_space("") == []


async def test_a_reminder_comes_without_a_model_and_over_budget(tmp_path: Path) -> None:
    clock = Clock()
    channel = ScriptedChannel(name="telegram", account="bot", capabilities=TERMINAL)
    settings: dict[str, Any] = ZONE | {
        "channels": {"telegram": {"allow": ["u1"]}},
        "budgets": {"user": {"messages_per_day": 1}},
    }
    async with inside(
        tmp_path, lambda asked: [ModelError("away", kind="down")], settings, channel, clock=clock
    ) as it:
        await it.text("/remind 20m tea", chat="u1")
        await it.text("hello", chat="u1")
        assert "used up" in await it.text("hello again", chat="u1"), "over budget"
        clock.at += 1201
        await until(it, lambda: "⏰ tea" in notices(it))
        assert await states(it, space="telegram-u1") == [("told", "")]
