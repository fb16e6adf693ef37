"""Plans a dream: merge near-duplicates, drop superseded lines, add recurring facts. Also its undo.

Pure.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from memory.context.summary.grounding import GroundingSource
from memory.longterm.memory_file import MemoryRevision
from memory.longterm.recurring import (
    EndedMemory,
    LogLine,
    RecurringFact,
    SimilarTexts,
    find_recurring,
)
from memory.longterm.similarity import is_similar, merge_similar_lines, normalize_key
from memory.store.longterm.rows import MemoryChange, MemoryRow, MemorySource, NewMemory
from memory.text.bullets import (
    Bullet,
    add_bullet,
    recordable_bullets,
    remove_bullet,
    replace_bullet,
)
from memory.text.tokenizer import lexical_terms

# of a memory's lines that one night may remove, merged ones included; one line always may
MAX_LOST_SHARE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMerge:
    """Lines that say the same, in file order, and the text that replaces the first of them."""

    parts: tuple[Bullet, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedLine:
    """A line that repeats a superseded one."""

    line: Bullet
    #: Text of the line that supersedes it.
    by: str
    #: YYYY-MM-DD since when.
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamPlan:
    """Changes to make to one text of a MEMORY.md."""

    merges: tuple[LineMerge, ...] = ()
    dropped: tuple[DroppedLine, ...] = ()
    noted: tuple[RecurringFact, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.merges or self.dropped or self.noted)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHistory:
    """The records of a space's memory."""

    #: Rows in any state.
    rows: tuple[MemoryRow, ...] = ()
    #: Keys of lines that a person restored by an undo.
    kept: frozenset[str] = frozenset()

    @property
    def live(self) -> dict[str, MemoryRow]:
        return {row.norm: row for row in self.rows if row.state == "live"}

    @property
    def ended(self) -> list[EndedMemory]:
        ended = (row for row in self.rows if row.state in ("superseded", "gone") and row.text)
        return [EndedMemory(text=row.text, at=row.valid_until or row.updated) for row in ended]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPlan:
    """A plan as stored in the dream's row."""

    plan: DreamPlan
    #: The text that the plan is for, "" once the file was written.
    before: str
    #: SHA-256 of the file before the dream.
    before_sha256: str
    #: SHA-256 of the file after it.
    after_sha256: str


def kept_line_keys(changes: Iterable[MemoryChange]) -> frozenset[str]:
    """Keys of lines that dreams removed and a person restored: no later dream touches them."""
    undone = (change for change in changes if change.kind == "dream" and change.undone)
    return frozenset(normalize_key(line) for change in undone for line in change.removed)


MAX_LINES = 2_000  # a longer memory is skipped: comparing its lines would take over a minute


def plan_dream(
    text: str, past: MemoryHistory, log: Sequence[LogLine], threshold: float
) -> DreamPlan:
    """Plan the changes of one night; deterministic.

    Args:
        log: lines of recent daily logs that report the person's own words.
        threshold: the similarity from which on two lines are one memory.
    """
    lines = recordable_bullets(text)
    if len(lines) > MAX_LINES:
        return DreamPlan()
    changeable = [line for line in lines if normalize_key(line.text) not in past.kept]
    dropped = _find_dropped(changeable, lines, past, threshold)
    dropped_lines = {drop.line.first for drop in dropped}
    merges = _find_merges(
        [line for line in changeable if line.first not in dropped_lines], threshold
    )
    noted = find_recurring(log, [line.text for line in lines], past.ended, threshold)
    return DreamPlan(merges=merges, dropped=dropped, noted=noted)


def refusal_reason(text: str, plan: DreamPlan) -> str:
    """Why a plan must not be carried out: "loses N of M" lines, "ungrounded", or "" for no
    reason.
    """
    count = len(recordable_bullets(text))
    lost = sum(len(merge.parts) - 1 for merge in plan.merges) + len(plan.dropped)
    if lost > max(1.0, MAX_LOST_SHARE * count):
        return f"loses {lost} of {count}"
    merges = all(
        _is_supported(merge.text, [part.text for part in merge.parts]) for merge in plan.merges
    )
    noted = all(
        _is_supported(line.text, [source.text for source in line.sources]) for line in plan.noted
    )
    return "" if merges and noted else "ungrounded"


