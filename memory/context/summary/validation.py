"""Which texts a fold ends with: a model's where its source bears them out, the digest where not."""

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
MAX_OVERLENGTH = 1.25  # times as long as allowed: a longer summary is not trimmed but replaced
CALLS_SHARE = 4  # a quarter of the summary's tokens may go to the calls that must be kept
MAX_TOOL_LOGGED = 1_000  # characters of one tool's traffic whose facts are carried into the log
UNLIMITED = 1 << 40  # characters: nothing is that long


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldSource:
    """What a fold is made from."""

    #: The summary to merge with.
    before: str
    #: Tokens of the summary that the new one takes the place of.
    replaced: int
    #: Messages of extractive folds since then, to be summarised from the originals.
    earlier: tuple[Message, ...]
    #: The fold's own messages.
    turns: tuple[Message, ...]
    #: When the fold was planned, which is the "now" of what matters; None for the time of the newest message.
    at: datetime | None = None
    #: Which lines of `before` rest on words from outside.
    label: FoldLabel = CLEAN_FOLD

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that is summarised from the originals."""
        return (*self.earlier, *self.turns)

    def weights(self) -> dict[str, int]:
        """Points of the messages by id."""
        return message_weights(self.messages, self.at or max(message.at for message in self.messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLimit:
    """How long the summary may be, in tokens of this counter; 0 when only a log is wanted."""

    counter: TokenCounter
    summary_tokens: int
    #: Of the log's clock.
    zone: tzinfo


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedSummary:
    """The texts as they will be kept, who wrote them, and the hash of what they were checked against."""

    method: Literal["model", "extract"]
    log: str
    summary: str
    source_sha256: str


def validate_summary(log: str, summary: str, material: FoldSource, limit: SummaryLimit) -> ValidatedSummary:
    """A model's texts ("" for none) against what they were made from.

    A sentence the source does not bear out is dropped. Where over a quarter went, or nothing is left, or a text is
    over-long, the digest stands in for both; a summary that is longer by a quarter at most loses whole lines instead.
    Then the log is given what facts of the source it does not hold, both the calls that must be kept, and the summary
    the user's constraints that it does not mention.
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
    """A believed summary in its fixed sections, with what must be in it, within its tokens."""
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
    """The lines about calls that a text does not hold yet, within their share of the summary."""
    return fitting_lines(
        (*carried_lines(material.before), *calls), said, limit.counter, limit.summary_tokens // CALLS_SHARE
    )


def _missing_constraints(summary: str, asked: Sequence[str], limit: SummaryLimit) -> list[str]:
    """The newest constraints that the summary does not mention, as items, in at most a fifth of its tokens."""
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
    """One list item per line, so that no line can pass for a heading of ours."""
    lines = (line.strip().lstrip("#").strip() for line in text.splitlines())
    return "\n".join(line if line.startswith("- ") else f"- {line}" for line in lines if line)


def _add_missing_facts(log: str, said: Sequence[Utterance], zone: tzinfo) -> str:
    short = [shorten_utterance(item, MAX_TOOL_LOGGED) if is_tool_utterance(item) else item for item in said]
    added = [utterance_line(replace(item, text=lost), zone) for item, lost in missing_sentences(short, log)]
    return "\n".join(filter(None, (log, *added)))


def _add_missing_calls(log: str, calls: Sequence[CriticalCall], material: FoldSource) -> str:
    """The log with the lines of these turns' calls that it does not hold."""
    seqs = {message.seq for message in material.turns}
    lines = (call.line for call in calls if call.seq in seqs and call.line not in log)
    return "\n".join(filter(None, (log, *lines)))
