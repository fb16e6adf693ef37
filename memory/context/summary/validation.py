"""Which texts a fold ends with: a model's where its source bears them out, the digest where not."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Literal

from memory.context.summary import sections
from memory.context.summary.critical_calls import Critical, carried, critical, fitting
from memory.context.summary.extractive import Emphasis, constraints, digest, digest_log, language
from memory.context.summary.grounding import Grounded, Source, ground, mentions, missing
from memory.context.summary.importance import importance
from memory.context.summary.transcript import Utterance, is_tool, line, shorten, utterances, write_turns
from memory.context.taint import CLEAN, FoldLabel
from memory.context.tokens import Counter
from memory.conversation import Message
from memory.text.language import HEADS

MOST_DROPPED = 0.25
MOST_OVER = 1.25  # times as long as allowed: a longer summary is not trimmed but replaced
TOOLS_SHARE = 4  # a quarter of the summary's tokens may go to the calls that must be kept
MOST_TOOL_LOGGED = 1_000  # characters of one tool's traffic whose facts are carried into the log
WHOLE = 1 << 40  # characters: nothing is that long


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a fold is made from.

    before: the summary to merge with. earlier: messages of extractive folds since then, to be summarised from the
    originals. turns: the fold's own messages. replaced: tokens of the summary that the new one takes the place of.
    at: when the fold was planned, which is the "now" of what matters; None for the time of the newest message.
    label: which lines of `before` rest on words from outside.
    """

    before: str
    replaced: int
    earlier: tuple[Message, ...]
    turns: tuple[Message, ...]
    at: datetime | None = None
    label: FoldLabel = CLEAN

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that is summarised from the originals."""
        return (*self.earlier, *self.turns)

    def weights(self) -> dict[str, int]:
        """Points of the messages by id."""
        return importance(self.messages, self.at or max(message.at for message in self.messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How long the summary may be, in tokens of this counter; 0 when only a log is wanted. zone: of the log's clock."""

    counter: Counter
    summary_tokens: int
    zone: tzinfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The texts as they will be kept, who wrote them, and the hash of what they were checked against."""

    method: Literal["model", "extract"]
    log: str
    summary: str
    source_sha256: str


def check(log: str, summary: str, material: Material, limit: Limit) -> Checked:
    """A model's texts ("" for none) against what they were made from.

    A sentence the source does not bear out is dropped. Where over a quarter went, or nothing is left, or a text is
    over-long, the digest stands in for both; a summary that is longer by a quarter at most loses whole lines instead.
    Then the log is given what facts of the source it does not hold, both the calls that must be kept, and the summary
    the user's constraints that it does not mention.
    """
    source = _source(material, limit.zone)
    known = Source(source)
    calls = critical(material.messages, language(material.messages), known)
    texts = _grounded(log, summary, known, limit, len(source))
    kept_log, kept_summary = (
        (texts[0], _arranged(texts[1], material, calls, limit)) if texts else _digested(material, calls, limit)
    )
    return Checked(
        method="model" if texts else "extract",
        log=_with_calls(_with_facts(kept_log, list(utterances(material.turns)), limit.zone), calls, material),
        summary=kept_summary,
        source_sha256=hashlib.sha256(source.encode("utf-8", "replace")).hexdigest(),
    )


def _source(material: Material, zone: tzinfo) -> str:
    return f"{material.before}\n{write_turns(material.messages, zone, WHOLE, WHOLE)}"


def _grounded(log: str, summary: str, known: Source, limit: Limit, size: int) -> tuple[str, str] | None:
    if len(log) > size + 2_000 or (not log.strip()):
        return None
    texts = [ground(log, known)]
    if limit.summary_tokens:
        texts.append(ground(summary, known))
    if any(not _says(text.text) or text.share_dropped > MOST_DROPPED for text in texts):
        return None
    if limit.summary_tokens and _over_long(texts[1], limit):
        return None
    return _as_items(texts[0].text), texts[1].text if limit.summary_tokens else ""


def _over_long(summary: Grounded, limit: Limit) -> bool:
    return limit.counter.text(summary.text) > limit.summary_tokens * MOST_OVER


def _arranged(summary: str, material: Material, calls: Sequence[Critical], limit: Limit) -> str:
    """A believed summary in its fixed sections, with what must be in it, within its tokens."""
    if not limit.summary_tokens:
        return ""
    lang = language(material.messages)
    tools = _tools(summary, material, calls, limit)
    asked = _unmentioned(summary, constraints(utterances(material.messages)), limit)
    added = limit.counter.text("\n".join((*tools, *asked, *(HEADS[lang][name] for name in ("tools", "facts")))))
    room = limit.summary_tokens - (added + 8 if tools or asked else 0)
    found = sections.trim(sections.read(summary), lang, limit.counter, room)
    for name, lines in (("facts", asked), ("tools", tools)):
        for each in lines:
            sections.put(found, name, each)
    return sections.write(found, lang)


def _tools(said: str, material: Material, calls: Sequence[Critical], limit: Limit) -> list[str]:
    """The lines about calls that a text does not hold yet, within their share of the summary."""
    return fitting((*carried(material.before), *calls), said, limit.counter, limit.summary_tokens // TOOLS_SHARE)


def _unmentioned(summary: str, asked: Sequence[str], limit: Limit) -> list[str]:
    """The newest constraints that the summary does not mention, as items, in at most a fifth of its tokens."""
    taken: list[str] = []
    room = limit.summary_tokens // 5
    for constraint in reversed(dict.fromkeys(asked)):
        cost = limit.counter.text(constraint) + 3
        if cost <= room and not mentions(summary, constraint):
            taken.insert(0, f"- {constraint}")
            room -= cost
    return taken


def _says(text: str) -> bool:
    return any(line.strip() and not line.startswith("#") for line in text.splitlines())


def _digested(material: Material, calls: Sequence[Critical], limit: Limit) -> tuple[str, str]:
    messages, summary = material.messages, ""
    if limit.summary_tokens:
        emphasis = Emphasis(weights=material.weights(), tools=_tools("", material, calls, limit))
        summary = digest(messages, material.before, limit.counter, limit.summary_tokens, emphasis)
    return digest_log(material.turns, limit.zone), summary


def _as_items(text: str) -> str:
    """One list item per line, so that no line can pass for a heading of ours."""
    lines = (line.strip().lstrip("#").strip() for line in text.splitlines())
    return "\n".join(line if line.startswith("- ") else f"- {line}" for line in lines if line)


def _with_facts(log: str, said: Sequence[Utterance], zone: tzinfo) -> str:
    short = [shorten(item, MOST_TOOL_LOGGED) if is_tool(item) else item for item in said]
    added = [line(replace(item, text=lost), zone) for item, lost in missing(short, log)]
    return "\n".join(filter(None, (log, *added)))


def _with_calls(log: str, calls: Sequence[Critical], material: Material) -> str:
    """The log with the lines of these turns' calls that it does not hold."""
    seqs = {message.seq for message in material.turns}
    lines = (call.line for call in calls if call.seq in seqs and call.line not in log)
    return "\n".join(filter(None, (log, *lines)))
