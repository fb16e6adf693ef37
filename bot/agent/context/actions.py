"""What a person may do to a conversation's context: fold, undo, clear."""

import asyncio
from contextlib import suppress
from typing import Literal

from bot.agent.folding import FoldManager, plan_oldest_turns
from memory.context.tokens import TokenCounter
from memory.conversation import Session
from memory.store.rows import FoldPlan, FoldRow
from memory.store.store import Store
from memory.workspace import daily_log
from memory.workspace.files import Workspace

MIN_TURNS = 2  # that a view must have to be folded


def plan_older_half(session: Session, reason: str, policy: str, counter: TokenCounter) -> FoldPlan | None:
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
        with suppress(OSError):  # the mark is for readers of the file; the store has recorded the undo
            await asyncio.to_thread(_mark_undone, workspace, row)
    return row


def _mark_undone(workspace: Workspace, row: FoldRow) -> None:
    path = row.log_ref.removeprefix(f"spaces/{row.space}/") if row.space else row.log_ref
    daily_log.mark_section(workspace.space(row.space), path, row.id, "undone")
