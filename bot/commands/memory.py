"""The commands /memory (with search, show, why and undo) and /remember."""

import asyncio
import re
from collections import Counter as Tally
from collections.abc import Sequence
from datetime import datetime

from bot.commands.base import Command, CommandContext, require
from bot.memory.files import SpaceMemoryFile, find_memory_file, list_memory_files
from bot.memory.recall import format_source, memory_line_keys
from bot.messages import load_body, parse_command
from channels.phrases import Phrase
from memory.conversation import Document, Message, Text
from memory.longterm.line_kinds import guess_wished_category
from memory.longterm.memories import MAX_RECORDED, MemoryCandidate, count_unrecorded
from memory.longterm.memory_file import MAX_BYTES, MEMORY_PATH, MemoryFileUnreadable
from memory.longterm.similarity import normalize_key
from memory.recall.documents import Passage, SearchRequest
from memory.store.longterm.rows import MemoryRow, MemorySource
from memory.text.bullets import MAX_BULLET, recordable_bullets, tidy_content
from memory.text.quoting import fence_text, shorten
from memory.workspace import daily_log

CATEGORY_NAMES = {
    "user_preference": Phrase("preferences"),
    "instruction": Phrase("instructions"),
    "project_context": Phrase("projects"),
    "skill": Phrase("skills"),
    "fact": Phrase("facts"),
}
OTHER_CATEGORY = Phrase("other")
MAX_RESULTS = 10
MAX_LINE_CHARS = 300  # of one result or one shown line
PAGE_LINES, PAGE_CHARS = 60, 2_500
MAX_QUOTE_CHARS = 600
MAX_TRANSCRIPT_LINES = 60  # searched for the newest list, when a command names a number
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"\d{1,6}")


async def search_memory(context: CommandContext, query: str) -> str:
    """List the best results of the whole space, cleared conversations included, with their
    sources.
    """
    if not query:
        return context.text(
            Phrase("Give what to look for, such as /memory search green tea."),
        )
    found = await _search_results(context, query)
    for space, norms in memory_line_keys(found).items():
        await context.store.memories.count_uses(space, norms)
    if not found:
        shown = _truncate(query)
        return context.text(Phrase("Nothing in memory answers “{shown}”.", shown=shown))
    lines = [
        f"{number}. {_truncate(passage.text)} ({_format_source(context, passage)})"
        for number, passage in enumerate(found, start=1)
    ]
    hint = context.text(Phrase("/memory why N tells where one comes from."))
    return "\n".join([*lines, hint])


async def show_file(context: CommandContext, rest: str) -> str:
    """Show a page of a memory file with line numbers; MEMORY.md if no file is named."""
    path, number = _split_file_name(rest)
    found = await _find_file(context, path)
    if found is None:
        return _no_file_text(context, path)
    pages = _split_pages(found.file.text)
    if not 0 < number <= len(pages):
        return context.text(Phrase("{path} has no page {number}.", path=found.path, number=number))
    lines = [f"**{found.path}**", fence_text("\n".join(pages[number - 1]))]
    if number < len(pages):
        more = f"/memory show {found.path} {number + 1}"
        lines.append(
            context.text(
                Phrase(
                    "page {number} of {count}; next: {more}",
                    number=number,
                    count=len(pages),
                    more=more,
                ),
            )
        )
    return "\n".join(lines)


async def explain_memory(context: CommandContext, rest: str) -> str:
    """Explain where a memory comes from: by its number in the newest list, or by words."""
    if not rest:
        return context.text(
            Phrase("Give a number as /memory show or /memory search has it, or some words."),
        )
    find = (
        _find_by_number(context, int(rest))
        if _NUMBER.fullmatch(rest)
        else _find_by_words(context, rest)
    )
    passage = await find
    if passage is None:
        return context.text(
            Phrase("There is no memory for “{truncate}”.", truncate=_truncate(rest))
        )
    explain = {
        "memory": _explain_line,
        "log": _explain_log_line,
        "said": _explain_message,
        "tool": _explain_message,
    }[passage.kind]
    return "\n".join([f"**{_truncate(passage.words)}**", *await explain(context, passage)])


