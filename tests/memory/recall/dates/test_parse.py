"""The days that questions name, in Chinese and English, and the words that only look like days."""

import re
from calendar import isleap
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memory.recall.dates.calendar import DateRule, DateSpan
from memory.recall.dates.parse import MAX_SPANS, RULES, find_dates, is_in_spans, remove_dates
from tests.by_night import IS_NIGHT
from tests.cases import every_case

WEDNESDAY = datetime(2024, 5, 15, 10, tzinfo=UTC)


def days(question: str, now: datetime = WEDNESDAY) -> list[str]:
    """The spans of a question as "first..last", a single day once, * behind one of any year."""
    return [
        (f"{span.first}" if span.first == span.last else f"{span.first}..{span.last}")
        + "*" * span.yearless
        for span in find_dates(question, now)
    ]


ABSOLUTE = {
    "2023年5月3日我做了什么": ["2023-05-03"],
    "2023 年 5 月 3 号": ["2023-05-03"],
    "２０２３年５月３日": ["2023-05-03"],
    "二〇二三年五月三日": ["2023-05-03"],
    "二零二三年十二月三十一日": ["2023-12-31"],
    "23年5月3号的事": ["2023-05-03"],
    "2023-05-03 发生了什么": ["2023-05-03"],
    "2023/5/3": ["2023-05-03"],
    "2023.5.3": ["2023-05-03"],
    "2023-05": ["2023-05-01..2023-05-31"],
    "在5月3号，我看了哪部电影": ["2024-05-03*"],
    "五月廿一日": ["2023-05-21*"],
    "5.3号我去了哪": ["2024-05-03*"],
    "三月我去了哪": ["2024-03-01..2024-03-31*"],
    "五月初": ["2024-05-01..2024-05-10*"],
    "5月中旬": ["2024-05-11..2024-05-20*"],
    "五月下旬": ["2023-05-21..2023-05-31*"],
    "五月底": ["2023-05-24..2023-05-31*"],
    "2023年": ["2023-01-01..2023-12-31"],
    "2022年夏天": ["2022-06-01..2022-08-31"],
    "2023年第二季度": ["2023-04-01..2023-06-30"],
    "5月3日到5日": ["2024-05-03..2024-05-05*"],
    "5月3号至5月6号": ["2024-05-03..2024-05-06*"],
    "5月3、4号": ["2024-05-03*", "2024-05-04*"],
    "2023年5月到7月": ["2023-05-01..2023-07-31"],
    "从2023年12月30日到1月2日": ["2023-12-30..2024-01-02"],
    "12月30日到1月2日": ["2023-12-30..2024-01-02*"],
    "国庆": ["2023-10-01..2023-10-07*"],
    "元旦": ["2024-01-01..2024-01-03*"],
    "2022年圣诞节": ["2022-12-24..2022-12-25"],
    "On May 3rd I read a book": ["2024-05-03*"],
    "may 3rd": ["2024-05-03*"],
    "what did i do on may 3": ["2024-05-03*"],
    "3 May 2023": ["2023-05-03"],
    "the 3rd of May": ["2024-05-03*"],
    "May 3, 2023": ["2023-05-03"],
    "Sept. 9 2023": ["2023-09-09"],
    "05/03/2023": ["2023-05-03", "2023-03-05"],
    "13/05/2023": ["2023-05-13"],
    "May 2023": ["2023-05-01..2023-05-31"],
    "in May": ["2024-05-01..2024-05-31*"],
    "in march": ["2024-03-01..2024-03-31*"],
    "October": ["2023-10-01..2023-10-31*"],
    "early May": ["2024-05-01..2024-05-10*"],
    "mid-May": ["2024-05-11..2024-05-20*"],
    "late May": ["2023-05-21..2023-05-31*"],
    "at the end of May 2022": ["2022-05-24..2022-05-31"],
    "the first week of May 2023": ["2023-05-01..2023-05-07"],
    "in 2023": ["2023-01-01..2023-12-31"],
    "late 2023": ["2023-09-01..2023-12-31"],
    "summer of 2022": ["2022-06-01..2022-08-31"],
    "winter 2022": ["2022-12-01..2023-02-28", "2021-12-01..2022-02-28"],
    "between May 3 and May 5": ["2024-05-03..2024-05-05*"],
    "between May 3 and 5": ["2024-05-03..2024-05-05*"],
    "from May 3 to June 5, 2023": ["2023-05-03..2023-06-05"],
    "May 3-5, 2023": ["2023-05-03..2023-05-05"],
    "May 3rd and 5th": ["2024-05-03*", "2024-05-05*"],
    "from March to May": ["2024-03-01..2024-05-31*"],
    "from November to February": ["2023-11-01..2024-02-29*"],
    "between 2020 and 2022": ["2020-01-01..2022-12-31"],
    "2023-05-03 to 2023-05-05": ["2023-05-03..2023-05-05"],
    "Christmas": ["2023-12-24..2023-12-25*"],
    "Christmas 2021": ["2021-12-24..2021-12-25"],
    "New Year's Eve": ["2023-12-31..2024-01-01*"],
}
RELATIVE = {
    "今天": ["2024-05-15"],
    "昨晚": ["2024-05-14"],
    "前天": ["2024-05-13"],
    "大前天": ["2024-05-12"],
    "明天": ["2024-05-16"],
    "三天前": ["2024-05-12"],
    "两周前": ["2024-04-27..2024-05-05"],
    "一个月前": ["2024-04-05..2024-04-25"],
    "半年前": ["2023-10-21..2023-12-10"],
    "几天前": ["2024-05-05..2024-05-14"],
    "最近我去了厦门": ["2024-05-01..2024-05-15"],
    "最近三天": ["2024-05-12..2024-05-15"],
    "过去两周": ["2024-05-01..2024-05-15"],
    "去年": ["2023-01-01..2023-12-31"],
    "前年": ["2022-01-01..2022-12-31"],
    "去年5月": ["2023-05-01..2023-05-31"],
    "去年的5月3日": ["2023-05-03"],
    "今年三月": ["2024-03-01..2024-03-31"],
    "去年年底": ["2023-11-01..2023-12-31"],
    "今年上半年": ["2024-01-01..2024-06-30"],
    "上个月": ["2024-04-01..2024-04-30"],
    "上上个月": ["2024-03-01..2024-03-31"],
    "下个月": ["2024-06-01..2024-06-30"],
    "这个月": ["2024-05-01..2024-05-31"],
    "上个月5号": ["2024-04-05"],
    "上月底": ["2024-04-24..2024-04-30"],
    "上周": ["2024-05-06..2024-05-12"],
    "上周三": ["2024-05-08"],
    "上星期三": ["2024-05-08"],
    "上礼拜天": ["2024-05-12"],
    "本周": ["2024-05-13..2024-05-19"],
    "上周末": ["2024-05-11..2024-05-12"],
    "上上周五": ["2024-05-03"],
    "上个周二": ["2024-05-07", "2024-05-14"],
    "周二我说了什么": ["2024-05-14"],
    "周三我说了什么": ["2024-05-15", "2024-05-08"],
    "上周五到这周二": ["2024-05-10..2024-05-14"],
    "从5月3日到今天": ["2024-05-03..2024-05-15"],
    "去年国庆": ["2023-10-01..2023-10-07"],
    "5月3日前一天": ["2024-05-02*"],
    "去年以来": ["2023-01-01..2024-05-15"],
    "yesterday": ["2024-05-14"],
    "the day before yesterday": ["2024-05-13"],
    "last night": ["2024-05-14"],
    "three days ago": ["2024-05-12"],
    "two weeks ago": ["2024-04-27..2024-05-05"],
    "a month ago": ["2024-04-05..2024-04-25"],
    "a few days ago": ["2024-05-05..2024-05-14"],
    "half a day ago": ["2024-05-15"],
    "half a week ago": ["2024-05-12"],
    "recently": ["2024-05-01..2024-05-15"],
    "last year": ["2023-01-01..2023-12-31"],
    "last month": ["2024-04-01..2024-04-30"],
    "last week": ["2024-05-06..2024-05-12"],
    "in the last month": ["2024-04-01..2024-04-30", "2024-04-15..2024-05-15"],
    "in the past three weeks": ["2024-04-24..2024-05-15"],
    "last weekend": ["2024-05-11..2024-05-12"],
    "the weekend": ["2024-05-11..2024-05-12"],
    "last Tuesday": ["2024-05-14", "2024-05-07"],
    "last Friday": ["2024-05-10"],
    "on Tuesday": ["2024-05-14"],
    "on Wednesday": ["2024-05-15", "2024-05-08"],
    "this Monday": ["2024-05-13"],
    "Tuesday last week": ["2024-05-07"],
    "next Friday": ["2024-05-17", "2024-05-24"],
    "the week before last": ["2024-04-29..2024-05-05"],
    "last May": ["2023-05-01..2023-05-31"],
    "last March": ["2024-03-01..2024-03-31", "2023-03-01..2023-03-31"],
    "May last year": ["2023-05-01..2023-05-31"],
    "early last year": ["2023-01-01..2023-04-30"],
    "last summer": ["2023-06-01..2023-08-31"],
    "last Christmas": ["2023-12-24..2023-12-25"],
    "the week before 9 June 2023": ["2023-06-02..2023-06-08"],
    "the weekend before 17 July 2023": ["2023-07-15..2023-07-16"],
    "the Friday before 15 July 2023": ["2023-07-14"],
    "the weekend of July 4, 2023": ["2023-07-01..2023-07-02"],
    "the week of May 3, 2023": ["2023-05-01..2023-05-07"],
    "the day after Christmas": ["2023-12-26*"],
    "since last year": ["2023-01-01..2024-05-15"],
    "before 2023": ["0001-01-01..2022-12-31"],
}
NO_DAY = [
    "5.3 公里",
    "跑了3.5公里",
    "版本 5.3",
    "v5.3.1",
    "version 2023.5.3",
    "192.168.1.1",
    "5/3",
    "May I ask you",
    "this may be wrong",
    "it may 3 times",
    "march forward",
    "march 3 miles",
    "April said hi",
    "Augusta",
    "2月30日",
    "2023-02-30",
    "2023年13月1日",
    "February 30",
    "30 February 2023",
    "2023年2月29日",
    "二月兰",
    "五月天的演唱会",
    "三个月的孩子",
    "一月一次",
    "每周三都去",
    "一周三次",
    "以前年轻的时候",
    "之前天气很好",
    "离我最近",
    "最近的地铁站在哪",
    "every Tuesday",
    "Black Friday",
    "in 2000 steps",
    "我喜欢听什么类型的音乐？",
    "What kind of cuisine do I like?",
    "",
]


