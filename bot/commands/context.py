"""The commands /context (with all, clear, fold, undo and diff) and /new."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, tzinfo
from typing import Any

from bot.agent.context.actions import clear_context, plan_older_half, undo_newest
from bot.agent.context.report import (
    format_context_report,
    format_cut,
    format_fold_reason,
    format_operator_report,
    format_saving,
    load_cut_facts,
)
from bot.agent.folding import plan_oldest_turns
from bot.commands.base import Command, CommandContext, require
from bot.gateway.notifications import COMMAND_FOLD_REASON, format_finished_fold
from channels.phrases import NO_PHRASE, Phrase
from memory.context.summary.importance import FoldItem, compare_with_summary, most_important
from memory.context.summary.statistics import RangeStatistics, count_statistics
from memory.store.rows import FoldRow
from memory.text.quoting import shorten

# tools and files that /context diff names, and characters of each name
MAX_NAMES, MAX_FILE_CHARS = 6, 60
MAX_ITEMS = 20  # of a fold that /context diff lists, to fit a phone; the rest is counted
_RECALL_CALL = ('recall(handle="', '")')
ITEM_KIND_TEXTS: dict[str, Phrase] = {
    "user": Phrase("you", context="who said it"),
    "fact": Phrase("fact"),
    "tool": Phrase("tool"),
    "error": Phrase("error"),
    "decision": Phrase("decision"),
}
FOLD_METHOD_TEXTS: dict[str, Phrase] = {
    "model": Phrase("summary by the model"),
    "extract": Phrase("excerpts, word for word"),
}


async def format_fold_diff(context: CommandContext) -> str:
    """Compare the newest fold of this epoch with its summary, item by item."""
    store, id = context.store, context.conversation.id
    session = await store.sessions.load(id, turns=1)
    folds = [row for row in await store.folds.folds(id, session.epoch) if not row.log_only]
    if not folds:
        return context.text(Phrase("Nothing is folded in this conversation yet."))
    row = folds[-1]
    messages = await store.sessions.messages(id, row.from_seq, row.to_seq)
    items = await asyncio.to_thread(
        compare_with_summary, messages, row.summary, context.services.now().tzinfo or UTC
    )
    statistics = _diff_statistics(count_statistics(messages), context)
    return "\n\n".join(
        [
            _diff_head(row, context),
            _diff_reason(row, context),
            statistics,
            *_item_lines(items, context),
        ]
    )


def _item_lines(items: Sequence[FoldItem], context: CommandContext) -> list[str]:
    """List the items in the summary and those only in the archive; each list has at least half the
    lines.
    """
    kept, left = (
        [item for item in items if item.kept is in_summary] for in_summary in (True, False)
    )
    limit = max(MAX_ITEMS // 2, MAX_ITEMS - len(left))
    return [
        _format_items(context.text(Phrase("In the summary")), kept, limit, context),
        _format_items(
            context.text(Phrase("In the archive only")),
            left,
            MAX_ITEMS - min(len(kept), limit),
            context,
        ),
    ]


def _diff_head(row: FoldRow, context: CommandContext) -> str:
    turns = _format_turns(row, context)
    at = row.at.astimezone(context.services.now().tzinfo)
    return "\n".join(
        [
            context.text(Phrase("**The newest fold** · {turns}", turns=turns)),
            f"{row.tokens_before:,} → {row.tokens_after:,} tokens · "
            f"{format_saving(row.tokens_before, row.tokens_after)}",
            f"{at:%m-%d %H:%M} · {row.policy} · {context.text(FOLD_METHOD_TEXTS[row.method])}",
            row.log_ref,
        ]
    )


def _format_turns(row: FoldRow, context: CommandContext) -> str:
    if row.from_turn == row.to_turn:
        return context.text(Phrase("turn {from_turn}", from_turn=row.from_turn))
    return context.text(
        Phrase("turns {from_turn}–{to_turn}", from_turn=row.from_turn, to_turn=row.to_turn)
    )


def _diff_reason(row: FoldRow, context: CommandContext) -> str:
    reason, why = format_fold_reason(row.reason, context.lang), load_cut_facts(row.why)
    words = format_cut(why, row.to_turn, context.lang) if why else ""
    return context.text(Phrase("Why: {reason}. {words}", reason=reason, words=words)).rstrip()


def _diff_statistics(found: RangeStatistics, context: CommandContext) -> str:
    """What the folded turns hold, in a line for each kind; kinds without anything are left out."""
    files = [f"`{shorten(path.replace('`', ''), MAX_FILE_CHARS)}`" for path in found.files]
    tools = [f"{shorten(name, MAX_FILE_CHARS)} ×{count}" for name, count in found.tools]
    failed = [f"{shorten(name, MAX_FILE_CHARS)} ×{count}" for name, count in found.failed]
    patterns = [
        f"{shorten(first, MAX_FILE_CHARS)} → {shorten(second, MAX_FILE_CHARS)} ×{count}"
        for (first, second), count in found.patterns
    ]
    lines = [
        context.text(
            Phrase("messages: {user} from people, {bot} from me", user=found.user, bot=found.bot),
        ),
        context.text(Phrase("tools: ")) + _format_some(tools, context) if tools else "",
        context.text(Phrase("often used in sequence: ")) + _format_some(patterns, context)
        if patterns
        else "",
        context.text(Phrase("files: ")) + _format_some(files, context) if files else "",
        context.text(Phrase("pictures: {pictures}", pictures=found.pictures))
        if found.pictures
        else "",
        context.text(Phrase("documents: {documents}", documents=found.documents))
        if found.documents
        else "",
        context.text(Phrase("failed calls: ")) + _format_some(failed, context) if failed else "",
    ]
    return "\n".join(
        [context.text(Phrase("**What it covers**")), *(f"- {line}" for line in lines if line)]
    )


def _format_some(names: Sequence[str], context: CommandContext) -> str:
    shown = context.text(Phrase(", ")).join(names[:MAX_NAMES])
    rest = len(names) - MAX_NAMES
    return f"{shown}{context.text(Phrase(' and {rest} more', rest=rest))}" if rest > 0 else shown


def _format_items(title: str, items: Sequence[FoldItem], most: int, context: CommandContext) -> str:
    lines = [_format_item(item, context) for item in most_important(items, most)]
    if rest := len(items) - len(lines):
        lines.append(
            context.text(
                Phrase("- … and {rest} more; ask me to recall a turn to see them", rest=rest),
            )
        )
    return "\n".join([f"**{title}** {len(items)}", *lines])


def _format_item(item: FoldItem, context: CommandContext) -> str:
    kind = context.text(ITEM_KIND_TEXTS[item.kind])
    turn = context.text(Phrase("turn {turn}", turn=item.turn))
    where = (
        ""
        if item.kept
        else f" `{item.handle.removeprefix(_RECALL_CALL[0]).removesuffix(_RECALL_CALL[1])}`"
    )
    return f"- {turn} {item.time} · {kind} · {item.text}{where}"


CHANGE_ACTION = "context.change"
# /context fold waits this long; messages written in the meantime need an answer
FOLD_WAIT_SECONDS = 20.0


async def _context(context: CommandContext) -> str:
    word = context.arguments.lower()
    if word in READ_SUBCOMMANDS:
        return await READ_SUBCOMMANDS[word](context)
    changes = {"clear": _clear, "fold": _fold, "undo": _undo}
    if word not in changes:
        return context.text(
            Phrase(
                "/context takes all, clear, fold, undo or diff, not “{arguments}”.",
                arguments=context.arguments,
            ),
        )
    require(context, CHANGE_ACTION)
    return await changes[word](context)


async def _report(context: CommandContext) -> str:
    report = await _format_facts(context, format_context_report)
    more = context.text(Phrase("every number: /context all"))
    return f"{report}\n\n{more}"


async def _report_all(context: CommandContext) -> str:
    return await _format_facts(context, format_operator_report)


async def _format_facts(
    context: CommandContext, format_report: Callable[[dict[str, Any], str, tzinfo | None], str]
) -> str:
    facts = await context.services.report.facts(context.conversation.id)
    return format_report(facts, context.lang, context.services.now().tzinfo)


READ_SUBCOMMANDS = {"": _report, "all": _report_all, "diff": format_fold_diff}


async def _clear(context: CommandContext) -> str:
    await clear_context(
        context.store, context.services.folding, context.conversation.id, context.who
    )
    return context.text(
        Phrase(
            "The context is clear: the model no longer sees what came before. The record stays; "
            "/context undo brings it back."
        ),
    )


async def _new(context: CommandContext) -> str:
    folding, id = context.services.folding, context.conversation.id
    session = await context.store.sessions.load(id)
    count = len(session.turns)
    log_fold = plan_oldest_turns(session, "/new", _policy(context)) if count else None
    zone = context.services.now().tzinfo or UTC
    await context.store.sessions.clear(id, log_fold, reason="new", by=context.who, zone=zone)
    await folding.detach(id)
    if not count:
        return context.text(Phrase("A new conversation begins."))
    await folding.write_logs(id)
    return context.text(
        Phrase(
            "A new conversation begins; what came before (1 turn) is being written to the daily "
            "log.",
            "A new conversation begins; what came before ({count} turns) is being written to the "
            "daily log.",
            count=count,
        ),
    )


async def _fold(context: CommandContext) -> str:
    services, id = context.services, context.conversation.id
    session = await context.store.sessions.load(id)
    plan = plan_older_half(
        session, COMMAND_FOLD_REASON, _policy(context), await services.fitter.counter()
    )
    if plan is None:
        return context.text(Phrase("There is too little here to fold yet."))
    row = await services.folding.run(plan, FOLD_WAIT_SECONDS)
    if row is not None and row.state == "folded":
        return context.text(format_finished_fold(row))
    if services.folding.is_folding(id):
        return context.text(
            Phrase("Still folding; just carry on. /context shows the result once it is done."),
        )
    return context.text(Phrase("Nothing was folded: the context changed meanwhile."))


async def _undo(context: CommandContext) -> str:
    services = context.services
    row = await undo_newest(
        context.store, services.folding, services.workspace, context.conversation.id, context.who
    )
    if row == "clear":
        return context.text(Phrase("The clear is undone: what came before is back."))
    if row is None:
        return context.text(Phrase("There is no fold or clear to undo."))
    undone = Phrase(
        "The fold is undone: {turns} is back in the context.",
        "The fold is undone: {turns} are back in the context.",
        turns=_format_turns(row, context),
        count=row.to_turn - row.from_turn + 1,
    )
    return context.text(undone)


def _policy(context: CommandContext) -> str:
    return context.conversation.policy or context.config.context_policy


CONTEXT_COMMANDS = (
    Command(
        name="context",
        usage=Phrase("[all|clear|fold|undo|diff]"),
        action="context.read",
        about=Phrase("see what the model reads; clear, fold or undo"),
        run=_context,
    ),
    Command(
        name="new",
        usage=NO_PHRASE,
        action=CHANGE_ACTION,
        about=Phrase("write this conversation to the log and start a new one"),
        run=_new,
    ),
)