async def _explain_line(context: CommandContext, passage: Passage) -> list[str]:
    records = context.store.memories
    row = await records.row(passage.space, normalize_key(passage.words))
    if row is None:
        await context.services.memories(passage.space).reconcile()
        row = await records.row(passage.space, normalize_key(passage.words))
    if row is None:
        return [_format_source(context, passage)]
    chain = await records.chain(passage.space, row.id)
    return [
        _format_source(context, passage),
        _format_memory_row(context, row),
        *await _format_origin(context, row),
        *_format_former_lines(context, chain),
    ]


def _format_memory_row(context: CommandContext, row: MemoryRow) -> str:
    under = context.text(CATEGORY_NAMES.get(row.category, OTHER_CATEGORY))
    used = context.text(Phrase("used 1 time", "used {count} times", count=row.uses))
    since = context.text(Phrase("noted {time}", time=_format_time(context, row.created)))
    weight = context.text(Phrase("importance {importance}", importance=row.importance))
    return f"{under} · {weight} · {since} · {used}"


async def _format_origin(context: CommandContext, row: MemoryRow) -> list[str]:
    """Quote the message that a memory is based on; without one, say how the line was written."""
    message = (
        await context.store.memories.source(row.space, row.source.message_id)
        if row.source.message_id
        else None
    )
    words, said = (
        (_message_text(message), message.at) if message else (row.source.quote, row.source.said)
    )
    if not words:
        origins = {
            "file": Phrase("written in the file itself; no message is known for it"),
            "dream": Phrase("gathered from the daily logs when memory was put in order"),
        }
        return [context.text(origins.get(row.origin, Phrase("no message is known for it")))]
    at = f"{_format_time(context, said)} · " if said else ""
    return [f"{at}{row.source.channel}", *_quote(words)]


def _format_former_lines(context: CommandContext, chain: Sequence[MemoryRow]) -> list[str]:
    if not chain:
        return []
    lines = [f"- {_truncate(row.text)}{_format_end(context, row)}" for row in chain]
    return [context.text(Phrase("It took the place of:")), *lines]


def _format_end(context: CommandContext, row: MemoryRow) -> str:
    if row.valid_until is None:
        return ""
    end = _format_time(context, row.valid_until)
    return context.text(Phrase(" (until {end})", end=end))


async def _explain_log_line(context: CommandContext, passage: Passage) -> list[str]:
    fold = await context.store.folds.fold(passage.fold) if passage.fold else None
    if fold is None:
        return [
            _format_source(context, passage),
            context.text(Phrase("a line somebody wrote into the log")),
        ]
    messages = await context.store.sessions.messages(fold.conversation, fold.from_seq, fold.to_seq)
    key = normalize_key(passage.words)
    source = next(
        (message for message in messages if key in normalize_key(_message_text(message))), None
    )
    turns = context.text(
        Phrase(
            "from turns {from_turn}–{to_turn} on {channel}, folded {time}",
            from_turn=fold.from_turn,
            to_turn=fold.to_turn,
            channel=fold.channel,
            time=_format_time(context, fold.at),
        ),
    )
    return [
        _format_source(context, passage),
        turns,
        *([_format_time(context, source.at), *_quote(_message_text(source))] if source else []),
    ]


async def _explain_message(context: CommandContext, passage: Passage) -> list[str]:
    row = await context.store.sessions.conversation(passage.conversation)
    messages = await context.store.sessions.messages(passage.conversation, passage.seq, passage.seq)
    source = f"{row.place.channel} · " if row else ""
    source += _format_source(context, passage)
    return [
        line
        for message in messages
        for line in (
            f"{_format_time(context, message.at)} · {source}",
            *([context.text(Phrase("This holds words from outside."))] if passage.outside else []),
            *_quote(passage.words if passage.outside else _message_text(message) or passage.words),
        )
    ]


