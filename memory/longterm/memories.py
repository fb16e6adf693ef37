"""One space's long-term memory: the lines of its MEMORY.md, and what is known of them."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nlargest
from itertools import islice

import structlog

from memory.failpoints import hit_async
from memory.longterm.batches import batched, put_in_batches
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
from memory.store.longterm.memories import MemoryRecords
from memory.store.longterm.rows import ChangeKind, MemoryChange, MemoryRow, MemorySource, NewMemory, Origin
from memory.text.bullets import (
    MAX_BULLET,
    Bullet,
    add_bullet,
    recordable_bullets,
    remove_bullet,
    replace_bullet,
    tidy_content,
)
from memory.workspace.files import FileConflict, SpaceFiles, Workspace
from memory.workspace.safe_path import PathRefused

# What a person's edit of MEMORY.md means for the records: lines that stayed, were changed, went, or are new. Pure.

MAX_RECORDED = 5_000  # lines of one space that have a record; more stay in the file, and are found there by a search
MAX_COMPARED = 8  # new lines that a lost one is compared with
MAX_HOLDERS = 1_000  # lines that are looked at for those, by the words that they share with it

Words = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDifferences:
    """renamed: (former key, the line as it is now). new: lines without a record. gone: keys without a line.

    left: how many lines of the file have no record and get none, because there are `MOST_TAKEN` already.
    """

    renamed: tuple[tuple[str, NewMemory], ...] = ()
    new: tuple[NewMemory, ...] = ()
    gone: tuple[str, ...] = ()
    left: int = 0


def find_differences(text: str, rows: Sequence[MemoryRow]) -> FileDifferences:
    """Where the records do not say what the file says.

    A line that was changed keeps its record while it is at least `SAME` similar to what it was, and so does one that
    stands under another heading now. Of more than `MOST_TAKEN` lines, the first ones get a record.

    Args:
        rows: the live ones of the space.
    """
    lines = memory_lines(text)
    known = {row.norm: row for row in rows}
    moved = [(norm, line) for norm, line in lines.items() if norm in known and known[norm].category != line.category]
    new = {norm: line for norm, line in lines.items() if norm not in known}
    lost = {norm: row for norm, row in known.items() if norm not in lines}
    changed = [(former, new.pop(norm)) for former, norm in _pair_renamed(lost, new)]
    for former, _ in changed:
        del lost[former]
    room = max(0, MAX_RECORDED - (len(known) - len(lost)))
    taken = tuple(islice(new.values(), room))
    return FileDifferences(renamed=(*moved, *changed), new=taken, gone=tuple(lost), left=len(new) - len(taken))


def count_unrecorded(text: str) -> int:
    """How many lines of a file can have no record, because it has more than `MOST_TAKEN`."""
    return max(0, len(memory_lines(text)) - MAX_RECORDED)


def memory_lines(text: str) -> dict[str, NewMemory]:
    """The memories of a file by key, as a person wrote them there."""
    found: dict[str, NewMemory] = {}
    for bullet in recordable_bullets(text):
        norm = normalize_key(bullet.text)
        line = NewMemory(norm=norm, category=bullet.category, text=bullet.text, importance=5, origin="file")
        found.setdefault(norm, line)
    return found


def _pair_renamed(lost: dict[str, MemoryRow], new: dict[str, NewMemory]) -> list[tuple[str, str]]:
    """Which lost line became which new one: the most similar first, each once."""
    before = {norm: content_words(row.text) for norm, row in lost.items()}
    after = {norm: content_words(line.text) for norm, line in new.items()}
    scored = [
        (similarity(lost[former].text, new[norm].text), former, norm) for former, norm in _similar_pairs(before, after)
    ]
    taken: set[str] = set()
    pairs = []
    for score, former, norm in sorted(scored, key=lambda item: -item[0]):
        if score >= SAME_MEMORY and former not in taken and norm not in taken:
            taken |= {former, norm}
            pairs.append((former, norm))
    return pairs


def _similar_pairs(before: Mapping[str, Words], after: Mapping[str, Words]) -> Iterator[tuple[str, str]]:
    """Pairs that are worth a comparison, which costs a hundred times as much: of each lost line the few new ones that
    share most of its words with it, rare words first.
    """
    having: dict[str, list[str]] = {}
    for norm, words in after.items():
        for word in words:
            having.setdefault(word, []).append(norm)
    for former, was in before.items():
        shared: Counter[str] = Counter()
        looked_at = 0
        for word in sorted((word for word in was if word in having), key=lambda word: (len(having[word]), word)):
            holders = having[word]
            if looked_at and looked_at + len(holders) > MAX_HOLDERS:
                break
            looked_at += len(holders)
            shared.update(holders[:MAX_HOLDERS])
        most = nlargest(MAX_COMPARED, shared, key=lambda norm: (len(was & after[norm]), shared[norm]))
        yield from ((former, norm) for norm in most if 2 * len(was & after[norm]) >= min(len(was), len(after[norm])))


# What becomes of a MEMORY.md when something is to be remembered: nothing, a fuller line, a new one. Pure.

_NO_SOURCE = MemorySource()
NEVER_SIMILAR = 2.0  # the similarity that no two lines have


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCandidate:
    """Something to be remembered."""

    category: str
    text: str
    #: 1 to 10.
    importance: int = 5
    origin: Origin
    source: MemorySource = _NO_SOURCE
    #: Keys of the lines that it proves wrong.
    replaces: tuple[str, ...] = ()


def revise_text(text: str, candidate: MemoryCandidate, threshold: float) -> MemoryRevision:
    """The file's text with the candidate in it.

    Lines that it replaces leave. A line of the same words stays as it is; else the most similar line of its category is
    merged with it from `threshold` on; else it is added. Where less than half of the file would be left, it is added
    and nothing else.

    Raises:
        ValueError: nothing is said, or more than a memory holds, or there is no such category.
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
    like = _find_similar(
        [line for line in lines if normalize_key(line.text) not in gone], candidate.category, content, threshold
    )
    words = _merge_content(like.text, content) if like else content
    for line in reversed(lines):
        if normalize_key(line.text) in gone:
            text = remove_bullet(text, line)
        elif line is like and words != line.text:
            text = replace_bullet(text, line, words)
    return MemoryRevision(
        text=text if like else add_bullet(text, candidate.category, words),
        live=(_candidate_record(candidate, words, like),),
        superseded=tuple((norm, normalize_key(words)) for norm in _superseded_keys(like, words, candidate.replaces)),
        action="created" if like is None else "unchanged" if words == like.text else "updated",
    )


