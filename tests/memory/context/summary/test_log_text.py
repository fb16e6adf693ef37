"""The log is a diary: the story in order, what people and the bot said where it lacks facts, and
few words of tools.
"""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.context.reductions import conversation_key
from memory.context.summary.extractive import detect_language
from memory.context.summary.validation import FoldSource, SummaryLimit, validate_summary
from memory.context.tokens import WEIGHTED
from memory.conversation import Document, Text, ToolCall, ToolResult
from tests.by_night import examples
from tests.memory.context.making import make_session, replied, said

KEY = conversation_key("web", "c1", "01m7xbmmrc6c4s58gffv1as452")
CODE = "\n".join(
    ["def total(rows):", *(f"    value_{at} = rows[{at}] * 17{at}" for at in range(10, 30))]
)
TABLE = "\n".join(
    ["| name | n |", "| --- | --- |", *(f"| item{at} | {at * 37} |" for at in range(20))]
)
ROWS = "\n".join(f"2026-03-{at},{at * 91},open" for at in range(10, 30))


def tool(id, name, result, failed=False, **arguments):
    return (
        (
            "assistant",
            (ToolCall(id=id, name=name, input=json.dumps(arguments, ensure_ascii=False)),),
        ),
        ("user", (ToolResult(call_id=id, text=result, is_error=failed),)),
    )


def written(turns, log="", key=KEY):
    messages = tuple(message for turn in make_session(turns).turns for message in turn.messages)
    source = FoldSource(before="", replaced=0, earlier=(), turns=messages, conversation=key)
    limit = SummaryLimit(counter=WEIGHTED, summary_tokens=1_000, zone=UTC)
    summary = "## Goal and state\n- They worked." if log else ""
    return validate_summary(log, summary, source, limit).log.splitlines()


def is_of_tools(line):
    return (
        "recall(handle=" in line and not line[2:7].replace(":", "").isdigit()
    ) or line.startswith("- tools: ")


@pytest.fixture
def morning():
    """Three things that happen one after the other, each with facts that the story leaves out."""
    return [
        [
            said("Please book the ferry to Naxos. We are 4 people."),
            replied("Booked: the order is NX-2291."),
        ],
        [
            said("The dentist moved me to 14:30."),
            replied("The calendar has the dentist in it now."),
        ],
        [said("What does the tyre shop want?"), replied("The tyre shop asks for 385 euros.")],
    ]


STORY = (
    "- They booked a ferry to Naxos.\n- The dentist changed the appointment.\n- The tyre shop "
    "named its price."
)


def test_what_the_story_lacks_is_inserted_where_its_time_puts_it(morning):
    assert written(morning, STORY) == [
        "- They booked a ferry to Naxos.",
        "- 06:01 User: Please book the ferry to Naxos. We are 4 people.",
        "- 06:02 Bot: Booked: the order is NX-2291.",
        "- The dentist changed the appointment.",
        "- 06:03 User: The dentist moved me to 14:30.",
        "- The tyre shop named its price.",
        "- 06:05 User: What does the tyre shop want?",
        "- 06:06 Bot: The tyre shop asks for 385 euros.",
    ]


def test_a_time_in_the_story_places_its_line(morning):
    story = "- 06:05 Then they spoke of a price.\n- Nothing else happened."
    found = written(morning, story)
    assert found.index("- 06:05 Then they spoke of a price.") == 3
    assert found[-3:] == [
        "- Nothing else happened.",
        "- 06:05 User: What does the tyre shop want?",
        "- 06:06 Bot: The tyre shop asks for 385 euros.",
    ]


