"""Says beside a search result what became of its fact: the later one, or the former one. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from memory.longterm.similarity import SAME_MEMORY, normalize_key, similarity
from memory.recall.documents import NO_VALIDITY, Passage, Validity
from memory.store.longterm.fact_history import FactHistories, LineHistory, ReplacedFact


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryKeys:
    """The messages, folds and lines whose facts some passages state."""

    messages: tuple[str, ...]
    folds: tuple[str, ...]
    norms: tuple[str, ...]


def history_keys(passages: Sequence[Passage]) -> HistoryKeys:
    """Return which messages, folds and lines of memory the passages are of."""
    said = [one for one in passages if one.kind == "said" and one.message_id]
    return HistoryKeys(
        messages=tuple(one.message_id for one in said),
        folds=tuple(one.fold for one in passages if one.kind == "log" and one.fold),
        norms=tuple(normalize_key(one.words) for one in passages if one.kind == "memory"),
    )


def with_histories(
    passages: Sequence[Passage], histories: FactHistories, zone: tzinfo
) -> list[Passage]:
    """Return the passages, each with what became of its fact."""
    lines = {line.norm: line for line in histories.lines}
    return [_with_history(one, histories.replaced, lines, zone) for one in passages]


def _with_history(
    passage: Passage,
    replaced: Sequence[ReplacedFact],
    lines: dict[str, LineHistory],
    zone: tzinfo,
) -> Passage:
    if passage.kind == "memory":
        line = lines.get(normalize_key(passage.words))
        since = f"{line.since.astimezone(zone):%Y-%m-%d}" if line else ""
        validity = Validity(since=since, former=line.former if line else "")
    else:
        fact = next((fact for fact in replaced if _states(passage, fact)), None)
        if fact is None:
            return passage
        validity = Validity(later=fact.newer, later_on=f"{fact.since.astimezone(zone):%Y-%m-%d}")
    return passage if validity == NO_VALIDITY else replace(passage, validity=validity)


def _states(passage: Passage, fact: ReplacedFact) -> bool:
    """Whether a passage is what a replaced fact rests on: the person's words themselves, in the
    message or in the log's section about it, or a line of that section that says the same.
    """
    if fact.fold:
        if passage.fold != fact.fold:
            return False
    elif passage.message_id != fact.message_id:
        return False
    if fact.quote and normalize_key(fact.quote) in normalize_key(passage.words):
        return True
    return similarity(passage.words, fact.text) >= SAME_MEMORY
