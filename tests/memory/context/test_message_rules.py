"""Any list of messages can be made into one that the strictest provider takes."""

import random
from collections import Counter

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory.context.message_rules import find_faults, repair_messages
from memory.conversation import Document, Image, ShownMessage, Text, Thinking, ToolCall, ToolResult
from tests.by_night import examples

# Literals, so that the product is not compared with itself.
NO_RESULT = "[no result was recorded]"

IDS = st.sampled_from(["a", "b", "c", "坏 id", "", "x" * 70])
PARTS = st.one_of(
    st.builds(Text, text=st.sampled_from(["", " ", "\n", "hello", "你好", "last word"])),
    st.builds(
        ToolCall,
        id=IDS,
        name=st.sampled_from(["read", "bad name!", ""]),
        input=st.sampled_from(["{}", "[", "1"]),
    ),
    st.builds(ToolResult, call_id=IDS, text=st.sampled_from(["", "42"])),
    st.builds(Thinking, text=st.just("hm"), signature=st.just("s")),
    st.just(Image(sha256="0" * 64, media_type="image/png")),
    st.just(Document(sha256="1" * 64, media_type="text/plain", name="n", size=3)),
)
MESSAGES = st.lists(
    st.builds(
        ShownMessage,
        role=st.sampled_from(["user", "assistant"]),
        parts=st.lists(PARTS, max_size=4).map(tuple),
    ),
    max_size=8,
)


def user(*parts):
    return ShownMessage(role="user", parts=parts)


def assistant(*parts):
    return ShownMessage(role="assistant", parts=parts)


def text(words):
    return Text(text=words)


def call(id, name="read"):
    return ToolCall(id=id, name=name, input="{}")


def result(id, words="42"):
    return ToolResult(call_id=id, text=words)


def user_texts(messages):
    return [
        p.text
        for m in messages
        if m.role == "user"
        for p in m.parts
        if isinstance(p, Text) and p.text.strip()
    ]


@settings(max_examples=examples(500), deadline=None)
@given(MESSAGES)
@example([user(result("a")), assistant(call("a")), user(text("x")), assistant(call("a"))])
def test_repair_is_total_idempotent_and_loses_no_user_text(messages):
    once = repair_messages(messages)
    assert find_faults(once) == []
    assert repair_messages(once) == once
    assert user_texts(once) == user_texts(messages)


def test_thousands_of_random_histories_are_mended():
    dice = random.Random(20)
    kinds = [
        text("hi"),
        text(" "),
        text("你好"),
        *map(call, "ab"),
        *map(result, "ab"),
        Thinking(text="hm"),
        call("坏"),
    ]
    for _ in range(examples(20_000)):
        history = [
            ShownMessage(
                role=dice.choice(("user", "assistant")),
                parts=tuple(dice.choices(kinds, k=dice.randrange(4))),
            )
            for _ in range(dice.randrange(7))
        ]
        mended = repair_messages(history)
        assert find_faults(mended) == []
        assert user_texts(mended) == user_texts(history)


@st.composite
def good_histories(draw):
    shown = []
    for turn in range(draw(st.integers(1, 4))):
        shown.append(user(text(f"q{turn}")))
        for step in range(draw(st.integers(0, 2))):
            ids = [f"t{turn}s{step}n{n}" for n in range(draw(st.integers(1, 3)))]
            shown.append(assistant(Thinking(text="hm"), *map(call, ids)))
            order = draw(st.permutations(ids))
            shown.append(user(*map(result, order), *([text("and")] if draw(st.booleans()) else [])))
        shown.append(assistant(text(f"a{turn}")))
    return shown


@settings(max_examples=examples(200), deadline=None)
@given(good_histories(), st.data())
def test_repair_is_the_identity_on_valid_input_and_mends_every_cut(history, data):
    assert find_faults(history) == []
    assert repair_messages(history) == tuple(history)
    start = data.draw(st.integers(0, len(history)))
    stop = data.draw(st.integers(start, len(history)))
    cut = history[start:stop]
    mended = repair_messages(cut)
    assert find_faults(mended) == []
    assert user_texts(mended) == user_texts(cut)


def test_a_call_without_its_result_gets_one_that_says_so():
    mended = repair_messages(
        [user(text("q")), assistant(call("a"), call("b")), user(result("b"), text("go on"))]
    )
    assert mended[2].parts == (
        ToolResult(call_id="a", text=NO_RESULT, is_error=True),
        result("b"),
        text("go on"),
    )


def test_results_split_over_two_messages_come_together():
    mended = repair_messages(
        [user(text("q")), assistant(call("a"), call("b")), user(result("a")), user(result("b"))]
    )
    assert mended == (
        user(text("q")),
        assistant(call("a"), call("b")),
        user(result("a"), result("b")),
    )


def test_a_call_id_used_in_two_turns_is_made_unique_on_both_sides():
    turn = [user(text("q")), assistant(call("call_1")), user(result("call_1"))]
    mended = repair_messages([*turn, assistant(text("done")), *turn])
    ids = [p.id for m in mended for p in m.parts if isinstance(p, ToolCall)]
    answers = [p.call_id for m in mended for p in m.parts if isinstance(p, ToolResult)]
    assert ids == answers
    assert max(Counter(ids).values()) == 1
    assert ids[0] == "call_1"


def test_unreadable_arguments_become_an_object_that_holds_them():
    bad = ToolCall(id="a", name="read", input='{"path": ')
    mended = repair_messages([user(text("q")), assistant(bad), user(result("a"))])
    assert mended[1].parts[0].input == '{"unreadable": "{\\"path\\": "}'


def test_faults_are_named():
    assert find_faults([assistant(text("hi"))]) == ["message 0 is assistant, not user"]
    assert "calls ['a'] have no results" in find_faults([user(text("q")), assistant(call("a"))])
