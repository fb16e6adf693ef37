"""Validates a fold's texts against its messages; a model's texts that fail are replaced by extracts."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Literal

from memory.context.summary import sections
from memory.context.summary.critical_calls import CriticalCall, carried_lines, find_critical_calls, fitting_lines
from memory.context.summary.extractive import (
    Emphasis,
    detect_language,
    extractive_log,
    extractive_summary,
    find_constraints,
)
from memory.context.summary.grounding import GroundedText, GroundingSource, ground_text, is_mentioned, missing_sentences
from memory.context.summary.importance import message_weights
from memory.context.summary.transcript import (
    Utterance,
    is_tool_utterance,
    list_utterances,
    shorten_utterance,
    utterance_line,
    write_turns,
)
from memory.context.taint import CLEAN_FOLD, FoldLabel
from memory.context.tokens import TokenCounter
from memory.conversation import Message
from memory.text.language import HEADINGS

MAX_DROPPED_SHARE = 0.25
MAX_OVERLENGTH = 1.25  # of the limit; a longer summary is replaced instead of trimmed
CALLS_SHARE = 4  # critical calls may take 1/4 of the summary's tokens
MAX_TOOL_LOGGED = 1_000  # characters of one tool text whose facts are added to the log
UNLIMITED = 1 << 40  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldSource:
    """The material of a fold."""

    #: Summary to merge with.
    before: str
    #: Tokens of the summary that is replaced.
    replaced: int
    #: Messages of extractive folds since then, to be summarised again.
    earlier: tuple[Message, ...]
    #: The fold's own messages.
    turns: tuple[Message, ...]
    #: When the fold was planned, for the weight of recency; None for the time of the newest message.
    at: datetime | None = None
    #: Taint of the lines of `before`.
    label: FoldLabel = CLEAN_FOLD

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages to summarise."""
        return (*self.earlier, *self.turns)

    def weights(self) -> dict[str, int]:
        """Importance of the messages by id."""
        return message_weights(self.messages, self.at or max(message.at for message in self.messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLimit:
    """Token limit of the summary, 0 when only a log is wanted."""

    counter: TokenCounter
    summary_tokens: int
    #: Time zone of the log.
    zone: tzinfo


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedSummary:
    """The final texts, their author, and the hash of the source they were checked against."""

    method: Literal["model", "extract"]
    log: str
    summary: str
    source_sha256: str


def validate_summary(log: str, summary: str, material: FoldSource, limit: SummaryLimit) -> ValidatedSummary:
    """Validate a model's texts ("" for none) against their source.

    Sentences that the source does not support are dropped. If more than a quarter is dropped, nothing is left or a text
    is much too long, both texts are replaced by extracts; a summary up to a quarter too long loses whole lines. Then
    missing facts are added to the log, critical calls to both, and the user's constraints to the summary.
    """
    source = _grounding_source(material, limit.zone)
    known = GroundingSource(source)
    calls = find_critical_calls(material.messages, detect_language(material.messages), known)
    texts = _ground_texts(log, summary, known, limit, len(source))
    kept_log, kept_summary = (
        (texts[0], _arrange_summary(texts[1], material, calls, limit))
        if texts
        else _extract_texts(material, calls, limit)
    )
    return ValidatedSummary(
        method="model" if texts else "extract",
        log=_add_missing_calls(
            _add_missing_facts(kept_log, list(list_utterances(material.turns)), limit.zone), calls, material
        ),
        summary=kept_summary,
        source_sha256=hashlib.sha256(source.encode("utf-8", "replace")).hexdigest(),
    )


def _grounding_source(material: FoldSource, zone: tzinfo) -> str:
    return f"{material.before}\n{write_turns(material.messages, zone, UNLIMITED, UNLIMITED)}"


def _ground_texts(
    log: str, summary: str, known: GroundingSource, limit: SummaryLimit, size: int
) -> tuple[str, str] | None:
    if len(log) > size + 2_000 or (not log.strip()):
        return None
    texts = [ground_text(log, known)]
    if limit.summary_tokens:
        texts.append(ground_text(summary, known))
    if any(not _has_content(text.text) or text.share_dropped > MAX_DROPPED_SHARE for text in texts):
        return None
    if limit.summary_tokens and _is_too_long(texts[1], limit):
        return None
    return _to_list_items(texts[0].text), texts[1].text if limit.summary_tokens else ""


def _is_too_long(summary: GroundedText, limit: SummaryLimit) -> bool:
    return limit.counter.text(summary.text) > limit.summary_tokens * MAX_OVERLENGTH


def _arrange_summary(summary: str, material: FoldSource, calls: Sequence[CriticalCall], limit: SummaryLimit) -> str:
    """Arrange a valid summary in its fixed sections within its limit, and add what must be in it."""
    if not limit.summary_tokens:
        return ""
    lang = detect_language(material.messages)
    tools = _missing_call_lines(summary, material, calls, limit)
    asked = _missing_constraints(summary, find_constraints(list_utterances(material.messages)), limit)
    added = limit.counter.text("\n".join((*tools, *asked, *(HEADINGS[lang][name] for name in ("tools", "facts")))))
    room = limit.summary_tokens - (added + 8 if tools or asked else 0)
    found = sections.trim_sections(sections.parse_sections(summary), lang, limit.counter, room)
    for name, lines in (("facts", asked), ("tools", tools)):
        for each in lines:
            sections.add_line(found, name, each)
    return sections.render_sections(found, lang)


def _missing_call_lines(
    said: str, material: FoldSource, calls: Sequence[CriticalCall], limit: SummaryLimit
) -> list[str]:
    """Lines about critical calls that a text lacks, within their share of the summary."""
    return fitting_lines(
        (*carried_lines(material.before), *calls), said, limit.counter, limit.summary_tokens // CALLS_SHARE
    )


def _missing_constraints(summary: str, asked: Sequence[str], limit: SummaryLimit) -> list[str]:
    """The newest constraints that the summary lacks, as list items, in at most 1/5 of its tokens."""
    taken: list[str] = []
    room = limit.summary_tokens // 5
    for constraint in reversed(dict.fromkeys(asked)):
        cost = limit.counter.text(constraint) + 3
        if cost <= room and not is_mentioned(summary, constraint):
            taken.insert(0, f"- {constraint}")
            room -= cost
    return taken


def _has_content(text: str) -> bool:
    return any(line.strip() and not line.startswith("#") for line in text.splitlines())


def _extract_texts(material: FoldSource, calls: Sequence[CriticalCall], limit: SummaryLimit) -> tuple[str, str]:
    messages, summary = material.messages, ""
    if limit.summary_tokens:
        emphasis = Emphasis(weights=material.weights(), tools=_missing_call_lines("", material, calls, limit))
        summary = extractive_summary(messages, material.before, limit.counter, limit.summary_tokens, emphasis)
    return extractive_log(material.turns, limit.zone), summary


def _to_list_items(text: str) -> str:
    """Make each line a list item, so that no line looks like one of our headings."""
    lines = (line.strip().lstrip("#").strip() for line in text.splitlines())
    return "\n".join(line if line.startswith("- ") else f"- {line}" for line in lines if line)


def _add_missing_facts(log: str, said: Sequence[Utterance], zone: tzinfo) -> str:
    short = [shorten_utterance(item, MAX_TOOL_LOGGED) if is_tool_utterance(item) else item for item in said]
    added = [utterance_line(replace(item, text=lost), zone) for item, lost in missing_sentences(short, log)]
    return "\n".join(filter(None, (log, *added)))


def _add_missing_calls(log: str, calls: Sequence[CriticalCall], material: FoldSource) -> str:
    """Add the critical calls of these turns that the log lacks."""
    seqs = {message.seq for message in material.turns}
    lines = (call.line for call in calls if call.seq in seqs and call.line not in log)
    return "\n".join(filter(None, (log, *lines)))
