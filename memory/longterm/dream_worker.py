"""Carries out dreams: planned, written, told, done; a crash after any step goes on from there. And takes them back."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial

import structlog

from memory.failpoints import hit_async
from memory.folding import Complete
from memory.longterm import dream_log, dream_plan, recurring
from memory.longterm.batches import put_in_batches
from memory.longterm.dream_plan import DreamPlan, MemoryHistory, SavedPlan, UndoReport
from memory.longterm.memories import Memories
from memory.longterm.memory_file import (
    MEMORY_PATH,
    MemoryEdit,
    MemoryFileText,
    MemoryFileUnreadable,
    MemoryLossRefused,
    MemoryRevision,
    change_record,
    read_memory,
)
from memory.longterm.recurring import LogReader
from memory.store.errors import StoreError, WrongState
from memory.store.longterm.rows import DreamRow, MemoryChange
from memory.store.store import Store
from memory.workspace.files import FileTooBig, SpaceFiles, Workspace
from memory.workspace.safe_path import PathRefused

log = structlog.get_logger(__name__)
MAX_TRIES = 20
# What one space's night may end with; the others' goes on.
RETRYABLE_ERRORS = (OSError, StoreError, PathRefused, FileTooBig)
# Of a memory's newest writes are looked at: for the dream to take back, and for what no dream touches again.
MAX_CHANGES = 1_000


class MemoryFileChanged(RuntimeError):
    """The file is not the one that the plan is for; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamSettings:
    """similarity: from where on two lines are one memory. categories: of which lines are moved in from the logs."""

    similarity: float
    categories: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamServices:
    """What dreams stand on."""

    store: Store
    workspace: Workspace
    memories: Callable[[str], Memories]
    #: Whose memory there is.
    spaces: Callable[[], Awaitable[list[str]]]
    settings: Callable[[], DreamSettings]
    #: Aware, in the zone whose days the logs go by.
    now: Callable[[], datetime]
    #: Asks a model, any error of which means that lines stand as they were said.
    complete: Complete
    #: Seconds it has.
    deadline: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _MemorySnapshot:
    """A space's memory as a night finds it."""

    held: MemoryFileText
    past: MemoryHistory
    plan: DreamPlan


