"""Ten conversations as people have them: what their owner reads in the daily log afterwards."""

import re

import pytest

from memory.context.summary.prompt import parse_answer
from memory.conversation import Text, ToolCall, ToolResult
from tests.cases import every_case
from tests.memory.context.diary_reader import NAMES, Diary, fold, load

MAX_TOOL_SHARE = 0.25
SHORT = 200  # characters of an answer that is no advice, also of a Chinese one
COPIED = 40  # characters of a tool's output that nobody wrote by chance
_FENCED = re.compile(r"```.*?```", re.DOTALL)
_TABLE_OR_LOG = re.compile(r"^(?:\||\[\d{4}-).*$", re.MULTILINE)
_FIGURE = re.compile(r"\d[\d.,:/-]*\d|\d|https?://[^\s，。]+|\b\w+/[\w./-]+\.\w+")
_TOOL_LINE = re.compile(r'- (?!\d\d:\d\d )\w+ .*recall\(handle="|- (?:tools|工具)[:：]')


def figures(text: str) -> set[str]:
    """Numbers, addresses and paths of a text."""
    return set(_FIGURE.findall(text))


def stated(diary: Diary) -> set[str]:
    """Figures that people and the bot stated in sentences.

    Pasted code, tables and logs are one line with a handle. An answer that rests on no tool and is
    long, or that nobody asked for, is advice: the story tells what came of it.
    """
    with_tools = {
        message.turn
        for message in diary.messages
        if any(isinstance(part, ToolCall) for part in message.parts)
    }
    asked = {
        message.turn
        for message in diary.messages
        if message.role == "user"
        and any(
            isinstance(part, Text) and re.search(r"[?？吗]", part.text) for part in message.parts
        )
    }
    return {
        figure
        for message in diary.messages
        for part in message.parts
        if isinstance(part, Text)
        and (
            message.role == "user"
            or message.turn in with_tools
            or (message.turn in asked and len(part.text) < SHORT)
        )
        for figure in figures(_TABLE_OR_LOG.sub("", _FENCED.sub("", part.text)))
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("answer", [None, ""], ids=["model", "digest"])
def test_tools_take_at_most_a_quarter_of_the_diary_and_their_output_none(
    name: str, answer: str | None
) -> None:
    diary = load(name)
    log = fold(diary, answer).log
    about_tools = [line for line in log.splitlines() if _TOOL_LINE.match(line)]
    assert sum(len(line) + 1 for line in about_tools) <= MAX_TOOL_SHARE * len(log)
    told = "\n".join(line for line in log.splitlines() if line not in about_tools)
    said = "\n".join(
        part.text for message in diary.messages for part in message.parts if isinstance(part, Text)
    )
    for message in diary.messages:
        for part in message.parts:
            if isinstance(part, ToolResult):
                pieces = (
                    part.text[at : at + COPIED]
                    for at in range(0, len(part.text) - COPIED, COPIED // 2)
                )
                assert not [piece for piece in pieces if piece in told and piece not in said]


@every_case("name", NAMES)
def test_what_people_and_the_bot_stated_is_in_the_diary_or_the_summary(name: str) -> None:
    diary = load(name)
    folded = fold(diary)
    known = f"{folded.log}\n{folded.summary}"
    assert folded.method == "model"
    assert not {figure for figure in stated(diary) if figure.strip(".,:/-") not in known}


@every_case("name", NAMES)
def test_the_story_stands_in_the_diary_in_its_order_and_each_change_once(name: str) -> None:
    diary = load(name)
    log = fold(diary).log
    story = [line.removeprefix("- ") for line in parse_answer(diary.answer).log.splitlines()]
    places = [log.find(line) for line in story if line in log]
    assert places == sorted(places)
    assert len(places) >= len(story) * 0.8  # a sentence without a source is removed
    lines = log.splitlines()
    assert len(lines) == len(set(lines))
    changed = [
        part.input
        for message in diary.messages
        for part in message.parts
        if isinstance(part, ToolCall)
    ]
    assert not [arguments for arguments in changed if arguments in log]
