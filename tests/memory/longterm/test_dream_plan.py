"""A dream's plan: duplicates are merged, superseded lines are dropped, recurring facts are
added.
"""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.longterm.dream_plan import (
    DreamPlan,
    LineMerge,
    MemoryHistory,
    SavedPlan,
    carry_out_plan,
    dump_plan,
    is_carried_out,
    kept_line_keys,
    load_plan,
    plan_dream,
    refusal_reason,
)
from memory.longterm.line_kinds import guess_category, is_lasting
from memory.longterm.recurring import LogLine, RecurringFact, find_recurring
from memory.longterm.similarity import normalize_key
from memory.store.longterm.rows import MemoryChange, MemoryRow, MemorySource
from memory.text.bullets import parse_bullets, recordable_bullets
from tests.cases import every_case
from tests.memory.longterm.lasting_cases import LASTING, PASSING

DAY = datetime(2026, 11, 1, tzinfo=UTC)
FILE = """# Memory

## 偏好 · Preferences

- 喜欢喝美式咖啡
* prefers tea in the evening
- 喜欢美式咖啡

## 事实 · Facts

- 用户住在柏林
- 用户住在慕尼黑
- has two cats
- 喜欢喝美式咖啡
1. works at night
"""


def row(text, *, category="fact", state="live", created=0, ended=None, by="", **fields):
    return MemoryRow(
        id=f"id {normalize_key(text)} {state}",
        space="",
        norm=normalize_key(text),
        category=category,
        text=text,
        importance=fields.get("importance", 5),
        state=state,
        origin="person",
        source=fields.get("source", MemorySource()),
        created=DAY + timedelta(days=created),
        updated=DAY + timedelta(days=created if ended is None else ended),
        used=None,
        uses=0,
        superseded_by=by,
        valid_until=None if ended is None else DAY + timedelta(days=ended),
    )


def said(text, day, hour=10, **fields):
    at = DAY + timedelta(days=day, hours=hour)
    held = {"spoken": True, "conversation": "c1", "channel": "telegram", **fields}
    return LogLine(
        text=text,
        day=f"{at:%Y-%m-%d}",
        path=f"memory/{at:%Y-%m-%d}.md",
        number=hour,
        said=at,
        **held,
    )


def planned(text, past=None, log=(), threshold=0.85):
    return plan_dream(text, past or MemoryHistory(), log, threshold)


def test_lines_that_say_the_same_under_one_heading_become_the_fuller_one():
    wanted = planned(FILE)
    assert [([part.text for part in merge.parts], merge.text) for merge in wanted.merges] == [
        (["喜欢喝美式咖啡", "喜欢美式咖啡"], "喜欢喝美式咖啡")
    ]
    after = carry_out_plan(FILE, wanted, MemoryHistory()).text
    assert after == FILE.replace("- 喜欢美式咖啡\n", "")


def test_a_merged_line_keeps_the_greatest_importance_and_a_source():
    heard = MemorySource(message_id="m7", quote="我喜欢美式咖啡")
    past = MemoryHistory(
        rows=(
            row("喜欢喝美式咖啡", category="user_preference", importance=4),
            row("喜欢美式咖啡", category="user_preference", importance=9, source=heard),
        )
    )
    revision = carry_out_plan(FILE, planned(FILE, past), past)
    assert [(line.text, line.importance, line.source) for line in revision.live] == [
        ("喜欢喝美式咖啡", 9, heard)
    ]
    assert revision.superseded == (
        (normalize_key("喜欢美式咖啡"), normalize_key("喜欢喝美式咖啡")),
    )


def test_equal_lines_become_one_and_supersede_nothing():
    text = "## Facts\n- has two cats\n- works at night\n- Has two cats.\n- likes jazz\n"
    wanted = planned(text)
    revision = carry_out_plan(text, wanted, MemoryHistory())
    assert revision.text == "## Facts\n- has two cats\n- works at night\n- likes jazz\n"
    assert revision.superseded == ()


def test_lines_under_different_headings_of_no_category_stay_apart():
    text = "## 买\n- 牛奶和鸡蛋\n## 卖\n- 牛奶和鸡蛋\n"
    assert not planned(text)


def test_lines_that_contradict_each_other_are_never_merged():
    text = (
        "## Facts\n- 喜欢咖啡\n- 不喜欢咖啡\n- 每天跑5公里\n- 每天跑10公里\n- lives in Berlin\n- "
        "lives in Munich\n"
    )
    assert not planned(text).merges


def test_what_stood_there_before_it_was_superseded_goes_with_it():
    heir = row("用户住在慕尼黑", created=5)
    former = row("用户住在柏林的", state="superseded", created=0, ended=5, by=heir.id)
    past = MemoryHistory(rows=(heir, former, row("用户住在柏林", created=1)))
    wanted = planned(FILE, past)
    assert [(drop.line.text, drop.by, drop.since) for drop in wanted.dropped] == [
        ("用户住在柏林", "用户住在慕尼黑", "2026-11-06")
    ]
    revision = carry_out_plan(FILE, wanted, past)
    assert "柏林" not in revision.text
    assert (normalize_key("用户住在柏林"), normalize_key("用户住在慕尼黑")) in revision.superseded


