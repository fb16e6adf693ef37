"""What becomes of a MEMORY.md when something is to be remembered: nothing, a fuller line, a new one. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.longterm.bullets import LONGEST, Bullet, added, memorable, removed, replaced, tidy
from memory.longterm.editing import Revision, loses
from memory.longterm.similarity import merged, normal, similarity
from memory.store.memory_records import MemorySource, NewMemory, Origin

_NOBODY = MemorySource()
NEVER = 2.0
"""The similarity that no two lines have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something to be remembered. importance: 1 to 10. replaces: keys of the lines that it proves wrong."""

    category: str
    text: str
    importance: int = 5
    origin: Origin
    source: MemorySource = _NOBODY
    replaces: tuple[str, ...] = ()


def revise(text: str, candidate: Candidate, threshold: float) -> Revision:
    """The file's text with the candidate in it.

    Lines that it replaces leave. A line of the same words stays as it is; else the most similar line of its category is
    merged with it from `threshold` on; else it is added. Where less than half of the file would be left, it is added
    and nothing else.

    Raises:
        ValueError: nothing is said, or more than a memory holds, or there is no such category.
    """
    full = _revised(text, candidate, threshold)
    return _revised(text, replace(candidate, replaces=()), NEVER) if loses(text, full.text) else full


def _revised(text: str, candidate: Candidate, threshold: float) -> Revision:
    content = tidy(candidate.text)
    if len(content) > LONGEST:
        raise ValueError(f"a memory has at most {LONGEST} characters, not {len(content)}")
    key = normal(content)
    gone = frozenset(candidate.replaces) - {key}
    lines = memorable(text)
    like = _like([line for line in lines if normal(line.text) not in gone], candidate.category, content, threshold)
    words = _together(like.text, content) if like else content
    for line in reversed(lines):
        if normal(line.text) in gone:
            text = removed(text, line)
        elif line is like and words != line.text:
            text = replaced(text, line, words)
    return Revision(
        text=text if like else added(text, candidate.category, words),
        live=(_known(candidate, words, like),),
        superseded=tuple((norm, normal(words)) for norm in _former(like, words, candidate.replaces)),
        action="created" if like is None else "unchanged" if words == like.text else "updated",
    )


def _like(lines: Sequence[Bullet], category: str, content: str, threshold: float) -> Bullet | None:
    """The line of the same words, whatever its heading; else the most similar one of the category."""
    key = normal(content)
    for line in lines:
        if normal(line.text) == key:
            return line
    scored = [(similarity(line.text, content), line) for line in lines if line.category == category]
    score, best = max(scored, key=lambda item: item[0], default=(0.0, None))
    return best if score >= threshold else None


def _together(existing: str, content: str) -> str:
    return existing if normal(existing) == normal(content) else tidy(merged(existing, content))


def _known(candidate: Candidate, words: str, like: Bullet | None) -> NewMemory:
    return NewMemory(
        norm=normal(words),
        category=like.category if like else candidate.category,
        text=words,
        importance=min(10, max(1, candidate.importance)),
        origin=candidate.origin,
        source=candidate.source,
    )


def _former(like: Bullet | None, words: str, replaces: Sequence[str]) -> list[str]:
    """Keys of the lines whose place was taken."""
    key = normal(words)
    former = [*replaces, *([normal(like.text)] if like else [])]
    return [norm for norm in dict.fromkeys(former) if norm != key]
