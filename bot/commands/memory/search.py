"""What /memory search, show, why and as of answer."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime

from bot.commands.base import CommandContext
from bot.memory.files import SpaceMemoryFile, find_memory_file
from bot.memory.recall import format_source, memory_line_keys
from bot.messages import parse_command
from channels.phrases import Phrase
from memory.conversation import Document, Message, Text
from memory.longterm.memory_file import MEMORY_PATH
from memory.longterm.similarity import normalize_key
from memory.recall.as_of import end_of_day, read_as_of, to_passage
from memory.recall.documents import Passage, SearchRequest
from memory.store.longterm.rows import MemoryRow
from memory.text.bullets import recordable_bullets
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
MAX_LISTED = 30  # lines that held on a day, where nothing is asked
MAX_LINE_CHARS = 300  # of one result or one shown line
PAGE_LINES, PAGE_CHARS = 60, 2_500
MAX_QUOTE_CHARS = 600
MAX_TRANSCRIPT_LINES = 60  # searched for the newest list, when a command names a number
AS_OF = "as of"
_AS_OF = re.compile(r"(?:as[\s-]+of\b|截[至止])\s*", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"\d{1,6}")


def split_subcommand(arguments: str) -> tuple[str, str]:
    """Split the arguments of /memory into the subcommand and what follows it."""
    if found := _AS_OF.match(arguments):
        return AS_OF, arguments[found.end() :].strip()
    word, _, rest = arguments.partition(" ")
    return word.lower(), rest.strip()


async def search_memory(context: CommandContext, query: str) -> str:
    """List the best results of the whole space, cleared conversations included, with their
    sources.
    """
    if not query:
        return context.text(
            Phrase("Add what to look for, as in /memory search green tea."),
        )
    found = await _search_results(context, query)
    for space, norms in memory_line_keys(found).items():
        await context.store.memories.count_uses(space, norms)
    if not found:
        shown = truncate(query)
        return context.text(Phrase("Nothing in memory matches “{shown}”.", shown=shown))
    return _format_list(context, found)


def _format_list(context: CommandContext, found: Sequence[Passage]) -> str:
    lines = [
        f"{number}. {truncate(passage.text)}{_format_validity(context, passage)} "
        f"({_format_source(context, passage)})"
        for number, passage in enumerate(found, start=1)
    ]
    hint = context.text(Phrase("/memory why N shows where one comes from."))
    return "\n".join([*lines, hint])


async def search_as_of(context: CommandContext, rest: str) -> str:
    """Answer from what was known at the end of a day; without a question, list the lines that held
    then.
    """
    asked = read_as_of(rest, context.services.now())
    if asked is None:
        return context.text(
            Phrase("Name a day, as in /memory as of 3 May locker code."),
        )
    day, query = asked
    if day > context.services.now().date():
        return context.text(
            Phrase("{day} has not come yet. Name a day that has begun.", day=day),
        )
    found = await _results_as_of(context, day, query)
    if found:
        head = context.text(Phrase("**As of {day}**", day=day))
        return f"{head}\n{_format_list(context, found)}"
    if not query:
        return context.text(Phrase("As of {day}, nothing was noted.", day=day))
    shown = truncate(query)
    return context.text(
        Phrase("As of {day}, nothing in memory matches “{shown}”.", day=day, shown=shown),
    )


async def _results_as_of(context: CommandContext, day: date, query: str) -> list[Passage]:
    now, space = context.services.now(), context.conversation.place.space
    if query:
        request = SearchRequest(
            space=space, query=query, now=now, limit=MAX_RESULTS, as_of=day.isoformat()
        )
        return await context.services.recall.search(request)
    zone = now.tzinfo or UTC
    before = end_of_day(day.isoformat(), zone)
    rows = [
        row
        for member in await context.store.links.members(space)
        for row in await context.store.memories.as_of(member, before, MAX_LISTED)
    ]
    rows.sort(key=lambda row: row.began, reverse=True)
    return [to_passage(row, zone) for row in rows[:MAX_LISTED]]


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
            Phrase("Give a number from /memory show or /memory search, or some words."),
        )
    find = (
        _find_by_number(context, int(rest))
        if _NUMBER.fullmatch(rest)
        else _find_by_words(context, rest)
    )
    passage = await find
    if passage is None:
        return context.text(
            Phrase("There is no memory matching “{truncate}”.", truncate=truncate(rest))
        )
    explain = {
        "memory": _explain_line,
        "log": _explain_log_line,
        "said": _explain_message,
        "tool": _explain_message,
    }[passage.kind]
    return "\n".join([f"**{truncate(passage.words)}**", *await explain(context, passage)])


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
    since = context.text(Phrase("noted {time}", time=format_time(context, row.created)))
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
            "file": Phrase("written in the file itself; no source message is known"),
            "dream": Phrase("gathered from the daily logs when memory was tidied"),
        }
        return [context.text(origins.get(row.origin, Phrase("no source message is known")))]
    at = f"{format_time(context, said)} · " if said else ""
    return [f"{at}{row.source.channel}", *_quote(words)]


def _format_former_lines(context: CommandContext, chain: Sequence[MemoryRow]) -> list[str]:
    if not chain:
        return []
    lines = [f"- {truncate(row.text)}{_format_end(context, row)}" for row in chain]
    return [context.text(Phrase("It replaced:")), *lines]


def _format_end(context: CommandContext, row: MemoryRow) -> str:
    if row.valid_until is None:
        return ""
    end = format_time(context, row.valid_until)
    return context.text(Phrase(" (until {end})", end=end))


async def _explain_log_line(context: CommandContext, passage: Passage) -> list[str]:
    fold = await context.store.folds.fold(passage.fold) if passage.fold else None
    if fold is None:
        return [
            _format_source(context, passage),
            context.text(Phrase("a line somebody wrote in the log")),
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
            time=format_time(context, fold.at),
        ),
    )
    return [
        _format_source(context, passage),
        turns,
        *([format_time(context, source.at), *_quote(_message_text(source))] if source else []),
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
            f"{format_time(context, message.at)} · {source}",
            *(
                [context.text(Phrase("This contains text from outside."))]
                if passage.outside
                else []
            ),
            *_quote(passage.words if passage.outside else _message_text(message) or passage.words),
        )
    ]


async def _find_by_number(context: CommandContext, number: int) -> Passage | None:
    """Return what has that number in the newest list of this conversation, as it is now."""
    word, rest = await _newest_list(context)
    if word != "show":
        found = await _listed_results(context, word, rest)
        return found[number - 1] if 0 < number <= len(found) else None
    file = await _find_file(context, _split_file_name(rest)[0])
    return _passage_of_line(file, number) if file else None


async def _listed_results(context: CommandContext, word: str, rest: str) -> list[Passage]:
    """Return what a /memory search or as of lists now."""
    if word == "search":
        return await _search_results(context, rest)
    asked = read_as_of(rest, context.services.now())
    return await _results_as_of(context, *asked) if asked else []


async def _newest_list(context: CommandContext) -> tuple[str, str]:
    """Return the newest /memory search, show or as of of this conversation, and its arguments."""
    lines = await context.store.sessions.lines(context.conversation.id, limit=MAX_TRANSCRIPT_LINES)
    for line in reversed(lines):
        name, rest = (parse_command(line.text) if line.role == "user" else None) or ("", "")
        word, more = split_subcommand(rest)
        if name == "memory" and word in ("search", "show", AS_OF):
            return word, more
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
            Phrase("There is no MEMORY.md yet; /remember starts it."),
        )
    return context.text(
        Phrase("There is no memory file {truncate}; /memory lists them.", truncate=truncate(path)),
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


def _format_validity(context: CommandContext, passage: Passage) -> str:
    """Format what became of a passage's fact; "" for nothing."""
    validity = passage.validity
    if validity.later:
        later = Phrase("later: {fact}, {day}", fact=truncate(validity.later), day=validity.later_on)
        return f" [{context.text(later)}]"
    if validity.former:
        former = Phrase(
            "since {day}; until then: {fact}", day=validity.since, fact=truncate(validity.former)
        )
        return f" [{context.text(former)}]"
    return ""


def _format_source(context: CommandContext, passage: Passage) -> str:
    if passage.path:
        return format_source(passage)
    if passage.conversation == context.conversation.id:
        return context.text(Phrase("turn {number}", number=passage.turn))
    return context.text(Phrase("turn {number} of another conversation", number=passage.turn))


def format_time(context: CommandContext, at: datetime) -> str:
    """Format a moment in the person's zone."""
    return f"{at.astimezone(context.services.now().tzinfo):%Y-%m-%d %H:%M}"


def _message_text(message: Message) -> str:
    return "\n".join(
        part.text for part in message.parts if isinstance(part, Text | Document)
    ).strip()


def _quote(words: str) -> list[str]:
    return [f"> {line}" for line in shorten(words, MAX_QUOTE_CHARS).splitlines()]


def truncate(text: str) -> str:
    """Cut a text to one line of a list."""
    return shorten(" ".join(text.split()), MAX_LINE_CHARS)
