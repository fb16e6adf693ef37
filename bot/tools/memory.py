"""The tools of long-term memory: search, read a file, note a fact."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from bot.errors import ToolFailed
from bot.memory.files import find_memory_file
from bot.memory.recall import (
    SearchPassages,
    UseCounters,
    format_passage_source,
    format_validity,
    read_copied_passage,
)
from bot.tools.base import LazyToolSpec, MessageContext, ToolArguments, ToolContext
from bot.tools.recall import PAGE_CHARS, paginate_lines
from bot.tools.workspace.files import format_page
from channels.phrases import AnyPhrase, Phrase
from memory.context.taint import NOT_NOTED, NOTE_TOOL, OUTSIDE_LABEL
from memory.longterm.memories import Memories, MemoryCandidate, UpsertResult
from memory.longterm.memory_file import MEMORY_PATH, MemoryFileUnreadable, MemoryLossRefused
from memory.longterm.own_words import OwnWords
from memory.longterm.similarity import normalize_key
from memory.recall.documents import Passage, SearchRequest
from memory.store.longterm.rows import MemorySource
from memory.store.store import Store
from memory.text.bullets import recordable_bullets
from memory.text.quoting import shorten
from memory.workspace import daily_log
from memory.workspace.files import Workspace

DEFAULT_RESULTS, MAX_RESULTS = 8, 20
DEFAULT_LINES, MAX_LINES = 40, 200
MAX_TEXT_CHARS = 2_000  # characters of one memory
MemoryCategory = Literal["user_preference", "instruction", "project_context", "skill", "fact"]
Day = Annotated[str, Field(description="YYYY-MM-DD")]


# Sends a notice to a conversation: (its id, Chinese text, English text, a key that lets it be sent
# only once).
NotifyOnce = Callable[[str, AnyPhrase, str], Awaitable[None]]


class MemorySearchArguments(ToolArguments):
    """Arguments of `memory_search`."""

    query: str
    limit: int = Field(DEFAULT_RESULTS, ge=1, le=MAX_RESULTS)
    since: Day = ""
    until: str = ""
    as_of: str = ""
    speaker: str = Field("", description="User, Bot or a name")
    page: int = Field(1, ge=1)


class MemoryGetArguments(ToolArguments):
    """Arguments of `memory_get`."""

    path: str
    line: int = Field(1, ge=1)
    count: int = Field(DEFAULT_LINES, ge=1, le=MAX_LINES)


class MemoryWriteArguments(ToolArguments):
    """Arguments of `memory_write`."""

    category: MemoryCategory
    text: str = Field(description="One sentence, clear by itself")


class MemorySearchTool:
    """Searches the whole space, cleared conversations included."""

    arguments = MemorySearchArguments
    spec = LazyToolSpec(
        arguments,
        name="memory_search",
        description=(
            "Search memory, daily logs and every past conversation. Give the "
            "content words, in the language they were said in; if the answer is missing, search "
            "with other words, or names from the result."
        ),
        effect="pure",
        action="memory.read",
        outside=False,
    )

    def __init__(self, search: SearchPassages, uses: UseCounters) -> None:
        self._search = search
        self._uses = uses

    async def run(self, arguments: MemorySearchArguments, context: ToolContext) -> str:
        query = arguments.query.strip()
        if not query:
            raise ToolFailed("`query` is empty; give the words to look for.")
        request = SearchRequest(
            space=context.space,
            query=query,
            now=context.now(),
            limit=arguments.limit,
            since=_parse_day("since", arguments.since),
            until=_parse_day("until", arguments.until),
            as_of=_parse_day("as_of", arguments.as_of),
            speaker=arguments.speaker.strip(),
            hide_live_of=context.conversation,
        )
        found = await self._search(request)
        self._uses.note(found)
        return format_results(found, context.conversation, arguments.page)


def format_results(found: Sequence[Passage], conversation: str, page: int = 1) -> str:
    """Format results as the model gets them in a conversation, whole ones on each page."""
    lines = [
        _format_result(number, passage, conversation)
        for number, passage in enumerate(found, start=1)
    ]
    return paginate_lines(lines, page) if lines else "(nothing found)"


class MemoryGetTool:
    """Returns lines of a memory file."""

    arguments = MemoryGetArguments
    spec = LazyToolSpec(
        arguments,
        name="memory_get",
        description="Read the lines around a result of memory_search in MEMORY.md or a daily log.",
        effect="pure",
        action="memory.read",
        outside=False,
    )

    def __init__(self, store: Store, workspace: Workspace, uses: UseCounters) -> None:
        self._store = store
        self._workspace = workspace
        self._uses = uses

    async def run(self, arguments: MemoryGetArguments, context: ToolContext) -> str:
        path, first = arguments.path.strip(), arguments.line
        last = first + arguments.count - 1
        found = await find_memory_file(self._store, self._workspace, context.space, path)
        if found is None:
            raise ToolFailed(
                f"There is no memory file {path!r}. memory_search gives the paths that there are."
            )
        shown, words = (
            format_page(replace(found.file, path=found.path), first, last - first + 1),
            found.file.text,
        )
        if found.file.path == MEMORY_PATH:
            given = [
                normalize_key(line.text)
                for line in recordable_bullets(words)
                if first <= line.first <= last
            ]
            self._uses.given(found.space, given)
        rows = [
            row for row in daily_log.iter_rows(words) if row.fold and first <= row.number <= last
        ]
        labels = await self._store.folds.labels([row.fold for row in rows])
        return (
            f"{shown}\n{OUTSIDE_LABEL}"
            if any(labels[row.fold].covers(row.text) for row in rows)
            else shown
        )


class MemoryWriteTool:
    """Notes one line in MEMORY.md and notifies the person. Idempotent: a second run finds its
    line.
    """

    arguments = MemoryWriteArguments
    spec = LazyToolSpec(
        arguments,
        name=NOTE_TOOL,
        description=(
            "Note one lasting fact. It is merged with what is known, and shown to the person."
        ),
        effect="idempotent",
        action="memory.write",
        outside=False,
    )

    def __init__(self, memories: Callable[[str], Memories], notify: NotifyOnce) -> None:
        self._memories = memories
        self._notify = notify

    async def run(self, arguments: MemoryWriteArguments, context: ToolContext) -> str:
        text, message = arguments.text.strip(), await context.load_message()
        if not text or len(text) > MAX_TEXT_CHARS:
            raise ToolFailed(
                f"`text` must have 1 to {MAX_TEXT_CHARS:,} characters, not {len(text):,}."
            )
        if message.tainted:
            await asyncio.to_thread(_check_own_words, text, OwnWords(message.words))
        text = await self._without_copied_frame(text, context.space)
        done = await self._note(arguments.category, text, context, message)
        if done.action != "unchanged" or done.row.source.message_id == message.message_id:
            notice = Phrase("🧠 Remembered: {words}", words=done.row.text)
            await self._notify(context.conversation, notice, f"memory:{context.idem_key}")
        verbs = {
            "created": "Noted",
            "updated": "Merged with what was noted",
            "unchanged": "It was noted already",
        }
        return f"{verbs[done.action]}: {done.row.text}"

    async def _without_copied_frame(self, text: str, space: str) -> str:
        """Return the words of a copied result: without its date if memory has them as a line, for
        then it is that line; else with it, for words such as "today" depend on it.
        """
        copied = read_copied_passage(text)
        key = normalize_key(copied.words)
        known = await self._memories(space).nearest(copied.words)
        if any(line.norm == key for line in known):
            return copied.words
        return f"{copied.label} {copied.words}".strip()

    async def _note(
        self, category: str, text: str, context: ToolContext, message: MessageContext
    ) -> UpsertResult:
        source = MemorySource(
            conversation=context.conversation,
            message_id=message.message_id,
            channel=message.channel,
            quote=message.words[:MAX_TEXT_CHARS],
            said=message.sent,
        )
        candidate = MemoryCandidate(category=category, text=text, origin="tool", source=source)
        try:
            return await self._memories(context.space).upsert(candidate)
        except (MemoryFileUnreadable, MemoryLossRefused, ValueError) as err:
            raise ToolFailed(f"Nothing was noted: {err}.") from err


def _check_own_words(text: str, own: OwnWords) -> None:
    """Accept only what the person has just typed, since outside content is in view.

    Raises:
        ToolFailed: they did not write it; the text quotes the sentence that may be noted instead.
    """
    if own.supports(text):
        return
    sentence = own.nearest(text)
    if not sentence or len(sentence) > MAX_TEXT_CHARS:
        raise ToolFailed(f"{NOT_NOTED} Leave it, or tell them that /remember TEXT notes it.")
    raise ToolFailed(
        f"{NOT_NOTED} They wrote: {sentence!r}. Call memory_write with exactly that if it is worth "
        "noting."
    )


def _parse_day(name: str, given: str) -> str:
    given = given.strip()
    if not given:
        return ""
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError as err:
        raise ToolFailed(f"`{name}` must be a day such as 2026-11-20, not {given!r}.") from err


def _format_result(number: int, passage: Passage, conversation: str) -> str:
    """Format one result in one line, at most a quarter page."""
    words = shorten(" ".join(passage.text.split()), PAGE_CHARS // 4)
    source = format_passage_source(passage, conversation)
    return f"{number}. {words}{format_validity(passage)} ({source})"
