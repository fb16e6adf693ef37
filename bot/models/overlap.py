"""How near a text is to a question by their words alone, and whether words are a question. Pure."""

import re

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_HAS_CJK = re.compile(f"[{_CJK}]")
_RUNS = re.compile(f"[{_CJK}]+|[^\\W{_CJK}]+")
_ASKING_ZH = "什么时候|为什么|什么|怎么样|怎么|怎样|多少|几个|几点|哪里|哪儿|哪个|哪些|哪|谁|吗|呢|是否|多大|多久|记得"
_IN_ZH = re.compile(_ASKING_ZH)
_EMPTY_ZH = re.compile(f"{_ASKING_ZH}|请问|知道|告诉我|[的了是在有和与把被你您]")
_WORD = re.compile(r"\w+")
_ASKING_EN = frozenset(
    _WORD.findall(
        "what who whom whose which where when why how do does did is are am was were can could will would should"
        " whats wheres whos hows"
    )
)
_EMPTY_EN = _ASKING_EN | frozenset(
    _WORD.findall(
        "i me my mine we our you your it its a an the of to in on at for from with about and or not no that this"
        " there have has had been be so please tell remember know say said"
    )
)


def has_cjk(text: str) -> bool:
    """Whether any of it is written in Chinese, Japanese or Korean letters."""
    return bool(_HAS_CJK.search(text))


def is_question(text: str) -> bool:
    """Whether it asks: a question mark at an end of a sentence, a word that asks, or a first word that does."""
    if re.search(r"[?？]\s*$|[?？]\s", text) or _IN_ZH.search(text):
        return True
    first = re.match(r"\W*(\w+)", text.casefold().replace("'", "").replace("’", ""))
    return bool(first and first[1] in _ASKING_EN)


def tokens(text: str) -> frozenset[str]:
    """What a question is about: pairs of CJK letters and stems of other words, without those that only ask.

    A CJK run of one letter counts as itself.
    """
    found: set[str] = set()
    for run in _RUNS.findall(_EMPTY_ZH.sub(" ", text.casefold().replace("’", "'").replace("'s", ""))):
        if has_cjk(run):
            found.update(run[at : at + 2] for at in range(max(len(run) - 1, 1)))
        elif run not in _EMPTY_EN:
            found.add(_stem(run))
    return frozenset(found)


def share(wanted: frozenset[str], text: str) -> float:
    """How much of `wanted` stands in the text, from 0 to 1."""
    if not wanted:
        return 0.0
    plain = text.casefold()
    words = {_stem(run) for run in _RUNS.findall(plain) if not has_cjk(run)}
    return sum(token in (plain if has_cjk(token) else words) for token in wanted) / len(wanted)


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if len(word) - len(ending) >= 3 and word.endswith(ending):
            return word.removesuffix(ending)
    return word
