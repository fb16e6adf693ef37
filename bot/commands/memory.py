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
    "user_preference": ("偏好", "preferences"),
    "instruction": ("约定", "instructions"),
    "project_context": ("项目", "projects"),
    "skill": ("技能", "skills"),
    "fact": ("事实", "facts"),
}
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
            "用法：/memory search 要找的内容。",
            "Give what to look for, such as /memory search green tea.",
        )
    found = await _search_results(context, query)
    for space, norms in memory_line_keys(found).items():
        await context.store.memories.count_uses(space, norms)
    if not found:
        shown = _truncate(query)
        return context.text(
            f"没有找到与“{shown}”有关的记忆。", f"Nothing in memory answers “{shown}”."
        )
    lines = [
        f"{number}. {_truncate(passage.text)} ({_format_source(context, passage)})"
        for number, passage in enumerate(found, start=1)
    ]
    hint = context.text("/memory why 序号 看出处。", "/memory why N tells where one comes from.")
    return "\n".join([*lines, hint])


async def show_file(context: CommandContext, rest: str) -> str:
    """Show a page of a memory file with line numbers; MEMORY.md if no file is named."""
    path, number = _split_file_name(rest)
    found = await _find_file(context, path)
    if found is None:
        return _no_file_text(context, path)
    pages = _split_pages(found.file.text)
    if not 0 < number <= len(pages):
        return context.text(
            f"{found.path} 没有第 {number} 页。", f"{found.path} has no page {number}."
        )
    lines = [f"**{found.path}**", fence_text("\n".join(pages[number - 1]))]
    if number < len(pages):
        more = f"/memory show {found.path} {number + 1}"
        lines.append(
            context.text(
                f"第 {number}/{len(pages)} 页；下一页：{more}",
                f"page {number} of {len(pages)}; next: {more}",
            )
        )
    return "\n".join(lines)


async def explain_memory(context: CommandContext, rest: str) -> str:
    """Explain where a memory comes from: by its number in the newest list, or by words."""
    if not rest:
        return context.text(
            "用法：/memory why 序号，或几个词；序号见 /memory show 和 /memory search。",
            "Give a number as /memory show or /memory search has it, or some words.",
        )
    find = (
        _find_by_number(context, int(rest))
        if _NUMBER.fullmatch(rest)
        else _find_by_words(context, rest)
    )
    passage = await find
    if passage is None:
        return context.text(
            f"没有与“{_truncate(rest)}”对应的记忆。", f"There is no memory for “{_truncate(rest)}”."
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
    under = context.text(*CATEGORY_NAMES.get(row.category, ("其他", "other")))
    used = context.text(
        f"用过 {row.uses} 次", f"used {row.uses} time{'' if row.uses == 1 else 's'}"
    )
    since = context.text(
        f"记于 {_format_time(context, row.created)}", f"noted {_format_time(context, row.created)}"
    )
    weight = context.text(f"重要性 {row.importance}", f"importance {row.importance}")
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
            "file": (
                "写在文件里的，没有来源消息",
                "written in the file itself; no message is known for it",
            ),
            "dream": (
                "夜里整理时从日志归纳的",
                "gathered from the daily logs when memory was put in order",
            ),
        }
        return [
            context.text(*origins.get(row.origin, ("没有来源消息", "no message is known for it")))
        ]
    at = f"{_format_time(context, said)} · " if said else ""
    return [f"{at}{row.source.channel}", *_quote(words)]


def _format_former_lines(context: CommandContext, chain: Sequence[MemoryRow]) -> list[str]:
    if not chain:
        return []
    lines = [f"- {_truncate(row.text)}{_format_end(context, row)}" for row in chain]
    return [context.text("取代了：", "It took the place of:"), *lines]


def _format_end(context: CommandContext, row: MemoryRow) -> str:
    if row.valid_until is None:
        return ""
    end = _format_time(context, row.valid_until)
    return context.text(f"（到 {end}）", f" (until {end})")