@every_case(("question", "wanted"), [*ABSOLUTE.items(), *RELATIVE.items()])
def test_a_question_names_its_days(question: str, wanted: list[str]) -> None:
    assert days(question) == wanted


@every_case("question", NO_DAY)
def test_what_only_looks_like_a_day_names_none(question: str) -> None:
    assert days(question) == []


def test_absolute_dates_do_not_depend_on_the_clock() -> None:
    years_later = datetime(2031, 1, 1, tzinfo=UTC)
    for question in ("2023年5月3日", "3 May 2023", "2023年夏天", "Christmas 2021"):
        assert days(question) == days(question, years_later)


@pytest.mark.parametrize("question", ["5月3日", "May 3", "the 3rd of May"])
def test_a_day_without_a_year_is_that_of_any_year(question: str) -> None:
    found = find_dates(question, WEDNESDAY)
    assert all(is_in_spans(found, date(year, 5, 3)) for year in (1999, 2023, 2024, 2031))
    assert not is_in_spans(found, date(2023, 5, 4))


def test_a_month_without_a_year_has_all_its_days_in_any_year() -> None:
    february = find_dates("二月", datetime(2023, 5, 15, tzinfo=UTC))
    assert is_in_spans(february, date(2024, 2, 29))
    assert is_in_spans(february, date(2023, 2, 28))
    assert not is_in_spans(find_dates("2月28日", WEDNESDAY), date(2024, 2, 29))


