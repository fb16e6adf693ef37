"""What a fold covered is counted from its messages."""

import json

from memory.context.summary.statistics import RangeStatistics, count_statistics
from memory.conversation import Document, Image, Text, ToolCall, ToolResult
from tests.memory.context.making import make_session, replied, said


def call(id, name, **arguments):
    return "assistant", (ToolCall(id=id, name=name, input=json.dumps(arguments)),)


def result(id, *, failed=False):
    return "user", (ToolResult(call_id=id, text="x", is_error=failed),)


def test_messages_tools_files_attachments_and_errors_are_counted():
    picture = Image(sha256="a", media_type="image/png")
    document = Document(sha256="b", media_type="text/plain", name="n.txt", size=5, text="words")
    turns = [
        [said("one"), call("1", "read_file", path="a.md"), result("1"), replied("read")],
        [("user", (Text(text="look"), picture, document)), replied("seen")],
        [
            said("move"),
            (
                "assistant",
                (Text(text="I will."), *call("2", "move", source="a.md", destination="b\n.md")[1]),
            ),
            result("2", failed=True),
            call("3", "read_file", path=7),
            result("3"),
            ("assistant", (ToolCall(id="4", name="bash", input="not json"),)),
            result("4", failed=True),
            replied("no"),
        ],
    ]
    messages = [message for turn in make_session(turns).turns for message in turn.messages]
    assert count_statistics(messages) == RangeStatistics(
        user=3,
        bot=4,
        tools=(("read_file", 2), ("bash", 1), ("move", 1)),
        files=("a.md", "b .md"),
        patterns=(),
        pictures=1,
        documents=1,
        failed=(("bash", 1), ("move", 1)),
    )


def test_tools_that_often_follow_each_other_are_a_pattern():
    names = ["read_file", "edit_file", "read_file", "edit_file", "bash", "bash", "read_file"]
    steps = [
        step
        for at, name in enumerate(names)
        for step in (call(str(at), name, path="a"), result(str(at)))
    ]
    turns = [[said("go"), *steps, replied("done")]]
    messages = [message for turn in make_session(turns).turns for message in turn.messages]
    assert count_statistics(messages).patterns == ((("read_file", "edit_file"), 2),)


def test_nothing_is_counted_of_nothing():
    assert count_statistics([]) == RangeStatistics(
        user=0, bot=0, tools=(), patterns=(), files=(), pictures=0, documents=0, failed=()
    )
