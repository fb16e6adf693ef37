"""Reminders in plain words, read without a model."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.jobs.phrases import NoTime, read_channel, read_quoted, read_reminder
from bot.jobs.schedule import Schedule, ScheduleRefused, check_schedule, iter_runs
from tests.cases import every_case

# How each reason of the tables is said.
REASONS = {
    "unclear": ("write", "请写", "可以写", "没有这"),
    "holiday": ("holidays", "节日"),
    "past": ("has passed", "过了"),
    "far": ("five years", "五年"),
    "often": ("15 minutes", "15 分钟"),
    "words": ("no words",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One line of a table: a phrase at a time, and how it is to be read."""

    phrase: str
    now: datetime
    #: "once 2026-11-26 09:00 assumed | words", "each ..." or "refused reason"
    reading: str


def table(language: str) -> Iterator[Expected]:
    now = datetime.min
    for line in (
        (Path(__file__).parent / f"phrases.{language}.txt").read_text(encoding="utf-8").splitlines()
    ):
        if line.startswith("@"):
            _, day, clock, zone = line.split()
            now = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=ZoneInfo(zone))
        elif line and not line.startswith("#"):
            phrase, _, reading = line.partition(" | ")
            yield Expected(phrase=phrase, now=now, reading=reading)


def read(phrase: str, now: datetime) -> str:
    """The reading of a phrase as the tables write it."""
    zone = str(now.tzinfo)
    try:
        found = read_reminder(phrase, now, zone)
        if not found.words:
            return "refused words"
        check_schedule(found.schedule, now, owner=False)
    except ScheduleRefused as err:
        said = f"{err} {err.phrase.text('zh')}"
        reasons = [name for name, words in REASONS.items() if any(word in said for word in words)]
        return f"refused {reasons[-1] if reasons else said}"
    runs = [
        f"{run.astimezone(now.tzinfo):%Y-%m-%d %H:%M}"
        for run in islice(iter_runs(found.schedule, now), 3)
    ]
    kind = "each" if found.schedule.repeats else "once"
    return f"{kind} {', '.join(runs)}{' assumed' if found.hour_assumed else ''} | {found.words}"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_people_write_is_read_as_they_mean_it_or_refused(language: str) -> None:
    """None is misread; of those that have one meaning at most one in ten is refused."""
    wrong, refused, clear = [], [], 0
    for line in table(language):
        found, is_clear = read(line.phrase, line.now), not line.reading.startswith("refused")
        clear += is_clear
        if found != line.reading:
            (refused if is_clear and found.startswith("refused") else wrong).append(
                f"{line.phrase}: {found}"
            )
    assert wrong == []
    assert clear >= 148
    assert len(refused) <= clear / 10, refused


ZONE = "Asia/Shanghai"
NOW = datetime(2026, 11, 26, 16, 30, tzinfo=ZoneInfo(ZONE))  # a Thursday


def shown(schedule: Schedule) -> str:
    """When, in a few words."""
    assert schedule.zone == ZONE
    if schedule.at:
        return schedule.at.replace("T", " ")
    return f"cron {schedule.cron}" if schedule.cron else f"every {schedule.minutes} min"


READ = {
    "20m tea": ("2026-11-26 16:50:00", "tea"),
    "in 2 hours call mum": ("2026-11-26 18:30:00", "call mum"),
    "3d water": ("2026-11-29 16:30:00", "water"),
    "2小时后 开会": ("2026-11-26 18:30:00", "开会"),
    "半小时后提醒我喝水": ("2026-11-26 17:00:00", "喝水"),
    "三天后交报告": ("2026-11-29 16:30:00", "交报告"),
    "明天8点 起床": ("2026-11-27 08:00", "起床"),
    "明天早上八点半 开会": ("2026-11-27 08:30", "开会"),
    "明早7点 起床": ("2026-11-27 07:00", "起床"),
    "后天下午3点开会": ("2026-11-28 15:00", "开会"),
    "大后天 20:15 看电影": ("2026-11-29 20:15", "看电影"),
    "今晚8点 看球": ("2026-11-26 20:00", "看球"),
    "tomorrow 9:00 run": ("2026-11-27 09:00", "run"),
    "tomorrow at 9am to run": ("2026-11-27 09:00", "run"),
    "tonight 8pm movie": ("2026-11-26 20:00", "movie"),
    "9:00 a": ("2026-11-27 09:00", "a"),
    "17:00 b": ("2026-11-26 17:00", "b"),
    "12:30pm lunch": ("2026-11-27 12:30", "lunch"),
    "12:10am fast": ("2026-11-27 00:10", "fast"),
    "下午五点 x": ("2026-11-26 17:00", "x"),
    "中午12点 吃饭": ("2026-11-27 12:00", "吃饭"),
    "2026-12-01 pay": ("2026-12-01 09:00", "pay"),
    "2026-12-01 07:45 pay": ("2026-12-01 07:45", "pay"),
    "11月30日上午9点 交": ("2026-11-30 09:00", "交"),
    "3月1日 9点 种树": ("2027-03-01 09:00", "种树"),
    "每天 8:00 起床": ("cron 0 8 * * *", "起床"),
    "每天早上八点提醒我吃药": ("cron 0 8 * * *", "吃药"),
    "every day at 9am x": ("cron 0 9 * * *", "x"),
    "weekdays 9:00 stand-up": ("cron 0 9 * * 1-5", "stand-up"),
    "工作日9点打卡": ("cron 0 9 * * 1-5", "打卡"),
    "每周一早上九点提醒我写周报": ("cron 0 9 * * 1", "写周报"),
    "每周日 20:00 总结": ("cron 0 20 * * 7", "总结"),
    "every monday 9:00 report": ("cron 0 9 * * 1", "report"),
    "每月1号 9点 交房租": ("cron 0 9 1 * *", "交房租"),
    "cron 0 9 * * 5 weekly": ("cron 0 9 * * 5", "weekly"),
    "every 30m stretch": ("every 30 min", "stretch"),
    "每30分钟 喝水": ("every 30 min", "喝水"),
}


