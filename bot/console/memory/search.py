"""Results of a search of the memory as the page shows them: marks, and what a score is made of.

Pure.
"""

from collections.abc import Iterable
from typing import Any

from bot.memory.recall import passage_to_json
from memory.recall.documents import Passage
from memory.text.language import CJK
from memory.text.patterns import lazy_pattern
from memory.text.word_forms import search_terms

MAX_MARKS = 100
_CJK = lazy_pattern(rf"[{CJK}]")
_RUN = lazy_pattern(rf"[{CJK}]+|[^\W_{CJK}]+(?:['’][^\W_{CJK}]+)?")


def hits_to_json(passages: Iterable[Passage], query: str) -> list[dict[str, Any]]:
    """Return results with their marks and the parts of their scores."""
    marker = TermMarker(query)
    return [_hit_to_json(passage, marker) for passage in passages]


def _hit_to_json(passage: Passage, marker: "TermMarker") -> dict[str, Any]:
    score, split = passage.score, passage.split
    parts = {name: round(score * getattr(split, name), 4) for name in ("words", "dates", "vector")}
    nearby = max(0.0, round(score - sum(parts.values()), 4))
    return {
        **passage_to_json(passage),
        "split": {**parts, "nearby": nearby},
        "marks": marker.find(passage.text),
        "speaker": passage.speaker,
        "space": passage.space,
    }


class TermMarker:
    """Finds the words of a question in texts, also in other forms and as the index takes for the
    same.
    """

    def __init__(self, query: str) -> None:
        self._wanted = frozenset(search_terms(query))
        #: Words of the texts that were looked at; it goes with this search, so nothing forgotten
        #: stays in it.
        self._known: dict[str, bool] = {}

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return where they are, as [from, to] in UTF-16 units, as browsers count."""
        spans: list[tuple[int, int]] = []
        for run in _RUN.finditer(text):
            for first, last in self._matching(run.group()):
                begin, end = run.start() + first, run.start() + last
                if spans and begin <= spans[-1][1]:
                    begin, end = spans.pop()[0], max(end, begin)
                spans.append((begin, end))
        units = [
            len(text[:at].encode("utf-16-le", "replace")) // 2
            for span in spans[:MAX_MARKS]
            for at in span
        ]
        return list(zip(units[::2], units[1::2], strict=True))

    def _matching(self, run: str) -> list[tuple[int, int]]:
        """The parts of a run that are terms of the question: a word, or pairs of CJK characters, or
        single ones.
        """
        if not _CJK.match(run):
            return [(0, len(run))] if self._is_wanted(run) else []
        pairs = [(at, at + 2) for at in range(len(run) - 1) if self._is_wanted(run[at : at + 2])]
        return pairs or [(at, at + 1) for at, sign in enumerate(run) if sign in self._wanted]

    def _is_wanted(self, word: str) -> bool:
        if word not in self._known:
            self._known[word] = not self._wanted.isdisjoint(search_terms(word))
        return self._known[word]
