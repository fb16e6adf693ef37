"""Finds the tool calls that a summary must keep, one line each: changes, installations, commits and
failures.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory.context.reductions import name_handles, part_handle
from memory.context.summary.grounding import GroundingSource, ground_text
from memory.context.taint import NOTE_TOOL
from memory.context.tokens import TokenCounter
from memory.conversation import Message, ToolCall, ToolResult, inner_call
from memory.text.quoting import first_line
from memory.text.result_description import find_fault

MAX_LINE = 200  # characters of a line with its handle
_SUBJECT_CHARS, _NAME_CHARS, _BRIEF_CHARS = 90, 40, 60
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CHANGING_WORDS = (
    "write edit multiedit delete remove move rename patch replace create append insert overwrite "
    "copy upload"
)
_CHANGING_TOOLS = frozenset(_CHANGING_WORDS.split())
_READING_TOOLS = frozenset(
    {"fetch", "find", "get", "glob", "grep", "list", "open", "read", "search", "show", "view"}
)
_SHELL_TOOLS = frozenset(
    {"bash", "shell", "sh", "exec", "execute", "run", "terminal", "command", "cmd", "powershell"}
)
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
_CALL_LINE = re.compile(r'- (?P<name>\S*).*recall\(handle="(?P<seq>\d+)\.(?P<part>\d+)"\)\s*')
_JSON_SIGNS = re.compile(r'[{}\[\]"]')
_MAX_DEPTH = 5  # of arguments within arguments that a line names
MAX_RESULT = 8_000  # characters of a result that are searched for the line that says it is done
MAX_FAULT_TEXT = 100_000  # last characters of a failed result that are searched for its fault
# Installers list what they load before they say what they did.
_DONE_LINE = re.compile(
    r"\s*(?:successfully |added \d|installed |安装成功|已安装|成功)", re.IGNORECASE
)
_PREPOSITIONS = frozenset({"in", "to", "at", "from", "of"})
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
    #: The item for a file that several conversations share, from short to full: call, call with
    #: handle, all.
    logged: tuple[str, ...] = ()
    #: Name of the tool.
    tool: str = ""
    #: What it is about, see outcome_subject.
    subject: str = ""
    failed: bool = False


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


def find_critical_calls(
    messages: Sequence[Message], lang: str, known: GroundingSource, key: str = ""
) -> tuple[CriticalCall, ...]:
    """The calls to keep, oldest first; of equal calls with equal outcome only the newest.

    Args:
        lang: "zh" or "en".
        known: the source; a line that it does not support is shortened.
        key: name of the conversation in handles of the log.
    """
    newest: dict[tuple[str, str, bool], CriticalCall] = {}
    for outcome in call_outcomes(messages):
        if is_critical(outcome):
            same = (outcome.call.name, outcome_subject(outcome.call), outcome.failed)
            newest.pop(same, None)
            newest[same] = _make_critical(outcome, lang, known, key)
    return tuple(newest.values())


def carried_lines(before: str) -> tuple[CriticalCall, ...]:
    """The lines about calls in an earlier summary that later ones need, too.

    That something could not be read is in one summary only.
    """
    matches = map(_CALL_LINE.fullmatch, before.splitlines())
    return tuple(
        CriticalCall(seq=int(found["seq"]), part=int(found["part"]), line=found[0].strip())
        for found in matches
        if found and may_change(found["name"])
    )


def fitting_lines(
    calls: Iterable[CriticalCall], text: str, counter: TokenCounter, budget: int
) -> list[str]:
    """The newest lines within `budget` tokens whose handle is not in the text, oldest first."""
    chosen: dict[tuple[int, int], str] = {}
    for call in sorted(calls, key=lambda call: (call.seq, call.part), reverse=True):
        cost = counter.text(call.line) + 1
        known = (
            call.seq,
            call.part,
        ) in chosen or f'recall(handle="{call.seq}.{call.part}")' in text
        if not known and cost <= budget:
            chosen[call.seq, call.part] = call.line
            budget -= cost
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
                    at=message,
                    part=number,
                    call=inner_call(part),
                    result=result,
                    answered=answered,
                    answered_part=at,
                )


def is_critical(outcome: CallOutcome) -> bool:
    """Whether the call failed or changed something: a file, a repository, what is installed, a
    service.
    """
    words = _words_of(outcome.call.name)
    if outcome.failed or words & _CHANGING_TOOLS:
        return True
    return (
        bool(words & _SHELL_TOOLS) and _CHANGING_COMMAND.search(_command(outcome.call)) is not None
    )


def may_change(tool: str) -> bool:
    """Whether a tool is none that only reads, by its name."""
    return bool(_words_of(tool) & (_CHANGING_TOOLS | _SHELL_TOOLS))


def only_reads(tool: str) -> bool:
    """Whether a tool says by its name that it only reads: that it failed is no event of a day."""
    return bool(_words_of(tool) & _READING_TOOLS) and not may_change(tool)


def _words_of(tool: str) -> set[str]:
    return {word.casefold() for word in _WORDS.findall(tool)}


def outcome_subject(call: ToolCall) -> str:
    """What a call is about: its path, command or name, and its target; else its arguments in words
    on one line.
    """
    arguments = _arguments(call)
    about = next((_in_words(arguments[key]) for key in _SUBJECT_KEYS if arguments.get(key)), "")
    target = next((_in_words(arguments[key]) for key in _TARGET_KEYS if arguments.get(key)), "")
    subject = " → ".join(filter(None, (about, target))) if about else _in_words(arguments)
    if not subject:  # broken arguments
        subject = _JSON_SIGNS.sub(" ", call.input)
    return " ".join(subject.split())


def _in_words(value: object, depth: int = 0) -> str:
    """Arguments without the marks of JSON: "pattern x, glob *.py"."""
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(inner, depth + 1)}" for key, inner in value.items())
    if isinstance(value, list):
        return " ".join(_in_words(inner, depth + 1) for inner in value)
    return str(value)


def _command(call: ToolCall) -> str:
    arguments = _arguments(call)
    return "\n".join(str(value) for value in arguments.values()) if arguments else call.input


def _arguments(call: ToolCall) -> dict[str, object]:
    try:
        found = json.loads(call.input)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _make_critical(
    outcome: CallOutcome, lang: str, known: GroundingSource, key: str
) -> CriticalCall:
    handle = outcome.handle
    seq, part = map(int, handle.split('"')[1].split("."))
    named, most = name_handles(handle, key), MAX_LINE - len("-  ")
    line, full = (
        f"- {_describe_call(outcome, lang, known, most - len(where))} {where}"
        for where in (handle, named)
    )
    mark = f" {_FAILED_TEXT[lang].strip(': ：')}" if outcome.failed else ""
    brief = f"- {_cut_at_word(f'{outcome.call.name} {outcome_subject(outcome.call)}', _BRIEF_CHARS)}{mark}"  # noqa: E501
    return CriticalCall(
        seq=seq,
        part=part,
        line=line,
        logged=(brief, f"{brief} {named}", full),
        tool=outcome.call.name,
        subject=outcome_subject(outcome.call),
        failed=outcome.failed,
    )


def _describe_call(outcome: CallOutcome, lang: str, known: GroundingSource, max_chars: int) -> str:
    """Call and outcome in one line; shorter if cutting it has made something that the source does
    not say.
    """
    name = _cut_at_word(outcome.call.name, _NAME_CHARS)
    # A refused note may hold words from outside: it is named without them.
    is_refused_note = outcome.failed and outcome.call.name == NOTE_TOOL
    subject = outcome_subject(outcome.call)
    result = (
        _telling_line(outcome)
        if outcome.failed
        else _without_subject(_telling_line(outcome), subject)
    )
    mark = "→ " if result else ""
    if outcome.failed:
        mark = _FAILED_TEXT[lang]
    most = min(_SUBJECT_CHARS, max_chars - len(f"{name}  {mark}"))
    about = "" if is_refused_note else _cut_at_word(subject, most)
    named = f"{name} {about}".strip()
    start, end = f"{named} {mark}", mark.strip(": ：→")
    forms = (f"{start}{_cut_at_word(result, max_chars - len(start))}", f"{named} {end}")
    return next(
        (form for form in forms if not ground_text(form, known).dropped), f"{name} {end}"
    ).strip()


def _telling_line(outcome: CallOutcome) -> str:
    """The fault of a failed call; of another one the line that says it is done, else its first
    line.
    """
    text = outcome.result.text if outcome.result else ""
    if outcome.failed:
        return first_line(find_fault(text[-MAX_FAULT_TEXT:])) if text.strip() else ""
    done = (line for line in text[-MAX_RESULT:].splitlines() if _DONE_LINE.match(line))
    return first_line(next(done, text[:MAX_RESULT]))


def _without_subject(result: str, subject: str) -> str:
    """Drop the words of a result that only repeat what the call was about: "wrote 40 bytes to
    notes.md".
    """
    before, found, after = result.partition(subject) if subject else (result, "", "")
    if not found:
        return result
    words = before.rstrip().rpartition(" ")
    return f"{words[0] if words[2] in _PREPOSITIONS else before.rstrip()}{after}".strip()


def _cut_at_word(text: str, most: int) -> str:
    """The beginning of a text, not ending inside a word."""
    if len(text) <= most:
        return text
    head = text[: max(0, most - 1)]
    space = max(head.rfind(" "), *(head.rfind(sign) + 1 for sign in "，。；、"))
    return f"{head[:space] if space > most // 3 else head}…"
