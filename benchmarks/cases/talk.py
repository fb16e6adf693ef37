"""Conversations without tools: questions and answers of any length, made from themes."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.cases.script import Script


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """Templates of one topic."""

    #: Questions with {slots}; the slot `n` is a number.
    asks: Sequence[str]
    #: Sentences of answers with {slots}.
    says: Sequence[str]
    #: Words for each slot.
    words: Mapping[str, Sequence[str]]
    #: Between two sentences, "" in Chinese.
    gap: str = " "


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A turn with a fixed text, and probes about it."""

    #: Number of the turn in its theme.
    at: int
    user: str
    reply: str = ""
    asked: Sequence[tuple[str, str]] = ()
    later: int = 0


class Talker:
    """Makes the sentences of a theme; uses each template equally often."""

    def __init__(self, rng: random.Random, theme: Theme) -> None:
        self.rng = rng
        self.theme = theme
        self.left: dict[int, list[str]] = {}

    def question(self) -> str:
        return self._next(self.theme.asks)

    def answer(self, chars: int) -> str:
        """Make one or more sentences of about so many characters."""
        said = [self._next(self.theme.says)]
        while sum(map(len, said)) < chars:
            said.append(self._next(self.theme.says))
        return self.theme.gap.join(said)

    def _next(self, templates: Sequence[str]) -> str:
        left = self.left.setdefault(id(templates), [])
        if not left:
            left += self.rng.sample(templates, len(templates))
        words = {slot: self.rng.choice(choices) for slot, choices in self.theme.words.items()}
        text = left.pop().format(n=self.rng.randint(2, 96), **words)
        return text[:1].upper() + text[1:]


def talk(
    script: Script, theme: Theme, turns: int, chars: tuple[int, int], told: Sequence[Said] = ()
) -> None:
    """Append so many turns about a theme. chars: range of a reply's length; told: turns with a
    fixed text.
    """
    talker = Talker(script.rng, theme)
    fixed = {item.at: item for item in told}
    for number in range(1, turns + 1):
        filler = talker.answer(script.rng.randint(*chars))
        item = fixed.get(number)
        if item is None:
            script.turn(talker.question(), reply=filler)
            continue
        script.turn(item.user, reply=theme.gap.join(filter(None, (item.reply, filler))))
        for question, answer in item.asked:
            script.ask(question, answer, later=item.later)
