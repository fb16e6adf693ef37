"""What is done to a conversation's context, by a person or at night: fold, undo, clear, end."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Literal

import structlog

from bot.agent.folding import FoldManager, plan_oldest_turns
from bot.config.schema import Config
from memory.context.tokens import TokenCounter
from memory.conversation import Session
from memory.store.rows import FoldPlan, FoldRow
from memory.store.store import Store
from memory.workspace import daily_log
from memory.workspace.files import Workspace

log = structlog.get_logger(__name__)
MIN_TURNS = 2  # that a view must have to be folded


def plan_older_half(
    session: Session, reason: str, policy: str, counter: TokenCounter
) -> FoldPlan | None:
    """Plan a fold of the older half of a view; None if it is too short."""
    if len(session.turns) < MIN_TURNS:
        return None
    return plan_oldest_turns(session, reason, policy, len(session.turns) // 2, counter)


async def clear_context(store: Store, folding: FoldManager, conversation: str, by: str) -> None:
    """Empty the view of a conversation."""
    await store.sessions.clear(conversation, by=by)
    await folding.detach(conversation)


async def undo_newest(
    store: Store, folding: FoldManager, workspace: Workspace, conversation: str, by: str
) -> FoldRow | Literal["clear"] | None:
    """Undo the newest clear or fold; return which it was, None if there is none."""
    if await store.sessions.undo_clear(conversation, by=by):
        await folding.detach(conversation)
        return "clear"
    row = await store.folds.undo(conversation)
    if row is not None:
        await folding.detach(conversation)
        # the mark is for readers of the file; the store has recorded the undo
        with suppress(OSError):
            await asyncio.to_thread(_mark_undone, workspace, row)
    return row


def _mark_undone(workspace: Workspace, row: FoldRow) -> None:
    path = row.log_ref.removeprefix(f"spaces/{row.space}/") if row.space else row.log_ref
    daily_log.mark_section(workspace.space(row.space), path, row.id, "undone")


async def end_idle_conversations(
    store: Store, folding: FoldManager, config: Config, now: datetime, by: str
) -> int:
    """End every conversation idle for `session_max_idle_days` as /new does; return how many."""
    ended = 0
    for conversation in await store.sessions.idle(
        now - timedelta(days=config.session_max_idle_days)
    ):
        session = await store.sessions.load(conversation)
        if not session.turns or session.running:
            continue
        plan = plan_oldest_turns(session, "idle", config.context_policy)
        zone = now.tzinfo or UTC
        await store.sessions.clear(conversation, plan, reason="idle", by=by, zone=zone)
        await folding.detach(conversation)
        await folding.write_logs(conversation)
        ended += 1
    if ended:
        log.info("idle conversations ended", count=ended)
    return ended
