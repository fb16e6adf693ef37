"""Labels the lines of a fold's texts that rest on words from outside (taint). Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from memory.context.summary.extractive import EXTRACT_HEADINGS
from memory.context.summary.grounding import split_sentences
from memory.context.summary.transcript import list_utterances
from memory.context.summary.validation import FoldSource
from memory.context.taint import CLEAN_FOLD, FoldLabel, judge_parts, line_key, normalize_words
from memory.text.language import HEADINGS, split_line
from memory.workspace import daily_log

_FIXED_HEADINGS = frozenset(
    map(
        normalize_words,
        (*(head for heads in HEADINGS.values() for head in heads.values()), *chain(*EXTRACT_HEADINGS.values())),
    )
)
# The last line of an extractive summary.
_DIGEST_MARK = re.compile(r"\[\+\d+ messages, digest\] recall\(turn=\d+\)(?: … recall\(turn=\d+\))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldLabels:
    """The taint columns of a fold's row."""

    tainted: bool
    clean_lines: str
    summary_tainted: bool


def label_texts(log: str, summary: str, source: FoldSource) -> FoldLabels:
    """Label the lines of a fold's texts.

    A line is clean if each of its sentences occurs, word for word, in what the person wrote, in what the bot said
    while it saw nothing from outside, or in a clean line of the earlier summary. A paraphrase counts as tainted: it
    may say something else.
    """
    tainted_parts = {(message.id, part): tainted for message, part, tainted in judge_parts(source.messages)}
    earlier, is_tainted = list(_summary_lines(source.before)), source.label.covers
    if not any(tainted_parts.values()) and not any(map(is_tainted, earlier)):
        return FoldLabels(tainted=False, clean_lines="", summary_tainted=False)
    clean = {normalize_words(line) for line in earlier if not is_tainted(line)}
    for utterance in list_utterances(source.messages):
        if not tainted_parts[utterance.message.id, utterance.part]:
            clean |= {normalize_words(utterance.text), *map(normalize_words, split_sentences(utterance))}

    def is_clean(line: str) -> bool:
        pieces = [normalize_words(piece) for piece in split_line(line)[1]]
        return normalize_words(line) in clean or all(piece in clean for piece in pieces if piece)

    log_lines = [row.text for row in daily_log.iter_rows(log)]
    summary_lines = list(_summary_lines(summary))
    clean_keys = sorted({line_key(line) for line in (*log_lines, *summary_lines) if is_clean(line)})
    summary_tainted = not all(map(is_clean, summary_lines))
    return FoldLabels(
        tainted=summary_tainted or not all(map(is_clean, log_lines)),
        clean_lines=json.dumps(clean_keys),
        summary_tainted=summary_tainted,
    )


def remove_tainted_lines(log: str, labels: Mapping[str, FoldLabel]) -> str:
    """Remove the tainted lines from a daily log's text.

    Args:
        labels: by fold id, for every fold with a section in the text.
    """
    texts = {row.number: row.text for row in daily_log.iter_rows(log) if row.fold}
    lines, label = list[str](), CLEAN_FOLD
    for number, line in enumerate(daily_log.iter_lines(log.removeprefix("\ufeff")), 1):
        fold = daily_log.section_fold(line)
        if fold is not None:
            label = labels[fold] if fold else CLEAN_FOLD
        if fold is not None or not line.strip() or not label.covers(texts.get(number, line)):
            lines.append(line)
    return "\n".join(lines)


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