async def _explain_log_line(context: CommandContext, passage: Passage) -> list[str]:
    fold = await context.store.folds.fold(passage.fold) if passage.fold else None
    if fold is None:
        return [
            _format_source(context, passage),
            context.text("写在日志里的一行", "a line somebody wrote into the log"),
        ]
    messages = await context.store.sessions.messages(fold.conversation, fold.from_seq, fold.to_seq)
    key = normalize_key(passage.words)
    source = next(
        (message for message in messages if key in normalize_key(_message_text(message))), None
    )
    turns = context.text(
        (
            f"整理自 {fold.channel} 的第 {fold.from_turn}–{fold.to_turn} 轮，"
            f"{_format_time(context, fold.at)}"
        ),
        (
            f"from turns {fold.from_turn}–{fold.to_turn} on {fold.channel}, folded "
            f"{_format_time(context, fold.at)}"
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
            *(
                [context.text("这里有外来的文字。", "This holds words from outside.")]
                if passage.outside
                else []
            ),
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
            "还没有 MEMORY.md；/remember 记下第一条。",
            "There is no MEMORY.md yet; /remember begins it.",
        )
    return context.text(
        f"没有 {_truncate(path)} 这个记忆文件；/memory 列出了有哪些。",
        f"There is no memory file {_truncate(path)}; /memory lists them.",
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
    here = passage.conversation == context.conversation.id
    zh = f"第 {passage.turn} 轮" if here else f"另一个会话的第 {passage.turn} 轮"
    return context.text(
        zh, format_source(passage) if here else f"{format_source(passage)} of another conversation"
    )


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
            (
                "/记忆 后面可以是 搜索、查看、为什么、撤销（search、show、why、undo），"
                f"不认识“{word}”。"
            ),
            f"/memory takes search, show, why or undo, not “{word}”.",
        )
    return await run(context, rest.strip())


async def _show_summary(context: CommandContext, _: str) -> str:
    services, space = context.services, context.conversation.place.space
    files = await list_memory_files(context.store, services.workspace, space)
    rows = await services.memories(space).list(limit=0)
    lines = [
        context.text("**长期记忆**", "**Long-term memory**"),
        *_format_files(context, files),
        *await _format_size_warning(context, files),
        _format_categories(context, Tally(row.category for row in rows)),
        await _format_last_dream(context, space),
        await _format_index_state(context, space),
    ]
    if space in await context.store.extractions.spaces():
        lines.append(context.text("刚才的对话还在记录中", "the last talk is still being noted"))
    return "\n".join(lines)


def _format_files(context: CommandContext, files: list[SpaceMemoryFile]) -> list[str]:
    if not files:
        return [context.text("还没有任何记忆文件", "no memory files yet")]
    shown = []
    for found in files[:MAX_FILES]:
        count = len(found.file.text.splitlines())
        lines = context.text(f"{count:,} 行", "1 line" if count == 1 else f"{count:,} lines")
        shown.append(f"{found.path} · {_format_size(found.file.size)} · {lines}")
    if rest := files[MAX_FILES:]:
        size = _format_size(sum(found.file.size for found in rest))
        shown.append(
            context.text(f"……还有 {len(rest)} 个文件 · {size}", f"… and {len(rest)} more · {size}")
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
                (
                    f"{MEMORY_PATH} 超过 {MAX_BYTES:,} 字节：新的内容不再记入，也不再逐行登记。"
                    "请把旧内容移到别的文件。"
                ),
                f"{MEMORY_PATH} is larger than {MAX_BYTES:,} bytes: nothing is written into it and "
                "its lines are not followed. Move old lines to another file.",
            )
        ]
    left = await asyncio.to_thread(count_unrecorded, file.text)
    said = context.text(
        (
            f"{MEMORY_PATH} 超过 {MAX_RECORDED:,} 条：末尾的 {left:,} 条能搜到，但没有登记。"
            "请把旧内容移到别的文件。"
        ),
        f"{MEMORY_PATH} has more than {MAX_RECORDED:,} memories: the last {left:,} are found by a "
        "search but not followed as memories. Move old lines to another file.",
    )
    return [said] if left else []


def _format_size(size: int) -> str:
    return f"{size} B" if size < 1_000 else f"{size / 1_000:,.1f} kB"


def _format_categories(context: CommandContext, counts: Tally[str]) -> str:
    named = [
        f"{context.text(*names)} {counts.pop(key)}"
        for key, names in CATEGORY_NAMES.items()
        if key in counts
    ]
    if other := counts.total():
        named.append(f"{context.text('其他', 'other')} {other}")
    return " · ".join(named) or context.text("还没有记住什么", "nothing remembered yet")


