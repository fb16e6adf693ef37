"""A cut falls between turns, near its target, at the place that its surroundings speak for."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory.context.policies.boundary import (
    CutCandidate,
    CutChoice,
    adaptive_keep,
    choose_cut,
    choose_cut_near,
    dump_choice,
    load_choice,
    score_cut,
)
from memory.conversation import Document, Message, Text, ToolCall, ToolResult, Turn
from tests.by_night import examples
from tests.cases import every_case
from tests.memory.context.making import START, chat, make_session, replied, said, used

CODE = "def total(cart):\n    return sum(item.price for item in cart)\n"


def turns_of(*turns):
    return make_session(list(turns)).turns


def terms(*turns, cut=1):
    found = score_cut(turns_of(*turns), cut)
    assert found.turns == cut
    assert found.score == sum(value for _, value in found.terms)
    return dict(found.terms)


PLAIN = [said("hello there"), replied("hello")]


def test_a_place_after_a_reply_is_better_than_any_and_one_after_a_bare_result_better_still():
    assert terms(PLAIN, PLAIN) == {"base": 100, "reply": 30}
    assert terms([said("read"), *used("a", "text")], PLAIN) == {"base": 100, "tool_result": 50}
    assert terms([said("no answer yet"), *used("a", "x"), replied("done")], PLAIN) == {
        "base": 100,
        "reply": 30,
    }


def test_no_place_is_worse_than_one_inside_a_tool_sequence():
    call, result = used("a", "text")
    assert terms([said("read"), call], PLAIN) == {"base": 100, "tool_sequence": -100}
    assert terms([said("read"), call], [result, replied("ok")]) == {
        "base": 100,
        "tool_sequence": -100,
    }
    assert terms(PLAIN, [result, replied("ok")]) == {
        "base": 100,
        "reply": 30,
        "tool_sequence": -100,
    }


@every_case(
    "text",
    [
        "新问题：怎么退税",
        "好的，换个话题吧",
        "另外，明天几点开会",
        "我们聊点不同的话题",
        "太好了！现在让我们处理API",
        "对了，票订了吗",
        "By the way, when is lunch?",
        "Thanks! New question: what is a monad",
        "ok, different topic. taxes",
        "Great, now let's do the API",
    ],
)
def test_a_phrase_that_announces_something_else_is_a_break(text):
    assert terms(PLAIN, [said(text), replied("sure")]) == {"base": 100, "reply": 30, "break": 20}


@every_case("text", ["继续", "go on", "你说对了", "what is new", "x" * 60 + " by the way", ""])
def test_other_words_are_no_break(text):
    assert terms(PLAIN, [said(text), replied("by the way, a new question")]) == {
        "base": 100,
        "reply": 30,
    }


def test_two_questions_in_a_row_are_a_break():
    assert terms([said("are you there?")], PLAIN) == {"base": 100, "break": 20}


@pytest.mark.parametrize(("seconds", "broken"), [(300, False), (301, True), (90_000, True)])
def test_a_gap_of_more_than_five_minutes_is_a_break(seconds, broken):
    first, second = turns_of(PLAIN, PLAIN)
    at = first.messages[-1].at + timedelta(seconds=seconds)
    later = replace(second, messages=tuple(replace(message, at=at) for message in second.messages))
    assert ("break" in dict(score_cut((first, later), 1).terms)) == broken


@every_case(
    "wrong",
    [
        replied("The build failed, I am looking"),
        replied("又报错了"),
        replied("It raised a KeyError"),
        ("user", (ToolResult(call_id="a", text="gone", is_error=True),)),
        ("user", (ToolResult(call_id="a", text="ran 3 tests\n1 failed"),)),
        (
            "user",
            (ToolResult(call_id="a", text="Traceback (most recent call last):\n  File x\nboom"),),
        ),
    ],
)
def test_an_error_within_two_messages_speaks_against_a_cut(wrong):
    call = ("assistant", (ToolCall(id="a", name="run", input="{}"),))
    broken = [said("run"), call, wrong]
    assert terms([*broken, replied("oh")], PLAIN)["error"] == -30
    assert terms([*broken, replied("oh"), said("and?")], PLAIN).get("error") is None
    assert terms(PLAIN, [said("run"), wrong])["error"] == -30
    assert terms(PLAIN, [said("run"), call, wrong]).get("error") is None


@every_case(
    "text",
    [
        "no errors at all",
        "0 failed",
        "没有错误",
        "没有任何报错",
        "what an exceptional terror",
        "failover to the mirror",
        "ok",
    ],
)
def test_where_nothing_went_wrong_nothing_is_held_against_it(text):
    assert terms([said("run"), replied(text)], PLAIN) == {"base": 100, "reply": 30}


def test_a_file_that_speaks_of_errors_is_no_error():
    source = "class Reader:\n    def read(self):\n        raise ValueError('failed')\n    pass"
    assert "error" not in terms([said("read"), *used("a", source)], PLAIN)


BREAD = ("sourdough", "starter", "flour", "crust", "oven", "rye")
BOATS = ("sail", "anchor", "harbour", "mast", "rudder", "keel")
面包 = ("酸种面团", "高筋面粉", "烤箱温度", "面包外皮", "黑麦粉", "二次发酵")
帆船 = ("主帆升起", "抛锚地点", "港口泊位", "桅杆高度", "船舵方向", "龙骨形状")


def about(things, count, first=0):
    """Turns on one thing: each names a few of its words."""
    made = []
    for number in range(first, first + count):
        one, two, three, four = (
            things[at % len(things)] for at in (number, number + 1, number + 3, 2 * number + 5)
        )
        made.append([said(f"{one}, {two}?"), replied(f"{two}; {three} {four}.")])
    return made


@pytest.mark.parametrize(("first", "second"), [(BREAD, BOATS), (面包, 帆船), (BREAD, 帆船)])
def test_a_change_of_topic_speaks_for_a_cut(first, second):
    turns = turns_of(*about(first, 6), *about(second, 6))
    assert [cut for cut in range(1, 12) if "topic" in dict(score_cut(turns, cut).terms)] == [6]
    assert dict(score_cut(turns, 6).terms) == {"base": 100, "reply": 30, "topic": 25}


SETUP = [
    "React",
    "project",
    "template",
    "bundler",
    "lockfile",
    "component",
    "eslint",
    "folder",
    "hooks",
    "stylesheet",
]
API = [
    "endpoint",
    "request",
    "schema",
    "database",
    "login",
    "token",
    "migration",
    "route",
    "payload",
    "query",
]
TESTS = [
    "fixture",
    "coverage",
    "assertion",
    "pytest",
    "snapshot",
    "runner",
    "flaky",
    "teardown",
    "mock",
    "suite",
]
搭建 = ["前端项目", "组件目录", "样式文件", "打包工具", "依赖安装", "路由页面", "脚手架", "热更新"]
接口 = [
    "数据库表",
    "登录鉴权",
    "请求参数",
    "响应格式",
    "分页查询",
    "事务回滚",
    "令牌过期",
    "限流策略",
]
测试 = ["单元用例", "覆盖率", "断言失真", "测试夹具", "回归套件", "模拟数据", "端到端", "并发压测"]


@pytest.mark.parametrize("themes", [(SETUP, API, TESTS), (搭建, 接口, 测试)], ids=["en", "zh"])
@pytest.mark.parametrize(("keep", "change"), [(0.3, 55), (0.7, 25)])
def test_of_three_topics_with_50_60_and_40_messages_whole_ones_are_kept(themes, keep, change):
    """Plain chat keeps 0.3 and work on code 0.7: each lies near a change of topic."""
    turns = turns_of(
        *(
            turn
            for theme, count in zip(themes, (25, 30, 20), strict=True)
            for turn in about(theme, count)
        )
    )
    found = choose_cut(turns, [100] * 75, 75, keep)
    assert found.turns == change != found.target
    assert {item.turns for item in found.candidates if "topic" in dict(item.terms)} == {change}


def test_the_target_is_where_the_tokens_are_and_not_the_messages():
    turns = turns_of(*[PLAIN] * 20)
    assert choose_cut(turns, [10] * 20, 20, 0.5).turns == 10
    assert choose_cut(turns, [10] * 15 + [100] * 5, 20, 0.5).turns == 17
    assert choose_cut(turns, [100] * 5 + [10] * 15, 20, 0.5).turns == 3
    assert choose_cut(turns, [10] * 20, 20, 0.3).turns == 14
    assert choose_cut(turns, [0] * 20, 20, 0.5).turns == 1


def test_a_better_place_within_reach_wins_and_one_beyond_it_does_not():
    turns = [*[PLAIN] * 8, [said("by the way, lunch?"), replied("at noon")], *[PLAIN] * 11]
    costs = [10] * 20
    found = [
        choose_cut(turns_of(*turns), costs, 20, 0.5, reach=reach, reach_turns=0)
        for reach in (0, 3, 4, 5)
    ]
    assert [choice.turns for choice in found] == [10, 10, 8, 8]


def work(subject, steps=15):
    return [
        said(f"work on {subject}"),
        *(m for n in range(steps) for m in used(f"c{n}", subject)),
        replied("done"),
    ]


@every_case("change", [4, 5, 7, 8])
def test_of_long_turns_the_ends_of_two_on_either_side_are_compared(change):
    turns = [work("the bread")] * 12
    turns[change] = [said("by the way, lunch?"), *turns[change][1:]]
    found = choose_cut(turns_of(*turns), [100] * 12, 12, 0.5)
    assert [item.turns for item in found.candidates] == [4, 5, 6, 7, 8]
    assert (found.turns, found.target) == (change, 6)


def test_a_long_turns_end_further_off_is_left_alone_where_too_much_or_too_little_would_stay():
    turns = turns_of(*[work("the bread")] * 12)
    found = choose_cut(turns, [10, 10, 10, 10, 500, 200, 200, 500, 10, 10, 10, 10], 12, 0.5)
    assert [item.turns for item in found.candidates] == [5, 6, 7]
    found = choose_cut(turns, [100] * 12, 12, 0.2)
    assert [item.turns for item in found.candidates] == [8, 9, 10]
    assert choose_cut(turns, [100] * 12, 7, 0.5).candidates[-1].turns == 7
    assert choose_cut(turns, [100] * 12, 12, 0.9, newest=330).candidates[-1].turns == 1


def test_of_equal_places_the_nearest_to_the_target_wins():
    found = choose_cut(turns_of(*[PLAIN] * 20), [10] * 20, 20, 0.5)
    assert (found.turns, found.target) == (10, 10)
    assert [item.turns for item in found.candidates] == [8, 9, 10, 11, 12]


def test_where_no_turn_ends_within_reach_the_nearest_end_is_taken():
    long = [said("work"), *(m for n in range(20) for m in used(f"c{n}", "x")), replied("done")]
    turns = turns_of(PLAIN, long, PLAIN, PLAIN, PLAIN)
    found = choose_cut(turns, [10, 400, 10, 10, 10], 5, 0.4)
    assert (found.turns, [item.turns for item in found.candidates]) == (2, [2])
    assert choose_cut(turns, [10, 400, 10, 10, 10], 5, 0.6).turns == 1


def test_the_newest_messages_and_a_running_turn_stay():
    turns = turns_of(*[PLAIN] * 6)
    assert choose_cut(turns, [10] * 6, 6, 0.01).turns == 3
    assert choose_cut(turns, [10] * 6, 6, 0.01, newest=2).turns == 5
    assert choose_cut(turns, [10] * 6, 2, 0.01, newest=2).turns == 2
    assert choose_cut(turns_of(*[PLAIN] * 3), [10] * 3, 3, 0.5) is None
    assert choose_cut(turns, [10] * 6, 0, 0.5) is None
    assert choose_cut((), [], 0, 0.5) is None


def test_near_a_target_the_best_that_is_small_enough_wins():
    turns = turns_of(*[PLAIN] * 8, [said("by the way, lunch?"), replied("at noon")], *[PLAIN] * 11)
    assert choose_cut_near(turns, [10] * 20, 20, 10, 2, 10_000).turns == 8
    assert choose_cut_near(turns, [10] * 20, 20, 10, 1, 10_000).turns == 10
    assert choose_cut_near(turns, [10] * 20, 20, 10, 2, 110).turns == 10
    assert choose_cut_near(turns, [10] * 20, 20, 10, 2, 80).turns == 12
    assert choose_cut_near(turns, [10] * 20, 20, 10, 2, 50).turns == 15
    assert choose_cut_near(turns, [10] * 20, 19, 10, 2, 5).turns == 19
    assert choose_cut_near(turns, [10] * 20, 20, 20, 0, 500).turns == 20
    found = choose_cut_near(turns, [10] * 20, 20, 10, 2, 10_000)
    assert (found.target, found.keep, found.adapted) == (10, 0.5, ())


def talk(size, count=20):
    return [[said("w" * size), replied("v" * size)] for _ in range(count)]


@every_case(
    ("turns", "keep", "share", "reasons"),
    [
        (talk(100), 0.5, 0.3, ("chat",)),
        (talk(100), 0.4, 0.3, ("chat",)),
        (talk(100), 0.2, 0.2, ()),
        ([[said("fix"), *used("a", CODE * 9), replied("done")]], 0.5, 0.7, ("code",)),
        ([[said("fix"), *used("a", CODE * 9), replied("done")]], 0.8, 0.8, ()),
        ([[said("how?"), replied(f"So:\n```python\n{CODE}```")]], 0.6, 0.7, ("code",)),
        ([[said("fix"), *used("a", "words and words " * 20), replied("done")]], 0.5, 0.5, ()),
        (
            [[said("fix"), *used("a", "words and words " * 20), replied("it failed")]],
            0.5,
            0.6,
            ("errors",),
        ),
        ([[said("fix"), *used("a", CODE * 9), replied("it failed")]], 0.5, 0.7, ("code",)),
        ([[said("fix"), *used("a", CODE * 9), replied("it failed")]], 0.3, 0.6, ("code", "errors")),
        ([[said("why?"), replied("出现错误")]], 0.5, 0.4, ("chat", "errors")),
        ([*talk(100, 9), [said("x"), replied("failed")]], 0.5, 0.3, ("chat",)),
        ([], 0.5, 0.5, ()),
    ],
)
def test_what_the_conversation_is_made_of_moves_what_is_kept(turns, keep, share, reasons):
    assert adaptive_keep(turns_of(*turns), keep) == (pytest.approx(share), reasons)


def test_code_that_was_written_or_sent_counts_as_code():
    write = json.dumps({"path": "a.py", "text": CODE * 5})
    assert adaptive_keep(turns_of([said("write"), *used("a", "ok", write), replied("done")]))[
        1
    ] == ("code",)
    (turn,) = turns_of([said("look"), replied("nice")])
    file = Document(sha256="0", media_type="text/x-python", name="a.py", size=9, text=CODE * 5)
    sent = replace(
        turn,
        messages=(replace(turn.messages[0], parts=(Text(text="look"), file)), turn.messages[1]),
    )
    assert adaptive_keep((sent,))[1] == ("code",)
    assert (
        adaptive_keep(
            turns_of([said("read"), *used("a", "Dear all, " * 40, "not json"), replied("ok")])
        )[1]
        == ()
    )


def test_a_choice_is_told_in_compact_text_and_read_again():
    turns = turns_of(*about(BREAD, 6), *about(BOATS, 6))
    found = replace(choose_cut(turns, [10] * 12, 12, 0.5), adapted=("code", "errors"))
    text = dump_choice(found)
    assert load_choice(text) == found
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    assert {
        "score": 155,
        "terms": [["base", 100], ["reply", 30], ["topic", 25]],
        "turns": 6,
    } in json.loads(text)["candidates"]


@every_case(
    "text",
    [
        "",
        "plain words",
        "[]",
        "null",
        "3",
        "{}",
        '{"turns": 1}',
        '{"turns":"x","target":1,"keep":1}',
        "\x00",
    ],
)
def test_what_it_has_not_written_is_no_choice(text):
    assert load_choice(text) is None


names = st.sampled_from(["base", "reply", "topic"])
candidates = st.builds(
    CutCandidate,
    turns=st.integers(0, 999),
    score=st.integers(-999, 999),
    terms=st.lists(st.tuples(names, st.integers(-200, 200))).map(tuple),
)
choices = st.builds(
    CutChoice,
    turns=st.integers(0, 999),
    target=st.integers(0, 999),
    keep=st.floats(0, 1),
    adapted=st.lists(names).map(tuple),
    candidates=st.lists(candidates, max_size=4).map(tuple),
)


@given(choices)
def test_every_choice_is_read_as_it_was_written(choice):
    assert load_choice(dump_choice(choice)) == choice


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_text_is_read_or_refused(text):
    assert load_choice(text) is None


@st.composite
def histories(draw):
    """Turns of one to six messages, sound ones, and what they cost."""
    words = st.sampled_from(
        ["好的", "next question", "it failed", "换个话题", "the bread", "the boat", CODE]
    )
    turns = []
    for number in range(draw(st.integers(1, 25))):
        chain = [
            m
            for step in range(draw(st.integers(0, 2)))
            for m in used(f"t{number}s{step}", draw(words))
        ]
        answer = [replied(draw(words))] if draw(st.booleans()) else []
        turns.append([said(draw(words)), *chain, *answer])
    costs = draw(st.lists(st.integers(0, 5_000), min_size=len(turns), max_size=len(turns)))
    return turns_of(*turns), costs


@settings(max_examples=examples(200), deadline=None)
@given(
    histories(),
    st.data(),
    st.floats(0, 1),
    st.integers(0, 12),
    st.integers(0, 8),
    st.integers(0, 4),
)
def test_wherever_it_cuts_it_is_allowed_to(history, data, keep, reach, newest, more):
    turns, costs = history
    finished = data.draw(st.integers(0, len(turns)))
    found = choose_cut(turns, costs, finished, keep, reach, newest, more)
    assert found == choose_cut(turns, costs, finished, keep, reach, newest, more)
    if found is None:
        allowed = range(1, min(finished, len(turns) - 1) + 1)
        assert all(sum(len(turn.messages) for turn in turns[cut:]) < newest for cut in allowed)
        return
    assert 0 < found.turns <= finished
    assert found.turns < len(turns)
    assert sum(len(turn.messages) for turn in turns[found.turns :]) >= newest
    best = max(item.score for item in found.candidates)
    assert best in [item.score for item in found.candidates if item.turns == found.turns]
    for item in found.candidates:
        assert item == score_cut(turns, item.turns)
        assert "tool_sequence" not in dict(item.terms)


@settings(max_examples=examples(200), deadline=None)
@given(histories(), st.data(), st.integers(0, 6), st.integers(0, 40_000))
@example((turns_of(PLAIN, PLAIN), [0, 0]), None, 0, 0)
def test_near_a_target_it_keeps_no_more_than_allowed_if_anything_does(history, data, reach, most):
    turns, costs = history
    finished = data.draw(st.integers(1, len(turns))) if data else 2
    target = data.draw(st.integers(0, len(turns))) if data else 0
    found = choose_cut_near(turns, costs, finished, target, reach, most)
    assert found == choose_cut_near(turns, costs, finished, target, reach, most)
    assert 0 < found.turns <= finished
    if found.turns < finished:
        assert sum(costs[found.turns :]) <= most
        assert found.turns >= min(target, finished) - reach
    if any(sum(costs[cut:]) <= most for cut in range(1, finished + 1)) and target <= 1:
        assert sum(costs[found.turns :]) <= most


@given(histories(), st.floats(0.05, 0.95))
def test_what_is_kept_is_moved_within_its_bounds_and_says_why(history, keep):
    share, reasons = adaptive_keep(history[0], keep)
    assert bool(reasons) == (share != pytest.approx(keep, abs=1e-9))
    assert min(keep, 0.3) - 1e-6 <= share <= max(keep, 0.7) + 1e-6


class Counted(tuple):
    """A history that counts how often one of its turns is looked at."""

    looks = 0

    def __getitem__(self, key):
        found = super().__getitem__(key)
        Counted.looks += len(found) if isinstance(key, slice) else 1
        return found

    def __iter__(self):
        for turn in super().__iter__():
            Counted.looks += 1
            yield turn


def looks(count):
    turns = Counted(make_session(chat(count)).turns)
    Counted.looks = 0
    adaptive_keep(turns)
    choose_cut(turns, [10] * count, count, 0.5)
    choose_cut_near(turns, [10] * count, count, count // 2, 2, 10 * count)
    return Counted.looks


def test_the_search_is_linear_in_the_turns():
    near = looks(100)
    assert looks(1_000) - near == pytest.approx((looks(10_000) - near) / 11, rel=0.05)
    assert near < 100 * 6 + 300


def test_a_turn_without_tokens_or_of_one_message_is_no_trouble():
    message = Message(id="m", seq=1, turn=1, role="user", parts=(), at=START)
    turns = tuple(
        Turn(number=number, messages=(replace(message, id=f"m{number}"),))
        for number in range(1, 12)
    )
    assert choose_cut(turns, [10] * 11, 11, 0.5).turns in range(1, 7)
    assert adaptive_keep(turns) == (0.5, ())
