"""Notices that are told in the same transaction as what they tell of."""

from collections.abc import Sequence

from memory.store.access_records import Notice
from memory.store.engine import Tx
from memory.store.outbox import notify


async def tell(tx: Tx, notices: Sequence[Notice]) -> None:
    """Put them into the outbox; one whose source is known there is not told again."""
    for notice in notices:
        await notify(tx, notice.conversation, notice.source, notice.out)
