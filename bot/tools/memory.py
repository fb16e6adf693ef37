"""The tools of long-term memory: find what was said or noted, read a file of it, note something."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Protocol

from bot.errors import ToolFailed
from bot.memory.extraction import Uses
from bot.memory.files import memory_file
from bot.memory.recall import Search, from_outside, labels_of, source_of
from bot.tools.base import Occasion, ToolContext, schema
from bot.tools.files import page
from bot.tools.recall import PAGE_CHARS, paged
from memory.context.taint import OUTSIDE
from memory.conversation import ToolSpec
from memory.longterm.memories import Candidate, Memories, Upserted
from memory.longterm.memory_file import PATH, Unreadable, WouldLose
from memory.longterm.own_words import OwnWords
from memory.longterm.similarity import normal
from memory.recall.documents import Passage, Wanted
from memory.store.longterm.rows import MemorySource
from memory.store.store import Store
from memory.text.bullets import CATEGORIES, memorable
from memory.workspace import daily_log
from memory.workspace.files import Workspace

FOUND, MOST_FOUND = 8, 20
LINES, MOST_LINES = 40, 200
LONGEST = 2_000
"""Characters of one memory."""
_DAY = {"type": "string", "description": "YYYY-MM-DD, this day included"}


class Tell(Protocol):
    """Sends a notice to a conversation, in its language; see bot.gateway.notifications."""

    async def __call__(self, conversation: str, zh: str, en: str, once: str = "") -> None:
        """Say it; with the same `once` a second time, nobody sees it again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LongTerm:
    """What these tools work with. memories: of a space; uses: told of the lines that are given."""

    store: Store
    workspace: Workspace
    search: Search
    memories: Callable[[str], Memories]
    uses: Uses
    tell: Tell


class MemorySearch:
    """Everything of the space, what was cleared included: the model was asked, or asks by itself."""

    spec = ToolSpec(
        name="memory_search",
        description=(
            "Search all that this person has told you or that was noted: long-term memory, daily logs and every "
            "conversation, however old. Give the content words, in the language it was said in."
        ),
        schema=schema(
            {
                "query": {"type": "string", "description": "What is looked for"},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_FOUND, "description": "How many passages"},
                "since": _DAY,
                "until": _DAY,
                "speaker": {"type": "string", "description": 'Only what this one said: "User", "Bot" or a name'},
                "page": {"type": "integer", "minimum": 1, "description": "From 1, where the result has several"},
            },
            ["query"],
        ),
        effect="pure",
        action="memory.read",
    )

    def __init__(self, ground: LongTerm) -> None:
        self._ground = ground

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> str:
        query = arguments["query"].strip()
        if not query:
            raise ToolFailed("`query` is empty; give the words to look for.")
        wanted = Wanted(
            space=context.space,
            query=query,
            now=context.now(),
            limit=arguments.get("limit", FOUND),
            since=_day(arguments, "since"),
            until=_day(arguments, "until"),
            speaker=arguments.get("speaker", "").strip(),
            shown_in=context.conversation,
        )
        found = await self._ground.search(wanted)
        self._ground.uses.note(found)
        marks = await from_outside(self._ground.store, found)
        lines = [
            _numbered(number, passage, context.conversation, mark)
            for number, (passage, mark) in enumerate(zip(found, marks, strict=True), start=1)
        ]
        return paged("\n".join(lines), arguments.get("page", 1)) if lines else "(nothing found)"


class MemoryGet:
    """Lines around what was found, as they stand in the file."""

    spec = ToolSpec(
        name="memory_get",
        description=(
            f"Read lines of a memory file, around one that memory_search named, at most {MOST_LINES}: "
            "MEMORY.md or a daily log."
        ),
        schema=schema(
            {
                "path": {"type": "string", "description": "As memory_search gives it, such as memory/2026-11-20.md"},
                "line": {"type": "integer", "minimum": 1, "description": "First line, from 1"},
                "count": {"type": "integer", "minimum": 1, "maximum": MOST_LINES, "description": "How many lines"},
            },
            ["path"],
        ),
        effect="pure",
        action="memory.read",
    )

    def __init__(self, ground: LongTerm) -> None:
        self._ground = ground

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> str:
        path, first = arguments["path"].strip(), arguments.get("line", 1)
        last = first + arguments.get("count", LINES) - 1
        found = await memory_file(self._ground.store, self._ground.workspace, context.space, path)
        if found is None:
            raise ToolFailed(f"There is no memory file {path!r}. memory_search gives the paths that there are.")
        shown, words = page(replace(found.file, path=found.path), first, last - first + 1), found.file.text
        if found.file.path == PATH:
            given = [normal(line.text) for line in memorable(words) if first <= line.first <= last]
            self._ground.uses.given(found.space, given)
        rows = [row for row in daily_log.rows(words) if row.fold and first <= row.number <= last]
        labels = await labels_of(self._ground.store, (row.fold for row in rows))
        return f"{shown}\n{OUTSIDE}" if any(labels[row.fold].covers(row.text) for row in rows) else shown


