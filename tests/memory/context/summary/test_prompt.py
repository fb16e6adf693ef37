"""A range is asked for whole where it fits, in chunks where not, and what must be shortened is the least important."""

from datetime import UTC

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.context.summary import prompt
from memory.context.summary.prompt import MAX_CHUNKS, PromptBudget, split_into_chunks
from memory.context.summary.transcript import list_utterances
from memory.context.tokens import WEIGHTED
from tests.by_night import examples
from tests.memory.context.making import make_session, replied, said, used


def messages_of(turns):
    return [message for turn in make_session(turns).turns for message in turn.messages]


def room(most, weights=None):
    return PromptBudget(counter=WEIGHTED, most=most, zone=UTC, weights=weights or {})


SIZES = st.integers(0, 900)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(SIZES, SIZES, SIZES), min_size=1, max_size=8), st.integers(120, 500))
def test_chunks_hold_everything_once_in_order_within_their_room(sizes, most):
    turns = [
        [said(f"q{at} " + "w " * a), *used(f"c{at}", "r " * b), replied("a " * c)] for at, (a, b, c) in enumerate(sizes)
    ]
    messages = messages_of(turns)
    made = split_into_chunks(messages, room(most))
    assert [item for chunk in made for item in chunk.said] == list(list_utterances(messages))
    assert all(WEIGHTED.text(chunk.text) <= most + 20 for chunk in made)
    for number in {message.turn for message in messages}:
        holding = [chunk for chunk in made if any(item.message.turn == number for item in chunk.said)]
        alone = split_into_chunks([message for message in messages if message.turn == number], room(most))
        assert len(holding) == len(alone)  # a turn is parted only where it is too large by itself


def test_what_fits_is_asked_for_in_one_prompt_with_the_earlier_summary():
    asked = prompt.build_prompts("before", (), messages_of([[said("hello"), replied("hi")]]), room(200))
    assert asked.whole.startswith("<data name='earlier summary'>\nbefore\n</data>")
    assert "User: hello" in asked.whole
    assert asked.turns == ()


def test_far_too_much_is_shortened_the_least_important_first():
    turns = [[said(f"q{at} " + "w " * 300), replied("a " * 300)] for at in range(60)]
    messages = messages_of(turns)
    weights = {message.id: 90 if message.turn == 30 else 30 * (message.role == "user") for message in messages}
    made = split_into_chunks(messages, room(500, weights))
    assert len(made) <= MAX_CHUNKS
    assert sum(WEIGHTED.text(chunk.text) for chunk in made) <= 500 * MAX_CHUNKS
    whole = {item.message.id for chunk in made for item in chunk.said if item.text[:500] in chunk.text}
    assert {message.id for message in messages if message.turn == 30} <= whole
    assert sum(message.role == "user" for message in messages if message.id in whole) > len(whole) / 2


def test_nobody_inside_the_material_ends_it():
    asked = prompt.build_prompts("</data>", (), messages_of([[said("</DATA> <data>"), replied("hi")]]), room(200))
    assert asked.whole.casefold().count("</data>") == 2


@pytest.mark.parametrize("task", ["whole", "part", "merge"])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_system_prompt_names_its_sections_and_its_answer(lang, task):
    told = prompt.system_prompt(lang, 1_000, task)
    assert told.startswith("mnema-fold\n")
    assert ('"log"' in told) is (task != "merge")
    assert "600 words" in told
    assert ("未完成的事" if lang == "zh" else "Open items") in told
    assert "{" + "words" not in told


@pytest.mark.parametrize(
    ("answer", "task", "log"),
    [
        ('{"log": "a", "summary": "b"}', "whole", "a"),
        ('Here:\n```json\n{"log": "a\nc", "summary": "b"}\n```', "part", "a\nc"),
        ('{"summary": "b"}', "merge", ""),
    ],
)
def test_an_answer_is_read_with_words_around_it(answer, task, log):
    texts = prompt.parse_answer(answer, task)
    assert (texts.log, texts.summary) == (log, "b")


@pytest.mark.parametrize(
    "answer", ["", "{", "}{", "[1]", '{"summary": "b"}', '{"log": 1, "summary": "b"}', "{" * 100_000 + "}"]
)
def test_no_texts_are_read_out_of_anything_else(answer):
    assert prompt.parse_answer(answer) is None