def test_days_across_new_year_without_a_year_are_on_both_sides_of_it() -> None:
    found = find_dates("12月30日到1月2日", WEDNESDAY)
    assert [day for day in (29, 30, 31) if is_in_spans(found, date(2020, 12, day))] == [30, 31]
    assert [day for day in (1, 2, 3) if is_in_spans(found, date(2021, 1, day))] == [1, 2]


def test_relative_days_cross_the_ends_of_months_and_years() -> None:
    new_year = datetime(2024, 1, 1, tzinfo=UTC)
    assert days("昨天", new_year) == ["2023-12-31"]
    assert days("上个月", new_year) == ["2023-12-01..2023-12-31"]
    assert days("last month", datetime(2024, 3, 31, tzinfo=UTC)) == ["2024-02-01..2024-02-29"]
    assert days("last week", datetime(2024, 1, 3, tzinfo=UTC)) == ["2023-12-25..2023-12-31"]
    assert days("2月29日", datetime(2023, 3, 1, tzinfo=UTC)) == ["2020-02-29*"]


def test_at_the_calendars_ends_nothing_is_named_that_is_not_there() -> None:
    assert days("昨天", datetime(1, 1, 1, tzinfo=UTC)) == []
    assert days("tomorrow", datetime(9999, 12, 31, tzinfo=UTC)) == []


