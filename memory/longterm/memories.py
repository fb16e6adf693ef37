"""One space's long-term memory: the lines of its MEMORY.md, and what is known of them."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog

from memory.failpoint import afp
from memory.longterm.bullets import memorable, removed
from memory.longterm.editing import Action, Edit, Held, Revision, Unreadable, noted, read, write
from memory.longterm.reconciling import MOST_TAKEN, differences, lines_of
from memory.longterm.recording import batched, put_all
from memory.longterm.similarity import normal, overlap, relevances
from memory.longterm.upserting import NEVER, Candidate, revise
from memory.store.memory_doors import MemoryRecords
from memory.store.memory_records import ChangeKind, MemoryChange, MemoryRow, NewMemory, Origin
from memory.workspace import Conflict, PathRefused, SpaceFiles, Workspace

__all__ = ["Candidate", "Edit", "Ground", "Memories", "Revision", "Scored", "Unreadable", "Upserted"]

MOST_TRIES = 20
log = structlog.get_logger(__name__)
_KINDS: dict[Origin, ChangeKind] = {
    "extraction": "extract",
    "person": "remember",
    "tool": "tool",
    "dream": "dream",
    "file": "api",
}
_ORIGINS: dict[ChangeKind, Origin] = {"extract": "extraction", "tool": "tool", "dream": "dream"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What memories stand on. similarity: from where on two lines are one, asked at each use."""

    records: MemoryRecords
    workspace: Workspace
    similarity: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upserted:
    """What became of a candidate, its line's row, and the rows of the lines whose place it took."""

    action: Action
    row: MemoryRow
    superseded: tuple[MemoryRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A memory that was found. similarity: how much of the question is in it, 0 to 1."""

    row: MemoryRow
    similarity: float


Rows = list[MemoryRow]
Found = list[Scored]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What an edit came to. rows: of the lines that the revision names, in order; written: whether the file was."""

    revision: Revision
    rows: Rows
    written: bool


class Memories:
    """The long-term memory of one space. One object at a time: edits wait in it, and it knows which file it saw.

    All methods may raise StoreError and OSError; those that write, Unreadable, and WouldLose where no person asked.
    """

    def __init__(self, space: str, ground: Ground) -> None:
        self.space = space
        self._ground = ground
        self._turn = asyncio.Lock()
        self._seen: str | None = None

    async def add(self, category: str, content: str, importance: int = 5) -> MemoryRow:
        """Remember something as a line of its own, however like another one; a line of the same words stays one.

        Raises:
            ValueError: nothing is said, or there is no such category.
        """
        candidate = Candidate(category=category, text=content, importance=importance, origin="person")
        edit = Edit(kind="api", revise=partial(_revise, candidate, NEVER), by_person=True)
        return (await self._carry_out(edit)).rows[0]

    async def upsert(self, candidate: Candidate) -> Upserted:
        """Remember something, merged with the line that says the same, in place of those that it proves wrong.

        A second time changes nothing.

        Raises:
            ValueError: nothing is said, or there is no such category.
        """
        edit = Edit(
            kind=_KINDS[candidate.origin],
            revise=partial(_revise, candidate, self._ground.similarity()),
            about=candidate.source.message_id,
            by_person=candidate.origin == "person",
        )
        done = await self._carry_out(edit)
        former = [await self._ground.records.row(self.space, norm) for norm, _ in done.revision.superseded]
        return Upserted(action=done.revision.action, row=done.rows[0], superseded=tuple(filter(None, former)))

    async def list(self, category: str | None = None, limit: int = 20) -> Rows:
        """What is remembered, newest first. category: only that one; limit: 0 for all."""
        await self.reconcile()
        return await self._ground.records.rows(self.space, category=category or "", limit=limit)

    async def search(
        self, query: str, limit: int = 5, min_similarity: float = 0.6, category: str | None = None
    ) -> Found:
        """The memories that hold most of what is asked, best first; each counts as used.

        Args:
            min_similarity: the least share of the question's content words that must be in a memory.
        """
        rows = await self.list(category, limit=0)
        scores = await asyncio.to_thread(relevances, query, [row.text for row in rows])
        scored = [Scored(row=row, similarity=score) for row, score in zip(rows, scores, strict=True)]
        best = sorted((one for one in scored if one.similarity >= min_similarity), key=lambda one: -one.similarity)
        found = best[:limit]
        await self._ground.records.used(self.space, [one.row.norm for one in found])
        return found

    async def nearest(self, text: str, limit: int = 5) -> Rows:
        """The memories that have most words in common with a text, nearest first, those that contradict it too."""
        rows = await self.list(limit=0)
        scores = await asyncio.to_thread(lambda: [overlap(row.text, text) for row in rows])
        best = sorted(zip(scores, rows, strict=True), key=lambda item: -item[0])
        return [row for score, row in best[:limit] if score > 0]

    async def remove(self, norms: Sequence[str], kind: ChangeKind, *, by_person: bool = True) -> Rows:
        """Take lines out of the file by their keys; returns their rows as they are then, gone.

        With the kind "forget" the record of the change holds none of the words.
        """
        wanted = frozenset(norms)
        await self._carry_out(Edit(kind=kind, revise=partial(_without, wanted), by_person=by_person))
        rows = [await self._ground.records.row(self.space, norm) for norm in dict.fromkeys(norms)]
        return [row for row in rows if row is not None]

    async def reconcile(self) -> None:
        """Bring the records up to date with what a person made of the file; a file that is not UTF-8 says nothing."""
        async with self._turn:
            try:
                held = await self._read()
            except Unreadable:
                return
            await self._follow(held)

    async def apply(self, edit: Edit) -> MemoryChange | None:
        """Write an edit and what is known of its lines; None where the file is as the edit wants it already."""
        done = await self._carry_out(edit)
        changes = await self._ground.records.changes(self.space, limit=1) if done.written else []
        return changes[0] if changes else None

    async def _carry_out(self, edit: Edit) -> _Done:
        async with self._turn:
            for _ in range(MOST_TRIES):
                held = await self._read()
                await self._follow(held)
                revision = await asyncio.to_thread(edit.revise, held.text)
                try:
                    rows = await _to_its_end(self._put(edit, held, revision))
                except Conflict:
                    continue
                return _Done(revision=revision, rows=rows, written=revision.text != held.text)
        raise OSError(f"the memory of {self.space!r} changes faster than it can be written")

    async def _put(self, edit: Edit, held: Held, revision: Revision) -> Rows:
        if revision.text == held.text:
            return await self._ground.records.put(self.space, None, live=revision.live, superseded=revision.superseded)
        files = self._files()
        written = await asyncio.to_thread(write, files, held, revision.text, by_person=edit.by_person)
        await afp("upsert.file_written")
        live, gone = await asyncio.to_thread(_records, edit, held.text, revision)
        records, change = self._ground.records, await asyncio.to_thread(noted, edit, held, written)
        rows = await put_all(records, self.space, change, live=live, superseded=revision.superseded, gone=gone)
        self._seen = written.sha256
        await afp("upsert.committed")
        return rows

    async def _follow(self, held: Held) -> None:
        """After a hand edit, or a crash between file and record."""
        if held.sha256 == self._seen:
            return
        records = self._ground.records
        rows = await records.rows(self.space)
        found = await asyncio.to_thread(differences, held.text, rows)
        if found.left:
            log.warning(
                "MEMORY.md has more lines than have a record", space=self.space, most=MOST_TAKEN, left=found.left
            )
        for renamed in batched(found.renamed):
            await records.rename(self.space, renamed)
        for gone in batched(found.gone):
            await records.put(self.space, None, gone=gone)
        for new in batched(found.new):
            await records.put(self.space, None, live=new)
        self._seen = held.sha256

    async def _read(self) -> Held:
        return await asyncio.to_thread(lambda: read(self._files()))

    def _files(self) -> SpaceFiles:
        try:
            return self._ground.workspace.space(self.space)
        except PathRefused as err:
            raise Unreadable(f"the folder of {self.space!r} is left alone: {err}") from err


async def _to_its_end(work: Coroutine[None, None, Rows]) -> Rows:
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


def _revise(candidate: Candidate, threshold: float, text: str) -> Revision:
    return revise(text, candidate, threshold)


def _without(norms: frozenset[str], text: str) -> Revision:
    for line in reversed(memorable(text)):
        if normal(line.text) in norms:
            text = removed(text, line)
    return Revision(text=text)


def _records(edit: Edit, before: str, revision: Revision) -> tuple[Sequence[NewMemory], Sequence[str]]:
    """What is known of the lines that the edit brought, those that it names first, and the keys of what it took out."""
    named = {line.norm for line in revision.live}
    former = {norm for norm, _ in revision.superseded}
    old, new = lines_of(before), lines_of(revision.text)
    origin = _ORIGINS.get(edit.kind, "person")
    brought = [replace(line, origin=origin) for norm, line in new.items() if norm not in old and norm not in named]
    return [*revision.live, *brought], [norm for norm in old if norm not in new and norm not in former]