def carry_out_plan(text: str, plan: DreamPlan, past: MemoryHistory) -> MemoryRevision:
    """Apply a plan to the text it was made for."""
    live = past.live
    changes: list[tuple[Bullet, str]] = [(drop.line, "") for drop in plan.dropped]
    for merge in plan.merges:
        first, *others = merge.parts
        changes += [(first, merge.text), *((other, "") for other in others)]
    for line, words in sorted(changes, key=lambda item: -item[0].first):
        if not words:
            text = remove_bullet(text, line)
        elif words != line.text:
            text = replace_bullet(text, line, words)
    for note in plan.noted:
        text = add_bullet(text, note.category, note.text)
    superseded = [
        (normalize_key(part.text), normalize_key(merge.text))
        for merge in plan.merges
        for part in merge.parts
        if normalize_key(part.text) != normalize_key(merge.text)
    ]
    superseded += [(normalize_key(drop.line.text), normalize_key(drop.by)) for drop in plan.dropped]
    return MemoryRevision(
        text=text,
        live=(
            *(_merge_memory(merge, live) for merge in plan.merges),
            *map(_note_memory, plan.noted),
        ),
        superseded=tuple(dict.fromkeys(superseded)),
    )


def is_carried_out(text: str, saved: SavedPlan) -> bool:
    """Whether the plan was applied to this text, regardless of later changes."""
    before, after = (
        _line_keys(saved.before),
        _line_keys(carry_out_plan(saved.before, saved.plan, MemoryHistory()).text),
    )
    current = _line_keys(text)
    return all(current[key] == after[key] for key in before | after if before[key] != after[key])


def dump_plan(saved: SavedPlan) -> str:
    """Serialise a plan as JSON."""
    return json.dumps(asdict(saved), ensure_ascii=False, default=datetime.isoformat)


def load_plan(text: str) -> SavedPlan | None:
    """The inverse of `dump_plan`; None when /forget replaced a name or a time in it by a mark.

    Types are not checked: with a mark in place of a line's number the rest of the plan still holds.
    """
    values = json.loads(text)
    try:
        plan = values.pop("plan")
        merges = (
            LineMerge(parts=tuple(Bullet(**part) for part in one["parts"]), text=one["text"])
            for one in plan["merges"]
        )
        dropped = (DroppedLine(**{**one, "line": Bullet(**one["line"])}) for one in plan["dropped"])
        noted = (
            RecurringFact(**{**one, "sources": tuple(map(_load_log_line, one["sources"]))})
            for one in plan["noted"]
        )
        plan = DreamPlan(merges=tuple(merges), dropped=tuple(dropped), noted=tuple(noted))
        return SavedPlan(plan=plan, **values)
    except (KeyError, TypeError, ValueError):
        return None


def _find_merges(lines: Sequence[Bullet], threshold: float) -> tuple[LineMerge, ...]:
    """Group lines under one heading where each is similar to all others of its group."""
    groups: list[LineMerge] = []
    indexes: dict[str, SimilarTexts] = {}
    group_numbers: dict[str, list[int]] = {}
    for line in lines:
        heading = line.category or f"# {line.heading}"
        index, numbers = (
            indexes.setdefault(heading, SimilarTexts()),
            group_numbers.setdefault(heading, []),
        )
        candidates = dict.fromkeys(numbers[at] for at in index.similar_to(line.text))
        similar = (
            one
            for one in candidates
            if all(is_similar(part.text, line.text, threshold) for part in groups[one].parts)
        )
        number = next(similar, None)
        if number is None:
            number = len(groups)
            groups.append(LineMerge(parts=(line,), text=line.text))
        else:
            group = groups[number]
            groups[number] = LineMerge(
                parts=(*group.parts, line), text=merge_similar_lines(group.text, line.text)
            )
        index.add(line.text)
        numbers.append(number)
    return tuple(group for group in groups if len(group.parts) > 1)


def _line_keys(text: str) -> Counter[str]:
    return Counter(normalize_key(line.text) for line in recordable_bullets(text))


