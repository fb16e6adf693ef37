"""Commands on what the model sees: /context with clear, fold and undo, and /new."""

from bot.access import authorize
from bot.agent.fit import whole_range
from bot.commands.base import Asked, Command
from bot.errors import Denied
from bot.texts import say
from memory.store.records import FoldRow


async def _context(asked: Asked) -> str:
    word = asked.rest.lower()
    if not word:
        return asked.desk.report.text(await asked.desk.report.facts(asked.conversation.id), asked.lang)
    acts = {"clear": _clear, "fold": _fold, "undo": _undo}
    if word not in acts:
        return asked.either(
            f"/context 后面可以是 clear、fold、undo，不认识“{asked.rest}”。",
            f"/context takes clear, fold or undo, not “{asked.rest}”.",
        )
    _may_change(asked)
    return await acts[word](asked)


def _may_change(asked: Asked) -> None:
    action = "context.change.group" if asked.where.kind == "group" else "context.change"
    if not authorize(asked.actor, action, "", asked.where).allowed:
        raise Denied(say(asked.lang, "denied"))


async def _clear(asked: Asked) -> str:
    await asked.desk.store.sessions.clear(asked.conversation.id)
    return asked.either(
        "已清空上下文，之前的内容不再给模型看。记录仍在；/context undo 可以撤销。",
        "The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.",
    )


async def _new(asked: Asked) -> str:
    _may_change(asked)
    session = await asked.desk.store.sessions.load(asked.conversation.id)
    if not session.turns:
        await asked.desk.store.sessions.clear(asked.conversation.id)
        return asked.either("新的会话开始了。", "A new conversation begins.")
    plan = whole_range(session, "/new", _policy(asked))
    await asked.desk.store.sessions.clear(asked.conversation.id, plan)
    opened = [row for row in await asked.desk.store.folds.open_folds() if row.conversation == asked.conversation.id]
    asked.desk.folding.resume(opened)
    return asked.either(
        f"新的会话开始了；之前的 {len(session.turns)} 轮正在写入今天的日志。",
        f"A new conversation begins; the {len(session.turns)} turns before it are being written to today's log.",
    )


async def _fold(asked: Asked) -> str:
    session = await asked.desk.store.sessions.load(asked.conversation.id)
    if len(session.turns) < 2:
        return asked.either("对话还太短，没有可以整理的。", "There is too little here to fold yet.")
    count = len(session.turns) // 2
    asked.watched.tell("fold", say(asked.lang, "fold_started", turns=count), state="planned")
    plan = whole_range(session, "/context fold", _policy(asked), count)
    row = await asked.desk.folding.run(plan)
    if row is None or row.state != "folded":
        return asked.either("这次没有整理成：上下文在其间变了。", "Nothing was folded: the context changed meanwhile.")
    return folded_text(row, asked.lang)


async def _undo(asked: Asked) -> str:
    if await asked.desk.store.sessions.undo_clear(asked.conversation.id):
        return asked.either("已撤销清空，之前的内容又回来了。", "The clear is undone: what came before is back.")
    row = await asked.desk.store.folds.undo(asked.conversation.id)
    if row is not None:
        return asked.either(
            f"已撤销整理，第 {row.from_turn}–{row.to_turn} 轮又回到上下文。",
            f"The fold is undone: turns {row.from_turn}–{row.to_turn} are back in the context.",
        )
    return asked.either("没有可以撤销的整理或清空。", "There is no fold or clear to undo.")


def _policy(asked: Asked) -> str:
    return asked.conversation.policy or asked.config.context_policy


def folded_text(row: FoldRow, lang: str) -> str:
    """One line about a finished fold."""
    percent = round(100 * row.tokens_after / row.tokens_before) if row.tokens_before else 0
    return say(
        lang,
        "fold_done",
        a=row.from_turn,
        b=row.to_turn,
        file=row.log_ref,
        before=f"{row.tokens_before:,}",
        after=f"{row.tokens_after:,}",
        percent=percent,
    )


CONTEXT_COMMANDS = (
    Command(
        name="context",
        usage="[clear|fold|undo]",
        action="context.read",
        zh="上下文用量；清空、整理、撤销",
        en="what the model sees; clear, fold, undo",
        run=_context,
    ),
    Command(
        name="new", usage="", action="context.read", zh="写入日志后重新开始", en="log it and start afresh", run=_new
    ),
)
