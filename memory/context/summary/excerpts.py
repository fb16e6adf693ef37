"""Shortens what people and the bot said for the daily log: sentences stay whole, pasted data
becomes one label.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from memory.context.reductions import part_handle
from memory.context.summary.grounding import GroundingSource, has_facts
from memory.context.summary.transcript import Utterance
from memory.conversation import Document
from memory.text.bullets import fence_after
from memory.text.language import split_line
from memory.text.normalize import normalize_text
from memory.text.quoting import shorten

Lang = Literal["zh", "en"]
DataKind = Literal["code", "table", "data", "log"]

MAX_OPENING = 80  # characters of a shortened sentence's beginning
MAX_HINT = 60  # characters that say what pasted data is about
# characters; a longer text is pasted, not said, and becomes its beginning, its end and a handle
MAX_PROSE = 20_000
EDGE_CHARS = 200  # characters of that beginning and end
# lines; fewer of them stay as they are
MIN_CODE_LINES, MIN_TABLE_ROWS, MIN_VALUE_ROWS, MIN_FENCED = 4, 3, 4, 3
MAX_CELL_WORDS = 6  # of one cell of pasted rows; with more it is prose with commas
MAX_SOLID = 400  # characters of one line of JSON, markup or base64 that stays as it is

_CODE_LINE = re.compile(
    r"\s*(?:import |from \S+ import |(?:async )?def |class \w|function\b|const |let |var "
    r"|return\b|(?:if|for|while) ?\(|else\b|elif |try:|except\b|#include|public |private |package "
    r"|SELECT |INSERT |UPDATE |CREATE |@\w|//|/\*|\*/|#!|[{}\[\]()]+[,;]?\s*$|</?\w|\"[^\"]+\":\s)"
    r"|.*[;{}]\s*$|.*\)\s*[:{]\s*$|(?: {4}|\t)\s*\S|[\w.\[\]]+ = \S"
)
_LOG_LINE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T "
    r"]\d\d:\d\d|\d\d:\d\d:\d\d|\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b|at \S+[(:]|File "
    r"\"|Traceback |\w*(?:Error|Exception): )"
)
_ERROR_LINE = re.compile(
    r"(?:error|exception)(?![a-z])|(?<![a-z])(?:fatal|failed|failure)(?![a-z])|错误|失败|异常",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)、])\s")
_ITEM_MARK = re.compile(r"^(?:#{1,6}|>)\s+")
_CLAUSE = re.compile(r"[^,;，；、]+(?:[,;，；、]+\s*|$)")
_SENTENCE_END = re.compile(r"[.!?。！？]\s*$")
_DELIMITERS = ",\t;"
_KINDS: Mapping[Lang, Mapping[DataKind, str]] = {
    "zh": {"code": "代码", "table": "表格", "data": "数据", "log": "日志"},
    "en": {"code": "code", "table": "table", "data": "data", "log": "output"},
}
_LANGUAGES_OF_DATA = frozenset({"csv", "tsv", "json", "yaml", "xml", "toml"})
_LANGUAGES_OF_LOGS = frozenset({"console", "log", "output", "text", "txt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LogExcerpt:
    """One sentence of an utterance, or the label of its pasted data."""

    text: str
    #: It stands for a block of data, whose handle it has.
    is_label: bool = False
    #: It begins an item of a list.
    is_item: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Lines of prose (kind ""), or pasted data."""

    lines: tuple[str, ...]
    kind: DataKind | Literal[""] = ""
    #: Info string of its fence.
    language: str = ""


def excerpts(said: Utterance, lang: Lang) -> list[LogExcerpt]:
    """The sentences of an utterance in order; data in it, a file and a pasted text become one label
    each.
    """
    handle = part_handle(said.message, said.part)
    part = said.message.parts[said.part]
    if isinstance(part, Document):
        return [LogExcerpt(text=f"[{_file_label(part, lang)}; {handle}]", is_label=True)]
    blocks = list(_split_blocks(said.text.splitlines()))
    if sum(len(line) for block in blocks if not block.kind for line in block.lines) > MAX_PROSE:
        return _edges(said.text, handle, lang)
    found: list[LogExcerpt] = []
    for block in blocks:
        if block.kind:
            found.append(LogExcerpt(text=_data_label(block, handle, lang), is_label=True))
        else:
            for line in block.lines:
                is_item = _BULLET.match(line) is not None
                found += [
                    LogExcerpt(text=text, is_item=is_item and not at)
                    for at, text in enumerate(_sentences(line))
                ]
    return found


