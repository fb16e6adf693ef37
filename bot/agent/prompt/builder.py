"""Builds the system parts of each conversation, unchanged until something else changes its
prefix.
"""

import asyncio
import hashlib
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from bot.agent.prompt.files import (
    MAX_KNOWN_LOG_CHARS,
    MAX_KNOWN_LOGS,
    NO_LOG,
    DayLog,
    MemoryFile,
    PromptFiles,
    UnreadableFile,
)
from bot.agent.prompt.persona import FileStamp, PersonaFiles
from bot.agent.prompt.system_rules import system_rules
from channels.toolkit.delivery import BoundedDict
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
from memory.workspace.fold_labels import KnownCleanLines, remove_tainted_lines

log = structlog.get_logger(__name__)

# The bot's own changes of MEMORY.md since a snapshot: shown in the suffix, so that the prefix can
# stay.

FORGET_SOURCE = "forget"  # requests after this change must not show the text before it
MAX_CHANGES_TOKENS = 500  # with more changes MEMORY.md is read again
# that are looked at: few have been made since the last request in most cases
FEW_CHANGES, MAX_CHANGES = 8, 100
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


# Conversations whose parts are cached: some 10 KiB each with usual files, 60 KiB where every part
# is at its budget.
MAX_CACHED_CONVERSATIONS = 1_000
# Whose parts are known: a new conversation of a space has those of the others there, while the
# day's log is the same.
MAX_CUT_SOURCES = 16  # of one space
# more than the turns that run at once, each of which may have one still to store
MAX_UNSTORED_SNAPSHOTS = 11_000
EDIT_SOURCE = "edit"
CHANGES_SHARE = 8  # changes of MEMORY.md get at most an eighth of its budget
# of a snapshot's source; without it, an older version stored tainted lines of the log too
CLEAN_PREFIX = "clean:"
OnPartCut = Callable[[str, SystemPart, PromptBudgets], None]
_CutParts = BoundedDict[tuple[PromptSources, PromptBudgets, str], tuple[SystemPart, ...]]


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
    #: What people say of themselves is noted after the turn.
    notes_facts: bool
    budgets: PromptBudgets

    @property
    def rules(self) -> str:
        """The rules for the tools."""
        return system_rules(self.tools, notes_facts=self.notes_facts)


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
class _SnapshotCheck:
    """How a stored snapshot compares with what it was built of."""

    #: Hash of the sources as they are now.
    source: str
    #: Why the parts must be rebuilt; "" if they need not.
    reason: str
    memory_changes: str


