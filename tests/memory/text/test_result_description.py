"""A line in place of a result says what the result is and what went wrong, in the result's own
words and numbers.
"""

import json
import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory.context.policies.tool_lines import MAX_CHARS, ToolResultRef, line_by_rule
from memory.conversation import Message, ToolCall, ToolResult
from memory.text.result_description import cut_text, describe_result, find_fault
from tests.by_night import first_by_day
from tests.cases import every_case
from tests.memory.context.making import START

ROOM = 200
LOG = "\n".join(
    (
        *(
            f"2026-11-20T06:0{n}:00.120Z web-1 api INFO request {n} took {n * 7} ms"
            for n in range(8)
        ),
        "2026-11-20T06:08:00.120Z web-1 api ERROR database lost after 30 s",
        "2026-11-20T06:09:00.120Z web-1 api WARN slow disk",
        "2026-11-20T06:10:00.120Z web-1 api ERROR gave up",
    )
)
PYTHON = (
    "import os\n\n\nclass Reader:\n    def parse(self):\n        pass\n\n\nasync def run(path):\n"
    "    return 1\n"
)
TYPESCRIPT = (
    "export function parseConfig(a) {\n}\nexport const go = async (x) => {\n}\ninterface Options "
    "{}\n"
)
PAGE = (
    "# Setup\n\nIt takes 12 minutes.\n\n```\n# no heading\n```\n## First steps\ntext\n## Limits\n"
)
TRACE = (
    'start\nTraceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\nValueError: '
    "no room 42\n"
)


@every_case(
    ("text", "about", "description"),
    [
        (
            (
                '{"id": 7, "price": 1.50, "tags": ["a", "b"], "owner": {"id": 1, "login": "x"}, '
                '"ok": true}'
            ),
            "",
            (
                '90 characters, JSON of 5 keys: id 7, price 1.50, tags (2 items, first "a"), owner '
                "(id, login), ok true"
            ),
        ),
        (
            (
                '{"items": [{"sku": 1, "qty": 2}, {"sku": 3, "qty": 4}], "huge": '
                "12345678901234567890.10}"
            ),
            "",
            (
                "88 characters, JSON of 2 keys: items (2 items of sku, qty), huge "
                "12345678901234567890.10"
            ),
        ),
        (
            '[\n{"id": 1, "name": "n"},\n{"id": 2, "name": "m"}\n]\n',
            "",
            '4 lines, JSON list of 2 items: id 1, name "n"',
        ),
        ('{"a": 1.50,\n "b": "x",\n "c": [1, 2', "x.json", '3 lines, part of JSON: a 1.50, b "x"'),
        (
            LOG,
            "run.sh",
            "11 lines, log 2026-11-20T06:00:00.120Z to 2026-11-20T06:10:00.120Z, 2 errors, 1 "
            "warning: web-1 api ERROR database lost after 30 s",
        ),
        (PAGE, "", "10 lines, 3 headings: Setup, First steps, Limits, takes 12 minutes"),
        (PYTHON, "src/reader.py", "10 lines, Python, 1 type, 2 functions: Reader, parse, run"),
        (
            f"[src/x.ts, version ab12, lines 1-5 of 812; more: offset=6]\n{TYPESCRIPT}",
            "src/x.ts",
            "lines 1-5 of 812, TypeScript, 2 exports, 1 type, 2 functions: Options, parseConfig, go",  # noqa: E501
        ),
        (
            "".join(f"def f{n}(): ...\n" for n in range(9)),
            "",
            "9 lines, code, 9 functions: f0, f1, f2, f3, f4, f5",
        ),
        (
            'id,name,total\n1,"a, b",3.5\n2,c,4\n',
            "",
            "3 lines, table of 2 rows, 3 columns: id, name, total",
        ),
        (
            "id | name | at\n1 | x | 3\n2 | y | 4\n(2 rows)",
            "",
            "4 lines, table of 2 rows, 3 columns: id, name, at",
        ),
        (
            "| id | name |\n|---|---|\n| 1 | x |\n",
            "",
            "3 lines, table of 1 row, 2 columns: id, name",
        ),
        (
            (
                "<!DOCTYPE html><html><head><title>Opening &amp; "
                "hours</title></head><body><h1>Visit</h1></body>"
            ),
            "https://harbour.example",
            "95 characters, HTML: Opening & hours, Visit",
        ),
        (
            "The gate opens at 06:30. The locker is 4711.\nMore.",
            "",
            "2 lines, The gate opens at 06:30, is 4711",
        ),
        (
            "PASS a.test.js (20 ms, 3 tests)\nPASS b\nTests: 2 failed, 100 passed\n",
            "npm test",
            "3 lines, PASS a.test.js (20 ms, 3 tests), Tests: 2 failed, 100 passed",
        ),
        (
            "The meeting moved. It starts at 15:30 in B204.",
            "",
            "46 characters, The meeting moved, at 15:30 in, B204",
        ),
        ("门在 06:30 开。柜号见下。\n以上共 100 条", "", "2 lines, 门在 06:30 开, 以上共 100 条"),
        (TRACE, "", "5 lines, ValueError: no room 42, start, line 3"),
        ("\x00\x01\x02" * 90, "", "270 characters, binary data"),
        (" \n ", "", "2 lines, empty"),
    ],
)
def test_a_result_is_described_by_what_kind_of_text_it_is(text, about, description):
    assert describe_result(text, about, ROOM) == description