class MemoryWrite:
    """One line of MEMORY.md. Idempotent: a second run finds its line. The person is told of what was noted."""

    spec = ToolSpec(
        name="memory_write",
        description=(
            "Note one lasting fact in long-term memory; it is merged with what is noted of the same already, "
            "and the person is shown it."
        ),
        schema=schema(
            {
                "category": {"type": "string", "enum": list(CATEGORIES), "description": "What kind of fact it is"},
                "text": {"type": "string", "description": "The fact alone, one sentence that is clear by itself"},
            },
            ["category", "text"],
        ),
        effect="idempotent",
        action="memory.write",
    )

    def __init__(self, ground: LongTerm) -> None:
        self._ground = ground

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> str:
        text, asked = arguments["text"].strip(), await context.occasion()
        if not text or len(text) > LONGEST:
            raise ToolFailed(f"`text` must have 1 to {LONGEST:,} characters, not {len(text):,}.")
        if asked.tainted:
            await asyncio.to_thread(_must_be_theirs, text, OwnWords(asked.words))
        done = await self._note(arguments["category"], text, context, asked)
        if done.action != "unchanged" or done.row.source.message_id == asked.message_id:
            zh, en = f"🧠 记住了：{done.row.text}", f"🧠 Remembered: {done.row.text}"
            await self._ground.tell(context.conversation, zh, en, once=f"memory:{context.idem_key}")
        told = {"created": "Noted", "updated": "Merged with what was noted", "unchanged": "It was noted already"}
        return f"{told[done.action]}: {done.row.text}"

    async def _note(self, category: str, text: str, context: ToolContext, asked: Occasion) -> Upserted:
        source = MemorySource(
            conversation=context.conversation,
            message_id=asked.message_id,
            channel=asked.channel,
            quote=asked.words[:LONGEST],
            said=asked.said,
        )
        candidate = Candidate(category=category, text=text, origin="tool", source=source)
        try:
            return await self._ground.memories(context.space).upsert(candidate)
        except (Unreadable, WouldLose, ValueError) as err:
            raise ToolFailed(f"Nothing was noted: {err}.") from err


def _must_be_theirs(text: str, own: OwnWords) -> None:
    """While words from outside are in view, only what a person has just typed is noted.

    Raises:
        ToolFailed: it is not; the text says which sentence of theirs may be noted instead.
    """
    if own.bear_out(text):
        return
    why = "Not noted: words from outside are in view (a file, a tool's result), and this person has not written that."
    if not (sentence := own.nearest(text)[:LONGEST]):
        raise ToolFailed(f"{why} Leave it, or tell them that /remember TEXT notes it.")
    raise ToolFailed(f"{why} They wrote: {sentence!r}. Call memory_write with exactly that if it is worth noting.")


def _day(arguments: dict[str, Any], name: str) -> str:
    given: str = arguments.get(name, "").strip()
    if not given:
        return ""
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError as err:
        raise ToolFailed(f"`{name}` must be a day such as 2026-11-20, not {given!r}.") from err


def _numbered(number: int, passage: Passage, conversation: str, mark: bool) -> str:
    """One result in one line; a passage is at most a page's quarter, so that every page begins with a number."""
    words = " ".join(passage.text.split())
    most = PAGE_CHARS // 4
    shown = words if len(words) <= most else f"{words[:most]}…"
    return f"{number}. {shown} ({source_of(passage, conversation)}){f' {OUTSIDE}' if mark else ''}"