def without_data(text: str) -> str:
    """The prose of a text: its lines without pasted code, tables and output."""
    return "\n".join(
        line for block in _split_blocks(text.splitlines()) if not block.kind for line in block.lines
    )


def shorten_sentence(sentence: str, most: int) -> str:
    """A longer sentence cut after its last fact, or to its beginning and its clauses with facts;
    none may be lost.
    """
    if len(sentence) <= most:
        return sentence
    wanted = normalize_text(sentence)
    for short in sorted(
        (_beginning(sentence, wanted, most), _clauses_with_facts(sentence)), key=len
    ):
        if len(short) < len(sentence) and GroundingSource(short).has_all(wanted):
            return short
    return sentence


def _beginning(sentence: str, wanted: str, most: int) -> str:
    """The shortest beginning, in steps of half of `most`, that has all facts."""
    for end in range(most, len(sentence), max(1, most // 2)):
        head = sentence[:end]
        if sentence[end - 1].isascii() and " " in head:
            head = head[: head.rindex(" ")]
        if GroundingSource(head).has_all(wanted):
            return f"{head.rstrip()}…"
    return sentence


def _clauses_with_facts(sentence: str) -> str:
    clauses = [found[0] for found in _CLAUSE.finditer(sentence)]
    pieces = [clauses[0] if has_facts(clauses[0]) else shorten(clauses[0], MAX_OPENING)]
    gap = pieces[0] != clauses[0]
    for clause in clauses[1:]:
        if not has_facts(clause):
            gap = True
            continue
        pieces.append(f"… {clause}" if gap and not pieces[-1].endswith("…") else clause)
        gap = False
    return "".join(pieces).strip() + "…" * gap


def _sentences(line: str) -> Iterator[str]:
    for part in split_line(_ITEM_MARK.sub("", line.strip()))[1]:
        if text := " ".join(part.split()):
            yield text


def _edges(text: str, handle: str, lang: Lang) -> list[LogExcerpt]:
    """Beginning and end of a long text around a label."""
    plain = " ".join(text.split())
    kind = f"长文，{len(text)} 字" if lang == "zh" else f"long text, {len(text)} characters"
    head, tail = plain[:EDGE_CHARS].rsplit(" ", 1)[0], plain[-EDGE_CHARS:].split(" ", 1)[-1]
    return [LogExcerpt(text=f"{head}… [{kind}; {handle}] …{tail}", is_label=True)]


def _file_label(part: Document, lang: Lang) -> str:
    if lang == "zh":
        return f"文件 {part.name}，{len(part.text)} 字" if part.text else f"文件 {part.name}"
    return f"file {part.name}, {len(part.text)} characters" if part.text else f"file {part.name}"


def _data_label(block: _Block, handle: str, lang: Lang) -> str:
    """What the data is: kind, size, language, its most telling line, and the handle to all of
    it.
    """
    name, comma = _KINDS[lang][block.kind or "data"], "，" if lang == "zh" else ", "
    count = len(block.lines)
    size = f"{count} 行" if lang == "zh" else f"{count} line{'s' * (count != 1)}"
    about = comma.join(filter(None, (name, size, block.language[:20])))
    return f"[{about}: {_telling_line(block)}; {handle}]"


def _telling_line(block: _Block) -> str:
    """The first line that names an error in output, else the first line with words."""
    lines = [" ".join(line.replace("[", "(").replace("]", ")").split()) for line in block.lines]
    worded = [line for line in lines if any(map(str.isalpha, line))] or lines
    errors = (
        (line for line in worded if _ERROR_LINE.search(line)) if block.kind == "log" else iter(())
    )
    return shorten(next(errors, worded[0]), MAX_HINT)


def _split_blocks(lines: Sequence[str]) -> Iterator[_Block]:
    """Fenced code, tables, rows of values, code and output without a fence; and the prose between
    them.
    """
    at, prose = 0, list[str]()
    while at < len(lines):
        block, end = _data_block(lines, at)
        if block is None:
            prose.append(lines[at])
            at += 1
            continue
        if prose:
            yield _Block(lines=tuple(prose))
            prose = []
        yield block
        at = end
    if prose:
        yield _Block(lines=tuple(prose))


def _data_block(lines: Sequence[str], at: int) -> tuple[_Block | None, int]:
    """The data that begins at this line, with the index of the line after it."""
    if fence := fence_after("", lines[at]):
        return _fenced_block(lines, at, fence)
    rest = lines[at:]
    for kind, count in (
        ("table", _table_rows(rest)),
        ("data", _value_rows(rest)),
        ("data", _solid_line(lines[at])),
    ):
        if count:
            return _Block(lines=tuple(lines[at : at + count]), kind=kind), at + count  # type: ignore[arg-type]
    if count := _code_lines(rest):
        block = tuple(line for line in lines[at : at + count] if line.strip())
        return _Block(lines=block, kind="log" if _is_output(block) else "code"), at + count
    return None, at


def _fenced_block(lines: Sequence[str], at: int, fence: str) -> tuple[_Block, int]:
    """A fenced block; one of a line or two is a command or a quotation, and stays as prose."""
    end = at + 1
    while end < len(lines) and fence_after(fence, lines[end]):
        end += 1
    inside = tuple(line for line in lines[at + 1 : end] if line.strip())
    if len(inside) < MIN_FENCED and sum(map(len, inside)) <= MAX_SOLID:
        return _Block(lines=inside), end + 1
    words = lines[at].strip().strip("`~").split()
    language = words[0].casefold() if words else ""
    kind: DataKind = (
        "data"
        if language in _LANGUAGES_OF_DATA
        else "log"
        if _is_output(inside, language)
        else "code"
    )
    return _Block(lines=inside, kind=kind, language=language if kind != "log" else ""), end + 1


def _is_output(lines: Sequence[str], language: str = "") -> bool:
    """Whether code is what a program printed: by the fence's language, else by its lines."""
    if language:
        return language in _LANGUAGES_OF_LOGS
    return sum(_LOG_LINE.match(line) is not None for line in lines) * 2 >= len(lines)


def _table_rows(lines: Sequence[str]) -> int:
    rows = sum(
        1
        for _ in takewhile(lambda line: line.strip().startswith("|") or line.count("|") > 1, lines)
    )
    return rows if rows >= MIN_TABLE_ROWS else 0


def _value_rows(lines: Sequence[str]) -> int:
    """How many lines from here are rows of short values with the same delimiters."""
    for delimiter in _DELIMITERS:
        columns = lines[0].count(delimiter)
        if columns < (1 if delimiter == "\t" else 2):
            continue

        def is_row(line: str, delimiter: str = delimiter, columns: int = columns) -> bool:
            return (
                line.count(delimiter) == columns
                and not _SENTENCE_END.search(line)
                and not _BULLET.match(line)
                and all(len(cell.split()) <= MAX_CELL_WORDS for cell in line.split(delimiter))
            )

        rows = sum(1 for _ in takewhile(is_row, lines))
        if rows >= MIN_VALUE_ROWS:
            return rows
    return 0


def _solid_line(line: str) -> int:
    """1 for a line that is one long value."""
    if len(line) <= MAX_SOLID:
        return 0
    return int(
        line.lstrip()[:1] in ("{", "[", "<")
        or (max(map(len, line.split())) > MAX_SOLID and line.isascii())
    )


def _code_lines(lines: Sequence[str]) -> int:
    """How many lines from here are code or output; blank lines may stand between them."""
    count = found = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if _BULLET.match(line) or not (_LOG_LINE.match(line) or _CODE_LINE.match(line)):
            break
        count, found = number, found + 1
    return count if found >= MIN_CODE_LINES else 0
