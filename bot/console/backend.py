"""The page's transcript read from the store: names in paths become conversations, rows become lines."""

from collections.abc import Awaitable, Callable
from typing import cast

from channels.web.backend import Conversation, Line, LineRole
from memory.store.doors import Store
from memory.store.records import ConversationRow
from memory.store.records import Line as Row

WEB = ("web", "console")
MOST_CONVERSATIONS = 200
BATCH = 200


class Transcripts:
    """The web channel's backend. The page's own conversations go by the client's name, all others by their row's id."""

    def __init__(self, store: Store, stop: Callable[[str], Awaitable[None]]) -> None:
        self._sessions = store.sessions
        self._inbox = store.delivery
        self._stop = stop

    async def find(self, name: str) -> ConversationRow | None:
        """The conversation that goes by this name."""
        return await self._sessions.find(*WEB, name) or await self._sessions.conversation(name)

    async def exists(self, conversation: str) -> bool:
        return await self.find(conversation) is not None

    async def lines(
        self, conversation: str, *, before: int = 0, after: int | None = None, limit: int = 50
    ) -> list[Line]:
        row = await self.find(conversation)
        if row is None:
            return []
        if after == 0:  # the store takes 0 for "not given"; lines are numbered from 1 without gaps
            before, after = limit + 1, None
        rows = await self._sessions.lines(row.id, before=before, limit=limit, after=after or 0)
        return [_line(found) for found in rows]

    async def number(self, conversation: str, id: str) -> int:
        before = 0
        while lines := await self.lines(conversation, before=before, limit=BATCH):
            for line in lines:
                if line.id == id:
                    return line.number
            before = lines[0].number
            if before <= 1:
                break
        return 0

    async def conversations(self) -> list[Conversation]:
        return [_conversation(row) for row in await self._sessions.conversations(limit=MOST_CONVERSATIONS)]

    async def stop(self, conversation: str) -> None:
        row = await self.find(conversation)
        if row is not None:
            await self._stop(row.id)


def _line(row: Row) -> Line:
    role = cast(LineRole, row.role)
    return Line(id=row.id, number=row.number, role=role, text=row.text, at=row.at, reply_to=row.reply_to)


def _conversation(row: ConversationRow) -> Conversation:
    ours = (row.place.channel, row.place.account) == WEB
    return Conversation(
        id=row.place.chat_id if ours else row.id,
        title=row.title,
        channel=row.place.channel,
        updated=row.updated,
        turns=row.turns,
    )
