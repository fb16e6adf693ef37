"""Builds the system parts of each conversation, unchanged until something else changes its prefix."""

import asyncio
import hashlib
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import structlog

from bot.agent.persona import UNREADABLE_STAMP, FileStamp, PersonaFiles, file_stamp
from bot.agent.system_rules import system_rules
from bot.memory.recall import load_fold_labels
from channels.toolkit.delivery import BoundedDict
from memory.context.markdown import split_lines
from memory.context.system_prompt import (
    AWARENESS,
    LOG,
    MEMORY,
    RULES,
    SOUL,
    KnownLogParts,
    PromptBudgets,
    PromptSources,
    budgets_for,
    system_parts,
)
from memory.context.tokens import TokenCounter
from memory.conversation import Session, SystemPart
from memory.store.conversations.prompt_state import PrefixMark
from memory.store.longterm.rows import MemoryChange
from memory.store.rows import PromptSnapshot
from memory.store.store import Store
from memory.workspace.daily_log import LOG_FOLDER, list_folds
from memory.workspace.files import SPACES_FOLDER, FileTooBig, TextFile
from memory.workspace.fold_labels import KnownCleanLines, remove_tainted_lines
from memory.workspace.safe_path import PathRefused
from memory.workspace.templates import MEMORY_TEMPLATE

log = structlog.get_logger(__name__)

# The bot's own changes of MEMORY.md since a snapshot: shown in the suffix, so that the prefix can stay.

FORGET_SOURCE = "forget"  # requests after this change must not show the text before it
MAX_CHANGES_TOKENS = 500  # with more changes MEMORY.md is read again
MAX_CHANGES = 100
CHANGES_HEAD, CHANGES_REMOVED, CHANGES_END = (
    "[Remembered since MEMORY.md was read:]",
    "[No longer true:]",
    "[End of remembered]",
)


def find_file_changes(
    changes: Sequence[MemoryChange], path: str, sha256: str, seen: Callable[[str], bool]
) -> tuple[MemoryChange, ...] | None:
    """Return the bot's changes from the seen file to the one with hash `sha256`, oldest first.

    Edits by a person are not stored as changes, so they break the chain.

    Args:
        changes: of a space, newest first.
        seen: whether a file of that hash ("" for none) is the one that was seen.

    Returns:
        None if a person edited the file too, or something was forgotten.
    """
    found: list[MemoryChange] = []
    for change in changes:
        if change.path != path or change.after_sha256 != sha256:
            continue
        if change.kind == FORGET_SOURCE:
            return None
        found.append(change)
        sha256 = change.before_sha256
        if seen(sha256):
            return tuple(reversed(found))
    return None


def format_file_changes(changes: Sequence[MemoryChange]) -> str:
    """Format the net effect of changes: added lines and removed lines; "" for none."""
    new: dict[str, None] = {}
    gone: dict[str, None] = {}
    for change in changes:
        _move_lines(change.removed, new, gone)
        _move_lines(change.added, gone, new)
    lines = [CHANGES_HEAD, *map(_format_item, new)] if new else []
    lines += [CHANGES_REMOVED, *map(_format_item, gone)] if gone else []
    return "\n".join((*lines, CHANGES_END)) if lines else ""


def _move_lines(lines: Sequence[str], out_of: dict[str, None], into: dict[str, None]) -> None:
    for line in lines:
        if line in out_of:
            del out_of[line]
        else:
            into[line] = None


def _format_item(line: str) -> str:
    return f"- {' '.join(line.split())}".replace(CHANGES_END, CHANGES_END.strip("[]"))


