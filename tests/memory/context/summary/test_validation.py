"""What is kept of a fold: fixed sections, constraints, critical calls, and a log that leaves out no
fact.
"""

import json
from datetime import UTC

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.context.summary.grounding import GroundingSource, ground_text, split_sentences
from memory.context.summary.transcript import is_tool_utterance, list_utterances, write_turns
from memory.context.summary.validation import (
    FoldSource,
    SummaryLimit,
    parse_sections,
    render_sections,
    trim_sections,
    validate_summary,
)
from memory.context.tokens import STRUCTURAL, WEIGHTED
from memory.conversation import ToolCall, ToolResult
from tests.by_night import examples
from tests.memory.context.making import make_session, replied, said, used

TALK = [
    [said("我们要迁移数据库，记住：不要在周五部署。"), replied("好，目标是 11月30日前完成。")],
    [
        said("先装驱动"),
        (
            "assistant",
            (ToolCall(id="a", name="bash", input='{"command": "pip install psycopg==3.2.1"}'),),
        ),
        ("user", (ToolResult(call_id="a", text="ERROR: no matching distribution", is_error=True),)),
        (
            "assistant",
            (ToolCall(id="b", name="bash", input='{"command": "pip install psycopg==3.2.3"}'),),
        ),
        ("user", (ToolResult(call_id="b", text="Successfully installed psycopg-3.2.3"),)),
        replied("装好了 3.2.3，我们决定用 Postgres 16。"),
    ],
]
LOG = "- 用户要迁移数据库"
WORDS = (
    "旧库里的订单、发票、客户和库存都要迁，先迁发票和客户，订单放在后面，库存等财务盘点以后，"
    "备份照旧每天夜里做。"
)
# of which tools are a small part
LONG_TALK = [*TALK, *([said(WORDS), replied(f"明白。{WORDS}")] for _ in range(9))]
CALLS = (
    '- bash pip install psycopg==3.2.1 失败：ERROR: no matching distribution recall(handle="5.0")',
    '- bash pip install psycopg==3.2.3 → Successfully installed psycopg-3.2.3 recall(handle="6.0")',
)


def messages_of(turns):
    return tuple(message for turn in make_session(turns).turns for message in turn.messages)


def checked(summary, turns=TALK, log=LOG, most=1_000, before="", counter=WEIGHTED):
    material = FoldSource(before=before, replaced=0, earlier=(), turns=messages_of(turns))
    return validate_summary(
        log, summary, material, SummaryLimit(counter=counter, summary_tokens=most, zone=UTC)
    )


def heads(summary):
    return [line.removeprefix("## ") for line in summary.splitlines() if line.startswith("## ")]


def test_headings_are_the_fixed_ones_in_their_order_whatever_the_model_wrote():
    summary = (
        "### Open items\n- 部署\n**Decisions**\n- 用 Postgres 16\n# 杂谈\n- 数据库要迁移\n"
        "## 目标\n11月30日前完成。\n## Facts & preferences\n- 不要在周五部署"
    )
    found = checked(summary).summary
    assert heads(found) == [
        "目标与现状",
        "决定与理由",
        "事实与偏好",
        "工具做了什么、发现了什么",
        "未完成的事",
    ]
    assert "- 用 Postgres 16\n- 杂谈\n- 数据库要迁移" in found
    assert checked(found).summary == found


def test_headings_are_in_the_language_of_the_conversation():
    english = [[said("move the database to Postgres"), replied("fine")]]
    found = checked(
        "## 目标与现状\n- move the database\n## 错误\n- none",
        english,
        "- they talk of the database",
    ).summary
    assert heads(found) == ["Goal and state", "Errors and how they were resolved"]


def test_critical_calls_are_in_the_summary_and_the_log_though_the_model_left_them_out():
    found = checked("## 目标与现状\n- 迁移数据库", LONG_TALK, f"{LOG}\n" + f"- {WORDS}\n" * 10)
    assert found.method == "model"
    for line in CALLS:
        assert line in found.summary
        assert found.log.splitlines().count(line) == 1
    assert "## 工具做了什么、发现了什么\n" + "\n".join(CALLS) in found.summary


def test_critical_calls_are_in_the_digest_too():
    found = checked("", LONG_TALK, log="")
    assert found.method == "extract"
    assert all(line in found.summary and found.log.splitlines().count(line) == 1 for line in CALLS)
    assert ground_text(found.summary, write_turns(messages_of(LONG_TALK), UTC)).dropped == ()


def test_calls_of_earlier_folds_stay_while_there_is_room():
    before = '## Tools\n- write_file old.md → ok recall(handle="1.0")'
    plain = [[said("thanks for the file old.md"), replied("fine")]]
    found = checked("- They talked.", plain, "- They talked.", before=before).summary
    assert found.splitlines()[-1] == '- write_file old.md → ok recall(handle="1.0")'