def _find_similar(lines: Sequence[Bullet], category: str, content: str, threshold: float) -> Bullet | None:
    """The line of the same words, whatever its heading; else the most similar one of the category."""
    key = normalize_key(content)
    for line in lines:
        if normalize_key(line.text) == key:
            return line
    scored = [(similarity(line.text, content), line) for line in lines if line.category == category]
    score, best = max(scored, key=lambda item: item[0], default=(0.0, None))
    return best if score >= threshold else None


def _merge_content(existing: str, content: str) -> str:
    return (
        existing if normalize_key(existing) == normalize_key(content) else tidy_content(merge_lines(existing, content))
    )


def _candidate_record(candidate: MemoryCandidate, words: str, like: Bullet | None) -> NewMemory:
    return NewMemory(
        norm=normalize_key(words),
        category=like.category if like else candidate.category,
        text=words,
        importance=min(10, max(1, candidate.importance)),
        origin=candidate.origin,
        source=candidate.source,
    )


def _superseded_keys(like: Bullet | None, words: str, replaces: Sequence[str]) -> list[str]:
    """Keys of the lines whose place was taken."""
    key = normalize_key(words)
    former = [*replaces, *([normalize_key(like.text)] if like else [])]
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
    """What became of a candidate, its line's row, and the rows of the lines whose place it took."""

    action: Action
    row: MemoryRow
    superseded: tuple[MemoryRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMemory:
    """A memory that was found."""

    row: MemoryRow
    #: How much of the question is in it, 0 to 1.
    similarity: float


Rows = list[MemoryRow]
ScoredMemories = list[ScoredMemory]


@dataclass(frozen=True, slots=True, kw_only=True)
class _EditResult:
    """What an edit came to."""

    revision: MemoryRevision
    #: Of the lines that the revision names, in order.
    rows: Rows
    #: Whether the file was.
    written: bool


class Memories:
    """The long-term memory of one space. Use one object per space: it serialises edits and caches the file's hash.

    All methods may raise StoreError and OSError; methods that write may also raise MemoryFileUnreadable, and
    MemoryLossRefused where no person asked for the write.
    """

    def __init__(
        self, space: str, *, records: MemoryRecords, workspace: Workspace, similarity: Callable[[], float]
    ) -> None:
        """
        Args:
            similarity: the configured threshold from which on two lines count as one; read at each use.
        """
        self.space = space
        self._records = records
        self._workspace = workspace
        self._similarity = similarity
        self._turn = asyncio.Lock()
        self._seen: str | None = None

    async def add(self, category: str, content: str, importance: int = 5) -> MemoryRow:
        """Remember something as a line of its own, however like another one; a line of the same words stays one.

        Raises:
            ValueError: nothing is said, or there is no such category.
        """
        candidate = MemoryCandidate(category=category, text=content, importance=importance, origin="person")
        edit = MemoryEdit(kind="api", revise=partial(_revise, candidate, NEVER_SIMILAR), by_person=True)
        return (await self._carry_out(edit)).rows[0]

    async def upsert(self, candidate: MemoryCandidate) -> UpsertResult:
        """Remember something, merged with the line that says the same, in place of those that it proves wrong.

        A second time changes nothing.

        Raises:
            ValueError: nothing is said, or there is no such category.
        """
        edit = MemoryEdit(
            kind=_CHANGE_KINDS[candidate.origin],
            revise=partial(_revise, candidate, self._similarity()),
            about=candidate.source.message_id,
            by_person=candidate.origin == "person",
        )
        done = await self._carry_out(edit)
        former = [await self._records.row(self.space, norm) for norm, _ in done.revision.superseded]
        return UpsertResult(action=done.revision.action, row=done.rows[0], superseded=tuple(filter(None, former)))

    async def list(self, category: str | None = None, limit: int = 20) -> Rows:
        """What is remembered, newest first. category: only that one; limit: 0 for all."""
        await self.reconcile()
        return await self._records.rows(self.space, category=category or "", limit=limit)

    async def search(
        self, query: str, limit: int = 5, min_similarity: float = 0.6, category: str | None = None
    ) -> ScoredMemories:
        """The memories that hold most of what is asked, best first; each counts as used.

        Args:
            min_similarity: the least share of the question's content words that must be in a memory.
        """
        rows = await self.list(category, limit=0)
        scores = await asyncio.to_thread(question_relevances, query, [row.text for row in rows])
        scored = [ScoredMemory(row=row, similarity=score) for row, score in zip(rows, scores, strict=True)]
        best = sorted((one for one in scored if one.similarity >= min_similarity), key=lambda one: -one.similarity)
        found = best[:limit]
        await self._records.used(self.space, [one.row.norm for one in found])
        return found

    async def nearest(self, text: str, limit: int = 5) -> Rows:
        """The memories that have most words in common with a text, nearest first, those that contradict it too."""
        rows = await self.list(limit=0)
        scores = await asyncio.to_thread(lambda: [word_overlap(row.text, text) for row in rows])
        best = sorted(zip(scores, rows, strict=True), key=lambda item: -item[0])
        return [row for score, row in best[:limit] if score > 0]

    async def remove(self, norms: Sequence[str], kind: ChangeKind, *, by_person: bool = True) -> Rows:
        """Take lines out of the file by their keys; returns their rows as they are then, gone.

        With the kind "forget" the record of the change holds none of the words.
        """
        wanted = frozenset(norms)
        await self._carry_out(MemoryEdit(kind=kind, revise=partial(_remove_keys, wanted), by_person=by_person))
        rows = [await self._records.row(self.space, norm) for norm in dict.fromkeys(norms)]
        return [row for row in rows if row is not None]

    async def reconcile(self) -> None:
        """Bring the records up to date with what a person made of the file; a file that is not UTF-8 says nothing."""
        async with self._turn:
            try:
                held = await self._read()
            except MemoryFileUnreadable:
                return
            await self._follow(held)

    async def apply(self, edit: MemoryEdit) -> MemoryChange | None:
        """Write an edit and what is known of its lines; None where the file is as the edit wants it already."""
        done = await self._carry_out(edit)
        changes = await self._records.changes(self.space, limit=1) if done.written else []
        return changes[0] if changes else None

    async def _carry_out(self, edit: MemoryEdit) -> _EditResult:
        async with self._turn:
            for _ in range(MAX_TRIES):
                held = await self._read()
                await self._follow(held)
                revision = await asyncio.to_thread(edit.revise, held.text)
                try:
                    rows = await _run_to_end(self._put(edit, held, revision))
                except FileConflict:
                    continue
                return _EditResult(revision=revision, rows=rows, written=revision.text != held.text)
        raise OSError(f"the memory of {self.space!r} changes faster than it can be written")

    async def _put(self, edit: MemoryEdit, held: MemoryFileText, revision: MemoryRevision) -> Rows:
        if revision.text == held.text:
            return await self._records.put(self.space, None, live=revision.live, superseded=revision.superseded)
        files = self._files()
        written = await asyncio.to_thread(write_memory, files, held, revision.text, by_person=edit.by_person)
        await hit_async("upsert.file_written")
        live, gone = await asyncio.to_thread(_new_records, edit, held.text, revision)
        records, change = self._records, await asyncio.to_thread(change_record, edit, held, written)
        rows = await put_in_batches(records, self.space, change, live=live, superseded=revision.superseded, gone=gone)
        self._seen = written.sha256
        await hit_async("upsert.committed")
        return rows

    async def _follow(self, held: MemoryFileText) -> None:
        """After a hand edit, or a crash between file and record."""
        if held.sha256 == self._seen:
            return
        records = self._records
        rows = await records.rows(self.space)
        found = await asyncio.to_thread(find_differences, held.text, rows)
        if found.left:
            log.warning(
                "MEMORY.md has more lines than have a record", space=self.space, most=MAX_RECORDED, left=found.left
            )
        for renamed in batched(found.renamed):
            await records.rename(self.space, renamed)
        for gone in batched(found.gone):
            await records.put(self.space, None, gone=gone)
        for new in batched(found.new):
            await records.put(self.space, None, live=new)
        self._seen = held.sha256

    async def _read(self) -> MemoryFileText:
        return await asyncio.to_thread(lambda: read_memory(self._files()))

    def _files(self) -> SpaceFiles:
        try:
            return self._workspace.space(self.space)
        except PathRefused as err:
            raise MemoryFileUnreadable(f"the folder of {self.space!r} is left alone: {err}") from err


async def _run_to_end(work: Coroutine[None, None, Rows]) -> Rows:
    """A caller that is cancelled is so once the work has ended: a line without its record would lose its source."""
    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as err:
            cancelled = err
    if cancelled is not None:
        task.cancelled() or task.exception()  # nobody else may look at it
        raise cancelled
    return task.result()


def _revise(candidate: MemoryCandidate, threshold: float, text: str) -> MemoryRevision:
    return revise_text(text, candidate, threshold)


def _remove_keys(norms: frozenset[str], text: str) -> MemoryRevision:
    for line in reversed(recordable_bullets(text)):
        if normalize_key(line.text) in norms:
            text = remove_bullet(text, line)
    return MemoryRevision(text=text)


def _new_records(edit: MemoryEdit, before: str, revision: MemoryRevision) -> tuple[Sequence[NewMemory], Sequence[str]]:
    """What is known of the lines that the edit brought, those that it names first, and the keys of what it took out."""
    named = {line.norm for line in revision.live}
    former = {norm for norm, _ in revision.superseded}
    old, new = memory_lines(before), memory_lines(revision.text)
    origin = _ORIGINS.get(edit.kind, "person")
    brought = [replace(line, origin=origin) for norm, line in new.items() if norm not in old and norm not in named]
    return [*revision.live, *brought], [norm for norm in old if norm not in new and norm not in former]