async def _find_by_number(context: CommandContext, number: int) -> Passage | None:
    """Return what has that number in the newest list of this conversation, as it is now."""
    word, rest = await _newest_list(context)
    if word == "search":
        found = await _search_results(context, rest)
        return found[number - 1] if 0 < number <= len(found) else None
    file = await _find_file(context, _split_file_name(rest)[0])
    return _passage_of_line(file, number) if file else None


async def _newest_list(context: CommandContext) -> tuple[str, str]:
    """Return the newest /memory search or show of this conversation, and its arguments."""
    lines = await context.store.sessions.lines(context.conversation.id, limit=MAX_TRANSCRIPT_LINES)
    for line in reversed(lines):
        name, rest = (parse_command(line.text) if line.role == "user" else None) or ("", "")
        word, _, more = rest.partition(" ")
        if name == "memory" and word.lower() in ("search", "show"):
            return word.lower(), more.strip()
    return "show", ""


def _passage_of_line(found: SpaceMemoryFile, number: int) -> Passage | None:
    """Return a line of a file as a search would."""
    text, is_memory = found.file.text, found.file.path == MEMORY_PATH
    if is_memory:
        lines = [
            (item.text, item.first, "")
            for item in recordable_bullets(text)
            if item.first <= number <= item.last
        ]
    else:
        lines = [
            (row.text, row.number, row.fold)
            for row in daily_log.iter_rows(text)
            if row.number == number
        ]
    if not lines:
        return None
    words, line, fold = lines[0]
    return Passage(
        text=words,
        words=words,
        kind="memory" if is_memory else "log",
        date="",
        score=1.0,
        space=found.space,
        path=found.path,
        line=line,
        fold=fold,
    )


async def _find_by_words(context: CommandContext, words: str) -> Passage | None:
    """Return the best line of MEMORY.md, else the best result of another kind."""
    found = await _search_results(context, words)
    return next((item for item in found if item.kind == "memory"), found[0] if found else None)


async def _search_results(context: CommandContext, query: str) -> list[Passage]:
    space = context.conversation.place.space
    return await context.services.recall.search(
        SearchRequest(space=space, query=query, now=context.services.now(), limit=MAX_RESULTS)
    )


async def _find_file(context: CommandContext, path: str) -> SpaceMemoryFile | None:
    space = context.conversation.place.space
    return await find_memory_file(context.store, context.services.workspace, space, path)


def _split_file_name(rest: str) -> tuple[str, int]:
    """Parse the arguments of /memory show into path and page; a day names its log."""
    *words, last = rest.split() or [""]
    if _NUMBER.fullmatch(last):
        path, page = " ".join(words), int(last)
    else:
        path, page = rest.strip(), 1
    return f"{daily_log.LOG_FOLDER}/{path}.md" if _DAY.fullmatch(
        path
    ) else path or MEMORY_PATH, page


def _no_file_text(context: CommandContext, path: str) -> str:
    if path == MEMORY_PATH:
        return context.text(
            Phrase("There is no MEMORY.md yet; /remember begins it."),
        )
    return context.text(
        Phrase("There is no memory file {truncate}; /memory lists them.", truncate=_truncate(path)),
    )


def _split_pages(text: str) -> list[list[str]]:
    """Split a text into pages of numbered lines; an empty text has one page. Long lines are cut."""
    pages: list[list[str]] = [[]]
    remaining = PAGE_CHARS
    lines = text.removeprefix("\ufeff").splitlines()
    width = len(str(len(lines)))
    for number, line in enumerate(lines, start=1):
        shown = f"{number:>{width}}  {shorten(line, MAX_LINE_CHARS)}"
        if pages[-1] and (len(pages[-1]) >= PAGE_LINES or len(shown) > remaining):
            pages.append([])
            remaining = PAGE_CHARS
        pages[-1].append(shown)
        remaining -= len(shown) + 1
    return pages


