"""Deletes conversations once the time to take that back is over."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from memory.store.errors import StoreError
from memory.store.rows import ConversationRow
from memory.store.store import Store

log = structlog.get_logger(__name__)
LOOK_SECONDS = 60.0  # between two looks for what another process was asked to delete and ended before
RETRY_SECONDS = 5.0


class ConversationDeletions:
    """Deletions of conversations that somebody has asked for."""

    def __init__(
        self, store: Store, *, stop: Callable[[str], Awaitable[object]], drop: Callable[[str], Awaitable[None]]
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
        """Stop what runs in a conversation and delete it soon; raises as `ask_deletion` of the list."""
        row = await self._conversations.ask_deletion(conversation, expected, by)
        await self._stop(conversation)
        self._asked.set()
        return row

    async def watch(self) -> None:
        """Delete each conversation when its time is over, until cancelled."""
        while True:
            self._asked.clear()
            try:
                pause = await self._delete_due()
            except StoreError as err:
                log.warning("a conversation is deleted later", why=type(err).__name__)
                pause = RETRY_SECONDS
            try:
                async with asyncio.timeout(pause):
                    await self._asked.wait()
            except TimeoutError:
                continue

    async def _delete_due(self) -> float:
        """Delete what is due; return the seconds until the next one is."""
        for conversation, due, has_new in await self._conversations.deletions():
            if due > self._store.now():
                return min(due - self._store.now(), LOOK_SECONDS)
            if not has_new:  # else it is kept, and what was written is being answered
                await self._stop(conversation)
            if await self._conversations.finish_deletion(conversation, "web") == "deleted":
                await self._drop(conversation)
                log.info("conversation deleted", conversation=conversation)
        return LOOK_SECONDS
