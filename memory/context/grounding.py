"""Whether a text says only what its source says: numbers, dates, paths, addresses, ids, quotations and names."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from memory.context.render import Utterance

_DATE = re.compile(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?")
_MONTH_DAY = re.compile(r"(?<!\d)(\d{1,2})月(\d{1,2})[日号]")
_YEAR_MONTH = re.compile(r"(\d{4})年(\d{1,2})月")
_DIGIT_GROUP = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER = re.compile(r"(?<![a-z0-9_])(?P<number>\d+(?:[.:/-]\d+)*)(?P<unit>[月日号]|(?:st|nd|rd|th)\b)?")
_WHOLE_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
_SHORT_ZERO = re.compile(r"(?<![\d.])0(?=\d(?!\d))")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^\s<>\"'`()\[\]{}，。；、！？「」《》“”]+")
_MAIL = re.compile(r"[a-z0-9_.+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_PATH = re.compile(
    r"(?<![a-z0-9_:/.])(?:~|\.{1,2}|[a-z]:)?(?:[/\\][a-z0-9_.@+~%-]+)+"
    r"|(?<![a-z0-9_:/.])[a-z0-9_.@+~%-]+(?:[/\\][a-z0-9_.@+~%-]+){2,}"
    r"|(?<![a-z0-9_:/.])(?:[a-z0-9_.@+~%-]+[/\\][a-z0-9_~%+-]+|[a-z0-9_~%+-]{2,})\.[a-z][a-z0-9]{1,4}(?![a-z0-9_])"
)
_TOKEN = re.compile(r"[a-z0-9_][a-z0-9_.-]*")
_MEASURE = re.compile(r"\d+(?:\.\d+)?(?:[a-z]{1,4})?")
_QUOTED = re.compile(r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|「([^」\n]+)」|『([^』\n]+)』|《([^》\n]+)》|`([^`\n]+)`")
_NAME = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Za-z]+|(?<![A-Za-z0-9_])[a-z]+[A-Z][A-Za-z]*")
_OPENING = re.compile(r"(?:^|[:：]\s*|[(（\[]\s*|[*_\"“「『《`]+)$")
_WORD = re.compile(r"[a-z][a-z0-9]*")
_MARKER = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+•]|\d{1,3}[.)、])\s+)?(?:\[[ xX]\]\s+)?")
_SENTENCE = re.compile(
    r"(?:`[^`]*`|「[^」]*」|『[^』]*』|《[^》]*》|“[^”]*”|\"[^\"]*\"|[^.!?。！？]|[.!?](?!\s|$))++[.!?。！？]*[”」』\"]?\s*|.+"
)
_PUNCTUATION = " \t.,;:!?。，；：！？、'’*_"
_OUR_MARKS = re.compile(r"\[\+\d+ messages, digest\]|recall\((?:turn=\d+|handle=\"[\d.]+\")\)")
_ALWAYS_KNOWN = frozenset({"user", "bot", "assistant", "ai", "ok", "english", "chinese", "the", "none"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """A text with what its source does not say taken out. share_dropped: of its sentences, headings not counted."""

    text: str
    dropped: tuple[str, ...]
    share_dropped: float


class Source:
    """A text made ready to be asked what it holds."""

    def __init__(self, text: str) -> None:
        self._text = normal(text)
        numbers = [match["number"] for match in _NUMBER.finditer(self._text)]
        self._numbers = frozenset(run for number in numbers for run in _runs(number))
        self._days = frozenset(part for number in numbers for part in _canonical(number).split("-"))
        self._words = frozenset(_WORD.findall(self._text))

    def holds(self, sentence: str, *, names: bool = True) -> bool:
        """Whether all that can be checked in the sentence occurs here."""
        plain = normal(sentence)
        return (
            all(map(self._counts, _NUMBER.finditer(plain)))
            and all(map(self._has, _literal(plain)))
            and not (names and any(not self._knows(name) for name in _names(sentence)))
        )

    def _counts(self, found: re.Match[str]) -> bool:
        """Whether the number occurs; a day or month also as part of a whole date."""
        number = _canonical(found["number"])
        return number in self._numbers or (found["unit"] is not None and number in self._days)

    def _has(self, piece: str) -> bool:
        """Whether the piece occurs, not as part of a longer word, number or dotted name."""
        at = self._text.find(piece)
        while at >= 0:
            end = at + len(piece)
            before, after = self._text[max(0, at - 1) : at], self._text[end : end + 2]
            if not (_joins(before) and _joins(piece[0])) and not (_joins(piece[-1]) and _goes_on(after)):
                return True
            at = self._text.find(piece, at + 1)
        return False

    def _knows(self, name: str) -> bool:
        word = normal(name)
        return not {word, word.removesuffix("s")}.isdisjoint(self._words | _ALWAYS_KNOWN)


def ground(text: str, source: str) -> Grounded:
    """Drop every sentence with something that does not occur in the source.

    What is compared is folded: compatibility forms, case, digit groups, the writing of dates. Sentences end as in
    English or in Chinese, or with the line; a list item keeps its mark while any sentence of it is left.
    """
    known = Source(source)
    lines: list[str] = []
    dropped: list[str] = []
    sentences = 0
    for line in text.splitlines():
        marker, parts = split(line)
        heading = line.lstrip().startswith("#")
        kept = [part for part in parts if known.holds(_OUR_MARKS.sub("", part), names=not heading)]
        dropped += [part.strip() for part in parts if part not in kept]
        sentences += 0 if heading else len(parts)
        if kept or not parts:
            lines.append((marker + "".join(kept)).rstrip())
    return Grounded(
        text="\n".join(lines).strip(), dropped=tuple(dropped), share_dropped=len(dropped) / max(1, sentences)
    )


def missing(said: Sequence[Utterance], log: str) -> list[tuple[Utterance, str]]:
    """Sentences with numbers, paths, addresses, ids or quotations that the log does not hold, each with who said it."""
    known = Source(log)
    lost: list[tuple[Utterance, str]] = []
    for utterance in said:
        sentences = [part for line in utterance.text.splitlines() for part in split(line)[1]]
        gone = [part.strip() for part in sentences if has_facts(part) and not known.holds(part, names=False)]
        if gone:
            lost.append((utterance, " ".join(dict.fromkeys(gone))))
    return lost


def has_facts(sentence: str) -> bool:
    """Whether there is a number, path, address, id or quotation in it."""
    plain = normal(sentence)
    return bool(_NUMBER.search(plain)) or any(True for _ in _literal(plain))


def split(line: str) -> tuple[str, list[str]]:
    """A line's list mark, and its sentences with the space behind them."""
    marker = _MARKER.match(line)
    start = marker.end() if marker else 0
    return line[:start], [part for part in _SENTENCE.findall(line[start:]) if part.strip()]


