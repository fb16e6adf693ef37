"""Commands on long-term memory: /memory with search, show, why and undo, and /remember."""

import asyncio
import re
from collections import Counter as Tally

from bot.commands.base import Asked, Command, allowed
from bot.commands.memory_reading import CATEGORY_NAMES, fenced, search, show, why
from bot.errors import Denied
from bot.intake import load_said
from bot.memory_files import MemoryFile, memory_files
from bot.texts import say
from memory.longterm.bullets import LONGEST, tidy
from memory.longterm.editing import MOST_BYTES, PATH, Unreadable
from memory.longterm.memories import Candidate
from memory.longterm.reconciling import MOST_TAKEN, beyond
from memory.store.memory_records import MemorySource

WRITE = "memory.write"
IMPORTANT = 8
"""Importance of what a person asks to have remembered."""
MOST_FILES = 6
_PREFERS = re.compile(
    r"喜欢|偏好|讨厌|最爱|[更不]爱|爱[吃喝看听用玩]|习惯|受不了|过敏|以后[都请别]|^(?:请|别|不要|总是)"
    r"|\b(?:likes?|loves?|prefers?|hates?|dislikes?|favou?rites?|enjoys?|always|never|please|rather|don['’]t)\b",
    re.IGNORECASE,
)


async def _memory(asked: Asked) -> str:
    word, _, rest = asked.rest.partition(" ")
    acts = {"": _told, "search": search, "show": show, "why": why, "undo": _undo}
    act = acts.get(word.lower())
    if act is None:
        return asked.either(
            f"/记忆 后面可以是 搜索、查看、为什么、撤销（search、show、why、undo），不认识“{word}”。",
            f"/memory takes search, show, why or undo, not “{word}”.",
        )
    return await act(asked, rest.strip())


async def _told(asked: Asked, _: str) -> str:
    desk, space = asked.desk, asked.conversation.place.space
    files = await memory_files(desk.store, desk.workspace, space)
    rows = await desk.memories(space).list(limit=0)
    lines = [
        asked.either("**长期记忆**", "**Long-term memory**"),
        *_files(asked, files),
        *await _beyond(asked, files),
        _categories(asked, Tally(row.category for row in rows)),
        await _dreamt(asked, space),
        await _index(asked, space),
    ]
    if space in await desk.store.extractions.spaces():
        lines.append(asked.either("刚才的对话还在记录中", "the last talk is still being noted"))
    return "\n".join(lines)


def _files(asked: Asked, files: list[MemoryFile]) -> list[str]:
    if not files:
        return [asked.either("还没有任何记忆文件", "no memory files yet")]
    shown = [f"{one.path} · {_size(one.file.size)} · {_lines(asked, one.file.text)}" for one in files[:MOST_FILES]]
    if rest := files[MOST_FILES:]:
        size = _size(sum(one.file.size for one in rest))
        shown.append(asked.either(f"……还有 {len(rest)} 个文件 · {size}", f"… and {len(rest)} more · {size}"))
    return shown


async def _beyond(asked: Asked, files: list[MemoryFile]) -> list[str]:
    """What is said of a MEMORY.md that is too large to be kept line by line."""
    file = next((one.file for one in files if one.path == PATH), None)
    if file is None:
        return []
    if file.size > MOST_BYTES:
        return [
            asked.either(
                f"{PATH} 超过 {MOST_BYTES:,} 字节：新的内容不再记入，也不再逐行登记。请把旧内容移到别的文件。",
                f"{PATH} is larger than {MOST_BYTES:,} bytes: nothing is written into it and its lines are not "
                "followed. Move old lines to another file.",
            )
        ]
    left = await asyncio.to_thread(beyond, file.text)
    said = asked.either(
        f"{PATH} 超过 {MOST_TAKEN:,} 条：末尾的 {left:,} 条能搜到，但没有登记。请把旧内容移到别的文件。",
        f"{PATH} has more than {MOST_TAKEN:,} memories: the last {left:,} are found by a search but not followed as "
        "memories. Move old lines to another file.",
    )
    return [said] if left else []


def _lines(asked: Asked, text: str) -> str:
    count = len(text.splitlines())
    return asked.either(f"{count:,} 行", f"{count:,} line{'' if count == 1 else 's'}")


def _size(size: int) -> str:
    return f"{size} B" if size < 1_000 else f"{size / 1_000:,.1f} kB"


