"""Describes the text of a tool result in one line by what kind of text it is, and names the fault
of a failed one.

Every word, name and number is the text's own, except for counts of what is in it. The time is
linear in the text.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from memory.text.bullets import fence_after
from memory.text.language import split_line
from memory.text.markdown import count_of
from memory.text.patterns import lazy_pattern

MAX_EXAMINED = 2_000_000  # characters; of a longer text only the start and the end are read
MAX_LINE = 300  # characters of one line that are examined
MAX_HEAD = 20_000  # characters of a text that are searched for numbers and a title
MAX_FACT = 110  # characters of one fact
MAX_VALUE = 40  # characters of one value, key, heading or name
MAX_NAMES = 6  # functions and classes, headings or keys that are named
MAX_STAMP_AT = 60  # characters of a log line before its time
JUDGED_LINES = 40  # first lines that decide what kind of text it is
TAB_LIKE = "\t,;|"

_PAGE_HEADER = lazy_pattern(
    r"\[[^\n]{1,400}?, lines (\d+-\d+ of \d+)(?:; more: offset=\d+)?\]\r?\n"
)
_NUMBER_SIGNS = "0123456789.,:/-"
_WORD_SIGNS = f"{_NUMBER_SIGNS}%+_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LANGUAGES = {
    "Python": "py pyi",
    "JavaScript": "js jsx mjs cjs",
    "TypeScript": "ts tsx",
    "Go": "go",
    "Rust": "rs",
    "Java": "java",
    "Kotlin": "kt",
    "C": "c h",
    "C++": "cc cpp hpp",
    "C#": "cs",
    "Ruby": "rb",
    "PHP": "php",
    "Swift": "swift",
    "shell": "sh bash",
    "SQL": "sql",
    "Vue": "vue",
    "CSS": "css",
    "Lua": "lua",
    "Scala": "scala",
}
_KINDS = {
    **_LANGUAGES,
    "markdown": "md markdown",
    "html": "html htm",
    "table": "csv tsv",
    "log": "log",
}
_KIND_BY_ENDING = {ending: name for name, endings in _KINDS.items() for ending in endings.split()}
_ENDING = lazy_pattern(r"\.([A-Za-z]{1,8})\b")
_DEFINITION = lazy_pattern(
    r"[ \t]*+(?:(?:export|default|pub(?:\([a-z]{1,9}\))?|public|private|protected|static|async|abstract|final|unsafe)"  # noqa: E501
    r"\s++)*+"
    r"(?P<what>def|function\*?|func|fn|class|interface|struct|enum|trait|create\s++table(?:\s++if\s++not\s++exists)?)\s++"
    r"(?:\([^)\n]{0,80}\)\s*+)?(?P<name>[^\W\d][\w$]{0,60})",
    re.IGNORECASE,
)
_ARROW = lazy_pattern(
    r"\s*+(?:export\s++)?(?:const|let)\s++(?P<name>[^\W\d][\w$]{0,60})\s*+=\s*+(?:async\s*+)?"
    r"(?:function\b|\([^)\n]{0,120}\)[^=\n]{0,40}=>|\w{1,40}\s*+=>)"
)
_TYPES = ("class", "interface", "struct", "enum", "trait")
_HEADING = lazy_pattern(r" {0,3}#{1,6}[ \t]+(.{0,200}?)[ \t#]*$")
_TITLE = lazy_pattern(r"<title[^>]{0,200}>([^<]{1,400})", re.IGNORECASE)
_FIRST_HEADING = lazy_pattern(r"<h1[^>]{0,200}>([^<]{1,400})", re.IGNORECASE)
_HTML_START = lazy_pattern(
    r"\s{0,100}(?:<!doctype html|<html\b|<head\b|<title\b|<body\b)", re.IGNORECASE
)
_STAMP = lazy_pattern(
    r"(?<!\d)(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d"
    r"|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?!\d)"
)
_ERROR_LEVEL = lazy_pattern(
    r"\b(?:ERROR|ERR|FATAL|CRITICAL|SEVERE|PANIC)\b|\blevel\"?[=:] ?\"?(?:error|fatal|critical)\b"
    r"|\[(?:error|fatal|crit)\]"
)
_WARNING_LEVEL = lazy_pattern(
    r"\bWARN(?:ING)?\b|\blevel\"?[=:] ?\"?warn(?:ing)?\b|\[warn(?:ing)?\]"
)
_LEVEL_START = lazy_pattern(r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b")
_LABELLED_NUMBER = lazy_pattern(
    r"[^\s,;，；。|{}\[\]()\"]{0,24}[:："
    r"=]?\s?\"?\d(?:[\d.,:/-]*\d)?\s?(?:%|[A-Za-z]{1,10}\b|[\u4e00-\u9fff]{0,2})"
)
_JSON_PAIR = lazy_pattern(
    r"\"([^\"\\\n]{1,40})\"\s{0,9}:\s{0,9}(\"[^\"\\\n"
    r"]{0,40}\"|(?:-?\d[\d.eE+-]{0,40}|true|false|null)(?![\w.]))"
)
_DIGITS = lazy_pattern(r"\d(?:[\d.,:/-]*\d)?")
TRACEBACK = "Traceback (most recent call last)"
_EXIT = lazy_pattern(
    r"\bexit(?:ed)?(?: with)?(?: status| code)?(?: of)?\s?[=:]?\s?-?[1-9]\d{0,9}\b", re.IGNORECASE
)
# What names a fault, the most telling first.
_FAULTS = (
    lazy_pattern(
        r"^(?:E |Uncaught |Caused by: |Exception in thread \S{1,40} "
        r")?[\w.$]{0,80}(?:Error|Exception)\b\s?[:(]"
    ),
    lazy_pattern(
        (
            r"^(?:fatal|error|panic|E:|npm ERR!)(?:\[\w{1,12}\])?[: ]|: (?:fatal )?error: "
            r"|\bpanicked at\b"
        ),
        re.IGNORECASE,
    ),
    lazy_pattern(
        r"permission denied|access denied|no such |not found|timed "
        r"out|timeout|refused|forbidden|unauthori[sz]ed|cannot |can't |could not |unable to "
        r"|invalid |权限|拒绝|找不到|不存在|超时|无法",
        re.IGNORECASE,
    ),
    lazy_pattern(r"(?<!\b0 )(?:error|fail|exception|denied)|错误|失败|异常", re.IGNORECASE),
)


def describe_result(text: str, about: str, max_chars: int) -> str:
    """Describe a text in at most `max_chars` characters, whole facts only.

    Args:
        about: path, address or command that the text came from; its ending tells the kind of text.
    """
    header = _PAGE_HEADER.match(text)
    body = text[header.end() :] if header else text
    line = _Line(max_chars)
    line.add(f"lines {header[1]}" if header else _size(text))
    if not body.strip():
        line.add("empty")
        return line.text
    if TRACEBACK in body:
        line.add(find_fault(body))
    kind = _kind(body, about)
    _DESCRIBERS.get(kind, _describe_code)(body, kind, line)
    return line.text


def _find_error_line(lines: Sequence[str]) -> str:
    """The first line of the surest form of an error message in a text; "" for none."""
    for pattern in _FAULTS:
        for line in lines:
            if line and pattern.search(line):
                return line
    return ""


def find_fault(text: str) -> str:
    """What went wrong, in the output's own words: the exception of a traceback, an error message,
    an exit status.
    """
    text = text[-MAX_EXAMINED:]
    lines = [_start(line) for line in text.splitlines()]
    fault = _traceback_end(text) or _find_error_line(lines)
    ended = next((line for line in reversed(lines) if _EXIT.search(line)), "")
    if not fault:
        return cut_text(ended or next(filter(None, lines), "no output"), MAX_FACT)
    found = _EXIT.search(ended)
    status = found[0] if found else ""
    return cut_text(fault, MAX_FACT) + (f" ({status})" if status and status not in fault else "")


def cut_text(text: str, limit: int) -> str:
    """The text, or its first words and an ellipsis: at most `limit` characters. No number is
    cut.
    """
    if len(text) <= limit:
        return text
    kept = text[: limit - 1]
    if not text[limit - 1].isspace():
        words = kept.rstrip(_WORD_SIGNS)
        kept = words if len(words) > limit // 2 else kept.rstrip(_NUMBER_SIGNS)
    return f"{kept.rstrip()}…"


class _Line:
    """A line that takes whole facts as long as they fit."""

    def __init__(self, max_chars: int) -> None:
        self.text = ""
        self._max_chars = max_chars

    @property
    def left(self) -> int:
        return self._max_chars - len(self.text) - 2

    def add(self, fact: str, between: str = ", ") -> bool:
        """Add a fact if it fits; return whether it did."""
        fact = " ".join("".join(sign if sign.isprintable() else " " for sign in fact).split())
        added = f"{self.text}{between}{fact}" if self.text else fact
        if not fact or len(added) > self._max_chars:
            return False
        self.text = added
        return True

    def add_list(self, facts: Iterable[str]) -> None:
        """Add a list after a colon, as far as it fits."""
        between = ": "
        for fact in facts:
            if not self.add(fact, between):
                return
            between = ", "


def _start(line: str) -> str:
    """The examined start of a line, with single spaces."""
    return " ".join(cut_text(line, MAX_LINE).split())


def _size(text: str) -> str:
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{lines} lines" if lines > 1 else f"{len(text)} characters"


def _kind(text: str, about: str) -> str:
    """The kind of a text: a name in _DESCRIBERS, or a programming language ("code" for an unknown
    one).
    """
    head = text[:MAX_LINE]
    if sum(map(_is_control, head)) > len(head) // 10:
        return "binary"
    if len(text) > MAX_EXAMINED:
        return "text"
    begins_json = text.lstrip("\ufeff \t\r\n").startswith(("{", "["))
    if begins_json and _parse_json(text) is not None:
        return "json"
    if _HTML_START.match(text):
        return "html"
    written = (line for line in _iter_lines(text) if line.strip())
    lines = [cut_text(line, MAX_LINE) for line in islice(written, JUDGED_LINES)]
    if len(lines) > 1 and _share(lines, _is_log_line) >= 0.6:
        return "log"
    return _kind_by_name(about) or _kind_of_lines(
        lines, is_part_of_json=begins_json and bool(_JSON_PAIR.search(cut_text(text, MAX_HEAD)))
    )


def _kind_by_name(about: str) -> str:
    """The kind that the last file ending known in a call's arguments stands for; "" for none."""
    for ending in reversed(_ENDING.findall(about)):
        if kind := _KIND_BY_ENDING.get(ending.lower()):
            return kind
    return ""


