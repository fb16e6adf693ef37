"""Reads the conversations in `diaries/`, folds each with its written summary, and prints what a
person would read.

`python -m tests.memory.context.diary_reader [NAME…]` prints the sections of the daily log.

A file has turns (`--- DAY TIME`), lines that begin with U: (a person; `U@Name:` in a group), B:
(the bot), C (a call: tool and JSON), R: (its result) or F: (a failed result), and after
`=== answer` what the summarising model answers. `%%N text` stands for N lines with a running
number.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.context.summary.prompt import parse_answer
from memory.context.summary.validation import (
    FoldSource,
    SummaryLimit,
    ValidatedSummary,
    validate_summary,
)
from memory.context.tokens import WEIGHTED
from memory.conversation import Message, Text, ToolCall, ToolResult

FOLDER = Path(__file__).parent / "diaries"
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))
SUMMARY_TOKENS = 1_000
_MARK = re.compile(r"(?:U(?:@(?P<by>[^:]+))?|B|R|F): |C (?P<tool>\w+) |--- ")
_SECONDS_APART = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Diary:
    """A conversation and the answer of its summariser."""

    name: str
    messages: tuple[Message, ...]
    answer: str


def load(name: str) -> Diary:
    """Read one file."""
    talk, answer = (FOLDER / f"{name}.txt").read_text("utf-8").split("=== answer\n")
    return Diary(name=name, messages=tuple(_messages(_pieces(talk))), answer=answer)


def fold(diary: Diary, answer: str | None = None) -> ValidatedSummary:
    """The texts of the fold; of another answer, or the digest for ""."""
    texts = parse_answer(diary.answer if answer is None else answer)
    limit = SummaryLimit(counter=WEIGHTED, summary_tokens=SUMMARY_TOKENS, zone=UTC)
    source = FoldSource(before="", replaced=0, earlier=(), turns=diary.messages)
    return validate_summary(
        texts.log if texts else "", texts.summary if texts else "", source, limit
    )


def _pieces(talk: str) -> Iterator[tuple[str, re.Match[str], str]]:
    """(kind, mark, text) of each marked piece with its continuation lines."""
    mark: re.Match[str] | None = None
    lines: list[str] = []
    for line in talk.splitlines():
        if found := _MARK.match(line):
            if mark:
                yield mark[0][0], mark, "\n".join(lines)
            mark, lines = found, [*_expand(line[found.end() :])]
        else:
            lines += _expand(line)
    if mark:
        yield mark[0][0], mark, "\n".join(lines)


def _expand(line: str) -> Iterator[str]:
    found = re.fullmatch(r"%%(\d+) (.*)", line)
    if found is None:
        yield line
        return
    for i in range(int(found[1])):
        values = {"{i7}": i * 7, "{i37}": 100 + i * 37, "{i1000}": i * 1_000, "{i}": i}
        text = found[2].replace("{d:02d}", f"{i % 28 + 1:02d}")
        for width in (2, 3, 4):
            text = text.replace(f"{{i:0{width}d}}", f"{i:0{width}d}")
        for place, value in values.items():
            text = text.replace(place, str(value))
        yield text


def _messages(pieces: Iterator[tuple[str, re.Match[str], str]]) -> Iterator[Message]:
    at, seq, turn, calls = datetime(2026, 1, 1, tzinfo=UTC), 0, 0, 0
    for kind, mark, text in pieces:
        if kind == "-":
            at, turn = datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC), turn + 1
            continue
        seq, at = seq + 1, at + timedelta(seconds=_SECONDS_APART)
        part: Text | ToolCall | ToolResult
        if kind == "C":
            calls += 1
            part = ToolCall(id=f"t{calls}", name=mark["tool"], input=text)
        elif kind in "RF":
            part = ToolResult(call_id=f"t{calls}", text=text, is_error=kind == "F")
        else:
            part = Text(text=text, by=mark["by"] or "")
        role = "assistant" if kind in "BC" else "user"
        origin = {"B": "model", "C": "model", "U": "person"}.get(kind, "tool")
        parts = (part,)
        tokens = WEIGHTED.message(parts)
        yield Message(
            id=f"m{seq}",
            seq=seq,
            turn=turn,
            role=role,
            parts=parts,
            at=at,
            tokens=tokens,
            origin=origin,  # type: ignore[arg-type]
        )


if __name__ == "__main__":
    for chosen in sys.argv[1:] or NAMES:
        folded = fold(load(chosen))
        print(f"\n# {chosen} ({folded.method})\n\n{folded.log}\n\n--- summary\n{folded.summary}")
