"""Commands on what the model sees: /context with clear, fold, undo and diff, and /new."""

import asyncio
from contextlib import suppress

from bot.agent.fit import whole_range
from bot.commands.base import Asked, Command, allowed
from bot.commands.diff import diff
from bot.errors import BudgetTooSmall, Denied
from bot.texts import say, too_small
from memory import daily_log
from memory.store.records import FoldRow

CHANGE = "context.change"
ASKED_FOR = "/context fold"
FOLD_PATIENCE = 20.0
"""Seconds that /context fold waits for its summary; what is written meanwhile is to be answered."""


async def _context(asked: Asked) -> str:
    word = asked.rest.lower()
    if word in READING:
        return await READING[word](asked)
    acts = {"clear": _clear, "fold": _fold, "undo": _undo}
    if word not in acts:
        return asked.either(
            f"/上下文 后面可以是 清空、整理、撤销、对比（clear、fold、undo、diff），不认识“{asked.rest}”。",
            f"/context takes clear, fold, undo or diff, not “{asked.rest}”.",
        )
    if not allowed(asked, CHANGE):
        raise Denied(say(asked.lang, "denied"))
    return await acts[word](asked)


async def _report(asked: Asked) -> str:
    try:
        facts = await asked.desk.report.facts(asked.conversation.id)
    except BudgetTooSmall as err:
        return too_small(asked.lang, err.least, err.soul)
    return asked.desk.report.text(facts, asked.lang, asked.desk.now().tzinfo)


READING = {"": _report, "diff": diff}


async def _clear(asked: Asked) -> str:
    await asked.desk.store.sessions.clear(asked.conversation.id, by=asked.who)
    await asked.desk.folding.let_go(asked.conversation.id)
    return asked.either(
        "已清空上下文，之前的内容不再给模型看。记录仍在；/context undo 可以撤销。",
        "The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.",
    )


async def _new(asked: Asked) -> str:
    desk, id = asked.desk, asked.conversation.id
    session = await desk.store.sessions.load(id)
    if not session.turns:
        await desk.store.sessions.clear(id, by=asked.who)
        await desk.folding.let_go(id)
        return asked.either("新的会话开始了。", "A new conversation begins.")
    await desk.store.sessions.clear(id, whole_range(session, "/new", _policy(asked)), by=asked.who)
    await desk.folding.let_go(id)
    await desk.folding.write_logs(id)
    turns = len(session.turns)
    return asked.either(
        f"新的会话开始了；之前的 {turns} 轮正在写入今天的日志。",
        f"A new conversation begins; what came before ({_turns(turns)}) is being written to today's log.",
    )


async def _fold(asked: Asked) -> str:
    desk, id = asked.desk, asked.conversation.id
    session = await desk.store.sessions.load(id)
    if len(session.turns) < 2:
        return asked.either("对话还太短，没有可以整理的。", "There is too little here to fold yet.")
    count = len(session.turns) // 2
    counter = await desk.fitter.counter()
    plan = whole_range(session, ASKED_FOR, _policy(asked), count, counter)
    row = await desk.folding.run(plan, FOLD_PATIENCE)
    if row is not None and row.state == "folded":
        return folded_text(row, asked.lang)
    if desk.folding.busy(id):
        return asked.either(
            "还在整理，可以先继续聊；完成后 /context 里能看到。",
            "Still folding; just go on. /context shows it once it is done.",
        )
    return asked.either("这次没有整理成：上下文在其间变了。", "Nothing was folded: the context changed meanwhile.")


async def _undo(asked: Asked) -> str:
    desk, id = asked.desk, asked.conversation.id
    if await desk.store.sessions.undo_clear(id, by=asked.who):
        await desk.folding.let_go(id)
        return asked.either("已撤销清空，之前的内容又回来了。", "The clear is undone: what came before is back.")
    row = await desk.store.folds.undo(id)
    if row is None:
        return asked.either("没有可以撤销的整理或清空。", "There is no fold or clear to undo.")
    await desk.folding.let_go(id)
    with suppress(OSError):  # the mark is for readers of the file; the record has it already
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


def _mark_undone(asked: Asked, row: FoldRow) -> None:
    path = row.log_ref.removeprefix(f"spaces/{row.space}/") if row.space else row.log_ref
    daily_log.mark(asked.desk.workspace.space(row.space), path, row.id, "undone")


def _policy(asked: Asked) -> str:
    return asked.conversation.policy or asked.config.context_policy


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


def folded_text(row: FoldRow, lang: str) -> str:
    """One line about a finished fold."""
    one = row.from_turn == row.to_turn
    return say(
        lang,
        "fold_done_one" if one else "fold_done",
        turns=row.from_turn if one else f"{row.from_turn}–{row.to_turn}",
        file=row.log_ref,
        before=f"{row.tokens_before:,}",
        after=f"{row.tokens_after:,}",
        percent=round(100 * row.tokens_after / row.tokens_before) if row.tokens_before else 0,
    )


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
    Command(name="new", usage="", action=CHANGE, zh="写入日志后重新开始", en="log it and start afresh", run=_new),
)
