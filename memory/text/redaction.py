"""Replaces forgotten sentences in texts, JSON and messages by a mark. Pure."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from memory.conversation import Document, Image, Part, Text, Thinking, ToolCall, ToolResult
from memory.text.bullets import parse_bullets, remove_bullet
from memory.text.language import CJK_CHARACTER, HEADINGS, split_line
from memory.text.mentions import (
    FORGOTTEN_MARK,
    FORGOTTEN_MARKS,
    MentionMatcher,
    Spans,
    find_spans,
    may_contain,
    overlaps,
)

_HEADING = re.compile(r"\s*#{1,6}\s+")
# Time and speaker, or the name of a command; kept unless it is itself to be forgotten.
_SPEAKER_PREFIX = re.compile(r"\d\d:\d\d [^:：\n]{1,60}[:：]\s*|/[A-Za-z]\w*(?:@\w+)?\s+")
_INTERNAL_MARKS = re.compile(r"\s*(?:## .*<!-- fold [^<>]*-->|\[\+\d+ messages, digest\].*)\s*")
_FIXED_HEADINGS = frozenset(f"## {title}" for titles in HEADINGS.values() for title in titles.values())


@dataclass(frozen=True, slots=True)
class _SentenceSpan:
    """Start and end of a sentence in a line."""

    begin: int
    end: int


def redact_text(text: str, needle: MentionMatcher, *, near: bool = True) -> str:
    """Replace each sentence that mentions it by a mark, adjacent ones by one mark.

    List marks, heading marks, and time and speaker of a log line stay; the log's own headings are never changed.

    Args:
        near: also replace sentences that say it in other words or repeat what is to be forgotten.
    """
    found = find_spans(text, needle.query)
    if not found and not near:
        return text
    lines: list[str] = []
    at = 0
    for line in text.splitlines(keepends=True):
        here = [(begin - at, end - at) for begin, end in found if begin < at + len(line) and end > at]
        lines.append(_redact_line(line, here, needle, near=near))
        at += len(line)
    return "".join(lines)


def redact_json(text: str, needle: MentionMatcher, *, near: bool = True) -> str:
    """Redact every string, key and number of a JSON text; other text is redacted as text."""
    if not near and not may_contain(text, needle.query):
        return text
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return redact_text(text, needle, near=near)
    fresh = _redact_value(held, needle, near=near)
    return text if fresh == held else json.dumps(fresh, ensure_ascii=False)


def redact_list(text: str, needle: MentionMatcher) -> str:
    """Remove the lines that mention it from a JSON list."""
    held = json.loads(text) if text else []
    kept = [line for line in held if not needle.within(str(line))]
    return text if len(kept) == len(held) else json.dumps(kept, ensure_ascii=False)


def redact_memory(text: str, needle: MentionMatcher) -> str:
    """Remove whole bullets that mention it from a MEMORY.md, and redact the prose between them."""
    for bullet in reversed(parse_bullets(text)):
        if needle.within(bullet.text):
            text = remove_bullet(text, bullet)
    return redact_text(text, needle)


def redact_parts(parts: tuple[Part, ...], needle: MentionMatcher, *, near: bool = True) -> tuple[Part, ...]:
    """Redact a message's parts; their number stays, and a signed thought that mentions it becomes a text."""
    return tuple(_redact_part(part, needle, near=near) for part in parts)


def mentioning_sentences(text: str, query: str) -> tuple[str, ...]:
    """The sentences of a text that mention the query, each on one line."""
    needle, found = MentionMatcher(query=query), find_spans(text, query)
    told: list[str] = []
    at = 0
    for line in text.splitlines(keepends=True):
        for unit in _sentence_spans(line, 0):
            words = line[unit.begin : unit.end]
            if needle.hits(words, literally=overlaps(found, at + unit.begin, at + unit.end), near=True):
                told.append(" ".join(words.split()))
        at += len(line)
    return tuple(dict.fromkeys(told))


def has_only_marks(text: str) -> bool:
    """Whether a text consists only of marks and headings."""
    left = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return not any(map(str.isalnum, FORGOTTEN_MARK.sub("", left)))


def mark_for_language(words: str) -> str:
    """The mark in the language of the replaced words."""
    return FORGOTTEN_MARKS["zh" if CJK_CHARACTER.search(words) else "en"]


def _redact_part(part: Part, needle: MentionMatcher, *, near: bool) -> Part:
    match part:
        case Text():
            by, text = (redact_text(words, needle, near=near) for words in (part.by, part.text))
            return replace(part, by=by, text=text)
        case Document():
            name, text = (redact_text(words, needle, near=near) for words in (part.name, part.text))
            return replace(part, name=name, text=text)
        case ToolCall():
            return replace(part, input=redact_json(part.input, needle, near=near))
        case ToolResult():
            return replace(part, text=_redact_result(part.text, needle, near=near))
        case Thinking():
            fresh = part.text if part.redacted else redact_text(part.text, needle, near=near)
            return part if fresh == part.text else Text(text=mark_for_language(part.text))
        case Image():
            return part


def _redact_result(text: str, needle: MentionMatcher, *, near: bool) -> str:
    structured = text.lstrip().startswith(("{", "["))
    return (redact_json if structured else redact_text)(text, needle, near=near)


def _redact_value(held: Any, needle: MentionMatcher, *, near: bool) -> Any:
    if isinstance(held, dict):
        return {
            redact_text(name, needle, near=near): _redact_value(one, needle, near=near) for name, one in held.items()
        }
    if isinstance(held, list):
        return [_redact_value(one, needle, near=near) for one in held]
    if isinstance(held, str):
        return redact_text(held, needle, near=near)
    if isinstance(held, int | float) and not isinstance(held, bool):
        fresh = redact_text(json.dumps(held), needle, near=near)
        return fresh if FORGOTTEN_MARK.fullmatch(fresh) else held
    return held


def _redact_line(line: str, found: Spans, needle: MentionMatcher, *, near: bool) -> str:
    if _INTERNAL_MARKS.fullmatch(line) or line.strip() in _FIXED_HEADINGS:
        return line
    begin = _words_start(line, found)
    pieces, at, gone = [line[:begin]], begin, False
    for unit in _sentence_spans(line, begin):
        words = line[unit.begin : unit.end]
        goes = needle.hits(words, literally=overlaps(found, unit.begin, unit.end), near=near)
        ours = FORGOTTEN_MARK.fullmatch(words) is not None
        if not (gone and (goes or ours)):
            pieces.append(line[at : unit.begin] + (mark_for_language(words) if goes else words))
        at, gone = unit.end, goes or ours
    return "".join((*pieces, line[at:]))


def _words_start(line: str, found: Spans) -> int:
    """Where the words of a line begin, behind the prefixes that are kept."""
    heading = _HEADING.match(line)
    begin = heading.end() if heading else len(split_line(line)[0])
    spoken = _SPEAKER_PREFIX.match(line, begin)
    return spoken.end() if spoken and not overlaps(found, begin, spoken.end()) else begin


def _sentence_spans(line: str, begin: int) -> Iterator[_SentenceSpan]:
    """The sentences from `begin` on, without surrounding space."""
    marker, sentences = split_line(line[begin:].rstrip())
    at = begin
    for number, sentence in enumerate(sentences):
        words = (sentence if number else marker + sentence).strip()
        at = line.index(words, at)
        yield _SentenceSpan(at, at + len(words))
        at += len(words)
