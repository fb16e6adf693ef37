"""Terms of a text: stems of words, and each pair of neighbouring characters in a CJK run.

There are two stemmers. Recall's index uses Snowball. `lexical_question_terms` and `rank_texts` use
one whose stems are prefixes of their words, so that a folded text can be searched for them without
splitting it. Each was measured in the other's place and lost: docs/decisions/0128-two-stemmers.md.
"""

import re
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log
from typing import Generic, TypeVar

from memory.text.language import CJK, CJK_CHARACTER
from memory.text.patterns import lazy_pattern
from memory.text.quoting import display_name

MAX_TERMS = 64  # of one question
MAX_STEMMED = 40  # characters of a word; none that is longer has an ending to remove
CACHED_STEMS = 16_384  # words, of 250 bytes each with its stem; to make one anew takes 2 µs
_RUN = lazy_pattern(f"[{CJK}]+|[^\\W_{CJK}]+")
_APOSTROPHE = lazy_pattern(r"(?<=[a-z])['’](?:s|t|d|m|re|ve|ll)\b")
# Words that carry no content in a question, and those of small talk, which recall leaves out as
# well.
_FUNCTION_WORDS = (
    "a about after again ago all also am an and any are as at be been before but by can could did "
    "do does doing ever few for from get go going got had has have he hello her hers hi him his "
    "how i if in into is it its just know let like me mention mentioned more my no not of off ok "
    "okay on once one or our out over please remember said say she should so some talk talked tell "
    "than thank thanks that the their them then there these they this those to told too up us was "
    "we were what when where which who whom whose why will with would yes you your"
)
_SMALL_TALK = (
    "ah alright aren bye continue cool couldn didn doesn don fine good goodbye great hadn haha "
    "hasn haven hey hmm isn ll lol next nice nope oh re really right shan shouldn sound sounds "
    "such sure understood ve very wasn weren won wouldn wow yeah yep"
)
_QUESTION_STOPS = frozenset(_FUNCTION_WORDS.split())
_STOP_WORDS = _QUESTION_STOPS | frozenset(_SMALL_TALK.split())
_STOP_PHRASES_ZH = lazy_pattern(
    "什么时候|为什么|怎么样|是不是|有没有|能不能|可不可以|记不"
    "记得|告诉我|知道了|没问题|接着说|再来|请问|什么|怎么|怎样"
    "|哪里|哪儿|哪个|哪些|哪天|多少|几个|我们|你们|他们|她们|咱"
    "们|这个|那个|这些|那些|一下|一个|一些|可以|能够|应该|已经"
    "|还是|或者|因为|所以|但是|如果|然后|记得|提到|提过|说过|聊"
    "过|讲过|知道|觉得|好的|好吧|好啊|谢谢|你好|您好|嗯嗯|没有"
    "|时候|之前|以前|曾经|关于|就是|继续|接着|明白|收到|辛苦|哈"
    "哈|不错|行吧|对的|是的|可能|[的了吗呢吧啊呀哦嗯我你您他她"
    "它们是很这那哪在和与或把被也都就还谁给跟]"
)
# Characters without meaning on their own; inside a word they have one.
_STOP_CHARACTERS = frozenset("好行对嗯哦噢喔要会有说想")


def fold_text(text: str) -> str:
    """Fold width and case."""
    return unicodedata.normalize("NFKC", text).casefold()


def text_terms(text: str) -> list[str]:
    """All terms of a text, in order, with repetitions."""
    found: list[str] = []
    for run in _RUN.findall(_APOSTROPHE.sub("", fold_text(text))):
        found.extend(_run_terms(run))
    return found


def question_terms(question: str, names: Iterable[str] = ()) -> list[str]:
    """The distinct terms of a question, without stop words and `names`; empty for a mere greeting
    or thanks.

    A single CJK character between stop words is a term of its own.
    """
    found: dict[str, None] = {}
    for piece in _meaningful_pieces(_remove_names(fold_text(question), names)):
        found.update(dict.fromkeys(_run_terms(piece)))
    return list(found)[:MAX_TERMS]


def is_small_talk(text: str) -> bool:
    """Whether a text has no term of a question, as a mere greeting or thanks; reads only as far as
    it must.
    """
    return next(_meaningful_pieces(fold_text(text)), None) is None


def _meaningful_pieces(folded: str) -> Iterator[str]:
    """The words, and parts of CJK runs, that are no stop words."""
    for found in _RUN.finditer(_APOSTROPHE.sub("", folded)):
        run = found.group()
        if CJK_CHARACTER.match(run):
            yield from (
                one for one in _STOP_PHRASES_ZH.split(run) if one and one not in _STOP_CHARACTERS
            )
        elif run not in _STOP_WORDS and not (len(run) == 1 and run.isalpha()):
            yield run


def cjk_characters(terms: Iterable[str]) -> list[str]:
    """The single CJK characters of terms, each once."""
    return list(
        dict.fromkeys(letter for term in terms if CJK_CHARACTER.match(term) for letter in term)
    )


def names_in_question(question: str, names: Iterable[str]) -> set[str]:
    """The names that occur in a question: in full, or the first word of a Latin name."""
    asked = fold_text(question)
    return {
        name
        for name in names
        if any(pattern.search(asked) for pattern in _name_patterns(fold_text(display_name(name))))
    }


def _remove_names(folded: str, names: Iterable[str]) -> str:
    for name in names:
        for pattern in _name_patterns(fold_text(display_name(name))):
            folded = pattern.sub(" ", folded)
    return folded


