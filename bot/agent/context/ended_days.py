"""Writes to the daily logs what ended days still have in view, so that a day's talk stands in its
file.
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

from bot.agent.folding import MAX_PARALLEL_LOGS, FoldManager
from memory.store.conversations.folds.day_logs import UnloggedConversation
from memory.store.store import Store

PAGE = 100  # conversations of one query


async def log_ended_days(store: Store, folding: FoldManager, policy: str, now: datetime) -> None:
    """Plan and write the missing sections of all ended days, a few conversations at a time.

    A turn that still runs, and turns of a fold in progress, are left to the next run.

    Args:
        policy: of conversations without one of their own.
        now: in the time zone of the daily log.
    """
    await folding.retry_logs()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0, fold=0).timestamp()
    last: UnloggedConversation | None = None
    while page := await store.folds.unlogged(today, last, PAGE):
        last = page[-1]
        for at in range(0, len(page), MAX_PARALLEL_LOGS):
            batch = page[at : at + MAX_PARALLEL_LOGS]
            await asyncio.gather(
                *(_log_conversation(store, folding, one.id, today, policy, now) for one in batch)
            )


async def _log_conversation(
    store: Store, folding: FoldManager, id: str, today: float, policy: str, now: datetime
) -> None:
    with suppress(LookupError):  # it was deleted in the meantime
        zone = now.tzinfo or UTC
        await folding.run_logs(await store.folds.plan_ended_days(id, today, zone, policy))
