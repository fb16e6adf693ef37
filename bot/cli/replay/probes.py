"""Questions about what was said earlier: made from a recording itself, and put to what a policy left to be seen."""

import re
from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TypeVar

from bot.cli.replay.recording import Probe, Recording, words
from bot.cli.replay.simulate import Asked, Folded, Outcome
from memory.conversation import BOT, USER, Document, Message, Text, ToolResult, Turn
from memory.text.language import split
from memory.text.tokenizer import fold, lexical_question_terms, rank
from memory.workspace import daily_log

Item = TypeVar("Item")

MOST = 50
BEST = 5
"""Passages that a search gives; the answer must be in one of them."""
LATER = (3, 10, 30, 100, 300)
"""How many turns after its fact a question is put, in turn; at the last turn where there are not as many."""
PIECE, OVERLAP = 600, 40
"""Characters of a message that are searched as one, and how much two of them share."""
PER_TURN = 3
SENTENCE = range(16, 400)
MOST_READ = 200_000
"""Characters of one turn that are looked through for facts."""
_LITERAL = re.compile(
    r"(?<![a-z])[a-z]++://[^\s<>\"'`()\[\]{}，。；、！？]+"
    r"|[`\"“「『《](?P<quoted>[^`\"”」』》\n]{3,60})[`\"”」』》]"
    r"|(?<![\w.~/-])[\w.~-]*+/[\w.~/-]*\w"
    r"|(?<![A-Za-z\d])(?<!\d\.)[A-Za-z]*+[-_]?\d[\d.]*+(?:,\d{2,3})+(?:\.\d+)?(?!\d)"
    r"|(?<![A-Za-z])[A-Za-z]*+[-_]?\d[\w.:/-]*\w|\b\d{2,}\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What became of one probe. visible: its answer stands in the view it met; found: a search gives it."""

    probe: Probe
    visible: bool
    found: bool

    @property
    def either(self) -> bool:
        """Whether the bot could answer."""
        return self.visible or self.found


def with_probes(recording: Recording, most: int = MOST) -> Recording:
    """The recording with at most so many probes: its own, else ones made from it."""
    held = recording.probes or tuple(made(recording, most))
    return replace(recording, probes=_spread(held, most))


def made(recording: Recording, most: int) -> Iterator[Probe]:
    """Sentences of users and tools with a number, path, address or quotation that occurs in one turn only, that text
    left out; put some turns later. The same recording gives the same ones.
    """
    turns = recording.turns
    told = [fold("\n".join(words(part) for message in turn.messages for part in message.parts)) for turn in turns]
    known = fold("\n".join(recording.system))
    facts = [(place, *fact) for place, turn in enumerate(turns[:-1]) for fact in _facts(turn)]
    number = 0
    for place, sentence, literal in _spread(facts, most * 4):
        answer = fold(literal)
        if answer in known or any(answer in text for other, text in enumerate(told) if other != place):
            continue
        at = min(place + LATER[number % len(LATER)], len(turns) - 1)
        question = " ".join(sentence.replace(literal, "…").split())
        yield Probe(after=turns[at].number, question=question, answer=literal, fact_turn=turns[place].number)
        number += 1


def score(outcome: Outcome, recording: Recording, zone: tzinfo) -> tuple[Score, ...]:
    """How each probe of an outcome fared."""
    said = [(message.turn, text) for message in recording.messages for text in _said(message, zone)]
    return tuple(_score(asked, said, zone) for asked in outcome.asked)


def _score(asked: Asked, said: Sequence[tuple[int, str]], zone: tzinfo) -> Score:
    probe, answer = asked.probe, fold(asked.probe.answer)
    shown = [words(part) for message in asked.view.shown for part in message.parts]
    seen = [*asked.view.system, *(text for text in shown if text != probe.question)]
    texts = [text for turn, text in said if turn <= probe.after]
    texts += [text for done in asked.folds for text in _logged(done, zone)]
    best = rank(probe.question, enumerate(texts), BEST * 3)
    given = list(dict.fromkeys(_bare(item.text) for item in best))[:BEST]
    return Score(
        probe=probe,
        visible=any(answer in fold(text) for text in seen),
        found=any(answer in fold(text) for text in given),
    )


def _facts(turn: Turn) -> Iterator[tuple[str, str]]:
    """Sentences with the text to ask for, a few a turn, those of most words first."""
    found: list[tuple[str, str]] = []
    left = MOST_READ
    for message in turn.messages:
        for part in message.parts if message.role == "user" else ():
            if isinstance(part, Text | ToolResult):
                found += _facts_of(part.text[:left])
                left = max(0, left - len(part.text))
    once = Tally(literal for _, literal in found)
    found = [(sentence, literal) for sentence, literal in found if once[literal] == 1]
    yield from sorted(found, key=lambda fact: -len(lexical_question_terms(fact[0])))[:PER_TURN]


def _facts_of(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        for sentence in map(str.strip, split(line)[1]):
            if len(sentence) not in SENTENCE or sentence.count("…"):
                continue
            literals = [match["quoted"] or match.group() for match in _LITERAL.finditer(sentence)]
            literal = max(literals, key=len, default="")
            if literal and len(lexical_question_terms(sentence.replace(literal, "…"))) > 1:
                yield sentence, literal


def _said(message: Message, zone: tzinfo) -> Iterator[str]:
    """A message as the search of the bot has it: people's and the bot's words in pieces, no tool traffic."""
    text = " ".join(part.text for part in message.parts if isinstance(part, Text | Document) and part.text)
    speaker = USER if message.role == "user" else BOT
    for piece in _pieces(text) if text.strip() else ():
        yield f"[{message.at.astimezone(zone):%Y-%m-%d %H:%M}] {speaker}: {piece}"


def _logged(done: Folded, zone: tzinfo) -> Iterator[str]:
    """The lines of a fold's section in the diary."""
    day = done.messages[-1].at.astimezone(zone)
    for row in daily_log.rows(done.log):
        text = f"{row.speaker}: {row.text}" if row.speaker else row.text
        for piece in _pieces(text):
            yield f"[{' '.join(filter(None, (f'{day:%Y-%m-%d}', row.time)))}] {piece}"


def _pieces(text: str) -> Iterator[str]:
    step = PIECE - OVERLAP
    for at in range(0, max(1, len(text)), step):
        if at == 0 or len(text) - at > OVERLAP:
            yield text[at : at + PIECE]


def _bare(text: str) -> str:
    """Without the time before it: the diary repeats what was said, and once is enough."""
    return " ".join(text.partition("] ")[2].split())


def _spread(items: Iterable[Item], most: int) -> tuple[Item, ...]:
    """At most so many, evenly from beginning to end."""
    held = tuple(items)
    if len(held) <= most:
        return held
    return tuple(held[number * len(held) // most] for number in range(most))
