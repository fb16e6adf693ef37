"""Lines that a log gets beside the story: only what neither the summary before, nor the day's file,
nor the story says, and none that nobody understands a year later.
"""

from datetime import UTC, date

from memory.context.summary.validation import FoldSource, SummaryLimit, validate_summary
from memory.context.tokens import WEIGHTED
from tests.memory.context.making import make_session, replied, said
from tests.memory.context.summary.test_log_text import tool

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


def test_a_short_message_of_a_person_stands_whole():
    story = "- They ran 5 km."
    turn = [
        said("I take ramipril 5 mg. Is ibuprofen 400 all right with it?"),
        replied("Ask first."),
    ]
    assert [without_time(line) for line in written([turn], story)[1:]] == [
        "User: I take ramipril 5 mg. Is ibuprofen 400 all right with it?"
    ]


def test_beside_a_story_a_long_answer_without_tools_is_left_to_it():
    advice = "Rest the knee for 3 days. " + "Ice helps as well, and so does an easier shoe. " * 9
    assert written([[said("My knee hurts."), replied(advice)]], "- A knee hurt.") == [
        "- A knee hurt."
    ]
    looked_up = [said("My knee hurts."), *tool("a", "web_search", "found"), replied(advice)]
    assert "3 days" in written([looked_up], "- A knee hurt.")[-1]
    assert "3 days" in written([[said("My knee hurts."), replied(advice)]], "")[-1]


def test_beside_a_story_a_comment_on_what_a_person_states_is_left_out():
    stated = "The shoes have 900 km on them."
    answer = replied("Most shoes are worn after 600 to 800 km, so it is time.")
    assert len(written([[said(stated), answer]], "- They spoke of shoes.")) == 2
    asked = [said(f"{stated} Should I get new ones?"), answer]
    assert len(written([asked], "- They spoke of shoes.")) == 3
    looked_up = [said(stated), *tool("a", "web_search", "found"), answer]
    assert len(written([looked_up], "- They spoke of shoes.")) == 3


def test_beside_a_story_the_bot_brings_no_code_and_no_request():
    answer = "Please run `ls -l /srv/x`. Use `Field` there. The form has 12 fields."
    assert [
        without_time(line)
        for line in written([[said("It loses focus."), replied(answer)]], "- A form lost focus.")[
            1:
        ]
    ] == ["User: It loses focus.", "Bot: The form has 12 fields."]


def test_what_the_line_of_a_call_says_is_not_said_again():
    job = tool("a", "create_job", "created job j-7", when="2026-12-02T19:00", text="Dentist")
    turn = [
        said("Remind me on 2 December at 19:00."),
        *job,
        replied("I will remind you on 2 December at 19:00."),
    ]
    talk = [[said("How was it? " * 30), replied("Well. " * 60)]]
    lines = written(
        [turn, *talk], "- They spoke of the dentist, who is kind. " + "It went on. " * 30
    )
    assert [line for line in lines if "19:00" in line] == [
        '- create_job when 2026-12-02T19:00, text Dentist → created job j-7 recall(handle="2.0")'
    ]


def test_a_change_that_the_story_names_and_a_failure_to_read_have_no_line():
    turn = [
        said("Write it down."),
        *tool("a", "read_file", "no such file", True, path="old.md"),
        *tool("b", "write_file", "wrote 9 bytes", path="notes/heron.md"),
        *tool("c", "write_file", "wrote 9 bytes", path="notes/other.md"),
        replied("It is written down."),
    ]
    story = "- Wrote notes/heron.md. " + "They worked for a while. " * 20
    lines = written([turn], story)
    assert [line for line in lines[1:] if "_file" in line] == [
        '- write_file notes/other.md → wrote 9 bytes recall(handle="6.0")'
    ]


TALK = [
    [said("morning!"), replied("Good morning! How did you sleep?")],
    [said("ok"), replied("I am glad.")],
    [said("The dentist moved me to 14:30."), replied("Noted: 14:30, at the dentist. Good luck!")],
    [said("谢谢"), replied("不客气！")],
    [said("No."), replied("I see.")],
    [said("thank you so much"), replied("The code is 4711.")],
    [said("Which tea?"), replied("Green tea. Noted.")],
]


def test_without_a_story_pleasantries_and_answers_that_add_nothing_are_left_out():
    assert [without_time(line) for line in written(TALK, "")] == [
        "User: ok",
        "User: The dentist moved me to 14:30.",
        "User: No.",
        "Bot: The code is 4711.",
        "User: Which tea?",
        "Bot: Green tea. Noted.",
    ]


def test_without_a_story_what_the_bot_says_after_a_tool_is_never_left_out():
    answer = replied("The harbour rule: copy the keeper on answers.")
    looked = tool("a", "read_file", "the harbour rule", path="page.md")
    assert "harbour rule" in written([[said("read the page"), *looked, answer]], "")[-1]


def test_where_nothing_but_pleasantries_is_said_those_of_the_person_are_listed():
    turn = [said("morning!"), replied("Good morning!")]
    assert [without_time(line) for line in written([turn], "")] == ["User: morning!"]
