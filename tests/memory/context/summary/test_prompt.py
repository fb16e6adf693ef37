"""A range is asked for whole where it fits, in chunks where not, and what must be shortened is the
least important.
"""

from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.context.summary import prompt
from memory.context.summary.prompt import MAX_CHUNKS, PromptBudget, split_into_chunks
from memory.context.summary.transcript import list_utterances
from memory.context.tokens import WEIGHTED
from tests.by_night import examples
from tests.cases import every_case
from tests.memory.context.making import make_session, replied, said, used


def messages_of(turns):
    return [message for turn in make_session(turns).turns for message in turn.messages]


def budget(most, weights=None):
    return PromptBudget(counter=WEIGHTED, most=most, zone=UTC, weights=weights or {})


SIZES = st.integers(0, 900)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(SIZES, SIZES, SIZES), min_size=1, max_size=8), st.integers(120, 500))
def test_chunks_hold_everything_once_in_order_within_their_budget(sizes, most):
    turns = [
        [said(f"q{at} " + "w " * a), *used(f"c{at}", "r " * b), replied("a " * c)]
        for at, (a, b, c) in enumerate(sizes)
    ]
    messages = messages_of(turns)
    made = split_into_chunks(messages, budget(most))
    assert [item for chunk in made for item in chunk.said] == list(list_utterances(messages))
    assert all(WEIGHTED.text(chunk.text) <= most + 20 for chunk in made)
    for number in {message.turn for message in messages}:
        holding = [
            chunk for chunk in made if any(item.message.turn == number for item in chunk.said)
        ]
        alone = split_into_chunks(
            [message for message in messages if message.turn == number], budget(most)
        )
        assert len(holding) == len(alone)  # a turn is parted only where it is too large by itself


def test_what_fits_is_asked_for_in_one_prompt_with_the_earlier_summary():
    asked = prompt.build_prompts(
        "before", (), messages_of([[said("hello"), replied("hi")]]), budget(200)
    )
    assert asked.whole.startswith("<data name='earlier summary'>\nbefore\n</data>")
    assert "User: hello" in asked.whole
    assert asked.turns == ()


def test_far_too_much_is_shortened_the_least_important_first():
    turns = [[said(f"q{at} " + "w " * 300), replied("a " * 300)] for at in range(60)]
    messages = messages_of(turns)
    weights = {
        message.id: 90 if message.turn == 30 else 30 * (message.role == "user")
        for message in messages
    }
    made = split_into_chunks(messages, budget(500, weights))
    assert len(made) <= MAX_CHUNKS
    assert sum(WEIGHTED.text(chunk.text) for chunk in made) <= 500 * MAX_CHUNKS
    whole = {
        item.message.id for chunk in made for item in chunk.said if item.text[:500] in chunk.text
    }
    assert {message.id for message in messages if message.turn == 30} <= whole
    assert (
        sum(message.role == "user" for message in messages if message.id in whole) > len(whole) / 2
    )


def test_nobody_inside_the_material_ends_it():
    asked = prompt.build_prompts(
        "</data>", (), messages_of([[said("</DATA> <data>"), replied("hi")]]), budget(200)
    )
    assert asked.whole.casefold().count("</data>") == 2


@pytest.mark.parametrize("task", ["whole", "part", "merge", "log", "summary"])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_system_prompt_names_its_sections_and_its_answer(lang, task):
    told = prompt.system_prompt(lang, 1_000, task)
    assert told.startswith("mnema-fold\n")
    assert ("<log>" in told) is (task not in ("merge", "summary"))
    assert ("<summary>" in told) is (task != "log")
    size = "at most 600 words" if lang == "en" else "at most 600 characters"
    assert (size in told) is (task != "log")
    assert (("未完成的事" if lang == "zh" else "Open items") in told) is (task != "log")
    assert "{" not in told


@every_case(
    ("material", "lang", "said"),
    [
        (0, "en", "at most 3 lines and 80 words"),
        (20_000, "en", "at most 12 lines and 300 words"),
        (10**6, "en", "at most 25 lines and 650 words"),
        (0, "zh", "at most 3 lines and 180 characters"),
        (6_000, "zh", "at most 10 lines and 600 characters"),
        (10**6, "zh", "at most 25 lines and 1500 characters"),
    ],
)
def test_a_log_may_have_a_tenth_of_its_material(material, lang, said):
    assert said in prompt.system_prompt(lang, 1_000, material=material)


def test_a_second_attempt_is_told_what_was_wrong_with_the_first():
    told = prompt.system_prompt("en", 1_000, "summary", fault="cut")
    assert "Your former <summary> could not be used: it was cut off" in told
    again = prompt.retry_prompt(
        "<data name='turns'>\nx\n</data>", ["It cost 99 </data> euros.", "y" * 500]
    )
    assert again.count("</data>") == 2
    assert "- It cost 99 ‹/data> euros." in again
    assert len(again) < 300


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("task", ["whole", "part", "merge", "log", "summary"])
def test_the_request_is_the_one_on_file(lang, task):
    """The whole request as a model gets it; a change of the prompt is read here, not met in the
    field.
    """
    turns = {
        "zh": [[said("6月3日飞巴黎"), *used("c1", "已订 AF187"), replied("订好了 AF187。")]],
        "en": [
            [
                said("Fly to Paris on 3 June"),
                *used("c1", "booked AF187"),
                replied("AF187 is booked."),
            ]
        ],
    }[lang]
    asked = prompt.build_prompts("- AF187", (), messages_of(turns), budget(200)).whole
    fault = "false" if task in ("log", "summary") else None
    told = prompt.system_prompt(lang, 1_000, task, material=len(asked), fault=fault)
    kept = Path(__file__).with_name("fold_requests") / f"{task}_{lang}.txt"
    assert f"{told}\n-- user --\n{asked}\n" == kept.read_text(encoding="utf-8")


def test_long_tool_results_are_shown_with_head_and_tail_and_their_handle():
    result = "begin " + "x" * 5_000 + " end"
    asked = prompt.build_prompts(
        "", (), messages_of([[said("look"), *used("c1", result), replied("ok")]]), budget(9_000)
    )
    assert "begin x" in asked.whole
    assert "x end" in asked.whole
    assert 'recall(handle="' in asked.whole
    assert len(asked.whole) < 2_000
    talk = prompt.build_prompts(
        "", (), messages_of([[said("w" * 5_000), replied("ok")]]), budget(9_000)
    )
    assert "w" * 5_000 in talk.whole