# Conversations whose parts are cached: some 10 KiB each with usual files, 60 KiB where every part is at its budget.
MAX_CACHED_CONVERSATIONS = 1_000
MAX_UNSTORED_SNAPSHOTS = 11_000  # more than the turns that run at once, each of which may have one still to store
EDIT_SOURCE = "edit"
CHANGES_SHARE = 8  # changes of MEMORY.md get at most an eighth of its budget
MAX_LOG_FILES = 9  # of one day
MAX_KNOWN_FILES = 64  # MEMORY.md of so many spaces are kept: all conversations of a space read it after each change
CLEAN_PREFIX = "clean:"  # of a snapshot's source; without it, an older version stored tainted lines of the log too
T = TypeVar("T")
OnPartCut = Callable[[str, SystemPart, PromptBudgets], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PromptInputs:
    """Everything whose change is a reason to rebuild the parts."""

    space: str
    epoch: int
    fold_head: str
    reductions: int
    soul: str
    #: Stamp of MEMORY.md.
    memory: FileStamp
    tools: tuple[str, ...]
    budgets: PromptBudgets


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPrompt:
    """The parts that a conversation's requests begin with."""

    parts: tuple[SystemPart, ...]
    #: The bot's own changes of MEMORY.md since the parts were built, for the suffix; "" for none.
    memory_changes: str
    inputs: _PromptInputs
    #: False if a file could not be read: the next request reads it again.
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _MemoryFile:
    """A MEMORY.md."""

    #: "" while it is still the template.
    text: str
    #: Of the file; "" if there is none.
    sha256: str


class _UnreadableFile(Exception):
    """A file exists but cannot be read, which is not the same as no file."""


_NO_FILE = _MemoryFile(text="", sha256="")


class SystemPromptBuilder:
    """Builds the system parts of conversations, and repeats the same bytes as long as possible.

    MEMORY.md, the daily log and awareness are read for the first request, and again after a fold, a clear or its undo,
    a recorded reduction, and a person's change of SOUL.md, MEMORY.md, the tools or the budgets. Until then the stored
    snapshot is shown, also after a restart. A longer log is no reason to read again. The bot's own changes of MEMORY.md
    are shown in the suffix until they are too long. If a file cannot be read, its stored part stays, nothing is stored,
    and the next request reads it again.
    """

    def __init__(self, persona: PersonaFiles, store: Store, now: Callable[[], datetime]) -> None:
        """now: returns the owner's local time, whose day's log is shown."""
        self.specs = persona.specs
        self._persona = persona
        self._workspace = persona.workspace
        self._store = store
        self._now = now
        self._template = _normalize_lines(MEMORY_TEMPLATE.read_text("utf-8"))
        self._cache: OrderedDict[str, SystemPrompt] = OrderedDict()
        self._log_parts, self._clean_lines = KnownLogParts(), KnownCleanLines()
        self._memory_files: BoundedDict[str, tuple[FileStamp, _MemoryFile]] = BoundedDict(MAX_KNOWN_FILES)
        #: Rebuilt snapshots with the reason, until `store_snapshot`.
        self._unstored: dict[str, tuple[PromptSnapshot, str]] = {}
        #: Called with conversation, part and budgets when MEMORY.md becomes too long for its budget.
        self.on_part_cut: OnPartCut = lambda conversation, part, budgets: None

    async def load(self, session: Session, budget: int, counter: TokenCounter) -> SystemPrompt:
        """Return the system prompt of the next request: SOUL.md, rules, awareness, MEMORY.md, log.

        Only checks the times of two files if nothing changed. Call it again after each fold and reduction that is
        recorded while a request is fitted, so that both change the prefix together.

        Args:
            budget: configured tokens of a whole request to this model, without anything learnt: a change of the
                budgets rebuilds the parts.
        """
        inputs = self._current_inputs(session, budget)
        prompt = self._cache.get(session.conversation)
        if prompt is None or prompt.inputs != inputs or not prompt.complete:
            prompt = await self._build(session, inputs, counter)
            self._cache[session.conversation] = prompt
            if len(self._cache) > MAX_CACHED_CONVERSATIONS:
                self._cache.popitem(last=False)
        self._cache.move_to_end(session.conversation)
        return prompt

    async def memory_texts(self, conversation: str, space: str) -> tuple[str, ...]:
        """Return the texts of memory that a conversation's requests show; MEMORY.md alone before the first of them."""
        prompt = self._cache.get(conversation)
        if prompt is not None:
            own = [part.text for part in prompt.parts if part.name not in (SOUL, RULES, AWARENESS)]
            return (*own, prompt.memory_changes)
        try:
            file = await asyncio.to_thread(self._read_file, space, MEMORY)
            return (file.text,) if file else ()
        except _UnreadableFile:
            return ()

    def drop(self, conversation: str) -> None:
        """Drop the cached parts of a conversation whose stored snapshot was removed."""
        self._cache.pop(conversation, None)
        self._unstored.pop(conversation, None)

    def has_unstored_snapshot(self, conversation: str) -> bool:
        """Tell whether `load` has rebuilt a snapshot that is not stored yet."""
        return conversation in self._unstored

    async def store_snapshot(self, conversation: str, mark: PrefixMark | None = None) -> None:
        """Store a snapshot that `load` has rebuilt, with the mark of the prefix; await this before the request is sent.

        Raises:
            StoreError: it could not be stored.
        """
        if conversation in self._unstored:
            snapshot, reason = self._unstored[conversation]
            await self._store.sessions.set_snapshot(conversation, snapshot, reason, mark)
            self._unstored.pop(conversation, None)

    def check_files(self) -> None:
        """Check again whether SOUL.md and files that could not be read are readable; blocks."""
        self._persona.soul()
        self._persona.store()
        for space, path in self._persona.troubles.files():
            if (space, path) != ("", SOUL):
                with suppress(_UnreadableFile):
                    self._read_file(space, path)

    def fixed_texts(self, space: str) -> tuple[str, ...]:
        """Return the texts that every system prompt of a space has."""
        return (self._persona.soul(), self._persona.rules(space), self._persona.awareness())

    def _current_inputs(self, session: Session, budget: int) -> _PromptInputs:
        return _PromptInputs(
            space=session.space,
            epoch=session.epoch,
            fold_head=session.fold_head,
            reductions=len(session.reductions),
            soul=self._persona.soul(),
            memory=file_stamp(self._folder(session.space) / MEMORY),
            tools=self._persona.offered(session.space),
            budgets=budgets_for(budget),
        )

    async def _build(self, session: Session, inputs: _PromptInputs, counter: TokenCounter) -> SystemPrompt:
        """Return the stored snapshot's parts, rebuilt if there is a reason to."""
        conversation = session.conversation
        stored = await self._store.sessions.snapshot(conversation)
        memory = await self._load_memory(session.space, inputs.memory)
        sha256 = memory.sha256 if memory else ""
        source_hash = _source_hasher(inputs)
        source = source_hash(sha256) if memory or stored is None else stored.source
        reason, changes = _rebuild_reason(stored, inputs, source), ""
        if memory is None and (cached := self._cache.get(conversation)):
            changes = cached.memory_changes
        if stored is not None and reason == EDIT_SOURCE:
            former = stored.source
            reason, changes = await self._own_changes(
                session.space, sha256, lambda before: source_hash(before) == former, inputs.budgets, counter
            )
        complete = memory is not None
        if stored is None or reason:
            log_text = await self._try_read(self._read_log, session.space, f"{self._now():%Y-%m-%d}")
            complete = complete and log_text is not None
            sources = await self._sources(session, inputs, memory.text if memory else "", log_text or "")
            fresh = await self._take_snapshot(sources, inputs, source, counter)
            self._unstored.pop(conversation, None)  # what an earlier call built is not what is shown now
            if complete:
                self._unstored[conversation] = (fresh, reason)
                if len(self._unstored) > MAX_UNSTORED_SNAPSHOTS:
                    del self._unstored[next(iter(self._unstored))]
                self._report_cut(conversation, stored, fresh, inputs.budgets)
            unread = {name for name, text in ((MEMORY, memory), (LOG, log_text)) if text is None}
            stored = _with_stored_parts(fresh, stored, unread)
        else:
            self._unstored.pop(conversation, None)
        soul, rules = SystemPart(name=SOUL, text=inputs.soul), SystemPart(name=RULES, text=system_rules(inputs.tools))
        parts = (soul, rules, *map(_intern_text, stored.parts))
        return SystemPrompt(parts=parts, memory_changes=changes, inputs=inputs, complete=complete)

    async def _load_memory(self, space: str, stamp: FileStamp) -> _MemoryFile | None:
        """Return MEMORY.md as it is with this stamp; None if it cannot be read."""
        if not any(stamp):
            return _NO_FILE
        known = self._memory_files.get(space)
        if known and known[0] == stamp:
            return known[1]
        file = await self._try_read(self._read_memory, space)
        if file is not None and stamp != UNREADABLE_STAMP:
            self._memory_files[space] = (stamp, file)
        return file

    async def _try_read(self, read: Callable[..., T], *args: str) -> T | None:
        """Call `read` in a thread; None if the file exists but cannot be read."""
        try:
            return await asyncio.to_thread(read, *args)
        except _UnreadableFile:
            return None

    async def _own_changes(
        self, space: str, sha256: str, seen: Callable[[str], bool], budgets: PromptBudgets, counter: TokenCounter
    ) -> tuple[str, str]:
        """Return a reason to rebuild, and the text of the changes if only the bot has changed MEMORY.md."""
        rows = await self._store.memories.changes(space, MAX_CHANGES)
        own = find_file_changes(rows, MEMORY, sha256, seen)
        if own is None:
            return EDIT_SOURCE, ""
        text, limit = format_file_changes(own), min(MAX_CHANGES_TOKENS, budgets.memory // CHANGES_SHARE)
        return ("", text) if counter.text(text) <= limit else ("remembered", "")

    async def _sources(self, session: Session, inputs: _PromptInputs, memory: str, text: str) -> PromptSources:
        hidden: frozenset[str] = frozenset()
        if session.epoch > 1 or session.fold_head:  # else there is no fold, or its section in the log has a mark
            hidden = await self._store.recall.hidden_folds(
                session.conversation, session.cleared_before, session.view_from
            )
        return PromptSources(
            soul=inputs.soul,
            rules=system_rules(inputs.tools),
            awareness=self._persona.awareness(),
            memory=memory,
            log=await self._clean_log(session, text),
            day=f"{self._now():%Y-%m-%d}",
            own_folds=hidden,
        )

    async def _take_snapshot(
        self, sources: PromptSources, inputs: _PromptInputs, source: str, counter: TokenCounter
    ) -> PromptSnapshot:
        if sources.memory or sources.log:
            parts = await asyncio.to_thread(system_parts, sources, inputs.budgets, counter, self._log_parts)
        else:  # short texts are cut faster than a thread starts
            parts = system_parts(sources, inputs.budgets, counter)
        return PromptSnapshot(
            parts=tuple(part for part in parts if part.name not in (SOUL, RULES)),
            source=source,
            epoch=inputs.epoch,
            fold_head=inputs.fold_head,
            reductions=inputs.reductions,
        )

    def _report_cut(
        self, conversation: str, before: PromptSnapshot | None, after: PromptSnapshot, budgets: PromptBudgets
    ) -> None:
        was_cut = before is not None and any(part.name == MEMORY and part.left_out for part in before.parts)
        for part in after.parts:
            if part.name == MEMORY and part.left_out and not was_cut:
                self.on_part_cut(conversation, part, budgets)

    def _folder(self, space: str) -> Path:
        return self._workspace.root / SPACES_FOLDER / space if space else self._workspace.root

    def _read_memory(self, space: str) -> _MemoryFile:
        file = self._read_file(space, MEMORY)
        if file is None:
            return _NO_FILE
        return _MemoryFile(text="" if _normalize_lines(file.text) == self._template else file.text, sha256=file.sha256)

    def _read_log(self, space: str, day: str) -> str:
        numbered = (f"{LOG_FOLDER}/{day}-{number}.md" for number in range(2, MAX_LOG_FILES + 1))
        names = (f"{LOG_FOLDER}/{day}.md", *numbered)
        existing = [name for name in names if any(file_stamp(self._folder(space) / name))]
        files = (self._read_file(space, name) for name in existing)
        return "\n\n".join(file.text for file in files if file)

    async def _clean_log(self, session: Session, text: str) -> str:
        """Return the day's log without tainted lines, so that a new conversation begins untainted.

        A search still finds those lines, with their label. Group conversations are tainted anyway and see all lines.
        """
        folds = await asyncio.to_thread(list_folds, text) if text else ()
        if not folds or await self._store.dreams.is_group(session.space):
            return text
        labels = await load_fold_labels(self._store, folds)
        if not any(label.tainted for label in labels.values()):
            return text
        return await asyncio.to_thread(remove_tainted_lines, text, labels, self._clean_lines)

    def _read_file(self, space: str, path: str) -> TextFile | None:
        """Read a file of a space; None if there is none.

        Raises:
            _UnreadableFile: it exists but cannot be read.
        """
        try:
            file = self._workspace.space(space).read(path)
        except FileNotFoundError:
            file = None
        except (PathRefused, FileTooBig, OSError) as err:
            self._persona.troubles.unreadable(space, path, err)
            raise _UnreadableFile from err
        self._persona.troubles.readable(space, path)
        return file


def _rebuild_reason(stored: PromptSnapshot | None, inputs: _PromptInputs, source: str) -> str:
    """Return why the parts must be rebuilt; "" if they need not."""
    if stored is None:
        return "first"
    if stored.epoch != inputs.epoch:
        return "clear"
    if stored.fold_head != inputs.fold_head:
        return "fold"
    if stored.reductions != inputs.reductions:
        return "reduction"
    return "" if stored.source == source and stored.source.startswith(CLEAN_PREFIX) else EDIT_SOURCE


def _with_stored_parts(fresh: PromptSnapshot, stored: PromptSnapshot | None, unread: set[str]) -> PromptSnapshot:
    """Replace the parts of unread files by the stored ones, except a log that an older version stored."""
    if stored and not stored.source.startswith(CLEAN_PREFIX):
        unread = unread - {LOG}
    parts = {part.name: part for part in fresh.parts if part.name not in unread}
    parts |= {part.name: part for part in (stored.parts if stored else ()) if part.name in unread}
    return replace(fresh, parts=tuple(parts[name] for name in (AWARENESS, MEMORY, LOG) if name in parts))


def _source_hasher(inputs: _PromptInputs) -> Callable[[str], str]:
    """Return what hashes everything that a person may edit, with the space, for a hash of MEMORY.md.

    A file with many changes of the bot is looked for among all of them; what is the same for each is written once.
    """
    before = hashlib.sha256(f"({inputs.space!r}, {inputs.soul!r}, ".encode("utf-8", "replace"))
    after = f", {inputs.tools!r}, {inputs.budgets!r})".encode("utf-8", "replace")

    def source_hash(memory: str) -> str:
        hashed = before.copy()
        hashed.update(repr(memory).encode() + after)
        return CLEAN_PREFIX + hashed.hexdigest()

    return source_hash


def _normalize_lines(text: str) -> str:
    return "\n".join(split_lines(text)).strip()


def _intern_text(part: SystemPart) -> SystemPart:
    """Intern the text: conversations of one space show the same texts."""
    return SystemPart(name=part.name, text=sys.intern(part.text), left_out=part.left_out)