def _find_dropped(
    changeable: Sequence[Bullet], lines: Sequence[Bullet], past: MemoryHistory, threshold: float
) -> tuple[DroppedLine, ...]:
    """Lines similar to a superseded one, not newer than its end, whose successor is in the file."""
    keys = {normalize_key(line.text) for line in lines}
    live = past.live
    dropped: dict[int, DroppedLine] = {}
    index = SimilarTexts(line.text for line in changeable)
    for row, heir, ended in _superseded_by_lines(past.rows, live, keys, threshold):
        for line in (changeable[at] for at in index.similar_to(row.text)):
            line_row = live.get(normalize_key(line.text))
            is_newer = line_row is not None and line_row.created > ended
            says_same = line.category == row.category and is_similar(line.text, row.text, threshold)
            if says_same and not is_newer and normalize_key(line.text) != heir.norm:
                since = f"{ended:%Y-%m-%d}"
                dropped.setdefault(line.first, DroppedLine(line=line, by=heir.text, since=since))
    return tuple(dropped[first] for first in sorted(dropped))


def _superseded_by_lines(
    rows: Sequence[MemoryRow], live: Mapping[str, MemoryRow], keys: Set[str], threshold: float
) -> Iterator[tuple[MemoryRow, MemoryRow, datetime]]:
    """Yield superseded memories whose successor is in the file and says something else, with it and
    their end.
    """
    by_id = {row.id: row for row in live.values()}
    for row in rows:
        heir = by_id.get(row.superseded_by)
        if row.state != "superseded" or not row.text or row.valid_until is None or heir is None:
            continue
        if heir.norm in keys and not is_similar(row.text, heir.text, threshold):
            yield row, heir, row.valid_until


def _is_supported(text: str, sources: Sequence[str]) -> bool:
    """Whether every name and number, and at least half of the content words, are in the sources."""
    words = "\n".join(sources)
    known, terms = set(lexical_terms(words)), lexical_terms(text)
    return GroundingSource(words).holds(text) and 2 * sum(term in known for term in terms) >= len(
        terms
    )


def _merge_memory(merge: LineMerge, live: dict[str, MemoryRow]) -> NewMemory:
    rows = [row for part in merge.parts if (row := live.get(normalize_key(part.text)))]
    sources = [row.source for row in rows if row.source.quote or row.source.message_id]
    return NewMemory(
        norm=normalize_key(merge.text),
        category=merge.parts[0].category,
        text=merge.text,
        importance=max((row.importance for row in rows), default=5),
        origin="dream",
        source=sources[-1] if sources else MemorySource(),
    )


def _note_memory(note: RecurringFact) -> NewMemory:
    newest = note.sources[-1]
    source = MemorySource(
        conversation=newest.conversation,
        channel=newest.channel,
        quote=newest.text,
        said=newest.said,
    )
    return NewMemory(
        norm=normalize_key(note.text),
        category=note.category,
        text=note.text,
        importance=5,
        origin="dream",
        source=source,
    )


def _load_log_line(values: dict[str, Any]) -> LogLine:
    return LogLine(**{**values, "said": datetime.fromisoformat(values["said"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """The outcome of an undo."""

    #: YYYY-MM-DD of the dream.
    day: str
    #: The file is byte for byte as it was before the dream.
    whole: bool
    #: Texts of the lines that came back.
    back: tuple[str, ...]
    #: Texts of the lines that were removed.
    gone: tuple[str, ...]


def undo_dream(change: MemoryChange, text: str) -> MemoryRevision:
    """Undo a dream in a text.

    An unchanged text becomes the former one. Otherwise the dream's lines are removed unless they
    were edited, the lines it removed come back under their headings, and every other byte stays.
    """
    if hashlib.sha256(text.encode()).hexdigest() == change.after_sha256:
        return MemoryRevision(text=change.before)
    added = set(map(normalize_key, change.added))
    for line in reversed(recordable_bullets(text)):
        if normalize_key(line.text) in added:
            text = remove_bullet(text, line)
    missing = set(map(normalize_key, change.removed)) - {
        normalize_key(line.text) for line in recordable_bullets(text)
    }
    for line in recordable_bullets(change.before):
        if normalize_key(line.text) in missing:
            missing.discard(normalize_key(line.text))
            text = add_bullet(
                text, line.category if line.heading else "fact", line.text, line.heading
            )
    return MemoryRevision(text=text)
