"""Lines that a log gets beside the story: only what neither the summary before, nor the day's file,
nor the story says, and none that nobody understands a year later.
"""

from datetime import UTC, date

from memory.context.summary.validation import FoldSource, SummaryLimit, validate_summary
from memory.context.tokens import WEIGHTED
from tests.memory.context.making import make_session, replied, said

SUMMARY = "## Goal and state\n- They worked."


def written(turns, story, before="", known_log=""):
    messages = tuple(message for turn in make_session(turns).turns for message in turn.messages)
    source = FoldSource(
        before=before,
        replaced=0,
        earlier=(),
        turns=messages,
        day=date(2026, 11, 24),
        known_log=known_log,
    )
    limit = SummaryLimit(counter=WEIGHTED, summary_tokens=1_000, zone=UTC)
    lines = validate_summary(story, SUMMARY, source, limit).log.splitlines()
    return [line for line in lines if not line.startswith("### ")]


def without_time(line):
    return line[8:]


ASKED = [said("What is the booking code of my flight?"), replied("GL-77120.")]
STORY = "- They talked about a flight."


def test_a_short_answer_brings_its_question():
    question, answer = written([ASKED], STORY)[-2:]
    assert without_time(question) == "User: What is the booking code of my flight?"
    assert without_time(answer) == "Bot: GL-77120."


def test_a_short_answer_whose_question_is_there_brings_it_no_second_time():
    turn = [said("Is 12 km to the airport right?"), replied("No, 17 km.")]
    lines = written([turn], STORY)
    assert [without_time(line) for line in lines[1:]] == [
        "User: Is 12 km to the airport right?",
        "Bot: No, 17 km.",
    ]


def test_a_short_answer_that_is_known_is_dropped():
    assert written([ASKED], "- The booking code of the flight is GL-77120.") == [
        "- The booking code of the flight is GL-77120."
    ]
    assert written([ASKED], STORY, before="- The flight's code is GL-77120.") == [STORY]
    assert written([ASKED], STORY, known_log="- 09:12 User: my code is GL-77120") == [STORY]


def test_an_answer_of_forty_characters_stands_alone_and_one_of_less_does_not():
    long = "The code of your booking is GL-77120, ok"
    assert len(long) == 40
    assert len(written([[said("Which code?"), replied(long)]], STORY)) == 2
    assert len(written([[said("Which code?"), replied(long[:-1])]], STORY)) == 3


def test_dates_are_compared_by_value_and_the_year_of_the_log_is_understood():
    story = "- The flight to Porto is on 3 May."
    for sentence in (
        "The flight is on 2026-05-03.",
        "It is on May 3.",
        "It is on May 3, 2026.",
        "航班是5月3日。",
        "航班是2026年5月3号。",
    ):
        assert written([[said(f"{sentence}"), replied("Noted: 3 May, to Porto.")]], story) == [
            story
        ]
    other = written([[said("The flight is on 2027-05-03."), replied("3 May, Porto")]], story)
    assert without_time(other[-1]) == "User: The flight is on 2027-05-03."


def test_items_of_a_list_get_a_mark_where_they_stand_in_one_line():
    listed = (
        "Three things:\n- pay 40 euros\n- call 555-0199\n2. buy 12 eggs. And milk in 2 bottles."
    )
    (line,) = written([[said("What is to do?"), replied(listed)]], "")[-1:]
    assert without_time(line) == (
        "Bot: Three things: • pay 40 euros • call 555-0199 • buy 12 eggs. And milk in 2 bottles."
    )