def test_the_words_that_name_days_can_be_left_out() -> None:
    question = "上周三我和 Anna 在5月3日到5日去了哪里，每周三呢"
    assert remove_dates(question, find_dates(question, WEDNESDAY)).split() == [
        "我和",
        "Anna",
        "在",
        "去了哪里，每周三呢",
    ]
    assert remove_dates("What did I eat?", ()) == "What did I eat?"
    asked = "What did I eat last Tuesday with Tom?"
    assert remove_dates(asked, find_dates(asked, WEDNESDAY)).split() == [
        "What",
        "did",
        "I",
        "eat",
        "with",
        "Tom?",
    ]


WRITTEN = (
    lambda day: f"{day:%Y-%m-%d}",
    lambda day: f"{day.year}/{day.month}/{day.day}",
    lambda day: f"{day.year}年{day.month}月{day.day}日",
    lambda day: f"{chinese_year(day.year)}年{chinese(day.month)}月{chinese(day.day)}号",
    lambda day: f"{day:%B} {day.day}, {day.year}",
    lambda day: f"{day.day} {day:%b} {day.year}",
)


def chinese(number: int) -> str:
    digits = "零一二三四五六七八九"
    tens, ones = divmod(number, 10)
    return ("" if tens < 2 else digits[tens]) + "十" * (tens > 0) + (digits[ones] if ones else "")


def chinese_year(year: int) -> str:
    return "".join("〇一二三四五六七八九"[int(digit)] for digit in str(year))


@given(
    day=st.dates(date(1950, 1, 1), date(2099, 12, 31)),
    written=st.sampled_from(WRITTEN),
    around=st.sampled_from([("我在", "做了什么？"), ("What did I do on ", "?"), ("", "")]),
    now=st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)),
)
def test_every_date_as_it_is_written_is_that_day(
    day: date, written: object, around: tuple[str, str], now: datetime
) -> None:
    assert callable(written)
    text = written(day)
    found = find_dates(text.join(around), now)
    assert found == (DateSpan(first=day, last=day, text=text, start=len(around[0])),)


@given(
    day=st.dates(date(1950, 1, 1), date(2099, 12, 31)),
    now=st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)),
)
def test_a_date_without_its_year_matches_it(day: date, now: datetime) -> None:
    for text in (f"{day.month}月{day.day}日", f"{day:%B} {day.day}"):
        (found,) = find_dates(text, now)
        assert found.yearless
        assert is_in_spans([found], day)
        assert not is_in_spans([found], day + timedelta(days=1))


@given(year=st.integers(1950, 2099))
def test_the_29th_of_february_is_there_in_leap_years_only(year: int) -> None:
    assert bool(days(f"{year}年2月29日")) == isleap(year)


PIECES = st.sampled_from(
    [
        *"年月日号周三天前后上去个半几到十廿底初末一-/.,(",
        *(
            "2023",
            "5",
            "31",
            "99",
            "1st",
            "圣诞",
            "最近",
            "以来",
            "May",
            "march",
            "last",
            "week",
            "Tuesday",
            "ago",
        ),
        *("the", "of", "and", "in", "between", "before", "year", "’s", "Christmas", "since"),
    ]
)


@given(
    text=st.one_of(
        st.text(max_size=60),
        st.lists(PIECES, max_size=14).map(" ".join),
        st.lists(PIECES, max_size=14).map("".join),
    ),
    now=st.datetimes(),
)
@example(text="9999年12月31日后一周", now=datetime.max)
@example(text="the week before 99999 days ago", now=datetime.min)
def test_no_text_is_too_strange(text: str, now: datetime) -> None:
    found = find_dates(text, now)
    assert len(found) <= MAX_SPANS
    for span in found:
        assert span.first <= span.last
        assert span.text == text[span.start :][: len(span.text)] != ""
    is_in_spans(found, now.date())
    assert len(remove_dates(text, found)) <= len(text) + len(found)


@pytest.mark.parametrize("rule", RULES, ids=range(len(RULES)))
@settings(
    max_examples=100 if IS_NIGHT else 5,  # of each of the rules
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    deadline=None,
)
@given(data=st.data())
def test_each_text_that_a_rule_matches_has_one_of_its_words(
    rule: DateRule, data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(re.compile(rule.pattern.pattern, rule.pattern.flags)))
    assert any(word in text.casefold() for word in rule.words), text
