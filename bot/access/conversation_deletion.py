"""Deletes conversations once the time to take that back is over."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from memory.store.rows import ConversationRow
from memory.store.store import Store

log = structlog.get_logger(__name__)
# between two looks for what another process was asked to delete and ended before
LOOK_SECONDS = 60.0
RETRY_SECONDS = 5.0


class ConversationDeletions:
    """Deletions of conversations that somebody has asked for."""

    def __init__(
        self,
        store: Store,
        *,
        stop: Callable[[str], Awaitable[object]],
        drop: Callable[[str], Awaitable[None]],
    ) -> None:
        """
        Args:
            stop: stops what runs in a conversation.
            drop: drops what is prepared for a conversation.
        """
        self._store = store
        self._conversations = store.conversations
        self._stop = stop
        self._drop = drop
        self._asked = asyncio.Event()

    async def ask(self, conversation: str, expected: str, by: str) -> ConversationRow:
        """Stop what runs in a conversation and delete it soon; raises as `ask_deletion` of the
        list.
        """
        row = await self._conversations.ask_deletion(conversation, expected, by)
        await self._stop(conversation)
        self._asked.set()
        return row

    async def watch(self) -> None:
        """Delete each conversation when its time is over, until cancelled."""
        while True:
            self._asked.clear()
            pause = await self._delete_due()
            try:
                async with asyncio.timeout(pause):
                    await self._asked.wait()
            except TimeoutError:
                continue

    async def _delete_due(self) -> float:
        """Delete what is due; return the seconds until the next look.

        One that fails holds up no other.
        """
        pause = LOOK_SECONDS
        try:
            waiting = await self._conversations.deletions()
        except Exception:
            log.exception("conversations are deleted later")
            return RETRY_SECONDS
        for conversation, due, has_new in waiting:
            if due > self._store.now():
                return min(due - self._store.now(), pause)
            try:
                await self._delete(conversation, has_new=has_new)
            except Exception:
                log.exception("a conversation is deleted later", conversation=conversation)
                pause = RETRY_SECONDS
        return pause

    async def _delete(self, conversation: str, *, has_new: bool) -> None:
        if not has_new:  # else it is kept, and what was written is being answered
            await self._stop(conversation)
        if await self._conversations.finish_deletion(conversation, "web") == "deleted":
            await self._drop(conversation)
            log.info("conversation deleted", conversation=conversation)
