"""Whether the choice among many links that are nearly the same would tell a site something private.

Pure.

A page can list `?pin=0000` to `?pin=9999` and have the model open the one that memory names:
nothing long leaves, and the address stands letter for letter on the page.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from urllib.parse import unquote_plus

from memory.text.normalize import normalize_text

# in which two siblings differ in one of several parts: longer ones are words of a title
MAX_SHORT_SIGNS = 16
CROWD, BIG_CROWD = 20, 80  # siblings, the URL itself included, beyond which few of them are opened
PAGES_OF_CROWDS = 3  # in a turn, of all crowds together
PAGES_OF_BIG_CROWDS = 1
MIN_NUMBER_DIGITS, MIN_NAME_SIGNS = 4, 3
Link = tuple[str, ...]  # a URL in its parts
_PARTS = re.compile(r"[^\W_]+|[\W_]+")
_DATE = re.compile(r"(?<!\d)\d{4}[-./]\d{1,2}[-./]\d{1,2}(?!\d)")
_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W\d_]+")
_CJK_NAME = re.compile(r"[\u3400-\u9fff]{2,}")


def find_siblings(url: str, offered: Iterable[str]) -> list[Link]:
    """Return the URL and those that differ from it in numbers and in one further word at most, each
    in its parts.

    Parts are the runs of letters and digits, and what stands between them. Where several differ,
    each may do so in `MAX_SHORT_SIGNS` at most, what they begin and end with in common left aside.
    The further word is the one that gives the most siblings.
    """
    return _siblings_among(_split(url), _split_all(offered))


def _split_all(urls: Iterable[str]) -> frozenset[Link]:
    """Split URLs into their parts."""
    return frozenset(map(_split, urls))


def _siblings_among(own: Link, offered: Collection[Link], most: int | None = None) -> list[Link]:
    """Return the siblings, as soon as there are `most` of them."""
    same: list[Link] = [own]
    by_word: dict[int, list[Link]] = {}
    largest = 0
    for other in offered:
        words = _differing_words(own, other) if other != own else None
        if words is None:
            continue
        if words:
            siblings = by_word.setdefault(words[0], [])
            siblings.append(other)
            largest = max(largest, len(siblings))
        else:
            same.append(other)
        if most is not None and len(same) + largest >= most:
            break
    return same + max(by_word.values(), key=len, default=[])


def _split(url: str) -> Link:
    return tuple(_PARTS.findall(unquote_plus(url)))


def _differing_words(own: Link, other: Link) -> list[int] | None:
    """Return the place of the word in which two URLs differ, if any; None if they are of different
    forms.
    """
    if len(own) != len(other):
        return None
    words: list[int] = []
    differing, is_long = 0, False
    for place, (one, two) in enumerate(zip(own, other, strict=True)):
        if one == two:
            continue
        if not one[0].isalnum() or not two[0].isalnum():
            return None
        differing += 1
        is_long = is_long or _different_signs(one, two) > MAX_SHORT_SIGNS
        if not (_DIGITS.search(one) and _DIGITS.search(two)):
            words.append(place)
        if len(words) > 1 or (is_long and differing > 1):
            return None
    return words


def _different_signs(one: str, two: str) -> int:
    """Return the length of what is left of the longer text without the common beginning and end."""
    start = _common_length(one, two)
    end = _common_length(one[start:][::-1], two[start:][::-1])
    return max(len(one), len(two)) - start - end


def _common_length(one: str, two: str) -> int:
    shorter = min(len(one), len(two))
    return next((at for at in range(shorter) if one[at] != two[at]), shorter)


def _allowed_pages(own: Link, offered: Collection[Link]) -> int | None:
    """Return how many pages of crowds a turn may open if it opens this link; None if the link is in
    no crowd.

    People ask for three of a list. Of a long list one is opened: each choice among a hundred tells
    two digits.
    """
    size = len(_siblings_among(own, offered, most=BIG_CROWD + 1))
    if size <= CROWD:
        return None
    return PAGES_OF_CROWDS if size <= BIG_CROWD else PAGES_OF_BIG_CROWDS


def is_one_too_many(url: str, asked: Sequence[str], offered: Collection[str]) -> bool:
    """Tell whether a turn may not open a URL, because it has chosen among many siblings often
    enough.

    Args:
        asked: the URLs that the turn has asked for, in order.
        offered: the URLs that pages and search results in view show.
    """
    links = _split_all(offered)  # once for all that were asked for: a page can have thousands
    allowed = _allowed_pages(_split(url), links)
    if allowed is None:
        return False
    before = list(dict.fromkeys(asked))
    before = before[: before.index(url)] if url in before else before
    return sum(_allowed_pages(_split(one), links) is not None for one in before) >= allowed


def find_private_choice(
    url: str, offered: Iterable[str], private: Iterable[str], known: Iterable[str]
) -> str:
    """Return the whole number or name of private text by which a URL differs from its siblings; ""
    for none.

    Args:
        private: texts of memory that the model has in view.
        known: texts that the person typed themselves: what stands there too may leave.
    """
    tokens = set(_choosing_tokens(url, offered))
    if not tokens:
        return ""
    texts = list(private)
    facts = {fact for text in texts for fact in _facts_of(text)}
    names = [token for token in tokens if _CJK_NAME.fullmatch(token)]
    facts.update(name for name in names if any(name in text for text in texts))
    typed = "\n".join(map(normalize_text, known))
    untyped = [token for token in sorted(tokens & facts) if token not in typed]
    return untyped[0] if untyped else ""


def _choosing_tokens(url: str, offered: Iterable[str]) -> Iterator[str]:
    """Yield the parts by which a URL differs from its siblings, and the numbers in them."""
    own, siblings = _split(url), find_siblings(url, offered)
    for place, part in enumerate(own):
        if any(other[place] != part for other in siblings):
            normalized = normalize_text(part)
            yield normalized
            yield from _DIGITS.findall(normalized)


def _facts_of(text: str) -> set[str]:
    """Return the whole numbers and the names in a text.

    Dates are left out: a year stands in many links.
    """
    numbers = _DIGITS.findall(_DATE.sub(" ", normalize_text(text)))
    names = [
        word for word in _WORDS.findall(text) if word[0].isupper() and len(word) >= MIN_NAME_SIGNS
    ]
    return {number for number in numbers if len(number) >= MIN_NUMBER_DIGITS} | set(
        map(normalize_text, names)
    )
