"""Questions about what was said earlier: made from a recording itself, and put to what a policy left to be seen."""

import re
from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TypeVar

from bot.cli.replay.recording import Recording, ReplayProbe, part_text
from bot.cli.replay.simulate import ProbeView, ReplayOutcome, SimulatedFold
from memory.conversation import BOT_SPEAKER, USER_SPEAKER, Document, Message, Text, ToolResult, Turn
from memory.text.language import split_line
from memory.text.tokenizer import fold_text, lexical_question_terms, rank_texts
from memory.workspace import daily_log

Item = TypeVar("Item")

MAX_PROBES = 50
BEST_RESULTS = 5  # passages that a search gives; the answer must be in one of them
# How many turns after its fact a question is put, in turn; at the last turn where there are not as many.
PROBE_DISTANCES = (3, 10, 30, 100, 300)
PIECE_CHARS, OVERLAP_CHARS = 600, 40  # characters of a message that are searched as one, and how much two of them share
MAX_PER_TURN = 3
SENTENCE_CHARS = range(16, 400)
MAX_READ_CHARS = 200_000  # characters of one turn that are looked through for facts
_LITERAL = re.compile(
    r"(?<![a-z])[a-z]++://[^\s<>\"'`()\[\]{}，。；、！？]+"
    r"|[`\"“「『《](?P<quoted>[^`\"”」』》\n]{3,60})[`\"”」』》]"
    r"|(?<![\w.~/-])[\w.~-]*+/[\w.~/-]*\w"
    r"|(?<![A-Za-z\d])(?<!\d\.)[A-Za-z]*+[-_]?\d[\d.]*+(?:,\d{2,3})+(?:\.\d+)?(?!\d)"
    r"|(?<![A-Za-z])[A-Za-z]*+[-_]?\d[\w.:/-]*\w|\b\d{2,}\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeScore:
    """What became of one probe."""

    probe: ReplayProbe
    #: Its answer stands in the view it met.
    visible: bool
    #: A search gives it.
    found: bool

    @property
    def either(self) -> bool:
        """Whether the bot could answer."""
        return self.visible or self.found


def with_probes(recording: Recording, most: int = MAX_PROBES) -> Recording:
    """The recording with at most so many probes: its own, else ones made from it."""
    held = recording.probes or tuple(make_probes(recording, most))
    return replace(recording, probes=_pick_evenly(held, most))


def make_probes(recording: Recording, most: int) -> Iterator[ReplayProbe]:
    """Sentences of users and tools with a number, path, address or quotation that occurs in one turn only, that text
    left out; put some turns later. The same recording gives the same ones.
    """
    turns = recording.turns
    told = [
        fold_text("\n".join(part_text(part) for message in turn.messages for part in message.parts)) for turn in turns
    ]
    known = fold_text("\n".join(recording.system))
    facts = [(place, *fact) for place, turn in enumerate(turns[:-1]) for fact in _find_facts(turn)]
    number = 0
    for place, sentence, literal in _pick_evenly(facts, most * 4):
        answer = fold_text(literal)
        if answer in known or any(answer in text for other, text in enumerate(told) if other != place):
            continue
        at = min(place + PROBE_DISTANCES[number % len(PROBE_DISTANCES)], len(turns) - 1)
        question = " ".join(sentence.replace(literal, "…").split())
        yield ReplayProbe(after=turns[at].number, question=question, answer=literal, fact_turn=turns[place].number)
        number += 1


def score_probes(outcome: ReplayOutcome, recording: Recording, zone: tzinfo) -> tuple[ProbeScore, ...]:
    """How each probe of an outcome fared."""
    said = [(message.turn, text) for message in recording.messages for text in _message_line(message, zone)]
    return tuple(_score_probe(asked, said, zone) for asked in outcome.asked)


def _score_probe(asked: ProbeView, said: Sequence[tuple[int, str]], zone: tzinfo) -> ProbeScore:
    probe, answer = asked.probe, fold_text(asked.probe.answer)
    shown = [part_text(part) for message in asked.view.shown for part in message.parts]
    seen = [*asked.view.system, *(text for text in shown if text != probe.question)]
    texts = [text for turn, text in said if turn <= probe.after]
    texts += [text for done in asked.folds for text in _fold_log_text(done, zone)]
    best = rank_texts(probe.question, enumerate(texts), BEST_RESULTS * 3)
    given = list(dict.fromkeys(_strip_marks(item.text) for item in best))[:BEST_RESULTS]
    return ProbeScore(
        probe=probe,
        visible=any(answer in fold_text(text) for text in seen),
        found=any(answer in fold_text(text) for text in given),
    )


def _find_facts(turn: Turn) -> Iterator[tuple[str, str]]:
    """Sentences with the text to ask for, a few a turn, those of most words first."""
    found: list[tuple[str, str]] = []
    left = MAX_READ_CHARS
    for message in turn.messages:
        for part in message.parts if message.role == "user" else ():
            if isinstance(part, Text | ToolResult):
                found += _facts_in_text(part.text[:left])
                left = max(0, left - len(part.text))
    once = Tally(literal for _, literal in found)
    found = [(sentence, literal) for sentence, literal in found if once[literal] == 1]
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


def _message_line(message: Message, zone: tzinfo) -> Iterator[str]:
    """A message as the search of the bot has it: people's and the bot's words in pieces, no tool traffic."""
    text = " ".join(part.text for part in message.parts if isinstance(part, Text | Document) and part.text)
    speaker = USER_SPEAKER if message.role == "user" else BOT_SPEAKER
    for piece in _overlapping_pieces(text) if text.strip() else ():
        yield f"[{message.at.astimezone(zone):%Y-%m-%d %H:%M}] {speaker}: {piece}"


def _fold_log_text(done: SimulatedFold, zone: tzinfo) -> Iterator[str]:
    """The lines of a fold's section in the diary."""
    day = done.messages[-1].at.astimezone(zone)
    for row in daily_log.iter_rows(done.log):
        text = f"{row.speaker}: {row.text}" if row.speaker else row.text
        for piece in _overlapping_pieces(text):
            yield f"[{' '.join(filter(None, (f'{day:%Y-%m-%d}', row.time)))}] {piece}"


def _overlapping_pieces(text: str) -> Iterator[str]:
    step = PIECE_CHARS - OVERLAP_CHARS
    for at in range(0, max(1, len(text)), step):
        if at == 0 or len(text) - at > OVERLAP_CHARS:
            yield text[at : at + PIECE_CHARS]


def _strip_marks(text: str) -> str:
    """Without the time before it: the diary repeats what was said, and once is enough."""
    return " ".join(text.partition("] ")[2].split())


def _pick_evenly(items: Iterable[Item], most: int) -> tuple[Item, ...]:
    """At most so many, evenly from beginning to end."""
    held = tuple(items)
    if len(held) <= most:
        return held
    return tuple(held[number * len(held) // most] for number in range(most))
