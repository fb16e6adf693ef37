"""Commands on long-term memory: /memory with search, show, why and undo, and /remember."""

import asyncio
import re
from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.commands.base import Command, CommandContext, is_allowed
from bot.commands.names import parse_command
from bot.errors import AccessDenied
from bot.memory.extraction import memory_line_keys
from bot.memory.files import SpaceMemoryFile, find_memory_file, list_memory_files
from bot.memory.recall import format_source
from bot.messages import load_body
from bot.texts import format_text
from memory.conversation import Document, Message, Text
from memory.longterm.memories import MAX_RECORDED, MemoryCandidate, count_unrecorded
from memory.longterm.memory_file import MAX_BYTES, MEMORY_PATH, MemoryFileUnreadable
from memory.longterm.similarity import normalize_key
from memory.recall.documents import Passage, SearchRequest
from memory.store.longterm.rows import MemoryRow, MemorySource
from memory.text.bullets import MAX_BULLET, recordable_bullets, tidy_content
from memory.workspace import daily_log

# What of memory a person may look at: /memory search, show and why.

CATEGORY_NAMES = {
    "user_preference": ("偏好", "preferences"),
    "project_context": ("项目", "projects"),
    "skill": ("技能", "skills"),
    "fact": ("事实", "facts"),
}
MAX_RESULTS = 10
MAX_QUERY_CHARS = 300  # characters of one result, and of a line that is shown
PAGE_LINES, PAGE_CHARS = 60, 2_500
MAX_QUOTE_CHARS = 600
MAX_LOG_DAYS = 60  # lines of the transcript in which the list that a number is of is looked for
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"\d{1,6}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _LinePage:
    """A page of numbered lines."""

    lines: list[str]
    #: From 1.
    number: int
    #: From 1.
    pages: int


async def search_memory(asked: CommandContext, query: str) -> str:
    """What answers best, numbered, with its sources; what was cleared is among it."""
    if not query:
        return asked.either(
            "用法：/memory search 要找的内容。", "Give what to look for, such as /memory search green tea."
        )
    found = await _search_results(asked, query)
    for space, norms in memory_line_keys(found).items():
        await asked.desk.store.memories.used(space, norms)
    if not found:
        return asked.either(
            f"没有找到与“{_truncate(query)}”有关的记忆。", f"Nothing in memory answers “{_truncate(query)}”."
        )
    lines = [
        f"{number}. {_truncate(item.text)} ({_format_source(asked, item)})"
        for number, item in enumerate(found, start=1)
    ]
    hint = asked.either("/memory why 序号 看出处。", "/memory why N tells where one comes from.")
    return "\n".join([*lines, hint])


async def show_file(asked: CommandContext, rest: str) -> str:
    """A page of a memory file with the numbers of its lines; MEMORY.md where none is named."""
    path, number = _split_file_name(rest)
    found = await _find_file(asked, path)
    if found is None:
        return _no_file_text(asked, path)
    page = _paginate(found.file.text, number)
    if page is None:
        return asked.either(f"{found.path} 没有第 {number} 页。", f"{found.path} has no page {number}.")
    lines = [f"**{found.path}**", fence_text("\n".join(page.lines))]
    if page.number < page.pages:
        more = f"/memory show {found.path} {page.number + 1}"
        lines.append(
            asked.either(
                f"第 {page.number}/{page.pages} 页；下一页：{more}", f"page {page.number} of {page.pages}; next: {more}"
            )
        )
    return "\n".join(lines)