class SystemPromptBuilder:
    """Builds the system parts of conversations, and repeats the same bytes as long as possible.

    MEMORY.md, the daily log and awareness are read for the first request, and again after a fold, a
    clear or its undo, a recorded reduction, and a person's change of SOUL.md, MEMORY.md, the tools
    or the budgets. Until then the stored snapshot is shown, also after a restart. A longer log is
    no reason to read again. The bot's own changes of MEMORY.md are shown in the suffix until they
    are too long. If a file cannot be read, its stored part stays, nothing is stored, and the next
    request reads it again.
    """

    def __init__(self, persona: PersonaFiles, store: Store, now: Callable[[], datetime]) -> None:
        """now: returns the owner's local time, whose day's log is shown."""
        self.specs = persona.specs
        self._persona = persona
        self._files = PromptFiles(persona.workspace, persona.troubles)
        self._store = store
        self._now = now
        self._cache: OrderedDict[str, SystemPrompt] = OrderedDict()
        self._log_parts, self._clean_lines = KnownLogParts(), KnownCleanLines()
        #: By space: the newest log, and the parts of sources with it.
        self._cut: BoundedDict[str, tuple[str, _CutParts]] = BoundedDict(MAX_KNOWN_LOGS)
        #: Rebuilt snapshots with the reason, until `store_snapshot`.
        self._unstored: dict[str, tuple[PromptSnapshot, str]] = {}
        self._dropped = 0  # calls of `drop_all`
        #: Called with conversation, part and budgets when MEMORY.md becomes too long for its
        #: budget.
        self.on_part_cut: OnPartCut = lambda conversation, part, budgets: None

    async def load(self, session: Session, budget: int, counter: TokenCounter) -> SystemPrompt:
        """Return the system prompt of the next request: SOUL.md, rules, awareness, MEMORY.md, log.

        Only checks the times of two files if nothing changed. Call it again after each fold and
        reduction that is recorded while a request is fitted, so that both change the prefix
        together.

        Args:
            budget: configured tokens of a whole request to this model, without anything learnt: a
                change of the budgets rebuilds the parts.
        """
        inputs = self._current_inputs(session, budget)
        prompt = self._cache.get(session.conversation)
        if prompt is None or prompt.inputs != inputs or not prompt.complete:
            while True:
                dropped, prompt = self._dropped, await self._build(session, inputs, counter)
                # else files may have been read before `drop_all` was called
                if dropped == self._dropped:
                    break
            self._cache[session.conversation] = prompt
            if len(self._cache) > MAX_CACHED_CONVERSATIONS:
                self._cache.popitem(last=False)
        self._cache.move_to_end(session.conversation)
        return prompt

    async def memory_texts(self, conversation: str, space: str) -> tuple[str, ...]:
        """Return the texts of memory that a conversation's requests show; MEMORY.md alone before
        the first of them.
        """
        prompt = self._cache.get(conversation)
        if prompt is not None:
            own = [part.text for part in prompt.parts if part.name not in (SOUL, RULES, AWARENESS)]
            return (*own, prompt.memory_changes)
        text = await self._files.memory_text(space)
        return (text,) if text else ()

    def drop(self, conversation: str) -> None:
        """Drop the cached parts of a conversation whose stored snapshot was removed."""
        self._cache.pop(conversation, None)
        self._unstored.pop(conversation, None)

    def drop_all(self) -> None:
        """Drop all that is kept of files and parts, as some of it was forgotten; what is being
        built is built again.
        """
        self._dropped += 1
        self._cache.clear()
        self._unstored.clear()
        self._cut.clear()
        self._files.drop()
        self._log_parts, self._clean_lines = KnownLogParts(), KnownCleanLines()

    def has_unstored_snapshot(self, conversation: str) -> bool:
        """Tell whether `load` has rebuilt a snapshot that is not stored yet."""
        return conversation in self._unstored

    async def store_snapshot(self, conversation: str, mark: PrefixMark | None = None) -> None:
        """Store a snapshot that `load` has rebuilt, with the mark of the prefix; await this before
        the answer is used.

        Raises:
            StoreError: it could not be stored.
        """
        if conversation in self._unstored:
            snapshot, reason = self._unstored[conversation]
            await self._store.sessions.set_snapshot(conversation, snapshot, reason, mark)
            # else it was built again meanwhile
            if self._unstored.get(conversation, (None, ""))[0] is snapshot:
                del self._unstored[conversation]

    def check_files(self) -> None:
        """Check again whether SOUL.md and files that could not be read are readable; blocks."""
        self._persona.soul()
        self._persona.store()
        for space, path in self._persona.troubles.files():
            if (space, path) != ("", SOUL):
                with suppress(UnreadableFile):
                    self._files.read(space, path)

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
            memory=self._files.memory_stamp(session.space),
            tools=self._persona.offered(session.space),
            notes_facts=self._persona.notes_facts(),
            budgets=budgets_for(budget),
        )

    async def _build(
        self, session: Session, inputs: _PromptInputs, counter: TokenCounter
    ) -> SystemPrompt:
        """Return the stored snapshot's parts, rebuilt if there is a reason to."""
        conversation = session.conversation
        stored = await self._store.sessions.snapshot(conversation)
        memory = await self._files.load_memory(session.space, inputs.memory)
        check = await self._check_snapshot(session, inputs, stored, memory, counter)
        complete = memory is not None
        if stored is None or check.reason:
            log = await self._files.load_log(session.space, f"{self._now():%Y-%m-%d}")
            complete = complete and log is not None
            sources = await self._sources(
                session, inputs, memory.text if memory else "", log or NO_LOG
            )
            fresh = await self._take_snapshot(sources, inputs, check.source, counter)
            # what an earlier call built is not what is shown now
            self._unstored.pop(conversation, None)
            if complete:
                self._add_unstored(conversation, fresh, check.reason)
                self._report_cut(conversation, stored, fresh, inputs.budgets)
            unread = {name for name, file in ((MEMORY, memory), (LOG, log)) if file is None}
            stored = _with_stored_parts(fresh, stored, unread)
        else:
            self._unstored.pop(conversation, None)
        soul = SystemPart(name=SOUL, text=inputs.soul)
        rules = SystemPart(name=RULES, text=inputs.rules)
        parts = (soul, rules, *map(_intern_text, stored.parts))
        return SystemPrompt(
            parts=parts, memory_changes=check.memory_changes, inputs=inputs, complete=complete
        )

    async def _check_snapshot(
        self,
        session: Session,
        inputs: _PromptInputs,
        stored: PromptSnapshot | None,
        memory: MemoryFile | None,
        counter: TokenCounter,
    ) -> _SnapshotCheck:
        """Compare the stored snapshot with what it was built of, as that is now.

        A MEMORY.md that could not be read counts as unchanged.
        """
        sha256 = memory.sha256 if memory else ""
        source_hash = _source_hasher(inputs)
        source = source_hash(sha256) if memory or stored is None else stored.source
        reason, changes = _rebuild_reason(stored, inputs, source), ""
        if memory is None and (cached := self._cache.get(session.conversation)):
            changes = cached.memory_changes
        if stored is not None and reason == EDIT_SOURCE:
            former = stored.source
            reason, changes = await self._own_changes(
                session.space,
                sha256,
                lambda before: source_hash(before) == former,
                inputs.budgets,
                counter,
            )
        return _SnapshotCheck(source=source, reason=reason, memory_changes=changes)

    def _add_unstored(self, conversation: str, snapshot: PromptSnapshot, reason: str) -> None:
        """Note a snapshot for `store_snapshot`; of too many, the oldest is dropped."""
        self._unstored[conversation] = (snapshot, reason)
        if len(self._unstored) > MAX_UNSTORED_SNAPSHOTS:
            del self._unstored[next(iter(self._unstored))]

    async def _own_changes(
        self,
        space: str,
        sha256: str,
        seen: Callable[[str], bool],
        budgets: PromptBudgets,
        counter: TokenCounter,
    ) -> tuple[str, str]:
        """Return a reason to rebuild, and the text of the changes if only the bot has changed
        MEMORY.md.
        """
        own = find_file_changes(
            await self._store.memories.changes(space, FEW_CHANGES), MEMORY, sha256, seen
        )
        if own is None:
            own = find_file_changes(
                await self._store.memories.changes(space, MAX_CHANGES), MEMORY, sha256, seen
            )
        if own is None:
            return EDIT_SOURCE, ""
        text, limit = (
            format_file_changes(own),
            min(MAX_CHANGES_TOKENS, budgets.memory // CHANGES_SHARE),
        )
        return ("", text) if counter.text(text) <= limit else ("remembered", "")

    async def _sources(
        self, session: Session, inputs: _PromptInputs, memory: str, log: DayLog
    ) -> PromptSources:
        hidden: frozenset[str] = frozenset()
        if log.folds:
            hidden = await self._store.recall.hidden_folds(
                session.conversation, session.cleared_before, session.view_from
            )
        return PromptSources(
            soul=inputs.soul,
            rules=inputs.rules,
            awareness=self._persona.awareness(),
            memory=memory,
            log=await self._clean_log(session, log),
            day=f"{self._now():%Y-%m-%d}",
            own_folds=hidden,
        )

    async def _take_snapshot(
        self, sources: PromptSources, inputs: _PromptInputs, source: str, counter: TokenCounter
    ) -> PromptSnapshot:
        parts = await self._cut_parts(inputs.space, sources, inputs.budgets, counter)
        return PromptSnapshot(
            parts=tuple(part for part in parts if part.name not in (SOUL, RULES)),
            source=source,
            epoch=inputs.epoch,
            fold_head=inputs.fold_head,
            reductions=inputs.reductions,
        )

    async def _cut_parts(
        self, space: str, sources: PromptSources, budgets: PromptBudgets, counter: TokenCounter
    ) -> tuple[SystemPart, ...]:
        """Return the parts, cut to their budgets; those of the last few sources of a space are
        known.
        """
        log, known = self._cut.get(space, ("", _CutParts(MAX_CUT_SOURCES)))
        key = (sources, budgets, counter.name)
        if log == sources.log and (parts := known.get(key)) is not None:
            return parts
        if sources.memory or sources.log:
            parts = await asyncio.to_thread(
                system_parts, sources, budgets, counter, self._log_parts
            )
        else:  # short texts are cut faster than a thread starts
            parts = system_parts(sources, budgets, counter)
        if len(sources.memory) + len(sources.log) <= MAX_KNOWN_LOG_CHARS:
            # each log is up to 200,000 characters, and nobody begins with a former one
            if log != sources.log:
                known = _CutParts(MAX_CUT_SOURCES)
            known[key] = parts
            self._cut[space] = sources.log, known
        return parts

    def _report_cut(
        self,
        conversation: str,
        before: PromptSnapshot | None,
        after: PromptSnapshot,
        budgets: PromptBudgets,
    ) -> None:
        was_cut = before is not None and any(
            part.name == MEMORY and part.left_out for part in before.parts
        )
        for part in after.parts:
            if part.name == MEMORY and part.left_out and not was_cut:
                self.on_part_cut(conversation, part, budgets)

    async def _clean_log(self, session: Session, log: DayLog) -> str:
        """Return the day's log without tainted lines, so that a new conversation begins untainted.

        A search still finds those lines, with their label. Group conversations are tainted anyway
        and see all lines.
        """
        if not log.folds or await self._store.dreams.is_group(session.space):
            return log.text
        labels = await self._store.folds.labels(log.folds)
        if not any(label.tainted for label in labels.values()):
            return log.text
        return await asyncio.to_thread(remove_tainted_lines, log.text, labels, self._clean_lines)


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


def _with_stored_parts(
    fresh: PromptSnapshot, stored: PromptSnapshot | None, unread: set[str]
) -> PromptSnapshot:
    """Replace the parts of unread files by the stored ones, except a log that an older version
    stored.
    """
    if stored and not stored.source.startswith(CLEAN_PREFIX):
        unread = unread - {LOG}
    parts = {part.name: part for part in fresh.parts if part.name not in unread}
    parts |= {part.name: part for part in (stored.parts if stored else ()) if part.name in unread}
    return replace(
        fresh, parts=tuple(parts[name] for name in (AWARENESS, MEMORY, LOG) if name in parts)
    )


def _source_hasher(inputs: _PromptInputs) -> Callable[[str], str]:
    """Return what hashes everything that a person may edit, with the space, for a hash of
    MEMORY.md.

    A file with many changes of the bot is looked for among all of them; what is the same for each
    is written once.
    """
    before = hashlib.sha256(f"({inputs.space!r}, {inputs.soul!r}, ".encode("utf-8", "replace"))
    after = f", {inputs.tools!r}, {inputs.budgets!r})".encode("utf-8", "replace")

    def source_hash(memory: str) -> str:
        hashed = before.copy()
        hashed.update(repr(memory).encode() + after)
        return CLEAN_PREFIX + hashed.hexdigest()

    return source_hash


def _intern_text(part: SystemPart) -> SystemPart:
    """Intern the text: conversations of one space show the same texts."""
    return SystemPart(name=part.name, text=sys.intern(part.text), left_out=part.left_out)
