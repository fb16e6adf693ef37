"""MEMORY.md as people write it, and edits that leave every other byte alone."""

import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory.text.bullets import (
    Bullet,
    add_bullet,
    category_of,
    parse_bullets,
    recordable_bullets,
    remove_bullet,
    replace_bullet,
    tidy_content,
)
from tests.by_night import by_night
from tests.cases import every_case

# Literals, so that the product is not compared with itself.
CATEGORIES = ("user_preference", "project_context", "skill", "fact")
HEADINGS = {
    "user_preference": "偏好 · Preferences",
    "project_context": "项目 · Projects",
    "skill": "技能 · Skills",
    "fact": "事实 · Facts",
}

TEMPLATE = Path("memory/templates/MEMORY.md").read_text("utf-8")
LINES = st.sampled_from(
    [
        *(
            "",
            " ",
            "# 长期记忆",
            "## 偏好 · Preferences",
            "## Projects",
            "### mnema",
            "## 家人",
            "## Facts ##",
            "#hash",
        ),
        *(
            "- 喜欢茶",
            "* likes tea",
            "+ plus",
            "1. one",
            "2) two",
            "3、三",
            "• dot",
            "-no bullet",
            "- ",
            "-",
        ),
        *(
            "  continued",
            "    deep",
            "\tby tab",
            "lazy",
            "  - nested",
            "   - odd",
            "    - [ ] task",
            "　- wide",
        ),
        *(
            "```",
            "```py",
            "~~~",
            "  ```",
            "- ```",
            "    ```",
            "---",
            "* * *",
            "===",
            "> - quoted",
            "<!-- - x -->",
        ),
        *(
            "- a\u2028b",
            "- \x0b",
            "- 👨‍👩‍👧 family",
            "- ...",
            "- # heading",
            "- ## 技能 · Skills",
            "\ufeff- late mark",
        ),
    ]
)
FILES = st.builds(
    lambda mark, lines, end, last: mark + end.join(lines) + (end if last else ""),
    st.sampled_from(["", "\ufeff"]),
    st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
) | st.text(max_size=80)
HOLDING = st.builds("{}- 一条\n{}".format, st.sampled_from(["", "\ufeff"]), FILES) | st.builds(
    "{}\n- two\n{}".format, FILES, FILES
)
WORDS = st.one_of(
    st.text(min_size=1, max_size=60), st.lists(LINES, min_size=1, max_size=5).map("\n".join)
)


def texts(text: str) -> list[str]:
    return [bullet.text for bullet in parse_bullets(text)]


def test_what_people_write_is_read() -> None:
    text = (
        "\ufeff# Memory\r\nprose\r\n## Preferences\r\n- likes tea\r\n  and oolong most\r\n* "
        "深色主题\r\nruns on\r\n\r\n## 项目\r\n1. mnema\r\n   - a chat bot\r\n\r\n   second "
        "paragraph\r\n```\r\n- not a memory\r\n```\r\n### 旧的\r\n- old one\r\n## 家人\r\n+ "
        "女儿叫小雨\r\n"
    )
    read = [(b.text, b.category, b.heading, b.first, b.last) for b in parse_bullets(text)]
    assert read == [
        ("likes tea\nand oolong most", "user_preference", "Preferences", 4, 5),
        ("深色主题\nruns on", "user_preference", "Preferences", 6, 7),
        ("mnema\n- a chat bot\nsecond paragraph", "project_context", "项目", 10, 13),
        ("old one", "project_context", "旧的", 18, 18),
        ("女儿叫小雨", "", "家人", 20, 20),
    ]


@every_case(
    ("heading", "category"),
    [
        *((heading, category) for category, heading in HEADINGS.items()),
        *(
            ("Preferences", "user_preference"),
            ("偏好", "user_preference"),
            ("用户偏好", "user_preference"),
        ),
        *(
            ("**Skills**", "skill"),
            ("技能 Skills", "skill"),
            ("Facts / 事实", "fact"),
            ("user_preference", "user_preference"),
        ),
        *(("Project context", "project_context"), ("家人", ""), ("", ""), ("Factory", "")),
    ],
)
def test_a_heading_names_its_category_in_either_language(heading: str, category: str) -> None:
    assert category_of(heading) == category


def test_a_line_goes_under_its_heading_behind_the_others() -> None:
    text = add_bullet(add_bullet(TEMPLATE, "skill", "弹吉他"), "skill", "Python\nand Rust")
    assert text == TEMPLATE.replace(
        "## 技能 · Skills\n", "## 技能 · Skills\n\n- 弹吉他\n- Python\n  and Rust\n"
    )


def test_a_missing_heading_is_made_at_the_end_and_an_open_fence_is_closed() -> None:
    assert add_bullet("", "fact", "x") == "## 事实 · Facts\n\n- x\n"
    assert add_bullet("- a", "fact", "x") == "- a\n\n## 事实 · Facts\n\n- x\n"
    assert texts(add_bullet("# A\r\n```\r\ncode", "fact", "x")) == ["x"]
    assert texts(add_bullet("## Facts\n```\ncode", "fact", "x")) == ["x"]


def test_what_stands_under_a_heading_without_bullets_is_not_drawn_into_the_new_one() -> None:
    text = "## Facts\n\n    indented code\n\nprose\n## Skills\n"
    assert (
        add_bullet(text, "fact", "x")
        == "## Facts\n\n    indented code\n\nprose\n\n- x\n## Skills\n"
    )