def test_what_a_person_wrote_after_it_was_superseded_stays():
    heir = row("用户住在慕尼黑", created=5)
    former = row("用户住在柏林", state="superseded", created=0, ended=5, by=heir.id)
    assert not planned(
        FILE, MemoryHistory(rows=(heir, former, row("用户住在柏林", created=7)))
    ).dropped


def test_a_superseded_line_stays_while_its_successor_is_not_there():
    heir = row("用户住在汉堡", created=5)
    former = row("用户住在柏林", state="superseded", created=0, ended=5, by=heir.id)
    assert not planned(FILE, MemoryHistory(rows=(heir, former))).dropped


@pytest.mark.parametrize(
    ("lines", "text", "category"),
    [
        (["我每天早上六点跑步", "我每天早上六点都跑步"], "我每天早上六点都跑步", "fact"),
        (
            ["I take my coffee black", "I always take my coffee black"],
            "I always take my coffee black",
            None,
        ),
        (["我不吃香菜", "我不吃香菜"], "我不吃香菜", "user_preference"),
    ],
)
def test_what_is_said_on_two_days_comes_in_as_it_was_said_last(lines, text, category):
    log = [said(line, day) for day, line in enumerate(lines)]
    wanted = planned(FILE, log=log)
    assert [note.text for note in wanted.noted] == [text]
    assert wanted.noted[0].category == (category or "user_preference")
    assert [source.day for source in wanted.noted[0].sources] == ["2026-11-01", "2026-11-02"]
    revision = carry_out_plan(FILE, replace_noted(wanted), MemoryHistory())
    assert [bullet.category for bullet in parse_bullets(revision.text) if bullet.text == text] == [
        wanted.noted[0].category
    ]
    (line,) = revision.live
    assert (line.source.quote, line.source.channel, line.origin) == (text, "telegram", "dream")


def replace_noted(wanted):
    return DreamPlan(noted=wanted.noted)


@every_case(
    "log",
    [
        [said("我不吃香菜", 0), said("我不吃香菜", 0, 12)],
        [said("我不吃香菜", 0)],
        [said("我不吃香菜", 0), said("我吃香菜", 1)],
        [said("今天我不吃香菜", 0), said("今天我不吃香菜", 1)],
        [said("我有两只猫，叫豆豆和米米", 0), said("我喜欢喝美式咖啡", 1)],
        [said("I lived in Rome for years", 0), said("I never lived in Rome", 1)],
    ],
)
def test_what_does_not_recur_stays_in_the_logs(log):
    assert not planned("", log=log)


def test_what_memory_has_already_does_not_come_again():
    log = [said("我喜欢美式咖啡", 0), said("我喜欢美式咖啡", 1)]
    assert not planned(FILE, log=log).noted


@pytest.mark.parametrize("state", ["gone", "superseded"])
def test_what_was_taken_out_comes_back_only_when_it_is_said_on_two_days_after_that(state):
    log = [said("我不吃香菜", day) for day in (0, 2, 6)]
    past = MemoryHistory(rows=(row("不吃香菜", state=state, ended=4),))
    assert not planned("", past, log).noted
    assert planned("", past, [*log, said("我不吃香菜", 7)]).noted


def test_what_a_person_had_put_back_is_left_alone():
    change = MemoryChange(
        id="c",
        space="",
        path="MEMORY.md",
        kind="dream",
        before_sha256="",
        after_sha256="",
        added=(),
        removed=("喜欢美式咖啡",),
        before="",
        about="d",
        undone=True,
        at=DAY,
    )
    assert not planned(FILE, MemoryHistory(kept=kept_line_keys([change]))).merges


def test_one_line_may_always_go_but_no_more_than_a_quarter():
    two = "## Facts\n- has two cats\n- Has two cats.\n"
    assert refusal_reason(two, planned(two)) == ""
    many = "## Facts\n" + "- has two cats\n" * 4 + "- likes jazz\n" * 2
    assert refusal_reason(many, planned(many)) == "loses 4 of 6"


@pytest.mark.parametrize(
    "text", ["The user pays 900 euro", "The user is called Mallory", "hates every animal on earth"]
)
def test_a_line_that_nobody_said_makes_the_whole_plan_refused(text):
    wanted = DreamPlan(
        noted=(
            RecurringFact(
                text=text, category="fact", sources=(said("I have two cats, Tom and Kim", 0),)
            ),
        )
    )
    assert refusal_reason(FILE, wanted) == "ungrounded"
    first, second = recordable_bullets("- has two cats\n- has 2 cats\n")
    assert (
        refusal_reason(FILE, DreamPlan(merges=(LineMerge(parts=(first, second), text=text),)))
        == "ungrounded"
    )


