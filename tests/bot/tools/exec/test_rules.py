"""What a rule of approval covers: the very command, or what begins with words that run nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tools.exec.rules import CommandRule, RuleRefused, build_command_rule, format_rule
from tests.cases import every_case

HERE = {"sandbox": "A", "cwd": "/w/files"}
WORDS = st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4)


def rule(*argv: str, words: int = 0, **bound: str) -> CommandRule:
    return build_command_rule({"argv": list(argv)}, {**HERE, **bound}, words)


def covers(one: CommandRule, *argv: str, **bound: str) -> bool:
    return one.covers({"argv": list(argv)}, {**HERE, **bound})


def test_a_rule_for_a_program_covers_what_begins_with_it_and_nothing_else() -> None:
    one = rule("ls", "-l", words=2)
    assert covers(one, "ls", "-l")
    assert covers(one, "ls", "-l", "--all", "sub dir")
    for argv in (
        ("ls", "--all", "-l"),
        ("env", "ls", "-l"),
        ("ls", "-l\n--all"),
        ("ls", "-l", "x\nrm"),
        ("./ls", "-l"),
        ("/usr/bin/ls", "-l"),
        ("ls",),
        ("ls -l",),
        ("-l",),
    ):
        assert not covers(one, *argv), argv
    assert not covers(one, "ls", "-l", cwd="/w/other")
    assert not covers(one, "ls", "-l", sandbox="B")
    assert not one.covers({"argv": ["ls", "-l"], "script": "x"}, HERE)


@pytest.mark.parametrize("words", [0, 1])
@pytest.mark.parametrize("background", [False, True])
def test_a_rule_is_for_the_chat_or_for_the_background(words: int, background: bool) -> None:
    given = {"argv": ["ls", "-l"], "background": background}
    one = build_command_rule(given, HERE, words)
    assert one.covers(given, HERE)
    assert not one.covers({**given, "background": not background}, HERE)
    stored = CommandRule.from_json(one.to_json(), one.cwd, one.level)
    assert not stored.covers({**given, "background": not background}, HERE)


@every_case("argv", [("git", "status"), ("uniq",), ("tree",), ("file",), ("pdftotext",)])
def test_a_stored_rule_for_a_program_that_may_not_begin_one_any_more_covers_nothing(
    argv: tuple[str, ...],
) -> None:
    stored = (
        f'{{"argv": {json.dumps(argv)}, "is_prefix": true, "language": "", "background": false, '
        f'"hashes": {{}}}}'
    )
    one = CommandRule.from_json(stored, HERE["cwd"], HERE["sandbox"])
    assert not covers(one, *argv)
    assert not covers(one, *argv, "more")
    still_allowed = CommandRule.from_json(
        stored.replace(json.dumps(argv), '["cat"]'), HERE["cwd"], HERE["sandbox"]
    )
    assert covers(still_allowed, "cat", "more"), "it is the program that makes the difference"


@every_case(
    "argv",
    [
        *(
            ("sh",),
            ("bash", "-c"),
            ("python3",),
            ("perl", "-e"),
            ("env",),
            ("xargs",),
            ("find", "."),
            ("sudo", "ls"),
        ),
        *(
            ("git",),
            ("git", "-c"),
            ("git", "-C"),
            ("git", "status"),
            ("/bin/cat",),
            ("./cat",),
            ("make",),
            ("nice",),
        ),
        *(
            ("cat\n",),
            ("busybox",),
            ("awk",),
            ("sed",),
            ("tar",),
            ("sort",),
            ("timeout", "9"),
            ("rg",),
            ("CAT",),
        ),
        *(
            ("uniq",),
            ("tree", "-o"),
            ("file", "-C"),
            ("pdftotext",),
            ("git", "log"),
            ("git", "diff"),
        ),
    ],
)
def test_a_program_that_may_run_its_arguments_has_no_prefix(argv: tuple[str, ...]) -> None:
    with pytest.raises(RuleRefused):
        rule(*argv, words=len(argv))
    assert covers(rule(*argv), *argv), "word for word it can be approved"


@pytest.mark.parametrize("words", [-1, 3])
def test_a_prefix_has_as_many_words_as_there_are(words: int) -> None:
    with pytest.raises(RuleRefused):
        rule("ls", "-l", words=words)


@given(WORDS, WORDS)
def test_a_rule_without_a_prefix_covers_that_command_only(
    argv: list[str], other: list[str]
) -> None:
    one = rule(*argv)
    assert covers(CommandRule.from_json(one.to_json(), one.cwd, one.level), *argv)
    assert covers(one, *other) == (argv == other)


def test_bytes_of_scripts_and_named_files_count() -> None:
    named = {"sha256 of job.sh": "aa"}
    one = rule("sh", "job.sh", **named)
    assert covers(one, "sh", "job.sh", **named)
    assert not covers(one, "sh", "job.sh", **{"sha256 of job.sh": "bb"})
    assert not covers(one, "sh", "job.sh")
    script: dict[str, Any] = {"script": "print(1)", "language": "python"}
    other = build_command_rule(script, {**HERE, "sha256 of the script": "cc"})
    assert other.covers(script, {**HERE, "sha256 of the script": "cc"})
    assert not other.covers(script, {**HERE, "sha256 of the script": "dd"})
    assert not other.covers({**script, "language": "sh"}, {**HERE, "sha256 of the script": "cc"})
    with pytest.raises(RuleRefused):
        build_command_rule(script, {**HERE, "sha256 of the script": "cc"}, 1)


def test_a_stronger_sandbox_than_the_rule_was_made_under_is_fine() -> None:
    one = rule("true", sandbox="B")
    assert covers(one, "true", sandbox="A")
    assert not covers(one, "true", sandbox="C")
    assert not rule("true", sandbox="?").covers({"argv": ["true"]}, HERE)


def test_a_rule_is_shown_in_one_line_of_either_language() -> None:
    for lang in ("en", "zh"):
        shown = format_rule(rule("cat", "`x`", words=1, cwd="/w/sub"), "exec", lang)
        assert "cat" in shown
        assert "/w/sub" in shown
        assert "/w" not in format_rule(rule("cat", "`x`"), "exec", lang)
        assert "(/w)" in format_rule(rule("cat", "`x`", cwd="/w"), "exec", lang)
        assert "\n" not in format_rule(rule("cat", "`x`\n"), "exec", lang)
