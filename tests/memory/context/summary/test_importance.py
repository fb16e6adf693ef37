"""What matters: who said it, errors, code, how recent it is and whether it came up again; and what
a summary kept.
"""

from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

from memory.context.summary.importance import (
    MAX_SHOWN,
    compare_with_summary,
    message_weights,
    most_important,
)
from memory.conversation import Text, ToolCall, ToolResult
from tests.memory.context.making import make_session, replied, said, used


def messages_of(*turns):
    return [
        message
        for turn in make_session([list(turn) for turn in turns]).turns
        for message in turn.messages
    ]


def points(*said_or_replied, late=60):
    messages = messages_of(said_or_replied)
    found = message_weights(messages, messages[-1].at + timedelta(minutes=late))
    return [found[message.id] for message in messages]


def test_each_reason_has_its_points():
    assert points(said("hello there"), replied("hi")) == [30, 0]
    assert points(said("x"), replied("It failed with an error.")) == [30, 50]
    assert points(said("出错了，报错信息在下面"), replied("好")) == [80, 0]
    assert points(said("x"), replied("```py\nx = 1\n```")) == [30, 20]
    assert points(said("x"), replied("def a():\n    return 1\n")) == [30, 20]
    failed = ("user", (ToolResult(call_id="c", text="no", is_error=True),))
    assert points(
        said("x"), ("assistant", (ToolCall(id="c", name="bash", input="{}"),)), failed
    ) == [30, 0, 50]
    assert points(said("x"), *used("c", "ValueError: no\n"))[2] == 50


def test_recency_loses_a_point_a_minute_and_never_goes_below_nothing():
    assert points(said("a"), replied("b"), late=0) == [30 + 29, 30]
    assert points(said("a"), replied("b"), late=29) == [30, 1]
    assert points(said("a"), replied("b"), late=500) == [30, 0]
    assert points(said("a"), replied("b"), late=-10) == [60, 30]


def test_what_a_later_message_says_again_was_referred_to():
    assert points(said("my id is AB-1234"), replied("ok"), said("use AB-1234 please")) == [
        70,
        0,
        30,
    ]
    assert (
        points(said("钥匙在 /data/钥匙.txt"), replied("好"), said("打开 /data/钥匙.txt"))[0] == 70
    )
    assert points(said("预算 9800 元"), replied("9800 记下了"))[0] == 70
    assert points(said("I met Priya today"), replied("nice"), said("call Priya"))[0] == 70
    assert points(said("it is 12"), replied("12"))[0] == 30  # a number that small is anybody's
    assert points(said("x"), *used("c", "long"), replied('see recall(handle="3.0")')) == [
        30,
        0,
        40,
        0,
    ]


def test_what_a_tool_answers_refers_to_nothing():
    assert (
        points(said("read a1b2.txt"), ("user", (ToolResult(call_id="c", text="a1b2.txt: empty"),)))[
            0
        ]
        == 30
    )


TALK = (
    [
        said("我叫林小雨。预算 9,800 元。今天心情很好，想聊聊旅行。"),
        replied("好的，我们决定改用火车。"),
        ("assistant", (ToolCall(id="w", name="write_file", input='{"path": "plan.md"}'),)),
        ("user", (ToolResult(call_id="w", text="plan.md now holds 20 bytes."),)),
        ("assistant", (ToolCall(id="f", name="bash", input='{"command": "pytest -q"}'),)),
        ("user", (ToolResult(call_id="f", text="3 failed", is_error=True),)),
        *used("r", "nothing of note"),
        replied("都好了。"),
    ],
    [said("酒店电话 0571-8797-9889"), replied("记下。")],
)


def test_item_by_item_what_a_summary_kept_and_what_it_left():
    summary = '- 预算 9800 元。改用火车。\n- bash pytest -q 失败 recall(handle="6.0")'
    items = compare_with_summary(messages_of(*TALK), summary, UTC)
    assert [(item.turn, item.kind, item.text, item.kept, item.handle) for item in items] == [
        (1, "fact", "我叫林小雨。", False, 'recall(handle="1.0")'),
        (1, "fact", "预算 9,800 元。", True, 'recall(handle="1.0")'),
        (1, "user", "今天心情很好，想聊聊旅行。", False, 'recall(handle="1.0")'),
        (1, "decision", "好的，我们决定改用火车。", True, 'recall(handle="2.0")'),
        (1, "tool", "write_file plan.md", False, 'recall(handle="3.0")'),
        (1, "error", "bash pytest -q", True, 'recall(handle="6.0")'),
        (2, "fact", "酒店电话 0571-8797-9889", False, 'recall(handle="10.0")'),
    ]


def test_times_are_on_the_persons_clock_and_texts_are_short():
    messages = messages_of([said("word " * 100), replied("ok")])
    (item,) = compare_with_summary(messages, "", ZoneInfo("Asia/Shanghai"))
    assert item.time == "14:01"
    assert len(item.text) == MAX_SHOWN
    assert compare_with_summary([], "anything", UTC) == ()


def test_a_short_list_has_what_matters_most_in_order():
    items = compare_with_summary(messages_of(*TALK), "", UTC)
    short = most_important(items, 3)
    assert len(short) == 3
    assert [item for item in items if item in short] == list(short)
    assert min(item.weight for item in short) >= max(
        item.weight for item in items if item not in short
    )
    assert most_important(items, 99) == items


def test_words_only_are_kept_where_most_of_them_are_said_again():
    messages = messages_of(
        [said("please plan the garden party with lanterns"), ("assistant", (Text(text="ok"),))]
    )
    assert compare_with_summary(messages, "The user plans a garden party with lanterns.", UTC)[
        0
    ].kept
    assert not compare_with_summary(messages, "The user asked for something.", UTC)[0].kept