def _categories(asked: Asked, counts: Tally[str]) -> str:
    named = [f"{asked.either(*names)} {counts.pop(key)}" for key, names in CATEGORY_NAMES.items() if key in counts]
    if other := counts.total():
        named.append(f"{asked.either('其他', 'other')} {other}")
    return " · ".join(named) or asked.either("还没有记住什么", "nothing remembered yet")


async def _dreamt(asked: Asked, space: str) -> str:
    last = await asked.desk.store.dreams.last(space)
    if last is None:
        return asked.either("还没有整理过", "not put in order yet")
    states = {"done": ("完成", "done"), "undone": ("已撤销", "taken back")}
    state = asked.either(*states.get(last.state, ("进行中", "under way")))
    where = f" · {last.diary}" if last.diary else ""
    return asked.either(f"上次整理 {last.day} · {state}{where}", f"last put in order {last.day} · {state}{where}")


async def _index(asked: Asked, space: str) -> str:
    recall = asked.desk.recall
    rows, fault = await recall.refresh(space), await recall.check(space)
    if fault:
        return asked.either(
            f"索引 {rows:,} 行 · 有问题：{fault}；在终端运行 mnema memory index",
            f"index {rows:,} rows · faulty: {fault}; run mnema memory index in a terminal",
        )
    return asked.either(f"索引 {rows:,} 行 · 最新", f"index {rows:,} rows · up to date")


async def _undo(asked: Asked, _: str) -> str:
    if not allowed(asked, WRITE):
        raise Denied(say(asked.lang, "denied"))
    space = asked.conversation.place.space
    try:
        undone = await asked.desk.dreamer.undo(space)
    except Unreadable:
        return _unreadable(asked, "没有撤销", "Not taken back")
    if undone is None:
        return asked.either("没有可以撤销的整理。", "There is no night's work to take back.")
    if undone.whole:
        return asked.either(
            f"已撤销 {undone.day} 的整理，{PATH} 恢复到之前的样子。",
            f"The work of {undone.day} is taken back: {PATH} is as it was before.",
        )
    return asked.either(
        f"已撤销 {undone.day} 的整理：它写的去掉了，它去掉的放回来了；那之后的修改都保留。",
        f"The work of {undone.day} is taken back: its lines are gone, those it took out are back, "
        "and what was changed since stays.",
    )


def _unreadable(asked: Asked, zh: str, en: str) -> str:
    return asked.either(
        f"{zh}：{PATH} 不是 UTF-8 文本、太大，或不是普通文件，为免损坏没有改动它。",
        f"{en}: {PATH} is not UTF-8 text, too large or no plain file, so it was left as it is.",
    )


async def _remember(asked: Asked) -> str:
    text = asked.rest
    if not text:
        return asked.either(
            "用法：/remember 要记住的话，例如 /remember 我对花生过敏。",
            "Give what to remember, such as /remember I am allergic to peanuts.",
        )
    words = tidy(text)
    if not words:
        return asked.either("这里没有可以记住的话。", "There are no words in that to remember.")
    if len(words) > LONGEST:
        return asked.either(
            f"没有记下：太长了（{len(words):,} 字），最多 {LONGEST:,} 字。",
            f"Not remembered: that is too long ({len(words):,} characters; {LONGEST:,} is the most).",
        )
    candidate = Candidate(
        category="user_preference" if _PREFERS.search(text) else "fact",
        text=text,
        importance=IMPORTANT,
        origin="person",
        source=MemorySource(
            conversation=asked.conversation.id,
            message_id=asked.row.id,
            channel=asked.row.channel,
            quote=load_said(asked.row.body).text,
            said=asked.row.received,
        ),
    )
    try:
        done = await asked.desk.memories(asked.conversation.place.space).upsert(candidate)
    except Unreadable:
        return _unreadable(asked, "没有记下", "Not remembered")
    told = {"created": ("记住了", "Remembered"), "updated": ("已并入原有的一条", "Merged with what I knew")}
    head = asked.either(*told.get(done.action, ("已经记得", "I knew that already")))
    under = asked.either(*CATEGORY_NAMES.get(done.row.category, ("其他", "other")))
    shown = "\n" + fenced(done.row.text) if "```" in done.row.text else done.row.text
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
        name="remember", usage="TEXT", usage_zh="内容", action=WRITE, zh="记住一句话", en="remember this", run=_remember
    ),
)
