"""Sentences are taken out of texts, JSON and messages, and the rest stays to the letter."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memory.context.message_rules import find_faults
from memory.conversation import Document, Image, ShownMessage, Text, Thinking, ToolCall, ToolResult
from memory.redaction import (
    has_only_marks,
    mentioning_sentences,
    redact_json,
    redact_list,
    redact_memory,
    redact_parts,
    redact_text,
)
from memory.text.mentions import MentionMatcher, find_spans
from tests.cases import every_case

NEEDLE = MentionMatcher(query="CANARY")
ZH = MentionMatcher(query="金丝雀")


@every_case(
    ("text", "left"),
    [
        ("I like tea. The word is canary! And more.", "I like tea. [forgotten] And more."),
        ("canary one. canary two. three.", "[forgotten] three."),
        (
            "- 10:02 User: the ＣＡＮＡＲＹ. yes\r\n- next\r\n",
            "- 10:02 User: [forgotten] yes\r\n- next\r\n",
        ),
        ("- 10:02 Canary: hello", "- [forgotten]"),
        (
            "## 10:00 · canary · turns 1–2 <!-- fold f1 -->\n",
            "## 10:00 · canary · turns 1–2 <!-- fold f1 -->\n",
        ),
        ("## The canary\n\ntext", "## [forgotten]\n\ntext"),
        ("## Facts and preferences\n- a canary", "## Facts and preferences\n- [forgotten]"),
        ("/remember the canary", "/remember [forgotten]"),
        ("canaryx and xcanary", "canaryx and xcanary"),
        ("nothing here", "nothing here"),
        ("", ""),
    ],
)
def test_a_sentence_that_mentions_it_becomes_a_mark(text: str, left: str) -> None:
    assert redact_text(text, NEEDLE) == left


def test_the_mark_is_in_the_language_of_what_stood_there() -> None:
    text = "我喜欢茶。我养了一只金丝雀。Its name is 金丝雀? No."
    assert redact_text(text, ZH) == "我喜欢茶。［已忘记］ No."
    assert redact_text("一只 canary", NEEDLE) == "［已忘记］"


def test_a_query_over_several_sentences_and_lines_takes_them_all() -> None:
    assert (
        redact_text("I live in\nParis. I work. Rest.", MentionMatcher(query="in Paris. I work"))
        == "[forgotten]\n[forgotten] Rest."
    )


def test_in_other_words_only_where_it_is_asked_for() -> None:
    matcher = MentionMatcher(query="that I live in Berlin")
    assert redact_text("He lives in Berlin. Yes.", matcher) == "[forgotten] Yes."
    assert (
        redact_text("He lives in Berlin. Yes.", matcher, near=False) == "He lives in Berlin. Yes."
    )


WORDS = st.lists(
    st.sampled_from(
        [
            "canary",
            "金丝雀",
            "tea",
            ".",
            "。",
            "\n",
            "- ",
            "10:02 Bob: ",
            " ",
            "# ",
            '"',
            "`",
            "CANARY!",
            "[forgotten]",
        ]
    ),
    max_size=25,
).map("".join)


@given(WORDS, st.sampled_from([NEEDLE, ZH]))
def test_nothing_is_left_to_find_and_a_second_time_changes_nothing(
    text: str, matcher: MentionMatcher
) -> None:
    once = redact_text(text, matcher)
    assert find_spans(once, matcher.query) == []
    assert redact_text(once, matcher) == once
    assert len(once.splitlines()) == len(text.splitlines())


@given(WORDS)
def test_lines_without_it_stay_byte_for_byte(text: str) -> None:
    for before, after in zip(
        text.splitlines(),
        redact_text(text, MentionMatcher(query="zebra")).splitlines(),
        strict=True,
    ):
        assert before == after


def test_json_stays_json_with_names_numbers_and_escapes_redacted() -> None:
    text = '{"q":"find the \\u91d1\\u4e1d\\u96c0","n":4711,"金丝雀":[true,null,"tea"]}'
    assert json.loads(redact_json(text, ZH)) == {
        "q": "［已忘记］",
        "n": 4711,
        "［已忘记］": [True, None, "tea"],
    }
    assert json.loads(redact_json(text, MentionMatcher(query="4711")))["n"] == "[forgotten]"
    assert redact_json(text, NEEDLE) == text
    assert redact_json("not json, canary", NEEDLE) == "[forgotten]"
    assert redact_list('["a canary","tea"]', NEEDLE) == '["tea"]'
    assert redact_list("", NEEDLE) == ""


def test_every_kind_of_part_is_redacted_and_the_message_stays_valid() -> None:
    asked = redact_parts(
        (Text(text="A canary."), Image(sha256="0" * 64, media_type="image/png")), NEEDLE
    )
    called = redact_parts(
        (
            Thinking(text="the canary", signature="s", model="m"),
            Thinking(text="fine", signature="s", model="m"),
            ToolCall(id="t1", name="look", input='{"q": "canary"}'),
        ),
        NEEDLE,
    )
    answered = redact_parts((ToolResult(call_id="t1", text='{"found": "canary", "n": 1}'),), NEEDLE)
    assert asked[0] == Text(text="[forgotten]")
    assert called[0] == Text(text="[forgotten]")
    assert called[1] == Thinking(text="fine", signature="s", model="m")
    assert json.loads(called[2].input) == {"q": "[forgotten]"}  # type: ignore[union-attr]
    assert json.loads(answered[0].text) == {"found": "[forgotten]", "n": 1}  # type: ignore[union-attr]
    assert (
        find_faults(
            [
                ShownMessage(role="user", parts=asked),
                ShownMessage(role="assistant", parts=called),
                ShownMessage(role="user", parts=answered),
            ]
        )
        == []
    )
    paper = Document(
        sha256="1" * 64, media_type="text/plain", name="canary.txt", size=9, text="A canary. Tea."
    )
    (left,) = redact_parts((paper,), NEEDLE)
    assert (left.name, left.text) == ("[forgotten]", "[forgotten] Tea.")  # type: ignore[union-attr]


def test_a_bullet_of_memory_goes_whole_and_every_other_byte_stays() -> None:
    bullets = "- Has a dog\r\n- Has a canary\r\n  called Tweety\r\n- 喜欢茶\r\n"
    text = f"# Memory\r\n\r\n## Facts\r\n{bullets}\r\nProse. A canary here.\r\n"
    left = "# Memory\r\n\r\n## Facts\r\n- Has a dog\r\n- 喜欢茶\r\n\r\nProse. [forgotten]\r\n"
    assert redact_memory(text, NEEDLE) == left


def test_a_sentence_that_stays_by_choice_stays() -> None:
    matcher = MentionMatcher(
        query="canary", said=("A canary.",), only=True, kept=frozenset({"my canary sings."})
    )
    assert redact_memory("- A canary.\n- My canary sings.\n", matcher) == "- My canary sings.\n"


def test_the_sentences_that_mention_it_are_told_one_by_one() -> None:
    assert mentioning_sentences("Tea. A  canary\nsings. My canary!", "canary") == (
        "A canary",
        "My canary!",
    )


def test_what_is_left_of_a_text() -> None:
    assert has_only_marks("## Facts\n- [forgotten]\n- ［已忘记］")
    assert not has_only_marks("## Facts\n- [forgotten] tea")