def test_a_chinese_talk_is_told_in_order():
    turns = [
        [said("帮我订去厦门的高铁，三个人。"), replied("订好了，订单号 XM-8812。")],
        [said("牙医改到下午两点半了。"), replied("日历里改好了。")],
        [said("轮胎店怎么说？"), replied("轮胎店报价 385 元。")],
    ]
    assert written(turns, "- 订了去厦门的高铁\n- 牙医改了时间\n- 问了轮胎店的报价") == [
        "- 订了去厦门的高铁",
        "- 06:01 User: 帮我订去厦门的高铁，三个人。",
        "- 06:02 Bot: 订好了，订单号 XM-8812。",
        "- 牙医改了时间",
        "- 06:03 User: 牙医改到下午两点半了。",
        "- 06:05 User: 轮胎店怎么说？",
        "- 问了轮胎店的报价",
        "- 06:06 Bot: 轮胎店报价 385 元。",
    ]


def test_a_mixed_talk_keeps_both_languages():
    turns = [
        [
            said("deploy 到 staging，端口 8080。Don't touch prod."),
            replied("已部署到 staging:8080，tag 是 v1.4.2。"),
        ],
        [said("周五 rollback 到 `v1.4.1`，notify 李雷。"), replied("好，周五 rollback。")],
    ]
    found = written(turns)
    assert found[0] == "- 06:01 User: deploy 到 staging，端口 8080。Don't touch prod."
    assert found[2] == "- 06:03 User: 周五 rollback 到 `v1.4.1`，notify 李雷。"


@pytest.mark.parametrize("log", ["", "- They looked at the numbers and changed a file."])
def test_results_are_never_copied_and_a_change_has_one_line(log):
    talk = (
        "We looked at the numbers of the spring and found that most of the orders come from the "
        "north. "
    )
    turns = [
        [
            said("Look at the numbers."),
            *tool("a", "read_file", "secret-rows 4711 /srv/rows.csv\n" * 50, path="rows.csv"),
            *tool("b", "write_file", "notes.md holds 200 bytes", path="notes.md"),
            *tool("c", "write_file", "notes.md holds 200 bytes", path="notes.md"),
            *tool(
                "d",
                "bash",
                "PASS one\nPASS two\nFAIL src/three.test.js\n",
                True,
                command="npm test",
            ),
            replied("I wrote notes.md."),
        ],
        *([said(talk), replied(talk)] for _ in range(4)),
    ]
    found = written(turns, "\n".join([log, *[f"- {talk}"] * 6]) if log else "")
    text = "\n".join(found)
    assert "4711" not in text
    assert "secret-rows" not in text
    lines = [line for line in found if is_of_tools(line)]
    assert lines == [
        f'- write_file notes.md → holds 200 bytes recall(handle="{KEY}#6.0")',
        f'- bash npm test failed: FAIL src/three.test.js recall(handle="{KEY}#9.0")',
    ]
    assert len(max(lines, key=len)) <= 200


def test_many_calls_take_at_most_a_quarter_and_are_counted():
    calls = [
        part
        for at in range(60)
        for part in tool(f"w{at}", "write_file", "ok", path=f"docs/page{at}.md")
    ]
    calls += [
        part
        for at in range(9)
        for part in tool(f"r{at}", "read_file", "no such file", True, path=f"x{at}.md")
    ]
    found = written(
        [
            [
                said("Write the pages of the manual, please."),
                *calls,
                replied("All sixty are written."),
            ]
            * 2
        ]
    )
    told = sum(len(line) + 1 for line in found if not line[2:4].isdigit())
    assert told * 4 <= sum(len(line) + 1 for line in found) + 40
    assert any(line.startswith("- tools: ") for line in found)


def test_a_search_without_a_find_has_no_line_of_its_own():
    call = tool("r", "search_files", "nothing has this", True, pattern="x" * 60)
    found = written([[said("Is it there?"), *call, replied("No.")]])
    assert not any(line.startswith("- tools: ") for line in found)
    changed = tool("w", "write_file", "now holds 4 bytes", path="a" * 90)
    found = written([[said("Write it."), *changed, replied("Done.")]])
    assert any(line.startswith("- tools: ") for line in found)