def _kind_of_lines(lines: list[str], *, is_part_of_json: bool) -> str:
    """The kind that the first lines of a text speak for."""
    if _delimiter(lines):
        return "table"
    headings = [line for line in lines if _HEADING.match(line)]
    if len(headings) > 1 or lines[0] in headings:
        return "markdown"
    if is_part_of_json:
        return "json part"
    defined = [line for line in lines if _definition(line) is not None]
    return "code" if lines[0].startswith("#!") or len(defined) > 1 else "text"


def _is_control(sign: str) -> bool:
    return not sign.isprintable() and not sign.isspace()


def _iter_lines(text: str) -> Iterator[str]:
    """The lines of a text, one at a time, without their ends."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end].rstrip("\r")
        start = end + 1


def _share(lines: list[str], holds: Callable[[str], object]) -> float:
    return sum(bool(holds(line)) for line in lines) / len(lines) if lines else 0.0


def _is_log_line(line: str) -> bool:
    return bool(_find_stamp(line) or _LEVEL_START.match(line.lstrip()))


def _find_stamp(line: str) -> str:
    """The time near the start of a log line, "" for none."""
    found = _STAMP.search(line)
    return found[0] if found and found.start() < MAX_STAMP_AT else ""


class _Number(str):
    """A number of a JSON text as it was written."""

    __slots__ = ()


def _parse_json(text: str) -> Any:
    try:
        return json.loads(
            text.strip("\ufeff \t\r\n"),
            parse_float=_Number,
            parse_int=_Number,
            parse_constant=_Number,
        )
    except (ValueError, RecursionError):
        return None


def _describe_binary(text: str, kind: str, line: _Line) -> None:
    line.add("binary data")


def _describe_json(text: str, kind: str, line: _Line) -> None:
    value = _parse_json(text)
    if isinstance(value, dict):
        line.add(f"JSON of {count_of(len(value), 'key')}")
        line.add_list(
            f"{_key(key)} {_json_value(item)}" for key, item in islice(value.items(), 2 * MAX_NAMES)
        )
    elif isinstance(value, list):
        line.add(f"JSON list of {count_of(len(value), 'item')}")
        first = value[0] if value else None
        if isinstance(first, dict):
            line.add_list(
                f"{_key(key)} {_json_value(item)}" for key, item in islice(first.items(), MAX_NAMES)
            )
        elif value:
            line.add_list(_json_value(item) for item in value[:MAX_NAMES])


def _describe_json_part(text: str, kind: str, line: _Line) -> None:
    """JSON that is cut, or one object a line: the first keys with plain values."""
    line.add("part of JSON")
    pairs = _JSON_PAIR.findall(cut_text(text, MAX_HEAD))
    line.add_list(f"{_key(key)} {value}" for key, value in pairs[: 2 * MAX_NAMES])


def _json_value(value: object) -> str:
    """A value; of an object its keys, of a list its length and the keys of its first object."""
    if isinstance(value, _Number):
        return cut_text(value, MAX_VALUE)
    if isinstance(value, str):
        return f'"{cut_text(" ".join(value.split()), MAX_VALUE)}"'
    if isinstance(value, dict):
        return f"({_keys(value)})"
    if isinstance(value, list):
        first = value[0] if value else None
        of = (
            f" of {_keys(first)}"
            if isinstance(first, dict)
            else f", first {_json_value(first)}"
            if value
            else ""
        )
        return f"({count_of(len(value), 'item')}{of})"
    return json.dumps(value)


def _keys(value: Mapping[str, object]) -> str:
    names = ", ".join(_key(key) for key in islice(value, 4))
    return f"{names}, … {len(value)} keys" if len(value) > 4 else names


def _key(key: str) -> str:
    return cut_text(" ".join(key.split()), MAX_VALUE)


def _describe_log(text: str, kind: str, line: _Line) -> None:
    first = last = first_error = first_warning = ""
    errors = warnings = 0
    for row in _iter_lines(text):
        row = cut_text(row, MAX_LINE)
        if stamp := _find_stamp(row):
            first, last = first or stamp, stamp
        if _ERROR_LEVEL.search(row):
            errors, first_error = errors + 1, first_error or row
        elif _WARNING_LEVEL.search(row):
            warnings, first_warning = warnings + 1, first_warning or row
    line.add(f"log {first} to {last}" if first else "log")
    line.add(count_of(errors, "error"))
    line.add(count_of(warnings, "warning"))
    if told := first_error or first_warning:
        said = " ".join(_STAMP.sub(" ", told, count=1).split())
        line.add_list([cut_text(said, max(2, min(MAX_FACT, line.left)))])


def _describe_markdown(text: str, kind: str, line: _Line) -> None:
    fence, headings = "", list[str]()
    for row in _iter_lines(text):
        after = fence_after(fence, row[:MAX_LINE])
        if not fence and not after and (found := _HEADING.match(row[:MAX_LINE])) and found[1]:
            headings.append(found[1])
        fence = after
    if not headings:
        _describe_text(text, kind, line)
        return
    line.add(count_of(len(headings), "heading"))
    line.add_list(cut_text(heading, MAX_VALUE) for heading in headings[:MAX_NAMES])
    _add_numbers(text, line)


def _definition(row: str) -> tuple[str, str] | None:
    """What a line of code defines, and its name."""
    if found := _DEFINITION.match(row):
        return found["what"].lower(), found["name"]
    arrow = _ARROW.match(row)
    return ("function", arrow["name"]) if arrow else None


def _describe_code(text: str, kind: str, line: _Line) -> None:
    exports, types, functions = 0, list[str](), list[str]()
    for row in _iter_lines(text):
        row = row[:MAX_LINE]
        exports += row.lstrip().startswith("export ")
        if found := _definition(row):
            (types if found[0] in _TYPES or found[0].startswith("create") else functions).append(
                found[1]
            )
    line.add(kind)
    for number, what in ((exports, "export"), (len(types), "type"), (len(functions), "function")):
        if number:
            line.add(count_of(number, what))
    names = list(dict.fromkeys([*types[: MAX_NAMES // 2], *functions, *types]))
    if names:
        line.add_list(names[:MAX_NAMES])
    else:
        _describe_text(text, kind, line)


def _delimiter(lines: list[str]) -> str:
    """What separates the columns of a table, "" for no table."""
    for sign in TAB_LIKE if len(lines) > 2 else "":
        if sign not in lines[0]:
            continue
        header, *rows = (_cells(line, sign) for line in lines[:8])
        is_regular = sum(len(row) == len(header) for row in rows) >= max(2, len(rows) - 1)
        if is_regular and (sign != "," or (len(header) > 2 and all(map(str.strip, header)))):
            return sign
    return ""


def _cells(line: str, sign: str) -> list[str]:
    if sign == "|":
        return line.strip().strip("|").split("|")
    try:
        return next(csv.reader([line], delimiter=sign), [])
    except csv.Error:  # such as a lone carriage return
        return []


def _describe_table(text: str, kind: str, line: _Line) -> None:
    lines = [row for row in _iter_lines(text) if row.strip()]
    sign = _delimiter([row[:MAX_LINE] for row in lines[:JUDGED_LINES]]) or ","
    if sign == "|":
        lines = [row for row in lines if row.strip("|+-: \t")]
        rows: Iterable[list[str]] = (_cells(row, sign) for row in lines if sign in row)
    else:
        rows = csv.reader(_iter_lines(text), delimiter=sign)
    try:
        columns, count = next(iter(rows), []), sum(any(map(str.strip, row)) for row in rows)
    except csv.Error:  # a cell over its limit, or bytes that are no text
        _describe_text(text, kind, line)
        return
    line.add(f"table of {count_of(count, 'row')}")
    line.add(count_of(len(columns), "column"))
    line.add_list(cut_text(" ".join(name.split()), MAX_VALUE) for name in columns)


def _describe_html(text: str, kind: str, line: _Line) -> None:
    from html import unescape  # its table of 2,200 names is .4 MB that an idle bot need not have

    found = [pattern.search(text[:MAX_HEAD]) for pattern in (_TITLE, _FIRST_HEADING)]
    titles = dict.fromkeys(" ".join(unescape(title[1]).split()) for title in found if title)
    line.add("HTML")
    if any(titles):
        line.add_list(cut_text(title, MAX_FACT) for title in titles)
    else:
        _describe_text(text, kind, line)


def _describe_text(text: str, kind: str, line: _Line) -> None:
    """The first sentence, a short last line with a number, and the first numbers with their
    labels.
    """
    opening = _start(text.lstrip().partition("\n")[0])
    sentences = split_line(opening)[1] or [opening]
    line.add(cut_text(sentences[0].strip().rstrip(".。"), max(2, min(MAX_FACT, line.left))))
    _, end, closing = text.strip()[-MAX_LINE:].rpartition("\n")
    if (
        end
        and closing not in line.text
        and len(closing) <= MAX_FACT
        and any(map(str.isdecimal, closing))
    ):
        line.add(closing)
    _add_numbers(text, line)


def _add_numbers(text: str, line: _Line) -> None:
    """Add the first numbers that are not in the line yet, with their labels."""
    for found in _LABELLED_NUMBER.finditer(cut_text(text, MAX_HEAD)):
        number = " ".join(found[0].split()).strip(' :："=')
        if not any(digits in line.text for digits in _DIGITS.findall(number)) and not line.add(
            number
        ):
            return


_DESCRIBERS: Mapping[str, Callable[[str, str, _Line], None]] = {
    "binary": _describe_binary,
    "json": _describe_json,
    "json part": _describe_json_part,
    "log": _describe_log,
    "markdown": _describe_markdown,
    "table": _describe_table,
    "html": _describe_html,
    "text": _describe_text,
}


def _traceback_end(text: str) -> str:
    """The exception at the end of the last traceback, "" for none."""
    start = text.rfind(TRACEBACK)
    if start < 0:
        return ""
    after = islice(_iter_lines(text[start:]), 1, None)
    return next((_start(row) for row in after if row.strip() and not row[0].isspace()), "")
