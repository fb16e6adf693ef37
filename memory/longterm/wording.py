"""What a line says apart from how it says it: content words, each affirmed or denied, and its moods. Pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory.context.writing import normal as in_figures
from memory.longterm.synonyms import CHINESE, CLAUSE, DENY, ENGLISH, MOODS, WHOLE
from memory.recall.terms import terms

HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_HAN = re.compile(f"[{HAN}]")


def _any_of(words: Sequence[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: -len(word)))


_ACCENT = re.compile("[\u0300-\u036f]")
_OUR = re.compile(r"(?<=[a-z]{3})our")
_POSSESSIVE = re.compile(r"'s?(?![a-z])")
_EACH_WEEK = re.compile("每(?=(?:周|星期|礼拜)[一二三四五六日天末])")
_DIRECTED = re.compile(
    r"\b(?:than|over|to|from|before|after|until)\b|比(?!较)|从[^从到往去\n]*+[到往去]|[给借还]|胜过|超过|多于|少于|不如|先[^先后再\n]*+[后再]"
)
_TOKEN = re.compile(
    rf"(?P<whole>{_any_of(sorted(WHOLE))})|(?P<zh>{_any_of(sorted(CHINESE))})"
    rf"|(?P<en>(?<![^\W\d_])(?:{_any_of(sorted(ENGLISH))})(?![^\W_{HAN}]|'[a-z]))"
    rf"|(?P<figure>\d+(?:\.\d+)*(?:(?:st|nd|rd|th)(?![a-z]))?)|(?P<word>[^\W\d_{HAN}]+(?:'[a-z]+)?[+#]*)|(?P<han>[{HAN}])|(?P<end>[,;。!?…()\n]|\.(?=\s|$))"
)
_PIECE = re.compile(rf"{DENY}|{CLAUSE}|«[a-z]+»|\d+|[a-z]+|[{HAN}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What a line says. said: its content words in order, `DENY` before what is denied; moods: see MOODS.

    directed: who does what to whom hangs on the order of its words.
    """

    said: tuple[str, ...]
    moods: frozenset[str]
    directed: bool

    @property
    def counted(self) -> Counter[str]:
        return Counter(self.said)

    @property
    def bare(self) -> tuple[str, ...]:
        """Its content words, whether affirmed or denied."""
        return tuple(word.removeprefix(DENY) for word in self.said)

    @property
    def figures(self) -> list[str]:
        return sorted(word for word in self.bare if word[0].isdigit())


@lru_cache(maxsize=2_048)
def wording(line: str) -> Wording:
    """Read a line of one sentence or a few."""
    plain = _plain(line)
    read = list(_tokens(plain))
    return Wording(
        said=tuple(word for clause in _clauses(read) for word in _judged(clause)),
        moods=frozenset(read) & MOODS,
        directed=_DIRECTED.search(plain) is not None,
    )


def _plain(line: str) -> str:
    """In figures, lower case, without accents; American spelling."""
    bare = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", in_figures(line))))
    return _EACH_WEEK.sub("", _POSSESSIVE.sub("", _OUR.sub("or", bare)))


def _tokens(plain: str) -> Iterator[str]:
    for match in _TOKEN.finditer(plain):
        found = match.group()
        if match.lastgroup in ("whole", "han"):
            yield from found
        elif match.lastgroup in ("zh", "en"):
            for piece in _PIECE.findall((CHINESE if match.lastgroup == "zh" else ENGLISH)[found]):
                yield from terms(piece) if piece.isascii() and piece.isalpha() else [piece]
        elif match.lastgroup == "figure":
            figure = found.rstrip("stndrh")
            yield figure if "." in figure else figure.lstrip("0") or "0"
        elif match.lastgroup == "end":
            yield CLAUSE
        else:
            yield from [found] if found[-1] in "+#" else terms(found)


def _clauses(read: Sequence[str]) -> Iterator[list[str]]:
    clause: list[str] = []
    for token in (*read, CLAUSE):
        if token == CLAUSE:
            yield clause
            clause = []
        elif token not in MOODS:
            clause.append(token)


def _judged(clause: list[str]) -> Iterator[str]:
    """Denied is what follows a denial; all of the clause where that is a bare verb, as in 香菜不吃."""
    if DENY not in clause:
        yield from clause
        return
    at = clause.index(DENY)
    after = [token for token in clause[at:] if token != DENY]
    before = clause[:at]
    topic = len(after) == 1 and len(before) > 1 and _HAN.match(after[0]) is not None
    yield from (DENY + token if topic else token for token in before)
    yield from (DENY + token for token in after)
