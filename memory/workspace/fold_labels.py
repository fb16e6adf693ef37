"""Which lines of a fold's texts rest on words from outside. Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from memory.context.summary.extractive import HEADINGS
from memory.context.summary.grounding import sentences
from memory.context.summary.transcript import utterances
from memory.context.summary.validation import Material
from memory.context.taint import CLEAN, FoldLabel, bare, judged, key_of
from memory.text.language import HEADS, split
from memory.workspace import daily_log

_OWN_HEADS = frozenset(
    map(bare, (*(head for heads in HEADS.values() for head in heads.values()), *chain(*HEADINGS.values())))
)
_OWN_MARK = re.compile(r"\[\+\d+ messages, digest\] recall\(turn=\d+\)(?: … recall\(turn=\d+\))?")
"""The last line of a digest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What a fold's row says of its lines; see FoldRow."""

    tainted: bool
    clean_lines: str
    summary_tainted: bool


def label(log: str, summary: str, material: Material) -> Labels:
    """The labels of a fold's texts.

    A line is clean where all of its sentences stand, word for word, in what the person wrote, in what the bot said
    while it saw nothing from outside, or in clean lines of the summary before. A model that tells it in other words
    may have told something else.
    """
    parts = {(message.id, place): outside for message, place, outside in judged(material.messages)}
    earlier, covers = list(_lines(material.before)), material.label.covers
    if not any(parts.values()) and not any(map(covers, earlier)):
        return Labels(tainted=False, clean_lines="", summary_tainted=False)
    clean = {bare(line) for line in earlier if not covers(line)}
    for said in utterances(material.messages):
        if not parts[said.message.id, said.part]:
            clean |= {bare(said.text), *map(bare, sentences(said))}

    def holds(line: str) -> bool:
        pieces = [bare(piece) for piece in split(line)[1]]
        return bare(line) in clean or all(piece in clean for piece in pieces if piece)

    logged = [row.text for row in daily_log.rows(log)]
    shown = list(_lines(summary))
    kept = sorted({key_of(line) for line in (*logged, *shown) if holds(line)})
    summary_tainted = not all(map(holds, shown))
    return Labels(
        tainted=summary_tainted or not all(map(holds, logged)),
        clean_lines=json.dumps(kept),
        summary_tainted=summary_tainted,
    )


def without(log: str, labels: Mapping[str, FoldLabel]) -> str:
    """A log's text without the lines of folds that rest on words from outside.

    Args:
        labels: of all folds whose sections the text has.
    """
    texts = {row.number: row.text for row in daily_log.rows(log) if row.fold}
    kept, label = list[str](), CLEAN
    for number, line in enumerate(daily_log.lines(log.removeprefix("\ufeff")), 1):
        fold = daily_log.fold_of(line)
        if fold is not None:
            label = labels[fold] if fold else CLEAN
        if fold is not None or not line.strip() or not label.covers(texts.get(number, line)):
            kept.append(line)
    return "\n".join(kept)


def _lines(summary: str) -> Iterator[str]:
    """The lines of a summary that say something, without marks; headings and marks of ours left out."""
    for line in summary.splitlines():
        text = line.strip()
        if text.startswith("#"):
            text = text.lstrip("# ")
            ours = bare(text) in _OWN_HEADS
        else:
            ours = _OWN_MARK.fullmatch(text) is not None
        if bare(text) and not ours:
            yield next((row.text for row in daily_log.rows(text)), text)