class DreamWorker:
    """Puts memories in order. All methods may raise StoreError and OSError; what is open then goes on the next time."""

    def __init__(self, night: DreamServices) -> None:
        self._night = night
        self._dreams = night.store.dreams
        self._records = night.store.memories
        self._looking = LogReader(folds=night.store.folds, dreams=night.store.dreams)
        self._turn = asyncio.Lock()

    async def night(self, day: date) -> list[DreamRow]:
        """One night's work on every memory, once; where there is nothing to do, nothing is written at all.

        Returns:
            The rows of what was done or refused, those among them that an earlier process left open.
        """
        rows = await self.resume()
        for space in await self._night.spaces():
            try:
                if await self._night.store.links.home(space) == space and (row := await self.dream(space, day)):
                    rows.append(row)
            except RETRYABLE_ERRORS as err:  # the others' memories can be put in order all the same
                log.warning("a memory could not be put in order", space=space, error=type(err).__name__)
        return rows

    async def resume(self) -> list[DreamRow]:
        """Go on with what an earlier process left open; returns the rows."""
        async with self._turn:
            rows = []
            for row in await self._dreams.load_open():
                try:
                    rows.append(await self._carry(row))
                except RETRYABLE_ERRORS as err:
                    log.warning("a dream goes on the next time", space=row.space, error=type(err).__name__)
            return rows

    async def dream(self, space: str, day: date) -> DreamRow | None:
        """One night's work on one memory; None where nothing was to be done, or this night has been."""
        async with self._turn:
            seen = await self._look(space, day)
            if seen is not None and not seen.plan:
                return None
            row = await self._dreams.begin(space, f"{day}")
            return await self._carry(row) if row else None

    async def undo(self, space: str) -> UndoReport | None:
        """Take back the newest dream that has not been; None where there is none.

        Where nobody has written since, the file is as it was, byte for byte. Else the dream's lines go, those it took
        out come back, and all that was written since stays.

        Raises:
            Unreadable: the file cannot be read as text now.
        """
        async with self._turn:
            change = next((one for one in await self._changes(space) if one.kind == "dream" and not one.undone), None)
            if change is None:
                return None
            for row in await self._dreams.load_open():
                if row.id == change.about:
                    await self._carry(row)
            return await self._take_back(space, change)

    async def _carry(self, row: DreamRow) -> DreamRow:
        if row.state == "planned":
            row = await self._plan(row)
        return await self._tell(row) if row.state == "written" else row

    async def _plan(self, row: DreamRow) -> DreamRow:
        """As far as the file; planned anew when a person writes meanwhile."""
        if row.plan and (done := await self._written_already(row)):
            return done
        for _ in range(MAX_TRIES):
            seen = await self._look(row.space, date.fromisoformat(row.day))
            if seen is None:
                return await self._refuse(row, DreamPlan(), "unreadable")
            plan = await self._worded(seen.plan)
            if not plan:
                return await self._dreams.move(row.id, "done", plan="", reason="nothing")
            if reason := await asyncio.to_thread(dream_plan.refusal_reason, seen.held.text, plan):
                return await self._refuse(row, plan, reason)
            try:
                return await self._write(row, replace(seen, plan=plan))
            except MemoryFileChanged:
                continue
            except MemoryLossRefused:
                return await self._refuse(row, plan, "shrinks")
            except MemoryFileUnreadable:
                return await self._refuse(row, plan, "unreadable")
        raise OSError(f"the memory of {row.space!r} changes faster than it can be put in order")

    async def _write(self, row: DreamRow, seen: _MemorySnapshot) -> DreamRow:
        revision = await asyncio.to_thread(dream_plan.carry_out_plan, seen.held.text, seen.plan, seen.past)
        saved = SavedPlan(
            plan=seen.plan,
            before=seen.held.text,
            before_sha256=seen.held.sha256,
            after_sha256=_sha256(revision.text),
        )
        row = await self._dreams.move(row.id, "planned", plan=dream_plan.dump_plan(saved))
        await hit_async("dream.planned")
        edit = MemoryEdit(
            kind="dream", revise=partial(_restore_exactly, seen.held.text, revision), about=row.id, stores_previous=True
        )
        await self._night.memories(row.space).apply(edit)
        await hit_async("dream.file_written")
        return await self._written(row, saved)

    async def _written(self, row: DreamRow, saved: SavedPlan) -> DreamRow:
        return await self._dreams.move(row.id, "written", plan=dream_plan.dump_plan(replace(saved, before="")))

    async def _written_already(self, row: DreamRow) -> DreamRow | None:
        """The row one step on where the file was written before a crash; a record that is missing is made good."""
        saved = dream_plan.load_plan(row.plan)
        if any(change.about == row.id for change in await self._changes(row.space)):
            return await self._written(row, saved)
        try:
            held = await asyncio.to_thread(lambda: read_memory(self._files(row.space)))
        except MemoryFileUnreadable:
            return None
        there = held.sha256 == saved.after_sha256
        if not there and (held.sha256 == saved.before_sha256 or not dream_plan.is_carried_out(held.text, saved)):
            return None
        past = MemoryHistory(rows=tuple(await self._records.rows(row.space, state="")))
        revision = await asyncio.to_thread(dream_plan.carry_out_plan, saved.before, saved.plan, past)
        before = MemoryFileText(text=saved.before, sha256=saved.before_sha256)
        after = MemoryFileText(text=revision.text, sha256=saved.after_sha256)
        edit = MemoryEdit(kind="dream", revise=lambda text: revision, about=row.id, stores_previous=True)
        change, live = change_record(edit, before, after), revision.live
        await put_in_batches(self._records, row.space, change, live=live, superseded=revision.superseded)
        return await self._written(row, saved)

    async def _tell(self, row: DreamRow) -> DreamRow:
        plan = dream_plan.load_plan(row.plan).plan
        lang = await self._language(row.space, plan)
        path = await self._note(row, dream_log.plan_items(plan, lang), lang)
        await hit_async("dream.diary_written")
        done = await self._dreams.move(row.id, "done", diary=path)
        await hit_async("dream.done")
        return done

    async def _refuse(self, row: DreamRow, plan: DreamPlan, reason: str) -> DreamRow:
        lang = await self._language(row.space, plan)
        path = await self._note(row, dream_log.refusal_items(reason, lang), lang)
        return await self._dreams.move(row.id, "refused", plan="", diary=path, reason=reason)

    async def _take_back(self, space: str, change: MemoryChange) -> UndoReport:
        revise = partial(dream_plan.undo_dream, change)
        edit = MemoryEdit(kind="undo", revise=revise, about=change.about, by_person=True)
        made = await self._night.memories(space).apply(edit)
        whole = made is not None and made.after_sha256 == change.before_sha256
        back, gone = (made.added, made.removed) if made else ((), ())
        row = await self._dreams.dream(change.about)
        if row is None:
            raise WrongState(f"there is no dream {change.about}")
        lang = await self._language(space, DreamPlan())
        await self._note(row, dream_log.undo_items(back, gone, lang, whole=whole), lang, undone=True)
        await self._dreams.move(row.id, "undone")
        return UndoReport(day=row.day, whole=whole, back=back, gone=gone)

    async def _look(self, space: str, day: date) -> _MemorySnapshot | None:
        """The memory and what this night would make of it; None for a file that is no text."""
        files = self._files(space)
        await self._night.memories(space).reconcile()
        try:
            held = await asyncio.to_thread(read_memory, files)
        except MemoryFileUnreadable:
            return None
        settings = self._night.settings()
        zone = self._night.now().tzinfo
        log = await self._looking.own_words(space, files, day, zone) if zone else ()
        past = MemoryHistory(
            rows=tuple(await self._records.rows(space, state="")),
            kept=dream_plan.kept_line_keys(await self._changes(space)),
        )
        plan = await asyncio.to_thread(dream_plan.plan_dream, held.text, past, log, settings.similarity)
        wanted = tuple(note for note in plan.noted if note.category in settings.categories)
        return _MemorySnapshot(held=held, past=past, plan=replace(plan, noted=wanted))

    async def _worded(self, plan: DreamPlan) -> DreamPlan:
        """The plan with its new lines in a model's words, as far as those are borne out."""
        heard = [line.conversation for note in plan.noted for line in note.sources if line.conversation]
        if not heard:
            return plan
        system, prompt = recurring.build_prompts(plan.noted)
        answer = asyncio.ensure_future(self._night.complete(system, prompt, recurring.MAX_ANSWER_TOKENS, heard[-1]))
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody else may look at it
        try:
            await asyncio.wait((answer,), timeout=self._night.deadline)
        finally:
            answer.cancel()
        if not answer.done() or answer.cancelled() or answer.exception() is not None:
            return plan
        return replace(plan, noted=await asyncio.to_thread(recurring.reword_lines, plan.noted, answer.result()))

    async def _note(self, row: DreamRow, lines: tuple[str, ...], lang: dream_log.Lang, *, undone: bool = False) -> str:
        at = self._night.now()
        entry = dream_log.DreamLogEntry(dream=row.id, day=row.day, at=at, lang=lang, lines=lines, undone=undone)
        return await asyncio.to_thread(lambda: dream_log.append_entry(self._files(row.space), entry))

    async def _language(self, space: str, plan: DreamPlan) -> dream_log.Lang:
        rows = await self._records.rows(space)
        return dream_log.detect_language([row.text for row in rows], plan)

    async def _changes(self, space: str) -> list[MemoryChange]:
        return await self._records.changes(space, MAX_CHANGES)

    def _files(self, space: str) -> SpaceFiles:
        return self._night.workspace.space(space)


def _restore_exactly(before: str, revision: MemoryRevision, text: str) -> MemoryRevision:
    if text != before:
        raise MemoryFileChanged(f"{MEMORY_PATH} was changed by somebody else")
    return revision


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
