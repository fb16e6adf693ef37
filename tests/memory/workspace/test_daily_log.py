"""The daily log is written once per fold, keeps what people wrote, and reads whatever they
wrote.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.workspace.daily_log import (
    LogSection,
    append_section,
    find_section,
    format_channel,
    has_section,
    iter_lines,
    iter_rows,
    list_folds,
    mark_section,
    read_entries,
)
from memory.workspace.files import Workspace
from tests.cases import every_case
from tests.weighing import peak

# Literals, so that the product is not compared with itself.
PIECE = 65_536

AT = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
PATH = "memory/2026-11-20.md"


def section(fold="f1", body="- 14:03 User: hello\n- it rained"):
    return LogSection(fold=fold, channel="telegram", first_turn=1, last_turn=10, at=AT, body=body)


@pytest.fixture
def files(tmp_path):
    return Workspace(tmp_path).space("")


def put(files, data: bytes):
    (files.root / "memory").mkdir(mode=0o700, exist_ok=True)
    (files.root / PATH).write_bytes(data)


def test_a_new_day_begins_with_its_date_and_the_sections_heading(files):
    assert append_section(files, section()) == PATH
    assert files.read(PATH).text == (
        "# 2026-11-20\n\n## 14:05 · telegram · turns 1–10 <!-- fold f1 -->\n\n- 14:03 User: hello\n"
        "- it rained\n"
    )


def test_appending_twice_changes_nothing(files):
    append_section(files, section())
    once = files.read(PATH)
    append_section(files, section(body="other"))
    assert files.read(PATH) == once


def test_what_people_wrote_stays_with_its_line_ends_and_byte_order_mark(files):
    put(files, "\ufeff# mine\r\n\r\nnote\r\n".encode())
    append_section(files, section())
    data = files.read_bytes(PATH)
    assert data.startswith("\ufeff# mine\r\n\r\nnote\r\n\r\n## 14:05".encode())
    assert b"\n" not in data.replace(b"\r\n", b"")


def test_a_line_of_inline_code_opens_no_fence(files):
    put(files, b"# 2026-11-20\n\n```make test``` is green\n")
    append_section(files, section())
    assert "```make test``` is green\n\n## 14:05" in files.read(PATH).text


def test_an_open_fence_is_closed_before_the_section(files):
    put(files, b"```python\nprint(1)\n")
    append_section(files, section())
    text = files.read(PATH).text
    assert text.startswith("```python\nprint(1)\n```\n\n## 14:05")
    assert has_section(text, "f1")


def test_a_file_that_is_not_utf8_is_left_alone_and_the_section_goes_beside_it(files):
    put(files, b"caf\xe9 \xf0\x9f\x98 notes\n")
    path = append_section(files, section())
    assert path == "memory/2026-11-20-2.md"
    assert append_section(files, section()) == path
    assert files.read_bytes(PATH) == b"caf\xe9 \xf0\x9f\x98 notes\n"
    assert has_section(files.read(path).text, "f1")


def test_writers_at_the_same_time_lose_no_section(files):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: append_section(files, section(fold=f"f{n}")), range(8)))
    text = "".join(files.read(entry.path).text for entry in files.list("memory"))
    assert all(has_section(text, f"f{n}") for n in range(8))


def test_a_heading_says_what_became_of_its_fold(files):
    append_section(files, section())
    append_section(files, section(fold="f2"))
    assert mark_section(files, PATH, "f1", "stale")
    assert mark_section(files, PATH, "f1", "undone")
    assert not mark_section(files, PATH, "f9", "stale")
    assert not mark_section(files, "memory/2020-01-01.md", "f1", "stale")
    text = files.read(PATH).text
    assert "turns 1–10 <!-- fold f1 undone -->" in text
    assert has_section(text, "f1")
    assert {row.mark for row in iter_rows(text)} == {"undone", ""}


@every_case(
    ("name", "is_unique", "shown"),
    [
        ("c1", True, "web c1"),
        ("", True, "web"),
        ("产品群", True, "web 产品群"),
        ("Li Wei", True, "web Li Wei"),
        ("Li Wei", False, "web Li Wei ~7x9k2mqd"),
        ("a · <b> --", True, "web a b - ~7x9k2mqd"),
        ("x\n\u202ey\u200bz", True, "web x y z ~7x9k2mqd"),
        ("long name " * 9, True, "web long name long name long name ~7x9k2mqd"),
    ],
)
def test_a_heading_names_the_conversation(name, is_unique, shown):
    assert format_channel("web", name, "7x9k2mqd", is_unique=is_unique) == shown


@given(st.text(max_size=60), st.booleans())
def test_whatever_its_name_a_heading_is_read_again(name, is_unique):
    channel = format_channel("web", name, "7x9k2mqd", is_unique=is_unique)
    made = LogSection(
        fold="f1", channel=channel, first_turn=1, last_turn=2, at=AT, body="- it rained"
    )
    assert len(channel) <= len("web ") + 40
    assert re.fullmatch(
        r"## \d\d:\d\d · [^·<>]+ · turns (\d+)–(\d+) <!-- fold (\S+) -->", made.heading
    )
    assert list_folds(f"{made.heading}\n{made.body}\n") == ("f1",)


@pytest.mark.parametrize(
    ("began", "ended", "time"),
    [
        (AT.replace(hour=9, minute=12), AT.replace(hour=12, minute=40), "09:12–12:40"),
        (AT.replace(hour=9, minute=12), AT.replace(hour=9, minute=12, second=50), "09:12"),
        (None, None, "14:05"),
    ],
)
def test_a_heading_has_the_times_of_the_talk_and_is_read_again(files, began, ended, time):
    made = replace(section(), began=began, ended=ended)
    path = append_section(files, made)
    assert made.heading == f"## {time} · telegram · turns 1–10 <!-- fold f1 -->"
    assert find_section(files, made) == path
    [entry] = read_entries(files.read(path).text)
    assert (entry.time, entry.channel, entry.first_turn, entry.last_turn, entry.fold) == (
        time,
        "telegram",
        1,
        10,
        "f1",
    )
    assert mark_section(files, path, "f1", "undone")
    assert read_entries(files.read(path).text)[0].mark == "undone"


def test_any_markdown_is_read_line_by_line():
    text = (
        "\ufeff# 2026-11-20\r\n\r\nfree words\r\n* 项目：下周交付\r\n"
        "## 14:05 · telegram · turns 1–2 <!-- fold f1 -->\r\n- 14:03 User: hello: you\r\n- it "
        "rained\r\n---\r\n## Notes\r\n1. first\r\n```\r\ncode = 1\r\nstill open\r\n"
    )
    found = [(row.number, row.time, row.speaker, row.text, row.fold) for row in iter_rows(text)]
    assert found == [
        (3, "", "", "free words", ""),
        (4, "", "", "项目：下周交付", ""),
        (6, "14:03", "User", "hello: you", "f1"),
        (7, "", "", "it rained", "f1"),
        (10, "", "", "first", ""),
        (12, "", "", "code = 1", ""),
        (13, "", "", "still open", ""),
    ]


@every_case(
    "text", ["", "\ufeff", "\x00", "- ", "##", "```", "\ufffd\ufffd", "\u2028 a", "- 14:03 : x"]
)
def test_reading_never_fails(text):
    list(iter_rows(text))


@given(
    st.lists(
        st.sampled_from(
            ["a", "界", "\n", "\r\n", "\r", "\v", "\x1c", "\u2028", "\x85", "x" * PIECE]
        ),
        max_size=12,
    )
)
def test_lines_that_are_made_one_by_one_are_those_of_the_whole_text(pieces):
    text = "".join(pieces)
    assert list(iter_lines(text)) == text.splitlines()


def test_of_a_long_log_few_lines_are_held_at_a_time():
    text = "- 14:03 User: it rained, and nobody had brought anything against it\n" * 40_000
    assert peak(lambda: all(iter_rows(text))) < len(text) / 4
    assert peak(lambda: has_section(text + "no fold", "fold")) < len(text) * 1.25


def test_a_section_is_put_at_the_end_of_a_long_log_without_many_copies_of_it(files):
    text = (
        "# 2026-11-20\n"
        + "- 14:03 User: 雨 it rained, and nobody had brought anything against it\n" * 20_000
    )
    put(files, text.encode())
    assert peak(lambda: append_section(files, section())) < 6.5 * len(text.encode())
    assert has_section(files.read(PATH).text, "f1")


def test_lines_of_another_day_are_under_its_heading(files):
    append_section(
        files,
        section(
            body=(
                "### 2026-11-18\n- 09:00 User: hello\n### 2026-13-40\n- it rained\n### 2026-11-20\n"
                "- it is dry"
            )
        ),
    )
    append_section(files, section(fold="f2"))
    text = f"{files.read(PATH).text}\n## Mine\n\n### 2020-01-01\n- a note\n"
    assert [(row.text, row.day) for row in iter_rows(text)] == [
        ("hello", "2026-11-18"),
        ("it rained", "2026-11-18"),
        ("it is dry", "2026-11-20"),
        ("hello", ""),
        ("it rained", ""),
        ("a note", ""),
    ]
