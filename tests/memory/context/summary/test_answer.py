"""Answers of the summarising model are read however they are wrapped, ordered or cut off."""

import json
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.context.summary.prompt import FoldTexts, parse_answer
from tests.by_night import examples
from tests.cases import every_case

BOTH = FoldTexts(log="- a", summary="b")


@every_case(
    "answer",
    [
        "<log>- a</log><summary>b</summary>",
        "Sure:\n```xml\n<log>\n- a\n</log>\n<summary>\nb\n</summary>\n```\nAnything else?",
        "<LOG>\n- a\n</LOG>\n\n< Summary >\nb\n</ summary >",
        "<summary>\nb\n</summary>\n<log>\n- a\n</log>",
        "<log>\n- a\n<summary>\nb\n</summary>",
        "Here are <log> and <summary>:\n<log>\n- a\n</log>\n<summary>\nb\n</summary>",
        '{"log": "- a", "summary": "b"}',
        'Here:\n```json\n{"log": "- a", "summary": "b"}\n```',
        (
            "<think>\n<log>\n- maybe drunk\n</log>\ntoo harsh\n</think>\n<log>\n- a\n</log>\n"
            "<summary>\nb\n</summary>"
        ),
        (
            "<log>\n- maybe drunk\n</log>\nToo harsh, rewrite.\n</think>\n\n<log>\n- a\n</log>\n"
            "<summary>b</summary>"
        ),
    ],
)
def test_both_texts_are_found_whatever_is_around_them(answer):
    assert parse_answer(answer) == BOTH


@every_case(
    ("answer", "texts"),
    [
        ("<log>\n- a\n</log>", FoldTexts(log="- a")),
        ("<summary>b</summary>", FoldTexts(summary="b")),
        ('{"summary": "b", "log": 1}', FoldTexts(summary="b")),
        ('<log>\n- He said "no".\n- And half of', FoldTexts(log='- He said "no".', cut="log")),
        (
            "<log>\n- a\n</log>\n<summary>\nb.\nc and",
            FoldTexts(log="- a", summary="b.", cut="summary"),
        ),
        ("<log>\n- a\n</log>\n<summary>\nb.\nc.", FoldTexts(log="- a", summary="b.\nc.")),
        ("```\n<summary>\nb\n```", FoldTexts(summary="b")),
        (
            (
                "<log>\n- The <log> tag and </log> are\n- x <summary> y\n</log>\n<summary>z <log> "
                "w</summary>"
            ),
            FoldTexts(log="- The <log> tag and </log> are\n- x <summary> y", summary="z <log> w"),
        ),
        (
            '{"log": "- the <log> tag", "summary": "b"}',
            FoldTexts(log="- the <log> tag", summary="b"),
        ),
    ],
)
def test_what_is_there_is_kept(answer, texts):
    assert parse_answer(answer) == texts


@every_case(
    "answer",
    [
        "",
        "no tags",
        "<think>\n<log>\n- maybe drunk\n</log>",
        "{",
        "}{",
        "[1]",
        "</log>",
        '{"log": 1}',
        "{" * 100_000 + "}",
    ],
)
def test_no_texts_are_read_out_of_anything_else(answer):
    assert parse_answer(answer) == FoldTexts()


@every_case(
    "piece",
    [
        "<log>",
        "</log>",
        "<summary></log>",
        "< log",
        "<log>\n",
        '{"log": ',
        "</think> ",
        "a</think>\n",
        "<think>",
    ],
)
def test_a_hostile_answer_takes_no_long_time(piece):
    began = time.process_time()
    parse_answer(piece * 20_000)
    assert time.process_time() - began < 2.0  # of CPU: in proportion it takes .1


LINES = st.lists(
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1),
    min_size=1,
    max_size=5,
)


@settings(max_examples=examples(200), deadline=None)
@given(LINES, LINES, st.data())
def test_an_answer_that_stops_anywhere_keeps_its_whole_lines(log, summary, draw):
    """Quotation marks, brackets and braces in the texts cost nothing."""
    log, summary = ([f"- {line.strip()}" for line in lines] for lines in (log, summary))
    whole = "\n".join(("<log>", *log, "</log>", "<summary>", *summary, "</summary>"))
    stop = draw.draw(st.integers(0, len(whole)))
    found = parse_answer(whole[:stop])
    for name, lines in (("log", log), ("summary", summary)):
        texts = "\n".join(lines).strip()
        kept = getattr(found, name)
        if stop == len(whole):
            assert kept == texts
        ended = sum(
            whole.index(f"<{name}>") + len(f"<{name}>\n" + "\n".join(lines[:n])) < stop
            for n in range(1, 1 + len(lines))
        )
        assert kept.splitlines()[:ended] == texts.splitlines()[:ended]


def test_json_is_read_as_it_was():
    assert parse_answer(json.dumps({"log": 'He said "no"', "summary": "b"})) == FoldTexts(
        log='He said "no"', summary="b"
    )
