"""The commands /memory (its summary and undo) and /remember."""

import asyncio
from collections import Counter as Tally

from bot.commands.base import Command, CommandContext, require
from bot.commands.memory.search import (
    AS_OF,
    CATEGORY_NAMES,
    OTHER_CATEGORY,
    explain_memory,
    search_as_of,
    search_memory,
    show_file,
    split_subcommand,
)
from bot.memory.files import SpaceMemoryFile, list_memory_files
from bot.messages import load_body
from channels.phrases import Phrase
from memory.longterm.line_kinds import guess_wished_category
from memory.longterm.memories import MAX_RECORDED, MemoryCandidate, count_unrecorded
from memory.longterm.memory_file import MAX_BYTES, MEMORY_PATH, MemoryFileUnreadable
from memory.store.longterm.rows import MemorySource
from memory.text.bullets import MAX_BULLET, tidy_content
from memory.text.quoting import fence_text

WRITE_ACTION = "memory.write"
REMEMBER_IMPORTANCE = 8  # of what a person asks to remember
MAX_FILES = 6


async def _memory(context: CommandContext) -> str:
    word, rest = split_subcommand(context.arguments)
    subcommands = {
        "": _show_summary,
        "search": search_memory,
        AS_OF: search_as_of,
        "show": show_file,
        "why": explain_memory,
        "undo": _undo,
    }
    run = subcommands.get(word)
    if run is None:
        return context.text(
            Phrase("/memory takes search, as of, show, why or undo, not “{word}”.", word=word),
        )
    return await run(context, rest)


async def _show_summary(context: CommandContext, _: str) -> str:
    services, space = context.services, context.conversation.place.space
    files = await list_memory_files(context.store, services.workspace, space)
    rows = await services.memories(space).list(limit=0)
    lines = [
        context.text(Phrase("**Long-term memory**")),
        *_format_files(context, files),
        *await _format_size_warning(context, files),
        _format_categories(context, Tally(row.category for row in rows)),
        await _format_last_dream(context, space),
        await _format_index_state(context, space),
    ]
    if space in await context.store.extractions.spaces():
        lines.append(context.text(Phrase("the latest messages are still being noted")))
    return "\n".join(lines)


def _format_files(context: CommandContext, files: list[SpaceMemoryFile]) -> list[str]:
    if not files:
        return [context.text(Phrase("no memory files yet"))]
    shown = []
    for found in files[:MAX_FILES]:
        count = len(found.file.text.splitlines())
        lines = context.text(Phrase("1 line", "{count:,} lines", count=count))
        shown.append(f"{found.path} · {_format_size(found.file.size)} · {lines}")
    if rest := files[MAX_FILES:]:
        size = _format_size(sum(found.file.size for found in rest))
        shown.append(
            context.text(Phrase("… and {count} more · {size}", count=len(rest), size=size))
        )
    return shown


async def _format_size_warning(context: CommandContext, files: list[SpaceMemoryFile]) -> list[str]:
    """Warn about a MEMORY.md that is too large to be recorded completely."""
    file = next((found.file for found in files if found.path == MEMORY_PATH), None)
    if file is None:
        return []
    if file.size > MAX_BYTES:
        return [
            context.text(
                Phrase(
                    "{memory_path} is larger than {max_bytes:,} bytes, so nothing more is "
                    "written to it and its lines are not tracked. Move old lines to another file.",
                    memory_path=MEMORY_PATH,
                    max_bytes=MAX_BYTES,
                ),
            )
        ]
    left = await asyncio.to_thread(count_unrecorded, file.text)
    said = context.text(
        Phrase(
            "{memory_path} has more than {max_recorded:,} memories: searches find the last "
            "{left:,}, but they are not tracked as memories. Move old lines to another file.",
            memory_path=MEMORY_PATH,
            max_recorded=MAX_RECORDED,
            left=left,
        ),
    )
    return [said] if left else []


def _format_size(size: int) -> str:
    return f"{size} B" if size < 1_000 else f"{size / 1_000:,.1f} kB"


def _format_categories(context: CommandContext, counts: Tally[str]) -> str:
    named = [
        f"{context.text(names)} {counts.pop(key)}"
        for key, names in CATEGORY_NAMES.items()
        if key in counts
    ]
    if other := counts.total():
        named.append(f"{context.text(OTHER_CATEGORY)} {other}")
    return " · ".join(named) or context.text(Phrase("nothing remembered yet"))


