"""Grounding: checks that numbers, dates, paths, addresses, ids, quotations and names occur in the
source.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from memory.context.summary.transcript import Utterance
from memory.text import numbers
from memory.text.language import CJK, overlapping_segments, split_line, split_segments
from memory.text.normalize import normalize_text, tighten_text
from memory.text.patterns import lazy_pattern
from memory.text.tokenizer import fold_text, lexical_question_terms

MENTIONED_SHARE = 0.6  # of a sentence's content words that make it mentioned in a text
MAX_CHUNK = 8_000  # characters of a source that are searched for numbers at once, in 4 ms
MAX_PATH_STEP = 255  # characters of one path component that are searched for a file suffix

_PATH_CHARACTER = f"[a-z0-9_.@+~%{CJK}-]"
# Each pattern starts only at the beginning of its run of characters, so that matching takes linear
# time. The match is the last group, if there is one.
_URL = lazy_pattern(
    r"(?<![a-z0-9+.-])[0-9+.-]*+([a-z][a-z0-9+.-]*+://[a-z0-9._~:/?#@!$&*+,;=%-]+"
    rf"(?:(?<=[/=])[{CJK}][{CJK}a-z0-9_.%-]*)?)"
)
_EMAIL = lazy_pattern(r"(?<![a-z0-9_.+-])[a-z0-9_.+-]++@[a-z0-9-]++(?:\.[a-z0-9-]++)++")
_FILE_SUFFIX = r"\.[a-z][a-z0-9]{1,4}(?![a-z0-9_])"
_LATIN_PATH_CHARACTER = "[a-z0-9_.@+~%-]"
# After the first part of a file name: further parts, each before a dot, and the suffix.
_FILE_ENDING = rf"(?:\.[a-z0-9_~%+-]{{1,40}}+(?=\.[a-z0-9])){{0,4}}+{_FILE_SUFFIX}"
_PATH_STEP = (
    rf"(?:(?={_LATIN_PATH_CHARACTER}*+[{CJK}]){_PATH_CHARACTER}++(?=[/\\])|{_LATIN_PATH_CHARACTER}*+[{CJK}]{_PATH_CHARACTER}{{0,{MAX_PATH_STEP}}}{_FILE_SUFFIX}"
    rf"|{_LATIN_PATH_CHARACTER}++)"
)
_PATH = lazy_pattern(
    rf"(?<![a-z0-9_:/.])((?:~|\.{{1,2}}|[a-z]:)?(?:[/\\]{_PATH_STEP})++)"
    rf"|(?<!{_LATIN_PATH_CHARACTER})(?:(?<![:/])|[a-z0-9_.]*+[@+~%-])"
    rf"({_LATIN_PATH_CHARACTER}++(?:[/\\]{_PATH_STEP}){{2,}}+|{_LATIN_PATH_CHARACTER}++[/\\][a-z0-9_~%+-]++{_FILE_ENDING})"
    rf"|(?<![a-z0-9_~%+-])(?:(?<![:/.])|[a-z0-9_]*+[~%+-])([a-z0-9_~%+-]{{2,}}+{_FILE_ENDING})"
    rf"|(?<![a-z0-9_:/.])([{CJK}]{{1,2}}{_FILE_SUFFIX})"
)
_TOKEN = lazy_pattern(r"[a-z0-9_][a-z0-9_.-]*")
_HEX = lazy_pattern(r"(?=[a-f]{0,39}+\d)(?=\d{0,39}+[a-f])[0-9a-f]{7,40}")
_QUOTED = lazy_pattern(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|「([^」\n]{1,300})」|『([^』\n]{1,300})』|《([^》\n"
    r"]{1,300})》|`([^`\n]+)`|(?<![a-z0-9])'([^'\n]{2,300})'(?![a-z0-9])"
)
_NAME = lazy_pattern(r"(?<![A-Za-z0-9_])(?:[A-Z][A-Za-z]+|[a-z]+[A-Z][A-Za-z]*)(?![A-Za-z0-9_])")
_OPENING = lazy_pattern(r"(?:^(?:\d\d:\d\d)?|[:：]\s*|[(（\[]\s*|[*_\"“「『《`])$")
_SURNAME = (
    "[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许韩邓"
    "冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆"
    "范汪廖石金韦贾夏付方邹熊孟秦邱侯江尹薛闫段雷龙史陶贺毛郝顾龚邵万钱戴严莫孔向常]"
)
_CHINESE_NAME = lazy_pattern(
    rf"(?:[姓名]名?[是为叫:]|名叫|叫做?)({_SURNAME}[\u4e00-\u9fff]{{1,2}})(?=[,。、;.!?)\s]|$)"
)
_CHINESE_TITLE = lazy_pattern(
    rf"({_SURNAME}(?:先生|女士|老师|医生|大夫|经理|教授|同学|小姐|阿姨|叔叔|师傅|律师|护士|主任))"
)
_WORD = lazy_pattern(r"[a-z][a-z0-9]*")
_PUNCTUATION = " \t.,;:!?。，；：！？、'’*_"
_RECALL = r"recall\((?:turn=\d+|handle=\"[^\"\n]{1,90}\")\)"
# What the program writes into texts: handles, the digest's mark, and the sizes of data (see
# excerpts).
_INTERNAL_MARKS = lazy_pattern(
    rf"\[\+\d+ messages, digest\]|(?:\[\.\.\. )?(?<!\d)\d++ characters snipped; {_RECALL} shows "
    rf"them|{_RECALL}|\[(?:code|table|data|output|代码|表格|数据|日志)[,，] ?\d+ (?:lines?|行)"
    r"|(?:long text, |长文，)\d+ (?:characters|字)"
)
_ALWAYS_KNOWN = frozenset(
    {"user", "bot", "assistant", "ai", "ok", "english", "chinese", "the", "none", "am", "pm"}
    # units are checked with their numbers
    | {"usd", "eur", "rmb", "cny", "gbp", "jpy", "kb", "mb", "gb", "tb"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedText:
    """A text without its unsupported sentences."""

    text: str
    dropped: tuple[str, ...]
    #: Share of dropped sentences, without headings.
    share_dropped: float


class GroundingSource:
    """A source text, prepared for checks of sentences against it."""

    def __init__(self, text: str) -> None:
        plain = normalize_text(text)
        pieces = list(overlapping_segments(plain, MAX_CHUNK))
        self._figures = set[str]().union(*map(numbers.known_numbers, pieces))
        self._text = plain.replace("\n", " ")
        self._tight = tighten_text(plain)
        self._words = frozenset(word for piece in pieces for word in _WORD.findall(piece))
        self._known: dict[str, bool] = {}

    def holds(self, sentence: str, *, names: bool = True) -> bool:
        """Whether all facts of the sentence occur in the source."""
        plain = normalize_text(sentence)
        return self.has_all(plain) and (not names or all(map(self._knows, names_in(sentence))))

    def has_all(self, plain: str) -> bool:
        """Whether the numbers and literals of a normalised sentence occur in the source."""
        return all(
            not self._figures.isdisjoint(choice) for choice in numbers.wanted_numbers(plain)
        ) and all(map(self._has, find_literals(plain)))

    def _has(self, piece: str) -> bool:
        if piece not in self._known:
            self._known[piece] = _is_in_text(piece, self._text, self._tight)
        return self._known[piece]

    def _knows(self, name: str) -> bool:
        word = normalize_text(name)
        if choice := numbers.wanted_for_name(word):
            return not self._figures.isdisjoint(choice) or word in self._words
        return not {word, word.removesuffix("s")}.isdisjoint(self._words | _ALWAYS_KNOWN)


def ground_text(text: str, source: str | GroundingSource) -> GroundedText:
    """Drop every sentence with a fact that does not occur in the source.

    Both are normalised: compatibility forms, case, digit groups, date formats. A list item keeps
    its mark while any of its sentences is left.
    """
    known = GroundingSource(source) if isinstance(source, str) else source
    lines: list[str] = []
    dropped: list[str] = []
    count = 0
    for line in text.splitlines():
        marker, parts = split_line(line)
        heading = line.lstrip().startswith("#")
        supported = {
            part: known.holds(_INTERNAL_MARKS.sub("", part), names=not heading)
            for part in dict.fromkeys(parts)
        }
        kept = [part for part in parts if supported[part]]
        dropped += [part.strip() for part in parts if not supported[part]]
        count += 0 if heading else len(parts)
        if kept or not parts:
            lines.append((marker + "".join(kept)).rstrip())
    return GroundedText(
        text="\n".join(lines).strip(),
        dropped=tuple(dropped),
        share_dropped=len(dropped) / max(1, count),
    )


class FactIndex:
    """The facts of a text that grows line by line."""

    def __init__(self) -> None:
        self._figures: set[str] = set()
        self._text = ""
        self._tight = ""

    def add(self, text: str) -> None:
        """Add lines."""
        plain = normalize_text(text)
        for piece in overlapping_segments(plain, MAX_CHUNK):
            self._figures |= numbers.known_numbers(piece)
        self._text = f"{self._text} {plain}".replace("\n", " ")
        self._tight = f"{self._tight} {tighten_text(plain)}"

    def has_all(self, sentence: str) -> bool:
        """Whether the text has all numbers and literals of a sentence."""
        plain = normalize_text(sentence)
        return all(
            not self._figures.isdisjoint(choice) for choice in numbers.wanted_numbers(plain)
        ) and all(_is_in_text(piece, self._text, self._tight) for piece in find_literals(plain))


def has_facts(sentence: str) -> bool:
    """Whether the sentence has a number, path, address, id or quotation."""
    plain = normalize_text(sentence)
    return numbers.has_number(plain) or any(True for _ in find_literals(plain))


def split_sentences(said: Utterance) -> list[str]:
    """The sentences of an utterance, without line breaks; a line end also ends a sentence."""
    return [
        " ".join(part.split()) for line in said.text.splitlines() for part in split_line(line)[1]
    ]


def is_mentioned(text: str, sentence: str) -> bool:
    """Whether a text contains most content words of a sentence."""
    wanted, said = lexical_question_terms(sentence), fold_text(text)
    return sum(term in said for term in wanted) >= MENTIONED_SHARE * len(wanted)


def find_literals(plain: str) -> Iterator[str]:
    """The literals of a normalised sentence: addresses, paths, ids, quotations, Chinese names."""
    for piece in split_segments(plain):
        yield from _literals(piece)


def _literals(plain: str) -> Iterator[str]:
    yield from _addresses(plain)
    yield from _codes(plain)
    for match in _QUOTED.finditer(plain):
        for piece in next(filter(None, match.groups())).split("..."):
            if piece := piece.strip(_PUNCTUATION):
                yield piece
    if not plain.isascii():
        for pattern in (_CHINESE_NAME, _CHINESE_TITLE):
            yield from (match.group(1) for match in pattern.finditer(plain))


def _addresses(plain: str) -> Iterator[str]:
    """Yield URLs, mail addresses and paths."""
    for pattern in (_URL, _EMAIL, _PATH):
        for match in pattern.finditer(plain):
            address = match[match.lastindex or 0]
            if pattern is not _PATH or _is_path(address):
                yield address.rstrip(_PUNCTUATION + "/").removeprefix("./") or address


def _codes(plain: str) -> Iterator[str]:
    """Yield tokens of letters and digits that are no numbers, and names with underscores."""
    for match in _TOKEN.finditer(plain):
        token = match.group().rstrip(".-")
        mixed = any(map(str.isdigit, token)) and any(map(str.isalpha, token))
        if (mixed and not numbers.is_number_token(token)) or "_" in token.strip("_"):
            yield token


def _is_path(found: str) -> bool:
    """Whether a match is a path; Chinese words between slashes are usually alternatives."""
    return (
        found.isascii()
        or re.match(r"[~.]|[a-z]:|/?[a-z0-9]", found) is not None
        or bool(re.search(_FILE_SUFFIX, found))
    )


def _is_in_text(piece: str, text: str, tight: str) -> bool:
    """Whether a literal occurs in a normalised text; tight: the same text without its spaces."""
    return (
        _occurs_as_word(piece, text)
        or (not piece.isascii() and _occurs_as_word(tighten_text(piece), tight))
        or (_HEX.fullmatch(piece) is not None and _occurs_as_word(piece, text, begins=True))
    )


def _occurs_as_word(piece: str, text: str, *, begins: bool = False) -> bool:
    """Whether the piece occurs outside of a longer word, number or name. begins: it may be a prefix
    of one.
    """
    at = text.find(piece)
    while at >= 0:
        end = at + len(piece)
        before, after = text[max(0, at - 1) : at], text[end : end + 2]
        if not (_is_joining(before) and _is_joining(piece[0])) and (
            begins or not (_is_joining(piece[-1]) and _continues_name(after))
        ):
            return True
        at = text.find(piece, at + 1)
    return False


def names_in(sentence: str) -> Iterator[str]:
    """Latin words with a capital inside a sentence, or in mixed case anywhere."""
    text = unicodedata.normalize("NFKC", sentence)
    for match in _NAME.finditer(text):
        word = match.group()
        mixed = not word.islower() and not word.istitle() and not word.isupper()
        if mixed or not _OPENING.search(text[max(0, match.start() - 8) : match.start()].rstrip()):
            yield word


def _is_joining(character: str) -> bool:
    return bool(character) and character.isascii() and (character.isalnum() or character == "_")


def _continues_name(after: str) -> bool:
    return _is_joining(after[:1]) or (after[:1] == "." and _is_joining(after[1:2]))
