"""Patches as models write them: exact ones apply exactly, sloppy ones at the one place that fits,
others not at all.
"""

import difflib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tools.workspace.unified_diff import PatchError, apply_patch, parse_patch, split_lines
from tests.cases import every_case

LINE = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=6) | st.sampled_from(
    [
        "",
        "-- a",
        "++ b",
        "@@ -1 +1 @@",
        "--- a/x",
        "+++ b/x",
        " ",
        "diff --git a/x b/x",
        "\\ No newline",
        "茶",
        "\u2028",
    ]
)
TEXT = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(LINE, max_size=12),
    st.sampled_from(["", "\n"]),
)


def make_patch(path: str, before: str, after: str, around: int = 3) -> str:
    """A diff as git writes it."""
    lines = []
    pieces = difflib.unified_diff(
        split_lines(before), split_lines(after), f"a/{path}", f"b/{path}", n=around
    )
    for line in pieces:
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)


@given(before=TEXT, after=TEXT, around=st.integers(0, 3))
def test_what_git_writes_leads_from_one_text_to_the_other(
    before: str, after: str, around: int
) -> None:
    if "\r\n" in before or "\ufeff" in before[:1] + after[:1]:
        return  # line ends and marks of the file stay; see below
    if text := make_patch("notes/x.md", before, after, around):
        [patch] = parse_patch(text)
        assert patch.path == "notes/x.md"
        assert apply_patch(before, patch) == after


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4))
def test_several_files_are_told_apart(texts: list[tuple[str, str]]) -> None:
    pairs = {f"{number}.md": pair for number, pair in enumerate(texts) if make_patch("x", *pair)}
    if not pairs:
        return
    text = "".join(
        f"diff --git a/{path} b/{path}\n{make_patch(path, *pair)}" for path, pair in pairs.items()
    )
    assert [patch.path for patch in parse_patch(text)] == list(pairs)


@given(st.text(max_size=200) | st.lists(LINE, max_size=20).map("\n".join))
def test_any_text_is_a_patch_or_refused(text: str) -> None:
    for raw in (text, f"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n{text}"):
        try:
            patches = parse_patch(raw)
        except PatchError:
            continue
        for patch in patches:
            with suppress(PatchError):
                apply_patch(text, patch)


def patched(before: str, *lines: str, path: str = "a.md") -> str:
    [patch] = parse_patch("\n".join((f"--- a/{path}", f"+++ b/{path}", *lines)))
    return apply_patch(before, patch)


def test_wrong_counts_and_lines_are_forgiven_where_one_place_fits() -> None:
    before = "a\nb\nc\nd\ne\n"
    assert patched(before, "@@ -40,9 +40,9 @@ somewhere", " c", "-d", "+D") == "a\nb\nc\nD\ne\n"
    assert (
        patched(before, "@@ -1,7 +1,7 @@", "-a", "+A", "@@ -1,7 +1,7 @@", "-e", "+E", "")
        == "A\nb\nc\nd\nE\n"
    )


def test_a_hunk_moves_with_the_hunk_before_it() -> None:
    before = "x\n" * 5 + "start\nx\nx\n"
    text = ("@@ -1 +1 @@", "-start", "+begin", "@@ -2 +2 @@", "-x", "+y")
    assert patched(before, *text) == "x\n" * 5 + "begin\ny\nx\n"


@every_case(
    ("lines", "told"),
    [
        (("@@ -9 +9 @@", "-tea", "+milk"), "a.md, hunk 1.*does not have"),
        (("@@ -9 +9 @@", "-x", "+y"), "a.md, hunk 1.*2 times"),
        (("@@ -1 +1 @@", "-one", "+1", "@@ -9 +9 @@", "-no", "+y"), "a.md, hunk 2"),
        (("@@ -77,0 +77 @@", "+y"), "no line 77"),
        (("@@ -1 +1 @@", "*one"), "none of"),
        (("@@ -1 +1 @@",), "no lines"),
        ((), "no hunk"),
    ],
)
def test_a_conflict_names_file_and_hunk(lines: tuple[str, ...], told: str) -> None:
    with pytest.raises(PatchError, match=told):
        patched("one\nx\nx\n", *lines)


@every_case(
    ("text", "told"),
    [
        ("", "there is no"),
        ("hello", "there is no"),
        ("@@ -1 +1 @@\n-a\n+b", "before any"),
        ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a", "deleted"),
        ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b", "renames"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" * 2, "twice"),
        ("".join(f"--- a/{n}\n+++ b/{n}\n@@ -1 +1 @@\n-a\n+b\n" for n in range(51)), "51 files"),
        ("x" * 400_001, "characters"),
        ("--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", "former text"),
    ],
)
def test_what_no_patch_does_is_refused(text: str, told: str) -> None:
    with pytest.raises(PatchError, match=told):
        parse_patch(text)


def test_line_ends_marks_and_a_missing_last_line_end_stay() -> None:
    assert (
        patched("\ufeffa\r\nb\r\n", "@@ -1,2 +1,3 @@", "-a", "+A", "+x", " b")
        == "\ufeffA\r\nx\r\nb\r\n"
    )
    assert patched("a\nb", "@@ -1,2 +1,2 @@", "-a", "+A", " b") == "A\nb"
    assert patched("a\nb", "@@ -2 +2,2 @@", " b", "+c") == "a\nb\nc\n"


def test_the_heading_may_be_plain_or_of_git() -> None:
    assert parse_patch("--- x.md\t2026\n+++ x.md\t2026\n@@ -1 +1 @@\n-a\n+b")[0].path == "x.md"
    assert parse_patch("--- a/a/x.md\n+++ b/a/x.md\n@@ -1 +1 @@\n-a\n+b")[0].path == "a/x.md"
    assert parse_patch("--- /dev/null\n+++ b/x.md\n@@ -0,0 +1 @@\n+b")[0].is_new
