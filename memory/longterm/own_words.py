"""Checks that a text is what a person wrote themselves, in the same or in other words. Pure."""

import re

from memory.context.summary.grounding import GroundingSource
from memory.longterm.similarity import DENIAL, LineWording, normalize_key, read_wording, word_overlap

_SENTENCE = re.compile(r"[。！？!?;；\n]+|\.(?:\s|$)|^.{0,40}?[:：]")
_END = re.compile(r"(?<=[。！？!?;；\n])|(?<=\.)(?=\s)")
_QUESTION_END = re.compile(r"[?？吗呢么]$")
_CLAUSE = re.compile(r"[,，、]|\band\b")
_LEAD_IN = re.compile(
    r"^\W*+(?:(?:please|kindly|also|and|then|hey|hi|ok|okay)\W++)*+"
    r"(?:(?:remember|note|keep in mind|do not forget|don['’]t forget|never forget)(?:\s+that)?\b"
    r"|[请麻烦你帮我也再顺便，, ]*+(?:记住|记一下|记下来?|记得|别忘了?|不要忘了?))\W*",
    re.IGNORECASE,
)
# Words that a clause depends on: without them it may say something else than its sentence.
_CONDITIONAL = re.compile(
    r"\b(?:if|unless|when|whenever|until|except|only|instead|says?|said|told|asks?|asked|claims?|claimed|wants me"
    r"|writes?|wrote|written|states?|stated|reads|according|means?|explain|translate|summari[sz]e|quotes?|quoted"
    r"|heard|doubt|wrong|false)\b"
    r"|如果|要是|假如|除非|除了|只有|只要|直到|等到|的时候|说|告诉|声称|宣称|要我|让我|写|(?<![数证])据"
    r"|翻译|总结|解释|意思|假的|骗|不对|不是",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"^\W*+(?:(?:and|also|so|but|well|yes|oh|hi|hey|ok|okay|btw|by the way|还有|另外|对了|而且|其实)[\s,，]*+)*+"
    r"(?:(?:i|my|we|our)\b|[我咱俺])",
    re.IGNORECASE,
)
_HEARSAY = re.compile(r"\b(?:read|saw)\b|听|读到|看到|看见", re.IGNORECASE)
_COLON = re.compile(r"[:：](?!//|(?<=\d.)\d)")
_REFUSAL = re.compile(r"\b(?:never|not|no)\b(?! forget)|n['’]t\b(?! forget)|[不没](?!要?忘)|别(?!忘)", re.IGNORECASE)
MAX_LEAD = 100  # characters before a colon that are searched for a word that introduces a quotation
MAX_READ = 10_000  # characters compared in other words; of the rest, only literal sentences count
MIN_COVERED_SHARE = 0.6  # of a sentence's content that another wording must keep


class OwnWords:
    """What a person typed, prepared for checks whether it supports a text."""

    def __init__(self, words: str) -> None:
        own = _without_quotes(words)
        self._whole = {normalize_key(words), *(normalize_key(piece) for piece in _SENTENCE.split(own))}
        self._sentences = _sentences(own[:MAX_READ])

    def supports(self, text: str) -> bool:
        """Whether a text is all they wrote, one of their sentences, or rewords their sentences.

        A rewording keeps names, numbers, negations and order, adds nothing and leaves little out.
        """
        if normalize_key(text) in self._whole:
            return True
        sentences = _sentences(text)
        candidates = self._candidates()
        return bool(sentences) and all(any(_says_the_same(one, own) for own in candidates) for one in sentences)

    def nearest(self, text: str) -> str:
        """The sentence that shares most with a text, "" for none."""
        ranked = [(word_overlap(_bare_sentence(own), text), own) for own in self._sentences]
        most = max(ranked, default=(0.0, ""), key=lambda item: item[0])
        return most[1] if most[0] > 0 else ""

    def _candidates(self) -> list[str]:
        """Sentences without phrases like "remember that", and clauses of unconditional first-person sentences."""
        statements = [_bare_sentence(own) for own in self._sentences if not _QUESTION_END.search(own.rstrip())]
        divisible = [own for own in statements if _FIRST_PERSON.search(own) and not _is_conditional(own)]
        return [*statements, *(clause for own in divisible for clause in _CLAUSE.split(own) if clause.strip())]


def _sentences(words: str) -> list[str]:
    return [found.strip() for found in _END.split(words) if any(map(str.isalnum, found))]


def _without_quotes(words: str) -> str:
    """Remove lines with a colon after a word of reporting, asking or denying; if it ends its line, all that follows."""
    lines = []
    for line in words.splitlines():
        quote = next((colon for colon in _COLON.finditer(line) if _is_quote_lead(line, colon.start())), None)
        if quote is None:
            lines.append(line)
        elif not line[quote.end() :].strip():
            break
    return "\n".join(lines)


def _is_quote_lead(line: str, colon: int) -> bool:
    lead = _END.split(line[max(0, colon - MAX_LEAD) : colon])[-1]
    return bool(_CONDITIONAL.search(lead) or _REFUSAL.search(lead))


def _is_conditional(own: str) -> bool:
    return bool(_CONDITIONAL.search(own) or _HEARSAY.search(own)) or _is_negated(read_wording(own))


def _says_the_same(text: str, own: str) -> bool:
    one, other = read_wording(text), read_wording(own)
    words, own_words = frozenset(one.words), frozenset(other.words)
    if not words or not words <= own_words or one.moods != other.moods:
        return False
    if len(words) < MIN_COVERED_SHARE * len(own_words):
        return False
    if bool(_CONDITIONAL.search(text)) != bool(_CONDITIONAL.search(own)):
        return False
    return _in_order(one, other) and GroundingSource(own).holds(text)


def _in_order(one: LineWording, other: LineWording) -> bool:
    """Whether the shared words are in the same order: it decides who is whose boss."""
    shared = frozenset(one.bare)
    return list(one.bare) == [word for word in other.bare if word in shared]


def _is_negated(one: LineWording) -> bool:
    return any(word.startswith(DENIAL) for word in one.words)


def _bare_sentence(sentence: str) -> str:
    return _LEAD_IN.sub("", sentence)