def test_a_line_is_compared_with_all_of_a_long_source_and_in_full():
    long = "I have two cats. " + " ".join(
        f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(100)
    )
    late = RecurringFact(
        text="Likes jazz on Sundays",
        category="fact",
        sources=(said(f"{long}. I like jazz on Sundays", 0),),
    )
    assert refusal_reason(FILE, DreamPlan(noted=(late,))) == ""
    invented = " ".join(f"other{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(150))
    false = RecurringFact(text=f"{long} {invented}", category="fact", sources=(said(long, 0),))
    assert refusal_reason(FILE, DreamPlan(noted=(false,))) == "ungrounded"


def test_a_plan_survives_being_stored():
    log = [said("我不吃香菜", 0), said("我不吃香菜", 1)]
    heir = row("用户住在慕尼黑", created=5)
    former = row("用户住在柏林", state="superseded", created=0, ended=5, by=heir.id)
    wanted = planned(FILE, MemoryHistory(rows=(heir, former)), log)
    assert wanted.merges
    assert wanted.dropped
    assert wanted.noted
    saved = SavedPlan(plan=wanted, before=FILE, before_sha256="a", after_sha256="b")
    assert load_plan(dump_plan(saved)) == saved
    assert not is_carried_out(FILE, saved)
    after = carry_out_plan(FILE, wanted, MemoryHistory()).text
    assert is_carried_out(after, saved)
    assert is_carried_out(f"{after}- written since\n", saved)
    assert not is_carried_out(after.replace("我不吃香菜", "我吃香菜"), saved)


@every_case("text", LASTING)
def test_what_a_person_says_of_themselves_lasts(text):
    assert is_lasting(text, spoken=True)


@every_case("text", PASSING)
def test_chatter_requests_and_news_of_the_day_never_last(text):
    assert not is_lasting(text, spoken=True)


@every_case(
    ("text", "may"),
    [
        ("用户住在杭州西湖区", True),
        ("The user is allergic to peanuts", True),
        ("用户询问了杭州的天气", False),
        ("The user asked for a summary of the report", False),
        ("Bot explained how peanuts grow", False),
        ("助手推荐了三家餐厅", False),
    ],
)
def test_a_folds_line_lasts_when_it_tells_of_the_person_and_not_of_the_talk(text, may):
    assert is_lasting(text, spoken=False) is may


def test_a_preference_is_told_from_a_fact():
    assert (
        guess_category("I prefer window seats") == guess_category("我不吃香菜") == "user_preference"
    )
    assert guess_category("I live in Berlin") == guess_category("我住在杭州") == "fact"


@every_case(
    "text",
    [
        "Always include version numbers when I ask about software dependencies or libraries used.",
        "Always use bullet points for lists when I ask about formatting options.",
        "please never use emoji in your replies",
        "From now on, answer in French",
        "When I ask about deadlines, please format dates as month, day, year",
        "以后回答都用中文",
        "请以后每次都附上来源链接",
        "当我问到库的时候，请写明版本号",
        "永远不要用感叹号来回复我",
    ],
)
def test_what_the_bot_shall_always_do_is_an_instruction(text: str) -> None:
    assert guess_category(text) == "instruction"


@every_case(
    "text",
    [
        "I always use the tram",
        "I never write on Sundays",
        "My brother always tells long stories",
        "When I ask my boss for a raise I start with coffee",
        "我总是用左手写字",
        "我每次回答问题都紧张",
        "他以后要用英语写论文",
        "use bullet points",
    ],
)
def test_what_a_person_does_or_wants_once_is_no_instruction(text: str) -> None:
    assert guess_category(text) != "instruction"


def test_one_night_adds_ten_lines_at_most():
    words = (
        "杭州",
        "柏林",
        "东京",
        "巴黎",
        "伦敦",
        "罗马",
        "首尔",
        "曼谷",
        "悉尼",
        "开罗",
        "河内",
        "里昂",
        "米兰",
    )
    log = [
        said(f"我在{word}有一套{at + 3}层的房子", day, at)
        for day in (0, 1)
        for at, word in enumerate(words)
    ]
    assert len(find_recurring(log, [], [], 0.85)) == 10


lines = st.lists(
    st.sampled_from(
        [
            "喜欢美式咖啡",
            "喜欢喝美式咖啡",
            "has two cats",
            "Has two cats.",
            "跑步5公里",
            "跑步10公里",
            "住在柏林",
            "works\n  at night",
        ]
    ),
    max_size=12,
)


@given(lines, lines)
def test_a_second_night_finds_nothing_left_and_other_bytes_stay(facts, likes):
    text = "\ufeff# Mine\r\n\r\nfree words\r\n## Facts\r\n" + "".join(
        f"* {line}\r\n" for line in facts
    )
    text += "\r\n```\r\n- code\r\n```\r\n## 偏好\r\n" + "".join(f"- {line}\r\n" for line in likes)
    wanted = planned(text)
    after = carry_out_plan(text, wanted, MemoryHistory()).text
    assert not planned(after)
    assert after.startswith("\ufeff# Mine\r\n\r\nfree words\r\n## Facts\r\n")
    assert "```\r\n- code\r\n```\r\n## 偏好\r\n" in after
    assert {normalize_key(line.text) for line in recordable_bullets(after)} <= {
        normalize_key(line.text) for line in recordable_bullets(text)
    }
    assert wanted == planned(text)