@pytest.mark.parametrize(
    ("data", "label"),
    [
        (f"```python\n{CODE}\n```", "[code, 21 lines, python: def total(rows):; "),
        (CODE, "[code, 21 lines: def total(rows):; "),
        (TABLE, "[table, 22 lines: | name | n |; "),
        (f"```csv\n{ROWS}\n```", "[data, 20 lines, csv: 2026-03-10,910,open; "),
        (ROWS, "[data, 20 lines: 2026-03-10,910,open; "),
        (
            "2026-03-02T09:00:01Z INFO up\n" * 3 + "2026-03-02T09:00:04Z ERROR disk full",
            "[output, 4 lines: ",
        ),
    ],
    ids=["fenced", "code", "table", "fenced rows", "rows", "output"],
)
@pytest.mark.parametrize("log", ["", "- They spoke of a sum."])
def test_pasted_data_is_one_label_with_its_handle(data, label, log):
    found = written(
        [[said(f"Here is the sum for 2025.\n{data}\nIs it 12 % too high?"), replied("Yes.")]], log
    )
    [line] = [line for line in found if " User: " in line]
    assert label in line
    assert f'recall(handle="{KEY}#1.0")] Is it 12 % too high?' in line
    assert "Here is the sum for 2025." in line
    assert "item3" not in line
    assert "value_11" not in line
    assert len(line) < 250


def test_a_pasted_book_and_a_file_are_short_lines():
    book = "It was a bright cold day in April, and the clocks were striking thirteen. " * 700
    file = Document(
        sha256="0" * 64,
        media_type="text/plain",
        name="report.txt",
        size=9,
        text="row 4711\n" * 5_000,
    )
    found = written(
        [[said(f"Read this. {book} How does it end?"), replied("Badly.")], [("user", (file,))]]
    )
    assert len(found[0]) < 560
    assert found[0].startswith("- 06:01 User: Read this. It was")
    assert found[0].endswith("How does it end?")
    assert found[2] == (
        f'- 06:03 file report.txt: [file report.txt, 45000 characters; recall(handle="{KEY}#3.0")]'
    )


def test_a_short_command_in_a_fence_is_said_as_it_is():
    found = written(
        [[said("How do I start it?"), replied("Like this:\n```sh\nmake run PORT=8080\n```")]]
    )
    assert found[1] == "- 06:02 Bot: Like this: make run PORT=8080"


def test_a_long_message_keeps_its_opening_and_its_facts():
    filler = (
        "That is how it has always been done here, and nobody has ever complained about it at all. "
        * 8
    )
    found = written(
        [[said("Explain."), replied(f"It is done by hand. {filler} The code is 4711. {filler}")]]
    )
    assert found[1].startswith("- 06:02 Bot: It is done by hand. That is how")
    assert "… The code is 4711. …" in found[1]
    assert len(found[1]) < 400


def test_handles_of_files_name_their_conversation():
    turns = [[said('See recall(handle="7.0") and recall(turn=3) of `this`.'), replied("Yes.")]]
    for log in ("", '- They saw recall(handle="7.0") and recall(turn=3).'):
        text = "\n".join(written(turns, log))
        assert f'recall(handle="{KEY}#7.0")' in text
        assert f'recall(handle="{KEY}#t3")' in text
        assert 'handle="7.0"' not in text
        assert "recall(turn=" not in text


PIECES = st.sampled_from(
    [
        *(
            "The ferry leaves at 9.",
            "Order AB-12 is /srv/a/b.txt.",
            "“不要 stop now”。",
            "预算三百元，三月五日开会。",
        ),
        *(
            "Nothing much.",
            "今天天气不错。",
            f"```\n{CODE}\n```",
            TABLE,
            ROWS,
            "1. 买 3 斤苹果",
            "`x`",
            "a, b, c 4",
        ),
        *("\n", "```", "|", "long " * 60, "界" * 300),
    ]
)
MESSAGES = st.lists(PIECES, min_size=1, max_size=8).map("\n".join)


