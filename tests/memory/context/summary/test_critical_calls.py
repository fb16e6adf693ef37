"""Calls that changed something or failed are kept with their outcome and handle; looking at things
is not.
"""

import json

from memory.context.summary.critical_calls import (
    MAX_LINE,
    call_outcomes,
    carried_lines,
    find_critical_calls,
    fitting_lines,
    is_critical,
)
from memory.context.summary.grounding import GroundingSource, ground_text
from memory.context.summary.transcript import write_turns
from memory.context.tokens import WEIGHTED
from memory.conversation import ToolCall, ToolResult
from tests.cases import every_case
from tests.memory.context.making import START, make_session, replied, said


def call(id, name, result, failed=False, **arguments):
    return (
        (
            "assistant",
            (ToolCall(id=id, name=name, input=json.dumps(arguments, ensure_ascii=False)),),
        ),
        ("user", (ToolResult(call_id=id, text=result, is_error=failed),)),
    )


def messages_of(*calls):
    turn = [said("go on"), *(message for pair in calls for message in pair), replied("done")]
    return make_session([turn]).turns[0].messages


def found(*calls, lang="en"):
    messages = messages_of(*calls)
    return find_critical_calls(messages, lang, GroundingSource(write_turns(messages, START.tzinfo)))


@every_case(
    ("name", "arguments", "kept"),
    [
        ("write_file", {"path": "a.md"}, True),
        ("edit_file", {"path": "a.md"}, True),
        ("Write", {"file_path": "/a"}, True),
        ("MultiEdit", {"file_path": "/a"}, True),
        ("str_replace_editor", {"path": "/a"}, True),
        ("deleteFile", {"path": "/a"}, True),
        ("move_file", {"source": "/a", "destination": "/b"}, True),
        ("read_file", {"path": "a.md"}, False),
        ("list_files", {"path": "write"}, False),
        ("now", {}, False),
        ("search", {"query": "git commit"}, False),
        ("bash", {"command": "npm install left-pad"}, True),
        ("bash", {"command": "cd x && pip install -U pandas==2"}, True),
        ("bash", {"command": "sudo apt-get install -y jq"}, True),
        ("shell", {"cmd": "brew install jq"}, True),
        ("run_command", {"command": "git commit -m 'x'"}, True),
        ("Bash", {"command": "git -C repo push origin main"}, True),
        ("bash", {"command": "git checkout 9f8e7d6"}, True),
        ("bash", {"command": "docker compose up -d"}, True),
        ("bash", {"command": "systemctl restart nginx"}, True),
        ("bash", {"command": "rm -rf build"}, True),
        ("bash", {"command": "mv a b"}, True),
        ("bash", {"timeout": 5, "command": "make && rm x"}, True),
        ("bash", {"command": "python -m pip install x"}, True),
        ("bash", {"command": "for f in *; do rm $f; done"}, True),
        ("bash", {"command": "A=1 docker ps"}, True),
        ("bash", {"command": "ls -la && git status && git log"}, False),
        ("bash", {"command": "cat docker.md; grep rm x"}, False),
        ("bash", {"command": "npm test"}, False),
    ],
)
def test_what_changes_something_is_critical(name, arguments, kept):
    (outcome,) = call_outcomes(messages_of(call("c", name, "fine", **arguments)))
    assert is_critical(outcome) is kept
    (failed,) = call_outcomes(messages_of(call("c", name, "no", True, **arguments)))
    assert is_critical(failed)


def test_a_line_has_call_outcome_and_handle_within_its_length():
    (line,) = [
        each.line
        for each in found(
            call("c", "write_file", "now holds 4 bytes.\nmore", path="a.md", content="x")
        )
    ]
    assert line == '- write_file a.md → now holds 4 bytes. recall(handle="2.0")'
    (line,) = [
        each.line
        for each in found(call("c", "bash", "Error: 3 failed", True, command="pytest"), lang="zh")
    ]
    assert line == '- bash pytest 失败：Error: 3 failed recall(handle="3.0")'
    long = "/srv/" + "very-long-folder/" * 30 + "a.md"
    for text in ("word " * 200, "字" * 900, "x" * 900, "1234567890" * 90):
        (line,) = [each.line for each in found(call("c", "write_file", text, path=long))]
        assert len(line) <= MAX_LINE
        assert line.endswith('recall(handle="2.0")')