def _format_source(context: CommandContext, passage: Passage) -> str:
    if passage.path:
        return format_source(passage)
    if passage.conversation == context.conversation.id:
        return context.text(Phrase("turn {number}", number=passage.turn))
    return context.text(Phrase("turn {number} of another conversation", number=passage.turn))


def _format_time(context: CommandContext, at: datetime) -> str:
    return f"{at.astimezone(context.services.now().tzinfo):%Y-%m-%d %H:%M}"


def _message_text(message: Message) -> str:
    return "\n".join(
        part.text for part in message.parts if isinstance(part, Text | Document)
    ).strip()


def _quote(words: str) -> list[str]:
    return [f"> {line}" for line in shorten(words, MAX_QUOTE_CHARS).splitlines()]


def _truncate(text: str) -> str:
    return shorten(" ".join(text.split()), MAX_LINE_CHARS)


WRITE_ACTION = "memory.write"
REMEMBER_IMPORTANCE = 8  # of what a person asks to remember
MAX_FILES = 6


async def _memory(context: CommandContext) -> str:
    word, _, rest = context.arguments.partition(" ")
    subcommands = {
        "": _show_summary,
        "search": search_memory,
        "show": show_file,
        "why": explain_memory,
        "undo": _undo,
    }
    run = subcommands.get(word.lower())
    if run is None:
        return context.text(
            Phrase("/memory takes search, show, why or undo, not “{word}”.", word=word),
        )
    return await run(context, rest.strip())


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
        lines.append(context.text(Phrase("the last talk is still being noted")))
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
                    "{memory_path} is larger than {max_bytes:,} bytes: nothing is written into it "
                    "and its lines are not followed. Move old lines to another file.",
                    memory_path=MEMORY_PATH,
                    max_bytes=MAX_BYTES,
                ),
            )
        ]
    left = await asyncio.to_thread(count_unrecorded, file.text)
    said = context.text(
        Phrase(
            "{memory_path} has more than {max_recorded:,} memories: the last {left:,} are found "
            "by a search but not followed as memories. Move old lines to another file.",
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
        return context.text(Phrase("not put in order yet"))
    states = {"done": Phrase("done"), "undone": Phrase("taken back")}
    state = context.text(states.get(last.state, Phrase("under way")))
    where = f" · {last.diary}" if last.diary else ""
    return context.text(
        Phrase("last put in order {day} · {state}{where}", day=last.day, state=state, where=where)
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
        return _unreadable_text(context, Phrase("Not taken back"))
    if undone is None:
        return context.text(Phrase("There is no night's work to take back."))
    if undone.whole:
        return context.text(
            Phrase(
                "The work of {day} is taken back: {memory_path} is as it was before.",
                day=undone.day,
                memory_path=MEMORY_PATH,
            ),
        )
    return context.text(
        Phrase(
            "The work of {day} is taken back: its lines are gone, those it took out are back, and "
            "what was changed since stays.",
            day=undone.day,
        ),
    )


def _unreadable_text(context: CommandContext, outcome: Phrase) -> str:
    return context.text(
        Phrase(
            "{outcome}: {memory_path} is not UTF-8 text, too large or no plain file, so it was "
            "left as it is.",
            outcome=outcome,
            memory_path=MEMORY_PATH,
        ),
    )


async def _remember(context: CommandContext) -> str:
    text = context.arguments
    if not text:
        return context.text(
            Phrase("Give what to remember, such as /remember I am allergic to peanuts."),
        )
    words = tidy_content(text)
    if not words:
        return context.text(Phrase("There are no words in that to remember."))
    if len(words) > MAX_BULLET:
        return context.text(
            Phrase(
                "Not remembered: that is too long ({count:,} characters; {max_bullet:,} is the "
                "most).",
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
        usage=Phrase("[search|show|why|undo]"),
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
