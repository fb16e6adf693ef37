"""Validates a fold's texts against its messages, and arranges the summary in its fixed sections.

A text of the model that fails is replaced by an extract.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from typing import Literal

from memory.context.summary.critical_calls import (
    CriticalCall,
    carried_lines,
    find_critical_calls,
    fitting_lines,
)
from memory.context.summary.extractive import (
    Emphasis,
    detect_language,
    extractive_summary,
    find_constraints,
)
from memory.context.summary.grounding import GroundingSource, ground_text, has_facts, is_mentioned
from memory.context.summary.importance import message_weights
from memory.context.summary.log_text import LogMaterial, write_log
from memory.context.summary.prompt import Fault, FoldTexts
from memory.context.summary.transcript import list_utterances, write_turns
from memory.context.taint import CLEAN_FOLD, FoldLabel
from memory.context.tokens import TokenCounter
from memory.conversation import Message
from memory.text.language import HEADINGS

MAX_DROPPED_SHARE = 0.25  # of a text's sentences; with more unsupported ones it is replaced
# characters a summary may have per token of its limit before its sentences are checked at all
MAX_TOKEN_CHARS = 20
MAX_OVERLENGTH = 1.25  # of the limit; a longer summary is replaced instead of trimmed
CALLS_SHARE = 4  # critical calls may take 1/4 of the summary's tokens
MAX_LOG_EXCESS = 2_000  # characters by which a log may be longer than its source

LEAD_SECTION = ""  # the section before any heading

_HEADING_PATTERNS = (
    ("errors", re.compile(r"\berrors?\b|\bproblems?\b|错误|报错|故障", re.IGNORECASE)),
    ("tools", re.compile(r"\btools?\b|工具", re.IGNORECASE)),
    (
        "open",
        re.compile(
            r"\bopen\b|\bto[- ]?dos?\b|\bnext steps?\b|\bpending\b|未完成|待办|后续|下一步",
            re.IGNORECASE,
        ),
    ),
    ("decisions", re.compile(r"\bdecisions?\b|决定|决策", re.IGNORECASE)),
    (
        "facts",
        re.compile(r"\bfacts?\b|\bpreferences?\b|\bconstraints?\b|事实|偏好|约定", re.IGNORECASE),
    ),
    ("state", re.compile(r"\bgoals?\b|\bstate\b|\bstatus\b|目标|现状|状态", re.IGNORECASE)),
)
_HASHES = re.compile(r"#{1,6}")
_BOLD = re.compile(r"\*\*([^*]{1,40})\*\*[:：]?")
_SECTION_WORTH = {
    "facts": 3,
    "decisions": 3,
    "open": 2,
    "state": 2,
    "errors": 1,
    "tools": 1,
    LEAD_SECTION: 1,
}
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
    #: When the fold was planned, for the weight of recency; None for the time of the newest
    #: message.
    at: datetime | None = None
    #: Taint of the lines of `before`.
    label: FoldLabel = CLEAN_FOLD
    #: Name of the conversation in the log's handles (memory.context.reductions), "" for none.
    conversation: str = ""
    #: Day of the log's file; None for that on which the fold was planned.
    day: date | None = None
    #: What the file has already: the log adds no line with only such facts to a story.
    known_log: str = ""

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages to summarise."""
        return (*self.earlier, *self.turns)

    def weights(self) -> dict[str, int]:
        """Importance of the messages by id."""
        return message_weights(
            self.messages, self.at or max(message.at for message in self.messages)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLimit:
    """Which texts a fold has, and the token limit of its summary."""

    counter: TokenCounter
    #: 0 when only a log is wanted.
    summary_tokens: int
    #: Time zone of the log.
    zone: tzinfo
    #: Whether a log is wanted.
    log: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedSummary:
    """The final texts, and the hash of the source they were checked against."""

    #: Who wrote the summary; without one, the log.
    method: Literal["model", "extract"]
    log: str
    summary: str
    source_sha256: str


def validate_summary(
    log: str, summary: str, fold: FoldSource, limit: SummaryLimit
) -> ValidatedSummary:
    """Validate a model's texts ("" for none) against their source, each by itself.

    Sentences that the source does not support are dropped. A text of which more than a quarter is
    dropped, nothing is left, or which is much too long, is replaced by an extract; a summary up to
    a quarter too long loses whole lines. Then what people and the bot said with missing facts is
    added to the log, critical calls to both, and the user's constraints to the summary.
    """
    source = _source_text(fold, limit)
    known = GroundingSource(source)
    calls = find_critical_calls(
        fold.messages, detect_language(fold.messages), known, fold.conversation
    )
    good_log = _ground_log(log, known, len(source), limit)
    good_summary = _ground_summary(summary, known, limit)
    story = "" if good_log.fault else _to_list_items(good_log.text)
    if good_summary.fault:
        summary = _extract_summary(fold, calls, limit)
    else:
        summary = _arrange_summary(good_summary.text, fold, calls, limit)
    deciding = good_summary if limit.summary_tokens else good_log
    return ValidatedSummary(
        method="extract" if deciding.fault else "model",
        log=write_log(story, _log_material(fold, calls, limit.zone)) if limit.log else "",
        summary=summary,
        source_sha256=hashlib.sha256(source.encode("utf-8", "replace")).hexdigest(),
    )


def _log_material(fold: FoldSource, calls: Sequence[CriticalCall], zone: tzinfo) -> LogMaterial:
    seqs = {message.seq for message in fold.turns}
    return LogMaterial(
        said=tuple(list_utterances(fold.turns)),
        calls=[call for call in calls if call.seq in seqs],
        lang=detect_language(fold.messages),
        zone=zone,
        day=fold.day
        or (fold.at or max(message.at for message in fold.turns)).astimezone(zone).date(),
        key=fold.conversation,
        known=f"{fold.before}\n{fold.known_log}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedText:
    """A model's text without its unsupported sentences."""

    text: str
    #: Why it cannot be used; None if it can.
    fault: Fault | None
    #: The sentences that were dropped.
    unsupported: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTexts:
    """Both texts of an answer."""

    log: JudgedText
    summary: JudgedText


def judge_texts(texts: FoldTexts, fold: FoldSource, limit: SummaryLimit) -> JudgedTexts:
    """Tell which texts of an answer `validate_summary` would use.

    A cut-off log is used as far as it goes: missing facts are added to it. A cut-off summary lacks
    its last sections.
    """
    source = _source_text(fold, limit)
    known = GroundingSource(source)
    summary = _ground_summary(texts.summary, known, limit)
    if texts.cut == "summary" and limit.summary_tokens:
        summary = replace(summary, fault="cut")
    return JudgedTexts(log=_ground_log(texts.log, known, len(source), limit), summary=summary)


def _source_text(fold: FoldSource, limit: SummaryLimit) -> str:
    return f"{fold.before}\n{write_turns(fold.messages, limit.zone)}"


def _ground_log(log: str, known: GroundingSource, size: int, limit: SummaryLimit) -> JudgedText:
    if not limit.log:
        return JudgedText(text="", fault=None)
    if len(log) > size + MAX_LOG_EXCESS:
        return JudgedText(text="", fault="long")
    return _ground(log, known)


def _ground_summary(summary: str, known: GroundingSource, limit: SummaryLimit) -> JudgedText:
    if not limit.summary_tokens:
        return JudgedText(text="", fault=None)
    if len(summary) > limit.summary_tokens * MAX_TOKEN_CHARS:
        return JudgedText(text="", fault="long")
    judged = _ground(summary, known)
    if not judged.fault and limit.counter.text(judged.text) > limit.summary_tokens * MAX_OVERLENGTH:
        return replace(judged, fault="long")
    return judged


def _ground(text: str, known: GroundingSource) -> JudgedText:
    grounded = ground_text(text, known)
    fault: Fault | None = None
    if not _has_content(grounded.text):
        fault = "false" if grounded.dropped else "empty"
    elif grounded.share_dropped > MAX_DROPPED_SHARE:
        fault = "false"
    return JudgedText(text=grounded.text, fault=fault, unsupported=grounded.dropped)


def _arrange_summary(
    summary: str, fold: FoldSource, calls: Sequence[CriticalCall], limit: SummaryLimit
) -> str:
    """Arrange a valid summary in its fixed sections within its limit, and add what must be in
    it.
    """
    if not limit.summary_tokens:
        return ""
    lang = detect_language(fold.messages)
    tools = _missing_call_lines(summary, fold, calls, limit)
    constraints = _missing_constraints(
        summary, find_constraints(list_utterances(fold.messages)), limit
    )
    titles = (HEADINGS[lang][name] for name in ("tools", "facts"))
    added = limit.counter.text("\n".join((*tools, *constraints, *titles)))
    left = limit.summary_tokens - (added + 8 if tools or constraints else 0)
    arranged = trim_sections(parse_sections(summary), lang, limit.counter, left)
    for name, lines in (("facts", constraints), ("tools", tools)):
        for line in lines:
            add_line(arranged, name, line)
    return render_sections(arranged, lang)


def _missing_call_lines(
    text: str, fold: FoldSource, calls: Sequence[CriticalCall], limit: SummaryLimit
) -> list[str]:
    """Lines about critical calls that a text lacks, within their share of the summary."""
    known = (*carried_lines(fold.before), *calls)
    return fitting_lines(known, text, limit.counter, limit.summary_tokens // CALLS_SHARE)


def _missing_constraints(
    summary: str, constraints: Sequence[str], limit: SummaryLimit
) -> list[str]:
    """The newest constraints that the summary lacks, as list items, in at most 1/5 of its
    tokens.
    """
    missing: list[str] = []
    left = limit.summary_tokens // 5
    for constraint in reversed(dict.fromkeys(constraints)):
        cost = limit.counter.text(constraint) + 3
        if cost <= left and not is_mentioned(summary, constraint):
            missing.insert(0, f"- {constraint}")
            left -= cost
    return missing


def _has_content(text: str) -> bool:
    return any(line.strip() and not line.startswith("#") for line in text.splitlines())


def _extract_summary(fold: FoldSource, calls: Sequence[CriticalCall], limit: SummaryLimit) -> str:
    if not limit.summary_tokens:
        return ""
    emphasis = Emphasis(weights=fold.weights(), tools=_missing_call_lines("", fold, calls, limit))
    return extractive_summary(
        fold.messages, fold.before, limit.counter, limit.summary_tokens, emphasis
    )


def _to_list_items(text: str) -> str:
    """Make each line a list item, so that no line looks like one of our headings."""
    lines = (line.strip().lstrip("#").strip() for line in text.splitlines())
    return "\n".join(line if line.startswith("- ") else f"- {line}" for line in lines if line)


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
    exact = [
        name
        for heads in HEADINGS.values()
        for name, head in heads.items()
        if head.casefold() == title.casefold()
    ]
    return (
        exact[0]
        if exact
        else next((name for name, words in _HEADING_PATTERNS if words.search(title)), None)
    )


def add_line(sections: Sections, name: str, line: str) -> None:
    """Add a line to a section, unless it is blank or a duplicate."""
    if line.strip() and line.rstrip() not in sections[name]:
        sections[name].append(line.rstrip())


def render_sections(sections: Sections, lang: str) -> str:
    """The summary in its fixed order, under headings of the language; empty sections are left
    out.
    """
    lines: list[str] = []
    for name, in_section in sections.items():
        if in_section and name != LEAD_SECTION:
            lines.append(f"## {HEADINGS[lang][name]}")
        lines += in_section
    return "\n".join(lines)


def trim_sections(sections: Sections, lang: str, counter: TokenCounter, most: int) -> Sections:
    """Remove whole lines until the summary fits `most` tokens, always from the largest section.

    Lines without facts go first, older before newer; a section keeps one line while another has
    more.
    """
    kept: Sections = {name: list(lines) for name, lines in sections.items()}
    over = counter.text(render_sections(kept, lang)) - most
    while over > 0 and any(kept.values()):
        name = max(
            kept,
            key=lambda name: (
                len(kept[name]) > 1,
                sum(map(counter.text, kept[name])) / _SECTION_WORTH[name],
            ),
        )
        at = min(range(len(kept[name])), key=lambda at: (has_facts(kept[name][at]), at))
        del kept[name][at]
        over = counter.text(render_sections(kept, lang)) - most
    return kept