def fence_text(text: str) -> str:
    """A text as it stands, between fences that are longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"


async def explain_memory(asked: CommandContext, rest: str) -> str:
    """Where a memory comes from: by its number in the list that was shown last, or by words."""
    if not rest:
        return asked.either(
            "用法：/memory why 序号，或几个词；序号见 /memory show 和 /memory search。",
            "Give a number as /memory show or /memory search has it, or some words.",
        )
    meant = await _line_by_number(asked, int(rest)) if _NUMBER.fullmatch(rest) else await _find_by_words(asked, rest)
    if meant is None:
        return asked.either(f"没有与“{_truncate(rest)}”对应的记忆。", f"There is no memory for “{_truncate(rest)}”.")
    tellers = {"memory": _explain_line, "log": _explain_log_line, "said": _explain_message}
    return "\n".join([f"**{_truncate(meant.words)}**", *await tellers[meant.kind](asked, meant)])


async def _explain_line(asked: CommandContext, meant: Passage) -> list[str]:
    records = asked.desk.store.memories
    row = await records.row(meant.space, normalize_key(meant.words))
    if row is None:
        await asked.desk.memories(meant.space).reconcile()
        row = await records.row(meant.space, normalize_key(meant.words))
    if row is None:
        return [_format_source(asked, meant)]
    chain = await records.chain(meant.space, row.id)
    return [
        _format_source(asked, meant),
        _format_memory_row(asked, row),
        *await _format_origin(asked, row),
        *_format_former_lines(asked, chain),
    ]


def _format_memory_row(asked: CommandContext, row: MemoryRow) -> str:
    under = asked.either(*CATEGORY_NAMES.get(row.category, ("其他", "other")))
    used = asked.either(f"用过 {row.uses} 次", f"used {row.uses} time{'' if row.uses == 1 else 's'}")
    since = asked.either(f"记于 {_format_time(asked, row.created)}", f"noted {_format_time(asked, row.created)}")
    weight = asked.either(f"重要性 {row.importance}", f"importance {row.importance}")
    return f"{under} · {weight} · {since} · {used}"


async def _format_origin(asked: CommandContext, row: MemoryRow) -> list[str]:
    """The words that a memory rests on, as they were written, else how the line came to be."""
    message = (
        await asked.desk.store.memories.source(row.space, row.source.message_id) if row.source.message_id else None
    )
    words, said = (_message_text(message), message.at) if message else (row.source.quote, row.source.said)
    if not words:
        origins = {
            "file": ("写在文件里的，没有来源消息", "written in the file itself; no message is known for it"),
            "dream": ("夜里整理时从日志归纳的", "gathered from the daily logs when memory was put in order"),
        }
        return [asked.either(*origins.get(row.origin, ("没有来源消息", "no message is known for it")))]
    at = f"{_format_time(asked, said)} · " if said else ""
    return [f"{at}{row.source.channel}", *_quote(words)]


def _format_former_lines(asked: CommandContext, chain: Sequence[MemoryRow]) -> list[str]:
    if not chain:
        return []
    lines = [
        f"- {_truncate(row.text)}"
        + (
            asked.either("（到 {}）", " (until {})").format(_format_time(asked, row.valid_until))
            if row.valid_until
            else ""
        )
        for row in chain
    ]
    return [asked.either("取代了：", "It took the place of:"), *lines]


async def _explain_log_line(asked: CommandContext, meant: Passage) -> list[str]:
    fold = await asked.desk.store.folds.fold(meant.fold) if meant.fold else None
    if fold is None:
        return [_format_source(asked, meant), asked.either("写在日志里的一行", "a line somebody wrote into the log")]
    messages = await asked.desk.store.sessions.messages(fold.conversation, fold.from_seq, fold.to_seq)
    told = next((one for one in messages if normalize_key(meant.words) in normalize_key(_message_text(one))), None)
    turns = asked.either(
        f"整理自 {fold.channel} 的第 {fold.from_turn}–{fold.to_turn} 轮，{_format_time(asked, fold.at)}",
        f"from turns {fold.from_turn}–{fold.to_turn} on {fold.channel}, folded {_format_time(asked, fold.at)}",
    )
    return [
        _format_source(asked, meant),
        turns,
        *([_format_time(asked, told.at), *_quote(_message_text(told))] if told else []),
    ]


async def _explain_message(asked: CommandContext, meant: Passage) -> list[str]:
    row = await asked.desk.store.sessions.conversation(meant.conversation)
    messages = await asked.desk.store.sessions.messages(meant.conversation, meant.seq, meant.seq)
    channel = f" · {row.place.channel}" if row else ""
    heads = [f"{_format_time(asked, one.at)}{channel} · {_format_source(asked, meant)}" for one in messages]
    return [line for head, one in zip(heads, messages, strict=True) for line in (head, *_quote(_message_text(one)))]


async def _line_by_number(asked: CommandContext, number: int) -> Passage | None:
    """What that number stood at in the newest list here, as it is now."""
    word, rest = await _last_listed_lines(asked)
    if word == "search":
        found = await _search_results(asked, rest)
        return found[number - 1] if 0 < number <= len(found) else None
    held = await _find_file(asked, _split_file_name(rest)[0])
    return _passage_of_line(held, number) if held else None


async def _last_listed_lines(asked: CommandContext) -> tuple[str, str]:
    lines = await asked.desk.store.sessions.lines(asked.conversation.id, limit=MAX_LOG_DAYS)
    for line in reversed(lines):
        name, rest = (parse_command(line.text) if line.role == "user" else None) or ("", "")
        word, _, more = rest.partition(" ")
        if name == "memory" and word.lower() in ("search", "show"):
            return word.lower(), more.strip()
    return "show", ""


def _passage_of_line(held: SpaceMemoryFile, number: int) -> Passage | None:
    """A line of a file as recall would give it."""
    if held.file.path == MEMORY_PATH:
        found = [
            (one.text, one.first, "") for one in recordable_bullets(held.file.text) if one.first <= number <= one.last
        ]
    else:
        found = [
            (row.text, row.number, row.fold) for row in daily_log.iter_rows(held.file.text) if row.number == number
        ]
    for words, line, fold in found:
        return Passage(
            text=words,
            words=words,
            kind="memory" if held.file.path == MEMORY_PATH else "log",
            date="",
            score=1.0,
            space=held.space,
            path=held.path,
            line=line,
            fold=fold,
        )
    return None


async def _find_by_words(asked: CommandContext, words: str) -> Passage | None:
    """The line of memory that answers best, else whatever does."""
    found = await _search_results(asked, words)
    return next((item for item in found if item.kind == "memory"), found[0] if found else None)


async def _search_results(asked: CommandContext, query: str) -> list[Passage]:
    space = asked.conversation.place.space
    return await asked.desk.recall.search(
        SearchRequest(space=space, query=query, now=asked.desk.now(), limit=MAX_RESULTS)
    )


async def _find_file(asked: CommandContext, path: str) -> SpaceMemoryFile | None:
    space = asked.conversation.place.space
    return await find_memory_file(asked.desk.store, asked.desk.workspace, space, path)


def _split_file_name(rest: str) -> tuple[str, int]:
    """(path, page) of what was asked to be shown; a day stands for its log."""
    *words, last = rest.split() or [""]
    if _NUMBER.fullmatch(last):
        path, page = " ".join(words), int(last)
    else:
        path, page = rest.strip(), 1
    return f"{daily_log.LOG_FOLDER}/{path}.md" if _DAY.fullmatch(path) else path or MEMORY_PATH, page


def _no_file_text(asked: CommandContext, path: str) -> str:
    if path == MEMORY_PATH:
        return asked.either(
            "还没有 MEMORY.md；/remember 记下第一条。", "There is no MEMORY.md yet; /remember begins it."
        )
    return asked.either(
        f"没有 {_truncate(path)} 这个记忆文件；/memory 列出了有哪些。",
        f"There is no memory file {_truncate(path)}; /memory lists them.",
    )


def _paginate(text: str, number: int) -> _LinePage | None:
    """The page of that number; an empty file has one. A long line is cut: its number names it all the same."""
    pages: list[list[str]] = [[]]
    room = PAGE_CHARS
    raw = text.removeprefix("\ufeff").splitlines()
    width = len(str(len(raw)))
    for at, line in enumerate(raw, start=1):
        shown = f"{at:>{width}}  {_truncate(line, flat=False)}"
        if pages[-1] and (len(pages[-1]) >= PAGE_LINES or len(shown) > room):
            pages.append([])
            room = PAGE_CHARS
        pages[-1].append(shown)
        room -= len(shown) + 1
    return _LinePage(lines=pages[number - 1], number=number, pages=len(pages)) if 0 < number <= len(pages) else None


def _format_source(asked: CommandContext, passage: Passage) -> str:
    if passage.path:
        return format_source(passage)
    here = passage.conversation == asked.conversation.id
    zh = f"第 {passage.turn} 轮" if here else f"另一个会话的第 {passage.turn} 轮"
    return asked.either(zh, format_source(passage) if here else f"{format_source(passage)} of another conversation")


def _format_time(asked: CommandContext, at: datetime) -> str:
    return f"{at.astimezone(asked.desk.now().tzinfo):%Y-%m-%d %H:%M}"


def _message_text(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text | Document)).strip()


def _quote(words: str) -> list[str]:
    cut = words if len(words) <= MAX_QUOTE_CHARS else f"{words[:MAX_QUOTE_CHARS]}…"
    return [f"> {line}" for line in cut.splitlines()]


def _truncate(text: str, *, flat: bool = True) -> str:
    shown = " ".join(text.split()) if flat else text
    return shown if len(shown) <= MAX_QUERY_CHARS else f"{shown[:MAX_QUERY_CHARS]}…"


WRITE_ACTION = "memory.write"
IMPORTANT_FROM = 8  # importance of what a person asks to have remembered
MAX_FILES = 6
_PREFERENCE_WORDS = re.compile(
    r"喜欢|偏好|讨厌|最爱|[更不]爱|爱[吃喝看听用玩]|习惯|受不了|过敏|以后[都请别]|^(?:请|别|不要|总是)"
    r"|\b(?:likes?|loves?|prefers?|hates?|dislikes?|favou?rites?|enjoys?|always|never|please|rather|don['’]t)\b",
    re.IGNORECASE,
)


async def _memory(asked: CommandContext) -> str:
    word, _, rest = asked.rest.partition(" ")
    acts = {"": _show_summary, "search": search_memory, "show": show_file, "why": explain_memory, "undo": _undo}
    act = acts.get(word.lower())
    if act is None:
        return asked.either(
            f"/记忆 后面可以是 搜索、查看、为什么、撤销（search、show、why、undo），不认识“{word}”。",
            f"/memory takes search, show, why or undo, not “{word}”.",
        )
    return await act(asked, rest.strip())


async def _show_summary(asked: CommandContext, _: str) -> str:
    desk, space = asked.desk, asked.conversation.place.space
    files = await list_memory_files(desk.store, desk.workspace, space)
    rows = await desk.memories(space).list(limit=0)
    lines = [
        asked.either("**长期记忆**", "**Long-term memory**"),
        *_format_files(asked, files),
        *await _format_more_files(asked, files),
        _format_categories(asked, Tally(row.category for row in rows)),
        await _format_last_dream(asked, space),
        await _format_index_state(asked, space),
    ]
    if space in await desk.store.extractions.spaces():
        lines.append(asked.either("刚才的对话还在记录中", "the last talk is still being noted"))
    return "\n".join(lines)


def _format_files(asked: CommandContext, files: list[SpaceMemoryFile]) -> list[str]:
    if not files:
        return [asked.either("还没有任何记忆文件", "no memory files yet")]
    shown = [
        f"{one.path} · {_format_size(one.file.size)} · {_format_lines(asked, one.file.text)}"
        for one in files[:MAX_FILES]
    ]
    if rest := files[MAX_FILES:]:
        size = _format_size(sum(one.file.size for one in rest))
        shown.append(asked.either(f"……还有 {len(rest)} 个文件 · {size}", f"… and {len(rest)} more · {size}"))
    return shown


async def _format_more_files(asked: CommandContext, files: list[SpaceMemoryFile]) -> list[str]:
    """What is said of a MEMORY.md that is too large to be kept line by line."""
    file = next((one.file for one in files if one.path == MEMORY_PATH), None)
    if file is None:
        return []
    if file.size > MAX_BYTES:
        return [
            asked.either(
                f"{MEMORY_PATH} 超过 {MAX_BYTES:,} 字节：新的内容不再记入，也不再逐行登记。请把旧内容移到别的文件。",
                f"{MEMORY_PATH} is larger than {MAX_BYTES:,} bytes: nothing is written into it and its lines are not "
                "followed. Move old lines to another file.",
            )
        ]
    left = await asyncio.to_thread(count_unrecorded, file.text)
    said = asked.either(
        f"{MEMORY_PATH} 超过 {MAX_RECORDED:,} 条：末尾的 {left:,} 条能搜到，但没有登记。请把旧内容移到别的文件。",
        f"{MEMORY_PATH} has more than {MAX_RECORDED:,} memories: the last {left:,} are found by a search but not "
        "followed as "
        "memories. Move old lines to another file.",
    )
    return [said] if left else []


def _format_lines(asked: CommandContext, text: str) -> str:
    count = len(text.splitlines())
    return asked.either(f"{count:,} 行", f"{count:,} line{'' if count == 1 else 's'}")


def _format_size(size: int) -> str:
    return f"{size} B" if size < 1_000 else f"{size / 1_000:,.1f} kB"


def _format_categories(asked: CommandContext, counts: Tally[str]) -> str:
    named = [f"{asked.either(*names)} {counts.pop(key)}" for key, names in CATEGORY_NAMES.items() if key in counts]
    if other := counts.total():
        named.append(f"{asked.either('其他', 'other')} {other}")
    return " · ".join(named) or asked.either("还没有记住什么", "nothing remembered yet")


async def _format_last_dream(asked: CommandContext, space: str) -> str:
    last = await asked.desk.store.dreams.last(space)
    if last is None:
        return asked.either("还没有整理过", "not put in order yet")
    states = {"done": ("完成", "done"), "undone": ("已撤销", "taken back")}
    state = asked.either(*states.get(last.state, ("进行中", "under way")))
    where = f" · {last.diary}" if last.diary else ""
    return asked.either(f"上次整理 {last.day} · {state}{where}", f"last put in order {last.day} · {state}{where}")


async def _format_index_state(asked: CommandContext, space: str) -> str:
    recall = asked.desk.recall
    rows, fault = await recall.refresh(space), await recall.check(space)
    if fault:
        return asked.either(
            f"索引 {rows:,} 行 · 有问题：{fault}；在终端运行 mnema memory index",
            f"index {rows:,} rows · faulty: {fault}; run mnema memory index in a terminal",
        )
    return asked.either(f"索引 {rows:,} 行 · 最新", f"index {rows:,} rows · up to date")


async def _undo(asked: CommandContext, _: str) -> str:
    if not is_allowed(asked, WRITE_ACTION):
        raise AccessDenied(format_text(asked.lang, "denied"))
    space = asked.conversation.place.space
    try:
        undone = await asked.desk.dreamer.undo(space)
    except MemoryFileUnreadable:
        return _unreadable_text(asked, "没有撤销", "Not taken back")
    if undone is None:
        return asked.either("没有可以撤销的整理。", "There is no night's work to take back.")
    if undone.whole:
        return asked.either(
            f"已撤销 {undone.day} 的整理，{MEMORY_PATH} 恢复到之前的样子。",
            f"The work of {undone.day} is taken back: {MEMORY_PATH} is as it was before.",
        )
    return asked.either(
        f"已撤销 {undone.day} 的整理：它写的去掉了，它去掉的放回来了；那之后的修改都保留。",
        f"The work of {undone.day} is taken back: its lines are gone, those it took out are back, "
        "and what was changed since stays.",
    )


def _unreadable_text(asked: CommandContext, zh: str, en: str) -> str:
    return asked.either(
        f"{zh}：{MEMORY_PATH} 不是 UTF-8 文本、太大，或不是普通文件，为免损坏没有改动它。",
        f"{en}: {MEMORY_PATH} is not UTF-8 text, too large or no plain file, so it was left as it is.",
    )


async def _remember(asked: CommandContext) -> str:
    text = asked.rest
    if not text:
        return asked.either(
            "用法：/remember 要记住的话，例如 /remember 我对花生过敏。",
            "Give what to remember, such as /remember I am allergic to peanuts.",
        )
    words = tidy_content(text)
    if not words:
        return asked.either("这里没有可以记住的话。", "There are no words in that to remember.")
    if len(words) > MAX_BULLET:
        return asked.either(
            f"没有记下：太长了（{len(words):,} 字），最多 {MAX_BULLET:,} 字。",
            f"Not remembered: that is too long ({len(words):,} characters; {MAX_BULLET:,} is the most).",
        )
    candidate = MemoryCandidate(
        category="user_preference" if _PREFERENCE_WORDS.search(text) else "fact",
        text=text,
        importance=IMPORTANT_FROM,
        origin="person",
        source=MemorySource(
            conversation=asked.conversation.id,
            message_id=asked.row.id,
            channel=asked.row.channel,
            quote=load_body(asked.row.body).text,
            said=asked.row.received,
        ),
    )
    try:
        done = await asked.desk.memories(asked.conversation.place.space).upsert(candidate)
    except MemoryFileUnreadable:
        return _unreadable_text(asked, "没有记下", "Not remembered")
    told = {"created": ("记住了", "Remembered"), "updated": ("已并入原有的一条", "Merged with what I knew")}
    head = asked.either(*told.get(done.action, ("已经记得", "I knew that already")))
    under = asked.either(*CATEGORY_NAMES.get(done.row.category, ("其他", "other")))
    shown = "\n" + fence_text(done.row.text) if "```" in done.row.text else done.row.text
    return asked.either(f"{head}（{under}）：{shown}", f"{head} ({under}): {shown}")


MEMORY_COMMANDS = (
    Command(
        name="memory",
        usage="[search|show|why|undo]",
        usage_zh="[搜索|查看|为什么|撤销]",
        action="memory.read",
        zh="长期记忆；搜索、查看、出处、撤销整理",
        en="long-term memory; search, show, why, undo",
        run=_memory,
    ),
    Command(
        name="remember",
        usage="TEXT",
        usage_zh="内容",
        action=WRITE_ACTION,
        zh="记住一句话",
        en="remember this",
        run=_remember,
    ),
)