@lru_cache(maxsize=4_096)
def _name_patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """Patterns for a folded name; none for a name that is too short to recognise."""
    if CJK_CHARACTER.search(name):
        return (re.compile(re.escape(name)),) if len(name) > 1 else ()
    first, *rest = name.split() or [""]
    said = [name, first] if rest and len(first) > 2 else [name]
    return tuple(re.compile(rf"\b{re.escape(one)}\b") for one in said if len(one) > 1)


def _run_terms(run: str) -> Sequence[str]:
    return _cjk_terms(run) if CJK_CHARACTER.match(run) else (_stem_word(run),)


def _cjk_terms(run: str) -> Sequence[str]:
    return [one + other for one, other in pairwise(run)] or (run,)


def _stem_word(word: str) -> str:
    """A word's English stem (Porter 2); words of other languages stay nearly unchanged."""
    return _stem_english(word) if word.isascii() and len(word) <= MAX_STEMMED else word[:80]


@lru_cache(maxsize=CACHED_STEMS)
def _stem_english(word: str) -> str:
    import Stemmer  # .8 MB, from the first text on

    # A stemmer object holds the current word, so threads must not share one.
    return str(Stemmer.Stemmer("english").stemWord(word))


# Ranking of texts by their words

# The least share of a question's idf weight that a text must match. It is the highest value that
# loses no answer of 196 labelled questions on Chinese and English diaries: much of the weight is in
# words that no text has.
MIN_SCORE = 0.05
MIN_CHARACTER_SCORE = 0.3
SATURATION = 1.2
LENGTH_WEIGHT = 0.3

_SUFFIXES = ("ingly", "edly", "ings", "ing", "ies", "ied", "ily", "es", "ed", "ly", "s")

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedText(Generic[Key]):
    """A text found by `rank_texts`."""

    key: Key
    text: str
    #: 0 to 1, comparable within one question.
    score: float


def lexical_question_terms(text: str) -> list[str]:
    """The first distinct terms of a question without stop words; stems are prefixes of their
    words.
    """
    return lexical_terms(text)[:MAX_TERMS]


def lexical_terms(text: str) -> list[str]:
    """Like `lexical_question_terms`, all of them."""
    found: dict[str, None] = {}
    for run in _RUN.findall(fold_text(text)):
        if CJK_CHARACTER.match(run):
            for piece in filter(None, _STOP_PHRASES_ZH.split(run)):
                found.update(dict.fromkeys(_cjk_terms(piece)))
        elif run not in _QUESTION_STOPS:
            found[_prefix_stem(run)] = None
    return list(found)


def rank_texts(
    question: str, texts: Iterable[tuple[Key, str]], limit: int
) -> list[RankedText[Key]]:
    """Rank texts for a question, best first.

    Terms are weighted by their idf over `texts`. A text's score is the weight of the question's
    terms in it, damped for repetition and length, as a share of the question's total weight; texts
    below MIN_SCORE are not found. If pairs of characters find nothing, single characters are tried.
    """
    wanted = lexical_question_terms(question)
    rows = [_FoldedText(key=key, text=text, folded=fold_text(text)) for key, text in texts]
    found = _rank_rows(wanted, rows, MIN_SCORE) or _rank_rows(
        cjk_characters(wanted), rows, MIN_CHARACTER_SCORE
    )
    return sorted(found, key=lambda item: -item.score)[:limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class _FoldedText(Generic[Key]):
    key: Key
    text: str
    folded: str


def _rank_rows(
    wanted: Sequence[str], rows: Sequence[_FoldedText[Key]], floor: float
) -> list[RankedText[Key]]:
    touched = [row for row in rows if any(term in row.folded for term in wanted)]
    counted = [
        (row, counts) for row in touched if (counts := _term_frequencies(row.folded, wanted))
    ]
    weight = _term_weights(wanted, [counts for _, counts in counted], len(rows))
    mass = sum(weight.values())
    typical = sum(len(row.folded) for row in rows) / max(1, len(rows)) or 1.0
    return [
        RankedText(
            key=row.key,
            text=row.text,
            score=_score_text(counts, weight, len(row.folded) / typical) / mass,
        )
        for row, counts in counted
        if sum(weight[term] for term in counts) >= floor * mass
    ]


def _prefix_stem(word: str) -> str:
    """The word without its ending; always a prefix of it."""
    return _remove_ending(word) if len(word) <= MAX_STEMMED else word


@lru_cache(maxsize=CACHED_STEMS)
def _remove_ending(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word.removesuffix(suffix)
            break
    doubled = len(word) > 4 and word[-1] == word[-2]
    return word[:-1] if doubled or (len(word) > 3 and word[-1] in "eiy") else word


def _term_frequencies(folded: str, wanted: Sequence[str]) -> dict[str, int]:
    """Count the wanted terms that occur in a text."""
    counts = {term: count for term in wanted if (count := folded.count(term))}
    stems = [term for term in counts if not CJK_CHARACTER.match(term)]
    if stems:  # a stem may be found inside another word
        words = [_prefix_stem(run) for run in _RUN.findall(folded) if not CJK_CHARACTER.match(run)]
        counts |= {stem: words.count(stem) for stem in stems}
    return {term: count for term, count in counts.items() if count}


def _term_weights(
    wanted: Sequence[str], found: Sequence[dict[str, int]], rows: int
) -> dict[str, float]:
    weights = {}
    for term in wanted:
        having = sum(term in frequencies for frequencies in found)
        weights[term] = log(1 + (rows - having + 0.5) / (having + 0.5))
    return weights


def _score_text(frequencies: dict[str, int], weight: dict[str, float], relative: float) -> float:
    damp = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * relative)
    return sum(weight[term] * count / (count + damp) for term, count in frequencies.items())
