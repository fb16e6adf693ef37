"""Probe questions about earlier messages: made from a recording, and scored against views and
search.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TypeVar

from bot.cli.replay.recording import Recording, ReplayProbe, part_text
from bot.cli.replay.simulate import ProbeView, ReplayOutcome, SimulatedFold
from memory.conversation import Text, ToolResult, Turn
from memory.recall.documents import IndexPosition, rows_of_messages, split_pieces
from memory.text.language import split_line
from memory.text.tokenizer import fold_text, lexical_question_terms, rank_texts
from memory.workspace import daily_log

Item = TypeVar("Item")

MAX_PROBES = 50
BEST_RESULTS = 5  # search results in one of which the answer must be
# Turns between a fact and its question, used in rotation; at the latest the last turn.
PROBE_DISTANCES = (3, 10, 30, 100, 300)
MAX_PER_TURN = 3
SENTENCE_CHARS = range(16, 400)
MAX_READ_CHARS = 200_000  # of one turn that are searched for facts
_LITERAL = re.compile(
    r"(?<![a-z])[a-z]++://[^\s<>\"'`()\[\]{}，。；、！？]+"
    r"|[`\"“「『《](?P<quoted>[^`\"”」』》\n]{3,60})[`\"”」』》]"
    r"|(?<![\w.~/-])[\w.~-]*+/[\w.~/-]*\w"
    r"|(?<![A-Za-z\d])(?<!\d\.)[A-Za-z]*+[-_]?\d[\d.]*+(?:,\d{2,3})+(?:\.\d+)?(?!\d)"
    r"|(?<![A-Za-z])[A-Za-z]*+[-_]?\d[\w.:/-]*\w|\b\d{2,}\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeScore:
    """The result of one probe."""

    probe: ReplayProbe
    #: The answer is in the view.
    visible: bool
    #: A search finds the answer.
    found: bool

    @property
    def either(self) -> bool:
        """Whether the bot could answer."""
        return self.visible or self.found


def with_probes(recording: Recording, limit: int = MAX_PROBES) -> Recording:
    """Return the recording with up to `limit` probes: its own, else probes made from it."""
    probes = recording.probes or tuple(make_probes(recording, limit))
    return replace(recording, probes=_pick_evenly(probes, limit))


def make_probes(recording: Recording, limit: int) -> Iterator[ReplayProbe]:
    """Make probes, always the same for a recording.

    A probe is a sentence of a user or a tool with a number, path, address or quotation that occurs
    in one turn only. That text is left out, and the question is asked some turns later.
    """
    turns = recording.turns
    texts = [
        fold_text("\n".join(part_text(part) for message in turn.messages for part in message.parts))
        for turn in turns
    ]
    system = fold_text("\n".join(recording.system))
    facts = [(index, *fact) for index, turn in enumerate(turns[:-1]) for fact in _find_facts(turn)]
    number = 0
    for index, sentence, literal in _pick_evenly(facts, limit * 4):
        answer = fold_text(literal)
        if answer in system or any(
            answer in text for other, text in enumerate(texts) if other != index
        ):
            continue
        after = min(index + PROBE_DISTANCES[number % len(PROBE_DISTANCES)], len(turns) - 1)
        question = " ".join(sentence.replace(literal, "…").split())
        yield ReplayProbe(
            after=turns[after].number,
            question=question,
            answer=literal,
            fact_turn=turns[index].number,
        )
        number += 1


def score_probes(
    outcome: ReplayOutcome, recording: Recording, zone: tzinfo
) -> tuple[ProbeScore, ...]:
    """Score each probe of an outcome."""
    rows, _ = rows_of_messages(recording.messages, IndexPosition(), zone)
    lines = [(row.turn, row.shown()) for row in rows]
    return tuple(_score_probe(asked, lines, zone) for asked in outcome.asked)


def _score_probe(asked: ProbeView, lines: Sequence[tuple[int, str]], zone: tzinfo) -> ProbeScore:
    probe, answer = asked.probe, fold_text(asked.probe.answer)
    shown = [part_text(part) for message in asked.view.shown for part in message.parts]
    visible = [*asked.view.system, *(text for text in shown if text != probe.question)]
    indexed = [text for turn, text in lines if turn <= probe.after]
    indexed += [text for fold in asked.folds for text in _fold_log_lines(fold, zone)]
    best = rank_texts(probe.question, enumerate(indexed), BEST_RESULTS * 3)
    # The daily log repeats messages: without their times, equal ones count once.
    found = list(dict.fromkeys(" ".join(item.text.partition("] ")[2].split()) for item in best))[
        :BEST_RESULTS
    ]
    return ProbeScore(
        probe=probe,
        visible=any(answer in fold_text(text) for text in visible),
        found=any(answer in fold_text(text) for text in found),
    )


def _find_facts(turn: Turn) -> Iterator[tuple[str, str]]:
    """Yield up to MAX_PER_TURN sentences with the text to ask for, those with the most words
    first.
    """
    found: list[tuple[str, str]] = []
    remaining = MAX_READ_CHARS
    for message in turn.messages:
        for part in message.parts if message.role == "user" else ():
            if isinstance(part, Text | ToolResult):
                found += _facts_in_text(part.text[:remaining])
                remaining = max(0, remaining - len(part.text))
    counts = Counter(literal for _, literal in found)
    found = [(sentence, literal) for sentence, literal in found if counts[literal] == 1]
    yield from sorted(found, key=lambda fact: -len(lexical_question_terms(fact[0])))[:MAX_PER_TURN]


def _facts_in_text(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        for sentence in map(str.strip, split_line(line)[1]):
            if len(sentence) not in SENTENCE_CHARS or sentence.count("…"):
                continue
            literals = [match["quoted"] or match.group() for match in _LITERAL.finditer(sentence)]
            literal = max(literals, key=len, default="")
            if literal and len(lexical_question_terms(sentence.replace(literal, "…"))) > 1:
                yield sentence, literal


def _fold_log_lines(fold: SimulatedFold, zone: tzinfo) -> Iterator[str]:
    """Yield the lines of a fold's section in the daily log."""
    day = fold.messages[-1].at.astimezone(zone)
    for row in daily_log.iter_rows(fold.log):
        text = f"{row.speaker}: {row.text}" if row.speaker else row.text
        for piece in split_pieces(text):
            yield f"[{' '.join(filter(None, (f'{day:%Y-%m-%d}', row.time)))}] {piece}"


def _pick_evenly(items: Sequence[Item], limit: int) -> tuple[Item, ...]:
    """Pick up to `limit` items, evenly from start to end."""
    if len(items) <= limit:
        return tuple(items)
    return tuple(items[number * len(items) // limit] for number in range(limit))