def test_a_constraint_the_model_left_out_stands_with_the_facts():
    assert (
        "## 事实与偏好\n- 我们要迁移数据库，记住：不要在周五部署。"
        in checked("- 用 Postgres 16").summary
    )


@pytest.mark.parametrize("counter", [WEIGHTED, STRUCTURAL], ids=["weighted", "structural"])
@pytest.mark.parametrize("most", [150, 300, 1_000])
@pytest.mark.parametrize("model", [True, False])
def test_the_most_tokens_of_a_summary_hold_with_many_calls_and_constraints(most, model, counter):
    turns = [
        [
            said(f"Always keep rule {at}: never touch /srv/data/{at}."),
            *used(f"r{at}", "ok"),
            (
                "assistant",
                (
                    ToolCall(
                        id=f"w{at}",
                        name="write_file",
                        input=json.dumps({"path": f"/srv/app/{at}.md"}),
                    ),
                ),
            ),
            ("user", (ToolResult(call_id=f"w{at}", text=f"/srv/app/{at}.md holds {at} bytes."),)),
            replied("Done as you asked."),
        ]
        for at in range(10, 40)
    ]
    line = "- The user set rules about the data and the bot wrote files."
    summary = "## Goal and state\n" + "\n".join(
        f"{line[:-1]} in /srv/app/{at}.md." for at in range(10, 10 + most // 30)
    )
    found = checked(summary if model else "", turns, "- They wrote files.", most, counter=counter)
    assert found.method == ("model" if model else "extract")
    assert counter.text(found.summary) <= most
    assert 'recall(handle="' in found.summary
    assert "/srv/app/39.md → holds" in found.summary  # the newest call first


def test_trimming_takes_plain_lines_of_the_largest_section_first():
    parts = parse_sections(
        "## Facts\n- it is 12\n- plain\n## Tools\n- aaa\n- bbb bbb bbb\n- ccc\n- costs 14"
    )
    kept = trim_sections(parts, "en", WEIGHTED, WEIGHTED.text(render_sections(parts, "en")) - 1)
    assert kept["facts"] == ["- it is 12", "- plain"]
    assert kept["tools"] == ["- bbb bbb bbb", "- ccc", "- costs 14"]
    assert trim_sections(parts, "en", WEIGHTED, 0)["facts"] == []


FACTS = st.sampled_from(
    [
        "预算三百元。",
        "三月五日下午三点开会。",
        "一共二十五人，两个小时。",
        "See /srv/a/b.txt and v1.2.3.",
        "He said “不要 stop now”。",
        "Mail chen@example.com at 3:30 pm, pay $1,200.",
        "周五 deploy 到 10.0.0.1:8080。",
        "`make all` 花了 1.2k 秒",
        "《三体》第三章 https://x.example.com/a?b=1，好看",
        "commit a3f9c2e on March 5th.",
        "今天天气不错。",
        "Nothing much.",
        "\n- 1. 买 3 斤苹果\n",
        "张伟 and Priya agreed. ",
        "{\"id\": \"AB-12\", \"n\": [1,200,300]}",
        "半", "十", "第", "12", ".", "”", "\"", "`",
    ]
)  # fmt: skip
TEXTS = st.lists(FACTS, min_size=1, max_size=6).map("".join)


@settings(max_examples=examples(400), deadline=None)
@given(
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4), st.one_of(st.just(""), TEXTS)
)
def test_every_sentence_with_facts_of_people_and_the_bot_is_in_the_log_after_the_check(
    turns, model_log
):
    made = [[said(a), *used(f"c{at}", b), replied(c)] for at, (a, b, c) in enumerate(turns)]
    found = checked(f"- {turns[0][0]}" if model_log else "", made, model_log)
    known = GroundingSource(found.log)
    lost = [
        sentence
        for item in list_utterances(messages_of(made))
        for sentence in split_sentences(item)
        if not is_tool_utterance(item) and not known.holds(sentence, names=False)
    ]
    assert lost == []
    assert WEIGHTED.text(found.summary) <= 1_000


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), TEXTS)
def test_a_checked_summary_says_only_what_its_source_says(turns, summary):
    made = [[said(a), replied(b)] for a, b in turns]
    found = checked(f"{summary}\n{turns[0][0]}\nIt costs 987654 euros.", made)
    assert "987654" not in found.summary


def test_a_digest_with_little_room_keeps_what_came_up_again_before_what_is_newer():
    filler = [
        [
            said(f"Chat number {at * 111} about nothing that anybody asks for later."),
            replied("Yes."),
        ]
        for at in range(8)
    ]
    turns = [
        [said("The locker code is 4711 88."), replied("Noted.")],
        *filler,
        [said("Is 4711 right?"), replied("Yes.")],
    ]
    found = checked("", turns, "", most=110)
    assert found.method == "extract"
    assert "The locker code is 4711 88." in found.summary
    assert "777" in found.log
    assert "Chat number 111 " not in found.summary
