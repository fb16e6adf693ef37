"""The page's transcript read from the store: names in paths become conversations, rows become lines."""

import time
from collections.abc import Awaitable, Callable
from typing import cast

from bot.console.chat_access import ReadingAudit, conversation_owner
from channels.message import Address
from channels.web.backend import (
    Allow,
    ConversationChanges,
    ConversationEntry,
    ConversationPage,
    EntryRole,
    TranscriptLine,
    web_address,
)
from channels.web.requests import NAME
from memory.store.errors import StoreError
from memory.store.rows import ConversationRow
from memory.store.rows import TranscriptRow as Row
from memory.store.store import Store

WEB_PLACE = ("web", "console")
TERMINAL_PLACE = ("terminal", "local")
TERMINAL_PREFIX = "terminal:"
BATCH_ROWS = 200


def conversation_place(name: str) -> Address:
    """Where a conversation of that name is written in: the terminal's go by "terminal:" and their name."""
    if name.startswith(TERMINAL_PREFIX):
        return Address(channel=TERMINAL_PLACE[0], account=TERMINAL_PLACE[1], chat_id=name.removeprefix(TERMINAL_PREFIX))
    return web_address(name)


class TranscriptBackend:
    """The web channel's backend: the page's and the terminal's conversations by name, all others by their row's id."""

    def __init__(
        self,
        store: Store,
        stop: Callable[[str], Awaitable[None]],
        allow: Allow,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._sessions = store.sessions
        self._stop = stop
        self._reading = ReadingAudit(store.note, allow, clock)

    async def find(self, name: str) -> ConversationRow | None:
        """The conversation that goes by this name."""
        where = conversation_place(name)
        found = await self._sessions.find(where.channel, where.account, where.chat_id)
        return found or await self._sessions.conversation(name)

    async def exists(self, conversation: str) -> bool:
        return await self.find(conversation) is not None

    async def readable(self, name: str, reader: str) -> ConversationRow | None:
        """The conversation that goes by this name, to be read now.

        Raises:
            HttpRefusal: it may not be read, or that could not be written to the audit list.
        """
        row = await self.find(name)
        if row is not None:
            await self._reading.check(row, reader)
        return row

    async def conversation(self, conversation: str) -> ConversationEntry | None:
        row = await self.find(conversation)
        return _conversation_to_json(row) if row else None

    async def begin_reading(self, conversation: str, reader: str, *, pressed: bool = False) -> None:
        if row := await self.find(conversation):
            await self._reading.check(row, reader, pressed=pressed)

    async def lines(
        self, conversation: str, *, reader: str = "", before: int = 0, after: int | None = None, limit: int = 50
    ) -> list[TranscriptLine]:
        row = await self.readable(conversation, reader)
        if row is None:
            return []
        above = -1 if after == 0 else after or 0  # the store takes 0 for "not given"; lines are numbered from 1
        rows = await self._sessions.lines(row.id, before=before, limit=limit, after=above)
        return [_row_to_json(found) for found in rows]

    async def number(self, conversation: str, id: str, *, reader: str = "") -> int:
        before = 0
        while lines := await self.lines(conversation, reader=reader, before=before, limit=BATCH_ROWS):
            for line in lines:
                if line.id == id:
                    return line.number
            before = lines[0].number
            if before <= 1:
                break
        return 0

    async def conversations(self, cursor: str = "", limit: int = 200, *, own: bool = False) -> ConversationPage:
        rows, following = await self._sessions.page(cursor, limit, own=own)
        return ConversationPage(conversations=[_conversation_to_json(row) for row in rows], next=following)

    async def changed(self, since: float, limit: int) -> ConversationChanges | None:
        at = self._store.now()
        try:
            rows = await self._sessions.changed(since, limit)
        except StoreError:
            return None  # the next look covers this one
        return ConversationChanges(at=at, conversations=[_conversation_to_json(row) for row in rows])

    async def stop(self, conversation: str) -> None:
        row = await self.find(conversation)
        if row is not None:
            await self._stop(row.id)


def _row_to_json(row: Row) -> TranscriptLine:
    role = cast(EntryRole, row.role)
    return TranscriptLine(id=row.id, number=row.number, role=role, text=row.text, at=row.at, reply_to=row.reply_to)


def conversation_name(row: ConversationRow) -> str:
    """What the conversation goes by in paths."""
    home = (row.place.channel, row.place.account)
    name = {WEB_PLACE: "", TERMINAL_PLACE: TERMINAL_PREFIX}.get(home, "?") + row.place.chat_id
    return name if NAME.fullmatch(name) else row.id


def _conversation_to_json(row: ConversationRow) -> ConversationEntry:
    """An entry of the list. A title is a person's first words; another person's are read only where that is audited."""
    of = conversation_owner(row)
    return ConversationEntry(
        id=conversation_name(row),
        title=row.place.chat_id if of == "other" else row.title,
        channel=row.place.channel,
        updated=row.updated,
        turns=row.turns,
        whose=of,
    )
