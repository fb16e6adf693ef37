"""Replaces forgotten sentences in texts, JSON and messages by a mark. Pure."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
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
# Time and speaker, or the name of a command; stays unless it is itself to be forgotten.
_SPEAKER_PREFIX = re.compile(r"\d\d:\d\d [^:：\n]{1,60}[:：]\s*|/[A-Za-z]\w*(?:@\w+)?\s+")
_INTERNAL_MARKS = re.compile(r"\s*(?:## .*<!-- fold [^<>]*-->|\[\+\d+ messages, digest\].*)\s*")
_FIXED_HEADINGS = frozenset(
    f"## {title}" for titles in HEADINGS.values() for title in titles.values()
)


def redact_text(text: str, matcher: MentionMatcher, *, near: bool = True) -> str:
    """Replace each sentence that matches by a mark, adjacent ones by one mark.

    List marks, heading marks, and time and speaker of a log line stay; the log's own headings are
    never changed.

    Args:
        near: see MentionMatcher.hits.
    """
    found = find_spans(text, matcher.query)
    if not found and not near:
        return text
    lines: list[str] = []
    at = 0
    for line in text.splitlines(keepends=True):
        in_line = [
            (begin - at, end - at) for begin, end in found if begin < at + len(line) and end > at
        ]
        lines.append(_redact_line(line, in_line, matcher, near=near))
        at += len(line)
    return "".join(lines)


def redact_json(text: str, matcher: MentionMatcher, *, near: bool = True) -> str:
    """Redact every string, key and number of a JSON text; other text is redacted as text."""
    if not near and not may_contain(text, matcher.query):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return redact_text(text, matcher, near=near)
    redacted = _redact_value(value, matcher, near=near)
    return text if redacted == value else json.dumps(redacted, ensure_ascii=False)


def redact_list(text: str, matcher: MentionMatcher) -> str:
    """Remove the lines that match from a JSON list."""
    lines = json.loads(text) if text else []
    left = [line for line in lines if not matcher.within(str(line))]
    return text if len(left) == len(lines) else json.dumps(left, ensure_ascii=False)


def redact_memory(text: str, matcher: MentionMatcher) -> str:
    """Remove the bullets that match from a MEMORY.md, and redact the prose between them."""
    for bullet in reversed(parse_bullets(text)):
        if matcher.within(bullet.text):
            text = remove_bullet(text, bullet)
    return redact_text(text, matcher)


def redact_parts(
    parts: tuple[Part, ...], matcher: MentionMatcher, *, near: bool = True
) -> tuple[Part, ...]:
    """Redact a message's parts; a signed thought that matches becomes a text, so the number of
    parts stays.
    """
    return tuple(_redact_part(part, matcher, near=near) for part in parts)


def mentioning_sentences(text: str, query: str) -> tuple[str, ...]:
    """The sentences of a text that mention the query, each on one line."""
    matcher, found = MentionMatcher(query=query), find_spans(text, query)
    sentences: dict[str, None] = {}
    at = 0
    for line in text.splitlines(keepends=True):
        for begin, end in _sentence_spans(line, 0):
            words = line[begin:end]
            if matcher.hits(words, literally=overlaps(found, at + begin, at + end), near=True):
                sentences[" ".join(words.split())] = None
        at += len(line)
    return tuple(sentences)


def has_only_marks(text: str) -> bool:
    """Whether a text consists only of marks and headings."""
    left = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return not any(map(str.isalnum, FORGOTTEN_MARK.sub("", left)))


def mark_for_language(words: str) -> str:
    """The mark in the language of the replaced words."""
    return FORGOTTEN_MARKS["zh" if CJK_CHARACTER.search(words) else "en"]


def _redact_part(part: Part, matcher: MentionMatcher, *, near: bool) -> Part:
    match part:
        case Text():
            by, text = (redact_text(words, matcher, near=near) for words in (part.by, part.text))
            return replace(part, by=by, text=text)
        case Document():
            name, text = (
                redact_text(words, matcher, near=near) for words in (part.name, part.text)
            )
            return replace(part, name=name, text=text)
        case ToolCall():
            return replace(part, input=redact_json(part.input, matcher, near=near))
        case ToolResult():
            structured = part.text.lstrip().startswith(("{", "["))
            redact = redact_json if structured else redact_text
            return replace(part, text=redact(part.text, matcher, near=near))
        case Thinking():
            redacted = part.text if part.redacted else redact_text(part.text, matcher, near=near)
            return part if redacted == part.text else Text(text=mark_for_language(part.text))
        case Image():
            return part


def _redact_value(value: Any, matcher: MentionMatcher, *, near: bool) -> Any:
    if isinstance(value, dict):
        return {
            redact_text(key, matcher, near=near): _redact_value(item, matcher, near=near)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_redact_value(item, matcher, near=near) for item in value]
    if isinstance(value, str):
        return redact_text(value, matcher, near=near)
    if isinstance(value, int | float) and not isinstance(value, bool):
        redacted = redact_text(json.dumps(value), matcher, near=near)
        return redacted if FORGOTTEN_MARK.fullmatch(redacted) else value
    return value


def _redact_line(line: str, found: Spans, matcher: MentionMatcher, *, near: bool) -> str:
    if _INTERNAL_MARKS.fullmatch(line) or line.strip() in _FIXED_HEADINGS:
        return line
    at = _words_start(line, found)
    pieces, after_mark = [line[:at]], False
    for begin, end in _sentence_spans(line, at):
        words = line[begin:end]
        forgotten = matcher.hits(words, literally=overlaps(found, begin, end), near=near)
        is_mark = FORGOTTEN_MARK.fullmatch(words) is not None
        if not (after_mark and (forgotten or is_mark)):
            pieces.append(line[at:begin] + (mark_for_language(words) if forgotten else words))
        at, after_mark = end, forgotten or is_mark
    return "".join((*pieces, line[at:]))


def _words_start(line: str, found: Spans) -> int:
    """Where the words of a line begin, after the prefixes that stay."""
    heading = _HEADING.match(line)
    begin = heading.end() if heading else len(split_line(line)[0])
    spoken = _SPEAKER_PREFIX.match(line, begin)
    return spoken.end() if spoken and not overlaps(found, begin, spoken.end()) else begin


def _sentence_spans(line: str, begin: int) -> Iterator[tuple[int, int]]:
    """(start, end) of each sentence from `begin` on, without surrounding space."""
    marker, sentences = split_line(line[begin:].rstrip())
    at = begin
    for number, sentence in enumerate(sentences):
        words = (sentence if number else marker + sentence).strip()
        at = line.index(words, at)
        yield at, at + len(words)
        at += len(words)
