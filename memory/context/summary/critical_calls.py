"""Finds the tool calls that a summary must keep, one line each: changes, installations, commits and failures."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory.context.reductions import part_handle
from memory.context.summary.grounding import GroundingSource, ground_text
from memory.context.tokens import TokenCounter
from memory.conversation import Message, ToolCall, ToolResult
from memory.text.quoting import first_line

MAX_LINE = 200  # characters of a line with its handle
_SUBJECT_CHARS, _NAME_CHARS = 90, 40
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CHANGING_WORDS = (
    "write edit multiedit delete remove move rename patch replace create append insert overwrite copy upload"
)
_CHANGING_TOOLS = frozenset(_CHANGING_WORDS.split())
_SHELL_TOOLS = frozenset({"bash", "shell", "sh", "exec", "execute", "run", "terminal", "command", "cmd", "powershell"})
_WORD = r"\S{1,100}+\s{1,20}+"
_MAX_PREFIX_WORDS = 8  # options and variables before what a command does
_CHANGING_COMMAND = re.compile(
    r"(?:^|[;&|(`]|\$\(|(?<![\w./-])(?:sudo|then|do|else|xargs|exec|nohup|time|-m)\s)[^\S\n]*+"
    rf"(?:(?:-|\w{{1,40}}+=){_WORD}){{0,{_MAX_PREFIX_WORDS}}}+(?:"
    r"(?:npm|pnpm|yarn|pip3?|uv|apt|apt-get|brew|dnf|yum|apk|cargo|gem|go|conda|poetry)\s{1,20}+"
    rf"(?:-{_WORD}){{0,{_MAX_PREFIX_WORDS}}}+(?:pip\s{{1,20}}+)?"
    r"(?:i|install|add|remove|uninstall|get|upgrade|update|ci)\b"
    rf"|git\s{{1,20}}+(?:-{_WORD}{_WORD})?"
    r"(?:clone|commit|push|pull|checkout|switch|merge|rebase|reset|revert|restore|cherry-pick|tag|"
    r"stash|init|add|rm|mv|branch)\b"
    r"|(?:docker|docker-compose|podman|kubectl|helm|systemctl|service|launchctl|supervisorctl)\s++\S"
    r"|(?:rm|mv|cp|dd|ln|chmod|chown|truncate|mkdir|rmdir|kill)\s++\S"
    rf"|sed\s{{1,20}}+(?:-{_WORD}){{0,{_MAX_PREFIX_WORDS}}}-i"
    r")",
    re.MULTILINE,
)
_SUBJECT_NAMES = "file_path path filename file source command cmd script url name id query"
_SUBJECT_KEYS = tuple(_SUBJECT_NAMES.split())
_TARGET_KEYS = ("destination", "target", "to", "new_path")
_CALL_LINE = re.compile(r'- .*recall\(handle="(\d+)\.(\d+)"\)\s*')
_FAILED_TEXT = {"zh": "失败：", "en": "failed: "}


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalCall:
    """One call with its outcome."""

    #: Seq of the message that its handle names.
    seq: int
    #: Part that its handle names.
    part: int
    #: A list item that ends in the handle.
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """A call and its result."""

    #: Message and part of the call.
    at: Message
    part: int
    call: ToolCall
    #: None if it was not recorded.
    result: ToolResult | None
    #: Message and part of the result.
    answered: Message | None
    answered_part: int

    @property
    def failed(self) -> bool:
        return self.result is not None and self.result.is_error

    @property
    def handle(self) -> str:
        """Handle of the result for a failed call, otherwise of the call."""
        if self.failed and self.answered is not None:
            return part_handle(self.answered, self.answered_part)
        return part_handle(self.at, self.part)


def find_critical_calls(messages: Sequence[Message], lang: str, known: GroundingSource) -> tuple[CriticalCall, ...]:
    """The calls to keep, oldest first; of equal calls with equal outcome only the newest.

    Args:
        lang: "zh" or "en".
        known: the source; a line that it does not support is shortened.
    """
    newest: dict[tuple[str, str, bool], CriticalCall] = {}
    for outcome in call_outcomes(messages):
        if is_critical(outcome):
            key = (outcome.call.name, outcome_subject(outcome.call), outcome.failed)
            newest.pop(key, None)
            newest[key] = _make_critical(outcome, lang, known)
    return tuple(newest.values())


def carried_lines(before: str) -> tuple[CriticalCall, ...]:
    """The lines about calls in an earlier summary."""
    matches = map(_CALL_LINE.fullmatch, before.splitlines())
    return tuple(
        CriticalCall(seq=int(found[1]), part=int(found[2]), line=found[0].strip()) for found in matches if found
    )


def fitting_lines(calls: Iterable[CriticalCall], text: str, counter: TokenCounter, room: int) -> list[str]:
    """The newest lines within `room` tokens whose handle is not in the text, oldest first."""
    chosen: dict[tuple[int, int], str] = {}
    for call in sorted(calls, key=lambda call: (call.seq, call.part), reverse=True):
        cost = counter.text(call.line) + 1
        known = (call.seq, call.part) in chosen or f'recall(handle="{call.seq}.{call.part}")' in text
        if not known and cost <= room:
            chosen[call.seq, call.part] = call.line
            room -= cost
    return [chosen[at] for at in sorted(chosen)]


def call_outcomes(messages: Sequence[Message]) -> Iterator[CallOutcome]:
    """Every call with its result, in order."""
    results = {
        part.call_id: (message, number, part)
        for message in messages
        for number, part in enumerate(message.parts)
        if isinstance(part, ToolResult)
    }
    for message in messages:
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                answered, at, result = results.get(part.id, (None, 0, None))
                yield CallOutcome(
                    at=message, part=number, call=part, result=result, answered=answered, answered_part=at
                )


def is_critical(outcome: CallOutcome) -> bool:
    """Whether the call failed or changed something: a file, a repository, what is installed, a service."""
    words = {word.casefold() for word in _WORDS.findall(outcome.call.name)}
    if outcome.failed or words & _CHANGING_TOOLS:
        return True
    return bool(words & _SHELL_TOOLS) and _CHANGING_COMMAND.search(_command(outcome.call)) is not None


def outcome_subject(call: ToolCall) -> str:
    """What a call is about: its path, command or name, and its target; else its arguments on one line."""
    arguments = _arguments(call)
    about = next((str(arguments[key]) for key in _SUBJECT_KEYS if arguments.get(key)), "")
    target = next((str(arguments[key]) for key in _TARGET_KEYS if arguments.get(key)), "")
    subject = " → ".join(filter(None, (about, target))) if about else call.input.strip("{} ")
    return " ".join(subject.split())


def _command(call: ToolCall) -> str:
    arguments = _arguments(call)
    return "\n".join(str(value) for value in arguments.values()) if arguments else call.input


def _arguments(call: ToolCall) -> dict[str, object]:
    try:
        found = json.loads(call.input)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _make_critical(outcome: CallOutcome, lang: str, known: GroundingSource) -> CriticalCall:
    handle = outcome.handle
    seq, part = map(int, handle.split('"')[1].split("."))
    line = _describe_call(outcome, lang, known, MAX_LINE - len(f"-  {handle}"))
    return CriticalCall(seq=seq, part=part, line=f"- {line} {handle}")


def _describe_call(outcome: CallOutcome, lang: str, known: GroundingSource, room: int) -> str:
    """Call and outcome in one line; shorter if cutting it has made something that the source does not say."""
    name = _cut_at_word(outcome.call.name, _NAME_CHARS)
    about = _cut_at_word(outcome_subject(outcome.call), _SUBJECT_CHARS)
    result = first_line(outcome.result.text) if outcome.result else ""
    mark = _FAILED_TEXT[lang] if outcome.failed else "→ " * bool(result)
    start, end = f"{name} {about} {mark}", mark.strip(": ：→")
    forms = (f"{start}{_cut_at_word(result, room - len(start))}", f"{name} {about} {end}")
    return next((form for form in forms if not ground_text(form, known).dropped), f"{name} {end}").strip()


def _cut_at_word(text: str, most: int) -> str:
    """The beginning of a text, not ending inside a word."""
    if len(text) <= most:
        return text
    head = text[: max(0, most - 1)]
    space = max(head.rfind(" "), *(head.rfind(sign) + 1 for sign in "，。；、"))
    return f"{head[:space] if space > most // 3 else head}…"
