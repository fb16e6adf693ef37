"""Talk without tools: themes with words of their own, from which questions and answers of any length are made."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.cases.script import Script


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """What is talked about. asks, says: sentences with {slots}; words: what may stand in each slot.

    A slot `n` is a number. gap: what stands between two sentences, "" in Chinese.
    """

    asks: Sequence[str]
    says: Sequence[str]
    words: Mapping[str, Sequence[str]]
    gap: str = " "


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A turn that is not made up: at which turn of its theme, what is said, what is answered, and probes about it."""

    at: int
    user: str
    reply: str = ""
    asked: Sequence[tuple[str, str]] = ()
    later: int = 0


class Talker:
    """Makes the sentences of a theme, each template as seldom as the others."""

    def __init__(self, rng: random.Random, theme: Theme) -> None:
        self.rng = rng
        self.theme = theme
        self.left: dict[int, list[str]] = {}

    def question(self) -> str:
        return self._next(self.theme.asks)

    def answer(self, chars: int) -> str:
        """At least one sentence, about so many characters in all."""
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


def talk(script: Script, theme: Theme, turns: int, chars: tuple[int, int], told: Sequence[Said] = ()) -> None:
    """Append so many turns about a theme. chars: least and most of a reply; told: turns with a text of their own."""
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