def test_a_new_line_begins_like_the_one_above_it() -> None:
    assert add_bullet("## Facts\n  * a\n", "fact", "b\nc") == "## Facts\n  * a\n  * b\n    c\n"
    assert add_bullet("## Facts\n1. a\n", "fact", "b") == "## Facts\n1. a\n- b\n"


def test_a_heading_of_that_name_comes_before_the_category() -> None:
    assert (
        add_bullet("## Facts\n- a\n## 家人\n- b\n", "fact", "c", heading="家人")
        == "## Facts\n- a\n## 家人\n- b\n- c\n"
    )


@every_case("content", ["", " \n ", "---", "- -", "...", "\0", "\ufeff"])
def test_nothing_is_no_memory(content: str) -> None:
    assert tidy_content(content) == ""
    with pytest.raises(ValueError):
        add_bullet(TEMPLATE, "fact", content)


def test_an_unknown_category_is_refused() -> None:
    with pytest.raises(ValueError):
        add_bullet(TEMPLATE, "secret", "x")


@every_case(
    "content",
    ["x\n## 技能 · Skills\n- y", "# x", "x\n```\nopen", "x\r\n\r\n\u2028y", "\ud800 x", "a\0b"],
)
def test_s9_content_stays_one_memory_whatever_is_in_it(content: str) -> None:
    before = texts(add_bullet(TEMPLATE, "fact", "first"))
    text = add_bullet(add_bullet(TEMPLATE, "fact", "first"), "fact", content)
    assert texts(add_bullet(text, "skill", "last")) == ["last", *before, tidy_content(content)]


@given(FILES, st.sampled_from(CATEGORIES), WORDS)
def test_an_added_line_is_read_back_and_every_other_byte_stays(
    text: str, category: str, content: str
) -> None:
    assume(tidy_content(content))
    new = add_bullet(text, category, content)
    before, after = parse_bullets(text), parse_bullets(new)
    [mine] = [
        b
        for b in after
        if (b.text, b.category) == (tidy_content(content), category) and b not in before
    ][-1:]
    at = after.index(mine)
    assert [b.text for b in after[:at] + after[at + 1 :]] == [b.text for b in before]
    assert _without_a_piece(new, text)


def _without_a_piece(new: str, old: str) -> bool:
    """Whether the new text is the old one with one piece put in, or two lines' ends more."""
    head = 0
    while head < len(old) and old[head] == new[head]:
        head += 1
    return old[head:] == new[len(new) - len(old) + head :]


def test_a_line_that_ends_in_a_page_break_keeps_its_end() -> None:
    text = "- two\n0\x0c\r0"
    new = replace_bullet(text, parse_bullets(text)[0], "1")
    assert new == "- 1\x0c\r0"
    assert texts(new) == ["1"]


@given(HOLDING, WORDS, st.data())
def test_a_replaced_line_is_read_back_and_every_other_byte_stays(
    text: str, content: str, data: st.DataObject
) -> None:
    found = parse_bullets(text)
    assume(found and tidy_content(content))
    at = data.draw(st.integers(0, len(found) - 1))
    new = replace_bullet(text, found[at], content)
    assert texts(new) == [tidy_content(content) if n == at else b.text for n, b in enumerate(found)]
    before, after = _around(text, found[at])
    assert new.startswith(before)
    assert new.endswith(after)


@given(HOLDING, st.data())
def test_a_removed_line_takes_nothing_with_it(text: str, data: st.DataObject) -> None:
    found = parse_bullets(text)
    assume(found)
    gone = data.draw(st.sampled_from(found))
    before, after = _around(text, gone)
    assert remove_bullet(text, gone) == before + after


def _around(text: str, bullet: Bullet) -> tuple[str, str]:
    lines = text.splitlines(keepends=True)
    mark = "\ufeff" if bullet.first == 1 and text.startswith("\ufeff") else ""
    return "".join(lines[: bullet.first - 1]) + mark, "".join(lines[bullet.last :])


@given(WORDS)
def test_tidied_content_stays_as_it_is(content: str) -> None:
    once = tidy_content(content)
    assert tidy_content(once) == once
    assert not re.search(r"(?m)^[ \t]*#{1,6}[ \t]", once)


@given(FILES)
def test_lines_of_bullets_are_those_of_the_file_and_do_not_overlap(text: str) -> None:
    lines = [
        0,
        *(n for b in parse_bullets(text) for n in (b.first, b.last)),
        len(text.splitlines()) + 1,
    ]
    assert all(a < b or (a == b and n % 2 == 1) for n, (a, b) in enumerate(pairwise(lines)))


@pytest.mark.parametrize("size", [2_000_000, pytest.param(10_000_000, marks=by_night)])
@pytest.mark.parametrize("piece", ["a", "- ", "`", "喜 "])
def test_a_line_of_megabytes_takes_seconds_not_hours(piece: str, size: int) -> None:
    text = f"- x\n- {piece * (size // len(piece))}y\n- z\n"
    began = time.process_time()
    assert [len(b.text) for b in (recordable_bullets(text)[0], recordable_bullets(text)[-1])] == [
        1,
        1,
    ]
    assert time.process_time() - began < 30
