"""Whether what is to be noted is what a person wrote themselves, in the same or in other words. Pure."""

import re

from memory.context.summary.grounding import Source
from memory.longterm.similarity import DENY, Wording, normal, overlap, wording

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
    r"\b(?:if|unless|when|whenever|until|except|only|instead|says?|said|told|asks?|asked|claims?|claimed|wants me"
    r"|writes?|wrote|written|states?|stated|reads|according|means?|explain|translate|summari[sz]e|quotes?|quoted"
    r"|heard|doubt|wrong|false)\b"
    r"|如果|要是|假如|除非|除了|只有|只要|直到|等到|的时候|说|告诉|声称|宣称|要我|让我|写|(?<![数证])据"
    r"|翻译|总结|解释|意思|假的|骗|不对|不是",
    re.IGNORECASE,
)
"""Words that a clause hangs on: without them it may say something else than the sentence it was taken from."""
_FIRST_PERSON = re.compile(
    r"^\W*+(?:(?:and|also|so|but|well|yes|oh|hi|hey|ok|okay|btw|by the way|还有|另外|对了|而且|其实)[\s,，]*+)*+"
    r"(?:(?:i|my|we|our)\b|[我咱俺])",
    re.IGNORECASE,
)
_HEARD = re.compile(r"\b(?:read|saw)\b|听|读到|看到|看见", re.IGNORECASE)
_COLON = re.compile(r"[:：](?!//|(?<=\d.)\d)")
_REFUSES = re.compile(r"\b(?:never|not|no)\b(?! forget)|n['’]t\b(?! forget)|[不没](?!要?忘)|别(?!忘)", re.IGNORECASE)
MOST_LEAD = 100
"""Characters before a colon that are looked through for a word which says that what follows is not their own."""
MOST_READ = 10_000
"""Characters of a message that are compared in other words; of the rest, whole sentences are taken as they stand."""
LEAST_COVERED = 0.6
"""Share of a sentence's content that another wording of it must keep."""


class OwnWords:
    """What a person typed, made ready to be asked what it bears out."""

    def __init__(self, words: str) -> None:
        own = _without_quotes(words)
        self._whole = {normal(words), *(normal(piece) for piece in _SENTENCE.split(own))}
        self._sentences = _sentences(own[:MOST_READ])

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
        """Sentences, without what only asks to note them; clauses too, where the person speaks of themselves from the
        first one on and nothing in the sentence hangs on another.
        """
        found = [_bare_of(own) for own in self._sentences if not _ASKS.search(own.rstrip())]
        loose = [own for own in found if _FIRST_PERSON.search(own) and not _is_bound(own)]
        return [*found, *(piece for own in loose for piece in _CLAUSE.split(own) if piece.strip())]


def _sentences(words: str) -> list[str]:
    return [found.strip() for found in _END.split(words) if any(map(str.isalnum, found))]


def _without_quotes(words: str) -> str:
    """Without what stands in a line behind a colon after a word of reporting, asking or denying; where the colon ends
    its line, without all that follows.
    """
    kept = []
    for line in words.splitlines():
        quote = next((colon for colon in _COLON.finditer(line) if _announces(line, colon.start())), None)
        if quote is None:
            kept.append(line)
        elif not line[quote.end() :].strip():
            break
    return "\n".join(kept)


def _announces(line: str, colon: int) -> bool:
    lead = _END.split(line[max(0, colon - MOST_LEAD) : colon])[-1]
    return bool(_BOUND.search(lead) or _REFUSES.search(lead))


def _is_bound(own: str) -> bool:
    return bool(_BOUND.search(own) or _HEARD.search(own)) or _denies(wording(own))


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