async def _format_last_dream(context: CommandContext, space: str) -> str:
    last = await context.store.dreams.last(space)
    if last is None:
        return context.text(Phrase("not tidied yet"))
    states = {"done": Phrase("done"), "undone": Phrase("undone")}
    state = context.text(states.get(last.state, Phrase("under way")))
    where = f" · {last.diary}" if last.diary else ""
    return context.text(
        Phrase("last tidied {day} · {state}{where}", day=last.day, state=state, where=where)
    )


async def _format_index_state(context: CommandContext, space: str) -> str:
    recall = context.services.recall
    rows, fault = await recall.refresh(space), await recall.check(space)
    if fault:
        return context.text(
            Phrase(
                "index {rows:,} rows · faulty: {fault}; run mnema memory index in a terminal",
                rows=rows,
                fault=fault,
            ),
        )
    return context.text(Phrase("index {rows:,} rows · up to date", rows=rows))


async def _undo(context: CommandContext, _: str) -> str:
    require(context, WRITE_ACTION)
    space = context.conversation.place.space
    try:
        undone = await context.services.dreamer.undo(space)
    except MemoryFileUnreadable:
        return _unreadable_text(context, Phrase("Not undone"))
    if undone is None:
        return context.text(Phrase("There is no nightly tidying to undo."))
    if undone.whole:
        return context.text(
            Phrase(
                "The tidying of {day} is undone: {memory_path} is as it was before.",
                day=undone.day,
                memory_path=MEMORY_PATH,
            ),
        )
    return context.text(
        Phrase(
            "The tidying of {day} is undone: the lines it added are gone, those it removed are "
            "back, and later changes stay.",
            day=undone.day,
        ),
    )


def _unreadable_text(context: CommandContext, outcome: Phrase) -> str:
    return context.text(
        Phrase(
            "{outcome}: {memory_path} is too large, not UTF-8 text or not a plain file, so it "
            "was left as it is.",
            outcome=outcome,
            memory_path=MEMORY_PATH,
        ),
    )


async def _remember(context: CommandContext) -> str:
    text = context.arguments
    if not text:
        return context.text(
            Phrase("Add what to remember, as in /remember I am allergic to peanuts."),
        )
    words = tidy_content(text)
    if not words:
        return context.text(Phrase("There is nothing in that to remember."))
    if len(words) > MAX_BULLET:
        return context.text(
            Phrase(
                "Not remembered: that is too long ({count:,} characters; the limit is "
                "{max_bullet:,}).",
                count=len(words),
                max_bullet=MAX_BULLET,
            ),
        )
    candidate = MemoryCandidate(
        category=guess_wished_category(text),
        text=text,
        importance=REMEMBER_IMPORTANCE,
        origin="person",
        source=MemorySource(
            conversation=context.conversation.id,
            message_id=context.row.id,
            channel=context.row.channel,
            quote=load_body(context.row.body).text,
            said=context.row.received,
        ),
    )
    try:
        done = await context.services.memories(context.conversation.place.space).upsert(candidate)
    except MemoryFileUnreadable:
        return _unreadable_text(context, Phrase("Not remembered"))
    verbs = {
        "created": Phrase("Remembered"),
        "updated": Phrase("Merged with what I knew"),
    }
    head = context.text(verbs.get(done.action, Phrase("I knew that already")))
    under = context.text(CATEGORY_NAMES.get(done.row.category, OTHER_CATEGORY))
    shown = "\n" + fence_text(done.row.text) if "```" in done.row.text else done.row.text
    return context.text(Phrase("{head} ({under}): {shown}", head=head, under=under, shown=shown))


MEMORY_COMMANDS = (
    Command(
        name="memory",
        usage=Phrase("[search|as of|show|why|undo]"),
        action="memory.read",
        about=Phrase("see, search and correct long-term memory"),
        run=_memory,
    ),
    Command(
        name="remember",
        usage=Phrase("TEXT"),
        action=WRITE_ACTION,
        about=Phrase("remember a sentence"),
        run=_remember,
    ),
)
