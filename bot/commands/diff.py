"""/context diff: what the newest fold kept in the summary and what it left to the archive, item by item."""

import asyncio
from collections.abc import Sequence
from datetime import UTC

from bot.agent.report_text import saved
from bot.agent.whys import cut_facts, cut_words, reason_words
from bot.commands.base import Asked
from memory.context.importance import Item, kept_and_left, most_important
from memory.store.records import FoldRow

MOST_ITEMS = 20
"""More than that nobody reads on a phone; the rest is counted."""
_RECALL = ('recall(handle="', '")')
KINDS: dict[str, tuple[str, str]] = {
    "user": ("你说", "you"),
    "fact": ("事实", "fact"),
    "tool": ("工具", "tool"),
    "error": ("报错", "error"),
    "decision": ("决定", "decision"),
}
METHODS: dict[str, tuple[str, str]] = {
    "model": ("由模型总结", "summary by the model"),
    "extract": ("原文摘录", "extract, word for word"),
}


async def diff(asked: Asked) -> str:
    """The newest fold of this epoch, as lines for a phone."""
    store, id = asked.desk.store, asked.conversation.id
    session = await store.sessions.load(id, turns=1)
    folds = [row for row in await store.folds.folds(id, session.epoch) if not row.log_only]
    if not folds:
        return asked.either("这个会话还没有整理过。", "Nothing is folded in this conversation yet.")
    row = folds[-1]
    messages = await store.sessions.messages(id, row.from_seq, row.to_seq)
    items = await asyncio.to_thread(kept_and_left, messages, row.summary, asked.desk.now().tzinfo or UTC)
    return "\n\n".join([_head(row, asked), _why(row, asked), *_both(items, asked)])


def _both(items: Sequence[Item], asked: Asked) -> list[str]:
    """What was kept and what was left; neither takes the other's place while there is room for both."""
    kept, left = ([item for item in items if item.kept is yes] for yes in (True, False))
    room = max(MOST_ITEMS // 2, MOST_ITEMS - len(left))
    return [
        _listed(asked.either("留在摘要里", "In the summary"), kept, room, asked),
        _listed(asked.either("只在存档里", "In the archive only"), left, MOST_ITEMS - min(len(kept), room), asked),
    ]


def _head(row: FoldRow, asked: Asked) -> str:
    which = f"{row.from_turn}" if row.from_turn == row.to_turn else f"{row.from_turn}–{row.to_turn}"
    turns = asked.either(f"第 {which} 轮", f"turn{'' if row.from_turn == row.to_turn else 's'} {which}")
    at = row.at.astimezone(asked.desk.now().tzinfo)
    side = 0 if asked.lang == "zh" else 1
    return "\n".join(
        [
            asked.either(f"**最近一次整理** · {turns}", f"**The newest fold** · {turns}"),
            f"{row.tokens_before:,} → {row.tokens_after:,} tokens · {saved(row.tokens_before, row.tokens_after)}",
            f"{at:%m-%d %H:%M} · {row.policy} · {METHODS[row.method][side]}",
            row.log_ref,
        ]
    )


def _why(row: FoldRow, asked: Asked) -> str:
    reason, why = reason_words(row.reason, asked.lang), cut_facts(row.why)
    words = cut_words(why, row.to_turn, asked.lang) if why else ""
    return asked.either(f"为什么：{reason}。{words}", f"Why: {reason}. {words}").rstrip()


def _listed(title: str, items: Sequence[Item], most: int, asked: Asked) -> str:
    lines = [_line(item, asked) for item in most_important(items, most)]
    if rest := len(items) - len(lines):
        lines.append(
            asked.either(
                f"- ……还有 {rest} 项；让我回忆某一轮就能看到",
                f"- … and {rest} more; ask me to recall a turn to see them",
            )
        )
    return "\n".join([f"**{title}** {len(items)}", *lines])


def _line(item: Item, asked: Asked) -> str:
    kind = KINDS[item.kind][0 if asked.lang == "zh" else 1]
    turn = asked.either(f"第 {item.turn} 轮", f"turn {item.turn}")
    where = "" if item.kept else f" `{item.handle.removeprefix(_RECALL[0]).removesuffix(_RECALL[1])}`"
    return f"- {turn} {item.time} · {kind} · {item.text}{where}"