@every_case("text", READ)
def test_a_phrase_is_read(text: str) -> None:
    found = read_reminder(text, NOW, ZONE)
    assert (shown(found.schedule), found.words) == READ[text]


@every_case("text", ["hello world", "", "every", "三个和尚"])
def test_what_has_no_time_is_told_from_what_is_not_understood(text: str) -> None:
    with pytest.raises(NoTime if text != "every" else ScheduleRefused):
        read_reminder(text, NOW, ZONE)


@every_case("text", ["25:00 x", "每周八 9点 x", "9:75 x", "2026-13-01 x", "next week", "稍后"])
def test_what_is_no_time_is_not_read(text: str) -> None:
    with pytest.raises(ScheduleRefused) as refused:
        read_reminder(text, NOW, ZONE)
    assert not isinstance(refused.value, NoTime)


def test_a_time_alone_has_no_words() -> None:
    assert [read_reminder(text, NOW, ZONE).words for text in ("20m", "明天", "every day at 8")] == [
        "",
        "",
        "",
    ]


def test_words_alone_stand_in_quotation_marks() -> None:
    assert [
        read_quoted(text) for text in ('"buy milk"', "“周五的会”", "「周五」", 'a "b"', '""')
    ] == ["buy milk", "周五的会", "周五", "", ""]


@every_case(
    ("text", "near"),
    [
        ("每季度 盘点", "每周一 9:00 写周报"),
        ("下周 开会", "下周五 9:00 交报告"),
        ("3月 报税", "12月25日 18:00 吃饭"),
        ("过会儿 喝茶", "半小时后 关火"),
        ("some time before noon", "tomorrow 3pm meeting"),
        ("in a moment tea", "in half an hour turn off the stove"),
        ("next week report", "friday 9:00 report"),
    ],
)
def test_a_refusal_has_one_example_near_to_what_was_written(text: str, near: str) -> None:
    with pytest.raises(ScheduleRefused) as refused:
        read_reminder(text, NOW, ZONE)
    assert near in f"{refused.value} {refused.value.phrase.text('zh')}"


@given(
    st.text(
        alphabet="0123456789:点半早上下午每天周月号日明后tomorrow at every m h d cron*/- x",
        max_size=30,
    )
)
def test_any_text_may_be_typed(text: str) -> None:
    with suppress(ScheduleRefused):
        assert read_reminder(text, NOW, ZONE).schedule.zone == ZONE


CHANNELS = {
    "on telegram 20m tea": ("telegram", "20m tea"),
    "ON Feishu: tomorrow 9:00 x": ("feishu", "tomorrow 9:00 x"),
    "on wechat_mp 9:00 x": ("wechat_mp", "9:00 x"),
    "在飞书 明天9点 开会": ("feishu", "明天9点 开会"),
    "到企业微信，半小时后喝水": ("wecom", "半小时后喝水"),
    "在 telegram 明天9点 开会": ("telegram", "明天9点 开会"),
    "在微信每天8点吃药": ("wechat", "每天8点吃药"),
    "on monday 9:00 report": ("", "on monday 9:00 report"),
    "on Fridays 9:00 report": ("", "on Fridays 9:00 report"),
    "on 2026-12-01 pay": ("", "on 2026-12-01 pay"),
    "on the 31st accounts": ("", "on the 31st accounts"),
    "on Dec 25 cards": ("", "on Dec 25 cards"),
    "on weekdays at 9 x": ("", "on weekdays at 9 x"),
    "明天9点 在飞书开会": ("", "明天9点 在飞书开会"),
    f"on {'a' * 40} 20m tea": ("a" * 40, "20m tea"),
    f"on {'a' * 41} 20m tea": ("", f"on {'a' * 41} 20m tea"),
}


def test_a_channel_is_read_before_the_time() -> None:
    assert {text: read_channel(text) for text in CHANNELS} == CHANNELS