def normal(text: str) -> str:
    """A text with what does not count folded away: width, case, digit groups, spaces, the writing of dates."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    folded = _DIGIT_GROUP.sub("", folded)
    folded = _DATE.sub(r"\1-\2-\3", folded)
    folded = _YEAR_MONTH.sub(r"\1-\2 ", _MONTH_DAY.sub(r"\1-\2 ", folded))
    return " ".join(folded.split())


def _literal(plain: str) -> Iterator[str]:
    """What must occur to the letter in a folded sentence."""
    for pattern in (_URL, _MAIL, _PATH):
        for match in pattern.finditer(plain):
            yield match.group().rstrip(_PUNCTUATION + "/").removeprefix("./") or match.group()
    for match in _TOKEN.finditer(plain):
        token = match.group().rstrip(".-")
        mixed = any(map(str.isdigit, token)) and any(map(str.isalpha, token))
        if (mixed and not _MEASURE.fullmatch(token)) or "_" in token.strip("_"):
            yield token
    for match in _QUOTED.finditer(plain):
        for piece in next(filter(None, match.groups())).split("..."):
            if piece := piece.strip(_PUNCTUATION):
                yield piece


def _names(sentence: str) -> Iterator[str]:
    """Latin words with a capital inside a sentence, or in mixed case anywhere."""
    text = unicodedata.normalize("NFKC", sentence)
    for match in _NAME.finditer(text):
        word = match.group()
        mixed = not word.islower() and not word.istitle() and not word.isupper()
        if mixed or not _OPENING.search(text[: match.start()].rstrip() if match.start() else ""):
            yield word


def _runs(number: str) -> Iterator[str]:
    """A compound number and the unbroken runs of its parts that mean something alone: of 2026-11-20 also 11-20 and
    2026, of 10-20 both ends, of 9:30:15 also 9:30, but not the minutes of a time or the day of a date.
    """
    whole = _canonical(number)
    pieces = re.split(r"([:/-])", whole)
    alone = ":" not in whole and not _WHOLE_DATE.fullmatch(whole)
    for start, stop in combinations(range(0, len(pieces) + 2, 2), 2):
        if alone or stop - start > 2 or len(pieces) == 1 or len(pieces[start]) == 4:
            yield "".join(pieces[start : stop - 1])


def _canonical(number: str) -> str:
    return _SHORT_ZERO.sub("", number)


def _joins(character: str) -> bool:
    return bool(character) and character.isascii() and (character.isalnum() or character == "_")


def _goes_on(after: str) -> bool:
    return _joins(after[:1]) or (after[:1] == "." and _joins(after[1:2]))