@every_case(
    ("output", "fault"),
    [
        (TRACE, "ValueError: no room 42"),
        (
            f"{TRACE}\nDuring handling of the above exception, another exception occurred:\n\n"
            'Traceback (most recent call last):\n  File "b.py", line 9\nshop.errors.Closed: at '
            "18:00\nbye",
            "shop.errors.Closed: at 18:00",
        ),
        ("listing\nls: cannot open '/root': Permission denied\nexit status 2", None),
        (
            "Compiling 3\na.c:3:5: error: expected ';'\nexit code: 1",
            "a.c:3:5: error: expected ';' (exit code: 1)",
        ),
        (
            "0 errors before\nTypeError: x is not a function\n    at f (a.js:1:2)",
            "TypeError: x is not a function",
        ),
        ("Reading lists...\nE: Unable to locate package foo\n", "E: Unable to locate package foo"),
        ("working\nfatal: not a git repository", "fatal: not a git repository"),
        ("one\ntwo\nProcess exited with code 137", "Process exited with code 137"),
        ("第一行\n命令失败：没有权限", "命令失败：没有权限"),
        ("it just stopped\nhere", "it just stopped"),
        ("", "no output"),
    ],
)
def test_a_failed_call_is_told_by_its_fault(output, fault):
    assert find_fault(output) == (
        fault or "ls: cannot open '/root': Permission denied (exit status 2)"
    )


def place(text, name="read_file", given="{}", *, is_error=False):
    call, result = (
        ToolCall(id="c", name=name, input=given),
        ToolResult(call_id="c", text=text, is_error=is_error),
    )
    message = Message(id="m", seq=1, turn=1, role="user", parts=(result,), at=START)
    return ToolResultRef(message=message, part=0, result=result, call=call)


def test_a_line_names_tool_subject_and_content_or_fault():
    given = json.dumps({"path": "src/reader.py"})
    told = "read_file src/reader.py: 10 lines, Python, 1 type, 2 functions: Reader, parse, run"
    assert line_by_rule(place(PYTHON, given=given)) == told
    assert line_by_rule(place(TRACE, is_error=True)) == "read_file failed: ValueError: no room 42"


COUNTED = re.compile(
    r"\d+ "
    r"(?:lines|characters|keys?|items?|rows?|columns?|headings?|errors?|warnings?|exports?|types?|functions?)\b"
)
pieces = st.sampled_from(
    [
        LOG,
        PYTHON,
        PAGE,
        TRACE,
        TYPESCRIPT,
        "12,345.67 ",
        "4711",
        '{"n": 1.50, "m": [1',
        "| 1 | 22 |\n",
        "价格 3,000 元。",
        "a" * 200 + "98765432109876543210",
        "Error: 404 at 12:30\n",
        "exit status 17\n",
        "7" * 400,
        "\r\n",
        "\x1b[31m",
        "[",
        "<title>1.5",
    ]
)
texts = st.text() | st.lists(pieces | st.text(max_size=20), max_size=30).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=80),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=60), inner, max_size=4)
    ),
    max_leaves=20,
)
abouts = st.sampled_from(
    ["", "a.py", "b.csv", "c.md", "d.html", "e.json", "f.log", "cat g.sql | head -5"]
)


@settings(deadline=None)
@given(
    texts | values.map(lambda value: json.dumps(value, ensure_ascii=False)),
    abouts,
    st.text(max_size=90),
    st.booleans(),
)
@example("1234567 " * 60, "", "read", True)
def test_any_result_gets_one_short_line_with_no_number_of_its_own(text, about, tool, is_error):
    ref = place(text, tool, json.dumps({"path": about}), is_error=is_error)
    line = line_by_rule(ref)
    assert len(line) <= MAX_CHARS
    assert len(line.splitlines()) <= 1
    assert "[" not in line
    unescaped = re.sub(r"\\u[0-9a-f]{4}", " ", text)  # a control character, as JSON writes it
    numbers = set(re.findall(r"\d+", f"{text} {unescaped} {about} {tool}"))
    assert set(re.findall(r"\d+", COUNTED.sub("", line))) <= numbers


@given(
    st.text()
    | st.lists(st.sampled_from(["123", ".5", " ", "word", "价"]), max_size=80).map("".join),
    st.integers(2, 100),
)
def test_no_number_is_cut(text, limit):
    cut = cut_text(text, limit)
    assert len(cut) <= limit
    assert cut == text or text.startswith(cut.removesuffix("…"))
    assert set(re.findall(r"[\d.]*\d", cut)) <= {*re.findall(r"[\d.]*\d", text)}


@pytest.mark.parametrize(
    "piece",
    first_by_day(
        3,
        [
            "中",
            '{"a": ',
            "a,b\n",
            "def f\n",
            "# h\n",
            "2026-01-01 00:00:00 ERROR x\n",
            '"',
            "7",
            "\n",
        ],
    ),
)
def test_ten_megabytes_cost_no_more_than_in_proportion(piece):
    small, large = (piece * (size // len(piece)) for size in (500_000, 10_000_000))

    def seconds(text):
        began = time.perf_counter()
        line_by_rule(place(text, given='{"path": "a.py"}'))
        line_by_rule(place(text, is_error=True))
        return time.perf_counter() - began

    assert seconds(large) <= 60 * seconds(small) + 1.0
