"""Runs dreams: plan, write MEMORY.md, log, done; each resumes after a crash. Also undoes them."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial

import structlog

from memory.conversation import Complete
from memory.failpoints import hit_async
from memory.longterm import dream_log, dream_plan, recurring
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
from memory.tasks import result_or_none
from memory.workspace.files import SpaceFiles, Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused

log = structlog.get_logger(__name__)
MAX_TRIES = 20
# After these, one space's dream waits for the next night; the other spaces go on.
RETRYABLE_ERRORS = (OSError, StoreError, PathRefused, FileTooBig)
MAX_CHANGES = 1_000  # newest changes searched for the dream to undo and for lines a person restored


class MemoryFileChanged(RuntimeError):
    """The file is not the one the plan was made for; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamSettings:
    """Settings that a dream reads at its start."""

    #: Threshold from which on two lines are one memory.
    similarity: float
    #: Categories of lines that may be moved in from the logs.
    categories: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _MemorySnapshot:
    """A space's memory, and the plan for it."""

    file: MemoryFileText
    past: MemoryHistory
    plan: DreamPlan


class DreamWorker:
    """Tidies memories at night.

    All methods may raise StoreError and OSError; open dreams resume the next time.
    """

    def __init__(
        self,
        *,
        store: Store,
        workspace: Workspace,
        memories: Callable[[str], Memories],
        spaces: Callable[[], Awaitable[list[str]]],
        settings: Callable[[], DreamSettings],
        now: Callable[[], datetime],
        complete: Complete,
    ) -> None:
        """
        Args:
            spaces: the spaces that have a memory.
            now: aware, in the zone whose days the logs go by.
            complete: words new lines; if it fails, lines stay as the person said them.
        """
        self._links = store.links
        self._dreams = store.dreams
        self._records = store.memories
        self._log_reader = LogReader(folds=store.folds, dreams=store.dreams)
        self._workspace = workspace
        self._memories = memories
        self._spaces = spaces
        self._settings = settings
        self._now = now
        self._complete = complete
        self._lock = asyncio.Lock()

    async def night(self, day: date) -> list[DreamRow]:
        """Run one night for every space; where nothing is to do, nothing is written.

        Returns:
            The rows of dreams that were done or refused, including those a former process left
            open.
        """
        rows = await self.resume()
        for space in await self._spaces():
            try:
                if await self._links.linked_space(space) == space and (
                    row := await self.dream(space, day)
                ):
                    rows.append(row)
            except RETRYABLE_ERRORS as err:  # one space must not stop the others
                log.warning("a memory could not be tidied", space=space, error=type(err).__name__)
        return rows

    async def resume(self) -> list[DreamRow]:
        """Resume the dreams that a former process left open; returns their rows."""
        async with self._lock:
            rows = []
            for row in await self._dreams.load_open():
                try:
                    rows.append(await self._run_steps(row))
                except RETRYABLE_ERRORS as err:
                    log.warning(
                        "a dream continues the next time", space=row.space, error=type(err).__name__
                    )
            return rows

    async def dream(self, space: str, day: date) -> DreamRow | None:
        """Run one night for one space; None when nothing is to do or this night was done
        already.
        """
        async with self._lock:
            snapshot = await self._take_snapshot(space, day)
            if snapshot is not None and not snapshot.plan:
                return None
            row = await self._dreams.begin(space, f"{day}")
            return await self._run_steps(row) if row else None

    async def undo(self, space: str, dream: str = "") -> UndoReport | None:
        """Undo the newest dream that is not undone yet, or the one with this id; None when there is
        none.

        If the file has not changed since, it becomes byte for byte what it was. Otherwise the
        dream's lines are removed, those it removed come back, and later edits stay.

        Raises:
            MemoryFileUnreadable: the file cannot be read as text.
        """
        async with self._lock:
            undoable = (
                one for one in await self._changes(space) if one.kind == "dream" and not one.undone
            )
            change = next((one for one in undoable if dream in ("", one.about)), None)
            if change is None:
                return None
            for row in await self._dreams.load_open():
                if row.id == change.about:
                    await self._run_steps(row)
            return await self._undo_change(space, change)

    async def _run_steps(self, row: DreamRow) -> DreamRow:
        if row.state == "planned":
            row = await self._plan(row)
        return await self._write_log(row) if row.state == "written" else row

    async def _plan(self, row: DreamRow) -> DreamRow:
        """planned → written: plan again whenever the file changes in between."""
        if row.plan and (done := await self._find_written(row)):
            return done
        for _ in range(MAX_TRIES):
            snapshot = await self._take_snapshot(row.space, date.fromisoformat(row.day))
            if snapshot is None:
                return await self._refuse(row, DreamPlan(), "unreadable")
            plan = await self._reworded(snapshot.plan)
            if not plan:
                return await self._dreams.move(row.id, "done", plan="", reason="nothing")
            if reason := await asyncio.to_thread(
                dream_plan.refusal_reason, snapshot.file.text, plan
            ):
                return await self._refuse(row, plan, reason)
            try:
                return await self._write(row, replace(snapshot, plan=plan))
            except MemoryFileChanged:
                continue
            except MemoryLossRefused:
                return await self._refuse(row, plan, "shrinks")
            except MemoryFileUnreadable:
                return await self._refuse(row, plan, "unreadable")
        raise OSError(f"the memory of {row.space!r} changes faster than it can be tidied")

    async def _write(self, row: DreamRow, snapshot: _MemorySnapshot) -> DreamRow:
        revision = await asyncio.to_thread(
            dream_plan.carry_out_plan, snapshot.file.text, snapshot.plan, snapshot.past
        )
        saved = SavedPlan(
            plan=snapshot.plan,
            before=snapshot.file.text,
            before_sha256=snapshot.file.sha256,
            after_sha256=hashlib.sha256(revision.text.encode()).hexdigest(),
        )
        row = await self._dreams.move(row.id, "planned", plan=dream_plan.dump_plan(saved))
        await hit_async("dream.planned")
        edit = MemoryEdit(
            kind="dream",
            revise=partial(_restore_exactly, snapshot.file.text, revision),
            about=row.id,
            stores_previous=True,
        )
        await self._memories(row.space).apply(edit)
        await hit_async("dream.file_written")
        return await self._mark_written(row, saved)

    async def _mark_written(self, row: DreamRow, saved: SavedPlan) -> DreamRow:
        return await self._dreams.move(
            row.id, "written", plan=dream_plan.dump_plan(replace(saved, before=""))
        )

    async def _find_written(self, row: DreamRow) -> DreamRow | None:
        """The row as "written" if a former process wrote the file before it died; a missing change
        record is added.
        """
        saved = dream_plan.load_plan(row.plan)
        if saved is None:
            return None
        if any(change.about == row.id for change in await self._changes(row.space)):
            return await self._mark_written(row, saved)
        try:
            file = await asyncio.to_thread(lambda: read_memory(self._files(row.space)))
        except MemoryFileUnreadable:
            return None
        is_written = file.sha256 == saved.after_sha256
        if not is_written and (
            file.sha256 == saved.before_sha256 or not dream_plan.is_carried_out(file.text, saved)
        ):
            return None
        past = MemoryHistory(rows=tuple(await self._records.rows(row.space, state="")))
        revision = await asyncio.to_thread(
            dream_plan.carry_out_plan, saved.before, saved.plan, past
        )
        before = MemoryFileText(text=saved.before, sha256=saved.before_sha256)
        after = MemoryFileText(text=revision.text, sha256=saved.after_sha256)
        edit = MemoryEdit(
            kind="dream", revise=lambda text: revision, about=row.id, stores_previous=True
        )
        change = change_record(edit, before, after)
        await self._records.put(
            row.space, change, live=revision.live, superseded=revision.superseded
        )
        return await self._mark_written(row, saved)

    async def _write_log(self, row: DreamRow) -> DreamRow:
        saved = dream_plan.load_plan(row.plan)
        plan = saved.plan if saved else DreamPlan()
        lang = await self._language(row.space, plan)
        path = await self._append_entry(row, dream_log.plan_items(plan, lang), lang)
        await hit_async("dream.diary_written")
        done = await self._dreams.move(row.id, "done", diary=path)
        await hit_async("dream.done")
        return done

    async def _refuse(self, row: DreamRow, plan: DreamPlan, reason: str) -> DreamRow:
        lang = await self._language(row.space, plan)
        path = await self._append_entry(row, dream_log.refusal_items(reason, lang), lang)
        return await self._dreams.move(row.id, "refused", plan="", diary=path, reason=reason)

    async def _undo_change(self, space: str, change: MemoryChange) -> UndoReport:
        revise = partial(dream_plan.undo_dream, change)
        edit = MemoryEdit(kind="undo", revise=revise, about=change.about, by_person=True)
        undone = await self._memories(space).apply(edit)
        whole = undone is not None and undone.after_sha256 == change.before_sha256
        back, gone = (undone.added, undone.removed) if undone else ((), ())
        row = await self._dreams.dream(change.about)
        if row is None:
            raise WrongState(f"there is no dream {change.about}")
        lang = await self._language(space, DreamPlan())
        await self._append_entry(
            row, dream_log.undo_items(back, gone, lang, whole=whole), lang, undone=True
        )
        await self._dreams.move(row.id, "undone")
        return UndoReport(day=row.day, whole=whole, back=back, gone=gone)

    async def _take_snapshot(self, space: str, day: date) -> _MemorySnapshot | None:
        """Read the memory and plan the night; None when the file is not text."""
        files = self._files(space)
        await self._memories(space).reconcile()
        try:
            file = await asyncio.to_thread(read_memory, files)
        except MemoryFileUnreadable:
            return None
        settings = self._settings()
        zone = self._now().tzinfo
        log = await self._log_reader.own_words(space, files, day, zone) if zone else ()
        past = MemoryHistory(
            rows=tuple(await self._records.rows(space, state="")),
            kept=dream_plan.kept_line_keys(await self._changes(space)),
        )
        plan = await asyncio.to_thread(
            dream_plan.plan_dream, file.text, past, log, settings.similarity
        )
        noted = tuple(note for note in plan.noted if note.category in settings.categories)
        return _MemorySnapshot(file=file, past=past, plan=replace(plan, noted=noted))

    async def _reworded(self, plan: DreamPlan) -> DreamPlan:
        """Let a model reword the plan's new lines; only wordings that their sources support are
        taken.
        """
        conversations = [
            line.conversation for note in plan.noted for line in note.sources if line.conversation
        ]
        if not conversations:
            return plan
        system, prompt = recurring.build_prompts(plan.noted)
        call = self._complete(system, prompt, recurring.MAX_ANSWER_TOKENS, conversations[-1])
        answer = await result_or_none(call)
        if answer is None:
            return plan
        return replace(
            plan, noted=await asyncio.to_thread(recurring.reword_lines, plan.noted, answer)
        )

    async def _append_entry(
        self, row: DreamRow, lines: tuple[str, ...], lang: dream_log.Lang, *, undone: bool = False
    ) -> str:
        at = self._now()
        entry = dream_log.DreamLogEntry(
            dream=row.id, day=row.day, at=at, lang=lang, lines=lines, undone=undone
        )
        return await asyncio.to_thread(
            lambda: dream_log.append_entry(self._files(row.space), entry)
        )

    async def _language(self, space: str, plan: DreamPlan) -> dream_log.Lang:
        rows = await self._records.rows(space)
        return dream_log.detect_language([row.text for row in rows], plan)

    async def _changes(self, space: str) -> list[MemoryChange]:
        return await self._records.changes(space, MAX_CHANGES)

    def _files(self, space: str) -> SpaceFiles:
        return self._workspace.space(space)


def _restore_exactly(before: str, revision: MemoryRevision, text: str) -> MemoryRevision:
    if text != before:
        raise MemoryFileChanged(f"{MEMORY_PATH} was changed in the meantime")
    return revision