async def _format_last_dream(context: CommandContext, space: str) -> str:
    last = await context.store.dreams.last(space)
    if last is None:
        return context.text("还没有整理过", "not put in order yet")
    states = {"done": ("完成", "done"), "undone": ("已撤销", "taken back")}
    state = context.text(*states.get(last.state, ("进行中", "under way")))
    where = f" · {last.diary}" if last.diary else ""
    return context.text(
        f"上次整理 {last.day} · {state}{where}", f"last put in order {last.day} · {state}{where}"
    )


async def _format_index_state(context: CommandContext, space: str) -> str:
    recall = context.services.recall
    rows, fault = await recall.refresh(space), await recall.check(space)
    if fault:
        return context.text(
            f"索引 {rows:,} 行 · 有问题：{fault}；在终端运行 mnema memory index",
            f"index {rows:,} rows · faulty: {fault}; run mnema memory index in a terminal",
        )
    return context.text(f"索引 {rows:,} 行 · 最新", f"index {rows:,} rows · up to date")


async def _undo(context: CommandContext, _: str) -> str:
    require(context, WRITE_ACTION)
    space = context.conversation.place.space
    try:
        undone = await context.services.dreamer.undo(space)
    except MemoryFileUnreadable:
        return _unreadable_text(context, "没有撤销", "Not taken back")
    if undone is None:
        return context.text("没有可以撤销的整理。", "There is no night's work to take back.")
    if undone.whole:
        return context.text(
            f"已撤销 {undone.day} 的整理，{MEMORY_PATH} 恢复到之前的样子。",
            f"The work of {undone.day} is taken back: {MEMORY_PATH} is as it was before.",
        )
    return context.text(
        f"已撤销 {undone.day} 的整理：它写的去掉了，它去掉的放回来了；那之后的修改都保留。",
        f"The work of {undone.day} is taken back: its lines are gone, those it took out are back, "
        "and what was changed since stays.",
    )


def _unreadable_text(context: CommandContext, zh: str, en: str) -> str:
    return context.text(
        f"{zh}：{MEMORY_PATH} 不是 UTF-8 文本、太大，或不是普通文件，为免损坏没有改动它。",
        (
            f"{en}: {MEMORY_PATH} is not UTF-8 text, too large or no plain file, so it was left as "
            "it is."
        ),
    )


async def _remember(context: CommandContext) -> str:
    text = context.arguments
    if not text:
        return context.text(
            "用法：/remember 要记住的话，例如 /remember 我对花生过敏。",
            "Give what to remember, such as /remember I am allergic to peanuts.",
        )
    words = tidy_content(text)
    if not words:
        return context.text("这里没有可以记住的话。", "There are no words in that to remember.")
    if len(words) > MAX_BULLET:
        return context.text(
            f"没有记下：太长了（{len(words):,} 字），最多 {MAX_BULLET:,} 字。",
            (
                f"Not remembered: that is too long ({len(words):,} characters; {MAX_BULLET:,} is "
                "the most)."
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
        return _unreadable_text(context, "没有记下", "Not remembered")
    verbs = {
        "created": ("记住了", "Remembered"),
        "updated": ("已并入原有的一条", "Merged with what I knew"),
    }
    head = context.text(*verbs.get(done.action, ("已经记得", "I knew that already")))
    under = context.text(*CATEGORY_NAMES.get(done.row.category, ("其他", "other")))
    shown = "\n" + fence_text(done.row.text) if "```" in done.row.text else done.row.text
    return context.text(f"{head}（{under}）：{shown}", f"{head} ({under}): {shown}")


MEMORY_COMMANDS = (
    Command(
        name="memory",
        usage="[search|show|why|undo]",
        usage_zh="[搜索|查看|为什么|撤销]",
        action="memory.read",
        zh="长期记忆；搜索、查看、出处、撤销整理",
        en="see, search and correct long-term memory",
        run=_memory,
    ),
    Command(
        name="remember",
        usage="TEXT",
        usage_zh="内容",
        action=WRITE_ACTION,
        zh="记住一句话",
        en="remember a sentence",
        run=_remember,
    ),
)
