"""Validates a fold's texts against its messages, and arranges the summary in its fixed sections.

A model's texts that fail are replaced by extracts.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Literal

from memory.context.summary.critical_calls import CriticalCall, carried_lines, find_critical_calls, fitting_lines
from memory.context.summary.extractive import (
    Emphasis,
    detect_language,
    extractive_summary,
    find_constraints,
    log_utterances,
)
from memory.context.summary.grounding import GroundingSource, ground_text, has_facts, is_mentioned, missing_sentences
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

MAX_DROPPED_SHARE = 0.25  # of a text's sentences; with more unsupported ones it is replaced
MAX_OVERLENGTH = 1.25  # of the limit; a longer summary is replaced instead of trimmed
CALLS_SHARE = 4  # critical calls may take 1/4 of the summary's tokens
MAX_LOG_EXCESS = 2_000  # characters by which a log may be longer than its source
MAX_TOOL_LOGGED = 1_000  # characters of one tool text whose facts are added to the log

LEAD_SECTION = ""  # the section before any heading

_HEADING_PATTERNS = (
    ("errors", re.compile(r"\berrors?\b|\bproblems?\b|错误|报错|故障", re.IGNORECASE)),
    ("tools", re.compile(r"\btools?\b|工具", re.IGNORECASE)),
    (
        "open",
        re.compile(r"\bopen\b|\bto[- ]?dos?\b|\bnext steps?\b|\bpending\b|未完成|待办|后续|下一步", re.IGNORECASE),
    ),
    ("decisions", re.compile(r"\bdecisions?\b|决定|决策", re.IGNORECASE)),
    ("facts", re.compile(r"\bfacts?\b|\bpreferences?\b|\bconstraints?\b|事实|偏好|约定", re.IGNORECASE)),
    ("state", re.compile(r"\bgoals?\b|\bstate\b|\bstatus\b|目标|现状|状态", re.IGNORECASE)),
)
_HASHES = re.compile(r"#{1,6}")
_BOLD = re.compile(r"\*\*([^*]{1,40})\*\*[:：]?")
_SECTION_WORTH = {"facts": 3, "decisions": 3, "open": 2, "state": 2, "errors": 1, "tools": 1, LEAD_SECTION: 1}
MAX_HEADING = 40  # characters; a longer heading is never one of the fixed ones

Sections = dict[str, list[str]]  # lines by section, LEAD_SECTION first


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


def validate_summary(log: str, summary: str, fold: FoldSource, limit: SummaryLimit) -> ValidatedSummary:
    """Validate a model's texts ("" for none) against their source.

    Sentences that the source does not support are dropped. If more than a quarter is dropped, nothing is left or a text
    is much too long, both texts are replaced by extracts; a summary up to a quarter too long loses whole lines. Then
    missing facts are added to the log, critical calls to both, and the user's constraints to the summary.
    """
    source = f"{fold.before}\n{write_turns(fold.messages, limit.zone)}"
    known = GroundingSource(source)
    calls = find_critical_calls(fold.messages, detect_language(fold.messages), known)
    texts = _ground_texts(log, summary, known, limit, len(source))
    if texts:
        log, summary = texts[0], _arrange_summary(texts[1], fold, calls, limit)
    else:
        log, summary = _extract_texts(fold, calls, limit)
    log = _add_missing_facts(log, list(list_utterances(fold.turns)), limit.zone)
    return ValidatedSummary(
        method="model" if texts else "extract",
        log=_add_missing_calls(log, calls, fold),
        summary=summary,
        source_sha256=hashlib.sha256(source.encode("utf-8", "replace")).hexdigest(),
    )


def _ground_texts(
    log: str, summary: str, known: GroundingSource, limit: SummaryLimit, size: int
) -> tuple[str, str] | None:
    """Log and summary without unsupported sentences; None if a text is empty, much too long or mostly unsupported."""
    if len(log) > size + MAX_LOG_EXCESS or not log.strip():
        return None
    texts = [ground_text(log, known)]
    if limit.summary_tokens:
        texts.append(ground_text(summary, known))
    if any(not _has_content(text.text) or text.share_dropped > MAX_DROPPED_SHARE for text in texts):
        return None
    if not limit.summary_tokens:
        return _to_list_items(texts[0].text), ""
    if limit.counter.text(texts[1].text) > limit.summary_tokens * MAX_OVERLENGTH:
        return None
    return _to_list_items(texts[0].text), texts[1].text


def _arrange_summary(summary: str, fold: FoldSource, calls: Sequence[CriticalCall], limit: SummaryLimit) -> str:
    """Arrange a valid summary in its fixed sections within its limit, and add what must be in it."""
    if not limit.summary_tokens:
        return ""
    lang = detect_language(fold.messages)
    tools = _missing_call_lines(summary, fold, calls, limit)
    constraints = _missing_constraints(summary, find_constraints(list_utterances(fold.messages)), limit)
    titles = (HEADINGS[lang][name] for name in ("tools", "facts"))
    added = limit.counter.text("\n".join((*tools, *constraints, *titles)))
    room = limit.summary_tokens - (added + 8 if tools or constraints else 0)
    arranged = trim_sections(parse_sections(summary), lang, limit.counter, room)
    for name, lines in (("facts", constraints), ("tools", tools)):
        for line in lines:
            add_line(arranged, name, line)
    return render_sections(arranged, lang)


def _missing_call_lines(text: str, fold: FoldSource, calls: Sequence[CriticalCall], limit: SummaryLimit) -> list[str]:
    """Lines about critical calls that a text lacks, within their share of the summary."""
    known = (*carried_lines(fold.before), *calls)
    return fitting_lines(known, text, limit.counter, limit.summary_tokens // CALLS_SHARE)


def _missing_constraints(summary: str, constraints: Sequence[str], limit: SummaryLimit) -> list[str]:
    """The newest constraints that the summary lacks, as list items, in at most 1/5 of its tokens."""
    missing: list[str] = []
    room = limit.summary_tokens // 5
    for constraint in reversed(dict.fromkeys(constraints)):
        cost = limit.counter.text(constraint) + 3
        if cost <= room and not is_mentioned(summary, constraint):
            missing.insert(0, f"- {constraint}")
            room -= cost
    return missing


def _has_content(text: str) -> bool:
    return any(line.strip() and not line.startswith("#") for line in text.splitlines())


def _extract_texts(fold: FoldSource, calls: Sequence[CriticalCall], limit: SummaryLimit) -> tuple[str, str]:
    summary = ""
    if limit.summary_tokens:
        emphasis = Emphasis(weights=fold.weights(), tools=_missing_call_lines("", fold, calls, limit))
        summary = extractive_summary(fold.messages, fold.before, limit.counter, limit.summary_tokens, emphasis)
    return log_utterances(list_utterances(fold.turns), limit.zone), summary


def _to_list_items(text: str) -> str:
    """Make each line a list item, so that no line looks like one of our headings."""
    lines = (line.strip().lstrip("#").strip() for line in text.splitlines())
    return "\n".join(line if line.startswith("- ") else f"- {line}" for line in lines if line)


def _add_missing_facts(log: str, said: Sequence[Utterance], zone: tzinfo) -> str:
    short = [shorten_utterance(item, MAX_TOOL_LOGGED) if is_tool_utterance(item) else item for item in said]
    added = [utterance_line(replace(item, text=lost), zone) for item, lost in missing_sentences(short, log)]
    return "\n".join(filter(None, (log, *added)))


def _add_missing_calls(log: str, calls: Sequence[CriticalCall], fold: FoldSource) -> str:
    """Add the critical calls of these turns that the log lacks."""
    seqs = {message.seq for message in fold.turns}
    lines = (call.line for call in calls if call.seq in seqs and call.line not in log)
    return "\n".join(filter(None, (log, *lines)))


# The fixed sections of a summary


def parse_sections(text: str) -> Sections:
    """Parse a summary into sections; an unknown heading becomes an item of the section it is in."""
    found: Sections = {name: [] for name in (LEAD_SECTION, *HEADINGS["en"])}
    current = LEAD_SECTION
    for line in text.splitlines():
        title = _heading_title(line)
        if title is None:
            add_line(found, current, line)
            continue
        meant = section_of(title)
        if meant is not None:
            current = meant
        elif title:
            add_line(found, current, f"- {title}")
    return found


def _heading_title(line: str) -> str | None:
    """The words of a heading, with hashes or all in bold; None for any other line."""
    plain = line.strip()
    if hashes := _HASHES.match(plain):
        return plain[hashes.end() :].rstrip("#").strip().strip(" *:：")
    bold = _BOLD.fullmatch(plain)
    return bold[1].strip(" *:：") if bold else None


def section_of(title: str) -> str | None:
    """The section that a heading in either language names, or None."""
    if len(title) > MAX_HEADING:
        return None
    exact = [name for heads in HEADINGS.values() for name, head in heads.items() if head.casefold() == title.casefold()]
    return exact[0] if exact else next((name for name, words in _HEADING_PATTERNS if words.search(title)), None)


def add_line(sections: Sections, name: str, line: str) -> None:
    """Add a line to a section, unless it is blank or a duplicate."""
    if line.strip() and line.rstrip() not in sections[name]:
        sections[name].append(line.rstrip())


def render_sections(sections: Sections, lang: str) -> str:
    """The summary in its fixed order, under headings of the language; empty sections are left out."""
    lines: list[str] = []
    for name, in_section in sections.items():
        if in_section and name != LEAD_SECTION:
            lines.append(f"## {HEADINGS[lang][name]}")
        lines += in_section
    return "\n".join(lines)


def trim_sections(sections: Sections, lang: str, counter: TokenCounter, most: int) -> Sections:
    """Remove whole lines until the summary fits `most` tokens, always from the largest section.

    Lines without facts go first, older before newer; a section keeps one line while another has more.
    """
    kept: Sections = {name: list(lines) for name, lines in sections.items()}
    over = counter.text(render_sections(kept, lang)) - most
    while over > 0 and any(kept.values()):
        name = max(
            kept, key=lambda name: (len(kept[name]) > 1, sum(map(counter.text, kept[name])) / _SECTION_WORTH[name])
        )
        at = min(range(len(kept[name])), key=lambda at: (has_facts(kept[name][at]), at))
        del kept[name][at]
        over = counter.text(render_sections(kept, lang)) - most
    return kept