def test_a_subject_is_words_and_no_json():
    arguments = {"pattern": "x y", "deep": [{"glob": "*.py"}, 3], "empty": {}}
    (line,) = [each.line for each in found(call("c", "look_up", "broken", True, **arguments))]
    assert line.startswith("- look_up pattern x y, deep glob *.py 3, empty failed: broken recall(")
    nested: list[object] = []
    for _ in range(400):
        nested = [nested]
    assert found(call("c", "look_up", "broken", True, deep=nested))


def test_that_something_could_not_be_read_leaves_the_summary_with_the_next_fold():
    lines = [
        '- read_file a.md failed: no such file recall(handle="3.0")',
        '- fetch 失败：timeout recall(handle="4.0")',
        '- bash pytest failed: 3 failed recall(handle="5.0")',
        '- edit_file b.md failed: no such line recall(handle="6.0")',
        '- write_file c.md → 4 bytes recall(handle="7.0")',
    ]
    assert [each.line for each in carried_lines("\n".join(lines))] == lines[2:]


def test_a_cut_line_says_nothing_that_its_source_does_not():
    messages = messages_of(
        call("c", "write_file", "1234567890" * 40, path="/srv/" + "folder-12345/" * 20 + "a.md"),
        call("d", "bash", "sum 4711 " * 60, True, command="pytest tests/" + "x" * 300),
    )
    source = write_turns(messages, START.tzinfo)
    for each in find_critical_calls(messages, "en", GroundingSource(source)):
        assert ground_text(each.line, source).dropped == ()


def test_of_a_repeated_call_the_newest_is_kept_and_a_failure_beside_it():
    lines = found(
        call("a", "edit_file", "v1", path="a.md"),
        call("b", "edit_file", "no such text", True, path="a.md"),
        call("c", "edit_file", "v2", path="a.md"),
    )
    assert [(each.seq, "v1" in each.line) for each in lines] == [(5, False), (6, False)]


def test_the_newest_lines_go_in_first_and_none_twice():
    lines = found(*(call(f"c{at}", "write_file", "ok", path=f"file{at}.md") for at in range(9)))
    cost = WEIGHTED.text(lines[0].line) + 1
    taken = fitting_lines(lines, "", WEIGHTED, cost * 3)
    assert taken == [each.line for each in lines[-3:]]
    assert fitting_lines(lines, "\n".join(taken), WEIGHTED, cost * 2) == [
        each.line for each in lines[-5:-3]
    ]
    assert (
        fitting_lines(
            (*carried_lines("\n".join(["## Tools", *taken, "- other"])), *lines),
            "",
            WEIGHTED,
            cost * 3,
        )
        == taken
    )


def test_a_call_without_result_or_with_broken_arguments_is_named_all_the_same():
    messages = (
        make_session(
            [[said("x"), ("assistant", (ToolCall(id="c", name="write_file", input="{broken"),))]]
        )
        .turns[0]
        .messages
    )
    (each,) = find_critical_calls(messages, "en", GroundingSource("write_file broken"))
    assert each.line == '- write_file broken recall(handle="2.0")'


@every_case(
    ("result", "failed", "outcome"),
    [
        (
            "Collecting numpy\nDownloading 16 MB\nSuccessfully installed numpy-2.1.3",
            False,
            "→ Successfully installed",
        ),
        ("npm warn old lockfile\n\nadded 12 packages in 3s", False, "→ added 12 packages in 3s"),
        ("正在下载\n安装成功：jq 1.7", False, "→ 安装成功：jq 1.7"),
        ("[main 1a2b3c4] Fix the gate\n 1 file changed", False, "→ [main 1a2b3c4] Fix the gate"),
        (
            "Reading lists...\nE: Unable to locate package foo",
            True,
            "failed: E: Unable to locate package foo",
        ),
        (
            'Traceback (most recent call last):\n  File "/srv/error_page.py", line 3\nOSError: full',  # noqa: E501
            True,
            "failed: OSError",
        ),
    ],
)
def test_the_outcome_is_what_a_person_would_say_of_it(result, failed, outcome):
    [line] = [
        call.line for call in found(call("1", "run", result, failed, command="pip install x"))
    ]
    assert f"run pip install x {outcome}" in line
