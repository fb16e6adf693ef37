"""The commands /memory (its summary and undo) and /remember."""

import asyncio
from collections import Counter as Tally

from bot.commands.base import Command, CommandContext, require
from bot.commands.memory.search import (
    AS_OF,
    CATEGORY_NAMES,
    explain_memory,
    search_as_of,
    search_memory,
    show_file,
    split_subcommand,
)
from bot.memory.files import SpaceMemoryFile, list_memory_files
from bot.messages import load_body
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
            (
                "/记忆 后面可以是 搜索、截至、查看、为什么、撤销"
                f"（search、as of、show、why、undo），不认识“{word}”。"
            ),
            f"/memory takes search, as of, show, why or undo, not “{word}”.",
        )
    return await run(context, rest)


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
        usage="[search|as of|show|why|undo]",
        usage_zh="[搜索|截至|查看|为什么|撤销]",
        action="memory.read",
        zh="长期记忆；搜索、某日所知、查看、出处、撤销整理",
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
