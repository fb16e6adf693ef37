"""Whether what is to be noted is what a person wrote themselves, in the same or in other words. Pure."""

import re

from memory.context.grounding import Source
from memory.longterm.similarity import normal, overlap
from memory.longterm.synonyms import DENY
from memory.longterm.wording import Wording, wording

_SENTENCE = re.compile(r"[。！？!?;；\n]+|\.(?:\s|$)|^.{0,40}?[:：]")
_END = re.compile(r"(?<=[。！？!?;；\n])|(?<=\.)(?=\s)")
_ASKS = re.compile(r"[?？吗呢么]$")
_CLAUSE = re.compile(r"[,，、]|\band\b")
_LEAD = re.compile(
    r"^\W*+(?:(?:please|kindly|also|and|then|hey|hi|ok|okay)\W++)*+"
    r"(?:(?:remember|note|keep in mind|do not forget|don['’]t forget|never forget)(?:\s+that)?\b"
    r"|[请麻烦你帮我也再顺便，, ]*+(?:记住|记一下|记下来?|记得|别忘了?|不要忘了?))\W*",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:if|unless|when|whenever|until|except|only|instead|says?|said|told|asks?|asked|claims?|wants me)\b"
    r"|如果|要是|假如|除非|除了|只有|只要|直到|等到|的时候|说|告诉|声称|要我|让我",
    re.IGNORECASE,
)
"""Words that a clause hangs on: without them it may say something else than the sentence it was taken from."""
MOST_READ = 10_000
"""Characters of a message that are compared in other words; of the rest, whole sentences are taken as they stand."""
LEAST_COVERED = 0.6
"""Share of a sentence's content that another wording of it must keep."""


class OwnWords:
    """What a person typed, made ready to be asked what it bears out."""

    def __init__(self, words: str) -> None:
        self._whole = {normal(words), *(normal(piece) for piece in _SENTENCE.split(words))}
        self._sentences = _sentences(words[:MOST_READ])

    def bear_out(self, text: str) -> bool:
        """Whether it is all that they wrote or whole sentences of it, or each of its sentences is one of theirs in
        other words: names, figures, negations and order the same, nothing added, little left out.
        """
        if normal(text) in self._whole:
            return True
        told = _sentences(text)
        return bool(told) and all(any(_same(one, own) for own in self._candidates()) for one in told)

    def nearest(self, text: str) -> str:
        """Their sentence that shares most with a text; "" where none shares anything."""
        ranked = [(overlap(_bare_of(own), text), own) for own in self._sentences]
        most = max(ranked, default=(0.0, ""), key=lambda item: item[0])
        return most[1] if most[0] > 0 else ""

    def _candidates(self) -> list[str]:
        """Sentences, without what only asks to note them; clauses too, of those that nothing in them hangs on."""
        found = [_bare_of(own) for own in self._sentences if not _ASKS.search(own.rstrip())]
        loose = [own for own in found if not _BOUND.search(own) and not _denies(wording(own))]
        return [*found, *(piece for own in loose for piece in _CLAUSE.split(own) if piece.strip())]


def _sentences(words: str) -> list[str]:
    return [found.strip() for found in _END.split(words) if any(map(str.isalnum, found))]


def _same(told: str, own: str) -> bool:
    one, other = wording(told), wording(own)
    said, known = frozenset(one.said), frozenset(other.said)
    if not said or not said <= known or one.moods != other.moods:
        return False
    if len(said) < LEAST_COVERED * len(known) or bool(_BOUND.search(told)) != bool(_BOUND.search(own)):
        return False
    return _in_order(one, other) and Source(own).holds(told)


def _in_order(one: Wording, other: Wording) -> bool:
    """Whether the words of the one stand in the other in their order: who is whose boss hangs on it."""
    shared = frozenset(one.bare)
    return list(one.bare) == [word for word in other.bare if word in shared]


def _denies(one: Wording) -> bool:
    return any(word.startswith(DENY) for word in one.said)


def _bare_of(sentence: str) -> str:
    return _LEAD.sub("", sentence)