@settings(max_examples=examples(150), deadline=None)
@given(
    turns=st.lists(st.tuples(MESSAGES, MESSAGES), min_size=1, max_size=5),
    story=st.lists(MESSAGES, max_size=4),
)
def test_times_never_go_back_and_a_quarter_is_the_most_of_tools(turns, story):
    made = [
        [said(asked), *tool(f"c{at}", "write_file", "ok 77", path=f"f{at}.md"), replied(answered)]
        for at, (asked, answered) in enumerate(turns)
    ]
    found = written(made, "\n".join(f"- {line}" for text in story for line in text.splitlines()))
    times = [
        line[2:7] for line in found if line[2:4].isdigit() and line[4:5] == ":" and "0" in line[2:4]
    ]
    assert times == sorted(times)
    told = sum(
        len(line) + 1 for line in found if is_of_tools(line) or line.startswith("- write_file ")
    )
    assert told * 4 <= sum(len(line) + 1 for line in found) + 40
    assert "ok 77" not in "\n".join(line for line in found if not is_of_tools(line))


def test_an_aside_is_reported_too():
    quoted = (
        "user",
        (
            Text(text="The price is 90 euros.", by="Ann", aside="quoted"),
            Text(text="Is that right?"),
        ),
    )
    assert (
        written([[quoted, replied("Yes, 90.")]])[0] == "- 06:01 quoted Ann: The price is 90 euros."
    )


def on_days(*talks):
    """One turn for each (days after the first, what the person said)."""
    turns = make_session([[said(text), replied("Fine.")] for _, text in talks]).turns
    return [
        replace(message, at=message.at + timedelta(days=days))
        for (days, _), turn in zip(talks, turns, strict=True)
        for message in turn.messages
    ]


def written_on(messages, at, log="", zone=UTC):
    source = FoldSource(before="", replaced=0, earlier=(), turns=tuple(messages), at=at)
    limit = SummaryLimit(counter=WEIGHTED, summary_tokens=0, zone=zone)
    return validate_summary(log, "", source, limit).log.splitlines()


STAY = [
    (0, "The key is under pot 12."),
    (3, "Room 204 is booked."),
    (3, "Bring 2 towels."),
    (9, "Pay 95 euros."),
]


def test_lines_of_other_days_than_the_file_stand_under_their_day():
    messages = on_days(*STAY)
    lines = written_on(
        messages, messages[-1].at, "- A key was hidden.\n- A room was booked.\n- The euros are due."
    )
    assert lines == [
        "### 2026-11-20",
        "- A key was hidden.",
        "- 06:01 User: The key is under pot 12.",
        "### 2026-11-23",
        "- A room was booked.",
        "- 06:03 User: Room 204 is booked.",
        "- 06:05 User: Bring 2 towels.",
        "### 2026-11-29",
        "- The euros are due.",
        "- 06:07 User: Pay 95 euros.",
    ]
    assert [line for line in written_on(messages, messages[-1].at) if line.startswith("#")] == [
        lines[0],
        *lines[3::4][:2],
    ]


def test_a_fold_on_the_day_of_its_turns_names_no_day_and_a_later_one_does():
    messages = on_days((0, "The key is under pot 12."))
    assert not [line for line in written_on(messages, messages[-1].at) if line.startswith("#")]
    assert written_on(messages, datetime(2026, 12, 24, tzinfo=UTC))[0] == "### 2026-11-20"
    late = on_days((0, "The key is under pot 12."))
    assert (
        written_on(late, late[-1].at + timedelta(hours=11), zone=ZoneInfo("Asia/Shanghai"))[0]
        == "### 2026-11-20"
    )


def test_the_language_is_that_of_what_is_said_not_of_what_is_pasted():
    paste = "\n".join(
        f"[2026-08-20 10:36:{at}] ERROR auth.js:{at} login failed, code was used"
        for at in range(10, 40)
    )
    turns = [[said(f"登录一直报错，帮我看看：\n{paste}"), replied("看到了。")]]
    messages = tuple(message for turn in make_session(turns).turns for message in turn.messages)
    assert detect_language(messages) == "zh"
    assert (
        detect_language(make_session([[said(paste), replied("看到了。")]]).turns[0].messages)
        == "en"
    )
