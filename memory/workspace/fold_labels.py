"""Labels the lines of a fold's texts that rest on words from outside (taint). Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from memory.context.summary.extractive import HEADINGS
from memory.context.summary.grounding import split_sentences
from memory.context.summary.transcript import list_utterances
from memory.context.summary.validation import FoldSource
from memory.context.taint import CLEAN_FOLD, FoldLabel, judge_parts, line_key, normalize_words
from memory.text.language import HEADINGS as HEADS
from memory.text.language import split_line
from memory.workspace import daily_log

_FIXED_HEADINGS = frozenset(
    map(normalize_words, (*(head for heads in HEADS.values() for head in heads.values()), *chain(*HEADINGS.values())))
)
# The last line of an extractive summary.
_DIGEST_MARK = re.compile(r"\[\+\d+ messages, digest\] recall\(turn=\d+\)(?: … recall\(turn=\d+\))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldLabels:
    """The taint columns of a fold's row."""

    tainted: bool
    clean_lines: str
    summary_tainted: bool


def label_texts(log: str, summary: str, material: FoldSource) -> FoldLabels:
    """Label the lines of a fold's texts.

    A line is clean if each of its sentences occurs, word for word, in what the person wrote, in what the bot said
    while it saw nothing from outside, or in a clean line of the earlier summary. A paraphrase counts as tainted: it
    may say something else.
    """
    parts = {(message.id, place): outside for message, place, outside in judge_parts(material.messages)}
    earlier, covers = list(_summary_lines(material.before)), material.label.covers
    if not any(parts.values()) and not any(map(covers, earlier)):
        return FoldLabels(tainted=False, clean_lines="", summary_tainted=False)
    clean = {normalize_words(line) for line in earlier if not covers(line)}
    for said in list_utterances(material.messages):
        if not parts[said.message.id, said.part]:
            clean |= {normalize_words(said.text), *map(normalize_words, split_sentences(said))}

    def holds(line: str) -> bool:
        pieces = [normalize_words(piece) for piece in split_line(line)[1]]
        return normalize_words(line) in clean or all(piece in clean for piece in pieces if piece)

    logged = [row.text for row in daily_log.iter_rows(log)]
    shown = list(_summary_lines(summary))
    kept = sorted({line_key(line) for line in (*logged, *shown) if holds(line)})
    summary_tainted = not all(map(holds, shown))
    return FoldLabels(
        tainted=summary_tainted or not all(map(holds, logged)),
        clean_lines=json.dumps(kept),
        summary_tainted=summary_tainted,
    )


def remove_tainted_lines(log: str, labels: Mapping[str, FoldLabel]) -> str:
    """Remove the tainted lines from a daily log's text.

    Args:
        labels: by fold id, for every fold with a section in the text.
    """
    texts = {row.number: row.text for row in daily_log.iter_rows(log) if row.fold}
    kept, label = list[str](), CLEAN_FOLD
    for number, line in enumerate(daily_log.iter_lines(log.removeprefix("\ufeff")), 1):
        fold = daily_log.section_fold(line)
        if fold is not None:
            label = labels[fold] if fold else CLEAN_FOLD
        if fold is not None or not line.strip() or not label.covers(texts.get(number, line)):
            kept.append(line)
    return "\n".join(kept)


def _summary_lines(summary: str) -> Iterator[str]:
    """The lines of a summary that have content, without list marks, fixed headings and the digest mark."""
    for line in summary.splitlines():
        text = line.strip()
        if text.startswith("#"):
            text = text.lstrip("# ")
            ours = normalize_words(text) in _FIXED_HEADINGS
        else:
            ours = _DIGEST_MARK.fullmatch(text) is not None
        if normalize_words(text) and not ours:
            yield next((row.text for row in daily_log.iter_rows(text)), text)
