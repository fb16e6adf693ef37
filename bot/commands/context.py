"""Commands on what the model sees: /context with clear, fold, undo and diff, and /new."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC

from bot.agent.context_fitter import fold_range_of_first
from bot.agent.context_report import format_cut, format_fold_reason, format_saving, load_cut_facts
from bot.commands.base import Command, CommandContext, is_allowed
from bot.errors import AccessDenied, BudgetTooSmall
from bot.gateway.notifications import COMMAND_FOLD_REASON, format_finished_fold
from bot.texts import format_budget_too_small, format_text
from memory.context.summary.importance import FoldItem, compare_with_summary, most_important
from memory.store.rows import FoldRow
from memory.workspace import daily_log

# /context diff: what the newest fold kept in the summary and what it left to the archive, item by item.

MAX_ITEMS = 20  # more than that nobody reads on a phone; the rest is counted
_RECALL_CALL = ('recall(handle="', '")')
ITEM_KIND_TEXTS: dict[str, tuple[str, str]] = {
    "user": ("你说", "you"),
    "fact": ("事实", "fact"),
    "tool": ("工具", "tool"),
    "error": ("报错", "error"),
    "decision": ("决定", "decision"),
}
FOLD_METHOD_TEXTS: dict[str, tuple[str, str]] = {
    "model": ("由模型总结", "summary by the model"),
    "extract": ("原文摘录", "extract, word for word"),
}


async def format_fold_diff(asked: CommandContext) -> str:
    """The newest fold of this epoch, as lines for a phone."""
    store, id = asked.desk.store, asked.conversation.id
    session = await store.sessions.load(id, turns=1)
    folds = [row for row in await store.folds.folds(id, session.epoch) if not row.log_only]
    if not folds:
        return asked.either("这个会话还没有整理过。", "Nothing is folded in this conversation yet.")
    row = folds[-1]
    messages = await store.sessions.messages(id, row.from_seq, row.to_seq)
    items = await asyncio.to_thread(compare_with_summary, messages, row.summary, asked.desk.now().tzinfo or UTC)
    return "\n\n".join([_diff_head(row, asked), _diff_reason(row, asked), *_item_lines(items, asked)])


def _item_lines(items: Sequence[FoldItem], asked: CommandContext) -> list[str]:
    """What was kept and what was left; neither takes the other's place while there is room for both."""
    kept, left = ([item for item in items if item.kept is yes] for yes in (True, False))
    room = max(MAX_ITEMS // 2, MAX_ITEMS - len(left))
    return [
        _format_items(asked.either("留在摘要里", "In the summary"), kept, room, asked),
        _format_items(asked.either("只在存档里", "In the archive only"), left, MAX_ITEMS - min(len(kept), room), asked),
    ]


def _diff_head(row: FoldRow, asked: CommandContext) -> str:
    which = f"{row.from_turn}" if row.from_turn == row.to_turn else f"{row.from_turn}–{row.to_turn}"
    turns = asked.either(f"第 {which} 轮", f"turn{'' if row.from_turn == row.to_turn else 's'} {which}")
    at = row.at.astimezone(asked.desk.now().tzinfo)
    side = 0 if asked.lang == "zh" else 1
    return "\n".join(
        [
            asked.either(f"**最近一次整理** · {turns}", f"**The newest fold** · {turns}"),
            f"{row.tokens_before:,} → {row.tokens_after:,} tokens · "
            f"{format_saving(row.tokens_before, row.tokens_after)}",
            f"{at:%m-%d %H:%M} · {row.policy} · {FOLD_METHOD_TEXTS[row.method][side]}",
            row.log_ref,
        ]
    )


def _diff_reason(row: FoldRow, asked: CommandContext) -> str:
    reason, why = format_fold_reason(row.reason, asked.lang), load_cut_facts(row.why)
    words = format_cut(why, row.to_turn, asked.lang) if why else ""
    return asked.either(f"为什么：{reason}。{words}", f"Why: {reason}. {words}").rstrip()


def _format_items(title: str, items: Sequence[FoldItem], most: int, asked: CommandContext) -> str:
    lines = [_format_item(item, asked) for item in most_important(items, most)]
    if rest := len(items) - len(lines):
        lines.append(
            asked.either(
                f"- ……还有 {rest} 项；让我回忆某一轮就能看到",
                f"- … and {rest} more; ask me to recall a turn to see them",
            )
        )
    return "\n".join([f"**{title}** {len(items)}", *lines])


def _format_item(item: FoldItem, asked: CommandContext) -> str:
    kind = ITEM_KIND_TEXTS[item.kind][0 if asked.lang == "zh" else 1]
    turn = asked.either(f"第 {item.turn} 轮", f"turn {item.turn}")
    where = "" if item.kept else f" `{item.handle.removeprefix(_RECALL_CALL[0]).removesuffix(_RECALL_CALL[1])}`"
    return f"- {turn} {item.time} · {kind} · {item.text}{where}"


CHANGE_ACTION = "context.change"
# Seconds that /context fold waits for its summary; what is written meanwhile is to be answered.
FOLD_WAIT_SECONDS = 20.0


async def _context(asked: CommandContext) -> str:
    word = asked.rest.lower()
    if word in READ_SUBCOMMANDS:
        return await READ_SUBCOMMANDS[word](asked)
    acts = {"clear": _clear, "fold": _fold, "undo": _undo}
    if word not in acts:
        return asked.either(
            f"/上下文 后面可以是 清空、整理、撤销、对比（clear、fold、undo、diff），不认识“{asked.rest}”。",
            f"/context takes clear, fold, undo or diff, not “{asked.rest}”.",
        )
    if not is_allowed(asked, CHANGE_ACTION):
        raise AccessDenied(format_text(asked.lang, "denied"))
    return await acts[word](asked)


async def _report(asked: CommandContext) -> str:
    try:
        facts = await asked.desk.report.facts(asked.conversation.id)
    except BudgetTooSmall as err:
        return format_budget_too_small(asked.lang, err.least, err.soul)
    return asked.desk.report.text(facts, asked.lang, asked.desk.now().tzinfo)


READ_SUBCOMMANDS = {"": _report, "diff": format_fold_diff}


async def _clear(asked: CommandContext) -> str:
    await asked.desk.store.sessions.clear(asked.conversation.id, by=asked.who)
    await asked.desk.folding.let_go(asked.conversation.id)
    return asked.either(
        "已清空上下文，之前的内容不再给模型看。记录仍在；/context undo 可以撤销。",
        "The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.",
    )


async def _new(asked: CommandContext) -> str:
    desk, id = asked.desk, asked.conversation.id
    session = await desk.store.sessions.load(id)
    if not session.turns:
        await desk.store.sessions.clear(id, by=asked.who)
        await desk.folding.let_go(id)
        return asked.either("新的会话开始了。", "A new conversation begins.")
    await desk.store.sessions.clear(id, fold_range_of_first(session, "/new", _policy(asked)), by=asked.who)
    await desk.folding.let_go(id)
    await desk.folding.write_logs(id)
    turns = len(session.turns)
    return asked.either(
        f"新的会话开始了；之前的 {turns} 轮正在写入今天的日志。",
        f"A new conversation begins; what came before ({_format_turn_count(turns)}) is being written to today's log.",
    )


async def _fold(asked: CommandContext) -> str:
    desk, id = asked.desk, asked.conversation.id
    session = await desk.store.sessions.load(id)
    if len(session.turns) < 2:
        return asked.either("对话还太短，没有可以整理的。", "There is too little here to fold yet.")
    count = len(session.turns) // 2
    counter = await desk.fitter.counter()
    plan = fold_range_of_first(session, COMMAND_FOLD_REASON, _policy(asked), count, counter)
    row = await desk.folding.run(plan, FOLD_WAIT_SECONDS)
    if row is not None and row.state == "folded":
        return format_finished_fold(row, asked.lang)
    if desk.folding.busy(id):
        return asked.either(
            "还在整理，可以先继续聊；完成后 /context 里能看到。",
            "Still folding; just go on. /context shows it once it is done.",
        )
    return asked.either("这次没有整理成：上下文在其间变了。", "Nothing was folded: the context changed meanwhile.")


async def _undo(asked: CommandContext) -> str:
    desk, id = asked.desk, asked.conversation.id
    if await desk.store.sessions.undo_clear(id, by=asked.who):
        await desk.folding.let_go(id)
        return asked.either("已撤销清空，之前的内容又回来了。", "The clear is undone: what came before is back.")
    row = await desk.store.folds.undo(id)
    if row is None:
        return asked.either("没有可以撤销的整理或清空。", "There is no fold or clear to undo.")
    await desk.folding.let_go(id)
    with suppress(OSError):  # the mark is for readers of the file; the store has it already
        await asyncio.to_thread(_mark_undone, asked, row)
    if row.from_turn == row.to_turn:
        return asked.either(
            f"已撤销整理，第 {row.from_turn} 轮又回到上下文。",
            f"The fold is undone: turn {row.from_turn} is back in the context.",
        )
    return asked.either(
        f"已撤销整理，第 {row.from_turn}–{row.to_turn} 轮又回到上下文。",
        f"The fold is undone: turns {row.from_turn}–{row.to_turn} are back in the context.",
    )


def _mark_undone(asked: CommandContext, row: FoldRow) -> None:
    path = row.log_ref.removeprefix(f"spaces/{row.space}/") if row.space else row.log_ref
    daily_log.mark_section(asked.desk.workspace.space(row.space), path, row.id, "undone")


def _policy(asked: CommandContext) -> str:
    return asked.conversation.policy or asked.config.context_policy


def _format_turn_count(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


CONTEXT_COMMANDS = (
    Command(
        name="context",
        usage="[clear|fold|undo|diff]",
        usage_zh="[清空|整理|撤销|对比]",
        action="context.read",
        zh="上下文用量；清空、整理、撤销、对比",
        en="what the model sees; clear, fold, undo, diff",
        run=_context,
    ),
    Command(
        name="new", usage="", action=CHANGE_ACTION, zh="写入日志后重新开始", en="log it and start afresh", run=_new
    ),
)
