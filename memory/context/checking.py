"""Which texts a fold ends with: a model's where its source bears them out, the digest where not."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Literal

from memory.context.counter import Counter
from memory.context.digest import constraints, digest, digest_log
from memory.context.grounding import ground, missing
from memory.context.render import Utterance, is_tool, line, shorten, utterances, write_turns
from memory.conversation import Message
from memory.recall.lexical import fold, question_terms

MOST_DROPPED = 0.25
MOST_TOOL_LOGGED = 1_000  # characters of one tool's traffic whose facts are carried into the log
WHOLE = 1 << 40  # characters: nothing is that long
MENTIONED = 0.6  # share of a constraint's content words that say that a summary has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a fold is made from.

    before: the summary to merge with. earlier: messages of extractive folds since then, to be summarised from the
    originals. turns: the fold's own messages. replaced: tokens of the summary that the new one takes the place of.
    """

    before: str
    replaced: int
    earlier: tuple[Message, ...]
    turns: tuple[Message, ...]


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
    over-long, the digest stands in for both. Then the log is given what facts of the source it does not hold, and the
    summary the user's constraints that it does not mention.
    """
    source = _source(material, limit.zone)
    texts = _grounded(log, summary, source, limit)
    said = list(utterances(material.turns))
    kept_log, kept_summary = texts or _digested(material, limit)
    if texts and limit.summary_tokens:
        kept_summary = _with_constraints(kept_summary, constraints(said), limit)
    return Checked(
        method="model" if texts else "extract",
        log=_with_facts(kept_log, said, limit.zone),
        summary=kept_summary,
        source_sha256=hashlib.sha256(source.encode("utf-8", "replace")).hexdigest(),
    )


def _source(material: Material, zone: tzinfo) -> str:
    written = write_turns((*material.earlier, *material.turns), zone, WHOLE, WHOLE)
    return f"{material.before}\n{written}"


def _grounded(log: str, summary: str, source: str, limit: Limit) -> tuple[str, str] | None:
    if len(log) > len(source) + 2_000 or (not log.strip()):
        return None
    texts = [ground(log, source)]
    if limit.summary_tokens:
        texts.append(ground(summary, source))
    if any(not _says(text.text) or text.share_dropped > MOST_DROPPED for text in texts):
        return None
    if limit.summary_tokens and limit.counter.text(texts[1].text) > limit.summary_tokens:
        return None
    return _as_items(texts[0].text), texts[1].text if limit.summary_tokens else ""


def _says(text: str) -> bool:
    return any(line.strip() and not line.startswith("#") for line in text.splitlines())


def _digested(material: Material, limit: Limit) -> tuple[str, str]:
    messages = (*material.earlier, *material.turns)
    wanted = limit.summary_tokens
    summary = digest(messages, material.before, limit.counter, wanted) if wanted else ""
    return digest_log(material.turns, limit.zone), summary


def _as_items(text: str) -> str:
    """One list item per line, so that no line can pass for a heading of ours."""
    lines = (line.strip().lstrip("#").strip() for line in text.splitlines())
    return "\n".join(line if line.startswith("- ") else f"- {line}" for line in lines if line)


def _with_facts(log: str, said: Sequence[Utterance], zone: tzinfo) -> str:
    short = [shorten(item, MOST_TOOL_LOGGED) if is_tool(item) else item for item in said]
    added = [line(replace(item, text=lost), zone) for item, lost in missing(short, log)]
    return "\n".join(filter(None, (log, *added)))


def _with_constraints(summary: str, asked: Sequence[str], limit: Limit) -> str:
    for constraint in dict.fromkeys(asked):
        longer = f"{summary}\n- {constraint}"
        if not _mentions(summary, constraint) and limit.counter.text(longer) <= limit.summary_tokens:
            summary = longer
    return summary


def _mentions(summary: str, constraint: str) -> bool:
    """Whether most of what a sentence says is in the summary."""
    wanted, said = question_terms(constraint), fold(summary)
    return sum(term in said for term in wanted) >= MENTIONED * len(wanted)
