"""One space's long-term memory: the lines of MEMORY.md and their records in the store."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from heapq import nlargest
from itertools import islice

import structlog

from memory.failpoints import hit_async
from memory.longterm.corrections import Correction, correct_line, restore_line
from memory.longterm.memory_file import (
    Action,
    MemoryEdit,
    MemoryFileText,
    MemoryFileUnreadable,
    MemoryRevision,
    change_record,
    loses_too_much,
    read_memory,
    write_memory,
)
from memory.longterm.similarity import (
    SAME_MEMORY,
    content_words,
    merge_lines,
    normalize_key,
    question_relevances,
    similarity,
    word_overlap,
)
from memory.store.errors import StoreError
from memory.store.longterm.memories import MemoryRecords
from memory.store.longterm.rows import (
    ChangeKind,
    MemoryChange,
    MemoryPage,
    MemoryRow,
    MemorySource,
    NewMemory,
    Origin,
)
from memory.text.bullets import (
    MAX_BULLET,
    Bullet,
    add_bullet,
    recordable_bullets,
    remove_bullet,
    replace_bullet,
    tidy_content,
)
from memory.workspace.atomic_write import FileConflict
from memory.workspace.files import SpaceFiles, Workspace
from memory.workspace.safe_path import PathRefused

# Differences between MEMORY.md and its records

MAX_RECORDED = 5_000  # lines of a space with a record; later lines are only found by a file search
MAX_COMPARED = 8  # new lines that each lost line is compared with
MAX_CONSIDERED = 1_000  # lines with shared words that are considered for them

Words = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDifferences:
    """Differences between a file and its records."""

    #: (former key, changed line).
    renamed: tuple[tuple[str, NewMemory], ...] = ()
    #: Lines without a record.
    new: tuple[NewMemory, ...] = ()
    #: Keys of records without a line.
    gone: tuple[str, ...] = ()
    #: Number of lines that get no record because of MAX_RECORDED.
    left: int = 0


def find_differences(text: str, rows: Sequence[MemoryRow]) -> FileDifferences:
    """Compare a file with the records of its lines.

    A changed line keeps its record if it is at least SAME_MEMORY similar, and so does a line that
    moved to another heading. Of more than MAX_RECORDED lines, the first ones get a record.

    Args:
        rows: the space's live rows.
    """
    lines = memory_lines(text)
    known = {row.norm: row for row in rows}
    moved = [
        (norm, line)
        for norm, line in lines.items()
        if norm in known and known[norm].category != line.category
    ]
    new = {norm: line for norm, line in lines.items() if norm not in known}
    lost = {norm: row for norm, row in known.items() if norm not in lines}
    changed = [(former, new.pop(norm)) for former, norm in _pair_renamed(lost, new)]
    for former, _ in changed:
        del lost[former]
    left = max(0, MAX_RECORDED - (len(known) - len(lost)))
    taken = tuple(islice(new.values(), left))
    return FileDifferences(
        renamed=(*moved, *changed), new=taken, gone=tuple(lost), left=len(new) - len(taken)
    )


def count_unrecorded(text: str) -> int:
    """Count the lines of a file beyond MAX_RECORDED."""
    return max(0, len(memory_lines(text)) - MAX_RECORDED)


def memory_lines(text: str) -> dict[str, NewMemory]:
    """The memories of a file by key, as records of hand-written lines."""
    found: dict[str, NewMemory] = {}
    for bullet in recordable_bullets(text):
        norm = normalize_key(bullet.text)
        line = NewMemory(
            norm=norm, category=bullet.category, text=bullet.text, importance=5, origin="file"
        )
        found.setdefault(norm, line)
    return found


def _pair_renamed(lost: dict[str, MemoryRow], new: dict[str, NewMemory]) -> list[tuple[str, str]]:
    """Pair each lost line with the new line it became, most similar pairs first."""
    before = {norm: content_words(row.text) for norm, row in lost.items()}
    after = {norm: content_words(line.text) for norm, line in new.items()}
    scored = [
        (similarity(lost[former].text, new[norm].text), former, norm)
        for former, norm in _similar_pairs(before, after)
    ]
    taken: set[str] = set()
    pairs = []
    for score, former, norm in sorted(scored, key=lambda item: -item[0]):
        if score >= SAME_MEMORY and former not in taken and norm not in taken:
            taken |= {former, norm}
            pairs.append((former, norm))
    return pairs


def _similar_pairs(
    before: Mapping[str, Words], after: Mapping[str, Words]
) -> Iterator[tuple[str, str]]:
    """Preselect pairs by shared words, rare words first: a full comparison costs a hundred times as
    much.
    """
    norms_by_word: dict[str, list[str]] = {}
    for norm, words in after.items():
        for word in words:
            norms_by_word.setdefault(word, []).append(norm)
    for former, words in before.items():
        shared: Counter[str] = Counter()
        considered = 0
        known = [word for word in words if word in norms_by_word]
        for word in sorted(known, key=lambda word: (len(norms_by_word[word]), word)):
            norms = norms_by_word[word]
            if considered and considered + len(norms) > MAX_CONSIDERED:
                break
            considered += len(norms)
            shared.update(norms[:MAX_CONSIDERED])
        best = nlargest(
            MAX_COMPARED, shared, key=lambda norm: (len(words & after[norm]), shared[norm])
        )
        yield from (
            (former, norm)
            for norm in best
            if 2 * len(words & after[norm]) >= min(len(words), len(after[norm]))
        )


# Adding a memory to the file

_NO_SOURCE = MemorySource()
NEVER_SIMILAR = 2.0  # a threshold above any similarity


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCandidate:
    """A memory to be added."""

    category: str
    text: str
    #: 1 to 10.
    importance: int = 5
    origin: Origin
    source: MemorySource = _NO_SOURCE
    #: Keys of the lines that it contradicts.
    replaces: tuple[str, ...] = ()


def revise_text(text: str, candidate: MemoryCandidate, threshold: float) -> MemoryRevision:
    """Add a candidate to the file's text.

    Replaced lines are removed. A line with the same words stays as it is; otherwise the candidate
    is merged with the most similar line of its category from `threshold` on, or added. If that
    would leave less than half of the file, the candidate is only added.

    Raises:
        ValueError: the text is empty or too long, or the category does not exist.
    """
    full = _revise_candidate(text, candidate, threshold)
    return (
        _revise_candidate(text, replace(candidate, replaces=()), NEVER_SIMILAR)
        if loses_too_much(text, full.text)
        else full
    )


def _revise_candidate(text: str, candidate: MemoryCandidate, threshold: float) -> MemoryRevision:
    content = tidy_content(candidate.text)
    if len(content) > MAX_BULLET:
        raise ValueError(f"a memory has at most {MAX_BULLET} characters, not {len(content)}")
    key = normalize_key(content)
    gone = frozenset(candidate.replaces) - {key}
    lines = recordable_bullets(text)
    similar = _find_similar(
        [line for line in lines if normalize_key(line.text) not in gone],
        candidate.category,
        content,
        threshold,
    )
    words = _merge_content(similar.text, content) if similar else content
    for line in reversed(lines):
        if normalize_key(line.text) in gone:
            text = remove_bullet(text, line)
        elif line is similar and words != line.text:
            text = replace_bullet(text, line, words)
    return MemoryRevision(
        text=text if similar else add_bullet(text, candidate.category, words),
        live=(_candidate_record(candidate, words, similar),),
        superseded=tuple(
            (norm, normalize_key(words))
            for norm in _superseded_keys(similar, words, candidate.replaces)
        ),
        action="created"
        if similar is None
        else "unchanged"
        if words == similar.text
        else "updated",
    )


def _find_similar(
    lines: Sequence[Bullet], category: str, content: str, threshold: float
) -> Bullet | None:
    """The line with the same words under any heading, else the most similar line of the
    category.
    """
    key = normalize_key(content)
    for line in lines:
        if normalize_key(line.text) == key:
            return line
    scored = [(similarity(line.text, content), line) for line in lines if line.category == category]
    score, best = max(scored, key=lambda item: item[0], default=(0.0, None))
    return best if score >= threshold else None


def _merge_content(existing: str, content: str) -> str:
    return (
        existing
        if normalize_key(existing) == normalize_key(content)
        else tidy_content(merge_lines(existing, content))
    )


def _candidate_record(candidate: MemoryCandidate, words: str, similar: Bullet | None) -> NewMemory:
    return NewMemory(
        norm=normalize_key(words),
        category=similar.category if similar else candidate.category,
        text=words,
        importance=min(10, max(1, candidate.importance)),
        origin=candidate.origin,
        source=candidate.source,
    )


def _superseded_keys(similar: Bullet | None, words: str, replaces: Sequence[str]) -> list[str]:
    """Keys of the lines that the new one supersedes."""
    key = normalize_key(words)
    former = [*replaces, *([normalize_key(similar.text)] if similar else [])]
    return [norm for norm in dict.fromkeys(former) if norm != key]


MAX_TRIES = 20
log = structlog.get_logger(__name__)
_CHANGE_KINDS: dict[Origin, ChangeKind] = {
    "extraction": "extract",
    "person": "remember",
    "tool": "tool",
    "dream": "dream",
    "file": "api",
}
_ORIGINS: dict[ChangeKind, Origin] = {"extract": "extraction", "tool": "tool", "dream": "dream"}


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsertResult:
    """The outcome of an upsert: its action, the line's row, and the rows it superseded."""

    action: Action
    row: MemoryRow
    superseded: tuple[MemoryRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMemory:
    """A memory found by a search."""

    row: MemoryRow
    #: Share of the question that it contains, 0 to 1.
    similarity: float


Rows = list[MemoryRow]
ScoredMemories = list[ScoredMemory]


@dataclass(frozen=True, slots=True, kw_only=True)
class _EditResult:
    """The outcome of an edit."""

    revision: MemoryRevision
    #: Rows of the revision's live lines, in order.
    rows: Rows
    #: Whether the file was written.
    written: bool


class Memories:
    """The long-term memory of one space.

    Use one object per space: it serialises edits and caches the file's hash.

    All methods may raise StoreError and OSError; methods that write may also raise
    MemoryFileUnreadable, and MemoryLossRefused where no person asked for the write.
    """

    def __init__(
        self,
        space: str,
        *,
        records: MemoryRecords,
        workspace: Workspace,
        similarity: Callable[[], float],
    ) -> None:
        """
        Args:
            similarity: the configured threshold from which on two lines count as one; read at each
                use.
        """
        self.space = space
        self._records = records
        self._workspace = workspace
        self._similarity = similarity
        self._lock = asyncio.Lock()
        self._known_sha256: str | None = None

    async def add(self, category: str, content: str, importance: int = 5) -> MemoryRow:
        """Add a memory as a line of its own, unless a line with the same words exists.

        Raises:
            ValueError: the text is empty, or the category does not exist.
        """
        candidate = MemoryCandidate(
            category=category, text=content, importance=importance, origin="person"
        )
        revise = partial(revise_text, candidate=candidate, threshold=NEVER_SIMILAR)
        edit = MemoryEdit(kind="api", revise=revise, by_person=True)
        return (await self._apply_edit(edit)).rows[0]

    async def upsert(self, candidate: MemoryCandidate) -> UpsertResult:
        """Add a memory, merged with the line that says the same, in place of those it contradicts.

        Idempotent.

        Raises:
            ValueError: the text is empty, or the category does not exist.
        """
        edit = MemoryEdit(
            kind=_CHANGE_KINDS[candidate.origin],
            revise=partial(revise_text, candidate=candidate, threshold=self._similarity()),
            about=candidate.source.message_id,
            by_person=candidate.origin == "person",
        )
        done = await self._apply_edit(edit)
        former = [await self._records.row(self.space, norm) for norm, _ in done.revision.superseded]
        return UpsertResult(
            action=done.revision.action, row=done.rows[0], superseded=tuple(filter(None, former))
        )

    async def list(self, category: str | None = None, limit: int = 20) -> Rows:
        """List the memories, newest first. category: None for all; limit: 0 for all."""
        await self.reconcile()
        return await self._records.rows(self.space, category=category or "", limit=limit)

    async def page(self, page: MemoryPage, limit: int) -> Rows:
        """Load a page of the memories, newest first; lines that cannot be matched now are matched
        the next time.
        """
        with suppress(StoreError, OSError):
            await self.reconcile()
        norm = normalize_key(page.words) if page.words else ""
        return await self._records.page(self.space, replace(page, norm=norm), limit)

    async def search(
        self, query: str, limit: int = 5, min_similarity: float = 0.6, category: str | None = None
    ) -> ScoredMemories:
        """Search the memories, best first; every result counts as used.

        Args:
            min_similarity: the least share of the question's content words that a memory must
                contain.
        """
        rows = await self.list(category, limit=0)
        scores = await asyncio.to_thread(question_relevances, query, [row.text for row in rows])
        scored = [
            ScoredMemory(row=row, similarity=score) for row, score in zip(rows, scores, strict=True)
        ]
        best = sorted(
            (one for one in scored if one.similarity >= min_similarity),
            key=lambda one: -one.similarity,
        )
        found = best[:limit]
        await self._records.count_uses(self.space, [one.row.norm for one in found])
        return found

    async def nearest(self, text: str, limit: int = 5) -> Rows:
        """The memories that share most words with a text, including those that contradict it."""
        rows = await self.list(limit=0)
        scores = await asyncio.to_thread(lambda: [word_overlap(row.text, text) for row in rows])
        best = sorted(zip(scores, rows, strict=True), key=lambda item: -item[0])
        return [row for score, row in best[:limit] if score > 0]

    async def remove(
        self, norms: Sequence[str], kind: ChangeKind, *, by_person: bool = True
    ) -> Rows:
        """Remove lines from the file by their keys; returns their rows, now "gone".

        With the kind "forget" the stored change contains none of the words.
        """
        wanted = frozenset(norms)
        await self._apply_edit(
            MemoryEdit(kind=kind, revise=partial(_remove_keys, wanted), by_person=by_person)
        )
        rows = [await self._records.row(self.space, norm) for norm in dict.fromkeys(norms)]
        return [row for row in rows if row is not None]

    async def correct(self, correction: Correction) -> MemoryRow:
        """Change one memory as a person wants it; see `correct_line` for what it raises."""
        edit = MemoryEdit(
            kind="api", revise=partial(correct_line, correction=correction), by_person=True
        )
        row = (await self._apply_edit(edit)).rows[0]
        await self._records.set_importance(self.space, row.norm, correction.importance)
        return await self._records.row(self.space, row.norm) or row

    async def restore(self, former: MemoryRow, successor: MemoryRow | None) -> MemoryRow:
        """Put a former memory back into the file, in place of the one that superseded it."""
        revise = partial(restore_line, former=former, successor=successor)
        edit = MemoryEdit(kind="undo", revise=revise, by_person=True)
        row = (await self._apply_edit(edit)).rows[0]
        await self._records.set_importance(self.space, row.norm, former.importance)
        return await self._records.row(self.space, row.norm) or row

    async def reconcile(self) -> None:
        """Update the records from the file after a person edited it; a file that is not UTF-8 is
        ignored.
        """
        async with self._lock:
            try:
                file = await self._read()
            except MemoryFileUnreadable:
                return
            await self._update_records(file)

    async def apply(self, edit: MemoryEdit) -> MemoryChange | None:
        """Write an edit and its records; None when the file needs no change."""
        done = await self._apply_edit(edit)
        changes = await self._records.changes(self.space, limit=1) if done.written else []
        return changes[0] if changes else None

    async def _apply_edit(self, edit: MemoryEdit) -> _EditResult:
        async with self._lock:
            for _ in range(MAX_TRIES):
                file = await self._read()
                await self._update_records(file)
                revision = await asyncio.to_thread(edit.revise, file.text)
                try:
                    rows = await _run_to_end(self._put(edit, file, revision))
                except FileConflict:
                    continue
                return _EditResult(revision=revision, rows=rows, written=revision.text != file.text)
        raise OSError(f"the memory of {self.space!r} changes faster than it can be written")

    async def _put(self, edit: MemoryEdit, file: MemoryFileText, revision: MemoryRevision) -> Rows:
        if revision.text == file.text:
            return await self._records.put(
                self.space, None, live=revision.live, superseded=revision.superseded
            )
        files = self._files()
        written = await asyncio.to_thread(
            write_memory, files, file, revision.text, by_person=edit.by_person
        )
        await hit_async("upsert.file_written")
        live, gone = await asyncio.to_thread(_new_records, edit, file.text, revision)
        change = await asyncio.to_thread(change_record, edit, file, written)
        rows = await self._records.put(
            self.space, change, live=live, superseded=revision.superseded, gone=gone
        )
        self._known_sha256 = written.sha256
        await hit_async("upsert.committed")
        return rows

    async def _update_records(self, file: MemoryFileText) -> None:
        """Update the records after a hand edit, or a crash between writing the file and the
        records.
        """
        if file.sha256 == self._known_sha256:
            return
        rows = await self._records.rows(self.space)
        found = await asyncio.to_thread(find_differences, file.text, rows)
        if found.left:
            log.warning(
                "MEMORY.md has more lines than have a record",
                space=self.space,
                most=MAX_RECORDED,
                left=found.left,
            )
        await self._records.rename(self.space, found.renamed)
        if found.new or found.gone:
            await self._records.put(self.space, None, live=found.new, gone=found.gone)
        self._known_sha256 = file.sha256

    async def _read(self) -> MemoryFileText:
        return await asyncio.to_thread(lambda: read_memory(self._files()))

    def _files(self) -> SpaceFiles:
        try:
            return self._workspace.space(self.space)
        except PathRefused as err:
            raise MemoryFileUnreadable(
                f"the folder of {self.space!r} is left alone: {err}"
            ) from err


async def _run_to_end(work: Coroutine[None, None, Rows]) -> Rows:
    """Finish the work before passing on a cancellation: a line without its record would lose its
    source.
    """
    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as err:
            cancelled = err
    if cancelled is not None:
        task.cancelled() or task.exception()  # marks its error as seen
        raise cancelled
    return task.result()


def _remove_keys(norms: frozenset[str], text: str) -> MemoryRevision:
    for line in reversed(recordable_bullets(text)):
        if normalize_key(line.text) in norms:
            text = remove_bullet(text, line)
    return MemoryRevision(text=text)


def _new_records(
    edit: MemoryEdit, before: str, revision: MemoryRevision
) -> tuple[Sequence[NewMemory], Sequence[str]]:
    """The records of added lines, the revision's own first, and the keys of removed lines."""
    own = {line.norm for line in revision.live}
    former = {norm for norm, _ in revision.superseded}
    old, new = memory_lines(before), memory_lines(revision.text)
    origin = _ORIGINS.get(edit.kind, "person")
    added = [
        replace(line, origin=origin)
        for norm, line in new.items()
        if norm not in old and norm not in own
    ]
    return [*revision.live, *added], [
        norm for norm in old if norm not in new and norm not in former
    ]
